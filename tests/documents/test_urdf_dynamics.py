"""Robots read from URDF move as Pinocchio's own reader has them move."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from documents.urdf_files import random_urdf
from trundle.documents import parse_urdf, urdf_extras
from trundle.mechanics.assembly import assemble
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.momentum import mass_matrix
from trundle.mechanics.tree import Tree
from trundle.model import derive

pin = pytest.importorskip("pinocchio", reason="compares with Pinocchio, which is not installed")

TOLERANCE = 1e-9


def _relative(ours, theirs) -> float:
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1e-3))


def compare(text: str, rng: np.random.Generator, base: str | None = None) -> dict[str, float]:
    """Largest relative differences of mass matrix, inverse dynamics and link poses at a random state.

    Accelerations are compared by the forces that Pinocchio finds they need: some published robots have links so light
    that an acceleration is a quotient of roundings.
    """
    robot = parse_urdf(text, base=base)
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
    theirs = np.reshape(pin.crba(model, data, pin_q), (model.nv, model.nv))
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    their_tau = pin.rnea(model, data, pin_q, pin_v, pin_a)
    ours_again = np.zeros(model.nv)
    ours_again[places] = forward_dynamics(tree, poses, nu.tolist(), tau.tolist())
    their_tau_again = pin.rnea(model, data, pin_q, pin_v, ours_again)
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
        "forward dynamics": _relative(tau, their_tau_again[places]),
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
@pytest.mark.slow
def test_random_files(rng, massive_root):
    for _ in range(25):
        differences = compare(random_urdf(rng, int(rng.integers(1, 12)), massive_root=massive_root), rng)
        assert max(differences.values()) <= TOLERANCE, differences


def followed(text: str) -> dict[str, tuple[str, float]]:
    """The moving joints that follow another, by the file's own elements: leader and multiplier."""
    joints = [joint for joint in ElementTree.fromstring(text).iter("joint") if joint.get("type") != "fixed"]
    return {
        joint.get("name", ""): (mimic.get("joint", ""), float(mimic.get("multiplier", "1")))
        for joint in joints
        if (mimic := joint.find("mimic")) is not None
    }


def independent_motions(model, robot, labels, chain) -> np.ndarray:
    """G with v = G u: Pinocchio's speeds of all joints from ours, each follower's through all those it follows."""
    names = urdf_extras(robot).joints
    motions = np.zeros((model.nv, len(labels)))
    base = model.joints[1] if robot.base == "floating" else None
    places: dict[str, list[int]] = {}
    for identifier, name in names.items():
        if model.existJointName(name):
            joint = model.joints[model.getJointId(name)]
            places[identifier] = list(range(joint.idx_v, joint.idx_v + joint.nv))
    taken: dict[str, int] = {}
    for column, label in enumerate(labels):
        owner, _, _ = label.rpartition(".")
        row = places[owner] if owner else list(range(base.idx_v, base.idx_v + 6))
        motions[row[taken.get(owner, 0)], column] = 1.0
        taken[owner] = taken.get(owner, 0) + 1
    by_file = {name: identifier for identifier, name in names.items()}
    for name in chain:
        factor, leader = 1.0, name
        while leader in chain:
            leader, more = chain[leader][0], factor * chain[leader][1]
            factor = more
        motions[places[by_file[name]]] = factor * motions[places[by_file[leader]]]
    return motions


