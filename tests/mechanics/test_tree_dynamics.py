"""Laws of inverse and forward dynamics and of the mass matrix, on random trees; Pinocchio beside them."""

import numpy as np
import pytest

from trundle.mechanics.energy import kinetic_energy, potential_energy
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.kinematics import point_jacobian, velocities, world_poses
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.spatial.motions import Inertia, transform_point
from trundle.spatial.vectors import ZERO

from .trees import random_inertia, random_motion, random_pose, random_tree


def close(got, expected, tolerance=1e-9):
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(
        np.asarray(got, dtype=float),
        expected,
        rtol=0,
        atol=tolerance * max(1, np.abs(expected).max(initial=0)),
    )


@pytest.fixture(params=range(1, 13))
def sample(request, rng):
    tree = random_tree(rng, request.param)
    q, nu = random_motion(rng, tree)
    return tree, tree.joint_poses(q), q, nu


def test_forward_dynamics_undoes_inverse_dynamics(sample, rng):
    tree, poses, _, nu = sample
    nu_dot = rng.normal(size=tree.speed_count).tolist()
    tau = inverse_dynamics(tree, poses, nu, nu_dot)
    close(forward_dynamics(tree, poses, nu, tau), nu_dot)


def test_mass_matrix_is_what_inverse_dynamics_multiplies(sample):
    tree, poses, _, nu = sample
    matrix = np.array(mass_matrix(tree, poses), dtype=float)
    rest = np.array(inverse_dynamics(tree, poses, nu, [0.0] * len(nu)), dtype=float)
    columns = [np.array(inverse_dynamics(tree, poses, nu, e.tolist()), float) - rest for e in np.eye(len(nu))]
    close(matrix, np.array(columns).T, 1e-11)
    close(matrix, matrix.T, 1e-15)
    assert np.linalg.eigvalsh(matrix).min() > 0


def test_kinetic_energy_is_half_speed_mass_speed(sample):
    tree, poses, _, nu = sample
    matrix = np.array(mass_matrix(tree, poses), dtype=float)
    close(kinetic_energy(tree, velocities(tree, poses, nu), nu), np.dot(nu, matrix @ nu) / 2, 1e-12)


def test_gravity_force_is_the_slope_of_potential_energy(sample):
    tree, poses, q, nu = sample
    still = [0.0] * len(nu)
    holding = inverse_dynamics(tree, poses, still, still)  # = ∂U/∂q N
    q_dot = np.array(tree.coordinate_rates(q, nu), dtype=float)
    h = 1e-4

    def energy(shift):
        return potential_energy(
            tree, world_poses(tree, tree.joint_poses((np.array(q) + shift * q_dot).tolist()))
        )

    slope = (energy(-2 * h) - 8 * energy(-h) + 8 * energy(h) - energy(2 * h)) / (12 * h)
    close(np.dot(holding, nu), slope, 1e-7)


def test_point_jacobian_is_the_rate_of_the_point(sample, rng):
    tree, poses, q, nu = sample
    last = len(tree.links) - 1
    point = tuple(rng.normal(size=3))
    q_dot = np.array(tree.coordinate_rates(q, nu), dtype=float)
    h = 1e-4

    def place(shift):
        world = world_poses(tree, tree.joint_poses((np.array(q) + shift * q_dot).tolist()))
        return np.array(transform_point(world[last], point), dtype=float)

    rate = (place(-2 * h) - 8 * place(-h) + 8 * place(h) - place(2 * h)) / (12 * h)
    columns = np.array(point_jacobian(tree, poses, last, point), dtype=float)
    rotation = np.array(world_poses(tree, poses)[last].rotation, dtype=float)
    close(rotation @ (np.array(nu) @ columns), rate, 1e-8)


def test_spinning_wheel_frame_may_stay_with_its_carrier(rng):
    """An axisymmetric wheel as a `spin` (its frame doesn't turn) and as an ordinary revolute joint: the same
    dynamics.
    """
    for _ in range(5):
        base, place = random_inertia(rng), random_pose(rng)
        axle, diameter = rng.uniform(0.2, 1, size=2)
        wheel = Inertia(1.3, ZERO, ((diameter, 0, 0), (0, axle, 0), (0, 0, diameter)))
        start = Link("base", WORLD, "floating", (0, 0, 1), random_pose(rng), base)
        trees = [
            Tree((start, Link("wheel", 0, kind, (0, 1, 0), place, wheel, 0.2)), (0, 0, -9.81))
            for kind in ("spin", "revolute")
        ]
        q, nu = random_motion(rng, trees[0])
        nu_dot = rng.normal(size=7).tolist()
        (p1, p2) = (tree.joint_poses(q) for tree in trees)
        close(mass_matrix(trees[0], p1), mass_matrix(trees[1], p2), 1e-13)
        close(inverse_dynamics(trees[0], p1, nu, nu_dot), inverse_dynamics(trees[1], p2, nu, nu_dot), 1e-13)
        close(forward_dynamics(trees[0], p1, nu, nu_dot), forward_dynamics(trees[1], p2, nu, nu_dot), 1e-12)


