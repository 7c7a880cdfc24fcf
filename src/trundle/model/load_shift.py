"""How slopes and accelerations shift load from wheel to wheel, where the description says how high its masses are.

What a planar base can't do (rise, roll, pitch), its joint holds: a force F along z and moments M_x and M_y about where
the ground meets the base's z, which by Newton-Euler follow from q, ν and ν̇. The wheels give them, as equal springs
under a rigid base: N_i = a + b x_i + c y_i with Σ N = F, Σ N x = −M_y, Σ N y = M_x. Friction lies in the ground and
has no such moment; a law that resists about an axle has one.

Friction hangs on N, ν̇ on friction, N on ν̇. As ν̇ is linear in the forces f, so are F and the moments, and the plane
a, b, c solves G (a, b, c) = r + Y f(N): linear where f is proportional to N, else by Newton's method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.inverse_dynamics import needed_wrenches
from trundle.mechanics.linear import adjugate, apply, determinant, dot, product, transpose
from trundle.mechanics.momentum import base_columns
from trundle.mechanics.wheels import WheelModel, load_shares
from trundle.model.constraints import Configuration
from trundle.model.forces import (
    LoadLaw,
    WheelContact,
    base_frames,
    carried_by,
    contact_place,
    ground_height,
    less_given,
    shared_weight,
    sharing_wheels,
    standing_loads,
    touching_wheels,
    wheel_loads,
)
from trundle.model.mechanism import Mechanism
from trundle.model.moving import MovingMechanism, bound_accelerations, mass_solutions
from trundle.robot.contact import Push
from trundle.scalars import AnyRows, Rows, Scalar, is_zero, maximum, minimum, minus, plus, times
from trundle.spatial.motions import Force, Pose, pair
from trundle.spatial.vectors import Vector

# Newton's steps for laws that aren't proportional to the load. They begin at the loads at rest and square the error:
# four leave rounding (tests/model/test_load_shift.py).
_STEPS = 4
# How much more load, of the mean, shows how forces grow with it: curvature leaves some 1e-4 of the slope.
_MORE = 1e-4
_LEAST = 1e-6  # N: where nothing weighs, nothing is divided by zero
# Loads, of the mean, at which a law is asked whether it is proportional to them; and what is rounding there.
_TRIED = (0.03, 0.4, 2.3, 5.0)
_ROUNDING = 1e-12


@dataclass(frozen=True)
class LoadShift:
    """What the wheels that share the weight carry: (F, −M_y, M_x), or as many of them as the places of the wheels can
    bear, is `held` + `response` τ, with τ the forces on all speeds, and less what wheels of `given` load carry.

    `shapes` are (1, x, y) of the sharing wheels, `axles` what a moment about a wheel's axle takes off, `standing` the
    plane of the loads at rest; `proportional` says whether every law's forces are so to the load.
    """

    held: list[Scalar]
    response: Rows
    shapes: Mapping[str, list[Scalar]]
    axles: Mapping[str, list[Scalar]]
    given: Mapping[str, Scalar]
    standing: list[Scalar]
    proportional: bool

    def loads(
        self, tau: Sequence[Scalar], touching: Sequence[WheelContact], own: Mapping[str, Scalar]
    ) -> dict[str, Scalar]:
        """The load of each wheel (N): not below 0, and not above what all that share it carry."""
        target = _add(self.held, apply(self.response, tau))
        for each in touching:
            if each.wheel.name in self.given:
                target = _add(target, self._effect(each, each.push(self.given[each.wheel.name], own)))
        sharing = [each for each in touching if each.wheel.name in self.shapes]
        gram = _gram(list(self.shapes.values()))
        if self.proportional:
            slopes = [(each, self._effect(each, each.push(1, own))) for each in sharing]
            plane = _solve(self._less(gram, slopes), target)
        else:
            plane = self.standing
            for _ in range(_STEPS):
                plane = self._closer(plane, gram, target, sharing, own)
        whole = dot(gram[0], plane)
        shares = {name: dot(shape, plane) for name, shape in self.shapes.items()}
        return {**self.given} | {name: maximum(minimum(share, whole), 0) for name, share in shares.items()}

    def _closer(
        self,
        plane: Sequence[Scalar],
        gram: Rows,
        target: Sequence[Scalar],
        sharing: Sequence[WheelContact],
        own: Mapping[str, Scalar],
    ) -> list[Scalar]:
        """Newton's next plane; a lifted wheel's force doesn't grow with its load."""
        more = maximum(_MORE * dot(gram[0], self.standing) / len(self.shapes), _LEAST)
        left = [minus(t, g) for t, g in zip(target, apply(gram, plane), strict=True)]
        slopes = []
        for each in sharing:
            share = dot(self.shapes[each.wheel.name], plane)
            here, there = (
                self._effect(each, each.push(maximum(load, 0), own)) for load in (share, share + more)
            )
            left = _add(left, here)
            slopes.append((each, [minus(b, a) / more for a, b in zip(here, there, strict=True)]))
        return _add(plane, _solve(self._less(gram, slopes), left))

    def _effect(self, touching: WheelContact, push: Push) -> list[Scalar]:
        """What a wheel's contact adds to what the wheels carry."""
        tau: list[Scalar] = [0] * len(self.response[0])
        for row, force in zip(touching.rows, push.forces, strict=True):
            tau = _add(tau, [times(entry, force) for entry in row])
        spin = touching.wheel.spin
        if spin is None or is_zero(push.moment):
            return apply(self.response, tau)
        tau[spin] = plus(tau[spin], push.moment)
        about = [times(entry, push.moment) for entry in self.axles[touching.wheel.name]]
        return _add(apply(self.response, tau), about)

    def _less(self, gram: Rows, slopes: Sequence[tuple[WheelContact, list[Scalar]]]) -> Rows:
        """G − Σ (what a contact adds for 1 N more on its wheel) (1, x, y)."""
        for each, slope in slopes:
            shape = self.shapes[each.wheel.name]
            gram = [
                [minus(g, times(s, x)) for g, x in zip(row, shape, strict=True)]
                for row, s in zip(gram, slope, strict=True)
            ]
        return gram


