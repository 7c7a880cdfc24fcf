"""Parameters: their names, numbers and units; what values become in a given scalar; overriding them."""

from __future__ import annotations

import math
from typing import Any

import casadi
import pytest

from trundle import catalog
from trundle.errors import InputError
from trundle.robot import Robot, parse_robot

CART: dict[str, Any] = {
    "body": {"mass": 50, "center_of_mass": ["d", 0, 0], "inertia": {"zz": "m*track**2/12"}},
    "joints": {
        "arm": {
            "type": "revolute",
            "axis": [0, 0, 2],
            "at": [0.1, 0, 0],
            "body": {"mass": "m", "inertia": {"zz": 1}},
        }
    },
    "wheels": {
        "right": {"at": [0, "-track/2", 0], "radius": "6 in", "contact": "slip", "mass": 1},
        "left": {"at": [0, "track/2", 0], "radius": "6 in", "contact": "slip", "mass": 1},
    },
    "motors": {"motor": {"drives": "left", "torque_constant": 1, "resistance": 0.5, "coulomb": 0.1}},
    "parameters": {"d": 0.0, "m": "2 kg", "track": "4*half", "half": 0.3},
}


@pytest.fixture
def cart() -> Robot:
    return parse_robot(CART)


def test_names_and_numbers(cart: Robot) -> None:
    assert cart.parameter_values() == {
        "d": 0.0,  # named ones stay, even at zero
        "m": 2.0,
        "half": 0.3,  # track follows from it
        "gravity": 9.81,
        "body.mass": 50.0,
        "joints.arm.at.x": 0.1,
        "joints.arm.body.inertia.zz": 1.0,
        "wheels.right.radius": 0.1524,
        "wheels.right.mass": 1.0,
        "wheels.right.friction": 0.8,  # a default that has an effect
        "wheels.right.slip_speed": 0.01,
        "wheels.left.radius": 0.1524,
        "wheels.left.mass": 1.0,
        "wheels.left.friction": 0.8,
        "wheels.left.slip_speed": 0.01,
        "motors.motor.torque_constant": 1.0,
        "motors.motor.resistance": 0.5,
        "motors.motor.coulomb": 0.1,
        "motors.motor.coulomb_speed": 0.1,
    }


def test_units(cart: Robot) -> None:
    units = cart.parameter_units()
    assert list(units) == list(cart.parameter_values())
    assert units["d"] == "m"
    assert units["m"] == "kg"
    assert units["half"] == "m"
    assert units["wheels.right.friction"] == "1"
    assert units["motors.motor.resistance"] == "ohm"


def test_resolving(cart: Robot) -> None:
    names = list(cart.parameter_values())
    symbols = {name: casadi.SX.sym(name) for name in names}
    resolve = cart.resolver(symbols)
    assert resolve(cart.body.mass) is symbols["body.mass"]  # type: ignore[union-attr]
    assert resolve(cart.wheels["left"].at[0]) == 0.0
    assert isinstance(resolve(cart.wheels["left"].at[0]), float)
    half_track = resolve(cart.wheels["left"].at[1])
    assert float(casadi.Function("f", [symbols["half"]], [half_track])(0.5)) == 1.0
    assert isinstance(resolve.gravity()[2], casadi.SX)
    arm = cart.joints["arm"]
    assert arm.type == "revolute"
    assert resolve.direction(arm.axis) == (0.0, 0.0, 1.0)
    assert cart.resolver().vector(cart.wheels["right"].at) == (0.0, -0.6, 0.0)
    assert cart.number(cart.wheels["right"].at[1]) == -0.6
    with pytest.raises(InputError, match="no scalar was given for the parameter"):
        cart.resolver({"d": 1.0})


def test_overriding_keeps_names_and_order(cart: Robot) -> None:
    changed = cart.parameter_values({"d": 0.2, "body.mass": "100 lb", "half": 0})
    assert list(changed) == list(cart.parameter_values())
    assert changed["d"] == 0.2
    assert changed["body.mass"] == pytest.approx(45.359237)


@pytest.mark.parametrize(
    ("name", "value", "message", "hint"),
    [
        ("body.mas", 1, "no parameter 'body.mas'", "did you mean 'body.mass'"),
        ("track", 1, "'track' follows from half", "change half"),
        ("body.mass", -1, "must not be negative", "1"),
        ("body.mass", math.nan, "finite", ""),
        ("body.mass", "1 m", "expected a mass", ""),
        ("body.mass", "m", "uses m", ""),
        ("m", "1 m", "expected a quantity", ""),
        ("m", -2.0, "must not be negative", ""),
        ("wheels.left.radius", 0.2, "stands off the ground", ""),
        ("body.mass", None, "expected a mass, got nothing", ""),
    ],
)
def test_overriding_refused(cart: Robot, name: str, value: Any, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        cart.parameter_values({name: value})
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_another_robot_refused(cart: Robot) -> None:
    with pytest.raises(InputError, match="no parameter 'body.mas'"):
        cart.with_parameters({"body.mas": 1})
    with pytest.raises(InputError, match="ends too early"):
        cart.with_parameters({"track": "-half*"})
    with pytest.raises(InputError, match="must not be negative"):
        cart.with_parameters({"m": -2.0})


def test_another_robot(cart: Robot) -> None:
    other = cart.with_parameters(
        {"wheels.left.slip_speed": 0.02, "joints.arm.at.x": 0.3, "gravity": 1.6, "half": 0.5}
    )
    numbers = other.parameter_values()
    assert numbers["wheels.left.slip_speed"] == 0.02
    assert numbers["joints.arm.at.x"] == 0.3
    assert numbers["gravity"] == 1.6
    assert other.number(other.wheels["left"].at[1]) == 1.0
    assert cart.parameter_values()["gravity"] == 9.81


def test_gravity_as_a_vector() -> None:
    robot = parse_robot(CART | {"gravity": [0, "g", -9.0], "parameters": CART["parameters"] | {"g": 0.5}})
    assert robot.resolver().gravity() == (0.0, 0.5, -9.0)
    assert "gravity.z" in robot.parameter_values()
    assert "gravity.x" not in robot.parameter_values()


def test_a_robot_is_frozen(cart: Robot) -> None:
    with pytest.raises(Exception, match="frozen"):
        cart.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("wheels.left.mas", "wheels.left.mass"),
        ("wheels.left.raduis", "wheels.left.radius"),  # a formula, which says next what it follows from
        ("motors.left_motor.resistence", "motors.left_motor.resistance"),
        ("wheel.right.mass", "wheels.right.mass"),
        ("trak", "track"),
    ],
)
def test_a_key_path_that_is_not_there_is_told_from_the_one_that_was_meant(typo, meant):
    robot = catalog.differential_drive()
    for ask in (robot.with_parameters, robot.parameter_values):
        with pytest.raises(InputError) as caught:
            ask({typo: 1.0})
        assert caught.value.hint == f"did you mean '{meant}'?"


def test_a_robot_is_read_once_and_copies_forget_what_was_read():
    """What a robot keeps of itself changes no comparison, and a copy with other fields computes its own."""
    import pickle

    robot, fresh = catalog.differential_drive(), catalog.differential_drive()
    before = robot.parameter_values()
    assert robot.every_value is robot.every_value
    before["r"] = 7.0  # a copy of its own
    assert robot.parameter_values() != before
    assert robot == fresh
    assert pickle.loads(pickle.dumps(robot)) == fresh
    bare = robot.model_copy(update={"motors": {}})
    assert not any("motor" in name for name in bare.parameter_values())
    assert any("motor" in name for name in robot.parameter_values())
