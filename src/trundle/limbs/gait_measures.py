"""Numbers of a walk's cycles: times and lengths of steps, the speed, and what joints give and take between events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.limbs.gait_events import Feet, FootEvents
from trundle.results import Run

# The parts of a stance (share of it) over which a foot is flat and moves as the ground does.
_FLAT = (0.2, 0.4)
# Of Perry (1992), between the strikes and offs of both feet.
_PHASES = ("loading response", "single support", "pre-swing", "swing")


class GaitMeasure(NamedTuple):
    """A number of every cycle of a side, such as "stride time" (s)."""

    side: str
    name: str
    unit: str
    values: FloatArray

    @property
    def mean(self) -> float:
        """Over the cycles."""
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """The sample's standard deviation, n − 1; NaN of one cycle."""
        return float(self.values.std(ddof=1)) if self.values.size > 1 else float("nan")


def measures_of(
    run: Run, steps: Mapping[str, FootEvents], spans: Mapping[str, FloatArray], feet: Feet | None
) -> Iterator[GaitMeasure]:
    """Times and lengths of steps by side."""
    for side, each in spans.items():
        lasting = each[:, 1] - each[:, 0]
        yield GaitMeasure(side, "stride time", "s", lasting)
        yield GaitMeasure(side, "cadence", "steps/min", 120.0 / lasting)
        offs = [first_inside(steps[side].offs, *span) for span in each]
        shares = [100 * (off - a) / (b - a) for off, (a, b) in zip(offs, each, strict=True) if off]
        if shares:
            yield GaitMeasure(side, "stance", "%", np.array(shares))
        if feet is not None and side in feet.heels:
            yield from _lengths(run.time, side, steps, each, feet)


def _lengths(
    time: FloatArray, side: str, steps: Mapping[str, FootEvents], spans: FloatArray, feet: Feet
) -> Iterator[GaitMeasure]:
    """Steps from the other heel's contact to one's own, strides, and the speed: over ground or a treadmill's belt."""
    belt = _belt(time, steps, feet)

    def at(own: str, when: FloatArray) -> FloatArray:
        """How far a heel is ahead at times, on a ground that stands still."""
        return np.interp(when, time, feet.ahead(feet.heels[own])) + belt * when

    strides = at(side, spans[:, 1]) - at(side, spans[:, 0])
    other = next((name for name in steps if name != side and name in feet.heels), None)
    if other is not None:
        before = [first_inside(steps[other].strikes, *span) for span in spans]
        known = np.array([when is not None for when in before])
        when = np.array([when for when in before if when is not None])
        if known.any():
            yield GaitMeasure(side, "step time", "s", spans[known, 1] - when)
            yield GaitMeasure(side, "step length", "m", at(side, spans[known, 1]) - at(other, when))
    yield GaitMeasure(side, "stride length", "m", strides)
    yield GaitMeasure(side, "speed", "m/s", strides / (spans[:, 1] - spans[:, 0]))


def _belt(time: FloatArray, steps: Mapping[str, FootEvents], feet: Feet) -> float:
    """How fast feet that are flat on the ground go backward (m/s): 0 over ground, a treadmill's belt its speed."""
    found = []
    for side, each in steps.items():
        if side not in feet.heels:
            continue
        ahead = feet.ahead(feet.heels[side])
        for strike in each.strikes:
            off = first_inside(each.offs, strike, np.inf)
            if off is not None:
                ends = strike + np.array(_FLAT) * (off - strike)
                found.append(-np.diff(np.interp(ends, time, ahead))[0] / np.diff(ends)[0])
    return float(np.median(found)) if found else 0.0


def works_of(
    run: Run,
    steps: Mapping[str, FootEvents],
    spans: Mapping[str, FloatArray],
    loaded: Mapping[str, np.ndarray],
) -> Iterator[GaitMeasure]:
    """What joints give and take between events: ∫ max(P, 0) dt and ∫ min(P, 0) dt of a joint's power by phase."""
    for name in run.values:
        joint, what, _ = run.column(name)
        if what != "power" or f"{joint}.angle" in run:  # of an axis: a joint's is the sum
            continue
        side = side_of(name, spans)
        if side is None or not loaded[side].any():
            continue
        ends = [_phases(side, steps, span) for span in spans[side][loaded[side]]]
        common = max(ends, key=len)
        whole = [each for each in ends if len(each) == len(common)]
        unit = {"W": "J", "W/kg": "J/kg"}.get(run.units.get(name, ""), "")
        for way, sign in (("positive", 1.0), ("negative", -1.0)):
            done = _integral(run.time, np.maximum(sign * run[name], 0.0))
            for phase in common:
                values = [sign * np.diff(np.interp(each[phase], run.time, done))[0] for each in whole]
                told = f"{joint.replace('_', ' ')} {way} work, {phase}"
                yield GaitMeasure(side, told, unit, np.array(values))


def _phases(side: str, steps: Mapping[str, FootEvents], span: FloatArray) -> dict[str, tuple[float, float]]:
    """The phases of a cycle between events: with the other foot's four (Perry 1992), else stance and swing."""
    start, end = span.tolist()
    off = first_inside(steps[side].offs, start, end)
    if off is None:
        return {"cycle": (start, end)}
    others = [each for name, each in steps.items() if name != side]
    lifted = first_inside(others[0].offs, start, off) if others else None
    landed = first_inside(others[0].strikes, start, off) if others else None
    if lifted is None or landed is None or lifted > landed:
        return {"stance": (start, off), "swing": (off, end)}
    edges = (start, lifted, landed, off, end)
    return dict(zip(_PHASES, pairwise(edges), strict=True))


def _integral(time: FloatArray, values: FloatArray) -> FloatArray:
    """∫ from the first time on, by trapezoids."""
    return np.concatenate([[0.0], np.cumsum(np.diff(time) * (values[1:] + values[:-1]) / 2)])


def side_of(name: str, spans: Mapping[str, FloatArray]) -> str | None:
    """Whose cycles a column is cut into: its own side's; of the trunk's the first side's."""
    own = next((side for side in ("right", "left") if name.startswith(f"{side}_")), "")
    return own if own in spans else next(iter(spans)) if not own else None


def first_inside(times: FloatArray, start: float, end: float) -> float | None:
    """The first of the times inside."""
    inside = times[(times > start) & (times < end)]
    return float(inside[0]) if inside.size else None
