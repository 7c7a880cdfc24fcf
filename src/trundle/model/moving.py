"""A mechanism that moves: its mass matrix, its speeds, their drift and its closed loops in symbols, and the
accelerations of forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.elimination import generic_rank, undetermined_rows
from trundle.mechanics.fewer_operations import recast
from trundle.mechanics.forward_dynamics import forward_dynamics, solve_mass
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import apply, product, solve_positive, transpose
from trundle.mechanics.momentum import mass_matrix, mass_numbers
from trundle.mechanics.quantities import Quantities
from trundle.model.closures import Closures, GroupsOfSymbols, close_loops, closed_samples
from trundle.model.constraints import Configuration, ideal_wheels
from trundle.model.forces import motor_drives
from trundle.model.guided import MassInverse, Solution, solve_with_multipliers
from trundle.model.mechanism import Mechanism
from trundle.model.symbols import STATE, Symbols, SymbolSamples, derivative_along
from trundle.scalars import AnyRows, Rows, Scalar, minus
from trundle.spatial.motions import Force

# From so many speeds on, solving with M by recursion takes fewer operations than by the matrix. Chains closed by one
# loop, by the matrix and by recursion: planar ones of 8, 12 and 25 joints 1,891, 3,737, 15,372 and 1,691, 2,661, 5,815;
# spatial ones of 12 and 25 joints 7,514, 26,208 and 7,912, 17,682.
RECURSIVE = 12
# Eigenvalues of a mass matrix scaled to a diagonal of ones that are rounding.
NO_INERTIA = 1e-12


def extended_mass(assembly: Assembly, at: Configuration) -> list[list[Scalar]]:
    """The tree's mass matrix with a row and column for each linkage's rate, which carries only its drive's armature."""
    mass = mass_matrix(assembly.tree, at.poses)
    size = len(assembly.speeds)
    for row in mass:
        row.extend([0] * (size - len(row)))
    mass += [[0] * size for _ in range(size - len(mass))]
    for linkage in assembly.linkages:
        mass[linkage.column][linkage.column] = linkage.armature
    return mass


def reduced_mass(mechanism: Mechanism) -> list[list[Scalar]]:
    """SᵀMS for ν = S u."""
    basis = mechanism.basis.matrix
    return product(transpose(basis), product(extended_mass(mechanism.assembly, mechanism.at), basis))


def mass_inverse(mechanism: Mechanism) -> MassInverse | None:
    """What solves with M for a mechanism whose u̇ is bound, where that is known to be definite and is shorter than M
    itself: trees without wheels that roll ideally and without couplings.
    """
    assembly = mechanism.assembly
    if ideal_wheels(assembly) or assembly.couplings:
        return None
    if len(assembly.speeds) < RECURSIVE or not _is_definite(mechanism.numbers):
        return None
    fast = recast(assembly.tree, mechanism.at.q)
    return lambda columns: solve_mass(fast.tree, fast.poses, columns)


# A speed's inertia below its square is none: scaled by it, the matrix would overflow.
_NO_WEIGHT = 1e-100


