"""Couplings: coordinates that are functions of others, q_f = f(q_l): gears, cams, Ackermann linkages.

Their positions are put in place of the followers' coordinates, so they hold exactly; their rates are the rows
ν_f − ∂f/∂q_l ν_l = 0, whose multipliers are the force on its follower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from trundle.mechanics.joints import Turn
from trundle.mechanics.linear import dot
from trundle.mechanics.quantities import Quantity
from trundle.robot.curves import Curve
from trundle.scalars import Scalar, atan2, cos, is_zero, sin, sqrt


class ActionAxis(NamedTuple):
    """One thing that a motor or an element can act on: the column of its rate, the name of its coordinate, and whether
    it slides.
    """

    column: int
    coordinate: str
    slides: bool = False


class Followed(NamedTuple):
    """Where a follower is: its coordinate, and what poses its joint (the coordinate, or its sine and cosine)."""

    value: Scalar
    posed_by: Scalar | Turn


@dataclass(frozen=True)
class Tie:
    """What makes one coordinate follow others."""

    name: str
    follower: ActionAxis
    leaders: tuple[ActionAxis, ...]

    @property
    def followers(self) -> tuple[ActionAxis, ...]:
        return (self.follower,)

    @property
    def torque(self) -> Quantity:
        """What it puts on its follower (N m, or N on one that slides)."""
        return Quantity("torque", "N" if self.follower.slides else "N m", "force").of(self.name)


@dataclass(frozen=True)
class Gear(Tie):
    """One coordinate that follows others by constant ratios: q_f = Σ r_k q_k + offset."""

    ratios: tuple[Scalar, ...] = ()
    offset: Scalar = 0

    what: ClassVar[str] = "gear"
    bends: ClassVar[bool] = False

    def follow(self, q: Sequence[Scalar]) -> list[Followed]:
        """The follower's coordinate at the leaders' coordinates."""
        value: Scalar = self.offset
        for ratio, leader in zip(self.ratios, q, strict=True):
            value = ratio * leader if is_zero(value) else value + ratio * leader
        return [Followed(value, value)]

    def slopes(self, _q: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """∂q_f/∂q_k: the ratios."""
        return [self.ratios]

    def slope_rates(self, _q: Sequence[Scalar], _rates: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """None: ratios stay."""
        return [(0,) * len(self.ratios)]


@dataclass(frozen=True)
class TieSpring:
    """A spring and a damper between coordinates, c = Σ share q − offset: τ_k = −share_k (stiffness c + damping ċ)."""

    name: str
    shares: tuple[tuple[ActionAxis, Scalar], ...]
    offset: Scalar
    stiffness: Scalar
    damping: Scalar

    def stretch(self, values: Mapping[str, Scalar]) -> Scalar:
        """c at coordinates by name."""
        total = 0 if is_zero(self.offset) else -self.offset
        for axis, share in self.shares:
            total = total + share * values[axis.coordinate]
        return total

    def rate(self, nu: Sequence[Scalar]) -> Scalar:
        """ċ at the speeds."""
        return dot([share for _, share in self.shares], [nu[axis.column] for axis, _ in self.shares])


@dataclass(frozen=True)
class Cam(Tie):
    """One coordinate that follows another by a curve: q_f = f(q_l).

    In formulas `letters` stand for f and f'.
    """

    curve: Curve
    letters: tuple[Scalar, ...] = ()

    what: ClassVar[str] = "cam"
    bends: ClassVar[bool] = True

    def follow(self, q: Sequence[Scalar]) -> list[Followed]:
        """The follower's coordinate f at the leader's."""
        value = self.letters[0] if self.letters else self.curve.at(q[0])
        return [Followed(value, value)]

    def slopes(self, q: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """f'."""
        return [(self.letters[1] if self.letters else self.curve.at(q[0], 1),)]

    def slope_rates(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """f'' times the leader's rate."""
        return [(self.curve.at(q[0], 2) * rates[0],)]


@dataclass(frozen=True)
class Linkage:
    """Steered wheels whose axles meet on the fixed axle's line: tan δ_i = sin δ/(cos δ − (y_i/L) sin δ).

    δ is the angle of the bicycle's wheel at the middle, a coordinate of its own behind the tree's (`axis`); L
    (`wheelbase`, m) how far that wheel stands ahead of the fixed axle (negative where the rear wheels steer), y_i
    (`offsets`, m) the wheels' places beside the middle; `armature` its drive's inertia. Dividing by L, whatever its
    sign, keeps the wheels straight at δ = 0. In formulas `angles` and `rates` are letters that stand for the wheels'
    δ_i and dδ_i/dδ, which are then written once.
    """

    name: str
    axis: ActionAxis
    followers: tuple[ActionAxis, ...]
    offsets: tuple[Scalar, ...]
    wheelbase: Scalar
    armature: Scalar = 0
    angles: tuple[Scalar, ...] = ()
    rates: tuple[Scalar, ...] = ()

    what: ClassVar[str] = "linkage"
    bends: ClassVar[bool] = True

    @property
    def leaders(self) -> tuple[ActionAxis, ...]:
        return (self.axis,)

    @property
    def column(self) -> int:
        return self.axis.column

    def ahead(self, delta: Scalar) -> list[Scalar]:
        """cos δ − (y_i/L) sin δ: with sin δ, the direction in which the wheels point."""
        s, c = sin(delta), cos(delta)
        return [c - y / self.wheelbase * s for y in self.offsets]

    def lead(self, angle: Scalar) -> Scalar:
        """δ (rad) from the angle of its first wheel: cot δ = cot δ_i + y_i/L."""
        s, c = sin(angle), cos(angle)
        return atan2(s, c + self.offsets[0] / self.wheelbase * s)

    def follow(self, q: Sequence[Scalar]) -> list[Followed]:
        """Each wheel's angle δ_i (rad), and its cosine and sine."""
        if self.angles:
            return [Followed(angle, Turn(cos(angle), sin(angle))) for angle in self.angles]
        s, followed = sin(q[0]), []
        for ahead in self.ahead(q[0]):
            length = sqrt(ahead * ahead + s * s)
            turn = Turn(ahead / length, s / length)
            followed.append(Followed(atan2(turn.sin, turn.cos), turn))
        return followed

    def slopes(self, q: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """dδ_i/dδ = 1/((cos δ − (y_i/L) sin δ)² + sin² δ)."""
        if self.rates:
            return [(rate,) for rate in self.rates]
        s = sin(q[0])
        return [(1 / (ahead * ahead + s * s),) for ahead in self.ahead(q[0])]

    def slope_rates(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """d²δ_i/dδ² times δ̇, of 1/D with D = (cos δ − (y_i/L) sin δ)² + sin² δ."""
        s, c, turned = sin(q[0]), cos(q[0]), []
        for y, ahead in zip(self.offsets, self.ahead(q[0]), strict=True):
            size = ahead * ahead + s * s
            grown = 2 * (c * s - ahead * (s + y / self.wheelbase * c))
            turned.append((-grown / (size * size) * rates[0],))
        return turned


# What rows of ties are called.
TIES = (Gear.what, Cam.what)
Transmission = Gear | Cam | Linkage


def in_order(couplings: Iterable[Transmission]) -> tuple[Transmission, ...]:
    """The couplings so that they come after those that move what they follow; there must be no circle."""
    waiting = {coupling.name: coupling for coupling in couplings}
    ordered: list[Transmission] = []
    while waiting:
        moved = {axis for coupling in waiting.values() for axis in coupling.followers}
        ready = [name for name, coupling in waiting.items() if not moved.intersection(coupling.leaders)]
        if not ready:
            raise ValueError(f"couplings in a circle: {', '.join(waiting)}")  # the reader refuses it
        ordered += [waiting.pop(name) for name in ready]
    return tuple(ordered)


def lead_on(
    couplings: Sequence[Transmission],
    velocities: MutableMapping[int, Scalar],
    positions: MutableMapping[int, Scalar],
) -> None:
    """Add what couplings make of rates and of angles that steer, by columns: first of those that follow others, then of
    those that others follow.
    """
    for coupling in couplings:
        if isinstance(coupling, Gear) and all(axis.column in velocities for axis in coupling.leaders):
            pairs = zip(coupling.ratios, coupling.leaders, strict=True)
            shares = [ratio * velocities[leader.column] for ratio, leader in pairs]
            velocities.setdefault(coupling.follower.column, sum(shares[1:], shares[0]))
    for coupling in reversed(couplings):
        follower = coupling.followers[0].column
        if isinstance(coupling, Linkage) and follower in positions:
            positions[coupling.column] = coupling.lead(positions[follower])
        elif isinstance(coupling, Gear) and len(coupling.leaders) == 1:
            leader = coupling.leaders[0].column
            if follower in velocities:
                velocities.setdefault(leader, velocities[follower] / coupling.ratios[0])
            if follower in positions:
                positions.setdefault(leader, (positions[follower] - coupling.offset) / coupling.ratios[0])
