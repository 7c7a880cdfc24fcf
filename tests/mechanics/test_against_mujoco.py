"""Mass matrix and bias of random trees against MuJoCo: hinges, slides, balls and free bodies."""

import numpy as np
import pytest

from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.momentum import mass_matrix
from trundle.mechanics.tree import WORLD

from .test_against_pinocchio import same
from .trees import random_motion, random_tree

KINDS = ("revolute", "prismatic", "cylindrical", "spherical", "fixed")
NAMES = {
    "revolute": ("hinge",),
    "prismatic": ("slide",),
    "cylindrical": ("hinge", "slide"),
    "spherical": ("ball",),
}


def text(values):
    return " ".join(repr(float(v)) for v in np.ravel(np.array(values, float)))


def document(tree):
    """The tree as an MJCF document; a floating joint is a free body, which MuJoCo has at the world only."""
    gravity = text(tree.gravity)
    bodies = "".join(body(tree, k) for k, link in enumerate(tree.links) if link.parent == WORLD)
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option gravity="{gravity}"/><worldbody>{bodies}</worldbody></mujoco>'
    )


def body(tree, index):
    link = tree.links[index]
    rotation, position = link.placement
    x, y = np.array(rotation, float).T[:2]
    mass, h, about_origin = link.inertia
    c = np.array(h, float) / mass
    i = np.array(about_origin, float) - mass * (c @ c * np.eye(3) - np.outer(c, c))
    full = text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
    joints = "<freejoint/>" if link.kind == "floating" else ""
    for kind, armature in zip(NAMES.get(link.kind, ()), link.armatures, strict=False):
        joints += f'<joint type="{kind}" axis="{text(link.axis)}" armature="{float(armature)!r}"/>'
    inner = "".join(body(tree, k) for k, other in enumerate(tree.links) if other.parent == index)
    return (
        f'<body name="{link.name}" pos="{text(position)}" xyaxes="{text([x, y])}">{joints}'
        f'<inertial pos="{text(c)}" mass="{float(mass)!r}" fullinertia="{full}"/>{inner}</body>'
    )


def states(mujoco, model, tree, poses, q, nu):
    """MuJoCo's q and v, the map T with v = T ν, and Ṫ ν: a free body's velocity is along the world's axes there."""
    qpos, at = np.zeros(model.nq), np.zeros(tree.speed_count, dtype=int)
    turn, rate = np.zeros((model.nv, tree.speed_count)), np.zeros(model.nv)
    for link, pose, in_q, in_v in zip(
        tree.links, poses, tree.coordinate_slices(), tree.speed_slices(), strict=True
    ):
        if link.kind == "fixed":
            continue
        joint = model.body(link.name).jntadr[0]
        first, place = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        own, size = np.array(q[in_q]), in_v.stop - in_v.start
        at[in_v] = range(place, place + size)
        block = np.eye(size)
        if link.kind == "floating":
            world = np.array(pose.rotation, float)
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, world.ravel())
            own = np.array([*pose.position, *quaternion], float)
            block[:3, :3] = world
            v, omega = np.array(nu[in_v])[:3], np.array(nu[in_v])[3:]
            rate[place : place + 3] = world @ np.cross(omega, v)
        qpos[first : first + own.size] = own
        turn[place : place + size, in_v] = block
    return qpos, turn, rate


def check(mujoco, rng, count):
    tree = random_tree(rng, count, KINDS)
    if rng.random() < 0.5:
        tree = type(tree)((random_tree(rng, 1, ("floating",)).links[0], *tree.links[1:]), tree.gravity)
    q, nu = random_motion(rng, tree)
    poses = tree.joint_poses(q)
    model = mujoco.MjModel.from_xml_string(document(tree))
    data = mujoco.MjData(model)
    data.qpos[:], turn, rate = states(mujoco, model, tree, poses, q, nu)
    data.qvel[:] = turn @ np.array(nu)
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    if hasattr(data, "qM"):  # before MuJoCo 4
        mujoco.mj_fullM(model, full, data.qM)
    else:
        mujoco.mj_fullM(model, data, full)
    same(mass_matrix(tree, poses), turn.T @ full @ turn, "mass matrix")
    bias = inverse_dynamics(tree, poses, nu, [0.0] * len(nu))
    same(bias, turn.T @ (data.qfrc_bias + full @ rate), "bias")


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="MuJoCo (the extra 'peers') is not installed")


@pytest.mark.parametrize("count", range(1, 31))
def test_trees_of_every_size(mujoco, rng, count):
    check(mujoco, rng, count)


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_a_thousand_trees(mujoco, campaign, block):
    for rng in campaign(50):
        check(mujoco, rng, int(rng.integers(1, 31)))
