"""`trundle run`: numbers, options, files, what it prints."""

import json
import subprocess
import sys

import numpy as np
import pytest

from parameters import mostly_slow
from trundle import catalog, derive, load, simulate
from trundle.documents import RunSpec, dump
from trundle.results import Run

NEEDED = (
    "name coordinates speeds mobility operations derive_seconds compile_seconds simulate_seconds duration final "
    "checks constraint_residual files energy_imbalance energy_turned_over parameters changed notes outputs mode method"
)


def run(trundle, *words, **options):
    answer = trundle("run", *words, "--no-figures", "--json", **options)
    assert answer.status == 0, answer.err
    return answer.data


def test_the_object_has_everything_and_is_right(trundle, folder):
    data = run(trundle, "circle.yaml")
    assert not set(NEEDED.split()) - set(data)
    model = derive(load("circle.yaml"))
    expected = simulate(model, 2.0, {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0}, samples=21)
    assert data["final"] == pytest.approx(dict(expected.final), rel=1e-12)
    assert data["mobility"] == [2, 0]
    assert data["coordinates"] == list(model.coordinates)
    assert data["operations"] == model.operations
    assert 0 < data["operations_per_evaluation"] < data["operations"]
    assert data["constraint_residual"] <= 1e-9
    assert data["energy_imbalance"] <= 1e-6 * data["energy_turned_over"]
    assert data["units"]["v_x"] == "m/s"
    assert (data["duration"], data["samples"], data["mode"], data["method"]) == (2.0, 21, "dynamic", "lsoda")
    assert data["constraints"] == {
        "rows": 4,
        "rank": 3,
        "undetermined": ["right.side_force", "left.side_force"],
    }


# What a run on a plane, of a robot without controllers, has no use for.
UNUSED = (
    "xarray pandas sympy matplotlib trundle.control.linearization trundle.model.archive trundle.model.ground_model "
    "trundle.model.motored_base trundle.program.adaptive trundle.program.rollout trundle.robot.feet "
    "trundle.robot.linear_feedback trundle.robot.pid trundle.robot.sensors trundle.robot.terrain "
    "trundle.robot.trackers"
)


