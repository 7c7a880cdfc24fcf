"""Real motors: what their makers publish comes out of the equations that are made of it."""

import math

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.documents import dump, json_schema, parse
from trundle.errors import InputError
from trundle.robot.real_motors import REAL_MOTORS

RPM = 2 * math.pi / 60


def bench(**motor):
    """A flywheel on a shaft with one motor."""
    joints = {"shaft": {"type": "revolute", "body": {"inertia": {"zz": 1e-4}}}}
    motors = {"m": {"drives": "shaft", **motor}}
    return trundle.load({"robot": {"name": "dyno", "joints": joints, "motors": motors}})


@pytest.mark.parametrize("name", REAL_MOTORS)
def test_each_stalls_runs_free_and_gives_its_power_as_published(name):
    """On a dynamometer that holds the shaft at a speed: the torque and the current that a run shows there."""
    published = REAL_MOTORS[name]
    model = trundle.derive(bench(model=name))
    free = published.free_speed * RPM
    speeds = np.linspace(0, free, 201)

    def outputs(speed):
        run = trundle.simulate(
            model, 1e-9, {"m.voltage": published.voltage}, initial={"shaft.rate": speed}, samples=2
        )
        return run["m.torque"][0], run["m.current"][0]

    assert outputs(0.0) == pytest.approx((published.stall_torque, published.stall_current), rel=1e-9)
    torque, current = outputs(free)
    assert torque == pytest.approx(0, abs=1e-9)
    assert current == pytest.approx(published.free_current, rel=1e-9)
    assert outputs(free / 2)[0] == pytest.approx(published.stall_torque / 2, rel=1e-9)
    if (
        published.peak_power is not None
    ):  # as measured; a straight line from stall to free speed is not far off
        straight = np.max(published.stall_torque * (1 - speeds / free) * speeds)
        assert straight == pytest.approx(published.peak_power, rel=0.08)


@pytest.mark.parametrize("name", REAL_MOTORS)
def test_none_makes_energy_of_its_unequal_constants(name):
    """R i² + b ω² + (K_e − K) i ω ≥ 0 for every i and ω."""
    keys = REAL_MOTORS[name].keys
    difference = keys["back_emf_constant"] - keys["torque_constant"]
    assert difference**2 <= 4 * keys["resistance"] * keys["friction"]


def test_a_model_is_written_as_it_was_read_and_its_numbers_can_be_changed():
    robot = bench(model="neo", resistance="0.15 ohm", gear_ratio=5)
    assert parse(dump(robot)).robot == robot
    assert "torque_constant" not in dump(robot)
    numbers = robot.parameter_values()
    assert numbers["motors.m.torque_constant"] == pytest.approx(2.6 / 105)
    assert numbers["motors.m.resistance"] == 0.15
    changed = robot.with_parameters({"motors.m.torque_constant": 0.03})
    assert changed.parameter_values()["motors.m.torque_constant"] == 0.03


def test_a_model_that_is_not_known_is_told_from_those_that_are():
    with pytest.raises(InputError, match="no model 'kraken'") as caught:
        bench(model="kraken")
    assert "kraken_x60" in str(caught.value.hint)


def test_the_schema_lets_a_model_stand_for_the_constants():
    schema = json_schema()["$defs"]["DCMotor"]  # pyright: ignore
    assert "resistance" not in schema["required"]
    assert {"required": ["model"]} in schema["anyOf"]


def test_the_catalogue_lists_them_with_their_sources():
    assert "kraken_x60" in catalog.motors()
    assert "https://" in catalog.motor("falcon_500").source
