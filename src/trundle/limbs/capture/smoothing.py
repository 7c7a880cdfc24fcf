"""Smoothing of measured signals: a method is a value that gives a signal with its first two derivatives.

Differentiating multiplies noise by its frequency, twice for accelerations, so what is done about it is always stated: a
method is named by who uses it, and its `record` goes with the results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers, increasing
from trundle.errors import InputError, NumericsError, choose, require_known

if TYPE_CHECKING:
    from trundle.limbs.capture.spline import SplineEquations

# A filter's pole nearer to 1 than this is lost in rounding: nobody knows whether such a filter forgets at all.
_LEAST_DECAY = 1e-7
# What is left of a filter's start-up at the first true sample; its slowest pole says how long that takes.
_FORGOTTEN = 1e-6
# OpenSim's: the order of each pass, and the steps that a recording is resampled at; what rounding may take of the last.
_OPENSIM_ORDER, _MOST_STEPS, _LAST_STEP = 3, 100_000, 1e-6
# How far (in steps) a sample may be off an even grid: times written with four decimals at 120 Hz are off by 0.006.
EVEN = 0.01


class Smoothed(NamedTuple):
    """A signal and its derivatives at the samples: `values`, `rates` (per s), `accelerations` (per s²), as it came."""

    values: FloatArray
    rates: FloatArray
    accelerations: FloatArray


@dataclass(frozen=True)
class Smoothing(ABC):
    """A way to smooth: what it does, with every number that it depends on.

    `by_data` says whether the samples choose how much, `as_recorded` whether a recording is taken with its times as the
    file writes them and smoothed as a whole, before a part of it is cut.
    """

    name: ClassVar[str]
    by_data: ClassVar[bool] = False
    as_recorded: ClassVar[bool] = False

    @property
    def record(self) -> Mapping[str, object]:
        """The method and its numbers, as plain data that goes with the results."""
        return {"method": self.name} | {
            key: value for key, value in asdict(self).items() if value is not None
        }

    @abstractmethod
    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """Columns that are smoothed as one (the parts of a quaternion are): (n, k) over times (n,), all checked."""

    def values(self, time: FloatArray, block: FloatArray) -> FloatArray:
        """The values of `samples` alone, for what nobody differentiates."""
        return self.samples(time, block).values

    def together(self, time: FloatArray, blocks: Sequence[FloatArray]) -> list[Smoothed]:
        """The `samples` of blocks that belong together; what it chooses by data, it chooses once for all of them."""
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        parts = self.linear(time, blocks)(np.concatenate(blocks, axis=1))
        return [
            Smoothed(*each) for each in zip(*(np.split(part, ends, axis=1) for part in parts), strict=True)
        ]

    def linear(self, time: FloatArray, blocks: Sequence[FloatArray]) -> Callable[[FloatArray], Smoothed]:
        """What it does to any columns (n, k), linear in them; what it chooses by data, it chooses by these blocks."""
        return partial(self.samples, time)

    def left_open(self, time: FloatArray, blocks: Sequence[FloatArray]) -> FloatArray | None:
        """What it may have taken from values, rates and accelerations, as covariances (n, 3, 3) by a noise of 1.

        None of a method that doesn't tell.
        """
        return None


@dataclass(frozen=True)
class Interpolation(Smoothing):
    """No smoothing: the derivatives of the quintic spline through all samples, not-a-knot at its ends."""

    name = "none"

    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """The samples themselves, and their interpolating spline's derivatives."""
        return Smoothed(block, *_quintic(time, block)[1:])


