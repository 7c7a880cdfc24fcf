"""How fast motors turn what they drive, by their shafts' rates: a gear of N makes it N times slower."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trundle.analysis.top_speed import TopSpeed
from trundle.analysis.velocity_maps import VelocityMaps


class MotorRates(NamedTuple):
    """The greatest rates (rad/s, m/s) of the speeds that are driven, in the order of `VelocityMaps.motors`.

    In words `norm`, 'motor rates of norm 1 rad/s', for all of them, and `limit`, 'no motor above 1 rad/s', for each.
    """

    rates: np.ndarray
    norm: str
    limit: str


def unit_rates(maps: VelocityMaps, drives: str) -> MotorRates:
    """The rates while no motor's shaft is above 1 rad/s (1 m/s along a slide); `drives` names what turns: 'motor'."""
    turns, motors = _turns(maps), maps.motors()
    kinds = {maps.assembly.quantities[name].unit for name in motors}
    one, gear = f" {next(iter(kinds))}" if len(kinds) == 1 else "", _gear(turns, set(motors.values()))
    return MotorRates(
        np.array([1 / turns.get(column, 1.0) for column in motors.values()]),
        f"{drives} rates of norm 1{one}{gear}",
        f"no {drives} above 1 {' or '.join(sorted(kinds, reverse=True))}{gear}",
    )


def top_rates(maps: VelocityMaps, top: TopSpeed | None) -> MotorRates | None:
    """The rates of what drives the base at its top speed; those that stand then, but for steering, are as fast.

    None without a top speed; other axes are those of `unit_rates` then.
    """
    motors, turns = maps.motors(), _turns(maps)
    if top is None or not top.speed:
        return None
    shafts = {name: abs(rate) * turns[motors[name]] for name, rate in top.rates.items() if name in motors}
    if not shafts:
        return None
    spins = {wheel.spin for wheel in maps.assembly.wheels}
    fastest = max(shafts.values())
    driven = {
        column: shafts.get(name, fastest)
        for name, column in motors.items()
        if name in shafts or column in spins
    }
    least, most = f"{min(driven.values()):.4g}", f"{fastest:.4g}"
    text = f"{least if least == most else f'{least} to {most}'} rad/s{_gear(turns, set(driven))}"
    return MotorRates(
        np.array([driven.get(column, 1.0) / turns.get(column, 1.0) for column in motors.values()]),
        f"motor rates of norm {text}, those at top speed",
        f"no motor above {text}, its rate at top speed",
    )


def _turns(maps: VelocityMaps) -> dict[int, float]:
    """Turns of motors' shafts per turn of what they drive, by its column."""
    return {actuator.column: abs(float(actuator.turns)) for actuator in maps.assembly.actuators}


def _gear(turns: dict[int, float], columns: set[int]) -> str:
    """Words for rates of shafts, where a gear makes one of these axes slower or faster."""
    return "" if all(turns.get(column, 1.0) == 1.0 for column in columns) else " before the gear"
