"""Laws of inverse and forward dynamics and of the mass matrix, on random trees; Pinocchio beside them."""

import numpy as np
import pytest

from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.frames import point_jacobian, velocities, world_poses
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.momentum import kinetic_energy, mass_matrix, potential_energy
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
    """An axisymmetric wheel as a `spin` (its frame doesn't turn) and as a revolute joint: the same dynamics."""
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
