"""Inputs as functions of time: constants, tables with a named interpolation, Python functions."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from trundle.errors import InputError, NumericsError
from trundle.simulation.arguments import number as read_number

INTERPOLATIONS = ("previous", "linear", "cubic")
# Step of the differences by which a Python function is differentiated (s). Fourth order: the error is h⁴ f⁽⁵⁾/30,
# about 3e-14 for motions with time constants of a second, against rounding of 1e-13 |f|.
STEP = 1e-3
# Tables with at most this many nodes have the integrator stop at each; beyond it the error control finds the kinks
# itself.
MOST_STOPS = 500
# Jumps of one function that a run restarts at; beyond it the function is noise, which no method integrates.
MOST_JUMPS = 5000
# Without a longest step of the user's, functions of time are looked at this often over a run. Pulses shorter than
# the step may be missed.
LOOKS = 1000


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
    held: bool = False  # whether it keeps its value between its jumps

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

    named = f"the input function {getattr(call, '__name__', call)!r}"

    def value(t: float) -> float:
        answer = call(t)
        try:
            number = float(answer)
        except (TypeError, ValueError):
            number = _one_number(
                answer, f"{named} must return a number for each time; at t = {t:g} s it gave"
            )
        if not math.isfinite(number):
            raise NumericsError(f"{named} gave {number} at t = {t:g} s")
        return number

    return Signal(value, resolution=math.inf)


def _one_number(answer: Any, complaint: str) -> float:
    """The number in an array or list of one."""
    array = np.asarray(answer) if not isinstance(answer, str) else np.zeros(0)
    if array.size == 1 and array.dtype.kind in "fiub":
        return float(array.reshape(-1)[0])
    shown = f"an array of shape {array.shape}" if array.size > 1 else repr(answer)
    raise InputError(f"{complaint} {shown}")


def with_jumps(signal: Signal, end: float, step: float) -> Signal:
    """The same signal with the jumps of a Python function found, so far as values `step` (s) apart over [0, end] show
    them.
    """
    if signal.resolution != math.inf:
        return signal
    nodes = np.linspace(0.0, end, max(math.ceil(end / step), 1) + 1).tolist()
    return replace(signal, jumps=tuple(find_jumps(signal.value, nodes)))


def find_jumps(value: Callable[[float], float], nodes: Sequence[float]) -> list[float]:
    """Times at which a function jumps between increasing `nodes`, each the first float after its jump.

    An interval is halved toward the half with the greater change. In a smooth function the change shrinks with the
    interval; across a jump it stays, down to two neighbouring floats.
    """
    values = [value(t) for t in nodes]
    noise = 1e-9 * (max(values) - min(values)) if values else 0.0
    found: list[float] = []
    open_ = [(a, b, va, vb) for (a, va), (b, vb) in pairwise(zip(nodes, values, strict=True)) if va != vb]
    while open_ and len(found) < MOST_JUMPS:
        a, b, va, vb = open_.pop()
        place = _bisected(value, a, b, va, vb, noise)
        if place is None:
            continue
        before, after, v_before, v_after = place
        found.append(after)
        # A second jump in the same interval.
        open_ += [
            piece for piece in ((a, before, va, v_before), (after, b, v_after, vb)) if piece[2] != piece[3]
        ]
    return sorted(found)


def _bisected(
    value: Callable[[float], float], a: float, b: float, va: float, vb: float, noise: float
) -> tuple[float, float, float, float] | None:
    """The floats on both sides of a jump in [a, b] and the values there, or None where the change is smooth."""
    width, slow = b - a, 0
    while b - a > 4e-16 * max(abs(b), width):
        middle = (a + b) / 2
        if not a < middle < b:
            break
        vm = value(middle)
        change, left, right = abs(vb - va), abs(vm - va), abs(vb - vm)
        if max(left, right) <= noise:
            return None
        slow = slow + 1 if max(left, right) < 0.8 * change else 0
        if slow == 2:
            return None
        if left >= right:
            b, vb = middle, vm
        else:
            a, va = middle, vm
    return (a, b, va, vb) if abs(vb - va) > noise else None


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


def as_signal(given: Any, unit: str = "") -> Signal:
    """A signal from what a user may give: a number, text with a unit, a function, (times, values[, interpolation]), a
    mapping, a described table.
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
    if isinstance(given, str):
        return constant(read_number(given, "", unit))
    try:
        return constant(float(cast(Any, given)))
    except (TypeError, ValueError):
        raise InputError(
            f"an input can't be {type(given).__name__}",
            hint="give a number, text with a unit, a function of time, or a table (times, values, interpolation)",
        ) from None


def _steps(times: list[float], values: list[float]) -> Signal:
    def value(t: float) -> float:
        return values[max(bisect_right(times, t) - 1, 0)]

    changes = tuple(
        b for b, before, after in zip(times[1:], values, values[1:], strict=False) if before != after
    )
    return Signal(value, jumps=changes, held=True)


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


def longest_step(signals: Iterable[Signal], end: float, asked: float | None) -> float:
    """The longest step (s): as `asked`, else one that sees what the signals do: long tables node by node, functions
    `LOOKS` times over the run. It doesn't depend on which times are stored.
    """
    if asked is not None:
        return asked
    limits = [min(s.resolution, end / LOOKS) for s in signals if s.resolution is not None]
    return min(limits, default=math.inf)


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
