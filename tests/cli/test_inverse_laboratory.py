"""A laboratory whose y is up and its ground reactions, through the whole command for a robot whose z is up."""

import numpy as np
import pytest
import yaml

import trundle as library
from cli import walking_leg as leg
from trundle.results import Run

T = np.arange(round(leg.DURATION * leg.RATE) + 1) / leg.RATE


def y_up(vectors):
    return np.column_stack([vectors[:, 0], vectors[:, 2], -vectors[:, 1]])


@pytest.fixture
def inverse(trundle, tmp_path):
    """The command on the leg's markers and ground reactions, y up."""
    seen = {name: y_up(places) for name, places in leg.markers(leg.motion(T)).items()}
    library.write_recording(library.Recording(T, seen), tmp_path / "walk.trc")
    columns = {}
    for prefix, (force, place, free) in zip(("", "1_"), leg.pushes(T), strict=True):
        tables = {"force_v": force, "force_p": place, "torque_": np.outer(free, [0, 0, 1])}
        for name, table in tables.items():
            columns |= {
                f"{prefix}ground_{name}{axis}": each for axis, each in zip("xyz", y_up(table).T, strict=True)
            }
    library.write_recording(library.Recording(T, channels=columns), tmp_path / "grf.mot")
    (tmp_path / "leg.yaml").write_text(yaml.safe_dump({"trundle": 1, "robot": leg.LEG}, sort_keys=False))
    listed = {name: {"body": body, "at": list(at)} for name, (body, at) in leg.MARKERS.items()}
    (tmp_path / "markers.yaml").write_text(yaml.safe_dump({"markers": listed}))

    def call(*words, robot="leg.yaml"):
        files = [tmp_path / robot, "--motion", tmp_path / "walk.trc", "--markers", tmp_path / "markers.yaml"]
        files += ["--plates", tmp_path / "grf.mot", "--output", tmp_path / "out", "--no-figures"]
        return trundle("inverse", *files, "--threshold", "5", *words)

    return call


def test_ground_reactions_and_markers_turn_together(inverse, tmp_path):
    feet = ["--external", "foot=ground", "--external", "foot=1_ground"]
    done = inverse(*feet, "--up", "y", "--frame", "world")
    assert done.status == 0, done.err
    assert "y in the recording, z for the robot" in done.out
    run = Run.load(tmp_path / "out" / "walk.nc")
    assert dict(run.summary["up"]) == {"recording": "y", "robot": "z"}
    q = leg.motion(T)
    # What comes and goes below the threshold belongs to the contact.
    wrenches = [
        (force, np.cross(place, force) + np.outer(free, [0, 0, 1])) for force, place, free in leg.pushes(T)
    ]
    expected = leg.moments(T, q, *leg.differentiated(T, q), wrenches)
    for joint, moment in zip(("hip", "knee", "ankle"), expected.T, strict=True):
        assert np.abs(run[f"{joint}.moment_y"] - moment).max() < 1e-6 * np.abs(moment).max()


def cut_short(tmp_path, samples):
    """The ground reactions without their last samples."""
    lines = (tmp_path / "grf.mot").read_text().splitlines(keepends=True)
    count = f"nRows={len(T)}"
    text = "".join(lines[:-samples]).replace(count, f"nRows={len(T) - samples}")
    (tmp_path / "grf.mot").write_text(text)


def test_a_motion_that_is_a_little_longer_than_its_forces_is_cut(inverse, tmp_path):
    feet = ["--external", "foot=ground", "--external", "foot=1_ground", "--up", "y"]
    assert inverse(*feet).status == 0
    whole = Run.load(tmp_path / "out" / "walk.nc")
    cut_short(tmp_path, 5)
    done = inverse(*feet)
    assert done.status == 0, done.err
    assert "5 samples beyond are left out" in done.err
    run = Run.load(tmp_path / "out" / "walk.nc")
    np.testing.assert_array_equal(run.time, T[:-5])
    middle = slice(60, 160)
    peak = np.abs(whole["knee.moment_y"]).max()
    np.testing.assert_allclose(run["knee.moment_y"][middle], whole["knee.moment_y"][middle], atol=1e-9 * peak)
    cut_short(tmp_path, 1)
    done = inverse(*feet)
    assert done.status == 1
    assert "was recorded from 0 to 2.34 s, not at 2.35 s" in done.err
    assert inverse(*feet, "--to", "2.34").status == 0


def test_a_part_of_the_motion_is_named_by_its_times(inverse, tmp_path):
    feet = ["--external", "foot=ground", "--external", "foot=1_ground", "--up", "y"]
    done = inverse(*feet, "--from", "0.5", "--to", "1500 ms")
    assert done.status == 0, done.err
    np.testing.assert_allclose(Run.load(tmp_path / "out" / "walk.nc").time, T[50:151])
    for words, message in (
        (("--from", "7"), "walk.trc: nothing was recorded from 7 to 2.4 s\n  its times are 0 to 2.4 s"),
        (("--to", "1 kg"), "--to"),
    ):
        done = inverse(*feet, *words)
        assert done.status == 1
        assert message in done.err


def test_ground_reactions_that_are_not_there_are_named(inverse):
    done = inverse("--external", "foot=grund", "--up", "y")
    assert done.status == 1
    assert "--external: there is no force plate or ground reaction 'grund'" in done.err
    assert "did you mean 'ground'? (choose one of ground, 1_ground, plate1, plate2)" in done.err


def test_a_laboratory_that_lies_on_its_side_is_told(inverse, trundle, tmp_path):
    # coordinates say nothing of it, but what pushes does
    still = {name: np.zeros(len(T)) for name in ("forward", "up", "hip", "knee", "ankle")}
    library.write_recording(library.Recording(T, channels=still), tmp_path / "still.mot")
    files = [tmp_path / "leg.yaml", "--motion", tmp_path / "still.mot", "--plates", tmp_path / "grf.mot"]
    files += ["--output", tmp_path / "out", "--no-figures", "--external", "foot=ground"]
    done = trundle("inverse", *files)
    assert done.status == 1
    assert "--external: 'ground' pushes along y, and the robot's gravity is along z" in done.err
    assert "--up y turns the recordings so that their y is up; --up z leaves them as they are" in done.err
    assert not (tmp_path / "out").exists()
    assert trundle("inverse", *files, "--up", "z").status == 0


def test_up_needs_gravity(inverse, tmp_path):
    floating = leg.LEG | {"gravity": 0}
    (tmp_path / "space.yaml").write_text(yaml.safe_dump({"trundle": 1, "robot": floating}, sort_keys=False))
    done = inverse("--up", "y", robot="space.yaml")
    assert done.status == 1
    assert "--up: the robot's gravity is along neither -y nor -z" in done.err
