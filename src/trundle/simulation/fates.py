"""What became of robots over terrain: who overturned, got stuck, or left a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.wheels import WheelModel

# Who in the last part of a run gets on by less than this share of what its wheels roll is stuck.
_LAST, _GETS_ON = 0.25, 0.1
# Wheels that roll by less than this share of their radius in that time stand.
_STANDS = 0.1


@dataclass(frozen=True)
class Fates:
    """Truths by robot (robots,), no robot in two of them: base on its side or head at some time, or wheels that turn
    in vain at the end.
    """

    overturned: np.ndarray
    stuck: np.ndarray
    first_overturned: np.ndarray  # number of the stored time; of those that have


def fates(time: FloatArray, states: Mapping[str, FloatArray], wheels: Sequence[WheelModel]) -> Fates:
    """Of states by name (times, robots): attitude, place, and the angles of wheels as far as they are among these."""
    upward = 1 - 2 * (states["q_x"] ** 2 + states["q_y"] ** 2)
    fallen = upward <= 0
    overturned = np.asarray(fallen.any(axis=0))
    last = int(np.searchsorted(time, time[-1] - _LAST * (time[-1] - time[0])))
    went = np.hypot(states["x"][-1] - states["x"][last], states["y"][-1] - states["y"][last])
    rolled, size = _rolled(states, wheels, last)
    stuck = (rolled > _STANDS * size) & (went < _GETS_ON * rolled) & ~overturned
    return Fates(overturned, stuck, np.argmax(fallen, axis=0))


def _rolled(
    states: Mapping[str, FloatArray], wheels: Sequence[WheelModel], last: int
) -> tuple[FloatArray, float]:
    """How far wheels roll on average from a time to the end (m) by robot, and the mean of their radii."""
    ways: list[FloatArray] = []
    sizes: list[float] = []
    for wheel in wheels:
        angle = states.get(f"{wheel.name}.angle")
        if angle is not None:
            radius = float(wheel.radius)
            ways.append(radius * np.abs(angle[-1] - angle[last]))
            sizes.append(radius)
    if not ways:
        return np.zeros(states["x"].shape[1]), 1.0
    return np.asarray(np.mean(ways, axis=0)), float(np.mean(sizes))
