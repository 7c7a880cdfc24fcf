"""Kalman gains: Riccati's equation, a filter's recursion, drawn noise, python-control, loops closed on estimates."""

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

import trundle
from derived import derived
from trundle.control.riccati import stepped
from trundle.errors import InputError

AT = {"v_x": 1.0, "omega": 0.3}
VOLTS = {"left_motor.voltage": "1 V", "right_motor.voltage": "1 V"}
RATES = {"left.rate": 0.02, "right.rate": 0.03}


@pytest.fixture(scope="module")
def model():
    return derived("differential_drive")


def disturbances(found):
    """Q of what is drawn: inputs' noise through B, and the states' own."""
    about = found.about
    by_input = about.B * [found.noise.get(name, 0.0) for name in about.inputs]
    own = np.diag([found.noise.get(name, 0.0) ** 2 for name in about.states])
    return by_input @ by_input.T + own


def test_riccatis_equation_holds_and_the_error_dies_out(model):
    found = model.kalman(AT, {**VOLTS, "v_x": "1 cm/s"}, RATES)
    a, c, p = found.about.A, found.about.C, found.covariance
    r = np.diag(np.square(list(found.measured.values())))
    terms = a @ p, p @ a.T, p @ c.T @ np.linalg.solve(r, c @ p), disturbances(found)
    measure = 1 / np.sqrt(np.diag(p))
    residual = (terms[0] + terms[1] - terms[2] + terms[3]) * measure * measure[:, None]
    sizes = [np.linalg.norm(term * measure * measure[:, None]) for term in terms]
    assert np.linalg.norm(residual) <= 1e-10 * sum(sizes)
    assert found.poles.real.max() < 0
    np.testing.assert_allclose(
        found.L, np.linalg.solve(r, c @ p).T, rtol=1e-9, atol=1e-9 * np.abs(found.L).max()
    )


def test_python_controls_gain_is_the_same(model):
    control = pytest.importorskip("control")
    found = model.kalman(AT, VOLTS, RATES)
    about = found.about
    r = np.diag(np.square(list(found.measured.values())))
    gain, covariance, _ = control.lqe(about.A, np.eye(len(about.A)), about.C, disturbances(found), r)
    np.testing.assert_allclose(found.L, gain, rtol=1e-6, atol=1e-7 * np.abs(gain).max())
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6, atol=1e-7 * covariance.max())


def sampled(found, steps=4000):
    """A over a period, and Q integrated by many trapezoids."""
    times = np.linspace(0, found.period, steps + 1)
    moved = scipy.linalg.expm(found.about.A * times[:, None, None])
    spread = moved @ disturbances(found) @ np.swapaxes(moved, 1, 2)
    return moved[-1], scipy.integrate.simpson(spread, x=times, axis=0)


@pytest.mark.parametrize("period", [0.002, 0.1])
def test_sampled_gains_are_where_the_filters_recursion_ends(model, period):
    found = model.kalman(AT, {**VOLTS, "omega": 0.1}, RATES, period=period)
    a, q = sampled(found)
    c, r = found.about.C, np.diag(np.square(list(found.measured.values())))
    p = np.eye(len(a))
    for _ in range(3000):
        p = a @ p @ a.T + q
        gain = p @ c.T @ np.linalg.inv(c @ p @ c.T + r)
        p = (np.eye(len(a)) - gain @ c) @ p
    # states in multiples of what their estimates are off by, measurements of their deviations
    off, error = np.sqrt(np.diag(p)), np.sqrt(np.diag(r))
    np.testing.assert_allclose(found.covariance / off / off[:, None], p / off / off[:, None], atol=1e-9)
    np.testing.assert_allclose(found.L * error / off[:, None], gain * error / off[:, None], atol=1e-9)
    assert np.abs(found.poles).max() < 1


def test_estimates_of_drawn_runs_are_off_by_what_is_said(model, rng):
    """400 runs of the sampled filter on drawn noise: the variance of the error within what 400 runs can tell."""
    found = model.kalman(AT, VOLTS, RATES, period=0.01)
    a, q = sampled(found)
    c, deviations = found.about.C, np.array(list(found.measured.values()))
    root = np.linalg.cholesky(q + 1e-15 * np.diag(np.diag(q)))
    count = 400
    error = np.zeros((len(a), count))
    for _ in range(200):
        error = a @ error + root @ rng.normal(size=error.shape)
        seen = c @ error + deviations[:, None] * rng.normal(size=(len(c), count))
        error = error - found.L @ seen
    ratio = error.var(axis=1) / np.array(list(found.deviations.values())) ** 2
    assert np.abs(ratio - 1).max() < 5 * np.sqrt(2 / count)


def test_a_regulator_on_estimates_has_the_poles_of_both(model):
    """The separation principle, of the model with the controller traced into it."""
    motion = model.trim(AT)
    seen = model.kalman(motion, VOLTS, RATES)
    hold = model.lqr(motion, {"v_x": 0.05, "omega": 0.1, **dict.fromkeys(model.inputs, 6.0)})
    closed = trundle.derive(model.robot, controllers={"hold": seen.controller(hold)})
    state = {name: motion.state[name] for name in model.states}
    found = np.sort_complex(closed.linearize(state).poles)
    expected = np.sort_complex(np.concatenate([seen.poles, hold.poles]))
    lasting = found[np.abs(found) > 1]  # the pose and the wheels' angles stay free
    np.testing.assert_allclose(lasting, expected, rtol=1e-7)
    with pytest.raises(InputError, match="another motion"):
        seen.controller(model.lqr({"v_x": 2.0}, dict(hold.tolerances)))
    with pytest.raises(InputError, match="theta isn't estimated"):
        still = model.kalman({"v_x": 1.0, "omega": 0.0}, VOLTS, RATES)
        still.controller(model.lqr({"v_x": 1.0, "omega": 0.0}, {"theta": 0.1, **dict(hold.tolerances)}))


