"""Sensitivities of rollouts: CasADi's derivatives of the same steps, differences of rollouts, files, refusals."""

import math
import runpy
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import trundle
from derived import derived
from parameters import mostly_slow
from trundle.errors import InputError

STEPS, DT, PERIOD = 120, 2e-3, 5


def limited(**more):
    """A drive whose speed is held by a loop that saturates at first."""
    hold = trundle.controllers.PidController(
        reads="v_x",
        drives={"left_motor.voltage": 1, "right_motor.voltage": 1},
        proportional=40,
        integral=20,
        lowest=-12,
        highest=12,
        **more,
    )
    return trundle.derive(trundle.catalog.differential_drive(), controllers={"hold": hold})


@cache
def model_of(name):
    if name in ("limited", "sampled"):
        return limited(**({"period": PERIOD * DT} if name == "sampled" else {}))
    return derived(name)


# By robot: what it is given, where it starts, and what derivatives are taken by.
CASES = {
    "differential_drive": (
        {"left_motor.voltage": 20.0, "right_motor.voltage": 12.0},
        {"theta": 0.4},
        ["r", "track", "initial.theta", "inputs.left_motor.voltage", "motors.left_motor.torque_constant"],
    ),
    "pendulum": ({}, {"link_1.angle": 0.7}, ["gravity", "initial.link_1.angle"]),
    "limited": (
        {"hold.reference": 0.8},
        {},
        ["r", "controllers.hold.proportional", "inputs.hold.reference", "controllers.hold.highest"],
    ),
    "sampled": (
        {"hold.reference": 0.8},
        {"v_x": 0.1},
        ["r", "controllers.hold.proportional", "inputs.hold.reference", "initial.v_x"],
    ),
    "ackermann": (
        {"left_motor.voltage": 8.0},
        {"steering.angle": 0.3, "front_left.speed": 0.8},
        ["initial.front_left.speed", "initial.steering.angle", "body.mass"],
    ),
    "four_bar": ({}, {}, None),
    "slider_crank": ({}, {}, None),
}


# Of the linkages one is enough in every run of the tests: the other takes twice as long.
QUICK = [name for name in CASES if name != "slider_crank"]


def asked(name, model):
    inputs, initial, names = CASES[name]
    if names is None:  # a linkage: one of its lengths, and how its leading joint starts
        lead = next(each for each in model.speeds if each not in model.dependent)
        angle = next(each for each in model.coordinates if each not in model.dependent)
        initial = {angle: 0.6, lead: 2.0}
        names = [next(iter(model.parameters)), f"initial.{angle}", f"initial.{lead}"]
    return inputs, initial, names


def step_of(model):
    """One step of the rollout in CasADi's symbols: (x, u, p, due) -> x."""
    x, u, p = (ca.SX.sym(group.name, group.size) for group in model.dynamics.inputs)
    rate = model.dynamics.casadi_function
    k1 = rate(x, u, p)
    k2 = rate(x + DT / 2 * k1, u, p)
    k3 = rate(x + DT / 2 * k2, u, p)
    k4 = rate(x + DT * k3, u, p)
    after = x + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if model.projection is not None:
        after = model.projection.casadi_function(after, u, p)
    due = ca.SX.sym("due")
    if model.sampling is not None:
        after = model.sampling.casadi_function(after, u, p, due)
    slopes = [ca.jacobian(after, at) for at in (x, u, p)]
    return ca.Function("step", [x, u, p, due], [after, *slopes])


