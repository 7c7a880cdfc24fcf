"""Starts and runs where maps really are: UTM's places, true elevations, holes. Truth: SciPy's spline of the file."""

import math
import re

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

import trundle
from tests.terrain.test_runs import box, rates, slope
from trundle.documents.height_files import read_heights
from trundle.errors import InputError
from trundle.mechanics.frames import world_poses
from trundle.model.mechanism import mechanism
from trundle.robot.height_maps import height_map, packed, unpacked

UTM = (5e5, 5e6)
# Vehicles all of whose wheels reach smooth ground.
VEHICLES = {"zoe": trundle.catalog.zoe, "rocky7": trundle.catalog.rocky7}
SINKAGE = 0.02
# Least friction coefficient of the vehicles' wheels: slopes stay below.
STEEPEST = 0.5


def smooth(rng, side, spacing, elevation):
    """Heights (side, side) of a slope with waves on it of ten to thirty points, together below the friction."""
    steep, heading, phase = rng.uniform(0.05, 0.8 * STEEPEST), *rng.uniform(0, 2 * math.pi, 2)
    x, y = np.meshgrid(spacing * np.arange(side), spacing * np.arange(side))
    along = x * math.cos(heading) + y * math.sin(heading)
    k = 2 * math.pi / max(rng.uniform(10, 30) * spacing, 8.0)
    return elevation + steep * along + 0.15 * STEEPEST / k * np.sin(k * along + phase)


