"""Zoe beside MuJoCo on one ground: how far they are apart, and what of it the place of the contact's point explains."""

import numpy as np
import pytest

from benchmarks import rough_ground

pytest.importorskip("mujoco", reason="MuJoCo is not installed")
RADIUS = 0.325


@pytest.mark.slow
@pytest.mark.parametrize("sinkage", [0.002, 0.004])
def test_mujocos_wheels_roll_on_the_middle_of_the_overlap(sinkage):
    """Ours touch at their lowest point and go R ω, MuJoCo's half of the depth above it: (R − h/2) ω."""
    robot, terrain = rough_ground.zoe(), rough_ground.ground(sinkage)
    run = rough_ground.ours(robot, terrain, 3.0)
    other = rough_ground.peer(robot, terrain, run)
    other.drive(3.0)
    speed = np.hypot(*other.data.qvel[:2]) / np.hypot(run["v_x"][-1], run["v_y"][-1])
    assert speed == pytest.approx(1 - sinkage / 2 / RADIUS, abs=1e-4)
    assert other.pose[2] == pytest.approx(run["z"][-1], abs=1e-5)


@pytest.mark.slow
def test_on_a_height_map_they_stay_together():
    """Half of the depth in a radius, 3 parts in 1000 of 3 m, and as much for the map's facets."""
    robot, terrain = rough_ground.zoe(), rough_ground.ground(rough=True)
    run = rough_ground.ours(robot, terrain, 6.0)
    other = rough_ground.peer(robot, terrain, run)
    other.drive(6.0)
    apart = other.pose[:2] - [run["x"][-1], run["y"][-1]]
    assert np.hypot(*apart) < 2 * rough_ground.SINKAGE / 2 / RADIUS * 3.0
