"""Profiles of least time under limits of velocity, acceleration and jerk, several axes in step, by Ruckig."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from trundle.errors import InputError, NumericsError
from trundle.motion.pieces.profiles import Profile

# What a limit may be passed by for rounding, as a share of it.
_ROUNDING = 1e-9

Space = Literal["line", "circle"]


@dataclass(frozen=True)
class Axis:
    """One value that goes from a state to another as fast as its limits allow.

    Parameters
    ----------
    start, end : tuple of three floats
        Value, velocity and acceleration there (rad or m, and so on).
    velocity, acceleration, jerk : float
        The limits, in either direction; inf for none.
    bounds : tuple of two floats, optional
        The least and the greatest value on the way.
    space : str, optional
        "line", or "circle": the end is any angle that differs by turns, and the quickest counts.
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    velocity: float = math.inf
    acceleration: float = math.inf
    jerk: float = math.inf
    bounds: tuple[float, float] = (-math.inf, math.inf)
    space: Space = "line"


def time_optimal(axes: Sequence[Axis], duration: float | None = None) -> tuple[Profile, ...]:
    """The quickest ways of several axes; those that would be earlier are made to arrive with the last one.

    Jerk, acceleration and velocity are at a limit or zero: constant jerks in at most seven parts, two more where a
    start is beyond its limits (Berscheid & Kröger 2021, "Jerk-limited real-time trajectory generation").

    Parameters
    ----------
    axes : sequence of Axis
        At least one.
    duration : float, s, optional
        A time to take at least.

    Returns
    -------
    tuple of Profile
        In the axes' order, all of one duration.

    Raises
    ------
    InputError
        A state is beyond its limits, or an axis can't stay within its bounds.
    NumericsError
        Ruckig finds no way.

    Examples
    --------
    >>> from trundle.motion.time_optimal import Axis, time_optimal
    >>> (profile,) = time_optimal([Axis((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), velocity=2.0, acceleration=4.0)])
    >>> profile.duration
    1.0
    """
    quickest = [_quickest(axis) for axis in axes]
    latest = max([duration or 0.0, *(profile.duration for _, profile in quickest)])
    if all(profile.duration == latest for _, profile in quickest):
        return tuple(profile for _, profile in quickest)
    # a slower way may swing farther out than the quickest one: its bounds are looked at again
    profiles = _solved([axis for axis, _ in quickest], latest)
    for axis, profile in zip(axes, profiles, strict=True):
        _check_bounds(axis, profile)
    return tuple(profiles)


def _quickest(axis: Axis) -> tuple[Axis, Profile]:
    """The axis with the end that it gets to first, and the way there."""
    tried = [(line, _solved([line])[0]) for line in _ends(axis)]
    within = [pair for pair in tried if _within(axis, pair[1])]
    if not within:
        _check_bounds(axis, tried[0][1])
    return min(within, key=lambda pair: pair[1].duration)


def _ends(axis: Axis) -> Iterator[Axis]:
    """The axis on a line, to all ends that are to be tried; the nearest first."""
    value, *rest = axis.end
    if axis.space == "circle":
        value = axis.start[0] + math.remainder(value - axis.start[0], 2 * math.pi)
    low, high = axis.bounds
    # a start in motion may get to an end a turn away first
    turns = (0.0,) if axis.space == "line" else (0.0, -2 * math.pi, 2 * math.pi)
    inside = [value + turn for turn in turns if low <= value + turn <= high]
    if not (inside and low <= axis.start[0] <= high):
        beyond = axis.start[0] if inside else axis.end[0]
        raise InputError(
            f"{beyond:g} is outside the range from {low:g} to {high:g}",
            key="bounds",
            hint="give an end within it",
        )
    yield from (replace(axis, end=(value, *rest)) for value in inside)


def _within(axis: Axis, profile: Profile) -> bool:
    """Whether a profile stays within its axis's bounds on the whole way, but for rounding."""
    if axis.bounds == (-math.inf, math.inf):
        return True
    low, high = profile.extremes()
    slack = _ROUNDING * max(1.0, abs(low), abs(high))
    return axis.bounds[0] - slack <= low and high <= axis.bounds[1] + slack


