"""Loop closures on random trees: rows against automatic differentiation, multipliers against pushes at points."""

import casadi as ca
import numpy as np
import pytest

from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import ExternalWrench, inverse_dynamics, link_wrenches
from trundle.mechanics.loop_joints import HELD, End, LoopJoint, close, facing
from trundle.mechanics.tree import Tree
from trundle.spatial.motions import Force, Pose, compose
from trundle.spatial.vectors import IDENTITY, ZERO, apply, euler_rotation, principal_rotation

from .trees import random_motion, random_pose, random_tree

KINDS = (*HELD, "rod")


def random_loop(rng, tree, kind):
    first, second = rng.choice(len(tree.links), size=2, replace=False)
    length = float(rng.uniform(0.5, 2)) if kind == "rod" else 0
    axes = euler_rotation(*rng.normal(size=3))
    return LoopJoint(
        "loop", kind, End(int(first), random_pose(rng)), End(int(second), random_pose(rng)), axes, length
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [2, 5, 12])
def test_rows_are_the_rate_of_the_gaps_open_or_closed(rng, kind, count):
    tree = random_tree(rng, count)
    loop = random_loop(rng, tree, kind)
    q, nu = random_motion(rng, tree)
    closure = close(tree, tree.joint_poses(q), loop, tree.speed_count)
    symbols = ca.SX.sym("q", len(q))
    entries = [symbols[k] for k in range(len(q))]
    gaps = ca.vertcat(*(ca.SX(g) for g in close(tree, tree.joint_poses(entries), loop, len(nu)).gaps))
    rates = ca.DM([float(r) for r in tree.coordinate_rates(q, nu)])
    expected = np.array(ca.Function("f", [symbols], [ca.jtimes(gaps, symbols, rates)])(q)).ravel()
    got = np.array(closure.rows, float) @ nu
    np.testing.assert_allclose(got, expected, atol=1e-11 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_multiplier_pushes_both_links_oppositely(rng, kind):
    """Aᵀλ is what the wrench does at b on one link, and its opposite at the same place on the other."""
    tree = random_tree(rng, 8)
    loop = random_loop(rng, tree, kind)
    q, _ = random_motion(rng, tree)
    poses = tree.joint_poses(q)
    closure = close(tree, poses, loop, tree.speed_count)
    multipliers = rng.normal(size=len(closure.rows))
    wrench = closure.wrench(loop, multipliers)
    world = world_poses(tree, poses)
    a, b = (compose(world[end.link], end.placement) for end in (loop.first, loop.second))
    # the wrench is told in the described axes of a: back into a's own, then into the world's
    turned = tuple(apply(a.rotation, apply(tuple(zip(*loop.axes, strict=True)), part)) for part in wrench)
    pushes = []
    for end, sign in ((loop.second, 1), (loop.first, -1)):
        own = world[end.link]
        arm = np.array(own.rotation, float).T @ (np.array(b.position, float) - np.array(own.position, float))
        force = Force(tuple(sign * c for c in turned[0]), tuple(sign * c for c in turned[1]))
        pushes.append(ExternalWrench(end.link, force, tuple(arm.tolist()), "world"))
    rest = [0.0] * tree.speed_count
    still = Tree(tree.links, ZERO)
    needed = inverse_dynamics(still, poses, rest, rest, link_wrenches(still, world, pushes))
    got = np.array(closure.rows, float).T @ multipliers
    np.testing.assert_allclose(got, -np.array(needed, float), atol=1e-10 * max(1, np.abs(got).max()))


@pytest.mark.parametrize("kind", list(HELD))
def test_closed_ends_have_no_gap_and_half_turned_ones_are_seen(rng, kind):
    """A frame that coincides is closed; turned over by half a turn it looks closed, and isn't."""
    tree = random_tree(rng, 3, kinds=("floating",))
    q, _ = random_motion(rng, tree)
    poses = tree.joint_poses(q)
    world = world_poses(tree, poses)
    placement = random_pose(rng)
    target = compose(world[0], placement)
    there = np.array(world[2].rotation, float).T
    rotation = there @ np.array(target.rotation, float)
    position = there @ (np.array(target.position, float) - np.array(world[2].position, float))
    for half, expected in ((IDENTITY, False), (principal_rotation(0, -1, 0), bool(HELD[kind][1]))):
        turned = rotation @ np.array(half, float)
        second = End(2, Pose(tuple(map(tuple, turned.tolist())), tuple(position.tolist())))
        loop = LoopJoint("loop", kind, End(0, placement), second)
        closure = close(tree, poses, loop, tree.speed_count)
        np.testing.assert_allclose(np.array(closure.gaps, float), 0, atol=1e-12)
        assert any(value < 0 for value in facing(tree, poses, loop)) is expected
