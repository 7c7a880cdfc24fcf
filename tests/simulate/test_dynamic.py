"""Runs: energy and constraints, inputs over time, parameters, methods, failures."""

import subprocess
import sys

import numpy as np
import pytest

from trundle import derive, rollout, simulate
from trundle.errors import InputError, NumericsError
from trundle.program import compile_program
from trundle.robot import catalog, parse_robot

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
    motors = {f"m{s}": {"kind": "torque", "drives": s} for s in "lr"}
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
    assert run.time.tolist() == [0.0, 0.5, 1.0]
    assert (run["x"][0], run["theta"][0], run["v_x"][0], run["y"][0]) == (1.0, 0.5, 0.3, 0.0)


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
        simulate(model, 1.0, initial={"left_motor.current": 1e308, "omega": 1e200})
    with pytest.raises(NumericsError, match="gave nan at t = "):
        simulate(model, 10.0, {"left_motor.voltage": lambda t: np.nan if t > 3 else 1.0})


BAD = {
    "unknown input": ({"inputs": {"left_motor.volt": 1.0}}, "did you mean 'left_motor.voltage'"),
    "list": ({"inputs": {"left_motor.voltage": [1, 2]}}, "table"),
    "text": ({"inputs": {"left_motor.voltage": "a lot"}}, "str"),
    "nan": ({"inputs": {"left_motor.voltage": float("nan")}}, "finite"),
    "half a table": ({"inputs": {"left_motor.voltage": {"times": [0, 1]}}}, "times, values"),
    "backwards": ({"inputs": {"left_motor.voltage": ((0, 2, 1), (0, 0, 0))}}, "must increase"),
    "words in a table": ({"inputs": {"left_motor.voltage": ((0, 1), ("a", "b"))}}, "numbers"),
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
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    arguments, message = BAD[case]
    with pytest.raises(InputError, match=message):
        simulate(model_of("differential_drive"), **{"duration": 1.0, **arguments})


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
        ({"inputs": {"left": 1}}, "not a input"),
        ({"count": 0}, "count"),
        ({"initial": {"x": float("nan")}}, "finite"),
        ({"initial": {"x": np.zeros(3), "y": np.zeros(4)}}, "different numbers"),
    ):
        with pytest.raises(InputError, match=message):
            rollout(model, **{"steps": 3, **arguments})


def test_simulate_can_be_called_whatever_was_imported_first():
    """The room and the function share a name; the import system binds the room to it."""
    code = "import trundle; trundle.roll; print(trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 0.1).name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "pendulum", done.stderr
