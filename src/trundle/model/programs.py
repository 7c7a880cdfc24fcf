"""A robot's mechanics as programs, each derived when it is first asked for: mass matrix, dynamics, frames, momentum.

All work on the model's own coordinates q and independent speeds u: with rolling constraints ν = S(q) u the mass matrix
is SᵀMS and a force on u is what the robot feels along the motions it has; without constraints u is ν.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.external import Push, link_wrenches
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.frames import frame_acceleration, frame_pose, frame_velocity, world_jacobian
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.kinematics import velocities, world_poses
from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.mechanics.momentum import center_of_mass, total_momentum
from trundle.mechanics.recast import recast
from trundle.model.arguments import robot_of
from trundle.model.closures import Closures, close_loops
from trundle.model.configuration import Configuration, configure, coordinate_rates, independent_coordinates
from trundle.model.derive import directional, solve_basis
from trundle.model.mass import mass_inverse, reduced_mass
from trundle.model.model import Model
from trundle.model.multipliers import Inverse, solve_with_multipliers
from trundle.program import Program, trace
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Force
from trundle.spatial.vectors import Vector

Groups = dict[str, tuple[Sequence[str], Any]]
TWIST = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")
WRENCH = ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")


@dataclass(frozen=True)
class Mechanism:
    """One robot's assembly in symbols: configuration, ν = S u, and ν̇ = S u̇ + Ṡ u at symbols q, u, p.

    Loops bind u̇ besides: their rows times u̇ are `loop_right`; `inverse` solves with M where that pays.
    """

    assembly: Assembly
    at: Configuration
    names: tuple[str, ...]
    labels: tuple[str, ...]
    basis: list[list[Scalar]]
    nu: list[Scalar]
    drift: list[Scalar]
    inputs: Groups
    loops: Closures | None = None
    loop_right: Sequence[Scalar] = ()
    inverse: Inverse | None = None

    def link(self, name: str) -> int:
        """Index of a link by its joint's, its body's or its wheel's name; raises InputError."""
        if name not in self.assembly.links:
            raise InputError(f"there is no link '{name}'", key=name, hint=suggest(name, self.assembly.links))
        return self.assembly.links[name]

    def trace(self, name: str, outputs: Groups, **more: tuple[Sequence[str], Any]) -> Program:
        """A program of (coordinate, speed, …, parameter)."""
        inputs = {key: value for key, value in self.inputs.items() if key != "parameter"} | more
        columns = {
            key: (labels, ca.vertcat(*(ca.SX(v) for v in values)))
            for key, (labels, values) in outputs.items()
        }
        return trace(name, inputs | {"parameter": self.inputs["parameter"]}, columns)


def mechanism(model: Model) -> Mechanism:
    """The symbols that every program of a model's robot starts from."""
    robot = robot_of(model, "a mechanism's program", "it has no links to take these programs from")
    defaults = robot.parameter_values()
    parameters = ca.SX.sym("p", len(defaults))
    assembly = assemble(robot, robot.resolver({name: parameters[i] for i, name in enumerate(defaults)}))
    names = independent_coordinates(assembly)
    q = ca.SX.sym("q", len(names))
    at = configure(assembly, names, _entries(q))
    _, basis = solve_basis(assembly, names, at, robot, q, parameters, list(defaults.values()))
    u = ca.SX.sym("u", len(basis.labels))
    nu = apply(basis.matrix, _entries(u))
    drift = directional(nu, q, coordinate_rates(assembly, names, at, nu))
    groups: Groups = {
        "coordinate": (names, q),
        "speed": (basis.labels, u),
        "parameter": (tuple(defaults), parameters),
    }
    whole = Mechanism(assembly, at, names, basis.labels, basis.matrix, nu, drift, groups)
    if not assembly.loops:
        return whole
    symbols = ca.vertcat(q, u), ca.SX(0, 1), parameters
    numeric = assemble(robot, robot.resolver(defaults))
    loops = close_loops(assembly, numeric, names, at, basis.matrix, symbols, defaults, robot.name)
    right = directional(apply(loops.rows, _entries(u)), q, coordinate_rates(assembly, names, at, nu))
    inverse = mass_inverse(assembly, numeric, at)
    return replace(whole, loops=loops, loop_right=[-value for value in right], inverse=inverse)


