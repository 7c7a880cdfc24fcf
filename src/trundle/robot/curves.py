"""Curves: functions of one coordinate by which others follow it, by type. All are polynomials between knots.

Splines and lines through points go on straight beyond their ends, as OpenSim's functions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from trundle.robot import units
from trundle.robot.kinds import Kind, Registry
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import Reads, Value, describe, problem
from trundle.scalars import Scalar, less, where

# A knot takes some eight operations of every program; measured curves of joints have up to thirty.
MOST_POINTS = 200

# A coefficient beyond it is a quotient by rounding: joints' curves have some 10, also where points are a degree apart.
_STEEPEST = 1e15


@dataclass(frozen=True)
class CurvePieces:
    """Σ c_k (x − o)^k, its origin o and coefficients c those of the stretch between two knots that x is in.

    There is one stretch more than knots: the first is left of them all.
    """

    knots: tuple[float, ...]
    origins: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]

    def derivative(self) -> CurvePieces:
        """The same function's derivative, stretch by stretch."""
        lower = tuple(tuple(k * c for k, c in enumerate(row))[1:] or (0.0,) for row in self.coefficients)
        return CurvePieces(self.knots, self.origins, lower)

    def __call__(self, x: Scalar) -> Scalar:
        """The value at x, a scalar of any kind: coefficients are chosen, then summed up by Horner's scheme."""
        degree = max(map(len, self.coefficients))
        rows = [
            (o, *c, *[0.0] * (degree - len(c))) for o, c in zip(self.origins, self.coefficients, strict=True)
        ]
        chosen: list[Scalar] = list(rows[-1])
        for knot, row in zip(reversed(self.knots), reversed(rows[:-1]), strict=True):
            before = less(x, knot)
            chosen = [
                a if type(b) is float and a == b else where(before, a, b)
                for a, b in zip(row, chosen, strict=True)
            ]
        origin, *coefficients = chosen
        t = x if type(origin) is float and origin == 0.0 else x - origin
        value = coefficients.pop()
        while coefficients:
            value = value * t + coefficients.pop()
        return value


class _ReadsNumbers(Reads):
    """A list of numbers that use no parameters, as they shape the equations."""

    plain = "a curve", None

    def read(self, written: object) -> object:
        if not isinstance(written, (list, tuple)):
            raise problem(f"expected a list of numbers, got {describe(written)}", "such as [0, 0.5, 1]")
        if len(written) > MOST_POINTS:
            raise problem(f"a list of {len(written)} is too long: a curve has at most {MOST_POINTS} points")
        return self.values(written)

    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": super().schema()}


ValueTuple = Annotated[tuple[Value, ...], _ReadsNumbers(units.ANY)]

CURVES = Registry("curve", "natural")


class Curve(Kind):
    """A function of one coordinate: `pieces` says which."""

    family: ClassVar[Registry] = CURVES

    @property
    def pieces(self) -> CurvePieces:
        """The function as polynomials."""
        raise NotImplementedError

    def measured(self, x: PhysicalQuantity, y: PhysicalQuantity) -> Self:
        """The curve told what its coordinate and its values measure."""
        return self

    def at(self, x: Scalar, order: int = 0) -> Scalar:
        """The value at x, or the derivative of an order there: x in rad or m, as the coordinate that is followed."""
        return self.derivatives[order](x)

    @cached_property
    def derivatives(self) -> tuple[CurvePieces, CurvePieces, CurvePieces, CurvePieces]:
        """The function and its first three derivatives."""
        value = self.pieces
        slope = value.derivative()
        bend = slope.derivative()
        return value, slope, bend, bend.derivative()


class PolynomialCurve(Curve):
    """A polynomial: y = c0 + c1 x + c2 x^2 + …"""

    called: ClassVar[str] = "polynomial"

    type: Literal["polynomial"] = "polynomial"
    coefficients: ValueTuple = Field(description="c0, c1, c2, … of y = c0 + c1 x + c2 x^2 + … (rad and m).")

    @model_validator(mode="after")
    def _some(self) -> PolynomialCurve:
        if not self.coefficients:
            raise problem(
                "a polynomial has a coefficient at least", "write coefficients: [c0, c1]", ("coefficients",)
            )
        return self

    @property
    def pieces(self) -> CurvePieces:
        return CurvePieces((), (0.0,), (tuple(c.number for c in self.coefficients),))


