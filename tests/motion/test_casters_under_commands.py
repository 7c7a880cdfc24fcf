"""Commands of bases on casters that motors drive: how these swing, what motors and floor ask for, what is refused."""

import numpy as np
import pytest

import trundle
from tests.motion.test_powered_casters import TRAIL, casters
from tests.motion.test_real_limits_campaign import random_robot, require_shares
from trundle.errors import InputError
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.drive.trailing import settled
from trundle.motion.forces.balance import Balance
from trundle.motion.forces.driven_robot import DrivenRobot

# Simulated robots may be off their motions by this (m): their campaign's bound along paths.
WORST = 0.05


def commanded(*wished, **start):
    """Commands (duration, v_x, v_y, ω)."""
    twists = [
        {"duration": duration, "twist": dict(zip(("v_x", "v_y", "omega"), twist, strict=True))}
        for duration, *twist in wished
    ]
    return {"motion": {"name": "on casters", "commands": twists, **start}}


TURNING = commanded((0.1, 1, 0.5, 0), (0.5, 1, 0.5, 1), (0.5, 0, 1, 1), (0.5, 0, 0, 0))


@pytest.fixture(scope="module")
def driven():
    return trundle.drive(TURNING, casters(), progress=False)


@pytest.mark.parametrize("level", ["body", "limited"])
def test_casters_go_as_they_trail(level, driven):
    """No contact slips, by the rows of the model; rates are the derivatives of what they are rates of."""
    motion = driven.motion
    if level == "body":
        motion = trundle.drive(TURNING, casters(), level=level, progress=False).motion
    h = 1e-6
    inside = np.linspace(0.02, 0.98, 40)
    ends = motion.begins
    times = np.sort((ends[:-1, None] + np.diff(ends)[:, None] * inside).ravel())
    at, after = motion.samples(times), motion.samples(times + h)
    robot = DrivenRobot(casters("ideal"), motion.kinematics.names)
    balance = Balance.at(robot, at)
    np.testing.assert_allclose(np.einsum("nkj,jn->nk", balance.rows, robot.speeds(at)), 0, atol=1e-12)
    whole = np.searchsorted(motion.breaks, times) == np.searchsorted(motion.breaks, times + h)
    for name, rate in (
        ("angle", "steering_rate"),
        ("steering_rate", "steering_acceleration"),
        ("drive_speed", "drive_acceleration"),
    ):
        differences = (getattr(after, name) - getattr(at, name))[whole] / h
        middle = (getattr(after, rate) + getattr(at, rate))[whole] / 2
        np.testing.assert_allclose(differences, middle, rtol=1e-4, atol=1e-4)


def test_casters_settle_behind_their_pivots():
    """About a centre at a distance d a contact settles on its tangent, √(d² − c²) from the centre, and stays there."""
    drive = kinematics(casters()).drive
    for twist in ((1.0, 0.0, 0.0), (0.7, -0.4, 1.5), (0.0, 0.0, -2.0)):
        angles = settled(drive, np.array(twist), np.full(4, 20.0))
        assert (np.abs(angles - 20.0) <= np.pi).all()
        u, turning = drive.velocities(np.array(twist)), twist[2]
        contacts = drive.places - TRAIL * np.exp(1j * angles)
        moved = complex(*twist[:2]) + 1j * turning * contacts
        np.testing.assert_allclose((moved * np.exp(-1j * angles)).imag, 0, atol=1e-12)
        assert ((moved * np.exp(-1j * angles)).real > 0).all()
        np.testing.assert_allclose(np.abs(moved) ** 2, np.abs(u) ** 2 - (turning * TRAIL) ** 2)
    # pushed long enough from anywhere they come there
    long = trundle.drive(
        commanded((0.2, 0.7, -0.4, 1.5), (3, 0.7, -0.4, 1.5)), casters(), level="body"
    ).motion
    end = long.samples([long.duration]).angle[0]
    np.testing.assert_allclose(end, settled(drive, np.array([0.7, -0.4, 1.5]), end), atol=1e-6)


def test_motors_and_floor_hold_at_every_instant(driven):
    """At 10 kHz, by inverse dynamics; a command takes just as long as what binds asks for."""
    require_shares(driven, "casters")
    assert [stretch.limit for stretch in driven.stretches] == ["grip"]
    # grip goes with the base's acceleration while the casters hardly turn
    assert max(share.max() for share in driven.uses.forces.use.values()) == pytest.approx(0.95, rel=5e-3)
    assert driven.summary()["exceeded"] == []


