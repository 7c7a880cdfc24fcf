"""Models without a description: their parameters are plain numbers, and their states may have to meet constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trundle.errors import InputError, suggest
from trundle.mechanics.elimination import generic_rank
from trundle.model.samples import damped_step

# Residuals (m, rad, m/s, rad/s) up to here are an initial state's rounding, not a mistake.
_RESIDUAL, _POLISHED = 1e-8, 1e-15
_STEPS = 50
# Where Newton's method finds no way, it starts anew this far off (m or rad): zeros are often singular.
_NUDGE = 0.1
# Starts from all around, where the near ones fail: linkages close far from where their joints are at zero.
_RESTARTS = 8
# A step goes no further than this (rad or m) at once, and is halved at most so often.
_LONGEST = 1.0
# A search ends where a step promises less than this part of the residual: it has found a place that doesn't close.
_PROMISE = 1e-3
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
    look = _Look(model, np.array(list(values.values())), model.manifold.evaluate, None)
    x, _ = _newton(look, x[:, None], _rows(model, "configuration"), places)
    speeds = [model.state_index[name] for name in model.speeds]
    rank = generic_rank(look.slope(x, range(len(model.manifold.outputs[0].labels)), speeds))
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

    Only what isn't `given` is moved: the dependent states, and where these aren't enough, the others. Dependent
    coordinates that are given are a guess, which chooses between the ways of assembly: they are moved where nothing
    else closes the constraints. Raises InputError where what is given breaks the constraints whatever the rest is.
    """
    x = np.array([[start[name]] for name in model.states])
    if model.manifold is not None:
        look = _Look(model, np.array(list(parameters.values())), model.manifold.evaluate, None)
        x = _settled(look, x, given)
        worst = _size(look.residual(x))
        if not worst <= _RESIDUAL:
            raise _broken(model, worst, given)
    return [float(value) for value in x[:, 0]]


