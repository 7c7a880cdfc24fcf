"""Constraints along a path as Newton's method asks for them: slopes are those of differences, cones bend as they do."""

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.motion.constraints.real_limits import of_motion, real_limits
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.paths.collocation_grid import CollocationGrid, PathProblem
from trundle.motion.paths.path_constraints import PathConstraints

ROBOTS = {
    "swerve": lambda: catalog.swerve(
        motor="kraken_x60",
        gear_ratio=6.75,
        steering_motor="kraken_x60",
        steering_ratio=21.4,
        robot_mass=50,
        center_height=0.2,
        friction=1.1,
        current_limit=120,
        supply_current_limit=60,
        battery=12.6,
    ),
    "omni": lambda: catalog.three_omni(motor="neo", gear_ratio=7, robot_mass=30, friction=0.8),
}


def laws_at(kind, knots, rng):
    """All that limits a robot along a path, and places within it."""
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.5, 1), (2, 0, 1)]), ROBOTS[kind]())
    piece, real = driven.motion.pieces[-1], real_limits(kinematics(driven.robot), 0.95)
    limits = trundle.Limits(drive_speed=3, steering_jerk=2000)
    constraints = of_motion(piece.drive.limited(limits), real, [(0.2, 0.5, {"acceleration": 6.0})])
    laws = PathConstraints(
        CollocationGrid.on(np.array(knots), PathProblem(piece.at_unit_pace, constraints, jerks=True))
    )
    scaling = piece.scaling
    b = 0.5 * scaling.squared(*scaling.placed(laws.grid.z))[0]
    moved = np.stack([b, *(0.3 * b * rng.uniform(-1, 1, (2, len(b))))], axis=1)
    return laws, np.concatenate([moved, rng.uniform(-0.1, 0.1, (len(b), laws.wide - 3))], axis=1)


def moved(at, way, step):
    return at + step * np.eye(at.shape[1])[way]


@pytest.mark.parametrize("kind", ROBOTS)
def test_slopes_are_those_of_differences_from_both_sides(kind, rng):
    laws, at = laws_at(kind, [0.2, 0.5, 0.8], rng)
    linear = laws.linearized(at)
    units = [*[at[:, 0].max()] * 3, *np.ones(laws.wide - 3)]
    for way, unit in enumerate(units):
        low, high = (laws.linearized(moved(at, way, sign * 1e-4 * unit)) for sign in (-1, 1))
        expected = (high.value - low.value) / 2e-4
        slopes = linear.change(np.eye(laws.wide)[[way] * len(at)])
        np.testing.assert_allclose(slopes * unit, expected, rtol=1e-4, atol=1e-4)
        expected = (high.bounds - low.bounds) / 2e-4
        np.testing.assert_allclose(linear.bound_slopes[:, way] * unit, expected, rtol=1e-4, atol=1e-3)


def test_margins_leave_less(rng):
    laws, at = laws_at("omni", [0.2, 0.5], rng)
    whole = laws.linearized(at).value
    laws.margins["grip of left"] = np.array([0.5, *np.ones(7)])
    less = laws.linearized(at).value - whole
    assert (np.abs(less) > 1e-12).sum() == 1
    assert less.min() < -0.1


def test_cones_bend_as_their_slopes_change(rng):
    """−∇²c, as differences of slopes along what is free: of cones of grip and of the battery, which are no more than
    quadratic there, exactly.
    """
    laws, at = laws_at("swerve", [0.2, 0.5], rng)
    linear, ways = laws.linearized(at), range(3, laws.wide)
    bent = np.zeros((len(linear.value), laws.wide, laws.wide, len(at)))
    for owner, weight, bend in zip(
        linear.owner, linear.curvature, linear.gradients[len(linear.mixed) :], strict=True
    ):
        bent[owner] += weight * bend[:, None] * bend
    names = [name for row in laws._rows(at[None]) for name in row.names]
    exact = [k for k, name in enumerate(names) if name.split(" of ")[0] in ("grip", "load", "power", "sag")]
    assert len(exact) == 4 + 4 + 1 + 1
    for way in ways:
        low, high = (laws.linearized(moved(at, way, sign * 1e-3)) for sign in (-1, 1))
        for other in ways:
            along = np.eye(laws.wide)[[other] * len(at)]
            changed = (low.change(along) - high.change(along)) / 2e-3
            np.testing.assert_allclose(changed[exact], bent[exact, way, other], rtol=1e-3, atol=2e-3)
