"""A few states of a model, on its constraints, at which the entries of its matrices are looked at as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from trundle.errors import InputError
from trundle.mechanics.elimination import ZERO
from trundle.scalars import Scalar

# Random states, beside the state of zeros: rank and pivots differ between them only where the mechanism's do.
COUNT = 6
# Steps of Newton's method onto the constraints; it converges quadratically or not at all.
_STEPS = 60
_REACHED = 1e-10


@dataclass(frozen=True)
class Samples:
    """Symbols of the state, inputs and parameters, and numbers for them: one column a sample.

    Singular values below `zero` times the largest count as rounding, of the states too.
    """

    symbols: tuple[Any, ...]
    numbers: tuple[np.ndarray, ...]
    zero: float = ZERO

    def of(self, rows: Sequence[Sequence[Scalar]]) -> np.ndarray:
        """Values (s, rows, columns) of a matrix of scalars at the samples where all entries are finite."""
        height, width = len(rows), len(rows[0]) if rows else 0
        if not height * width:
            return np.zeros((1, height, width))
        entries = ca.vertcat(*(ca.SX(entry) for row in rows for entry in row))
        function = ca.Function("entries", list(self.symbols), [ca.densify(entries)])
        values = np.array([_call(function, self._sample(k)) for k in range(self.numbers[0].shape[1])])
        finite = values[np.isfinite(values).all(axis=1)]
        if not len(finite):
            raise InputError(
                "the equations of the SymPy model are not finite at any state that was tried",
                hint="look for divisions by zero at the parameters' values",
            )
        return finite.reshape(-1, height, width)

    def _sample(self, k: int) -> list[np.ndarray]:
        return [numbers[:, k] for numbers in self.numbers]


def take_samples(
    symbols: Sequence[Any], split: tuple[int, int], parameters: Sequence[float], holonomic: Any, velocity: Any
) -> Samples:
    """Random states of size 1, moved onto h(q) = 0 and then A(q) u = 0 by Newton's method of least change, and the zero
    state.

    symbols: (state, input, parameter); split: how many coordinates and speeds the state begins with. holonomic,
    velocity: columns of residuals. A state from which the constraints can't be reached stays where it was.
    """
    rng = np.random.default_rng(0)
    state, commands, _ = symbols
    count, speeds = split
    p = np.asarray(parameters, dtype=float)
    x = rng.uniform(-1, 1, (state.numel(), COUNT + 1))
    x[:, -1] = 0
    u = rng.uniform(-1, 1, (commands.numel(), COUNT + 1))
    for k in range(COUNT + 1):
        for residual, part in ((holonomic, slice(0, count)), (velocity, slice(count, count + speeds))):
            x[:, k] = newton(residual, symbols, part, (x[:, k], u[:, k], p))
    return Samples(tuple(symbols), (x, u, np.repeat(p[:, None], COUNT + 1, axis=1)))


def newton(
    residual: Any,
    symbols: Sequence[Any],
    part: slice,
    numbers: Sequence[np.ndarray],
    reached: float = _REACHED,
) -> np.ndarray:
    """The state with `part` of it moved so that the residual vanishes to `reached`; as it was where that fails."""
    start = numbers[0].copy()
    if not residual.numel():
        return start
    slope = ca.jacobian(residual, symbols[0][part])
    function = ca.Function("step", list(symbols), [ca.densify(residual), ca.densify(slope)])
    x = start.copy()
    for _ in range(_STEPS):
        value, matrix = (np.array(each) for each in function.call([ca.DM(x), *map(ca.DM, numbers[1:])]))
        if not (np.isfinite(value).all() and np.isfinite(matrix).all()):
            return start
        if np.abs(value).max() <= reached:
            return x
        x[part] -= damped_step(matrix, value.ravel())
    return start


def damped_step(slope: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Newton's step by Levenberg and Marquardt, (JᵀJ + μ)⁻¹ Jᵀ r with μ = |r|², at most a hundredth of |J|².

    It converges quadratically even where rows repeat each other on the solutions (Yamashita & Fukushima 2001), and then
    to the nearest one; the plain step slides along them into singular configurations. Shapes J (…, rows, columns), r
    (…, rows).
    """
    size = np.square(slope).sum(axis=(-2, -1))
    damping = np.minimum(np.square(residual).sum(axis=-1), size / 100)
    gram = slope @ np.swapaxes(slope, -2, -1)
    # Scaled by hand: below this share of the largest, eigenvalues of J Jᵀ are rounding.
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-15 * np.maximum(values[..., -1:], 1e-300)
    inverse = np.where(kept, 1 / np.where(kept, values + damping[..., None], 1.0), 0.0)
    along = np.einsum("...ij,...i->...j", vectors, residual) * inverse
    return np.einsum("...ij,...i->...j", slope, np.einsum("...ij,...j->...i", vectors, along))


def _call(function: Any, groups: Sequence[np.ndarray]) -> np.ndarray:
    return np.array(function.call([ca.DM(group) for group in groups])[0]).ravel()
