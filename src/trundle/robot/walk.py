"""Walking over a description: every Value with its place, and the keys they get."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from trundle.frozen import Frozen
from trundle.robot.noun import EDITING, Noun
from trundle.robot.problems import Path, key_of
from trundle.robot.values import Value

T = TypeVar("T", bound=Noun)

# Fields whose plain numbers shape the equations and are never parameters: an axis of symbols would bring its
# normalisation into every formula.
_STRUCTURAL = frozenset({"axis", "axis2"})


def nouns(noun: Noun, path: Path = ()) -> Iterator[tuple[Path, Noun]]:
    """A noun and every noun inside it, with their key paths, in the order of the fields."""
    yield path, noun
    for field in type(noun).model_fields:
        inner = getattr(noun, field)
        if isinstance(inner, Noun):
            yield from nouns(inner, path if inner.inline else (*path, field))
        elif isinstance(inner, dict):
            for name, each in inner.items():
                if isinstance(each, Noun):
                    yield from nouns(each, (*path, field, name))


def own_values(noun: Noun, path: Path) -> Iterator[tuple[Path, Value]]:
    """The Values that stand directly in a noun's fields (in vectors and mappings too)."""
    for field in type(noun).model_fields:
        inner = getattr(noun, field)
        entries: list[tuple[Path, object]] = [((), inner)]
        if isinstance(inner, tuple):
            entries = [((place,), each) for place, each in enumerate(inner)]
        elif isinstance(inner, dict):
            entries = [((name,), each) for name, each in inner.items()]
        yield from ((((*path, field, *at), each)) for at, each in entries if isinstance(each, Value))


def keyed(noun: T, path: Path = ()) -> T:
    """The same noun with every Value told its key, and whether it is a parameter of its own."""
    fields = {
        field: _keyed(getattr(noun, field), (*path, field), _counting(noun, field))
        for field in type(noun).model_fields
    }
    return type(noun).model_construct(_fields_set=set(noun.model_fields_set), **fields)


def _counting(noun: Noun, field: str) -> Callable[[Value], bool]:
    """Which values of a field are parameters: all named ones, and every number but zero that was written or counts."""
    if field == "parameters":
        return lambda value: not value.names
    may = noun.in_equations and field not in _STRUCTURAL
    may = may and (field in noun.model_fields_set or noun.default_counts(field))
    return lambda value: may and not value.names and value.number != 0.0


def _keyed(inner: object, path: Path, counts: Callable[[Value], bool]) -> object:
    """The same with the keys of values put in, and mappings that refuse to be edited."""
    if isinstance(inner, Value):
        key = str(path[-1]) if path[0] == "parameters" else key_of(path)
        return replace(inner, key=key, is_parameter=counts(inner))
    if isinstance(inner, Noun):
        return keyed(inner, path[:-1] if inner.inline else path)
    if isinstance(inner, tuple):
        return tuple(_keyed(each, (*path, place), counts) for place, each in enumerate(inner))
    if isinstance(inner, dict):
        return Frozen({name: _keyed(each, (*path, name), counts) for name, each in inner.items()}, EDITING)
    return inner


def plain(noun: Noun) -> dict[str, Any]:
    """A noun as plain data: what was written, nothing else; its type first, then in the order of the fields."""
    found: dict[str, Any] = {}
    for field in sorted(type(noun).model_fields, key=lambda field: field != "type"):
        inner = getattr(noun, field)
        if isinstance(inner, Noun) and inner.inline:
            own = plain(inner)
            found |= {field: own.pop("type")} | own if "type" in own else own
        elif (inner is not None and field in noun.model_fields_set) or (
            field == "type" and noun.must_tell_type
        ):
            found[field] = _plain(inner)
    return found


def _plain(inner: object) -> object:
    """A part of a description as it would be written."""
    if isinstance(inner, Value):
        return inner.source
    if isinstance(inner, Noun):
        return plain(inner)
    if isinstance(inner, (tuple, list)):
        return [_plain(each) for each in inner]
    if isinstance(inner, dict):
        return {name: _plain(each) for name, each in inner.items()}
    return inner


def with_entry(data: object, path: Path, written: object) -> object:
    """Plain data with one entry written anew; mappings and vectors on the way are made where they aren't there."""
    if not path:
        return written
    first, *rest = path
    if isinstance(first, int):
        entries: list[object] = list(data) if isinstance(data, list) else [0.0, 0.0, 0.0]
        entries[first] = with_entry(entries[first], tuple(rest), written)
        return entries
    there = data if isinstance(data, dict) else {}
    return {**there, first: with_entry(there.get(first), tuple(rest), written)}
