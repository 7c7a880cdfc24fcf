"""Models without a description: their parameters are plain numbers, and their states may have to meet constraints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trundle.errors import InputError, suggest
from trundle.mechanics.elimination import generic_rank

# Residuals (m, rad, m/s, rad/s) up to here are an initial state's rounding, not a mistake.
_RESIDUAL = 1e-8
_STEPS = 50
# Where Newton's method finds no way, it starts anew this far off (m or rad): zeros are often singular.
_NUDGE = 0.1
# A step goes no further than this (rad or m) at once, and is halved at most so often.
_LONGEST = 1.0
_HALVINGS = 8


def changed_numbers(model: Any, changes: Mapping[str, Any]) -> dict[str, float]:
    """The parameters in order, some of them changed; raises InputError for unknown names, for what is no number, and
    for numbers that make redundant constraints independent.
    """
    values = dict(model.parameters)
    for each, value in changes.items():
        if each not in values:
            raise InputError(
                f"'{each}' is not a parameter of '{model.name}'", key=each, hint=suggest(each, values)
            )
        try:
            values[each] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"expected a number in SI, got {value!r}", key=each, hint="models from SymPy know no units"
            ) from None
        if not math.isfinite(values[each]):
            raise InputError(f"expected a finite number, got {value!r}", key=each)
    if model.constraints.rank < model.constraints.rows and values != model.parameters:
        _check_rank(model, values)
    return values


def _check_rank(model: Any, values: Mapping[str, float]) -> None:
    """The derivation left out constraints that repeated others at the model's own numbers; at others they may not."""
    x = np.random.default_rng(0).uniform(-1, 1, len(model.states))
    places = [model.state_index[name] for name in model.coordinates]
    p, commands = np.array(list(values.values())), np.zeros(len(model.inputs))
    x = _newton(model, x, p, _rows(model, "configuration"), places, 0.0)
    (flat,) = model.manifold_jacobian.evaluate(x, commands, p)
    speeds = [model.state_index[name] for name in model.speeds]
    rows = flat.reshape(-1, x.size)[:, speeds]
    rank = generic_rank(rows[None])
    if rank > model.constraints.rank:
        changed = next(name for name, value in values.items() if value != model.parameters[name])
        raise InputError(
            f"with {changed} changed, the constraints of '{model.name}' have rank {rank}, not the "
            f"{model.constraints.rank} that it was derived with",
            key=changed,
            hint="call from_sympy anew with these parameters",
        )


def settle(
    model: Any, start: Mapping[str, float], given: Sequence[str], parameters: Mapping[str, float]
) -> list[float]:
    """x on the constraints: first the coordinates, then the speeds, by Newton's method, by the least change.

    Only what isn't `given` is moved: the dependent states, and where these aren't enough, the others. Raises
    InputError where what is given breaks the constraints whatever the rest is.
    """
    x = np.array([start[name] for name in model.states])
    if model.manifold is None:
        return [float(value) for value in x]
    p = np.array(list(parameters.values()))
    for kind, names in (("configuration", model.coordinates), ("velocity", model.speeds)):
        rows = _rows(model, kind)
        free = [name for name in names if name not in given]
        for movable in ([name for name in free if name in model.dependent], free):
            places = [model.state_index[name] for name in movable]
            for offset in (0.0, _NUDGE) if places else ():
                if not _size(_residual(model, x, p)[rows]) <= _RESIDUAL:
                    x = _newton(model, x, p, rows, places, offset)
    worst = _size(_residual(model, x, p))
    if not worst <= _RESIDUAL:
        raise InputError(
            f"the initial state breaks the constraints of '{model.name}' by {worst:.3g}",
            key="run.initial",
            hint="give fewer states, the others are then found to fit; given: "
            + (", ".join(given) or "none; the constraints can't be met from a start near zero, give some"),
        )
    return [float(value) for value in x]


def settle_batch(
    model: Any, x: Mapping[str, Any], given: Sequence[str], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """The same for the states of many robots: settled where every number is one for all, else checked only."""
    if model.manifold is None:
        return dict(x)
    if all(np.ndim(value) == 0 for value in (*x.values(), *parameters.values())):
        return dict(zip(model.states, settle(model, x, given, parameters), strict=True))
    from trundle.program import compile_program

    count = max(np.size(value) for value in (*x.values(), *parameters.values()))

    def table(values: Mapping[str, Any]) -> np.ndarray:
        return np.array([np.broadcast_to(np.ravel(value), (count,)) for value in values.values()])

    commands = np.zeros(len(model.inputs))
    (residual,) = compile_program(model.manifold)(table(x), commands, table(parameters))
    worst = float(np.abs(residual).max())
    if not worst <= _RESIDUAL:
        raise InputError(
            f"initial states break the constraints of '{model.name}' by up to {worst:.3g}",
            key="initial",
            hint="take each robot's initial state from model.state_vector, which finds the dependent states",
        )
    return dict(x)


def _residual(model: Any, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return model.manifold.evaluate(x, np.zeros(len(model.inputs)), p)[0]


def _rows(model: Any, kind: str) -> list[int]:
    """Places of the residuals of the configuration, or of the velocity."""
    return [k for k, label in enumerate(model.manifold.outputs[0].labels) if label.startswith(kind)]


def _size(residual: np.ndarray) -> float:
    return float(np.abs(residual).max(initial=0.0))


def _newton(
    model: Any, x: np.ndarray, p: np.ndarray, rows: Sequence[int], places: Sequence[int], offset: float
) -> np.ndarray:
    """x with the states at `places` moved, from `offset` beside where they are, so that the residuals at `rows` vanish;
    x as it was where that fails.

    Steps are halved until they bring the residual down: so it ends near where it began, in the same way of assembly.
    """
    start, x = x, x.copy()
    x[places] += offset
    residual = _residual(model, x, p)[rows]
    for _ in range(_STEPS):
        if not np.isfinite(residual).all() or _size(residual) <= _RESIDUAL * 1e-4:
            break
        (flat,) = model.manifold_jacobian.evaluate(x, np.zeros(len(model.inputs)), p)
        matrix = flat.reshape(-1, x.size)[np.ix_(rows, places)]
        if not np.isfinite(matrix).all():
            break
        step = np.linalg.lstsq(matrix, residual, rcond=1e-12)[0]
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        for _ in range(_HALVINGS):
            trial = x.copy()
            trial[places] -= step
            left = _residual(model, trial, p)[rows]
            if np.linalg.norm(left) < np.linalg.norm(residual):
                break
            step = step / 2
        x, residual = trial, left
    return x if _size(residual) <= _RESIDUAL else start


def on_manifold(model: Any, states: np.ndarray, commands: np.ndarray, p: np.ndarray) -> np.ndarray:
    """States (n, samples) moved onto the constraints by the model's projection, twice: each step squares the error."""
    from trundle.program import compile_program

    own = np.ascontiguousarray(states)
    if model.projection is None:
        return own
    project = compile_program(model.projection)
    for _ in range(2):
        (own,) = project(own, commands if commands.size else np.zeros(0), p)
    return own
