"""How fast motors turn what they drive, by their shafts' rates: a gear of N makes it N times slower."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trundle.analysis.velocity_maps import VelocityMaps
from trundle.mechanics.actuation import Actuator
from trundle.robot.kinds import ask


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


def no_load_rates(maps: VelocityMaps, voltage: float | None) -> MotorRates | None:
    """The rates of motors without load, fed by their limit, their full battery or a voltage (V).

    None where a wheel's motor has no such rate, or no wheel a motor; other axes are those of `unit_rates` then.
    """
    motors, turns = maps.motors(), _turns(maps)
    free = {
        actuator.column: found
        for actuator in maps.assembly.actuators
        if (found := _without_load(maps, actuator, voltage))
    }
    spins = {wheel.spin for wheel in maps.assembly.wheels if wheel.spin is not None} & set(motors.values())
    if not spins or not spins <= free.keys():
        return None
    shafts = sorted({float(f"{free[column][0] * turns[column]:.4g}") for column in spins})
    text = f"{shafts[0]:g}" if len(shafts) == 1 else f"{shafts[0]:g} to {shafts[-1]:g}"
    text = f"{text} rad/s{_gear(turns, spins)}"
    at = " or".join(sorted({free[column][1] for column in spins}))
    rates = [free[column][0] if column in free else 1 / turns.get(column, 1.0) for column in motors.values()]
    return MotorRates(
        np.array(rates),
        f"motor rates of norm {text}, their rate without load{at}",
        f"no motor above {text}, its rate without load{at}",
    )


def _turns(maps: VelocityMaps) -> dict[int, float]:
    """Turns of motors' shafts per turn of what they drive, by its column."""
    return {actuator.column: abs(float(actuator.turns)) for actuator in maps.assembly.actuators}


def _gear(turns: dict[int, float], columns: set[int]) -> str:
    """Words for rates of shafts, where a gear makes one of these axes slower or faster."""
    return "" if all(turns.get(column, 1.0) == 1.0 for column in columns) else " before the gear"


def _without_load(maps: VelocityMaps, actuator: Actuator, voltage: float | None) -> tuple[float, str] | None:
    """The greatest rate of what a motor drives, and at which voltage, where its own limit doesn't say."""
    motor = actuator.motor
    own = ask(motor, actuator.key, motor.no_load_rate, actuator.read)
    supply = next((s for s in maps.assembly.supplies if actuator.name in s.feeds), None)
    volts, whose = voltage, "the run's largest"
    if supply is not None:
        volts, whose = float(supply.full_voltage), "the full battery's"
    if volts is None or (own is not None and supply is None):
        return None if own is None else (float(own), "")
    fastest = ask(motor, actuator.key, motor.rate_at, volts, actuator.read)
    rate = math.inf if fastest is None else float(fastest)
    if own is not None and own <= rate:
        return float(own), ""
    return (rate, f" at {volts:g} V, {whose}") if math.isfinite(rate) else None
