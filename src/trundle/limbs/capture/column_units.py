"""Units behind columns' names, as in "knee [deg]" or "time (ms)": their factor to SI and their dimension."""

from __future__ import annotations

import re

from trundle.errors import InputError
from trundle.robot.dimensions import LITERAL, dimension_of
from trundle.robot.expressions import ExpressionError
from trundle.robot.units import NUMBER, Dimension
from trundle.robot.values import read_value

# OpenSim's tables say of all columns at once that they are in degrees; it is the model that knows which ones turn.
DEGREES_IF_TURNING = "deg, if it turns"
# As instruments write units, beside those that descriptions know.
_WRITTEN = {
    "°": "deg", "degrees": "deg", "degree": "deg", "radians": "rad", "meters": "m", "millimeters": "mm",
    "sec": "s", "seconds": "s", "Nm": "N m", "N.m": "N m", "Nmm": "N mm", "N.mm": "N mm", "newtons": "N",
}  # fmt: skip
_NUMBERS = ("", "1", "-")
_BRACKETS = re.compile(r"\s*[\[(]([^\])]*)[\])]$")


def split_unit(header: str) -> tuple[str, str]:
    """A column's name and the unit in brackets behind it, "" without one."""
    found = _BRACKETS.search(header)
    return (header[: found.start()].strip(), found[1].strip()) if found else (header.strip(), "")


def unit_in_si(text: str) -> tuple[float, Dimension]:
    """Factor to SI and dimension of a unit; InputError for what is none."""
    written = _WRITTEN.get(text, text)
    if written in _NUMBERS:
        return 1.0, NUMBER
    try:
        value = read_value(f"1 {written}")
        found = dimension_of(value.expression, lambda _: LITERAL)
    except ExpressionError as error:
        raise InputError(
            f"'{text}' is no unit: {error}", hint="such as deg, rad, mm, m, ms, s, N, N m"
        ) from None
    if value.constant is None or isinstance(found, str) or value.constant <= 0:
        raise InputError(f"'{text}' is no unit", hint="such as deg, rad, mm, m, ms, s, N, N m")
    return value.constant, found
