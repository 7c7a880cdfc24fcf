"""Many robots at once: fixed-step Runge-Kutta inside native code, every lane and every core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.health import check_quaternion
from trundle.model.manifold import settle_batch
from trundle.results import Batch
from trundle.simulate.dynamic import describe
from trundle.simulate.progress import Progress


def rollout(
    model: Model,
    *,
    initial: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    steps: int = 1000,
    dt: float = 1e-3,
    every: int = 1,
    count: int | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Batch:
    """`count` robots over `steps` steps of dt (s) by the classical Runge-Kutta method, every `every`-th state stored.

    x_{k+1} = x_k + dt/6 (k₁ + 2k₂ + 2k₃ + k₄), inputs held over each step; local error O(dt⁵). No error control:
    compare two dt.
    initial: states by name, a number or (count,). parameters: likewise. inputs: a number, (count,), (steps, 1) or
    (steps, count). What isn't given starts at 0 or keeps the description's value. `count` may be left out where an
    array tells it.

    Returns a `Batch` of values (saved, n_state, count), the first at t = 0. Raises InputError for names or shapes
    that don't fit.
    """
    from trundle.program.rollout import rollout as native

    x = _complete(dict.fromkeys(model.states, 0.0) | dict(model.initial), initial or {}, "state", model.name)
    u = _complete(dict.fromkeys(model.inputs, 0.0), inputs or {}, "input", model.name)
    p = _parameters(model, parameters or {})
    if model.robot is not None:
        check_quaternion(x)
    x = settle_batch(model, x, tuple(initial or ()), p)
    size = _count(count, initial or {}, inputs or {}, parameters or {})
    with Progress(progress, 1.0, f"rolling out {model.name}") as bar:
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
        )
    states = result.states if result.states.ndim == 3 else result.states[:, :, None]
    return Batch(
        name=model.name,
        time=np.asarray(result.steps) * dt,
        states=model.states,
        values=states,
        units={name: model.units.get(name, "") for name in model.states},
        parameters=p,
        description=describe(model, {k: v for k, v in p.items() if np.ndim(v) == 0}),
        summary={"steps": steps, "dt": dt, "every": every, "count": size, "method": "rk4"},
    )


def _complete(defaults: dict[str, Any], given: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    for each in given:
        if each not in defaults:
            raise InputError(f"'{each}' is not a {kind} of '{name}'", key=each, hint=suggest(each, defaults))
    return {each: _number(each, given.get(each, value)) for each, value in defaults.items()}


def _number(name: str, given: Any) -> Any:
    values = np.asarray(given, dtype=float)
    if not np.isfinite(values).all():
        raise InputError(f"'{name}' holds something that is not a finite number", key=name)
    return float(values) if values.ndim == 0 else values


def _parameters(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers go through the robot's own checks; arrays are checked at their extremes, where a bad value would show."""
    arrays = {name: np.asarray(v, dtype=float) for name, v in given.items() if np.ndim(v) > 0}
    values: dict[str, Any] = dict(model.parameter_values({n: v for n, v in given.items() if n not in arrays}))
    for name, array in arrays.items():
        _number(name, array)
        for extreme in (array.min(), array.max()):
            model.parameter_values({name: float(extreme)})
    return values | arrays


def _count(count: int | None, *given: Mapping[str, Any]) -> int:
    sizes = {np.shape(v)[-1] for group in given for v in group.values() if np.ndim(v) > 0} - {1}
    if count is None and not sizes:
        return 1
    if len(sizes | ({count} if count is not None else set())) > 1:
        raise InputError(
            f"arrays of different numbers of robots: {', '.join(str(s) for s in sorted(sizes))}"
            + (f", and count = {count}" if count is not None else ""),
            key="count",
            hint="give every array one entry a robot, or leave count out",
        )
    size = count if count is not None else sizes.pop()
    if size < 1:
        raise InputError(f"count must be at least 1, not {size}", key="count")
    return size


def _initial_array(model: Model, x: Mapping[str, Any], size: int) -> np.ndarray:
    if size == 1 and all(np.ndim(v) == 0 for v in x.values()):
        return np.array([[x[name]] for name in model.states])
    return np.array([np.broadcast_to(x[name], (size,)) for name in model.states])
