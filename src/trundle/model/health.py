"""Can a mechanism move as its equations will say: has every speed inertia, and do the wheels carry the robot?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.elimination import null_space
from trundle.mechanics.quantities import Quantities
from trundle.model.constraints import ideal_wheels
from trundle.model.forces import contact_span, wheel_loads
from trundle.model.mass import NO_INERTIA, at_generic, generic_values, scaled_mass
from trundle.model.mechanism import Mechanism
from trundle.program import Program
from trundle.program.tangents import once
from trundle.robot import Robot
from trundle.robot.structure import base_bodies

# An acceleration as large (m/s², rad/s²) at speeds of about 1 is a quotient by rounding.
_NO_NUMBER = 1e15


def check_inertia(numbers: Mechanism) -> bool:
    """Raise InputError naming the speeds that no mass opposes, before equations are formed that would divide by zero.

    Returns whether that is settled. Loops may hold what has no mass, so their robots are looked at when their equations
    are solved (`check_mass`). A base without mass is described for its kinematics, which need none: it derives, and its
    forces are not numbers.
    """
    assembly = numbers.assembly
    if not assembly.speeds:
        raise InputError(
            f"there is nothing that can move in '{numbers.robot.name}': a fixed base without a joint that moves",
            key="robot.joints",
            hint="give a joint a type that moves (revolute, prismatic, ...), or choose base: planar or floating",
        )
    if assembly.loops or (assembly.base_columns and not _base_weighs(numbers)):
        return False
    culprits = _unopposed(at_generic(numbers))
    if culprits:
        raise _without_inertia(numbers.robot, culprits)
    return True


def _base_weighs(numbers: Mechanism) -> bool:
    resolve = numbers.robot.resolver(numbers.parameters)
    return any(resolve(body.mass) for body in base_bodies(numbers.robot))


def check_mass(numbers: Mechanism, dynamics: Program, quantities: Quantities) -> None:
    """Raise InputError naming the speeds for which the program finds no acceleration at a generic state."""
    states, inputs, _ = dynamics.inputs
    state = generic_values(quantities, states.labels)
    parameters = np.array(list(numbers.parameters.values()), dtype=float)
    (rate,) = once(dynamics, state, np.zeros(inputs.size), parameters)
    if not np.isfinite(rate).all() or np.abs(rate).max(initial=0.0) >= _NO_NUMBER:
        raise _without_inertia(numbers.robot, _unopposed(at_generic(numbers)))


def _without_inertia(robot: Robot, culprits: Sequence[str]) -> InputError:
    """An error that names the speeds that nothing resists, and what gives them inertia."""
    what = ", ".join(culprits) or "some of its speeds"
    first = culprits[0].rpartition(".")[0] if culprits else ""
    kind = next((kind for kind in ("joints", "wheels") if first in getattr(robot, kind)), None)
    return InputError(
        f"'{robot.name}' has no inertia to resist {what}: its accelerations can't be found",
        key=f"robot.{kind}.{first}" if kind else "robot",
        hint="give the bodies and wheels that move so a mass or an inertia (a point on the axis resists no turning), "
        "a joint an armature, or the motor that drives it a rotor_inertia",
    )


def _unopposed(numbers: Mechanism) -> list[str]:
    """The speeds that can change, within the constraints, without moving any mass."""
    assembly = numbers.assembly
    mass, scale = scaled_mass(numbers)
    rows = numbers.rows(ideal_wheels(assembly))
    scaled = np.array(rows, dtype=float).reshape(len(rows), len(mass)) * scale
    scaled = scaled / np.maximum(np.abs(scaled).max(axis=1, keepdims=True, initial=0.0), 1e-300)
    motions = null_space(scaled)
    values, vectors = np.linalg.eigh(motions.T @ mass @ motions)
    empty = motions @ vectors[:, np.abs(values) <= NO_INERTIA]
    return [
        name for name, row in zip(assembly.speeds, empty, strict=True) if np.abs(row).max(initial=0.0) > 1e-6
    ]


def check_loads(numbers: Mechanism) -> None:
    """Raise InputError naming slipping wheels that would be pulled to the ground when the robot stands as
    described.
    """
    assembly, name = numbers.assembly, numbers.robot.name
    slipping = [wheel for wheel in assembly.wheels if wheel.acts and wheel.load is None]
    if not slipping:
        return
    if -assembly.tree.gravity[2] <= 0:
        raise InputError(
            f"the slipping wheels of '{name}' have no load: gravity doesn't press it to the ground",
            key="robot.gravity",
            hint="give gravity a positive number (m/s^2), or each slipping wheel a load (N)",
        )
    loads = wheel_loads(assembly, numbers.at, contact_span(assembly))
    lifted = [wheel.name for wheel in slipping if loads[wheel.name] <= 0]
    if lifted:
        raise InputError(
            f"'{name}' would tip: its centre of mass is so far outside its wheels that nothing loads "
            f"{', '.join(lifted)}, which can't grip then",
            key=f"robot.wheels.{lifted[0]}",
            hint="move body.center_of_mass between the wheels, or give the wheel a load (N)",
        )
