"""Many robots at once: fixed-step Runge-Kutta inside native code, every lane and every core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from trundle.errors import InputError, NumericsError, suggest
from trundle.model import Model
from trundle.model.arguments import Given, model_of, named, number
from trundle.model.manifold import settle_batch
from trundle.results import Batch
from trundle.simulation.observing import Stored, observer_of, worst_residual
from trundle.simulation.options import dependents, unknown_start, whole
from trundle.simulation.problem import describe
from trundle.simulation.progress import Progress

# Robots between the extremes whose parameters are checked too.
MOST_CHECKED = 8


def rollout(
    model: Given,
    *,
    initial: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    steps: int = 1000,
    dt: float | str = 1e-3,
    every: int = 1,
    count: int | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Batch:
    """`count` robots over `steps` steps of dt (s) by the classical Runge-Kutta method, every `every`-th state stored.

    x_{k+1} = x_k + dt/6 (k₁ + 2k₂ + 2k₃ + k₄), inputs held over each step; local error O(dt⁵). No error control:
    compare two dt.
    initial: states by name, a number (or text with a unit) or (count,). parameters: likewise, checked robot by robot
    at each array's extremes and at a few robots between. inputs: a number, (count,), (steps, 1) or (steps, count).
    What isn't given starts at 0 or keeps the description's value. `count` may be left out where an array tells it;
    `every` must divide `steps`.

    Returns a `Batch` of values (saved, n_state, count), the first at t = 0, the last after all steps;
    `batch.output(NAME)` computes outputs from them. Its summary counts the robots that `diverged`, and has the
    largest `constraint_residual` of the others. Raises InputError for names or shapes that don't fit, NumericsError
    where all robots diverge.
    """
    from trundle.program.rollout import rollout as native

    model = model_of(model, "rollout")
    _check_whole_numbers(steps, every, count, threads)
    dt = _step(dt)
    initial, inputs = named(initial, "initial"), named(inputs, "inputs")
    parameters = named(parameters, "parameters")
    x = _complete(dict.fromkeys(model.states, 0.0) | dict(model.initial), initial, "state", model)
    u = _complete(dict.fromkeys(model.inputs, 0.0), inputs, "input", model)
    size = _count(count, x, u, parameters)
    _require_memory(steps // every + 1, len(model.states), size)
    p = _parameters(model, parameters)
    model.quantities.check_quaternions(x)
    x = settle_batch(model, x, tuple(initial), p)
    with (
        Progress(progress, 1.0, f"rolling out {model.name}") as bar,
        _memory_told(steps // every + 1, size, model),
    ):
        result = native(
            model.dynamics,
            _initial_array(model, x, size),
            {"input": u, "parameter": p} if model.inputs else {"input": np.zeros(0), "parameter": p},
            dt=dt,
            steps=steps,
            every=every,
            count=size,
            threads=threads,
            progress=bar.fraction,
            projection=model.projection,
        )
    states = result.states if result.states.ndim == 3 else result.states[:, :, None]
    time = np.asarray(result.steps) * dt
    stored = Stored(states, np.asarray(result.steps), u, p)
    summary = {"steps": steps, "dt": dt, "every": every, "count": size, "method": "rk4"}
    summary["diverged"] = _diverged(states, time, model.name)
    summary["constraint_residual"] = worst_residual(model, stored)
    return Batch(
        name=model.name,
        time=time,
        states=model.states,
        values=states,
        units={name: model.units[name] for name in model.states},
        parameters=p,
        description=describe(model, {k: v for k, v in p.items() if np.ndim(v) == 0}),
        summary=summary,
        outputs=model.outputs,
        observer=observer_of(model, stored),
    )


def _check_whole_numbers(steps: Any, every: Any, count: Any, threads: Any) -> None:
    whole(steps, "steps", 0)
    whole(every, "every", 1)
    if count is not None:
        whole(count, "count", 1)
    if threads is not None:
        whole(threads, "threads", 1)
    if steps % every:
        below = next(n for n in range(min(every, steps), 0, -1) if steps % n == 0)
        above = next(n for n in range(min(every, steps), steps + 1) if steps % n == 0)
        raise InputError(
            f"every = {every} doesn't divide steps = {steps}: the last state would not be stored",
            key="every",
            hint=f"the nearest that do are {below} and {above}"
            if above != below
            else f"the nearest is {below}",
        )


def _step(dt: Any) -> float:
    if not isinstance(dt, str) and not (
        isinstance(dt, (int, float, np.number)) and np.isfinite(dt) and dt > 0
    ):
        raise InputError(f"dt must be a positive number of seconds, not {dt!r}", key="dt")
    seconds = number(dt, "dt", "s")
    if not seconds > 0:
        raise InputError(f"dt must be a positive number of seconds, not {seconds:g}", key="dt")
    return seconds


@contextmanager
def _memory_told(saved: int, count: int, model: Model) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        need = 8e-9 * saved * len(model.states) * count
        raise InputError(f"{need:,.1f} GB for the stored states can't be had", key="count") from None


def _require_memory(saved: int, states: int, count: int) -> None:
    """Refuse what can't fit before the machine starts to swap."""
    need = 8 * saved * states * count
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        there = 2**62
    if need > there:
        raise InputError(
            f"{saved:,} stored states of {count:,} robots take {need / 1e9:,.1f} GB; "
            f"this machine has {there / 1e9:,.1f} GB",
            key="count",
            hint="store fewer states with every=, or roll out fewer robots at a time",
        )


