"""A program in two: what hangs on parameters alone, for whenever they change, and the rest, for every state."""

from __future__ import annotations

from dataclasses import replace

from trundle.program.ir import LOADS, Group, Instruction, Program
from trundle.program.simplify import hoist_reciprocals, without_dead

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
    program = hoist_reciprocals(program, {(g, e) for g in fixed for e in range(program.inputs[g].size)})
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


def operations_left(program: Program, *groups: str) -> int:
    """Operations of the main program, as `split` leaves it."""
    _, main = split(program, *groups)
    return main.operations


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
