"""`trundle inverse`: its files, words and statuses, on the limb whose joint wrenches have closed forms."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from trundle.limbs.capture.recording_files import read_recording
from trundle.results import Run

LIMB = Path(__file__).parents[2] / "examples" / "limb"


def closed_forms(t):
    """Force x, force y and moment z of each joint in its segment's frame."""
    s, c = (lambda k: np.sin(k * t)), (lambda k: np.cos(k * t))
    return {
        "ankle": (-1.62 * s(4) - 0.24 * s(6), -1.62 * c(4) - 0.24 * c(6) - 2.94, 0.324 * s(4) + 0.048 * s(6)),
        "knee": (
            -0.64 * s(2) + 2.94 * s(4),
            -0.64 * c(2) - 2.94 * c(4) - 2.97,
            0.264 * s(2) - 1.44 * s(4) + 0.048 * s(6),
        ),
        "hip": (
            2.97 * s(2) + 2.94 * s(6),
            -2.97 * c(2) - 2.94 * c(6) - 0.92,
            -2.112 * s(2) - 1.44 * s(4) - 2.304 * s(6),
        ),
    }


@pytest.fixture
def inverse(trundle, tmp_path):
    def call(*words, limb=LIMB / "limb.yaml", motion=LIMB / "motion.csv", output=tmp_path / "out"):
        return trundle("inverse", limb, "--motion", motion, "--output", output, *words)

    return call


@pytest.mark.slow
def test_it_writes_everything(inverse, tmp_path):
    done = inverse()
    assert done.status == 0, done.err
    folder = tmp_path / "out"
    written = [
        "angles.png",
        "forces.png",
        "moments.png",
        "motion.csv",
        "motion.nc",
        "motion.sto",
        "paths.png",
    ]
    assert sorted(each.name for each in folder.iterdir()) == [*written, "powers.png"]
    assert "hip_moment     4.806 N m at 5.96 s  6.83 N at 0 s" in done.out
    run = Run.load(folder / "motion.nc")
    for joint, (force_x, force_y, moment_z) in closed_forms(run.time).items():
        assert run[f"{joint}.force_x"] == pytest.approx(force_x, abs=1e-9)
        assert run[f"{joint}.force_y"] == pytest.approx(force_y, abs=1e-9)
        assert run[f"{joint}.moment_z"] == pytest.approx(moment_z, abs=1e-9)
        assert run[f"{joint}.power"] == pytest.approx(moment_z * run[f"{joint}.rate"], abs=1e-9)
        assert run.units[f"{joint}.moment_z"] == "N m"
    # the table holds the same; that of OpenSim the generalised forces by its names
    table, sto = Run.load(folder / "motion.csv"), read_recording(folder / "motion.sto")
    for name in run.values:
        assert table[name].tobytes() == run[name].tobytes()
    assert list(sto.channels) == [f"{joint}_moment" for joint in ("hip", "knee", "ankle")]
    for name, values in sto.channels.items():
        assert values.tobytes() == run[f"{name.removesuffix('_moment')}.net"].tobytes()


def test_json_tells_the_largest_loads_and_the_files(inverse):
    data = inverse("--no-figures", "--json").data
    assert data["peaks"]["hip"]["force"] == {"largest": pytest.approx(6.83), "time": 0.0}
    assert data["frame"] == "child"
    assert data["smoothing"]["method"] == "none"
    assert data["files"] == ["motion.nc", "motion.csv", "motion.sto"]


def test_frames_and_mass(inverse, tmp_path):
    run = Run.load(tmp_path / "out" / "motion.nc") if inverse("--no-figures").status == 0 else None
    assert run is not None
    assert inverse("--no-figures", "--frame", "world", "--mass", "2000 g").status == 0
    turned = Run.load(tmp_path / "out" / "motion.nc")
    angle = run["hip.angle"] + run["knee.angle"]
    x, y = run["knee.force_x"], run["knee.force_y"]
    assert turned["knee.force_x"] == pytest.approx((np.cos(angle) * x - np.sin(angle) * y) / 2, abs=1e-9)
    assert turned.units["knee.power"] == "W/kg"
    assert turned["knee.power"] == pytest.approx(run["knee.power"] / 2, abs=1e-12)
    assert inverse("--no-figures", "--frame", "parent").status == 0
    angle = run["knee.angle"]
    seen = Run.load(tmp_path / "out" / "motion.nc")
    assert seen["knee.force_x"] == pytest.approx(np.cos(angle) * x - np.sin(angle) * y, abs=1e-9)
    assert inverse("--no-figures", "--frame", "thigh").status == 0
    other = Run.load(tmp_path / "out" / "motion.nc")
    assert other["knee.force_x"] == pytest.approx(seen["knee.force_x"], abs=1e-9)


def test_smoothing_is_what_was_asked_for(inverse, tmp_path):
    assert inverse("--no-figures", "--smooth", "butterworth:6,order=4").status == 0
    assert dict(Run.load(tmp_path / "out" / "motion.nc").summary["smoothing"]) == {
        "method": "butterworth",
        "cutoff": 6,
        "order": 4,
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--smooth", "butterwort:6"], "--smooth: there is no smoothing 'butterwort'"),
        (["--smooth", "butterworth:fast"], "--smooth: expected a number, got 'fast'"),
        (["--frame", "shin"], "--frame: there is no frame 'shin'\n  did you mean 'shank'?"),
        (["--mass", "-3"], "--mass: expected a positive number, above zero"),
    ],
)
def test_wrong_options_name_themselves_and_leave_nothing(inverse, tmp_path, words, told):
    done = inverse(*words)
    assert done.status == 1
    assert told in done.err
    assert not (tmp_path / "out").exists()


