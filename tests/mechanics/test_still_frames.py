"""Trees in still frames: the same accelerations as in the links' own frames, with fewer rotations on the way."""

import numpy as np
import pytest

from trundle.mechanics.fewer_operations import still_frames
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.joints import Turn
from trundle.mechanics.momentum import mass_matrix
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import IDENTITY

from .trees import random_inertia, random_motion, random_pose


@pytest.fixture(params=range(20), ids="seed {}".format)
def rng(request):
    return np.random.default_rng(request.param)


def random_tree(rng, count):
    """Hinges, most of them about one axis with their frames along their parents', and some joints between them."""
    common = tuple(np.eye(3)[rng.integers(3)].tolist())
    links = []
    for index in range(count):
        kind = "revolute" if rng.random() < 0.85 else str(rng.choice(["prismatic", "fixed", "spherical"]))
        axis = common if rng.random() < 0.8 else tuple(np.eye(3)[rng.integers(3)].tolist())
        if rng.random() < 0.3:
            axis = tuple(-x for x in axis)
        place = random_pose(rng)
        if rng.random() < 0.8:
            place = Pose(IDENTITY, place.position)
        parent = WORLD if index == 0 else int(rng.integers(max(0, index - 3), index))
        armature = float(rng.uniform(0, 1)) if kind == "revolute" and rng.random() < 0.3 else 0
        start = "floating" if index == 0 and rng.random() < 0.5 else kind
        name = f"link_{index}"
        links.append(Link(name, parent, start, axis, place, random_inertia(rng), armature * (start == kind)))
    return Tree(tuple(links), tuple(rng.normal(size=3) * 5))


def close(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * max(np.abs(b).max(initial=0), 1))


def test_they_serve_every_algorithm(rng):
    tree = random_tree(rng, int(rng.integers(2, 12)))
    q, nu = random_motion(rng, tree)
    nu_dot = rng.normal(size=len(nu)).tolist()
    still, poses = still_frames(tree, q), tree.joint_poses(q)
    close(mass_matrix(still.tree, still.poses), mass_matrix(tree, poses))
    found, expected = (inverse_dynamics(*each, nu, nu_dot) for each in (still[:2], (tree, poses)))
    close(found, expected)
    close(forward_dynamics(still.tree, still.poses, nu, expected), nu_dot)


def test_which_links_stand_still():
    """Those on which nothing hangs, or hinges about their own axis alone; the others turn by the sum of the angles."""
    y, place = (0, 1, 0), Pose(IDENTITY, (0, 0, -1))
    links = (
        Link("upper", WORLD, "revolute", y, place),
        Link("lower", 0, "revolute", (0, -1, 0), place),
        Link("wrist", 1, "revolute", (1, 0, 0), place),
        Link("finger", 2, "revolute", (1, 0, 0), place),
        Link("slide", WORLD, "prismatic", y, place),
    )
    still = still_frames(Tree(links), [0.1, 0.4, 0.2, 0.3, 0.5])
    assert [link.kind for link in still.tree.links] == ["spin", "revolute", "spin", "spin", "prismatic"]
    assert still.turns[1] == still.turns[4] == IDENTITY
    np.testing.assert_allclose(np.array(still.poses[1].rotation)[0], [np.cos(-0.3), 0, np.sin(-0.3)])
    assert still.poses[3].rotation == IDENTITY


def test_an_angle_known_by_its_cosine_is_left_alone():
    tree = Tree((Link("steering", WORLD, "revolute"),))
    assert still_frames(tree, [Turn(0.6, 0.8)]).tree == tree
