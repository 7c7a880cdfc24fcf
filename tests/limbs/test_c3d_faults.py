"""C3D files with faults: what is whole is read as it was written, and warnings name the rest."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import trundle
from tools.fuzz.c3d_writer import BLOCK, LABELS, OFFSETS, PROCESSORS, SCALES, C3dFile, Scene
from trundle import InputError


@dataclass(frozen=True)
class Fault:
    """What is done to a file, or to its bytes, and what is said of it; `frames` is how many are left of eight."""

    name: str
    warning: str
    change: Callable[[C3dFile], object] = lambda file: None
    damage: Callable[[bytes, C3dFile], bytes] = lambda content, file: content
    unread: tuple[str, ...] = ()
    frames: int = 8
    labels: tuple[str, ...] = LABELS
    only: bool | None = None  # of integers, or of floats


def said(**parameters):
    """Parameters with other values, GROUP__NAME; None: they are missing."""

    def change(file: C3dFile):
        named = {name.replace("__", ":"): value for name, value in parameters.items()}
        file.parameters |= named
        file.parameters = {name: value for name, value in file.parameters.items() if value is not None}

    return change


def header(place, number):
    return lambda file: file.header.update({place: number})


def pointer_beyond(content: bytes, file: C3dFile):
    """The last parameter's pointer leads to the middle of nowhere."""
    _, pointer, *_ = file.parts()[1][list(file.parameters)[-1]]
    return content[:pointer] + file.word(20_011) + content[pointer + 2 :]


def cut(content: bytes, file: C3dFile):
    """The file ends within its sixth frame, of 47 numbers."""
    return content[: BLOCK + len(file.parts()[0]) + (47 * 5 + 12) * (2 if file.scale > 0 else 4)]


def with_nan(file: C3dFile):
    """A sample of the first plate, or its scale, that is none."""
    if file.scale > 0:
        file.parameters["ANALOG:SCALE"] = np.where(np.arange(13) == 1, np.nan, SCALES)
    else:
        file.samples[4, 1] = np.nan


def in_metres(unit):
    """Lengths in metres."""

    def change(file: C3dFile):
        file.scale /= 1000 if file.scale > 0 else 1
        file.points[..., :3] /= 1000
        for name in ("CORNERS", "ORIGIN"):
            file.parameters[f"FORCE_PLATFORM:{name}"] = file.parameters[f"FORCE_PLATFORM:{name}"] / 1000
        said(POINT__UNITS=[unit], POINT__SCALE=[file.scale])(file)

    return change


VOLTS = [*["Volt"] * 6, *["N"] * 3, *["Nmm"] * 3, "V"]
NEWTONS = [*["nt"] * 3, *["ntmm"] * 3, *["n"] * 3, *["N-mm"] * 3, "uV"]
CUT = [*[b"N"] * 3, *[b"mN\xc2"] * 3, *[b"N"] * 3, *["N·mm".encode()] * 3, b"V"]
CALIBRATION = "force plate 1 has no calibration: its channel 'ch1' is in Volt"
FIRST = ("force plate 1",)
FAULTS = (
    Fault("units of force", "'N-mm' is read as N mm", said(ANALOG__UNITS=NEWTONS)),
    Fault("cut units", r"'mN\?' is read as mN m", said(ANALOG__UNITS=CUT)),
    Fault("units of length", "'mete' is read as m", in_metres("mete")),
    Fault("volts", CALIBRATION, said(ANALOG__UNITS=VOLTS), unread=FIRST),
    Fault(
        "labels", "'hip' comes again: it is called 'hip_2'", said(POINT__LABELS=["hip", "hip"]),
        labels=("hip", "hip_2"),
    ),
    Fault("no rate", "POINT:RATE: is missing: the header's 100 is taken", said(POINT__RATE=None)),
    Fault("no scale", "POINT:SCALE: is missing: the header's 0.125", said(POINT__SCALE=None), only=True),
    Fault("offsets", "ANALOG:OFFSET: there are 13 .* numbers for 12", said(ANALOG__OFFSET=OFFSETS[:12])),
    Fault("scales", "ANALOG:SCALE: there are 13 .* numbers for 12", said(ANALOG__SCALE=SCALES[:12])),
    Fault("no start", "DATA_START: is 0, which can't be: the header's", said(POINT__DATA_START=[0])),
    Fault("analogue count", "one reading fits the file's length: read with ratio 3", header(4, 13)),
    Fault("pointer", "the pointer of its parameter TIMES leads astray", damage=pointer_beyond),
    Fault("type", "plate 1 is of type 21, which isn't read", said(FORCE_PLATFORM__TYPE=[21, 2]), unread=FIRST),
    Fault("nan", "force plate 1 has no number at analogue sample", with_nan, unread=FIRST),
    Fault(
        "cut", "its header says 8 frames, and it holds 5",
        damage=cut,
        frames=5,
    ),
    Fault("points", "one reading fits the file's length: read with points 2", header(2, 40)),
    Fault("frames", "read with frames 8", said(POINT__FRAMES=[80])),
)  # fmt: skip


