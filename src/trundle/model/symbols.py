"""The symbols that equations are derived in, and the programs that are read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

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
    found = [function.call([ca.DM(each[:, k]) for each in numbers])[0] for k in range(numbers[0].shape[1])]
    return np.array([np.asarray(each).ravel() for each in found]).T


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
