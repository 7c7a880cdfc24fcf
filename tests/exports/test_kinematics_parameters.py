"""Exported kinematics at other parameters: those of the robot with the changed description, and of its odometry."""

from functools import cache

import numpy as np
import pytest

import trundle
from exports.wheeled_cases import WHEELED, measured
from motion.test_kinematics import mixed
from parameters import mostly_slow
from trundle.exports.entries import entries

BASES = {**{name: lambda name=name: trundle.catalog.robot(name) for name in WHEELED}, "mixed": mixed}


@cache
def programs(name):
    """The programs of a base by their names."""
    found = entries(trundle.derive(BASES[name]()), ["kinematics"])
    return {entry.name: entry.program for entry in found}


def cases(kinematics, count, rng):
    """Random twists, angles that the wheels can have, speeds and steering rates."""
    m = len(kinematics.modules)
    pivots = np.array([module.pivots for module in kinematics.modules])[:, None]
    angles = np.where(pivots, rng.uniform(-3, 3, (m, count)), kinematics.headings[:, None])
    return (
        rng.uniform(-3, 3, (3, count)),
        angles,
        rng.uniform(-2, 2, (m, count)),
        rng.uniform(-5, 5, (m, count)),
    )


def off(found, expected):
    """The largest difference of groups of numbers, in parts of the largest number or of one."""
    pairs = zip(found, expected, strict=True)
    return max(np.abs(a - b).max() / max(1.0, np.abs(b).max()) for a, b in pairs)


def states_off(found, expected):
    """The same of wheels' states, without angles of wheels that are nearly still, which rounding turns far."""
    rolling = np.abs(expected[1]) > 0.5
    angles = [np.where(rolling, angle, 0) for angle in (found[0], expected[0])]
    return max(off(angles[:1], angles[1:]), off(found[1:], expected[1:]))


@pytest.mark.parametrize("name", BASES)
def test_at_the_descriptions_parameters_nothing_changes(name, rng):
    found, robot = programs(name), BASES[name]()
    p, kinematics = np.array(list(robot.parameter_values().values())), trundle.kinematics(robot)
    twist, angle, speed, rate = cases(kinematics, 1000, rng)
    assert states_off(found["wheel_states"](twist, p), kinematics.inverse(twist)) <= 2e-15
    given = twist, angle, speed
    assert states_off(found["next_wheel_states"](*given, p), kinematics.following(*given)) <= 2e-15
    given = angle, speed, rate
    assert off(found["base_twist"](*given, p), kinematics.forward(*given)) <= 2e-15


@pytest.mark.parametrize("name", mostly_slow(BASES, ["differential_drive", "tricycle", "mecanum"]))
def test_changed_parameters_are_a_changed_description(name, rng):
    """1,000 cases: 5 robots with other measures, derived anew, of 200 twists each."""
    found = programs(name)
    for _ in range(5):
        robot = measured(BASES[name](), rng)
        p, kinematics = np.array(list(robot.parameter_values().values())), trundle.kinematics(robot)
        twist, angle, speed, rate = cases(kinematics, 200, rng)
        assert states_off(found["wheel_states"](twist, p), kinematics.inverse(twist)) <= 1e-14
        given = twist, angle, speed
        assert states_off(found["next_wheel_states"](*given, p), kinematics.following(*given)) <= 1e-14
        given = angle, speed, rate
        assert off(found["base_twist"](*given, p), kinematics.forward(*given)) <= 1e-12
        radius, heading = found["wheel_measures"](p)
        np.testing.assert_allclose(radius, [module.radius for module in kinematics.modules], rtol=1e-15)
        np.testing.assert_allclose(heading, kinematics.headings, atol=1e-15)


def possible(kinematics, twists):
    """The parts of twists at which no fixed wheel is dragged along its axle."""
    bound = [module for module in kinematics.modules if not module.pivots and module.rollers is None]
    rows = [[-s, c, c * x + s * y] for (c, s), (x, y) in ((each.direction, each.place) for each in bound)]
    return twists - np.linalg.pinv(np.array(rows)) @ rows @ twists if rows else twists


