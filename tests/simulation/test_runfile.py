"""`trundle.run`: a file's run section, done in Python as the command does it."""

import json

import numpy as np
import pytest
import yaml

import trundle
from trundle import catalog
from trundle.cli import main
from trundle.documents import load
from trundle.errors import InputError

RUN = """
run:
  duration: 2.0
  samples: 21
  inputs: {left_motor.voltage: 20 V, right_motor.voltage: {file: volts.csv, column: right}}
  initial: {theta: 90 deg}
  set: {d: 10 cm}
"""


@pytest.fixture
def file(tmp_path):
    described = catalog.document("differential_drive").source.partition("\nrun:")[0]
    (tmp_path / "robot.yaml").write_text(described + RUN)
    (tmp_path / "volts.csv").write_text("time,right\n0,24\n1,22\n2,24\n")
    return tmp_path / "robot.yaml"


def test_it_is_the_commands_run(file, capsys, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert main(["run", "robot.yaml", "--no-figures", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    run = trundle.run(file)
    assert dict(run.final) == told["final"]
    assert run.summary["method"] == told["method"]
    options = [
        "--set",
        "d=0.2",
        "--input",
        "left_motor.voltage=10",
        "--initial",
        "v_x=1 m/s",
        "--duration",
        "1",
    ]
    assert main(["run", "robot.yaml", "--no-figures", "--json", "--samples", "5", *options]) == 0
    told = json.loads(capsys.readouterr().out)
    changed = trundle.run(
        file,
        parameters={"d": 0.2},
        inputs={"left_motor.voltage": 10},
        initial={"v_x": "1 m/s"},
        duration="1 s",
        samples=5,
    )
    assert dict(changed.final) == told["final"]
    assert (len(changed), changed["theta"][0]) == (5, pytest.approx(np.pi / 2))


@pytest.mark.slow
def test_what_files_hold_runs_from_python_too(file):
    expected = trundle.run(file).final
    described = yaml.safe_load(file.read_text())
    described["run"]["inputs"]["right_motor.voltage"] = {"times": [0, 1, "2 s"], "values": [24, "22 V", 24]}
    assert trundle.run(described).final == expected
    robot = trundle.load(file)
    asked = {"duration": 2.0, "samples": 21, "parameters": {"d": 0.1}, "initial": {"theta": "90 deg"}}
    volts = {"left_motor.voltage": 20, "right_motor.voltage": lambda t: 24 - 2 * (1 - abs(t - 1))}
    assert trundle.run(robot, inputs=volts, **asked).final == pytest.approx(dict(expected), abs=1e-6)
    assert trundle.run(trundle.derive(robot), inputs=volts, **asked).final == pytest.approx(
        dict(expected), abs=1e-6
    )


def test_kinematic_files_roll():
    path = "examples/kinematic/two_wheels.yaml"
    run = trundle.run(path)
    assert run.summary["mode"] == "kinematic"
    spec = load(path).run
    inputs, initial = ({n: value.number for n, value in each.items()} for each in (spec.inputs, spec.initial))
    assert trundle.roll(path, run.duration, inputs, initial=initial).final == run.final


WRONG = {
    "unknown input": ("left_motor.voltage: 20 V", "left.voltage: 20 V", 4, "run.inputs.left.voltage", "left_motor"),
    "wrong unit": ("voltage: 20 V", "voltage: 20 A", 4, "run.inputs.left_motor.voltage", "expected a voltage"),
    "unknown state": ("theta: 90", "psi: 90", 5, "run.initial.psi", "theta"),
    "parameter": ("d: 10 cm", "d: 10 kg", 6, "run.set.d", "length"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_have_file_and_line(file, case):
    old, new, line, key, words = WRONG[case]
    first = file.read_text().count("\n") - RUN.count("\n") + 1
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        trundle.run(file)
    assert (caught.value.file, caught.value.key) == (str(file), key)
    assert caught.value.line == first + line


def test_several_mistakes_are_told_at_once(file):
    with pytest.raises(InputError, match="left.voltage") as caught:
        trundle.run(file, inputs={"left.voltage": 1, "right.voltage": 1})
    assert "right.voltage" in str(caught.value)


def test_errors_in_arguments_name_the_argument(file):
    for arguments, key in (
        ({"parameters": {"dd": 1}}, "parameters.dd"),
        ({"parameters": {"body.mass": 0}}, "parameters.body.mass"),
        ({"inputs": {"left.voltage": 1}}, "inputs.left.voltage"),
        ({"initial": {"right.rate": 1}}, "initial.right.rate"),
        ({"duration": "-1 s"}, "duration"),
        ({"method": "euler"}, "method"),
        ({"samples": 1}, "samples"),
    ):
        with pytest.raises(InputError) as caught:
            trundle.run(file, **arguments)
        assert (caught.value.key, caught.value.file) == (key, None)
    with pytest.raises(InputError, match="run takes a robot, a model or a file, not int"):
        trundle.run(3)
