"""Cycles: a motion cut at events, its pieces as percent of themselves, and their mean with a band."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, choose, require_known
from trundle.expected import check_float, check_type
from trundle.frozen import Brief, Frozen, Rebuilt, settle
from trundle.results import Run

Band = Literal["deviation", "quantiles"]
BANDS: tuple[Band, ...] = ("deviation", "quantiles")


@dataclass(frozen=True, eq=False, repr=False)
class Cycles(Brief, Rebuilt):
    """Curves of a run, cut into cycles.

    Parameters
    ----------
    percent : array, shape (p,)
        0 to 100.
    curves : mapping of str to array, shape (cycles, p)
        By the run's names, in the unit that `units` says.
    starts, ends : array, shape (cycles,), s
        When cycles begin and end.
    units : mapping of str to str
        By name.
    """

    percent: FloatArray
    curves: Mapping[str, FloatArray]
    starts: FloatArray
    ends: FloatArray
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settle(self, curves=Frozen(self.curves), units=Frozen(self.units))

    def __len__(self) -> int:
        return self.starts.size

    def __getitem__(self, name: str) -> FloatArray:
        """All cycles of a curve, (cycles, p); InputError with the nearest name where there is none."""
        require_known(name, self.curves, f"the cycles have no '{name}'", key=name)
        return self.curves[name]

    @property
    def spans(self) -> FloatArray:
        """When cycles begin and end, shape (cycles, 2), s."""
        return np.stack([self.starts, self.ends], axis=1)

    def table(self) -> dict[str, FloatArray]:
        """Means and standard deviations (n − 1) as columns, with units in their names: "knee.angle [rad]".

        Returns
        -------
        dict of str to array, shape (p,)
            "percent [%]", then for each curve NAME [UNIT] and NAME.sd [UNIT].

        Raises
        ------
        InputError
            There is one cycle only: it has no deviation.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0.0, 2.0, 201)
        >>> run = trundle.Run("walk", t, {"lift": t}, units={"lift": "m"})
        >>> list(trundle.time_normalize(run, [0.0, 1.0, 2.0]).table())
        ['percent [%]', 'lift [m]', 'lift.sd [m]']
        """
        columns = {"percent [%]": self.percent}
        for name in self.curves:
            mean = self.mean(name)
            columns |= column_of(name, self.units.get(name, ""), mean, self.band(name)[1] - mean)
        return columns

    def mean(self, name: str) -> FloatArray:
        """The mean of a curve over the cycles.

        Parameters
        ----------
        name : str
            As the run has it.

        Returns
        -------
        array, shape (p,)

        Raises
        ------
        InputError
            There is no such curve.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0.0, 2.0, 201)
        >>> run = trundle.Run("walk", t, {"knee.angle": t % 1.0})
        >>> trundle.time_normalize(run, [0.0, 0.5, 1.0], points=3).mean("knee.angle")
        array([0.25, 0.5 , 0.25])
        """
        return self[name].mean(axis=0)

    def band(
        self, name: str, band: Band = "deviation", width: float | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The band around the mean in which cycles are: mean ± width · standard deviation, or between two quantiles.

        Parameters
        ----------
        name : str
            As the run has it.
        band : {"deviation", "quantiles"}
            The sample's standard deviation (n − 1), or the quantiles (1 − width)/2 and (1 + width)/2.
        width : float, optional
            By default one standard deviation, or the middle 0.9 of the cycles.

        Returns
        -------
        tuple of arrays, shape (p,)
            Lower and upper.

        Raises
        ------
        InputError
            There is no such curve or band, or a deviation of one cycle is asked for.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0.0, 2.0, 201)
        >>> cut = trundle.time_normalize(trundle.Run("walk", t, {"lift": t}), [0.0, 1.0, 2.0], points=2)
        >>> cut.band("lift", "quantiles", 1.0)
        (array([0., 1.]), array([1., 2.]))
        """
        curves = self[name]
        require_known(band, BANDS, f"there is no band {band!r}", key="band", hint=choose)
        width = width if width is None else check_float(width, "width", above=0)
        if band == "quantiles":
            share = 0.9 if width is None else width
            low, high = np.quantile(curves, [(1 - share) / 2, (1 + share) / 2], axis=0)
            return low, high
        if len(curves) < 2:
            raise InputError("one cycle has no standard deviation", key="band", hint="cut at more events")
        half = (1.0 if width is None else width) * curves.std(axis=0, ddof=1)
        return curves.mean(axis=0) - half, curves.mean(axis=0) + half


def column_of(name: str, unit: str, mean: FloatArray, deviation: FloatArray) -> dict[str, FloatArray]:
    """The columns of a curve's mean and standard deviation, their unit in brackets."""
    return {named(name, unit): mean, named(f"{name}.sd", unit): deviation}


def named(name: str, unit: str) -> str:
    """What a column is called, its unit in brackets."""
    return f"{name} [{unit}]" if unit else name


