"""Regulators along runs: Riccati's equation integrated apart, what a perturbation costs, steady runs, samples."""

import functools

import numpy as np
import pytest
import scipy.integrate

import trundle
from derived import derived
from trundle.errors import InputError


def swelling(size, rate):
    """A command that begins with neither a jump nor a kink, so that samples of the run tell all of it."""
    return lambda t: size * (1 - np.cos(rate * t))


# What drives a robot of the catalogue, and how far its states may be off.
POSE = {"x": 0.05, "y": 0.05, "theta": 0.05}
RUNS = {
    "differential_drive": (swelling(4, 1.5), swelling(3, 2)),
    "three_omni": (swelling(3, 1), swelling(-2, 2), swelling(1, 3)),
    "tricycle": (swelling(4, 1), swelling(1, 2)),
}
LENGTH = 2.0


@functools.cache
def driven(name):
    """A model of the catalogue, its run, and tolerances."""
    model = derived(name)
    inputs = dict(zip(model.inputs, RUNS[name], strict=True))
    run = trundle.simulate(model, LENGTH, inputs, samples=401, rtol=1e-12, atol=1e-13)
    return model, inputs, run, POSE | dict.fromkeys(model.inputs, 6.0)


def integrated(model, inputs, regulator, run):
    """S at the start by integrating the motion, then Riccati's equation with the model linearised at every state."""
    names, p = list(model.states), np.array(list(model.parameters.values()))

    def given(t):
        return np.array([inputs[name](t) for name in model.inputs])

    motion = scipy.integrate.solve_ivp(
        lambda t, x: model.dynamics.evaluate(x, given(t), p)[0],
        (0, LENGTH),
        [run[name][0] for name in names],
        method="LSODA",
        rtol=1e-12,
        atol=1e-13,
        dense_output=True,
    )
    tolerances = regulator.tolerances
    q = np.diag([tolerances.get(name, np.inf) ** -2 for name in regulator.states])
    end = np.diag([regulator.final.get(name, np.inf) ** -2 for name in regulator.states])
    spent = np.diag([tolerances[name] ** 2 for name in model.inputs])

    def rate(back, flat):
        t, s = LENGTH - back, flat.reshape(q.shape)
        state = dict(zip(names, motion.sol(t).tolist(), strict=True))
        about = model.linearize(state, dict(zip(model.inputs, given(t).tolist(), strict=True)), outputs=[])
        kept = [about.states.index(name) for name in regulator.states]
        a, b = about.A[np.ix_(kept, kept)], about.B[kept]
        return (a.T @ s + s @ a - s @ b @ spent @ b.T @ s + q).ravel()

    found = scipy.integrate.solve_ivp(rate, (0, LENGTH), end.ravel(), method="LSODA", rtol=1e-11, atol=1e-12)
    return found.y[:, -1].reshape(q.shape)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_gains_against_an_integrated_riccati_equation(name):
    model, inputs, run, tolerances = driven(name)
    regulator = model.lqr(along=run, tolerances=tolerances, final={"x": 0.02, "y": 0.02})
    exact = integrated(model, inputs, regulator, run)
    assert np.abs(regulator.riccati[0] - exact).max() <= 1e-6 * np.abs(exact).max()
    weight = np.array([tolerances[name] ** 2 for name in model.inputs])[:, None]
    places = [model.states.index(name) for name in regulator.states]
    b = trundle.linearize_along(model, run, [])[0].B[places]
    gains = weight * (b.T @ exact)
    assert np.abs(regulator.K[0] - gains).max() <= 1e-6 * np.abs(gains).max()


@pytest.mark.slow
def test_the_cost_is_what_a_perturbed_run_costs_and_the_law_is_the_controller():
    model, _, run, tolerances = driven("differential_drive")
    regulator = model.lqr(along=run, tolerances=tolerances, final={"x": "1 cm", "y": "1 cm"})
    off = {"x": 1e-6, "y": -2e-6, "theta": 1e-6}
    start = {name: run[name][0] + off.get(name, 0.0) for name in model.states}
    closed = trundle.derive(model.robot, controllers={"hold": regulator.controller()})
    exact = {"samples": 2001, "rtol": 1e-12, "atol": 1e-15}
    held = trundle.simulate(closed, LENGTH, regulator.references("hold"), initial=start, **exact)
    # the run that it holds is the controller's own references, between its samples, too
    along = {name: held[f"hold.{name}"] for name in ("x", "y", "theta", *model.inputs)}
    cos, sin = np.cos(along["theta"]), np.sin(along["theta"])
    dx, dy = held["x"] - along["x"], held["y"] - along["y"]
    z = {"x": cos * dx + sin * dy, "y": cos * dy - sin * dx, "theta": held["theta"] - along["theta"]}
    z |= {name: held[name] - along[name] for name in model.inputs}
    spent = sum((value / tolerances[name]) ** 2 for name, value in z.items())
    cost = scipy.integrate.simpson(spent, x=held.time)
    cost += sum((z[name][-1] / regulator.final[name]) ** 2 for name in ("x", "y"))
    assert cost == pytest.approx(regulator.cost(off), rel=1e-5)
    followed = trundle.simulate(model, 0.3, regulator.law, initial=start, samples=11)
    same = trundle.simulate(closed, 0.3, regulator.references("hold"), initial=start, samples=11)
    for name in model.states:
        np.testing.assert_allclose(followed[name], same[name], atol=1e-7, rtol=1e-6)


