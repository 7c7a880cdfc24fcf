"""The tracker of any base on wheels: a twist that leads it back to a moving pose, and what its motors are told for it.

reference, pose ──► twist (laws of `trackers.py`) ──► the base's own inverse dynamics ──► inputs of motors
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import PrivateAttr

from trundle.errors import InputError
from trundle.robot.component import default
from trundle.robot.controllers import CONTROLLERS, DrivenBase, Sight, UnitOf
from trundle.robot.kinds import Read
from trundle.robot.trackers import (
    TWIST,
    PoseError,
    PoseTracker,
    Twist,
    in_base,
    led_back,
    named_in,
    regulated,
)
from trundle.robot.values import Angle, Length, Positive, Rate, Speed
from trundle.scalars import Scalar, absolute, clamp, maximum

TWIST_RATE = tuple(f"{name}_rate" for name in TWIST)
# Of the ground on a wheel, ahead and to its left, as a run's outputs are called.
FORCE = ("traction", "side_force")


class Tracker(PoseTracker):
    """Leads any base on wheels to a moving pose by its motors' own inputs, voltages, torques, rates or angles.

    A base with fixed wheels takes the twist of the `unicycle` tracker, at the middle of their axle and within what the
    steering of others allows; any other base that of the `holonomic` one. Wheels are steered along their velocities, by
    the nearer half turn. Motors get the commands for the torques that the robot's own inverse dynamics asks of them, at
    this twist and the reference's rate of it.
    """

    tunable: ClassVar[tuple[str, ...]] = ("distance", "heading", "speed", "turn", "steering")
    called: ClassVar[str] = "tracker"

    type: Literal["tracker"] = "tracker"
    distance: Positive[Length] = default("0.1 m", "Tolerance of the distance (m), default 0.1 m.")
    heading: Positive[Angle] = default("10 deg", "Tolerance of the heading (rad), default 10 deg.")
    speed: Positive[Speed] = default(
        "0.3 m/s", "Speed that may be spent on the distance (m/s), default 0.3 m/s."
    )
    turn: Positive[Rate] = default(
        "1 rad/s", "Turning rate that may be spent on the heading (rad/s), default 1 rad/s."
    )
    steering: Positive[Angle] = default(
        "35 deg",
        "The greatest steering angle beside fixed wheels (rad), default 35 deg; more where the reference has more.",
    )
    _base: DrivenBase | None = PrivateAttr(default=None)

    def on(self, base: DrivenBase) -> Tracker:
        """The same for a base."""
        super().on(base)
        placed = self.model_copy()
        object.__setattr__(placed, "_base", base)
        return placed

    @property
    def base(self) -> DrivenBase:
        """The base that it leads."""
        if self._base is None:
            raise InputError("a tracker's inputs are those of a robot's motors: put it into a robot")
        return self._base

    def reads_from(self) -> tuple[str, ...]:
        """The base's pose, and what its motors and wheels tell."""
        return self.pose_read if self._base is None else (*self.pose_read, *self._base.reads)

    def references(self) -> tuple[str, ...]:
        """Where the base should be, its twist there, the rate of that, and the ground's forces on wheels that slip."""
        slips = () if self._base is None else self._base.slips
        return (*super().references(), *TWIST_RATE, *(f"{name}.{of}" for name in slips for of in FORCE))

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Of references and outputs."""
        rates = {"v_x_rate": "m/s^2", "v_y_rate": "m/s^2", "omega_rate": "rad/s^2"}
        return {**dict.fromkeys(self.references(), "N"), **super().units(unit_of), **rates}

    def acts_on(self) -> tuple[str, ...]:
        """The motors' inputs."""
        return () if self._base is None else self._base.drives

    def cannot(self, mobility: int, steerability: int) -> str | None:
        """The base has told it."""
        return None

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """What the motors are told."""
        twist, twist_rate, going = (self._along if self.base.along else self._any_way)(off, sight, read)
        quickest = math.inf if self.period is None else 1 / (4 * self.period.number)
        wished = {
            name: (sight.references[f"{name}.{FORCE[0]}"], sight.references[f"{name}.{FORCE[1]}"])
            for name in self.base.slips
        }
        commands = self.base.commands(
            twist, twist_rate, sight.read, read, quickest, wished=wished, going=going
        )
        return tuple(commands[name] for name in self.acts_on())

    def _any_way(self, off: PoseError, sight: Sight, read: Read) -> tuple[Twist, Twist, Twist]:
        """The twist of a base that goes any way, its rate on the reference, and that one's twist."""
        twist, rate = (named_in(sight.references, of) for of in (TWIST, TWIST_RATE))
        tolerances = (self.distance, self.heading, self.speed, self.turn)
        return led_back(off, twist, *map(read, tolerances)), in_base(off, rate), in_base(off, twist)

    def _along(self, off: PoseError, sight: Sight, read: Read) -> tuple[Twist, Twist, Twist]:
        """The twist of a base that goes along its heading, its rate on the reference, and that one's twist."""
        (v_x, v_y, omega), (a_x, a_y, alpha) = (named_in(sight.references, of) for of in (TWIST, TWIST_RATE))
        (x, y), (c, s) = self.base.axle(read)
        # how far the axle's middle is off, in axes along the fixed wheels
        to_x = off.ahead + (off.cos * x - off.sin * y) - x
        to_y = off.left + (off.sin * x + off.cos * y) - y
        axle = off._replace(ahead=c * to_x + s * to_y, left=c * to_y - s * to_x)
        forward = c * (v_x - omega * y) + s * (v_y + omega * x)
        gains = (self.distance, self.distance, self.heading, self.speed, self.turn)
        speed, turn = regulated(axle, forward, omega, map(read, gains))
        sharpest = self.base.sharpest(read, read(self.steering))
        if sharpest is not None:
            turn = clamp(turn, maximum(sharpest * absolute(speed), absolute(omega)))
        faster = c * (a_x - alpha * y) + s * (a_y + alpha * x)

        def at_origin(along: Scalar, turning: Scalar) -> Twist:
            """The twist of the base by how its axle's middle goes, or its rate."""
            return c * along + turning * y, s * along - turning * x, turning

        return at_origin(speed, turn), at_origin(faster, alpha), at_origin(forward, omega)


CONTROLLERS.add(Tracker)