@dataclass(frozen=True)
class Butterworth(Smoothing):
    """A Butterworth filter forward and backward, so without lag; then the quintic spline through what it leaves.

    cutoff: Hz, where half the power is left after both passes: one pass cuts at a higher frequency, by Winter's
        C = (√2 − 1)^(1/2n), on the axis that the bilinear transform warps.
    order: n, of one pass.

    The signal is continued at both ends by its reflection in the end point, as long as the filter remembers. Then its
    start-up is over at the first sample (Winter 2009, sec. 3.4.4; Smith 1989).
    """

    cutoff: float
    order: int = 2
    name = "butterworth"

    def __post_init__(self) -> None:
        _positive(self.name, cutoff=self.cutoff)
        if not isinstance(self.order, int) or not 1 <= self.order <= 10:
            raise InputError(f"a Butterworth filter's order is 1 to 10, not {self.order!r}", key="order")

    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """Filtered on the continued signal, whose spline is then differentiated: its ends are no ends of the data."""
        filtered, inside = self._filtered(time, block)
        # In the filter's even steps: how times were rounded would come back as noise that no filter takes out.
        even = even_step(time, self.name) * np.arange(float(len(filtered)))
        return Smoothed(*(part[inside] for part in _quintic(even, filtered)))

    def values(self, time: FloatArray, block: FloatArray) -> FloatArray:
        """What the filter leaves, without a spline: plates have a hundred thousand samples."""
        filtered, inside = self._filtered(time, block)
        return filtered[inside]

    def _filtered(self, time: FloatArray, block: FloatArray) -> tuple[FloatArray, slice]:
        """The continued signal, filtered, and where in it the samples are."""
        from scipy.signal import butter, sosfiltfilt

        step = even_step(time, self.name)
        _require_below_half_rate(self.cutoff, step)
        share = 2 / math.pi * math.atan(math.tan(math.pi * self.cutoff * step) / self._correction)
        filters = np.asarray(butter(self.order, share, output="sos"), dtype=np.float64)
        slowest = max(float(np.abs(np.roots(section[3:])).max()) for section in filters)
        if not 1 - slowest > _LEAST_DECAY:
            message = f"a cutoff of {self.cutoff:g} Hz is too low for a sampling rate of {1 / step:g} Hz"
            raise InputError(
                message, key="cutoff", hint="a filter of it has no digits: it remembers for ever"
            )
        pad = min(len(time) - 1, math.ceil(math.log(_FORGOTTEN) / math.log(slowest)))
        filtered = sosfiltfilt(filters, _reflected(block, pad), axis=0, padlen=0)
        return np.ascontiguousarray(filtered), slice(pad, pad + len(time))

    @property
    def _correction(self) -> float:
        """What a pass's frequency is divided by for half the power after both: (√2 − 1)^(1/(2n)), Winter's."""
        return (math.sqrt(2) - 1) ** (1 / (2 * self.order))


@dataclass(frozen=True)
class OpenSim(Smoothing):
    """As OpenSim's inverse dynamics treats coordinates: its quintic spline, of what its filter leaves.

    cutoff: Hz, of each pass of a Butterworth filter of third order, forward and backward; none: no filter.

    The recording is continued at both ends by half of its samples, reflected in the end point, and resampled at its
    least step. A pass leaves its first three samples as they are. The spline's third and fourth derivatives vanish at
    its ends (OpenSim 4.6: InverseDynamicsTool, Storage, Signal, GCVSplineSet).
    """

    cutoff: float | None = None
    name = "opensim"
    as_recorded = True

    def __post_init__(self) -> None:
        if self.cutoff is not None:
            _positive(self.name, cutoff=self.cutoff)

    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """The spline and its derivatives at the times that came."""
        knots, values = (time, block) if self.cutoff is None else self._filtered(time, block, self.cutoff)
        return _quintic(knots, values, at=time, natural=True)

    def _filtered(self, time: FloatArray, block: FloatArray, cutoff: float) -> tuple[FloatArray, FloatArray]:
        """Even times, beyond both ends of those that came, and what the filter leaves there."""
        from scipy.signal import butter

        pad = len(time) // 2
        padded = _reflected(time, pad)
        step = max(float(np.diff(time).min()), (padded[-1] - padded[0]) / _MOST_STEPS)
        _require_below_half_rate(cutoff, step)
        even = np.arange(padded[0], padded[-1] + _LAST_STEP * step, step)
        forward, back = np.array(butter(_OPENSIM_ORDER, 2 * cutoff * step))
        values = _quintic(padded, _reflected(block, pad), at=even, natural=True).values
        for _ in range(2):
            values = _one_pass(forward, back, values)[::-1]
        return even, values


