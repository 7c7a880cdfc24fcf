"""Energy of a run over ground: works and losses at the speeds of every solve, and what is left in two sums.

    I = E⁺ − E − W + L − G      the step's own: at most 0, unless inertia makes energy
    G = Σ ½ K d²(q⁺) − Σ ½ K d²(as the step saw the ground)      the ground's: its curvature within a step, either sign

What is made is the largest rise of a running sum above its least so far, so that a landing doesn't hide it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.quantities import Quantity
from trundle.model.ground_outputs import FORESEEN, PRESSED, TOO_LONG, UNSOLVED

COLUMNS = tuple(
    Quantity(f"energy.{name}", "J", "energy") for name in ("work", "losses", "made_by_step", "made_by_ground")
)
# Above these shares of the energy turned over a run is doubtful by what the step makes, damped by what it loses,
# doubtful by the ground within a step.
BY_STEP, LOST, BY_GROUND = 0.01, 0.05, 0.05
# By how much a step may turn what turns (rad).
_TURN = 0.5
_STORED = ("energy.kinetic", "energy.potential", "energy.internal")
_READ = (*_STORED, "power.in", "power.lost", "balance_residual")
_READ += tuple(each.name for each in (PRESSED, FORESEEN, UNSOLVED, TOO_LONG))


@dataclass(frozen=True)
class EnergyBooks:
    """What energy did in every step of a run: rows by the outputs that are read (one number a step), and how many steps
    lie between the times that are stored.
    """

    step: float
    every: int
    rows: Mapping[str, FloatArray]

    @staticmethod
    def are_of(names: Collection[str]) -> bool:
        """Whether a plant's outputs tell its energy."""
        return {*_READ} <= {*names}

    @staticmethod
    def read(names: Sequence[str], outputs: FloatArray) -> FloatArray:
        """Of outputs (names, steps) the rows that are read here."""
        return outputs[[names.index(name) for name in _READ]]

    @staticmethod
    def of(step: float, every: int, blocks: Sequence[FloatArray]) -> EnergyBooks:
        """Of such rows, one block after the other; the last step is the one that begins at the end."""
        return EnergyBooks(step, every, dict(zip(_READ, np.concatenate(blocks, axis=1), strict=True)))

    @property
    def stored(self) -> dict[str, FloatArray]:
        """The sums at the times that are stored."""
        last = len(self.rows[UNSOLVED.name]) - 1
        places = [*range(0, last, self.every), last]
        return {name: row[places] for name, row in self.columns.items()}

    @cached_property
    def columns(self) -> dict[str, FloatArray]:
        """Running sums at the beginning of every step (J), by the names of `COLUMNS`."""
        stored = np.sum([self.rows[name] for name in _STORED], axis=0)
        work, losses = (self.step * self.rows[name][:-1] for name in ("power.in", "power.lost"))
        ground = self.rows[PRESSED.name][1:] - self.rows[FORESEEN.name][:-1]
        own = np.diff(stored) - work + losses - ground
        sums = (np.concatenate([[0.0], np.cumsum(each)]) for each in (work, losses, own, ground))
        return {each.name: row for each, row in zip(COLUMNS, sums, strict=True)}

    @property
    def turned_over(self) -> float:
        """Σ|W| + Σ|L| and the largest kinetic energy (J)."""
        flows = self.step * sum(np.abs(self.rows[name][:-1]).sum() for name in ("power.in", "power.lost"))
        return float(flows + self.rows["energy.kinetic"].max())

    @property
    def unsolved(self) -> int:
        """Steps whose forces don't balance."""
        return int(np.count_nonzero(self.rows[UNSOLVED.name][:-1]))

    def summary(self, fastest: float) -> dict[str, object]:
        """What a run's summary says; `fastest` is the rate of what turns the fastest beside wheels (rad/s)."""
        columns, size = self.columns, self.turned_over or 1.0
        own, ground = (columns[each.name] / size for each in COLUMNS[2:])
        made, since = _rise(own)
        bent, bent_since = _rise(ground)
        lost = _rise(-own)[0]
        energy: dict[str, float] = {
            "turned_over": self.turned_over,
            "made_by_step": made,
            "lost_by_step": lost,
            "made_by_ground": bent,
        }
        if made > BY_STEP:
            energy["made_by_step_from"] = since * self.step
        # Both are of the first order in the step, where it turns by less than half a radian.
        excess, long = max(made / BY_STEP, lost / LOST), int(self.rows[TOO_LONG.name].sum())
        if excess > 1 or long:
            energy["step"] = _rounded(
                min(self.step / max(excess, 1), _TURN / max(fastest, _TURN / self.step))
            )
        if bent > BY_GROUND:
            energy["made_by_ground_from"] = bent_since * self.step
            energy["ground_step"] = _rounded(self.step * BY_GROUND / bent)
        told = {"unsolved_steps": self.unsolved} | ({"too_long_steps": long} if long else {})
        residual = float(self.rows["balance_residual"][:-1].max())
        return {"balance_residual": residual, **told, "energy": energy}


def _rounded(step: float) -> float:
    """A step's length to one digit (s), not above it."""
    digit = 10.0 ** math.floor(math.log10(step))
    return float(f"{math.floor(step / digit) * digit:.1g}")


def _rise(sums: FloatArray) -> tuple[float, int]:
    """The largest rise above the least so far, and where that begins."""
    least = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - least))
    return float(sums[end] - least[end]), int(np.argmin(sums[: end + 1]))
