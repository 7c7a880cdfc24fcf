"""Where configurations are searched: the bounds and periods of coordinates, by their joints' limits and gears."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trundle.analysis.singularity import SearchBox
from trundle.analysis.velocity_maps import VelocityMaps
from trundle.mechanics.coupling import Gear
from trundle.robot.bodies import drive_axes

# How far a sliding joint without limits is searched, in the robot's own lengths: loops have two ways to their ends.
_SLIDE, _SLIDE_IN_LOOPS = 1.0, 2.0


def box(maps: VelocityMaps, coordinates: Sequence[int]) -> SearchBox:
    """Where those coordinates are searched: within their joints' limits, a wheel's or coupling's steering within a
    half turn (its line is then the same again), other angles around, sliding joints over the robot's length, all
    as wide as what gears move by them needs.
    """
    bounds = [_bounds(maps, maps.names[k]) for k in coordinates]
    lower, upper, period = np.array(bounds, dtype=float).reshape(-1, 3).T
    return SearchBox(tuple(maps.names[k] for k in coordinates), lower, upper, period)


def _bounds(maps: VelocityMaps, name: str) -> tuple[float, float, float]:
    """Lower and upper bound and period (0 for none) of a coordinate, wide enough for all that gears move by it."""
    bounds = _own_bounds(maps, name)
    for gear in maps.assembly.couplings:
        if not isinstance(gear, Gear) or [axis.coordinate for axis in gear.leaders] != [name]:
            continue
        ratio, offset = float(gear.ratios[0]), float(gear.offset)
        if ratio:
            lower, upper, period = _bounds(maps, gear.follower.coordinate)
            first, last = sorted(((lower - offset) / ratio, (upper - offset) / ratio))
            bounds = _common(bounds, (first, last, period / abs(ratio)))
    return bounds


def _own_bounds(maps: VelocityMaps, name: str) -> tuple[float, float, float]:
    """Lower and upper bound and period of a coordinate by its own limits, gears left aside.

    A steering angle repeats after half a turn: then the wheel rolls along the same line. A slide without limits is
    searched as far as the robot is long, or a multiple of it.
    """
    robot, quantity = maps.mechanism.robot, maps.assembly.quantities[name]
    owner, what = quantity.owner, quantity.label
    if owner in robot.couplings or (what == "steering" and robot.wheels[owner].steered):
        return -math.pi / 2, math.pi / 2, math.pi
    nouns = (
        [noun for axis, noun in drive_axes(robot.joints[owner]).values() if axis.coordinate == what]
        if owner in robot.joints
        else []
    )
    limits = [getattr(noun, end) for noun in nouns for end in ("lower", "upper")] or [None, None]
    read = robot.resolver()
    lower, upper = (None if limit is None else float(read(limit)) for limit in limits)
    if quantity.unit == "rad":
        if lower is None and upper is None:
            return -math.pi, math.pi, 2 * math.pi
        lower = -math.pi if lower is None else lower
        return lower, math.pi if upper is None else upper, 0.0
    reach = (_SLIDE_IN_LOOPS if maps.assembly.loops else _SLIDE) * maps.length
    return -reach if lower is None else lower, reach if upper is None else upper, 0.0


def _common(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    """Bounds and period of a coordinate that has both: of limits the narrower, of periods the one that holds both."""
    (narrow, wide), free = sorted((a, b), key=lambda range_: range_[1] - range_[0]), [not a[2], not b[2]]
    if any(free):
        held = [bounds for bounds, is_free in zip((a, b), free, strict=True) if is_free]
        return max(bounds[0] for bounds in held), min(bounds[1] for bounds in held), 0.0
    turns = next((k for k in (1, 2, 3, 4) if abs(math.remainder(k * wide[2], narrow[2])) < 1e-9), 0)
    return (-turns * wide[2] / 2, turns * wide[2] / 2, turns * wide[2]) if turns else (*wide[:2], 0.0)
