"""C3D files: markers, gaps, events and force plates, against what was written and against ezc3d's reading."""

import struct
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import trundle
from limbs.c3d_files import Plate, as_integers, corners, encoded, write_c3d
from trundle import InputError

UNITS = {1: ["N"] * 3 + ["mm", "mm", "Nmm"], 2: ["N"] * 3 + ["Nmm"] * 3, 3: ["N"] * 8, 4: ["V"] * 6}


def scene(rng, kind, *, count=20, ratio=10, sign=1.0, tilt=0.3):
    """Markers above a plate that is turned and tilted, and what the plate does to the person, about its centre."""
    down = Rotation.from_euler("xz", [np.pi, rng.uniform(-3, 3)]).as_matrix()
    axes = Rotation.from_rotvec(rng.normal(scale=tilt, size=3)).as_matrix() @ down
    centre, half = rng.uniform(-500, 500, 3), np.array([300.0, 200.0])
    force = rng.normal(scale=100, size=(count * ratio, 3)) - [0, 0, 700]  # in its axes, out of the surface
    places = np.column_stack([rng.uniform(-1, 1, (count * ratio, 2)) * half * 0.8, np.zeros(count * ratio)])
    moment = np.cross(places, force) + np.outer(rng.normal(scale=5e3, size=count * ratio), [0, 0, 1])
    origin = np.array([120.0, 80.0, -40.0]) if kind == 3 else np.array([1.0, -2.0, -40.0])
    matrix = np.diag([100.0, 110, 120, 5e4, 6e4, 7e4]) + rng.normal(size=(6, 6))
    channels = sign * encoded(kind, force, moment, origin, matrix)
    if kind == 1:
        channels[:, 3:5] *= sign  # places have no sign
    plate = Plate(kind, corners(centre, axes, half), channels, UNITS[kind], origin, matrix)
    above = (centre + rng.normal(scale=100, size=(count, 3)) - 900 * axes[:, 2]).astype(np.float32)
    in_lab = [each @ axes.T / scale for each, scale in ((force, 1), (moment, 1e3))]
    return {"hip": above}, plate, (centre + places @ axes.T) / 1e3, *in_lab


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["on the person", "on the plate"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_a_plate_of_each_type_gives_back_force_place_and_free_moment(tmp_path, rng, kind, sign):
    markers, plate, places, force, moment = scene(rng, kind, sign=sign)
    write_c3d(tmp_path / "a.c3d", markers, plates=[plate], ratio=10)
    (read,) = trundle.read_recording(tmp_path / "a.c3d").plates
    scale = np.abs(force).max()
    np.testing.assert_allclose(read.force, force, atol=2e-6 * scale)
    np.testing.assert_allclose(read.moment, moment, atol=2e-6 * scale)
    np.testing.assert_allclose(read.centre_of_pressure(), places, atol=1e-5)
    wrench = read.wrench("foot")
    normal = read.axes[:, 2]
    np.testing.assert_allclose(np.cross(wrench.moment, normal), 0, atol=1e-9 * scale)
    world = wrench.frame.root
    centre = world.point("centre", read.centre)
    np.testing.assert_allclose(wrench.at(centre).moment, read.moment, atol=1e-9 * scale)
    np.testing.assert_allclose(read.time, np.arange(200) / 1000)


@pytest.mark.parametrize("form", ["SIGNED", "UNSIGNED"])
def test_integers_are_read_in_steps_of_their_scales(tmp_path, rng, form):
    """Points to half a step, with what wasn't seen; channels about an offset, which has a sign if they have."""
    markers, plate, *_ = scene(rng, 2)
    markers["hip"][3] = np.nan
    write_c3d(tmp_path / "f.c3d", markers, plates=[plate], ratio=10, analog={"FORMAT": [form]})
    whole = (tmp_path / "f.c3d").read_bytes()
    (tmp_path / "i.c3d").write_bytes(as_integers(whole, 0.1, unsigned=form == "UNSIGNED"))
    floats, integers = (trundle.read_recording(tmp_path / f"{each}.c3d") for each in "fi")
    np.testing.assert_allclose(integers.markers["hip"], floats.markers["hip"], atol=0.0501e-3)
    assert np.isnan(integers.markers["hip"][3]).all()
    (exact,), (found,) = floats.plates, integers.plates
    np.testing.assert_allclose(found.force, exact.force, atol=np.abs(exact.force).max() / 20_000)
    np.testing.assert_allclose(found.moment, exact.moment, atol=np.abs(exact.moment).max() / 10_000)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_plates_agree_with_ezc3ds_reading(tmp_path, rng, kind):
    import ezc3d

    markers, plate, *_ = scene(rng, kind)
    if kind == 3:
        plate.origin[:2] = abs(plate.origin[:2])
    write_c3d(tmp_path / "a.c3d", markers, plates=[plate], ratio=10)
    theirs = ezc3d.c3d(str(tmp_path / "a.c3d"), extract_forceplat_data=True)["data"]["platform"][0]
    (ours,) = trundle.read_recording(tmp_path / "a.c3d").plates
    np.testing.assert_allclose(ours.force, theirs["force"].T, rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(ours.moment * 1e3, theirs["moment"].T, rtol=1e-5, atol=0.5)
    np.testing.assert_allclose(ours.centre_of_pressure() * 1e3, theirs["center_of_pressure"].T, atol=1e-2)


def test_markers_gaps_units_events_and_times(tmp_path, rng):
    markers = {"ankle": rng.normal(size=(5, 3)).astype(np.float32), "knee": np.ones((5, 3))}
    markers["knee"][2] = np.nan
    events = [("Right", "Foot Strike", 63.5), ("Left", "Foot Off", 0.02), ("Right", "Foot Strike", 0.01)]
    write_c3d(tmp_path / "a.c3d", markers, unit="m", rate=50, first=11, events=events)
    recording = trundle.read_recording(tmp_path / "a.c3d")
    np.testing.assert_allclose(recording.time, 0.2 + np.arange(5) / 50)
    np.testing.assert_array_equal(recording.markers["ankle"], markers["ankle"])
    assert np.isnan(recording.markers["knee"][2]).all()
    np.testing.assert_array_equal(np.isnan(recording.markers["knee"]).any(axis=1), np.arange(5) == 2)
    np.testing.assert_allclose(recording.events["Right Foot Strike"], [0.01, 63.5], rtol=1e-6)
    assert list(recording.events) == ["Right Foot Strike", "Left Foot Off"]
    write_c3d(tmp_path / "b.c3d", {"ankle": np.full((5, 3), 250.0)}, unit="mm")
    np.testing.assert_array_equal(trundle.read_recording(tmp_path / "b.c3d").markers["ankle"], 0.25)


def vax(number):
    """A float as DEC's processors write it."""
    raw = struct.pack("<f", number * 4)
    return raw[2:] + raw[:2]


def converted(content, processor):
    """A file of floats written by ezc3d as another processor would have written it: each parameter and word turned."""
    data, start = bytearray(content), 512 * (content[0] - 1)
    data[start + 3] = processor
    real = vax if processor == 85 else (lambda x: struct.pack(">f", x))
    swap = (
        (lambda at: None)
        if processor == 85
        else (lambda at: data.__setitem__(slice(at, at + 2), data[at : at + 2][::-1]))
    )
    at = start + 4
    while data[at]:
        behind = at + 2 + abs(struct.unpack_from("b", data, at)[0])
        step = struct.unpack_from("<H", data, behind)[0]
        if struct.unpack_from("b", data, at + 1)[0] > 0:
            kind, count = struct.unpack_from("bB", data, behind + 2)
            size = int(np.prod(list(data[behind + 4 : behind + 4 + count])))
            for k in range(size):
                place = behind + 4 + count + abs(kind) * k
                if kind == 2:
                    swap(place)
                elif kind == 4:
                    data[place : place + 4] = real(struct.unpack_from("<f", data, place)[0])
        swap(behind)
        at = behind + step
    begin = 512 * (struct.unpack_from("<H", content, 16)[0] - 1)
    for place in range(begin, len(data) - 3, 4):
        data[place : place + 4] = real(struct.unpack_from("<f", content, place)[0])
    for place in (2, 4, 6, 8, 10, 16, 18):
        swap(place)
    return bytes(data)


@pytest.mark.parametrize("processor", [85, 86], ids=["DEC", "MIPS"])
def test_other_processors_numbers_read_the_same(tmp_path, rng, processor):
    markers, plate, *_ = scene(rng, 2)
    write_c3d(tmp_path / "a.c3d", markers, plates=[plate], ratio=10)
    (tmp_path / "b.c3d").write_bytes(converted((tmp_path / "a.c3d").read_bytes(), processor))
    one, other = (trundle.read_recording(tmp_path / name) for name in ("a.c3d", "b.c3d"))
    np.testing.assert_array_equal(one.markers["hip"], other.markers["hip"])
    np.testing.assert_array_equal(one.plates[0].force, other.plates[0].force)


def bad(tmp_path, rng, kind=2, change=lambda plate: None, **options):
    markers, plate, *_ = scene(rng, kind)
    change(plate)
    write_c3d(tmp_path / "bad.c3d", markers, plates=[plate], ratio=10, **options)
    with pytest.raises(InputError) as caught:
        trundle.read_recording(tmp_path / "bad.c3d", strict=True)
    assert "bad.c3d" in str(caught.value)
    return str(caught.value)


def test_a_plate_without_calibration_is_named(tmp_path, rng):
    def singular(plate):
        plate.matrix = np.zeros((6, 6))

    def volts(plate):
        plate.units = ["V"] * len(plate.units)

    assert "force plate 1 has no calibration: its matrix" in bad(tmp_path, rng, 4, singular)
    for kind in (1, 2, 3):
        assert "force plate 1 has no calibration: its channel 'ch1' is in V" in bad(
            tmp_path, rng, kind, volts
        )


def test_plates_that_cannot_be_are_named(tmp_path, rng):
    def twisted(plate):
        plate.corners = plate.corners[[0, 2, 1, 3]]

    def unknown(plate):
        plate.kind = 21

    def nowhere(plate):
        plate.corners = 0 * plate.corners

    def nan(plate):
        plate.channels[7, 1] = np.nan

    assert "'force plate 1': its corners do not form a rectangle" in bad(tmp_path, rng, 2, twisted)
    assert "not form a rectangle" in bad(tmp_path, rng, 2, nowhere)
    assert "force plate 1 is of type 21" in bad(tmp_path, rng, 2, unknown)
    assert "force plate 1 has no number at analogue sample 8" in bad(tmp_path, rng, 2, nan)


def test_a_correction_that_is_not_read_is_told(tmp_path, rng):
    markers, plate, *_ = scene(rng, 3)
    write_c3d(tmp_path / "a.c3d", markers, plates=[plate], ratio=10, correction=np.full((12, 1), 1e-9))
    with pytest.warns(UserWarning, match=r"force plate 1: Kistler's correction .* is not read"):
        trundle.read_recording(tmp_path / "a.c3d")


def test_units_that_contradict(tmp_path, rng):
    assert "m away at sample 1, in m" in bad(tmp_path, rng, unit="m")
    assert "'parsec' is not a unit" in bad(tmp_path, rng, unit="parsec")
    assert "nothing says in which unit" in bad(tmp_path, rng, unit="")

    def newton_metres(plate):
        plate.units = ["N"] * 3 + ["Nm"] * 3

    assert "m from the plate's centre" in bad(tmp_path, rng, 2, newton_metres)


def test_a_damaged_file_is_an_input_error(tmp_path, rng):
    markers, plate, *_ = scene(rng, 4, count=3, ratio=2)
    write_c3d(tmp_path / "a.c3d", markers, plates=[plate], ratio=2, events=[("Left", "Foot Off", 0.02)])
    whole = (tmp_path / "a.c3d").read_bytes()
    path, refused = tmp_path / "b.c3d", []
    for _ in range(300):
        content = bytearray(whole)
        for place in rng.integers(0, len(content), rng.choice([1, 2, 16])):
            content[place] = rng.integers(256)
        path.write_bytes(content[: rng.integers(len(content))] if rng.random() < 0.2 else content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                trundle.read_recording(path)
        except InputError as error:
            refused.append(str(error))
    assert all("b.c3d" in each for each in refused)
    for content, message in (
        (b"", "is not a C3D file"),
        (whole[:-600], "can't be followed|it holds"),
        (b"\2\x50" + whole[:510], "is"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            trundle.read_recording(path, strict=True)


def test_a_wrench_at_the_motions_times_and_below_the_threshold(tmp_path):
    square = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
    force = [(0, 0, 10), (0, 0, 700), (50, 0, 700)]
    plate = trundle.ForcePlate("left", square, [0, 1, 2], force, [(1, 0, 0), (70, -35, 3), (0, 0, 0)])
    wrench = plate.wrench("foot", times=[0, 1, 1.5])
    np.testing.assert_allclose(wrench.force, [(0, 0, 0), (0, 0, 700), (25, 0, 700)])
    np.testing.assert_allclose(
        wrench.point.position(frame=wrench.frame), [(0, 0, 0), (0.05, 0.1, 0), (0.025, 0.05, 0)]
    )
    with pytest.raises(InputError, match="recorded from 0 to 2 s, not at 2.5 s"):
        plate.at([2.5])
    with pytest.raises(InputError, match="positive threshold"):
        plate.wrench("foot", threshold=0.0)