@pytest.mark.slow
def test_far_from_its_end_a_steady_run_has_the_gains_of_the_steady_motion():
    model = derived("differential_drive")
    tolerances = {"v_x": 0.05, "omega": 0.1, **dict.fromkeys(model.inputs, 6.0)}
    motion = model.trim({"v_x": 1.0, "omega": 0.5})
    run = trundle.simulate(model, 3.0, dict(motion.input), initial=dict(motion.state), samples=61)
    for period in (None, 0.05):
        still = model.lqr(motion, tolerances, period=period)
        along = model.lqr(along=run, tolerances=tolerances, period=period)
        assert along.states == still.about.states
        np.testing.assert_allclose(along.K[0], still.K, rtol=1e-7, atol=1e-8 * np.abs(still.K).max())


@pytest.mark.slow
def test_sampled_costs_are_those_of_inputs_that_are_held():
    """ż = A(t) z + B u with u held, integrated apart from sample to sample."""
    model, _, run, tolerances = driven("three_omni")
    regulator = model.lqr(along=run, tolerances=tolerances, period="50 ms")
    assert regulator.at(0.051) is not regulator.at(0.049)
    np.testing.assert_array_equal(regulator.at(0.051), regulator.K[1])
    trajectory = trundle.linearize_along(model, run, [])
    kept = [trajectory.states.index(name) for name in regulator.states]
    spline = scipy.interpolate.CubicSpline(run.time, trajectory.A[:, kept][:, :, kept])
    b = trajectory.B[0][kept]  # masses and gears alone: it doesn't change
    np.testing.assert_allclose(
        trajectory.B[:, kept], np.broadcast_to(b, (len(run.time), *b.shape)), rtol=1e-9
    )
    sizes = np.array([tolerances.get(name, np.inf) for name in regulator.states])
    z, cost = np.zeros(len(kept)), 0.0
    z[:3] = off = 1e-3, 2e-3, -1e-3
    for k in range(len(regulator.time) - 1):
        u = -regulator.K[k] @ z

        def rate(t, state, u=u):
            now = state[:-1]
            return [*(spline(t) @ now + b @ u), np.sum((now / sizes) ** 2) + np.sum((u / 6.0) ** 2)]

        span = regulator.time[k], regulator.time[k + 1]
        found = scipy.integrate.solve_ivp(rate, span, [*z, 0.0], method="DOP853", rtol=1e-11, atol=1e-14)
        z, cost = found.y[:-1, -1], cost + found.y[-1, -1]
    assert cost == pytest.approx(
        regulator.cost(dict(zip("xy", off, strict=False)) | {"theta": off[2]}), rel=1e-6
    )


@pytest.mark.slow
def test_what_cannot_be_held_along_a_run_is_told():
    model = derived("differential_drive")
    volts = dict.fromkeys(model.inputs, 6.0)
    run = trundle.simulate(model, 1.0, volts, samples=21)
    still = trundle.simulate(model, 1.0, samples=5)
    wheels = {"left.angle": 1.0, "right.angle": 1.0, "theta": 1.0}
    wrong = [
        ({"along": still, "tolerances": {"y": 0.1, **volts}}, "no tolerance of y can be kept along this run"),
        ({"along": run, "tolerances": wheels | volts}, "no tolerance of theta, right.angle, left.angle"),
        ({"along": run, "tolerances": {"y": 0.1, **volts}, "period": 2.0}, "longer than the run"),
        ({"along": run, "tolerances": {"q": 0.1, **volts}}, "no state or input 'q'"),
        ({"along": run, "tolerances": {"y": 0.1, **volts}, "final": {"y": -1}}, "final.y"),
        ({"along": run, "at": {"v_x": 1.0}, "tolerances": {"y": 0.1, **volts}}, "its own motion"),
        ({"tolerances": {"v_x": 0.1, **volts}, "final": {"v_x": 1}}, "only a run has an end"),
        ({"along": 3, "tolerances": {"v_x": 0.1, **volts}}, "expected a run"),
    ]
    for arguments, said in wrong:
        with pytest.raises(InputError, match=said):
            model.lqr(**arguments)
    held = model.lqr(along=run, tolerances={"y": 0.1, **volts})
    assert "left.angle" not in held.states
    assert "against what is off, over time" in str(held)
    with pytest.raises(InputError, match="no 'y'"):
        held.law(0.0, {"x": 0.0})
