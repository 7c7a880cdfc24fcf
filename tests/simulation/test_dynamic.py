"""Runs: energy and constraints, inputs over time, parameters, methods, failures."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import yaml

from parameters import mostly_slow
from trundle import catalog, derive, roll, rollout, simulate
from trundle.errors import InputError, NumericsError
from trundle.program import compile_program
from trundle.robot import parse_robot
from trundle.show.figures.path import scene_of
from trundle.simulation import problem, runfile
from trundle.simulation.jumps import find_jumps

_MODELS = {}


def model_of(name, **measures):
    key = (name, *measures.items())
    if key not in _MODELS:
        _MODELS[key] = derive(catalog.robot(name, **measures))
    return _MODELS[key]


def commands(model, wave):
    """Everything driven at once: volts to the wheels, targets to the servos."""
    given = {}
    for k, name in enumerate(model.inputs):
        height = 10.0 + 3 * k if name.endswith("voltage") else 0.4
        given[name] = height if not wave else (lambda t, h=height, k=k: h * np.sin(2 * t + k))
    return given


IDEAL = [
    ("differential_drive", {"offset": 0.3}),
    ("offset_drive", {}),
    ("swerve", {"modules": 2}),
    ("ackermann", {}),
    ("tricycle", {}),
    ("mecanum", {}),
    ("three_omni", {}),
    ("pendulum", {"links": 3, "damping": 0.1}),
    ("skid_steer", {}),
    ("swerve", {"modules": 4}),
]


@pytest.mark.parametrize(("name", "measures"), IDEAL)
@pytest.mark.slow
def test_energy_and_constraints(name, measures):
    model = model_of(name, **measures)
    initial = {"link_1.angle": 1.5} if name == "pendulum" else {}
    run = simulate(model, 3.0, commands(model, wave=False), initial=initial, samples=301)
    assert run.summary["energy_turned_over"] > 1
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]
    assert run.summary["constraint_residual"] <= 1e-9


@pytest.mark.parametrize(("name", "measures"), [IDEAL[0], IDEAL[3], IDEAL[8]])
def test_energy_under_moving_inputs(name, measures):
    model = model_of(name, **measures)
    run = simulate(model, 2.0, commands(model, wave=True), samples=201)
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]
    assert run.summary["constraint_residual"] <= 1e-9


@pytest.mark.slow
def test_reported_work_is_the_integral_of_the_reported_power():
    run = simulate(
        model_of("differential_drive"),
        5.0,
        {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0},
        samples=20001,
    )
    from scipy.integrate import simpson

    assert simpson(run["power.in"], x=run.time) == pytest.approx(run["energy.work"][-1], rel=1e-5)
    assert simpson(run["power.lost"], x=run.time) == pytest.approx(run["energy.losses"][-1], rel=1e-5)


def test_skid_steer_turns_away_from_its_faster_side():
    model = model_of("skid_steer")
    volts = {
        f"{end}_{side}_motor.voltage": 20.0 if side == "right" else 4.0
        for end in ("front", "rear")
        for side in ("left", "right")
    }
    run = simulate(model, 3.0, volts)
    straight = simulate(model, 3.0, dict.fromkeys(volts, 12.0))
    assert run["theta"][-1] > 0.2
    assert abs(straight["theta"]).max() < 1e-6
    # Scrubbing wheels turn a robot less than their rates would if they all rolled.
    rates = (
        (run["front_right.rate"][-1] - run["front_left.rate"][-1])
        * model.parameters["r"]
        / model.parameters["track"]
    )
    assert 0 < run["omega"][-1] < rates
    for name in volts:
        wheel = name.removesuffix("_motor.voltage")
        force = np.hypot(run[f"{wheel}.traction"], run[f"{wheel}.side_force"])
        assert (force <= 0.8 * run[f"{wheel}.load"] * (1 + 1e-12)).all()


def test_slipping_swerve_follows_its_steering():
    model = model_of("swerve", modules=4)
    names = ("front_left", "rear_left", "rear_right", "front_right")
    given = {f"{n}_steer.angle": 0.5 for n in names} | {
        f"{n}_drive.voltage": ((0, 1), (0, 6), "previous") for n in names
    }
    run = simulate(model, 4.0, given)
    assert np.arctan2(run["y"][-1], run["x"][-1]) == pytest.approx(0.5, abs=0.05)
    assert abs(run["theta"][-1]) < 0.02
    assert np.hypot(run["x"][-1], run["y"][-1]) > 1
    turn = {"front_left": 2.356, "rear_left": -2.356, "rear_right": -0.785, "front_right": 0.785}
    spin = simulate(
        model,
        4.0,
        {f"{n}_steer.angle": a for n, a in turn.items()}
        | {f"{n}_drive.voltage": given[f"{n}_drive.voltage"] for n in names},
    )
    assert spin["theta"][-1] > 1
    assert np.hypot(spin["x"][-1], spin["y"][-1]) < 0.1


def test_steps_restart_exactly():
    """A cart on one wheel pair under steps of torque: piecewise parabolas, whatever the samples."""
    wheel = {"radius": 0.1}
    body = {"mass": 2.0, "inertia": {"zz": 1.0}}
    wheels = {"l": {"at": [0, 0.3, 0], **wheel}, "r": {"at": [0, -0.3, 0], **wheel}}
    motors = {f"m{s}": {"type": "torque", "drives": s} for s in "lr"}
    model = derive(parse_robot({"body": body, "wheels": wheels, "motors": motors}))
    times, values = (0.0, 0.3, 0.7, 1.3), (0.1, -0.2, 0.4, 0.0)
    for method in ("auto", "lsoda", "radau", "rk45"):
        run = simulate(
            model,
            2.0,
            dict.fromkeys(("ml.torque", "mr.torque"), (times, values, "previous")),
            samples=21,
            method=method,
        )
        x, v, expected = 0.0, 0.0, {}
        for a, b, torque in zip(times, (*times[1:], 3.0), values, strict=True):
            force = 2 * torque / 0.1 / 2.0
            for t in run.time:
                if a - 1e-9 <= t < b - 1e-9:
                    expected[t] = x + v * (t - a) + force * (t - a) ** 2 / 2
            x, v = x + v * (b - a) + force * (b - a) ** 2 / 2, v + force * (b - a)
        np.testing.assert_allclose(run["x"], list(expected.values()), atol=1e-10)
        assert run["ml.torque"][3] == -0.2  # at the jump, the value from there on


@pytest.mark.parametrize("shape", ["linear", "cubic"])
def test_tables_and_the_function_they_are_made_from(shape):
    model = model_of("differential_drive")
    t = np.linspace(0, 2, 41)
    v = 12 * np.sin(3 * t)
    from scipy.interpolate import CubicSpline

    call = CubicSpline(t, v) if shape == "cubic" else (lambda s: float(np.interp(s, t, v)))
    runs = [
        simulate(model, 2.0, {"right_motor.voltage": given, "left_motor.voltage": 5.0}, samples=101)
        for given in ((t, v, shape), call, {"times": t, "values": v, "interpolation": shape})
    ]
    for run in runs[1:]:
        for name in ("x", "y", "theta", "v_x"):
            np.testing.assert_allclose(run[name], runs[0][name], atol=1e-6)


def test_a_short_pulse_is_not_stepped_over():
    model = model_of("differential_drive")
    t = np.arange(0, 20.001, 0.01)
    pulse = np.where((t > 5) & (t < 5.1), 24.0, 0.0)
    stepped = simulate(model, 20.0, {"left_motor.voltage": ((0, 5, 5.1), (0, 24, 0), "previous")})
    called = simulate(model, 20.0, {"left_motor.voltage": lambda t: 24.0 if 5 <= t < 5.1 else 0.0})
    listed = simulate(model, 20.0, {"left_motor.voltage": (t, pulse, "linear")})
    assert abs(stepped["theta"][-1]) > 1e-3
    assert called["theta"][-1] == pytest.approx(stepped["theta"][-1], rel=1e-3)
    assert listed["theta"][-1] == pytest.approx(stepped["theta"][-1], rel=0.2)


def test_parameters_change_without_compiling_again():
    model = model_of("differential_drive")
    before = compile_program(model.audited)
    wide = simulate(model, 1.0, {"left_motor.voltage": 10.0}, parameters={"track": 2.0})
    plain = simulate(model, 1.0, {"left_motor.voltage": 10.0})
    assert compile_program(model.audited) is before
    anew = derive(model.robot.with_parameters({"track": 2.0}))
    np.testing.assert_allclose(
        simulate(anew, 1.0, {"left_motor.voltage": 10.0})["theta"], wide["theta"], atol=1e-10
    )
    assert abs(wide["theta"][-1]) < abs(plain["theta"][-1])
    text = simulate(model, 1.0, {"left_motor.voltage": 10.0}, parameters={"track": "200 cm"})
    np.testing.assert_allclose(text["theta"], wide["theta"], rtol=1e-12)


def test_initial_states_and_times():
    model = model_of("three_omni")
    run = simulate(model, initial={"x": 1.0, "theta": 0.5, "v_x": 0.3}, times=[0.5, 1.0])
    assert run.time.tolist() == [0.5, 1.0]
    whole = simulate(model, initial={"x": 1.0, "theta": 0.5, "v_x": 0.3}, times=[0, 0.5, 1.0])
    assert (whole["x"][0], whole["theta"][0], whole["v_x"][0], whole["y"][0]) == (1.0, 0.5, 0.3, 0.0)
    for name in ("x", "theta", "energy.imbalance"):
        np.testing.assert_allclose(run[name], whole[name][1:], atol=1e-12)
    assert simulate(model, times=[1.0], initial={"v_x": 0.3}).time.tolist() == [1.0]


def test_methods_agree():
    model = model_of("differential_drive", inductance=0.01)
    ends = [
        simulate(model, 1.0, {"left_motor.voltage": 10.0}, method=m, rtol=1e-10, atol=1e-12)["theta"][-1]
        for m in ("lsoda", "radau", "dop853", "rk45")
    ]
    np.testing.assert_allclose(ends, ends[0], rtol=1e-7)
    assert simulate(model, 0.1).summary["method"] == "lsoda"
    assert simulate(model_of("pendulum"), 0.1).summary["method"] == "dop853"


def test_divergence_is_said_with_its_time():
    model = model_of("differential_drive")
    with pytest.raises(NumericsError, match="t = "):
        simulate(model, 1.0, initial={"left_motor.current": 1e49, "omega": 1e49})
    with pytest.raises(NumericsError, match="gave nan at t = "):
        simulate(model, 10.0, {"left_motor.voltage": lambda t: np.nan if t > 3 else 1.0})


BAD = {
    "unknown input": ({"inputs": {"left_motor.volt": 1.0}}, "did you mean 'left_motor.voltage'"),
    "list": ({"inputs": {"left_motor.voltage": [1, 2]}}, "table"),
    "text": ({"inputs": {"left_motor.voltage": "a lot"}}, "write a number in V"),
    "nan": ({"inputs": {"left_motor.voltage": float("nan")}}, "finite"),
    "half a table": ({"inputs": {"left_motor.voltage": {"times": [0, 1]}}}, "times, values"),
    "backwards": ({"inputs": {"left_motor.voltage": ((0, 2, 1), (0, 0, 0))}}, "must increase"),
    "words in a table": ({"inputs": {"left_motor.voltage": ((0, 1), ("a", "b"))}}, "got 'a'\n.*number in V"),
    "interpolation": ({"inputs": {"left_motor.voltage": ((0, 1), (0, 1), "quintic")}}, "known: previous"),
    "lengths": ({"inputs": {"left_motor.voltage": ((0, 1, 2), (0, 1))}}, "as many times as values"),
    "unknown state": ({"initial": {"v_z": 1.0}}, "did you mean 'v_x'"),
    "no number": ({"initial": {"x": "here"}}, "expected a number"),
    "infinite start": ({"initial": {"x": float("inf")}}, "finite"),
    "unknown parameter": ({"parameters": {"trck": 1.0}}, "did you mean 'track'"),
    "negative mass": ({"parameters": {"body.mass": -1}}, "negative"),
    "no inductance": ({"parameters": {"motors.left_motor.inductance": 0}}, "divisor"),
    "duration": ({"duration": -1.0}, "positive"),
    "samples": ({"samples": 1}, "at least 2"),
    "times": ({"times": [0, 2, 1]}, "increasing"),
    "method": ({"method": "euler"}, "known: auto"),
    "tolerance": ({"rtol": 0.0}, "positive"),
    "tolerance in words": ({"rtol": "x"}, "positive"),
    "half a sample": ({"samples": 2.5}, "whole number"),
    "too many samples": ({"samples": 10**12}, "too many to store"),
    "endless": ({"duration": float("inf")}, "finite time"),
    "samples in words": ({"samples": "5"}, "whole number"),
    "a duration beside times": ({"duration": 1.0, "times": [0, 2]}, "both a duration of 1"),
    "a duration in metres": ({"duration": "3 m"}, "expected a time"),
    "times in words": ({"times": "abc"}, "increasing"),
    "inputs in a list": ({"inputs": [1, 2]}, "a mapping of names"),
    "parameters in a list": ({"parameters": [1]}, "a mapping of names"),
    "nothing": ({"inputs": {"left_motor.voltage": None}}, "can't be NoneType"),
    "complex": ({"inputs": {"left_motor.voltage": 1j}}, "can't be complex"),
    "newtons": ({"inputs": {"left_motor.voltage": "24 N"}}, "expected a voltage"),
    "a parameter": ({"inputs": {"left_motor.voltage": "r"}}, "write a number in V"),
    "a function of nothing": ({"inputs": {"left_motor.voltage": lambda t: None}}, "must return a number"),
    "a complex function": ({"inputs": {"left_motor.voltage": lambda t: 1j}}, "must return a number"),
    "a function of two": ({"inputs": {"left_motor.voltage": lambda t: np.ones(2)}}, "shape \\(2,\\)"),
    "dependent speed": ({"initial": {"right.rate": 3}}, "dependent speed.*independent ones \\(v_x, omega"),
    "output": ({"initial": {"power.in": 3}}, "is an output"),
    "max_step": ({"max_step": -1}, "max_step"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    arguments, message = BAD[case]
    with pytest.raises(InputError, match=message):
        simulate(model_of("differential_drive"), **{"duration": 1.0, **arguments})


def test_text_with_units_and_arrays_of_one():
    model = model_of("differential_drive")
    text = simulate(
        model, "100 ms", {"left_motor.voltage": "24 V"}, initial={"theta": "90 deg", "v_x": "3.6 km/h"}
    )
    plain = simulate(
        model,
        0.1,
        {"left_motor.voltage": lambda t: np.array([24.0])},
        initial={"theta": np.pi / 2, "v_x": 1.0},
    )
    for name in ("x", "y", "theta", "omega"):
        np.testing.assert_allclose(text[name], plain[name], atol=1e-8)


def test_what_is_no_model_is_told_what_to_do():
    for call, message in (
        (lambda: simulate(3), "simulate takes a robot, a model or a file, not int"),
        (lambda: simulate("robot.yaml"), "robot.yaml: there is no such file"),
        (lambda: rollout(None), "rollout takes a robot, a model or a file, not NoneType"),
        (lambda: derive("robot.yaml"), "robot.yaml: there is no such file"),
        (lambda: derive(model_of("pendulum")), "takes a robot, not Model"),
        (lambda: roll([]), "roll takes a robot, a model or a file, not list"),
    ):
        with pytest.raises(InputError, match=message):
            call()


@pytest.mark.slow
def test_robots_models_documents_files_and_mappings_run_alike(tmp_path):
    document = catalog.document("differential_drive")
    path = tmp_path / "robot.yaml"
    path.write_text(document.source)
    model = derive(document.robot)
    described = yaml.safe_load(document.source)
    for call, given in (
        (simulate, {"left_motor.voltage": 24.0}),
        (roll, {"left.rate": 1.0, "right.rate": 2.0}),
    ):
        expected = call(model, 0.5, given).final
        for each in (document.robot, document, path, str(path), described):
            assert call(each, 0.5, given).final == expected
    inputs = {"left_motor.voltage": 24.0}
    expected = rollout(model, inputs=inputs, steps=10).values
    for each in (document.robot, path, described):
        np.testing.assert_array_equal(rollout(each, inputs=inputs, steps=10).values, expected)


@pytest.mark.parametrize("method", ["auto", "lsoda", "dop853"])
def test_a_switching_function_is_the_table_of_its_jumps(method):
    model = model_of("differential_drive")
    other = {"right_motor.voltage": 10.0}
    called = {"left_motor.voltage": lambda t: 24.0 if t % 1 < 0.5 else -24.0}
    listed = {"left_motor.voltage": (np.arange(0, 5, 0.5), [24.0, -24.0] * 5, "previous")}
    runs = [simulate(model, 5.0, other | given, method=method, samples=11) for given in (called, listed)]
    for name in ("x", "y", "theta"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-7)


def test_jumps_are_found_to_the_last_digit_and_steep_slopes_are_none():
    jump = 0.1 + 0.2
    nodes = np.linspace(0, 1, 101).tolist()
    assert find_jumps(lambda t: np.sin(9 * t) + (t >= jump), nodes) == pytest.approx([jump], abs=1e-15)
    assert find_jumps(lambda t: float(0.301 <= t < 0.3012) + float(t > 0.305), nodes) != []
    for smooth in (
        np.sin,
        lambda t: np.tanh(1e3 * (t - 0.5)),
        lambda t: abs(t - 0.333),
        lambda t: t**9,
        lambda t: 3.0,
    ):
        assert find_jumps(smooth, nodes) == []


def test_a_jump_that_only_the_integration_meets_is_found_there(monkeypatch):
    from trundle.simulation import problem

    monkeypatch.setattr(problem, "with_jumps", lambda signals, end, step: signals)
    model = model_of("differential_drive")
    run = simulate(model, 2.0, {"left_motor.voltage": lambda t: 24.0 if t % 1 < 0.5 else -24.0}, samples=5)
    right = simulate(
        model, 2.0, {"left_motor.voltage": ((0, 0.5, 1, 1.5), (24, -24, 24, -24), "previous")}, samples=5
    )
    np.testing.assert_allclose(run["theta"], right["theta"], atol=1e-5)


@pytest.mark.slow
def test_stored_samples_do_not_change_the_motion():
    model = model_of("differential_drive")
    pulse = {"left_motor.voltage": lambda t: 24.0 if 5 < t < 5.1 else 0.0}
    few, many = (simulate(model, 10.0, pulse, samples=n) for n in (2, 1001))
    assert few["theta"][-1] == pytest.approx(-0.3, abs=1e-9)
    assert few["theta"][-1] == pytest.approx(many["theta"][-1], abs=1e-9)
    short = {"left_motor.voltage": lambda t: 24.0 if 5.0001 < t < 5.0011 else 0.0}
    assert simulate(model, 10.0, short, samples=2, max_step="0.5 ms")["theta"][-1] == pytest.approx(
        -0.003, rel=1e-3
    )


@pytest.mark.slow
def test_auto_sees_stiffness_at_the_start():
    drive = derive(catalog.differential_drive(inductance=0, resistance=1e-5))
    arm = {
        "base": "fixed",
        "joints": {"a": {"type": "revolute", "body": {"mass": 0.1, "inertia": {"zz": 1e-3}}}},
        "motors": {"s": {"type": "servo", "drives": "a", "stiffness": 1000, "damping": 50}},
    }
    assert not drive.stiff
    assert simulate(drive, 10.0, {"left_motor.voltage": 1.0}).summary["method"] == "lsoda"
    assert simulate(derive(parse_robot(arm)), 10.0, {"s.angle": 1.0}).summary["method"] == "lsoda"
    for angle in (0.0, 1.0, np.pi):
        run = simulate(
            model_of("pendulum", links=3), 100.0, initial={"link_1.angle": angle}, samples=2, rtol=1e-6
        )
        assert run.summary["method"] == "dop853"


def test_rollout_agrees_with_simulate():
    for name, measures, dt in (
        ("differential_drive", {"offset": 0.3}, 1e-4),
        ("mecanum", {}, 5e-4),
        ("pendulum", {"links": 2}, 1e-3),
    ):
        model = model_of(name, **measures)
        given = commands(model, wave=False)
        initial = {model.coordinates[0]: 0.7}
        steps = round(2.0 / dt)
        batch = rollout(model, inputs=given, initial=initial, steps=steps, dt=dt, every=steps // 10, count=3)
        run = simulate(model, 2.0, given, initial=initial, samples=11)
        expected = np.array([run[state] for state in model.states])
        for lane in range(3):
            np.testing.assert_allclose(
                batch.values[..., lane].T, expected, atol=1e-6 * max(1, np.abs(expected).max())
            )


def test_rollout_of_a_million_steps_keeps_the_constraints():
    model = model_of("differential_drive", offset=0.3)
    batch = rollout(
        model,
        inputs={"right_motor.voltage": 24.0, "left_motor.voltage": 20.0},
        steps=1_000_000,
        dt=1e-4,
        every=10_000,
    )
    (outputs,) = compile_program(model.observe)(
        np.ascontiguousarray(batch.values[..., 0].T),
        np.array([24.0, 20.0]),
        np.array(list(model.parameters.values())),
    )
    rows = dict(zip(model.outputs, outputs, strict=True))
    assert rows["constraint_residual"].max() <= 1e-9
    # The wheels' angles, integrated beside the heading, still belong to it: track·θ = r (φ_right − φ_left).
    states = dict(zip(model.states, batch.values[..., 0].T, strict=True))
    turned = 0.15 * (states["right.angle"] - states["left.angle"]) - 1.2 * states["theta"]
    assert np.abs(turned).max() < 1e-9 * 100


def test_rollout_refuses_nonsense():
    model = model_of("differential_drive")
    for arguments, message in (
        ({"dt": -1.0}, "positive"),
        ({"steps": -1}, "steps"),
        ({"initial": {"z": 1}}, "not a state"),
        ({"inputs": {"left": 1}}, "not an input"),
        ({"count": 0}, "count"),
        ({"initial": {"x": float("nan")}}, "finite"),
        ({"initial": {"x": np.zeros(3), "y": np.zeros(4)}}, "different numbers"),
        ({"initial": {"x": np.zeros((2, 2))}}, "shape \\(2, 2\\)"),
        ({"count": 2.0}, "whole number"),
        ({"count": 10**12}, "GB"),
        ({"threads": -1}, "threads"),
        ({"inputs": {"left_motor.voltage": np.sin}}, "no functions, but numbers and arrays"),
        ({"inputs": {"left_motor.voltage": "24 N"}}, "expected a voltage"),
        ({"steps": 10, "every": 3}, "nearest that do are 2 and 5"),
    ):
        with pytest.raises(InputError, match=message):
            rollout(model, **{"steps": 3, **arguments})


FIRST = (
    "from trundle import rollout, simulate",
    "trundle.rollout; simulate = trundle.simulate",
    "trundle.table; import trundle.simulation; simulate = trundle.simulate",
    "import trundle.simulation; from trundle import simulate",
)


def test_rollout_checks_each_robots_parameters_together():
    model = model_of("differential_drive")
    sizes = np.linspace(0.1, 0.2, 50)
    wheels = parse_robot(
        {
            "body": {"mass": 2.0, "inertia": {"zz": 1.0}},
            "wheels": {
                "l": {"at": [0, 0.3, "left - 0.1"], "radius": "left"},
                "r": {"at": [0, -0.3, "right - 0.1"], "radius": "right"},
            },
            "parameters": {"left": 0.1, "right": 0.1},
        }
    )
    batch = rollout(derive(wheels), parameters={"left": sizes, "right": sizes}, initial={"v_x": 1.0}, steps=4)
    assert batch.count == 50
    with pytest.raises(InputError, match="robot 1"):
        rollout(model, parameters={"r": np.array([0.1, -1.0, 0.1])}, steps=4)


def test_rollout_observes_its_stored_states():
    model = model_of("differential_drive", offset=0.3)
    volts = np.linspace(0, 24, 5)
    given = {"left_motor.voltage": volts, "right_motor.voltage": 10.0}
    batch = rollout(
        model, inputs=given, parameters={"r": np.linspace(0.1, 0.2, 5)}, steps=2000, dt=1e-4, every=1000
    )
    run = simulate(
        model,
        0.2,
        {"left_motor.voltage": volts[3], "right_motor.voltage": 10.0},
        parameters={"r": 0.175},
        samples=3,
    )
    for name in ("energy.kinetic", "right.rate", "left_motor.torque"):
        np.testing.assert_allclose(batch.output(name)[:, 3], run[name], rtol=1e-6, atol=1e-9)
    assert batch.summary["constraint_residual"] == batch.output("constraint_residual").max() < 1e-9
    assert batch.output("x").shape == (3, 5)
    with pytest.raises(InputError, match="did you mean 'energy.kinetic'"):
        batch.output("energy.kinetics")


def test_rollout_counts_what_diverged():
    model = model_of("differential_drive")
    batch = rollout(model, initial={"left_motor.current": np.array([1e308, 0.0])}, steps=10)
    assert batch.summary["diverged"] == 1
    with pytest.raises(NumericsError, match="all robots.*diverged by t = "):
        rollout(model, initial={"left_motor.current": 1e308}, steps=10, count=3)


@pytest.mark.parametrize("first", mostly_slow(FIRST, FIRST[:1]))
def test_simulate_is_the_function_whatever_was_imported_first(first):
    code = f"import trundle; {first}; print(type(simulate).__name__, type(trundle.roll).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "function function", done.stderr


ABREAST = """
trundle: 1
robot:
  name: abreast
  body: {mass: 10, inertia: {zz: 1}}
  wheels:
    left: {type: steered, at: [0, 0.3, 0], radius: 0.1, mass: 1, fork: {inertia: {zz: 0.1}}}
    right: {type: steered, at: [0, -0.3, 0], radius: 0.1, mass: 1, fork: {inertia: {zz: 0.1}}}
  motors: {motor: {type: torque, drives: left, torque_limit: 1}}
