"""Programs put together: one fed by another, or two side by side in one."""

from __future__ import annotations

from dataclasses import replace

from trundle.program.ir import Group, Program
from trundle.program.simplify import Builder, copied, picked, without_dead


def feed(program: Program, inner: Program, group: str = "state", seen: Program | None = None) -> Program:
    """program(inner(x, …), …): the first elements of its input `group` are the only output of `inner`.

    All have the same input groups by name; what `inner` has no output for (further elements) is passed through. With
    `seen` the output of `inner` itself follows, and then those of seen(inner(x, …), …).

    Parameters
    ----------
    program : Program
        What takes the result.
    inner : Program
        What gives it.
    group : str
        The input group of `program` that is fed.
    seen : Program, optional
        What else is asked for there; what it shares with `program` is computed once.

    Returns
    -------
    Program

    Raises
    ------
    InputError
        `program` has no such group, or lacks one of `inner`.

    Examples
    --------
    >>> from trundle.program import Tracer, feed
    >>> def times(factor):
    ...     tracer = Tracer("state")
    ...     (x,) = tracer.inputs("state", 1)
    ...     return tracer.program("times", {"state": ("x",)}, {"state": (("x",), [factor * x])})
    >>> feed(times(2.0), times(3.0))([1.0]).tolist()
    [6.0]
    """
    builder = Builder()
    fed = program.input_index(group)

    def outer(part: Program) -> list[int]:
        return [program.input_index(read.name) for read in part.inputs]

    places = outer(inner)
    values = copied(builder, inner, lambda g, e: builder.load(places[g], e))
    moved = tuple(values[result] for result in inner.results[0])

    def load(g: int, e: int) -> int:
        return moved[e] if g == fed and e < len(moved) else builder.load(g, e)

    results, outputs = picked(program.results, copied(builder, program, load)), program.outputs
    if seen is not None:
        at = outer(seen)
        looked = copied(builder, seen, lambda g, e: load(at[g], e))
        results = (*results, moved, *picked(seen.results, looked))
        outputs = (*outputs, inner.outputs[0], *seen.outputs)
    joined = replace(program, outputs=outputs, instructions=tuple(builder.instructions), results=results)
    return without_dead(replace(joined, function=None))


def beside(program: Program, other: Program, group: str, name: str) -> Program:
    """One program with the outputs of both, which share all input groups by name but `group`: the other's is `name`."""
    builder = Builder()
    apart = other.inputs[other.input_index(group)]
    inputs = (*program.inputs, Group(name, apart.labels))
    places = [
        len(program.inputs) if read.name == group else program.input_index(read.name) for read in other.inputs
    ]
    values = copied(builder, program, builder.load)
    others = copied(builder, other, lambda g, e: builder.load(places[g], e))
    results = picked(program.results, values) + picked(other.results, others)
    outputs = (*program.outputs, *other.outputs)
    return without_dead(Program(program.name, inputs, outputs, tuple(builder.instructions), results))
