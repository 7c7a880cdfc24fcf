"""Solving with the mass matrix by recursion, against the mass matrix."""

import numpy as np
import pytest

from trundle.mechanics.fewer_operations import still_frames
from trundle.mechanics.forward_dynamics import solve_mass
from trundle.mechanics.momentum import mass_matrix

from .trees import random_motion, random_tree


@pytest.mark.parametrize("still", [False, True], ids=["own frames", "still frames"])
@pytest.mark.parametrize("count", [1, 2, 5, 12, 25])
def test_the_mass_matrix_times_the_solution_is_what_was_given(rng, count, still):
    """M X = T, with armatures, joints of every type, and columns that touch one joint only."""
    for _ in range(5):
        tree = random_tree(rng, count)
        q, _ = random_motion(rng, tree)
        poses = tree.joint_poses(q)
        mass = np.array(mass_matrix(tree, poses), dtype=float)
        columns = [*rng.normal(size=(3, len(mass))), np.eye(len(mass))[-1]]
        if still:
            seen = still_frames(tree, q)
            tree, poses = seen.tree, seen.poses
        found = np.array(solve_mass(tree, poses, [column.tolist() for column in columns]), dtype=float)
        np.testing.assert_allclose(mass @ found.T, np.transpose(columns), atol=1e-9 * np.abs(mass).max())
        np.testing.assert_allclose(
            found, np.linalg.solve(mass, np.transpose(columns)).T, rtol=1e-8, atol=1e-9
        )
