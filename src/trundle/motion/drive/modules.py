"""Modules: the wheels on a base as kinematics sees them, and what a twist of the base asks of them.

A module stands at a place of the base and rolls along an angle α, both in the base's frame, at a speed s = R φ̇ (m/s,
negative where it rolls backward). With u = v + ω × r the base's velocity at its place and e = (cos α, sin α),
n = (−sin α, cos α), a wheel right on its pivot rolls without slip where s = e·u and n·u = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly, mounting
from trundle.mechanics.coupling import Gear
from trundle.mechanics.linear import dot
from trundle.mechanics.steering import STILL, velocity_at
from trundle.mechanics.wheels import WheelModel
from trundle.motion.drive.half_turns import chosen_halves
from trundle.scalars import Scalar, atan2, cos, is_zero, less, plus, sin, sqrt, times, where


@dataclass(frozen=True)
class Module:
    """A wheel on the base: its place (x, y), of its pivot where it has one (m), and `direction`, (cos, sin) of its
    `heading`, both in the base's frame; its `radius` (m).

    `pivots`: it can be turned; `offset`: its contact ahead and to the left of its pivot (m). `rollers`: the one
    direction, along and across, in which the ground can push a wheel with rollers.
    """

    name: str
    place: tuple[Scalar, Scalar]
    direction: tuple[Scalar, Scalar]
    radius: Scalar
    pivots: bool
    offset: tuple[Scalar, Scalar]
    rollers: tuple[Scalar, Scalar] | None = None

    @property
    def heading(self) -> Scalar:
        """Its angle without steering (rad)."""
        c, s = self.direction
        return 0.0 if is_zero(s) and is_zero(c - 1) else atan2(s, c)

    @property
    def trails(self) -> bool:
        """Whether its contact lies ahead of or behind its pivot (a caster, driven or not): from whatever angle it has,
        it turns as fast as the twist makes it.
        """
        return self.pivots and not is_zero(self.offset[0])

    @property
    def points(self) -> bool:
        """Whether it turns so as to roll along its place's velocity, so that a twist determines its angle."""
        return self.pivots and not self.trails

    def along(self, angle: Scalar) -> tuple[Scalar, Scalar]:
        """(cos, sin) of an angle; of one that can't turn those of its heading, whatever the angle."""
        return (cos(angle), sin(angle)) if self.pivots else self.direction

    def velocity(self, twist: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
        """u = v + ω × r, in the base's axes (m/s)."""
        return velocity_at(self.place, twist)

    def slip(
        self,
        direction: tuple[Scalar, Scalar],
        twist: Sequence[Scalar],
        speed: Scalar,
        steering_rate: Scalar = 0,
    ) -> list[Scalar]:
        """The velocities of its contact in the directions that the ground can push it (m/s), which rolling makes zero.

        w = u + (ω + δ̇) (c₁ n − c₂ e) − s e with c the offset: its two components in the base's axes, or of a wheel with
        rollers the one along (a, b), a e·w + b n·w.
        """
        c, s = direction
        (x, y), (ahead, left) = self.velocity(twist), self.offset
        along = plus(times(twist[2] + steering_rate, -left), -speed)
        across = times(twist[2] + steering_rate, ahead)
        x, y = plus(x, dot((along, across), (c, -s))), plus(y, dot((along, across), (s, c)))
        if self.rollers is None:
            return [x, y]
        a, b = self.rollers
        return [plus(times(a, dot((c, s), (x, y))), times(b, dot((-s, c), (x, y))))]

    def rolling(self, direction: tuple[Scalar, Scalar], twist: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
        """The speed (m/s) and, of one that trails, the rate of its angle (rad/s) at which a twist makes it roll.

        What `slip` calls w is zero along the wheel (along its rollers' axis), of one that trails also across. Of other
        wheels that steer the rate is not in the twist but in its rate: for their speed the angle counts as held.
        """
        along, across = turned(self.velocity(twist), direction)
        ahead, left = self.offset
        rate: Scalar = -across / ahead - twist[2] if self.trails else 0
        along = along - times(twist[2] + rate, left)
        if self.rollers is None:
            return along, rate
        a, b = self.rollers
        return along + times(b / a, across), rate

    def rates(
        self, direction: tuple[Scalar, Scalar], twist: Sequence[Scalar], twist_rate: Sequence[Scalar]
    ) -> tuple[Scalar, Scalar, Scalar]:
        """δ̇ (rad/s), ṡ (m/s²), and of a wheel beside its pivot δ̈ (rad/s²), at the angle at which it rolls.

        n·u = 0 differentiated is δ̇ = n·u̇/e·u, and again, with the twist's second derivative 0, δ̈ = −2 δ̇ e·u̇/e·u. The
        wheel that stands still has no rate that would keep it rolling unless it speeds up along its angle: then 0,
        else infinite. One that trails follows c₁ (ω + δ̇) = −n·u.
        """
        (along, across), (faster, aside) = (
            turned(self.velocity(twist), direction),
            turned(self.velocity(twist_rate), direction),
        )
        ahead, left = self.offset
        rate: Scalar = 0
        acceleration: Scalar = 0
        if self.trails:
            rate = -across / ahead - twist[2]
            acceleration = (rate * along - aside) / ahead - twist_rate[2]
            faster = faster + rate * across
        elif self.points:
            still = 1 - less(STILL**2 * (faster * faster + aside * aside), aside * aside)
            rate = where(still, 0, aside / along)
            acceleration = 0 if is_zero(left) else where(still, 0, -2 * rate * faster / along)
        faster = faster - times(twist_rate[2] + acceleration, left)
        if self.rollers is not None:
            a, b = self.rollers
            faster = faster + times(b / a, aside)
        return rate, faster, acceleration


def turned(vector: Sequence[Scalar], direction: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """Components (e·u, n·u) of a vector along a direction and across it."""
    c, s = direction
    return c * vector[0] + s * vector[1], c * vector[1] - s * vector[0]


def pointed(module: Module, twist: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Angle, speed and steering rate of a wheel that rolls forward along its velocity, its angle within (−π, π].

    One that stands still, and one whose angle doesn't follow from the twist, has the angle that it has unsteered.
    """
    if not module.points:
        return module.heading, *module.rolling(module.direction, twist)
    x, y = module.velocity(twist)
    angle = where(_moves((x, y), twist), atan2(y, x), module.heading)
    if is_zero(module.offset[1]):
        return angle, sqrt(x * x + y * y), 0.0  # without its sine and cosine
    return angle, *module.rolling((cos(angle), sin(angle)), twist)


def followed(
    modules: Sequence[Module], twist: Sequence[Scalar], angles: Sequence[Scalar], speeds: Sequence[Scalar]
) -> list[tuple[Scalar, Scalar, Scalar]]:
    """Angle, speed and steering rate of all wheels at a twist, on from the angles and speeds that they have.

    Angles go on without a jump, by half turns chosen for all (see `half_turns`). A wheel that stands still holds its
    angle.
    """
    angles, steered = list(angles), [k for k, module in enumerate(modules) if module.points]
    turns: list[Scalar] = []
    moving: list[Scalar] = []
    reverses: list[Scalar] = []
    for k in steered:
        velocity = modules[k].velocity(twist)
        along, across = turned(velocity, (cos(angles[k]), sin(angles[k])))
        side = 1 - 2 * less(along, 0)
        moving.append(_moves(velocity, twist))
        turns.append(where(moving[-1], atan2(side * across, side * along), 0))
        reverses.append(less(side * speeds[k], 0))
    for k, turn, half in zip(steered, turns, chosen_halves(turns, moving, reverses), strict=True):
        angles[k] = angles[k] + turn + math.pi * half
    return [
        (angle, *module.rolling((cos(angle), sin(angle)), twist))
        for module, angle in zip(modules, angles, strict=True)
    ]


def _moves(velocity: Sequence[Scalar], twist: Sequence[Scalar]) -> Scalar:
    """1 where a wheel's velocity is more than the rounding of the twist that it comes from, else 0."""
    (x, y), (v_x, v_y, omega) = velocity, twist
    return less(STILL**2 * (v_x * v_x + v_y * v_y + omega * omega), x * x + y * y)


def modules_of(assembly: Assembly) -> tuple[Module, ...]:
    """The modules of an assembly, in the scalars that it is in; wheels on trailers and arms, and balls, are none.

    Raises InputError where gears tie the steering of one to something else. An Ackermann linkage doesn't: its wheels
    point at the centre of rotation, too.
    """
    frames = mounting(assembly)
    wheels = [wheel for wheel in assembly.wheels if wheel.grips and wheel.on_base]
    steering = {wheel.steering: wheel.name for wheel in wheels if wheel.steering is not None}
    for gear in assembly.couplings:
        tied = [steering[axis.column] for axis in (*gear.followers, *gear.leaders) if axis.column in steering]
        if tied and isinstance(gear, Gear):
            raise InputError(
                f"the gear '{gear.name}' ties the steering of '{tied[0]}': no twist chooses its angle alone",
                key=f"robot.couplings.{gear.name}",
                hint="trundle.roll moves such a robot by the angle that the gears follow",
            )
    return tuple(_module(wheel, frames[wheel.link].rotation) for wheel in wheels)


def _module(wheel: WheelModel, rotation: Sequence[Sequence[Scalar]]) -> Module:
    """A wheel as a module, by the rotation (3, 3) of the link that it stands on: its first column is the heading.

    Raises InputError where all rollers' axes lie along the axle.
    """
    rollers = [(roller.along, roller.across) for roller in wheel.directions]
    if all(is_zero(along) for along, _ in rollers):
        raise InputError(
            "the rollers' axes lie along the axle: turning the wheel moves nothing",
            key=f"robot.wheels.{wheel.name}.roller_angle",
            hint="give another roller_angle, such as 45 deg",
        )
    c, s = rotation[0][0], rotation[1][0]
    only = rollers[0] if len(rollers) == 1 else None
    (x, y), (ahead, left) = wheel.position, wheel.offset
    if wheel.steering is not None and not wheel.noun.steered:  # its `position` is that of its contact
        x, y = x - c * ahead + s * left, y - s * ahead - c * left
    return Module(wheel.name, (x, y), (c, s), wheel.radius, wheel.steering is not None, wheel.offset, only)
