"""Straight-line programs: named groups of numbers in, named groups out, scalar instructions between.

A program is in single-assignment form: instruction ``k`` defines value ``k`` and refers to earlier values only.
It has no loops and no branches (a choice is a ``select``), so it can run on a vector of lanes, one robot a lane,
and be printed in any language by one small emitter.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from trundle.errors import InputError, suggest
from trundle.frozen import Rebuilt
from trundle.scalars import SX
from trundle.shown import Displayable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from trundle.tables import Table

LOADS = frozenset({"input", "const"})
"""Operations that compute nothing: reading an input, naming a constant."""

LATENCY = {"lookup": 20, "div": 24, "inv": 24, "sqrt": 30, "sin": 70, "cos": 70, "atan": 90, "atan2": 90}
"""Cycles from operands to result where that is not the 4 of a sum or product (x86-64 of 2020 on; sin as inlined)."""

ARITY: dict[str, int] = {
    **dict.fromkeys(("input", "const"), 0),
    **dict.fromkeys((
        "neg", "sq", "twice", "inv", "sqrt", "abs", "sign", "floor", "ceil", "exp", "log", "expm1", "log1p", "erf",
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "not", "lookup",
    ), 1),
    **dict.fromkeys((
        "add", "sub", "mul", "div", "pow", "lt", "le", "eq", "ne", "and", "or", "fmod", "remainder", "copysign",
        "if_else_zero", "min", "max", "atan2", "hypot",
    ), 2),
    "select": 3,
}  # fmt: skip
"""Every operation that a program may hold, and how many operands it takes."""

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}


@dataclass(frozen=True, slots=True)
class Group:
    """A named vector of numbers, one label an element: ``Group("state", ("x", "y", "theta"))``."""

    name: str
    labels: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many numbers the group holds."""
        return len(self.labels)


class Instruction(NamedTuple):
    """One scalar step: value ``out`` is ``op`` of the values ``args``.

    ``op == "const"`` carries ``value``; ``op == "input"`` carries ``source``, the (group, element) it reads;
    ``op == "lookup"`` the ``table`` that it reads at its operand, and as ``value`` how many places behind that.
    """

    op: str
    out: int
    args: tuple[int, ...] = ()
    value: float = 0.0
    source: tuple[int, int] = (-1, -1)
    table: Table | None = None

    @property
    def latency(self) -> int:
        """Cycles from operands to result."""
        return 0 if self.op in LOADS else LATENCY.get(self.op, 4)


