"""What a run shows beside its states: dependent speeds, motor and contact forces, energies, the constraint residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import Tie
from trundle.mechanics.elimination import constraint_forces, spread_forces
from trundle.mechanics.frames import velocities, world_poses
from trundle.mechanics.linear import apply, transpose
from trundle.mechanics.loop_joints import HELD
from trundle.mechanics.momentum import kinetic_energy, potential_energy
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.rolling import ConstraintRow
from trundle.model.closures import Closures, reactions
from trundle.model.constraints import Configuration, coupled_coordinates
from trundle.model.forces import Forces
from trundle.model.guided import Solution
from trundle.model.moving import MovingMechanism, balance
from trundle.scalars import Scalar, is_zero, largest, minus
from trundle.spatial.motions import Force, transform_point
from trundle.spatial.vectors import Vector, scale

_KINETIC = Quantity("energy.kinetic", "J", "energy")
_POTENTIAL = Quantity("energy.potential", "J", "energy")
_INTERNAL = Quantity("energy.internal", "J", "energy")
_POWER_IN = Quantity("power.in", "W", "power")
_POWER_LOST = Quantity("power.lost", "W", "power")
_LOOP_RESIDUAL = Quantity("loop_residual", "m", "residual")
_CONSTRAINT_RESIDUAL = Quantity("constraint_residual", "m/s", "residual")


@dataclass(frozen=True)
class ForcedMotion:
    """The rates of all speeds and of the independent ones, and the forces, at one state.

    `wrenches` of the loops' joints by name, what they put on all the speeds together, Aᵀλ (N, N m), and the loops' rows
    whose multipliers redundancy leaves open.
    """

    nu_dot: list[Scalar]
    u_dot: list[Scalar]
    forces: Forces
    wrenches: Mapping[str, Force] = field(default_factory=dict)
    loop_forces: Sequence[Scalar] = ()
    undetermined: tuple[int, ...] = ()

    def held_by(self, loops: Closures, assembly: Assembly, solution: Solution) -> ForcedMotion:
        """The same motion with what the loops' multipliers say of their joints."""
        wrenches, multipliers = loops.wrenches(assembly, solution.multipliers)
        every = [row for closure in loops.closures.values() for row in closure.rows]
        forces = apply(transpose(every), multipliers)
        return replace(self, wrenches=wrenches, loop_forces=forces, undetermined=solution.undetermined)


def observed(moving: MovingMechanism, motion: ForcedMotion) -> dict[Quantity, Scalar]:
    """Every output, in the order in which a person would read them."""
    mechanism, loops = moving.mechanism, moving.loops
    assembly, at = mechanism.assembly, mechanism.at
    quantities, speeds = assembly.quantities, zip(assembly.speeds, moving.nu, strict=True)
    outputs = {quantities[name]: at.values[name] for name in coupled_coordinates(assembly)}
    outputs |= {quantities[name]: value for name, value in speeds if name not in moving.labels}
    for actuator in assembly.actuators:
        effort = motion.forces.efforts[actuator.name]
        outputs |= {quantity: effort.outputs[name] for name, quantity in actuator.outputs.items()}
        outputs[actuator.torque] = effort.torque
        outputs[actuator.power] = effort.power
    outputs.update(motion.forces.supplies)
    outputs.update(motion.forces.contacts)
    outputs.update(_constraint_forces(moving, motion))
    outputs.update(reactions(assembly, motion.wrenches))
    if not assembly.base_columns:
        outputs.update(positions(assembly, at))
    outputs.update(_energies(moving, motion))
    slips = apply(mechanism.rolling.rows, moving.nu)
    if loops is not None:
        outputs[_LOOP_RESIDUAL] = largest(loops.gaps)
        slips += apply(loops.rows, moving.u)
    outputs[_CONSTRAINT_RESIDUAL] = largest(slips)
    return outputs


