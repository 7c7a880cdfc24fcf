"""What became of robots over terrain: who overturned, got stuck, or left a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.wheels import WheelModel

T = TypeVar("T", bound=Any)

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
    fallen = upward(states["q_x"], states["q_y"]) <= 0
    overturned = np.asarray(fallen.any(axis=0))
    last = late(time)
    before, after = ({name: rows[place] for name, rows in states.items()} for place in (last, -1))
    return Fates(overturned, gets_nowhere(before, after, wheels) & ~overturned, np.argmax(fallen, axis=0))


def upward(q_x: T, q_y: T) -> T:
    """How far the base's third axis points up: the cosine of its tilt, from parts of its quaternion."""
    return 1 - 2 * (q_x * q_x + q_y * q_y)


def late(time: FloatArray) -> int:
    """The first time of the last part, in which a robot may be stuck."""
    return int(np.searchsorted(time, time[-1] - _LAST * (time[-1] - time[0])))


def gets_nowhere(
    before: Mapping[str, FloatArray], after: Mapping[str, FloatArray], wheels: Sequence[WheelModel]
) -> np.ndarray:
    """Whose wheels turn in vain, by the states (robots,) where the last part begins and ends."""
    went = np.hypot(after["x"] - before["x"], after["y"] - before["y"])
    rolled, size = _rolled(before, after, wheels)
    return (rolled > _STANDS * size) & (went < _GETS_ON * rolled)


def _rolled(
    before: Mapping[str, FloatArray], after: Mapping[str, FloatArray], wheels: Sequence[WheelModel]
) -> tuple[FloatArray, float]:
    """How far wheels roll on average (m) by robot, and the mean of their radii."""
    ways: list[FloatArray] = []
    sizes: list[float] = []
    for wheel in wheels:
        angle = f"{wheel.name}.angle"
        if angle in after:
            radius = float(wheel.radius)
            ways.append(radius * np.abs(after[angle] - before[angle]))
            sizes.append(radius)
    if not ways:
        return np.zeros(after["x"].shape), 1.0
    return np.asarray(np.mean(ways, axis=0)), float(np.mean(sizes))
