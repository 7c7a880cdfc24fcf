"""What `trundle.follow` gives: the motion along a path, and a time that none along it beats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.commands.drive import Driven
from trundle.motion.drive.drive import Drive
from trundle.motion.forces.real_limits import RealLimits
from trundle.motion.paths.along_path import AlongPath
from trundle.motion.paths.lower_bound import least_time_along
from trundle.motion.paths.passages import Passage
from trundle.motion.planning.pose_plans import least_time


class Passed(NamedTuple):
    """A section, the plan along it, and what modules are turned by before it (m,), where they are."""

    passage: Passage
    piece: AlongPath
    turned: FloatArray | None


@dataclass(frozen=True, eq=False, repr=False)
class Followed(Driven):
    """The quickest motion along a path that programmes find, and a time that no motion beats.

    Parameters
    ----------
    passed : tuple of Passed
        The path's sections, from stop to stop.
    """

    passed: tuple[Passed, ...] = ()

    @cached_property
    def bound(self) -> float:
        """No motion along the path that stops where this one does takes less (s).

        Motors, batteries, floor, declared speeds and accelerations count; jerks from rest to rest alone.
        """
        return sum((_least(part) for part in self.passed), 0.0)

    @property
    def gap(self) -> float:
        """(T − bound)/T: the share of its time that a motion might save at most."""
        time = self.motion.duration
        return (time - self.bound) / time if time else 0.0

    @property
    def search(self) -> dict[str, object]:
        """The bound and the gap, as plain data."""
        return {"bound": self.bound, "gap": self.gap}


def _least(part: Passed) -> float:
    """A time (s) that no motion along a section beats, its modules turned before it."""
    passage, piece, turned = part
    least = least_time_along(passage, piece)
    if turned is None:
        return least
    limits = _turning(passage.drive, passage.real)
    known = np.isfinite(limits).any(axis=0)
    return least + (least_time(np.abs(turned)[known], limits[:, known]) if known.any() else 0.0)


def _turning(drive: Drive, real: RealLimits | None) -> FloatArray:
    """Limits of steering at rest, (3, m): declared ones, and the rates at which motors have nothing left."""
    limits = drive.steering.copy()
    if real is not None:
        for k, wheel in enumerate(real.driven.wheels):
            if wheel.steering is not None and wheel.steering in real.driven.actuators:
                limits[0, k] = min(limits[0, k], real.driven.greatest_rate(wheel.steering))
    return limits
