"""Choreo's `.traj` files (https://choreo.autos, format 3): poses over time, read as paths, written from any motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from trundle.arrays import FloatArray, IntArray
from trundle.documents.json_files import ForeignComponent, JsonFile, Number, choreo_version
from trundle.motion.paths.pose_paths import (
    HAIR,
    STANDS,
    PathFunction,
    PosePath,
    Zone,
    all_held,
    between,
    distances,
    fitted_sections,
)

# The newest version of Choreo's format that is read, and the one that is written.
VERSION = 3
# Samples between which the way turns by more than this (rad) lie at a corner, where the base stops.
_CORNER = math.radians(60)
# Steps shorter than this (m) have no direction, as files round to 1e-5 m; in short sections this share of them.
_STEP, _SHORT = 1e-4, 100
_AROUND = 1e-3  # m, on both sides of a waypoint: where a limit for it holds, and what drifts at a stop

# Which limit of a zone a constraint's type sets.
CONSTRAINTS = {"MaxVelocity": "velocity", "MaxAcceleration": "acceleration", "MaxAngularVelocity": "rate"}


class _Sample(ForeignComponent):
    called = "sample"

    t: Number
    x: Number
    y: Number
    heading: Number
    vx: Number | None = None
    vy: Number | None = None
    vl: Number | None = None
    vr: Number | None = None
    omega: Number = 0.0

    @property
    def speed(self) -> float | None:
        """Of the origin; None where the file doesn't tell."""
        if self.vx is not None and self.vy is not None:
            return math.hypot(self.vx, self.vy)
        return None if self.vl is None or self.vr is None else abs(self.vl + self.vr) / 2


class _Trajectory(ForeignComponent):
    called = "trajectory"

    samples: Annotated[tuple[_Sample, ...], Field(min_length=2)]
    waypoints: tuple[Number, ...] = ()


class _Limited(ForeignComponent):
    called = "constraint's data"

    type: str
    props: dict[str, object] = Field(default_factory=dict)


class _Constraint(ForeignComponent):
    called = "constraint"

    data: _Limited
    start: str | int | None = Field(None, alias="from")
    to: str | int | None = None
    enabled: bool = True


class _Snapshot(ForeignComponent):
    called = "snapshot"

    constraints: tuple[_Constraint, ...] = ()


class _Offset(ForeignComponent):
    val: Number = 0.0


class _When(ForeignComponent):
    targetTimestamp: Number | None = None
    offset: _Offset = Field(default_factory=_Offset)


class _Event(ForeignComponent):
    called = "event"

    name: str
    when: _When = Field(alias="from")


class _TrajFile(ForeignComponent):
    called = "trajectory file"

    name: str
    trajectory: _Trajectory
    snapshot: _Snapshot | None = None
    events: tuple[_Event, ...] = ()


def from_traj_file(source: JsonFile, tolerance: float) -> PosePath:
    """The path of a trajectory's poses, smooth within a tolerance (m); its times only say where it stands still."""
    file, samples, times, every = _read(source)
    first = _places(every)
    if len(first) == 1:
        raise source.error("the trajectory stays where it is", ("trajectory", "samples"))
    poses = every[[*first[:-1], -1]]  # the last place is where the last sample says
    along = np.concatenate([[0.0], np.cumsum(distances(np.diff(poses, axis=0)))])
    owner = np.searchsorted(first, np.arange(len(times)), "right") - 1
    lengths = along[owner]
    stops = _stops(samples, times, every, first)
    waypoints = np.interp(file.trajectory.waypoints, times, lengths)

    def curve(begin: float, end: float) -> PathFunction:
        # a spline across a stop would round the corner there; through steps without direction it would swing
        inside = np.isin(along, between(along, begin, end, min(_STEP, (end - begin) / _SHORT)))
        return _between(along[inside], poses[inside])

    speeds = samples[0].speed or 0.0, samples[-1].speed or 0.0
    sections, deviation = fitted_sections(curve, along[stops], waypoints, tolerance, speeds)
    events = tuple(
        (event.name, float(np.interp(event.when.targetTimestamp + event.when.offset.val, times, lengths)))
        for event in file.events
        if event.when.targetTimestamp is not None
    )
    zones = _zones(file.snapshot, waypoints.tolist(), float(along[-1]))
    return PosePath(file.name, sections, zones, events, deviation, float(times[-1] - times[0]))


def _places(poses: FloatArray) -> IntArray:
    """The samples at which a place begins: those that follow within a hair of it are there, too."""
    first = [0]
    for k in range(1, len(poses)):
        if distances(poses[k : k + 1] - poses[first[-1]])[0] > HAIR:
            first.append(k)
    return np.array(first)