@pytest.mark.slow
@pytest.mark.parametrize("massive_root", [True, False], ids=["floating", "fixed"])
def test_mimics_are_obeyed(rng, massive_root):
    """Mass matrix and inverse dynamics of what is left free: Gᵀ M G and Gᵀ τ(q, G u, G u̇), M and τ by Pinocchio for
    the tree without mimics, G from the file.
    """
    done = 0
    while done < 6:
        text = random_urdf(rng, int(rng.integers(4, 9)), massive_root=massive_root)
        chain = followed(text)
        if not chain:
            continue
        done += 1
        robot = parse_urdf(text, strict=False)
        root = (pin.JointModelFreeFlyer(),) if robot.base == "floating" else ()
        model = pin.buildModelFromXML(text, *root)
        model.gravity.linear = np.array([0.0, 0.0, -9.81])
        ours = derive(robot)
        p = np.array(list(ours.parameters.values()))
        x = np.array(ours.state_vector())
        n = len(ours.coordinates)
        x[:n] += rng.normal(size=n) * 0.5
        for start, name in enumerate(ours.coordinates):
            if name.endswith("q_w"):
                x[start : start + 4] /= np.linalg.norm(x[start : start + 4])
        u, rate = rng.normal(size=(2, len(ours.speeds)))
        x[n:] = u
        (mass,) = ours.mass_matrix.evaluate(x[:n], u, p)
        (force,) = ours.inverse_dynamics().evaluate(x[:n], u, rate, p)
        (outputs,) = ours.observe.evaluate(x, np.zeros(0), p)
        values = dict(zip(ours.states, x, strict=True)) | dict(zip(ours.outputs, outputs, strict=True))
        tree = assemble(robot, robot.resolver()).tree
        assembly = assemble(robot, robot.resolver())
        q = np.array([values[name] for name in assembly.coordinates])
        zero = np.zeros(tree.speed_count)
        pin_q, _, _, _ = _for_pinocchio(model, robot, tree, q, zero, zero)
        g = independent_motions(model, robot, ours.speeds, chain)
        data = model.createData()
        theirs = pin.crba(model, data, pin_q)
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        tau = pin.rnea(model, data, pin_q, g @ u, g @ rate)
        assert _relative(np.reshape(mass, (len(u), len(u))), g.T @ theirs @ g) <= TOLERANCE
        assert _relative(force, g.T @ tau) <= TOLERANCE


GRIPPER = """\
<robot name="gripper">
  <link name="world"/>
  <link name="hand"><inertial><origin xyz="0.1 0 0"/><mass value="1.5"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <joint name="wrist" type="continuous"><parent link="world"/><child link="hand"/><axis xyz="0 0.6 0.8"/></joint>
  <link name="left"><inertial><origin xyz="0.02 0.01 0"/><mass value="0.2"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="left_finger" type="prismatic"><parent link="hand"/><child link="left"/><origin xyz="0.2 0 0"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="9" velocity="1"/></joint>
  <link name="right"><inertial><origin xyz="0.03 0 0.01"/><mass value="0.25"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="right_finger" type="prismatic"><parent link="hand"/><child link="right"/><origin xyz="0.2 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-0.04" upper="0" effort="9" velocity="1"/>
    <mimic joint="left_finger" multiplier="-1.2" offset="0.003"/></joint>
</robot>
"""


def test_a_gripper_as_pinocchio_has_it(rng):
    """Against Pinocchio's own joints that mimic (it has them between joints of one kind)."""
    model = pin.buildModelFromXML(GRIPPER, mimic=True)
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    data = model.createData()
    ours = derive(parse_urdf(GRIPPER))
    assert ours.speeds == ("wrist.rate", "left_finger.rate")
    assert model.nv == 2
    p = np.array(list(ours.parameters.values()))
    for _ in range(5):
        q, u, rate = rng.normal(size=(3, 2))
        pin_q = np.array([np.cos(q[0]), np.sin(q[0]), q[1]])
        (mass,) = ours.mass_matrix.evaluate(q, u, p)
        (force,) = ours.inverse_dynamics().evaluate(q, u, rate, p)
        theirs = pin.crba(model, data, pin_q)
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        assert _relative(np.reshape(mass, (2, 2)), theirs) <= TOLERANCE
        assert _relative(force, pin.rnea(model, data, pin_q, u, rate)) <= TOLERANCE


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_random_files(campaign, block):
    for rng in campaign(100):
        text = random_urdf(rng, int(rng.integers(1, 30)), massive_root=bool(rng.integers(2)))
        differences = compare(text, rng)
        assert max(differences.values()) <= TOLERANCE, differences


DUMMY = '<link name="root"/><joint name="weld" type="fixed"><parent link="root"/><child link="hand"/></joint>'


@pytest.mark.parametrize("base", ["planar", "floating"])
@pytest.mark.filterwarnings("ignore:.*the robot floats")
def test_a_root_without_mass_is_one_with_what_is_fixed_to_it(rng, base):
    start, end = GRIPPER.index('  <joint name="wrist"'), GRIPPER.index('  <link name="left">')
    alone = GRIPPER[:start].replace('  <link name="world"/>\n', "") + GRIPPER[end:]
    rooted = alone.replace("</robot>", f"{DUMMY}</robot>")
    one, other = (derive(parse_urdf(text, base=base)) for text in (alone, rooted))
    assert one.states == other.states
    x = np.array(one.state_vector()) + rng.normal(size=len(one.states)) * 0.1
    rates = [m.dynamics.evaluate(x, np.zeros(0), list(m.parameters.values()))[0] for m in (one, other)]
    np.testing.assert_allclose(*rates, rtol=1e-9, atol=1e-12)
