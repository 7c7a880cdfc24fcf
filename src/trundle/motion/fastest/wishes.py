"""What is asked of a fastest motion, from what a user gives: poses, limits from pose to pose, events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from trundle.errors import InputError, choose, require_known
from trundle.expected import check_float, check_str
from trundle.motion.drive.drive import require_speeds
from trundle.motion.fastest.outlines import inscribed
from trundle.motion.fastest.problem import Problem, Stop
from trundle.motion.fastest.routes import around, shortest
from trundle.motion.paths.pose_paths import LIMITS, warn_of_turns

Place = Sequence[float | None]
Zones = Sequence[tuple[int, int, Mapping[str, float]]]
Events = Sequence[tuple[str, float]]

# Legs shorter than this share of the whole way are none: a search over them takes a minute and finds nothing.
_NO_WAY = 1e-4
# Directions in which a base's greatest speed is asked for: it is at most 1e-5 of it above that.
_DIRECTIONS = 360


def stops_of(start: Place, goal: Place, via: Sequence[Place], zones: Zones) -> tuple[Stop, ...]:
    """All poses in order, with what is asked of the base on the way from one to the next."""
    stops = [
        _stop(start, "start"),
        *(_stop(place, f"via[{k}]") for k, place in enumerate(via)),
        _stop(goal, "goal"),
    ]
    if stops[0].heading is None:
        raise InputError(f"expected three numbers, got {start!r}", key="start", hint="x, y (m) and θ (rad)")
    for key, stop in (("start", stops[0]), ("goal", stops[-1])):
        if stop.speed:
            raise InputError("the motion begins and ends at rest", key=key, hint="give x, y and θ")
    for place, zone in enumerate(zones):
        key = f"zones[{place}]"
        first, last, limits = _zone(zone, len(stops) - 1, key)
        for k in range(first, last):
            lower = {name: min(most, getattr(stops[k].leg, name)) for name, most in limits.items()}
            stops[k] = replace(stops[k], leg=replace(stops[k].leg, **lower))
        _require_slower(stops, first, last, limits, key)
    return tuple(stops)


def _stop(given: Place, key: str) -> Stop:
    """A pose of two to four numbers, None where one is free."""
    hint = "x, y (m), then θ (rad) and a speed (m/s) where they aren't free"
    try:
        numbers = [None if value is None else float(value) for value in given]
    except (TypeError, ValueError):
        raise InputError(f"expected a pose, got {given!r}", key=key, hint=hint) from None
    finite = all(value is None or math.isfinite(value) for value in numbers)
    if not 2 <= len(numbers) <= 4 or None in numbers[:2] or not finite:
        raise InputError(f"expected two to four finite numbers, got {given!r}", key=key, hint=hint)
    x, y, heading, speed = [*numbers, None, None][:4]
    if speed is not None and speed < 0:
        raise InputError(f"expected a speed from 0, got {speed:g} m/s", key=key)
    assert x is not None
    assert y is not None
    return Stop(x, y, heading, speed)


def _zone(
    given: tuple[int, int, Mapping[str, float]], last: int, key: str
) -> tuple[int, int, dict[str, float]]:
    """From which pose to which, and the limits by name."""
    try:
        begin, end, limits = given
        limits = dict(limits)
    except (TypeError, ValueError):
        hint = "such as (0, 1, {'velocity': 1.5}): from the start to the first pose on the way at 1.5 m/s"
        raise InputError(
            f"expected (first pose, last pose, limits), got {given!r}", key=key, hint=hint
        ) from None
    places = f"poses are counted from 0, the start, to {last}, the goal"
    if not (isinstance(begin, int) and isinstance(end, int) and 0 <= begin < end <= last):
        raise InputError(f"there is no way from pose {begin!r} to pose {end!r}", key=key, hint=places)
    for name in limits:
        require_known(name, LIMITS, f"a zone has no limit {name!r}", key=key, hint=choose)
    return begin, end, {name: check_float(most, f"{key}.{name}", above=0) for name, most in limits.items()}


def _require_slower(
    stops: Sequence[Stop], first: int, last: int, limits: Mapping[str, float], key: str
) -> None:
    """InputError where a pose within a zone is to be passed faster than that allows."""
    most = limits.get("velocity", math.inf)
    for k in range(first, last + 1):
        speed = stops[k].speed
        if speed is not None and speed > most:
            raise InputError(
                f"via[{k - 1}] is to be passed at {speed:g} m/s, and the zone allows {most:g} m/s",
                key=key,
                hint="leave the speed out, or allow more",
            )


def events_of(events: Events, last: int) -> tuple[tuple[str, float], ...]:
    """Names and the poses that they belong to, counted from the start."""
    told: list[tuple[str, float]] = []
    for place, event in enumerate(events):
        key = f"events[{place}]"
        try:
            name, at = event
        except (TypeError, ValueError):
            hint = "such as ('shoot', 1): at the first pose on the way"
            raise InputError(f"expected (name, pose), got {event!r}", key=key, hint=hint) from None
        number = check_float(at, key)
        if not 0 <= number <= last:
            hint = f"poses are counted from 0, the start, to {last}, the goal; 0.5 is halfway in time"
            raise InputError(f"there is no pose {number:g}", key=key, hint=hint)
        told.append((check_str(name, key), number))
    return tuple(told)


def require_mobile(problem: Problem, name: str) -> None:
    """InputError where wheels leave nothing to move, or nothing limits them."""
    if not len(problem.basis):
        raise InputError(
            f"the wheels of '{name}' that neither steer nor have rollers hold its base: it can't move without slip",
            key="robot.wheels",
        )
    require_speeds(problem.drive)


def warn_of_headings(problem: Problem) -> None:
    """Warn of headings in degrees."""
    for key, stop in zip(problem.keys, problem.stops, strict=True):
        warn_of_turns(stop.heading or 0.0, key)


def require_apart(problem: Problem) -> None:
    """InputError where a stop is the one before it: a leg without length has no fastest motion."""
    legs = np.array([_length(problem.size, *pair) for pair in pairwise(problem.stops)])
    again = np.flatnonzero(legs <= _NO_WAY * legs.sum())
    if not len(again):
        return
    before, key = (problem.keys[int(again[0]) + k] for k in (0, 1))
    alone = len(legs) == 1
    raise InputError(
        f"expected a pose apart from {before}, got the same pose again",
        key=key,
        hint="give another goal"
        if alone
        else "leave one of them out; a turn on the spot gives both of them θ",
    )


def _length(size: float, before: Stop, behind: Stop) -> float:
    """How long a leg is (m), a radian of what it turns at least counted as the robot's size."""
    turned = 0.0
    if before.heading is not None and behind.heading is not None:
        turned = math.remainder(behind.heading - before.heading, 2 * math.pi)
    return math.hypot(behind.x - before.x, behind.y - before.y, size * turned)