def by_casadi(model, start, columns, inputs, names):
    """x and S after all steps, S by CasADi's Jacobians of a step."""
    step = step_of(model)
    u = [inputs.get(name, 0.0) for name in model.inputs]
    x, s, p = ca.DM(start), ca.DM(columns), list(model.parameters.values())
    seeds_u, seeds_p = np.zeros((len(u), len(names))), np.zeros((len(p), len(names)))
    for k, name in enumerate(names):
        if name in model.parameters:
            seeds_p[list(model.parameters).index(name), k] = 1
        if name.startswith("inputs."):
            seeds_u[model.inputs.index(name.removeprefix("inputs.")), k] = 1
    for k in range(STEPS):
        x, by_x, by_u, by_p = step(x, u, p, float((k + 1) % PERIOD == 0))
        s = by_x @ s + by_u @ seeds_u + by_p @ seeds_p
    return np.array(x).ravel(), np.array(s)


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_steps_against_casadis_own_derivatives(name):
    model = model_of(name)
    inputs, initial, names = asked(name, model)
    batch = trundle.rollout(model, inputs=inputs, initial=initial, steps=STEPS, dt=DT, gradients=names)
    start = batch.values[0, :, 0]
    columns = np.array([batch.gradients[by][0, :, 0] for by in names]).T
    x, s = by_casadi(model, start, columns, inputs, names)
    np.testing.assert_allclose(batch.values[-1, :, 0], x, rtol=1e-9, atol=1e-12)
    found = np.array([batch.gradients[by][-1, :, 0] for by in names]).T
    np.testing.assert_allclose(found, s, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(s).max()))


def changed(name, model, by, by_how_much):
    """The same rollout, with one of the names changed."""
    inputs, initial, _ = asked(name, model)
    inputs, initial, parameters = dict(inputs), dict(initial), {}
    place, _, label = by.partition(".")
    if place == "initial":
        initial[label] = initial.get(label, 0.0) + by_how_much
    elif place == "inputs":
        inputs[label] += by_how_much
    else:
        parameters[by] = model.parameters[by] + by_how_much
    return trundle.rollout(
        model, inputs=inputs, initial=initial, parameters=parameters, steps=STEPS, dt=DT, every=STEPS // 4
    )


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_states_and_outputs_against_differences_of_whole_rollouts(name):
    """The start that constraints complete is in them, too."""
    model = model_of(name)
    inputs, initial, names = asked(name, model)
    batch = trundle.rollout(
        model, inputs=inputs, initial=initial, steps=STEPS, dt=DT, every=STEPS // 4, gradients=names
    )
    energies = [each for each in model.outputs if each.startswith("energy.")]
    for by in names:
        step = 1e-5 * max(1.0, abs(model.parameters.get(by, 1.0)))
        high, low = (changed(name, model, by, sign * step) for sign in (1, -1))
        for of in (*model.states, *energies[:2]):
            difference = (high.output(of) - low.output(of)) / (2 * step)
            scale = max(1.0, np.abs(difference).max())
            np.testing.assert_allclose(
                batch.gradient(of, by), difference, rtol=1e-5, atol=2e-6 * scale, err_msg=of
            )


@pytest.mark.slow
def test_controllers_leave_little_of_what_parameters_move(tmp_path, monkeypatch, capsys):
    example = Path(__file__).parents[2] / "examples" / "feedback" / "sensitivities.py"
    monkeypatch.setattr("sys.argv", [str(example), str(tmp_path)])
    found = runpy.run_path(str(example))
    radius = found["names"].index("r")
    assert found["ends"]["voltages alone"][radius] > 0.2
    assert found["ends"]["held"][radius] < 0.006
    assert (tmp_path / "sensitivities.png").exists()
    assert "half_track: voltages alone" in capsys.readouterr().out


def test_many_robots_are_differentiated_as_one():
    model = derived("differential_drive")
    masses = np.linspace(10.0, 40.0, 7)
    given = {"inputs": {"left_motor.voltage": 20.0}, "steps": 40, "dt": 1e-3, "gradients": ["body.mass", "r"]}
    batch = trundle.rollout(model, parameters={"body.mass": masses}, **given)
    for k, mass in enumerate(masses):
        one = trundle.rollout(model, parameters={"body.mass": mass}, **given)
        np.testing.assert_allclose(
            batch.gradient("x", "body.mass")[:, k],
            one.gradient("x", "body.mass")[:, 0],
            rtol=1e-12,
            atol=1e-18,
        )