def _stops(samples: Sequence[_Sample], times: FloatArray, poses: FloatArray, first: IntArray) -> IntArray:
    """The places of which sections are made: the ends, corners, and where the base stands.

    It stands where a sample says so, or where samples of one place are so near for so long. What drifts meanwhile is
    one section.
    """
    last = np.append(first[1:], len(times)) - 1
    stands = distances(poses[last] - poses[first]) + HAIR < STANDS * (times[last] - times[first])
    told = np.array([_stands(sample) for sample in samples])
    stands |= np.logical_or.reduceat(told, first)
    near = distances(np.diff(poses[first], axis=0)) < _AROUND
    stays = stands[1:-1] & ~(stands[:-2] & near[:-1] & stands[2:] & near[1:])
    turns = np.array([_turns(poses[first], k) for k in range(1, len(first) - 1)], dtype=bool)
    return np.array([0, *(np.flatnonzero(stays | turns) + 1), len(first) - 1])


def timed_poses(source: JsonFile) -> tuple[FloatArray, FloatArray]:
    """Times (n,) and poses (n, 3) of a trajectory's samples."""
    return _read(source)[2:]


def _read(source: JsonFile) -> tuple[_TrajFile, list[_Sample], FloatArray, FloatArray]:
    """A trajectory file, its samples, their times (n,) and poses (n, 3), headings without jumps by turns.

    Samples that rounding puts at one time are one. Raises InputError where times don't rise.
    """
    _check_version(source)
    file = source.checked(_TrajFile)
    samples = file.trajectory.samples
    times = np.array([sample.t for sample in samples])
    poses = np.array([[sample.x, sample.y, sample.heading] for sample in samples])
    poses[:, 2] = np.unwrap(poses[:, 2])
    again = np.append(False, (np.diff(times) == 0) & (distances(np.diff(poses, axis=0)) < _STEP))
    wrong = np.append(False, np.diff(times) <= 0) & ~again
    if wrong.any():
        place = int(wrong.argmax())
        message = f"time {times[place]:g} s is not after {times[place - 1]:g} s"
        raise source.error(message, ("trajectory", "samples", place, "t"), "put the samples in order")
    return file, [samples[k] for k in np.flatnonzero(~again)], times[~again], poses[~again]


def _check_version(source: JsonFile) -> None:
    """InputError for a format of another year, and for a trajectory that Choreo has not generated yet."""
    if "trajectory" not in source.data and "samples" in source.data:
        hint = "open it in Choreo 2025 or newer and save it"
        raise source.error("the trajectory is in Choreo's format of 2024", ("samples",), hint)
    choreo_version(source, VERSION)
    trajectory = source.data.get("trajectory")
    if isinstance(trajectory, dict) and not trajectory.get("samples"):
        hint = "generate it in Choreo, and save it"
        raise source.error("the trajectory has no samples", ("trajectory", "samples"), hint)


def _stands(sample: _Sample) -> bool:
    """Whether the base neither moves nor turns; unknown speeds count as moving."""
    speed = sample.speed
    return speed is not None and speed < STANDS and abs(sample.omega) < STANDS


def _turns(poses: FloatArray, k: int) -> bool:
    """Whether the way of the origin turns a corner at a sample."""
    before, behind = poses[k, :2] - poses[k - 1, :2], poses[k + 1, :2] - poses[k, :2]
    if min(np.hypot(*before), np.hypot(*behind)) < _STEP:
        return False
    angle = math.atan2(before[0] * behind[1] - before[1] * behind[0], float(before @ behind))
    return abs(angle) > _CORNER


def _between(lengths: FloatArray, poses: FloatArray) -> PathFunction:
    """The samples' poses and what lies between them, as functions of the length."""
    from scipy.interpolate import CubicSpline

    # a cubic through fewer than four samples isn't determined by them: its end conditions would make it up
    if len(lengths) < 4:
        return lambda s: np.stack([np.interp(s, lengths, column) for column in poses.T], axis=1)
    return CubicSpline(lengths, poses)


def _zones(snapshot: _Snapshot | None, waypoints: Sequence[float], whole: float) -> tuple[Zone, ...]:
    """The limits of the base's motion among the constraints, all of which hold; others are in the poses already."""
    zones = []
    for constraint in snapshot.constraints if snapshot else ():
        limit = constraint.data.props.get("max")
        key = CONSTRAINTS.get(constraint.data.type)
        if not constraint.enabled or key is None or not isinstance(limit, int | float) or limit <= 0:
            continue
        start = _length(constraint.start, waypoints, 0.0)
        end = start if constraint.to is None else _length(constraint.to, waypoints, whole)
        low, high = max(0.0, min(start, end) - _AROUND), min(whole, max(start, end) + _AROUND)
        zones.append(Zone(low, high, **{key: float(limit)}))
    return all_held(zones)


def _length(place: str | int | None, waypoints: Sequence[float], otherwise: float) -> float:
    """The length of a constraint's end: "first", "last" or a waypoint's index; another value where it has none."""
    if place == "first" or not waypoints:
        return 0.0 if place == "first" else otherwise
    if place == "last":
        return waypoints[-1]
    return waypoints[place] if isinstance(place, int) and 0 <= place < len(waypoints) else otherwise
