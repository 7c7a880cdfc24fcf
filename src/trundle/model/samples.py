"""A few states of a model, on its constraints, at which the entries of its matrices are looked at as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from trundle.errors import InputError
from trundle.mechanics.closing import CLOSED, Conditions, closed
from trundle.mechanics.elimination import ZERO
from trundle.model.symbols import entries, evaluated
from trundle.scalars import Scalar

# Random states, beside the state of zeros: rank and pivots differ between them only where the mechanism's do.
COUNT = 6
# Entries of constraints (m, or 1) that are rounding wherever one looks: a thousandth of an atom.
_NOTHING = 1e-13


@dataclass(frozen=True)
class SymbolSamples:
    """Symbols of the state, inputs and parameters, and numbers for them: one column a sample.

    Singular values below `zero` times the largest count as rounding, of the states too. `beside` are the like numbers
    off the constraints: what is large there and nothing on the constraints vanishes on all of them.
    """

    symbols: tuple[Sequence[Scalar], ...]
    numbers: tuple[np.ndarray, ...]
    zero: float = ZERO
    beside: tuple[np.ndarray, ...] | None = None

    def of(self, rows: Sequence[Sequence[Scalar]]) -> np.ndarray:
        """Values (s, rows, columns) of a matrix of scalars at the samples where all entries are finite."""
        height, width = len(rows), len(rows[0]) if rows else 0
        if not height * width:
            return np.zeros((1, height, width))
        finite = self._finite(rows, self.numbers)
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
        size = np.abs(self._finite(rows, self.beside)).max(axis=0, initial=0.0)
        whole = size.reshape(values.shape[1:]).max(axis=1)
        vanishing = np.abs(values).max(axis=(0, 2)) <= np.maximum(self.zero * whole, _NOTHING)
        return np.where(vanishing[:, None], 0.0, values)

    def _finite(self, rows: Sequence[Sequence[Scalar]], numbers: Sequence[np.ndarray]) -> np.ndarray:
        """The entries (s, rows × columns) at those of the numbers' columns where all are finite."""
        values = evaluated([entry for row in rows for entry in row], self.symbols, numbers).T
        return values[np.isfinite(values).all(axis=1)]


def take_samples(
    symbols: Sequence[ca.SX],
    split: tuple[int, int],
    parameters: Sequence[float],
    holonomic: ca.SX,
    velocity: ca.SX,
) -> SymbolSamples:
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
    for column, part in ((holonomic, slice(0, count)), (velocity, slice(count, count + speeds))):
        if column.numel():
            moved, left = closed(_conditions(column, symbols, p, part), np.vstack([x, u]).T)
            x = np.where(left <= CLOSED, moved.T[: len(x)], x)
    return SymbolSamples(tuple(map(entries, symbols)), (x, u, np.repeat(p[:, None], COUNT + 1, axis=1)))


def _conditions(column: ca.SX, symbols: Sequence[ca.SX], parameters: np.ndarray, part: slice) -> Conditions:
    """That CasADi's column of residuals vanishes, at rows of (state, input); a `part` of the state is moved."""
    slope = ca.densify(ca.jacobian(column, symbols[0][part]))
    count, width = symbols[0].numel(), slope.shape[1]
    # CasADi stores columns: the transposed slope reads as rows. Its buffers are called ten times as fast as `call`.
    function = ca.Function("residual", list(symbols), [ca.densify(column), slope.T])
    buffer, run = function.buffer()
    arguments = [np.zeros(count), np.zeros(symbols[1].numel()), parameters]
    results = [np.zeros(column.numel()), np.zeros((column.numel(), width))]
    for k, each in enumerate(arguments):
        buffer.set_arg(k, memoryview(each))  # type: ignore[call-arg]
    for k, each in enumerate(results):
        buffer.set_res(k, memoryview(each))  # type: ignore[call-arg]

    def at(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = np.zeros((len(rows), column.numel())), np.zeros((len(rows), column.numel(), width))
        for k, row in enumerate(rows):
            arguments[0][:], arguments[1][:] = row[:count], row[count:]
            run()
            if buffer.ret():  # looked at here also because `run` points into the buffer, which must live on
                raise RuntimeError("CasADi could not evaluate a residual")
            values[k], slopes[k] = results
        return values, slopes

    def moved(rows: np.ndarray, step: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows[:, part] += step
        return rows

    return Conditions(at, moved)