def _diverged(states: np.ndarray, time: np.ndarray, name: str) -> int:
    """How many robots' last states aren't finite; NumericsError where no robot's is."""
    lost = ~np.isfinite(states[-1]).all(axis=0)
    if lost.all():
        row = next(k for k, each in enumerate(states) if not np.isfinite(each).all(axis=0).any())
        raise NumericsError(
            f"all robots of the rollout of '{name}' diverged by t = {time[row]:g} s: "
            "the motion is unstable or singular, or dt is too long for it"
        )
    return int(lost.sum())


def _complete(defaults: dict[str, Any], given: Mapping[str, Any], kind: str, model: Model) -> dict[str, Any]:
    for each in given:
        if each in defaults:
            continue
        if kind == "state":
            raise unknown_start(each, defaults, model.name, kind, dependents(model))
        raise InputError(
            f"'{each}' is not an input of '{model.name}'", key=each, hint=suggest(str(each), defaults)
        )
    most = 1 if kind == "state" else 2
    return {
        each: _number(each, given.get(each, value), model.units[each], most)
        for each, value in defaults.items()
    }


def _number(name: str, given: Any, unit: str, most: int) -> Any:
    """A number, or an array of at most `most` dimensions."""
    if isinstance(given, str):
        return number(given, name, unit)
    if callable(given):
        raise InputError(
            "a rollout takes no functions, but numbers and arrays",
            key=name,
            hint="give its value at each step: np.array([f(k * dt) for k in range(steps)])[:, None]",
        )
    try:
        values = np.asarray(given)
        if values.dtype.kind not in "fiub":
            raise TypeError
        values = values.astype(float, copy=False)
    except (TypeError, ValueError):
        raise InputError(
            f"expected a number or an array of numbers, got {type(given).__name__}", key=name
        ) from None
    if values.ndim > most:
        shapes = "a number or (count,)" if most == 1 else "a number, (count,), (steps, 1) or (steps, count)"
        raise InputError(f"expected {shapes}, got an array of shape {values.shape}", key=name)
    if not np.isfinite(values).all():
        raise InputError(f"'{name}' holds something that is not a finite number", key=name)
    return float(values) if values.ndim == 0 else values


def _parameters(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and arrays as they are, after the robot's own checks robot by robot: of those with the least and the
    greatest of each array, and of a few between, since what bounds one parameter may hang on another.
    """
    arrays = {
        name: _number(name, v, "", 1)
        for name, v in given.items()
        if not isinstance(v, str) and np.ndim(v) > 0
    }
    plain = {name: v for name, v in given.items() if name not in arrays}
    if not arrays:
        return dict(model.parameter_values(plain))
    size = max(array.size for array in arrays.values())
    picked = {int(np.argmin(a)) for a in arrays.values()} | {int(np.argmax(a)) for a in arrays.values()}
    picked |= set(np.linspace(0, size - 1, min(size, MOST_CHECKED)).astype(int).tolist())
    values: dict[str, float] = {}
    for lane in sorted(picked, reverse=True):
        own = {name: float(a[lane % a.size]) for name, a in arrays.items()}
        try:
            values = model.parameter_values({**plain, **own})
        except InputError as error:
            raise InputError(f"robot {lane}: {error.message}", key=error.key, hint=error.hint) from None
    return {**values, **arrays}


def _count(count: int | None, *given: Mapping[str, Any]) -> int:
    sizes = {
        np.shape(v)[-1]
        for group in given
        for v in group.values()
        if not isinstance(v, str) and np.ndim(v) > 0
    }
    sizes -= {1}
    if count is None and not sizes:
        return 1
    if len(sizes | ({count} if count is not None else set())) > 1:
        raise InputError(
            f"arrays of different numbers of robots: {', '.join(str(s) for s in sorted(sizes))}"
            + (f", and count = {count}" if count is not None else ""),
            key="count",
            hint="give every array one entry a robot, or leave count out",
        )
    size = int(count) if count is not None else sizes.pop()
    if size < 1:
        raise InputError(f"count must be at least 1, not {size}", key="count")
    return size


def _initial_array(model: Model, x: Mapping[str, Any], size: int) -> np.ndarray:
    if size == 1 and all(np.ndim(v) == 0 for v in x.values()):
        return np.array([[x[name]] for name in model.states])
    return np.array([np.broadcast_to(x[name], (size,)) for name in model.states])