def test_a_run_loads_and_builds_only_what_it_meets(folder):
    code = (
        "import sys; from trundle.cli import main; assert main(sys.argv[1:]) == 0\n"
        "from trundle.robot import FixedWheel, OmniWheel\n"
        "print(*sys.modules, FixedWheel.__pydantic_complete__, OmniWheel.__pydantic_complete__)"
    )
    words = ["run", "circle.yaml", "--no-figures", "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    *loaded, met, other = done.stdout.split()
    assert sorted(set(loaded) & set(UNUSED.split())) == []
    assert (met, other) == ("True", "False"), "models are built when they are met"


@pytest.mark.slow
def test_the_base_speeds_stand_in_the_table_and_figures_in_the_times(trundle, folder):
    (folder / "car.yaml").write_text(trundle("new", "ackermann").out)
    said = trundle("run", "car.yaml", "--duration", "1", "--output", "here").out
    assert "v_x" in said.partition("at t = ")[2].partition("checks")[0]
    assert "figures " in said.partition("\ntime")[2].partition("at t = ")[0]
    quick = trundle("run", "car.yaml", "--duration", "1", "--no-figures", "--output", "here").out
    assert "figures " not in quick.partition("\ntime")[2].partition("at t = ")[0]


@pytest.mark.parametrize("kind", ["four_bar", "slider_crank"])
@pytest.mark.slow
def test_linkages_that_are_moved_by_rates_have_their_figures(trundle, folder, kind):
    described = dump(
        catalog.robot(kind), RunSpec.model_validate({"mode": "kinematic", "inputs": {"crank.rate": 3.0}})
    )
    (folder / "crank.yaml").write_text(described)
    answer = trundle("run", "crank.yaml", "--duration", "1", "--json")
    assert answer.status == 0, answer.err
    assert "runs/crank/path.png" in answer.data["files"]


def test_a_run_that_stands_on_its_head_says_so(trundle, folder):
    """Upright a pendulum rests, and hanging it does, too: only one of them is told."""
    (folder / "swing.yaml").write_text(trundle("new", "pendulum", "--links", "1").out)
    upright = run(trundle, "swing.yaml", "--initial", f"link_1.angle={np.pi}", "--duration", "1")
    (note,) = [each for each in upright["notes"] if "unstable" in each]
    assert "--initial link_1.angle=3.24" in note
    # A rod of 0.5 m, held at its end: lambda = sqrt(3 g / 2 l), damped by nothing.
    assert f"{1 / np.sqrt(3 * 9.81 / 2 / 0.5):.2g} s" in note
    for angle in ("0", "1.0"):
        hanging = run(trundle, "swing.yaml", "--initial", f"link_1.angle={angle}", "--duration", "1")
        assert not [each for each in hanging["notes"] if "unstable" in each]


def test_the_files_are_there_and_hold_the_run(trundle, folder):
    data = run(trundle, "circle.yaml")
    names = ["circle.nc", "circle.csv", "circle.peaks.csv"]
    assert data["files"] == [f"runs/circle/{name}" for name in names]
    stored = Run.load(folder / "runs/circle/circle.nc")
    assert dict(stored.final) == data["final"]
    assert "diff_drive" in stored.description["yaml"]
    table = np.genfromtxt(folder / "runs/circle/circle.csv", delimiter=",", names=True, deletechars="")
    assert table["x"][-1] == data["final"]["x"]
    assert sorted(p.name for p in (folder / "runs/circle").iterdir()) == sorted(names)


def test_peaks_are_the_solutions_own(trundle, folder):
    few, many = (run(trundle, "circle.yaml", "--samples", count)["peaks"] for count in ("3", "3001"))
    current = few["left_motor.current"]
    assert current["highest"] == pytest.approx(many["left_motor.current"]["highest"], rel=1e-6)
    assert current["highest_time"] < 0.1
    table = (folder / "runs/circle/circle.peaks.csv").read_text().splitlines()
    assert table[0] == "name,unit,lowest,lowest_time,highest,highest_time,sampled"
    row = next(line for line in table if line.startswith("left_motor.current,A,")).split(",")
    assert float(row[4]) == many["left_motor.current"]["highest"]
    # What somebody else put there isn't replaced.
    (folder / "runs/circle/circle.peaks.csv").write_text("mine\n")
    answer = trundle("run", "circle.yaml", "--no-figures")
    assert answer.status == 1
    assert "holds circle.peaks.csv, but not from an earlier run" in answer.err


@pytest.mark.parametrize("ending", mostly_slow(["png", "svg", "pdf"], ["svg"]))
def test_figures(trundle, folder, ending):
    answer = trundle("run", "circle.yaml", "--figure-format", ending, "--out", "here", "--json")
    names = [f"here/{name}.{ending}" for name in ("path", "states", "inputs", "checks")]
    assert answer.data["files"] == ["here/circle.nc", "here/circle.csv", "here/circle.peaks.csv", *names]
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert all((folder / name).read_bytes().startswith(starts[ending]) for name in names)


def test_the_summary_says_what_matters(trundle):
    answer = trundle("run", "circle.yaml", "--no-figures", "--set", "d=0.2")
    assert answer.status == 0
    assert answer.err == ""
    for word in ("diff_drive", "x, y (m)", "4, rank 3", "(2, 0)", "operations", "derive", "compile", "simulate",
                 "at t = 2 s", "v_x", "m/s", "constraint residual", "energy imbalance", "d = 0.2 m (was 0)",
                 "runs/circle", "circle.nc"):  # fmt: skip
        assert word in answer.out, word
    assert "\033" not in answer.out


def test_quiet_says_nothing(trundle, folder):
    answer = trundle("run", "circle.yaml", "--no-figures", "--quiet")
    assert (answer.status, answer.out, answer.err) == (0, "", "")
    assert (folder / "runs/circle/circle.nc").exists()


def test_set_changes_parameters_in_any_unit(trundle):
    metric = run(trundle, "circle.yaml", "--set", "d=0.3", "--set", "r=0.1524")
    inches = run(trundle, "circle.yaml", "--set", "d=30 cm", "--set", "r=6 in")
    assert metric["final"] == pytest.approx(inches["final"], rel=1e-9)
    assert inches["changed"] == pytest.approx({"d": 0.3, "r": 0.1524})
    assert inches["parameters"]["r"] == pytest.approx(0.1524)
    assert metric["final"]["x"] != run(trundle, "circle.yaml")["final"]["x"]


def test_input_initial_duration_samples_and_method(trundle):
    words = ("--input", "left_motor.voltage=24", "--initial", "theta=90 deg", "--duration", "0.05 min")
    data = run(trundle, "circle.yaml", *words, "--samples", "7", "--method", "radau")
    assert (data["duration"], data["samples"], data["method"]) == (3.0, 7, "radau")
    assert data["final"]["theta"] == pytest.approx(np.pi / 2)
    assert data["final"]["x"] == pytest.approx(0.0, abs=1e-9)
    assert data["final"]["y"] > 1


def test_a_description_on_standard_input(trundle, folder):
    text = (folder / "circle.yaml").read_text()
    assert run(trundle, "-", stdin=text)["files"][0] == "runs/diff_drive/diff_drive.nc"
    assert run(trundle, "-", stdin=text)["final"] == run(trundle, "circle.yaml")["final"]


def test_a_file_without_a_run_section(trundle, folder):
    (folder / "bare.yaml").write_text((folder / "circle.yaml").read_text().partition("run:")[0])
    data = run(trundle, "bare.yaml", "--duration", "1")
    assert data["duration"] == 1.0
    assert "has no run section" in data["notes"][0]
    assert data["final"]["x"] == 0.0


def test_a_rate_stores_every_period_and_the_end(trundle, folder):
    (folder / "rate.yaml").write_text((folder / "circle.yaml").read_text().replace("samples: 21", "rate: 3"))
    run(trundle, "rate.yaml", "--duration", "1.5")
    stored = Run.load(folder / "runs/rate/rate.nc")
    assert stored.time == pytest.approx([0, 1 / 3, 2 / 3, 1, 4 / 3, 1.5])
    assert run(trundle, "rate.yaml", "--samples", "4")["samples"] == 4


def test_a_kinematic_run(trundle):
    data = run(trundle, "kinematic.yaml")
    assert data["mode"] == "kinematic"
    assert data["final"]["theta"] == pytest.approx(10 * 15 * (1.4 - 2.0) / 60)
    assert data["slip_residual"] <= 1e-9
    assert data["mobility"] == [2, 0]
    text = trundle("run", "kinematic.yaml", "--no-figures").out
    assert "slip residual" in text
    assert "left.rate, right.rate (rad/s)" in text


def test_angles_of_wheels_drive_a_kinematic_run(trundle, folder):
    text = (folder / "kinematic.yaml").read_text()
    angles = text.replace("left.rate: 2.0", "left.angle: {times: [0, 10], values: [0, 20]}")
    (folder / "angles.yaml").write_text(angles)
    assert run(trundle, "angles.yaml")["final"]["x"] == pytest.approx(
        run(trundle, "kinematic.yaml")["final"]["x"]
    )


def test_tables_in_csv_files_belong_to_the_description(trundle, folder):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "volts.csv").write_text("time,right,left_motor.voltage\n0,24,20\n\n5,24,20\n")
    text = (folder / "circle.yaml").read_text()
    text = text.replace("right_motor.voltage: 24.0", "right_motor.voltage: {file: volts.csv, column: right}")
    text = text.replace(
        "left_motor.voltage: 20.0", "left_motor.voltage: {file: volts.csv, interpolation: previous}"
    )
    (inner / "table.yaml").write_text(text)
    from_table, from_constants = run(trundle, "inner/table.yaml"), run(trundle, "circle.yaml")
    assert from_table["final"] == pytest.approx(from_constants["final"], rel=1e-6, abs=1e-9)