@dataclass(frozen=True, repr=False)
class Program(Rebuilt, Displayable):
    """Instructions from input groups to output groups.

    ``results[g][i]`` is the value that output group ``g`` stores at element ``i``. ``function`` is the CasADi
    function the program was read from; it serves differentiation and checks, and is None for a derived program.
    """

    name: str
    inputs: tuple[Group, ...]
    outputs: tuple[Group, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[tuple[int, ...], ...]
    function: SX = field(default=None, compare=False)

    @cached_property
    def operations(self) -> int:
        """Number of arithmetic instructions: loads, stores and constants are not counted."""
        return sum(i.op not in LOADS for i in self.instructions)

    def count_by_op(self) -> dict[str, int]:
        """How often arithmetic operations occur, the most frequent first.

        Returns
        -------
        dict of str to int

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> sum(program.count_by_op().values()) == program.operations
        True
        """
        return dict(Counter(i.op for i in self.instructions if i.op not in LOADS).most_common())

    def operations_excluding(self, *groups: str) -> int:
        """Operations left for an evaluation when whatever depends on ``groups`` alone is computed once before.

        Parameters
        ----------
        *groups : str
            Input groups.

        Returns
        -------
        int

        Raises
        ------
        InputError
            There is no such group.

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> program.operations_excluding("parameter") < program.operations
        True
        """
        from trundle.program.composition import split

        return split(self, *groups)[1].operations

    @cached_property
    def dependencies(self) -> tuple[frozenset[int], ...]:
        """By value, the indices of the input groups that it depends on."""
        read: list[frozenset[int]] = []
        for instruction in self.instructions:
            if instruction.op == "input":
                read.append(frozenset({instruction.source[0]}))
            else:
                read.append(frozenset().union(*(read[a] for a in instruction.args)))
        return tuple(read)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """By value, the cycle at which it can be there at the earliest, by the latencies of current cores."""
        ends: list[int] = []
        for i in self.instructions:
            ends.append(i.latency + max((ends[a] for a in i.args), default=0))
        return tuple(ends)

    @cached_property
    def last(self) -> dict[int, int]:
        """By value, the last one that is computed from it; results are needed beyond."""
        results = {value for group in self.results for value in group}
        return {a: i.out for i in self.instructions for a in i.args if a not in results}

    @property
    def depth(self) -> int:
        """Cycles of the longest chain of operations that need each other's results.

        Beside the operations, of which two units do two a cycle, it says whether order or amount limits the speed.
        """
        return max(self.ends, default=0)

    @cached_property
    def casadi_function(self) -> SX:
        """The program as a CasADi function: the one it was read from, or one made of its instructions."""
        from trundle.program.trace import to_casadi

        return to_casadi(self) if self.function is None else self.function

    @cached_property
    def key(self) -> str:
        """A digest of the content: equal for programs with the same instructions and layout."""
        sizes = [g.size for g in self.inputs], [g.size for g in self.outputs]
        tables = [i.table.digest for i in self.instructions if i.table is not None]
        found = hashlib.sha256(repr((sizes, self.results, tables)).encode())
        found.update(" ".join(i.op for i in self.instructions).encode())
        for kind, numbers in (
            ("q", chain.from_iterable(i.args for i in self.instructions)),
            ("q", chain.from_iterable(i.source for i in self.instructions)),
            ("d", (i.value for i in self.instructions)),
        ):
            found.update(array(kind, numbers).tobytes())
        return found.hexdigest()

    def input_index(self, name: str) -> int:
        """Position of the input group ``name``; InputError if there is none.

        Parameters
        ----------
        name : str
            Of the group.

        Returns
        -------
        int

        Raises
        ------
        InputError
            There is no such group.

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> program.inputs[program.input_index("state")].labels
        ('link_1.angle', 'link_1.rate')
        """
        return _index(self.inputs, name, "input", self.name)

    def output_index(self, name: str) -> int:
        """Position of the output group ``name``; InputError if there is none.

        Parameters
        ----------
        name : str
            Of the group.

        Returns
        -------
        int

        Raises
        ------
        InputError
            There is no such group.

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> program.output_index(program.outputs[0].name)
        0
        """
        return _index(self.outputs, name, "output", self.name)

    def jacobian(self, of: str, wrt: str) -> Program:
        """The dense matrix d of/d wrt as a program with the same inputs, row-major (see `trace.differentiated`).

        Parameters
        ----------
        of : str
            An output group, of size m.
        wrt : str
            An input group, of size n.

        Returns
        -------
        Program
            One output group (m n,).

        Raises
        ------
        InputError
            There is no such group.

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> program.jacobian(program.outputs[0].name, "state").outputs[0].size
        4
        """
        from trundle.program.trace import differentiated

        return differentiated(self, of, [wrt], shown=False)

    def with_jacobians(self, of: str, *wrt: str) -> Program:
        """``of`` and d of/d wrt for the input groups in ``wrt``, as one program (see `trace.differentiated`).

        Parameters
        ----------
        of : str
            An output group.
        *wrt : str
            Input groups.

        Returns
        -------
        Program

        Raises
        ------
        InputError
            There is no such group.

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> len(program.with_jacobians(program.outputs[0].name, "state").outputs)
        2
        """
        from trundle.program.trace import differentiated

        return differentiated(self, of, wrt, shown=True)

    def __call__(
        self, *groups: ArrayLike, batch: str = "last", **named: ArrayLike
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], ...]:
        """Evaluate in native code, compiled at the first call: ``model.dynamics(x, u, parameter=p)``.

        Groups in order or by name, (n,) for one state or (n, count) for many; the output group, or a tuple of all.
        With ``batch="first"`` a state is a row, (count, n), of what is given and of what is returned.
        """
        from trundle.program.kernel import call_program

        return call_program(self, groups, named, batch)

    def evaluate(self, *groups: ArrayLike) -> tuple[np.ndarray, ...]:
        """Evaluate with CasADi's own interpreter; slow, meant as a check on kernels (see `trace.evaluate`).

        Parameters
        ----------
        *groups : array_like (n,) or (n, count)
            One an input group, in order.

        Returns
        -------
        tuple of arrays
            One an output group.

        Raises
        ------
        RuntimeError
            Shapes don't fit.

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics

        >>> groups = [np.ones(group.size) for group in program.inputs]
        >>> bool(np.allclose(program.evaluate(*groups)[0], program(*groups)))
        True
        """
        from trundle.program.trace import evaluate

        return evaluate(self, groups)

    def describe(self) -> str:
        """A readable listing: the groups, then one line an instruction, then the results.

        Returns
        -------
        str

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> program.describe().splitlines()[0].split(":")[0]
        'program dynamics'
        """
        lines = [f"program {self.name}: {self.operations} operations"]
        lines += [f"  in  {g.name}: {', '.join(g.labels)}" for g in self.inputs]
        return "\n".join([*lines, *(f"  {step}" for step in self.steps())])

    def steps(self) -> Iterator[str]:
        """The listing's lines one by one: instructions that compute something, then the results.

        Returns
        -------
        iterator of str

        Examples
        --------
        >>> import trundle
        >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
        >>> len(list(program.steps())) > program.operations
        True
        """
        names: list[str] = []
        for instruction in self.instructions:
            names.append(self._name(instruction))
            if instruction.op not in LOADS:
                yield f"{names[-1]} = {_expression(instruction, names)}"
        for group, values in zip(self.outputs, self.results, strict=True):
            for label, v in zip(group.labels, values, strict=True):
                yield f"out {group.name}[{label}] = {names[v]}"

    def _name(self, instruction: Instruction) -> str:
        if instruction.op == "const":
            return f"{instruction.value:.17g}"
        if instruction.op == "input":
            group = self.inputs[instruction.source[0]]
            return f"{group.name}[{group.labels[instruction.source[1]]}]"
        return f"%{instruction.out}"


def _expression(instruction: Instruction, names: list[str]) -> str:
    args = [names[a] for a in instruction.args]
    if instruction.op in INFIX:
        return f"{args[0]} {INFIX[instruction.op]} {args[1]}"
    if instruction.table is not None:
        return f"{instruction.table}[{args[0]} + {instruction.value:.0f}]"
    return f"{instruction.op}({', '.join(args)})"


def _index(groups: tuple[Group, ...], name: str, kind: str, program: str) -> int:
    names = [g.name for g in groups]
    if name not in names:
        raise InputError(f"program '{program}' has no {kind} group '{name}'; {suggest(name, names)}")
    return names.index(name)