def _constraint_forces(moving: MovingMechanism, motion: ForcedMotion) -> dict[Quantity, Scalar]:
    """The forces of the ideal contacts on the robot and of gears on their followers, from what the motion leaves
    unbalanced: M ν̇ + c − τ = Aᵀλ.
    """
    mechanism = moving.mechanism
    problem, basis = mechanism.rolling, mechanism.basis
    if not problem.rows:
        return {}
    unbalanced = [n - t for n, t in zip(balance(moving, motion.nu_dot), motion.forces.tau, strict=True)]
    if motion.loop_forces:
        unbalanced = [minus(u, f) for u, f in zip(unbalanced, motion.loop_forces, strict=True)]
    if basis.elimination.has_fixed_rows:
        multipliers = constraint_forces(problem.rows, basis.elimination.independent_rows, unbalanced)
    else:
        multipliers = spread_forces(problem.rows, basis.matrix, unbalanced)
    forces = [force_of(mechanism.assembly, about) for about in problem.about]
    pairs = zip(forces, multipliers, strict=True)
    return {force: value for force, value in pairs if force is not None}


def force_of(assembly: Assembly, about: ConstraintRow) -> Quantity | None:
    """What a constraint row's multiplier is: a contact's force or a tie's torque; None for a linkage's, that has no
    name.
    """
    for tie in assembly.couplings:
        if isinstance(tie, Tie) and tie.name == about.owner:
            return tie.torque
    for wheel in assembly.wheels:
        if wheel.name == about.owner:
            return next(wheel.force(d) for d in wheel.directions if d.what == about.what)
    return None


def _energies(moving: MovingMechanism, motion: ForcedMotion) -> dict[Quantity, Scalar]:
    """Kinetic, potential and internal energy (J); the linkages' armatures and what forces store are in them."""
    assembly, poses = moving.mechanism.assembly, moving.mechanism.at.poses
    nu = moving.nu[: assembly.tree.speed_count]
    kinetic = kinetic_energy(assembly.tree, velocities(assembly.tree, poses, nu), nu)
    for linkage in assembly.linkages:
        rate = moving.nu[linkage.column]
        kinetic = kinetic + linkage.armature * rate * rate / 2
    potential = potential_energy(assembly.tree, world_poses(assembly.tree, poses))
    return {
        _KINETIC: kinetic,
        _POTENTIAL: potential,
        _INTERNAL: motion.forces.stored,
        _POWER_IN: motion.forces.power,
        _POWER_LOST: motion.forces.loss,
    }


def positions(assembly: Assembly, at: Configuration) -> dict[Quantity, Scalar]:
    """World positions of a fixed-base robot's joints, its bodies' mass centres and its loops' ends, for drawing and for
    checks.
    """
    outputs: dict[Quantity, Scalar] = {}
    world = world_poses(assembly.tree, at.poses)
    for link, pose in zip(assembly.tree.links, world, strict=True):
        if link.name == "base":
            continue
        # a planar or floating joint's own coordinates have the short names
        prefix = "world_" if f"{link.name}.x" in assembly.coordinates else ""
        outputs |= _point(link.name, prefix, pose.position)
        if not is_zero(link.inertia.mass):
            center = transform_point(pose, scale(1 / link.inertia.mass, link.inertia.first_moment))
            outputs |= _point(link.name, "center_", center)
    for loop in assembly.loops:
        if loop.name in assembly.links:  # a joint with coordinates of its own, which is a link
            continue
        ends = {"": loop.second} | ({"first_": loop.first} if loop.kind not in HELD else {})
        for prefix, end in ends.items():
            point = transform_point(world[end.link], end.placement.position)
            outputs |= _point(loop.name, prefix, point)
    return outputs


def _point(owner: str, prefix: str, position: Vector) -> dict[Quantity, Scalar]:
    """A point's world coordinates as outputs (m)."""
    axes = (Quantity(f"{prefix}{axis}", "m", "place").of(owner) for axis in "xyz")
    return dict(zip(axes, position, strict=True))
