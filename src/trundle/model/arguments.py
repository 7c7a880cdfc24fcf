"""What users pass: robots, models and files, numbers, text with units, mappings; each checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from trundle.documents import Document, load
from trundle.documents.document import MODEL_SUFFIX
from trundle.errors import InputError
from trundle.files import path_of
from trundle.model.archive import open_model
from trundle.model.derive import derive
from trundle.model.model import Model
from trundle.robot import Robot, require_base_mass, units
from trundle.robot.expressions import ExpressionError
from trundle.robot.units import Measure
from trundle.robot.values import Value, describe, read_value

# What runs and analyses take first: a robot, its model, or where one is described.
Given = Robot | Model | Document | str | os.PathLike[str] | Mapping[str, object]

_T = TypeVar("_T")
_BY_UNIT = {each.unit: each for each in vars(units).values() if isinstance(each, Measure) and each.unit}


def named(given: Mapping[str, _T] | None, what: str) -> Mapping[str, _T]:
    """A mapping of names, or nothing; InputError for anything else."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise InputError(f"names are text, not {kind_of(name)}: {name!r}", key=what)
        return given
    raise InputError(
        f"{what} are given by name, not as {kind_of(given)}",
        key=what,
        hint='write a mapping such as {"NAME": 1.0}'
        + (", here dict(...) of it" if hasattr(given, "items") else ""),
    )


def number(given: object, name: str, unit: str = "") -> float:
    """A finite number in SI, from a number or text with a unit that fits `unit`; InputError with the name as key."""
    if isinstance(given, np.ndarray) and given.size == 1 and given.dtype.kind in "fiu":
        given = given.item()
    hint = f"write a number{f' in {unit}' if unit else ''}, or a number with a unit"
    try:
        value = read_value(given, _BY_UNIT.get(unit, units.ANY))
    except ExpressionError as error:
        told = isinstance(given, (str, int, float, Value)) and not isinstance(given, bool)
        message = str(error) if told else f"expected a number, got {kind_of(given)}"
        raise InputError(message, key=name, hint=hint) from None
    if value.names:
        raise InputError(f"expected a number, got {describe(given)}", key=name, hint=hint)
    return value.number


def three(given: Sequence[float | str], key: str, parts: str, units: Sequence[str]) -> tuple[float, ...]:
    """Three finite numbers in SI, from numbers or text with units."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 3:
        raise InputError(f"expected a {key}'s {parts}, got {given!r}", key=key)
    return tuple(number(value, key, unit) for value, unit in zip(given, units, strict=True))


def kind_of(given: object) -> str:
    """What an unexpected argument is, for a message."""
    return f"{type(given).__name__} {describe(given)}" if isinstance(given, str) else type(given).__name__


def robot_of(given: Given, call: str, lacking: str) -> Robot:
    """The robot that was given, or the one that a model was derived from, or a file describes.

    Raises InputError for what is none of these, naming the `call`, and for a model without a description, saying what
    is `lacking` then.
    """
    source = opened(given, call)
    robot = source if isinstance(source, Robot) else source.robot
    if robot is None:
        name = source.name if isinstance(source, Model) else "this"
        raise InputError(f"'{name}' was not derived from a description: {lacking}")
    return robot


def model_of(given: Given, call: str) -> Model:
    """The model that was given, or the one of what was given, derived here: for runs with forces.

    Raises InputError for what is none of these, naming the `call`, and for a base without a mass to accelerate.
    """
    model = derived(given, call)
    if model.robot is not None:
        require_base_mass(model.robot)
    return model


def derived(given: Given, call: str) -> Model:
    """The model that was given, or the one of what was given, derived here, for kinematics too: its base may have no
    mass.

    Raises InputError for what is none of these, naming the `call`.
    """
    source = opened(given, call)
    if isinstance(source, Document):
        source = source.robot
    return source if isinstance(source, Model) else derive(source)


def opened(given: Given, call: str) -> Robot | Model | Document:
    """What a path leads to or a mapping describes; a robot, a model or a document as it is. Raises InputError."""
    if isinstance(given, (Robot, Model, Document)):
        return given
    if isinstance(given, Mapping):
        return load(given)
    if isinstance(given, (str, os.PathLike)):
        path = path_of(given, call)
        return open_model(path) if path.name.lower().endswith(MODEL_SUFFIX) else load(path)
    raise InputError(
        f"{call} takes a robot, a model or a file, not {kind_of(given)}",
        hint="load one: trundle.load(path), or take one of trundle.catalog",
    )
