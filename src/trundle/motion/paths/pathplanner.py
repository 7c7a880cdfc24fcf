"""PathPlanner's `.path` files (https://pathplanner.dev, format 2025): Bézier curves, headings, limits along them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.paths.path_json import MOST, JsonFile, Least0, Number, Theirs
from trundle.motion.paths.pose_paths import PosePath, Zone, fitted_sections

# Waypoints nearer than this (m) are the same: a curve between them has no direction.
_SAME = 1e-9
# Chords from waypoint to waypoint, whose sum is taken as the length: short by less than 1/_LOOKS² of it in a half turn.
_LOOKS = 1000
# Angles to a zone's place are counted up over so many looks, from one to the next by less than half a turn.
_ZONE_LOOKS = 500
# A length (m) below every real one between two headings, which keeps their share of it from dividing by zero.
_SHORTEST = 1e-12
# A curve that turns at an anchor by more than this (rad) has a corner there, where the base stops.
_CORNER = math.radians(2)

# Attributes have the files' names, so that errors name the keys as they stand there.
_Above0 = Annotated[float, Field(gt=0, le=MOST, allow_inf_nan=False)]


class _Point(Theirs):
    called = "point"

    x: Number
    y: Number

    @property
    def place(self) -> complex:
        return complex(self.x, self.y)


class _Waypoint(Theirs):
    called = "waypoint"

    anchor: _Point
    prevControl: _Point | None = None
    nextControl: _Point | None = None


class _Constraints(Theirs):
    called = "set of constraints"

    maxVelocity: _Above0
    maxAcceleration: _Above0
    maxAngularVelocity: _Above0
    maxAngularAcceleration: _Above0
    unlimited: bool = False

    def zone(self, start: float, end: float) -> Zone:
        """These limits from one length to another, in SI: the file has its angles in degrees."""
        if self.unlimited:
            return Zone(start, end)
        rate, change = math.radians(self.maxAngularVelocity), math.radians(self.maxAngularAcceleration)
        return Zone(start, end, self.maxVelocity, self.maxAcceleration, rate, change)


class _RotationTarget(Theirs):
    called = "rotation target"

    waypointRelativePos: Least0
    rotationDegrees: Number


class _Span(Theirs):
    called = "zone"

    minWaypointRelativePos: Least0
    maxWaypointRelativePos: Least0


class _ConstraintsZone(_Span):
    constraints: _Constraints


class _PointTowardsZone(_Span):
    fieldPosition: _Point
    rotationOffset: Number = 0.0


class _EventMarker(Theirs):
    called = "event marker"

    name: str
    waypointRelativePos: Least0


class _State(Theirs):
    called = "state"

    velocity: Least0
    rotation: Number


class _PathFile(Theirs):
    called = "path"

    waypoints: Annotated[tuple[_Waypoint, ...], Field(min_length=2)]
    rotationTargets: tuple[_RotationTarget, ...] = ()
    constraintZones: tuple[_ConstraintsZone, ...] = ()
    pointTowardsZones: tuple[_PointTowardsZone, ...] = ()
    eventMarkers: tuple[_EventMarker, ...] = ()
    globalConstraints: _Constraints
    goalEndState: _State
    idealStartingState: _State


def from_path_file(source: JsonFile, name: str, tolerance: float) -> PosePath:
    """The path in a file: smooth within a tolerance (m), through all anchors and rotation targets."""
    version = source.data.get("version")
    if str(version).split(".")[0] != "2025":
        came = "no version" if version is None else f"version {version}"
        raise source.error(
            f"expected PathPlanner's format 2025, got {came}",
            ("version",),
            "open the path in PathPlanner 2025 or 2026 and save it",
        )
    path = source.checked(_PathFile)
    _check_places(source, path)
    curve = _Curve(source, path)
    heading = _Headings(path, curve)

    def poses(s: FloatArray) -> FloatArray:
        z = curve.at(s)
        return np.stack([z.real, z.imag, heading.at(s)], axis=1)

    speeds = path.idealStartingState.velocity, path.goalEndState.velocity
    sections, deviation = fitted_sections(
        lambda begin, end: poses, curve.stops, heading.marks, tolerance, speeds
    )
    events = tuple((marker.name, curve.length(marker.waypointRelativePos)) for marker in path.eventMarkers)
    return PosePath(name, sections, _zones(path, curve), events, deviation)


def _check_places(source: JsonFile, path: _PathFile) -> None:
    """InputError for the first target, marker or zone behind the last waypoint, or zone that is turned round."""
    last = len(path.waypoints) - 1
    for key, keys in (
        ("rotationTargets", ("waypointRelativePos",)),
        ("eventMarkers", ("waypointRelativePos",)),
        ("constraintZones", ("minWaypointRelativePos", "maxWaypointRelativePos")),
        ("pointTowardsZones", ("minWaypointRelativePos", "maxWaypointRelativePos")),
    ):
        for place, item in enumerate(getattr(path, key)):
            for inner in keys:
                if getattr(item, inner) > last:
                    raise source.error(
                        f"{getattr(item, inner):g} is beyond the path, whose last waypoint is {last}",
                        (key, place, inner),
                        f"a number from 0 to {last}",
                    )
            if isinstance(item, _Span) and item.maxWaypointRelativePos < item.minWaypointRelativePos:
                begins, ends = item.minWaypointRelativePos, item.maxWaypointRelativePos
                raise source.error(
                    f"a zone from {begins:g} to {ends:g} ends before it begins",
                    (key, place, "maxWaypointRelativePos"),
                    "exchange the two numbers",
                )


class _Curve:
    """Bézier curves from anchor to anchor by their length: z(s) = x + i y."""

    def __init__(self, source: JsonFile, path: _PathFile) -> None:
        """Control points (curves, 4) and a table of lengths; InputError where a waypoint has no curve to the next."""
        last = len(path.waypoints) - 1
        for place, waypoint in enumerate(path.waypoints):
            for key, needed in (("prevControl", place > 0), ("nextControl", place < last)):
                if needed and getattr(waypoint, key) is None:
                    raise source.error(
                        f"waypoint {place} lacks its control point",
                        ("waypoints", place, key),
                        "write {x: ..., y: ...}",
                    )
        self.controls = np.array(
            [
                [a.anchor.place, a.nextControl.place, b.prevControl.place, b.anchor.place]
                for a, b in pairwise(path.waypoints)
                if a.nextControl is not None and b.prevControl is not None
            ]
        )
        self.positions = np.linspace(0.0, last, last * _LOOKS + 1)
        steps = np.abs(np.diff(self.at_position(self.positions)))
        self.lengths = np.concatenate([[0.0], np.cumsum(steps)])
        self.anchors = self.lengths[::_LOOKS]
        spans = np.diff(self.anchors)
        if not (spans > _SAME).all():
            place = int(np.flatnonzero(spans <= _SAME)[0])
            raise source.error(
                f"waypoints {place} and {place + 1} are the same",
                ("waypoints", place + 1),
                "take one of them away",
            )

    def at_position(self, position: FloatArray) -> ComplexArray:
        """z at a waypoint-relative position: 1.5 is in the middle of the second curve's parameter."""
        # the last waypoint is the end of the curve before it: no curve begins there
        piece = np.minimum(position.astype(int), len(self.controls) - 1)
        t = position - piece
        a, b, c, d = self.controls[piece].T
        return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d

    def at(self, s: FloatArray) -> ComplexArray:
        """z at lengths."""
        return self.at_position(np.interp(s, self.lengths, self.positions))

    def length(self, position: float) -> float:
        """The length of a waypoint-relative position."""
        return float(np.interp(position, self.positions, self.lengths))

    def span(self, zone: _Span) -> tuple[float, float]:
        """The lengths from which and to which a zone reaches."""
        return self.length(zone.minWaypointRelativePos), self.length(zone.maxWaypointRelativePos)

    @cached_property
    def stops(self) -> FloatArray:
        """The ends, and the anchors where the curve turns a corner."""
        z = self.at_position(self.positions)
        steps = np.diff(z)
        inner = np.arange(1, len(self.controls)) * _LOOKS
        # chords on both sides, not the control points' directions: a control point may lie on its anchor
        corner = np.abs(np.angle(steps[inner] * np.conj(steps[inner - 1]))) > _CORNER
        return self.lengths[np.concatenate([[0], inner[corner], [len(z) - 1]])]


