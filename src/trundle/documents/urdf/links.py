"""How the links of a URDF file hang together: where joints are with all of them at zero, what is fixed to what, and the
mass of links that move as one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from trundle.arrays import Triple
from trundle.documents.urdf.elements import Urdf, UrdfData, UrdfJoint, moments_in
from trundle.robot.bodies import MOMENTS
from trundle.robot.structure import reached
from trundle.spatial.motions import (
    IDENTITY_POSE,
    Pose,
    compose,
    inertia_about_origin,
    transform_point,
)
from trundle.spatial.vectors import Matrix, Vector, add_matrices, apply, dot, euler_rotation, subtract

# Metres and kg m²: what is left of a rotation's rounding becomes the zero that it is.
_NOISE = 1e-14
_NOTHING: Matrix = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class LinkTree:
    """The links of a file from its root on."""

    urdf: Urdf
    root: str

    @cached_property
    def parent_joints(self) -> Mapping[str, UrdfJoint]:
        """The joint that carries a link, for all but the root."""
        return {joint.child: joint for joint in self.urdf.joints.values()}

    def mounted(self, joint: UrdfJoint) -> tuple[str, UrdfJoint | None, Pose]:
        """What a joint hangs on, through all that is fixed: a link, the joint that moves it (None for the root), and
        the joint's pose in it.
        """
        pose, link = pose_of(joint), joint.parent
        while link != self.root and self.parent_joints[link].type == "fixed":
            pose = compose(pose_of(self.parent_joints[link]), pose)
            link = self.parent_joints[link].parent
        return link, self.parent_joints.get(link), pose

    def at_zero(self, link: str) -> Pose:
        """A link's pose in the root with all joints at zero."""
        pose = IDENTITY_POSE
        while link != self.root:
            pose = compose(pose_of(self.parent_joints[link]), pose)
            link = self.parent_joints[link].parent
        return pose

    def axis(self, joint: UrdfJoint) -> Vector:
        """A joint's axis of length 1, in its own frame."""
        x, y, z = cast("Triple", joint.data["axis"])
        length = math.hypot(x, y, z)
        return x / length, y / length, z / length

    def axis_at_zero(self, joint: UrdfJoint) -> Triple:
        """A joint's axis in the root with all joints at zero."""
        return vector(apply(self.at_zero(joint.child).rotation, self.axis(joint)))

    def is_vertical(self, joint: UrdfJoint, rounded: float) -> bool:
        """Whether a joint turns about the vertical, but for so many radians."""
        return (
            joint.type in ("revolute", "continuous") and math.hypot(*self.axis_at_zero(joint)[:2]) <= rounded
        )

    def fixed_to(self, link: str) -> list[str]:
        """A link, and those that fixed joints carry on it."""
        fixed = [(joint.parent, joint.child) for joint in self.urdf.joints.values() if joint.type == "fixed"]
        return reached(link, fixed)

    def moving_under(self, link: str) -> list[str]:
        """The joints that move, anywhere behind a link."""
        behind = set(reached(link, [(joint.parent, joint.child) for joint in self.urdf.joints.values()]))
        return [j.name for j in self.urdf.joints.values() if j.parent in behind and j.type != "fixed"]


def pose_of(joint: UrdfJoint) -> Pose:
    """A joint's frame in its parent."""
    return Pose(euler_rotation(*_three(joint.data.get("rpy"))), _three(joint.data.get("at")))


def _three(given: object) -> Triple:
    return (0.0, 0.0, 0.0) if given is None else cast("Triple", given)


def vector(given: Vector) -> Triple:
    """A vector's parts as numbers."""
    x, y, z = (float(part) for part in given)
    return x, y, z


def without_noise(given: Triple) -> Triple:
    """The same with parts that are rounding alone put to 0."""
    x, y, z = (0.0 if abs(part) <= _NOISE else part for part in given)
    return x, y, z


@dataclass(frozen=True)
class LinkGroup:
    """The mass (kg) of links that move as one, its centre (m) and the moments about that (kg m²), in some frame."""

    mass: float
    center: Triple
    moments: Matrix

    @property
    def data(self) -> UrdfData:
        """The same as a description's body, without zeros."""
        places = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
        six = {name: float(self.moments[i][j]) for name, (i, j) in places.items()}
        least = _NOISE * max(map(abs, six.values()), default=0.0)
        inertia = {name: six[name] for name in MOMENTS if abs(six[name]) > least}
        data: dict[str, object] = {"mass": self.mass} if self.mass else {}
        if any(without_noise(self.center)):
            data["center_of_mass"] = list(without_noise(self.center))
        return data | ({"inertia": inertia} if inertia else {})

    def unevenness(self, axis: Vector) -> float:
        """How far the moments are from those of a body that is round about an axis (kg m²)."""
        unit, (central, across) = vector(axis), self.round_about(axis)
        return max(
            abs(float(self.moments[i][j]) - across * (i == j) - (central - across) * unit[i] * unit[j])
            for i in range(3)
            for j in range(3)
        )

    def round_about(self, axis: Vector) -> tuple[float, float]:
        """The moment about an axis through the centre of mass, and the mean of those across it (kg m²)."""
        central = float(dot(axis, apply(self.moments, axis)))
        return central, (sum(float(self.moments[i][i]) for i in range(3)) - central) / 2


def body_in(
    tree: LinkTree, link: str, seen: Pose = IDENTITY_POSE, *points: tuple[float, Triple]
) -> LinkGroup:
    """The mass of a link and of all that is fixed to it, in a frame in which the link is `seen`; `points` have a mass
    (kg) and a place there (m).
    """
    parts = [_part(tree, name, link, seen) for name in tree.fixed_to(link)]
    parts += [LinkGroup(mass, point, _NOTHING) for mass, point in points]
    mass = sum(part.mass for part in parts)
    if not mass:
        moments = _NOTHING
        for part in parts:
            moments = add_matrices(moments, part.moments)
        return LinkGroup(0.0, (0.0, 0.0, 0.0), moments)
    x, y, z = (sum(part.mass * part.center[i] for part in parts) / mass for i in range(3))
    center = parts[0].center if len(parts) == 1 else (x, y, z)
    moments = _NOTHING
    for part in parts:  # Steiner's, about the centre of all
        apart = vector(subtract(part.center, center))
        moments = add_matrices(moments, inertia_about_origin(part.mass, apart, part.moments).rotational)
    return LinkGroup(mass, center, moments)


def _part(tree: LinkTree, name: str, link: str, seen: Pose) -> LinkGroup:
    """A link's own mass, in a frame in which another that it is fixed to is `seen`."""
    body = tree.urdf.links[name].body
    pose = IDENTITY_POSE
    while name != link:
        pose = compose(pose_of(tree.parent_joints[name]), pose)
        name = tree.parent_joints[name].parent
    pose = compose(seen, pose)
    center = vector(transform_point(pose, _three(body.get("center_of_mass"))))
    six = cast("Mapping[str, float]", body.get("inertia", {}))
    turned = moments_in(pose.rotation, [six.get(axes, 0.0) for axes in MOMENTS])
    return LinkGroup(cast("float", body.get("mass", 0.0)), center, _matrix(turned))


def _matrix(six: Mapping[str, float]) -> Matrix:
    return (
        (six["xx"], six["xy"], six["xz"]),
        (six["xy"], six["yy"], six["yz"]),
        (six["xz"], six["yz"], six["zz"]),
    )
