"""Many robots at once: fixed-step Runge-Kutta inside native code, every lane and every core."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, Floats, as_numbers
from trundle.errors import InputError, NumericsError, suggest
from trundle.frozen import frozen
from trundle.model import Model
from trundle.model.arguments import Given, model_of, named, number
from trundle.model.lanes import lane_parameters
from trundle.model.manifold import settle_batch
from trundle.model.placed import require_undriven, warn_of_references
from trundle.progress import Progress
from trundle.results import Batch
from trundle.simulation.dynamic import with_references
from trundle.simulation.gradients import Tangents, directions_of
from trundle.simulation.observing import Stored, lane_numbers, observer_of, slope_of, worst_residual
from trundle.simulation.options import positive, require_state, whole
from trundle.simulation.outcome import describe
from trundle.simulation.sampling import sampled_start, stepped_groups, warn_of_period
from trundle.simulation.signals import Input, table
from trundle.simulation.stability import eigenvalues, longest_step

NumbersLike = float | str | npt.ArrayLike
Told = tuple[list[float], list[float], str]


def rollout(
    model: Given,
    *,
    initial: Mapping[str, NumbersLike] | None = None,
    inputs: Mapping[str, NumbersLike] | None = None,
    parameters: Mapping[str, NumbersLike] | None = None,
    steps: int = 1000,
    dt: float | str = 1e-3,
    every: int = 1,
    count: int | None = None,
    threads: int | None = None,
    base: str | None = None,
    gradients: Sequence[str] = (),
    progress: bool | Callable[[float], None] = True,
) -> Batch:
    """Integrate many robots with the classical Runge-Kutta method of fixed step, on all cores.

    x_{k+1} = x_k + dt/6 (k₁ + 2k₂ + 2k₃ + k₄), inputs held over a step; local error O(dt⁵). There is no error
    control: compare two dt. Where the eigenvalues of ∂f/∂x at the start say that decaying motions grow with this dt, a
    UserWarning says so, and which dt would do. On one machine a robot's numbers are the same, bit by bit, alone and in
    any batch whose robots share their parameters; where these differ, or constraints complete starts, last digits may.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What moves; what is no model is derived first.
    initial : mapping of str to number, str or array_like, shape (count,)
        States by name, one for all robots or one per robot; those not given are 0, or what constraints make them.
    inputs : mapping of str to number, str or array_like
        Inputs by name: a number, (count,), (steps, 1) or (steps, count); those not given are 0. By the name of a
        tracker the motion that it follows, as `reference` takes it.
    parameters : mapping of str to number, str or array_like, shape (count,)
        Changed values by name; arrays are checked robot by robot at their extremes and at a few robots between.
    steps : int
        How many steps.
    dt : float or str, s
        The length of a step.
    every : int
        Store every so many steps; must divide `steps`.
    count : int
        How many robots; may be left out where an array tells it.
    threads : int
        How many threads; by default one a core.
    gradients : sequence of str
        What derivatives are taken by, for `batch.gradient(OF, BY)`: parameters ("r"), where states start
        ("initial.theta"), constants added to inputs ("inputs.left_motor.voltage"). They are those of the steps
        themselves, to rounding. Where a law has a kink they are those of the side on which it stands.
    progress : bool or callable
        Whether to show progress after a second's work where a person watches (a terminal or a notebook), or what to
        call with the share done (0 to 1).
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Batch
        `values` of shape (saved, n_state, count), the first at t = 0, the last after all steps; `batch.output(NAME)`
        computes outputs from them. Its summary counts the robots that `diverged`, and has the largest
        `constraint_residual` of the others.

    Raises
    ------
    InputError
        For names or shapes that don't fit.
    NumericsError
        Where all robots diverge.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> volts = {"left_motor.voltage": np.linspace(0, 24, 100), "right_motor.voltage": 24.0}
    >>> batch = trundle.rollout(model, inputs=volts, steps=1000, dt="1 ms", every=100)
    >>> batch.values.shape
    (11, 9, 100)

    References
    ----------
    W. Kutta, "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen", 1901.
    """
    from trundle.program.rollout import rollout as native

    model = model_of(model, "rollout", base)
    _check_whole_numbers(steps, every, count, threads)
    h = positive(dt, "dt", "s")
    x = _complete(dict(model.initial), named(initial, "initial"), "state", model)
    given = _with_references(model, named(inputs, "inputs"), steps, h)
    require_undriven(model.robot, given)
    warn_of_references(model.robot, model.inputs, given)
    u = _complete(dict.fromkeys(model.inputs, 0.0), given, "input", model)
    p = _parameters(model, named(parameters, "parameters"))
    size = _count(count, x, u, p)
    tangents = Tangents(model, directions_of(model, gradients))
    _require_memory(steps // every + 1, len(model.states) * (1 + len(tangents.directions)), size)
    model.quantities.check_quaternions(x)
    x = settle_batch(model, x, tuple(initial or ()), p)
    start = np.array([np.broadcast_to(x[name], (size,)) for name in model.states])
    slopes = tangents.start(x, initial or {}, u, p, size)
    if model.sampling is not None:
        warn_of_period(model, steps * h, "a rollout")
        robots = slice(0, size)
        start = sampled_start(model, start, lane_numbers(u, 0, robots), lane_numbers(p, 0, robots))
    further = stepped_groups(model, u, h, steps)
    _warn_of_step(model, start, u, p, h)
    with Progress(progress, steps * size, f"rolling out {model.name}", "robot steps") as bar:
        result = native(
            tangents.dynamics,
            np.vstack([start, slopes.reshape(-1, size)]),
            {"input": u if u else np.zeros(0), "parameter": p, **further},
            dt=h, steps=steps, every=every, count=size, threads=threads,
            progress=bar.fraction, projection=tangents.stepped,
        )  # fmt: skip
    states = result.states if result.states.ndim == 3 else result.states[:, :, None]
    time = np.asarray(result.steps) * h
    summary = {"steps": steps, "dt": h, "every": every, "count": size, "method": "rk4"}
    return _batch(tangents, Stored(frozen(states), np.asarray(result.steps), u, p), time, summary)


def _batch(tangents: Tangents, whole: Stored, time: FloatArray, summary: Mapping[str, object]) -> Batch:
    """What was stored, with what can be computed from it; of the `whole` the columns of derivatives stand last."""
    model, n = tangents.model, len(tangents.model.states)
    stored = replace(whole, values=whole.values[:, :n])
    columns = {
        each.name: whole.values[:, n * j : n * (j + 1)] for j, each in enumerate(tangents.directions, 1)
    }
    numbers = {name: float(value) for name, value in stored.parameters.items() if np.ndim(value) == 0}
    return Batch(
        name=model.name,
        time=time,
        states=model.states,
        values=stored.values,
        units={name: model.units[name] for name in model.states} | tangents.units(model.states),
        parameters=stored.parameters,
        description=describe(model, numbers),
        summary={
            **summary,
            "diverged": _diverged(stored.values, time, model.name),
            "constraint_residual": worst_residual(model, stored),
        },
        outputs=model.outputs,
        observer=observer_of(model, stored),
        gradients=columns,
        slope=slope_of(tangents, whole) if columns else None,
    )


def _check_whole_numbers(steps: int, every: int, count: int | None, threads: int | None) -> None:
    """Refuse counts that aren't whole or positive, and an `every` that would not store the last state."""
    whole(steps, "steps", 0)
    whole(every, "every", 1)
    for name, given in {"count": count, "threads": threads}.items():
        if given is not None:
            whole(given, name, 1)
    if steps % every:
        below = next(n for n in range(min(every, steps), 0, -1) if steps % n == 0)
        above = next(n for n in range(min(every, steps), steps + 1) if steps % n == 0)
        message = f"every = {every} doesn't divide steps = {steps}: the last state would not be stored"
        near = f"that do are {below} and {above}" if above != below else f"is {below}"
        raise InputError(message, key="every", hint=f"the nearest {near}")