def mass_matrix_program(m: Mechanism) -> Program:
    """SᵀMS, (n, n) row-major: `mass_matrix` of (coordinate, speed, parameter); the speeds have no effect.

    Of a mechanism with loops it is the mass matrix of the tree, whose speeds the loops bind.
    """
    labels = [f"{a}, {b}" for a in m.labels for b in m.labels]
    return m.trace("mass_matrix", {"mass_matrix": (labels, [v for row in _mass(m) for v in row])})


def inverse_dynamics_program(m: Mechanism, pushed: Sequence[str] = ()) -> Program:
    """`force` on the speeds (N, N m) for an `acceleration` u̇: Sᵀ(M (S u̇ + Ṡ u) + c − Σ Jᵀ w).

    `pushed` names links on which wrenches act: group `wrench`, forces and moments about each link's origin, world axes.
    Motors, springs, friction and slipping wheels are not in it: it is what they together must give. With loops it is
    what the tree needs without forces at the loops; any Aᵀλ of theirs may be added.
    """
    a = ca.SX.sym("a", len(m.labels))
    wrenches, group = _wrenches(m, pushed)
    force = _needed(m, _entries(a), wrenches)
    groups = {"acceleration": (m.labels, a), **group}
    return m.trace("inverse_dynamics", {"force": (m.labels, force)}, **groups)


def forward_dynamics_program(m: Mechanism, pushed: Sequence[str] = ()) -> Program:
    """`acceleration` u̇ for a `force` on the speeds (N, N m), gravity included; `pushed` as in inverse dynamics.

    A tree without constraints takes the articulated-body algorithm, others the reduced mass matrix; loops are held by
    multipliers.
    """
    force = ca.SX.sym("f", len(m.labels))
    wrenches, group = _wrenches(m, pushed)
    tree = m.assembly.tree
    if m.loops is not None:
        rest = _needed(m, [0] * len(m.labels), wrenches)
        drive = [f - r for f, r in zip(_entries(force), rest, strict=True)]
        rates = _held(m, m.loops, drive)
    elif len(m.labels) == tree.speed_count and not m.assembly.couplings and not _constrained(m):
        fast = recast(tree, m.at.q)
        rates = forward_dynamics(fast.tree, fast.poses, m.nu, _entries(force), fast.wrenches(wrenches))
    else:
        rest = _needed(m, [0] * len(m.labels), wrenches)
        drive = [[f - r] for f, r in zip(_entries(force), rest, strict=True)]
        rates = [row[0] for row in solve_positive(_mass(m), drive)]
    groups = {"force": (m.labels, force), **group}
    return m.trace("forward_dynamics", {"acceleration": (m.labels, rates)}, **groups)


def momentum_program(m: Mechanism) -> Program:
    """`center` of mass (m), its `velocity` (m/s), momentum about it: `linear` (kg m/s), `angular` (kg m²/s).

    All in world axes.
    """
    tree, count = m.assembly.tree, m.assembly.tree.speed_count
    world = world_poses(tree, m.at.poses)
    mass, center = center_of_mass(tree, world)
    momentum = total_momentum(tree, world, velocities(tree, m.at.poses, m.nu[:count]))
    outputs: Groups = {
        "center": (("x", "y", "z"), center),
        "velocity": (("v_x", "v_y", "v_z"), [p / mass for p in momentum.linear]),
        "linear": (("p_x", "p_y", "p_z"), momentum.linear),
        "angular": (("L_x", "L_y", "L_z"), momentum.angular),
    }
    return m.trace("momentum", outputs)