def shifts_load(assembly: Assembly) -> bool:
    """Whether a motion shifts the load of wheels whose contact law acts: where heights are known."""
    return assembly.heights and any(wheel.acts and wheel.load is None for wheel in assembly.wheels)


def moving_loads(moving: MovingMechanism, span: Sequence[int]) -> LoadLaw:
    """The loads of the wheels, by the motion where the heights of masses are known, else those at rest.

    Raises InputError on a slope where no height is known.
    """
    mechanism = moving.mechanism
    assembly = mechanism.assembly
    if not shifts_load(assembly):
        return standing_loads(assembly, mechanism.at, span)
    frames = base_frames(assembly, mechanism.at.poses)
    kinds, low = [0, *(1 + k for k in span)], ground_height(assembly, frames)
    given, weight = shared_weight(assembly, mechanism.at)
    shapes = {wheel.name: [carried_by(wheel, frames)[k] for k in kinds] for wheel in sharing_wheels(assembly)}
    count, basis = assembly.tree.speed_count, mechanism.basis.matrix
    columns = [at_ground(force, low) for force in base_columns(assembly.tree, mechanism.at.poses)]
    columns += [[0, 0, 0]] * (len(assembly.speeds) - count)
    needs = product([[column[k] for column in columns] for k in kinds], basis)
    response = product(_responses(moving, needs), transpose(basis))
    kept = [plus(a, b) for a, b in zip(moving.drift, apply(basis, _free_rates(moving)), strict=True)]
    wrenches = needed_wrenches(assembly.tree, mechanism.at.poses, moving.nu[:count], kept[:count])
    held = less_given(assembly, frames, [at_ground(wrenches[0], low)[k] for k in kinds], kinds)
    bias = apply(response, _needed(moving, wrenches, kept))
    held = [minus(h, b) for h, b in zip(held, bias, strict=True)]
    standing = _solve(_gram(list(shapes.values())), [weight[k] for k in kinds])
    axles = {wheel.name: [axle_moment(wheel, frames)[k] for k in kinds] for wheel in assembly.wheels}
    shift = LoadShift(held, response, shapes, axles, given, standing, _proportional(mechanism.numbers))
    return shift.loads