def test_a_second_run_replaces_the_first(trundle, folder):
    run(trundle, "circle.yaml")
    data = run(trundle, "circle.yaml", "--duration", "1")
    assert Run.load(folder / data["files"][0]).duration == 1.0


def test_figures_of_an_earlier_run_are_pointed_out(trundle, folder):
    trundle("run", "circle.yaml", "--quiet")
    data = run(trundle, "circle.yaml")
    assert "earlier run" in data["notes"][0]
    assert "path.png" in data["notes"][0]


@pytest.mark.parametrize("name", ["circle.csv", "circle.nc", "path.png"])
def test_files_of_others_are_not_touched(trundle, folder, name):
    (folder / "mine").mkdir()
    (folder / "mine" / name).write_text("precious")
    answer = trundle("run", "circle.yaml", "--out", "mine")
    assert answer.status == 1
    assert name in answer.err
    assert [(p.name, p.read_text()) for p in (folder / "mine").iterdir()] == [(name, "precious")]


def test_out_that_is_a_file(trundle, folder):
    answer = trundle("run", "circle.yaml", "--out", "kinematic.yaml")
    assert answer.status == 1
    assert "is a file, not a folder" in answer.err


@pytest.mark.parametrize("out", ["locked/in/it", "circle.yaml/in/it"])
def test_where_nothing_can_be_written_is_told_before_any_work(trundle, folder, monkeypatch, out):
    (folder / "locked").mkdir()
    monkeypatch.setattr(
        "os.access", lambda path, _: path.name != "locked"
    )  # the superuser may write anywhere
    monkeypatch.setattr("trundle.simulation.runfile.Task.run", lambda *_, **__: pytest.fail("it ran"))
    answer = trundle("run", "circle.yaml", "--out", out)
    assert answer.status == 1
    assert f"cannot write '{out}': " in answer.err
    monkeypatch.setattr("trundle.analysis.analyze.analyze", lambda *_, **__: pytest.fail("it was analysed"))
    answer = trundle("check", "circle.yaml", "--figure", "locked/figure.png")
    assert answer.status == 1
    assert "cannot write 'locked': Permission denied" in answer.err
    assert not any((folder / "locked").iterdir())


