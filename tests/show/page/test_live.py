"""A model in the page: runs in JavaScript against those in Python, knobs, and what is told where there is no run."""

import json
from pathlib import Path

import numpy as np
import pytest

import trundle
from languages.node import run_module
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.show.drawing.scenes import motion
from trundle.show.page.inert_json import to_json
from trundle.show.page.joining import joined
from trundle.show.page.live import live_data
from trundle.simulation.runfile import Changes

FEEDBACK = "examples/feedback/circle.yaml"
CIRCLE = "examples/diff_drive/circle.yaml"

# A worker as the page starts it, with a scope of its own, and the page's own half beside it.
_ASK = """
import { readFileSync } from "node:fs";
const { live, changes } = decode(JSON.parse(readFileSync(0, "utf8")));
const scope = { postMessage: (answer) => console.log(JSON.stringify(answer, plain)) };
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
new Function("self", live.worker)(scope);
const values = new Map(live.knobs.map((knob) => [knob.key, changes[knob.key] ?? knob.value]));
scope.onmessage({ data: { id: 1, request: requestOf(live, values) } });
"""


def asked(live, changes=None):
    """What the page's worker answers with knobs changed."""
    given = to_json({"live": live, "changes": changes or {}}).encode()
    answer = json.loads(run_module(joined("live", "data") + _ASK, given))
    assert answer["id"] == 1
    return answer


def run_of(live, changes=None):
    """The run that comes of it: `values` by name as arrays."""
    answer = asked(live, changes)
    assert "problem" not in answer, answer["problem"]
    run = answer["result"]
    return {**run, "values": {name: np.array(column, float) for name, column in run["values"].items()}}


def final(run, names):
    return np.array([run["values"][name][-1] for name in names])


def test_a_closed_loop_runs_in_the_page_and_its_gains_are_sliders():
    live = live_data(FEEDBACK)
    keys = [knob["key"] for knob in live["knobs"]]
    assert {"parameters.controllers.speed.proportional", "parameters.R"} <= {*keys}
    run = run_of(live, {"run.duration": 4.0, "parameters.controllers.path.speed": 2.0})
    model = trundle.derive(FEEDBACK)
    exact = trundle.simulate(
        model, 4.0, parameters={"controllers.path.speed": 2.0}, rtol=1e-10, atol=1e-12, samples=10
    )
    np.testing.assert_allclose(
        final(run, model.states), [exact[name][-1] for name in model.states], rtol=1e-5, atol=1e-5
    )


def sampled(text, **more):
    """The tutorial's circle with controllers that sample, as a file has them."""
    for kind in ("type: circle", "reads: v_x", "reads: omega"):
        text = text.replace(
            kind, "\n      ".join([kind, *(f"{key}: {value}" for key, value in more.items())])
        )
    return text


@pytest.mark.parametrize("late", ["0 ms", "4 ms", "25 ms"])
def test_a_loop_that_samples_runs_in_the_page(tmp_path, late):
    """Its gains are sliders; samples at and off stored times, delays shorter and longer than a period."""
    file = tmp_path / "circle.yaml"
    file.write_text(sampled(Path(FEEDBACK).read_text(encoding="utf-8"), period="10 ms", delay=late))
    live = live_data(file)
    keys = [knob["key"] for knob in live["knobs"]]
    assert {"parameters.controllers.speed.proportional", "parameters.R"} <= {*keys}
    assert {"start.x", "start.y", "start.theta"} <= {*keys}
    assert not [key for key in keys if "voltage" in key]
    changes = {"run.duration": 1.234, "parameters.controllers.path.speed": 2.0}
    run, model = run_of(live, changes), trundle.derive(file)
    exact = trundle.simulate(
        model, 1.234, parameters={"controllers.path.speed": 2.0}, samples=len(run["time"])
    )
    for name in (*model.states, *model.outputs):
        scale = max(1.0, np.abs(exact[name]).max())
        np.testing.assert_allclose(run["values"][name] / scale, exact[name] / scale, atol=1e-5, err_msg=name)


