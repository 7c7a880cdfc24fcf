"""Sweeps of what a file's run section says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from trundle.errors import InputError
from trundle.model.lanes import NumbersLike
from trundle.model.plant import Steps
from trundle.simulation.runfile import Task
from trundle.simulation.signals import Signal
from trundle.simulation.stepping import SteppedProblem
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.sweeping import sweep

# The length of a step where nobody says another (s).
_STEP = 1e-3


def swept_task(task: Task, dt: float | None, *, over: Mapping[str, object], **how: Any) -> Sweep:
    """The sweep of a run: its robot and its ground, its inputs step by step, its start, for as long as it lasts.

    Raises InputError for runs that no rollout makes: those whose motion is given.
    """
    if dt is not None and not dt > 0:
        raise InputError(f"a step must be positive, got {dt:g} s", key="dt")
    problem, system = task.problem, task.problem.system
    steps_own = isinstance(system.motion, Steps)
    if dt is None:
        dt = problem.step if isinstance(problem, SteppedProblem) else _STEP
    if not steps_own and task.model is None:
        hint = "sweeps roll robots that forces move: run: {mode: dynamic}"
        raise InputError("the run section gives the wheels' motions", key="run.mode", hint=hint)
    steps = max(1, math.ceil(problem.end / dt * (1 - 1e-9)))
    parameters = {name: problem.parameters[name] for name in task.changed if name not in over}
    initial = {name: value for name, value in task.started.items() if f"initial.{name}" not in over}
    inputs = _inputs(problem.signals, over, steps, dt)
    again = {
        name: value
        for name, value in system.simulate_arguments(dt).items()
        if name not in ("step", "attitude")
    }
    return sweep(
        over=over,
        initial=initial,
        inputs=inputs,
        parameters=parameters,
        steps=steps,
        dt=dt,
        **{**again, **how},
    )


def _inputs(
    signals: Mapping[str, Signal], over: Mapping[str, object], steps: int, dt: float
) -> dict[str, NumbersLike]:
    """The inputs that don't vary, step by step."""
    told = ((name, signal) for name, signal in signals.items() if f"inputs.{name}" not in over)
    return {name: _stepped(signal, name, steps, dt) for name, signal in told}


def _stepped(signal: Signal, name: str, steps: int, dt: float) -> NumbersLike:
    """An input's number, or its values where steps begin."""
    if signal.feedback is not None:
        message = "an input that follows the motion can't be swept"
        raise InputError(message, key=f"run.inputs.{name}", hint="give the robot a controller")
    if signal.held and not signal.jumps:
        return float(signal.value(0.0))
    return signal.sample(dt * np.arange(steps, dtype=np.float64))[:, None]
