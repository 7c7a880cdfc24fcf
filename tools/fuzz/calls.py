"""Calls from Python: what people and their notebooks pass, by mistake or not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

import trundle
from tools.fuzz.expect import require_numbers
from tools.fuzz.mutations import ODD, mutate_tree


@dataclass(frozen=True)
class Gives:
    """A function of anything that gives one answer."""

    answer: object

    def __call__(self, *_: object) -> object:
        return self.answer


# Each has the function's name under "verb" and its arguments by name; "@pendulum" stands for that robot's model.
CALLS: tuple[dict[str, object], ...] = (
    {
        "verb": "simulate", "model": "@pendulum", "duration": 0.1, "initial": {"link_1.angle": 0.3}, "samples": 5,
        "rtol": 1e-6, "atol": 1e-8,
    },
    {
        "verb": "simulate", "model": "@pendulum", "times": [0.05, 0.1], "parameters": {"gravity": 9.81},
        "method": "radau", "max_step": 0.01,
    },
    {
        "verb": "simulate", "model": "@differential_drive", "duration": 0.1, "samples": 3,
        "inputs": {"left_motor.voltage": ([0.0, 1.0], [0.0, 2.0], "cubic"), "right_motor.voltage": 2.0},
    },
    {
        "verb": "simulate", "model": "@differential_drive", "duration": 0.1, "samples": 3,
        "inputs": {"left_motor.voltage": Gives(1.0)}, "initial": {"x": 1.0, "theta": "30 deg"},
    },
    {
        "verb": "roll", "robot": "@differential_drive", "duration": 0.1, "samples": 3,
        "inputs": {"left.rate": 2.0, "right.rate": 1.0},
    },
    {
        "verb": "rollout", "model": "@pendulum", "initial": {"link_1.angle": [0.1, 0.2]}, "steps": 4, "dt": 1e-3,
        "every": 2, "count": 2, "threads": 1,
    },
    {"verb": "table", "times": [0.0, 1.0, 2.0], "values": [1.0, 3.0, 2.0], "interpolation": "cubic"},
    {"verb": "trim", "model": "@pendulum", "hold": {"link_1.angle": 0.0}},
    {"verb": "linearize", "model": "@pendulum", "at": {"link_1.angle": 0.3}},
    {"verb": "analyze", "robot": "@differential_drive", "at": {"x": 0.1}},
    {"verb": "ode", "model": "@pendulum", "initial": {"link_1.angle": 0.3}, "parameters": {"gravity": 9.81}},
    {"verb": "load", "source": "robot.yaml"},
    {"verb": "Run.load", "path": "run.nc"},
    {"verb": "Batch.load", "path": "run.nc"},
    {"verb": "run", "given": "@pendulum", "duration": 0.1, "samples": 3, "inputs": {}},
    {"verb": "equations", "robot": "@no model"},
    {"verb": "derive", "robot": "@no model"},
    {"verb": "odometry", "robot": "@differential_drive"},
)  # fmt: skip
ODD_ARGUMENTS = (
    *ODD, "", "text", "@pendulum", b"bytes", (), [], {}, Path("nowhere"), object(), 1j, Decimal("0.1"), Fraction(1, 3),
    np.float32(0.5), np.array([]), np.array(0.5), np.array([1.0, np.nan]), np.array(["a"]), np.zeros((2, 2)),
    np.ma.masked_array([0.1, 0.2], mask=[False, True]), np.ma.masked, np.datetime64("2020-01-01"), np.arange(3),
    np.array([10**400, 1], dtype=object), Gives(10**400), Gives(None), Gives(np.nan), Gives("1"), Gives([1, 2]),
    Gives(np.ma.masked), print, int, range(3), {"file": "nowhere.csv"}, {"times": [0, 1], "values": [0, 1]},
    ([0, 1], [0, 1]), ([0.0, 1e-320], [1e308, -1e308], "cubic"), ([0, 1, 2], [1e308, -1e308, 1e308], "cubic"),
    ([0.0, 1e-320], [1.0, -1.0]), [5e-324], [0.1, 0.1], [1e308], ["1 s"], {"x": 1.0}, {"link_1.angle": 1e308},
    {3: 4}, {"link_1.angle": None},
)  # fmt: skip


def mutate_call(content: object, rng: Random) -> object:
    """Another argument, now and then an unknown one."""
    return mutate_tree(content, rng, CALLS, ODD_ARGUMENTS)


def call(content: object, rng: Random) -> None:
    """Call it. What Python itself says of unknown and missing arguments is well said."""
    if not isinstance(content, dict):
        return
    arguments = {str(name): _meant(value) for name, value in content.items() if name != "verb"}
    function = _VERBS.get(content["verb"]) if isinstance(content.get("verb"), str) else None
    if function is None or without_end(arguments):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of steps that are too long: said
            answer = function(**arguments)
    except TypeError as error:
        if "argument" in str(error) and error.__traceback__ and error.__traceback__.tb_next is None:
            return
        raise
    if isinstance(answer, trundle.Run) and content["verb"] != "Run.load":
        require_numbers(answer)


def without_end(arguments: dict[str, object]) -> bool:
    """Whether somebody asks for work without end, which no limit of time is about."""
    asked = [arguments.get(name) for name in ("duration", "steps", "count", "samples")]
    times = arguments.get("times")
    asked += np.ravel(times).tolist() if isinstance(times, np.ndarray) else []
    asked += times if isinstance(times, list | tuple | range) else ()
    return any(isinstance(each, float | int | str) and 100 < _size(each) < 1e49 for each in asked)


def _size(given: float | str) -> float:
    try:
        return abs(float(given))
    except (ValueError, OverflowError):
        return 0.0


def _meant(value: object) -> object:
    if isinstance(value, str) and value.startswith("@"):
        return _model(value[1:])
    return value


@cache
def _model(name: str) -> trundle.Model:
    return trundle.derive(trundle.catalog.robot(name))


_VERBS: dict[str, Callable[..., object]] = {
    name: getattr(trundle, name)
    for name in (
        "simulate",
        "roll",
        "rollout",
        "run",
        "table",
        "trim",
        "linearize",
        "analyze",
        "ode",
        "load",
        "equations",
        "derive",
        "odometry",
    )
} | {"Run.load": trundle.Run.load, "Batch.load": trundle.Batch.load}
for _name in ("pendulum", "differential_drive"):
    _model(_name)