def scaled_mass(numbers: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """M of a mechanism in floats over speeds scaled to √(2 kinetic energy), and these scales: a motion that no mass
    resists has then an eigenvalue that is zero beside 1.
    """
    assembly = numbers.assembly
    mass, of_tree = np.zeros((len(assembly.speeds),) * 2), slice(assembly.tree.speed_count)
    mass[of_tree, of_tree] = mass_numbers(assembly.tree, numbers.at.poses)
    for linkage in assembly.linkages:
        mass[linkage.column, linkage.column] = linkage.armature
    own = np.sqrt(np.diag(mass).clip(0))
    weighs = own > _NO_WEIGHT
    scale = 1 / np.where(weighs, own, own[weighs].min(initial=1.0))
    return mass * np.outer(scale, scale), scale


def _is_definite(numbers: Mechanism) -> bool:
    return bool(np.linalg.eigvalsh(scaled_mass(at_generic(numbers))[0])[0] > NO_INERTIA)


def generic_values(quantities: Quantities, names: Sequence[str]) -> np.ndarray:
    """Random values at which nothing is special, always the same ones; quaternions unit."""
    return quantities.normalised(names, np.random.default_rng(0).uniform(0.1, 0.5, len(names)))


def at_generic(numbers: Mechanism) -> Mechanism:
    """The mechanism at a configuration where nothing is special."""
    return numbers.configured(list(generic_values(numbers.assembly.quantities, numbers.names)))


class ForceConstraints(NamedTuple):
    """What binds u̇ besides ν = S u, A u̇ = `right`: a label for each row of A, and where its rank is decided."""

    rows: Rows
    right: list[Scalar]
    labels: tuple[str, ...]
    samples: SymbolSamples


@dataclass(frozen=True)
class MovingMechanism:
    """A mechanism at symbols q and u: ν = S(q) u, q̇ = N(q) ν, and `drift` Ṡu, so that ν̇ = S u̇ + Ṡu.

    Loops and motors that hold rates bind u̇ besides. `inverse` solves with the mass matrix then, where that takes fewer
    operations than forming it.
    """

    mechanism: Mechanism
    symbols: Symbols
    q: Sequence[Scalar]
    u: list[Scalar]
    nu: list[Scalar]
    q_dot: list[Scalar]
    drift: list[Scalar]
    loops: Closures | None = None
    bound: ForceConstraints | None = None
    inverse: MassInverse | None = None

    @property
    def groups(self) -> GroupsOfSymbols:
        """Its symbols of state, inputs and parameters."""
        return [*self.q, *self.u], [], list(self.mechanism.parameters.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the independent speeds u."""
        return self.mechanism.basis.labels


def moving_mechanism(numbers: Mechanism, symbols: Symbols) -> MovingMechanism:
    """A mechanism in floats, set in motion in symbols.

    Raises InputError where ideal wheels or loops lock the robot, or its loops can't be closed.
    """
    mechanism = symbols.mechanism(numbers)
    q = mechanism.q
    u = symbols.make(STATE, len(mechanism.basis.labels), len(q))
    nu = mechanism.speeds(u)
    q_dot = mechanism.coordinate_rates(nu)
    drift = derivative_along(nu, q, q_dot) if numbers.bends else [0] * len(nu)
    moving = MovingMechanism(mechanism, symbols, q, u, nu, q_dot, drift)
    if not numbers.assembly.loops:
        return moving
    loops = close_loops(mechanism, mechanism.basis.matrix, moving.groups)
    right = [-rate for rate in derivative_along(apply(loops.rows, u), q, q_dot)]
    labels = tuple(f"{owner} {k + 1}" for k, owner in enumerate(loops.owners))
    bound = ForceConstraints(loops.rows, right, labels, loops.samples)
    return replace(moving, loops=loops, bound=bound, inverse=mass_inverse(mechanism))


def holding(
    moving: MovingMechanism, commands: Mapping[str, Scalar], own: Mapping[str, Scalar]
) -> MovingMechanism:
    """The same with motors that hold rates, S_h u̇ = a_h − (Ṡu)_h for their rows of S, behind the loops' rows: their
    multipliers are the motors' torques. Raises InputError where these rates depend on each other.
    """
    mechanism = moving.mechanism
    assembly, held = mechanism.assembly, holding_motors(mechanism.assembly)
    if not held:
        return moving
    drives = motor_drives(assembly, mechanism.at, moving.nu, commands, own)
    rows = [mechanism.basis.matrix[motor.shaft] for motor in held]
    right = [minus(motor.acceleration(drives[motor.name]), moving.drift[motor.shaft]) for motor in held]
    none = ForceConstraints([], [], (), closed_samples(mechanism.numbers, [], moving.groups))
    before = moving.bound or none
    labels = (*before.labels, *(motor.torque.name for motor in held))
    bound = ForceConstraints([*before.rows, *rows], [*before.right, *right], labels, before.samples)
    _refuse_fight(mechanism.robot.name, [motor.name for motor in held], bound)
    return replace(moving, bound=bound, inverse=moving.inverse or mass_inverse(mechanism))


def holding_motors(assembly: Assembly) -> list[Actuator]:
    """The motors that hold rates."""
    return [actuator for actuator in assembly.actuators if actuator.motor.holds]


def _refuse_fight(robot_name: str, names: Sequence[str], bound: ForceConstraints) -> None:
    """Raise InputError where rows of motors, which stand last, depend on each other or on the loops' rows."""
    values, zero = bound.samples.of_constraints(bound.rows), bound.samples.zero
    first = len(bound.rows) - len(names)
    if generic_rank(values, zero) == generic_rank(values[:, :first], zero) + len(names):
        return
    fighting = [names[row - first] for row in undetermined_rows(values, zero) if row >= first]
    ties = f"rolling wheels, couplings or loops of '{robot_name}'"
    message = f"the ideal motor {fighting[0]} can't hold its rate: {ties} decide it"
    if len(fighting) > 1:
        message = f"the ideal motors {', '.join(fighting)} would fight: {ties} tie their rates to each other"
    raise InputError(
        message,
        key=f"robot.motors.{fighting[-1]}",
        hint=f"take {fighting[-1]!r} away or give it another type, such as velocity with a gain; wheels with "
        "contact: slip turn freely",
    )


def needed_force(
    moving: MovingMechanism, u_dot: Sequence[Scalar], wrenches: Sequence[Force] | None = None
) -> list[Scalar]:
    """Sᵀ(M (S u̇ + Ṡu) + c), what the independent speeds need (N, N m), less what wrenches on the links give."""
    basis = moving.mechanism.basis.matrix
    nu_dot = [a + b for a, b in zip(apply(basis, u_dot), moving.drift, strict=True)]
    return apply(transpose(basis), balance(moving, nu_dot, wrenches))


def balance(
    moving: MovingMechanism, nu_dot: Sequence[Scalar], wrenches: Sequence[Force] | None = None
) -> list[Scalar]:
    """M ν̇ + c over all speeds by Newton-Euler (N, N m), the linkages' armatures with it."""
    assembly = moving.mechanism.assembly
    count = assembly.tree.speed_count
    poses = moving.mechanism.at.poses
    tau = inverse_dynamics(assembly.tree, poses, moving.nu[:count], nu_dot[:count], wrenches)
    return tau + [linkage.armature * nu_dot[linkage.column] for linkage in assembly.linkages]


def free_accelerations(
    moving: MovingMechanism, tau: Sequence[Scalar], wrenches: Sequence[Force] | None = None
) -> list[Scalar]:
    """ν̇ of a mechanism without constraints, by the articulated-body algorithm in its shortest frames."""
    fast = recast(moving.mechanism.assembly.tree, moving.mechanism.at.q)
    return forward_dynamics(
        fast.tree, fast.poses, moving.nu, tau, wrenches if wrenches is None else fast.wrenches(wrenches)
    )


def mass_solutions(moving: MovingMechanism, columns: AnyRows) -> Rows:
    """X with SᵀMS X = T for the `columns` of T, by columns, of a mechanism without loops."""
    mechanism = moving.mechanism
    if mechanism.constrained:
        return transpose(solve_positive(reduced_mass(mechanism), transpose(columns)))
    fast = recast(mechanism.assembly.tree, mechanism.at.q)
    return solve_mass(fast.tree, fast.poses, columns)


def bound_accelerations(moving: MovingMechanism, drive: Sequence[Scalar]) -> Solution:
    """u̇ of a mechanism with constraints, SᵀMS u̇ = drive + Aᵀλ with A u̇ = b for what binds it besides ν = S u."""
    if moving.bound is None:
        mass = reduced_mass(moving.mechanism)
        return Solution([row[0] for row in solve_positive(mass, [[force] for force in drive])], [], ())
    rows, right, labels, samples = moving.bound
    mass = moving.inverse or reduced_mass(moving.mechanism)
    return solve_with_multipliers(mass, drive, rows, right, samples, (moving.labels, labels))