def settle_batch(
    model: Any, x: Mapping[str, Any], given: Sequence[str], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """The same for the states of many robots at once; (count,) or numbers by name, in and out."""
    if model.manifold is None:
        return dict(x)
    if all(np.ndim(value) == 0 for value in (*x.values(), *parameters.values())):
        return dict(zip(model.states, settle(model, x, given, parameters), strict=True))
    from trundle.program import compile_program

    count = max(np.size(value) for value in (*x.values(), *parameters.values()))

    def table(values: Mapping[str, Any]) -> np.ndarray:
        return np.array([np.broadcast_to(np.ravel(value), (count,)) for value in values.values()])

    look = _Look(
        model, table(parameters), compile_program(model.manifold), compile_program(model.manifold_jacobian)
    )
    found = _settled(look, table(x), given)
    worst = np.abs(look.residual(found)).max(axis=0, initial=0.0)
    if not (worst <= _RESIDUAL).all():
        lane = int(np.argmax(~(worst <= _RESIDUAL)))
        raise _broken(model, float(worst[lane]), given, f"robot {lane}: ")
    return dict(zip(model.states, found, strict=True))


def _broken(model: Any, worst: float, given: Sequence[str], who: str = "") -> InputError:
    named = (
        ", ".join(given)
        or "none; the constraints can't be met from a start near zero: give some, or do they contradict each other?"
    )
    return InputError(
        f"{who}the initial state breaks the constraints of '{model.name}' by {worst:.3g}",
        key="run.initial",
        hint=f"give fewer states, the others are then found to fit; given: {named}",
    )


@dataclass(frozen=True)
class _Look:
    """A model's residuals and their slopes at states (n, count), by functions that evaluate programs."""

    model: Any
    parameters: np.ndarray
    manifold: Callable[..., tuple[np.ndarray, ...]]
    jacobian: Callable[..., tuple[np.ndarray, ...]] | None

    def is_velocity(self, rows: Sequence[int]) -> bool:
        """Whether the residuals are of velocity constraints."""
        labels = self.model.manifold.outputs[0].labels
        return bool(rows) and labels[rows[0]].startswith("velocity")

    def residual(self, x: np.ndarray) -> np.ndarray:
        """(residuals, count)."""
        return self._of(self.manifold, x)

    def slope(self, x: np.ndarray, rows: Sequence[int], places: Sequence[int]) -> np.ndarray:
        """(count, rows, places)."""
        flat = self._of(self.jacobian or self.model.manifold_jacobian.evaluate, x)
        return flat.reshape(-1, *x.shape)[np.ix_(rows, places)].transpose(2, 0, 1)

    def _of(self, evaluate: Callable[..., tuple[np.ndarray, ...]], x: np.ndarray) -> np.ndarray:
        commands = np.zeros(len(self.model.inputs))
        if self.parameters.ndim == 1:  # one robot, by the interpreter, which needs no compiling
            return evaluate(x[:, 0], commands, self.parameters)[0][:, None]
        return evaluate(np.ascontiguousarray(x), commands, self.parameters)[0]


def _settled(look: _Look, x: np.ndarray, given: Sequence[str]) -> np.ndarray:
    """States (n, count) moved as `settle` says, each only where it still breaks constraints."""
    model = look.model
    for kind, names in (("configuration", model.coordinates), ("velocity", model.speeds)):
        rows = _rows(model, kind)
        dependent = [name for name in names if name in model.dependent]
        free = [name for name in names if name not in given]
        turns = _RESTARTS if kind == "configuration" else 0
        nearest = _search(look, x, rows, [name for name in dependent if name in free], turns)
        x = _where_met(look, rows, nearest, x)
        x = _where_met(look, rows, _search(look, x, rows, free, turns), x)
        # Guesses give way last, from where the others fit them best, and only where nothing else would do.
        if kind == "configuration" and not (_sizes(look.residual(x)[rows]) <= _RESIDUAL).all():
            x = _where_met(look, rows, _search(look, nearest, rows, dependent, 0), x)
    return x


def _where_met(look: _Look, rows: Sequence[int], moved: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The moved states (n, count) where they meet the constraints at `rows` and x doesn't, the others as they were."""
    met, moved_met = (_sizes(look.residual(states)[rows]) <= _RESIDUAL for states in (x, moved))
    return np.where(moved_met & ~met, moved, x)


def _search(
    look: _Look, x: np.ndarray, rows: Sequence[int], movable: Sequence[str], restarts: int
) -> np.ndarray:
    """States (n, count) with the `movable` ones moved so that the residuals at `rows` vanish, or get as small as found.

    From where they are, then a bit beside, where zeros would be singular, then from all around.
    """
    places = [look.model.state_index[name] for name in movable]
    best = x
    sizes = _sizes(look.residual(x)[rows])
    if not places:
        return best
    rng = np.random.default_rng(0)
    around = [rng.uniform(-np.pi, np.pi, (len(places), 1)) for _ in range(restarts)]
    for offset in (0.0, _NUDGE, *around):
        if (sizes <= _RESIDUAL).all():
            break
        moved = x.copy()
        moved[places] += offset
        moved, left = _newton(look, moved, rows, places)
        better = (left < sizes) & (sizes > _RESIDUAL)
        best, sizes = np.where(better, moved, best), np.where(better, left, sizes)
    return best


def _rows(model: Any, kind: str) -> list[int]:
    """Places of the residuals of the configuration, or of the velocity."""
    return [k for k, label in enumerate(model.manifold.outputs[0].labels) if label.startswith(kind)]


def _size(residual: np.ndarray) -> float:
    return float(np.abs(residual).max(initial=0.0))


def _sizes(residual: np.ndarray) -> np.ndarray:
    """The largest of each column; infinite where one isn't finite."""
    return np.nan_to_num(np.abs(residual).max(axis=0, initial=0.0), nan=np.inf)


def _newton(
    look: _Look, x: np.ndarray, rows: Sequence[int], places: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """x (n, count) with the states at `places` moved to make the residuals at `rows` small, and the largest left.

    Steps are halved until they bring the residual down: so it ends near where it began, in the same way of assembly.
    """
    residual, before = look.residual(x)[rows], np.inf
    for _ in range(_STEPS):
        slope = look.slope(x, rows, places)
        size = _size(residual)
        # Down to rounding: where constraints repeat each other, what is left is the square of the distance from them.
        done = size <= _POLISHED or (size <= _RESIDUAL and size > before / 2)
        if done or not (np.isfinite(residual).all() and np.isfinite(slope).all()):
            break
        before = size
        if look.is_velocity(rows):  # linear: one step is the answer
            step = np.einsum("kij,jk->ik", np.linalg.pinv(slope, rcond=1e-12), residual)
        else:
            step = damped_step(slope, residual.T).T
            if not _promises(slope, residual, step):
                break
            step *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(step).max(axis=0), 1e-300))
        x, residual = _shortened(look, x, residual, rows, places, step)
    return x, _sizes(residual)


def _promises(slope: np.ndarray, residual: np.ndarray, step: np.ndarray) -> bool:
    """Whether r - J δ is shorter than r in some column: else |r| is as small as it gets around here."""
    left = np.linalg.norm(residual - np.einsum("kij,jk->ik", slope, step), axis=0)
    return bool((left < (1 - _PROMISE) * np.linalg.norm(residual, axis=0)).any())


def _shortened(
    look: _Look,
    x: np.ndarray,
    residual: np.ndarray,
    rows: Sequence[int],
    places: Sequence[int],
    step: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """States and residuals after the step, halved in each column until its residual is smaller."""
    before = np.linalg.norm(residual, axis=0)
    trial, left = x, residual
    for _ in range(_HALVINGS):
        trial = x.copy()
        trial[places] -= step
        left = look.residual(trial)[rows]
        worse = ~(np.linalg.norm(left, axis=0) < before)
        if not worse.any():
            break
        step = np.where(worse, step / 2, step)
    return trial, left


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
