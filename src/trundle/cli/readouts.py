"""Lengths as people read them: in metres, or in feet and inches where their own description is written so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trundle.robot import Robot

# A number or a bracket, then a unit of these.
_FEET = re.compile(r"[\d)]\s*(ft|in|foot|feet|inch|inches)\b")


def writes_feet(robot: Robot) -> bool:
    """Whether a length among a robot's parameters or of a wheel is written in feet or inches."""
    wheels = [value for wheel in robot.wheels.values() for value in (wheel.radius, *wheel.at)]
    return any(_FEET.search(str(value.source)) for value in (*robot.parameters.values(), *wheels))


def in_metres(length: float) -> str:
    """A length in metres, six digits."""
    return f"{length:.6g} m"


def in_feet(length: float) -> str:
    """A length in feet and inches, to a hundredth of an inch."""
    from trundle.robot import units

    inches = round(abs(length) / units.SYMBOLS["in"][0], 2)
    feet, rest = divmod(inches, 12)
    sign = "-" if length < 0 and inches else ""
    return f"{sign}{feet:.0f} ft {rest:.4g} in" if feet else f"{sign}{rest:.4g} in"
