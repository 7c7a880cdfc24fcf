"""Inputs as functions of time: constants, tables with a named interpolation, Python functions."""

from __future__ import annotations

import inspect
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.choices import INTERPOLATIONS
from trundle.documents import FileTable
from trundle.errors import InputError, NumericsError, require_known
from trundle.model.arguments import number
from trundle.robot.values import MOST, Value, describe
from trundle.simulation.columns import read_column
from trundle.simulation.labelled import DataArray, Series, table_of

# Step of the differences by which a Python function is differentiated (s). Fourth order: the error is h⁴ f⁽⁵⁾/30,
# about 3e-14 for motions with time constants of a second, against rounding of 1e-13 |f|.
STEP = 1e-3
# Lagrange's polynomial through values at −2h … 2h: row k holds its coefficient of (t/h)^k.
_LAGRANGE = np.linalg.inv(np.vander(np.arange(-2.0, 3.0), increasing=True))
# Tables with at most this many nodes have the integrator stop at all of them; beyond it the error control finds the
# kinks itself.
MOST_STOPS = 500


# An input that follows the motion: of t (s) and of the states and outputs by name.
Follow = Callable[[float, Mapping[str, float]], float]


@dataclass(frozen=True)
class Signal:
    """One input over time.

    value: the value at t (s), continuous from the right at a jump; outside of a table the end values hold.
    jumps, kinks: the times (s) of these. slope: the derivative, where it is known.
    resolution: the time (s) within which it may change and change back unseen by its jumps and kinks: infinite for
        Python functions; None where it can't.
    held: whether it keeps its value between its jumps, as constants do.
    feedback: of an input that follows the motion, its value for t (s) and the state; it has no other value then.
    nodes: the times (s) between which it is a polynomial of the third degree at most. cubics: its coefficients, (k, 4)
        of the powers 0 to 3 of the time since a piece began, on pieces from and to times (k,) s that hold no node
        inside; None where it is no polynomial. One of no length has those of what follows.
    many: its values at many times, where they are computed together.
    """

    value: Callable[[float], float]
    jumps: tuple[float, ...] = ()
    kinks: tuple[float, ...] = ()
    slope: Callable[[float], float] | None = None
    resolution: float | None = None
    held: bool = False
    feedback: Follow | None = None
    nodes: tuple[float, ...] = ()
    cubics: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    many: Callable[[FloatArray], FloatArray] | None = None

    @property
    def is_function(self) -> bool:
        """Whether it is a Python function of time, of which nothing is known between the times looked at."""
        return self.resolution == math.inf and self.feedback is None

    def sample(self, times: FloatArray) -> FloatArray:
        """Values at many times."""
        if self.held and not self.jumps:
            return np.full(times.shape, self.value(0.0))
        if self.many is not None:
            return self.many(times)
        return np.array([self.value(float(t)) for t in times])

    def derivative(self, t: float, start: float, end: float) -> float:
        """ẋ(t): exact for constants and tables, fourth-order differences within [start, end] for functions."""
        if self.slope is not None:
            return self.slope(t)
        h = min(STEP, (end - start) / 8)
        middle = min(max(t, start + 2 * h), end - 2 * h)
        values = [self.value(middle + k * h) for k in (-2, -1, 0, 1, 2)]
        s = (t - middle) / h  # 0 but near the ends
        return float(np.array([0.0, 1.0, 2 * s, 3 * s**2, 4 * s**3]) @ (_LAGRANGE @ values) / h)

    def rate(self, end: float) -> Signal:
        """Its derivative over [0, end] s as a signal."""
        return replace(self, value=lambda t: self.derivative(t, 0.0, end), slope=None, cubics=None, many=None)


# What users may give as an input: a number, text with a unit, a function of time, or of time and the state, a table.
SampledColumn = Sequence[float] | Sequence[float | str | Value] | FloatArray
SampledInput = tuple[SampledColumn, SampledColumn] | tuple[SampledColumn, SampledColumn, str]
FunctionOfTime = Callable[[float], float] | Follow
# What a function of all inputs at once gives: numbers by name, those not named being 0, or one an input, in order.
Answer = Mapping[str, float] | Sequence[float] | FloatArray
AllInputs = Callable[[float], Answer] | Callable[[float, Mapping[str, float]], Answer]
Input = (
    float | str | Value | FunctionOfTime | Signal | SampledInput | Mapping[str, object] | Series | DataArray
)
# All inputs of a run: by name, or a function of all.
Inputs = Mapping[str, Input] | AllInputs


