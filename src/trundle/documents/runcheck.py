"""Checks on a run that need to know the robot's inputs and states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trundle.documents.runspec import RunSpec, Table
from trundle.errors import InputError, suggest
from trundle.robot import units
from trundle.robot.description import Robot
from trundle.robot.dimensions import UNKNOWN, dimension_of
from trundle.robot.expressions import ExpressionError
from trundle.robot.problems import Problem, report
from trundle.robot.units import Measure
from trundle.robot.values import Value, check_dimension

_BY_UNIT = {each.unit: each for each in vars(units).values() if isinstance(each, Measure) and each.unit}

# How many problems are looked for: each costs the search for a name that is near.
_ENOUGH = 20


def quantity_in(unit: str) -> Measure:
    """What a value in this unit measures ("rad/s": an angular rate); any quantity where the unit says nothing."""
    return _BY_UNIT.get(unit, units.ANY)


def check_run(
    robot: Robot,
    run: RunSpec,
    inputs: Mapping[str, str] | Iterable[str],
    states: Mapping[str, str] | Iterable[str],
    dependent: Mapping[str, str] | None = None,
) -> None:
    """Raise InputError where a run names inputs, states or parameters that don't exist, or gives them in wrong units.

    `inputs` and `states` are the known names, mapped to their unit ("V") where the dimension shall be checked too;
    `dependent` maps names that follow from the states to a word on that.
    Keys of the error start at the file's top ("run.inputs.left.voltage"), so Document.locate finds their line.
    """
    problems: list[Problem] = []
    for family, given, known in (("inputs", run.inputs, inputs), ("initial", run.initial, states)):
        noun = {"inputs": "input", "initial": "state"}[family]
        names = list(known)
        unit_of = known if isinstance(known, Mapping) else {}
        for name, signal in given.items():
            if len(problems) > _ENOUGH:
                break
            path = ("run", family, name)
            if noun == "state" and name in (dependent or {}):
                problems.append(
                    Problem(path, f"{name!r} {(dependent or {})[name]}", f"give some of: {', '.join(names)}")
                )
                continue
            if name not in names:
                mode = f" in a {run.mode} run" if noun == "input" else ""
                problems.append(
                    Problem(path, f"there is no {noun} {name!r}{mode}", suggest(name, names, most=30))
                )
                continue
            quantity = _BY_UNIT.get(unit_of.get(name, ""))
            values = (
                signal.values if isinstance(signal, Table) else [signal] if isinstance(signal, Value) else []
            )
            problems += [
                problem for value in values if (problem := _dimension(path, value, quantity)) is not None
            ]
    if problems:
        raise report(problems)
    try:
        robot.parameter_values(run.set)
    except InputError as error:
        raise InputError(error.message, key=f"run.set.{error.key}", hint=error.hint) from None


def _dimension(path: tuple[str, ...], value: Value, quantity: Measure | None) -> Problem | None:
    if quantity is None or isinstance(value.source, float):
        return None
    try:
        check_dimension(dimension_of(value.expression, lambda name: UNKNOWN), quantity)
    except ExpressionError as error:
        hint = (error.hint or "").replace(" or a parameter's name", "")
        return Problem(path, f"{value.source!r}: {error}", hint)
    return None
