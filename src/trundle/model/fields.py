"""Dataclasses as plain data, as JSON holds them, and back, by the types of their fields.

A field is text, a number, a truth value, a program, another dataclass, a tuple or a mapping by name of these, or None
where its type says so. `Any` stands for data that is plain already. What is read is checked against the types: a
mistake is an InputError with the key where it stands. Nothing is ever executed.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from trundle.errors import InputError, TrundleError, suggest
from trundle.program import Program
from trundle.program.plain import from_plain, to_plain

_WORDS: dict[Any, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number with a decimal point"
}  # fmt: skip


def written(value: Any, skip: Sequence[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass as plain data, but those in `skip`; raises TrundleError for types that have no form."""
    hints = _hints(type(value))
    names = [each.name for each in fields(value) if each.name not in skip]
    return {name: _write(hints[name], getattr(value, name), name) for name in names}


def read(kind: type[Any], data: Any, key: str, skip: Sequence[str] = ()) -> dict[str, Any]:
    """The arguments of a dataclass from plain data, but those in `skip`; fields that have a default may be missing.

    Raises InputError for unknown and missing fields, and for what isn't of a field's type.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"expected the fields of a {kind.__name__}", key=key)
    hints = _hints(kind)
    known = {each.name: each for each in fields(kind) if each.name not in skip}
    for name in data:
        if name not in known:
            raise InputError(
                f"a {kind.__name__} has no {name[:60]!r}", key=key, hint=suggest(name[:60], known)
            )
    for name, each in known.items():
        if name not in data and each.default is MISSING and each.default_factory is MISSING:
            raise InputError(f"'{name}' is missing", key=key)
    return {name: _read(hints[name], inner, f"{key}.{name}") for name, inner in data.items()}


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _parts(kind: Any) -> tuple[Any, Any]:
    """What a type is made of: (tuple, of), (Mapping, of), (None, of) for `of | None`; (kind, None) for the others."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is types.UnionType and len(inner) == 2 and inner[1] is type(None):
        return None, inner[0]
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        return tuple, inner[0]
    if origin is Mapping and inner[0] is str:
        return Mapping, inner[1]
    if origin is Literal:
        return str, None
    if kind in _WORDS or kind is Any or kind is Program or is_dataclass(kind):
        return kind, None
    raise TrundleError(f"a file holds no values of the type {kind}")


def _write(kind: Any, value: Any, key: str) -> Any:
    outer, inner = _parts(kind)
    if outer is None:
        return None if value is None else _write(inner, value, key)
    if outer is tuple:
        return [_write(inner, each, key) for each in value]
    if outer is Mapping:
        return {name: _write(inner, each, f"{key}.{name}") for name, each in value.items()}
    if outer is Program:
        return to_plain(value)
    if is_dataclass(outer):
        return written(value)
    if outer is Any:
        return _plain(value, key)
    return _exactly(outer, outer(value), key)


def _read(kind: Any, data: Any, key: str) -> Any:
    outer, inner = _parts(kind)
    if outer is None:
        return None if data is None else _read(inner, data, key)
    if outer is tuple:
        if not isinstance(data, list):
            raise InputError("expected a list", key=key)
        return tuple(_read(inner, each, f"{key}[{place}]") for place, each in enumerate(data))
    if outer is Mapping:
        if not isinstance(data, Mapping):
            raise InputError("expected names and their values", key=key)
        return {name: _read(inner, each, f"{key}.{name}") for name, each in data.items()}
    if outer is Program:
        return from_plain(data, key)
    if isinstance(outer, type) and is_dataclass(outer):
        return outer(**read(outer, data, key))
    if outer is Any:
        return _plain(data, key)
    return _exactly(outer, data, key)


def _exactly(kind: type[Any], value: Any, key: str) -> Any:
    """A scalar of that very type (a truth value is no number), and finite."""
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        came = repr(value)[:60]
        raise InputError(f"expected {_WORDS[kind]}, got {came}", key=key)
    return value


def _plain(data: Any, key: str) -> Any:
    """Plain data of any shape, its numbers finite."""
    if isinstance(data, Mapping):
        return {str(name): _plain(each, f"{key}.{name}") for name, each in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(each, f"{key}[{place}]") for place, each in enumerate(data)]
    if data is None or type(data) in (str, bool, int):
        return data
    if type(data) is float and math.isfinite(data):
        return data
    raise InputError(f"expected plain data, got {repr(data)[:60]}", key=key)
