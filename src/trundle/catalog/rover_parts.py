"""What the vehicles for rough ground share: boxes' inertias, contact laws, motors that hold the rates they are told."""

from __future__ import annotations

import math

from trundle.catalog.entry import Data, MeasureLike
from trundle.errors import InputError
from trundle.robot import units
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import read_value

CURVATURE = units.PhysicalQuantity("curvature", "1/m", (-1, 0, 0, 0))
# Seegmiller's laws: friction 1, a limit in each direction.
_LAW: Data = {"contact": "linear", "friction": 1.0, "limit": "box"}


def box_inertia(mass: float, x: float, y: float, z: float) -> dict[str, float]:
    """Moments of inertia of a solid box."""
    moments = {"xx": y * y + z * z, "yy": x * x + z * z, "zz": x * x + y * y}
    return {axes: float(f"{mass * moment / 12:.14g}") for axes, moment in moments.items()}


def law_of(contact: str | None) -> Data:
    """The keys of a contact law; Seegmiller's linear one where nobody names another."""
    return _LAW if contact is None else {"contact": contact, "friction": 1.0}


def motors_of(*wheels: str) -> dict[str, Data]:
    """A motor that turns a wheel, or a steering joint, exactly as told."""
    return {f"{name}_motor": {"type": "ideal", "drives": name} for name in wheels}


def rate_control(of: str, rate: float) -> Data:
    """A controller that tells a motor one rate."""
    return {"type": "pid", "drives": f"{of}_motor.rate", "target": rate, "feedforward": 1.0}


def measured(name: str, measure: MeasureLike, quantity: units.PhysicalQuantity) -> float:
    """A measure as a number in SI; raises InputError for what is none, and a formula's names."""
    try:
        value = read_value(measure, quantity)
    except ExpressionError as error:
        raise InputError(str(error), key=name, hint=error.hint) from None
    if value.names:
        raise InputError(f"expected a number, got {measure!r}, which uses {', '.join(value.names)}", key=name)
    return value.number


def size(name: str, measure: MeasureLike) -> float:
    """A length in m; raises InputError where it isn't positive."""
    return positive(name, measure, units.LENGTH)


def positive(name: str, measure: MeasureLike, quantity: units.PhysicalQuantity) -> float:
    """A measure as a number in SI; raises InputError where it isn't positive."""
    number = measured(name, measure, quantity)
    if number <= 0:
        raise InputError(f"must be greater than zero, got {measure}", key=name)
    return number


def rod(thick: float, start: tuple[float, float], end: tuple[float, float], y: float) -> Data:
    """What a rod looks like between two places (x, z) of a body, at a y (m)."""
    along, up = end[0] - start[0], end[1] - start[1]
    numbers: dict[str, list[float]] = {
        "size": [math.hypot(along, up), thick, thick],
        "at": [(start[0] + end[0]) / 2, y, (start[1] + end[1]) / 2],
        "rpy": [0.0, -math.atan2(up, along), 0.0],
    }
    # A file is easier to read with a micrometre less.
    return {"type": "box", **{key: [round(each, 6) for each in row] for key, row in numbers.items()}}
