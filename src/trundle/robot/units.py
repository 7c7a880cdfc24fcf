"""Units: the table of those a description may use, and the dimensions they must agree with.

A dimension is the tuple of exponents of (length, mass, time, current). Angles count as pure numbers, as in SI,
so that N m/A and V/(rad/s) are the same unit, which they are.

Why a table of our own: a maintained library (pint) takes some 0.3 s to import, a quarter of the whole budget of
`trundle run`, and brings a registry, contexts and arrays. A description needs one conversion at the boundary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Dimension = tuple[int, int, int, int]

NUMBER: Dimension = (0, 0, 0, 0)
_LENGTH: Dimension = (1, 0, 0, 0)
_MASS: Dimension = (0, 1, 0, 0)
_TIME: Dimension = (0, 0, 1, 0)
_RATE: Dimension = (0, 0, -1, 0)
_FORCE: Dimension = (1, 1, -2, 0)
_ENERGY: Dimension = (2, 1, -2, 0)
_POWER: Dimension = (2, 1, -3, 0)
_CURRENT: Dimension = (0, 0, 0, 1)
_VOLTAGE: Dimension = (2, 1, -3, -1)
_RESISTANCE: Dimension = (2, 1, -3, -2)
_INDUCTANCE: Dimension = (2, 1, -2, -2)

# The inch (1959), the pound (1959) and standard gravity (CGPM 1901) are exact by definition.
_INCH = 0.0254
_POUND = 0.45359237
_POUND_FORCE = _POUND * 9.80665

UNITS: dict[str, tuple[float, Dimension]] = {
    "m": (1.0, _LENGTH),
    "um": (1e-6, _LENGTH),
    "mm": (1e-3, _LENGTH),
    "cm": (1e-2, _LENGTH),
    "dm": (1e-1, _LENGTH),
    "km": (1e3, _LENGTH),
    "in": (_INCH, _LENGTH),
    "inch": (_INCH, _LENGTH),
    "ft": (12 * _INCH, _LENGTH),
    "yd": (36 * _INCH, _LENGTH),
    "mile": (63360 * _INCH, _LENGTH),
    "rad": (1.0, NUMBER),
    "mrad": (1e-3, NUMBER),
    "deg": (math.pi / 180, NUMBER),
    "rev": (2 * math.pi, NUMBER),
    "percent": (1e-2, NUMBER),
    "kg": (1.0, _MASS),
    "g": (1e-3, _MASS),
    "mg": (1e-6, _MASS),
    "t": (1e3, _MASS),
    "lb": (_POUND, _MASS),
    "lbm": (_POUND, _MASS),
    "oz": (_POUND / 16, _MASS),
    "slug": (_POUND_FORCE / (12 * _INCH), _MASS),
    "s": (1.0, _TIME),
    "us": (1e-6, _TIME),
    "ms": (1e-3, _TIME),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "Hz": (1.0, _RATE),
    "kHz": (1e3, _RATE),
    "rpm": (2 * math.pi / 60, _RATE),
    "rps": (2 * math.pi, _RATE),
    "mph": (63360 * _INCH / 3600, (1, 0, -1, 0)),
    "kph": (1e3 / 3600, (1, 0, -1, 0)),
    "N": (1.0, _FORCE),
    "mN": (1e-3, _FORCE),
    "kN": (1e3, _FORCE),
    "lbf": (_POUND_FORCE, _FORCE),
    "ozf": (_POUND_FORCE / 16, _FORCE),
    "kgf": (9.80665, _FORCE),
    "J": (1.0, _ENERGY),
    "kJ": (1e3, _ENERGY),
    "W": (1.0, _POWER),
    "mW": (1e-3, _POWER),
    "kW": (1e3, _POWER),
    "A": (1.0, _CURRENT),
    "mA": (1e-3, _CURRENT),
    "V": (1.0, _VOLTAGE),
    "mV": (1e-3, _VOLTAGE),
    "kV": (1e3, _VOLTAGE),
    "ohm": (1.0, _RESISTANCE),
    "mohm": (1e-3, _RESISTANCE),
    "kohm": (1e3, _RESISTANCE),
    "H": (1.0, _INDUCTANCE),
    "mH": (1e-3, _INDUCTANCE),
    "uH": (1e-6, _INDUCTANCE),
}


@dataclass(frozen=True)
class Measure:
    """What a field measures: its name for messages, its SI unit as printed, and its dimension (None: any)."""

    name: str
    unit: str
    dimension: Dimension | None


def _quantity(name: str, unit: str, dimension: Dimension | None) -> Measure:
    return Measure(name, unit, dimension)


ANY = _quantity("quantity", "", None)
RATIO = _quantity("pure number", "1", NUMBER)
LENGTH = _quantity("length", "m", _LENGTH)
ANGLE = _quantity("angle", "rad", NUMBER)
MASS = _quantity("mass", "kg", _MASS)
TIME = _quantity("time", "s", _TIME)
FREQUENCY = _quantity("frequency", "Hz", _RATE)
INERTIA = _quantity("moment of inertia", "kg m^2", (2, 1, 0, 0))
SPEED = _quantity("speed", "m/s", (1, 0, -1, 0))
RATE = _quantity("angular rate", "rad/s", _RATE)
ACCELERATION = _quantity("acceleration", "m/s^2", (1, 0, -2, 0))
FORCE = _quantity("force", "N", _FORCE)
TORQUE = _quantity("torque", "N m", _ENERGY)
STIFFNESS = _quantity("stiffness", "N/m", (0, 1, -2, 0))
ANGULAR_STIFFNESS = _quantity("angular stiffness", "N m/rad", _ENERGY)
DAMPING = _quantity("damping", "N s/m", (0, 1, -1, 0))
ANGULAR_DAMPING = _quantity("angular damping", "N m s/rad", (2, 1, -1, 0))
VOLTAGE = _quantity("voltage", "V", _VOLTAGE)
CURRENT = _quantity("current", "A", _CURRENT)
RESISTANCE = _quantity("resistance", "ohm", _RESISTANCE)
INDUCTANCE = _quantity("inductance", "H", _INDUCTANCE)
TORQUE_CONSTANT = _quantity("torque constant", "N m/A", (2, 1, -2, -1))
POWER = _quantity("power", "W", _POWER)
TEMPERATURE = Measure("temperature", "K", None)
# What a motor's angle, rate and torque are where it drives something along an axis.
ALONG = {ANGLE: LENGTH, RATE: SPEED, TORQUE: FORCE}

_BASE_SYMBOLS = ("m", "kg", "s", "A")


def unit_text(dimension: Dimension) -> str:
    """Write a dimension in SI base units, e.g. (1, 0, -2, 0) as "m s^-2"; a pure number is "1"."""
    parts = [
        symbol if power == 1 else f"{symbol}^{power}"
        for symbol, power in zip(_BASE_SYMBOLS, dimension, strict=True)
        if power
    ]
    return " ".join(parts) or "1"


def multiply(a: Dimension, b: Dimension, sign: int = 1) -> Dimension:
    """Dimension of a product (sign 1) or of a quotient (sign -1)."""
    return (a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3])


def raise_to(a: Dimension, power: int) -> Dimension:
    """Dimension of a whole power."""
    return (a[0] * power, a[1] * power, a[2] * power, a[3] * power)