def constant(value: float) -> Signal:
    """The same value at all times."""
    number = float(value)
    if not math.isfinite(number):
        raise InputError(f"an input of {number} is not a finite number")
    return Signal(
        lambda t: number, held=True, slope=lambda t: 0.0, cubics=_hold(np.zeros(1), np.array([number]))
    )


def function(call: Callable[..., float], name: str = "") -> Signal:
    """A Python function of time (s), or of time and the state where it needs two arguments. It must return a finite
    number wherever the run asks, or the run stops and says when. `name` is the input's, for messages.
    """
    told = f"the input function {getattr(call, '__name__', call)!r}{f' of {name!r}' if name else ''}"

    def value(t: float, *state: Mapping[str, float]) -> float:
        """The function's number at a time; errors in it say which input they come from."""
        try:
            answer = call(t, *state)
        except InputError as error:
            raise InputError(f"{told}: {error.message}", hint=error.hint) from None
        except Exception as error:
            raise InputError(f"{told} raised {type(error).__name__} at t = {t:g} s: {error}") from error
        try:
            number = float(answer)
        except (TypeError, ValueError, OverflowError):
            number = _one_number(answer, f"{told} must return a number for each time; at t = {t:g} s it gave")
        if not math.isfinite(number):
            raise NumericsError(f"{told} gave {number} at t = {t:g} s")
        return number

    if _needed(call) >= 2:
        return Signal(value, resolution=math.inf, feedback=value)

    def quick(t: float) -> float:
        """The same for what nothing is wrong with, in half the time: it is asked for at every evaluation."""
        try:
            number = float(call(t))
        except Exception:
            return value(t)
        return number if math.isfinite(number) else value(t)

    return Signal(quick, resolution=math.inf)


def together(call: AllInputs, names: Sequence[str]) -> dict[str, Callable[..., float]]:
    """Functions of the inputs by name, from one that gives all of them at a time (s), or at a time and a state.

    Parameters
    ----------
    call : function
        Of t, or of t and the state; it gives numbers by name, or an array (n,) in the order of `names`.
    names : sequence of str
        All inputs.

    Returns
    -------
    dict of str to function
        With as many arguments; a state is handed to `call` once, however many inputs are asked for.
    """
    latest: tuple[float, Mapping[str, float] | None] | None = None
    values: Mapping[str, float] = {}

    def at(t: float, state: Mapping[str, float] | None = None) -> Mapping[str, float]:
        nonlocal latest, values
        if latest is None or latest[0] != t or latest[1] is not state:
            answer = cast("Callable[..., Answer]", call)(t, *(() if state is None else (state,)))
            latest, values = (t, state), _by_name(answer, names)
        return values

    def one(name: str) -> Callable[..., float]:
        def of_time(t: float) -> float:
            return at(t).get(name, 0.0)

        def following(t: float, state: Mapping[str, float]) -> float:
            return at(t, state).get(name, 0.0)

        chosen = following if _needed(call) >= 2 else of_time
        chosen.__name__ = getattr(call, "__name__", "inputs")
        return chosen

    return {name: one(name) for name in names}


def _by_name(answer: Answer, names: Sequence[str]) -> Mapping[str, float]:
    """What a function of all inputs gave, by name; raises InputError for other names and another count."""
    if isinstance(answer, Mapping):
        for name in answer:
            require_known(name, names, f"gave '{name}', which is no input")
        return answer
    shape = np.shape(answer)
    if shape != (len(names),):
        came = f"an array of shape {shape}" if shape else describe(answer)
        raise InputError(
            f"gave {came}, and there are {len(names)} inputs", hint=f"their order is {', '.join(names)}"
        )
    return dict(zip(names, answer, strict=True))


