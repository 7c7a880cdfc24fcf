"""PathPlanner's `.path` files (https://pathplanner.dev, format 2025): Bézier curves, headings, limits along them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from trundle.arrays import ComplexArray, FloatArray
from trundle.documents.json_files import Above0, ForeignComponent, JsonFile, Least0, Number
from trundle.errors import InputError
from trundle.motion.paths.pose_paths import HAIR, PosePath, Zone, fitted_sections

# Waypoint-relative positions are multiples of this: what is nearer to another is the same.
_SAME = 1e-6
# Chords from waypoint to waypoint, whose sum is taken as the length: short by less than 1/_LOOKS² of it in a half turn.
_LOOKS = 1000
# Angles to a zone's place are counted up over so many looks, from one to the next by less than half a turn.
_ZONE_LOOKS = 500
# A length (m) below every real one between two headings, which keeps their share of it from dividing by zero.
_SHORTEST = 1e-12
# A curve that turns at an anchor by more than this (rad) has a corner there, where the base stops.
_CORNER = math.radians(2)

# Attributes have the files' names, so that errors name the keys as they stand there.
_POSITIONS = tuple(f"{end}aypointRelativePos" for end in ("w", "minW", "maxW", "endW"))


class _Point(ForeignComponent):
    called = "point"

    x: Number
    y: Number

    @property
    def place(self) -> complex:
        return complex(self.x, self.y)


class _Waypoint(ForeignComponent):
    called = "waypoint"

    anchor: _Point
    prevControl: _Point | None = None
    nextControl: _Point | None = None


class _Constraints(ForeignComponent):
    called = "set of constraints"

    maxVelocity: Least0
    maxAcceleration: Above0
    maxAngularVelocity: Least0
    maxAngularAcceleration: Least0
    unlimited: bool = False

    def zone(self, start: float, end: float) -> Zone:
        """These limits from one length to another, in SI: the file has its angles in degrees.

        0 is no limit, as PathPlannerLib has it; without acceleration no base would leave.
        """
        if self.unlimited:
            return Zone(start, end)
        rate, change = math.radians(self.maxAngularVelocity), math.radians(self.maxAngularAcceleration)
        limits = self.maxVelocity, self.maxAcceleration, rate, change
        return Zone(start, end, *(limit or math.inf for limit in limits))


class _RotationTarget(ForeignComponent):
    called = "rotation target"

    waypointRelativePos: Number
    rotationDegrees: Number


class _Span(ForeignComponent):
    called = "zone"

    minWaypointRelativePos: Number
    maxWaypointRelativePos: Number


class _ConstraintsZone(_Span):
    constraints: _Constraints


class _PointTowardsZone(_Span):
    fieldPosition: _Point
    rotationOffset: Number = 0.0


class _EventMarker(ForeignComponent):
    called = "event marker"

    name: str
    waypointRelativePos: Number
    # PathPlannerLib takes an end below 0 for none
    endWaypointRelativePos: Annotated[
        Number | None, AfterValidator(lambda end: end if end is None or end >= 0 else None)
    ] = None

    @property
    def moments(self) -> list[tuple[str, float]]:
        """The marker's position and, of a zone, its end."""
        end = self.endWaypointRelativePos
        ends = [] if end is None else [(f"{self.name} ends", end)]
        return [(self.name, self.waypointRelativePos), *ends]


class _State(ForeignComponent):
    called = "state"

    velocity: Least0
    rotation: Number


class _PathFile(ForeignComponent):
    called = "path"

    waypoints: Annotated[tuple[_Waypoint, ...], Field(min_length=2)]
    rotationTargets: tuple[_RotationTarget, ...] = ()
    constraintZones: tuple[_ConstraintsZone, ...] = ()
    pointTowardsZones: tuple[_PointTowardsZone, ...] = ()
    eventMarkers: tuple[_EventMarker, ...] = ()
    globalConstraints: _Constraints
    goalEndState: _State
    idealStartingState: _State
    reversed: bool = False