@dataclass(frozen=True)
class _Heading:
    """θ(s) where the file tells it: from one length to another, or at one alone."""

    start: float
    end: float
    at: Callable[[FloatArray], FloatArray]


class _Headings:
    """θ(s): fixed at targets and in zones that point towards a place; between them (1 − cos)/2 of the nearer turn."""

    def __init__(self, path: _PathFile, curve: _Curve) -> None:
        """The headings that the file fixes, sorted by length: a zone outweighs the targets in it."""
        whole = float(curve.lengths[-1])
        ends = [_fixed(0.0, path.idealStartingState.rotation), _fixed(whole, path.goalEndState.rotation)]
        zones = [_towards(zone, curve) for zone in path.pointTowardsZones]
        targets = [
            _fixed(curve.length(target.waypointRelativePos), target.rotationDegrees)
            for target in path.rotationTargets
        ]
        free = [
            target
            for target in targets
            if 0 < target.start < whole and not any(z.start <= target.start <= z.end for z in zones)
        ]
        inside = [z for z in zones if z.end > 0 and z.start < whole]
        self.fixed = sorted([*ends, *free, *inside], key=lambda heading: (heading.start, heading.end))
        self.marks = np.unique(
            [*curve.anchors, *(end for heading in self.fixed for end in (heading.start, heading.end))]
        )

    def at(self, s: FloatArray) -> FloatArray:
        """θ at lengths (rad), without jumps by turns."""
        theta = np.empty(len(s))
        last: float | None = None
        for place, heading in enumerate(self.fixed):
            end = self.fixed[place + 1].start if place + 1 < len(self.fixed) else np.inf
            ends = heading.at(np.array([heading.start, heading.end]))
            # whole turns that bring this heading within half a turn of the one before it
            turns = 0.0 if last is None else last + math.remainder(ends[0] - last, 2 * math.pi) - ends[0]
            here = (s >= heading.start) & (s <= heading.end)
            theta[here] = heading.at(s[here]) + turns
            last = float(ends[1] + turns)
            if not np.isfinite(end):
                theta[s > heading.end] = last
                break
            goal = self.fixed[place + 1].at(np.array([end]))[0]
            between = (s > heading.end) & (s < end)
            share = (s[between] - heading.end) / max(end - heading.end, _SHORTEST)
            theta[between] = (
                last + math.remainder(goal - last, 2 * math.pi) * (1 - np.cos(math.pi * share)) / 2
            )
        return theta


