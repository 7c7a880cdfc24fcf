"""ES modules: run by Node as the kernels do, and told by their own data."""

import json
import re
import shutil
import subprocess

import pytest

from exports.running import (
    VOLTAGES,
    exported,
    hostile_model,
    model_of,
    output_of,
    readme_code,
    require_hostile_run,
    require_refusals,
    require_same_run,
    without_parameters,
)
from trundle.errors import InputError

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no node")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return exported("differential_drive", "javascript", tmp_path_factory.mktemp("javascript") / "robot")


def test_the_example_refuses_what_is_no_time_and_no_number(folder):
    require_refusals("node", "example.js", folder=folder)


@pytest.mark.parametrize(("seconds", "tolerance"), [(0.001, 1e-12), (30.0, 1e-9)])
def test_the_example_runs_as_the_kernels(folder, seconds, tolerance):
    printed = output_of(["node", "example.js", str(seconds), "0.001", *map(str, VOLTAGES)], folder)
    require_same_run(printed, "differential_drive", VOLTAGES, round(seconds * 1000), tolerance)


def test_loops_are_closed_after_every_step(tmp_path):
    folder = exported("four_bar", "javascript", tmp_path / "robot", "dynamics")
    inputs = (1.0,) * len(model_of("four_bar").inputs)
    printed = output_of(["node", "example.js", "0.1", "0.001", *map(str, inputs)], folder)
    require_same_run(printed, "four_bar", inputs, 100, 1e-10)


def test_groups_tell_names_units_and_defaults(folder):
    script = 'import { groups } from "./differential_drive.js"; console.log(JSON.stringify(groups));'
    groups = json.loads(output_of(["node", "--input-type=module", "--eval", script], folder))
    model = model_of("differential_drive")
    assert groups["state"]["names"] == list(model.states)
    assert groups["state"]["units"] == [model.units[name] for name in model.states]
    assert groups["parameter"]["defaults"] == list(model.parameters.values())
    assert groups["input"]["names"] == list(model.inputs)


def test_every_function_runs(folder):
    script = """
    import * as robot from "./differential_drive.js";
    const { entries } = JSON.parse(await (await import("node:fs/promises")).readFile("trundle-export.json"));
    for (const { name, inputs, outputs } of entries) {
      const written = outputs.map((group) => new Float64Array(group.labels.length).fill(NaN));
      robot[name](...inputs.map((group) => Float64Array.from(group.defaults ?? group.labels.map(() => 0))), ...written);
      if (written.some((each) => each.some(Number.isNaN))) throw new Error(name);
    }
    """
    output_of(["node", "--input-type=module", "--eval", script], folder)


def test_names_may_be_hostile(tmp_path):
    hostile_model().export("javascript", output=tmp_path / "robot", name="robot")
    require_hostile_run(output_of(["node", "example.js", "0.01"], tmp_path / "robot"))


@pytest.mark.parametrize("what", ["dynamics", "jacobian", "kinematics", "odometry", "outputs"])
def test_the_readmes_lines_run(what, tmp_path):
    folder = exported("differential_drive", "javascript", tmp_path / "robot", what)
    script = f'import * as robot from "./differential_drive.js";\n{readme_code(folder)}'
    output_of(["node", "--input-type=module", "--eval", script], folder)


def test_a_step_writes_any_array(folder):
    script = """
    import { groups, step } from "./differential_drive.js";
    const x = [...groups.state.defaults];
    step(x, [24, 20], groups.parameter.defaults, 1e-3, x);
    console.log(x[5] > 0);
    """
    assert output_of(["node", "--input-type=module", "--eval", script], folder) == "true\n"


def test_a_model_without_parameters_runs(tmp_path):
    without_parameters().export("javascript", output=tmp_path / "robot")
    assert output_of(["node", "example.js", "0.01"], tmp_path / "robot").count("\n") == 12


@pytest.mark.parametrize("given", [["1", "0"], ["x"], ["1", "0.1", "1", "2", "3"], ["1", "0.1", "volts"]])
def test_the_example_says_what_it_takes(given, folder):
    done = subprocess.run(
        ["node", "example.js", *given], capture_output=True, text=True, cwd=folder, timeout=20, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: node example.js [SECONDS [STEP [INPUT...]]]")


def test_the_examples_name_is_taken():
    with pytest.raises(InputError, match="would hide something else"):
        model_of("differential_drive").export("javascript", name="example")


def test_npm_takes_the_folder(tmp_path):
    model_of("four_bar").export("javascript", output=tmp_path / "robot", name="FourBar")
    told = json.loads((tmp_path / "robot" / "package.json").read_text())
    files = {"main": "FourBar.js", "types": "FourBar.d.ts"}
    assert told == {"name": "fourbar", "version": "1.0.0", "type": "module", **files}


def test_types_are_those_of_the_module(tmp_path):
    package = model_of("differential_drive").export("javascript", output=tmp_path, name="robot")
    types = package.files["robot.d.ts"]
    script = """
        import * as robot from "./robot.js";
        const taken = (each) => typeof each === "function" ? each.length : -1;
        const kinds = Object.entries(robot).map(([name, each]) => [name, taken(each)]);
        console.log(JSON.stringify(Object.fromEntries(kinds)));
    """
    (tmp_path / "told.mjs").write_text(script)
    done = subprocess.run(
        ["node", "told.mjs"], capture_output=True, text=True, cwd=tmp_path, timeout=20, check=True
    )
    arguments = re.findall(r"^export function (\w+)\((.*)\): void;$", types, re.MULTILINE)
    declared = {name: taken.count(":") for name, taken in arguments}
    declared |= dict.fromkeys(re.findall(r"^export const (\w+):", types, re.MULTILINE), -1)
    assert declared == json.loads(done.stdout)
    assert "step(state: Numbers, input: Numbers, parameter: Numbers, h: number, next: Result): void;" in types
    assert '  readonly "state": Required<Group>;' in types
