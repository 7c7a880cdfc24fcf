"""What users pass: robots, models and files, numbers, text with units, mappings; each checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from trundle.documents import Document, load
from trundle.errors import InputError
from trundle.files import path_of
from trundle.model.closed_loop import closed_model, controllers_alone
from trundle.model.derive import derive_robot
from trundle.model.model import Model
from trundle.model.plant import Plant
from trundle.robot import Robot, require_base_mass, units
from trundle.robot.controllers import Controller
from trundle.robot.description import check_base, with_base
from trundle.robot.expressions import ExpressionError
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import Value, describe, read_value

# What runs and analyses take first: a robot, its model, or where one is described.
Given = Robot | Model | Document | str | os.PathLike[str] | Mapping[str, object]

_T = TypeVar("_T")
_BY_UNIT = {
    each.unit: each for each in vars(units).values() if isinstance(each, PhysicalQuantity) and each.unit
}


def named(given: Mapping[str, _T] | None, what: str) -> Mapping[str, _T]:
    """A mapping of names, or nothing; InputError for anything else."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise InputError(f"names are text, not {kind_of(name)}: {name!r}", key=what)
        return given
    hint = 'write a mapping such as {"NAME": 1.0}' + (
        ", here dict(...) of it" if hasattr(given, "items") else ""
    )
    if isinstance(getattr(given, "state", None), Mapping):  # a trim's
        hint = "it has them: give its .state" + (
            "; .linearize() takes its inputs, too" if what == "state" else ""
        )
    raise InputError(f"expected a mapping of names, got {kind_of(given)}", key=what, hint=hint)


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


def robot_of(given: Given, call: str, lacking: str, base: str | None = None) -> Robot:
    """The robot that was given, or the one that a model was derived from, or a file describes.

    Raises InputError for what is none of these, naming the `call`, and for a model without a description, saying what
    is `lacking` then. With another `base` where one is asked for, here and below.
    """
    source = opened(given, call, base)
    robot = source if isinstance(source, Robot) else source.robot
    if robot is None:
        name = source.name if isinstance(source, Model) else "this"
        raise InputError(f"'{name}' was not derived from a description: {lacking}")
    return robot


def model_of(given: Given, call: str, base: str | None = None) -> Model:
    """The model that was given, or the one of what was given, derived here: for runs with forces.

    Raises InputError for what is none of these, naming the `call`, and for a base without a mass to accelerate.
    """
    model = derived(given, call, base)
    if model.robot is not None:
        require_base_mass(model.robot)
    return model


def derived(given: Given, call: str, base: str | None = None) -> Model:
    """The model that was given, or the one of what was given, derived here, for kinematics too: its base may have no
    mass.

    Raises InputError for what is none of these, naming the `call`.
    """
    source = opened(given, call, base)
    if isinstance(source, Document):
        source = source.robot
    return source if isinstance(source, Model) else derive_robot(source)


def derive(
    robot: Given,
    *,
    base: str | None = None,
    controllers: Mapping[str, Controller | Mapping[str, object]] | None = None,
) -> Model:
    """Derive a described robot's equations of motion.

    M(q) ν̇ + c(q, ν) = τ + A(q)ᵀ λ with A ν = 0, reduced to ν = S(q) u:  SᵀMS u̇ = Sᵀ(τ − c − M Ṡ u). Without constraints
    ν̇ comes from the articulated-body algorithm; closed loops are held by multipliers.

    Parameters
    ----------
    robot : Robot, path, mapping or Document
        The description, as `trundle.load` or the catalogue gives it, a file of one, or what such a file would hold.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says: "fixed" holds an arm from URDF to the ground.
    controllers : mapping of str to Controller or mapping, optional
        What drives its inputs, by name, beside the controllers that the description has (docs/feedback.md).

    Returns
    -------
    Model
        ẋ = f(x, u, p) and y = g(x, u, p) as programs, with the names and units of everything in them.

    Raises
    ------
    InputError
        What is given leads to no robot; ideal wheels, gears or loops lock it, or its loops can't be closed; a speed has
        no inertia; a slipping wheel carries nothing; a motor or contact law gives no finite number; the speeds chosen
        in the description don't determine the motion; a controller reads or drives what isn't there, or controllers
        form an algebraic loop.

    References
    ----------
    Featherstone 2008, eq. 8.9, by projection; Campion, Bastin & d'Andréa-Novel 1996 for the choice of u.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
    >>> model.speeds
    ('v_x', 'omega')
    """
    if isinstance(robot, Model) and not controllers:
        raise InputError(
            "derive takes a robot, not Model",
            hint="it is derived already; model.closed(controllers) drives it",
        )
    if not controllers:
        return derived(robot, "derive", base)
    if isinstance(robot, Model) and robot.robot is None:
        return closed_model(robot.open_plant or robot, controllers_alone(robot, controllers))
    source = robot_of(robot, "derive", "it has no controllers", base)
    return derive_robot(source.with_controllers(controllers))


def opened(given: object, call: str, base: str | None = None) -> Robot | Model | Document:
    """What a path leads to or a mapping describes; a robot, a model or a document as it is, but for another `base`.

    Raises InputError for what is none of these, and for a base that the robot can't have or the model wasn't made with.
    """
    if isinstance(given, Robot):
        return with_base(given, base)
    if isinstance(given, Document):
        return given if base is None else replace(given, robot=with_base(given.robot, base))
    if isinstance(given, Model):
        return on_base(given, base)
    if isinstance(given, Plant):
        message = f"{call} needs a rate, x' = f(x, u, p), and '{given.name}' goes by steps of its own"
        raise InputError(message, hint="take differences of two runs")
    if isinstance(given, Mapping):
        return load(given, base=base)
    if isinstance(given, (str, os.PathLike)):
        return load(path_of(given, call), base=base)
    raise InputError(
        f"{call} takes a robot, a model or a file, not {kind_of(given)}",
        hint="load one: trundle.load(path), or take one of trundle.catalog",
    )


def on_base(model: Model, base: str | None) -> Model:
    """The model; InputError where its equations are those of another base than is asked for."""
    if base is None:
        return model
    check_base(base, wheeled=False)
    if model.robot is not None and model.robot.base == base:
        return model
    if model.robot is None:
        raise InputError(
            f"'{model.name}' was not derived from a description", key="base", hint="leave it away"
        )
    raise InputError(
        f"the equations of '{model.name}' are those of a {model.robot.base} base, not of a {base} one",
        key="base",
        hint=f"derive them anew: trundle.derive(model.robot, base={base!r})",
    )