class PointCurve(Curve):
    """What passes through points (x, y) and goes on straight beyond the first and the last."""

    x: ValueTuple = Field(description="The coordinate that is followed, increasing (rad or m).")
    y: ValueTuple = Field(description="The follower there (rad or m).")

    @model_validator(mode="after")
    def _points(self) -> PointCurve:
        """Two points or more, x increasing, and no two so near that a coefficient is lost in rounding."""
        if len(self.x) != len(self.y):
            message = f"x has {len(self.x)} numbers and y {len(self.y)}"
            raise problem(message, "a point has an x and a y", ("y",))
        if len(self.x) < 2:
            raise problem(f"it has {len(self.x)} points", "two at least", ("x",))
        numbers = [value.number for value in self.x]
        for place, (before, after) in enumerate(pairwise(numbers)):
            if not after > before:
                message = f"x must increase, and {after:g} comes after {before:g}"
                raise problem(message, "sort the points", ("x", place + 1))
        self._refuse_steep()
        return self

    def _refuse_steep(self) -> None:
        """Points so near to one another that the curve between them is beyond all numbers."""
        try:
            sound = all(abs(c) <= _STEEPEST for row in self.pieces.coefficients for c in row)
        except (ZeroDivisionError, np.linalg.LinAlgError):
            sound = False
        if not sound:
            raise problem("some of its points are too near to one another", "leave one of them out", ("x",))

    def measured(self, x: PhysicalQuantity, y: PhysicalQuantity) -> Self:
        told = {"x": self.x, "y": self.y}
        measures = {"x": x, "y": y}
        return self.model_copy(
            update={
                key: tuple(replace(v, quantity=measures[key]) for v in values) for key, values in told.items()
            }
        )

    def seconds(self, widths: Sequence[float], slopes: Sequence[float]) -> list[float]:
        """y''/2 at the points, of the stretches' widths and mean slopes."""
        raise NotImplementedError

    @property
    def pieces(self) -> CurvePieces:
        """Cubics between the points, by `seconds`, and straight lines beyond the first and the last."""
        x, y = ([value.number for value in values] for values in (self.x, self.y))
        widths = [b - a for a, b in pairwise(x)]
        slopes = [(b - a) / h for (a, b), h in zip(pairwise(y), widths, strict=True)]
        c = self.seconds(widths, slopes)
        rows = [
            (y[k], slopes[k] - h * (2 * c[k] + c[k + 1]) / 3, c[k], (c[k + 1] - c[k]) / (3 * h))
            for k, h in enumerate(widths)
        ]
        last = slopes[-1] + widths[-1] * (c[-2] + 2 * c[-1]) / 3
        ends = (y[0], rows[0][1]), (y[-1], last)
        return CurvePieces(tuple(x), (x[0], *x), (ends[0], *rows, ends[1]))


class LinearCurve(PointCurve):
    """Straight lines through points."""

    called: ClassVar[str] = "curve of lines"

    type: Literal["linear"] = "linear"

    def seconds(self, widths: Sequence[float], slopes: Sequence[float]) -> list[float]:
        return [0.0] * (len(widths) + 1)


class NaturalCurve(PointCurve):
    """The natural cubic spline through points: no curvature at its ends."""

    called: ClassVar[str] = "natural spline"

    type: Literal["natural"] = "natural"

    def seconds(self, widths: Sequence[float], slopes: Sequence[float]) -> list[float]:
        return _curvatures(widths, slopes, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


class SimmCurve(PointCurve):
    """The cubic spline of SIMM and OpenSim: at its ends it has the third derivative of the cubic through four points.

    Source: Forsythe, Malcolm & Moler 1977, Computer Methods for Mathematical Computations, section 4.4.
    """

    called: ClassVar[str] = "SIMM spline"

    type: Literal["simm"] = "simm"

    def seconds(self, widths: Sequence[float], slopes: Sequence[float]) -> list[float]:
        ends = [_third(widths[:3], slopes[:3]), _third(widths[-3:], slopes[-3:])]
        first, last = widths[0], widths[-1]
        return _curvatures(widths, slopes, (-1.0, 1.0, 3 * first * ends[0]), (-1.0, 1.0, 3 * last * ends[1]))


def _third(widths: Sequence[float], slopes: Sequence[float]) -> float:
    """y'''/6 of the cubic through four points, by divided differences; 0 where there are fewer."""
    if len(widths) < 3:
        return 0.0
    a, b, c = widths
    before, after = (slopes[1] - slopes[0]) / (a + b), (slopes[2] - slopes[1]) / (b + c)
    return (after - before) / (a + b + c)


def _curvatures(
    widths: Sequence[float],
    slopes: Sequence[float],
    first: tuple[float, float, float],
    last: tuple[float, float, float],
) -> list[float]:
    """c = y''/2 at the points: h_(k−1) c_(k−1) + 2 (h_(k−1) + h_k) c_k + h_k c_(k+1) = 3 (s_k − s_(k−1)), with a row at
    each end, α c + β c' = γ of its last two unknowns in their order.

    Rows of two alike unknowns stand for a third derivative; where only two points are there, they make no spline.
    """
    if len(widths) == 1:
        return [0.0, 0.0]
    diagonal = [first[0], *(2 * (h + k) for h, k in pairwise(widths)), last[1]]
    matrix = np.diag(diagonal) + np.diag([*widths[:-1], last[0]], -1) + np.diag([first[1], *widths[1:]], 1)
    right = [first[2], *(3 * (t - s) for s, t in pairwise(slopes)), last[2]]
    return np.linalg.solve(matrix, right).tolist()


CURVES.add(PolynomialCurve, LinearCurve, NaturalCurve, SimmCurve)