def test_a_stiff_loop_that_samples_runs_in_the_page(tmp_path):
    file = tmp_path / "circle.yaml"
    text = Path(FEEDBACK).read_text(encoding="utf-8").replace("inductance: 1.0e-4", "inductance: 1.0e-6")
    file.write_text(sampled(text, period="20 ms"))
    run, model = run_of(live_data(file), {"run.duration": 2.0}), trundle.derive(file)
    assert run["method"].startswith("Rosenbrock")
    exact = trundle.simulate(model, 2.0, samples=len(run["time"]))
    for name in ("x", "y", "v_x", "speed.integral"):
        np.testing.assert_allclose(run["values"][name], exact[name], atol=1e-4, err_msg=name)


def test_the_drive_ends_where_rollout_and_simulate_end():
    run = run_of(live_data(CIRCLE))
    model = trundle.derive(trundle.load(CIRCLE))
    volts = {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0}
    steps = run["steps"]
    same = trundle.rollout(model, inputs=volts, steps=steps, dt=run["step"], every=steps)
    np.testing.assert_allclose(final(run, model.states), same.values[-1, :, 0], rtol=0, atol=1e-9)
    exact = trundle.simulate(model, 30.0, volts, rtol=1e-12, atol=1e-13)
    expected = [exact[name][-1] for name in model.states]
    np.testing.assert_allclose(final(run, model.states), expected, rtol=0, atol=1e-6)
    assert run["method"].startswith("Runge-Kutta")
    assert run["halfStepError"] < 1e-4
    for name in model.outputs:
        np.testing.assert_allclose(run["values"][name][-1], exact[name][-1], rtol=1e-6, atol=1e-6)


def test_poses_and_spins_are_the_scene_s():
    run = run_of(live_data(CIRCLE), {"run.duration": 2.0})
    model = trundle.derive(trundle.load(CIRCLE))
    scene = motion(model.robot, run["values"], model.parameters)
    poses = np.array(run["poses"]).reshape(scene.poses.shape)
    np.testing.assert_allclose(poses, scene.poses, atol=1e-12)
    np.testing.assert_allclose(np.array(run["spins"]).reshape(scene.spins.shape), scene.spins, atol=1e-12)


@pytest.mark.parametrize("name", ["differential_drive", "four_bar", "leg", "mecanum", "swerve"])
@pytest.mark.slow
def test_shapes_are_the_scene_s_at_changed_parameters(name):
    document = trundle.catalog.document(name)
    live, robot = live_data(document), document.robot
    knobs = [knob for knob in live["knobs"] if knob["group"] == "parameters" and knob["value"] > 0]
    changes = {knob["key"]: 1.05 * knob["value"] for knob in knobs}
    run = run_of(live, changes | {"run.duration": 0.2})
    changed = {key.removeprefix("parameters."): value for key, value in changes.items()}
    expected, before = (motion(robot, run["values"], each).plain() for each in (changed, {}))
    assert {"wheels", "bars"} & run["shapes"].keys()
    for part, shapes in run["shapes"].items():
        assert numbers(shapes) == pytest.approx(numbers(expected[part]), rel=1e-12, abs=1e-12), part
    assert any(
        numbers(shapes) != pytest.approx(numbers(before[part])) for part, shapes in run["shapes"].items()
    )


def numbers(part):
    """All numbers of plain data, in order."""
    if isinstance(part, list | tuple):
        return [number for each in part for number in numbers(each)]
    if isinstance(part, dict):
        return [number for each in part.values() for number in numbers(each)]
    return [part] if isinstance(part, int | float) else []


def test_a_winding_of_a_microhenry_is_stiff():
    name = "parameters.motors.right_motor.inductance"
    run = run_of(live_data(CIRCLE), {name: 1e-6, name.replace("right", "left"): 1e-6})
    model = trundle.derive(trundle.load(CIRCLE))
    volts = {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0}
    inductances = {"motors.right_motor.inductance": 1e-6, "motors.left_motor.inductance": 1e-6}
    exact = trundle.simulate(model, 30.0, volts, parameters=inductances, samples=601)
    assert run["method"].startswith("Rosenbrock")
    for state in model.states:
        scale = np.abs(exact[state]).max()
        assert np.abs(run["values"][state] - exact[state]).max() <= 1e-4 * scale