def _one_pass(forward: FloatArray, back: FloatArray, block: FloatArray) -> FloatArray:
    """A recursive filter y, back ∗ y = forward ∗ x, whose first samples are x's own: back ∗ (y − x) is known behind."""
    from scipy.signal import lfilter

    driven = np.asarray(lfilter(forward - back, [1.0], block, axis=0))
    driven[: len(back) - 1] = 0.0
    return block + np.asarray(lfilter([1.0], back, driven, axis=0))


@dataclass(frozen=True)
class SavitzkyGolay(Smoothing):
    """A polynomial is fitted to every window of samples and differentiated at its middle; at ends the last one serves.

    window: samples, odd. degree: the polynomial's (Savitzky & Golay 1964).
    """

    window: int
    degree: int = 5
    name = "savitzky_golay"

    def __post_init__(self) -> None:
        if not (isinstance(self.window, int) and self.window % 2 == 1 and self.window > 0):
            raise InputError(f"a window is an odd number of samples, not {self.window!r}", key="window")
        if not (isinstance(self.degree, int) and 2 <= self.degree < self.window):
            message = f"a polynomial's degree is 2 or more and less than its window's {self.window} samples"
            raise InputError(f"{message}, not {self.degree!r}", key="degree")

    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """Value, slope and curvature of the polynomials."""
        from scipy.signal import savgol_filter

        step = even_step(time, self.name)
        if time.size < self.window:
            raise InputError(
                f"a window of {self.window} samples is longer than the {time.size} there are", key="window"
            )
        return Smoothed(*(
            np.asarray(savgol_filter(block, self.window, self.degree, deriv=k, delta=step, axis=0, mode="interp"))
            for k in range(3)
        ))  # fmt: skip


@dataclass(frozen=True)
class GCVSpline(Smoothing):
    """The smoothing spline whose weight generalised cross-validation chooses, for noise of which nothing is known.

    degree: 3 or 5. Its highest derivatives vanish at the ends, as nothing there speaks against it; accelerations are
    those of the spline (Woltring 1986).
    """

    degree: int = 5
    name = "gcv_spline"
    by_data = True

    def __post_init__(self) -> None:
        _choose_degree(self.degree, (3, 5))

    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """The spline and its derivatives at the samples."""
        return self.linear(time, [block])(block)

    def linear(self, time: FloatArray, blocks: Sequence[FloatArray]) -> Callable[[FloatArray], Smoothed]:
        """Splines of the weight that the blocks choose."""
        equations, weight, rate = self._chosen(time, blocks)

        def smoothed(columns: FloatArray) -> Smoothed:
            spline = equations.spline(weight, columns)
            return Smoothed(*(np.asarray(spline(equations.steps, k)) * rate**k for k in range(3)))

        return smoothed

    def left_open(self, time: FloatArray, blocks: Sequence[FloatArray]) -> FloatArray:
        """As if accelerations' own derivatives were white noise, of the size that the weight tells (Wahba 1983)."""
        equations, weight, rate = self._chosen(time, blocks)
        return equations.left_open(weight) * rate ** np.add.outer(range(3), range(3))

    def _chosen(self, time: FloatArray, blocks: Sequence[FloatArray]) -> tuple[SplineEquations, float, float]:
        """The splines' equations, the weight that the blocks choose, and steps a second."""
        from trundle.limbs.capture.spline import spline_equations

        equations = spline_equations(time, self.degree)
        return equations, equations.cross_validated(blocks), (time.size - 1) / (time[-1] - time[0])


