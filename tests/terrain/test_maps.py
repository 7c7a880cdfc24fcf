"""Height maps and random ground: the spline, files, edges, seeds, and contacts on ground rougher than a wheel."""

import base64
import math
import os
import sys
import zlib

import numpy as np
import pytest

import trundle
from tests.terrain.test_runs import box, rates
from trundle.documents import parse
from trundle.documents.height_files import read_heights, with_maps
from trundle.errors import InputError
from trundle.robot.height_maps import height_map
from trundle.robot.terrain import parse_terrain
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import euler_rotation
from trundle.terrain.contact import wheel_contact

ASC = """ncols 3
nrows 2
xllcorner 10
yllcorner 20
cellsize 2
NODATA_value -99
4 5 6
1 2 3
"""

# A GeoTIFF of 2 rows of 3 heights, compressed by LZW.
LZW = zlib.decompress(
    base64.b85decode(
        "c-r&y)MDUZU|`^5U|?inU<9(5ftV4>W&&YGW-wa;BnM@)0x=tu4Z?y@^$&np6iHkR$sBPgTMUS$7+JyWZ9psyW$y!G4J5sWj7$tXK>8RE2Sdd"
        "{ZexJTBjb|Hw6wI$oK(GnN(NNWz`(%4#KP&w%3z?#!T5)RkwZa1K>+|0=?vx"
    )
)


def random_ground(**changes):
    surface = {"type": "fractal", "slope": 0.3, "shortest": 0.3, "longest": 1.2, **changes}
    return parse_terrain({"surfaces": {"ground": surface}})


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (40, 30)])
def test_the_spline_goes_through_all_points(shape, repeats, rng):
    heights = rng.normal(size=shape)
    spline = height_map(heights, (1.0, 2.0), (0.5, 0.25), repeats)
    x, y = np.meshgrid(1 + 0.5 * np.arange(shape[1]), 2 + 0.25 * np.arange(shape[0]))
    assert spline.relief(x, y)[0] == pytest.approx(heights, abs=1e-14)


@pytest.mark.parametrize("repeats", [False, True])
def test_its_derivatives_are_its_own(repeats, rng):
    spline = height_map(rng.normal(size=(9, 8)), (0.0, 0.0), (1.0, 1.0), repeats)
    x, y = rng.integers(1, 6, (2, 50)) + rng.uniform(-0.45, 0.45, (2, 50))  # away from the kinks of its slope
    here, width = spline.relief(x, y), 1e-4
    ahead, behind = spline.relief(x + width, y), spline.relief(x - width, y)
    left, right = spline.relief(x, y + width), spline.relief(x, y - width)
    for value, along, across in ((0, 1, 2), (1, 3, 4), (2, 4, 5)):
        assert (ahead[value] - behind[value]) / (2 * width) == pytest.approx(here[along], abs=1e-8)
        assert (left[value] - right[value]) / (2 * width) == pytest.approx(here[across], abs=1e-8)


def test_its_slope_has_no_jumps(rng):
    spline = height_map(rng.normal(size=(6, 6)), (0.0, 0.0), (1.0, 1.0))
    for edge in (1.5, 2.5):
        before, after = (spline.relief(edge + side * 1e-12, 2.2) for side in (-1, 1))
        assert before[:3] == pytest.approx(after[:3], abs=1e-10)


def test_a_map_of_a_smooth_hill_is_the_hill():
    """Splines of the second degree: heights to the third order in the spacing."""
    errors = []
    for spacing in (0.2, 0.1):
        axis = np.arange(-3, 3 + spacing / 2, spacing)
        x, y = np.meshgrid(axis, axis)
        spline = height_map(np.exp(-(x**2 + y**2)), (-3.0, -3.0), (spacing, spacing))
        fine = np.linspace(-1, 1, 77)
        x, y = np.meshgrid(fine, fine)
        errors.append(np.abs(spline.relief(x, y)[0] - np.exp(-(x**2 + y**2))).max())
    assert 7 < errors[0] / errors[1] < 20


def test_random_ground_has_the_slope_that_is_asked_for(rng):
    for slope, seed in ((0.1, 0), (0.3, 5)):
        surface = random_ground(slope=slope, seed=seed).surfaces["ground"]
        x, y = rng.uniform(-50, 50, (2, 100_000))
        relief = surface.relief(x, y, float)
        # A hundred thousand places, and what a spline through five points a wave loses.
        assert math.sqrt((relief.x**2 + relief.y**2).mean()) == pytest.approx(slope, rel=0.02)


def test_random_ground_is_the_same_on_every_machine():
    heights = (
        random_ground(seed=7).surfaces["ground"].relief(np.array([0.1, 2.7]), np.array([0.4, -1.3]), float)
    )
    assert heights.height == pytest.approx([-0.020898649, 0.012538601], abs=1e-8)
    other = random_ground(seed=8).surfaces["ground"].relief(0.1, 0.4, float)
    assert abs(other.height - -0.020898649) > 1e-3