@pytest.mark.parametrize("integers", [False, True], ids=["floats", "integers"])
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_is_whole_is_read_and_the_rest_is_named(tmp_path, rng, fault, processor, integers):
    if fault.only not in (None, integers):
        pytest.skip("of integers alone")
    scene, path = Scene.random(rng), tmp_path / "walk.c3d"
    file = scene.file(processor, integers=integers)
    fault.change(file)
    path.write_bytes(fault.damage(file.content(), file))
    with pytest.warns(UserWarning, match=fault.warning) as caught:
        recording = trundle.read_recording(path)
    assert all(str(each.message).replace("\n", "").isprintable() for each in caught)
    assert tuple(recording.unread) == fault.unread
    assert tuple(recording.markers) == fault.labels
    for k, label in enumerate(fault.labels):
        np.testing.assert_allclose(
            recording.markers[label], scene.places[: fault.frames, k] / 1000, atol=1e-7
        )
    assert [plate.number for plate in recording.plates] == ([2] if fault.unread else [1, 2])
    for plate in recording.plates:
        assert plate.number
        for found, written in zip((plate.force, plate.moment), scene.wrench(plate.number - 1), strict=True):
            np.testing.assert_allclose(found, written[: 3 * fault.frames], rtol=1e-6, atol=1e-6)
    with pytest.raises(InputError, match=r"walk\.c3d"):
        trundle.read_recording(path, strict=True)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("integers", [False, True], ids=["floats", "integers"])
@pytest.mark.parametrize("form", ["SIGNED", "UNSIGNED"])
@pytest.mark.parametrize("word", [0, 2048, 0x8000])
def test_offsets_are_right_to_no_count(tmp_path, rng, processor, integers, form, word):
    scene = Scene.random(rng)
    file, offset = scene.file(processor, integers=integers), word
    if form == "SIGNED" and word == 0x8000:
        offset = -word
    file.samples = scene.counts - OFFSETS + offset
    if integers:  # what a word holds
        low = 0 if form == "UNSIGNED" else -0x8000
        file.samples = file.samples.clip(low, low + 0xFFFF)
    said(ANALOG__OFFSET=[word] * 13, ANALOG__FORMAT=[form])(file)
    (tmp_path / "a.c3d").write_bytes(file.content())
    scene.counts = file.samples - offset + OFFSETS
    for k, plate in enumerate(trundle.read_recording(tmp_path / "a.c3d").plates):
        force, moment = scene.wrench(k)
        np.testing.assert_array_equal(np.abs(plate.force), np.abs(force))
        np.testing.assert_allclose(np.abs(plate.moment), np.abs(moment), atol=1e-12)


def test_an_unloaded_plate_of_unsigned_floats_reads_nothing(tmp_path):
    scene = Scene(np.ones((3, 2, 3)), np.full((3, 13), 32768))
    file = scene.file()
    file.samples[2, 2] = 32268
    said(ANALOG__OFFSET=[0x8000] * 13, ANALOG__FORMAT=["UNSIGNED"], ANALOG__SCALE=[1.0] * 13)(file)
    (tmp_path / "a.c3d").write_bytes(file.content())
    plate, _ = trundle.read_recording(tmp_path / "a.c3d").plates
    assert (plate.force @ plate.axes)[:, 2].tolist() == [0, 0, -500]


@pytest.mark.parametrize("unit", ["mete", "M", "METERS", "m", "Metre", "MM", "milli"])
def test_units_of_length_are_read_in_any_case(tmp_path, rng, unit):
    scene = Scene.random(rng)
    file = scene.file()
    (said(POINT__UNITS=[unit]) if unit in ("MM", "milli") else in_metres(unit))(file)
    (tmp_path / "a.c3d").write_bytes(file.content())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recording = trundle.read_recording(tmp_path / "a.c3d")
    np.testing.assert_allclose(recording.markers["hip"], scene.places[:, 0] / 1000, atol=1e-7)


