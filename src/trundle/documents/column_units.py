"""Units as files have them behind columns' names, "knee [deg]" or "time (ms)": their factor to SI and dimension."""

from __future__ import annotations

from trundle.errors import InputError
from trundle.robot.dimensions import LITERAL, dimension_of
from trundle.robot.expressions import ExpressionError
from trundle.robot.units import NUMBER, Dimension
from trundle.robot.values import read_value

# As instruments write units, beside those that descriptions know.
_WRITTEN = {
    "°": "deg", "degrees": "deg", "degree": "deg", "radians": "rad", "meters": "m", "millimeters": "mm",
    "sec": "s", "seconds": "s", "Nm": "N m", "N.m": "N m", "Nmm": "N mm", "N.mm": "N mm", "newtons": "N",
}  # fmt: skip
# What stands for a number without a unit.
_NUMBERS = ("", "1", "-")


def unit_in_si(text: str) -> tuple[float, Dimension]:
    """Factor to SI and dimension of a unit; InputError for what is none."""
    written = _WRITTEN.get(text, text)
    if written in _NUMBERS:
        return 1.0, NUMBER
    try:
        value = read_value(f"1 {written}")
        dimension = dimension_of(value.expression, lambda _: LITERAL)
    except ExpressionError as error:
        raise InputError(
            f"'{text}' is no unit: {error}", hint="such as deg, rad, mm, m, ms, s, N, N m"
        ) from None
    if value.constant is None or isinstance(dimension, str) or value.constant <= 0:
        raise InputError(f"'{text}' is no unit", hint="such as deg, rad, mm, m, ms, s, N, N m")
    return value.constant, dimension
