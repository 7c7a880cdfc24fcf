"""From loads to a `Gait`: who saw feet meet the ground, cycles cut there, curves with their bands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, warn
from trundle.limbs.bands import INDEPENDENT, SPREAD, Bands
from trundle.limbs.capture.assigned_plates import PlateContact, PlateForces
from trundle.limbs.capture.cycles import time_normalize
from trundle.limbs.capture.marker_model import Markers
from trundle.limbs.capture.recording import Recording
from trundle.limbs.clinical import NamedAxis, named_axes, named_by, sides_of
from trundle.limbs.gait import Gait
from trundle.limbs.gait_events import (
    Feet,
    FootEvents,
    chosen_steps,
    feet_of,
    foot_forces,
    marker_steps,
    plate_steps,
    recorded_steps,
)
from trundle.limbs.gait_measures import first_inside, measures_of, side_of, works_of
from trundle.limbs.loads import Loads
from trundle.limbs.pelvis import with_pelvis
from trundle.model.arguments import three
from trundle.results import Run

# A cycle that lasts so many times the median one is two, with a strike that nobody saw.
_TWO = 1.5
# A foot's force is known over a stance where it is there for this share of it: events of markers and plates differ by
# some hundredths of a second at both ends (Zeni et al. 2008).
_KNOWN = 0.8


class Floor(NamedTuple):
    """What feet stand on, by its names, and when they do."""

    plates: Mapping[str, PlateForces]
    contacts: Sequence[PlateContact]


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
    bands: Bands | None,
) -> Gait:
    """What `InverseDynamicsResult.gait` says, of a clinical run."""
    robot = loads.recursion.mechanism.robot
    named = named_by(movements, robot)
    sides = sides_of(robot, named)
    feet = feet_of(loads, robot, _posed(loads, markers), named)
    run = with_pelvis(run, loads, named, None if feet is None else feet.forward)
    found = {
        "recording": recorded_steps(recording.events),
        "plates": plate_steps(floor.contacts, floor.plates, sides, loads.time, threshold),
        "markers": marker_steps(loads.time, feet) if feet else {},
    }
    source, steps = chosen_steps(by, found)
    walk = replace(gait_of(run, steps, source, foot_forces(loads, sides), feet), sides=sides)
    if bands is None:
        return walk
    return replace(walk, bands=dict(_bands(bands, walk, named_axes(loads.to_run(), movements))))


def _posed(loads: Loads, markers: Markers) -> dict[str, list[FloatArray]]:
    """Where markers are on the bodies as these were posed (n, 3), m: without noise and gaps, by the bodies' names."""
    found: dict[str, list[FloatArray]] = {}
    for name, (body, place) in markers.items():
        x, y, z = three(place, name, "x, y and z", ("m", "m", "m"))
        places = loads.frames[body].point(name, (x, y, z)).position(frame=loads.world)
        found.setdefault(body, []).append(np.broadcast_to(places, (loads.time.size, 3)))
    return found


def gait_of(
    run: Run,
    steps: Mapping[str, FootEvents],
    source: str,
    forces: Mapping[str, FloatArray],
    feet: Feet | None,
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
            warn(f"no plate has the foot's force over the stance of {lacking}: {told}")
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
    run: Run, spans: FloatArray, steps: FootEvents, force: FloatArray | None
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
    cut = {side: time_normalize(run, each) for side, each in spans.items()}
    for name in run.values:
        side = side_of(name, spans)
        if side is not None:
            chosen = cut[side][name] if name in run.groups["coordinates"] else cut[side][name][loaded[side]]
            if len(chosen):
                yield name, chosen


def _bands(bands: Bands, walk: Gait, axes: Iterable[NamedAxis]) -> Iterator[tuple[str, FloatArray]]:
    """Half of the bands of 95 % about mean moments, (101,), in the moments' units."""
    by = float(walk.run.summary["mass"] or 1.0) * float(walk.run.summary["height"] or 1.0)
    for axis in axes:
        name, side = f"{axis.movement.label}.moment", side_of(axis.movement.label, walk.spans)
        if name not in walk.curves or side is None or axis.net not in bands.values:
            continue
        starts, ends = walk.spans[side][walk.loaded[side]].T[:, :, None]
        times = starts + (ends - starts) * walk.percent / 100
        squares = np.zeros(times.shape[1])
        for source in bands.sources:
            own = np.interp(times, bands.time, bands.deviation(axis.net, source))
            alone = source == INDEPENDENT
            squares += (own**2).mean(axis=0) / len(own) if alone else own.mean(axis=0) ** 2
        yield name, SPREAD * np.sqrt(squares) / by