@dataclass(frozen=True)
class NoiseSpline(Smoothing):
    """The spline with the fewest knots that stays as far from the samples as noise of a known size does.

    noise: the standard deviation of a measured number, in its unit; of rotations in rad. degree: 3, 4 or 5.
    Σ (y − s)² = n noise², or less where one polynomial is nearer by itself, by FITPACK (Dierckx 1993, ch. 5); nothing
    is assumed at the ends.
    """

    noise: float
    degree: int = 5
    name = "noise_spline"
    by_data = True

    def __post_init__(self) -> None:
        _positive(self.name, noise=self.noise)
        _choose_degree(self.degree, (3, 4, 5))

    def samples(self, time: FloatArray, block: FloatArray) -> Smoothed:
        """The spline and its derivatives at the samples."""
        from scipy.interpolate import splev, splprep

        # the four parts of a quaternion share three angles' noise, which they halve
        spread = 3 * (self.noise / 2) ** 2 if block.shape[1] == 4 else block.shape[1] * self.noise**2
        start = float(time[0])
        (spline, _), _, trouble, message = splprep(
            list(block.T), u=time - start, k=self.degree, s=time.size * spread, full_output=1, quiet=1
        )  # fmt: skip
        if trouble > 0:
            raise NumericsError(f"no spline stays {self.noise:g} from the samples: {message}")
        return Smoothed(*(np.array(splev(time - start, spline, der=k)).T for k in range(3)))

    def together(self, time: FloatArray, blocks: Sequence[FloatArray]) -> list[Smoothed]:
        """The blocks' splines, each with knots of its own."""
        return [self.samples(time, block) for block in blocks]

    def linear(self, time: FloatArray, blocks: Sequence[FloatArray]) -> Callable[[FloatArray], Smoothed]:
        """None: raises InputError."""
        message = f"'{self.name}' chooses its knots by the data, so that no noise passes it in proportion"
        hint = "bands know the other methods, such as gcv_spline and butterworth"
        raise InputError(message, key="smoothing", hint=hint)


_KINDS = (Interpolation, Butterworth, OpenSim, SavitzkyGolay, GCVSpline, NoiseSpline)
METHODS: Mapping[str, type[Smoothing]] = {kind.name: kind for kind in _KINDS}


def smoothing(method: Smoothing | str | Mapping[str, object], **options: object) -> Smoothing:
    """A way to smooth by its name and numbers, or by its record; one that is there already as it is.

    Parameters
    ----------
    method : Smoothing, str or mapping
        "none", "butterworth", "opensim", "savitzky_golay", "gcv_spline" or "noise_spline"; or a record,
        {"method": NAME, …}.
    **options : object
        The method's numbers: `cutoff` (Hz) and `order`; `cutoff`; `window` (samples) and `degree`; `degree`;
        `noise` (in the signal's unit) and `degree`.

    Returns
    -------
    Smoothing
        To be given wherever something is smoothed.

    Raises
    ------
    InputError
        No method or number has such a name, one is missing, or is out of bounds.

    Examples
    --------
    >>> import trundle
    >>> trundle.smoothing("butterworth", cutoff=6.0)
    Butterworth(cutoff=6.0, order=2)
    """
    if isinstance(method, Smoothing):
        if options:
            raise InputError(f"{method} has its numbers already, got {', '.join(options)} besides")
        return method
    if isinstance(method, Mapping):
        options = {**{str(key): value for key, value in method.items() if key != "method"}, **options}
        method = str(method.get("method", ""))
    require_known(method, METHODS, f"there is no smoothing {method!r}", key="smoothing", hint=choose)
    numbers = {field.name: field for field in fields(METHODS[method])}
    for key in options:
        require_known(key, numbers, f"'{method}' has no number '{key}'", key=f"smoothing.{key}")
    for key, field in numbers.items():
        if field.default is MISSING and key not in options:
            hint = f"it has {', '.join(numbers)}"
            raise InputError(f"'{method}' needs its {key}", key=f"smoothing.{key}", hint=hint)
    return METHODS[method](**options)


