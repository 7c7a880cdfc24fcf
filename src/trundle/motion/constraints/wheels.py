"""What wheels declare of rolling and of steering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.motion.constraints.constraint import Moving
from trundle.motion.drive.drive import QUANTITIES, Limits
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