def test_numbers_that_fail_end_with_3_and_leave_nothing(trundle, folder):
    answer = trundle("run", "circle.yaml", "--input", "right_motor.voltage=1e40", "--json")
    assert answer.status == 3
    assert json.loads(answer.out)["error"]["kind"] == "NumericsError"
    assert not (folder / "runs").exists()


def test_limits_that_stop_nothing_are_told_where_a_run_passes_them(trundle, folder):
    joint = """
    swing: {type: revolute, axis: [0, 1, 0], lower: -1, upper: 0.5, body: {mass: 1, center_of_mass: [0, 0, -1]}}
"""
    (folder / "swing.yaml").write_text(f"trundle: 1\nrobot:\n  name: swing\n  base: fixed\n  joints:{joint}")
    options = ["--no-figures", "--duration", "1.5", "--initial"]
    answer = trundle("run", "swing.yaml", *options, "swing.angle=-0.9")
    assert "beyond its upper limit 0.5 rad, which stops nothing" in answer.out.replace("\n", " ")
    assert "lower limit" not in answer.out
    assert "limit" not in trundle("run", "swing.yaml", *options, "swing.angle=-0.4").out


def test_a_battery_tells_how_far_it_sagged_and_a_motor_what_it_could_not_have(trundle, folder):
    trundle("new", "differential_drive", "robot.yaml", "--motor", "neo", "--gear-ratio", "10")
    answer = trundle(
        "run", "robot.yaml", "--no-figures", "--duration", "0.5", "--input", "left_motor.voltage=20"
    )
    told = answer.out.replace("\n", " ")
    assert "left_motor.voltage asks for up to 20 V; its motor gets 12 V at most" in told
    assert "right_motor.voltage asks" not in told
    more = ["--set", "motors.left_motor.voltage_limit=24", "--input", "left_motor.voltage=20"]
    assert "asks for" not in trundle("run", "robot.yaml", "--no-figures", "--duration", "0.5", *more).out
    text = (folder / "robot.yaml").read_text()
    battery = "batteries: {battery: {open_circuit_voltage: 12.6, internal_resistance: 0.02, capacity: 18 Ah}}"
    assert "  motors:" in text
    (folder / "fed.yaml").write_text(text.replace("  motors:", f"  {battery}\n  motors:", 1))
    answer = trundle("run", "fed.yaml", "--no-figures", "--duration", "0.5")
    assert "the battery 'battery' sagged to" in answer.out.replace("\n", " ")


def test_one_file_by_its_ending(trundle, folder):
    for name in ("swing.csv", "swing.nc"):
        answer = trundle("run", "circle.yaml", "--output", name, "--json")
        assert answer.status == 0, answer.err
        assert answer.data["files"] == [name]
    assert sorted(path.name for path in folder.iterdir()) == [
        "circle.yaml",
        "kinematic.yaml",
        "swing.csv",
        "swing.nc",
    ]
    assert trundle("run", "circle.yaml", "--output", "swing.nc", "--quiet").status == 0  # its own
    again = trundle("run", "circle.yaml", "--output", "swing.csv")
    assert again.status == 1
    assert "--force replaces it" in again.err
