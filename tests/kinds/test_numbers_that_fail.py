"""A law of one's own without a number in the middle of a run: said with its class, its wheel or motor, and when."""

from typing import Literal

import pytest

import trundle
from trundle.errors import NumericsError
from trundle.robot import ContactLaw, Effort, Motor, Push, parse_robot
from trundle.robot.contact import LAWS
from trundle.robot.motors import MOTORS
from trundle.scalars import sqrt


@pytest.fixture(autouse=True)
def _guests():
    before = dict(LAWS._members), dict(MOTORS._members)
    yield
    LAWS._members, MOTORS._members = before


def cart(**motor):
    wheel = {"radius": 0.1, "mass": 1.0, "contact": "brittle"}
    return parse_robot(
        {
            "body": {"mass": 10, "inertia": {"zz": 1}},
            "wheels": {
                "left": {"at": [0, 0.2, 0], **wheel},
                "right": {"at": [0, -0.2, 0], **wheel},
                "back": {"type": "ball", "at": [-0.3, 0, 0], "radius": 0.1},
            },
            "motors": {
                f"{name}_motor": {"type": "torque", "drives": name, **motor} for name in ("left", "right")
            },
        }
    )


class Brittle(ContactLaw):
    """Has no force from 1 m/s of slip on."""

    type: Literal["brittle"] = "brittle"

    def push(self, touch, read):
        return Push([-v * 20 * sqrt(1.5 - v * v) for v in touch.slip])


class Fuse(Motor):
    """Blows at 20 rad/s."""

    type: Literal["fuse"] = "fuse"

    def effort(self, drive, read):
        torque = drive.command * (1 + sqrt(20 - drive.rate))
        return Effort(torque, power=torque * drive.rate)


@pytest.mark.parametrize("method", ["auto", "dop853", "radau"])
def test_the_law_and_the_wheel_are_named(method):
    trundle.register(Brittle)
    with pytest.raises(
        NumericsError, match=r"at t = [\d.]+ s Brittle.push failed \(.*: math domain error.*wheels.left"
    ):
        trundle.simulate(trundle.derive(cart()), 10.0, {"left_motor.torque": lambda t: 10 * t}, method=method)


def test_the_motor_is_named():
    trundle.register(Fuse)
    robot = parse_robot(
        {
            "joints": {"j": {"type": "revolute", "axis": [0, 0, 1], "body": {"inertia": {"zz": 1.0}}}},
            "motors": {"m": {"type": "fuse", "drives": "j"}},
        }
    )
    model = trundle.derive(robot)
    with pytest.raises(NumericsError, match=r"at t = [\d.]+ s Fuse.effort failed"):
        trundle.simulate(model, 50.0, {"m.torque": 1.0})
    with pytest.raises(NumericsError, match=r"at t = 0 s (.|\n)*Fuse.effort failed"):
        trundle.simulate(model, 1.0, {"m.torque": 1.0}, initial={"j.rate": 30.0})