def smooth(
    time: npt.ArrayLike,
    values: npt.ArrayLike,
    method: Smoothing | str | Mapping[str, object] = "none",
    **options: object,
) -> Smoothed:
    """Measured signals and their first two derivatives, by a named method; every column by itself.

    Parameters
    ----------
    time : array_like, shape (n,), s
        Increasing. "butterworth" and "savitzky_golay" need even steps, splines do not.
    values : array_like, shape (n,) or (n, k)
        One signal or several; no NaN (`trundle.limbs.capture.gaps` fills them).
    method : Smoothing, str or mapping, optional
        As `trundle.smoothing` takes it; by default none: the quintic spline through all samples.
    **options : object
        The method's numbers.

    Returns
    -------
    Smoothed
        `values`, `rates`, `accelerations`, all of the shape that came.

    Raises
    ------
    InputError
        Times don't increase or aren't even where they must be; values are missing; too few samples; a wrong method.

    References
    ----------
    Winter 2009, Biomechanics and Motor Control of Human Movement, sec. 3.4; Woltring 1986.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0.0, 1.0, 51)
    >>> trundle.smooth(t, t**3).accelerations[[25, 50]].round(6)
    array([3., 6.])
    """
    chosen = smoothing(method, **options)
    times = checked_times(time)
    array = as_numbers(values, "what is smoothed")
    if array.ndim not in (1, 2) or array.shape[0] != times.size:
        raise InputError(f"{times.size} times need values of as many rows, got an array {array.shape}")
    columns = array.reshape(times.size, -1)
    refuse_missing(times, columns, [f"column {k}" for k in range(columns.shape[1])])
    smoothed = [chosen.samples(times, columns[:, [k]]) for k in range(columns.shape[1])]
    return Smoothed(
        *(np.concatenate(parts, axis=1).reshape(array.shape) for parts in zip(*smoothed, strict=True))
    )


def checked_times(time: npt.ArrayLike) -> FloatArray:
    """Times (n,) that increase, six at least: a quintic needs as many."""
    times = increasing(time)
    if times.size < 6:
        raise InputError(f"a motion's derivatives need six samples at least, got {times.size}", key="time")
    return times


def refuse_missing(time: FloatArray, columns: FloatArray, names: Sequence[str]) -> None:
    """InputError for the first column in which something is no finite number, with when."""
    for name, column in zip(names, columns.T, strict=True):
        missing = np.flatnonzero(~np.isfinite(column))
        if missing.size:
            raise InputError(
                f"{missing.size} of {time.size} samples are missing, the first at t = {time[missing[0]]:g} s",
                key=name,
                hint='gaps="spline" (--gaps spline) fills those of up to 0.2 s; a longer limit: --gaps spline:0.5',
            )


def even_step(time: FloatArray, method: str) -> float:
    """The step of even times (s); InputError where they are not even, as filters count samples and no seconds."""
    step = float(time[-1] - time[0]) / (time.size - 1)
    off = np.abs(time - time[0] - step * np.arange(time.size)) / step
    if off.max() > EVEN:
        k = int(off.argmax())
        raise InputError(
            f"'{method}' needs even steps, and sample {k} at {time[k]:g} s is {off[k]:.2g} of a step off",
            key="time",
            hint='splines take times as they are: smoothing "gcv_spline", "noise_spline" or "none"',
        )
    return step


def _require_below_half_rate(cutoff: float, step: float) -> None:
    if cutoff * 2 * step >= 1:
        message = f"a cutoff of {cutoff:g} Hz is above half the sampling rate of {1 / step:g} Hz"
        raise InputError(message, key="cutoff")


def _reflected(block: FloatArray, pad: int) -> FloatArray:
    """Rows continued by `pad` rows at both ends, by their reflection in the end point."""
    return np.concatenate([
        2 * block[0] - block[pad:0:-1], block, 2 * block[-1] - block[-2 : -pad - 2 : -1]
    ])  # fmt: skip


def _quintic(
    time: FloatArray, block: FloatArray, at: FloatArray | None = None, natural: bool = False
) -> Smoothed:
    """The spline through all rows and its derivatives, there or at other times; natural or not-a-knot at its ends."""
    from scipy.interpolate import make_interp_spline

    zero = np.zeros(block.shape[1])
    ends = ([(3, zero), (4, zero)],) * 2 if natural else None
    # In units of the record's middle, so that late times cost no digits.
    spline = make_interp_spline(time - time[0], block, k=5, bc_type=ends)
    times = (time if at is None else at) - time[0]
    return Smoothed(*(spline(times, order) for order in range(3)))


def _positive(method: str, **numbers: float) -> None:
    for key, number in numbers.items():
        if not (isinstance(number, (int, float)) and math.isfinite(number) and number > 0):
            raise InputError(f"'{method}' needs a positive number as {key}, got {number!r}", key=key)


def _choose_degree(degree: object, known: Sequence[int]) -> None:
    if degree not in known:
        raise InputError(
            f"a spline's degree is one of {', '.join(map(str, known))}, not {degree!r}", key="degree"
        )