def required_loads(
    assembly: Assembly, at: Configuration, nu: Sequence[Scalar], nu_dot: Sequence[Scalar], span: Sequence[int]
) -> dict[str, Scalar]:
    """Normal forces on all wheels (N) by which a robot moves so, shifted where the heights of its masses are known.

    A wheel that would have to be pulled down has a negative one.
    """
    if not assembly.heights:
        return wheel_loads(assembly, at, span)
    count, frames = assembly.tree.speed_count, base_frames(assembly, at.poses)
    wrench = needed_wrenches(assembly.tree, at.poses, list(nu[:count]), list(nu_dot[:count]))[0]
    force, about_x, about_y = less_given(assembly, frames, at_ground(wrench, ground_height(assembly, frames)))
    loads: dict[str, Scalar] = {wheel.name: wheel.load for wheel in assembly.wheels if wheel.load is not None}
    if sharing := sharing_wheels(assembly):
        places = [contact_place(wheel, frames) for wheel in sharing]
        shares = load_shares(places, (force, about_x, about_y), span)
        loads |= {wheel.name: share for wheel, share in zip(sharing, shares, strict=True)}
    return loads


def _needed(moving: MovingMechanism, wrenches: Sequence[Force], nu_dot: Sequence[Scalar]) -> list[Scalar]:
    """M ν̇ + c over all speeds, from the wrenches through joints that ν̇ needs."""
    assembly, at = moving.mechanism.assembly, moving.mechanism.at
    needs: list[Scalar] = []
    slices = assembly.tree.speed_slices()
    for link, pose, wrench, own in zip(assembly.tree.links, at.poses, wrenches, slices, strict=True):
        needs += [
            plus(pair(wrench, column), times(armature, rate))
            for column, armature, rate in zip(link.subspace(pose), link.armatures, nu_dot[own], strict=True)
        ]
    return needs + [times(linkage.armature, nu_dot[linkage.column]) for linkage in assembly.linkages]


def _free_rates(moving: MovingMechanism) -> list[Scalar]:
    """u̇ that loops and motors that hold rates give without any force."""
    nothing = [0] * len(moving.labels)
    return nothing if moving.bound is None else bound_accelerations(moving, nothing).rates


def _responses(moving: MovingMechanism, needs: AnyRows) -> Rows:
    """For each row of needs, what a force on each of u puts on it by the accelerations it gives: rows times M⁻¹, within
    what binds these where something does.
    """
    if moving.bound is None:
        return mass_solutions(moving, needs)
    still = replace(moving, bound=moving.bound._replace(right=[0] * len(moving.bound.right)))
    return [bound_accelerations(still, row).rates for row in needs]


def at_ground(wrench: Force, low: Scalar) -> Vector:
    """(F, −M_y, M_x) about the ground's point at z = `low` below the base's origin, of a wrench about that origin."""
    force, moment = wrench
    return (
        force[2],
        minus(times(low, force[0]), moment[1]),
        plus(moment[0], times(low, force[1])),
    )


def axle_moment(wheel: WheelModel, frames: Sequence[Pose]) -> Vector:
    """What 1 N m about a wheel's axle adds to what the wheels carry, (Σ N, Σ N x, Σ N y): the ground takes it back."""
    rotation = frames[wheel.link].rotation
    return (0, rotation[1][1], minus(0, rotation[0][1]))


def _gram(shapes: AnyRows) -> Rows:
    """G = Σ (1, x, y)ᵀ(1, x, y)."""
    return product(transpose(shapes), shapes)


def _solve(matrix: AnyRows, right: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b, for as few unknowns as a plane has."""
    size = determinant(matrix)
    return [dot(row, right) / size for row in adjugate(matrix)]


def _add(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    return [plus(x, y) for x, y in zip(a, b, strict=True)]


def _proportional(numbers: Mechanism) -> bool:
    """Whether the forces of all laws that share the weight are proportional to the load, at random slips."""
    assembly, rng = numbers.assembly, np.random.default_rng(0)
    weight = shared_weight(assembly, numbers.at)[1][0] / len(sharing_wheels(assembly))
    own = {state.name: state.start + 1e-3 * rng.uniform() for state in assembly.own_states}
    for each in touching_wheels(assembly, numbers.at, list(rng.uniform(0.1, 1, len(assembly.speeds)))):
        if each.wheel.load is not None:
            continue
        pushes = [each.push(weight * tried, own) for tried in _TRIED]
        ratios = np.array([[*push.forces, push.moment] for push in pushes], float) / np.array(_TRIED)[:, None]
        if np.ptp(ratios, axis=0).max() > _ROUNDING * np.abs(ratios).max():
            return False
    return True
