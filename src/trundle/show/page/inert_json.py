"""Plain data for a page: dataclasses as mappings, arrays as base64, all of it JSON that no text in it can leave."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeAlias

import numpy as np

from trundle.errors import TrundleError

# What becomes of it on a page: arrays, too, as text.
PageData: TypeAlias = "JsonData | np.ndarray | Sequence[PageData] | Mapping[str, PageData]"
JsonData: TypeAlias = "str | int | float | bool | Sequence[JsonData] | Mapping[str, JsonData] | None"

# A script element ends at "</script" and changes its rules at "<!--", whatever is around them; U+2028 and U+2029 end
# lines in older JavaScript.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

_KINDS = {"float32": "f4", "uint16": "u2"}
_TYPES = ("f4", "f8", "u2", "i4")


def plain(value: object) -> JsonData:
    """The same as mappings, sequences, numbers and texts: a dataclass by its fields, an array as {"base64": numbers,
    little-endian, row by row, "type": "f4", "f8", "u2" or "i4"}.
    """
    if isinstance(value, np.ndarray):
        kind = _KINDS.get(value.dtype.name, "i4" if value.dtype.kind in "iu" else "f8")
        return {"base64": b64encode(value.astype(f"<{kind}").tobytes()).decode("ascii"), "type": kind}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise TrundleError(f"a page can't hold {type(value).__name__}")


def to_json(value: object) -> str:
    """JSON of `plain(value)` that can stand in a script element of HTML.

    Of equal arrays one is written, with a number as its "id", which the others have in place of their "base64".
    """
    known: dict[tuple[str, str], tuple[int, dict[str, JsonData]]] = {}
    text = json.dumps(_once(plain(value), known), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPED)


def _once(value: JsonData, known: dict[tuple[str, str], tuple[int, dict[str, JsonData]]]) -> JsonData:
    """Plain data with equal arrays written once; `known`: those so far by their numbers and types, and their ids."""
    if isinstance(value, Mapping):
        numbers, kind = value.get("base64"), value.get("type")
        if not (isinstance(numbers, str) and isinstance(kind, str) and kind in _TYPES):
            return {name: _once(item, known) for name, item in value.items()}
        if (numbers, kind) not in known:
            known[numbers, kind] = len(known), {**value}
            return known[numbers, kind][1]
        number, first = known[numbers, kind]
        first["id"] = number
        return {"base64": number, "type": kind}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_once(item, known) for item in value]
    return value
