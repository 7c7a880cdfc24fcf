"""Sweeps of what a file's run section says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from trundle.errors import InputError
from trundle.simulation.lanes import NumbersLike
from trundle.simulation.problem import Problem
from trundle.simulation.runfile import Task
from trundle.simulation.signals import Signal
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.sweeping import sweep


def swept_task(task: Task, dt: float, *, over: Mapping[str, object], **how: Any) -> Sweep:
    """The sweep of a run: its robot, its inputs step by step, its start, for as long as it lasts.

    Raises InputError for runs that no rollout makes: those whose motion is given, or over terrain.
    """
    problem = task.integrated
    if task.model is None or not isinstance(problem, Problem):
        hint = "sweeps roll robots that forces move: run: {mode: dynamic}"
        raise InputError("the run section gives the wheels' motions", key="run.mode", hint=hint)
    if not dt > 0:
        raise InputError(f"a step must be positive, got {dt:g} s", key="dt")
    steps = max(1, math.ceil(problem.options.end / dt * (1 - 1e-9)))
    inputs = {
        name: _stepped(signal, name, steps, dt)
        for name, signal in problem.signals.items()
        if f"inputs.{name}" not in over
    }
    parameters = {name: problem.parameters[name] for name in task.changed if name not in over}
    initial = {name: value for name, value in problem.given.items() if f"initial.{name}" not in over}
    return sweep(
        task.model,
        over=over,
        initial=initial,
        inputs=inputs,
        parameters=parameters,
        steps=steps,
        dt=dt,
        **how,
    )


def _stepped(signal: Signal, name: str, steps: int, dt: float) -> NumbersLike:
    """An input's number, or its values where steps begin."""
    if signal.feedback is not None:
        message = "an input that follows the motion can't be swept"
        raise InputError(message, key=f"run.inputs.{name}", hint="give the robot a controller")
    if signal.held and not signal.jumps:
        return float(signal.value(0.0))
    return signal.sample(dt * np.arange(steps, dtype=np.float64))[:, None]
