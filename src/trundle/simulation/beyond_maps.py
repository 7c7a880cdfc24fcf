"""Robots that leave the maps that their terrain is made of: who, when and where."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.robot.terrain import Terrain
from trundle.scalars import Scalar

# Farther from the ground than this (m) nothing is but beyond a map: half of `robot.gridded.NOWHERE`.
_FAR = 5e8


def first_beyond(sinkages: Mapping[str, FloatArray]) -> tuple[int, str] | None:
    """When a wheel first has no ground, by the number of the time, and which; None where all always have."""
    rows = {name: row < -_FAR for name, row in sinkages.items()}
    times = [(int(np.argmax(gone)), name) for name, gone in rows.items() if gone.any()]
    return min(times, default=None)


def is_beyond(terrain: Terrain, states: Mapping[str, FloatArray]) -> np.ndarray:
    """Which robots (robots,) have left the maps that are all of their ground, by their places (times, robots)."""
    gone = off_maps(terrain, states["x"], states["y"])
    return np.asarray((np.broadcast_to(np.asarray(gone), states["x"].shape) > 0).any(axis=0))


def off_maps(terrain: Terrain, x: Scalar, y: Scalar) -> Scalar:
    """1 where a place lies off all maps that are all of the ground, else 0."""
    from trundle.robot.gridded import GridSurface  # loaded, where there is any

    gone: Scalar = 1
    for surface in terrain.surfaces.values():
        if not isinstance(surface, GridSurface) or surface.edge != "error":
            return 0
        gone = gone * (1 - surface.map_of().inside(x, y))
    return gone


def is_far(gaps: FloatArray) -> np.ndarray:
    """Which robots (robots,) have a wheel beyond all maps, by distances (wheels, robots) in m."""
    return np.asarray((gaps > _FAR).any(axis=0))


def check_start(terrain: Terrain, gaps: Mapping[str, float], x: float, y: float) -> None:
    """Raise InputError where a wheel has no ground where the run begins; `gaps` are distances by wheel (m)."""
    gone = next((name for name, gap in gaps.items() if gap > _FAR), None)
    if gone is not None:
        raise beyond(terrain, gone, "at the start", x, y)


def beyond(terrain: Terrain, wheel: str, when: str, x: float, y: float) -> InputError:
    """What to say of a wheel without ground: the robot's place is x, y (m)."""
    from trundle.robot.gridded import GridSurface  # loaded by now

    maps = {
        name: each
        for name, each in terrain.surfaces.items()
        if isinstance(each, GridSurface) and each.edge == "error"
    }
    name, surface = next(iter(maps.items()))
    (left, right), (low, high) = surface.map_of().extent
    return InputError(
        f"the wheel {wheel!r} is beyond the map {name!r} {when}, the robot at x = {x:.4g} m, y = {y:.4g} m; the map "
        f"reaches from x = {left:.4g} to {right:.4g} m, y = {low:.4g} to {high:.4g} m",
        key=f"terrain.surfaces.{name}.edge",
        hint="drive less far, take a larger map, or say what lies beyond: edge: clamp or edge: repeat",
    )
