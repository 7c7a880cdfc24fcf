"""How fast motions decay where they start: it decides on a method, and on the longest step of a fixed one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.program import Program

# Rates (n, k) of k states (n, k).
Roots = npt.NDArray[np.complex128]
RateField = Callable[[FloatArray], FloatArray]

# |z| at which a method's stability is looked at along a direction; the region ends before 3.
_RADII = np.linspace(0.0, 3.2, 161)[1:]
# Differences round: eigenvalues of the imaginary axis may seem to lie this much beside it.
_ROUNDING = 1e-6


def eigenvalues(rates: RateField, x: FloatArray) -> Roots:
    """λ(∂f/∂x) in 1/s, by central differences: an estimate is all that is asked. NaN where f has no value."""
    step = 1e-6 * np.maximum(1.0, np.abs(x))
    near = x[:, None] + np.concatenate([np.diag(step), -np.diag(step)], axis=1)
    with np.errstate(all="ignore"):
        slopes = rates(near)
        matrix = (slopes[:, : x.size] - slopes[:, x.size :]) / (2 * step)
    if not x.size or not np.isfinite(matrix).all():
        return np.full(1, complex(math.nan))
    return np.linalg.eigvals(matrix).astype(complex)


def decay_rate(roots: Roots) -> float:
    """The fastest decay (1/s) of small deviations: max −Re λ, less the fastest growth.

    Less the growth, so that conservative motions, whose λ come in pairs ±λ, count as what they are, not stiff.
    """
    return float(-roots.real.min() - max(roots.real.max(), 0.0))


def stable_step(
    dynamics: Program, x: FloatArray, inputs: FloatArray, parameters: FloatArray
) -> tuple[float, float]:
    """`longest_step` of motions near the state x (n,) with the rates of a program (state, input, parameter) -> rate."""
    return longest_step(eigenvalues(lambda states: dynamics.evaluate(states, inputs, parameters)[0], x))


def advised_step(longest: float) -> float:
    """A step (s) of about half the longest one or less: 1, 2 or 5 times a power of ten, so that it divides seconds."""
    power = math.floor(math.log10(0.5 * longest))
    return max(step for k in (0.5, 1, 2, 5) if (step := float(f"{k}e{power}")) <= 0.5 * longest)


def longest_step(roots: Roots) -> tuple[float, float]:
    """The longest step (s) with which no decaying motion grows, and the rate |λ| (1/s) of the motion that bounds it.

    The method is the classical one of Runge and Kutta:
    |R(λ h)| ≤ 1 with R(z) = 1 + z + z²/2 + z³/6 + z⁴/24 for any λ with Re λ ≤ 0: up to |λ| h = 2.785 on the real axis,
    2.828 on the imaginary one. Source: Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.2.
    """
    roots = roots[(roots.real <= _ROUNDING * np.abs(roots)) & (np.abs(roots) > 0)]
    if not roots.size:
        return math.inf, 0.0
    size = np.abs(roots)
    z = ((np.minimum(roots.real, 0) + 1j * roots.imag) / size)[:, None] * _RADII
    growth = np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))))
    steps = _RADII[np.argmax(growth > 1 + _ROUNDING, axis=1)] / size
    worst = int(np.argmin(steps))
    return float(steps[worst]), float(size[worst])
