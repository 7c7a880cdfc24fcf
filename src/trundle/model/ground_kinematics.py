"""The speeds of a kinematic step over terrain: contacts stand still in least squares, and the body may slip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trundle.mechanics.momentum import center_of_mass
from trundle.scalars import Scalar, minus, plus, times
from trundle.spatial.vectors import apply_transposed, cross, subtract
from trundle.terrain.kinematics import Condition, SlipGains, body_slip, least_squares, standing

if TYPE_CHECKING:
    from trundle.model.ground_motion import GroundMotion


def standing_speeds(motion: GroundMotion) -> list[Scalar]:
    """The speeds that follow no others at which contacts stand still and elastic couplings close, in least squares."""
    time = motion.told_of(motion.terrain.recovery)
    conditions = [
        condition
        for contacts in motion.places.values()
        for condition in standing(
            [motion.folded(each.all_rows) for each in contacts],
            [each.contact.distance for each in contacts],
            times(-1, motion.depth),
            time,
        )
    ]
    for spring in motion.assembly.springs:
        row: list[Scalar] = [0] * len(motion.assembly.speeds)
        for axis, share in spring.shares:
            row[axis.column] = share
        stretch = spring.stretch(motion.here.at.values)
        conditions.append(Condition(motion.folded([row]), [-stretch / time]))
    return least_squares(conditions, motion.held_free, len(motion.free))


def with_body_slip(motion: GroundMotion, nu: Sequence[Scalar]) -> list[Scalar]:
    """All speeds with the body's slip, where the terrain says any."""
    component = motion.terrain.body_slip
    if component is None:
        return list(nu)
    tree, world = motion.assembly.tree, motion.world
    _, center = center_of_mass(tree, world)
    arm = apply_transposed(world[0].rotation, subtract(center, world[0].position))
    omega = (nu[3], nu[4], nu[5])
    velocity = [plus(v, turned) for v, turned in zip(nu[:3], cross(omega, arm), strict=True)]
    turned = cross(omega, (velocity[0], velocity[1], velocity[2]))
    pull = [
        minus(g, c) for g, c in zip(apply_transposed(world[0].rotation, tree.gravity), turned, strict=True)
    ]
    gains = SlipGains(*(motion.told_of(getattr(component, key)) for key in SlipGains._fields))
    ahead, left, spin = body_slip(gains, velocity[0], omega[2], pull)
    # What the centre of mass does, as it is at the base's origin.
    changes = (plus(ahead, times(spin, arm[1])), minus(left, times(spin, arm[0])), 0, 0, 0, spin)
    return [*(plus(speed, change) for speed, change in zip(nu[:6], changes, strict=True)), *nu[6:]]
