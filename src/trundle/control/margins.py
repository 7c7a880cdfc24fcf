"""How much the loop of an input bears: disk margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray

# The frequencies (relative to the loop's poles) between which a loop's peak is looked for, and how finely at first.
_SPREAD, _PER_DECADE = 1e3, 60


@dataclass(frozen=True)
class Margin:
    """How much one input's loop bears, the others closed: a disk of gains and phases at once.

    disk: α of the balanced disk margin; the gain may be multiplied by anything from `lowest` to `highest`, or the phase
    turned by `phase` (rad) either way (Seiler, Packard & Gahinet 2020, IEEE Control Systems Magazine 40(5), eq. 12).
    frequency: where it is least (rad/s).
    """

    disk: float
    frequency: float

    @property
    def highest(self) -> float:
        """What the gain may grow by: (1 + α/2)/(1 − α/2)."""
        return (1 + self.disk / 2) / (1 - self.disk / 2) if self.disk < 2 else np.inf

    @property
    def lowest(self) -> float:
        """What the gain may shrink to: (1 − α/2)/(1 + α/2)."""
        return max((1 - self.disk / 2) / (1 + self.disk / 2), 0.0)

    @property
    def phase(self) -> float:
        """What the phase may turn by: 2 atan(α/2) (rad)."""
        return float(2 * np.arctan(self.disk / 2))


def margin(
    a: FloatArray,
    b: FloatArray,
    gain: FloatArray,
    place: int,
    poles: npt.NDArray[np.complex128],
    period: float | None,
) -> Margin:
    """1/max |S − 1/2| over all frequencies, S = 1/(1 + L) of one input's loop."""
    from scipy.optimize import minimize_scalar

    eye = np.eye(len(a))

    def distance(log_frequency: float) -> float:
        omega = np.exp(log_frequency)
        point = 1j * omega if period is None else np.exp(1j * omega * period)
        # S = 1 − K (s − A + B K)⁻¹ B, of which one entry
        inner = np.linalg.solve(point * eye - a + b @ gain, b[:, place])
        return -abs(0.5 - gain[place] @ inner)

    rates = np.abs(poles if period is None else np.log(poles.astype(complex) + 1e-300) / period)
    low, high = np.log(max(rates.min(), 1e-6) / _SPREAD), np.log(rates.max() * _SPREAD)
    high = high if period is None else min(high, np.log(np.pi / period))
    grid = np.linspace(low, high, int((high - low) / np.log(10) * _PER_DECADE) + 2)
    values = [distance(x) for x in grid]
    best = int(np.argmin(values))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(distance, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    at, least = (found.x, found.fun) if found.fun < values[best] else (grid[best], values[best])
    return Margin(float(-1 / least), float(np.exp(at)))