def _needed(call: Callable[..., object]) -> int:
    """How many arguments a function needs; 1 where it doesn't tell."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return 1
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in places and parameter.default is parameter.empty for parameter in parameters)


def _one_number(answer: object, complaint: str) -> float:
    """The number in an array or list of one."""
    array = np.asarray(answer) if not isinstance(answer, str) else np.zeros(0)
    if array.size == 1 and array.dtype.kind in "fiub":
        return float(array.reshape(-1)[0])
    shown = f"an array of shape {array.shape}" if array.size > 1 else describe(answer)
    raise InputError(f"{complaint} {shown}")


def table(times: npt.ArrayLike, values: npt.ArrayLike, interpolation: str = "linear") -> Signal:
    """An input given by its values at some times.

    `previous` holds a value until the next time; `linear` and `cubic` (a not-a-knot spline) join them. Outside of
    the times the first and the last value hold.

    Parameters
    ----------
    times : array_like, shape (n,), s
        Increasing; one at least.
    values : array_like, shape (n,)
        The input there, in SI.
    interpolation : {"linear", "previous", "cubic"}
        What holds between the times.

    Returns
    -------
    Signal
        To be given as an input; `.value(t)` is its value at t (s).

    Raises
    ------
    InputError
        Where the times don't increase, the shapes differ, something isn't a finite number, or the interpolation is
        unknown.

    Examples
    --------
    >>> import trundle
    >>> ramp = trundle.table([0.0, 2.0], [0.0, 24.0])
    >>> ramp.value(1.5), ramp.value(9.0)
    (18.0, 24.0)
    """
    t, v = as_numbers(times, "a table's times"), as_numbers(values, "a table's values")
    if not isinstance(interpolation, str) or interpolation not in INTERPOLATIONS:
        raise InputError(
            f"interpolation {describe(interpolation)} is not known",
            hint=f"known: {', '.join(INTERPOLATIONS)}",
        )
    if t.ndim != 1 or t.shape != v.shape or t.size == 0:
        raise InputError(
            f"a table needs as many times as values, one at least; got shapes {t.shape} and {v.shape}"
        )
    if not (np.isfinite(t).all() and np.isfinite(v).all()):
        raise InputError("a table holds something that is not a finite number")
    if max(np.abs(t).max(), np.abs(v).max()) > MOST:
        raise InputError(f"a table holds a number that is out of bounds: at most {MOST:g}")
    if (np.diff(t) <= 0).any():
        place = int(np.argmax(np.diff(t) <= 0))
        raise InputError(f"a table's times must increase; {t[place + 1]:g} comes after {t[place]:g}")
    if t.size == 1:
        return constant(float(v[0]))
    if interpolation == "previous":
        return _steps(t, v)
    return _pieces(t, _polynomials(t, v, interpolation), interpolation == "cubic")


def as_signal(given: Input, name: str, unit: str = "") -> Signal:
    """A signal from what a user may give for an input; `name` is where it stands, for messages, `unit` its own."""
    if isinstance(given, Signal):
        return given
    if isinstance(given, (Series, DataArray)):
        return table(*table_of(given))
    if callable(given):
        return function(given, name.removeprefix("run.inputs."))
    if isinstance(given, Mapping) and "file" in given:
        source = FileTable(**cast("dict[str, Any]", given))
        given = read_column(source, name.removeprefix("run.inputs."), Path(), name)
    if isinstance(given, Mapping):
        if set(given) - {"interpolation"} != {"times", "values"}:
            came = ", ".join(map(str, given)) or "nothing"
            raise InputError(f"a table has times, values and maybe an interpolation; came: {came}")
        given = cast(SampledInput, (given["times"], given["values"], given.get("interpolation", "linear")))
    if isinstance(given, tuple) and len(given) in (2, 3):
        times, values, *rest = given
        return table(_numbers(times, name, "s"), _numbers(values, name, unit), *rest)
    if isinstance(given, (str, Value)):
        return constant(number(given, name, unit))
    try:
        return constant(float(cast(float, given)))
    except OverflowError:
        raise InputError(f"an input of {describe(given)} is too large") from None
    except (TypeError, ValueError):
        raise InputError(
            f"an input can't be {type(given).__name__}",
            hint="give a number, text with a unit, a function of time, a table (times, values, interpolation), "
            "or a pandas Series or xarray DataArray over time",
        ) from None


def _numbers(column: SampledColumn, name: str, unit: str) -> npt.ArrayLike:
    """A table's times or values in SI; text may have units."""
    if isinstance(column, Sequence) and any(isinstance(cell, (str, Value)) for cell in column):
        return [number(cell, name, unit) for cell in column]
    return cast(npt.ArrayLike, column)


