"""A leg on two force plates, from C3D through the whole command, against a script that owes Trundle nothing."""

import csv
import json
import re

import numpy as np
import pytest
import yaml

import trundle as library
from cli import walking_leg as leg
from limbs.c3d_files import Plate, corners, encoded, place_in, write_c3d
from trundle.results import Run

ezc3d = pytest.importorskip("ezc3d", reason="ezc3d (the extra 'c3d') is not installed")

AXES = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1.0]])  # of both plates, in the laboratory: z is down
ORIGIN = np.array([1.5, -2.0, -40.0])  # mm
THRESHOLD = 5.0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The files of the leg, its markers' places and its motion."""
    folder = tmp_path_factory.mktemp("walk")
    count = round(leg.DURATION * leg.RATE) + 1
    t = np.arange(count) / leg.RATE
    fine = np.arange(count * leg.RATIO) / (leg.RATE * leg.RATIO)
    noise = np.random.default_rng(20250613)  # printed nowhere, as it never changes
    seen = leg.markers(leg.motion(t))
    seen = {name: 1e3 * (each + noise.normal(scale=1e-4, size=each.shape)) for name, each in seen.items()}
    plates = []
    for centre, (force, place, free) in zip(leg.PLATES, leg.pushes(fine), strict=True):
        moment = np.cross(place - np.array(centre), force) + np.outer(free, [0, 0, 1])
        channels = encoded(2, force @ AXES, 1e3 * moment @ AXES, ORIGIN)
        around = corners(1e3 * np.array(centre), AXES, np.array([200.0, 300.0]))
        plates.append(Plate(2, around, channels, ["N"] * 3 + ["Nmm"] * 3, ORIGIN))
    events = [("Right", "Foot Strike", 0.2), ("Right", "Foot Strike", 1.4)]
    write_c3d(folder / "walk.c3d", seen, plates=plates, ratio=leg.RATIO, events=events)
    (folder / "leg.yaml").write_text(yaml.safe_dump({"trundle": 1, "robot": leg.LEG}, sort_keys=False))
    listed = {name: {"body": body, "at": list(at)} for name, (body, at) in leg.MARKERS.items()}
    (folder / "markers.yaml").write_text(yaml.safe_dump({"markers": listed}))
    return folder


@pytest.fixture
def inverse(trundle, recorded, tmp_path):
    """The command on that file; what it wrote, and what it said."""

    def call(*words):
        files = [
            "inverse",
            recorded / "leg.yaml",
            "--motion",
            recorded / "walk.c3d",
            "--output",
            tmp_path / "out",
        ]
        plates = ["--external", "foot=plate1", "--external", "foot=plate2", "--threshold", str(THRESHOLD)]
        done = trundle(*files, "--markers", recorded / "markers.yaml", *plates, *words)
        assert done.status == 0, done.err
        return Run.load(tmp_path / "out" / "walk.nc"), done

    return call


