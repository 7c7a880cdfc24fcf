"""Inverse dynamics of a driven base, in any scalar: numbers, arrays of many instants, traced ones.

    symbol      what it is                                                     here
    ν, ν̇        speeds of base, joints and wheels, and their rates             nu, nu_dot
    τ           what motors give on every speed
    M ν̇ + c     what the motion takes of every speed                           `required_torques`
    τ_e         what springs, dampers and friction give by themselves          `element_torques`
    A, f        rows of the contacts' directions, and the forces along them

    τ + Aᵀ f = M ν̇ + c − τ_e

What follows others by couplings, ν_f = σ ν_l, has its part put on them: τ_l + σ τ_f (`put_on_leaders`). Where no motor
gives anything, contacts do: B f = w. Of all such forces those nearest to wished ones f* count, by Σ Δf²/W
(`spread_forces`), and contacts that give theirs by slip slide at s = s(|f|/μN) f/|f| (`slip_per_force`).
"""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import apply, product, solve_positive, transpose
from trundle.mechanics.wheels import GRIPPED, WheelModel
from trundle.model.constraints import Configuration, coupling_rows, without_followers
from trundle.scalars import AnyRows, Rows, Scalar, minimum, plus, sqrt, times


def required_torques(
    assembly: Assembly, at: Configuration, nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
) -> list[Scalar]:
    """M ν̇ + c over all speeds: of the tree, and of linkages' drives."""
    count = assembly.tree.speed_count
    required: list[Scalar] = [0] * len(assembly.speeds)
    required[:count] = inverse_dynamics(assembly.tree, at.poses, list(nu[:count]), list(nu_dot[:count]))
    for linkage in assembly.linkages:
        required[linkage.column] = times(linkage.armature, nu_dot[linkage.column])
    return required


def element_torques(assembly: Assembly, at: Configuration, nu: Sequence[Scalar]) -> list[Scalar]:
    """τ_e over all speeds."""
    torques: list[Scalar] = [0] * len(assembly.speeds)
    for element in assembly.elements:
        place = at.values[assembly.quantities.coordinate_of(assembly.speeds[element.column])]
        given = element.effort(place, nu[element.column]).torque
        torques[element.column] = plus(torques[element.column], given)
    return torques


def put_on_leaders(assembly: Assembly, at: Configuration, rows: AnyRows) -> Rows:
    """Rows over all speeds, each follower's entry put on those that it follows by σ; followers keep 0."""
    return without_followers(assembly, [list(row) for row in rows], coupling_rows(assembly, at)[0])


def spread_forces(onto: AnyRows, weights: Sequence[Scalar], missing: Sequence[Scalar]) -> list[Scalar]:
    """W Bᵀ (B W Bᵀ)⁻¹ w: the forces that give what is missing w, with least Σ f²/W.

    onto: Bᵀ, a row a force; weights: W of the forces.
    """
    weighted = [[times(weight, part) for part in row] for weight, row in zip(weights, onto, strict=True)]
    share = solve_positive(product(transpose(weighted), onto), [[part] for part in missing])
    return apply(weighted, [part for (part,) in share])


def slip_per_force(wheel: WheelModel, ahead: Scalar, left: Scalar, grip: Scalar, least: float) -> Scalar:
    """s(|f|/μN)/|f| (m/s by N) of forces ahead and to the left, and of grip μN; `least` (N) counts as no force."""
    size = sqrt(ahead * ahead + left * left + least * least)
    return wheel.law.creep(minimum(size / grip, GRIPPED), wheel.read) / size


def rolled(wheel: WheelModel, ahead: Scalar, left: Scalar) -> Scalar:
    """How fast a wheel rolls on for what its contact moves ahead and to the left: rollers give way along their axes."""
    only, *others = wheel.directions
    if others:
        return ahead
    return ahead + only.across / only.along * left
