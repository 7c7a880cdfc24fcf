"""Laws of motion on random trees with every kind of joint, derivatives by automatic differentiation."""

import casadi as ca
import numpy as np
import pytest

from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.frames import (
    frame_acceleration,
    frame_pose,
    frame_velocity,
    velocities,
    world_jacobian,
    world_poses,
)
from trundle.mechanics.inverse_dynamics import ExternalWrench, inverse_dynamics, link_wrenches
from trundle.mechanics.momentum import (
    center_of_mass,
    kinetic_energy,
    mass_matrix,
    mass_numbers,
    total_momentum,
)
from trundle.mechanics.tree import Tree
from trundle.spatial.motions import Force

from .trees import random_motion, random_tree


def close(got, expected, relative):
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    np.testing.assert_allclose(got, expected, rtol=0, atol=relative * max(1, np.abs(expected).max(initial=0)))


def flat(motion):
    return [*motion[0], *motion[1]]


def random_pushes(rng, tree):
    return [
        ExternalWrench(
            int(rng.integers(len(tree.links))),
            Force(tuple(rng.normal(size=3).tolist()), tuple(rng.normal(size=3).tolist())),
            tuple(rng.normal(size=3).tolist()),
            str(rng.choice(["link", "world"])),  # type: ignore[arg-type]
        )
        for _ in range(3)
    ]


def along(function, tree, q, nu, nu_dot):
    """The time derivative of function(q, ν) along the motion, by automatic differentiation; a column."""
    x, v = ca.SX.sym("q", len(q)), ca.SX.sym("v", len(nu))
    column = ca.vertcat(*function([x[i] for i in range(len(q))], [v[i] for i in range(len(nu))]))
    rates = ca.DM([float(r) for r in tree.coordinate_rates(q, nu)])
    change = ca.jtimes(column, x, rates) + ca.jtimes(column, v, ca.DM(nu_dot))
    return np.array(ca.Function("f", [x, v], [change])(q, nu)).ravel()


@pytest.fixture(params=[1, 2, 3, 5, 8, 13, 21, 30])
def sample(request, rng):
    tree = random_tree(rng, request.param)
    q, nu = random_motion(rng, tree)
    return tree, q, nu, rng.normal(size=len(nu)).tolist()


def test_the_slope_of_force_over_acceleration_is_the_mass_matrix(sample):
    tree, q, nu, _ = sample
    a = ca.SX.sym("a", len(nu))
    tau = inverse_dynamics(tree, tree.joint_poses(q), nu, [a[i] for i in range(len(nu))])
    slope = np.array(ca.DM(ca.jacobian(ca.vertcat(*tau), a)))
    close(mass_matrix(tree, tree.joint_poses(q)), slope, 1e-10)


def test_forward_dynamics_undoes_inverse_dynamics_under_pushes(sample, rng):
    tree, q, nu, nu_dot = sample
    poses = tree.joint_poses(q)
    wrenches = link_wrenches(tree, world_poses(tree, poses), random_pushes(rng, tree))
    tau = inverse_dynamics(tree, poses, nu, nu_dot, wrenches)
    close(forward_dynamics(tree, poses, nu, tau, wrenches), nu_dot, 1e-10)


def test_pushes_enter_by_the_jacobian_of_their_point(sample, rng):
    tree, q, nu, nu_dot = sample
    poses = tree.joint_poses(q)
    world = world_poses(tree, poses)
    pushes = random_pushes(rng, tree)
    expected = np.array(inverse_dynamics(tree, poses, nu, nu_dot), float)
    for push in pushes:
        rotation = np.array(world[push.link].rotation, float)
        turn = rotation if push.axes == "link" else np.eye(3)
        wrench = np.concatenate([turn @ np.array(part) for part in push.wrench])
        jacobian = np.array([flat(c) for c in world_jacobian(tree, poses, push.link, push.point)], float)
        expected -= jacobian @ wrench
    close(inverse_dynamics(tree, poses, nu, nu_dot, link_wrenches(tree, world, pushes)), expected, 1e-11)


