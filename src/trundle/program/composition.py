"""Programs put together and taken apart: fed by another, beside another, parted by what changes seldom."""

from __future__ import annotations

from dataclasses import replace

from trundle.program.ir import LOADS, Group, Instruction, Program
from trundle.program.simplify import Builder, copied, hoist_reciprocals, picked, without_dead

PREPARED = "prepared"
"""The group of what is computed beforehand: the preparation's output, and the main program's last input."""
SELDOM = "parameter"
"""The input group that kernels of one state expect to change seldom: a run has one set of parameters."""


def for_one_state(program: Program) -> tuple[Program | None, Program]:
    """What a kernel of one state computes whenever its parameters change, None if that doesn't pay, and every time.

    The kernel compares the parameters with the last ones, four at a time by two loads, a difference and a union: an
    instruction a parameter. So it pays where more operations move than there are parameters.
    """
    if SELDOM not in [group.name for group in program.inputs]:
        return None, program
    preparation, main = split(program, SELDOM)
    pays = program.operations - main.operations > preparation.inputs[0].size
    return (preparation, main) if pays else (None, program)


def split(program: Program, *groups: str) -> tuple[Program, Program]:
    """The preparation and the main program: main(x, …, preparation(p)) = program(x, …) but for rounding.

    The preparation holds all operations on `groups` alone. Of their values those move on that the rest reads: inputs
    and constants stay where they are, as reading them costs nothing. A value that moves on costs the main program one
    load in place of one operation or more, so that it never gets longer. Quotients x/d with such a d become x (1/d).

    Parameters
    ----------
    program : Program
        What is evaluated often.
    *groups : str
        Input groups that change seldom.

    Returns
    -------
    (Program, Program)
        The preparation, from `groups` in the program's order to the one group `prepared`, which is empty where nothing
        hangs on them alone; then the main program, from all input groups and `prepared` to the program's outputs.

    Raises
    ------
    InputError
        There is no such group.

    Examples
    --------
    >>> import trundle
    >>> from trundle.program import split
    >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
    >>> preparation, main = split(program, "parameter")
    >>> state, parameter = [0.5, 0.0], list(trundle.derive(trundle.catalog.pendulum(links=1)).parameters.values())
    >>> rates = main(state, [], parameter, preparation(parameter))
    >>> bool(abs(rates - program(state, [], parameter)).max() < 1e-12)
    True
    """
    fixed = {program.input_index(name) for name in groups}
    program = hoist_reciprocals(program, lambda source: source[0] not in fixed)
    early = {
        i.out
        for i, read in zip(program.instructions, program.dependencies, strict=True)
        if i.op not in LOADS and read <= fixed
    }
    needed = {a for i in program.instructions if i.out not in early for a in i.args}
    needed.update(value for group in program.results for value in group)
    moved = tuple(sorted(needed & early))
    prepared = Group(PREPARED, tuple(f"{PREPARED} {k + 1}" for k in range(len(moved))))
    return _preparation(program, sorted(fixed), moved, prepared), _main(program, moved, prepared)


def _preparation(program: Program, fixed: list[int], moved: tuple[int, ...], prepared: Group) -> Program:
    """From the fixed groups to the values that move on."""
    name, inputs = f"{program.name}, prepared", tuple(program.inputs[g] for g in fixed)
    alone = without_dead(replace(program, outputs=(prepared,), results=(moved,), function=None))
    instructions = tuple(
        i._replace(source=(fixed.index(i.source[0]), i.source[1])) if i.op == "input" else i
        for i in alone.instructions
    )
    return replace(alone, name=name, inputs=inputs, instructions=instructions)


def _main(program: Program, moved: tuple[int, ...], prepared: Group) -> Program:
    """The program with the values that move on as inputs."""
    places = {value: (len(program.inputs), k) for k, value in enumerate(moved)}
    instructions = tuple(
        Instruction("input", i.out, source=places[i.out]) if i.out in places else i
        for i in program.instructions
    )
    inputs = (*program.inputs, prepared)
    return without_dead(replace(program, inputs=inputs, instructions=instructions, function=None))


def feed(program: Program, inner: Program, group: str = "state", seen: Program | None = None) -> Program:
    """program(inner(x, …), …): the first elements of its input `group` are the only output of `inner`.

    All have the same input groups by name; what `inner` has no output for (further elements) is passed through. Of the
    group that is fed the longer one stands in the result, as `inner` may take more than it gives. With
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
    taken = inner.inputs[inner.input_index(group)]
    longer = len(taken.labels) > len(program.inputs[fed].labels)
    inputs = tuple(taken if longer and g == fed else read for g, read in enumerate(program.inputs))
    joined = replace(
        program, inputs=inputs, outputs=outputs, instructions=tuple(builder.instructions), results=results
    )
    return without_dead(replace(joined, function=None))


def with_outputs_of(program: Program, other: Program, group: str, name: str) -> Program:
    """One program with the outputs of both, which share input groups by name but `group`: the other's is `name`, and
    stands last.
    """
    builder = Builder()
    apart = other.inputs[other.input_index(group)]
    known = [read.name for read in program.inputs]
    further = [read for read in other.inputs if read.name not in (group, *known)]
    inputs = (*program.inputs, *further, Group(name, apart.labels))
    names = [read.name for read in inputs]
    places = [names.index(name if read.name == group else read.name) for read in other.inputs]
    values = copied(builder, program, builder.load)
    others = copied(builder, other, lambda g, e: builder.load(places[g], e))
    results = picked(program.results, values) + picked(other.results, others)
    outputs = (*program.outputs, *other.outputs)
    return without_dead(Program(program.name, inputs, outputs, tuple(builder.instructions), results))
