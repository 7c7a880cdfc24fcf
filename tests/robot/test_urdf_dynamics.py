"""Robots read from URDF move as Pinocchio's own reader has them move."""

from __future__ import annotations

import numpy as np
import pytest

from robot.urdf_files import random_urdf
from trundle.mechanics.assembly import assemble
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.kinematics import world_poses
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.mechanics.tree import Tree
from trundle.robot import parse_urdf, urdf_extras

pin = pytest.importorskip("pinocchio", reason="compares with Pinocchio, which is not installed")

TOLERANCE = 1e-9


def _relative(ours, theirs) -> float:
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1e-3))


def compare(text: str, rng: np.random.Generator) -> dict[str, float]:
    """Largest relative differences of mass matrix, inverse dynamics and link poses at a random state."""
    robot = parse_urdf(text, strict=False)
    floating = robot.base == "floating"
    model = (
        pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromXML(text)
    )
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    data = model.createData()
    assembly = assemble(robot, robot.resolver())
    tree = assembly.tree

    q, nu, rate = _state(tree, rng)
    pin_q, pin_v, pin_a, places = _for_pinocchio(model, robot, tree, q, nu, rate)
    poses = tree.joint_poses(q.tolist())
    matrix = np.array(mass_matrix(tree, poses), dtype=float)
    tau = np.array(inverse_dynamics(tree, poses, nu.tolist(), rate.tolist()), dtype=float)
    theirs = pin.crba(model, data, pin_q)
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    their_tau = pin.rnea(model, data, pin_q, pin_v, pin_a)
    pin.framesForwardKinematics(model, data, pin_q)
    worst = 0.0
    ours = world_poses(tree, poses)
    for identifier, name in urdf_extras(robot).links.items():
        frame = data.oMf[model.getFrameId(name, pin.FrameType.BODY)]
        pose = ours[assembly.links[identifier]]
        worst = max(
            worst, _relative(pose.rotation, frame.rotation), _relative(pose.position, frame.translation)
        )
    return {
        "mass matrix": _relative(matrix, theirs[np.ix_(places, places)]),
        "inverse dynamics": _relative(tau, their_tau[places]),
        "poses": worst,
    }


def _state(tree: Tree, rng: np.random.Generator):
    q = [rng.normal(size=len(link.joint.coordinates)) for link in tree.links]
    for link, own in zip(tree.links, q, strict=True):
        if link.kind == "floating":
            own[3:] /= np.linalg.norm(own[3:])
    return np.concatenate(q), rng.normal(size=tree.speed_count), rng.normal(size=tree.speed_count)


def _for_pinocchio(model, robot, tree, q, nu, rate):
    """The state in Pinocchio's order (quaternions x y z w, cosines and sines), and our columns there."""
    names = urdf_extras(robot).joints
    pin_q, places = np.zeros(model.nq), []
    for link, at_q, at_v in zip(tree.links, tree.coordinate_slices(), tree.speed_slices(), strict=True):
        if not link.joint.speeds:
            continue
        joint = model.joints[1 if link.name == "base" else model.getJointId(names[link.name])]
        own = q[at_q]
        if link.kind == "floating":
            own = own[[0, 1, 2, 4, 5, 6, 3]]
        elif joint.nq > joint.nv:
            own = np.array([*own[:-1], np.cos(own[-1]), np.sin(own[-1])])
        pin_q[joint.idx_q : joint.idx_q + joint.nq] = own
        places += range(joint.idx_v, joint.idx_v + len(range(at_v.start, at_v.stop)))
    pin_v, pin_a = np.zeros(model.nv), np.zeros(model.nv)
    pin_v[places], pin_a[places] = nu, rate
    return pin_q, pin_v, pin_a, places


@pytest.mark.parametrize("massive_root", [True, False], ids=["floating", "fixed"])
def test_random_files(rng, massive_root):
    for _ in range(25):
        differences = compare(random_urdf(rng, int(rng.integers(1, 12)), massive_root=massive_root), rng)
        assert max(differences.values()) <= TOLERANCE, differences


@pytest.mark.slow
def test_many_random_files(rng):
    for _ in range(300):
        text = random_urdf(rng, int(rng.integers(1, 30)), massive_root=bool(rng.integers(2)))
        differences = compare(text, rng)
        assert max(differences.values()) <= TOLERANCE, differences