@pytest.mark.slow
def test_a_swerve_on_slipping_wheels_is_integrated_as_in_python():
    document = trundle.catalog.document("swerve", contact="slip")
    live = live_data(document, Changes(duration=8.0))
    run, exact = run_of(live), trundle.run(document, duration=8.0, samples=601)
    for name in ("x", "y", "theta", "v_x"):
        assert np.abs(run["values"][name] - np.interp(run["time"], exact.time, exact[name])).max() < 1e-4


@pytest.mark.slow
def test_loops_stay_closed_when_their_links_change():
    live = live_data(trundle.catalog.document("four_bar"))
    lengths = {knob["key"]: knob["value"] for knob in live["knobs"] if knob["group"] == "parameters"}
    coupler = next(key for key in lengths if key.endswith(".b"))
    for changes in ({}, {coupler: 1.1 * lengths[coupler]}):
        run = run_of(live, changes)
        assert np.abs(run["values"]["loop_residual"]).max() < 1e-9


@pytest.mark.parametrize("interpolation", ["linear", "previous", "cubic"])
def test_inputs_over_time_are_what_python_has(interpolation):
    table = ([0.0, 0.4, 1.0, 1.5], [0.0, 20.0, 10.0, 24.0], interpolation)
    changes = Changes(inputs={"left_motor.voltage": table}, duration=2.0, samples=201)
    live = live_data(CIRCLE, changes)
    run, exact = run_of(live), trundle.run(CIRCLE, inputs=changes.inputs, duration=2.0, samples=201)
    for name in ("left_motor.voltage", "x", "omega", "left_motor.current"):
        expected = exact[name]
        assert np.abs(run["values"][name] - expected).max() < 1e-6 * np.abs(expected).max(), name
    doubled = run_of(live, {"inputs.left_motor.voltage": 2.0})
    assert doubled["values"]["left_motor.voltage"].max() == pytest.approx(
        2 * exact["left_motor.voltage"].max()
    )


@pytest.mark.parametrize("name", mostly_slow(trundle.catalog.names(), ["differential_drive", "four_bar"]))
def test_every_robot_of_the_catalogue_comes_alive(name):
    run = run_of(live_data(trundle.catalog.document(name)), {"run.duration": 0.5})
    assert all(np.isfinite(column).all() for column in run["values"].values())
    assert run["halfStepError"] < 1e-3


@pytest.mark.slow
def test_a_long_chain_has_no_slopes_of_its_own_and_runs():
    document = trundle.catalog.document("pendulum", links=30)
    live = live_data(document)
    assert "function slopes(" not in live["worker"]
    run, exact = run_of(live, {"run.duration": 0.5}), trundle.run(document, duration=0.5, samples=101)
    for name in ("link_1.angle", "link_30.angle"):
        assert run["values"][name][-1] == pytest.approx(exact[name][-1], abs=1e-6)


# Over terrain nothing comes alive in a browser, which tests/terrain has.
EXAMPLES = [str(path) for path in sorted(Path("examples").glob("*/*.yaml")) if path.parent.name != "rover"]
QUICK = ("examples/diff_drive/circle.yaml", "examples/gears/rear_axle.yaml", "examples/four_bar/crank.yaml")


@pytest.mark.parametrize("example", mostly_slow(EXAMPLES, QUICK))
def test_every_example_comes_alive(example):
    run = run_of(live_data(example), {"run.duration": 1.0})
    assert run["halfStepError"] < 1e-3


def test_a_radius_of_nothing_is_told_in_words():
    answer = asked(live_data(CIRCLE), {"parameters.r": 0.0})
    assert answer["problem"].startswith("At t = 0 s its motion has no value where it starts")


def test_inputs_that_follow_the_motion_are_refused():
    changes = Changes(inputs={"left_motor.voltage": lambda t, state: -state["v_x"]})
    with pytest.raises(InputError, match="follows the motion"):
        live_data(CIRCLE, changes)
