"""How straight-line programs are written by scalars that are computed with.

A `Node` is the number of a value in a `Builder`, which shares equal values, folds constants and does the light algebra
at once. It costs one to two µs an operation; CasADi's scalars cost about 10 µs through their wrapper, and reading their
function back as much again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from trundle.errors import InputError, TrundleError
from trundle.program.ir import Group, Program
from trundle.program.simplify import Builder, copied, share_reciprocals

if TYPE_CHECKING:
    from trundle.tables import Table

_SCALAR_FUNCTIONS = {"absolute": "abs", "minimum": "min", "maximum": "max", "less": "lt", "where": "select"}
_TRACED = frozenset({
    "sqrt", "sin", "cos", "tan", "asin", "atan", "atan2", "exp", "log", "tanh", "abs", "floor", "min", "max",
    "lt", "select",
})  # fmt: skip


Operand: TypeAlias = "Node | float"


def _forward(op: str) -> Callable[[Node, Operand], Node]:
    """self op other, of which Python's arithmetic on nodes consists."""
    return lambda self, other: _write(self.builder, op, self, other)


def _backward(op: str) -> Callable[[Node, Operand], Node]:
    """other op self."""
    return lambda self, other: _write(self.builder, op, other, self)


def _write(builder: Builder, op: str, *operands: Operand) -> Node:
    try:
        values = [x.value if isinstance(x, Node) else builder.const(x) for x in operands]
    except (TypeError, ValueError):  # what is no number may know what to do itself
        return NotImplemented
    structural = _structural(builder, op, values)
    return Node(builder, builder.emit(op, *values) if structural is None else structural)


def _structural(builder: Builder, op: str, values: Sequence[int]) -> int | None:
    """What vanishes by structure is 0, as plain zeros are, and a negative factor is a sign that sums take up."""
    if op == "sub" and values[0] == values[1]:
        return builder.const(0.0)
    if op != "mul":
        return None
    for value, other in (values, reversed(values)):
        factor = builder.numbers.get(value)
        if factor == 0.0:
            return builder.const(0.0)
        if factor is not None and factor < 0.0 and factor != -1.0:
            return builder.emit("neg", builder.emit("mul", builder.const(-factor), other))
    return None


class Node:
    """One value of a program being written; Python's arithmetic on it writes the next."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Builder, value: int) -> None:
        self.builder = builder
        self.value = value

    __add__, __radd__ = _forward("add"), _backward("add")
    __sub__, __rsub__ = _forward("sub"), _backward("sub")
    __mul__, __rmul__ = _forward("mul"), _backward("mul")
    __truediv__, __rtruediv__ = _forward("div"), _backward("div")
    __pow__, __rpow__ = _forward("pow"), _backward("pow")

    def __neg__(self) -> Node:
        return Node(self.builder, self.builder.emit("neg", self.value))

    def __pos__(self) -> Node:
        return self

    def __bool__(self) -> bool:
        raise TrundleError("a value of a program being traced has no truth: it is not known yet")

    def is_zero(self) -> bool:
        """Whether it is the constant 0."""
        return self.builder.numbers.get(self.value) == 0.0

    def looked_up(self, table: Table, place: int) -> Node:
        """A table's element, so many places behind this index."""
        return Node(self.builder, self.builder.lookup(table, place, self.value))

    @staticmethod
    def scalar_function(name: str, *arguments: Operand) -> Node:
        """A function of `trundle.scalars` by its name there."""
        op = _SCALAR_FUNCTIONS.get(name, name)
        if op not in _TRACED:
            raise TrundleError(f"traced programs do not have the function '{name}'")
        builder = next(a.builder for a in arguments if isinstance(a, Node))
        return _write(builder, op, *arguments)

    def __repr__(self) -> str:
        return f"<Node %{self.value}>"


