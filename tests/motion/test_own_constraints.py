"""Limits of a user's own, in the description: every verb keeps to them, and messages say what is wrong with one."""

import math
import runpy
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import InputError, catalog
from trundle.documents import dump, parse
from trundle.motion.forces.forces import motion_forces
from trundle.robot import Constraint, within

EXAMPLE = Path(__file__).parents[2] / "examples/python/own_constraint.py"
PATH = trundle.pose_path([(0, 0, 0), (2, 0.3, 0.5), (4, 0, -0.4)])
LINE = trundle.pose_path([(0, 0), (1, 0.2), (2, 0)])
LIMITS = trundle.Limits(drive_speed=2, drive_acceleration=5)
COMMANDS = [{"duration": 0.5, "twist": {"v_x": 1.5}}, {"duration": 1.0, "twist": {"v_x": 0.5, "omega": 1}}]


@pytest.fixture(scope="module")
def own():
    return runpy.run_path(str(EXAMPLE))


def kraken(**constraints):
    robot = catalog.swerve(motor="kraken_x60", friction=1.1, center_height=0.2, battery=12.6)
    return robot.with_constraints(constraints)


def driven(verb, robot):
    if verb == "follow":
        return trundle.follow(PATH, robot)
    if verb == "fastest":
        return trundle.fastest(robot, (0, 0, 0), (3, 1, 1))
    return trundle.drive({"motion": {"name": "a", "commands": COMMANDS}}, robot, level="limited")


def at_10_khz(motion):
    return motion.samples(np.linspace(0, motion.duration, int(motion.duration * 1e4) + 1))


def tipping(samples, x=0.1, height=0.8, edge=0.2):
    """The share of g d/h that a load takes, its place's acceleration by differences of its velocity in the world."""
    (v_x, v_y, omega), (dv_x, dv_y, domega) = samples.twist.T, samples.twist_rate.T
    # d/dt of e^{iθ} (v + i ω x) is e^{iθ} (v̇ + i ω̇ x + i ω (v + i ω x))
    v, rate = v_x + 1j * v_y, dv_x + 1j * dv_y
    a = rate + 1j * domega * x + 1j * omega * (v + 1j * omega * x)
    return height * np.abs([a.real, a.imag]).max() / (9.81 * edge)


@pytest.mark.parametrize("verb", mostly_slow(["follow", "fastest", "drive"], ["follow", "drive"]))
def test_a_load_does_not_tip(own, verb):
    assert tipping(at_10_khz(driven(verb, kraken()).motion)) > 1.5
    loaded = driven(verb, kraken(pallet=own["Tipping"](ahead=0.1)))
    assert 1 - 1e-4 < tipping(at_10_khz(loaded.motion)) <= 1 + 1e-6
    assert "tipping forward of pallet" in [name for name, _, _ in loaded.limit_usage.binding]


@pytest.mark.parametrize("verb", mostly_slow(["follow", "fastest"], ["follow"]))
def test_windings_do_not_get_too_hot(own, verb):
    heated = driven(verb, kraken(windings=own["Heat"]()))
    motion, samples = heated.motion, at_10_khz(heated.motion)
    times = np.linspace(0, motion.duration, len(samples))
    forces = motion_forces(driven_robot(heated), samples, motion.pushes(times))
    # i_max of 75 K at 3 K/W; the motor's resistance is 12 V over its stall current of 366 A
    most = math.sqrt(75 / (3 * 12 / 366))
    currents = np.array([*forces.currents.values()])
    assert 0.99 < np.abs(currents).max() / most <= 1 + 1e-6
    assert heated.motion.duration > driven(verb, kraken()).motion.duration
    assert any(name.startswith("temperature of") for name, _, _ in heated.limit_usage.binding)


def driven_robot(planned):
    from trundle.motion.forces.driven_robot import DrivenRobot

    who = planned.motion.kinematics
    return DrivenRobot(who.robot, who.names)


def test_a_base_without_masses_keeps_to_what_hangs_on_its_twist(own):
    robot = catalog.differential_drive().with_constraints({"pallet": own["Tipping"](ahead=0.1)})
    motion = trundle.follow(LINE, robot, limits=LIMITS, grip=None).motion
    assert 0.99 < tipping(at_10_khz(motion)) <= 1 + 1e-6


def test_a_constraint_in_a_file_and_back(own):
    robot = kraken(pallet=own["Tipping"](ahead=0.1, height="80 cm", foot=("0.2 m", 0.3)))
    read = parse(dump(robot)).robot
    assert read == robot
    assert read.constraints["pallet"].foot[1].number == 0.3


def wrong(name, rows):
    kind = type(name, (Constraint,), {"__annotations__": {"type": Literal[name]}, "type": name, "rows": rows})
    return trundle.register(kind)()


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("gives_text", lambda s, at, read: ["grip"], "rows gave 'grip'"),
        ("gives_none", lambda s, at, read: None, "'NoneType' object is not iterable"),
        (
            "gives_nan",
            lambda s, at, read: [within("q", 1, at.twist[0] / at.twist[0])],
            "NaN or inf for 'q', at rest",
        ),
        ("gives_less", lambda s, at, read: [within("q", -1, at.twist[0])], "nothing, or less, for 'q': -1"),
        ("gives_more", lambda s, at, read: [within("q", 1, [1, 2, 3])], r"arrays \(3,\) for 'q' at 2 places"),
        ("gives_zero", lambda s, at, read: [within("q", 0, at.twist[0])], "nothing, or less, for 'q'"),
        ("gives_inf", lambda s, at, read: [within("q", 1, 1 / at.twist[0])], "NaN or inf for 'q'"),
        ("gives_no_number", lambda s, at, read: [within("q", 1, None)], "expected a number, got None"),
        ("gives_field", lambda s, at, read: [within("q", "type", at.twist[0])], "could not convert"),
        (
            "gives_twice",
            lambda s, at, read: 2 * [within("q", 1, at.twist[0])],
            "two rows are called 'q of own'",
        ),
        ("no_wheel", lambda s, at, read: [within("q", 1, at.wheels["lef"].speed)], "no wheel 'lef'"),
        ("no_forces", lambda s, at, read: [within("q", 1, at.motors["m"].rate)], "the plan knows no forces"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_what_is_wrong_with_a_constraint(name, rows, words):
    robot = catalog.differential_drive().with_constraints({"own": wrong(name, rows)})
    with pytest.raises(InputError, match=words) as error:
        trundle.follow(LINE, robot, limits=LIMITS, grip=None)
    assert error.value.key == "robot.constraints.own"


def test_types_of_constraints_are_named(own):
    for said, words in (({"height": 1}, "a constraint needs its type"), ({"type": "tiping"}, "'tiping'")):
        with pytest.raises(InputError, match=words) as error:
            catalog.differential_drive().with_constraints({"pallet": said})
        assert "tipping" in error.value.hint


def test_a_vector_of_three_parts():
    assert within("a", 2.0, 2.0, -1.0, 2.0).shares == pytest.approx(1.5)
