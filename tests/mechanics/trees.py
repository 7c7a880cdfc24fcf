"""Random trees of bodies for tests."""

import numpy as np

from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.spatial.motions import Pose, inertia_about_origin
from trundle.spatial.vectors import euler_rotation

KINDS = ("revolute", "prismatic", "planar", "floating", "fixed")


def rows(matrix):
    return tuple(tuple(float(x) for x in row) for row in matrix)


def random_pose(rng):
    return Pose(euler_rotation(*rng.normal(size=3)), tuple(rng.normal(size=3)))


def random_inertia(rng):
    """A body that exists: a cloud of points."""
    points = rng.normal(size=(6, 3))
    about_center = sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points - points.mean(axis=0))
    return inertia_about_origin(float(rng.uniform(0.5, 2)), tuple(rng.normal(size=3)), rows(about_center))


def random_tree(rng, count, kinds=KINDS, armature=True):
    links = []
    for index in range(count):
        parent = WORLD if index == 0 else int(rng.integers(0, index))
        axis = rng.normal(size=3)
        kind = str(rng.choice(kinds)) if index else str(rng.choice([k for k in kinds if k != "fixed"]))
        inertia = float(rng.uniform(0, 0.5)) if armature and kind in ("revolute", "prismatic") else 0.0
        links.append(
            Link(
                f"link_{index}",
                parent,
                kind,
                tuple(axis / np.linalg.norm(axis)),
                random_pose(rng),
                random_inertia(rng),
                inertia,
            )
        )
    return Tree(tuple(links), tuple(rng.normal(size=3) * 5))


def random_motion(rng, tree):
    """q with unit quaternions, and ν."""
    q = []
    for link in tree.links:
        own = rng.normal(size=len(link.joint.coordinates))
        if link.kind == "floating":
            own[3:] /= np.linalg.norm(own[3:])
        q += own.tolist()
    return q, rng.normal(size=tree.speed_count).tolist()
