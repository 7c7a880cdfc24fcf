"""The velocity motor against the closed form of its two poles, and on a robot's wheels."""

import numpy as np
import pytest

import trundle
from trundle.robot import parse_robot

INERTIA, GAIN, LAG, TARGET = 0.4, 1.6, 0.5, 3.0


def turntable(**motor):
    return parse_robot(
        {
            "joints": {"table": {"type": "revolute", "body": {"inertia": {"zz": INERTIA}}}},
            "motors": {"m": {"type": "velocity", "drives": "table", "gain": GAIN, **motor}},
        }
    )


def test_the_reference_lags_and_the_table_follows():
    """r = c (1 − e^(−t/T)), J ω̇ = k (r − ω): two poles, 1/T and k/J."""
    model = trundle.derive(turntable(lag=LAG))
    assert model.states == ("table.angle", "table.rate", "m.reference")
    assert (model.units["m.rate"], model.units["m.reference"]) == ("rad/s", "rad/s")
    run = trundle.simulate(model, 2.0, {"m.rate": TARGET}, rtol=1e-10, atol=1e-12)
    slow, fast, t = 1 / LAG, GAIN / INERTIA, run.time
    expected = TARGET * (1 - (fast * np.exp(-slow * t) - slow * np.exp(-fast * t)) / (fast - slow))
    np.testing.assert_allclose(run["table.rate"], expected, atol=1e-8)
    np.testing.assert_allclose(run["m.reference"], TARGET * (1 - np.exp(-slow * t)), atol=1e-8)
    assert run.summary["energy_imbalance"] <= 1e-7 * run.summary["energy_turned_over"]


def test_without_a_lag_it_has_no_state_and_its_torque_is_limited():
    model = trundle.derive(turntable(torque_limit=0.2))
    assert model.states == ("table.angle", "table.rate")
    run = trundle.simulate(model, 1.0, {"m.rate": TARGET})
    assert run.final["table.rate"] == pytest.approx(0.2 / INERTIA, rel=1e-6), "at its limit all the way"


def test_equations_and_a_driving_robot():
    names = {e.name for s in trundle.equations(turntable(lag=LAG)).sections for e in s.equations}
    assert {"m.torque", "m.reference_rate"} <= names
    wheels = {side: {"at": [0, y, 0], "radius": 0.1, "mass": 1.0} for side, y in (("l", 0.2), ("r", -0.2))}
    motors = {f"{side}m": {"type": "velocity", "drives": side, "gain": 50.0} for side in wheels}
    robot = parse_robot({"body": {"mass": 10, "inertia": {"zz": 0.4}}, "wheels": wheels, "motors": motors})
    run = trundle.simulate(trundle.derive(robot), 3.0, {"lm.rate": 4.0, "rm.rate": 6.0})
    assert run.final["v_x"] == pytest.approx(0.5, rel=1e-6)
    assert run.final["omega"] == pytest.approx(0.5, rel=1e-6)


def test_an_integral_holds_the_rate_against_a_load():
    """J ω̈ + (k + d) ω̇ + i ω = i c with a drag d: the rate of a second-order system, and no error in the end."""
    drag, spring = 0.8, 4.0
    robot = parse_robot(
        {
            "joints": {"table": {"type": "revolute", "damping": drag, "body": {"inertia": {"zz": INERTIA}}}},
            "motors": {"m": {"type": "velocity", "drives": "table", "gain": GAIN, "integral": spring}},
        }
    )
    model = trundle.derive(robot)
    assert (model.states[-1], model.units["m.sum"]) == ("m.sum", "rad")
    run = trundle.simulate(model, 2.0, {"m.rate": TARGET}, rtol=1e-10, atol=1e-12)
    poles = np.roots([INERTIA, GAIN + drag, spring])
    # ω(0) = 0, ω̇(0) = k c/J, ω(∞) = c
    shares = np.linalg.solve([[1, 1], poles], [-TARGET, GAIN * TARGET / INERTIA])
    expected = TARGET + np.real(np.exp(np.outer(run.time, poles)) @ shares)
    np.testing.assert_allclose(run["table.rate"], expected, atol=1e-8)
    assert run.summary["energy_imbalance"] <= 1e-7 * run.summary["energy_turned_over"]
    names = {e.name for s in trundle.equations(robot).sections for e in s.equations}
    assert {"m.torque", "m.sum_rate"} <= names


def test_at_its_limit_an_integral_does_not_wind_up():
    """The sum goes to limit/integral and stays; once the command comes down, the torque follows at once."""
    robot = turntable(integral=4.0, torque_limit=0.2)
    run = trundle.simulate(trundle.derive(robot), 4.0, {"m.rate": TARGET})
    assert np.abs(run["m.sum"]).max() <= 0.2 / 4.0 * (1 + 1e-9)
    assert run["m.torque"][-1] == pytest.approx(0.2)
