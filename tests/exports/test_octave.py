"""Octave packages: run as the kernels do, one state or many at once."""

import shutil

import numpy as np
import pytest

from exports.running import (
    HOSTILE,
    VOLTAGES,
    exported,
    hostile_model,
    model_of,
    readme_code,
    require_hostile_run,
    require_same_run,
)
from languages.octave import run_script
from trundle.errors import InputError

pytestmark = pytest.mark.skipif(shutil.which("octave-cli") is None, reason="no octave-cli")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return exported("differential_drive", "octave", tmp_path_factory.mktemp("octave") / "robot")


@pytest.mark.parametrize(
    ("seconds", "tolerance"), [(0.001, 1e-12), pytest.param(30.0, 1e-9, marks=pytest.mark.slow)]
)
def test_the_example_runs_as_the_kernels(folder, seconds, tolerance):
    printed = run_script(f"main({seconds}, 1e-3, [{'; '.join(map(str, VOLTAGES))}])", folder)
    require_same_run(printed, "differential_drive", VOLTAGES, round(seconds * 1000), tolerance)


def test_loops_are_closed_after_every_step(tmp_path):
    folder = exported("four_bar", "octave", tmp_path / "robot", "dynamics")
    count = len(model_of("four_bar").inputs)
    printed = run_script(f"main(0.1, 1e-3, ones({count}, 1))", folder)
    require_same_run(printed, "four_bar", (1.0,) * count, 100, 1e-10)


def test_many_states_are_one_call(folder):
    script = """
    groups = differential_drive.groups();
    x = reshape(1:45, 9, 5) / 45;
    rate = differential_drive.dynamics(x, [24; 20], groups.parameter.defaults);
    printf("%.17g ", rate);
    """
    found = np.array(run_script(script, folder).split(), dtype=float).reshape(5, 9).T
    model = model_of("differential_drive")
    x = np.arange(1, 46).reshape(5, 9).T / 45
    u, p = np.tile([[24.0], [20.0]], 5), np.tile(np.array([[*model.parameters.values()]]).T, 5)
    np.testing.assert_allclose(found, model.dynamics(x, u, p), rtol=1e-12)


def test_groups_tell_names_units_and_defaults(folder):
    script = """
    g = differential_drive.groups();
    printf("%s\\n", strjoin(g.state.names', ","), strjoin(g.state.units', ","), mat2str(g.parameter.defaults', 17));
    """
    names, units, defaults = run_script(script, folder).splitlines()
    model = model_of("differential_drive")
    assert names.split(",") == list(model.states)
    assert units.split(",") == [model.units[name] for name in model.states]
    assert [float(word) for word in defaults.strip("[]").split()] == list(model.parameters.values())


def test_names_may_be_hostile(tmp_path):
    hostile_model().export("octave", output=tmp_path / "robot", name="robot")
    require_hostile_run(run_script("main(0.01)", tmp_path / "robot"))
    told = run_script("g = robot.groups(); disp(g.parameter.names{1})", tmp_path / "robot")
    assert told.strip() == HOSTILE[0]


@pytest.mark.parametrize("what", ["dynamics", "jacobian", "kinematics", "odometry", "outputs"])
def test_the_readmes_lines_run(what, tmp_path):
    folder = exported("differential_drive", "octave", tmp_path / "robot", what)
    run_script(readme_code(folder).replace("\n", " "), folder)


def test_states_of_the_wrong_shape_are_refused(folder):
    script = """
    g = differential_drive.groups(); p = g.parameter.defaults;
    try, differential_drive.dynamics(zeros(50, 9), [24; 20], p), catch e, disp(e.message), end
    try, differential_drive.dynamics(zeros(9, 1), [24; 20; 0], p), catch e, disp(e.message), end
    """
    assert run_script(script, folder).splitlines() == [
        "state must have 9 rows, got 50",
        "input must have 2 rows, got 3",
    ]


@pytest.mark.parametrize("name", ["main", "state", "example", "groups"])
def test_a_name_that_octave_finds_before_the_package_is_refused(name):
    with pytest.raises(InputError, match="would hide something else"):
        model_of("differential_drive").export("octave", name=name)


@pytest.mark.parametrize("given", ["1, 0", "NaN, 1", "1, 0.1, [1; 2; 3]"])
def test_the_example_says_what_it_takes(given, folder):
    printed = run_script(f"try, main({given}), catch e, disp(e.message), end", folder)
    assert printed.startswith(
        "main(SECONDS, STEP, INPUT), with 2 inputs: right_motor.voltage, left_motor.voltage"
    )
