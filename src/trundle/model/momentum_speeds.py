"""The speeds that momenta mean where a step over ground ends, and a guard for flights of few steps a turn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trundle.mechanics.linear import dot, solve_positive, transpose
from trundle.model.mechanism import Mechanism
from trundle.model.moving import extended_mass
from trundle.model.plant import REMEMBERED
from trundle.scalars import Rows, Scalar, less, maximum, minimum, minus, plus, sqrt, times, where
from trundle.spatial.vectors import Vector, add, cross
from trundle.spatial.vectors import dot as dot3

if TYPE_CHECKING:
    from trundle.model.momentum_step import MomentumStep

# The base's speeds stand first: its origin's velocity, then its rate, in its own axes.
BASE = 6
# The energy about the centre of mass where the last step ended.
ENERGY = f"{REMEMBERED}energy"


class EndSpeeds:
    """The speeds that a step's momenta mean at a configuration, where it ends.

    linear, angular : P and Π in base axes there
    """

    def __init__(
        self, step: MomentumStep, end: Mechanism, free: Sequence[Scalar], linear: Vector, angular: Vector
    ) -> None:
        self.step, self.motion, self.end, self.free = step, step.motion, end, free
        self.linear, self.angular = linear, angular
        self.rows = extended_mass(end.assembly, end.at)
        self.mass = self.fold(transpose(self.fold(self.rows)))

    def fold(self, rows: Rows) -> Rows:
        """Rows over all speeds as rows over those that follow no others, there."""
        return self.motion.folded(rows, self.end.at)

    @cached_property
    def relative(self) -> list[Scalar]:
        """What a joint's row has of p_s, relative to the centre of mass, over the speeds that follow no others."""
        motion, step = self.motion, self.step
        nu = motion.all_speeds(self.free)
        (momenta,) = motion.folded([[dot(row, nu) for row in step.rows]])
        linear = three([dot(row, nu) for row in step.rows[:3]])
        (carried,) = motion.folded([step.along_center(linear)])
        return [minus(m, c) for m, c in zip(momenta, carried, strict=True)]

    @cached_property
    def momenta(self) -> list[Scalar]:
        """Fᵀ M ν there, over the speeds that follow no others."""
        inverse = 1 / self.mass[0][0]
        carried = [times(inverse, dot(column, self.linear)) for column in transpose(self.mass[:3])]
        about = add(self.angular, cross(center_of(self.mass), self.linear))
        joints = [plus(r, c) for r, c in zip(self.relative[BASE:], carried[BASE:], strict=True)]
        return [*self.linear, *about, *joints]

    @cached_property
    def solved(self) -> list[Scalar]:
        """ν there, over the speeds that follow no others; held ones as they are held."""
        return self.motion.filled(self._with_mass(self.momenta))

    def _with_mass(self, momenta: Sequence[Scalar], places: Sequence[int] | None = None) -> list[Scalar]:
        """M⁻¹ p over the speeds that are sought, or over some of them, the others at rest."""
        motion = self.motion
        sought, held = motion.loose if places is None else places, motion.held_free
        right = [[minus(momenta[i], dot([self.mass[i][k] for k in held], [*held.values()]))] for i in sought]
        return [row[0] for row in solve_positive([[self.mass[i][j] for j in sought] for i in sought], right)]

    @cached_property
    def speeds(self) -> dict[str, Scalar]:
        """By name, as they are shown."""
        nu = self.solved
        if self.step.joints:
            nu = [plus(slow, kick) for slow, kick in zip(self.guarded[0], self._kicked, strict=True)]
        return dict(zip(self.motion.speeds, nu, strict=True))

    @cached_property
    def memory(self) -> dict[str, Scalar]:
        """What the next step has to know of joints and of held speeds."""
        nu = [*self.speeds.values()]
        kicks = {
            name: dot(self.mass[place], self._kicked)
            if place in self.step.joints
            else minus(dot(self.mass[place], nu), self.momenta[place])
            for place, name in self.step.kicked.items()
        }
        return kicks | ({ENERGY: self.guarded[1]} if self.step.joints else {})

    @cached_property
    def _kicks(self) -> list[Scalar]:
        """Half a step's ∂ℓ/∂s there."""
        nu = self.motion.all_speeds(self.guarded[0], self.end.at)
        (forces,) = self.fold([self.step.joint_forces(self.end, nu, self.rows)])
        share = self.step.fading * self.motion.dt / 2
        return [times(share, f) if i in self.step.joints else 0 for i, f in enumerate(forces)]

    @cached_property
    def _kicked(self) -> list[Scalar]:
        """What the kicks change of the speeds."""
        sought = self.motion.loose
        right = [[self._kicks[i]] for i in sought]
        change = solve_positive([[self.mass[i][j] for j in sought] for i in sought], right)
        places = dict(zip(sought, (row[0] for row in change), strict=True))
        return [places.get(i, 0) for i in range(len(self.motion.free))]

    def energy(self, nu: Sequence[Scalar]) -> Scalar:
        """Of the motion about the centre of mass (J)."""
        whole = dot(nu, [dot(row, nu) for row in self.mass]) / 2
        return whole - dot3(self.linear, self.linear) / (2 * self.mass[0][0])

    @cached_property
    def locked(self) -> list[Scalar]:
        """The speeds there if joints stood still, at the same momenta of all else."""
        motion = self.motion
        moving = [place for place in motion.loose if place not in self.step.joints]
        found = dict(zip(moving, self._with_mass(self.momenta, moving), strict=True))
        return [motion.held_free.get(place, found.get(place, 0)) for place in range(len(motion.free))]

    @cached_property
    def begun(self) -> Scalar:
        """The energy about the centre of mass before the step (J), without the kick of what is shown."""
        motion, step = self.motion, self.step
        mass, nu = motion.folded(transpose(motion.folded(step.rows))), motion.before_free
        linear = three(step.started[:3])
        first = (dot(nu, [dot(row, nu) for row in mass]) - dot3(linear, linear) / step.mass) / 2
        return where(step.first, first, motion.state[ENERGY])

    @cached_property
    def rises(self) -> Scalar:
        """Whether a flight of few steps a turn, or one whose search failed, would raise the energy."""
        motion, energy = self.motion, self.energy(self.solved)
        doubtful = maximum(less(self.step.fading, 1), less(1, motion.round[0]))
        doubtful = maximum(doubtful, 1 - less(energy, _HUGE))
        return (1 - motion.bears) * doubtful * (1 - less(energy, self.begun))

    @cached_property
    def stops(self) -> Scalar:
        """Whether that holds even with joints that stand still."""
        return self.rises * (1 - less(self.energy(self.locked), self.begun * _SAME))

    @cached_property
    def guarded(self) -> tuple[list[Scalar], Scalar]:
        """The speeds and the energy about the centre of mass; where it would rise, joints move as much slower as it
        takes.
        """
        energy, least = self.energy(self.solved), self.energy(self.locked)
        finite = less(energy, _HUGE)
        room = maximum(self.begun - least, 0) / maximum(energy - least, _TINY)
        share = where(self.rises, where(finite, sqrt(minimum(room, 1)), 0), 1)
        none = less(share, _TINY)
        kept = [
            plus(slow, times(share, where(none, 0, minus(nu, slow))))
            for slow, nu in zip(self.locked, self.solved, strict=True)
        ]
        return kept, plus(least, times(share * share, where(none, 0, energy - least)))


# An energy that is no number's, the least that is divided by, and rounding.
_HUGE, _TINY, _SAME = 1e200, 1e-200, 1 + 1e-9


def three(parts: Sequence[Scalar]) -> Vector:
    """Three scalars as a vector."""
    x, y, z = parts
    return x, y, z


def center_of(rows: Rows) -> Vector:
    """The centre of mass from the base's origin, as rows of M hold it: M_vω = −m [c]×."""
    mass = rows[0][0]
    return rows[1][5] / mass, rows[2][3] / mass, rows[0][4] / mass


def about_center_of(nu: Sequence[Scalar], rows: Rows) -> list[Scalar]:
    """Speeds with the centre of mass taken to rest; `rows` are those of M."""
    drifting = [dot(row, nu) / rows[0][0] for row in rows[:3]]
    return [*(minus(v, d) for v, d in zip(nu[:3], drifting, strict=True)), *nu[3:]]


def chosen(condition: Scalar, yes: Vector, no: Vector) -> Vector:
    """One vector where a condition holds, else the other."""
    x, y, z = (where(condition, a, b) for a, b in zip(yes, no, strict=True))
    return x, y, z