def test_files_keep_the_derivatives_of_states(tmp_path):
    model = derived("pendulum")
    batch = trundle.rollout(model, initial={"link_1.angle": 0.5}, steps=20, gradients=["gravity"], count=2)
    again = trundle.Batch.load(batch.save(tmp_path / "swing.nc"))
    np.testing.assert_array_equal(
        again.gradient("link_1.rate", "gravity"), batch.gradient("link_1.rate", "gravity")
    )
    assert batch.units["link_1.angle by gravity"] == "rad/(m/s^2)"
    assert again.states == batch.states
    with pytest.raises(InputError, match="derivatives of states only"):
        again.gradient("energy.kinetic", "gravity")


def test_states_called_like_derivatives_stay_states(tmp_path):
    batch = trundle.Batch("carts", [0.0, 1.0], ["x", "x by r", "y"], np.ones((2, 3, 2)))
    again = trundle.Batch.load(batch.save(tmp_path / "carts.nc"))
    assert again.states == batch.states
    assert not again.gradients


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["radius"], "nothing 'radius'"),
        (["r", "r"], "twice"),
        ("r", "expected the names"),
        ([3], "expected a name"),
        (["wheels.left.radius"], "follows from r"),
        (["theta"], "did you mean 'initial.theta'"),
        (["initial.v_y"], "dependent speed"),
        (["initial.thta"], "did you mean 'theta'"),
        (["inputs.left_motor.volt"], "did you mean 'inputs.left_motor.voltage'"),
    ],
)
def test_what_is_no_number_is_told(names, words):
    model = derived("differential_drive")
    with pytest.raises(InputError, match=words):
        trundle.rollout(model, steps=2, gradients=names)


def test_starts_that_follow_from_constraints_are_refused():
    model = derived("four_bar")
    with pytest.raises(InputError, match="follows from other states"):
        trundle.rollout(model, steps=2, gradients=[f"initial.{model.dependent[0]}"])


def test_what_was_not_asked_for_is_told():
    model = derived("pendulum")
    with pytest.raises(InputError, match="no derivatives"):
        trundle.rollout(model, steps=2).gradient("link_1.angle", "gravity")
    batch = trundle.rollout(model, steps=2, gradients=["gravity"])
    with pytest.raises(InputError, match="gravity"):
        batch.gradient("link_1.angle", "initial.link_1.angle")
    with pytest.raises(InputError, match="no state and no output"):
        batch.gradient("link_1.angl", "gravity")


# One run, its derivatives in the same adaptive steps.

SPAN = STEPS * DT


def adaptive(name, **more):
    """A run of a case with its derivatives, and the same by a rollout of short steps."""
    model = model_of(name)
    inputs, initial, names = asked(name, model)
    given = {"inputs": inputs, "initial": initial, "gradients": names}
    run = trundle.simulate(model, SPAN, samples=5, **given, **more)
    batch = trundle.rollout(model, steps=40 * STEPS, dt=DT / 40, every=10 * STEPS, **given)
    return model, run, batch


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_runs_have_the_derivatives_of_rollouts(name):
    """States and outputs, with samples and projections; a kink that steps go across costs the rollout digits."""
    model, run, batch = adaptive(name)
    assert run.summary["steps"] > 5
    bound = 1e-5 if name == "limited" else 1e-9
    outputs = [each for each in model.outputs if each.startswith("energy.")][:2]
    for by in batch.gradients:
        for of in (*model.states, *outputs):
            expected = batch.gradient(of, by)[:, 0]
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(
                run.gradient(of, by) / scale, expected / scale, atol=bound, err_msg=f"{of} by {by}"
            )
        assert run.units[f"{model.states[0]} by {by}"] == batch.units[f"{model.states[0]} by {by}"]


