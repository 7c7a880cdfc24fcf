"""The mass matrix of everything that moves, over the independent speeds; and what solves with it without forming it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.fewer_operations import recast
from trundle.mechanics.forward_dynamics import solve_mass
from trundle.mechanics.linear import product, transpose
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.mechanics.quantities import Quantities
from trundle.model.configuration import Configuration
from trundle.model.constraints import ideal_wheels
from trundle.model.mechanism import Mechanism
from trundle.model.multipliers import MassInverse
from trundle.scalars import Scalar

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
    """What solves with M for a mechanism with loops, where that is known to be definite and is shorter than M itself:
    trees without wheels that roll ideally and without couplings.
    """
    assembly = mechanism.assembly
    if not assembly.loops or ideal_wheels(assembly) or assembly.couplings:
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
    mass = np.array(extended_mass(numbers.assembly, numbers.at), dtype=float)
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
