"""The functions that an OpenSim model's axes and couplings follow: straight lines, or curves of one coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import cast

from trundle.documents.osim.osim_elements import OsimNode
from trundle.errors import InputError
from trundle.robot.curves import MOST_POINTS, Curve, LinearCurve, PolynomialCurve, SimmCurve

# Curves through points by their tags. OpenSim reads the first two as the third: none of them is natural.
_SPLINES: Mapping[str, type[SimmCurve | LinearCurve]] = {
    "natCubicSpline": SimmCurve,
    "NaturalCubicSpline": SimmCurve,
    "SimmSpline": SimmCurve,
    "PiecewiseLinearFunction": LinearCurve,
}
_KNOWN = ("Constant", "LinearFunction", "PolynomialFunction", *_SPLINES, "MultiplierFunction")
# A multiple of a multiple, and so on: files have one.
_MOST_NESTED = 10
# Coefficients of a polynomial: OpenSim's own have up to eight.
_MOST_COEFFICIENTS = 30


@dataclass(frozen=True)
class OsimFunction:
    """f(q) = Σ slope q + offset over some coordinates, or a curve of one (then there are no slopes)."""

    coordinates: tuple[str, ...] = ()
    slopes: tuple[float, ...] = ()
    offset: float = 0.0
    curve: Mapping[str, object] | None = None

    @property
    def still(self) -> bool:
        """Whether it is a constant."""
        return not self.coordinates

    @cached_property
    def component(self) -> Curve:
        """The curve as a component."""
        data = dict(self.curve or {})
        kinds = {"simm": SimmCurve, "linear": LinearCurve, "polynomial": PolynomialCurve}
        return kinds[str(data.pop("type"))](**data)

    def substitute(self, values: Mapping[str, float]) -> OsimFunction:
        """The same with some coordinates held at values."""
        if self.curve is not None:
            (name,) = self.coordinates
            return OsimFunction(offset=float(self.component.at(values[name]))) if name in values else self
        pairs = list(zip(self.coordinates, self.slopes, strict=True))
        offset = self.offset + sum(slope * values[name] for name, slope in pairs if name in values)
        free = [(name, slope) for name, slope in pairs if name not in values and slope]
        return OsimFunction(tuple(name for name, _ in free), tuple(slope for _, slope in free), offset)


def read_function(
    function: OsimNode, coordinates: Sequence[str], what: str, factor: float = 1.0
) -> OsimFunction:
    """The function of an element, times a factor; InputError where its kind, or so many coordinates, aren't read."""
    return _read(function, tuple(coordinates), what, factor, 0)


def _read(
    function: OsimNode, coordinates: tuple[str, ...], what: str, factor: float, depth: int
) -> OsimFunction:
    """The function of an element times a factor, `depth` multipliers deep; InputError for kinds that aren't read."""
    kind = function.element.tag
    if kind == "MultiplierFunction" and depth < _MOST_NESTED:
        inner = function.child("function")
        if inner is None or not inner.children():
            raise function.fail(f"{what} follows a multiple of nothing", "write <function> inside")
        (scale,) = function.numbers("scale", 1, (1.0,))
        return _read(inner.children()[0], coordinates, what, factor * scale, depth + 1)
    if kind == "Constant":
        return OsimFunction(offset=factor * function.numbers("value", 1, (0.0,))[0])
    if kind == "LinearFunction":
        count = max(len(coordinates), 1)
        *slopes, offset = function.numbers("coefficients", count + 1, (*[1.0] * count, 0.0))
        line = OsimFunction(
            coordinates, tuple(factor * slope for slope in slopes[: len(coordinates)]), factor * offset
        )
        return line.substitute({})
    if kind not in _KNOWN:
        raise function.fail(f"{what} follows a {kind}, which isn't read", f"known: {', '.join(_KNOWN)}")
    if len(coordinates) != 1:
        came = "no coordinate" if not coordinates else " ".join(coordinates)
        raise function.fail(
            f"{what}: a {kind} is of one coordinate, got {came}", "several are read in a LinearFunction"
        )
    return _curve(function, coordinates, what, factor)


def _curve(function: OsimNode, coordinates: tuple[str, ...], what: str, factor: float) -> OsimFunction:
    """A polynomial or what passes through points, times a factor; constants and lines as such."""
    kind = function.element.tag
    if kind == "PolynomialFunction":
        numbers = function.some_numbers("coefficients", 1, _MOST_COEFFICIENTS)
        rising = [factor * number for number in reversed(numbers)]
        if len(rising) <= 2:
            return OsimFunction(coordinates, (rising[1] if rising[1:] else 0.0,), rising[0]).substitute({})
        return OsimFunction(coordinates, curve={"type": "polynomial", "coefficients": rising})
    x, y = (function.some_numbers(tag, 2, MOST_POINTS) for tag in "xy")
    if len(x) != len(y):
        raise function.fail(f"{what}: <x> has {len(x)} numbers and <y> {len(y)}")
    if any(after <= before for before, after in pairwise(x)):
        raise function.fail(f"{what}: the numbers in <x> must increase")
    if len(set(y)) == 1:
        return OsimFunction(offset=factor * y[0])
    if len(x) == 2:
        slope = (y[1] - y[0]) / (x[1] - x[0])
        return OsimFunction(coordinates, (factor * slope,), factor * (y[0] - slope * x[0]))
    curve = {
        "type": "simm" if _SPLINES[kind] is SimmCurve else "linear",
        "x": list(x),
        "y": [factor * v for v in y],
    }
    read = OsimFunction(coordinates, curve=cast("Mapping[str, object]", curve))
    try:
        read.component.pieces  # noqa: B018
    except InputError as error:
        raise function.fail(f"{what}: {error.message}", error.hint) from None
    return read
