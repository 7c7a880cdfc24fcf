"""What functions need of the parameters, computed once when these change: `prepare`, and the functions that take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from trundle.languages.package import Entry
from trundle.program import Group, Program, split
from trundle.program.simplify import Builder, copied, picked, without_dead

_PARAMETER, _PREPARED = "parameter", "prepared"
_Values = TypeVar("_Values")
_WORDS = "what `prepare` makes of the parameters"


def with_prepared(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, and behind them `prepare` with a twin NAME_prepared of all that take the parameters.

    A twin takes in their place what `prepare` made of them, once for all twins: what several need stands there once.
    A function that does nothing beside it has no twin.
    """
    first = next((entry for entry in entries if _parameter(entry) is not None), None)
    if first is None or (parameter := _parameter(first)) is None:
        return tuple(entries)
    builder = Builder()
    places: dict[int, int] = {}  # of the builder's values in the group `prepared`
    mains: dict[str, Program] = {}
    for entry in entries:
        if parameter in entry.program.inputs:
            preparation, main = split(entry.program, _PARAMETER)
            if main.operations:
                moved = picked(preparation.results, copied(builder, preparation, builder.load))[0]
                mains[entry.name] = _placed(main, moved, builder, places)
    group = Group(_PREPARED, tuple(f"{_PREPARED} {place + 1}" for place in range(len(places))))
    program = without_dead(
        Program("prepare", (parameter,), (group,), tuple(builder.instructions), (tuple(places),))
    )
    meaning = (
        "what all functions that end in _prepared need of the parameters: to be called when these change"
    )
    units = {_PARAMETER: first.units[_PARAMETER], _PREPARED: ("",) * group.size}
    defaults = {_PARAMETER: first.defaults[_PARAMETER]}
    prepare = Entry("prepare", first.part, program, meaning, units, defaults, {_PREPARED: _WORDS})
    twins = [_twin(entry, mains[entry.name], group) for entry in entries if entry.name in mains]
    return (*entries, prepare, *twins)


def with_used_parameters(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries with those parameters alone that one of them uses, the same for all."""
    taking = [entry for entry in entries if _parameter(entry) is not None]
    if not taking:
        return tuple(entries)
    used: set[int] = set()
    for entry in taking:
        at = entry.program.input_index(_PARAMETER)
        loads = (each.source for each in entry.program.instructions if each.op == "input")
        used |= {element for group, element in loads if group == at}
    kept = sorted(used)
    return tuple(_with_parameters(entry, kept) if entry in taking else entry for entry in entries)


def _with_parameters(entry: Entry, kept: Sequence[int]) -> Entry:
    """The entry whose parameters are those at some places, which it alone reads."""
    program, at = entry.program, entry.program.input_index(_PARAMETER)
    labels = program.inputs[at].labels
    inputs = list(program.inputs)
    inputs[at] = Group(_PARAMETER, tuple(labels[place] for place in kept))
    instructions = [
        each._replace(source=(at, kept.index(each.source[1])))
        if each.op == "input" and each.source[0] == at
        else each
        for each in program.instructions
    ]
    units, defaults = entry.units[_PARAMETER], entry.defaults[_PARAMETER]
    return replace(
        entry,
        program=replace(program, inputs=tuple(inputs), instructions=tuple(instructions)),
        units={**entry.units, _PARAMETER: tuple(units[place] for place in kept)},
        defaults={**entry.defaults, _PARAMETER: tuple(defaults[place] for place in kept)},
    )


def _parameter(entry: Entry) -> Group | None:
    """The group of the parameters, where the entry takes any."""
    named = (group for group in entry.program.inputs if group.name == _PARAMETER and group.size)
    return next(named, None)


def _placed(main: Program, moved: Sequence[int], builder: Builder, places: dict[int, int]) -> Program:
    """A main program that reads its parameters, too, in the group that all share, where those stood."""
    at, last = main.input_index(_PARAMETER), len(main.inputs) - 1
    instructions = list(main.instructions)
    for number, instruction in enumerate(instructions):
        group, element = instruction.source
        if instruction.op == "input" and group in (at, last):
            value = builder.load(0, element) if group == at else moved[element]
            place = places.setdefault(value, len(places))
            instructions[number] = instruction._replace(source=(at, place))
    return replace(main, inputs=main.inputs[:last], instructions=tuple(instructions))


def _twin(entry: Entry, main: Program, group: Group) -> Entry:
    """The entry that takes what was prepared in place of the parameters."""
    inputs = tuple(group if own.name == _PARAMETER else own for own in main.inputs)
    return Entry(
        f"{entry.name}_prepared",
        entry.part,
        replace(main, inputs=inputs),
        f"the same as {entry.name}, by what prepare made of the parameters",
        {**_without_parameter(entry.units), _PREPARED: ("",) * group.size},
        _without_parameter(entry.defaults),
        {**entry.unnamed, _PREPARED: _WORDS},
    )


def _without_parameter(groups: Mapping[str, _Values]) -> dict[str, _Values]:
    return {name: values for name, values in groups.items() if name != _PARAMETER}