def _require_memory(saved: int, states: int, count: int) -> None:
    """Refuse what can't fit before the machine starts to swap."""
    need, there = 8 * saved * states * count, math.inf
    with suppress(AttributeError, OSError, ValueError):  # not every system tells
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > there:
        raise InputError(
            f"{saved:,} stored states of {count:,} robots take {need / 1e9:,.1f} GB; "
            f"this machine has {there / 1e9:,.1f} GB",
            key="count",
            hint="store fewer states with every=, or roll out fewer robots at a time",
        )


def _diverged(states: FloatArray, time: FloatArray, name: str) -> int:
    """How many robots' last states aren't finite; NumericsError where no robot's is."""
    lost = ~np.isfinite(states[-1]).all(axis=0)
    if lost.all():
        row = next(k for k, robots in enumerate(states) if not np.isfinite(robots).all(axis=0).any())
        raise NumericsError(
            f"all robots of the rollout of '{name}' diverged by t = {time[row]:g} s: "
            "the motion is unstable or singular, or dt is too long for it"
        )
    return int(lost.sum())


def _warn_of_step(
    model: Model, start: FloatArray, u: Mapping[str, Floats], p: Mapping[str, Floats], h: float
) -> None:
    """A warning where a step h is too long for some of the robots that are looked at."""
    count = start.shape[1]
    bounds: list[tuple[float, float, int]] = []
    alike = (
        not any(np.size(rows) > 1 for rows in (*u.values(), *p.values())) and not np.ptp(start, axis=1).any()
    )
    for lane in [0] if alike else sorted({0, count // 2, count - 1}):
        given, numbers = (lane_numbers(values, 0, slice(lane, lane + 1)).reshape(-1) for values in (u, p))

        def rates(states: FloatArray, given: FloatArray = given, numbers: FloatArray = numbers) -> FloatArray:
            return model.dynamics.evaluate(states, given, numbers)[0]

        bounds.append((*longest_step(eigenvalues(rates, start[:, lane])), lane))
    longest, rate, lane = min(bounds)
    if h > longest:
        who = f"robot {lane} of '{model.name}'" if count > 1 else f"'{model.name}'"
        warnings.warn(
            f"dt = {h:g} s is too long for {who}: at the start it has motions that decay at {rate:.3g}/s, which grow "
            f"with steps above {longest:.3g} s; take dt = {0.5 * longest:.1g} s, or trundle.simulate, which controls "
            "its error",
            stacklevel=3,
        )


def _with_references(
    model: Model, given: Mapping[str, NumbersLike], steps: int, dt: float
) -> Mapping[str, NumbersLike]:
    """Inputs with those of trackers, step by step, in place of the motions that they are given."""
    told, times = (
        with_references(model.robot, cast("Mapping[str, Input]", given)),
        dt * np.arange(steps, dtype=float),
    )
    found: dict[str, NumbersLike] = {}
    for name, signal in told.items():
        if name in given:
            found[name] = given[name]
        else:
            found[name] = table(*cast("Told", signal)).sample(times)[:, None]
    return found


def _complete(
    defaults: Mapping[str, float], given: Mapping[str, NumbersLike], kind: str, model: Model
) -> dict[str, Floats]:
    """A number or an array for every state or input, in the model's order."""
    for key in given:
        if kind == "state":
            require_state(key, model)
        if key not in defaults:
            hint = suggest(key, defaults)
            raise InputError(f"'{key}' is not an input of '{model.name}'", key=key, hint=hint)
    most = 1 if kind == "state" else 2
    return {
        key: _column(key, given.get(key, value), model.units[key], most) for key, value in defaults.items()
    }


def _column(name: str, given: NumbersLike, unit: str, most: int) -> Floats:
    """A number, or an array of at most `most` dimensions."""
    if isinstance(given, str):
        return number(given, name, unit)
    if callable(given):
        raise InputError(
            "a rollout takes no functions, but numbers and arrays",
            key=name,
            hint="give its value at each step: np.array([f(k * dt) for k in range(steps)])[:, None]",
        )
    values = as_numbers(given, f"'{name}'")
    if values.ndim > most:
        shapes = "a number or (count,)" if most == 1 else "a number, (count,), (steps, 1) or (steps, count)"
        raise InputError(f"expected {shapes}, got an array of shape {values.shape}", key=name)
    if values.ndim and not values.shape[-1]:
        raise InputError("an array without entries", key=name, hint="give one entry a robot")
    if not np.isfinite(values).all():
        robot = int(np.argwhere(~np.isfinite(values))[0][-1]) if values.ndim else 0
        raise InputError(f"'{name}' holds something that is not a finite number, for robot {robot}", key=name)
    return values if values.ndim else float(values)


def _parameters(model: Model, given: Mapping[str, NumbersLike]) -> dict[str, Floats]:
    """Numbers and arrays as they are, after the robot's own checks robot by robot."""
    columns = {
        name: _column(name, value, "", 1) if callable(value) or np.ndim(value) else cast("float | str", value)
        for name, value in given.items()
    }
    return lane_parameters(model, columns, "robot")


def _count(count: int | None, *given: Mapping[str, Floats]) -> int:
    """How many robots there are, by `count` and by the arrays, which must agree."""
    sizes = {np.shape(v)[-1] for group in given for v in group.values() if np.ndim(v)} - {1}
    sizes |= set() if count is None else {count}
    if len(sizes) > 1:
        listed = ", ".join(map(str, sorted(sizes)))
        raise InputError(
            f"arrays of different numbers of robots{'' if count is None else ', or another count'}: {listed}",
            key="count",
            hint="give every array one entry a robot, or leave count out",
        )
    return sizes.pop() if sizes else 1