def from_path_file(source: JsonFile, name: str, tolerance: float, along_way: bool = False) -> PosePath:
    """The path in a file: smooth within a tolerance (m), through all anchors and rotation targets; or, for bases that
    can't move sideways, the one that heads along the curves, against them where the file has it reversed.
    """
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
    back = path.reversed if along_way else None
    if along_way:
        _check_corners(source, curve)
        headings, marks = curve.directions, curve.anchors
    else:
        fixed = _Headings(path, curve)
        headings, marks = fixed.at, fixed.marks

    def poses(s: FloatArray) -> FloatArray:
        z = curve.at(s)
        return np.stack([z.real, z.imag, headings(s) + math.pi * bool(back)], axis=1)

    speeds = path.idealStartingState.velocity, path.goalEndState.velocity
    try:
        sections, deviation = fitted_sections(lambda *_: poses, curve.stops, marks, tolerance, speeds, back)
    except InputError as error:
        raise error.at(file=source.file) from None
    moments = [moment for marker in path.eventMarkers for moment in marker.moments]
    events = tuple((event, curve.length(position)) for event, position in moments)
    way = None if along_way else partial(from_path_file, source, name, tolerance, along_way=True)
    return PosePath(name, sections, _zones(path, curve), events, deviation, way=way)


def _check_places(source: JsonFile, path: _PathFile) -> None:
    """InputError for the first target, marker or zone that isn't on the path, or zone that is turned round."""
    last = len(path.waypoints) - 1
    for key in ("rotationTargets", "eventMarkers", "constraintZones", "pointTowardsZones"):
        for place, item in enumerate(getattr(path, key)):
            ends = [(inner, end) for inner, end in item if inner in _POSITIONS and end is not None]
            for inner, end in ends:
                if not -_SAME <= end <= last + _SAME:
                    raise source.error(
                        f"{end:.9g} is beyond the path, whose last waypoint is {last}",
                        (key, place, inner),
                        f"a number from 0 to {last}",
                    )
            (_, begins), (inner, ending) = ends[0], ends[-1]
            if ending < begins:
                raise source.error(
                    f"a zone from {begins:g} to {ending:g} ends before it begins",
                    (key, place, inner),
                    "exchange the two numbers",
                )


def _check_corners(source: JsonFile, curve: _Curve) -> None:
    """InputError for the first corner of a path whose heading is along it."""
    if len(curve.stops) > 2:
        corner = int(np.abs(curve.anchors - curve.stops[1]).argmin())
        raise source.error(
            f"the path turns a corner at waypoint {corner}, where a base that can't move sideways has no heading",
            ("waypoints", corner),
            "put its control points on one line through it, or make two paths of it",
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
        if not (spans > HAIR).all():  # a curve between them has no direction
            place = int(np.flatnonzero(spans <= HAIR)[0])
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

    def directions(self, s: FloatArray) -> FloatArray:
        """arg z′ at lengths (rad), without jumps by turns; at an anchor of what follows."""
        position = np.interp(s, self.lengths, self.positions)
        piece = np.minimum(position.astype(int), len(self.controls) - 1)
        # chords inside the curve, not its derivative: that is 0 where a control point lies on its anchor
        inside = np.clip(position, piece + _SAME, piece + 1 - _SAME)
        return np.unwrap(np.angle(self.at_position(inside + _SAME) - self.at_position(inside - _SAME)))

    def length(self, position: float) -> float:
        """The length of a waypoint-relative position; 1.0000001 is 1."""
        return float(np.interp(round(position / _SAME) * _SAME, self.positions, self.lengths))

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
class _HeadingSpan:
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
            for target in sorted(path.rotationTargets, key=lambda target: target.waypointRelativePos)
        ]
        # of what a hair lies between the later one counts, as for PathPlannerLib, and the ends before all
        free = [
            target
            for target, after in zip(targets, [*targets, ends[-1]][1:], strict=True)
            if not any(z.start - HAIR <= target.start <= z.end + HAIR for z in (*zones, *ends, after))
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


def _fixed(length: float, degrees: float) -> _HeadingSpan:
    angle = math.radians(degrees)
    return _HeadingSpan(length, length, lambda s: np.full(len(s), angle))


def _towards(zone: _PointTowardsZone, curve: _Curve) -> _HeadingSpan:
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

    return _HeadingSpan(start, end, at)


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
