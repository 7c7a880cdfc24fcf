"""Piecewise polynomials, exactly: the profiles of one value over time, and the splines that plans are made of.

Least times of one value under limits of its derivatives have a closed form (Biagiotti & Melchiorri 2008, "Trajectory
planning for automatic machines and robots", sections 3.2 and 3.4): from rest to rest the seven phases are symmetric, so
that nothing has to be searched for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.choices import PROFILES
from trundle.errors import InputError, choose, require_known
from trundle.frozen import frozen, settle

# The derivatives of a value by their order.
ORDERS = ("position", "velocity", "acceleration", "jerk")
# A derivative jumps where it changes by more than this share of its largest value: what is less is rounding.
_JUMP = 1e-9


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """x(t) = Σ_k c_ik (t − t_i)^k on the piece i, exactly, with its derivatives.

    (SciPy's PPoly does the same; importing it takes longer than all else of a short motion.)

    Parameters
    ----------
    breaks : array (n + 1,), s
        Where pieces begin, from 0, and the end.
    coefficients : array (n, degree + 1) or (n, degree + 1, values)
        Of the pieces, the constant first.
    """

    breaks: FloatArray
    coefficients: FloatArray

    def __post_init__(self) -> None:
        settle(self, breaks=frozen(self.breaks), coefficients=frozen(self.coefficients))

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.breaks[-1])

    def piece_at(self, times: FloatArray) -> npt.NDArray[np.intp]:
        """The piece that counts at times, at a break the one that follows it; beyond the ends the first or the last."""
        return np.searchsorted(self.breaks[1:-1], times, "right")

    def at(
        self, times: npt.ArrayLike, order: int = 0, piece: npt.NDArray[np.integer] | None = None
    ) -> FloatArray:
        """The derivative of an order (0 to 3: position, velocity, acceleration, jerk; above too) at times.

        Parameters
        ----------
        times : array_like, s
            From 0 to the duration; at a break what follows it counts.
        order : int
            Which derivative.
        piece : array of int, optional
            The pieces to take at the times, also outside of them.

        Returns
        -------
        array
            Of the shape of `times`, and of the values behind it.

        Raises
        ------
        InputError
            The order is negative.

        Examples
        --------
        >>> from trundle.motion.pieces.profiles import shaped
        >>> shaped("scurve", 0.0, 1.0, 2.0).at([0.0, 1.0, 2.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        if order < 0:
            raise InputError(f"expected an order from 0, got {order}", key="order")
        times = as_numbers(times, "times")
        piece = self.piece_at(times) if piece is None else piece
        coefficients = differentiated(self.coefficients, order)
        values = coefficients.shape[2:]
        since = (times - self.breaks[piece]).reshape((*times.shape, *(1,) * len(values)))
        total = np.zeros((*times.shape, *values))
        for k in range(coefficients.shape[1] - 1, -1, -1):  # Horner's rule
            total = total * since + coefficients[piece, k]
        return total


@dataclass(frozen=True, eq=False)
class Profile(PiecewisePolynomial):
    """How one value goes from here to there, with what it did before.

    Parameters
    ----------
    ends : pair of pairs of floats
        Velocity and acceleration before the start and behind the end: what differs there is an impulse.
    """

    ends: tuple[tuple[float, float], tuple[float, float]] = ((0.0, 0.0), (0.0, 0.0))

    def derivative(self) -> Profile:
        """The profile of its rate."""
        return Profile(self.breaks, differentiated(self.coefficients, 1))

    def shifted(self, by: float) -> Profile:
        """The same from another value on, x(t) + by."""
        moved = self.coefficients.copy()
        moved[:, 0] += by
        return replace(self, coefficients=moved)

    def slower(self, factor: float) -> Profile:
        """The same values over so many times the time, from rest to rest."""
        powers = np.arange(self.coefficients.shape[1])
        return Profile(self.breaks * factor, self.coefficients / factor**powers)

    def at_or_end(self, times: FloatArray, order: int = 0) -> FloatArray:
        """As `at`, and behind the end at rest where it ends."""
        values = self.at(np.minimum(times, self.duration), order)
        return values if order == 0 else np.where(times > self.duration, 0.0, values)

    def extremes(self, order: int = 0) -> tuple[float, float]:
        """The least and the greatest value of a derivative, jumps from both sides."""
        spans = np.diff(self.breaks)
        slopes = differentiated(self.coefficients, order + 1)
        values = []
        for coefficients, slope, span in zip(
            differentiated(self.coefficients, order), slopes, spans, strict=True
        ):
            # extremes are at the ends or where the slope is zero; a real root comes with an imaginary rounding
            roots = np.roots(np.trim_zeros(slope[::-1], "f"))
            inside = roots.real[(abs(roots.imag) <= 1e-9) & (roots.real > 0) & (roots.real < span)]
            values += np.polyval(coefficients[::-1], [0.0, span, *inside]).tolist()
        return min(values), max(values)

    @cached_property
    def impulsive(self) -> tuple[str, ...]:
        """The derivatives that are impulses somewhere, where the one below jumps: "acceleration", "jerk"."""
        for order in (1, 2, 3):
            if self._jumps(order - 1):
                return ORDERS[order:]
        return ()

    def _jumps(self, order: int) -> bool:
        """Whether a derivative jumps between pieces, or at the ends."""
        rows = differentiated(self.coefficients, order)
        spans = np.diff(self.breaks)
        left = rows[:, 0]
        right = np.array([np.polyval(row[::-1], span) for row, span in zip(rows, spans, strict=True)])
        before = left[:1] if order == 0 else [dict(enumerate(self.ends[0], 1)).get(order, 0.0)]
        behind = right[-1:] if order == 0 else [dict(enumerate(self.ends[1], 1)).get(order, 0.0)]
        steps = np.concatenate([left, behind]) - np.concatenate([before, right])
        return bool(np.abs(steps).max() > _JUMP * max(1e-12, np.abs(rows[:, :1]).max(), np.abs(right).max()))


def shaped(kind: str, start: float, end: float, duration: float) -> Profile:
    """From rest to rest over a time, with the velocity or the acceleration constant in parts or the jerk.

    linear: velocity s/T; trapezoidal: thirds, the peak velocity 1.5 s/T; scurve: eighths 1, 1, 1, 2, 1, 1, 1 of the
    jerks J, 0, −J, 0, −J, 0, J, with J = 51.2 s/T³.

    Parameters
    ----------
    kind : str
        "linear", "trapezoidal" or "scurve".
    start, end : float
        Of the value, in its unit.
    duration : float, s
        T.

    Returns
    -------
    Profile

    Raises
    ------
    InputError
        There is no such kind, or the duration is not positive.

    Examples
    --------
    >>> from trundle.motion.pieces.profiles import shaped
    >>> shaped("trapezoidal", 0.0, 2.0, 3.0).at(1.5, order=1).item()
    1.0
    >>> shaped("trapezoidal", 0.0, 2.0, 3.0).impulsive
    ('jerk',)
    """
    unit = unit_shape(kind)
    if not (math.isfinite(duration) and duration > 0):
        raise InputError(f"expected a time > 0 s, got {duration}", key="duration")
    change = end - start
    scaled = unit.coefficients * change / duration ** np.arange(unit.coefficients.shape[1])
    scaled[:, 0] += start
    return Profile(unit.breaks * duration, scaled)


@lru_cache
def unit_shape(kind: str) -> Profile:
    """The profile of a kind from 0 to 1 in 1 s."""
    require_known(kind, PROFILES, f"there is no profile {kind!r}", key="motion_profile", hint=choose)
    spans, values = {
        "linear": ([1.0], [1.0]),
        "trapezoidal": ([1 / 3] * 3, [4.5, 0.0, -4.5]),
        "scurve": (
            [eighths / 8 for eighths in (1, 1, 1, 2, 1, 1, 1)],
            [51.2 * sign for sign in (1, 0, -1, 0, -1, 0, 1)],
        ),
    }[kind]
    return _integrated(spans, values, order=PROFILES.index(kind) + 1)


def _integrated(spans: Sequence[float], values: Sequence[float], order: int) -> Profile:
    """From zero at rest, by the values of the derivative of an order, constant over spans."""
    state = np.zeros(order)
    rows = []
    for span, value in zip(spans, values, strict=True):
        row = np.array([*state, value]) / [math.factorial(k) for k in range(order + 1)]
        rows.append(row)
        state = np.array([np.polyval(differentiated(row[None], k)[0, ::-1], span) for k in range(order)])
    return Profile(np.concatenate([[0.0], np.cumsum(spans)]), np.array(rows))


def differentiated(coefficients: FloatArray, order: int) -> FloatArray:
    """Coefficients (n, powers, …) of a derivative, at least the constant."""
    for _ in range(order):
        powers = np.arange(1, coefficients.shape[1])
        coefficients = coefficients[:, 1:] * powers.reshape(-1, *(1,) * (coefficients.ndim - 2))
    if coefficients.shape[1]:
        return coefficients
    return np.zeros((len(coefficients), 1, *coefficients.shape[2:]))


def change_time(change: npt.ArrayLike, acceleration: npt.ArrayLike, jerk: npt.ArrayLike) -> FloatArray:
    """The least time of a change of speed: 2 √(Δ/j), or Δ/a + a/j where that is more."""
    change, a, j = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (np.abs(change), acceleration, jerk))
    )
    with np.errstate(invalid="ignore", over="ignore"):
        limited = change / a + np.where(np.isinf(j), 0.0, a / j)
        return np.where(change * j <= a * a, 2 * np.sqrt(change / j), limited)


def move_time(
    distance: npt.ArrayLike, speed: npt.ArrayLike, acceleration: npt.ArrayLike, jerk: npt.ArrayLike
) -> FloatArray:
    """The least time of a distance from rest to rest."""
    distance = np.abs(np.asarray(distance, dtype=float))
    peak = np.minimum(speed, _peak(distance, acceleration, jerk))
    ramp = change_time(peak, acceleration, jerk)
    with np.errstate(divide="ignore", invalid="ignore"):
        cruise = np.where(np.isinf(peak), 0.0, np.maximum(0.0, distance / peak - ramp))
    return np.where((distance > 0) & np.isfinite(peak), 2 * ramp + cruise, 0.0)


def _peak(distance: FloatArray, acceleration: npt.ArrayLike, jerk: npt.ArrayLike) -> FloatArray:
    """The speed in the middle, where only acceleration and jerk are limited."""
    a, j = np.asarray(acceleration, dtype=float), np.asarray(jerk, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rounded = np.where(np.isinf(j), 0.0, a * a / j)
        straight = (np.sqrt(rounded**2 + 4 * a * distance) - rounded) / 2
        curved = (distance * np.sqrt(j) / 2) ** (2 / 3)
        peak = np.where(np.isinf(a), curved, np.where(distance * j * j <= 2 * a**3, curved, straight))
    return np.where(np.isinf(a) & np.isinf(j), np.inf, peak)


def move(distance: float, speed: float, acceleration: float, jerk: float) -> Profile:
    """The motion of least time over a distance, from rest to rest."""
    if not distance:
        return Profile(np.zeros(2), np.zeros((1, 1)))
    length = abs(distance)
    peak = min(speed, _middle(length, acceleration, jerk))
    if math.isinf(peak):
        return Profile(np.zeros(2), np.array([[distance]]))
    up = _ramp(peak, acceleration, jerk)
    cruise = max(0.0, length / peak - sum(span for span, _, _ in up))
    # down in the other order of time: accelerations begin where they ended
    down = [(span, -(a + j * span), j) for span, a, j in reversed(up)]
    phases = [*up, (cruise, 0.0, 0.0), *down]
    jumps = math.isinf(acceleration) and math.isinf(jerk)
    return _joined(phases, math.copysign(1.0, distance), peak if jumps else 0.0)


def _middle(distance: float, acceleration: float, jerk: float) -> float:
    """`_peak` of one distance."""
    if math.isinf(acceleration) or distance * jerk * jerk <= 2 * acceleration**3:
        return math.inf if math.isinf(jerk) else (distance * math.sqrt(jerk) / 2) ** (2 / 3)
    rounded = acceleration * acceleration / jerk
    return (math.sqrt(rounded**2 + 4 * acceleration * distance) - rounded) / 2


def change(start: float, end: float, acceleration: float, jerk: float) -> Profile:
    """The position during the fastest change from a speed to another one, from acceleration zero to zero."""
    sign = math.copysign(1.0, end - start)
    return _joined(_ramp(abs(end - start), acceleration, jerk), sign, start * sign)


def _ramp(speed: float, acceleration: float, jerk: float) -> list[tuple[float, float, float]]:
    """Spans of a change of speed, with the accelerations at their starts and the jerks in them."""
    if math.isinf(acceleration) and math.isinf(jerk):
        return [(0.0, 0.0, 0.0)]
    if math.isinf(jerk):
        return [(speed / acceleration, acceleration, 0.0)]
    top = min(acceleration, math.sqrt(speed * jerk))
    if not top:
        return [(0.0, 0.0, 0.0)]
    rise = top / jerk
    return [(rise, 0.0, jerk), (max(0.0, speed / top - rise), top, 0.0), (rise, top, -jerk)]


def _joined(phases: list[tuple[float, float, float]], sign: float, speed: float) -> Profile:
    """The position through phases (span, acceleration, jerk) from 0 at a speed, x += Δt (v + Δt (a/2 + Δt j/6)).

    Phases without a span are left out; `sign` turns all of it round.
    """
    rows, breaks, x, v = [], [0.0], 0.0, speed
    for span, a, j in phases:
        if span > 0:
            rows.append([x, v, a / 2, j / 6])
            breaks.append(breaks[-1] + span)
            x, v = x + span * (v + span * (a / 2 + span * j / 6)), v + span * (a + span * j / 2)
    if not rows:
        return Profile(np.zeros(2), np.array([[0.0, speed * sign]]))
    return Profile(np.array(breaks), sign * np.array(rows))
