"""`Gait`: a walk in cycles from strike to strike, a side by itself: its curves, measures of its steps, its work."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, require_known
from trundle.frozen import Brief, Frozen, Rebuilt, settle
from trundle.limbs.capture.assigned_plates import Contact, PlateForces
from trundle.limbs.capture.cycles import column_of, cycles
from trundle.limbs.capture.marker_model import Markers
from trundle.limbs.capture.recording import Recording
from trundle.limbs.clinical import named_by, sides_of
from trundle.limbs.gait_events import (
    Feet,
    Steps,
    chosen_steps,
    feet_of,
    foot_forces,
    marker_steps,
    plate_steps,
    recorded_steps,
)
from trundle.limbs.gait_measures import Measure, first_inside, measures_of, side_of, works_of
from trundle.limbs.loads import Loads
from trundle.model.arguments import three
from trundle.results import Run

# A cycle that lasts so many times the median one is two, with a strike that nobody saw.
_TWO = 1.5
# A foot's force is known over a stance where it is there for this share of it: events of markers and plates differ by
# some hundredths of a second at both ends (Zeni et al. 2008).
_KNOWN = 0.8


@dataclass(frozen=True, eq=False, repr=False)
class Gait(Brief, Rebuilt):
    """A walk cut into cycles, from a strike of a foot to its next one.

    `Inverse.gait` makes it.

    Parameters
    ----------
    run : Run
        Angles, moments and powers by their anatomical names, as `trundle.clinical` gives them.
    steps : mapping of str to Steps
        When feet meet the ground and leave it, by side.
    source : "recording", "plates" or "markers"
        What told it.
    spans : mapping of str to array, shape (k, 2), s
        Whole cycles by side.
    loaded : mapping of str to array of bool, shape (k,)
        In which of them the foot's force is known over the whole stance: moments and powers are of these.
    curves : mapping of str to array, shape (k, 101)
        By the run's names, from 0 to 100 % of the cycle.
    measures : tuple of Measure
        Times and lengths of steps, and the work of joints by phase.
    sides : mapping of str to str
        Which side bodies and joints are on; "" for the middle.
    """

    run: Run
    steps: Mapping[str, Steps]
    source: str
    spans: Mapping[str, FloatArray]
    loaded: Mapping[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]
    curves: Mapping[str, FloatArray]
    measures: tuple[Measure, ...]
    sides: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = {name: Frozen(getattr(self, name)) for name in ("steps", "spans", "loaded", "curves", "sides")}
        settle(self, **kept)

    @cached_property
    def percent(self) -> FloatArray:
        """0 to 100, shape (101,)."""
        return np.linspace(0.0, 100.0, next(iter(self.curves.values())).shape[1])

    def mean(self, name: str) -> FloatArray:
        """The mean of a curve over its cycles.

        Parameters
        ----------
        name : str
            Such as "right_hip_flexion.moment".

        Returns
        -------
        array, shape (101,)

        Raises
        ------
        InputError
            There is no such curve.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> gait.mean("left_hip_flexion.angle")[25].round(6)
        np.float64(-1.0)
        """
        return self._curve(name).mean(axis=0)

    def deviation(self, name: str) -> FloatArray:
        """The standard deviation (n − 1) of a curve over its cycles; zero of one cycle alone.

        Parameters
        ----------
        name : str
            Such as "right_hip_flexion.moment".

        Returns
        -------
        array, shape (101,)

        Raises
        ------
        InputError
            There is no such curve.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> bool(gait.deviation("left_hip_flexion.angle").max() < 1e-12)
        True
        """
        curve = self._curve(name)
        return curve.std(axis=0, ddof=1) if len(curve) > 1 else np.zeros(curve.shape[1])

    def off(self, side: str) -> float:
        """When in a cycle the foot of a side leaves the ground, on average (%); NaN where nobody saw it.

        Parameters
        ----------
        side : str
            "right", "left", or "" of a leg alone.

        Returns
        -------
        float

        Raises
        ------
        InputError
            There is no such side.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> round(gait.off("left"), 6)
        60.0
        """
        require_known(side, self.spans, f"the gait has no side {side!r}", key="side")
        found = [each.mean for each in self.measures if each.side == side and each.name == "stance"]
        return found[0] if found else float("nan")

    def table(self) -> dict[str, FloatArray]:
        """Means and standard deviations (n − 1) over the cycles as columns, with their units; angles in degrees.

        Returns
        -------
        dict of str to array, shape (101,)
            "percent [%]", then for each curve NAME [UNIT] and NAME.sd [UNIT].

        Raises
        ------
        InputError
            Never for a gait that was made.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> list(gait.table())[:2]
        ['percent [%]', 'left_hip_flexion.angle [deg]']
        """
        columns = {"percent [%]": self.percent}
        for name in self.curves:
            unit = self.run.units.get(name, "")
            factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
            columns |= column_of(name, unit, factor * self.mean(name), factor * self.deviation(name))
        return columns

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The measures as rows of text: measure, unit, side, mean, deviation, number of cycles; their names first.

        Returns
        -------
        iterator of tuple of str

        Raises
        ------
        InputError
            Never for a gait that was made.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> next(gait.rows())
        ('measure', 'unit', 'side', 'mean', 'sd', 'cycles')
        """
        yield "measure", "unit", "side", "mean", "sd", "cycles"
        for each in self.measures:
            numbers = (f"{each.mean:.9g}", f"{each.deviation:.9g}" if each.values.size > 1 else "")
            yield each.name, each.unit, each.side, *numbers, str(each.values.size)

    @property
    def summary(self) -> dict[str, object]:
        """What told the events, when they were, and all measures, as plain data."""
        events = {
            side: {"strikes": each.strikes.tolist(), "offs": each.offs.tolist()}
            for side, each in self.steps.items()
        }
        cycles = {side: {"whole": len(each), "loaded": int(each.sum())} for side, each in self.loaded.items()}
        head, *rows = self.rows()
        measures = [dict(zip(head, row, strict=True)) for row in rows]
        about = {name: self.run.summary[name] for name in ("convention", "moments", "mass", "height")}
        return {"events_by": self.source, "events": events, "cycles": cycles, **about, "measures": measures}

    def spans_of(self, body: str) -> FloatArray:
        """The cycles of a body's side, (k, 2), s; of the trunk the first side's.

        Parameters
        ----------
        body : str
            A body, or a joint for the body that it carries.

        Returns
        -------
        array, shape (k, 2), s

        Raises
        ------
        InputError
            There is no such body.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> gait.spans_of("link_1").shape
        (2, 2)
        """
        require_known(body, self.sides, f"there is no body '{body}'", key="body")
        side = self.sides[body]
        return self.spans[side] if side in self.spans else next(iter(self.spans.values()))

    def _curve(self, name: str) -> FloatArray:
        require_known(name, self.curves, f"the gait has no curve '{name}'", key=name)
        return self.curves[name]


