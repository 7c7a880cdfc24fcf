"""Kinematics of drives: from a twist to wheels' angles and speeds and back, the halves chosen for all together."""

import math

import numpy as np
import pytest

import trundle
from trundle.errors import InputError
from trundle.mechanics.modules import MARGIN

WHOLE = ("swerve", "mecanum", "three_omni")  # drives that can move any way


def mixed():
    """A drive with a wheel of every kind on its base, each somewhere else and turned."""
    wheels = {
        "steered": {"type": "steered", "at": [0.4, 0.2, 0.1], "heading": 0.3},
        "kingpin": {"type": "kingpin", "at": [-0.3, 0.5, 0.1], "heading": -0.4, "scrub": 0.04},
        "caster": {"type": "caster", "at": [0.1, -0.5, 0.1], "heading": 0.2, "offset": 0.06},
        "omni": {"type": "omni", "at": [-0.4, -0.1, 0.1], "heading": 1.1},
        "mecanum": {"type": "mecanum", "at": [0.3, -0.3, 0.1], "roller_angle": "45 deg"},
    }
    return trundle.load(
        {
            "robot": {
                "name": "mixed",
                "base": "planar",
                "body": {"mass": 10, "inertia": {"zz": 1}},
                "wheels": {name: {"radius": 0.1, "mass": 1, **wheel} for name, wheel in wheels.items()},
            },
        }
    )


@pytest.mark.parametrize("robot", [*WHOLE, "mixed"])
def test_least_squares_gives_back_the_twist_and_no_wheel_slips(robot, rng):
    found = trundle.kinematics(mixed() if robot == "mixed" else trundle.catalog.robot(robot))
    twists = rng.uniform(-1, 1, (3, 200))
    states = found.module_states(*twists)
    np.testing.assert_allclose(found.twist(states), twists.T, atol=1e-12)
    assert found.slip(states).max() < 1e-12
    for lane in (0, 57):
        single = found.module_states(*twists[:, lane])
        np.testing.assert_allclose(single.angles, states.angles[lane], atol=1e-14)
        np.testing.assert_allclose(single.speeds, states.speeds[lane], atol=1e-14)
        np.testing.assert_allclose(found.twist(single), twists[:, lane], atol=1e-12)


def test_a_run_with_these_rates_moves_as_the_twist_says(rng):
    robot = mixed()
    found, twist = trundle.kinematics(robot), rng.uniform(-0.5, 0.5, 3)
    states = found.module_states(*twist)
    steering = {
        f"{n}.steering": states[n][0] - found.headings[found.names.index(n)] for n in ("steered", "kingpin")
    }
    rates = {f"{n}.rate": states[n][1] / 0.1 for n in ("steered", "kingpin", "omni", "mecanum")}
    run = trundle.roll(robot, 1e-9, rates, initial={**steering, "caster.steering": 0.0})
    np.testing.assert_allclose([run[name][0] for name in ("v_x", "v_y", "omega")], twist, atol=1e-9)
    assert run["slip_residual"][0] < 1e-9
    np.testing.assert_allclose(run["caster.rate"][0] * 0.1, states["caster"][1], atol=1e-9)
    np.testing.assert_allclose(run["caster.steering_rate"][0], states.steering_rates[2], atol=1e-9)


@pytest.mark.parametrize("robot", [*WHOLE, "mixed"])
@pytest.mark.slow
def test_rates_are_derivatives_and_lead_back(robot, rng):
    """States along ξ + ξ̇ t, differenced; then back by least squares to ξ̇."""
    found = trundle.kinematics(mixed() if robot == "mixed" else trundle.catalog.robot(robot))
    twist, rate = rng.uniform(-1, 1, (2, 100, 3))
    step = 1e-5
    states = found.module_states(*twist.T)
    rates = found.module_rates(twist, rate, states)
    before, after = (found.module_states(*(twist + t * rate).T, states) for t in (-step, step))
    slow = np.hypot(*(found.matrix @ twist.T).reshape(-1, 2, 100).transpose(1, 0, 2)).T > 0.2
    turning = (after.angles - before.angles) / (2 * step)
    turning[:, [name == "caster" for name in found.names]] = 0
    expected = np.where(slow, rates.steering_rates, turning)
    expected[:, [name == "caster" for name in found.names]] = 0
    np.testing.assert_allclose(turning, expected, rtol=1e-5, atol=1e-5)
    if robot != "mixed":  # its kingpin's speed has a steering rate in it, its caster's angle moves
        np.testing.assert_allclose(
            np.where(slow, (after.speeds - before.speeds) / (2 * step), 0),
            np.where(slow, rates.drive_accelerations, 0),
            rtol=1e-5,
            atol=1e-5,
        )
    if robot == "mixed":
        states = found.states(
            states.angles, states.speeds + _scrubbed(found, states, rates), rates.steering_rates
        )
    np.testing.assert_allclose(found.twist(states), twist, atol=1e-11)
    np.testing.assert_allclose(found.twist_rate(states, rates), rate, atol=1e-10)


