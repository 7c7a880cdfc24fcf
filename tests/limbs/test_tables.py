"""Recordings from CSV, MOT and STO: what is read, in which units, and what is refused."""

import numpy as np
import pytest

import trundle
from trundle import InputError


def read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return trundle.read_recording(tmp_path / name)


def table(
    *rows,
    header="test\nversion=1\nnRows={rows}\nnColumns={columns}\ninDegrees={degrees}\nendheader",
    degrees="no",
):
    filled = header.format(rows=len(rows) - 1, columns=len(rows[0].split()), degrees=degrees)
    return "\n".join([filled, *("\t".join(row.split()) for row in rows)]) + "\n"


def test_csv_has_coordinates_and_markers_with_units(tmp_path):
    text = "time [ms],knee [deg],slide [mm],ankle.x [cm],ankle.y [cm],ankle.z [cm],hip_x,hip_y,hip_z\n"
    recording = read(tmp_path, "a.csv", text + "0,90,5,1,2,3,.1,.2,.3\n10,180,,,4,5,.1,.2,.3\n")
    np.testing.assert_allclose(recording.time, [0, 0.01])
    np.testing.assert_allclose(recording.channel("knee", "rad"), [np.pi / 2, np.pi])
    np.testing.assert_allclose(recording.channel("knee", "deg"), [90, 180])
    np.testing.assert_array_equal(recording.channels["slide"], [0.005, np.nan])
    np.testing.assert_array_equal(recording.markers["ankle"], [[0.01, 0.02, 0.03], [np.nan] * 3])
    np.testing.assert_allclose(recording.markers["hip"][1], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(recording.channel("hip_y", "m"), 0.2)
    assert recording.units == {"knee": "deg", "slide": "mm", "ankle": "cm"}


def test_rows_of_a_storage_file_may_end_with_a_tab(tmp_path):
    text = table("time knee", "0 1", "1 2")
    for ended in (text.replace("\n", "\t\n"), text.replace("knee\n", "knee\t\n")):
        ended = ended.replace("endheader\t", "endheader")
        np.testing.assert_array_equal(read(tmp_path, "a.sto", ended).channels["knee"], [1, 2])


@pytest.mark.parametrize(("digits", "rate"), [(3, 60), (3, 120), (3, 240), (4, 120), (4, 150.0)])
def test_times_that_were_rounded_are_even_again(tmp_path, digits, rate):
    times = np.arange(300) / rate
    rows = "".join(f"{each:.{digits}f},{np.sin(each)}\n" for each in times)
    with pytest.warns(
        UserWarning, match=f"a.csv: times are rounded to {10.0**-digits:g} s; they are even again"
    ):
        time = read(tmp_path, "a.csv", f"time,knee\n{rows}").time
    assert np.ptp(np.diff(time)) < 1e-12
    np.testing.assert_allclose(time, times, atol=10.0**-digits)
    literal = trundle.read_recording(tmp_path / "a.csv", times="literal")
    np.testing.assert_array_equal(literal.time, [float(f"{each:.{digits}f}") for each in times])
    with pytest.raises(InputError, match="times are even or literal, got 'odd'"):
        trundle.read_recording(tmp_path / "a.csv", times="odd")


@pytest.mark.parametrize(("said", "rate"), [(120, 120), (119, None), (0, None)])
def test_a_rate_that_fits_makes_times_even(tmp_path, said, rate):
    """The steps are the rate's, to the last digit; a rate that doesn't fit is no rate."""
    times = np.arange(60, 400) / 120
    rows = [f"{each:.4f} {np.sin(each)}" for each in times]
    text = table("time knee", *rows).replace("version=1", f"DataRate={said}\nversion=1")
    with pytest.warns(UserWarning, match=r"they are even again, (120|119\.99|120\.00)"):
        time = read(tmp_path, "a.sto", text).time
    if rate:
        np.testing.assert_allclose(time, times, rtol=1e-15)
    assert np.ptp(np.diff(time)) < 1e-12


def test_times_stay_where_a_sample_is_missing_or_steps_differ(tmp_path):
    for times in (np.delete(np.arange(100) / 100, 50), np.delete(np.arange(100) / 120, 1).round(3)):
        rows = "".join(f"{each},0\n" for each in times)
        np.testing.assert_array_equal(read(tmp_path, "a.csv", f"time,knee\n{rows}").time, times)


def test_quaternions_and_triples_of_other_units_are_channels(tmp_path):
    text = "time,q.w,q.x,q.y,q.z,f.x [N],f.y [N],f.z [N]\n0,1,0,0,0,1,2,3\n"
    recording = read(tmp_path, "a.csv", text)
    assert list(recording.channels) == ["q.w", "q.x", "q.y", "q.z", "f.x", "f.y", "f.z"]
    assert not recording.markers


def test_degrees_of_a_motion_file_hold_for_what_turns(tmp_path):
    recording = read(
        tmp_path, "a.mot", table("time knee pelvis_tx", "0 90 0.9", "0.1 45 0.95", degrees="yes")
    )
    np.testing.assert_allclose(recording.channel("knee", "rad"), [np.pi / 2, np.pi / 4])
    np.testing.assert_allclose(recording.channel("pelvis_tx", "m"), [0.9, 0.95], rtol=1e-15)


def test_a_storage_file_is_in_radians_unless_it_says_otherwise(tmp_path):
    """A motion of SIMM's times, which has no version, is in degrees: so OpenSim's own Storage reads it."""
    header = "Coordinates\nnRows={rows}\nnColumns={columns}\nendheader"
    recording = read(tmp_path, "a.sto", table("time knee", "0 1.5", "0.3 1", header=header))
    np.testing.assert_array_equal(recording.channels["knee"], [1.5, 1])
    simm = "name a.mot\ndatacolumns {columns}\ndatarows {rows}\nrange 0 1\nendheader"
    for file, said, knee in (
        ("b.mot", "", np.radians(1.5)),
        ("c.mot", "version=1\n", 1.5),
        ("d.mot", "inDegrees=no\n", 1.5),
        ("e.sto", "", 1.5),
        ("f.sto", "Angles are in degrees.\n", np.radians(1.5)),
    ):
        found = read(tmp_path, file, table("time knee", "0 1.5", header=simm.replace("end", f"{said}end")))
        assert found.channel("knee", "rad") == [knee], file


@pytest.mark.parametrize("suffix", [".csv", ".sto", ".mot"])
def test_what_is_written_reads_back_the_same(tmp_path, suffix, rng):
    markers = {"ankle": rng.normal(size=(7, 3))} if suffix == ".csv" else {}
    recording = trundle.Recording(np.arange(7) / 3, markers, {"knee": rng.normal(size=7)})
    trundle.write_recording(recording, tmp_path / f"a{suffix}")
    back = trundle.read_recording(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(back.time, recording.time)
    np.testing.assert_array_equal(back.channels["knee"], recording.channels["knee"])
    for name in markers:
        np.testing.assert_array_equal(back.markers[name], recording.markers[name])


BAD = {
    "no time": ("t,knee\n0,1\n", r"no column 'time'[\s\S]*it has t, knee"),
    "falling": (
        "time,knee\n0,1\n1,1\n0.5,2\n",
        r"bad.csv:4: time: times must increase: sample 3 has 0.5 s after 1 s",
    ),
    "repeated": ("time,knee\n0,1\n0,1\n", "times must increase: sample 2"),
    "no time there": ("time,knee\n0,1\n,1\n", "sample 2 has no finite time"),
    "text": ("time,knee\n0,1\n1,fast\n", r"bad.csv:3: knee: 'fast' is not a number"),
    "infinite": ("time,knee\n0,1\n1,inf\n", r"bad.csv:3: knee: a number is infinite"),
    "short row": ("time,knee\n0,1\n1\n", r"bad.csv:3: has 1 cells; there are 2 columns"),
    "twice": ("time,knee,knee\n0,1,1\n", "'knee' comes twice"),
    "two units": (
        "time,knee [deg],knee [rad]\n0,1,1\n",
        r"comes twice, as 'knee \[deg\]' and 'knee \[rad\]'",
    ),
    "no unit": ("time,knee [bar]\n0,1\n", "bad.csv:1: knee: 'bar' is not a unit"),
    "time in metres": ("time [m],knee\n0,1\n", "the times are in m"),
    "mixed": ("time,a.x [mm],a.y [m],a.z [m]\n0,1,1,1\n", "x, y and z of marker 'a' are in mm, m, m"),
    "half said": ("time,a.x [mm],a.y,a.z\n0,1,1,1\n", "are in mm, no unit, no unit"),
    "millimetres": ("time,a.x,a.y,a.z\n0,1,950,1\n", r"marker 'a' is 950 m away at sample 1[\s\S]*in mm"),
    "semicolons": ("time;knee\n0;1\n", "parted by ';', and commas were expected"),
    "comma": ('time,knee\n0,"1,5"\n', "write a point"),
    "empty": ("", "is empty"),
    "no rows": ("time,knee\n", "no rows of numbers"),
    "quotes": ('time,knee\n0,"1\n', "is no CSV file"),
    "binary": ("time,knee\n0,\0\n", r"bad.csv:2: is no text"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_csv_names_line_and_column(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(InputError, match=message):
        read(tmp_path, "bad.csv", text)


FAULTY_STO = {
    "cut off": (
        table("time knee", "0 1", "1 1").rpartition("\n1")[0],
        r"bad.sto:3: the header says 2 rows, and 1 follow",
        [0],
    ),
    "huge": (
        table("time knee", "0 1").replace("nRows=1", "nRows=99999999999"),
        "says 99,999,999,999 rows, and 1 follow",
        [0],
    ),
    "twice": (
        table("time knee", "0 1", "0.1 2", "0.1 2", "0.1 2", "0.2 3"),
        r"bad.sto:10: 2 rows repeat the one above: they are left out",
        [0, 0.1, 0.2],
    ),
}


@pytest.mark.parametrize("case", FAULTY_STO)
def test_faults_of_sto_that_leave_one_meaning_are_warned_of(tmp_path, case):
    text, message, times = FAULTY_STO[case]
    with pytest.warns(UserWarning, match=message):
        np.testing.assert_array_equal(read(tmp_path, "bad.sto", text).time, times)
    with pytest.raises(InputError, match=message):
        trundle.read_recording(tmp_path / "bad.sto", strict=True)


BAD_STO = {
    "other": (
        table("time knee", "0 1", "0.1 2", "0.1 2.5", "0.2 3"),
        r"bad.sto:10: time: times must increase: sample 3 has 0.1 s after 0.1 s",
    ),
    "huger": (table("time knee", "0 1").replace("nRows=1", "nRows=" + "9" * 50), "expected a count of rows"),
    "columns": (
        table("time knee", "0 1").replace("nColumns=2", "nColumns=3"),
        "says 3 columns, and 2 follow",
    ),
    "version": (
        table("time knee", "0 1").replace("version=1", "version=9"),
        "unknown version '9'",
    ),
    "degrees": (table("time knee", "0 1", degrees="maybe"), "inDegrees is yes or no, got 'maybe'"),
    "no end": ("time\tknee\n0\t1\n", "no line `endheader`"),
    "nothing": ("endheader\n", "no names of columns"),
    "triples": (
        "DataType=Vec3\nversion=3\nendheader\ntime\tknee\n0\t1,2,3\n",
        "bad.sto:1: cells of type Vec3 are not read",
    ),
    "unit": (table("time knee[mm]", "0 1", degrees="yes"), None),
}


@pytest.mark.parametrize("case", BAD_STO)
def test_bad_sto_names_the_headers_line(tmp_path, case):
    text, message = BAD_STO[case]
    if message is None:
        with pytest.raises(InputError, match="this column is in mm, and 'knee' is measured in rad"):
            read(tmp_path, "bad.sto", text).channel("knee", "rad")
        return
    with pytest.raises(InputError, match=message):
        read(tmp_path, "bad.sto", text)


TRC = (
    "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n"
    "100\t100\t2\t2\tmm\nFrame#\tTime\tankle\t\t\tknee\t\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
    "1\t0.00\t100\t200\t300\t1\t2\t3\t\n2\t0.01\t110\t210\t310\t\t\t\n"
)


def test_trc_has_markers_in_its_unit_and_empty_cells_are_gaps(tmp_path):
    recording = read(tmp_path, "a.trc", TRC)
    np.testing.assert_allclose(recording.time, [0, 0.01])
    np.testing.assert_allclose(recording.markers["ankle"], [[0.1, 0.2, 0.3], [0.11, 0.21, 0.31]])
    np.testing.assert_allclose(recording.markers["knee"], [[0.001, 0.002, 0.003], [np.nan] * 3])


def test_trc_is_written_and_reads_back_the_same(tmp_path, rng):
    markers = {"ankle": rng.normal(size=(6, 3)), "knee": rng.normal(size=(6, 3))}
    markers["knee"][[2, 5]] = np.nan
    trundle.write_recording(trundle.Recording(np.arange(6) / 60, markers), tmp_path / "a.trc")
    back = trundle.read_recording(tmp_path / "a.trc")
    for name, positions in markers.items():
        np.testing.assert_array_equal(back.markers[name], positions)
    for recording in (trundle.Recording([0, 1, 3], {"a": np.zeros((3, 3))}), trundle.Recording([0, 1, 2])):
        with pytest.raises(InputError, match="markers at even times"):
            trundle.write_recording(recording, tmp_path / "b.trc")
    assert not (tmp_path / "b.trc").exists()


BAD_TRC = {
    "header only": (TRC[: TRC.index("\n1\t") + 1].rstrip("\n") + "\n", "says NumFrames 2, and 0 follow"),
    "cut off": (TRC[: TRC.index("2\t0.01")], "bad.trc:3: the header says NumFrames 2, and 1 follow"),
    "cut in a row": (TRC[: TRC.index("210")], "bad.trc:8: has 4 cells; there are 8 columns"),
    "markers": (TRC.replace("\t2\t2\tmm", "\t2\t3\tmm"), "says NumMarkers 3, and 2 follow"),
    "twice": (TRC.replace("knee", "ankle"), "bad.trc:4: ankle: the marker 'ankle' comes twice"),
    "stray": (TRC.replace("ankle\t\t\t", "ankle\t\t"), "a name above each third column"),
    "unit": (TRC.replace("\tmm", "\tdeg"), "ankle: 'deg' is not a unit of length"),
    "no unit": (TRC.replace("Units", "Unit"), "the header has no Units"),
    "metres": (TRC.replace("\tmm", "\tm"), "marker 'ankle' is 300 m away at sample 1"),
    "rate": (TRC.replace("\n100\t", "\n50\t"), "says 50 frames a second, and its times 100"),
    "rates": (TRC.replace("\n100\t", "\nfast\t"), "DataRate is not a number: fast"),
    "falling": (TRC.replace("0.01", "0.00"), "times must increase: sample 2"),
    "other": ("time,knee\n0,1\n", "is not a TRC file"),
}


@pytest.mark.parametrize("case", BAD_TRC)
def test_bad_trc_names_line_and_marker(tmp_path, case):
    text, message = BAD_TRC[case]
    with pytest.raises(InputError, match=message):
        read(tmp_path, "bad.trc", text)


def test_files_that_are_none(tmp_path):
    (tmp_path / "latin.csv").write_bytes("time,größe\n0,1\n".encode("latin-1"))
    for path, message in (
        ("gone.csv", "gone.csv: there is no such file"),
        (".", "is not a recording"),
        ("latin.csv", "is not UTF-8 text"),
        ("walk.xlsx", r"walk.xlsx is not a recording[\s\S]*\.csv"),
    ):
        with pytest.raises(InputError, match=message):
            trundle.read_recording(tmp_path / path)


def test_a_recording_made_in_code_is_checked_and_stays_as_it_is(tmp_path):
    with pytest.raises(InputError, match=r"marker 'a': expected an array of shape \(2, 3\), got \(3, 2\)"):
        trundle.Recording([0, 1], {"a": np.zeros((3, 2))})
    with pytest.raises(InputError, match="channel 'a' is infinite at sample 2"):
        trundle.Recording([0, 1], channels={"a": [0, np.inf]})
    recording = trundle.Recording([0, 1], channels={"a": [0, 1]})
    with pytest.raises(ValueError, match="read-only"):
        recording.channels["a"][0] = 1
    with pytest.raises(InputError, match="make another Recording"):
        recording.channels.update(b=np.zeros(2))
    with pytest.raises(InputError, match=r"no column 'b'[\s\S]*known: a"):
        recording.channel("b", "rad")