class Floor(NamedTuple):
    """What feet stand on, by its names, and when they do."""

    plates: Mapping[str, PlateForces]
    contacts: Sequence[Contact]


def gait(
    loads: Loads,
    recording: Recording,
    floor: Floor,
    markers: Markers,
    run: Run,
    *,
    movements: Mapping[str, str] | None,
    by: str,
    threshold: float,
) -> Gait:
    """What `Inverse.gait` says, of a clinical run."""
    robot = loads.recursion.mechanism.robot
    named = named_by(movements, robot)
    sides = sides_of(robot, named)
    feet = feet_of(loads, robot, _posed(loads, markers), named)
    found = {
        "recording": recorded_steps(recording.events),
        "plates": plate_steps(floor.contacts, floor.plates, sides, loads.time, threshold),
        "markers": marker_steps(loads.time, feet) if feet else {},
    }
    source, steps = chosen_steps(by, found)
    return replace(gait_of(run, steps, source, foot_forces(loads, sides), feet), sides=sides)


def _posed(loads: Loads, markers: Markers) -> dict[str, list[FloatArray]]:
    """Where markers are on the bodies as these were posed (n, 3), m: without noise and gaps, by the bodies' names."""
    found: dict[str, list[FloatArray]] = {}
    for name, (body, place) in markers.items():
        x, y, z = three(place, name, "x, y and z", ("m", "m", "m"))
        places = loads.frames[body].point(name, (x, y, z)).position(in_=loads.world)
        found.setdefault(body, []).append(np.broadcast_to(places, (loads.time.size, 3)))
    return found


def gait_of(
    run: Run, steps: Mapping[str, Steps], source: str, forces: Mapping[str, FloatArray], feet: Feet | None
) -> Gait:
    """A gait from a clinical run, when its feet meet the ground and leave it, the forces that push them upward (n,),
    and where they are.
    """
    spans = {side: _whole(each.strikes, run) for side, each in steps.items()}
    spans = {side: each for side, each in spans.items() if len(each)}
    if not spans:
        strikes = ", ".join(f"{len(each.strikes)} {side}" for side, each in steps.items())
        raise InputError(f"no whole cycle lies in the recording: {strikes} strikes by {source}", key="events")
    loaded = {side: _loaded(run, spans[side], steps[side], forces.get(side)) for side in spans}
    for side, known in loaded.items():
        if not known.all():
            lacking = f"{len(known) - known.sum()} of {len(known)} {side} cycles"
            told = "their moments and powers are left out of means"
            warnings.warn(f"no plate has the foot's force over the stance of {lacking}: {told}", stacklevel=3)
    curves = dict(_curves(run, spans, loaded))
    measures = (*measures_of(run, steps, spans, feet), *works_of(run, steps, spans, loaded))
    return Gait(run, steps, source, spans, loaded, curves, measures)


def _whole(strikes: FloatArray, run: Run) -> FloatArray:
    """Cycles (k, 2) that lie in the run and miss no strike."""
    inside = strikes[(strikes >= run.time[0]) & (strikes <= run.time[-1])]
    spans = np.stack([inside[:-1], inside[1:]], axis=1)
    lasting = spans[:, 1] - spans[:, 0]
    return spans[lasting <= _TWO * np.median(lasting)] if len(spans) else spans


def _loaded(
    run: Run, spans: FloatArray, steps: Steps, force: FloatArray | None
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """In which cycles a force pushes the foot for as long as it stands."""
    known = np.zeros(len(spans), dtype=bool)
    for k, (start, end) in enumerate(spans):
        off = first_inside(steps.offs, start, end)
        during = (run.time >= start) & (run.time <= (end if off is None else off))
        known[k] = force is not None and off is not None and (force[during] > 0).mean() >= _KNOWN
    return known


def _curves(
    run: Run, spans: Mapping[str, FloatArray], loaded: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, FloatArray]]:
    """All columns over their side's cycles; moments and powers over those with a known force."""
    cut = {side: cycles(run, each) for side, each in spans.items()}
    for name in run.values:
        side = side_of(name, spans)
        if side is not None:
            chosen = cut[side][name] if name in run.groups["coordinates"] else cut[side][name][loaded[side]]
            if len(chosen):
                yield name, chosen
