"""A last look at a derived model: has every speed inertia, do the wheels carry the robot, do changed numbers
still fit?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.articulated import momentum_of, of_body
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.mechanics.quantities import Quantities
from trundle.model.configuration import configure, independent_coordinates
from trundle.model.constraints import constraint_rows, ideal_wheels
from trundle.model.forces import wheel_loads
from trundle.model.manifold import settle
from trundle.scalars import is_zero
from trundle.spatial.motions import pair

# Largest contact velocity (m/s) at speeds of about 1 that counts as rounding: constraints that are solved leave 1e-16.
_RESIDUAL = 1e-7
# Eigenvalues of a mass matrix scaled to a diagonal of ones that are rounding.
_NO_INERTIA = 1e-12


def check_inertia(robot: Any, numeric: Assembly) -> None:
    """Raise InputError naming the speeds that no mass opposes, before equations are formed that would divide by zero.

    Where every joint's own body resists it, the mass matrix is positive definite: then a glance at each is enough.
    Loops may hold what has no mass, so their robots are looked at when their equations are solved. A base without mass
    is described for its kinematics, which need none: it derives, and its forces are not numbers.
    """
    if not numeric.speeds:
        raise InputError(
            f"there is nothing that can move in '{robot.name}': a fixed base without a joint that moves",
            key="robot.joints",
            hint="give a joint a type that moves (revolute, prismatic, ...), or choose base: planar or floating",
        )
    if numeric.loops or not (numeric.couplings or may_lack_inertia(numeric)):
        return
    if numeric.base_columns and is_zero(numeric.tree.links[0].inertia.mass):
        return
    names = independent_coordinates(numeric)
    culprits = _unopposed(numeric, generic_state(numeric.quantities, names))
    if culprits:
        raise _without_inertia(robot, culprits)


def generic_state(quantities: Quantities, names: Sequence[str]) -> np.ndarray:
    """A random state at which nothing is special, always the same one; quaternions unit."""
    return quantities.normalised(names, np.random.default_rng(0).uniform(0.1, 0.5, len(names)))


def check_mass(robot: Any, model: Any, numeric: Assembly) -> None:
    """Raise InputError naming the speeds for which no acceleration is found at a generic state."""
    state = generic_state(model.quantities, model.states)
    (rate,) = model.dynamics.evaluate(
        state, np.zeros(len(model.inputs)), np.array(list(model.parameters.values()))
    )
    if not np.isfinite(rate).all() or np.abs(rate).max(initial=0.0) >= 1e15:
        raise _without_inertia(robot, _unopposed(numeric, state[: len(model.coordinates)]))


def _without_inertia(robot: Any, culprits: Sequence[str]) -> InputError:
    what = ", ".join(culprits) or "some of its speeds"
    first = culprits[0].rpartition(".")[0] if culprits else ""
    kind = next((kind for kind in ("joints", "wheels") if first in getattr(robot, kind)), None)
    return InputError(
        f"'{robot.name}' has no inertia to resist {what}: its accelerations can't be found",
        key=f"robot.{kind}.{first}" if kind else "robot",
        hint="give the bodies and wheels that move so a mass or an inertia (a point on the axis resists no turning), "
        "a joint an armature, or the motor that drives it a rotor_inertia",
    )


def may_lack_inertia(numeric: Assembly) -> bool:
    """Whether some joint moves in a way that its own body doesn't resist.

    If none does, M is definite: of joints that move, one whose parent stands still moves its own body.
    """
    names = independent_coordinates(numeric)
    poses = configure(numeric, names, list(generic_state(numeric.quantities, names))).poses
    for link, pose in zip(numeric.tree.links, poses, strict=True):
        columns = link.subspace(pose)
        if not columns:
            continue
        body = of_body(link.inertia)
        own = np.array([[pair(momentum_of(body, a), b) for a in columns] for b in columns], dtype=float)
        own += np.diag(np.array(link.armatures, dtype=float))
        scale = np.sqrt(np.diag(own).clip(0))
        if not scale.all() or np.linalg.eigvalsh(own / np.outer(scale, scale))[0] <= _NO_INERTIA:
            return True
    return False


def _unopposed(numeric: Assembly, q: Sequence[float] | np.ndarray) -> list[str]:
    """The speeds that can change, within the constraints, without moving any mass.

    In speeds scaled to √(2 kinetic energy): an eigenvalue of the mass matrix that is zero is then zero beside 1.
    """
    at = configure(numeric, independent_coordinates(numeric), list(q))
    mass, count = np.zeros((len(numeric.speeds),) * 2), numeric.tree.speed_count
    mass[:count, :count] = mass_matrix(numeric.tree, at.poses)
    for linkage in numeric.linkages:
        mass[linkage.column, linkage.column] = linkage.armature
    own = np.sqrt(np.diag(mass).clip(0))
    scale = 1 / np.where(own > 0, own, own[own > 0].min(initial=1.0))
    rows, _ = constraint_rows(numeric, at, ideal_wheels(numeric))
    motions = _null_space(np.array(rows, dtype=float).reshape(len(rows), len(mass)) * scale)
    values, vectors = np.linalg.eigh(motions.T @ (mass * np.outer(scale, scale)) @ motions)
    empty = motions @ vectors[:, np.abs(values) <= _NO_INERTIA]
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
    slipping = [wheel for wheel in numeric.wheels if wheel.law.pushes and wheel.load is None]
    if not slipping:
        return
    if -numeric.tree.gravity[2] <= 0:
        raise InputError(
            f"the slipping wheels of '{robot.name}' have no load: gravity doesn't press it to the ground",
            key="robot.gravity",
            hint="give gravity a positive number (m/s^2), or each slipping wheel a load (N)",
        )
    loads = wheel_loads(numeric, configure(numeric, names, numeric.quantities.starts(names)), span)
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