# Of the first seed one contact was 33 mm off, while a step could lead past the fan's next point.
@pytest.mark.parametrize("numbers", [591905201, None])
def test_contacts_on_rough_ground_are_the_deepest(rng, numbers):
    """Beside 721 points of the circle; see the comment at `terrain.contact.FAN` for what is left."""
    rng = rng if numbers is None else np.random.default_rng(numbers)
    terrain, radius, count = random_ground(), 0.3, 2000
    x, y, yaw = rng.uniform(0, 20, (3, count))
    rotation = euler_rotation(*rng.normal(0, 0.2, (2, count)), yaw)
    height = terrain.surfaces["ground"].relief(x, y, float).height + radius
    above = wheel_contact(terrain.spot, Pose(rotation, (x, y, height)), radius, rough=True).distance
    pose = Pose(rotation, (x, y, height - above - 0.02))
    found = wheel_contact(terrain.spot, pose, radius, rough=True).distance
    least = np.full(count, np.inf)
    for alpha in np.linspace(-math.pi / 2, math.pi / 2, 721):
        point = (-radius * math.sin(alpha), -radius * math.cos(alpha))
        place = [
            o + row[0] * point[0] + row[2] * point[1]
            for o, row in zip(pose.position, pose.rotation, strict=True)
        ]
        least = np.minimum(least, terrain.spot(tuple(place)).distance)
    assert np.quantile(found - least, 0.995) < 1e-4
    assert (found - least).max() < 0.005  # 0.8 mm in 25 draws
    single = wheel_contact(terrain.spot, pose, radius).distance
    assert (single - least).max() > 0.01, "one start finds all: no need for more"


def test_ascii_grids(tmp_path):
    (tmp_path / "map.asc").write_text(ASC)
    heights = read_heights(tmp_path / "map.asc")
    assert heights.values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert heights.corner == (11.0, 21.0)
    assert heights.spacing == (2.0, 2.0)


def test_geotiff(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    rows = np.array([[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]])
    tags = [(33550, "d", 3, (2.0, 3.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 10.0, 26.0, 0.0), True)]
    tifffile.imwrite(tmp_path / "map.tif", rows, extratags=tags)
    heights = read_heights(tmp_path / "map.tif")
    assert heights.values.tolist() == rows[::-1].tolist()
    assert heights.corner == (11.0, 21.5)
    assert heights.spacing == (2.0, 3.0)


@pytest.mark.parametrize("compression", ["lzw", "deflate", "zstd"])
def test_compressed_geotiff(tmp_path, compression):
    tifffile = pytest.importorskip("tifffile")
    pytest.importorskip("imagecodecs")
    rows = np.random.default_rng(4).normal(size=(20, 30)).astype("f4")
    tifffile.imwrite(tmp_path / "map.tif", rows, compression=compression, predictor=True)
    assert read_heights(tmp_path / "map.tif").values == pytest.approx(rows[::-1].astype(float), abs=0)


def test_without_imagecodecs_a_message_says_what_to_install(tmp_path, monkeypatch):
    """LZW, as tifffile reads it: by imagecodecs alone."""
    pytest.importorskip("tifffile")
    for name in [name for name in sys.modules if name.partition(".")[0] == "tifffile"]:
        monkeypatch.delitem(sys.modules, name)  # it keeps what it decodes by
    monkeypatch.setitem(sys.modules, "imagecodecs", None)
    monkeypatch.setattr("trundle.extras._version", lambda name: None)
    (tmp_path / "map.tif").write_bytes(LZW)
    with pytest.raises(InputError) as error:
        read_heights(tmp_path / "map.tif")
    assert "trundle[geotiff]" in str(error.value.hint)


def test_without_tifffile_a_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tifffile", None)
    monkeypatch.setattr("trundle.extras._version", lambda name: None)
    (tmp_path / "map.tif").write_bytes(b"II*\0")
    with pytest.raises(InputError) as error:
        read_heights(tmp_path / "map.tif")
    assert "trundle[geotiff]" in str(error.value.hint)


def test_no_file_runs_code(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "boom"),)

    np.save(tmp_path / "map.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="is not a height map"):
        read_heights(tmp_path / "map.npy")
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("map.png", b"", "can't be read from"),
        ("map.npy", b"nonsense", "is not a height map"),
        ("map.asc", b"", "no rows"),
        ("map.asc", b"ncols 2\nnrows 2\n1 2\n3 4\n", "lacks cellsize"),
        ("map.asc", b"ncols 2\nnrows 2\ncellsize 1\n1 2\n3\n", "has 3 heights"),
        ("map.asc", b"ncols 2\nnrows 2\ncellsize 1\n1 x\n3\n", "is not a height map"),
        ("map.asc", b"ncols 2\nnrows 2\ncellsize 1\n1 -9999\n3 4\n", "1 of 4 heights are missing"),
        (
            "map.asc",
            b"ncols 2\nnrows 2\nxllcorner 7\nyllcorner 46\ncellsize 8e-4\n1200 1260\n1240 1280\n",
            "no degrees",
        ),
        ("other.asc", None, "there is no height map"),
    ],
)
def test_files_that_are_no_maps(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    terrain = parse_terrain({"surfaces": {"ground": {"type": "grid", "file": name}}})
    with pytest.raises(InputError, match=words) as error:
        with_maps(terrain, tmp_path)
    assert str(error.value.key).startswith("terrain.surfaces.ground.")


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ({"type": "grid"}, "neither"),
        ({"type": "grid", "heights": [[0, 0], [0, 0]]}, "without a spacing"),
        ({"type": "grid", "heights": [[0, 0]], "spacing": 1}, "at least 2 rows"),
        ({"type": "grid", "heights": [[0, 0], [0]], "spacing": 1}, "of one length"),
        ({"type": "grid", "heights": [[0, math.nan], [0, 0]], "spacing": 1}, "missing"),
        ({"type": "fractal", "slope": 0.1, "shortest": 1, "longest": 0.5}, "wavelengths"),
        ({"type": "fractal", "slope": 0.1, "shortest": 0.01, "tile": 100}, "points a side"),
        ({"type": "fractal", "slope": 0.1, "shortest": 1, "hurst": 2}, "hurst"),
    ],
)
def test_maps_that_are_none(surface, words):
    with pytest.raises(InputError, match=words):
        parse_terrain({"surfaces": {"ground": surface}})


