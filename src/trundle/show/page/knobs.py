"""What a person can change about a live run: parameters, inputs, where it starts, how long it takes; and how far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NotRequired, TypedDict

from trundle.program import Program
from trundle.robot import Robot
from trundle.show.drawing.scenes import scene
from trundle.simulation.problem import Problem

# Parameters that have knobs at most: the named ones first. More would be a table, not something to play with.
_MOST = 16
# Beyond these many times its value, and one over it, a slider doesn't move a quantity of that unit.
_REACH = {"H": 100.0, "ohm": 10.0, "m": 2.5, "kg": 4.0, "kg m^2": 4.0}
_USUAL = 3.0
# How far a number that is 0 moves either way; lengths go by the robot's size.
_AROUND_ZERO = {"rad": 0.5, "rad/s": 10.0, "m/s": 2.0, "V": 24.0, "N m": 10.0, "N": 100.0, "A": 10.0}
# Angles move by this much either way (rad).
_TURN = 0.8


class Knob(TypedDict):
    """One number that can be changed: `low` and `high` are its slider's ends, `least` and `most` what it can't go
    beyond, `place` where it stands in the run's numbers: the part, and the index or the name there.
    """

    key: str
    group: str
    label: str
    unit: str
    value: float
    low: float
    high: float
    meaning: str
    place: tuple[str, int | str]
    least: NotRequired[float]
    most: NotRequired[float]


def knobs_of(problem: Problem, inputs: Sequence[object], first: Sequence[str] = ()) -> list[Knob]:
    """The knobs of a run; `inputs` as the page has them: those that are tables get a factor. Parameters that must have
    a knob are named `first`.
    """
    assert problem.system.robot is not None
    size = scene(problem.system.robot).size
    end = float(problem.options.times[-1])
    return [
        *_parameters(problem, problem.system.robot, size, first),
        *_inputs(problem, inputs),
        *_starts(problem, size),
        Knob(
            key="run.duration", group="run", label="duration", unit="s", value=end, low=round_to(end / 10),
            high=round_to(3 * end), meaning="How long it runs", place=("run", "duration"), least=1e-3,
            most=round_to(100 * end),
        ),
    ]  # fmt: skip


def round_to(value: float, digits: int = 2) -> float:
    """A number with few digits, as ends of sliders are read."""
    return float(f"{value:.{digits}g}")


def _around(value: float, unit: str, size: float) -> tuple[float, float] | None:
    """The ends of a slider; None for a zero of which nobody knows how far it goes."""
    if unit == "rad":
        return round_to(value - _TURN), round_to(value + _TURN)
    if value == 0:
        reach = 0.5 * size if unit == "m" else _AROUND_ZERO.get(unit)
        return None if reach is None else (-round_to(reach), round_to(reach))
    reach = _REACH.get(unit, _USUAL)
    ends = round_to(value / reach), round_to(value * reach)
    return min(ends), max(ends)


def _parameters(problem: Problem, robot: Robot, size: float, first: Sequence[str]) -> Iterator[Knob]:
    """Those that matter: `first`, named ones, controllers' gains, others, the whole robot's before its parts'."""
    used = _used(problem, "parameter")
    uses = _uses(robot)
    names = [name for name in problem.parameters if name in used]
    parts = robot.without_controllers.parameter_values()
    order = sorted(
        names,
        key=lambda name: (name not in first, name not in robot.parameters, name in parts, name.count(".")),
    )
    count = 0
    for name in order:
        value, unit = problem.parameters[name], robot.parameter_units().get(name, "")
        ends = _around(value, unit, size)
        if ends is None or count == _MOST or (value == 0 and name not in robot.parameters):
            continue
        count += 1
        knob = Knob(
            key=f"parameters.{name}", group="parameters", label=name, unit=unit, value=value, low=ends[0],
            high=ends[1], meaning=uses.get(name, name), place=("parameters", list(problem.parameters).index(name)),
        )  # fmt: skip
        if value > 0 and unit != "rad" and name != "gravity":
            knob["least"] = 0.0
        yield knob


def _used(problem: Problem, group: str) -> set[str]:
    """The labels of an input group on which the motion depends, at samples, too."""
    sampling = problem.system.sampling
    return _read(problem.rate, group) | (set() if sampling is None else _read(sampling, group))


def _read(program: Program, group: str) -> set[str]:
    """The labels of an input group that a program reads."""
    place = program.input_index(group)
    labels = program.inputs[place].labels
    return {labels[i.source[1]] for i in program.instructions if i.op == "input" and i.source[0] == place}


def _uses(robot: Robot) -> dict[str, str]:
    """Where named parameters are used, in a few words."""
    places: dict[str, list[str]] = {}
    for path, value in robot.every_value:
        for name in value.names:
            places.setdefault(name, []).append(".".join(map(str, path)))
    return {
        name: "used in " + ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        for name, paths in places.items()
    }


def _inputs(problem: Problem, inputs: Sequence[object]) -> Iterator[Knob]:
    """Inputs that are constant by their value, those that are tables by a factor."""
    robot, units = problem.system.robot, problem.system.units
    assert robot is not None
    largest: dict[str, float] = {}
    for name, given in zip(problem.signals, inputs, strict=True):
        if isinstance(given, float):
            largest[units[name]] = max(largest.get(units[name], 0.0), abs(given))
    for place, (name, given) in enumerate(zip(problem.signals, inputs, strict=True)):
        unit = units[name]
        knob = Knob(
            key=f"inputs.{name}", group="inputs", label=name, unit=unit, value=1.0, low=-1.0, high=2.0,
            meaning="", place=("inputs", place),
        )  # fmt: skip
        if isinstance(given, float):
            reach = _limit(robot, problem, name) or 1.5 * largest[unit] or _AROUND_ZERO.get(unit, 1.0)
            yield {**knob, "value": given, "low": -round_to(reach), "high": round_to(reach)}
        else:
            yield {
                **knob,
                "label": f"{name}, times",
                "unit": "1",
                "meaning": "a factor of its values over time",
            }


def _limit(robot: Robot, problem: Problem, name: str) -> float | None:
    """The greatest command that a motor follows, where it has one."""
    quantity = problem.system.quantities[name]
    motor = robot.motors.get(quantity.owner)
    limit = motor.command_limit(robot.resolver()) if motor and quantity.label == motor.command else None
    return None if limit is None else float(limit)


def _starts(problem: Problem, size: float) -> Iterator[Knob]:
    """Where it starts: states that the motion depends on and that nothing else decides, and those that aren't 0."""
    system = problem.system
    used = _used(problem, "state")
    for place, name in enumerate(system.states):
        value, quantity = float(problem.start[place]), system.quantities[name]
        if quantity.kind == "quaternion" or name in system.dependent or not (name in used or value):
            continue
        ends = _around(0.0, quantity.unit, 2 * size)
        if quantity.kind in ("state", "memory") or ends is None:
            continue
        reach = math.pi if quantity.unit == "rad" else max(ends[1], 2 * abs(value))
        yield Knob(
            key=f"start.{name}", group="start", label=name, unit=quantity.unit, value=value,
            low=-round_to(reach, 3), high=round_to(reach, 3), meaning="at t = 0", place=("start", place),
        )  # fmt: skip
