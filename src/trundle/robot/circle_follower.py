"""A controller that holds a base on a circle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trundle.robot.component import Component, default
from trundle.robot.controllers import CONTROLLERS, Action, Sight, UnitOf, needs_two
from trundle.robot.kinds import Read
from trundle.robot.trackers import PoseReader
from trundle.robot.values import Angle, Length, Positive, Rate, Speed, problem
from trundle.scalars import absolute, atan2, cos, less, maximum, sin, sinc, sqrt, where

# Below this (m/s) a base has no course; where it points counts.
_SLOW = 1e-2


class Circle(Component):
    """A circle on the ground."""

    called: ClassVar[str] = "circle"

    center: tuple[Length, Length] = Field(description="Where its centre is: [x, y] (m).")
    radius: Positive[Length] = Field(description="Its radius (m).")
    clockwise: bool = Field(default=False, description="Whether it is driven clockwise. Default: no.")


class CircleFollower(PoseReader):
    """Holds a base on a circle: the turning rate by the distance from it and by the course, at a speed that is given.

    With e the distance from the circle to its left, ψ the angle from its tangent to the course, and the curvature c of
    the circle about the same centre through the base: ω = v c cos ψ − k_e e sin ψ/ψ − k_ψ ψ. The gains are those of
    the linear-quadratic regulator of ė = v ψ, ψ̇ = ω, whose weights are tolerances (Bryson's rule):
    k_e = Δω/Δe and k_ψ = √((Δω/Δψ)² + 2 |v| Δω/Δe), in closed form and for every speed.
    """

    tunable: ClassVar[tuple[str, ...]] = ("distance", "course", "turn")
    letters: ClassVar[Mapping[str, str]] = {"distance": "e", "course": "psi"}

    sources: ClassVar[tuple[str, ...]] = ("bryson1975",)

    type: Literal["circle"] = "circle"
    circle: Circle = Field(description="{center: [x, y], radius: R}.")
    speed: Speed = Field(description="How fast it goes (m/s); backwards where it is negative.")
    speed_to: str = Field(
        description="What takes the speed: another controller's reference, speed.reference."
    )
    turn_to: str = Field(description="What takes the turning rate: another controller's reference.")
    distance: Positive[Length] = default("0.1 m", "Tolerance of the distance (m), default 0.1 m.")
    course: Positive[Angle] = default("10 deg", "Tolerance of the course (rad), default 10 deg.")
    turn: Positive[Rate] = default(
        "1 rad/s", "Turning rate that may be spent on them (rad/s), default 1 rad/s."
    )

    @model_validator(mode="after")
    def _fits(self) -> CircleFollower:
        if self.speed_to == self.turn_to:
            message = f"{self.turn_to!r} can't take both the speed and the turning rate"
            hint = "give a controller to both: speed_to: speed.reference, turn_to: turn.reference"
            raise problem(message, hint, ("turn_to",))
        return self

    def reads_from(self) -> tuple[str, ...]:
        """The base's pose and velocity."""
        return (*self.pose_read, "v_x", "v_y")

    def acts_on(self) -> tuple[str, ...]:
        """What takes the speed, and what takes the turning rate."""
        return (self.speed_to, self.turn_to)

    def outputs(self) -> tuple[str, ...]:
        """How far it is off."""
        return ("distance", "course")

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Of its outputs."""
        return {"distance": "m", "course": "rad"}

    def cannot(self, mobility: int, steerability: int) -> str | None:
        """A speed and a turning rate are two velocities to be chosen at once."""
        return needs_two(mobility)

    def law(self, sight: Sight, read: Read) -> Action:
        """Speed and turning rate; within a tenth of the radius the curvature stays what it is there."""
        x, y, theta, v_x, v_y = (sight.read[name] for name in self.reads_from())
        way = -1 if self.circle.clockwise else 1
        center_x, center_y = map(read, self.circle.center)
        radius, speed = read(self.circle.radius), read(self.speed)
        out_x, out_y = x - center_x, y - center_y
        from_center = sight.named("rho", sqrt(out_x * out_x + out_y * out_y), "distance from the centre, of")
        off = sight.named("distance", way * (radius - from_center))
        # the course's angle to the tangent, from the velocity in the base's axes; backwards it is opposite to the base
        ahead = sight.named("sigma", where(less(speed, 0), -1, 1), "direction of travel, 1 ahead, for")
        slip = atan2(ahead * v_y, maximum(ahead * v_x, _SLOW))
        slip = sight.named("beta", slip, "angle from the base to its velocity, for")
        tangent = sight.named("phi", atan2(way * out_x, -way * out_y), "direction of the tangent, for")
        course = theta + slip - tangent
        course = sight.named("course", atan2(ahead * sin(course), ahead * cos(course)))
        size = absolute(speed)
        per_distance = sight.named("k_e", read(self.turn) / read(self.distance), "gain by the distance, of")
        per_course = sqrt((read(self.turn) / read(self.course)) ** 2 + 2 * size * per_distance)
        per_course = sight.named("k_psi", per_course, "gain by the course, of")
        curvature = sight.named("c", way / maximum(from_center, radius / 10), "curvature for")
        turn = size * curvature * cos(course) - per_distance * off * sinc(course) - per_course * course
        commands = {self.speed_to: speed, self.turn_to: turn}
        return Action(commands, outputs={"distance": off, "course": course})


CONTROLLERS.add(CircleFollower)