def frame_program(m: Mechanism, link: str, point: Sequence[Scalar] = (0, 0, 0)) -> Program:
    """Everything about a point fixed in a link and the link's frame, in world axes.

    Outputs: `position` (3, m), `rotation` (3×3 row-major), `velocity` (linear, angular: m/s, rad/s), `jacobian` (6×n
    row-major, velocity = J u) and `bias` = J̇ u, so that the acceleration is J u̇ + bias.
    """
    tree, poses, index = m.assembly.tree, m.at.poses, m.link(link)
    # An exact zero is the integer: it folds what it multiplies.
    x, y, z = (0 if is_zero(value) else value for value in point)
    place: Vector = (x, y, z)
    count = tree.speed_count
    pose = frame_pose(tree, poses, index, place)
    nu = m.nu[:count]
    columns = [_flat(column) for column in world_jacobian(tree, poses, index, place)]
    jacobian = product(transpose(columns), m.basis[:count]) if columns else [[] for _ in TWIST]
    outputs: Groups = {
        "position": (("x", "y", "z"), pose.position),
        "rotation": ([f"R_{a}{b}" for a in "xyz" for b in "xyz"], [v for row in pose.rotation for v in row]),
        "velocity": (TWIST, _flat(frame_velocity(tree, poses, nu, index, place))),
        "jacobian": ([f"{a}, {b}" for a in TWIST for b in m.labels], [v for row in jacobian for v in row]),
        "bias": (TWIST, _flat(frame_acceleration(tree, poses, nu, m.drift[:count], index, place))),
    }
    return m.trace(f"frame_{link}", outputs)


def _mass(m: Mechanism) -> list[list[Scalar]]:
    return reduced_mass(m.assembly, m.at, m.basis)


def _held(m: Mechanism, loops: Closures, drive: list[Scalar]) -> list[Scalar]:
    names = m.labels, [f"{owner} {k + 1}" for k, owner in enumerate(loops.owners)]
    return solve_with_multipliers(
        m.inverse or _mass(m), drive, loops.rows, m.loop_right, loops.samples, names
    ).rates


def _needed(m: Mechanism, u_dot: Sequence[Scalar], wrenches: Sequence[Force] | None) -> list[Scalar]:
    count = m.assembly.tree.speed_count
    nu_dot = [a + b for a, b in zip(apply(m.basis, u_dot), m.drift, strict=True)]
    tau = inverse_dynamics(m.assembly.tree, m.at.poses, m.nu[:count], nu_dot[:count], wrenches)
    tau += [c.armature * nu_dot[c.column] for c in m.assembly.linkages]
    return [dot(column, tau) for column in transpose(m.basis)]


def _wrenches(m: Mechanism, pushed: Sequence[str]) -> tuple[list[Force] | None, Groups]:
    if not pushed:
        return None, {}
    w = ca.SX.sym("w", 6 * len(pushed))
    each = [_entries(w)[6 * k : 6 * k + 6] for k in range(len(pushed))]
    pushes = [
        Push(m.link(name), Force((f[0], f[1], f[2]), (f[3], f[4], f[5])), axes="world")
        for name, f in zip(pushed, each, strict=True)
    ]
    labels = [f"{name}.{part}" for name in pushed for part in WRENCH]
    tree = m.assembly.tree
    return link_wrenches(tree, world_poses(tree, m.at.poses), pushes), {"wrench": (labels, w)}


def _constrained(m: Mechanism) -> bool:
    """Whether S is anything but the identity."""
    return any(
        not (isinstance(entry, int) and entry == (1 if i == j else 0))
        for i, row in enumerate(m.basis)
        for j, entry in enumerate(row)
    )


def _flat(motion: Any) -> list[Scalar]:
    return [*motion[0], *motion[1]]


def _entries(column: Any) -> list[Any]:
    return [column[i] for i in range(column.shape[0])]