def _scrubbed(found, states, rates):
    """What steering adds to the speed of the kingpin wheel, whose contact is beside its pivot: −c₂ δ̇."""
    left = np.array([module.offset[1] for module in found.modules])
    return -left * (rates.steering_rates - states.steering_rates)


def test_a_wheel_at_rest_has_no_finite_rate_across():
    found = trundle.kinematics(trundle.catalog.swerve())
    states = found.module_states(0, 0, 0)
    along = found.module_rates((0, 0, 0), (1, 0, 0), states)
    assert along.drive_accelerations.tolist() == [1.0] * 4
    assert along.steering_rates.tolist() == [0.0] * 4
    across = found.module_rates((0, 0, 0), (0, -1, 0), states)
    assert across.steering_rates.tolist() == [-math.inf] * 4


def test_slip_is_what_the_pseudo_inverse_leaves(rng):
    found = trundle.kinematics(trundle.catalog.swerve())
    angles, speeds = rng.uniform(-4, 4, (50, 4)), rng.uniform(-1, 1, (50, 4))
    states = found.states(angles, speeds)
    u = np.stack([speeds * np.cos(angles), speeds * np.sin(angles)], axis=-1).reshape(50, 8)
    residual = (np.eye(8) - found.matrix @ np.linalg.pinv(found.matrix)) @ u.T
    expected = np.linalg.norm(residual.T.reshape(50, 4, 2), axis=-1)
    np.testing.assert_allclose(found.slip(states), expected, atol=1e-12)
    np.testing.assert_allclose(found.twist(states), u @ np.linalg.pinv(found.matrix).T, atol=1e-12)


def test_fixed_wheels_slip_where_a_twist_is_not_theirs():
    found = trundle.kinematics(trundle.catalog.differential_drive())
    np.testing.assert_allclose(found.twist(found.module_states(1.0, 0.3, 0.5)), [1.0, 0.0, 0.5], atol=1e-12)


def test_desaturation_keeps_the_direction():
    found = trundle.kinematics(trundle.catalog.swerve())
    states = found.module_states(3.0, -1.0, 2.0)
    slowed = found.desaturate(states, 1.5)
    assert np.abs(slowed.speeds).max() == pytest.approx(1.5)
    twist = found.twist(slowed)
    np.testing.assert_allclose(np.cross(twist, [3.0, -1.0, 2.0]), 0, atol=1e-12)
    np.testing.assert_array_equal(found.desaturate(slowed, 1.6).speeds, slowed.speeds)
    each = found.desaturate(states, [9.0, 9.0, 0.1, 9.0])
    assert abs(each.speeds[2]) == pytest.approx(0.1)
    with pytest.raises(InputError, match="positive"):
        found.desaturate(states, 0.0)


def test_a_zero_twist_holds_the_angles():
    found = trundle.kinematics(trundle.catalog.swerve())
    before = found.module_states(0.3, -0.2, 0.4)
    held = found.module_states(0, 0, 0, before)
    np.testing.assert_array_equal(held.angles, before.angles)
    np.testing.assert_array_equal(held.speeds, 0)
    about = found.module_states(-0.5, 0.5, 1.0, before)  # about a corner
    still = np.argmin(np.abs(about.speeds))
    assert about.angles[still] == before.angles[still]


def test_wheels_at_88_and_92_degrees_turn_the_same_way():
    found = trundle.kinematics(trundle.catalog.swerve())
    before = found.module_states(1.0, 0.0, 0.0)
    turns = found.module_states(0.0, 1.0, 0.08, before).angles
    assert {round(turn) for turn in np.degrees(turns)} == {88, 92}
    # a twist the other way round: backward, and by at most a right angle and a little
    turns = found.module_states(0.0, -1.0, 0.08, before).angles
    assert np.ptp(turns) < math.radians(5)


