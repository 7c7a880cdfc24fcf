"""Numbers and names that users pass: numbers, text with units, mappings; each checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trundle.documents.runcheck import quantity_in
from trundle.errors import InputError
from trundle.model.model import Model
from trundle.robot import Robot
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import describe, read_value


def named(given: Any, what: str) -> Mapping[str, Any]:
    """A mapping of names, or nothing; InputError for anything else."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    raise InputError(
        f"{what} are given by name, not as {kind_of(given)}",
        key=what,
        hint='write a mapping such as {"NAME": 1.0}',
    )


def number(given: Any, name: str, unit: str = "") -> float:
    """A finite number in SI, from a number or text with a unit that fits `unit`; InputError with the name as key."""
    if isinstance(given, np.ndarray) and given.size == 1 and given.dtype.kind in "fiu":
        given = given.item()
    try:
        value = read_value(given, quantity_in(unit))
    except ExpressionError as error:
        hint = f"write a number{f' in {unit}' if unit else ''}, or text with a unit"
        raise InputError(_expected(given, error), key=name, hint=hint) from None
    if value.names:
        raise InputError(
            f"expected a number, got {describe(given)}",
            key=name,
            hint=f"write a number{f' in {unit}' if unit else ''}, or text with a unit",
        )
    return value.number


def _expected(given: Any, error: ExpressionError) -> str:
    if isinstance(given, str) or (isinstance(given, (int, float)) and not isinstance(given, bool)):
        return str(error)
    return f"expected a number, got {kind_of(given)}"


def kind_of(given: Any) -> str:
    """What an unexpected argument is, for a message."""
    return f"{type(given).__name__} {describe(given)}" if isinstance(given, str) else type(given).__name__


def robot_of(given: Robot | Model, call: str, lacking: str) -> Robot:
    """The robot given, or the one that a model was derived from.

    Raises InputError for what is neither, naming the `call`, and for a model without a description, saying what is
    `lacking` then.
    """
    robot = given.robot if isinstance(given, Model) else given
    if robot is None:
        raise InputError(f"'{given.name}' was not derived from a description: {lacking}")
    if isinstance(robot, Robot):
        return robot
    raise InputError(
        f"{call} takes a robot or a model, not {kind_of(given)}",
        hint="load one: trundle.load(path), or take one of trundle.catalog",
    )
