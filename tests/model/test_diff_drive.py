"""The reference differential drive: published final states, the closed form, and the size of its program."""

import numpy as np
import pytest

from trundle import simulate
from trundle.model import derive
from trundle.robot import parse_robot

from . import diff_drive

CASES = [  # volts right and left, duration, torque constants, x, y, θ, φ̇_right, φ̇_left
    ((24, 20), 30, (1, 1), (4.253134792, 11.588731403, 14.994382813, 24, 20)),
    ((20, 20), 10, (1, 1), (29.9055, 0, 0, 20, 20)),
    ((24, 24), 10, (1, 0.99), (35.527746592, -5.359597250, -0.300757988, 24, 24.242424242)),
]


@pytest.fixture(scope="module")
def model():
    return derive(parse_robot(diff_drive.description()))


def run_end(model, volts, duration, **parameters):
    inputs = dict(zip(("right_motor.voltage", "left_motor.voltage"), volts, strict=True))
    run = simulate(model, duration, inputs, parameters=parameters, samples=11)
    return [run[name][-1] for name in ("x", "y", "theta", "right.rate", "left.rate")], run


@pytest.mark.parametrize(("volts", "duration", "constants", "expected"), CASES)
def test_published_final_states(model, volts, duration, constants, expected):
    end, run = run_end(model, volts, duration, **{"motors.left_motor.torque_constant": constants[1]})
    np.testing.assert_allclose(end, expected, rtol=1e-6, atol=1e-8)
    assert run.summary["constraint_residual"] <= 1e-9


@pytest.mark.parametrize(("volts", "duration", "constants", "_"), CASES)
def test_final_states_with_an_offset_mass(model, volts, duration, constants, _):
    expected = diff_drive.final_state(volts, duration, 0.3, constants)
    end, _ = run_end(model, volts, duration, d=0.3, **{"motors.left_motor.torque_constant": constants[1]})
    np.testing.assert_allclose(end, expected, rtol=1e-6, atol=1e-8)


def test_closed_form_accelerations(model, rng):
    for _ in range(20):
        d = rng.uniform(-0.5, 0.5)
        x = rng.uniform(-3, 3, len(model.states))
        p = np.array(list(model.parameter_values({"d": d}).values()))
        (rate,) = model.dynamics.evaluate(x, rng.uniform(-24, 24, 2), p)
        at = dict(zip(model.states, x, strict=True))
        expected = diff_drive.accelerations(
            at["v_x"], at["omega"], at["right_motor.current"], at["left_motor.current"], d
        )
        got = [rate[model.state_index[name]] for name in ("v_x", "omega")]
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_the_program_is_short(model):
    assert model.operations <= 100


def test_side_forces_are_split_evenly_and_said_to_be_undetermined(model):
    assert (model.constraints.rows, model.constraints.rank) == (4, 3)
    assert set(model.constraints.undetermined) == {"right.side_force", "left.side_force"}
    _, run = run_end(model, (24, 20), 2, d=0.3)
    np.testing.assert_allclose(run["right.side_force"], run["left.side_force"], atol=1e-9)
    # Newton across the base: the mass centre's acceleration to the side is v ω + d ω̇.
    rate = np.gradient(run["omega"], run.time)
    inner = slice(5, -1)  # away from the start, where ω̇ is steep
    total = 2 * run["left.side_force"]
    expected = (diff_drive.MASS + 2 * diff_drive.WHEEL) * run["v_x"] * run[
        "omega"
    ] + diff_drive.MASS * 0.3 * rate
    np.testing.assert_allclose(total[inner], expected[inner], rtol=2e-2)