def _fixed(length: float, degrees: float) -> _Heading:
    angle = math.radians(degrees)
    return _Heading(length, length, lambda s: np.full(len(s), angle))


def _towards(zone: _PointTowardsZone, curve: _Curve) -> _Heading:
    """θ(s) = arg(place − z(s)) + offset in a zone, without jumps by turns: counted up on a grid, exact between."""
    start, end = curve.span(zone)
    grid = np.linspace(start, end, _ZONE_LOOKS)
    angles = np.unwrap(np.angle(zone.fieldPosition.place - curve.at(grid))) + math.radians(
        zone.rotationOffset
    )

    def at(s: FloatArray) -> FloatArray:
        exact = np.angle(zone.fieldPosition.place - curve.at(s)) + math.radians(zone.rotationOffset)
        near = np.interp(s, grid, angles)
        return exact + 2 * math.pi * np.round((near - exact) / (2 * math.pi))

    return _Heading(start, end, at)


def _zones(path: _PathFile, curve: _Curve) -> tuple[Zone, ...]:
    """Parts of the path with one set of constraints: those of the first zone that holds there, or the global ones."""
    spans = [(*curve.span(zone), zone.constraints) for zone in path.constraintZones]
    whole = float(curve.lengths[-1])
    ends = np.unique([0.0, whole, *(end for start, stop, _ in spans for end in (start, stop))])
    zones = []
    for a, b in pairwise(ends):
        middle = (a + b) / 2
        held = next(
            (limits for start, stop, limits in spans if start <= middle <= stop), path.globalConstraints
        )
        zones.append(held.zone(float(a), float(b)))
    return tuple(zones)
