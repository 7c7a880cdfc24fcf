"""The laws of a path's forces: their slopes are those of differences, and bend down where they say so."""

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.motion.constraints.real_limits import real_limits
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.forces.demand import Demand
from trundle.motion.paths.force_laws import Laws, Place

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


@pytest.mark.parametrize("kind", ROBOTS)
def test_slopes_are_those_of_differences(kind, rng):
    robot = ROBOTS[kind]()
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.5, 1), (2, 0, 1)]), robot)
    piece = driven.motion.pieces[-1]
    z = np.linspace(0.05, 0.95, 7)
    real = real_limits(kinematics(driven.robot), 0.95)
    one, none = np.ones_like(z), np.zeros_like(z)
    laws = Laws(Demand.along(real.driven, piece.passed(z, (one, none, none))), 0.95)
    b = 0.5 * np.interp(z, piece.scaling.knots[:-1], piece.scaling.squares[:, 0])
    free, volts = (rng.uniform(-0.2, 0.2, (7, laws.wide - 2 - len(laws.supplies))), len(laws.supplies))
    at = Place(b, 0.3 * b * rng.uniform(-1, 1, 7), free, rng.uniform(0.7, 0.9, (7, volts)))
    held = laws.held(at)

    def moved(way, step):
        parts = np.column_stack([at.b, at.a, at.free, at.volts])
        parts[:, way] += step
        last = laws.wide - volts
        return laws.held(Place(parts[:, 0], parts[:, 1], parts[:, 2:last], parts[:, last:]))

    units = [b.max(), b.max(), *np.ones(laws.wide - 2)]
    for way, unit in enumerate(units):
        low, high = (moved(way, sign * 1e-5 * unit).value for sign in (-1, 1))
        differences = (high - low) / 2e-5
        slopes = held.slopes.times(np.tile(np.eye(laws.wide)[way], (7, 1)))
        np.testing.assert_allclose(slopes * unit, differences, rtol=1e-4, atol=1e-5)
    weights = rng.uniform(0, 1, held.value.shape)
    whole = np.stack([held.slopes.times(np.tile(one, (7, 1))) for one in np.eye(laws.wide)], axis=2)
    np.testing.assert_allclose(
        held.slopes.pulled(weights), np.einsum("nm,nml->nl", weights, whole), rtol=1e-9
    )
    squared = np.einsum("nm,nmk,nml->nkl", weights, whole, whole)
    np.testing.assert_allclose(held.slopes.squared(weights), squared, rtol=1e-9, atol=1e-12)


def test_cones_bend_as_their_slopes_change(rng):
    """−∇²c, as differences of slopes, of all that isn't in √b: the cones of grip, along what is free."""
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.5, 1)]), ROBOTS["swerve"]())
    piece, z = driven.motion.pieces[-1], np.array([0.3, 0.6])
    real = real_limits(kinematics(driven.robot), 0.95)
    one, none = np.ones_like(z), np.zeros_like(z)
    laws = Laws(Demand.along(real.driven, piece.passed(z, (one, none, none))), 0.95)
    b = 0.5 * np.interp(z, piece.scaling.knots[:-1], piece.scaling.squares[:, 0])
    r = laws.wide - 2 - len(laws.supplies)
    at = Place(b, 0 * b, rng.uniform(-0.2, 0.2, (2, r)), np.full((2, 1), 0.8))
    held, step = laws.held(at), 1e-5
    bent = np.zeros((2, held.value.shape[1], laws.wide, laws.wide))
    for place, owner in enumerate(held.owner):
        bend = held.bend[:, place]
        bent[:, owner] += held.weight[:, place, None, None] * bend[:, :, None] * bend[:, None]

    def slopes(free):
        """(n, m, r): by what is free."""
        by = laws.held(at._replace(free=free)).slopes
        units = np.eye(laws.wide)[2 : 2 + r]
        return np.stack([by.times(np.tile(unit, (2, 1))) for unit in units], axis=2)

    for way, unit in enumerate(np.eye(r)):
        change = slopes(at.free + step * unit) - slopes(at.free - step * unit)
        expected = bent[:, :, 2 + way, 2 : 2 + r]
        np.testing.assert_allclose(-change / (2 * step), expected, rtol=1e-5, atol=1e-6)