def test_halves_are_the_shortest_that_agree(rng):
    """No wheel turns farther than need be by more than the margin, and wheels with turns that close go the same way."""
    found = trundle.kinematics(trundle.catalog.swerve())
    before = found.module_states(*rng.uniform(-1, 1, (3, 2000)))
    after = found.module_states(*rng.uniform(-1, 1, (3, 2000)), before)
    turns = after.angles - before.angles
    shortest = np.abs(turns - np.pi * np.round(turns / np.pi)).max(axis=1)
    assert (np.abs(turns).max(axis=1) <= shortest + MARGIN + 1e-12).all()
    np.testing.assert_allclose(found.slip(after), 0, atol=1e-12)
    # one small twist from another direction: turns within the margin of each other, whichever angle is between
    forward = found.module_states(np.ones(2000), np.zeros(2000), np.zeros(2000))
    way, spin = rng.uniform(-np.pi, np.pi, 2000), rng.uniform(-0.2, 0.2, 2000)
    turns = found.module_states(0.01 * np.cos(way), 0.01 * np.sin(way), 0.01 * spin, forward).angles
    assert np.ptp(turns, axis=1).max() < MARGIN


def test_what_has_no_such_kinematics_says_so():
    with pytest.raises(InputError, match="planar base"):
        trundle.kinematics(trundle.catalog.pendulum())
    with pytest.raises(InputError, match="motions free"):
        one = trundle.load(
            {
                "robot": {
                    "base": "planar",
                    "body": {"mass": 1, "inertia": {"zz": 1}},
                    "wheels": {"a": {"type": "steered", "at": [0.4, 0.2, 0.1], "radius": 0.1, "mass": 1}},
                },
            }
        )
        found = trundle.kinematics(one)
        found.twist(found.module_states(1, 0, 0))


def test_parallel_rollers_leave_a_motion_free():
    """Omni wheels side by side all push forward: nothing tells how fast the base slides sideways."""
    wheel = {"type": "omni", "radius": 0.1, "mass": 1}
    wheels = {f"w{k}": {**wheel, "at": [0.1 * k, 0.3 * (k - 1), 0.1]} for k in range(3)}
    body = {"mass": 1, "inertia": {"zz": 1}}
    found = trundle.kinematics(trundle.load({"robot": {"base": "planar", "body": body, "wheels": wheels}}))
    assert not found.determined
    with pytest.raises(InputError, match="motions free"):
        found.twist(found.module_states(1, 0, 0))


def test_bad_twists_and_states_are_told():
    found = trundle.kinematics(trundle.catalog.swerve())
    states = found.module_states(1.0, 0.0, 0.0)
    three = trundle.kinematics(trundle.catalog.swerve(modules=3))
    for call, message in (
        (lambda: found.module_states(1.0, "fast", 0.0), "expected numbers"),
        (lambda: found.module_states(1.0, [0, 1], [0, 1, 2]), "expected numbers"),
        (lambda: found.module_states(math.nan, 0, 0), "finite"),
        (lambda: found.module_states(1, 0, 0, three.module_states(1, 0, 0)), "4"),
        (lambda: found.twist(three.module_states(1, 0, 0)), "4"),
        (lambda: found.states([0, 1, 2], 1.0), "front_left"),
        (lambda: found.states([0, 1, 2, math.inf], 1.0), "finite"),
        (lambda: found.desaturate(states, [1, 2, 3]), "one or 4"),
        (lambda: states["front_lef"], "front_lef"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_noise_about_a_right_angle_makes_no_wheel_change_its_mind(rng):
    """Modules that turn slowly towards a twist about 90° away, measured with noise: the halves stay as first chosen."""
    found = trundle.kinematics(trundle.catalog.swerve())
    states = found.module_states(1.0, 0.0, 0.0)
    signs = []
    for _ in range(100):
        way = math.radians(90 + rng.normal(scale=1.5))
        wanted = found.module_states(math.cos(way), math.sin(way), 0.02 * rng.normal(), states)
        signs.append(np.sign(wanted.speeds))
        states = found.states(states.angles + 0.05 * (wanted.angles - states.angles), wanted.speeds)
    assert np.ptp(signs, axis=0).max() == 0


def test_steering_that_gears_tie_is_refused():
    chain = {"type": "gear", "joint": "b.steering", "follows": {"a.steering": 1}}
    robot = trundle.load({"robot": {**_plain(), "couplings": {"chain": chain}}})
    with pytest.raises(InputError, match="'chain' ties the steering of 'b'"):
        trundle.kinematics(robot)


def _plain():
    wheel = {"type": "steered", "radius": 0.1, "mass": 1, "fork": {"mass": 1, "inertia": {"zz": 0.1}}}
    wheels = {name: {**wheel, "at": [x, 0.1, 0.1]} for name, x in (("a", 0.3), ("b", -0.3))}
    return {"name": "pair", "base": "planar", "body": {"mass": 1, "inertia": {"zz": 1}}, "wheels": wheels}