@pytest.mark.parametrize("name", ["differential_drive", "pendulum"])
def test_runs_have_the_derivatives_of_casadis_integrator(name):
    """By parameters and inputs, CVODES's own forward sensitivities."""
    model = model_of(name)
    inputs, initial, names = asked(name, model)
    names = [each for each in names if not each.startswith("initial.")]
    run = trundle.simulate(model, SPAN, inputs, initial=initial, samples=2, gradients=names)
    x, u, p = (ca.SX.sym(group.name, group.size) for group in model.dynamics.inputs)
    problem = {"x": x, "p": ca.vertcat(u, p), "ode": model.dynamics.casadi_function(x, u, p)}
    options = {"reltol": 1e-12, "abstol": 1e-13, "max_num_steps": 100_000, "fsens_err_con": True}
    there = ca.integrator("there", "cvodes", problem, 0, SPAN, options)
    given = [inputs.get(each, 0.0) for each in model.inputs] + list(model.parameters.values())
    slopes = there.factory("slopes", ["x0", "p"], ["jac:xf:p"])
    start = [run[each][0] for each in model.states]
    found = np.array(slopes(x0=start, p=given)["jac_xf_p"])
    labels = [*(f"inputs.{each}" for each in model.inputs), *model.parameters]
    for by in names:
        expected = found[:, labels.index(by)]
        scale = max(1.0, np.abs(expected).max())
        mine = [run.gradient(of, by)[-1] for of in model.states]
        np.testing.assert_allclose(np.array(mine) / scale, expected / scale, atol=1e-9, err_msg=by)


class Dual:
    """A number and its derivatives: forward mode as in a textbook."""

    def __init__(self, value, slope):
        self.value, self.slope = float(value), slope

    def chain(self, value, factor):
        """A function of it alone, by its derivative."""
        return Dual(value, factor * self.slope)


def dual_operations():
    """Every operation of a program on dual numbers."""

    def pick(choose):
        return lambda a, b: a if choose(a.value, b.value) else b

    def arctangent(y, x):
        square = x.value**2 + y.value**2
        return Dual(math.atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / square)

    return {
        "add": lambda a, b: Dual(a.value + b.value, a.slope + b.slope),
        "sub": lambda a, b: Dual(a.value - b.value, a.slope - b.slope),
        "mul": lambda a, b: Dual(a.value * b.value, a.value * b.slope + b.value * a.slope),
        "div": lambda a, b: Dual(a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value),
        "neg": lambda a: a.chain(-a.value, -1.0),
        "sq": lambda a: a.chain(a.value**2, 2 * a.value),
        "twice": lambda a: a.chain(2 * a.value, 2.0),
        "inv": lambda a: a.chain(1 / a.value, -1 / a.value**2),
        "sqrt": lambda a: a.chain(math.sqrt(a.value), 0.5 / math.sqrt(a.value)),
        "sin": lambda a: a.chain(math.sin(a.value), math.cos(a.value)),
        "cos": lambda a: a.chain(math.cos(a.value), -math.sin(a.value)),
        "abs": lambda a: a.chain(abs(a.value), math.copysign(1.0, a.value)),
        "atan2": arctangent,
        "min": pick(lambda a, b: a <= b),
        "max": pick(lambda a, b: a >= b),
        "lt": lambda a, b: Dual(a.value < b.value, 0 * a.slope),
        "if_else_zero": lambda c, a: a if c.value else Dual(0.0, 0 * a.slope),
        "remainder": lambda a, b: a.chain(math.remainder(a.value, b.value), 1.0),
        "select": lambda c, a, b: a if c.value else b,
    }


def by_duals(program, *groups):
    """The program's first outputs, of dual numbers."""
    operations, values = dual_operations(), []
    for step in program.instructions:
        if step.op == "input":
            values.append(groups[step.source[0]][step.source[1]])
        elif step.op == "const":
            values.append(Dual(step.value, np.zeros(groups[0][0].slope.size)))
        else:
            values.append(operations[step.op](*(values[arg] for arg in step.args)))
    return [values[place] for place in program.results[0]]


