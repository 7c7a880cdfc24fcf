"""Models and plants of own steps as text: what pickles and stores of sweeps hold, from which nothing is derived anew.

The text is JSON: descriptions as they stand in a YAML file, and the plant's fields, its programs as lists of
instructions (`program.plain`). Reading runs no code from it: pydantic checks it against the types of the fields (so a
new one is kept without another line), and programs are checked instruction by instruction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    create_model,
)

from trundle.documents.reader import FORMAT as DESCRIPTION_FORMAT
from trundle.documents.reader import File
from trundle.errors import InputError, TrundleError
from trundle.model.model import Model
from trundle.model.own_steps import StepPlant
from trundle.program import Program
from trundle.program.plain import from_plain, to_plain
from trundle.robot.component import plain
from trundle.robot.description import Robot
from trundle.robot.problems import problems_of, report
from trundle.version import __version__


def reduced(model: Model) -> tuple[Callable[[str], Model | StepPlant], tuple[str]]:
    """How a model is pickled: as its text."""
    return from_text, (to_text(model),)


def digest_of(model: Model) -> str:
    """See `Model.digest`. Numbers count by their value, as they do where models are compared."""
    same = (
        model if model.robot else replace(model, derive_seconds=0.0)
    )  # models that were made twice are equal
    described = to_text(same) if same.robot is None else json.dumps(plain(same.robot))
    data = json.loads(described, parse_int=float)
    return hashlib.sha256(json.dumps([__version__, data]).encode()).hexdigest()


# What a text may hold, by its key.
_KINDS: Mapping[str, type[Model] | type[StepPlant]] = {"model": Model, "own_steps": StepPlant}
# The fields that are said otherwise: by descriptions, and by the plant that a loop closes.
_ASIDE = ("robot", "loop", "open_plant")


def to_text(plant: Model | StepPlant) -> str:
    """The plant as JSON, of one in a loop that no robot describes without it; raises TrundleError for what JSON can't
    hold.
    """
    open_plant = plant.open_plant or plant
    key = next(key for key, kind in _KINDS.items() if isinstance(plant, kind))
    schema = _schema(_KINDS[key])
    content = {
        "description": _described(plant.robot),
        "controllers": _described(plant.loop),
        key: schema.model_construct(**{n: getattr(open_plant, n) for n in schema.model_fields}).model_dump(),
    }
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TrundleError(f"no text can hold what '{plant.name}' does: {error}") from None


def _described(robot: Robot | None) -> dict[str, object] | None:
    return None if robot is None else {"trundle": DESCRIPTION_FORMAT, "robot": plain(robot)}


def from_text(text: str) -> Model | StepPlant:
    """The plant of a text; raises InputError."""
    content = json.loads(text)
    robot, loop = (_robot(content[key], key) for key in ("description", "controllers"))
    key = next(key for key in _KINDS if key in content)
    plant = _KINDS[key](robot=robot, **_fields(_KINDS[key], key, content[key]))
    return plant if loop is None else plant.closed(loop.controllers)


def _robot(described: object, part: str) -> Robot | None:
    """The robot of a description; None for a model that came from equations."""
    try:
        return None if described is None else File.model_validate(described).robot
    except ValidationError as error:
        raise _wrong(error, part) from None


@cache
def _schema(kind: type[Model] | type[StepPlant]) -> type[BaseModel]:
    """The fields of a kind of plant but its descriptions, with checks that take nothing for what it isn't: a truth
    value is no number.
    """
    hints, kept = get_type_hints(kind), dict[str, Any]()
    for field in fields(kind):
        hint, default = hints[field.name], ... if field.default is MISSING else field.default
        if callable(field.default_factory):
            default = Field(default_factory=field.default_factory)
        if hint in (Program, Program | None):
            read = PlainValidator(_program if default is ... else _optional_program)
            hint = Annotated[Any, read, PlainSerializer(lambda program: program and to_plain(program))]
        if hint == Mapping[str, Program]:
            hint = Annotated[Any, PlainValidator(_programs), PlainSerializer(_plain_programs)]
        if field.name not in _ASIDE:
            kept[field.name] = (hint, default)
    return create_model("Kept", __config__=ConfigDict(strict=True, extra="forbid"), **kept)


def _program(data: object, info: ValidationInfo) -> Program:
    return from_plain(data, f"model.{info.field_name}")


def _programs(data: dict[str, object]) -> dict[str, Program]:
    return {name: from_plain(program, f"model.formed.{name}") for name, program in data.items()}


def _plain_programs(formed: Mapping[str, Program]) -> dict[str, object]:
    return {name: to_plain(program) for name, program in formed.items()}


def _optional_program(data: object, info: ValidationInfo) -> Program | None:
    return None if data is None else _program(data, info)


def _fields(kind: type[Model] | type[StepPlant], part: str, data: object) -> dict[str, Any]:
    """The arguments of a plant but its descriptions from plain data; InputError for what isn't of a field's type."""
    try:
        kept = _schema(kind).model_validate_json(
            json.dumps(data)
        )  # JSON's lists are tuples only when read as JSON
    except ValidationError as error:
        raise _wrong(error, part) from None
    return {name: getattr(kept, name) for name in _schema(kind).model_fields}


def _wrong(error: ValidationError, part: str) -> InputError:
    """What is wrong in a part of a text."""
    return report([replace(problem, path=(part, *problem.path)) for problem in problems_of(error)])
