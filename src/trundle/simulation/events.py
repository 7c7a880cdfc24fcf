"""When batteries broke down or were empty, and wheels carried nothing: what falls to zero during a run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.model import Model
from trundle.model.rolling_motion import RollingMotion
from trundle.robot import Robot

# A battery's quantities that fall to zero: what it is called in a summary, and in a warning.
_WORN = {
    "voltage": ("brown_out", "brown-out: its motors ask for more than it can give"),
    "charge": ("empty", "it is empty; a real one gives nothing any more"),
}
# Wheels that lift within this share of a run do so together.
_TOGETHER = 1e-6


def falling(system: Model | RollingMotion) -> tuple[str, ...]:
    """The outputs and states whose fall to zero is told."""
    robot = system.robot
    if robot is None:
        return ()
    batteries = [f"{name}.{quantity}" for name in robot.batteries for quantity in _WORN]
    loads = [f"{name}.load" for name in _sharing(robot)]
    return tuple(name for name in (*batteries, *loads) if name in (*system.states, *system.outputs))


def first_falls(
    names: Sequence[str], times: Mapping[str, float], values: Mapping[str, FloatArray], samples: FloatArray
) -> dict[str, float]:
    """When values first were zero or less (s): the `times` between samples that are known, else that of the sample."""
    worn = {name: np.flatnonzero(values[name] <= 0) for name in names}
    at = {name: float(samples[below[0]]) for name, below in worn.items() if below.size}
    return {name: times[name] if name in times else at[name] for name in names if name in times or name in at}


def told(system: Model | RollingMotion, falls: Mapping[str, float], duration: float) -> dict[str, object]:
    """`brown_out`, `empty` and `lifted`: when (s), by the names of batteries and wheels. Warnings say so, too."""
    robot = system.robot
    return (
        {} if robot is None else {**_spent(robot, falls), **_lifted(robot, falls, system.outputs, duration)}
    )


def _spent(robot: Robot, falls: Mapping[str, float]) -> dict[str, object]:
    """When batteries broke down first, and when they were empty."""
    times = dict[str, dict[str, float]]()
    for name in robot.batteries:
        for quantity, (what, words) in _WORN.items():
            if (when := falls.get(f"{name}.{quantity}")) is not None:
                times.setdefault(what, {})[name] = when
                warnings.warn(f"the battery {name!r} at {when:.4g} s: {words}", RuntimeWarning, 2)
    return dict(times)


def _sharing(robot: Robot) -> list[str]:
    """The wheels whose loads hang on the motion."""
    return [name for name, wheel in robot.wheels.items() if wheel.fixed_load is None]


def _lifted(
    robot: Robot, falls: Mapping[str, float], outputs: Sequence[str], duration: float
) -> dict[str, object]:
    """When wheels first carried nothing; a warning says when, and over which ones the robot tips."""
    loads = [name for name in _sharing(robot) if f"{name}.load" in outputs]
    times = {name: falls[f"{name}.load"] for name in loads if f"{name}.load" in falls}
    if times:
        when = min(times.values())
        off = [name for name, first in times.items() if first <= when + _TOGETHER * duration]
        rest = ", ".join(name for name in loads if name not in off)
        over = f"the robot lifts it, or tips over {rest}" if rest else "the robot leaves the ground"
        warnings.warn(
            f"at {when:.4g} s nothing presses {', '.join(off)} to the ground any more: {over}. "
            "What follows is computed as if it stood",
            RuntimeWarning,
            2,
        )
    return {"lifted": times} if times else {}
