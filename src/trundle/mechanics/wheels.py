"""Wheels on the ground plane: contact velocities, and the rows that rolling puts on the robot's speeds.

A wheel's frame has x along its heading, y along its axle, z up, and does not spin with the wheel. The contact lies a
radius below the centre; the velocity of the wheel's material there, v_c = v + ω × (0, 0, −R), is what must vanish
(or what slips).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trundle.mechanics.kinematics import point_jacobian
from trundle.mechanics.linear import dot
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.rolling import Row
from trundle.mechanics.tree import Tree
from trundle.scalars import Scalar, smooth_sign, sqrt
from trundle.spatial.motions import Pose


@dataclass(frozen=True)
class Direction:
    """A direction (along, across) in the wheel's plane of contact in which the ground can push, and that force's
    name.
    """

    force: str
    what: str
    along: Scalar
    across: Scalar


@dataclass(frozen=True)
class WheelModel:
    """A wheel as the algorithms see it: its link, where it stands on the base, how it meets the ground.

    `position` is the contact's (x, y) in the base's frame at the reference configuration; `spin` and `steering` the
    columns of its rates (None where it has none); `load` a given normal force (None: its share of the weight).
    """

    name: str
    kind: str
    link: int
    radius: Scalar
    position: tuple[Scalar, Scalar]
    contact: str
    directions: tuple[Direction, ...]
    spin: int | None = None
    steering: int | None = None
    friction: Scalar = 0
    slip_speed: Scalar = 0
    load: Scalar | None = None
    on_base: bool = True

    def force(self, direction: Direction) -> Quantity:
        """What the ground does to the robot in a direction (N)."""
        return Quantity(direction.force, "N", "force").of(self.name)

    def slip(self, direction: Direction) -> Quantity:
        """How fast the contact slips in a direction (m/s)."""
        return Quantity(f"{direction.what}_slip", "m/s", "slip").of(self.name)

    @property
    def pressed(self) -> Quantity:
        """The normal force on it (N)."""
        return Quantity("load", "N", "force").of(self.name)


def contact_rows(tree: Tree, poses: Sequence[Pose], wheel: WheelModel, width: int) -> list[list[Scalar]]:
    """One row for each direction: the contact's velocity in it is row · ν (m/s). Padded with zeros to `width`
    columns.
    """
    columns = point_jacobian(tree, poses, wheel.link, (0, 0, -wheel.radius))
    padding = [0] * (width - len(columns))
    return [
        [*(dot((d.along, d.across), column[:2]) for column in columns), *padding] for d in wheel.directions
    ]


def describe_rows(wheel: WheelModel, first: int) -> list[Row]:
    """What the rows of `contact_rows` are, when the first of them has index `first`."""
    steered = wheel.kind in ("fixed", "steered")
    return [
        Row(wheel.name, d.what, wheel.position, first if steered and d.what == "lateral" else None)
        for d in wheel.directions
    ]


def slip_force(wheel: WheelModel, load: Scalar, slip: Sequence[Scalar]) -> list[Scalar]:
    """Regularised Coulomb friction on the robot, f = −μ N v/√(|v|² + ε²) in N, with v the slip in the wheel's
    directions (m/s).

    Below the speed ε the contact creeps like a damper of μN/ε; the error in the limit friction is (ε/|v|)²/2
    (Pennestrì et al. 2016).
    """
    if len(slip) == 1:
        return [-wheel.friction * load * smooth_sign(slip[0], wheel.slip_speed)]
    speed = sqrt(sum(v * v for v in slip) + wheel.slip_speed * wheel.slip_speed)
    return [-wheel.friction * load * v / speed for v in slip]