class Tracer:
    """Inputs as scalars, and the programs that results computed from them make.

    >>> from trundle.program import Tracer
    >>> tracer = Tracer("state", "parameter")
    >>> (angle,), (gain,) = tracer.inputs("state", 1), tracer.inputs("parameter", 1)
    >>> labels = {"state": ("angle",), "parameter": ("gain",)}
    >>> tracer.program("spring", labels, {"torque": (("torque",), [-gain * angle])}).operations
    2
    """

    def __init__(self, *groups: str) -> None:
        self.groups = groups
        self.builder = Builder()

    def inputs(self, group: str, count: int, start: int = 0) -> list[Node]:
        """Elements `start` to `start + count` of an input group.

        Parameters
        ----------
        group : str
            One of the tracer's.
        count : int
            How many.
        start : int
            The first.

        Returns
        -------
        list of scalars

        Raises
        ------
        ValueError
            There is no such group.

        Examples
        --------
        >>> from trundle.program import Tracer
        >>> tracer = Tracer("state")
        >>> (x,) = tracer.inputs("state", 1)
        """
        place = self.groups.index(group)
        return [Node(self.builder, self.builder.load(place, start + k)) for k in range(count)]

    def program(
        self,
        name: str,
        inputs: Mapping[str, Sequence[str]],
        outputs: Mapping[str, tuple[Sequence[str], Sequence[Operand]]],
    ) -> Program:
        """The program from `inputs` (group → labels, in the order of the tracer's groups) to `outputs` (group →
        (labels, values)). Several programs may be taken from one tracer.

        Parameters
        ----------
        name : str
            What it is called.
        inputs : mapping of str to labels
            By group.
        outputs : mapping of str to (labels, values)
            Scalars of this tracer, or numbers.

        Returns
        -------
        Program

        Raises
        ------
        InputError
            The inputs aren't the tracer's, or labels and values differ in number.
        TrundleError
            The outputs hang on an input beyond the labels.

        Examples
        --------
        >>> from trundle.program import Tracer
        >>> tracer = Tracer("state")
        >>> (x,) = tracer.inputs("state", 1)
        >>> tracer.program("twice", {"state": ("x",)}, {"twice": (("2x",), [2.0 * x])})([3.0]).tolist()
        [6.0]
        """
        if tuple(inputs) != self.groups:
            raise InputError(f"program '{name}': expected the inputs {self.groups}, got {tuple(inputs)}")
        results: list[tuple[int, ...]] = []
        for group, (labels, values) in outputs.items():
            if len(labels) != len(values):
                raise InputError(f"group '{group}' has {len(labels)} labels but {len(values)} values")
            results.append(tuple(v.value if isinstance(v, Node) else self.builder.const(v) for v in values))
        program = Program(
            name,
            tuple(Group(group, tuple(labels)) for group, labels in inputs.items()),
            tuple(Group(group, tuple(labels)) for group, (labels, _) in outputs.items()),
            tuple(self.builder.instructions),
            tuple(results),
        )
        made = share_reciprocals(program)
        for each in made.instructions:
            if each.op == "input" and each.source[1] >= made.inputs[each.source[0]].size:
                group = made.inputs[each.source[0]]
                raise TrundleError(
                    f"program '{name}' reads element {each.source[1]} of '{group.name}', which has {group.size}"
                )
        return made


def scalars_by_name(groups: Mapping[str, Sequence[str]]) -> tuple[Tracer, dict[str, dict[str, Node]]]:
    """A tracer of these groups of labels, and its scalars by group and label."""
    tracer = Tracer(*groups)
    nodes = {group: tracer.inputs(group, len(labels)) for group, labels in groups.items()}
    return tracer, {group: dict(zip(labels, nodes[group], strict=True)) for group, labels in groups.items()}


def traced(program: Program, groups: Mapping[str, Sequence[Operand]]) -> dict[str, list[Node]]:
    """The outputs of a program on scalars of a tracer, by group."""
    given = [groups[group.name] for group in program.inputs]
    builder = next(value.builder for group in given for value in group if isinstance(value, Node))

    def load(group: int, element: int) -> int:
        value = given[group][element]
        return value.value if isinstance(value, Node) else builder.const(float(value))

    values = copied(builder, program, load)
    return {
        group.name: [Node(builder, values[place]) for place in results]
        for group, results in zip(program.outputs, program.results, strict=True)
    }
