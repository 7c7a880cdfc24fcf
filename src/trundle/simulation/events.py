"""When batteries broke down, were empty or charged too hard, and wheels carried nothing: what falls to a level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trundle.errors import counted, warn
from trundle.model import Model
from trundle.model.rolling_motion import RollingMotion
from trundle.robot import Robot
from trundle.simulation.extremes import Fall, Fallen

# Below this share of its voltage without load a battery gives less power the more current it gives: P = V (E − V)/R.
# Chargers end at up to 2.4 V a cell of lead, whose full cells have 2.13 V; cells of lithium bear less.
_LOW, _HIGH = 0.5, 1.15
# Wheels that lift within this share of a run do so together.
_TOGETHER = 1e-6


class _Wear(NamedTuple):
    """What a battery may come to: its name, what that is called in a summary, in a warning, and when it is so."""

    battery: str
    what: str
    words: str
    fall: Fall


def _wear(robot: Robot, parameters: Mapping[str, float]) -> Iterator[_Wear]:
    """What the batteries of a robot may come to."""
    read = robot.resolver(parameters)
    for name, battery in robot.batteries.items():
        full, voltage = float(battery.source(1.0, read)), f"{name}.voltage"
        low, high = _LOW * full, _HIGH * full
        if battery.off_below is None:
            words = f"it sags below {low:.3g} V, half of its voltage without load: less current would give more power"
            yield _Wear(name, "low_voltage", words, Fall(voltage, low))
            words = "brown-out: its motors ask for more than it can give"
            yield _Wear(name, "brown_out", words, Fall(voltage))
        else:
            words = f"brown-out: below {float(read(battery.off_below)):.3g} V its motors are switched off"
            yield _Wear(name, "brown_out", words, Fall(f"{name}.relay"))
        words = (
            f"it is charged at over {high:.3g} V, {_HIGH:g} times its full voltage: its motors brake too hard"
        )
        yield _Wear(name, "high_voltage", words, Fall(voltage, high, -1.0))
        yield _Wear(name, "empty", "it is empty; a real one gives nothing any more", Fall(f"{name}.charge"))


def falling(system: Model | RollingMotion, parameters: Mapping[str, float]) -> list[Fall]:
    """What is told of outputs and states when it first happens."""
    robot = system.robot
    if robot is None:
        return []
    loads = (Fall(f"{name}.load") for name in _sharing(robot))
    falls = [*(wear.fall for wear in _wear(robot, parameters)), *loads]
    return [fall for fall in falls if fall.column in (*system.states, *system.outputs)]


def event_times(
    system: Model | RollingMotion,
    parameters: Mapping[str, float],
    falls: Mapping[Fall, Fallen],
    duration: float,
) -> dict[str, object]:
    """What batteries came to, and `lifted`: when (s), by the names of batteries and wheels. Warnings say so, too."""
    robot = system.robot
    if robot is None:
        return {}
    return {**worn(robot, parameters, falls.get), **_lifted(robot, falls, system.outputs, duration)}


def worn(
    robot: Robot, parameters: Mapping[str, float], fallen: Callable[[Fall], Fallen | None]
) -> dict[str, object]:
    """`brown_out`, `empty`, `low_voltage`, `high_voltage`: when first (s), as `fallen` says, by the names of batteries.
    Warnings say how many more times.
    """
    times = dict[str, dict[str, float]]()
    for wear in _wear(robot, parameters):
        if (came := fallen(wear.fall)) is not None:
            times.setdefault(wear.what, {})[wear.battery] = came.first
            more = f"; {counted(came.times - 1, 'more time')} after that" if came.times > 1 else ""
            warn(f"the battery {wear.battery!r} at {came.first:.4g} s: {wear.words}{more}", RuntimeWarning)
    return dict(times)


def _sharing(robot: Robot) -> list[str]:
    """The wheels whose loads hang on the motion."""
    return [name for name, wheel in robot.wheels.items() if wheel.fixed_load is None]


def _lifted(
    robot: Robot, falls: Mapping[Fall, Fallen], outputs: Sequence[str], duration: float
) -> dict[str, object]:
    """When wheels first carried nothing; a warning says when, and over which ones the robot tips."""
    loads = [name for name in _sharing(robot) if f"{name}.load" in outputs]
    times = {name: falls[fall].first for name in loads if (fall := Fall(f"{name}.load")) in falls}
    if times:
        when = min(times.values())
        off = [name for name, first in times.items() if first <= when + _TOGETHER * duration]
        rest = ", ".join(name for name in loads if name not in off)
        over = f"the robot lifts it, or tips over {rest}" if rest else "the robot leaves the ground"
        warn(
            f"at {when:.4g} s nothing presses {', '.join(off)} to the ground any more: {over}. "
            "What follows is computed as if it stood",
            RuntimeWarning,
        )
    return {"lifted": times} if times else {}
