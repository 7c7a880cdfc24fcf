"""Sweeps of what a file's run section says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trundle.errors import InputError
from trundle.simulation.lanes import NumbersLike
from trundle.simulation.problem import Problem
from trundle.simulation.runfile import Task
from trundle.simulation.signals import Signal
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.sweeping import sweep

if TYPE_CHECKING:
    from trundle.simulation.traversing import GroundProblem


# The length of a step where nobody says another (s).
_STEP = 1e-3


def swept_task(task: Task, dt: float | None, *, over: Mapping[str, object], **how: Any) -> Sweep:
    """The sweep of a run: its robot and its ground, its inputs step by step, its start, for as long as it lasts.

    Raises InputError for runs that no rollout makes: those whose motion is given.
    """
    if dt is not None and not dt > 0:
        raise InputError(f"a step must be positive, got {dt:g} s", key="dt")
    problem = task.problem
    if not isinstance(problem, Problem):
        return _over_ground(task, problem, problem.step if dt is None else dt, over, how)
    dt = _STEP if dt is None else dt
    if task.model is None:
        hint = "sweeps roll robots that forces move: run: {mode: dynamic}"
        raise InputError("the run section gives the wheels' motions", key="run.mode", hint=hint)
    steps = max(1, math.ceil(problem.options.end / dt * (1 - 1e-9)))
    parameters = {name: problem.parameters[name] for name in task.changed if name not in over}
    initial = {name: value for name, value in problem.given.items() if f"initial.{name}" not in over}
    inputs = _inputs(problem.signals, over, steps, dt)
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


def _over_ground(
    task: Task, problem: GroundProblem, dt: float, over: Mapping[str, object], how: Mapping[str, Any]
) -> Sweep:
    """The sweep of a run over terrain; where it begins robots settle anew, as the ground may be another."""
    model = problem.system
    steps = max(1, math.ceil(problem.steps * problem.step / dt * (1 - 1e-9)))
    parameters = {name: problem.parameters[name] for name in task.changed if name not in over}
    initial = {name: value for name, value in task.started.items() if f"initial.{name}" not in over}
    inputs = _inputs(problem.signals, over, steps, dt)
    return sweep(
        model.robot, terrain=model.terrain, mode=model.mode, over=over, initial=initial, inputs=inputs,
        parameters=parameters, steps=steps, dt=dt, **how,
    )  # fmt: skip


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