def at(name, rng, count=200):
    """A base with other measures as programs, their parameters, twists that it can do and its wheels' states."""
    found = programs(name)
    other = measured(BASES[name](), rng)
    p, kinematics = np.array(list(other.parameter_values().values())), trundle.kinematics(other)
    twist = possible(kinematics, rng.uniform(-3, 3, (3, count)))
    angle, speed, *trailing = found["wheel_states"](twist, p)
    rate = np.zeros((len(kinematics.modules), count))
    rate[[module.is_caster for module in kinematics.modules]] = np.vstack([np.zeros((0, count)), *trailing])
    return found, p, kinematics, twist, (np.broadcast_to(angle, rate.shape), speed, rate)


@pytest.mark.parametrize("name", BASES)
def test_what_wheels_do_at_a_twist_gives_it_back(name, rng):
    found, p, _, twist, states = at(name, rng, 1000)
    back, slip = found["base_twist"](*states, p)
    assert off([back], [twist]) <= 1e-12
    assert np.abs(slip).max() <= 1e-12


@pytest.mark.parametrize("name", WHEELED)
def test_odometry_and_kinematics_share_their_parameters(name, rng):
    """Wheels that turn as kinematics says at a twist move the pose of odometry along it: d pose/d increment q' = xi."""
    found, p, kinematics, twist, (angle, speed, _) = at(name, rng)
    (step,) = entries(trundle.derive(BASES[name]()), ["odometry"])
    assert step.program.inputs[-1] == found["base_twist"].inputs[-1]
    radius, heading = (each[:, None] for each in found["wheel_measures"](p))
    names = kinematics.names
    rates = {f"{each}.angle": row for each, row in zip(names, speed / radius, strict=True)}
    steering = {f"{each}.steering": row for each, row in zip(names, angle - heading, strict=True)}
    if name == "ackermann":  # its linkage has the angle of a wheel in the middle
        steering["steering.angle"] = np.arctan(np.ptp(kinematics.places[:, 0]) * twist[2] / twist[0])
    increments, angles = (group.labels for group in step.program.inputs[1:3])
    moving = np.array([rates.get(each, np.zeros(twist.shape[1])) for each in increments])
    held = np.array([steering[each] for each in angles]).reshape(len(angles), twist.shape[1])
    slope = step.program(np.zeros(twist.shape), 0 * moving, held, p)[2].reshape(3, len(increments), -1)
    assert off([np.einsum("ijn,jn->in", slope, moving)], [twist]) <= 1e-11


@pytest.mark.parametrize("name", ["ackermann", "tricycle", "three_omni", "mixed"])
def test_derivatives_by_parameters_are_differences(name, rng):
    found, p, _, twist, states = at(name, rng, 50)
    for entry, given, of in (("wheel_states", (twist,), "speed"), ("base_twist", states, "twist")):
        program = found[entry]
        place = [group.name for group in program.outputs].index(of)
        slope = program.jacobian(of, "parameter")(*given, p).reshape(-1, len(p), 50)
        assert np.abs(slope).max() > 0.1
        for k in range(len(p)):
            step = np.zeros(len(p))
            step[k] = 1e-5
            differences = (program(*given, p + step)[place] - program(*given, p - step)[place]) / 2e-5
            np.testing.assert_allclose(slope[:, k], differences, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_all_functions_take_the_same_parameters():
    """Names, units and defaults alike, so that a structure in C, say, serves them all."""
    for make in BASES.values():
        found = entries(trundle.derive(make()))
        told = [
            (entry.program.inputs[-1], entry.units["parameter"], entry.defaults["parameter"])
            for entry in found
            if entry.program.inputs[-1].name == "parameter"
        ]
        assert set(told) == {told[0]}
        assert told[0][0].name == "parameter"
