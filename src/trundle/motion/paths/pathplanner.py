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

from trundle.arrays import ComplexArray
from trundle.motion.paths.path_json import MOST, JsonFile, Least0, Number, Theirs
from trundle.motion.paths.pose_paths import PosePath, Section, Zone, fitted
from trundle.results.arrays import FloatArray

_SAME = 1e-9  # m
_LOOKS = 1000  # of a curve's length between two waypoints
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
        """As numbers in SI; angles stand in degrees."""
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
    ends = curve.stops
    sections, deviations = [], []
    for a, b in pairwise(ends):
        marks = np.unique([a, *(mark for mark in heading.marks if a < mark < b), b])
        spline, deviation = fitted(lambda s: _poses(curve, heading, s), marks, tolerance)
        entry = path.idealStartingState.velocity if a == ends[0] else 0.0
        exit_speed = path.goalEndState.velocity if b == ends[-1] else 0.0
        sections.append(Section(spline, float(a), float(b), entry, exit_speed))
        deviations.append(deviation)
    events = tuple((each.name, curve.length(each.waypointRelativePos)) for each in path.eventMarkers)
    worst = np.max(deviations, axis=0)
    return PosePath(name, tuple(sections), _zones(path, curve), events, (float(worst[0]), float(worst[1])))


def _check_places(source: JsonFile, path: _PathFile) -> None:
    last = len(path.waypoints) - 1
    for key, keys in (
        ("rotationTargets", ("waypointRelativePos",)),
        ("eventMarkers", ("waypointRelativePos",)),
        ("constraintZones", ("minWaypointRelativePos", "maxWaypointRelativePos")),
        ("pointTowardsZones", ("minWaypointRelativePos", "maxWaypointRelativePos")),
    ):
        for place, each in enumerate(getattr(path, key)):
            for inner in keys:
                if getattr(each, inner) > last:
                    raise source.error(
                        f"{getattr(each, inner):g} is beyond the path, whose last waypoint is {last}",
                        (key, place, inner),
                        f"a number from 0 to {last}",
                    )


class _Curve:
    """Bézier curves from anchor to anchor by their length: z(s) = x + i y."""

    def __init__(self, source: JsonFile, path: _PathFile) -> None:
        last = len(path.waypoints) - 1
        for place, each in enumerate(path.waypoints):
            for key, needed in (("prevControl", place > 0), ("nextControl", place < last)):
                if needed and getattr(each, key) is None:
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
        spans = np.diff(self.lengths[::_LOOKS])
        if not (spans > _SAME).all():
            place = int(np.flatnonzero(spans <= _SAME)[0])
            raise source.error(
                f"waypoints {place} and {place + 1} are the same",
                ("waypoints", place + 1),
                "take one of them away",
            )

    def at_position(self, position: FloatArray) -> ComplexArray:
        """z at a waypoint-relative position: 1.5 is in the middle of the second curve's parameter."""
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

    @cached_property
    def anchors(self) -> FloatArray:
        """The anchors' lengths."""
        return self.lengths[::_LOOKS]

    @cached_property
    def stops(self) -> FloatArray:
        """The ends, and the anchors where the curve turns a corner."""
        z = self.at_position(self.positions)
        steps = np.diff(z)
        inner = np.arange(1, len(self.controls)) * _LOOKS
        corner = np.abs(np.angle(steps[inner] * np.conj(steps[inner - 1]))) > _CORNER
        return self.lengths[np.concatenate([[0], inner[corner], [len(z) - 1]])]


@dataclass(frozen=True)
class _Heading:
    """θ from one length to another, its own there."""

    start: float
    end: float
    at: Callable[[FloatArray], FloatArray]


class _Headings:
    """θ(s): given at targets and in zones that point towards a place, between them (1 − cos)/2 of the nearer turn."""

    def __init__(self, path: _PathFile, curve: _Curve) -> None:
        whole = float(curve.lengths[-1])
        given = [_fixed(0.0, path.idealStartingState.rotation), _fixed(whole, path.goalEndState.rotation)]
        zones = [_towards(each, curve) for each in path.pointTowardsZones]
        targets = [
            _fixed(curve.length(each.waypointRelativePos), each.rotationDegrees)
            for each in path.rotationTargets
        ]
        free = [
            each
            for each in targets
            if 0 < each.start < whole and not any(z.start <= each.start <= z.end for z in zones)
        ]
        inside = [z for z in zones if z.end > 0 and z.start < whole]
        self.given = sorted([*given, *free, *inside], key=lambda each: (each.start, each.end))
        self.marks = np.unique(
            [*curve.anchors, *(end for each in self.given for end in (each.start, each.end))]
        )

    def at(self, s: FloatArray) -> FloatArray:
        """θ at lengths (rad), without jumps by turns."""
        theta = np.empty(len(s))
        last: float | None = None
        for place, each in enumerate(self.given):
            end = self.given[place + 1].start if place + 1 < len(self.given) else np.inf
            ends = each.at(np.array([each.start, each.end]))
            turns = 0.0 if last is None else last + math.remainder(ends[0] - last, 2 * math.pi) - ends[0]
            own = (s >= each.start) & (s <= each.end)
            theta[own] = each.at(s[own]) + turns
            last = float(ends[1] + turns)
            if not np.isfinite(end):
                theta[s > each.end] = last
                break
            goal = self.given[place + 1].at(np.array([end]))[0]
            between = (s > each.end) & (s < end)
            share = (s[between] - each.end) / max(end - each.end, 1e-12)
            theta[between] = (
                last + math.remainder(goal - last, 2 * math.pi) * (1 - np.cos(math.pi * share)) / 2
            )
        return theta


def _fixed(length: float, degrees: float) -> _Heading:
    angle = math.radians(degrees)
    return _Heading(length, length, lambda s: np.full(len(s), angle))


def _towards(zone: _PointTowardsZone, curve: _Curve) -> _Heading:
    start, end = curve.length(zone.minWaypointRelativePos), curve.length(zone.maxWaypointRelativePos)
    grid = np.linspace(start, end, 500)
    angles = np.unwrap(np.angle(zone.fieldPosition.place - curve.at(grid))) + math.radians(
        zone.rotationOffset
    )

    def at(s: FloatArray) -> FloatArray:
        exact = np.angle(zone.fieldPosition.place - curve.at(s)) + math.radians(zone.rotationOffset)
        near = np.interp(s, grid, angles)
        return exact + 2 * math.pi * np.round((near - exact) / (2 * math.pi))

    return _Heading(start, end, at)


def _poses(curve: _Curve, headings: _Headings, s: FloatArray) -> FloatArray:
    z = curve.at(s)
    return np.stack([z.real, z.imag, headings.at(s)], axis=1)


def _zones(path: _PathFile, curve: _Curve) -> tuple[Zone, ...]:
    """Parts of the path with one set of constraints each: a zone's, the first that is there, or the global ones."""
    spans = [
        (
            curve.length(each.minWaypointRelativePos),
            curve.length(each.maxWaypointRelativePos),
            each.constraints,
        )
        for each in path.constraintZones
    ]
    whole = float(curve.lengths[-1])
    ends = np.unique([0.0, whole, *(end for start, stop, _ in spans for end in (start, stop))])
    found = []
    for a, b in pairwise(ends):
        middle = (a + b) / 2
        own = next((each for start, stop, each in spans if start <= middle <= stop), path.globalConstraints)
        found.append(own.zone(float(a), float(b)))
    return tuple(found)
