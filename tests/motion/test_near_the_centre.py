"""Wheels that steer pass the momentary centre of rotation at a few tenths of a millimetre, where they turn at once."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar, root

import trundle
from tests.motion.test_real_limits_campaign import random_path, random_robot, require_shares
from trundle import catalog
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.paths.along_path import AlongPath, local_velocities, twists

REAL = {
    "wheelbase": 0.6,
    "track": 0.6,
    "gear_ratio": 6.75,
    "motor": "kraken_x60",
    "friction": 1.0,
    "center_height": 0.2,
    "robot_mass": 45.0,
}
FED = {"battery": 12.5, "battery_resistance": 0.015, "current_limit": 120.0, "supply_current_limit": 60.0}
STEERED = {"steering_motor": "kraken_x60", "steering_ratio": 18.0}


def three_steered():
    """A base on a triangle of steered wheels, whose steering motors limit it, too."""
    places = {"front": [0.35, 0.0, 0.05], "left": [-0.2, 0.3, 0.05], "right": [-0.2, -0.3, 0.05]}
    wheel = {"type": "steered", "radius": 0.05, "mass": 1, "friction": 1.0, "contact": "ideal"}
    motor = {"model": "neo", "voltage_limit": 12, "current_limit": 60}
    motors = {}
    for name in places:
        motors[f"{name}_drive"] = {"drives": name, "gear_ratio": 7, **motor}
        motors[f"{name}_steer"] = {"drives": f"{name}.steering", "gear_ratio": 20, **motor}
    return trundle.robot.parse_robot(
        {
            "name": "three_steered",
            "body": {
                "mass": 30,
                "center_of_mass": [0, 0, 0.2],
                "inertia": {"xx": 1.2, "yy": 1.2, "zz": 2.0},
            },
            "wheels": {
                name: wheel | {"at": at, "fork": {"mass": 1, "inertia": {"zz": 0.01}}}
                for name, at in places.items()
            },
            "motors": motors,
        }
    )


BASES = {
    "fed": lambda: catalog.swerve(**REAL, **FED, **STEERED),
    "held": lambda: catalog.swerve(**REAL),
    "three": three_steered,
}


def bent(knob):
    """A path that turns as it bends, by how far along its third pose lies."""
    return trundle.pose_path([(0, 0, 0), (0.9, 0.2, 0.8), (1 + knob, 0.55, 2.0), (1.9, 0.9, 3.0)])


def passing(robot, wheel, distance):
    """A path along which the centre of rotation passes a wheel at a distance."""
    drive = kinematics(robot).drive

    def velocity(knob, length):
        section = bent(knob).sections[0]
        return local_velocities(drive, section, np.array([length]))[0, wheel]

    def slowest(knob):
        section = bent(knob).sections[0]
        lengths = np.linspace(0.1, 0.9, 401) * section.length
        sizes = np.abs(local_velocities(drive, section, lengths)[:, wheel])
        return sizes.min(), knob, lengths[sizes.argmin()]

    guess = min(slowest(knob) for knob in np.linspace(-1, 1, 41))[1:]
    through, at = root(
        lambda x: [velocity(*x).real, velocity(*x).imag], guess, tol=1e-15, options={"xtol": 1e-15}
    ).x
    assert abs(velocity(through, at)) < 1e-10

    def nearest(knob):
        section = bent(knob).sections[0]

        def away(length):
            here = np.array([length])
            return abs(velocity(knob, length) / twists(section, here, 1)[0, 0, 2])

        inside = (at - 0.05, at + 0.05)
        return minimize_scalar(away, bounds=inside, method="bounded", options={"xatol": 1e-12}).fun

    if not distance:
        return bent(through)
    knob = brentq(lambda knob: nearest(knob) - distance, through + 1e-9, through + 0.2)
    assert nearest(knob) == pytest.approx(distance, rel=1e-3)
    return bent(knob)


CASES = [
    ("fed", 0, 1e-3),
    pytest.param("fed", 3, 3e-4, marks=pytest.mark.slow),
    pytest.param("fed", 3, 1e-3, marks=pytest.mark.slow),
    pytest.param("fed", 3, 3e-3, marks=pytest.mark.slow),
    pytest.param("held", 3, 3e-4, marks=pytest.mark.slow),
    pytest.param("held", 3, 1e-3, marks=pytest.mark.slow),
    pytest.param("held", 3, 3e-3, marks=pytest.mark.slow),
    pytest.param("three", 1, 3e-4, marks=pytest.mark.slow),
    pytest.param("three", 1, 1e-3, marks=pytest.mark.slow),
    pytest.param("three", 1, 3e-3, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("base", "wheel", "distance"), CASES)
def test_close_by_the_centre_all_laws_hold(base, wheel, distance):
    """With knots where nothing was seen to turn, plans were refused, or took 14 times the grip that there is."""
    robot = BASES[base]()
    driven = trundle.follow(passing(robot, wheel, distance), robot, progress=False)
    assert len(driven.motion.pieces) == 1
    require_shares(driven, base)


@pytest.mark.slow
@pytest.mark.parametrize(("base", "wheel"), [("fed", 0), ("held", 3), ("three", 1)])
def test_through_the_centre_it_stops_and_turns(base, wheel):
    robot = BASES[base]()
    driven = trundle.follow(passing(robot, wheel, 0.0), robot, progress=False)
    assert sum(isinstance(piece, AlongPath) for piece in driven.motion.pieces) == 2
    require_shares(driven, base)


@pytest.mark.slow
def test_angles_go_on_close_by_the_centre():
    """No whole turn comes in where a wheel turns by half a turn within a millimetre."""
    robot = BASES["held"]()
    motion = trundle.follow(passing(robot, 3, 3e-4), robot, progress=False).motion
    edges = np.unique(np.concatenate([np.linspace(0, motion.duration, 4001), motion.breaks]))
    edges = np.unique(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
    angle = motion.samples(edges).angle
    assert np.abs(np.diff(angle, axis=0)).max() < np.pi / 2


@pytest.mark.slow
def test_a_finer_grid_begins_with_all_wheels_on_the_ground():
    """Beside a dip values of b for coefficients of it tilted the start: it was refused."""
    rng = np.random.default_rng([20261125, 99])
    path = random_path("swerve", rng)
    require_shares(trundle.follow(path, random_robot("swerve", rng), progress=False), "swerve")
