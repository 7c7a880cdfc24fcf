"""Modules: the wheels on a base as kinematics sees them, and what a twist of the base asks of them.

A module stands at a place of the base and rolls along an angle α, both in the base's frame, at a speed s = R φ̇ (m/s,
negative where it rolls backward). With u = v + ω × r the base's velocity at its place and e = (cos α, sin α),
n = (−sin α, cos α), a wheel right on its pivot rolls without slip where s = e·u and n·u = 0.

Half turns: a wheel on a pivot rolls along its velocity either way, so it may turn by t or by t ± 180°, within its
range. By itself it would take the way below 90°; but of two wheels that have to turn by 88° and 92° one would then turn
left and the other right, which yaws the robot on the way. So ways up to `MARGIN` longer than the shortest are
considered, and of these the one where the turns differ least is taken: the points t_i on a circle of 180° are cut where
the gap between them is widest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly, mounting
from trundle.mechanics.coupling import Tie
from trundle.mechanics.linear import dot
from trundle.mechanics.steering import STILL, velocity_at
from trundle.mechanics.wheels import WheelModel
from trundle.scalars import (
    Scalar,
    absolute,
    atan2,
    cos,
    is_zero,
    less,
    maximum,
    minimum,
    plus,
    sin,
    sqrt,
    times,
    where,
)

# How much farther than need be a wheel may turn for the sake of the others, or so as not to reverse (rad). Wheels whose
# angles lie within it of one another always turn the same way. It is what teams' drives need at their quickest yaw
# while driving straight, and costs at most 0.2 s at a slow steering rate of 2 rad/s.
MARGIN = math.radians(20.0)
# What a reversal and a longer turn count (rad) between choices that are as good otherwise.
_REVERSAL, _LONGER = 1e-6, 1e-9
# The cost of a choice that is barred (rad): above any difference between turns, 3π, with all that reversals add.
_NEVER = 1e3
SLACK = 1e-9
"""An angle may be beyond an end of its range by this (rad): ranges are written in degrees, angles come out of sums."""
# Whole periods that an angle may be moved by to come into its range: four turns either way, as cables allow at most.
_PERIODS = np.arange(-8, 9)[:, None]
ALIGNED = 1e-12
"""A turn below this needs no time of its own (rad): it is the rounding of an angle of a few turns."""


def turns_into_range(
    turns: FloatArray,
    now: FloatArray,
    ranges: FloatArray,
    period: float = math.pi,
    swing: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """The least turns (m,) of wheels from where they are `now` that differ by whole periods and end in range (2, m).

    A period is half a turn, where wheels may roll backward, or a whole one. `swing`: the least and the greatest that a
    wheel turns from there on, which the range has to hold, too. NaN where a range holds none of them.
    """
    near = turns - period * np.round(turns / period)
    options = near + period * _PERIODS
    low, high = (np.zeros_like(turns),) * 2 if swing is None else swing
    ends = now + options
    outside = (ends + np.minimum(low, 0) < ranges[0] - SLACK) | (
        ends + np.maximum(high, 0) > ranges[1] + SLACK
    )
    sizes = np.where(outside, np.inf, np.abs(options))
    best = sizes.argmin(axis=0)[None]
    least = np.take_along_axis(options, best, axis=0)[0]
    return np.where(np.isinf(np.take_along_axis(sizes, best, axis=0)[0]), np.nan, least)


def chosen_halves(
    turns: Sequence[Scalar], moving: Sequence[Scalar], reverses: Sequence[Scalar]
) -> list[Scalar]:
    """The half turns (−1, 0 or 1) that the wheels make beyond their shortest turns t_i, |t_i| ≤ π/2.

    `moving`: 1 where the wheel has a velocity to follow, else 0; `reverses`: 1 where the shortest turn changes the sign
    of its speed. Of the choices whose largest turn is at most `MARGIN` above the smallest possible one, the one with
    the least difference between turns, then with the fewest reversals.
    """
    none: list[Scalar] = [0] * len(turns)
    shortest = _largest(turns, moving)
    best, halves = _cost(turns, moving, reverses, none, shortest + MARGIN), none
    # the circle is cut above wheel k or below it: wheels up to k go half a turn on, or those from k on half a turn back
    for k, edge in enumerate(turns):
        low = [1 if i == k else moving[i] * (1 - less(edge, turn)) for i, turn in enumerate(turns)]
        high = [-1 if i == k else moving[i] * (less(turn, edge) - 1) for i, turn in enumerate(turns)]
        for tried in (low, high):
            cost = _cost(turns, moving, reverses, tried, shortest + MARGIN)
            cost = where(moving[k], cost, _NEVER)
            better = less(cost, best)
            best = minimum(best, cost)
            halves = [where(better, new, old) for new, old in zip(tried, halves, strict=True)]
    return halves


def _largest(turns: Sequence[Scalar], moving: Sequence[Scalar]) -> Scalar:
    """The largest turn of those wheels that move (rad)."""
    worst: Scalar = 0
    for turn, moves in zip(turns, moving, strict=True):
        worst = maximum(worst, absolute(turn) * moves)
    return worst


def _cost(
    turns: Sequence[Scalar],
    moving: Sequence[Scalar],
    reverses: Sequence[Scalar],
    halves: Sequence[Scalar],
    bound: Scalar,
) -> Scalar:
    """What a choice of half turns costs (rad): the difference between the turns; `_NEVER` beyond the bound."""
    made = [turn + math.pi * half for turn, half in zip(turns, halves, strict=True)]
    highest: Scalar = -math.pi
    lowest: Scalar = math.pi
    count: Scalar = 0
    for turn, moves, half, reverse in zip(made, moving, halves, reverses, strict=True):
        highest = maximum(highest, where(moves, turn, -math.pi))
        lowest = minimum(lowest, where(moves, turn, math.pi))
        count = count + moves * absolute(reverse - absolute(half))
    largest = _largest(made, moving)
    cost = highest - lowest + _REVERSAL * count + _LONGER * largest
    return where(less(bound, largest), _NEVER, cost)


@dataclass(frozen=True)
class Module:
    """A wheel on the base: its place (x, y), of its pivot where it has one (m), and `direction`, (cos, sin) of its
    `heading`, both in the base's frame; its `radius` (m).

    `pivots`: it can be turned; `offset`: its contact ahead and to the left of its pivot (m). `rollers`: the one
    direction, along and across, in which the ground can push a wheel with rollers. `slips`: whether its contact gives
    friction against whatever slip.
    """

    name: str
    place: tuple[Scalar, Scalar]
    direction: tuple[Scalar, Scalar]
    radius: Scalar
    pivots: bool
    offset: tuple[Scalar, Scalar]
    rollers: tuple[Scalar, Scalar] | None = None
    slips: bool = False

    @property
    def heading(self) -> Scalar:
        """Its angle without steering (rad)."""
        c, s = self.direction
        return 0.0 if is_zero(s) and is_zero(c - 1) else atan2(s, c)

    @property
    def is_caster(self) -> bool:
        """Whether its contact lies ahead of or behind its pivot (a caster, driven or not): from whatever angle it has,
        it turns as fast as the twist makes it.
        """
        return self.pivots and not is_zero(self.offset[0])

    @property
    def is_steered(self) -> bool:
        """Whether it turns so as to roll along its place's velocity, so that a twist determines its angle."""
        return self.pivots and not self.is_caster

    @property
    def is_fixed(self) -> bool:
        """Whether it rolls along its heading alone: it neither turns nor has rollers."""
        return not self.pivots and self.rollers is None

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
        rate: Scalar = -across / ahead - twist[2] if self.is_caster else 0
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
        if self.is_caster:
            rate = -across / ahead - twist[2]
            acceleration = (rate * along - aside) / ahead - twist_rate[2]
            faster = faster + rate * across
        elif self.is_steered:
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
    if not module.is_steered:
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
    angles, steered = list(angles), [k for k, module in enumerate(modules) if module.is_steered]
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

    Raises InputError where gears or cams tie the steering of one to something else. An Ackermann linkage doesn't: its
    wheels point at the centre of rotation, too.
    """
    frames = mounting(assembly)
    wheels = [wheel for wheel in assembly.wheels if wheel.grips and wheel.on_base]
    steering = {wheel.steering: wheel.name for wheel in wheels if wheel.steering is not None}
    for tie in assembly.couplings:
        tied = [steering[axis.column] for axis in (*tie.followers, *tie.leaders) if axis.column in steering]
        if tied and isinstance(tie, Tie):
            raise InputError(
                f"the {tie.what} '{tie.name}' ties the steering of '{tied[0]}': no twist chooses its angle alone",
                key=f"robot.couplings.{tie.name}",
                hint=f"trundle.roll moves such a robot by the angle that the {tie.what}s follow",
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
    if wheel.steering is not None and not wheel.component.is_steered:  # its `position` is that of its contact
        x, y = x - c * ahead + s * left, y - s * ahead - c * left
    slips = wheel.law.drag(1.0, wheel.read) is not None
    return Module(
        wheel.name, (x, y), (c, s), wheel.radius, wheel.steering is not None, wheel.offset, only, slips
    )
