"""A limit of motions: rows |x| ≤ X or x ≤ X, with x and X quantities of a motion at n places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from trundle.arrays import FloatArray
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces, motion_forces
from trundle.motion.pieces.motion import Samples
from trundle.robot.constraint import Row


class Moving:
    """A motion at n places: what it is (`samples`), what it takes (`forces`), and when (`times`, s).

    A limit reads what it needs; forces are there where the description has masses and motors.
    """

    samples: Samples
    forces: MotionForces
    times: FloatArray

    def __init__(self, **known: Samples | MotionForces | FloatArray) -> None:
        vars(self).update(known)


class MotionConstraint(Protocol):
    """What limits motions."""

    def rows(self, at: Moving) -> Iterable[Row]:
        """The limits by a motion's quantities."""
        ...


def shares(constraints: Iterable[MotionConstraint], at: Moving) -> dict[str, FloatArray]:
    """By what binds ("grip of rear_left"), the share (n,) that a motion takes of it."""
    rows = [row for constraint in constraints for row in constraint.rows(at)]
    return {name: share for row in rows for name, share in zip(row.names, row.shares.T, strict=True)}


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints together, and the robot whose forces they ask for, where they do."""

    each: tuple[MotionConstraint, ...]
    driven: DrivenRobot | None = None

    def shares(
        self, samples: Samples, forces: MotionForces | None = None, times: FloatArray | None = None
    ) -> dict[str, FloatArray]:
        """By what binds, the share (n,) that a motion takes of it, by these forces or else those of least norm.

        times: where limits hang on them.
        """
        moving = Moving(samples=samples) if times is None else Moving(samples=samples, times=times)
        if self.driven is not None:
            moving.forces = motion_forces(self.driven, samples) if forces is None else forces
        return shares(self.each, moving)
