"""Control levels: no slip, limits held, and bodies that end where the integral of their twist ends."""

import math
from itertools import cycle, pairwise, product

import numpy as np
import pytest

import trundle
from motion.simulator_motions import MOTIONS, plan, still
from parameters import mostly_slow
from trundle.choices import PROFILES
from trundle.errors import InputError
from trundle.motion.pieces.motion import Samples
from trundle.motion.pieces.profiles import shaped

_LEVELS = ("module", "body", "limited", "coordinated")
_EACH = [(name, level, profile) for name in MOTIONS for level in _LEVELS for profile in PROFILES]
# Every motion, and every level with every profile.
_QUICK = [
    (name, level, profile)
    for name, (level, profile) in zip(cycle(MOTIONS), product(_LEVELS, PROFILES), strict=False)
]


def finite(samples):
    return all(np.isfinite(getattr(samples, name)).all() for name in Samples.__dataclass_fields__)


@pytest.mark.parametrize(("name", "level", "profile"), mostly_slow(_EACH, _QUICK))
def test_the_simulators_motions(name, level, profile):
    driven = trundle.drive(MOTIONS[name], level=level, profile=profile)
    motion = driven.motion
    samples = motion.samples(np.linspace(0, motion.duration, 1001))
    assert finite(samples)
    np.testing.assert_allclose(motion.poses([motion.duration])[0], integral(motion), atol=1e-6)
    if level != "module":
        assert samples.slip.max() < 1e-9
    if level in ("limited", "coordinated"):
        assert driven.summary()["exceeded"] == []
    if level == "body":
        np.testing.assert_allclose(motion.poses([motion.duration])[0], commanded(driven), atol=1e-6)


def integral(motion):
    """Where the motion's own twist leads, in small arcs."""
    return followed(lambda times: motion.samples(times).twist, motion.duration, motion.start)


def commanded(driven):
    """Where the commanded twists lead, on straight lines by their profiles."""
    pose, twist = driven.motion.start, np.array(driven.file.motion.start.twist.numbers)
    for command in driven.file.motion.commands:
        target = np.zeros(3) if command.twist is None else np.array(command.twist.numbers)
        duration = command.duration.number
        profile = shaped(driven.profile, 0.0, 1.0, duration)
        change = target - twist
        pose = followed(lambda t, a=twist, b=change, p=profile: a + b * p.at(t)[:, None], duration, pose)
        twist = target
    return pose


def followed(twist, duration, pose, steps=20_000):
    """The pose after `steps` arcs at the twists in their middles; out by O(1/steps²)."""
    h = duration / steps
    moved = twist((np.arange(steps) + 0.5) * h) * h
    heading = pose[2] + np.cumsum(moved[:, 2])
    along = (moved[:, 0] + 1j * moved[:, 1]) * np.exp(1j * (heading - moved[:, 2] / 2))
    end = complex(pose[0], pose[1]) + np.sum(along * np.sinc(moved[:, 2] / (2 * np.pi)))
    return end.real, end.imag, heading[-1]


def test_poses_of_the_reference():
    """Closed forms for a linear profile of the body's twist, at 1.99 s."""
    turned = trundle.drive(MOTIONS["inplace_rotation"], level="body", profile="linear")
    np.testing.assert_allclose(turned.motion.poses([1.99])[0], [0, 0, 1.99**2 / 4], atol=1e-12)
    driven = trundle.drive(MOTIONS["0_deg_fwd_to_90_deg"], level="body", profile="linear")
    exact = [0.5 + 0.99 - 0.99**2 / 2, 0.99**2 / 2, 0]
    np.testing.assert_allclose(driven.motion.poses([1.99])[0], exact, atol=1e-12)


@pytest.mark.parametrize("level", _LEVELS)
@pytest.mark.parametrize("name", ["inplace_rotation_from_0_fwd", "90_deg_fwd_from_stop"])
def test_rates_are_the_derivatives(name, level):
    motion = trundle.drive(MOTIONS[name], level=level, profile="scurve").motion
    middles = (motion.breaks[1:] + motion.breaks[:-1]) / 2
    h = 1e-6
    before, at, behind = (motion.samples(middles + step) for step in (-h, 0, h))
    chains = (
        ("twist", "twist_rate", "twist_jerk"),
        ("angle", "steering_rate", "steering_acceleration", "steering_jerk"),
        ("drive_speed", "drive_acceleration", "drive_jerk"),
    )
    for chain in chains:
        for lower, upper in pairwise(chain):
            slope = (getattr(behind, lower) - getattr(before, lower)) / (2 * h)
            np.testing.assert_allclose(getattr(at, upper), slope, atol=1e-5, rtol=1e-6)


