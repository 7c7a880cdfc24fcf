"""The kinematic tree that every algorithm walks: links numbered so that a parent comes before its children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trundle.mechanics.joints import KINDS, JointKind, JointShape
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_MOTION,
    Inertia,
    Motion,
    Pose,
    add_motions,
    compose,
    scale_motion,
)
from trundle.spatial.vectors import ZERO, Vector

# The parent of a root: no link's index.
WORLD = -1
NO_INERTIA = Inertia(0, ZERO, (ZERO, ZERO, ZERO))


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it.

    `kind` is a name in `joints.KINDS`, or the formulas of a joint from outside the package. `placement` is the pose of
    the joint in the parent link's frame; `axis` a constant unit vector in the joint's frame; the link's own frame is
    the joint's moved frame. `armature` is a motor rotor's inertia as felt at the joint (kg m² or kg), added to the
    diagonal of the mass matrix: one for all of the joint's speeds, or a tuple of one for each. `second_axis` is a
    universal joint's, `pitch` a screw's advance (m/rad).
    """

    name: str
    parent: int
    kind: str | JointKind
    axis: Vector = (0, 0, 1)
    placement: Pose = IDENTITY_POSE
    inertia: Inertia = NO_INERTIA
    armature: Scalar | tuple[Scalar, ...] = 0
    second_axis: Vector = (0, 1, 0)
    pitch: Scalar = 0

    @property
    def joint(self) -> JointKind:
        """The joint's formulas."""
        return self.kind if isinstance(self.kind, JointKind) else KINDS[self.kind]

    @property
    def moves(self) -> bool:
        """Whether its joint lets it move at all."""
        return bool(self.joint.speeds)

    @property
    def shape(self) -> JointShape:
        """What the joint's formulas depend on beside its coordinates."""
        return JointShape(self.axis, self.second_axis, self.pitch, self.placement)

    @property
    def armatures(self) -> tuple[Scalar, ...]:
        """The armatures of the joint's speeds."""
        if isinstance(self.armature, tuple):
            return self.armature
        return (self.armature,) * len(self.joint.speeds)

    def subspace(self, pose: Pose) -> tuple[Motion, ...]:
        """The joint's motion subspace S, columns in the link's frame, at its pose T_parent_link."""
        return self.joint.subspace(self.shape, pose)

    def own_motion(self, pose: Pose, nu: Sequence[Scalar]) -> Motion:
        """The twist S ν across the joint, in the link's frame."""
        return combine(self.subspace(pose), nu)

    def velocity_product(self, pose: Pose, nu: Sequence[Scalar]) -> Motion:
        """c_J = Ṡ ν in the link's frame: zero but for joints whose subspace moves in the child."""
        return combine(self.joint.subspace_rate(self.subspace(pose), nu), nu)


@dataclass(frozen=True)
class Tree:
    """Links in order, with the gravity vector g (m/s², world frame). q and ν are laid out link by link."""

    links: tuple[Link, ...]
    gravity: Vector = (0, 0, -9.81)

    def coordinate_slices(self) -> list[slice]:
        """Where the links' coordinates stand in q."""
        return _slices(len(link.joint.coordinates) for link in self.links)

    def speed_slices(self) -> list[slice]:
        """Where the links' speeds stand in ν."""
        return _slices(len(link.joint.speeds) for link in self.links)

    @property
    def speed_count(self) -> int:
        return sum(len(link.joint.speeds) for link in self.links)

    def joint_poses(self, q: Sequence[Scalar]) -> list[Pose]:
        """T_parent_link(q) of every link."""
        return [
            compose(link.placement, link.joint.pose(link.shape, q[at]))
            for link, at in zip(self.links, self.coordinate_slices(), strict=True)
        ]

    def coordinate_rates(self, q: Sequence[Scalar], nu: Sequence[Scalar]) -> list[Scalar]:
        """q̇ = N(q) ν."""
        rates: list[Scalar] = []
        for link, at_q, at_v in zip(self.links, self.coordinate_slices(), self.speed_slices(), strict=True):
            rates.extend(link.joint.rates(link.shape, q[at_q], nu[at_v]))
        return rates

    def ancestors(self, index: int) -> Iterator[int]:
        """The link itself, its parent, and so on up to the world."""
        while index != WORLD:
            yield index
            index = self.links[index].parent


def combine(columns: Sequence[Motion], weights: Sequence[Scalar]) -> Motion:
    """Σ columns_k weights_k."""
    total = ZERO_MOTION
    for column, weight in zip(columns, weights, strict=True):
        total = add_motions(total, scale_motion(weight, column))
    return total


def _slices(sizes: Iterator[int]) -> list[slice]:
    slices, start = [], 0
    for size in sizes:
        slices.append(slice(start, start + size))
        start += size
    return slices
