"""A limit of motions: rows |x| ≤ X or x ≤ X, with x and X quantities of a motion at n places.

The quantities are any scalar: arrays where a motion is checked or told of, numbers with slopes where one is planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces, motion_forces
from trundle.motion.pieces.motion import Samples


class Row(NamedTuple):
    """|x| ≤ most, or x ≤ most where it is one-sided: k alike limits by their names, at n places.

    x has its parts, (n, k) each; most is (n, k), (k,) or a number. `bends` are parts, (n, k) each, whose squares a
    one-sided x is made of, beside what doesn't bend.
    """

    names: Sequence[str]
    x: tuple[FloatArray, ...]
    most: FloatArray | float
    one_sided: bool = False
    bends: tuple[FloatArray, ...] = ()

    @property
    def shares(self) -> FloatArray:
        """What is taken of what there is, (n, k): above 1 it is too much; 0 where nothing is taken of nothing."""
        first, *rest = self.x
        size = first if self.one_sided else np.hypot(first, *rest) if rest else np.abs(first)
        # a wheel that hardly carries anything grips with next to nothing
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = size / self.most
        return np.where(np.isnan(share), 0.0, share)


class Moving:
    """A motion at n places: what it is (`samples`), what it takes (`forces`), and when (`times`, s).

    A limit reads what it needs; forces are there where the description has masses and motors.
    """

    samples: Samples
    forces: MotionForces
    times: FloatArray

    def __init__(self, **known: Samples | MotionForces | FloatArray) -> None:
        vars(self).update(known)


class Constraint(Protocol):
    """What limits motions."""

    def rows(self, at: Moving) -> Iterable[Row]:
        """The limits by a motion's quantities."""
        ...


def shares(constraints: Iterable[Constraint], at: Moving) -> dict[str, FloatArray]:
    """By what binds ("grip of rear_left"), the share (n,) that a motion takes of it."""
    rows = [row for constraint in constraints for row in constraint.rows(at)]
    return {name: share for row in rows for name, share in zip(row.names, row.shares.T, strict=True)}


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints together, and the robot whose forces they ask for, where they do."""

    each: tuple[Constraint, ...]
    driven: DrivenRobot | None = None

    def shares(self, samples: Samples) -> dict[str, FloatArray]:
        """By what binds, the share (n,) that a motion takes of it; forces are those of least norm."""
        forces = {} if self.driven is None else {"forces": motion_forces(self.driven, samples)}
        return shares(self.each, Moving(samples=samples, **forces))
