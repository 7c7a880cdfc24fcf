"""Tables of what pushes, at 1000 to 2000 Hz: smoothed at their own rate, and averaged onto a motion's times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from trundle.arrays import BoolArray, FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.smoothing import NoiseSpline, OpenSim, Smoothing, checked_times, smoothing


def plate_smoothing(method: Smoothing | str | Mapping[str, object], **options: object) -> Smoothing:
    """A way to smooth what has two units, N and N m; InputError for one that knows a single noise, and OpenSim's."""
    chosen = smoothing(method, **options)
    if isinstance(chosen, OpenSim):
        message = f"'{chosen.name}' smooths coordinates only: OpenSim takes forces as they are"
        raise InputError(
            message, key="plate_smoothing", hint="none, or such as butterworth with a cutoff of 20 Hz"
        )
    if isinstance(chosen, NoiseSpline):
        message = f"'{chosen.name}' has one noise, and a plate has forces in N and moments in N m"
        raise InputError(message, key="plate_smoothing", hint="such as butterworth with a cutoff of 20 Hz")
    return chosen


def smoothed_tables(time: FloatArray, tables: Iterable[FloatArray], chosen: Smoothing) -> list[FloatArray]:
    """Tables (k, …) smoothed column by column at their own times."""
    times = checked_times(time)
    return [
        np.column_stack([chosen.values(times, table[:, [k]])[:, 0] for k in range(table.shape[1])])
        for table in tables
    ]


def within(times: FloatArray, first: float, last: float) -> BoolArray:
    """Which of the times (n,) lie between two, both included; clocks agree to rounding only."""
    slack = 1e-9 * max(1.0, float(np.abs(times).max(initial=0.0)))
    return (times >= first - slack) & (times <= last + slack)


def averaged(
    what: str, wanted: FloatArray, time: FloatArray, tables: Iterable[FloatArray]
) -> list[FloatArray]:
    """Tables (k, …) at other times: by means over these times' intervals, linear where samples are no denser.

    A sample stands for its interval, up to the middles between it and its neighbours, and so does a time. The mean is
    the integral over what of a time's interval was recorded, by its length; `_centred` makes of means what is there at
    the times. InputError for a time outside.
    """
    outside = np.flatnonzero(~within(wanted, time[0], time[-1]))
    if outside.size:
        message = f"{what} was recorded from {time[0]:g} to {time[-1]:g} s, not at {wanted[outside[0]]:g} s"
        hint = f"--from {time[0]:g} --to {time[-1]:g} (start=, end=) cut the motion to the plate's times"
        raise InputError(message, key="times", hint=hint)
    if not denser(time, wanted):
        return [np.column_stack([np.interp(wanted, time, column) for column in table.T]) for table in tables]
    ends, edges = np.clip(_middles(time), time[0], time[-1]), np.clip(_middles(wanted), time[0], time[-1])
    # Impulses so far, at the samples' edges and, linear in between, at the times'.
    sums = (np.vstack([table[:1] * 0, np.cumsum(table * np.diff(ends)[:, None], axis=0)]) for table in tables)
    so_far = (np.column_stack([np.interp(edges, ends, column) for column in table.T]) for table in sums)
    widths = np.diff(edges)[:, None]
    return [_centred(np.diff(table, axis=0) / widths, widths) for table in so_far]


def _centred(means: FloatArray, widths: FloatArray) -> FloatArray:
    """Values in the middles of intervals with these means (n, …): F_k = F̄_k − (F̄_{k−1} − 2 F̄_k + F̄_{k+1})/24.

    A parabola's mean over a step h is off its middle by h² F″/24; at 100 Hz a mean takes 1 % of what swings at 8 Hz. It
    is written as what goes over an edge from one interval to the next, so that the impulse stays.
    """
    across = (widths[1:] + widths[:-1]) / 48 * np.diff(means, axis=0)
    none = np.zeros_like(means[:1])
    return means - np.diff(np.concatenate([none, across, none]), axis=0) / widths


def denser(time: FloatArray, wanted: FloatArray) -> bool:
    """Whether samples at `time` (k,) are denser than the times that are wanted (n,)."""
    if min(time.size, wanted.size) < 2:
        return False
    steps = [float(times[-1] - times[0]) / (times.size - 1) for times in (time, wanted)]
    # Equal rates are equal up to rounding, and their samples stay as they are.
    return steps[0] < (1 - 1e-6) * steps[1]


def _middles(times: FloatArray) -> FloatArray:
    """Where the intervals of times (n,) begin and end, (n + 1,): in the middle between two, as far out at the ends."""
    between = (times[1:] + times[:-1]) / 2
    return np.concatenate([[2 * times[0] - between[0]], between, [2 * times[-1] - between[-1]]])
