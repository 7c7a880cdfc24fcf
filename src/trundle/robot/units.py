"""Units: the table of those a description may use, and the dimensions they must agree with.

A dimension is the tuple of exponents of (length, mass, time, current). Angles count as pure numbers, as in SI,
so that N m/A and V/(rad/s) are the same unit, which they are.

Why a table of our own: a maintained library (pint) takes some 0.3 s to import, a quarter of the whole budget of
`trundle run`, and brings a registry, contexts and arrays. A description needs one conversion at the boundary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

Dimension = tuple[int, int, int, int]

# Exponents of (m, kg, s, A).
NUMBER: Dimension = (0, 0, 0, 0)  # rad, too
_LENGTH: Dimension = (1, 0, 0, 0)
_MASS: Dimension = (0, 1, 0, 0)
_TIME: Dimension = (0, 0, 1, 0)  # s
_RATE: Dimension = (0, 0, -1, 0)
_FORCE: Dimension = (1, 1, -2, 0)  # N = kg m/s²
_ENERGY: Dimension = (2, 1, -2, 0)  # J = N m, and a torque
_POWER: Dimension = (2, 1, -3, 0)  # W = J/s
_CURRENT: Dimension = (0, 0, 0, 1)
_CHARGE: Dimension = (0, 0, 1, 1)  # A s
_VOLTAGE: Dimension = (2, 1, -3, -1)  # V = W/A
_RESISTANCE: Dimension = (2, 1, -3, -2)  # ohm = V/A
_INDUCTANCE: Dimension = (2, 1, -2, -2)  # H = V s/A

# The inch (1959), the pound (1959) and standard gravity (CGPM 1901) are exact by definition.
_INCH = 0.0254
_POUND = 0.45359237
_POUND_FORCE = _POUND * 9.80665

# Metric units: factor to SI, dimension, and the prefixes that people put before them.
_PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3}
_METRIC: dict[str, tuple[float, Dimension, str]] = {
    "m": (1.0, _LENGTH, "umcdk"),
    "rad": (1.0, NUMBER, "m"),
    "g": (1e-3, _MASS, "mk"),
    "s": (1.0, _TIME, "num"),
    "Hz": (1.0, _RATE, "k"),
    "N": (1.0, _FORCE, "mk"),
    "J": (1.0, _ENERGY, "k"),
    "W": (1.0, _POWER, "mk"),
    "A": (1.0, _CURRENT, "m"),
    "V": (1.0, _VOLTAGE, "mk"),
    "ohm": (1.0, _RESISTANCE, "mk"),
    "H": (1.0, _INDUCTANCE, "um"),
}
SYMBOLS: dict[str, tuple[float, Dimension]] = {
    **{unit: (factor, dimension) for unit, (factor, dimension, _) in _METRIC.items()},
    **{
        prefix + unit: (_PREFIXES[prefix] * factor, dimension)
        for unit, (factor, dimension, prefixes) in _METRIC.items()
        for prefix in prefixes
    },
    "in": (_INCH, _LENGTH),
    "inch": (_INCH, _LENGTH),
    "ft": (12 * _INCH, _LENGTH),
    "yd": (36 * _INCH, _LENGTH),
    "mile": (63360 * _INCH, _LENGTH),
    "deg": (math.pi / 180, NUMBER),
    "rev": (2 * math.pi, NUMBER),
    "percent": (1e-2, NUMBER),
    "t": (1e3, _MASS),
    "lb": (_POUND, _MASS),
    "lbm": (_POUND, _MASS),
    "oz": (_POUND / 16, _MASS),
    "slug": (_POUND_FORCE / (12 * _INCH), _MASS),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "Ah": (3600.0, _CHARGE),
    "mAh": (3.6, _CHARGE),
    "rpm": (2 * math.pi / 60, _RATE),
    "rps": (2 * math.pi, _RATE),
    "mph": (63360 * _INCH / 3600, (1, 0, -1, 0)),
    "kph": (1e3 / 3600, (1, 0, -1, 0)),
    "lbf": (_POUND_FORCE, _FORCE),
    "ozf": (_POUND_FORCE / 16, _FORCE),
    "kgf": (9.80665, _FORCE),
}

# How units are called in full, one and many of them; metric ones take the prefixes that their symbols take.
_NAMES: dict[str, tuple[str, ...]] = {
    "m": ("meter", "metre"),
    "rad": ("radian",),
    "g": ("gram",),
    "s": ("second",),
    "Hz": ("hertz",),
    "N": ("newton",),
    "J": ("joule",),
    "W": ("watt",),
    "A": ("ampere", "amp"),
    "V": ("volt",),
    "ohm": ("ohm",),
    "H": ("henry",),
    "in": ("inch",),
    "ft": ("foot",),
    "yd": ("yard",),
    "mile": ("mile",),
    "deg": ("degree",),
    "rev": ("revolution", "turn"),
    "t": ("tonne",),
    "lb": ("pound", "lb"),
    "oz": ("ounce",),
    "slug": ("slug",),
    "min": ("minute",),
    "h": ("hour",),
}
_PLURALS = {"foot": "feet", "inch": "inches", "hertz": "hertz", "henry": "henries"}
_PREFIX_NAMES = {"n": "nano", "u": "micro", "m": "milli", "c": "centi", "d": "deci", "k": "kilo"}


def _called(symbol: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """A unit's names, with all prefixes, in the singular and in the plural; behind each the symbol."""
    for name in names:
        for word in (name, _PLURALS.get(name, f"{name}s")):
            yield word, symbol
            for prefix in _METRIC[symbol][2] if symbol in _METRIC else "":
                yield _PREFIX_NAMES[prefix] + word, prefix + symbol


