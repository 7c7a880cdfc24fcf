"""Random trees of bodies for tests."""

from typing import Any

import numpy as np

from trundle.mechanics.joints import KINDS as KINDS_OF_JOINTS
from trundle.mechanics.joints import plane_axes
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.spatial.motions import Pose, inertia_about_origin
from trundle.spatial.vectors import euler_rotation

KINDS = (
    "revolute",
    "prismatic",
    "planar",
    "floating",
    "fixed",
    "screw",
    "cylindrical",
    "universal",
    "spherical",
)
# The kinds that carry an armature in the tests; in a planar or a floating joint it would not be one of a drive.
DRIVEN = ("revolute", "prismatic", "screw", "cylindrical", "universal")


def rows(matrix) -> Any:
    return tuple(tuple(float(x) for x in row) for row in matrix)


def random_pose(rng):
    return Pose(euler_rotation(*rng.normal(size=3)), tuple(rng.normal(size=3)))


def random_inertia(rng):
    """A body that exists: a cloud of points."""
    points = rng.normal(size=(6, 3))
    about_center = sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points - points.mean(axis=0))
    return inertia_about_origin(float(rng.uniform(0.5, 2)), tuple(rng.normal(size=3)), rows(about_center))


def random_axis(rng):
    axis = rng.normal(size=3)
    if rng.random() < 0.3:  # along a coordinate axis, either way: the algorithms have shorter formulas there
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])
    return tuple((axis / np.linalg.norm(axis)).tolist())


def random_tree(rng, count, kinds=KINDS, armature=True):
    """A tree of `count` links; a third of the universal joints have axes at any angle, the others at a right one."""
    links = []
    for index in range(count):
        parent = WORLD if index == 0 else int(rng.integers(0, index))
        kind = str(rng.choice(kinds)) if index else str(rng.choice([k for k in kinds if k != "fixed"]))
        axis, second = random_axis(rng), random_axis(rng)
        if kind == "universal" and (rng.random() < 0.7 or np.linalg.norm(np.cross(axis, second)) < 0.3):
            second = tuple(np.array(plane_axes(axis)[0], float).tolist())
        rotors = tuple(rng.uniform(0, 0.5, size=len(KINDS_OF_JOINTS[kind].speeds)).tolist())
        links.append(
            Link(
                f"link_{index}",
                parent,
                kind,
                axis,
                random_pose(rng),
                random_inertia(rng),
                rotors if armature and kind in DRIVEN else 0.0,
                second,
                float(rng.normal() * 0.3),
            )
        )
    return Tree(tuple(links), tuple(rng.normal(size=3) * 5))


def random_motion(rng, tree):
    """q with unit quaternions, and ν."""
    q = []
    for link in tree.links:
        own = rng.normal(size=len(link.joint.coordinates))
        if link.kind in ("floating", "spherical"):
            own[-4:] /= np.linalg.norm(own[-4:])
        q += own.tolist()
    return q, rng.normal(size=tree.speed_count).tolist()