def means(channels, count):
    """The mean of a plate's samples over each of the motion's intervals, those on its edges by half."""
    found = []
    for k in range(count):
        places = np.arange(leg.RATIO * k - leg.RATIO // 2, leg.RATIO * k + leg.RATIO // 2 + 1)
        weights = np.ones(len(places))
        weights[[0, -1]] = 0.5
        weights[places == 0] = 0.5  # the recording begins in the middle of its first sample
        there = (places >= 0) & (places < len(channels))
        found.append(weights[there] @ channels[places[there]] / weights[there].sum())
    return np.array(found)


def centred(means):
    """What is there in the middles of intervals: F - F″h²/24, the first and the last with half an interval."""
    widths = np.array([0.5, *[1.0] * (len(means) - 2), 0.5])
    across = [(widths[k] + widths[k + 1]) / 48 * (means[k + 1] - means[k]) for k in range(len(means) - 1)]
    flows = np.array([0 * means[0], *across, 0 * means[0]])
    return means - (flows[1:] - flows[:-1]) / widths[:, None]


def whole(load):
    """When somebody stands there: over the threshold, and while the load comes and goes beside that."""
    stood = load >= THRESHOLD
    for step in (1, -1):
        for k in range(len(load))[::step]:
            before = k - step
            if 0 <= before < len(load) and stood[before] and 0 < load[k] < load[before]:
                stood[k] = True
    return stood


def by_hand(file):
    """Time, coordinates and joint moments of a file's own float32 samples."""
    content = ezc3d.c3d(str(file))
    points, analogs = content["data"]["points"], content["data"]["analogs"][0]
    names = content["parameters"]["POINT"]["LABELS"]["value"]
    where = {name: 1e-3 * points[:3, k].T for k, name in enumerate(names)}
    t = np.arange(points.shape[2]) / leg.RATE
    q = leg.fitted(np.stack([where[name] for name in leg.MARKERS], axis=1))
    wrenches = []
    for k, centre in enumerate(leg.PLATES):
        channels = centred(means(analogs[6 * k : 6 * k + 6].T, len(t)))
        force, about = channels[:, :3], 1e-3 * (channels[:, 3:] + np.cross(channels[:, :3], ORIGIN))
        force, about = force @ AXES.T, about @ AXES.T
        stood = whole(force[:, 2])[:, None]
        wrenches.append((np.where(stood, force, 0), np.where(stood, about + np.cross(centre, force), 0)))
    return t, q, wrenches


def test_the_moments_are_those_of_the_files_own_samples(inverse, recorded):
    run, _ = inverse("--no-figures", "--frame", "world")
    t, q, wrenches = by_hand(recorded / "walk.c3d")
    expected = leg.moments(t, q, *leg.differentiated(t, q), wrenches)
    assert np.abs(run["hip.angle"] - q[:, 2]).max() < 1e-12
    for joint, moment in zip(("hip", "knee", "ankle"), expected.T, strict=True):
        assert np.abs(run[f"{joint}.moment_y"] - moment).max() < 1e-9 * np.abs(moment).max()


def test_how_far_markers_are_off_is_told(inverse):
    run, done = inverse("--no-figures")
    fit = run.summary["marker_fit"]
    assert (
        5e-5 < fit["rms"] < 2e-4 < fit["largest"] < 1e-3
    )  # noise of 0.1 mm on each axis, most of it followed
    assert f"most {fit['worst']} by" in done.out


def test_markers_on_no_body_are_told(trundle, recorded, tmp_path):
    fewer = yaml.safe_load((recorded / "markers.yaml").read_text())
    del fewer["markers"]["thigh_front"], fewer["markers"]["heel"]
    (tmp_path / "markers.yaml").write_text(yaml.safe_dump(fewer))
    files = ("inverse", recorded / "leg.yaml", "--motion", recorded / "walk.c3d", "--no-figures")
    done = trundle(
        *files, "--markers", tmp_path / "markers.yaml", "--threshold", "1e5", "--output", tmp_path / "out"
    )
    assert done.status == 0, done.err
    assert "thigh_front, heel: markers that are on no body" in done.out
    assert Run.load(tmp_path / "out" / "walk.nc").summary["markers_left_out"] == ["thigh_front", "heel"]


def test_smoothed_they_are_the_true_motions(inverse):
    run, done = inverse("--no-figures", "--smooth", "butterworth:8,order=2")
    assert "butterworth (cutoff 8, order 2)" in done.out
    fine = np.arange(round(leg.DURATION * 1000) + 1) / 1000
    q = leg.motion(fine)
    rates, accelerations = leg.differentiated(fine, q)
    true = [
        (force, np.cross(place, force) + np.outer(free, [0, 0, 1])) for force, place, free in leg.pushes(fine)
    ]
    expected = leg.moments(fine, q, rates, accelerations, true)[::10]
    inside = (run.time > 0.3) & (run.time < leg.DURATION - 0.3)
    for joint, moment in zip(("hip", "knee", "ankle"), expected.T, strict=True):
        error = np.abs(run[f"{joint}.moment_y"] - moment)[inside].max() / np.abs(moment).max()
        print(f"{joint}: {error:.2%} of the peak")
        assert error < 0.02


def test_a_walk_is_told_by_side_with_anatomical_names(inverse, tmp_path):
    run, done = inverse(
        "--smooth", "butterworth:8", "--gait", "recording", "--mass", "70", "--figure-format", "svg", "--json"
    )
    told = json.loads(done.out)
    names = ["walk.nc", "walk.csv", "walk.sto", "gait.csv", "cycles.csv"]
    figures = [f"gait_{name}.svg" for name in ("sagittal", "angles", "moments", "powers")]
    assert told["files"] == [*names, *figures]
    assert told["gait"]["events_by"] == "recording"
    with (tmp_path / "out" / "cycles.csv").open(encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    table = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    # The hip turns about y, so that it extends as it grows; the strikes are at 0.2 and 1.4 s.
    hip = -np.degrees(run["hip.angle"][80])
    assert table["right_hip_flexion.angle [deg]"][50] == pytest.approx(hip, abs=1e-5)  # events are float32
    assert table["right_knee_flexion.moment [N m/kg]"][25] == pytest.approx(
        run["knee.moment_y"][50], abs=1e-5
    )
    ankle = -run["ankle.moment_y"][80]
    assert table["right_ankle_dorsiflexion.moment [N m/kg]"][50] == pytest.approx(ankle, abs=1e-5)
    with (tmp_path / "out" / "gait.csv").open(encoding="utf-8") as stream:
        measures = {row["measure"]: row for row in csv.DictReader(stream)}
    assert float(measures["stride time"]["mean"]) == pytest.approx(1.2)
    assert measures["stride time"]["side"] == "right"
    svg = (tmp_path / "out" / "gait_moments.svg").read_text(encoding="utf-8")
    assert 'width="240.9' in svg  # 85 mm in points
    assert "knee: flexion +, extension \u2212" in svg


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gait", "--cycles", "0,1,2"), "--gait and --cycles: both cut the motion into cycles"),
        (("--height", "1.8"), "--height: is of a walk's moments"),
        (("--moments", "external"), "--moments: is of a walk's moments"),
        (("--terms", "gravity"), "--terms: chooses among the terms of a breakdown"),
        (
            ("--breakdown", "shank", "--observer", "thigh@knee", "--terms", "grav"),
            "--terms: the breakdown has no",
        ),
        (
            ("--gait", "plates", "--threshold", "2000"),
            "--gait: a cycle takes two strikes of one foot; plates: none",
        ),
    ],
)
def test_a_walks_options_that_don_t_fit_are_told(trundle, recorded, tmp_path, words, message):
    file = ["inverse", recorded / "leg.yaml", "--motion", recorded / "walk.c3d", "--output", tmp_path / "out"]
    done = trundle(*file, "--markers", recorded / "markers.yaml", "--external", "foot=plate1", *words)
    assert done.status == 1
    assert message in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_cycles_are_averaged_with_a_band(inverse, trundle, recorded, tmp_path):
    run, _ = inverse("--smooth", "butterworth:8", "--cycles", "0,1.2,2.4")
    names = ("moments", "forces", "angles", "powers")
    assert all((tmp_path / "out" / f"cycles_{name}.png").exists() for name in names)
    with (tmp_path / "out" / "cycles.csv").open(encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    table = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    assert table["percent [%]"][[0, 50, 100]].tolist() == [0, 50, 100]
    assert table["knee.angle [rad]"][50] == pytest.approx(
        (run["knee.angle"][60] + run["knee.angle"][180]) / 2, abs=1e-9
    )
    spread = abs(run["knee.angle"][60] - run["knee.angle"][180]) / np.sqrt(2)
    assert table["knee.angle.sd [rad]"][50] == pytest.approx(spread, abs=1e-9)
    file = [
        "inverse",
        recorded / "leg.yaml",
        "--motion",
        recorded / "walk.c3d",
        "--output",
        tmp_path / "other",
    ]
    file += ["--markers", recorded / "markers.yaml", "--no-figures"]
    for event, told in (
        ("Right Foot Strike", "--cycles: an average takes two whole cycles, so three events; 2 are in"),
        (
            "Foot Strike",
            "--cycles: the recording has no event 'Foot Strike'\n  did you mean 'Right Foot Strike'",
        ),
        ("plate1", "three events; 1 are in"),
    ):
        done = trundle(*file, "--cycles", event)
        assert done.status == 1
        assert told in done.err
    done = trundle(*file, "--external", "foot=plate3")
    assert "--external: there is no force plate or ground reaction 'plate3'" in done.err
    assert not (tmp_path / "other").exists()


def test_the_library_gives_the_commands_numbers(recorded, inverse):
    """`trundle.inverse` with the options' words as arguments, bit for bit."""
    run, _ = inverse("--no-figures", "--smooth", "butterworth:8,order=2", "--frame", "world", "--mass", "72")
    found = library.inverse(
        recorded / "leg.yaml",
        recorded / "walk.c3d",
        markers=recorded / "markers.yaml",
        smoothing={"method": "butterworth", "cutoff": 8, "order": 2},
        external=[("foot", "plate1"), ("foot", "plate2")],
        threshold=THRESHOLD,
        progress=False,
    )
    again = found.to_run("world", mass=72)
    assert {**again.summary, "sha256": run.summary["sha256"]} == dict(run.summary)
    assert list(again.values) == list(run.values)
    for name in run.values:
        np.testing.assert_array_equal(again[name], run[name])


@pytest.mark.slow
def test_bands_are_written_as_a_table_and_a_figure(trundle, recorded, tmp_path):
    files = (
        "inverse",
        recorded / "leg.yaml",
        "--motion",
        recorded / "walk.c3d",
        "--output",
        tmp_path / "out",
    )
    files += ("--markers", recorded / "markers.yaml", "--smooth", "butterworth:8")
    done = trundle(*files, "--bands")
    assert done.status == 0, done.err
    # the file's noise is 0.1 mm
    assert re.search(
        r"95 % of 0\.(1|098|099|097|096)\d* mm of marker noise and deviations of thigh, shank, foot",
        " ".join(done.out.split()),  # lines end where the terminal does
    )
    assert (tmp_path / "out" / "bands.png").exists()
    alone = trundle(*files, "--no-figures", "--bands", "none,sex=male", "--json")
    assert "noise" not in alone.data["bands"]
    given = trundle(*files, "--no-figures", "--bands", "0.1mm,sex=male", "--json")
    assert given.data["bands"]["noise"] == pytest.approx(1e-4)
    assert given.data["bands"]["widest"]["knee.net"] > 0
    assert alone.data["bands"]["widest"]["knee.net"] < given.data["bands"]["widest"]["knee.net"]
    with (tmp_path / "out" / "bands.csv").open(encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    table = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    both = np.hypot(table["hip.net.sd_markers"], table["hip.net.sd_segments"])
    assert table["hip.net.high"] - table["hip.net"] == pytest.approx(1.959963984540054 * both)
    for words, told in (
        (("--bands", "0.1mm,age=7"), "--bands: bands have no 'age'"),
        (("--bands", "1 kg"), "--bands"),
        (("--bands", "0.1mm,sex=man"), "--bands sex: there are no deviations of 'man'"),
        (("--bands", "--output", tmp_path / "one.csv"), "--bands: writes a table of its own"),
    ):
        done = trundle(*files, "--no-figures", *words)
        assert (done.status, told in done.err) == (1, True), done.err


def test_a_plate_that_nobody_is_near_to_is_told(trundle, recorded, tmp_path):
    listed = yaml.safe_load((recorded / "markers.yaml").read_text())["markers"]
    upper = {name: each for name, each in listed.items() if each["body"] in ("pelvis", "thigh")}
    joints = {name: joint for name, joint in leg.LEG["joints"].items() if name not in ("knee", "ankle")}
    (tmp_path / "stump.yaml").write_text(
        yaml.safe_dump({"trundle": 1, "robot": {**leg.LEG, "joints": joints}})
    )
    (tmp_path / "upper.yaml").write_text(yaml.safe_dump({"markers": upper}))
    files = ("inverse", tmp_path / "stump.yaml", "--motion", recorded / "walk.c3d", "--no-figures")
    files += ("--markers", tmp_path / "upper.yaml", "--output", tmp_path / "out")
    done = trundle(*files)
    assert done.status == 0, done.err
    assert "'force plate 2' is pushed on with up to" in done.err
    assert "(1.44 to 2.06 s), and by no body: the loads leave it out" in done.err
    assert "--external BODY=plate2" in done.err
    assert "thigh" in done.err.partition("says by which: ")[2]
    assert "pushed on" not in trundle(*files, "--threshold", "1e5").err
    told = trundle(*files, "--external", "thigh=plate1")
    assert "'force plate 1' from 0.24 to 0.86 s is said to push 'thigh', whose markers are" in told.err


@pytest.mark.slow
def test_a_fit_that_is_far_off_ends_with_status_3(trundle, recorded, tmp_path):
    places = {name: {"body": body, "at": [3 * x for x in at]} for name, (body, at) in leg.MARKERS.items()}
    (tmp_path / "far.yaml").write_text(yaml.safe_dump({"markers": places}))
    files = ("inverse", recorded / "leg.yaml", "--motion", recorded / "walk.c3d", "--no-figures")
    rest = ("--markers", tmp_path / "far.yaml", "--output", tmp_path / "out", "--threshold", "1e5")
    done = trundle(*files, *rest)
    assert done.status == 3
    assert "mm off (root mean square), more than 50 mm" in done.err
    assert not (tmp_path / "out").exists()
    done = trundle(*files, *rest, "--max-marker-rms", "2 m")
    assert done.status == 0
    assert Run.load(tmp_path / "out" / "walk.nc").summary["marker_fit"]["rms"] > 0.05
    refused = trundle(*files, *rest, "--max-marker-rms", "2 kg")
    assert refused.status == 1
    assert "--max-marker-rms" in refused.err


def test_gaps_are_asked_for_by_their_rule_alone(trundle, recorded, tmp_path):
    files = ("inverse", recorded / "leg.yaml", "--motion", recorded / "walk.c3d", "--no-figures")
    files += ("--markers", recorded / "markers.yaml", "--output", tmp_path / "o")
    for given, longest in (("spline", 0.2), ("linear:0.1", 0.1), ("spline:longest=100 ms", 0.1)):
        done = trundle(*files, "--gaps", given, "--json")
        assert done.status == 0, done.err
        expected = {"rule": given.partition(":")[0], "longest": longest, "filled": {}}
        assert done.data["smoothing"]["gaps"] == expected
    for given, told in (
        ("cubic", "--gaps rule: there is no rule 'cubic'\n  choose one of spline, linear"),
        ("0.1", "--gaps rule: there is no rule '0.1'"),
        ("spline:long", "--gaps: expected a number, got 'long'\n  such as --gaps spline:0.5"),
        ("spline:-1", "--gaps longest: the longest gap to fill is a time in s"),
        ("spline:6 Hz", "--gaps: expected a number, got '6 Hz'"),
    ):
        done = trundle(*files, "--gaps", given)
        assert (done.status, told in done.err) == (1, True), done.err


def test_plates_are_smoothed_and_their_foot_is_found(trundle, recorded, tmp_path):
    files = ("inverse", recorded / "leg.yaml", "--motion", recorded / "walk.c3d", "--no-figures")
    files += ("--markers", recorded / "markers.yaml", "--output", tmp_path / "o")
    done = trundle(*files, "--plates", "butterworth:20")
    assert done.status == 0, done.err
    said = " ".join(done.out.split())  # lines end where the terminal does
    assert "butterworth (cutoff 20, order 2), by means over the motion's steps, from 20 N" in said
    assert re.search(r"foot on force plate 2, 1.4\d to 2.0\d s \(\d+ mm from its markers\)", said)
    plates = Run.load(tmp_path / "o" / "walk.nc").summary["plates"]
    assert plates["smoothing"] == {"method": "butterworth", "cutoff": 20, "order": 2}
    assert [contact["body"] for contact in plates["contacts"]] == ["foot", "foot"]
    told = trundle(*files, "--plates", "butterworth:20 Hz", "--external", "foot=plate1", "--json")
    assert [contact["by"] for contact in told.data["plates"]["contacts"]] == ["external", "markers"]
    assert told.data["peaks"] == json.loads(json.dumps(Run.load(tmp_path / "o" / "walk.nc").summary["peaks"]))
    for given, told in (
        (("buterworth:20",), "there is no recording 'buterworth:20', nor a method of that name"),
        (("butterworth:600",), "a cutoff of 600 Hz is above half the sampling rate of 1000 Hz"),
        (("noise_spline:2",), "--plates: 'noise_spline' has one noise, and a plate has forces in N"),
        (("opensim:6",), "--plates: 'opensim' smooths coordinates only: OpenSim takes forces as they are"),
        (("none", "butterworth:6"), "--plates: one method is enough, got none and butterworth:6"),
    ):
        done = trundle(*files, *(word for each in given for word in ("--plates", each)))
        assert (done.status, told in done.err) == (1, True), done.err


@pytest.fixture(scope="module")
def half_read(recorded):
    """The recording with a first plate of a type that isn't read, in a copy of its folder."""
    content = bytearray((recorded / "walk.c3d").read_bytes())
    content[place_in(content, "FORCE_PLATFORM", "TYPE")] = 21
    (recorded / "half.c3d").write_bytes(content)
    return recorded / "half.c3d"


def test_an_unread_plate_stops_what_is_not_told_which_plates_to_use(trundle, recorded, half_read, tmp_path):
    files = ("inverse", recorded / "leg.yaml", "--motion", half_read, "--markers", recorded / "markers.yaml")
    files += ("--no-figures", "--output", tmp_path / "o")
    for words in ((), ("--gait",), ("--cycles", "plate1"), ("--external", "foot=plate1")):
        done = trundle(*files, *words)
        assert done.status == 1
        assert "force plate 1 could not be read: force plate 1 is of type 21" in done.err
        assert "--external BODY=plate" in done.err
    done = trundle(*files, "--external", "foot=plate2", "--json")
    assert done.status == 0, done.err
    (contact,) = done.data["plates"]["contacts"]
    assert (contact["plate"], contact["by"]) == ("force plate 2", "external")
    done = trundle(*files, "--external", "foot=plate2", "--cycles", "plate1")
    assert done.status == 1
    assert "force plate 1 could not be read" in done.err


def test_assigned_plates_keep_the_files_numbers(recorded, half_read):
    with pytest.warns(UserWarning, match="force plate 1 could not be read"):
        recording = library.read_recording(half_read)
    assert list(recording.unread) == ["force plate 1"]
    assert "of type 21" in str(recording.unread["force plate 1"])
    rest = {"markers": recorded / "markers.yaml", "progress": False}
    with pytest.raises(library.InputError, match="force plate 1 could not be read"):
        library.inverse(recorded / "leg.yaml", recording, **rest)
    half = library.inverse(recorded / "leg.yaml", recording, **rest, external={"foot": "plate2"})
    whole = library.inverse(recorded / "leg.yaml", recorded / "walk.c3d", **rest)
    assert [contact.plate for contact in half.contacts] == ["force plate 2"]
    late = half.motion.time > 1.2
    for found, there in zip(half.loads.outside.given, whole.loads.outside.given[1:], strict=True):
        np.testing.assert_array_equal(np.asarray(found.force)[late], np.asarray(there.force)[late])


def test_a_cutoff_without_digits_is_refused(trundle, recorded, tmp_path):
    files = ("inverse", recorded / "leg.yaml", "--motion", recorded / "walk.c3d", "--no-figures")
    markers = ("--markers", recorded / "markers.yaml", "--output", tmp_path / "o")
    for cutoff in ("1e-9", "1e-300", "1e-7"):
        done = trundle(*files, *markers, "--smooth-markers", f"butterworth:{cutoff}")
        assert done.status == 1
        assert "is too low for a sampling rate" in done.err
