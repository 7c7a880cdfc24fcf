"""Initial states on the constraints: coordinates that close loops, then speeds that keep them closed; and what a model
without a description takes as its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, suggest
from trundle.mechanics.closing import Conditions, close_constraints, closed
from trundle.mechanics.elimination import generic_rank
from trundle.model.plant import Plant
from trundle.program import Program

# Residuals (m, rad, m/s, rad/s) up to here are an initial state's rounding, not a mistake.
_RESIDUAL = 1e-8

Held = Literal["configuration", "velocity"]


def residual_labels(configuration: int, velocity: int) -> list[str]:
    """Labels of a manifold's residuals: so many of the configuration, then of the velocity."""
    held: dict[Held, int] = {"configuration": configuration, "velocity": velocity}
    return [f"{kind} {k + 1}" for kind, count in held.items() for k in range(count)]


def residual_rows(manifold: Program, kind: Held) -> list[int]:
    """Places of the residuals of the configuration, or of the velocity."""
    return [k for k, label in enumerate(manifold.outputs[0].labels) if label.startswith(kind)]


@dataclass(frozen=True, kw_only=True, repr=False)
class Constrained(Plant):
    """What constraints may bind: a model, or the kinematics of given rates.

    Where coordinates or speeds are bound by constraints that aren't solved for (loops, models from SymPy), `manifold`
    maps (state, input, parameter) to the `residual` of every configuration and velocity constraint, `projection` to the
    `state` one Newton step closer to meeting them, and `dependent` names states that follow from the others.
    """

    manifold: Program | None = None
    projection: Program | None = None
    dependent: tuple[str, ...] = ()

    @property
    def start_is_searched(self) -> bool:
        """Whether constraints complete it."""
        return self.manifold is not None

    @cached_property
    def manifold_jacobian(self) -> Program | None:
        """∂(residual)/∂(state) of `manifold`; row-major."""
        return None if self.manifold is None else self.manifold.jacobian("residual", "state")

    def start(
        self, given: Mapping[str, Floats], parameters: Mapping[str, Floats], count: int = 1, *,
        lost: np.ndarray | None = None, often: bool | None = None,
    ) -> FloatArray:  # fmt: skip
        """x(0) on the constraints, by the least change of what isn't given (`settle_batch`)."""
        x = {name: given.get(name, value) for name, value in self.initial.items()}
        self.quantities.check_start(x)
        found = settle_batch(self, x, tuple(given), parameters, often)
        return np.array([np.broadcast_to(found[name], (count,)) for name in self.states], dtype=np.float64)


def changed_numbers(model: Plant, changes: Mapping[str, object], rows: int, rank: int) -> dict[str, float]:
    """The parameters in order, some of them changed; raises InputError for unknown names, for what is no number, and
    for numbers that make redundant constraints independent, of which there are `rows` with a `rank`.
    """
    values = dict(model.parameters)
    for name, value in changes.items():
        if name not in values:
            raise InputError(
                f"'{name}' is not a parameter of '{model.name}'", key=name, hint=suggest(name, values)
            )
        try:
            values[name] = float(value)  # type: ignore[arg-type]  # what is no number is told below
        except (TypeError, ValueError):
            raise InputError(
                f"expected a number in SI, got {value!r}", key=name, hint="only descriptions know units"
            ) from None
        if not math.isfinite(values[name]):
            raise InputError(f"expected a finite number, got {value!r}", key=name)
    if isinstance(model, Constrained) and rank < rows and values != model.parameters:
        _check_rank(model, values, rank)
    return values


def _check_rank(model: Constrained, values: Mapping[str, float], derived: int) -> None:
    """The derivation left out constraints that repeated others at the model's own numbers; at others they may not."""
    x = np.random.default_rng(0).uniform(-1, 1, len(model.states))
    look = _Look(model)
    row = np.concatenate([x, list(values.values())])[None]
    places = [model.state_index[name] for name in model.coordinates]
    row, _ = closed(look.conditions("configuration"), row, places, near=True)
    speeds = [model.state_index[name] for name in model.speeds]
    rank = generic_rank(look.slopes(row)[:, :, speeds])
    if rank > derived:
        changed = next(name for name, value in values.items() if value != model.parameters[name])
        raise InputError(
            f"with {changed} changed, the constraints of '{model.name}' have rank {rank}, not the "
            f"{derived} that it was derived with",
            key=changed,
            hint="call from_sympy anew with these parameters",
        )


def settle(
    model: Constrained, start: Mapping[str, float], given: Sequence[str], parameters: Mapping[str, float]
) -> list[float]:
    """x on the constraints: first the coordinates, then the speeds, by the least change (`closing.close_constraints`).

    Only what isn't `given` is moved: the dependent states, and where these aren't enough, the others. Dependent
    coordinates that are given are a guess, which chooses between the ways of assembly: they are moved where nothing
    else closes the constraints. Raises InputError where what is given breaks the constraints whatever the rest is.
    """
    x = [start[name] for name in model.states]
    if model.manifold is None:
        return x
    rows = _on_constraints(_Look(model), np.array([[*x, *parameters.values()]]), given)
    return rows[0, : len(x)].tolist()


