"""The symbols that equations are derived in, and the programs that are read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from trundle.errors import InputError
from trundle.mechanics.closing import CLOSED, Conditions, closed
from trundle.mechanics.elimination import ZERO
from trundle.model.mechanism import Mechanism
from trundle.program import Program, Tracer, tangents, trace
from trundle.program.tracer import Node
from trundle.scalars import Scalar

# The groups that a model's programs are functions of, in the order in which kernels take them.
STATE, INPUT, PARAMETER = GROUPS = ("state", "input", "parameter")
# Name of a group → the labels and the scalars of its entries.
Groups = Mapping[str, tuple[Sequence[str], Sequence[Scalar]]]


@dataclass(frozen=True)
class Symbols:
    """Where the scalars of a derivation come from: a tracer's nodes, or CasADi's symbols where there is no tracer.

    A tracer is three times as fast and more; CasADi has the better algebra for what rolls. `symbols_for` decides;
    beside this module nothing asks which it is.
    """

    tracer: Tracer | None = None

    def make(self, group: str, count: int, start: int = 0) -> list[Scalar]:
        """Symbols for the entries `start` to `start + count` of an input group."""
        if self.tracer is not None:
            return list(self.tracer.inputs(group, count, start))
        return entries(ca.SX.sym(group, count))

    def program(self, name: str, inputs: Groups, outputs: Groups) -> Program:
        """The program from groups of symbols to groups of what was computed from them."""
        if self.tracer is not None:
            return self.tracer.program(
                name, {group: labels for group, (labels, _) in inputs.items()}, outputs
            )
        return trace(name, columns(inputs), columns(outputs))

    def mechanism(self, numbers: Mechanism) -> Mechanism:
        """A mechanism in floats in symbols instead: of its parameters, and of the coordinates that the state begins
        with.
        """
        values = self.make(PARAMETER, len(numbers.parameters))
        parameters = dict(zip(numbers.parameters, values, strict=True))
        return numbers.in_scalars(parameters, self.make(STATE, len(numbers.names)))


def symbols_for(mechanism: Mechanism) -> Symbols:
    """A tracer's nodes; CasADi's symbols where S(q) changes with q and nothing else takes long: its sums come out a
    tenth shorter then.
    """
    return Symbols() if mechanism.bends and not mechanism.assembly.loops else Symbols(Tracer(*GROUPS))


def parameter_group(mechanism: Mechanism) -> tuple[tuple[str, ...], list[Scalar]]:
    """The labels and the scalars of a mechanism's parameters, as a group."""
    return tuple(mechanism.parameters), list(mechanism.parameters.values())


def derivative_along(values: Sequence[Scalar], q: Sequence[Scalar], q_dot: Sequence[Scalar]) -> list[Scalar]:
    """Σ ∂value/∂q_k q̇_k of each value: the rate of S(q) u at constant u, say. Zeros by structure are plain zeros."""
    if _is_traced(q):
        return tangents.derivative_along(values, q, q_dot)
    made, at = column(values), column(q)
    if not ca.depends_on(made, at):
        return [0] * len(values)
    rates = entries(ca.jtimes(made, at, column(q_dot)))
    return [0 if rate.is_zero() else rate for rate in rates]


def jacobian(values: Sequence[Scalar], at: Sequence[Scalar]) -> list[list[Scalar]]:
    """The rows ∂value/∂at; zeros by structure are plain zeros."""
    if _is_traced(at):
        return tangents.jacobian(values, at)
    matrix = ca.jacobian(column(values), column(at))
    cells = [[matrix[i, j] for j in range(matrix.shape[1])] for i in range(matrix.shape[0])]
    return [[0 if cell.is_zero() else cell for cell in row] for row in cells]


def replaced(values: Sequence[Scalar], at: Sequence[Scalar], by: Sequence[Scalar]) -> list[Scalar]:
    """The values with others in place of the symbols `at`."""
    if _is_traced(at):
        return tangents.replaced(values, at, by)
    return entries(ca.substitute(column(values), column(at), column(by)))


def evaluated(
    values: Sequence[Scalar], symbols: Sequence[Sequence[Scalar]], numbers: Sequence[np.ndarray]
) -> np.ndarray:
    """The values' numbers (values, samples), from those of groups of symbols, (n, samples) each."""
    if any(map(_is_traced, symbols)):
        return tangents.evaluated(values, numbers)
    groups = [column(group) for group in symbols]
    function = ca.Function("values", groups, [ca.densify(column(values))])
    return np.array(function.call([ca.DM(np.ascontiguousarray(group)) for group in numbers])[0])


def _is_traced(symbols: Sequence[Scalar]) -> bool:
    return len(symbols) > 0 and isinstance(symbols[0], Node)


def columns(groups: Groups) -> dict[str, tuple[tuple[str, ...], ca.SX]]:
    """Groups as `trace` takes them: with a column of CasADi's."""
    return {group: (tuple(labels), column(values)) for group, (labels, values) in groups.items()}


def column(values: Sequence[Scalar]) -> ca.SX:
    """Scalars as one column of CasADi's, (n, 1)."""
    # What is an SX already is not wrapped once more: that would take a tenth of the time of deriving.
    made = [value if isinstance(value, ca.SX) else ca.SX(value) for value in values]
    return ca.vertcat(*made) if made else ca.SX(0, 1)


def entries(values: ca.SX) -> list[Scalar]:
    """The scalars of a column."""
    return [values[k] for k in range(values.shape[0])]


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
    count, height = symbols[0].numel(), column.numel()
    function = ca.Function("residual", list(symbols), [ca.densify(column), ca.vec(slope.T)])

    def at(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        state, inputs = (ca.DM(np.ascontiguousarray(part.T)) for part in (rows[:, :count], rows[:, count:]))
        values, slopes = (np.array(found).T for found in function.call([state, inputs, ca.DM(parameters)]))
        return values, slopes.reshape(len(rows), height, -1)

    def moved(rows: np.ndarray, step: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows[:, part] += step
        return rows

    return Conditions(at, moved)