def require_clear(problem: Problem) -> None:
    """InputError where an obstacle covers a stop."""
    for key, stop in zip(problem.keys, problem.stops, strict=True):
        for obstacle in problem.obstacles:
            # without a heading at least the base's origin has to be clear
            free = stop.heading is None
            pose = np.array([[stop.x, stop.y, stop.heading or 0.0]])
            apart = float(obstacle.distances(pose, np.zeros((1, 2)) if free else problem.outline)[0])
            if apart <= 0:
                what = "the base's origin" if free else "the robot's outline"
                raise InputError(
                    f"keep_out[{obstacle.place}] covers the {key}: {what} is {-apart:.4g} m inside of it",
                    key=key,
                    hint="move one of them, or give a smaller outline",
                )


def require_open(problem: Problem) -> None:
    """InputError where obstacles bar the way between two stops even to the circle within the outline."""
    polygons = [around(obstacle, inscribed(problem.outline), outside=False) for obstacle in problem.obstacles]
    for (name, a), (other, b) in pairwise(zip(problem.keys, problem.stops, strict=True)):
        if shortest(np.array([a.x, a.y]), np.array([b.x, b.y]), polygons) is None:
            raise InputError(
                f"obstacles bar every way from {name} to {other}: the robot doesn't fit between them",
                key="keep_out",
                hint="move an obstacle, or give a smaller outline",
            )


def require_pace(problem: Problem) -> None:
    """InputError where a stop is to be passed faster than the search lets wheels roll."""
    most = _greatest_speed(problem)
    for key, stop in zip(problem.keys, problem.stops, strict=True):
        if stop.speed is not None and stop.speed > most:
            raise InputError(
                f"it is to be passed at {stop.speed:.4g} m/s, and plans let the base go at {most:.4g} m/s at most",
                key=key,
                hint="ask for less, or leave the speed out",
            )


def _greatest_speed(problem: Problem) -> float:
    """A speed that the base's origin doesn't pass within the wheels' limits (m/s); infinite where these leave it open.

    Least squares give the twist of wheels' velocities, v = P w, where every |wᵢ| is 1 at most, in shares of limits. So
    it goes at Σ |e Pᵢ| at most in the direction of e, and faster by 1/cos of half the angle between two of these.
    """
    drive, basis = problem.drive, problem.basis * [1.0, 1.0, 1 / problem.size]
    u = drive.velocities(basis)
    w = np.where(drive.points, u, (np.conj(drive.rolling_axes(drive.headings)) * u).real) / drive.rolling[0]
    rows = np.concatenate([w.real, w.imag], axis=1).T
    if np.linalg.matrix_rank(rows) < len(basis):
        return math.inf
    velocity = (basis @ [1.0, 1j, 0.0] @ np.linalg.pinv(rows)).reshape(2, -1)
    turned = np.exp(1j * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS)[:, None, None] * velocity
    return float(np.linalg.norm(turned.real, axis=1).sum(axis=1).max()) / math.cos(
        math.pi / (2 * _DIRECTIONS)
    )
