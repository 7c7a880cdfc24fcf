"""Articulated inertias: blocks against 6×6 matrices, and forward dynamics against inverse dynamics on random trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trundle.mechanics.articulated import (
    Articulated,
    less_outer,
    momentum_of,
    of_body,
    to_parent,
    without_direction,
)
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.joints import rotation_about
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.spatial.motions import (
    Force,
    Inertia,
    Motion,
    Pose,
    force_to_parent,
    inertia_about_origin,
    momentum,
    motion_to_child,
)
from trundle.spatial.vectors import IDENTITY

AXES = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, 0.0, 0.8)]
KINDS = ["revolute", "prismatic", "planar", "floating", "fixed"]


def rows(matrix) -> Any:
    return tuple(tuple(float(x) for x in row) for row in matrix)


def random_inertia(rng) -> Inertia:
    root = rng.normal(size=(3, 3))
    about = root @ root.T + np.eye(3)
    return inertia_about_origin(float(rng.uniform(0.5, 2)), tuple(rng.normal(size=3)), rows(about))


def random_articulated(rng) -> Articulated:
    half = rng.normal(size=(6, 6))
    whole = half @ half.T
    return Articulated(rows(whole[:3, :3]), rows(whole[:3, 3:]), rows(whole[3:, 3:]))


def random_rotation(rng) -> Any:
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return rows(turn * np.sign(np.linalg.det(turn)))


def motion(rng) -> Motion:
    return Motion(tuple(rng.normal(size=3)), tuple(rng.normal(size=3)))


def flat(pair):
    return np.array([*pair[0], *pair[1]], dtype=float)


def random_tree(rng, count: int) -> Tree:
    links = []
    for index in range(count):
        kind = (
            KINDS[rng.integers(len(KINDS))] if index else ["revolute", "floating", "planar"][rng.integers(3)]
        )
        links.append(
            Link(
                f"link {index}",
                int(rng.integers(index)) if index else WORLD,
                kind,
                AXES[rng.integers(len(AXES))],
                Pose(
                    [IDENTITY, rotation_about((1, 0, 0), 0.3), random_rotation(rng)][rng.integers(3)],
                    tuple(rng.normal(size=3)),
                ),
                random_inertia(rng),
                float(rng.uniform(0, 1))
                if rng.integers(2) and len(Link("", 0, kind).joint.speeds) == 1
                else 0,
            )
        )
    return Tree(tuple(links), (0.3, -0.2, -9.81))


def random_q(tree: Tree, rng) -> list[float]:
    q: list[float] = []
    for link in tree.links:
        values = rng.normal(size=len(link.joint.coordinates))
        if link.kind == "floating":
            values[3:] /= np.linalg.norm(values[3:])
        q.extend(values)
    return q


@pytest.mark.parametrize("seed", range(20))
def test_forward_after_inverse_is_the_identity(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 12)))
    poses = tree.joint_poses(random_q(tree, rng))
    nu, nu_dot = list(rng.normal(size=tree.speed_count)), list(rng.normal(size=tree.speed_count))
    tau = inverse_dynamics(tree, poses, nu, nu_dot)
    np.testing.assert_allclose(forward_dynamics(tree, poses, nu, tau), nu_dot, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_to_parent_feels_the_same_wrench(seed):
    rng = np.random.default_rng(seed)
    rotation = random_rotation(rng) if seed % 2 else rotation_about(AXES[seed // 2], 0.7)
    pose, inertia, m = Pose(rotation, tuple(rng.normal(size=3))), random_articulated(rng), motion(rng)
    direct = force_to_parent(pose, momentum_of(inertia, motion_to_child(pose, m)))
    np.testing.assert_allclose(
        flat(momentum_of(to_parent(pose, inertia), m)), flat(direct), rtol=1e-12, atol=1e-12
    )


def test_a_body_is_an_articulated_inertia(rng):
    body, m = random_inertia(rng), motion(rng)
    np.testing.assert_allclose(flat(momentum_of(of_body(body), m)), flat(momentum(body, m)), rtol=1e-13)


@pytest.mark.parametrize("index", range(6))
def test_a_free_direction_leaves_no_inertia(rng, index):
    inertia = random_articulated(rng)
    e = np.eye(6)[index]
    u = momentum_of(inertia, Motion(tuple(e[:3]), tuple(e[3:])))
    gain = flat(u) / flat(u)[index]
    rest = less_outer(inertia, u, Force(tuple(gain[:3]), tuple(gain[3:])))
    m = motion(rng)
    exact = momentum_of(without_direction(rest, index), m)
    np.testing.assert_allclose(flat(exact), flat(momentum_of(rest, m)), rtol=1e-12, atol=1e-12)
