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
# Entries of constraints (m, or 1) that are rounding wherever one looks: a thousandth of an atom.
_NOTHING = 1e-13
# Steps in a row that don't halve the residual, after which it is stuck: damping makes it slow at times, and then quick.
_PATIENCE = 15


@dataclass(frozen=True)
class Samples:
    """Symbols of the state, inputs and parameters, and numbers for them: one column a sample.

    Singular values below `zero` times the largest count as rounding, of the states too. `beside` are the like numbers
    off the constraints: what is large there and nothing on the constraints vanishes on all of them.
    """

    symbols: tuple[Any, ...]
    numbers: tuple[np.ndarray, ...]
    zero: float = ZERO
    beside: tuple[np.ndarray, ...] | None = None

    def of(self, rows: Sequence[Sequence[Scalar]]) -> np.ndarray:
        """Values (s, rows, columns) of a matrix of scalars at the samples where all entries are finite."""
        height, width = len(rows), len(rows[0]) if rows else 0
        if not height * width:
            return np.zeros((1, height, width))
        finite = _finite(self._entries(rows), self.numbers)
        if not len(finite):
            raise InputError(
                "the equations of the SymPy model are not finite at any state that was tried",
                hint="look for divisions by zero at the parameters' values",
            )
        return finite.reshape(-1, height, width)

    def of_constraints(self, rows: Sequence[Sequence[Scalar]]) -> np.ndarray:
        """The same of constraints' rows; a row that vanishes wherever the constraints are met is zero, not rounding.

        (Of a parallelogram whose cranks are geared 1 : 1, say, the gap along the beam is quadratic in its angle.)
        """
        values = self.of(rows)
        if self.beside is None or not values.size:
            return values
        size = np.abs(_finite(self._entries(rows), self.beside)).max(axis=0, initial=0.0)
        whole = size.reshape(values.shape[1:]).max(axis=1)
        vanishing = np.abs(values).max(axis=(0, 2)) <= np.maximum(self.zero * whole, _NOTHING)
        return np.where(vanishing[:, None], 0.0, values)

    def _entries(self, rows: Sequence[Sequence[Scalar]]) -> Any:
        entries = ca.vertcat(*(ca.SX(entry) for row in rows for entry in row))
        return ca.Function("entries", list(self.symbols), [ca.densify(entries)])


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
    configuration = Residual.of(holonomic, symbols, slice(0, count))
    motion = Residual.of(velocity, symbols, slice(count, count + speeds))
    for k in range(COUNT + 1):
        for residual in (configuration, motion):
            x[:, k] = newton(residual, (x[:, k], u[:, k], p))
    return Samples(tuple(symbols), (x, u, np.repeat(p[:, None], COUNT + 1, axis=1)))


@dataclass(frozen=True)
class Residual:
    """A column of residuals of (state, input, parameter) and its slope by a `part` of the state, to be driven to 0."""

    part: slice
    function: Any  # None where there is nothing to drive

    @staticmethod
    def of(column: Any, symbols: Sequence[Any], part: slice) -> Residual:
        """Made once, as making CasADi's functions takes longer than calling them."""
        if not column.numel():
            return Residual(part, None)
        slope = ca.densify(ca.jacobian(column, symbols[0][part]))
        return Residual(part, ca.Function("residual", list(symbols), [ca.densify(column), slope]))

    def at(self, numbers: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The residuals (m,) and their slope (m, n) at (state, input, parameter)."""
        value, slope = (np.array(each) for each in self.function.call([ca.DM(each) for each in numbers]))
        return value.ravel(), slope


def newton(residual: Residual, numbers: Sequence[np.ndarray], wanted: float = _REACHED) -> np.ndarray:
    """The state with a part of it moved so that the residual vanishes; as it was where that fails.

    Goes on until the residual is at most `wanted`, or gets no smaller; 1e-10 is small enough.
    """
    start = numbers[0].copy()
    if residual.function is None:
        return start
    x, best, least, idle = start.copy(), start, np.inf, 0
    for _ in range(_STEPS):
        value, slope = residual.at((x, *numbers[1:]))
        if not (np.isfinite(value).all() and np.isfinite(slope).all()):
            break
        size = float(np.abs(value).max())
        idle = 0 if size < least / 2 else idle + 1
        if size < least:
            best, least = x.copy(), size
        if least <= wanted or idle == (_PATIENCE if least > _REACHED else 1):
            break
        x[residual.part] -= damped_step(slope, value)
    return best if least <= _REACHED else start


def damped_step(slope: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Newton's step by Levenberg and Marquardt, (JᵀJ + μ)⁻¹ Jᵀ r with μ = |r|, at most a tenth of |J|².

    It converges quadratically even where rows repeat each other on the solutions (Fan & Yuan 2005), and then to a near
    one; the plain step slides along them into singular configurations. Shapes J (…, rows, columns), r (…, rows).
    """
    size = np.square(slope).sum(axis=(-2, -1))
    damping = np.minimum(np.sqrt(np.square(residual).sum(axis=-1)), size / 10)
    gram = slope @ np.swapaxes(slope, -2, -1)
    # Scaled by hand: below this share of the largest, eigenvalues of J Jᵀ are rounding.
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-15 * np.maximum(values[..., -1:], 1e-300)
    inverse = np.where(kept, 1 / np.where(kept, values + damping[..., None], 1.0), 0.0)
    along = np.einsum("...ij,...i->...j", vectors, residual) * inverse
    return np.einsum("...ij,...i->...j", slope, np.einsum("...ij,...j->...i", vectors, along))


def _finite(function: Any, numbers: Sequence[np.ndarray]) -> np.ndarray:
    """The function's values (s, entries) at the columns of numbers, of those where all are finite."""
    values = np.array([_call(function, [n[:, k] for n in numbers]) for k in range(numbers[0].shape[1])])
    return values[np.isfinite(values).all(axis=1)]


def _call(function: Any, groups: Sequence[np.ndarray]) -> np.ndarray:
    return np.array(function.call([ca.DM(group) for group in groups])[0]).ravel()
