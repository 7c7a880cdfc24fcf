"""Trees recast: the same links in the same places, the same accelerations, in fewer operations."""

from dataclasses import replace

import numpy as np
import pytest

from parameters import mostly_slow
from trundle.mechanics.fewer_operations import recast
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.normal_frames import normal_frames
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.program import Tracer
from trundle.spatial.motions import Force, Pose, compose
from trundle.spatial.vectors import IDENTITY, euler_rotation, principal_rotation

from .trees import random_axis, random_inertia, random_motion, random_pose, random_tree


@pytest.fixture(params=mostly_slow(range(40), range(8)), ids="seed {}".format)
def rng(request):
    return np.random.default_rng(request.param)


def limbs(rng, count):
    """Mostly hinges, with axes that are parallel, nearly parallel, crossing in a point, at right angles or anyhow, and
    fixed joints and others between them.
    """
    links = []
    for index in range(count):
        kind = (
            "revolute"
            if rng.random() < 0.8
            else str(rng.choice(["prismatic", "fixed", "spherical", "screw"]))
        )
        place = random_pose(rng)
        turned = rng.integers(5)
        if turned == 0:
            place = replace_rotation(place, IDENTITY)
        elif turned == 1:  # a hair beside the parent's axes
            place = replace_rotation(
                place, euler_rotation(*(rng.normal(size=3) * 10.0 ** rng.uniform(-17, -1)))
            )
        elif turned == 2:
            place = replace_rotation(
                place, principal_rotation(int(rng.integers(3)), 0, int(rng.choice([-1, 1])))
            )
        if rng.random() < 0.3:
            place = Pose(place.rotation, (0, 0, float(rng.normal()) * int(rng.integers(2))))
        axis = (0, 0, 1) if rng.random() < 0.5 else random_axis(rng)
        parent = int(rng.integers(max(WORLD, index - 4), index))
        armature = float(rng.uniform(0, 1)) if kind == "revolute" and rng.random() < 0.3 else 0
        if index == 0 and rng.random() < 0.5:
            kind, armature = "floating", 0
        links.append(
            Link(
                f"link_{index}",
                parent,
                kind,
                axis,
                place,
                random_inertia(rng),
                armature,
                pitch=float(rng.normal()),
            )
        )
    return Tree(tuple(links), tuple(rng.normal(size=3) * 5))


def replace_rotation(pose, rotation):
    return Pose(rotation, pose.position)


@pytest.fixture(params=["limbs", "any"])
def tree(request, rng):
    count = int(rng.integers(2, 14))
    return limbs(rng, count) if request.param == "limbs" else random_tree(rng, count)


def close(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * max(np.abs(b).max(initial=0), 1))


def test_accelerations_with_wrenches_are_the_same(rng, tree):
    q, nu = random_motion(rng, tree)
    nu_dot = rng.normal(size=len(nu)).tolist()
    wrenches = [Force(tuple(rng.normal(size=3)), tuple(rng.normal(size=3))) for _ in tree.links]
    tau = inverse_dynamics(tree, tree.joint_poses(q), nu, nu_dot, wrenches)
    fast = recast(tree, q)
    close(forward_dynamics(fast.tree, fast.poses, nu, tau, fast.wrenches(wrenches)), nu_dot)


def test_links_stay_where_they_are(rng, tree):
    """T_world_link by way of the link that each went to; those that went to the world don't move."""
    q, _ = random_motion(rng, tree)
    other, _ = random_motion(rng, tree)
    fast = recast(tree, q)
    expected, again = (world_poses(tree, tree.joint_poses(each)) for each in (q, other))
    world = world_poses(fast.tree, fast.poses)
    for k, (index, pose) in enumerate(fast.places):
        if index == WORLD:
            assert expected[k] == again[k] == pose
            continue
        found = compose(world[index], pose)
        close(found.rotation, expected[k].rotation)
        close(found.position, expected[k].position)


def test_every_hinge_of_a_limb_turns_about_z(rng):
    """What stands between hinges is a turn about a coordinate axis; the first hinge's placement alone is any."""
    links = [
        Link(f"link_{k}", k - 1, "revolute", random_axis(rng), random_pose(rng), random_inertia(rng))
        for k in range(5)
    ]
    new = normal_frames(Tree(tuple(links)), [0.1] * 5)
    assert [link.kind for link in new.tree.links] == ["fixed", "revolute"] * 5
    for link in new.tree.links[2:]:
        rotation, (x, y, z) = link.placement
        assert rotation[0] == (1, 0, 0)
        if link.kind == "revolute":
            assert (link.axis, rotation, x, y) == ((0, 0, 1), IDENTITY, 0, 0)
        else:
            assert (y, z) == (0, 0) or abs(rotation[2][1]) < 0.3


def operations(tree, cast):
    tracer = Tracer("q", "nu", "tau")
    count = len(tree.links)
    q, nu, tau = (tracer.inputs(name, count) for name in ("q", "nu", "tau"))
    tree, poses = cast(tree, q)
    labels = [f"{k}" for k in range(count)]
    rates = forward_dynamics(tree, poses, nu, tau)
    return tracer.program(
        "f", dict.fromkeys(("q", "nu", "tau"), labels), {"rates": (labels, rates)}
    ).operations


def twisted_pose(rng):
    """A placement whose z stands at 30° to 150° to its parent's."""
    while True:
        pose = random_pose(rng)
        if abs(pose.rotation[2][2]) < np.cos(np.pi / 6):
            return pose


def test_an_arm_with_twisted_axes_takes_a_fifth_less(rng):
    links = [
        Link(f"link_{k}", k - 1, "revolute", (0, 0, 1), twisted_pose(rng), random_inertia(rng))
        for k in range(7)
    ]
    tree = Tree(tuple(links))
    fewer = operations(tree, lambda tree, q: recast(tree, q)[:2])
    assert fewer < 0.8 * operations(tree, lambda tree, q: (tree, tree.joint_poses(q)))


def test_what_is_held_fast_costs_nothing(rng):
    arm = [Link("upper", WORLD, "revolute"), Link("lower", 0, "revolute", (1, 0, 0), random_pose(rng))]
    arm = [replace(link, inertia=random_inertia(rng)) for link in arm]
    tool = Link("tool", 1, "fixed", (0, 0, 1), random_pose(rng), random_inertia(rng))
    stand = Link("stand", WORLD, "fixed", (0, 0, 1), random_pose(rng), random_inertia(rng))
    fast = recast(Tree((*arm, tool, stand)), [0.1, 0.2])
    bare = recast(Tree(tuple(arm)), [0.1, 0.2])
    assert len(fast.tree.links) == len(bare.tree.links)
    assert fast.places[3][0] == WORLD


def test_links_along_coordinate_axes_and_with_parameters_are_left_alone(rng):
    tracer = Tracer("q", "p")
    (mass,) = tracer.inputs("p", 1)
    simple = Link("simple", WORLD, "revolute", (0, -1, 0), random_pose(rng), random_inertia(rng))
    turned = Link("turned", 0, "revolute", (0, 1, 0), Pose(IDENTITY, (1.0, 2.0, 3.0)), random_inertia(rng))
    tree = Tree((simple, turned))
    assert normal_frames(tree, [0.1, 0.2]).tree == tree
    heavy = random_inertia(rng)._replace(mass=mass)
    tree = Tree((simple, Link("heavy", 0, "revolute", (0, 0, 1), random_pose(rng), heavy)))
    assert normal_frames(tree, [0.1, 0.2]).tree == tree