@pytest.mark.parametrize("name", ["limited", "tracked"])
def test_steps_against_dual_numbers(name):
    """Through limits and through angles that turn, where complex steps fail."""
    inputs, names = {"hold.reference": 0.8}, ["r", "controllers.hold.highest", "inputs.hold.reference"]
    model = limited()
    if name == "tracked":
        model = trundle.derive(model.robot.without_controllers, controllers=TRACKED)
        inputs = {"track.x": 0.4, "track.y": 0.3, "track.theta": 2.8, "track.v_x": 0.5}
        names = ["r", "controllers.turn.proportional", "inputs.track.y", "initial.theta"]
    batch = trundle.rollout(model, inputs=inputs, steps=40, dt=DT, gradients=names)
    size = len(names)

    def dual(value, label):
        return Dual(value, np.array([float(each == label) for each in names]))

    x = [Dual(value, np.zeros(size)) for value in batch.values[0, :, 0]]
    for k, each in enumerate(x):
        each.slope[:] = [batch.gradients[by][0, k, 0] for by in names]
    u = [dual(inputs.get(each, 0.0), f"inputs.{each}") for each in model.inputs]
    p = [dual(value, each) for each, value in model.parameters.items()]

    def ahead(x, rates, h):
        return [Dual(a.value + h * b.value, a.slope + h * b.slope) for a, b in zip(x, rates, strict=True)]

    for _ in range(40):
        a = by_duals(model.dynamics, x, u, p)
        b = by_duals(model.dynamics, ahead(x, a, DT / 2), u, p)
        c = by_duals(model.dynamics, ahead(x, b, DT / 2), u, p)
        d = by_duals(model.dynamics, ahead(x, c, DT), u, p)
        for rates, weight in ((a, 1), (b, 2), (c, 2), (d, 1)):
            x = ahead(x, rates, weight * DT / 6)
    found = np.array([batch.gradients[by][-1, :, 0] for by in names])
    expected = np.array([each.slope for each in x]).T
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max(), rtol=1e-9)


TRACKED = {
    "track": {"type": "unicycle", "speed_to": "speed.reference", "turn_to": "turn.reference"},
    "speed": {
        "reads": "v_x",
        "drives": {"left_motor.voltage": 1, "right_motor.voltage": 1},
        "proportional": 20,
        "lowest": -12,
        "highest": 12,
    },
    "turn": {
        "reads": "omega",
        "drives": {"left_motor.voltage": -1, "right_motor.voltage": 1},
        "proportional": 10,
    },
}


def test_a_runs_derivatives_go_into_files(tmp_path):
    model = derived("pendulum")
    run = trundle.simulate(model, 1.0, initial={"link_1.angle": 0.5}, samples=5, gradients=["gravity"])
    again = trundle.Run.load(run.save(tmp_path / "swing.nc"))
    np.testing.assert_array_equal(
        again.gradient("link_1.rate", "gravity"), run.gradient("link_1.rate", "gravity")
    )
    assert list(again.values) == list(run.values)
    with pytest.raises(InputError, match="derivatives of states only"):
        again.gradient("energy.kinetic", "gravity")
    with pytest.raises(InputError, match="no derivatives of 'energy.imbalance'"):
        run.gradient("energy.imbalance", "gravity")
    with pytest.raises(InputError, match="this run has no derivatives"):
        trundle.simulate(model, 0.1).gradient("link_1.rate", "gravity")
    assert trundle.Run.load(run.save(tmp_path / "swing.csv"))["link_1.rate by gravity"].shape == (5,)


def test_runs_that_native_code_does_not_take_have_them_too():
    """Functions of time, methods of SciPy's; what follows the motion in Python is refused."""
    model = derived("differential_drive")
    names, by_table = ["r", "inputs.left_motor.voltage"], ([0.0, 0.5], [0.0, 10.0])
    quick = trundle.simulate(model, 0.4, {"left_motor.voltage": by_table}, gradients=names, samples=5)
    assert quick.summary["steps"] > 5
    for method in ("auto", "radau", "dop853"):
        given = {"left_motor.voltage": lambda t: 20 * t}
        slow = trundle.simulate(model, 0.4, given, gradients=names, samples=5, method=method)
        assert "steps" not in slow.summary
        for by in names:
            for of in model.states:
                np.testing.assert_allclose(
                    slow.gradient(of, by), quick.gradient(of, by), atol=1e-5, rtol=1e-6
                )
    with pytest.raises(InputError, match="follows the motion"):
        trundle.simulate(model, 0.4, {"left_motor.voltage": lambda t, x: -x["v_x"]}, gradients=names)
    with pytest.raises(InputError, match="nothing 'radius'"):
        trundle.simulate(model, 0.4, gradients=["radius"])
