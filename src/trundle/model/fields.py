"""A model's fields as plain data, as JSON holds them, and back, by their types.

pydantic makes the checks from the types of `Model`: a new field is kept without another line. Programs have a form of
their own (`program.plain`). What is read must be of its type exactly; a mistake is an InputError with the key where it
stands. Nothing is ever executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from trundle.errors import InputError, suggest
from trundle.model.model import Model
from trundle.program import Program
from trundle.program.plain import from_plain, to_plain
from trundle.robot.problems import problems_of, report

# pydantic's words for a scalar of another type than a field's.
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number with a decimal point",
    "tuple_type": "a list",
    "dataclass_type": "an object",
}


def written(model: Model) -> dict[str, object]:
    """The fields of a model but its description as plain data."""
    programs = {
        name: None if (given := getattr(model, name)) is None else to_plain(given) for name in _programs()
    }
    schema = _schema()
    rest = schema(**{name: getattr(model, name) for name in schema.model_fields}).model_dump()
    return {each.name: {**rest, **programs}[each.name] for each in fields(Model) if each.name != "robot"}


def read(data: object, key: str) -> dict[str, Any]:
    """The arguments of a model but its description from plain data; fields that have a default may be missing.

    Raises InputError for unknown and missing fields, and for what isn't of a field's type.
    """
    if not isinstance(data, Mapping):
        raise InputError("expected the fields of a Model", key=key)
    known = {each.name: each for each in fields(Model) if each.name != "robot"}
    for name in data:
        if name not in known:
            raise InputError(f"a Model has no {name[:60]!r}", key=key, hint=suggest(name[:60], known))
    for name, each in known.items():
        if name not in data and each.default is MISSING and each.default_factory is MISSING:
            raise InputError(f"'{name}' is missing", key=key)
    optional = {name for name in _programs() if known[name].default is None}
    programs = {
        name: None if data[name] is None and name in optional else from_plain(data[name], f"{key}.{name}")
        for name in _programs()
        if name in data
    }
    rest = {name: value for name, value in data.items() if name not in programs}
    try:
        found = _schema().model_validate_json(json.dumps(rest))
    except ValidationError as error:
        raise _mistake(error, key) from None
    return {**programs, **{name: getattr(found, name) for name in rest}}


def _mistake(error: ValidationError, key: str) -> InputError:
    first = error.errors(include_url=False)[0]
    place = ".".join([key, *map(str, first["loc"])])
    expected = _EXPECTED.get(first["type"])
    if expected is None:
        return report(problems_of(error), within=place)
    return InputError(f"expected {expected}, got {repr(first['input'])[:60]}", key=place)


@cache
def _programs() -> tuple[str, ...]:
    """The names of the fields that are programs."""
    hints = get_type_hints(Model)
    return tuple(each.name for each in fields(Model) if hints[each.name] in (Program, Program | None))


@cache
def _schema() -> type[BaseModel]:
    """The other fields, with checks that take nothing for what it isn't: a truth value is no number."""
    hints = get_type_hints(Model)
    others = [each for each in fields(Model) if each.name not in (*_programs(), "robot")]
    known: dict[str, Any] = {each.name: (hints[each.name], Field(...)) for each in others}
    return create_model("Kept", __config__=ConfigDict(strict=True, extra="forbid"), **known)