def test_momentum_changes_by_the_wrench_from_outside(rng):
    """On a free tree: ṗ = m g + Σ f and L̇ about the centre of mass = Σ of the pushes' moments about it."""
    for count in (1, 3, 8, 20):
        links = random_tree(rng, count, armature=False).links
        free = random_tree(rng, 1, ("floating",)).links[0]
        tree = Tree((free, *links[1:]), tuple(rng.normal(size=3).tolist()))
        q, nu = random_motion(rng, tree)
        poses = tree.joint_poses(q)
        world = world_poses(tree, poses)
        pushes = random_pushes(rng, tree)
        tau = rng.normal(size=len(nu))
        tau[:6] = 0
        nu_dot = forward_dynamics(tree, poses, nu, tau.tolist(), link_wrenches(tree, world, pushes))

        def momentum(q, nu, tree=tree):
            poses = tree.joint_poses(q)
            return flat(total_momentum(tree, world_poses(tree, poses), velocities(tree, poses, nu)))

        mass, center = center_of_mass(tree, world)
        force, moment = mass * np.array(tree.gravity, float), np.zeros(3)
        for push in pushes:
            turn = np.array(world[push.link].rotation, float) if push.axes == "link" else np.eye(3)
            arm = np.array(frame_pose(tree, poses, push.link, push.point).position, float) - np.array(center)
            force = force + turn @ push.wrench.force
            moment = moment + turn @ push.wrench.moment + np.cross(arm, turn @ push.wrench.force)
        close(along(momentum, tree, q, nu, nu_dot), [*force, *moment], 1e-8)


def test_the_mass_matrix_of_numbers_is_that_of_scalars(sample):
    tree, q, _, _ = sample
    poses = tree.joint_poses(q)
    close(mass_numbers(tree, poses), mass_matrix(tree, poses), 1e-15)


def test_momentum_is_what_the_mass_matrix_has_for_a_free_root(rng):
    """The first six rows of M ν are the whole tree's momentum about the root's origin, in its axes."""
    for count in (1, 3, 8, 20):
        links = random_tree(rng, count, armature=False).links
        tree = Tree((random_tree(rng, 1, ("floating",)).links[0], *links[1:]))
        q, nu = random_motion(rng, tree)
        poses = tree.joint_poses(q)
        world = world_poses(tree, poses)
        rotation, origin = np.array(world[0].rotation, float), np.array(world[0].position, float)
        linear, angular = (np.array(mass_matrix(tree, poses), float) @ nu)[:6].reshape(2, 3) @ rotation.T
        arm = np.array(center_of_mass(tree, world)[1], float) - origin
        expected = [*linear, *(angular - np.cross(arm, linear))]
        close(flat(total_momentum(tree, world, velocities(tree, poses, nu))), expected, 1e-11)


def test_momentum_is_mass_times_the_center_of_mass_s_velocity(sample):
    tree, q, nu, _ = sample

    def center(q, nu):
        return list(center_of_mass(tree, world_poses(tree, tree.joint_poses(q)))[1])

    poses = tree.joint_poses(q)
    mass, _ = center_of_mass(tree, world_poses(tree, poses))
    linear, _ = total_momentum(tree, world_poses(tree, poses), velocities(tree, poses, nu))
    close(linear, mass * along(center, tree, q, nu, [0.0] * len(nu)), 1e-11)


def test_frame_velocity_and_acceleration_are_time_derivatives(sample, rng):
    tree, q, nu, nu_dot = sample
    index, point = len(tree.links) - 1, tuple(rng.normal(size=3).tolist())
    poses = tree.joint_poses(q)
    place = along(
        lambda q, nu: list(frame_pose(tree, tree.joint_poses(q), index, point).position), tree, q, nu, nu_dot
    )
    velocity = frame_velocity(tree, poses, nu, index, point)
    close(velocity.linear, place, 1e-11)
    jacobian = np.array([flat(c) for c in world_jacobian(tree, poses, index, point)], float)
    close(np.array(nu) @ jacobian, flat(velocity), 1e-12)
    change = along(
        lambda q, nu: flat(frame_velocity(tree, tree.joint_poses(q), nu, index, point)), tree, q, nu, nu_dot
    )
    close(flat(frame_acceleration(tree, poses, nu, nu_dot, index, point)), change, 1e-10)


def test_kinetic_energy_of_every_joint(sample):
    tree, q, nu, _ = sample
    poses = tree.joint_poses(q)
    matrix = np.array(mass_matrix(tree, poses), float)
    close(kinetic_energy(tree, velocities(tree, poses, nu), nu), np.dot(nu, matrix @ nu) / 2, 1e-12)