def test_the_start_pose_counts():
    driven = trundle.drive(plan("go", [(1.0, 1.0, 0.0, 0.0)], pose=(3.0, -1.0, math.pi / 2)), level="body")
    np.testing.assert_allclose(driven.motion.poses([1.0])[0], [3.0, -0.5, math.pi / 2], atol=1e-12)


def test_a_zero_twist_holds_the_angles():
    driven = trundle.drive(plan("stop", [(1.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)]))
    end = driven.motion.samples([driven.motion.duration])
    np.testing.assert_allclose(np.abs(end.angle), math.pi / 2)
    assert not end.drive_speed.any()


def test_a_turn_that_ends_but_for_rounding_slips_nowhere():
    """At the end of this time rounding leaves 1e-17 rad/s of it, for which a wheel seemed to slip by 1e-33 m/s."""
    start = {"twist": {"v_x": 0, "v_y": 0, "omega": -0.0994068}}
    rest = {"duration": 0.6503892203083693, "twist": {"v_x": 0, "v_y": 0, "omega": 0}}
    file = {"motion": {"name": "stop", "start": start, "commands": [rest]}}
    driven = trundle.drive(file, level="body", profile="linear")
    assert driven.motion.duration == rest["duration"]


def test_steering_takes_the_short_way():
    near = math.radians(170)
    driven = trundle.drive(plan("turn", [(1.0, still(-near))], still(near)), level="module")
    swing = np.ptp(driven.motion.samples(np.linspace(0, 1, 50)).angle, axis=0)
    np.testing.assert_allclose(swing, math.radians(20), atol=1e-12)


def test_a_stretch_is_told_with_its_limit():
    driven = trundle.drive(MOTIONS["0_deg_fwd_to_90_deg"])
    (slowdown,) = driven.slowdowns
    assert (slowdown.command, slowdown.limit) == (1, "steering_rate")
    found = driven.summary()
    assert found["steering_rate"] == pytest.approx(2.0, rel=2e-9)
    assert driven.motion.duration == pytest.approx(2.6)
    used = {(each["limit"], each["module"]) for each in found["active"]}  # type: ignore[union-attr]
    assert ("steering_rate", "right_rear") in used


def test_impulses_are_named_and_break_every_limit():
    found = trundle.drive(MOTIONS["inplace_rotation"], level="body", profile="linear").summary()
    assert found["drive_jerk"] is None
    assert "drive_jerk" in found["impulsive"]
    broken = {each["limit"]: each for each in found["exceeded"]}
    assert broken["drive_jerk"]["largest"] is None


def test_a_jump_of_angles_is_an_impulse():
    """At the level `body` wheels that stand across are turned at once."""
    found = trundle.drive(MOTIONS["inplace_rotation"], level="body").summary()
    assert "steering_rate" in found["impulsive"]


def test_shapes_are_replaced_where_their_impulses_are_forbidden():
    wheel = {"type": "steered", "radius": 0.1, "mass": 1, "contact": "slip"}

    def robot(**limits):
        wheels = {"a": wheel | {"at": [0.3, 0, 0], "limits": limits}, "b": wheel | {"at": [-0.3, 0, 0]}}
        body = {"mass": 10, "inertia": {"zz": 1}}
        return trundle.load({"robot": {"name": "two", "base": "planar", "body": body, "wheels": wheels}})

    go = {"motion": {"name": "go", "commands": [{"duration": 1, "twist": {"v_x": 1}}]}}
    used = [
        trundle.drive(go, robot(**limits), profile="linear").notes
        for limits in ({"drive_speed": 1}, {"drive_jerk": 9}, {"steering_jerk": 9})
    ]
    assert used[0] == ()
    assert "profiles are trapezoidal, not linear" in used[1][0]
    assert "profiles are scurve, not linear" in used[2][0]


def test_a_twist_beyond_the_drives_is_slowed_in_its_direction():
    driven = trundle.drive(plan("fast", [(1.0, 3.0, 0.0, 1.0)]))
    twist = driven.motion.samples([driven.motion.duration]).twist[0]
    assert twist[0] / twist[2] == pytest.approx(3.0)
    assert np.abs(driven.motion.samples([driven.motion.duration]).drive_speed).max() == pytest.approx(1.0)
    assert "more than 100% of the drive_speed of" in driven.notes[0]


def test_past_an_axis_it_goes_through_rest():
    """From (.3, −.1, .4) to nearly the other side of the axis at (.5, .5)."""
    start = trundle.kinematics(trundle.catalog.limited_swerve()).module_states(0.3, -0.1, 0.4)
    states = tuple(zip(start.angles, start.speeds, strict=True))
    driven = trundle.drive(plan("past", [(1.0, 0.10001, -0.3, 0.4)], states, (0.3, -0.1, 0.4)))
    assert "goes through rest" in driven.notes[0]
    assert driven.motion.duration < 10
    assert driven.summary()["exceeded"] == []