def pinocchio_model(pin, tree):
    """The same tree in Pinocchio, and where each of its joints' q and v stand."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(tree.gravity, float), np.zeros(3))
    ids, places = {WORLD: 0}, {}
    for place in depth_first(tree, WORLD):
        link = tree.links[place]
        parent, before = (
            (0, pin.SE3.Identity()) if link.parent == WORLD else (ids[link.parent], places[link.parent])
        )
        placement = before * pin.SE3(
            np.array(link.placement.rotation, float), np.array(link.placement.position, float)
        )
        inertia = pinocchio_inertia(pin, link.inertia)
        if link.kind == "fixed":
            model.appendBodyToJoint(parent, inertia, placement)
            ids[place], places[place] = parent, placement
            continue
        axis = np.array(link.axis, float)
        joint = {
            "revolute": lambda axis=axis: pin.JointModelRevoluteUnaligned(axis),
            "prismatic": lambda axis=axis: pin.JointModelPrismaticUnaligned(axis),
            "planar": pin.JointModelPlanar,
            "floating": pin.JointModelFreeFlyer,
        }[link.kind]()
        ids[place] = model.addJoint(parent, joint, placement, link.name)
        model.appendBodyToJoint(ids[place], inertia, pin.SE3.Identity())
        places[place] = pin.SE3.Identity()
    armature = np.zeros(model.nv)
    q_at, v_at = [], []
    for place, link in enumerate(tree.links):
        if link.kind != "fixed":
            at = model.joints[ids[place]]
            armature[at.idx_v : at.idx_v + at.nv] = link.armature
            q_at.append((link.kind, at.idx_q))
            v_at += range(at.idx_v, at.idx_v + at.nv)
    model.armature = armature
    return model, q_at, np.array(v_at, dtype=int)


def depth_first(tree, parent):
    """Links so that each is followed by all that hangs on it, which Pinocchio's algorithms need."""
    for place, link in enumerate(tree.links):
        if link.parent == parent:
            yield place
            yield from depth_first(tree, place)


def pinocchio_inertia(pin, inertia):
    mass, h, about_origin = inertia
    center = np.array(h, float) / mass
    about_center = np.array(about_origin, float) - mass * (
        center @ center * np.eye(3) - np.outer(center, center)
    )
    return pin.Inertia(mass, center, about_center)


def pinocchio_q(model, tree, q, q_at):
    result = np.zeros(model.nq)
    moving = [
        (link, at)
        for link, at in zip(tree.links, tree.coordinate_slices(), strict=True)
        if link.kind != "fixed"
    ]
    for (link, at), (_, first) in zip(moving, q_at, strict=True):
        own = list(q[at])
        if link.kind == "planar":
            own = [own[0], own[1], np.cos(own[2]), np.sin(own[2])]
        if link.kind == "floating":
            own = [*own[:3], *own[4:7], own[3]]  # x, y, z, w
        result[first : first + len(own)] = own
    return result


@pytest.mark.parametrize("count", range(1, 13))
def test_pinocchio_agrees(count, rng):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (the extra 'peers') is not installed")
    tree = random_tree(rng, count)
    q, nu = random_motion(rng, tree)
    nu_dot = rng.normal(size=tree.speed_count)
    model, q_at, v_at = pinocchio_model(pin, tree)
    data = model.createData()
    q_pin, v_pin, a_pin = pinocchio_q(model, tree, q, q_at), np.zeros(model.nv), np.zeros(model.nv)
    v_pin[v_at], a_pin[v_at] = nu, nu_dot
    poses = tree.joint_poses(q)
    upper = np.triu(pin.crba(model, data, q_pin))
    matrix = upper + np.triu(upper, 1).T
    if not np.allclose(np.diag(matrix)[v_at], np.diag(np.array(mass_matrix(tree, poses), float))):
        matrix = matrix + np.diag(model.armature)  # releases before 3 leave the armature out of crba
    close(mass_matrix(tree, poses), matrix[np.ix_(v_at, v_at)])
    tau = pin.rnea(model, data, q_pin, v_pin, a_pin)
    close(inverse_dynamics(tree, poses, nu, nu_dot.tolist()), tau[v_at])
    tau_pin = rng.normal(size=model.nv)
    close(
        forward_dynamics(tree, poses, nu, tau_pin[v_at].tolist()),
        pin.aba(model, data, q_pin, v_pin, tau_pin)[v_at],
    )
