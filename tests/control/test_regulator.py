"""Regulators: Riccati's equation, a second solution of it, what a perturbation costs when simulated, what can't be."""

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import trundle
from trundle.control.linear_control import state_measure
from trundle.errors import InputError

FAST = {"m": 0.1, "rad": 0.1, "m/s": 0.2, "rad/s": 0.3}
# What is held where, of the catalogue's robots that inputs can hold; the others' states stay free.
HELD = {
    "differential_drive": ({"v_x": 1.0, "omega": 0.3}, ("v_x", "omega")),
    "ackermann": ({"front_left.speed": 2.0, "steering.angle": 0.0}, ("front_left.speed", "y", "theta")),
    "tricycle": ({"front.speed": 1.0, "front.steering": 0.1}, ("front.speed", "front.steering")),
    "mecanum": ({"v_x": 0.5, "v_y": 0.3}, ("v_x", "v_y", "omega")),
    "three_omni": ({"v_x": 0.5}, ("v_x", "v_y", "omega", "x", "y", "theta")),
    "swerve": ({"v_x": 1.0}, ("v_x",)),
    "skid_steer": ({"v_x": 0.5}, ("v_x",)),
}


def held(name):
    """A model of the catalogue, its steady motion and tolerances."""
    model = trundle.derive(trundle.catalog.robot(name))
    at, states = HELD[name]
    motion = model.trim(at)
    tolerances = {state: FAST[model.units[state]] for state in states}
    tolerances |= {command: 0.5 * (1 + abs(motion.input[command])) for command in model.inputs}
    return model, motion, tolerances


def weights_of(regulator):
    about, tolerances = regulator.about, regulator.tolerances
    q = np.diag([tolerances[name] ** -2 if name in tolerances else 0.0 for name in about.states])
    return q, np.diag([tolerances[name] ** -2 for name in about.inputs])


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_riccatis_equation_holds_and_the_loop_is_stable(name):
    model, motion, tolerances = held(name)
    regulator = model.lqr(motion, tolerances)
    a, b, s = regulator.about.A, regulator.about.B, regulator.riccati
    q, r = weights_of(regulator)
    terms = a.T @ s, s @ a, s @ b @ np.linalg.solve(r, b.T @ s), q
    # states in multiples of what unit inputs bring them to, so that no unit counts more than another
    measure = state_measure(a, b)
    sizes = [np.linalg.norm(term * measure * measure[:, None]) for term in terms]
    residual = np.linalg.norm((terms[0] + terms[1] - terms[2] + terms[3]) * measure * measure[:, None])
    assert residual <= 1e-10 * sum(sizes)
    assert regulator.poles.real.max() < 0
    assert (
        all(margin.disk >= 1 - 1e-6 for margin in regulator.margins.values())
        or len(regulator.about.inputs) > 1
    )


@pytest.mark.slow
def test_the_cost_is_what_a_small_perturbation_costs():
    """The closed loop, a part of the robot, simulated from a small perturbation: the integral of what is made least."""
    model, motion, tolerances = held("differential_drive")
    regulator = model.lqr(motion, tolerances)
    loop = trundle.derive(model.robot, controllers={"hold": regulator.controller()})
    off = {"v_x": 1e-6, "omega": -2e-6}
    start = {name: value for name, value in motion.state.items() if name in model.states}
    start |= {name: start[name] + change for name, change in off.items()}
    run = trundle.simulate(loop, 4.0, initial=start, samples=40_001, rtol=1e-13, atol=1e-15)
    spent = sum(
        ((run[name] - motion.state.get(name, motion.input.get(name))) / size) ** 2
        for name, size in tolerances.items()
    )
    assert scipy.integrate.simpson(spent, x=run.time) == pytest.approx(regulator.cost(off), rel=1e-6)


def kleinman(a, b, q, r, start):
    """Riccati's solution to 40 digits, by Lyapunov equations from a stabilising gain (Kleinman 1968)."""
    with mpmath.workdps(40):
        a, b, q, r, gain = (mpmath.matrix(each.tolist()) for each in (a, b, q, r, start))
        n = a.rows
        eye = mpmath.eye(n)
        for _ in range(8):
            closed = a - b * gain
            system = mpmath.matrix(n * n, n * n)
            for i in range(n):
                for j in range(n):
                    for k in range(n):
                        system[i * n + j, k * n + j] += closed[k, i] * eye[j, j]
                        system[i * n + j, i * n + k] += closed[k, j]
            right = -(q + gain.T * r * gain)
            flat = mpmath.lu_solve(system, mpmath.matrix([right[i, j] for i in range(n) for j in range(n)]))
            solution = mpmath.matrix(n, n)
            for i in range(n):
                for j in range(n):
                    solution[i, j] = flat[i * n + j]
            gain = mpmath.inverse(r) * b.T * solution
        return np.array(gain.tolist(), dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["differential_drive", "three_omni", "tricycle"])
def test_gains_against_kleinmans_iteration_in_forty_digits(name):
    model, motion, tolerances = held(name)
    regulator = model.lqr(motion, tolerances)
    about = regulator.about
    exact = kleinman(about.A, about.B, *weights_of(regulator), regulator.K)
    np.testing.assert_allclose(regulator.K, exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())


