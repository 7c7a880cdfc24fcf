"""Piecewise polynomials, exactly: the profiles of one value over time, and the splines that plans are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.choices import PROFILES
from trundle.errors import InputError, choose
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
        """The piece that counts at times, at a break the one that follows it."""
        return np.clip(np.searchsorted(self.breaks, times, "right") - 1, 0, len(self.coefficients) - 1)

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

    def held(self, times: FloatArray, order: int = 0) -> FloatArray:
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
    if kind not in PROFILES:
        raise InputError(f"there is no profile {kind!r}", key="motion_profile", hint=choose(kind, PROFILES))
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
