"""The longest step of a rollout, and what is said of a longer one."""

import warnings

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.simulation.stability import longest_step


def grown(root: complex, h: float) -> float:
    z = root * h
    return abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24)


@pytest.mark.parametrize("root", [-1.0, -30 + 1j, -2 + 2j, -0.1 + 5j, 4j])
def test_the_step_is_where_the_method_starts_to_grow(root):
    longest, rate = longest_step(np.array([root, complex(root).conjugate(), 1.0]))
    assert rate == pytest.approx(abs(root))
    assert grown(root, 0.99 * longest) <= 1 + 1e-9 < grown(root, 1.02 * longest)


def test_growing_and_resting_motions_bound_no_step():
    assert longest_step(np.array([2.0 + 1j, 0.0]))[0] == np.inf
    assert longest_step(np.array([complex(np.nan)]))[0] == np.inf


@pytest.mark.slow
def test_a_slipping_swerve_is_told_that_its_step_is_too_long():
    """The four-module swerve ended 0.4 % off in x at 1 ms without a word."""
    model = derived("swerve")
    volts = {
        f"{name}_drive.voltage": 12.0 for name in ("front_left", "front_right", "rear_left", "rear_right")
    }
    with pytest.warns(
        UserWarning, match=r"dt = 0.001 s is too long for 'swerve'.*decay at 1\.\d+e\+04/s"
    ) as said:
        trundle.rollout(model, inputs=volts, steps=10, dt=1e-3)
    assert "take dt = 0.0001 s" in str(said[0].message)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch = trundle.rollout(model, inputs=volts, steps=10_000, dt=1e-4, every=10_000)
    run = trundle.simulate(model, 1.0, volts)
    assert batch.final("x")[0] == pytest.approx(run["x"][-1], rel=1e-6)


def test_the_robot_that_bounds_the_step_is_named():
    model = derived("differential_drive")
    inductance = {"motors.left_motor.inductance": np.array([1e-2, 1e-2, 1e-6])}
    with pytest.warns(UserWarning, match=r"robot 2 of 'differential_drive'.*decay at 4.99e\+04/s"):
        trundle.rollout(model, parameters=inductance, steps=1, dt=1e-3)


def test_a_name_that_no_robot_has_is_no_robots_fault():
    model = derived("differential_drive")
    with pytest.raises(trundle.InputError, match=r"^rr: there is no parameter 'rr'\n  did you mean 'r'"):
        trundle.rollout(model, parameters={"rr": np.ones(3)}, steps=10)
