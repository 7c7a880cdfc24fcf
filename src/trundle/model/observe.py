"""What a run shows beside its states: dependent speeds, motor and contact forces, energies, the constraint residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import Gear
from trundle.mechanics.energy import kinetic_energy, potential_energy
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.kinematics import velocities, world_poses
from trundle.mechanics.linear import apply, transpose
from trundle.mechanics.reactions import constraint_forces, spread_forces
from trundle.mechanics.rolling import Basis, Problem
from trundle.model.closures import Closures, reactions
from trundle.model.configuration import Configuration, coupled_coordinates
from trundle.model.forces import Forces
from trundle.model.moving import MovingMechanism
from trundle.model.multipliers import Solution
from trundle.scalars import Scalar, absolute, is_zero, maximum, minus
from trundle.spatial.motions import Force, transform_point
from trundle.spatial.vectors import scale


@dataclass(frozen=True)
class Motion:
    """All speeds ν and their rates, the independent coordinates' and speeds' rates, and the forces, at one state.

    `wrenches` of the loops' joints by name, what they put on all the speeds together, Aᵀλ (N, N m), and the loops' rows
    whose multipliers redundancy leaves open.
    """

    nu: list[Scalar]
    nu_dot: list[Scalar]
    q_dot: list[Scalar]
    u_dot: list[Scalar]
    forces: Forces
    wrenches: Mapping[str, Force] = field(default_factory=dict)
    loop_forces: Sequence[Scalar] = ()
    undetermined: tuple[int, ...] = ()

    def held_by(self, moving: MovingMechanism, loops: Closures, solution: Solution) -> Motion:
        """The same motion with what the loops' multipliers say of their joints."""
        wrenches, multipliers = loops.wrenches(moving.mechanism.assembly, solution.multipliers)
        every = [row for closure in loops.closures.values() for row in closure.rows]
        forces = apply(transpose(every), multipliers)
        return replace(self, wrenches=wrenches, loop_forces=forces, undetermined=solution.undetermined)


def observed(
    assembly: Assembly,
    at: Configuration,
    problem: Problem,
    basis: Basis,
    motion: Motion,
    names: Sequence[str],
    currents: Sequence[str],
    u: Sequence[Scalar],
    loops: Closures | None = None,
) -> dict[str, Scalar]:
    """Every output by name, in the order in which a person would read them; u are the independent speeds."""
    outputs: dict[str, Scalar] = {}
    outputs.update({name: at.values[name] for name in coupled_coordinates(assembly)})
    outputs.update(
        {
            name: value
            for name, value in zip(assembly.speeds, motion.nu, strict=True)
            if name not in basis.labels
        }
    )
    commands = {f"{a.name}.{a.command}" for a in assembly.actuators}
    for name, effort in motion.forces.efforts.items():
        if f"{name}.current" not in currents and any(
            a.name == name and a.kind == "dc" for a in assembly.actuators
        ):
            outputs[f"{name}.current"] = effort.current
        outputs[f"{name}.{'delivered' if f'{name}.torque' in commands else 'torque'}"] = effort.torque
        outputs[f"{name}.power"] = effort.power
    outputs.update(motion.forces.contacts)
    outputs.update(_constraint_forces(assembly, at, problem, basis, motion))
    outputs.update(reactions(assembly, motion.wrenches))
    if not assembly.base_columns:
        outputs.update(_positions(assembly, at))
    outputs.update(_energies(assembly, at, motion))
    if loops is not None:
        outputs["loop_residual"] = _largest(loops.gaps)
    slips = apply(problem.rows, motion.nu) + (apply(loops.rows, u) if loops is not None else [])
    outputs["constraint_residual"] = _largest(slips)
    return outputs


def _constraint_forces(
    assembly: Assembly, at: Configuration, problem: Problem, basis: Basis, motion: Motion
) -> dict[str, Scalar]:
    """The forces of the ideal contacts on the robot and of gears on their followers, from what the motion leaves
    unbalanced: M ν̇ + c − τ = Aᵀλ.
    """
    if not problem.rows:
        return {}
    count = assembly.tree.speed_count
    needed = inverse_dynamics(assembly.tree, at.poses, motion.nu[:count], motion.nu_dot[:count])
    needed += [c.armature * motion.nu_dot[c.column] for c in assembly.linkages]
    unbalanced = [n - t for n, t in zip(needed, motion.forces.tau, strict=True)]
    if motion.loop_forces:
        unbalanced = [minus(u, f) for u, f in zip(unbalanced, motion.loop_forces, strict=True)]
    if basis.elimination.has_fixed_rows:
        multipliers = constraint_forces(problem.rows, basis.elimination.independent_rows, unbalanced)
    else:
        multipliers = spread_forces(problem.rows, basis.matrix, unbalanced)
    wheels = {wheel.name: wheel for wheel in assembly.wheels}
    forces: dict[str, Scalar] = {}
    for about, value in zip(problem.about, multipliers, strict=True):
        if about.owner in wheels:
            direction = next(d for d in wheels[about.owner].directions if d.what == about.what)
            forces[f"{about.owner}.{direction.force}"] = value
        elif about.what == Gear.what:
            forces[f"{about.owner}.torque"] = value
    return forces


def _energies(assembly: Assembly, at: Configuration, motion: Motion) -> dict[str, Scalar]:
    count = assembly.tree.speed_count
    kinetic = kinetic_energy(
        assembly.tree, velocities(assembly.tree, at.poses, motion.nu[:count]), motion.nu[:count]
    )
    for linkage in assembly.linkages:
        rate = motion.nu[linkage.column]
        kinetic = kinetic + linkage.armature * rate * rate / 2
    potential = potential_energy(assembly.tree, world_poses(assembly.tree, at.poses))
    return {
        "energy.kinetic": kinetic,
        "energy.potential": potential,
        "energy.internal": motion.forces.stored,
        "power.in": motion.forces.power,
        "power.lost": motion.forces.loss,
    }


def _positions(assembly: Assembly, at: Configuration) -> dict[str, Scalar]:
    """World positions of a fixed-base robot's joints, its bodies' mass centres and its loops' ends, for drawing and for
    checks.
    """
    outputs: dict[str, Scalar] = {}
    world = world_poses(assembly.tree, at.poses)
    for link, pose in zip(assembly.tree.links, world, strict=True):
        if link.name == "base":
            continue
        # a planar or floating joint's own coordinates have the short names
        prefix = "world_" if f"{link.name}.x" in assembly.coordinates else ""
        outputs.update(zip((f"{link.name}.{prefix}{axis}" for axis in "xyz"), pose.position, strict=True))
        if not is_zero(link.inertia.mass):
            center = transform_point(pose, scale(1 / link.inertia.mass, link.inertia.first_moment))
            outputs.update(zip((f"{link.name}.center_{axis}" for axis in "xyz"), center, strict=True))
    for loop in assembly.loops:
        ends = {"": loop.second} | ({"first_": loop.first} if loop.kind == "rod" else {})
        for prefix, end in ends.items():
            point = transform_point(world[end.link], end.placement.position)
            outputs.update(zip((f"{loop.name}.{prefix}{axis}" for axis in "xyz"), point, strict=True))
    return outputs


def _largest(values: Sequence[Scalar]) -> Scalar:
    """max |value|: of A ν over all rows, say, the redundant ones too (m/s)."""
    worst: Scalar = 0
    for value in values:
        worst = maximum(worst, absolute(value))
    return worst