def flat_map(**changes):
    return {"surfaces": {"ground": {"type": "grid", "heights": [[0, 0], [0, 0]], "spacing": 2, **changes}}}


@pytest.mark.slow
def test_a_map_s_end_is_told_with_time_wheel_and_place():
    with pytest.raises(
        InputError, match=r"the wheel 'f[lr]' is beyond the map 'ground' at t = .* x = 0\.[67]"
    ) as error:
        trundle.simulate(box(), 4.0, rates(4.0), terrain=flat_map(), step=0.02)
    assert error.value.key == "terrain.surfaces.ground.edge"
    with pytest.raises(InputError, match="at the start"):
        trundle.simulate(box(), 1.0, rates(0.0), terrain=flat_map(corner=[5, 5]), step=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("edge", ["clamp", "repeat"])
def test_beyond_a_flat_map_is_flat_ground(edge):
    """Both rules go on level here: the run is that on a plane."""
    given = {"duration": 4.0, "inputs": rates(4.0), "step": 0.02, "samples": 11}
    run = trundle.simulate(box(), terrain=flat_map(edge=edge), **given)
    plane = trundle.simulate(box(), terrain={}, **given)
    assert run["x"][-1] > 1.5
    for name in ("x", "y", "z", "pitch"):
        assert run[name] == pytest.approx(plane[name], abs=1e-9)


@pytest.mark.slow
def test_a_run_names_its_map_and_no_folder(tmp_path, monkeypatch):
    np.save(tmp_path / "map.npy", 0.05 * np.random.default_rng(1).normal(size=(12, 12)))
    terrain = {
        "surfaces": {"ground": {"type": "grid", "file": str(tmp_path / "map.npy"), "spacing": "50 cm"}}
    }
    run = trundle.simulate(box(), 1.0, rates(2.0), terrain=terrain, step=0.02)
    assert str(tmp_path) not in run.description["yaml"]
    monkeypatch.chdir("/")
    again = parse(run.description["yaml"]).terrain  # known by its digest
    assert again.surfaces["ground"].map_of().rows == 12
    np.save(tmp_path / "map.npy", np.zeros((12, 12)))
    digest = again.surfaces["ground"].sha256
    other = parse_terrain(
        {"surfaces": {"ground": {**terrain["surfaces"]["ground"], "sha256": digest[:-1] + "x"}}}
    )
    with pytest.raises(InputError, match="another map"):
        with_maps(other)


def test_a_map_s_bound_of_curvature_holds(rng):
    spline = height_map(rng.normal(size=(9, 8)), (0.0, 0.0), (0.5, 1.0))
    x, y = rng.uniform(0, 3.5, 2000), rng.uniform(0, 8, 2000)
    _, _, _, xx, xy, yy = spline.relief(x, y)
    largest = np.abs(np.linalg.eigvalsh(np.moveaxis(np.array([[xx, xy], [xy, yy]]), 2, 0))).max()
    assert largest <= spline.bend
    assert (
        4 * largest > spline.bend
    )  # a bound of use: the three second derivatives are largest at different places


def test_only_maps_more_curved_than_a_wheel_are_rough():
    def map_of(height, **changes):
        along = height * np.cos(2 * np.pi / 4 * 0.1 * np.arange(80))
        heights = np.tile(along, (8, 1))
        surface = {"type": "grid", "heights": heights, "spacing": 0.1, **changes}
        return parse_terrain({"surfaces": {"ground": surface}})

    assert not map_of(0.2).whole.rough
    assert map_of(0.6).whole.rough
    assert map_of(0.2, scale=3).whole.rough
    assert random_ground(slope=0.01).whole.rough
