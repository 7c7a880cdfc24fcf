"""Programs put together: one fed by another, or two side by side in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trundle.program.ir import Group, Program
from trundle.program.simplify import Builder, without_dead


def feed(program: Program, inner: Program, group: str = "state") -> Program:
    """program(inner(x, …), …): the first elements of its input `group` are the only output of `inner`.

    Both have the same input groups by name; what `inner` has no output for (further elements) is passed through.
    """
    builder = Builder()
    fed = program.input_index(group)
    places = [program.input_index(each.name) for each in inner.inputs]
    values = _copy(builder, inner, lambda g, e: builder.load(places[g], e))
    moved = [values[result] for result in inner.results[0]]

    def load(g: int, e: int) -> int:
        return moved[e] if g == fed and e < len(moved) else builder.load(g, e)

    values = _copy(builder, program, load)
    results = tuple(tuple(values[v] for v in each) for each in program.results)
    instructions = tuple(builder.instructions)
    return without_dead(replace(program, instructions=instructions, results=results, function=None))


def beside(program: Program, other: Program, group: str, name: str) -> Program:
    """One program with the outputs of both, which share all input groups by name but `group`: the other's is `name`."""
    builder = Builder()
    own = other.inputs[other.input_index(group)]
    inputs = (*program.inputs, Group(name, own.labels))
    places = [
        len(program.inputs) if each.name == group else program.input_index(each.name) for each in other.inputs
    ]
    values = _copy(builder, program, builder.load)
    others = _copy(builder, other, lambda g, e: builder.load(places[g], e))
    results = [tuple(values[v] for v in each) for each in program.results]
    results += [tuple(others[v] for v in each) for each in other.results]
    joined = Program(
        program.name, inputs, (*program.outputs, *other.outputs), tuple(builder.instructions), tuple(results)
    )
    return without_dead(joined)


def _copy(builder: Builder, program: Program, load: Callable[[int, int], int]) -> list[int]:
    """The program's instructions put into a builder, its inputs by `load(group, element)`; the values by old number."""
    values: list[int] = []
    for op, _, args, value, source in program.instructions:
        if op == "const":
            values.append(builder.const(value))
        elif op == "input":
            values.append(load(*source))
        else:
            values.append(builder.emit(op, *(values[a] for a in args)))
    return values