def test_exactly_through_an_axis_the_angle_holds():
    start = trundle.kinematics(trundle.catalog.limited_swerve()).module_states(0.3, -0.1, 0.4)
    states = tuple(zip(start.angles, start.speeds, strict=True))
    driven = trundle.drive(plan("through", [(1.0, 0.1, -0.3, 0.4)], states, (0.3, -0.1, 0.4)), level="body")
    samples = driven.motion.samples(np.linspace(0, 1, 1001))
    assert np.ptp(samples.angle[:, 0]) == 0
    assert samples.drive_speed[0, 0] * samples.drive_speed[-1, 0] < 0
    assert samples.slip.max() < 1e-12


@pytest.mark.slow
def test_steering_ranges_are_kept():
    wheel = {"type": "steered", "radius": 0.1, "mass": 1, "contact": "slip"}
    limits = {"lower": "-100 deg", "upper": "100 deg", "steering_rate": 3, "steering_jerk": 90}
    corners = {"a": [0.3, 0.3, 0], "b": [-0.3, 0.3, 0], "c": [-0.3, -0.3, 0], "d": [0.3, -0.3, 0]}
    wheels = {name: wheel | {"at": at, "limits": limits} for name, at in corners.items()}
    body = {"mass": 10, "inertia": {"zz": 1}}
    robot = trundle.load({"robot": {"name": "cabled", "base": "planar", "body": body, "wheels": wheels}})
    turning = [(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (1, 0, 0), (0, 0, 1)] * 2
    commands = [{"duration": 1, "twist": dict(zip(("v_x", "v_y", "omega"), t, strict=True))} for t in turning]
    for level in ("module", "limited", "body"):
        driven = trundle.drive({"motion": {"name": "turns", "commands": commands}}, robot, level=level)
        angle = driven.motion.samples(np.linspace(0, driven.motion.duration, 2001)).angle
        assert np.abs(angle).max() <= math.radians(100) + 1e-9
        assert not [each for each in driven.summary()["exceeded"] if each["limit"] == "steering_range"]


@pytest.mark.parametrize("robot", ["mecanum", "three_omni", "swerve"])
def test_other_drives_follow_twists(robot):
    commands = [
        {"duration": 1, "twist": {"v_x": 0.3, "v_y": 0.2, "omega": 0.5}},
        {"duration": 1, "twist": {}},
    ]
    driven = trundle.drive({"motion": {"name": "any", "commands": commands}}, trundle.catalog.robot(robot))
    samples = driven.motion.samples(np.linspace(0, driven.motion.duration, 101))
    assert samples.slip.max() < 1e-12
    np.testing.assert_allclose(
        driven.motion.poses([driven.motion.duration])[0], integral(driven.motion), atol=1e-6
    )


_ERRORS = {
    "unknown": ([(1.0, still(0.0))], "no module 'right_fromt'", ("right-front", "right-fromt")),
    "missing": ([(1.0, still(0.0))], "the modules lack right_front", None),
    "contradiction": ([(1.0, ((0.0, 1.0), (1.5, 1.0), (0.0, 1.0), (0.0, 1.0)))], "would slip at", None),
}


@pytest.mark.parametrize("name", _ERRORS)
def test_wrong_commands_are_told_with_their_place(name, tmp_path):
    import yaml

    commands, message, rename = _ERRORS[name]
    data = plan("wrong", commands)
    if name == "missing":
        data["plan"]["commands"][0]["modules"].pop()
    if rename:
        data["plan"]["commands"][0]["modules"][3]["name"] = rename[1]
    file = tmp_path / "wrong.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    with pytest.raises(InputError, match=message) as caught:
        trundle.drive(file)
    assert caught.value.file == str(file)
    assert caught.value.key.startswith("plan.commands.0")
    assert caught.value.line is not None


def test_a_start_that_contradicts_itself_is_told():
    with pytest.raises(InputError, match="at the start the modules contradict one rigid motion"):
        trundle.drive(plan("wrong", [(1.0, 1.0, 0.0, 0.0)], twist=(1.0, 0.0, 0.0)))


def test_twists_that_wheels_cannot_follow_are_told():
    go = {"motion": {"name": "go", "commands": [{"duration": 1, "twist": {"v_y": 1}}]}}
    with pytest.raises(InputError, match="can't roll along the twist"):
        trundle.drive(go, trundle.catalog.differential_drive())
    steer = {
        "name": "go",
        "commands": [{"duration": 1, "modules": {"left": {"angle": 1}, "right": {"angle": 1}}}],
    }
    with pytest.raises(InputError, match="is not steered"):
        trundle.drive({"motion": steer}, trundle.catalog.differential_drive(), level="module")


def test_wrong_levels_and_profiles_are_told():
    with pytest.raises(InputError, match="no level 'bodi'"):
        trundle.drive(MOTIONS["inplace_rotation"], level="bodi")
    with pytest.raises(InputError, match="no profile 's'"):
        trundle.drive(MOTIONS["inplace_rotation"], profile="s")


def test_what_is_wrong_with_the_robot_is_told_of_the_robot():
    with pytest.raises(InputError, match="has no limit of its steering") as caught:
        lame = {"motion": {"name": "go", "commands": [{"duration": 1, "twist": {"omega": 1}}]}}
        trundle.drive(lame, trundle.catalog.swerve(), level="coordinated")
    assert caught.value.key == "robot.wheels.front_left.limits"


def test_motions_show_themselves_in_a_line():
    driven = trundle.drive(MOTIONS["0_deg_fwd_to_90_deg"])
    assert (
        repr(driven) == "<Driven '0_deg_fwd_to_90_deg': limited_swerve, limited, scurve, 2.6 s in 2 pieces>"
    )
    assert repr(driven.motion).endswith("2.6 s in 2 pieces>")


def test_motions_too_long_for_samples_are_told():
    long = {"motion": {"name": "long", "commands": [{"duration": 1e9, "twist": {"v_x": 1}}]}}
    with pytest.raises(InputError, match="are too many"):
        trundle.drive(long).run()


def test_limits_are_given_or_declared():
    """Instead of the description's, for all modules or by their names; a robot that declares none takes them, too."""
    turn = {"motion": {"name": "turn", "commands": [{"duration": 1, "twist": {"omega": 1}}]}}
    slow = trundle.Limits(steering_rate=1, drive_speed=0.5, drive_acceleration=0.2)
    plain = trundle.catalog.swerve()
    driven = trundle.drive(turn, plain, limits=slow)
    assert driven.limits == (slow,) * 4
    assert driven.summary()["exceeded"] == []
    assert driven.motion.duration > trundle.drive(turn, plain, limits=trundle.Limits()).motion.duration
    by_name = dict.fromkeys(plain.wheels, slow)
    assert trundle.drive(turn, plain, limits=by_name).motion.duration == driven.motion.duration
    with pytest.raises(InputError, match="limits lack rear_left"):
        trundle.drive(turn, plain, limits={"front_left": slow, "front_right": slow, "rear_right": slow})


def test_a_plan_is_a_run_as_what_is_driven_is():
    """One way for both; the robot comes with the kinematics that the plan was made for, and so do its limits."""
    robot = trundle.catalog.limited_swerve()
    plan = trundle.plan(trundle.kinematics(robot), (0, 0.5, 0), start=(0.5, 0, 0))
    assert plan.duration == trundle.plan(robot, (0, 0.5, 0), start=(0.5, 0, 0)).duration
    run = plan.run(rate=200)
    np.testing.assert_allclose([run[name][-1] for name in ("v_x", "v_y", "omega")], [0, 0.5, 0], atol=1e-12)
    assert run.summary["duration"] == plan.duration
    assert run.summary["slip"] < 1e-12
    assert run.name == robot.name
    driven = trundle.drive({"motion": {"name": "go", "commands": [{"duration": 1, "twist": {"v_x": 0.1}}]}})
    assert set(driven.run().values) == set(driven.motion.run().values)
    assert run.plot.path().axes


def test_turns_of_roundings_size_take_no_time_and_break_no_limit():
    """Through rest and on in the same line: angles differ by 1e-15 rad, whose quickest turn had any jerk."""
    limits = dict(
        zip(("steering_rate", "steering_acceleration", "steering_jerk"), (0.3, 0.5, 1), strict=True)
    )
    slow = trundle.catalog.limited_swerve(**limits, drive_speed=0.2, drive_acceleration=0.3, drive_jerk=0.5)
    twists = [
        (-0.5767124179572626, -0.36977465488398703, -0.30146519340192884),
        (0.3910097713775186, -0.5128447742452896, -0.3085203951419791),
        (0.0, 0.4844549779131838, 0.0845273704152898),
    ]
    commands = [
        {"duration": 1.7, "twist": dict(zip(("v_x", "v_y", "omega"), each, strict=True))} for each in twists
    ]
    driven = trundle.drive({"motion": {"name": "slow", "commands": commands}}, slow, level="limited")
    assert driven.summary()["exceeded"] == []
    assert all(piece.duration > 1e-3 for piece in driven.motion.pieces)