def _steps(t: np.ndarray, v: np.ndarray) -> Signal:
    times, values = t.tolist(), v.tolist()
    jumps = tuple(t[1:][np.diff(v) != 0].tolist())
    value: Callable[[float], float] = lambda time: values[max(bisect_right(times, time) - 1, 0)]  # noqa: E731

    def many(at: FloatArray) -> FloatArray:
        return v[np.maximum(np.searchsorted(t, at, side="right") - 1, 0)]

    return Signal(value, jumps=jumps, held=True, cubics=_hold(t, v), many=many)


def _hold(t: np.ndarray, v: np.ndarray) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The coefficients of what holds values v from times t (s) on."""

    def cubics(begins: FloatArray, ends: FloatArray) -> FloatArray:
        found = np.zeros((begins.size, 4))
        found[:, 0] = v[np.maximum(np.searchsorted(t, (begins + ends) / 2, side="right") - 1, 0)]
        return found

    return cubics


def _polynomials(t: np.ndarray, v: np.ndarray, interpolation: str) -> np.ndarray:
    """Coefficients (4, pieces), highest power first, in the time since the piece's start."""
    with np.errstate(all="ignore"):
        slopes = np.diff(v) / np.diff(t)
        coefficients = np.array([0 * slopes, 0 * slopes, slopes, v[:-1]])
        if interpolation == "cubic" and np.isfinite(coefficients).all():
            from scipy.interpolate import CubicSpline

            try:
                coefficients = CubicSpline(t, v).c
            except ValueError:  # its slopes overflow
                coefficients = np.full_like(coefficients, np.nan)
    if not np.isfinite(coefficients).all():
        raise InputError(
            f"a table's times are too close to each other to be joined: {np.diff(t).min():g} s apart",
            hint="interpolation 'previous' holds each value",
        )
    return coefficients


def _pieces(t: np.ndarray, coefficients: np.ndarray, smooth: bool) -> Signal:
    """A signal of cubic pieces between times t (k + 1,), coefficients (4, k), constant beyond both ends.

    The integrator stops at every node of a short table. Of a long one, and of a `smooth` one, which has no kinks, it is
    told the nodes' spacing instead.
    """
    starts, pieces, end = t.tolist(), coefficients.T.tolist(), float(t[-1])

    def local(time: float) -> tuple[list[float], float]:
        place = min(max(bisect_right(starts, time) - 1, 0), len(pieces) - 1)
        return pieces[place], min(max(time, starts[0]), end) - starts[place]

    def value(time: float) -> float:
        (a, b, c, d), s = local(time)
        return ((a * s + b) * s + c) * s + d

    def many(times: FloatArray) -> FloatArray:
        place = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(pieces) - 1)
        a, b, c, d = coefficients[:, place]
        s = np.clip(times, t[0], t[-1]) - t[place]
        return ((a * s + b) * s + c) * s + d

    def slope(time: float) -> float:
        if time < starts[0] or time > end:
            return 0.0
        (a, b, c, _), s = local(time)
        return (3 * a * s + 2 * b) * s + c

    def cubics(begins: FloatArray, ends: FloatArray) -> FloatArray:
        middle = (begins + ends) / 2
        place = np.clip(np.searchsorted(t, middle, side="right") - 1, 0, len(pieces) - 1)
        inside = (middle >= t[0]) & (middle < t[-1])
        a, b, c, d = coefficients[:, place]
        s = np.where(inside, begins, np.clip(middle, t[0], t[-1])) - t[place]
        found = np.array([((a * s + b) * s + c) * s + d, (3 * a * s + 2 * b) * s + c, 3 * a * s + b, a]).T
        found[~inside, 1:] = 0.0
        return found

    signal = Signal(value, kinks=tuple(starts), slope=slope, nodes=tuple(starts), cubics=cubics, many=many)
    if len(starts) <= MOST_STOPS and not smooth:
        return signal
    return replace(signal, kinks=(starts[0], end), resolution=float(np.median(np.diff(t))))
