"""What became of robots over terrain: who overturned, got stuck, or left a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.quantities import Quantities
from trundle.mechanics.wheels import WheelModel
from trundle.model.beyond_maps import beyond, first_beyond, place_of
from trundle.model.plant import DIVERGED

if TYPE_CHECKING:
    from trundle.model.ground_model import GroundModel

OUTCOMES = (DIVERGED, "overturned", "stuck", "beyond_map", "unsettled")
"""What may become of a robot over terrain."""

T = TypeVar("T", bound=Any)

# Who in the last part of a run gets on by less than this share of what its wheels roll is stuck.
_LAST, _GETS_ON = 0.25, 0.1
# Wheels that roll by less than this share of their radius in that time stand.
_STANDS = 0.1


def end_of(
    time: FloatArray, states: Mapping[str, FloatArray], wheels: Sequence[WheelModel]
) -> dict[str, object]:
    """When a base first points sideways or down, where it does, or whether wheels turn in vain at the end."""
    fallen = np.flatnonzero(upward(states["q_x"], states["q_y"]) <= 0)
    if fallen.size:
        return {"overturned_at": float(time[fallen[0]])}
    before, after = ({name: row[place] for name, row in states.items()} for place in (late(time), -1))
    return {"stuck": True} if gets_nowhere(before, after, wheels) else {}


def lifted_wheels(
    known: Quantities, values: Mapping[str, FloatArray], apart: float
) -> dict[str, dict[str, float]]:
    """By wheel, of those that were off the ground, for how long (s), as far as the times that are stored tell."""
    loads = {
        known[name].owner: values[name] for name in values if name in known and known[name].kind == "load"
    }
    places = {owner: load for owner, load in loads.items() if owner.rpartition(".")[0] not in loads}
    seconds = {owner: apart * float(np.count_nonzero(load[:-1] <= 0)) for owner, load in places.items()}
    lifted = {owner: time for owner, time in seconds.items() if time}
    return {"lifted": lifted} if lifted else {}


def require_ground_below(
    model: GroundModel, time: FloatArray, states: FloatArray, outputs: FloatArray
) -> None:
    """Raise InputError where a wheel has left all maps, by rows at these times."""
    shown = dict(zip(model.outputs, outputs, strict=True))
    # Those of the nearest ground: a wheel beyond a map may stand on something else.
    named = ((name, f"{name}.sinkage") for name in model.gaps.outputs[0].labels)
    gone = first_beyond(model.terrain, {name: shown[sinkage] for name, sinkage in named if sinkage in shown})
    if gone is not None:
        place, wheel = gone
        x, y = (float(states[model.state_index[name], place]) for name in "xy")
        raise beyond(model.terrain, wheel, f"at t = {time[place]:g} s", x, y)


def place_and_wheel(model: GroundModel, states: FloatArray, outputs: FloatArray) -> str:
    """Where a robot was when it had finite numbers for the last time, and which wheel stood deepest then."""
    depths = {
        name.removesuffix(".sinkage"): float(row[-1])
        for name, row in zip(model.outputs, outputs, strict=True)
        if name.endswith(".sinkage")
    }
    contact = max(depths, key=lambda name: depths[name], default="")
    wheel = next((name for name in model.robot.wheels if f"{contact}.".startswith(f"{name}.")), contact)
    x, y = (float(states[model.state_index[name], -1]) for name in "xy")
    return f" at {place_of(x, y)}; look at the wheel {wheel!r}, its contact law, and what its motor is told"


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
