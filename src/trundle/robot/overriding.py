"""A robot's parameters with some of their numbers changed."""

from __future__ import annotations

from collections.abc import Mapping

from trundle.errors import InputError, suggest
from trundle.robot.axles import aligned_axles, say
from trundle.robot.checks import check_numbers, tilt
from trundle.robot.expressions import UNKNOWN, ExpressionError, dimension_of
from trundle.robot.parameters import dimensions, numbers, quantities, written_keys
from trundle.robot.parts import Parts
from trundle.robot.problems import report
from trundle.robot.units import PhysicalQuantity, unit_text
from trundle.robot.values import Value, check_dimension, read_value


def override(robot: Parts, changes: Mapping[str, float | str | Value]) -> dict[str, float]:
    """`parameter_values` with some changed; raises InputError on unknown names, wrong units, numbers out of bounds."""
    result = dict(robot.own_numbers)
    by_key = {value.key: value for _, value in robot.every_value}
    known, uses = dimensions(robot), quantities(robot)
    for name, written in changes.items():
        if name not in result:
            raise _unknown_parameter(robot, name, result)
        try:
            value = read_value(written, by_key[name].quantity)
            if value.names:
                raise ExpressionError(f"{value.source!r} uses {', '.join(value.names)}", "give a number")
            dimension, expected = known.get(name, UNKNOWN), uses.get(name)
            if not isinstance(dimension, str):
                expected = PhysicalQuantity("quantity", unit_text(dimension), dimension)
            if expected is not None:
                check_dimension(dimension_of(value.expression, lambda used: UNKNOWN), expected)
        except ExpressionError as error:
            raise InputError(str(error), key=name, hint=error.hint) from None
        result[name] = value.number
    if not numbers(robot, result)[1]:
        result |= aligned_axles(robot, result, changes)
    problems = check_numbers(robot, result)
    if problems:
        first = report(problems)
        raise InputError(f"{first.key}: {first.message}", key=", ".join(changes), hint=first.hint)
    for note in tilt(robot, result):
        say(robot, note)
    return result


def _unknown_parameter(robot: Parts, name: str, known: Mapping[str, float]) -> InputError:
    """An error that says why a name can't be changed: it follows from others, is a plain 0, or is unknown."""
    written = {value.key: value for _, value in robot.every_value}
    value = robot.parameters.get(name, written.get(name))
    if value is not None and value.names:
        message = f"{name!r} follows from {', '.join(value.names)} ({value.source})"
        return InputError(message, key=name, hint=f"change {' or '.join(value.names)} instead")
    if value is not None and value.constant:
        hint = "change it in the description, and derive the robot anew"
        return InputError("shapes the programs, and is not a parameter", key=name, hint=hint)
    if value is not None:
        hint = "give it a parameter's name there, and the parameter a number"
        return InputError("is a plain 0 in the description, which stays 0", key=name, hint=hint)
    return InputError(
        f"there is no parameter {name!r}",
        key=name,
        hint=suggest(name, [*known, *written_keys(robot)], most=40),
    )
