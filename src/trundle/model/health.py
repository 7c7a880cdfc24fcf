"""A last look at a derived model: has every speed inertia, do the wheels carry the robot, do changed numbers
still fit?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.model.constraints import constraint_rows, ideal_wheels
from trundle.model.forces import wheel_loads
from trundle.model.layout import configure, independent_coordinates, zero_configuration
from trundle.model.manifold import settle

# Largest contact velocity (m/s) at speeds of about 1 that counts as rounding: constraints that are solved leave 1e-16.
_RESIDUAL = 1e-7
# How far from 1 an initial quaternion's length may be: more is no rounding but a mistake.
_UNIT = 1e-6


def check_mass(robot: Any, model: Any, numeric: Assembly) -> None:
    """Raise InputError naming the speeds without inertia, for which no acceleration can be found.

    Looks at the rates at one generic state; only when they aren't finite does it form the mass matrix to find the
    culprit. Where couplings tie speeds together what isn't opposed may be a sum of them, which rounding can hide:
    there it always does, unless loops hold it besides.
    """
    rng = np.random.default_rng(0)
    state = rng.uniform(0.1, 0.5, len(model.states))
    for place, name in enumerate(model.states):
        if name.rpartition(".")[2] == "q_w":
            state[place : place + 4] /= np.linalg.norm(state[place : place + 4])
    (rate,) = model.dynamics.evaluate(
        state, np.zeros(len(model.inputs)), np.array(list(model.parameters.values()))
    )
    moves = bool(np.isfinite(rate).all()) and np.abs(rate).max(initial=0.0) < 1e15
    if moves and (numeric.loops or not numeric.couplings):
        return
    culprits = _unopposed(numeric, list(state[: len(model.coordinates)]))
    if moves and not culprits:
        return
    what = ", ".join(culprits) or "some of its speeds"
    raise InputError(
        f"'{robot.name}' has no inertia to resist {what}: its accelerations can't be found",
        key="robot",
        hint="give the bodies and wheels that move so a mass or an inertia, "
        "or a rotor_inertia to the motor that drives them",
    )


def _unopposed(numeric: Assembly, q: Sequence[float]) -> list[str]:
    """The speeds that can change, within the constraints, without moving any mass.

    In speeds scaled to √(2 kinetic energy): an eigenvalue of the mass matrix that is zero is then zero beside 1.
    """
    at = configure(numeric, independent_coordinates(numeric), q)
    mass, count = np.zeros((len(numeric.speeds),) * 2), numeric.tree.speed_count
    mass[:count, :count] = mass_matrix(numeric.tree, at.poses)
    for linkage in numeric.linkages:
        mass[linkage.column, linkage.column] = linkage.armature
    own = np.sqrt(np.diag(mass).clip(0))
    scale = 1 / np.where(own > 0, own, own[own > 0].min(initial=1.0))
    rows, _ = constraint_rows(numeric, at, ideal_wheels(numeric))
    motions = _null_space(np.array(rows, dtype=float).reshape(len(rows), len(mass)) * scale)
    values, vectors = np.linalg.eigh(motions.T @ (mass * np.outer(scale, scale)) @ motions)
    empty = motions @ vectors[:, np.abs(values) <= 1e-12]
    return [
        name for name, row in zip(numeric.speeds, empty, strict=True) if np.abs(row).max(initial=0.0) > 1e-6
    ]


def _null_space(rows: np.ndarray) -> np.ndarray:
    """Columns that span what rows (m, n) leave free."""
    scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1e-300)
    _, values, right = np.linalg.svd(scaled)
    rank = int((values > 1e-9 * max(values.max(initial=0.0), 1e-300)).sum())
    return right[rank:].T


def check_loads(robot: Any, numeric: Assembly, span: Sequence[int]) -> None:
    """Raise InputError naming slipping wheels that would be pulled to the ground when the robot stands as
    described.
    """
    names = independent_coordinates(numeric)
    slipping = [wheel for wheel in numeric.wheels if wheel.contact == "slip" and wheel.load is None]
    if not slipping:
        return
    if -numeric.tree.gravity[2] <= 0:
        raise InputError(
            f"the slipping wheels of '{robot.name}' have no load: gravity doesn't press it to the ground",
            key="robot.gravity",
            hint="give gravity a positive number (m/s^2), or each slipping wheel a load (N)",
        )
    loads = wheel_loads(numeric, configure(numeric, names, zero_configuration(names)), span)
    lifted = [wheel.name for wheel in slipping if loads[wheel.name] <= 0]
    if lifted:
        raise InputError(
            f"'{robot.name}' would tip: its centre of mass is so far outside its wheels that nothing loads "
            f"{', '.join(lifted)}, which can't grip then",
            key=f"robot.wheels.{lifted[0]}",
            hint="move body.center_of_mass between the wheels, or give the wheel a load (N)",
        )


def check_rank(model: Any, values: Mapping[str, float]) -> None:
    """Raise InputError where changed parameters make constraints independent that were derived as redundant, or
    singular.

    The derivation left out the rows that repeated others at the described numbers; at other numbers they may not.
    """
    state = np.random.default_rng(0).uniform(0.1, 0.5, len(model.states))
    start = dict(zip(model.states, state, strict=True))
    state = np.array(settle(model, start, (), values))
    (outputs,) = model.observe.evaluate(state, np.zeros(len(model.inputs)), np.array(list(values.values())))
    residual = outputs[list(model.outputs).index("constraint_residual")]
    if residual <= _RESIDUAL:
        return
    changed = ", ".join(name for name, value in values.items() if value != model.parameters[name])
    raise InputError(
        f"with {changed} changed, the rolling constraints of '{model.name}' are no longer those it was derived with "
        f"(rank {model.constraints.rank}): they would be broken by {residual:.2g} m/s",
        key=next((name for name, value in values.items() if value != model.parameters[name]), None),
        hint="wheels that shared an axle must go on sharing it; else derive robot.with_parameters(...) anew",
    )


def check_quaternion(state: Mapping[str, Any]) -> None:
    """Raise InputError where a quaternion (numbers, or arrays of a batch) isn't a rotation's."""
    for scalar in [name for name in state if name.rpartition(".")[2] == "q_w"]:
        prefix = scalar.removesuffix("w")
        length = np.sqrt(sum(np.square(state[prefix + letter]) for letter in "wxyz"))
        if np.all(np.abs(length - 1) <= _UNIT):
            continue
        worst = float(np.ravel(length)[np.argmax(np.abs(length - 1))])
        raise InputError(
            f"the initial quaternion ({', '.join(prefix + letter for letter in 'wxyz')}) has length {worst:.9g}, and a "
            "rotation's has 1",
            key=scalar,
            hint="give all four; what isn't given is q_w = 1 and q_x = q_y = q_z = 0",
        )