def settle_batch(
    model: Constrained, x: Mapping[str, Any], given: Sequence[str], parameters: Mapping[str, Any],
    often: bool | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The same for the states of many robots at once; (count,) or numbers by name, in and out. `often` is as for a
    `Kernel`: with True a start's bits don't hang on what came before.
    """
    if model.manifold is None:
        return dict(x)
    if all(np.ndim(value) == 0 for value in (*x.values(), *parameters.values())):
        return dict(zip(model.states, settle(model, x, given, parameters), strict=True))
    from trundle.program import compile_program

    columns = np.broadcast_arrays(*(np.ravel(value) for value in (*x.values(), *parameters.values())))

    def prepare(program: Program) -> Evaluation:
        return partial(compile_program(program), often=often)

    rows = _on_constraints(_Look(model, prepare), np.array(columns, dtype=float).T, given)
    return dict(zip(model.states, rows.T[: len(model.states)], strict=True))


def _on_constraints(look: _Look, rows: np.ndarray, given: Sequence[str]) -> np.ndarray:
    """Rows (s, states and parameters) moved as `settle` says; raises InputError for the first that can't be."""
    rows = _project(look, rows, given)
    left = np.abs(look.residuals(rows)).max(axis=1, initial=0.0)
    broken = ~(left <= _RESIDUAL)
    if not broken.any():
        return rows
    lane = int(np.argmax(broken))
    named = (
        ", ".join(given)
        or "none; the constraints can't be met from a start near zero: give some, or do they contradict each other?"
    )
    raise InputError(
        f"{f'robot {lane}: ' if len(rows) > 1 else ''}the initial state breaks the constraints of '{look.model.name}' "
        f"by {left[lane]:.3g}",
        key="run.initial",
        hint=f"give fewer states, the others are then found to fit; given: {named}",
    )


Evaluation = Callable[..., tuple[np.ndarray, ...]]


@dataclass(frozen=True)
class _Look:
    """A model's residuals and their slopes at rows (s, states and then parameters).

    `prepare` makes a program a function: one that interprets it for a single robot, a kernel for many.
    """

    model: Constrained
    prepare: Callable[[Program], Evaluation] = lambda program: program.evaluate

    @cached_property
    def residual(self) -> Evaluation:
        return self.prepare(_program(self.model.manifold))

    @cached_property
    def jacobian(self) -> Evaluation:
        return self.prepare(_program(self.model.manifold_jacobian))

    def rows_of(self, kind: Held) -> list[int]:
        """Places of the residuals of the configuration, or of the velocity."""
        return residual_rows(_program(self.model.manifold), kind)

    def residuals(self, rows: np.ndarray) -> np.ndarray:
        """(s, residuals)."""
        return self._of(self.residual, rows).T

    def slopes(self, rows: np.ndarray) -> np.ndarray:
        """(s, residuals, states)."""
        flat = self._of(self.jacobian, rows)
        return flat.reshape(-1, len(self.model.states), len(rows)).transpose(2, 0, 1)

    def conditions(self, kind: Held) -> Conditions:
        """That the residuals of the configuration, or of the velocity, vanish; directions are states."""
        places = self.rows_of(kind)
        return Conditions(
            lambda rows: (self.residuals(rows)[:, places], self.slopes(rows)[:, places]), _moved
        )

    def _of(self, evaluate: Evaluation, rows: np.ndarray) -> np.ndarray:
        count, commands = len(self.model.states), np.zeros(len(self.model.inputs))
        if len(rows) == 1:
            return evaluate(rows[0, :count], commands, rows[0, count:])[0][:, None]
        x, p = (np.ascontiguousarray(each.T) for each in (rows[:, :count], rows[:, count:]))
        return evaluate(x, commands, p)[0]


def _moved(q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q (s, n) after steps (s, m) of its first m columns, beside which it carries what doesn't move, as parameters."""
    q = q.copy()
    q[:, : step.shape[1]] += step
    return q


def _program(program: Program | None) -> Program:
    assert program is not None, "only models with a manifold are settled"
    return program


def _project(look: _Look, rows: np.ndarray, given: Sequence[str]) -> np.ndarray:
    """Rows (s, states and parameters) moved as `settle` says, each only where it still breaks constraints."""
    model, rows = look.model, rows.copy()
    held: tuple[Held, ...] = ("configuration", "velocity")
    names, solvers = (model.coordinates, model.speeds), (close_constraints, _settled_speeds)
    for kind, own, solve in zip(held, names, solvers, strict=True):
        broken = ~(np.abs(look.residuals(rows)[:, look.rows_of(kind)]).max(axis=1, initial=0.0) <= _RESIDUAL)
        if broken.any():
            free = [model.state_index[name] for name in own if name not in given]
            dependent = [model.state_index[name] for name in own if name in model.dependent]
            rows[broken], _ = solve(look.conditions(kind), rows[broken], free, dependent)
    return rows


def _settled_speeds(
    conditions: Conditions, rows: np.ndarray, free: Sequence[int], dependent: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The same of conditions that are linear: a step is the answer, a second one takes its rounding away."""
    best, least = rows, np.full(len(rows), np.inf)
    for places in ([k for k in dependent if k in free], free):
        moved = rows
        for _ in range(2):
            residual, slope = conditions.at(moved)
            step = np.zeros((len(rows), slope.shape[2]))
            step[:, places] = np.einsum(
                "sij,sj->si", np.linalg.pinv(slope[:, :, places], rcond=1e-12), residual
            )
            moved = conditions.moved(moved, -step)
        left = np.abs(conditions.at(moved)[0]).max(axis=1, initial=0.0)
        better = ~(least <= _RESIDUAL) & (left < least)
        best, least = np.where(better[:, None], moved, best), np.where(better, left, least)
    return best, least


def on_manifold(model: Constrained, states: np.ndarray, commands: np.ndarray, p: np.ndarray) -> np.ndarray:
    """States (n, samples) moved onto the constraints by the model's projection, twice: each step squares the error."""
    from trundle.program import compile_program

    own = np.ascontiguousarray(states)
    if model.projection is None:
        return own
    project = compile_program(model.projection)
    for _ in range(2):
        (own,) = project(own, commands if commands.size else np.zeros(0), p, often=False)
    return own
