"""Pages of the keys that files may have, made of their JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trundle.documents import json_schema
from trundle.motion.commands.commands import MotionFile

Schema = Mapping[str, Any]


def pages() -> Iterator[tuple[str, str]]:
    """Paths below the reference's folder and what they hold."""
    yield "description.md", _page("Keys of a description", "trundle schema", json_schema(), "description")
    motion = json_schema(MotionFile, "Trundle motion")
    yield "motion.md", _page("Keys of a motion", "trundle schema motion", motion, "motion")


def _page(title: str, command: str, schema: Schema, prefix: str) -> str:
    """A page: the file's own keys, then those of every component in it."""
    lines = [f"# {title}", "", f"`{command}` prints this as a JSON Schema, for editors.", ""]
    lines += ['A number may be text with a unit: `"6 in"`. Without a unit it has the unit of the table.', ""]
    lines += [*_table(schema, prefix), ""]
    for name, part in sorted(schema["$defs"].items()):
        lines += [f"({prefix}-{name.lower()})=", f"## {name}", "", part.get("description", ""), ""]
        lines += [*_table(part, prefix), ""]
    return "\n".join(lines)


def _table(part: Schema, prefix: str) -> list[str]:
    """The keys of an object, a row a key."""
    keys: Schema = part.get("properties", {})
    if not keys:
        return []
    needed = part.get("required", ())
    lines = ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
    for key, what in keys.items():
        default = "**needed**" if key in needed else _default(what)
        row = (f"`{key}`", _kind(what, prefix), default, what.get("description", ""))
        lines.append("| " + " | ".join(_cell(each) for each in row) + " |")
    return lines


def _default(what: Schema) -> str:
    if what.get("default") is None:
        return ""
    return f"`{json.dumps(what['default'], ensure_ascii=False)}`"


def _kind(what: Schema, prefix: str) -> str:
    """What a value may be, in words."""
    if "$ref" in what:
        name = what["$ref"].rpartition("/")[2]
        return f"[{name}](#{prefix}-{name.lower()})"
    if "const" in what:
        return f"`{what['const']}`"
    if "enum" in what:
        return ", ".join(f"`{each}`" for each in what["enum"])
    for several in ("anyOf", "oneOf"):
        if several in what:
            return " or ".join(dict.fromkeys(_kind(each, prefix) for each in what[several]))
    if "x-unit" in what:
        return "number" if what["x-unit"] == "1" else f"number, {what['x-unit']}"
    if what.get("type") == "array":
        return _list(what, prefix)
    if what.get("type") == "object":
        inner = what.get("additionalProperties")
        return f"mapping of {_kind(inner, prefix)}" if isinstance(inner, Mapping) else "mapping"
    kinds = what.get("type", "anything")
    return " or ".join(kinds) if isinstance(kinds, list) else kinds


def _list(what: Schema, prefix: str) -> str:
    if "prefixItems" in what:
        return "[" + ", ".join(_kind(each, prefix) for each in what["prefixItems"]) + "]"
    count = what.get("minItems")
    many = f"{count} × " if count is not None and count == what.get("maxItems") else ""
    return f"list of {many}{_kind(what.get('items', {}), prefix)}"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
