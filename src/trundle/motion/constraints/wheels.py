"""What wheels declare of rolling and of steering, and how far that may turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.mechanics.modules import SLACK
from trundle.motion.constraints.constraint import Moving
from trundle.motion.drive.drive import QUANTITIES, Drive, Limits
from trundle.robot.constraint import Row


@dataclass(frozen=True)
class WheelLimits:
    """|σ̇| ≤ V, |σ̈| ≤ A, |σ⃛| ≤ J of rolling, and likewise |α̇|, |α̈|, |α⃛| of steering."""

    names: Sequence[str]
    limits: Sequence[Limits]

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row a quantity, of the wheels that limit it."""
        for quantity in QUANTITIES:
            most = np.array([own.of(quantity) for own in self.limits])
            on = np.flatnonzero(np.isfinite(most)).tolist()
            names = [f"{quantity} of {self.names[k]}" for k in on]
            yield Row(names, (getattr(at.samples, quantity)[:, on],), most[on])


@dataclass(frozen=True, eq=False)
class SteeringRanges:
    """|α − (α_min + α_max)/2| ≤ (α_max − α_min)/2 of every wheel whose steering ends."""

    drive: Drive

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row for all of them."""
        on = np.flatnonzero(np.isfinite(self.drive.ranges).all(axis=0)).tolist()
        low, high = self.drive.ranges[:, on]
        names = [f"steering_range of {self.drive.names[k]}" for k in on]
        yield Row(names, (at.samples.angle[:, on] - (low + high) / 2,), np.maximum((high - low) / 2, SLACK))
