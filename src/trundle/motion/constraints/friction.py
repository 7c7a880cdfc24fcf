"""What the floor holds, and what wheels carry on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trundle.motion.constraints.constraint import Moving
from trundle.robot.constraint import Row

# The share of its load at rest that a plan may take off a wheel: the grip of one that carries nothing is nothing.
LIFTED = 0.95


@dataclass(frozen=True)
class Friction:
    """|(f_x, f_y)| ≤ γ μ N of every contact; along wheels that slide to turn, γ of what their side gives."""

    grip: float

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row for all contacts."""
        forces = at.forces
        names = [f"grip of {name}" for name in forces.names]
        if forces.sliding is not None:
            yield Row(names, (forces.sliding,), self.grip)
        else:
            yield Row(names, (forces.traction, forces.side_force), self.grip * forces.grip)


@dataclass(frozen=True)
class Load:
    """1 − N/N₀ ≤ 0.95 of every wheel, N₀ its load at rest, where the description says how high its masses are."""

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row for all wheels that carry."""
        loads, driven = at.forces.loads, at.forces.driven
        if driven.here.assembly.heights:
            on = [name for name in loads if driven.standing[name] > 0]
            lifted = [1 - loads[name] / driven.standing[name] for name in on]
            yield Row([f"load of {name}" for name in on], (np.stack(lifted, axis=1),), LIFTED, one_sided=True)
