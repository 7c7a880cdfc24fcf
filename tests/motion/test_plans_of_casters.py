"""Plans of bases on casters that motors drive: limits, least times in closed form, motors and floor, refusals."""

import numpy as np
import pytest

import trundle
from tests.motion.test_casters_under_commands import commanded
from tests.motion.test_powered_casters import casters
from tests.motion.test_real_limits_campaign import random_robot, require_shares
from trundle.errors import InputError
from trundle.motion.forces.trailing_pace import slowed
from trundle.motion.pieces.extremes import peaks
from trundle.motion.pieces.pieces import TwistLine
from trundle.motion.pieces.profiles import shaped

SPEED, FASTER, JERK = 3.0, 4.0, 50.0
LIMITS = trundle.Limits(
    steering_rate=20, steering_acceleration=200, drive_speed=SPEED, drive_acceleration=FASTER
)
SMOOTH = trundle.Limits(
    steering_rate=20,
    steering_acceleration=200,
    steering_jerk=5000,
    drive_speed=SPEED,
    drive_acceleration=FASTER,
    drive_jerk=JERK,
)
# What the search for a pace leaves of what there is.
NEAR = 3e-3
# Simulated robots may be off their motions by this (m).
WORST = 0.05


def largest(motion, limits):
    """The largest share of limits, between samples and at inner jumps, too."""
    return max(
        peak.value / limits.of(peak.quantity)
        for peak in peaks(motion, steady=False)
        if np.isfinite(limits.of(peak.quantity))
    )


def test_along_casters_that_trail_the_rolling_binds():
    """They stay as they are: Δv/a, and with thirds of a trapezoid the larger of 3/2 Δv/a and √(9/2 Δv/j)."""
    plain = trundle.plan(casters(), (1, 0, 0), limits=LIMITS)
    assert plain.duration == pytest.approx(1 / FASTER, rel=NEAR)
    smooth = trundle.plan(casters(), (1, 0, 0), limits=SMOOTH)
    assert smooth.duration == pytest.approx(max(1.5 / FASTER, np.sqrt(4.5 / JERK)), rel=NEAR)
    assert (plain.bound, plain.gap) == (0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("limits", [LIMITS, SMOOTH])
def test_limits_hold_through_several_twists(limits):
    targets = [(1, 0, 0), (0, 1, 1), (0, 0, 0)]
    plan = trundle.plan(casters(), targets, angles=[0.3, 2, -1, 0], limits=limits)
    assert 1 - NEAR <= largest(plan, limits) <= 1 + 1e-6
    assert plan.samples(plan.breaks).slip.max() < 1e-12
    ends = np.cumsum([part.duration for part in plan.transitions])
    np.testing.assert_allclose(plan.samples(ends).twist, targets, atol=1e-12)


def test_lines_in_parts_are_no_slower_than_whole_ones():
    """Of casters that stand anyhow 0.40 s instead of 0.51."""
    angles = np.array([0.3, 2, -1, 0])
    plan = trundle.plan(casters(), (1, 0, 0), angles=angles, limits=LIMITS)
    drive = plan.pieces[0].drive

    def whole(duration):
        return TwistLine(
            drive, np.zeros(3), np.array([1.0, 0, 0]), shaped("linear", 0.0, 1.0, duration), angles
        )

    factor, _ = slowed(lambda factor: whole(0.1 * factor), None)
    assert plan.duration < 0.85 * 0.1 * factor
    assert largest(whole(0.1 * factor), LIMITS) == pytest.approx(1, rel=NEAR)


@pytest.mark.slow
def test_plans_to_poses_end_there():
    plan = trundle.plan_to_pose(casters(), (1, 0.5, 2), limits=LIMITS)
    np.testing.assert_allclose(plan.poses([plan.duration])[0], (1, 0.5, 2), atol=1e-9)
    assert 1 - NEAR <= largest(plan, LIMITS) <= 1 + 1e-6
    # straight on casters roll as they stand: the closed form of a way from rest to rest
    straight = trundle.plan_to_pose(casters(), (0, 1, 0), limits=LIMITS)
    assert straight.duration == pytest.approx(2 / np.sqrt(FASTER), rel=NEAR)
    assert straight.bound == 0.0


@pytest.mark.slow
def test_coordinated_commands_keep_motors_and_floor():
    """The least time to a twist, which is then held: no share at 10 kHz is above what was asked for."""
    asked = commanded((0.1, 1, 0.5, 0), (0.7, 0, 1, 1))
    driven = trundle.drive(asked, casters(), level="coordinated", progress=False)
    require_shares(driven, "casters")
    assert max(share.max() for share in driven.uses.forces.use.values()) == pytest.approx(0.95, rel=NEAR)
    np.testing.assert_allclose(driven.motion.samples(driven.ends).twist, [(1, 0.5, 0), (0, 1, 1)], atol=1e-12)
    limited = trundle.drive(asked, casters(), progress=False)
    assert driven.ends[0] <= limited.ends[0] * (1 + NEAR)


def test_what_plans_of_casters_refuse():
    with pytest.raises(InputError, match=r"'wheel_0' has no limit of its steering"):
        trundle.plan(casters(), (1, 0, 0))


def test_idle_casters_go_where_they_are_drawn():
    """A base that steers, on a caster that no motor drives, is planned as without it."""
    robot = trundle.catalog.swerve()
    described = trundle.robot.parse_robot(
        {
            "name": "with an idle caster",
            "wheels": {
                "front": {"type": "steered", "at": [0.3, 0, 0.05], "radius": 0.05},
                "rear": {"type": "steered", "at": [-0.3, 0, 0.05], "radius": 0.05},
                "idle": {"type": "caster", "at": [0, 0.3, 0.05], "radius": 0.05, "offset": 0.03},
            },
        }
    )
    plan = trundle.plan(described, (1, 0, 0), limits=LIMITS)
    assert plan.kinematics.names == ("front", "rear")
    assert plan.duration == pytest.approx(trundle.plan(robot, (1, 0, 0), limits=LIMITS).duration)


@pytest.mark.campaign
def test_no_share_of_random_coordinated_commands_is_above_what_was_asked_for(campaign):
    off = []
    for rng in campaign(100, least=4):
        robot, speed = random_robot("casters", rng), rng.uniform(0.3, 3.0)
        wished = (
            rng.uniform([0.1, -speed, -speed, -2], [1.5, speed, speed, 2]) for _ in range(rng.integers(1, 4))
        )
        driven = trundle.drive(commanded(*wished), robot, level="coordinated", progress=False)
        require_shares(driven, "casters")
        off.append(trundle.track(robot, driven, progress=False).largest["position"])
        print(f"{driven.motion.duration:.3f} s, {1e3 * off[-1]:.2f} mm off")
        assert off[-1] <= WORST
    print(f"{len(off)} motions: median {1e3 * np.median(off):.2f} mm, worst {1e3 * max(off):.2f} mm")