# Every way to write a unit: its symbol or its name.
UNITS: dict[str, tuple[float, Dimension]] = SYMBOLS | {
    word: SYMBOLS[symbol] for unit, names in _NAMES.items() for word, symbol in _called(unit, names)
}


@dataclass(frozen=True)
class PhysicalQuantity:
    """What a field measures: its name for messages, its SI unit as printed, and its dimension (None: any)."""

    name: str
    unit: str
    dimension: Dimension | None


ANY = PhysicalQuantity("quantity", "", None)
RATIO = PhysicalQuantity("pure number", "1", NUMBER)
LENGTH = PhysicalQuantity("length", "m", _LENGTH)
ANGLE = PhysicalQuantity("angle", "rad", NUMBER)
MASS = PhysicalQuantity("mass", "kg", _MASS)
TIME = PhysicalQuantity("time", "s", _TIME)
FREQUENCY = PhysicalQuantity("frequency", "Hz", _RATE)
INERTIA = PhysicalQuantity("moment of inertia", "kg m^2", (2, 1, 0, 0))
SPEED = PhysicalQuantity("speed", "m/s", (1, 0, -1, 0))
RATE = PhysicalQuantity("angular rate", "rad/s", _RATE)
ACCELERATION = PhysicalQuantity("acceleration", "m/s^2", (1, 0, -2, 0))
JERK = PhysicalQuantity("jerk", "m/s^3", (1, 0, -3, 0))
ANGULAR_ACCELERATION = PhysicalQuantity("angular acceleration", "rad/s^2", (0, 0, -2, 0))
ANGULAR_JERK = PhysicalQuantity("angular jerk", "rad/s^3", (0, 0, -3, 0))
FORCE = PhysicalQuantity("force", "N", _FORCE)
TORQUE = PhysicalQuantity("torque", "N m", _ENERGY)
STIFFNESS = PhysicalQuantity("stiffness", "N/m", (0, 1, -2, 0))
ANGULAR_STIFFNESS = PhysicalQuantity("angular stiffness", "N m/rad", _ENERGY)
DAMPING = PhysicalQuantity("damping", "N s/m", (0, 1, -1, 0))
ANGULAR_DAMPING = PhysicalQuantity("angular damping", "N m s/rad", (2, 1, -1, 0))
VOLTAGE = PhysicalQuantity("voltage", "V", _VOLTAGE)
CURRENT = PhysicalQuantity("current", "A", _CURRENT)
CHARGE = PhysicalQuantity("charge", "A s", _CHARGE)
RESISTANCE = PhysicalQuantity("resistance", "ohm", _RESISTANCE)
INDUCTANCE = PhysicalQuantity("inductance", "H", _INDUCTANCE)
TORQUE_CONSTANT = PhysicalQuantity("torque constant", "N m/A", (2, 1, -2, -1))
POWER = PhysicalQuantity("power", "W", _POWER)
TEMPERATURE = PhysicalQuantity("temperature", "K", None)
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