@pytest.mark.slow
def test_declared_limits_hold_beside_them():
    limits = trundle.Limits(steering_rate=6, steering_acceleration=60, drive_speed=1.2, drive_acceleration=2)
    for grip in (None, 0.95):
        driven = trundle.drive(TURNING, casters(), limits=limits, grip=grip, progress=False)
        assert driven.summary()["exceeded"] == []
        assert {stretch.limit for stretch in driven.stretches} & {"steering_rate", "drive_acceleration"}
        named = {(peak.quantity, peak.value / limits.of(peak.quantity)) for peak in driven.peaks}
        assert max(share for what, share in named if limits.of(what) < np.inf) == pytest.approx(1, rel=3e-3)


def test_casters_begin_behind_or_as_they_are_told():
    behind = trundle.drive(commanded((1, 0, 1, 0)), casters(), progress=False)
    np.testing.assert_allclose(behind.motion.samples([0.0]).angle, np.pi / 2)
    modules = {f"wheel_{k}": {"angle": 0.3 * k, "speed": 0} for k in range(4)}
    told = trundle.drive(commanded((1, 0, 1, 0), start={"modules": modules}), casters(), progress=False)
    np.testing.assert_allclose(told.motion.samples([0.0]).angle[0], 0.3 * np.arange(4))
    require_shares(told, "casters")


def test_ranges_of_casters_hold():
    held = {f"wheel_{k}": trundle.Limits(steering_range=(-1.0, 1.0)) for k in range(4)}
    told = {"level": "body", "limits": held, "progress": False}
    assert trundle.drive(commanded((1, 1, 0.5, 0)), casters(), **told).motion.duration == 1
    with pytest.raises(
        InputError, match=r"commands\.1: wheel_\d trails its pivot, and would swing out of its range"
    ):
        trundle.drive(commanded((1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 1, 0)), casters(), **told)


def test_what_casters_cannot_be_told():
    modules = {f"wheel_{k}": {"angle": 0, "speed": 1} for k in range(4)}
    asked = {"motion": {"name": "on", "commands": [{"duration": 1, "modules": modules}]}}
    with pytest.raises(InputError, match=r"caster 'wheel_0'.*\n.*give a twist"):
        trundle.drive(asked, casters())
    with pytest.raises(InputError, match=r"caster 'wheel_0'.*\n.*level body, limited or coordinated"):
        trundle.drive(commanded((1, 1, 0, 0)), casters(), level="module")


@pytest.mark.slow
def test_robots_on_casters_stay_on_their_commands(driven):
    assert trundle.track(casters(), driven, progress=False).largest["position"] < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("level", ["limited", "coordinated"])
def test_casters_keep_what_a_slope_leaves(level):
    """However the base heads on a slope of 8.6°, which isn't known while paces are tried."""
    asked = commanded((0.1, 1, 0.5, 0), (0.7, 0, 1, 1))
    robot = casters(gravity=[9.81 * np.sin(0.15), 0, -9.81 * np.cos(0.15)])
    driven = trundle.drive(asked, robot, level=level, progress=False)
    require_shares(driven, "casters")
    level_ground = trundle.drive(asked, casters(), level=level, progress=False)
    assert driven.motion.duration > level_ground.motion.duration
    assert trundle.track(robot, driven, progress=False).largest["position"] < 1e-3


def random_commands(rng):
    """One to four twists, from slow ones to such as no floor holds."""
    speed = rng.uniform(0.3, 3.0)
    many = rng.integers(1, 5)
    return commanded(*(rng.uniform([0.1, -speed, -speed, -2], [1.5, speed, speed, 2]) for _ in range(many)))


@pytest.mark.campaign
def test_no_share_of_random_commands_is_above_what_was_asked_for(campaign):
    off = []
    for rng in campaign(100, least=4):
        robot = random_robot("casters", rng)
        driven = trundle.drive(random_commands(rng), robot, progress=False)
        require_shares(driven, "casters")
        off.append(trundle.track(robot, driven, progress=False).largest["position"])
        print(f"{driven.motion.duration:.3f} s, {1e3 * off[-1]:.2f} mm off")
        assert off[-1] <= WORST
    print(f"{len(off)} motions: median {1e3 * np.median(off):.2f} mm, worst {1e3 * max(off):.2f} mm")
