"""A section of a path as a robot passes it: what moves along with it, what limits that, and what it takes of forces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.constraints.real_limits import RealLimits
from trundle.motion.drive.drive import Drive
from trundle.motion.forces.demand import Demand
from trundle.motion.paths.along_path import AlongPath, Stretched, module_rates
from trundle.motion.paths.base_limits import base_bounds, base_moves
from trundle.motion.paths.path_scaling import Scaling, carried
from trundle.motion.paths.pose_paths import LIMITS, Section, Zone


@dataclass(frozen=True, eq=False)
class Passage:
    """A section that modules pass, rolling `forward` (1), backward (−1) or standing (0), from their `angles` (m,).

    The path's zones hold from and to lengths from the section's begin. `real`: motors and floor, where they count.
    """

    drive: Drive
    section: Section
    stretched: Stretched
    angles: FloatArray
    forward: FloatArray
    zones: tuple[Zone, ...]
    real: RealLimits | None

    @cached_property
    def paced(self) -> AlongPath:
        """The section at ż = 1: a piece to ask where modules stand at z."""
        pace = Scaling(np.array([0.0, 1.0]), np.array([[1.0, 0.0, 0.0]]))
        return AlongPath(self.drive, self.section, self.stretched, pace, self.angles, self.forward)

    @property
    def ends(self) -> tuple[float, float]:
        """The greatest b = ż² at both ends: from rest s ~ z^order leaves it free, as ṡ = 0 there whatever ż is."""
        return self._at_end(self.section.entry, 0.0), self._at_end(self.section.exit, 1.0)

    def _at_end(self, speed: float, z: float) -> float:
        if speed == 0:
            return math.inf
        moved = self.section.at(np.array([z * self.section.length]), 1)[0, :2]
        slope = self.stretched.at(np.array([z]))[1][0]
        return float((speed / slope / np.hypot(*moved)) ** 2)

    def course(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What moves along with z, three derivatives (3, n, c) and their limits: steering, rolling, and the base."""
        length, *slopes = self.stretched.at(z)
        poses = [self.section.at(length, order) for order in range(1, 4)]
        steering, rolling = module_rates(self.drive, self.section, length, self.forward)
        base = [base_moves(rates[:, 0] + 1j * rates[:, 1], rates[:, 2]) for rates in poses]
        moved = [carried(rates, slopes) for rates in (steering, rolling, base)]
        modules = np.concatenate([self.drive.steering, self.drive.rolling], axis=1)
        held = np.broadcast_to(modules[:, None], (3, len(z), modules.shape[1]))
        bounds = base_bounds(self._asked(length))
        return np.concatenate(moved, axis=2), np.concatenate([held, bounds], axis=2)

    def _asked(self, lengths: FloatArray) -> FloatArray:
        """What the path itself limits of the base at lengths, (n, 4); infinite where it doesn't."""
        most = np.full((len(lengths), len(LIMITS)), np.inf)
        # the first zone counts where several hold: it is written last
        for zone in reversed(self.zones):
            inside = (lengths >= zone.start) & (lengths <= zone.end)
            most[inside] = zone.velocity, zone.acceleration, zone.rate, zone.rate_change
        return most

    def demand(self, z: FloatArray) -> Demand:
        """What it takes of motors and floor at z (n,)."""
        assert self.real is not None
        one, none = np.ones_like(z), np.zeros_like(z)
        return Demand.along(self.real.driven, self.paced.passed(z, (one, none, none)))