def _check_bounds(axis: Axis, profile: Profile) -> None:
    """InputError where a profile leaves its axis's bounds."""
    if not _within(axis, profile):
        low, high = profile.extremes()
        raise InputError(
            f"on its way from {axis.start[0]:g} (at {axis.start[1]:g} per second) to {axis.end[0]:g} it goes from "
            f"{low:.6g} to {high:.6g}: beyond the range from {axis.bounds[0]:g} to {axis.bounds[1]:g}",
            key="bounds",
            hint="start slower, or with a higher limit of acceleration",
        )


def _solved(axes: Sequence[Axis], duration: float | None = None) -> list[Profile]:
    """Ruckig's answer; without waypoints, which its free edition would send to a service."""
    import ruckig  # late: only what is limited needs it

    for axis in axes:
        _check_states(axis)
    wanted = ruckig.InputParameter(len(axes))
    columns = list(zip(*((*axis.start, *axis.end) for axis in axes), strict=True))
    wanted.current_position, wanted.current_velocity, wanted.current_acceleration = columns[:3]
    wanted.target_position, wanted.target_velocity, wanted.target_acceleration = columns[3:]
    wanted.max_velocity = [axis.velocity for axis in axes]
    wanted.max_acceleration = [axis.acceleration for axis in axes]
    wanted.max_jerk = [axis.jerk for axis in axes]
    wanted.minimum_duration = duration
    trajectory = ruckig.Trajectory(len(axes))
    try:
        result = ruckig.Ruckig(len(axes)).calculate(wanted, trajectory)
    except RuntimeError as error:
        raise InputError(f"no way from start to end: {error}", key="axes") from None
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise NumericsError(f"Ruckig finds no way between the states: {result.name}")
    ways = zip(trajectory.profiles[0], axes, strict=True)
    return [_profile(way, axis, trajectory.duration) for way, axis in ways]


def _check_states(axis: Axis) -> None:
    """InputError where a state isn't finite, or the end is beyond its limits; a start may be, and brakes into them."""
    for where, state in (("start", axis.start), ("end", axis.end)):
        if not all(map(math.isfinite, state)):
            raise InputError(f"the {where} {state} is not finite", key=where)
    for limit, name, state in (
        (axis.velocity, "velocity", axis.end[1]),
        (axis.acceleration, "acceleration", axis.end[2]),
    ):
        if abs(state) > limit:
            raise InputError(f"the end's {name} {state:g} is beyond its limit {limit:g}", key=name)


class _RuckigProfile(Protocol):
    """Ruckig's times, and the states and jerks at their starts; it comes without types."""

    t: list[float]
    p: list[float]
    v: list[float]
    a: list[float]
    j: list[float]


class _Ruckigs(_RuckigProfile, Protocol):
    """Ruckig's profile of an axis: a part that brakes into the limits, and the way from there."""

    brake: _RuckigProfile


def _profile(theirs: _Ruckigs, axis: Axis, duration: float) -> Profile:
    """Ruckig's parts as polynomials from the states at their starts, the one that brakes into the limits first."""
    spans, rows = [], []
    for part in (theirs.brake, theirs):
        for span, *state in zip(part.t, part.p, part.v, part.a, part.j, strict=False):
            if span > 0:
                spans.append(span)
                rows.append([state[0], state[1], state[2] / 2, state[3] / 6])
    if not spans:
        spans, rows = [duration], [[*axis.start[:2], axis.start[2] / 2, 0.0]]
    breaks = np.concatenate([[0.0], np.cumsum(spans)])
    breaks[-1] = duration  # the sum's rounding would tell axes that arrive together apart
    profile = Profile(breaks, np.array(rows), (axis.start[1:], axis.end[1:]))
    if any((*axis.start[1:], *axis.end[1:])):
        return profile
    # Ruckig is out by up to 1e-8 at the end; from rest to rest the way can be stretched to it
    way, made = axis.end[0] - axis.start[0], float(profile.at(profile.duration)) - axis.start[0]
    share = way / made if made else 1.0
    scaled = profile.coefficients * share
    scaled[:, 0] += axis.start[0] * (1 - share)
    return replace(profile, coefficients=scaled)