@pytest.mark.parametrize(
    ("units", "moment"),
    [
        (["N", "Nmm"], 1), (["n", "nmm"], 1), (["NT", "NTMM"], 1), (["Newton", "N·mm"], 1), (["N", "N-m"], 1000),
        (["N", "NM"], 1000), (["kn", "kNm"], 1000), (["N", b"N\xb7mm"], 1), (["N", b"mN\xc2"], 1),
        (["N", b"N\xc2"], None), (["N", "N"], None), (["mV", "Nmm"], None), (["N", "parsec"], None),
        ([b"N\xc2", "Nmm"], None), (["ADC", "ADC"], None),
    ],
)  # fmt: skip
def test_units_are_read_where_one_meaning_is_left(tmp_path, rng, units, moment):
    scene = Scene.random(rng)
    file, (force_unit, moment_unit) = scene.file(), units
    plate = [*[force_unit] * 3, *[moment_unit] * 3]
    raw = [
        unit.encode() if isinstance(unit, str) else unit for unit in [*plate, *["N"] * 3, *["Nmm"] * 3, "V"]
    ]
    said(ANALOG__UNITS=raw)(file)
    file.samples[:, 3:6] = OFFSETS[3:6]  # so that a thousand times the moment is no other place
    (tmp_path / "a.c3d").write_bytes(file.content())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recording = trundle.read_recording(tmp_path / "a.c3d")
    assert list(recording.unread) == ([] if moment else ["force plate 1"])
    scene.counts[:, 3:6] = OFFSETS[3:6]
    for plate in recording.plates:
        assert plate.number
        times = 1000 if plate.number == 1 and force_unit == "kn" else 1
        np.testing.assert_array_equal(plate.force, times * scene.wrench(plate.number - 1)[0])


def contradicting(tmp_path, rng, *changes, length=None):
    """What is said of a file whose header and parameters contradict each other, and what is read."""
    scene = Scene.random(rng)
    file = scene.file()
    for change in changes:
        change(file)
    (tmp_path / "a.c3d").write_bytes(file.content()[:length])
    with pytest.warns(UserWarning, match="contradict each other") as caught:
        recording = trundle.read_recording(tmp_path / "a.c3d")
    written = scene.places[: len(recording.time), 0] / 1000
    np.testing.assert_allclose(recording.markers["hip"], written, rtol=1e-15)
    return str(caught[0].message), recording


def test_the_reading_that_fits_the_files_length_is_taken(tmp_path, rng):
    told, recording = contradicting(
        tmp_path, rng, said(POINT__USED=[3], POINT__LABELS=["hip", "knee", "toe"])
    )
    assert "one reading fits the file's length: read with points 2" in told
    assert len(recording.markers) == 2
    told, _ = contradicting(tmp_path, rng, header(16, 4), said(ANALOG__RATE=[500.0]))
    assert "one reading fits the file's length: read with block" in told
    assert told.endswith("ratio 3")


def test_the_parameters_are_taken_where_no_reading_fits_or_several_do(tmp_path, rng):
    told, recording = contradicting(tmp_path, rng, header(8, 7))
    assert "several readings fit the file's length: read with frames 8" in told
    assert len(recording.time) == 8
    told, recording = contradicting(tmp_path, rng, header(8, 70), said(POINT__FRAMES=[60]))
    assert "no reading fits the file's length: read with frames 60" in told
    assert len(recording.time) == 8  # with the padding's frame: (1,504 + 32) bytes of 188


def test_nothing_is_taken_for_absent_that_may_be_lost(tmp_path, rng):
    """Where parameters can't be followed, force plates and events may be among those that nobody read."""
    file = Scene.random(rng).file()
    content, (at, pointer, *_) = file.content(), file.parts()[1]["ANALOG:LABELS"]
    junk = b"\xff" * (pointer + 400 - at)
    (tmp_path / "a.c3d").write_bytes(content[:at] + junk + content[at + len(junk) :])
    with pytest.warns(UserWarning, match="its parameters can't be followed behind UNITS"):
        recording = trundle.read_recording(tmp_path / "a.c3d")
    assert list(recording.unread) == ["force plates", "events"]
    assert str(recording).startswith("Recording of 2 markers, 0 channels, 0 plates (unread: force plates")


def test_a_file_of_which_nothing_is_whole_is_refused(tmp_path, rng):
    file = Scene.random(rng).file()
    said(POINT__UNITS=["parsec"])(file)
    (tmp_path / "a.c3d").write_bytes(file.content())
    with pytest.raises(InputError, match=r"a\.c3d: POINT:UNITS: 'parsec' is not a unit of length"):
        trundle.read_recording(tmp_path / "a.c3d")
    (tmp_path / "a.c3d").write_bytes(file.content()[: BLOCK + len(file.parts()[0]) + 100])
    with pytest.raises(InputError, match="it holds no whole frame"):
        trundle.read_recording(tmp_path / "a.c3d")


def test_warnings_of_many_parts_are_few(tmp_path, rng):
    file = Scene.random(rng).file()
    file.points = np.repeat(file.points, 15, axis=1) * 1e6
    file.points[:, 0] = 1.0
    said(POINT__USED=[30], POINT__LABELS=[f"m{k}" for k in range(30)])(file)
    (tmp_path / "a.c3d").write_bytes(file.content())
    with pytest.warns(UserWarning, match="could not be read") as caught:
        recording = trundle.read_recording(tmp_path / "a.c3d")
    assert len(recording.unread) == 29
    told = [str(each.message) for each in caught]
    assert len(told) == 9
    assert "21 more parts could not be read, from marker 'm9' to marker 'm29'" in told[-1]
