"""Independent coordinates of small motions: the directions in which a state can move without leaving its manifold.

A state x may hold more numbers than the mechanism has freedoms: a quaternion has four for three rotations, and
constraints c(x) = 0 (loop closures, SymPy's) tie states to one another. Small motions are δx = T z with as many z as
there are freedoms, and z = L δx with L T = 1. A moving base's position is measured along its own axes, δp = R e, so
that what happens beside a straight or a circle is the same wherever the base is on it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError
from trundle.mechanics.elimination import generic_rank
from trundle.model import Model
from trundle.model.manifold import Held, residual_rows

# How much larger another state's column must be before it is taken as dependent in place of one that the model names.
_PREFERENCE = 10.0


@dataclass(frozen=True)
class TangentSpace:
    """δx = T z and z = L δx at one state.

    names, units: of z: states; for a moving base's position the error along its own axes, and for a quaternion the
    small rotation about the axes of the body that turns (rad). basis: T, (n, k). dual: L, (k, n). dual_rate: L̇ along
    the motion, (k, n), zero where nothing turns. dependent: the states that follow from the others by the constraints.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    basis: FloatArray
    dual: FloatArray
    dual_rate: FloatArray
    dependent: tuple[str, ...]


def tangent_at(
    model: Model,
    x: FloatArray,
    rate: FloatArray,
    gradient: FloatArray | None,
    dependent: Collection[str] | None = None,
) -> TangentSpace:
    """T and L at a state x (n,) whose rate is ẋ (n,).

    gradient: ∂c/∂x of the constraints, (m, n), or None where there are none. dependent: the names to solve the
    constraints for; chosen where None is given (see `choose_dependent`). Raises NumericsError where the constraints
    are singular.
    """
    names, units, turned, dual, dual_rate = moving_axes(model, x, rate)
    if gradient is None:
        return TangentSpace(names, units, turned, dual, dual_rate, ())
    reduced = gradient @ turned
    if dependent is None:
        dependent = choose_dependent(model, names, reduced)
    solved = [k for k, name in enumerate(names) if name in dependent]
    kept = [k for k in range(len(names)) if k not in solved]
    basis = np.zeros((len(names), len(kept)))
    basis[kept, range(len(kept))] = 1.0
    basis[solved] = -np.linalg.lstsq(reduced[:, solved], reduced[:, kept], rcond=None)[0]
    # With more rows than dependent names this is least squares: what it leaves says that the rows don't agree.
    left = np.abs(reduced @ basis).max(initial=0.0)
    if not left <= 1e-6 * max(np.abs(reduced).max(initial=0.0), 1.0):
        raise singular(model)
    return TangentSpace(
        tuple(names[k] for k in kept),
        tuple(units[k] for k in kept),
        turned @ basis,
        dual[kept],
        dual_rate[kept],
        tuple(names[k] for k in solved),
    )


def choose_dependent(model: Model, names: Sequence[str], gradient: FloatArray) -> tuple[str, ...]:
    """Which coordinates and which speeds to solve the constraints for: the model's own choice where that is
    well-conditioned.

    Configuration constraints are solved for coordinates, velocity constraints for speeds, each by QR with column
    pivoting (Golub & Van Loan 2013, alg. 5.4.1), where the columns that `model.dependent` names count ten times.
    """
    from scipy.linalg import qr

    chosen: list[str] = []
    moving: dict[Held, set[str]] = {
        "configuration": set(names) - {*model.speeds, *model.currents},
        "velocity": set(model.speeds),
    }
    for kind, solvable in moving.items():
        rows = [] if model.manifold is None else residual_rows(model.manifold, kind)
        columns = [k for k, name in enumerate(names) if name in solvable]
        part = gradient[np.ix_(rows, columns)]
        # Rows of lengths, angles and speeds count alike: a rank in mixed units would hang on the units.
        part = part / np.maximum(np.abs(part).max(axis=1, keepdims=True, initial=0.0), 1e-300)
        rank = generic_rank(part[None])
        # Models from SymPy say their rank; a description's own constraints were looked at when it was derived.
        if kind == "velocity" and model.robot is None and rank < model.constraints.rank:
            raise singular(model, rank)
        if not rank:
            continue
        preferred = [_PREFERENCE if names[k] in model.dependent else 1.0 for k in columns]
        *_, order = qr(part * preferred, mode="economic", pivoting=True)
        chosen += [names[columns[int(k)]] for k in order[:rank]]
    return tuple(name for name in names if name in chosen)