def write_geotiff(path, heights, corner, spacing, *, missing=None, keys=(1024, 0, 1, 1)):
    """Rows from north to south; pixels are areas, the first point of `heights` in the south-west is at the corner."""
    tifffile = pytest.importorskip("tifffile")
    north = corner[1] + (len(heights) - 0.5) * spacing
    tags = [
        (33550, "d", 3, (spacing, spacing, 0.0), True),
        (33922, "d", 6, (0.0, 0.0, 0.0, corner[0] - spacing / 2, north, 0.0), True),
        (34735, "H", 4 + len(keys), (1, 1, 0, len(keys) // 4, *keys), True),
    ]
    if missing is not None:
        tags.append((42113, "s", len(missing) + 1, missing, True))
    tifffile.imwrite(path, heights[::-1], extratags=tags)


def write_map(folder, heights, corner, spacing, geotiff):
    """A terrain of a file, and what the file holds in double precision."""
    if geotiff:
        heights = heights.astype("f4")
        write_geotiff(folder / "map.tif", heights, corner, spacing)
        surface = {"type": "grid", "file": str(folder / "map.tif")}
    else:
        np.save(folder / "map.npy", heights)
        surface = {
            "type": "grid",
            "file": str(folder / "map.npy"),
            "spacing": spacing,
            "corner": list(corner),
        }
    return {"surfaces": {"ground": surface}, "sinkage": SINKAGE}, np.asarray(heights, dtype=float)


def distances(robot, state, heights, corner, spacing):
    """How far wheels' circles are from the surface through a file's heights: the least (z − h) N_z of 4001 points."""
    here = mechanism(robot, terrain=True)
    here = here.configured([state[name] for name in here.names])
    poses = world_poses(here.assembly.tree, here.at.poses)
    found = []
    for wheel in here.assembly.wheels:
        rotation, origin = (np.array(part, dtype=float) for part in poses[wheel.link])
        alpha = np.linspace(-1.2, 1.2, 4001)
        circle = -float(wheel.radius) * (
            np.outer(rotation[:, 0], np.sin(alpha)) + np.outer(rotation[:, 2], np.cos(alpha))
        )
        x, y = (origin[axis] - corner[axis] + circle[axis] for axis in (0, 1))

        def height(x, y):
            return map_coordinates(heights, [y / spacing, x / spacing], order=2, mode="mirror")

        width = 1e-3 * spacing
        ahead = (height(x + width, y) - height(x - width, y)) / (2 * width)
        aside = (height(x, y + width) - height(x, y - width)) / (2 * width)
        above = origin[2] + circle[2] - height(x, y)
        found.append((above / np.sqrt(1 + ahead**2 + aside**2)).min())
    return np.array(found)


def check_start(rng, folder, case):
    """One start: elevations within 5,000 m, places of UTM and round the origin, files of both kinds."""
    side, spacing = 60, float(rng.choice([0.5, 1.0, 2.0, 10.0, 30.0]))
    corner = ((0.0, 0.0), (5e5, 0.0), (0.0, 5e6), UTM)[case % 4]
    heights = smooth(rng, side, spacing, rng.uniform(-5000, 5000))
    terrain, stored = write_map(folder, heights, corner, spacing, geotiff=case % 2 == 1)
    robot = list(VEHICLES.values())[case // 4 % 2](curvature=0)
    # Edges go on otherwise in SciPy's spline: by half of a map nothing of that is left.
    middle = corner + spacing * np.array([side / 2, side / 2]) + rng.uniform(-2, 2, 2)
    start = {"x": middle[0], "y": middle[1], "yaw": rng.uniform(-math.pi, math.pi)}
    run = trundle.simulate(
        robot, 0.01, {}, terrain=terrain, mode="kinematic", step=0.01, initial=start, progress=False
    )
    state = {name: float(run[name][0]) for name in run.groups["coordinates"]}
    assert (state["x"], state["y"]) == (start["x"], start["y"])
    gaps = distances(robot, state, stored, corner, spacing) + SINKAGE
    assert np.abs(gaps).max() < 1e-6
    sinkages = [float(run[name][0]) for name in run.groups["outputs"] if name.endswith(".sinkage")]
    assert sinkages == pytest.approx([SINKAGE] * len(sinkages), abs=1e-6)


@pytest.mark.campaign
def test_starts_at_true_elevations(campaign, tmp_path):
    pytest.importorskip("tifffile")
    for case, rng in enumerate(campaign(200)):
        check_start(rng, tmp_path, case)


@pytest.mark.parametrize("case", [6, 7])
def test_a_start_at_a_true_elevation(case, rng, tmp_path):
    """By NumPy's file and by GeoTIFF."""
    if case % 2:
        pytest.importorskip("tifffile")
    check_start(rng, tmp_path, case)


@pytest.mark.parametrize(("offset", "steep"), [(500.0, 0.4), (-4000.0, 0.2)])
def test_a_plane_is_reached_from_any_height(offset, steep):
    """It began 5 m deep at one, and 48 m above the other."""
    heights = offset + steep * 10 * np.tile(np.arange(-10.0, 11.0), (21, 1))
    ground = {"type": "grid", "heights": heights, "spacing": 10}
    start = {"duration": 0.01, "mode": "kinematic", "step": 0.01, "initial": {"x": 3.0, "y": -4.0}}
    terrain, plane = (
        {"surfaces": {"g": each}} for each in (ground, {"slope": math.atan(steep), "through": [0, 0, offset]})
    )
    on_map, on_plane = (
        trundle.simulate(box(), terrain=each, inputs=rates(0.0), **start) for each in (terrain, plane)
    )
    for name in ("z", "q_x", "q_y", "q_z"):
        assert on_map[name][0] == pytest.approx(on_plane[name][0], abs=1e-9)


def test_beside_a_wall_the_floor_is_sought():
    """Level with the origin the wall is what wheels are nearest to, and it carries nothing."""
    walls = {"wall": {"slope": "90 deg"}, "floor": {"through": [0, 0, -4000]}}
    run = trundle.simulate(box(), 0.02, rates(0.0), terrain={"surfaces": walls}, step=0.02, initial={"x": -1})
    assert run["z"][0] == pytest.approx(-4000 + 0.15 - 0.02, abs=1e-9)


def test_many_robots_start_as_one_does(rng, tmp_path):
    heights = smooth(rng, 60, 1.0, -3000.0)
    terrain, stored = write_map(tmp_path, heights, UTM, 1.0, geotiff=False)
    robot = VEHICLES["zoe"](curvature=0)
    x, y = (start + rng.uniform(28, 32, 12) for start in UTM)
    initial = {"x": x, "y": y, "yaw": rng.uniform(-3, 3, 12)}
    batch = trundle.rollout(
        robot, terrain=terrain, mode="kinematic", initial=initial, steps=1, dt=0.01, progress=False
    )
    for lane in range(12):
        state = {name: float(batch[name][0, lane]) for name in batch.states}
        gaps = distances(robot, state, stored, UTM, 1.0) + SINKAGE
        assert np.abs(gaps).max() < 1e-6


def test_sweeps_count_who_has_no_ground(tmp_path):
    """Half of the robots would start in a hole, some beyond the map."""
    heights = 2000 + np.zeros((40, 40))
    heights[:, 20:] = np.nan
    terrain, _ = write_map(tmp_path, heights, UTM, 1.0, geotiff=False)
    sweep = trundle.sweep(
        box(), terrain=terrain, over={"initial.x": f"{UTM[0] - 3}:{UTM[0] + 35}:20"}, measures=["final.z"],
        initial={"y": UTM[1] + 20}, inputs=rates(0.0), steps=1, dt=0.02,
    )  # fmt: skip
    x = sweep["initial.x"] - UTM[0]
    # The nearest heights of every wheel have neighbours.
    there = (x - 0.3 > 0) & (x + 0.3 < 18.5)
    assert (sweep["unsettled"] == 0).tolist() == there.tolist()


@pytest.mark.slow
def test_a_motion_at_utm_s_places_is_that_at_the_origin(rng):
    """Places are known to 1e-9 m there; 2,000 m up heights to 2e-13 m."""
    heights = smooth(rng, 40, 0.5, 0.0)
    runs = []
    for corner, up in (((0.0, 0.0), 0.0), (UTM, 2000.0)):
        ground = {"type": "grid", "heights": heights + up, "spacing": 0.5, "corner": list(corner)}
        start = {"x": corner[0] + 10.25, "y": corner[1] + 9.75, "yaw": 0.4}
        runs.append(
            trundle.simulate(
                box(),
                1.0,
                rates(3.0),
                terrain={"surfaces": {"g": ground}, "sinkage": 0.002},
                step=0.005,
                initial=start,
            )
        )
    here, there = runs
    assert math.hypot(*(here[name][-1] - here[name][0] for name in "xy")) > 0.2
    away = dict(zip("xyz", (*UTM, 2000.0), strict=True))
    for name in here.groups["coordinates"]:
        assert there[name] - away.get(name, 0.0) == pytest.approx(here[name], abs=1e-7)
    # Rounding of places leaves forces that no search could balance.
    assert [run.summary["unsolved_steps"] for run in runs] == [0, 0]


def test_an_edge_at_utm_s_places_is_on_the_map():
    """As 5,000,000.3 is no double, a map's last point lies where rounding puts it; slopes hold there, too."""
    spacing = 0.1
    found = height_map(
        np.add.outer(np.arange(7.0), np.arange(5.0)), (5e5 + 0.3, 5e6 + 0.3), (spacing, spacing)
    )
    (left, right), (low, high) = found.extent
    for x in (left, right):
        for y in (np.nextafter(low, 0), low, high, np.nextafter(high, 1e9)):
            assert found.inside(x, y) == 1
            assert found.relief(x, y)[1:3] == pytest.approx((10, 10), rel=1e-6)
    assert found.inside(left - 1e-6, low) == 0


@pytest.mark.parametrize("given", [{"z": 6e8}, {"x": 5e8, "y": 3e8, "z": 1e8}])
@pytest.mark.parametrize("ground", [{}, slope(10)])
def test_far_from_a_plane_a_run_goes_on(ground, given):
    """Nothing is beyond a plane; it ended with StopIteration."""
    run = trundle.simulate(box(), 0.04, rates(0.0), terrain=ground, step=0.02, initial=given)
    assert run["v_z"][-1] == pytest.approx(-9.81 * 0.04, abs=1e-9) or run["fl.load"].max() > 0


def test_far_above_a_map_is_not_beyond_it():
    flat = {"surfaces": {"g": {"type": "grid", "heights": [[0, 0], [0, 0]], "spacing": 2}}}
    run = trundle.simulate(box(), 0.04, rates(0.0), terrain=flat, step=0.02, initial={"z": 6e8})
    assert run["v_z"][-1] == pytest.approx(-9.81 * 0.04, abs=1e-9)


@pytest.fixture
def holed(tmp_path):
    """A slope of 60 × 60 m with a hole of 11 × 16 m, its missing heights as GDAL writes them of single precision."""
    heights = 1500 + 0.1 * np.tile(np.arange(60.0), (60, 1)).astype("f4")
    heights[20:36, 30:41] = np.float32(-3.4028235e38)
    write_geotiff(tmp_path / "map.tif", heights.astype("f4"), UTM, 1.0, missing="-3.40282346638529e+38")
    return {"surfaces": {"ground": {"type": "grid", "file": str(tmp_path / "map.tif")}}}


def test_a_start_over_a_hole_is_told_with_the_nearest_place(holed):
    start = {"x": UTM[0] + 31.0, "y": UTM[1] + 28.0}
    with pytest.raises(
        InputError, match=r"over a hole of the map 'ground' at the start, .* x = 500031 m, y = 5000028 m"
    ) as error:
        trundle.simulate(box(), 0.02, rates(0.0), terrain=holed, step=0.02, initial=start)
    assert error.value.key == "terrain.surfaces.ground.file"
    # Heights end at x = 29 m, ground half a cell and one before; wheels reach 0.54 m, and a cell's diagonal is 0.71 m.
    assert "x = 500027 m, y = 5000028 m" in error.value.hint
    start["x"] = UTM[0] + 27.0
    run = trundle.simulate(box(), 0.02, rates(0.0), terrain=holed, step=0.02, initial=start)
    # A plane, so that what fills the hole doesn't bend the ground beside it.
    assert run["pitch"][0] == pytest.approx(-math.atan(0.1), abs=1e-4)


@pytest.mark.parametrize(
    "place", [UTM, *(pytest.param(each, marks=pytest.mark.slow) for each in ((0.0, 0.0), (6e5, 5000019.0)))]
)
def test_a_start_beyond_a_map_is_told_with_the_nearest_place_on_it(place, rng):
    ground = {"type": "grid", "heights": smooth(rng, 40, 1.0, 500.0), "spacing": 1.0, "corner": list(UTM)}

    def started(x, y):
        return trundle.simulate(
            box(), 0.1, terrain={"surfaces": {"g": ground}}, step=0.1, initial={"x": x, "y": y}
        )

    with pytest.raises(InputError, match="beyond the map 'g' at the start") as caught:
        started(*place)
    (told,) = re.findall(r"x = (\S+) m, y = (\S+) m, or say", str(caught.value.hint))
    started(*map(float, told))


def test_damaged_geotiffs_are_told_as_such(tmp_path, rng):
    """Whatever their decoders raise."""
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "map.tif", smooth(rng, 40, 1.0, 500.0), compression="zlib")
    whole = (tmp_path / "map.tif").read_bytes()
    for _ in range(20):
        broken = bytearray(whole)
        start = int(rng.integers(len(whole) // 4, len(whole) // 2))
        broken[start : start + 40] = rng.bytes(40)
        (tmp_path / "map.tif").write_bytes(broken)
        with pytest.raises(InputError, match=r"'map\.tif' is not a height map"):
            read_heights(tmp_path / "map.tif")


@pytest.mark.slow
def test_a_run_that_gets_to_a_hole_ends_with_time_and_place(holed):
    start = {"x": UTM[0] + 27.0, "y": UTM[1] + 28.0}
    with pytest.raises(
        InputError, match=r"the wheel 'f[lr]' is over a hole of the map 'ground' at t = .* x = 50002[78]\."
    ):
        trundle.simulate(box(), 10.0, rates(4.0), terrain=holed, step=0.02, initial=start)


def test_a_start_beyond_a_map_says_places_to_a_centimetre(tmp_path):
    terrain, _ = write_map(tmp_path, np.zeros((20, 20)), (512345.25, 5e6), 1.0, geotiff=False)
    words = (
        r"beyond the map 'ground' at the start, .* x = 512345\.25 to 512364\.25 m, y = 5000000 to 5000019 m"
    )
    with pytest.raises(InputError, match=words):
        trundle.simulate(box(), 0.02, rates(0.0), terrain=terrain, step=0.02)


def test_no_pose_is_an_error_that_says_how_far_it_is_off():
    """A crevasse a little wider than the robot, so steep that no pose of it stands on its wheels."""
    heights = np.zeros((41, 41))
    heights[:, 20] = 400.0
    terrain = {"surfaces": {"g": {"type": "grid", "heights": heights, "spacing": 1}}}
    with pytest.raises(
        InputError,
        match=r"'box' doesn't settle on its wheels at x = 0\.5 m, y = 0 m: '.*' stays .* m (above|below)",
    ):
        trundle.simulate(box(), 0.02, rates(0.0), terrain=terrain, step=0.02, initial={"x": 0.5})


@pytest.mark.parametrize("shape", [(40, 30), (12, 50)])
def test_ground_beside_holes_is_what_it_is_without_them(shape, rng):
    """On a plane; it is known where the nine nearest heights are."""
    x, y = np.meshgrid(UTM[0] + 2.0 * np.arange(shape[1]), UTM[1] + 2.0 * np.arange(shape[0]))
    missing = rng.random(shape) < 0.03
    missing[:3] = True
    plane = np.where(missing, np.nan, 2000 + 0.3 * (x - UTM[0]) - 0.2 * (y - UTM[1]))
    found = height_map(plane, UTM, (2.0, 2.0))
    assert unpacked(packed(found)) == found
    x, y = UTM[0] + rng.uniform(0, x[0, -1] - UTM[0], 2000), UTM[1] + rng.uniform(0, y[-1, 0] - UTM[1], 2000)
    column, row = np.rint((x - UTM[0]) / 2).astype(int), np.rint((y - UTM[1]) / 2).astype(int)
    near = [
        missing[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2].any() for r, c in zip(row, column, strict=True)
    ]
    assert (found.measured(x, y) == 0).tolist() == near
    known = found.measured(x, y) > 0
    height = 2000 + 0.3 * (x - UTM[0]) - 0.2 * (y - UTM[1])
    assert found.relief(x, y)[0][known] == pytest.approx(height[known], abs=1e-9)


def test_places_in_degrees_are_no_metres(tmp_path):
    write_geotiff(tmp_path / "map.tif", np.zeros((3, 4)), (13.0, 52.0), 1 / 3600, keys=(1024, 0, 1, 2))
    heights = read_heights(tmp_path / "map.tif")
    assert (heights.spacing, heights.corner) == (None, None)
    terrain = {"surfaces": {"g": {"type": "grid", "file": str(tmp_path / "map.tif")}}}
    with pytest.raises(InputError, match="apart in metres") as error:
        trundle.simulate(box(), 0.02, rates(0.0), terrain=terrain, step=0.02)
    assert "degrees" in error.value.hint
