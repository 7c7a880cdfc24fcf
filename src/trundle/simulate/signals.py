"""Inputs as functions of time: constants, tables with a named interpolation, Python functions."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from trundle.errors import InputError, NumericsError

INTERPOLATIONS = ("previous", "linear", "cubic")
# Step of the differences by which a Python function is differentiated (s). Fourth order: the error is h⁴ f⁽⁵⁾/30,
# about 3e-14 for motions with time constants of a second, against rounding of 1e-13 |f|.
STEP = 1e-3
# Tables with at most this many nodes have the integrator stop at each; beyond it the error control finds the kinks
# itself.
MOST_STOPS = 500


@dataclass(frozen=True)
class Signal:
    """One input over time: its value at t (s), its times of jumps, its times of kinks, and whether it never changes.

    `value(t)` is continuous from the right at a jump; outside of a table the end values hold. `resolution` is the time
    (s) within which it may change and change back unseen by its jumps and kinks (None: it can't).
    """

    value: Callable[[float], float]
    jumps: tuple[float, ...] = ()
    kinks: tuple[float, ...] = ()
    steady: bool = False
    slope: Callable[[float], float] | None = None
    resolution: float | None = None

    def sample(self, times: np.ndarray) -> np.ndarray:
        """Values at many times."""
        return np.array([self.value(float(t)) for t in times])

    def derivative(self, t: float, start: float, end: float) -> float:
        """ẋ(t): exact for constants and tables, fourth-order differences within [start, end] for functions."""
        if self.slope is not None:
            return self.slope(t)
        h = min(STEP, (end - start) / 8)
        middle = min(max(t, start + 2 * h), end - 2 * h)
        # Lagrange's polynomial through five points, differentiated at t (which is the middle but near the ends).
        nodes = [middle + k * h for k in (-2, -1, 0, 1, 2)]
        return sum(w * self.value(node) for w, node in zip(_weights(nodes, t), nodes, strict=True))


def constant(value: float) -> Signal:
    """The same value at all times."""
    number = float(value)
    if not math.isfinite(number):
        raise InputError(f"an input of {number} is not a finite number")
    return Signal(lambda t: number, steady=True, slope=lambda t: 0.0)


def function(call: Callable[[float], float]) -> Signal:
    """A Python function of time (s). It must return a finite number wherever the run asks, or the run stops and says
    when.
    """

    def value(t: float) -> float:
        number = float(call(t))
        if not math.isfinite(number):
            raise NumericsError(
                f"the input function {getattr(call, '__name__', call)!r} gave {number} at t = {t:g} s"
            )
        return number

    return Signal(value, resolution=math.inf)


def table(times: Sequence[float], values: Sequence[float], interpolation: str = "linear") -> Signal:
    """A table: `previous` holds each value until the next time, `linear` and `cubic` (not-a-knot spline) join them.

    times (s), strictly increasing; outside of them the end values hold.
    """
    try:
        t, v = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("a table's times and values must be numbers") from None
    if interpolation not in INTERPOLATIONS:
        raise InputError(
            f"interpolation '{interpolation}' is not known", hint=f"known: {', '.join(INTERPOLATIONS)}"
        )
    if t.ndim != 1 or t.shape != v.shape or t.size == 0:
        raise InputError(
            f"a table needs as many times as values, one at least; got shapes {t.shape} and {v.shape}"
        )
    if not (np.isfinite(t).all() and np.isfinite(v).all()):
        raise InputError("a table holds something that is not a finite number")
    if (np.diff(t) <= 0).any():
        place = int(np.argmax(np.diff(t) <= 0))
        raise InputError(f"a table's times must increase; {t[place + 1]:g} comes after {t[place]:g}")
    if t.size == 1:
        return constant(float(v[0]))
    if interpolation == "previous":
        return _steps(t.tolist(), v.tolist())
    return _pieces(t, _polynomials(t, v, interpolation))


def as_signal(given: Any) -> Signal:
    """A signal from what a user may give: a number, a function, (times, values[, interpolation]), a mapping, a
    described table.
    """
    if isinstance(given, Signal):
        return given
    if callable(given):
        return function(cast("Callable[[float], float]", given))
    if isinstance(given, dict):
        if set(given) - {"interpolation"} != {"times", "values"}:
            came = ", ".join(map(str, given)) or "nothing"
            raise InputError(f"a table has times, values and maybe an interpolation; came: {came}")
        return table(given["times"], given["values"], given.get("interpolation", "linear"))
    if hasattr(given, "times") and hasattr(given, "numbers"):
        return table(given.times, given.numbers, given.interpolation)
    if isinstance(given, tuple) and len(given) in (2, 3):
        return table(*given)
    try:
        return constant(float(cast(Any, given)))
    except (TypeError, ValueError):
        raise InputError(
            f"an input can't be {type(given).__name__}",
            hint="give a number, a function of time, or a table (times, values, interpolation)",
        ) from None


def _steps(times: list[float], values: list[float]) -> Signal:
    def value(t: float) -> float:
        return values[max(bisect_right(times, t) - 1, 0)]

    changes = tuple(
        b for b, before, after in zip(times[1:], values, values[1:], strict=False) if before != after
    )
    return Signal(value, jumps=changes)


def _polynomials(t: np.ndarray, v: np.ndarray, interpolation: str) -> np.ndarray:
    """Coefficients (4, pieces), highest power first, in the time since each piece's start."""
    if interpolation == "linear":
        slopes = np.diff(v) / np.diff(t)
        zeros = np.zeros_like(slopes)
        return np.array([zeros, zeros, slopes, v[:-1]])
    from scipy.interpolate import CubicSpline

    return CubicSpline(t, v).c


def _pieces(t: np.ndarray, coefficients: np.ndarray) -> Signal:
    starts, pieces, end = t.tolist(), coefficients.T.tolist(), float(t[-1])

    def local(time: float) -> tuple[list[float], float]:
        place = min(max(bisect_right(starts, time) - 1, 0), len(pieces) - 1)
        return pieces[place], min(max(time, starts[0]), end) - starts[place]

    def value(time: float) -> float:
        (a, b, c, d), s = local(time)
        return ((a * s + b) * s + c) * s + d

    def slope(time: float) -> float:
        if time < starts[0] or time > end:
            return 0.0
        (a, b, c, _), s = local(time)
        return (3 * a * s + 2 * b) * s + c

    if len(starts) <= MOST_STOPS:
        return Signal(value, kinks=tuple(starts), slope=slope)
    return Signal(value, kinks=(starts[0], end), slope=slope, resolution=float(np.median(np.diff(t))))


def longest_step(signals: Iterable[Signal], times: np.ndarray) -> float:
    """The longest step (s) that sees what the signals do: long tables node by node, functions at the run's sampling."""
    limits = [s.resolution for s in signals if s.resolution is not None]
    return min([float(np.diff(times).max()), *limits]) if limits else math.inf


def _weights(nodes: Sequence[float], t: float) -> list[float]:
    """Weights of the derivative at t of the polynomial through `nodes` (Fornberg 1988, by the product rule)."""
    weights = []
    for i, own in enumerate(nodes):
        others = [x for j, x in enumerate(nodes) if j != i]
        total = 0.0
        for skipped in range(len(others)):
            term = 1.0 / (own - others[skipped])
            for k, x in enumerate(others):
                if k != skipped:
                    term *= (t - x) / (own - x)
            total += term
        weights.append(total)
    return weights