"""


def test_a_singular_start_is_explained_and_a_torque_limit_shows():
    from trundle.documents import parse

    model = derive(parse(ABREAST).robot)
    with pytest.raises(NumericsError, match="at t = 0 s speed"):
        simulate(model, 1.0)
    run = simulate(model, 0.5, {"motor.torque": 5.0}, initial={"left.steering": 0.3, "right.steering": 0.2})
    assert run["motor.torque"][-1] == 5.0
    assert run["motor.delivered"][-1] == 1.0


def test_what_is_drawn_has_the_parameters_of_the_run():
    model = model_of("differential_drive")
    drawn = scene_of(simulate(model, 0.1, parameters={"r": 0.3}))
    assert drawn is not None
    assert [wheel.radius for wheel in drawn.wheels] == [0.3, 0.3]


def test_a_base_without_mass_has_kinematics_and_no_forces():
    """It derives, for its mobility and odometry; runs with forces are refused."""
    wheel = {"radius": 0.1}
    wheels = {"left": {**wheel, "at": [0, 0.3, 0]}, "right": {**wheel, "at": [0, -0.3, 0]}}
    model = derive(parse_robot({"base": "planar", "wheels": wheels}))
    assert model.mobility is not None
    assert model.odometry(["left.rate", "right.rate"]).update([0, 0, 0], [1.0, 1.0]) == pytest.approx(
        [0.1, 0, 0]
    )
    for run in (lambda: simulate(model, 1.0), lambda: rollout(model, steps=2)):
        with pytest.raises(InputError, match="a planar base needs a body with a mass"):
            run()


@pytest.mark.parametrize("method", mostly_slow(["auto", "dop853"], ["auto"]))
def test_steering_into_a_singular_configuration_is_told_with_what_may_be(method):
    """Two modules turned until their axles lie on one line."""
    model = model_of("swerve", modules=2)
    given = {
        "front_drive.voltage": 6.0,
        "rear_drive.voltage": 6.0,
        "front_steer.angle": 2.0,
        "rear_steer.angle": 2.0,
    }
    with pytest.raises(NumericsError) as caught:
        simulate(model, 2.0, given, method=method)
    assert re.search(r"failed at t = 0\.152\d* s: .*\n  steered wheels whose axles lie", str(caught.value))
    assert "Dfun" not in str(caught.value)


def test_slopes_by_differences_lead_to_the_same_motion(monkeypatch):
    model = model_of("skid_steer")
    given = commands(model, wave=True)
    exact = simulate(model, 2.0, given, samples=21)
    monkeypatch.setattr(problem, "MOST_SLOPE", 0)
    found = simulate(model, 2.0, given, samples=21)
    for name in model.states:
        np.testing.assert_allclose(found[name], exact[name], rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_fifty_joints_with_dry_friction_need_no_slopes(rng):
    """Their matrix of slopes would take minutes to compile."""
    inertia = {"xx": 1e-3, "yy": 2e-3, "zz": 2e-3}
    joints = {}
    for k in range(50):
        joints[f"joint_{k}"] = {
            "type": "revolute",
            "parent": f"joint_{k - 1}" if k else "base",
            "at": [0.1, 0, 0],
            "axis": rng.normal(size=3).tolist(),
            "coulomb": 0.05,
            "body": {"mass": 0.3, "center_of_mass": [0.05, 0, 0], "inertia": inertia},
        }
    model = derive(parse_robot({"name": "snake", "base": "fixed", "joints": joints}))
    run = simulate(model, 0.01, samples=11)
    assert run.summary["method"] == "lsoda"
    assert "audited_jacobian" not in vars(model)
    assert run.summary["energy_turned_over"] > 1e-3
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]


def test_a_wheel_out_of_reach_is_singular_and_no_bug():
    described = yaml.safe_load(catalog.document("tricycle").source)
    (caster,) = (wheel for wheel in described["robot"]["wheels"].values() if wheel.get("type") == "caster")
    caster["at"] = [-0.3, 4.957e7, caster["at"][2]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers of NumPy's on the way
        with pytest.raises(NumericsError, match="have no rates: it is singular where it starts"):
            runfile.run(described, duration=0.1)