def test_sampling_fast_is_acting_always_and_costs_are_those_of_the_held_inputs(rng):
    """A double integrator, a cart on rails: gains at 0.1 ms; the cost at 0.2 s, summed by fine integration."""
    cart = {"robot": {"name": "cart", "joints": {"rail": {"type": "prismatic", "axis": [1, 0, 0], "body": {"mass": 2}}},
                      "motors": {"push": {"type": "torque", "drives": "rail"}}}}  # fmt: skip
    model = trundle.derive(cart)
    tolerances = {"rail.position": 0.1, "rail.rate": 0.5, "push.torque": 3.0}
    always, fast = model.lqr(None, tolerances), model.lqr(None, tolerances, period=1e-4)
    np.testing.assert_allclose(fast.K, always.K, rtol=1e-3)
    # m ẍ = u: K = (r/q₁, …) in closed form
    k_1 = 3.0 / 0.1
    k_2 = np.sqrt((3.0 / 0.5) ** 2 + 2 * 2.0 * k_1)
    np.testing.assert_allclose(always.K, [[k_1, k_2]], rtol=1e-12)
    slow = model.lqr(None, tolerances, period="0.2 s")
    x, cost, h = np.array([0.05, -0.1]), 0.0, 0.2
    for _ in range(200):
        u = -(slow.K @ x)[0]
        t = np.linspace(0, h, 2001)
        position, rate = x[0] + x[1] * t + u * t**2 / 4, x[1] + u * t / 2
        cost += scipy.integrate.simpson((position / 0.1) ** 2 + (rate / 0.5) ** 2 + (u / 3.0) ** 2, x=t)
        x = np.array([position[-1], rate[-1]])
    assert cost == pytest.approx(slow.cost({"rail.position": 0.05, "rail.rate": -0.1}), rel=1e-9)
    assert np.abs(slow.poles).max() < 1


def test_margins_are_where_the_loop_gets_unstable():
    """Within a disk's gains and phases the loop is stable; the disk is that of the sensitivity's peak."""
    model, motion, tolerances = held("differential_drive")
    regulator = model.lqr(motion, tolerances)
    a, b, k = regulator.about.A, regulator.about.B, regulator.K
    for place, margin in enumerate(regulator.margins.values()):
        for factor in (margin.lowest, margin.highest, np.exp(1j * margin.phase), np.exp(-1j * margin.phase)):
            changed = b.astype(complex).copy()
            changed[:, place] = changed[:, place] * (1 + 0.999 * (factor - 1))
            assert np.linalg.eigvals(a - changed @ k).real.max() < 0
        omega = margin.frequency
        inner = np.linalg.solve(1j * omega * np.eye(len(a)) - a + b @ k, b[:, place])
        sensitivity = 1 - k[place] @ inner
        assert 1 / abs(sensitivity - 0.5) == pytest.approx(margin.disk, rel=1e-9)


WRONG = {
    "a state that isn't there": ({"v_x": 1.0}, {"v_z": 1.0}, "no state or input 'v_z'.*v_"),
    "no tolerance of an input": ({"v_x": 1.0}, {"v_x": 0.1}, "no tolerance for .*_motor.voltage"),
    "none of a state": (
        {"v_x": 1.0},
        {"left_motor.voltage": 1.0, "right_motor.voltage": 1.0},
        "no state has a tolerance",
    ),
    "a tolerance below 0": ({"v_x": 1.0}, {"v_x": -1.0}, "greater than 0"),
    "in another unit": ({"v_x": 1.0}, {"v_x": "5 V"}, "expected a speed"),
    "standing beside the axle": (
        {"v_x": 0.0, "omega": 0.0},
        {"y": 0.1, "x": 0.1, "theta": 0.1, "left_motor.voltage": 1.0, "right_motor.voltage": 1.0},
        "no tolerance of y can be kept.*wheels that roll and don't slide",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_held_is_told(case):
    at, weights, said = WRONG[case]
    with pytest.raises(InputError, match=f"(?s){said}"):
        trundle.derive(trundle.catalog.differential_drive()).lqr(at, weights)


def test_a_motion_whose_pose_goes_on_has_no_constant_rows():
    model = trundle.derive(trundle.catalog.differential_drive())
    volts = {"left_motor.voltage": "6 V", "right_motor.voltage": "6 V"}
    regulator = model.lqr({"v_x": 1.0, "omega": 0.0}, {"y": "5 cm", "theta": "3 deg", **volts})
    assert {"x", "left.angle", "right.angle"}.isdisjoint(regulator.about.states)
    assert "phase" in str(regulator)
    regulator.controller()  # straight on, y and theta stay
    circle = model.lqr({"v_x": 1.0, "omega": 0.5}, {"x": "5 cm", "y": "5 cm", "theta": "3 deg", **volts})
    with pytest.raises(InputError, match="go on"):
        circle.controller()


def test_costs_take_text_with_units_and_refuse_what_is_no_number():
    model = trundle.derive(trundle.catalog.differential_drive())
    hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
    assert hold.cost({"v_x": "1 cm/s"}) == hold.cost({"v_x": 0.01})
    for wrong, said in {"a": "expected a number", float("nan"): "finite", "5 V": "expected a speed"}.items():
        with pytest.raises(InputError, match=said):
            hold.cost({"v_x": wrong})
    with pytest.raises(InputError, match="deviation"):
        hold.cost(None)