def test_wrong_motions_name_file_and_column(inverse, tmp_path):
    file = tmp_path / "walk.csv"
    rows = (LIMB / "motion.csv").read_text().splitlines()
    cases = [
        ([rows[0].replace("hip", "hop"), *rows[1:]], "hip.angle"),
        ([*rows[:4], rows[5], rows[4], *rows[6:]], "times must increase: sample 5"),
        ([*rows[:8], "0.07,,0.14,0.28", *rows[9:]], "hip.angle: 1 of 629 samples are missing"),
        ([rows[0].replace("hip.angle", "hip.angle [mm]"), *rows[1:]], "hip.angle: this column is in mm"),
        ([*rows[:8], "0.07,far,0.14,0.28", *rows[9:]], "walk.csv:9: hip.angle"),
    ]
    for lines, told in cases:
        file.write_text("\n".join(lines))
        done = inverse(motion=file)
        assert done.status == 1
        assert "walk.csv" in done.err
        assert told in done.err
    assert not (tmp_path / "out").exists()


def test_only_its_own_files_are_replaced(inverse, tmp_path):
    folder = tmp_path / "out"
    assert inverse("--no-figures").status == 0
    assert inverse("--no-figures").status == 0
    (folder / "motion.sto").write_text("mine\n")
    done = inverse("--no-figures")
    assert done.status == 1
    assert "holds motion.sto, but not from an earlier run" in done.err
    assert (folder / "motion.sto").read_text() == "mine\n"
    assert inverse("--no-figures", "--force").status == 0


@pytest.mark.slow
def test_a_breakdown_is_a_table_and_a_figure(inverse, tmp_path):
    done = inverse("--breakdown", "foot", "--observer", "shank@ankle")
    assert done.status == 0, done.err
    assert (tmp_path / "out" / "breakdown.png").exists()
    split = Run.load(tmp_path / "out" / "breakdown.csv")
    t = split.time
    assert split["coriolis.force_x"] == pytest.approx(-1.44 * np.sin(4 * t), abs=1e-9)
    moment = -0.324 * np.sin(4 * t) - 0.048 * np.sin(6 * t)
    assert split["d_alembert.moment_z"] == pytest.approx(moment, abs=1e-9)
    terms = [name[: -len(".force_y")] for name in split.values if name.endswith(".force_y")]
    total = sum(split[f"{name}.force_y"] for name in terms if name not in ("seen", "residual"))
    assert total == pytest.approx(split["seen.force_y"], abs=1e-9)
    assert np.abs(split["residual.force_y"]).max() < 1e-9
    for words, told in (
        (["--breakdown", "foot"], "--observer: a breakdown needs a body and who observes it"),
        (["--breakdown", "foot", "--observer", "shank"], "an observer needs a frame and an origin"),
        (["--breakdown", "toe", "--observer", "shank@ankle"], "--breakdown: there is no body or joint 'toe'"),
        (["--breakdown", "foot", "--observer", "thigh@ankle"], "'ankle' moves about on 'thigh'"),
    ):
        assert told in inverse(*words, "--no-figures").err


@pytest.mark.slow
def test_the_commands_in_the_docs_run(trundle, tmp_path, monkeypatch):
    page = (LIMB.parents[1] / "docs" / "inverse" / "options.md").read_text()
    (tmp_path / "examples").symlink_to(LIMB.parent)
    monkeypatch.chdir(tmp_path)
    commands = [
        line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]
    assert len(commands) == 3
    for command in commands:
        done = trundle(*shlex.split(command)[1:])
        assert done.status == 0, done.err


def test_errors_are_objects_with_json(inverse):
    done = inverse("--frame", "shin", "--json")
    assert json.loads(done.out)["error"]["message"].startswith("there is no frame 'shin'")


@pytest.mark.parametrize("ending", [".csv", ".nc"])
def test_one_file_by_its_name(inverse, tmp_path, ending):
    folder = tmp_path / "here"
    folder.mkdir()
    file = folder / f"loads{ending}"
    done = inverse(output=file)
    assert done.status == 0, done.err
    assert [each.name for each in folder.iterdir()] == [file.name]
    run = Run.load(file)
    assert run["hip.force_x"] == pytest.approx(closed_forms(run.time)["hip"][0], abs=1e-9)
    file.write_text("mine")
    again = inverse(output=file)
    assert again.status == 1
    assert "--force" in again.err
    assert file.read_text() == "mine"


def test_one_file_holds_one_table(inverse, tmp_path):
    done = inverse("--cycles", "0.1,0.5,0.9", output=tmp_path / "loads.csv")
    assert done.status == 1
    assert re.search(r"--cycles: writes a table of its own, and '.*loads\.csv' is one file", done.err)
    assert not (tmp_path / "loads.csv").exists()