def time_normalize(run: Run, events: npt.ArrayLike, points: int = 101) -> Cycles:
    """Cut a run at events: from one to the next, at equal parts of the cycle, by the cubic spline through its samples.

    Parameters
    ----------
    run : Run
        Curves over time, as `loads.to_run()` gives them.
    events : array_like, shape (k,), s
        Increasing times within the run: k − 1 cycles. Or (k, 2): starts and ends of cycles, parts between left out.
    points : int, optional
        From 0 to 100 %, both with it.

    Returns
    -------
    Cycles
        Each curve (k − 1, points).

    Raises
    ------
    InputError
        Fewer than two events, ones that don't increase or are outside of the run; fewer than two points.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0.0, 2.0, 201)
    >>> cut = trundle.time_normalize(trundle.Run("walk", t, {"knee.angle": np.sin(np.pi * t) ** 2}), [0.0, 1.0, 2.0])
    >>> len(cut), cut["knee.angle"].shape, round(float(cut["knee.angle"][1, 50]), 9)
    (2, (2, 101), 1.0)
    """
    from scipy.interpolate import make_interp_spline

    if not isinstance(points, int) or points < 2:
        raise InputError(f"a cycle has two points or more, not {points!r}", key="points")
    spans = _spans(as_numbers(events, "events"), check_type(run, Run, "run"))
    percent = np.linspace(0.0, 100.0, points)
    times = spans[:, :1] + (spans[:, 1:] - spans[:, :1]) * percent / 100
    degree = min(3, len(run) - 1)
    names = [name for name, curve in run.values.items() if np.isfinite(curve).all()]
    table = np.array([run[name] for name in names]).reshape(len(names), len(run)).T
    spline = make_interp_spline(run.time - run.time[0], table, k=degree)
    values = spline((times - run.time[0]).ravel()).reshape(*times.shape, len(names))
    curves = {name: np.ascontiguousarray(values[:, :, k]) for k, name in enumerate(names)}
    units = {name: unit for name, unit in run.units.items() if name in curves}
    return Cycles(percent, curves, spans[:, 0], spans[:, 1], units)


def _spans(events: FloatArray, run: Run) -> FloatArray:
    """Starts and ends (k, 2), s, in order and within the run."""
    spans = np.stack([events[:-1], events[1:]], axis=1) if events.ndim == 1 and events.size > 1 else events
    if spans.ndim != 2 or spans.shape[1] != 2 or not len(spans):
        raise InputError(
            f"cycles need two events at least, (k,) or (k, 2), got shape {events.shape}", key="events"
        )
    wrong = np.flatnonzero(~(spans[:, 0] < spans[:, 1]))
    if wrong.size:
        start, end = spans[wrong[0]]
        raise InputError(f"events must increase: {end:g} s comes after {start:g} s", key="events")
    first, last = run.time[0], run.time[-1]
    outside = spans[(spans < first) | (spans > last)]
    if outside.size:
        message = f"an event at {outside[0]:g} s is outside of the run, {first:g} to {last:g} s"
        raise InputError(message, key="events")
    return spans


def contacts(
    time: npt.ArrayLike,
    force: npt.ArrayLike,
    threshold: float = 20.0,
    shortest: float = 0.05,
    release: float | None = None,
) -> FloatArray:
    """When a foot is on a force plate: from where its force rises over a threshold to where it falls below again.

    Parameters
    ----------
    time : array_like, shape (n,), s
        Increasing.
    force : array_like, shape (n,), N
        The force on the foot, upward.
    threshold : float, optional
        N; by default 20.
    shortest : float, optional
        s; shorter contacts are noise, as are breaks that are shorter. By default 0.05.
    release : float, optional
        N; a contact ends where the force falls below this, so that noise about one threshold makes no steps. By
        default the threshold itself.

    Returns
    -------
    array, shape (k, 2), s
        Starts and ends of whole contacts, between samples in proportion; those that are cut off by the recording's
        ends are left out. Their first column holds the events for `trundle.time_normalize`.

    Raises
    ------
    InputError
        Shapes differ, or something is no finite number; the release is above the threshold.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> trundle.contacts(t, 700 * np.sin(2 * np.pi * t)).round(3)
    array([[0.005, 0.495]])
    """
    spans = stretches(time, force, threshold, shortest, release)
    return spans[np.isfinite(spans).all(axis=1)]


def stretches(
    time: npt.ArrayLike,
    force: npt.ArrayLike,
    threshold: float,
    shortest: float,
    release: float | None = None,
) -> FloatArray:
    """What `contacts` gives, with those that the recording's ends cut off, too: NaN where nobody saw start or end."""
    times, values = as_numbers(time, "times"), as_numbers(force, "forces")
    threshold, shortest = check_float(threshold, "threshold"), check_float(shortest, "shortest")
    release = threshold if release is None else check_float(release, "release")
    if release > threshold:
        raise InputError(f"{release:g} N is above the threshold, {threshold:g} N", key="release")
    if times.ndim != 1 or times.shape != values.shape or not np.isfinite(values).all():
        raise InputError(
            f"expected as many finite forces as times, got {values.shape} and {times.shape}", key="force"
        )
    joined: list[tuple[float, float]] = []
    for start, end in _above(times, values, threshold, release):
        if joined and start - joined[-1][1] < shortest:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return np.array([pair for pair in joined if not pair[1] - pair[0] < shortest]).reshape(-1, 2)


def _above(times: FloatArray, values: FloatArray, high: float, low: float) -> Iterator[tuple[float, float]]:
    """From where values rise over one level to where they fall below another; NaN where the ends cut that off."""
    over, under = values > high, values < low
    # What was last seen outside of the band between the levels says whether something is there.
    told = np.where(over | under, np.arange(values.size), 0)
    held = over[np.maximum.accumulate(told)]
    edges = np.flatnonzero(held[1:] != held[:-1])
    levels = np.where(held[edges], low, high)
    before, after = values[edges], values[edges + 1]
    share = np.divide(levels - before, after - before, out=np.zeros(edges.size), where=after != before)
    when = (times[edges] + (times[edges + 1] - times[edges]) * share).tolist()
    if held.size and held[0]:
        when.insert(0, math.nan)
    if held.size and held[-1]:
        when.append(math.nan)
    yield from zip(when[::2], when[1::2], strict=True)