def best_dependent(
    model: Model, tangents: Sequence[tuple[FloatArray, FloatArray, FloatArray]]
) -> tuple[str, ...]:
    """One choice for many (x, ẋ, ∂c/∂x): of those that the states would take, the one with the smallest worst |T|."""
    choices = {tangent_at(model, *tangent).dependent for tangent in tangents}
    if len(choices) == 1:
        return choices.pop()

    def worst(choice: tuple[str, ...]) -> float:
        try:
            return max(float(np.abs(tangent_at(model, *tangent, choice).basis).max()) for tangent in tangents)
        except NumericsError:
            return np.inf

    return min(sorted(choices), key=worst)


def singular(model: Model, rank: int | None = None) -> NumericsError:
    """The error for a state where constraints repeat one another that don't elsewhere."""
    lost = "" if rank is None else f": their rank is {rank}, and elsewhere {model.constraints.rank}"
    return NumericsError(
        f"the constraints of '{model.name}' are singular at this state{lost}; it has no linearisation there\n"
        "  linearise about a state beside it"
    )


def constraint_gradient(
    model: Model, x: FloatArray, commands: FloatArray, p: FloatArray
) -> FloatArray | None:
    """∂c/∂x, (m, n), or None. Raises InputError where an input moves the constraints: then none of z is free."""
    if model.manifold is None or model.manifold_jacobian is None:
        return None
    place = model.manifold.input_index("input")
    if any(place in model.manifold.dependencies[value] for value in model.manifold.results[0]):
        raise InputError(
            f"inputs move the constraints of '{model.name}': such a model has no linearisation of the form A z + B u"
        )
    return model.manifold_jacobian.evaluate(x, commands, p)[0].reshape(-1, x.size)


def moving_axes(
    model: Model, x: FloatArray, rate: FloatArray
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray, FloatArray, FloatArray]:
    """Names and units, T, L and L̇ without constraints: δp = R e of the base, δq = ½ q ⊗ (0, φ), φ = 2 vec(q* ⊗ δq)."""
    states = tuple(model.states)
    basis, dual, dual_rate = np.eye(x.size), np.eye(x.size), np.zeros((x.size, x.size))
    names, units = list(states), [model.units[name] for name in states]
    own = slice(0, {"planar": 2, "floating": 3}.get(model.robot.base if model.robot else "", 0))
    if own.stop:
        turn, turning = _axes(x, rate, own.stop)
        basis[own, own], dual[own, own], dual_rate[own, own] = turn, turn.T, turning.T
    starts = model.quantities.quaternions(states)
    for k in starts:
        four, three = slice(k, k + 4), slice(k + 1, k + 4)  # the first of the four goes
        for matrix, block in (
            (basis, 0.5 * _times(x[four])),
            (dual.T, 2 * _times(x[four])),
            (dual_rate.T, 2 * _times(rate[four])),
        ):
            matrix[four, four] = 0.0
            matrix[four, three] = block
        owner = model.quantities[states[k]].owner
        names[three] = [f"{owner}.rotation_{axis}" if owner else f"rotation_{axis}" for axis in "xyz"]
        units[three] = ["rad"] * 3
    kept = [k for k in range(x.size) if k not in starts]
    return (
        tuple(names[k] for k in kept),
        tuple(units[k] for k in kept),
        basis[:, kept],
        dual[kept],
        dual_rate[kept],
    )


def _axes(x: FloatArray, rate: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """The base's axes as columns, R, and Ṙ: of a planar pose (x, y, θ), or of (x, y, z, q)."""
    if size == 2:
        cos, sin = np.cos(x[2]), np.sin(x[2])
        return np.array([[cos, -sin], [sin, cos]]), rate[2] * np.array([[-sin, -cos], [cos, -sin]])
    q, q_dot = x[3:7], rate[3:7]
    # q ⊗ (0, φ) = (0, R φ) ⊗ q
    turning = _times(q, -1).T @ _times(q_dot) + _times(q_dot, -1).T @ _times(q)
    return _times(q, -1).T @ _times(q), turning


def _times(q: FloatArray, side: int = 1) -> FloatArray:
    """The matrix of φ ↦ q ⊗ (0, φ), (4, 3), or with -1 that of φ ↦ (0, φ) ⊗ q; orthonormal columns for a unit q."""
    w, (x, y, z) = q[0], q[1:]
    turned = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.vstack([-q[1:], w * np.eye(3) + side * turned])
