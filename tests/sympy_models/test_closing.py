"""SymPy's pendulum in closed loops: beside the same laws written by hand, in runs, rollouts, sweeps, stores."""

import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import (
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    dynamicsymbols,
)

import trundle

M, L, G = 1.2, 0.5, 9.81
PID = {"reads": "phi", "drives": "torque", "proportional": "4*m*l*g", "integral": 3.0, "derivative": 2.0}
PID |= {"filter": "20 ms", "target": 0.1}
START = {"phi": 0.3}


@pytest.fixture(scope="module")
def pendulum():
    """A pendulum that stands on its pivot, which a torque turns."""
    phi: Any = dynamicsymbols("phi")
    torque: Any = dynamicsymbols("torque")
    m, length, g = sp.symbols("m l g")
    fixed = ReferenceFrame("N")
    turned = fixed.orientnew("A", "Axis", [phi, fixed.z])
    pivot, tip = Point("O"), Point("P")
    pivot.set_vel(fixed, 0)
    tip.set_pos(pivot, length * turned.y)
    tip.v2pt_theory(pivot, fixed, turned)
    bob = Particle("bob", tip, m)
    bob.potential_energy = m * g * length * sp.cos(phi)
    method: Any = LagrangesMethod(
        Lagrangian(fixed, bob), [phi], forcelist=[(turned, torque * fixed.z)], frame=fixed
    )
    method.form_lagranges_equations()
    return trundle.from_sympy(method, inputs=[torque], parameters={"m": M, "l": L, "g": G})


def swung(phi, torque):
    """The pendulum's acceleration, m l² φ'' = m g l sin φ + τ."""
    return G / L * np.sin(phi) + torque / (M * L * L)


def of_pid(phi, summed, filtered):
    """The PID's torque, and the rates of its states: the derivative is that of the filtered reading."""
    error, slope = 0.1 - phi, (phi - filtered) / 0.02
    return 4 * M * L * G * error + summed - 2.0 * slope, 3.0 * error, slope


def test_a_continuous_pid_is_the_same_loop_by_hand(pendulum):
    loop = pendulum.closed({"hold": PID})

    def rates(_, x):
        torque, *own = of_pid(x[0], x[2], x[3])
        return [x[1], swung(x[0], torque), *own]

    run = trundle.simulate(loop, 2.0, initial=START, samples=41, rtol=1e-11, atol=1e-13)
    first = [run[name][0] for name in loop.states]
    by_hand = solve_ivp(rates, (0, 2), first, "DOP853", run.time, rtol=1e-12, atol=1e-13)
    assert np.array([run[name] for name in loop.states]) == pytest.approx(by_hand.y, abs=1e-9)
    assert run["torque"] == pytest.approx(of_pid(*(by_hand.y[k] for k in (0, 2, 3)))[0], abs=1e-7)
    batch = trundle.rollout(loop, initial={"phi": [0.3, 0.2]}, steps=4000, dt="0.5 ms", every=100)
    assert batch["phi"][:, 0] == pytest.approx(by_hand.y[0], abs=1e-9)


@pytest.mark.parametrize("delay", [0.0, 0.005])
def test_a_sampled_pi_is_the_same_loop_by_hand(pendulum, delay):
    """Between samples SciPy integrates the pendulum under the torque that is held."""
    law = {"reads": "phi", "drives": "torque", "proportional": 30.0, "integral": 3.0, "target": 0.1}
    loop = pendulum.closed({"hold": {**law, "period": "10 ms", "delay": delay}})
    x, summed, acting, waiting = np.array([0.3, 0.0]), 0.0, 0.0, 0.0
    rows = []
    for _ in range(100):
        error = 0.1 - x[0]
        waiting, summed = 30.0 * error + summed, summed + 0.03 * error
        acting = acting if delay else waiting
        rows.append([*x, summed])
        for seconds in (0.005, 0.005):
            held = acting
            x = solve_ivp(
                lambda _, s, held=held: [s[1], swung(s[0], held)], (0, seconds), x, "DOP853", rtol=1e-12, atol=1e-13
            ).y[:, -1]  # fmt: skip
            acting = waiting
    run = trundle.simulate(loop, 1.0, initial=START, samples=101, rtol=1e-11, atol=1e-13)
    batch = trundle.rollout(loop, initial=START, steps=2000, dt="0.5 ms", every=20)
    for place, name in enumerate(("phi", "phi_dot", "hold.integral")):
        assert run[name][:-1] == pytest.approx(np.array(rows)[:, place], abs=1e-9)
        assert batch[name][:-1, 0] == pytest.approx(np.array(rows)[:, place], abs=1e-8)


def test_a_regulator_is_a_controller_of_it(pendulum):
    regulator = trundle.lqr(pendulum, tolerances={"phi": 0.1, "torque": 1.0})
    loop = pendulum.closed({"hold": regulator.controller()})
    ((first, second),) = regulator.K
    run = trundle.simulate(loop, 2.0, initial={"phi": 0.2}, samples=41, rtol=1e-11, atol=1e-13)
    by_hand = solve_ivp(
        lambda _, x: [x[1], swung(x[0], -first * x[0] - second * x[1])], (0, 2), [0.2, 0], "DOP853", run.time,
        rtol=1e-12, atol=1e-13,
    ).y  # fmt: skip
    assert run["phi"] == pytest.approx(by_hand[0], abs=1e-9)
    wanted = [[0, 1], [G / L - first / (M * L * L), -second / (M * L * L)]]
    np.testing.assert_allclose(trundle.linearize(loop).A, wanted, atol=1e-9)


def test_its_numbers_are_swept_and_it_is_kept(pendulum, tmp_path):
    loop = pendulum.closed({"hold": {**PID, "period": "10 ms"}})
    sweep = trundle.sweep(
        loop, over={"controllers.hold.target": [0.0, 0.2], "l": [0.4, 0.5]}, initial=START,
        measures=["final.phi"], steps=1000, dt="1 ms", store=str(tmp_path / "store"),
    )  # fmt: skip
    numbers = {"controllers.hold.target": 0.2, "l": 0.5}
    batch = trundle.rollout(loop, initial=START, parameters=numbers, steps=1000, dt="1 ms")
    assert batch["phi"][-1, 0] == pytest.approx(sweep["final.phi"][-1], rel=1e-12)
    again = pickle.loads(pickle.dumps(loop))
    assert again == loop
    assert (again.inputs, again.clocks) == ((), {"hold": (0.01, 0.0)})
    with pytest.raises(trundle.InputError, match="'torque' is driven by hold"):
        trundle.simulate(again, 1.0, {"torque": 1.0})


def test_what_leads_a_base_says_that_there_is_none(pendulum):
    with pytest.raises(trundle.InputError, match="can't lead 'sympy_model': it has no base on wheels"):
        pendulum.closed({"track": {"type": "tracker"}})
    with pytest.raises(trundle.InputError, match="reads 'phii', which 'sympy_model' hasn't"):
        pendulum.closed({"hold": {**PID, "reads": "phii"}})
