"""Programs with their derivatives beside them: what a rollout or an integrator carries along, forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trundle.program.ir import Group, Program
from trundle.program.simplify import Builder, copied, share_reciprocals
from trundle.program.tangents import derivative_along
from trundle.program.tracer import Node, Operand
from trundle.scalars import plus, times

# An element of an input group by its label; None where only the state's start changes.
TangentInput = tuple[str, str] | None
# Slopes by the whole state cost as much as so many directions for every state, as they are shared by all directions.
_SHARED = 5
_STATE = "state"


def with_tangents(program: Program, along: Mapping[str, TangentInput]) -> Program:
    """The program with the derivatives of all its outputs behind them: y, then Ẏ_j = ∂y/∂x S_j + ∂y/∂θ_j for every j.

    Of the shorter of two ways: an operation's rate by its operands' in every direction, or ∂y/∂x once for all of them.

    Parameters
    ----------
    program : Program
        What is differentiated. Its group "state" gets the columns S_j = ∂x/∂θ_j behind x, one after the other.
    along : mapping of str to (group, label) or None
        By name what θ_j is: an element of another input group, or None for one that only the start hangs on.

    Returns
    -------
    Program
        Fed with its own outputs (a rate and a projection, say) it carries S along exactly.

    Examples
    --------
    >>> from trundle.program import Tracer
    >>> from trundle.program.sensitivities import with_tangents
    >>> tracer = Tracer("state", "parameter")
    >>> (x,), (p,) = tracer.inputs("state", 1), tracer.inputs("parameter", 1)
    >>> labels = {"state": ("x",), "parameter": ("p",)}
    >>> decay = tracer.program("decay", labels, {"rate": (("x",), [-p * x])})
    >>> [float(y) for y in with_tangents(decay, {"p": ("parameter", "p")})([2.0, 0.5], [3.0])]  # −p x, −p S − x
    [-6.0, -3.5]

    References
    ----------
    Griewank & Walther 2008, ch. 3.2, forward mode; Hairer, Nørsett & Wanner 1993, sec. I.14, variational equations.
    """
    size = program.inputs[program.input_index(_STATE)].size
    every = [_written(program, along, _swept)]
    if _SHARED * len(along) >= size:
        every.append(_written(program, along, _by_slopes))
    others = [group.name for group in program.inputs if group.name != _STATE]
    return min(every, key=lambda made: made.operations_excluding(*others))


class _Differentiated:
    """A program while its derivatives are written: its values, x, the columns S_j, and what θ_j is."""

    def __init__(self, program: Program, along: Mapping[str, TangentInput]) -> None:
        """Copy the program into a builder of its own."""
        self.builder = builder = Builder()
        values = copied(builder, program, builder.load)
        self.groups = [[Node(builder, values[result]) for result in group] for group in program.results]
        self.flat = [value for group in self.groups for value in group]
        place = program.input_index(_STATE)
        size = program.inputs[place].size

        def element(index: int) -> Node:
            return Node(builder, builder.load(place, index))

        self.x = [element(k) for k in range(size)]
        self.columns = [[element(size * j + k) for k in range(size)] for j in range(1, len(along) + 1)]
        self.own = [self._source(program, source) for source in along.values()]

    def _source(self, program: Program, source: TangentInput) -> list[Node]:
        if source is None:
            return []
        group = program.input_index(source[0])
        element = program.inputs[group].labels.index(source[1])
        return [Node(self.builder, self.builder.load(group, element))]

    def rates(self, at: Sequence[Node], rates: Sequence[Operand]) -> list[Operand]:
        """How all outputs change."""
        return derivative_along(self.flat, at, rates, at_rest=True)


def _swept(found: _Differentiated) -> list[list[Operand]]:
    """Operation by operation in every direction."""
    return [
        found.rates([*found.x, *own], [*column, *(1 for _ in own)])
        for own, column in zip(found.own, found.columns, strict=True)
    ]


def _by_slopes(found: _Differentiated) -> list[list[Operand]]:
    """∂y/∂x once, then its products with the columns."""
    slopes = [found.rates([each], [1]) for each in found.x]
    rows: list[list[Operand]] = []
    for own, column in zip(found.own, found.columns, strict=True):
        total: list[Operand] = found.rates(own, [1]) if own else [0] * len(found.flat)
        for slope, change in zip(slopes, column, strict=True):
            total = [plus(sum_, times(each, change)) for sum_, each in zip(total, slope, strict=True)]
        rows.append(total)
    return rows


_Way = Callable[[_Differentiated], list[list[Operand]]]


def _written(program: Program, along: Mapping[str, TangentInput], way: _Way) -> Program:
    """The program by one of the ways."""
    found = _Differentiated(program, along)
    rows = way(found)
    results: list[tuple[int, ...]] = []
    begin = 0
    for group in found.groups:
        end = begin + len(group)
        values = [*group, *(value for row in rows for value in row[begin:end])]
        results.append(tuple(_number(found.builder, value) for value in values))
        begin = end
    instructions = tuple(found.builder.instructions)
    inputs = tuple(_widened(group, along) if group.name == _STATE else group for group in program.inputs)
    outputs = tuple(_widened(group, along) for group in program.outputs)
    name = f"{program.name}, differentiated"
    return share_reciprocals(Program(name, inputs, outputs, instructions, tuple(results)))


def _number(builder: Builder, value: Operand) -> int:
    return value.value if isinstance(value, Node) else builder.const(value)


def _widened(group: Group, along: Mapping[str, TangentInput]) -> Group:
    return Group(
        group.name, (*group.labels, *(f"{label} by {name}" for name in along for label in group.labels))
    )
