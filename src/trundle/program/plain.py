"""Programs as plain data, as JSON holds them, and back: exactly, and nothing that isn't a program.

    {"name": "spring", "inputs": {"state": ["angle"]}, "outputs": {"torque": ["torque"]},
     "instructions": [["input", 0, 0], ["const", -2.0], ["mul", 0, 1]], "results": [[2]]}

Instruction k defines value k. `["input", g, i]` reads element i of input group g, `["const", c]` is a number ("inf",
"-inf" or "nan" where JSON has none), any other names an operation of `ir.ARITY` and the earlier values it takes.
`results` names the value of every element of the output groups. `["lookup", index, k, t]` reads the `tables`' entry t,
`{"reach": r, "values": [...]}`, k places behind an index; programs without lookups have no tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np

from trundle.arrays import Json
from trundle.errors import InputError, suggest
from trundle.program.ir import ARITY, Group, Instruction, Program
from trundle.tables import Table

_BEYOND_JSON = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
_KEYS = ("name", "inputs", "outputs", "instructions", "results")


def to_plain(program: Program) -> dict[str, Json]:
    """Plain data of a program, from which `from_plain` makes one with the same instructions, bit for bit."""
    tables = list(dict.fromkeys(each.table for each in program.instructions if each.table is not None))
    plain: dict[str, Json] = {
        "name": program.name,
        "inputs": {group.name: list(group.labels) for group in program.inputs},
        "outputs": {group.name: list(group.labels) for group in program.outputs},
        "instructions": [_written(instruction, tables) for instruction in program.instructions],
        "results": [list(values) for values in program.results],
    }
    return plain | {"tables": [_plain_table(table) for table in tables]} if tables else plain


def _plain_table(table: Table) -> dict[str, Json]:
    values = [value if math.isfinite(value) else str(value) for value in table.values.tolist()]
    return {"reach": table.reach, "values": values}


def from_plain(data: object, key: str = "program") -> Program:
    """The program of plain data; `key` is where it stands, for messages.

    Raises InputError for whatever isn't a program: unknown operations, wrong numbers of operands, operands that
    aren't earlier values, inputs and results that don't exist, labels that come twice.
    """
    if not isinstance(data, Mapping) or set(data) - {"tables"} != set(_KEYS):
        raise InputError(f"a program has the keys {', '.join(_KEYS)}", key=key)
    if not isinstance(data["name"], str):
        raise InputError("a program's name is text", key=f"{key}.name")
    inputs = _groups(data["inputs"], f"{key}.inputs")
    outputs = _groups(data["outputs"], f"{key}.outputs")
    sizes = [group.size for group in inputs]
    place = f"{key}.instructions"
    tables = _tables(data.get("tables", []), f"{key}.tables")
    if not isinstance(data["instructions"], list):
        raise InputError("expected a list of instructions", key=place)
    instructions = tuple(
        _instruction(written, out, sizes, tables, place) for out, written in enumerate(data["instructions"])
    )
    results = _results(data["results"], outputs, len(instructions), f"{key}.results")
    return Program(data["name"], inputs, outputs, instructions, results)


def _tables(data: object, key: str) -> list[Table]:
    """The tables of plain data; InputError for what is none."""
    if not isinstance(data, list):
        raise InputError("expected a list of tables", key=key)
    tables: list[Table] = []
    for number, written in enumerate(data):
        place = f"{key}[{number}]"
        values = written.get("values") if isinstance(written, Mapping) else None
        if not isinstance(written, Mapping) or set(written) != {"reach", "values"}:
            raise InputError("a table has the keys reach, values", key=place)
        if not isinstance(values, list) or type(written["reach"]) is not int:
            raise InputError("expected a list of values, and a whole number for the reach", key=place)
        row = [_BEYOND_JSON.get(value, value) if type(value) is str else value for value in values]
        if not all(type(value) is float for value in row):
            raise InputError("expected numbers with a decimal point, or inf, -inf, nan", key=place)
        tables.append(Table(np.array(row), written["reach"]))
    return tables


def _written(instruction: Instruction, tables: Sequence[Table]) -> list[Json]:
    if instruction.table is not None:
        return ["lookup", *instruction.args, int(instruction.value), tables.index(instruction.table)]
    if instruction.op == "input":
        return ["input", *instruction.source]
    if instruction.op != "const":
        return [instruction.op, *instruction.args]
    value = instruction.value
    return ["const", value if math.isfinite(value) else str(value)]


def _groups(data: object, key: str) -> tuple[Group, ...]:
    """Groups of plain data, their labels in order; InputError for what is no text or comes twice."""
    if not isinstance(data, Mapping):
        raise InputError("expected groups: name to labels", key=key)
    groups: list[Group] = []
    for name, labels in data.items():
        if not isinstance(labels, list) or not all(type(label) is str for label in labels):
            raise InputError("expected a list of labels, all of them texts", key=f"{key}.{name}")
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise InputError(f"the label {twice!r} comes twice", key=f"{key}.{name}")
        groups.append(Group(name, tuple(labels)))
    return tuple(groups)


def _instruction(
    written: object, out: int, sizes: list[int], tables: Sequence[Table], place: str
) -> Instruction:
    """Instruction `out` of its plain list; `sizes` are those of the input groups that it may read."""
    key = f"{place}[{out}]"
    if type(written) is not list or not written or type(written[0]) is not str:
        raise InputError(f"expected an operation and its operands, got {_short(written)}", key=key)
    op, *args = written
    if op == "const":
        value = args[0] if len(args) == 1 else None
        value = _BEYOND_JSON.get(value) if type(value) is str else value
        if type(value) is not float:
            expected = "one number with a decimal point, or inf, -inf, nan"
            raise InputError(f"expected {expected}; got {_short(args)}", key=key)
        return Instruction(op, out, (), value)
    if op == "input":
        group, element = args if len(args) == 2 else (None, None)
        if _is_index(group, len(sizes)) and _is_index(element, sizes[group]):
            return Instruction(op, out, (), 0.0, (group, element))
        raise InputError(f"expected an input's group and element, got {_short(args)}", key=key)
    if op == "lookup":
        return _lookup(args, out, tables, key)
    if op not in ARITY:
        raise InputError(f"unknown operation {_short(op)}", key=key, hint=suggest(op[:40], ARITY))
    if len(args) != ARITY[op] or not all(_is_index(a, out) for a in args):
        raise InputError(f"'{op}' takes {ARITY[op]} earlier values, got {_short(args)}", key=key)
    return Instruction(op, out, tuple(args))


def _lookup(args: Sequence[object], out: int, tables: Sequence[Table], key: str) -> Instruction:
    """A lookup of its operands: an earlier value, places behind it, a table."""
    index, place, number = args if len(args) == 3 else (None, None, None)
    if _is_index(index, out) and _is_index(number, len(tables)):
        table = tables[number]
        if _is_index(place, table.reach + 1):
            return Instruction("lookup", out, (index,), float(place), table=table)
    message = (
        f"'lookup' takes an earlier value, a place within the table's reach, and a table, got {_short(args)}"
    )
    raise InputError(message, key=key)


def _is_index(value: object, count: int) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < count  # a truth value is no number


def _results(data: object, outputs: tuple[Group, ...], count: int, key: str) -> tuple[tuple[int, ...], ...]:
    """The values that the output groups take, checked: as many as labels, and among the `count` values."""
    if not isinstance(data, list) or len(data) != len(outputs):
        raise InputError(f"expected one list an output group, {len(outputs)} in all", key=key)
    for group, values in zip(outputs, data, strict=True):
        if not isinstance(values, list) or len(values) != group.size:
            raise InputError(f"expected {group.size} values for the group '{group.name}'", key=key)
        for value in values:
            if not _is_index(value, count):
                raise InputError(f"'{group.name}' takes a value {_short(value)}; there are {count}", key=key)
    return tuple(tuple(values) for values in data)


def _short(data: object) -> str:
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:57]}..."
