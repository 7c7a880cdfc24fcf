"""How net joint moments change with the motion and with bodies' inertia: exact slopes of the recursion.

τ = Sᵀ W(q, ν, ν̇) is differentiated where it is traced. In masses, first moments and rotational inertias about a body's
own origin τ is linear (Atkeson, An & Hollerbach 1986), so a body's slope is τ with that inertia's change alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.limbs.loads.followers import followed, led
from trundle.limbs.loads.loads import Loads
from trundle.limbs.loads.recursion import Pushed, Recursion, groups, needed, traced
from trundle.mechanics.inverse_dynamics import joint_motions, joint_wrenches, needed_forces
from trundle.mechanics.tree import NO_INERTIA, Tree
from trundle.model.constraints import follower_columns
from trundle.program import Program, compile_program
from trundle.scalars import Scalar
from trundle.spatial.motions import Force, Inertia, Pose, pair
from trundle.spatial.vectors import Matrix

# What an inertia is made of, as inputs: mass, first moment, and the upper triangle about the origin.
_INERTIA = ("m", "h_x", "h_y", "h_z", "xx", "xy", "xz", "yy", "yz", "zz")

# The step (rad, m) of central differences of what follows: about the cube root of rounding, which leaves 1e-10.
_DIFFERENCE = 1e-5


class MotionSlopes(NamedTuple):
    """∂τ/∂q (n, s, c), ∂τ/∂ν and ∂τ/∂ν̇ (n, s, f) by what is independent, in the mechanism's order."""

    q: FloatArray
    nu: FloatArray
    nu_dot: FloatArray


def motion_slopes(loads: Loads) -> MotionSlopes:
    """How net moments along the speeds change with coordinates, speeds and their rates, at every sample."""
    recursion = loads.recursion
    program = _net_program(recursion, loads.outside.pushed).with_jacobians(
        "net", "coordinate", "speed", "acceleration"
    )
    net, *tables = compile_program(program).over_samples(*loads.samples.tables, loads.outside.table)
    count, rows = len(loads.time), len(recursion.speeds)
    by = [np.moveaxis(table, -1, 0).reshape(count, rows, -1) for table in tables]
    if not recursion.mechanism.assembly.couplings:
        return MotionSlopes(*by)
    return _by_leaders(loads, net, np.concatenate(by, axis=2))


def _by_leaders(loads: Loads, net: FloatArray, by_all: FloatArray) -> MotionSlopes:
    """The same where others follow by gears and cams: δτ = Lᵀ (∂τ/∂x F δx) + δLᵀ τ, x being what is independent.

    How followers move, F, and what they put on their leaders, Lᵀ τ, are differentiated by central differences.
    """
    mechanism, samples = loads.recursion.mechanism, loads.samples
    assembly, followers = mechanism.assembly, set(follower_columns(mechanism.assembly))
    free = [k for k in range(len(assembly.speeds)) if k not in followers]
    places = [assembly.coordinates.index(name) for name in mechanism.names]
    given = [samples.q[:, places], samples.nu[:, free], samples.nu_dot[:, free]]
    slopes: list[FloatArray] = []
    for part, table in enumerate(given):
        columns = np.empty((*net.T.shape, table.shape[1]))
        for k in range(table.shape[1]):
            step = np.zeros(table.shape[1])
            step[k] = _DIFFERENCE
            ahead, behind = (
                followed(
                    assembly, *(each + side * step if part == j else each for j, each in enumerate(given))
                )
                for side in (1, -1)
            )
            moved = (np.hstack(ahead) - np.hstack(behind)) / (2 * _DIFFERENCE)
            columns[:, :, k] = led(assembly, samples.q, np.einsum("nsx,nx->sn", by_all, moved))[0].T
            turned = led(assembly, ahead[0], net)[0] - led(assembly, behind[0], net)[0]
            columns[:, :, k] += turned.T / (2 * _DIFFERENCE)
        slopes.append(columns)
    return MotionSlopes(*slopes)


def inertia_slopes(loads: Loads, changes: Mapping[str, tuple[int, FloatArray]]) -> dict[str, FloatArray]:
    """Net moments (n, s) of changes of inertia, by name: the link, and ten numbers as `_INERTIA` has them."""
    links = tuple(dict.fromkeys(link for link, _ in changes.values()))
    kernel = compile_program(_inertia_program(loads.recursion, links))
    found: dict[str, FloatArray] = {}
    for name, (link, ten) in changes.items():
        given = np.zeros(10 * len(links))
        given[10 * links.index(link) : 10 * links.index(link) + 10] = ten
        net = kernel.over_samples(*loads.samples.tables, np.tile(given, (len(loads.time), 1)))[0]
        found[name] = led(loads.recursion.mechanism.assembly, loads.samples.q, net)[0].T
    return found


def _net_program(recursion: Recursion, pushed: tuple[Pushed, ...]) -> Program:
    """(q, ν, ν̇, wrenches from outside) → net moments Sᵀ W."""
    here = needed(recursion, pushed)
    net = _along(recursion.tree, here.poses, here.forces)
    return here.tracer.program("net", here.inputs, {"net": (recursion.speeds, net)})


def _inertia_program(recursion: Recursion, links: Sequence[int]) -> Program:
    """(q, ν, ν̇, inertias of these links) → net moments of these inertias alone."""
    tracer, (q, nu, nu_dot) = traced(recursion, "inertia")
    given = tracer.inputs("inertia", 10 * len(links))
    inertias = {link: _inertia(given[10 * k : 10 * k + 10]) for k, link in enumerate(links)}
    bare = [
        replace(link, inertia=inertias.get(index, NO_INERTIA))
        for index, link in enumerate(recursion.tree.links)
    ]
    tree = replace(recursion.tree, links=tuple(bare))
    poses = tree.joint_poses(q)
    forces = needed_forces(tree, poses, *joint_motions(tree, poses, nu, nu_dot))
    inputs = groups(recursion) | {"inertia": [f"{k}.{part}" for k in links for part in _INERTIA]}
    return tracer.program("inertia", inputs, {"net": (recursion.speeds, _along(tree, poses, forces))})


def _inertia(ten: Sequence[Scalar]) -> Inertia:
    """An inertia from its numbers."""
    mass, x, y, z, xx, xy, xz, yy, yz, zz = ten
    rotational: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return Inertia(mass, (x, y, z), rotational)


def _along(tree: Tree, poses: Sequence[Pose], forces: Sequence[Force]) -> list[Scalar]:
    """Sᵀ W by speeds."""
    wrenches = joint_wrenches(tree, poses, forces)
    return [
        pair(wrench, column)
        for link, pose, wrench in zip(tree.links, poses, wrenches, strict=True)
        for column in link.subspace(pose)
    ]
