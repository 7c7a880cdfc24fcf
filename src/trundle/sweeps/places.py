"""Where a name that varies belongs, and why another can't, with what a description has to say so that it can."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from trundle.errors import InputError, suggest
from trundle.model.plant import Plant
from trundle.robot import Robot
from trundle.robot.controllers import Controller
from trundle.robot.sensor import Sensor

# What all sensors and controllers have but their type: clocks, which are no parameters.
_SHAPES = {*Sensor.model_fields, *Controller.model_fields} - {"type"}

_GROUND = "terrain."


def placed(name: str, model: Plant) -> tuple[str, str] | None:
    """Where a name that varies belongs in a plant, and its own name there; None where it is none of them."""
    place, _, label = name.partition(".")
    if name in model.parameters:
        return "parameters", name
    there = {"initial": model.start_names, "inputs": model.inputs}.get(place, ())
    return (place, label) if label in there else None


def unvaried(name: str, owner: str, robot: Robot | None, known: Iterable[str]) -> InputError:
    """The error for a name that isn't among the known ones, with the likely fix."""
    known = list(known)
    hint = "" if robot is None else _followed(name, robot) or _of_part(name, robot)
    if name.startswith(_GROUND) and not any(each.startswith(_GROUND) for each in known):
        hint = "these robots have no terrain: give them one, terrain= or terrain: in the file"
    message = f"'{owner}' has nothing called {name!r} that can vary"
    return InputError(message, key=f"over.{name}", hint=hint or suggest(name, known))


def _followed(name: str, robot: Robot) -> str:
    """Why a number that is written is no parameter: it follows from others, or is 0; "" where neither is so."""
    value = {each.key: each for _, each in robot.every_value}.get(name)
    if value is None:
        return ""
    if value.names:
        return f"it follows from {', '.join(value.names)}: vary that"
    if value.constant == 0 and not name.startswith("sensors."):
        return "it is 0, which leaves it out of the programs: write another number, and it can vary"
    return ""


def _of_part(name: str, robot: Robot) -> str:
    """How a number of a sensor or a controller varies that is no parameter; "" where there is no such number."""
    place, _, rest = name.partition(".")
    owner, _, key = rest.partition(".")
    if place == "sensors" and owner in robot.sensors:
        return _of_sensor(robot.sensors[owner], owner, key)
    if place == "controllers" and owner in robot.controllers:
        return _of_controller(robot.controllers[owner], owner, key)
    return ""


def _of_sensor(sensor: Sensor, owner: str, key: str) -> str:
    """How a number of a sensor can vary: by a parameter that it names."""
    own = [each for each in type(sensor).model_fields if each not in Sensor.model_fields]
    if key in _SHAPES:
        return _shaping(owner, key)
    if key not in own:
        return suggest(f"sensors.{owner}.{key}", [f"sensors.{owner}.{each}" for each in own])
    return (
        f"write `{key}: NAME` for '{owner}', with NAME among the parameters, and vary NAME; "
        "an estimator assumes the same noise, unless it has a number of its own"
    )


def _of_controller(controller: Controller, owner: str, key: str) -> str:
    """Only of what shapes the programs, and of numbers that the description could have, but hasn't."""
    if key in _SHAPES:
        return _shaping(owner, key)
    field = type(controller).model_fields.get(key)
    if field is None or getattr(controller, key) is not None:
        return ""
    if not any(hasattr(each, "__metadata__") for each in get_args(field.annotation)):  # it is no number
        return ""
    return f"'{owner}' has no {key} of its own: write one into the description, and it can vary"


def _shaping(owner: str, key: str) -> str:
    return f"the {key} of '{owner}' shapes the programs: take a sweep for every one"