def test_a_sampled_regulator_on_sampled_estimates_goes_as_the_recursion(model):
    """ẑ⁺ = ẑ⁻ + L (y − C ẑ⁻), u = −K ẑ⁺, ẑ⁻ = A ẑ⁺ + B u, written again by hand beside the model's own run."""
    motion = model.trim(AT)
    seen = model.kalman(motion, VOLTS, RATES, period=0.01)
    hold = model.lqr(motion, {"v_x": 0.05, "omega": 0.1, **dict.fromkeys(model.inputs, 6.0)}, period=0.01)
    loop = trundle.derive(model.robot, controllers={"hold": seen.controller(hold)})
    about = seen.about
    a, b = stepped(about.A, about.B, 0.01)
    off = np.array([1e-6, 2e-6, 0, 0])
    start = {name: motion.state[name] for name in model.states}
    start |= {name: start[name] + change for name, change in zip(about.states, off, strict=True)}
    run = trundle.simulate(loop, 0.1, initial=start, samples=11, rtol=1e-12, atol=1e-15)
    z, estimate = off, np.zeros(4)
    for k in range(11):
        assert run["v_x"][k] - motion.state["v_x"] == pytest.approx(z[0], abs=1e-11)
        corrected = estimate + seen.L @ (about.C @ (z - estimate))
        command = -hold.K @ corrected
        z, estimate = a @ z + b @ command, a @ corrected + b @ command
    with pytest.raises(InputError, match="samples every"):
        seen.controller(model.lqr(motion, dict(hold.tolerances)))


def test_a_gain_and_a_system_of_python_control_close_the_loop(model):
    control = pytest.importorskip("control")
    about = model.trim(AT).linearize(outputs=["v_x", "omega"])
    part = about.with_states(["v_x", "omega", "right_motor.current", "left_motor.current"])
    gain, _, poles = control.lqr(part.A, part.B, np.diag([400, 100, 0, 0]), np.eye(2) / 36)
    closed = trundle.derive(model.robot, controllers={"hold": part.controller(gain)})
    state = {name: about.state[name] for name in model.states}
    found = closed.linearize(state).poles
    np.testing.assert_allclose(np.sort_complex(found[np.abs(found) > 1]), np.sort_complex(poles), rtol=1e-6)
    plant = control.StateSpace(part.A, part.B, part.C, part.D)
    law = control.StateSpace(
        [[-3.0, 0.5], [0, -20]], [[1.0, 0], [0.5, 2]], [[4.0, 7], [4, -7]], [[5.0, 1], [5, -1]]
    )
    expected = np.sort_complex(control.feedback(plant, law).poles())
    closed = trundle.derive(model.robot, controllers={"hold": part.controller(law)})
    start = state | {"hold.x1": 0.0, "hold.x2": 0.0}
    found = closed.linearize(start).poles
    np.testing.assert_allclose(np.sort_complex(found[np.abs(found) > 1]), expected, rtol=1e-7)
    run = trundle.simulate(closed, 20.0, initial=state | {"v_x": 1.1})
    assert run.final["v_x"] == pytest.approx(1.0, abs=1e-6)


def test_what_closes_no_loop_is_told(model):
    about = model.trim(AT).linearize(outputs=["v_x", "x"])
    with pytest.raises(InputError, match=r"shape \(1, 3\), expected \(2, 9\)"):
        about.controller([[1.0, 2, 3]])
    with pytest.raises(InputError, match="x of the motion .* go on"):
        about.controller(scipy.signal.StateSpace([[-1]], [[1, 1]], [[1], [1]], np.zeros((2, 2))))
    control = pytest.importorskip("control")
    speeds = model.trim(AT).linearize(outputs=["v_x"])
    with pytest.raises(InputError, match="how often"):
        speeds.controller(control.StateSpace([[0.5]], [[1]], [[1], [1]], np.zeros((2, 1)), True))
    with pytest.raises(InputError, match="zeros does nothing"):
        about.controller(np.zeros((2, 9)))


WRONG = {
    "nothing measured": ({}, {}, "nothing is measured"),
    "an output that isn't there": ({}, {"q": 1}, "no state or output 'q'"),
    "noise of what isn't there": ({"q": 1}, {"v_x": 1}, "no state or input 'q'"),
    "a deviation of 0": (VOLTS, {"v_x": 0}, "greater than 0"),
    "another unit": (VOLTS, {"v_x": "1 V"}, "expected a speed"),
    "a pose that drives on, without noise": ({"v_x": 0.1}, {"x": 1, "y": 1, "theta": 1}, "no noise moves"),
    "a speed that wheels don't have": (VOLTS, {"v_y": 0.01}, "v_y shows no state"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_estimated_is_told(model, case):
    noise, measured, said = WRONG[case]
    with pytest.raises(InputError, match=said):
        model.kalman(AT, noise, measured)


def test_it_tells_gains_and_what_is_off(model):
    text = str(model.kalman(AT, VOLTS, RATES, period="10 ms"))
    assert "sampled every 0.01 s" in text
    assert "off by" in text
    assert "v_x" in text
