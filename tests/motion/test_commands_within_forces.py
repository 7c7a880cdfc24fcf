"""Commands of speeds within motors, battery and floor: shares at 10 kHz, closed forms, and what is said of it."""

import pytest

import trundle
from motion.test_real_limits_campaign import KINDS, random_robot, require_shares
from trundle import catalog
from trundle.errors import InputError

REAL = {
    "motor": "kraken_x60",
    "robot_mass": 52.0,
    "center_height": 0.2,
    "friction": 1.1,
    "current_limit": 120,
    "supply_current_limit": 60,
    "battery": 12.6,
}
STEERED = REAL | {"gear_ratio": 6.75, "steering_motor": "kraken_x60", "steering_ratio": 21.4}
TURNS = [((3, 0, 1), 0.2), ((0, 2, 0), 0.1), ((0, 0, 0), 0.3)]


def commanded(twists):
    parts = ("v_x", "v_y", "omega")
    each = [{"duration": time, "twist": dict(zip(parts, twist, strict=True))} for twist, time in twists]
    return {"motion": {"name": "go", "commands": each}}


def random_twists(kind, rng):
    """Twists that the base's wheels roll along; a car goes straight on, as others do between two turns."""
    free = {"differential": (1, 0, 1), "car": (1, 0, 0)}.get(kind, (1, 1, 1))
    twists = rng.uniform(-4, 4, (rng.integers(1, 4), 3)) * free
    return [(tuple(twist), rng.uniform(0.05, 1)) for twist in [*twists.tolist(), (0.0, 0.0, 0.0)]]


@pytest.mark.campaign
def test_commands_take_no_more_than_there_is(campaign):
    for rng in campaign(100):
        for kind in KINDS:
            driven = trundle.drive(commanded(random_twists(kind, rng)), random_robot(kind, rng))
            require_shares(driven, kind)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["limited", "coordinated"])
def test_the_levels_that_hold_limits_hold_motors_and_floor(level):
    driven = trundle.drive(commanded(TURNS), catalog.swerve(**STEERED), level=level)
    require_shares(driven, level)
    told = driven.summary()
    assert told["friction_use"] == pytest.approx(0.95, rel=1e-3)
    assert told["binding"]
    assert driven.motion.duration > 1.2
    assert driven.grip == 0.95


def test_a_robot_takes_its_speed_by_its_friction():
    """v = a T along a line with a (1 + 2 k K/(m l)) = k g, k = 0.95 μ and K = Σ m h + Σ J/r: the front wheels slide
    first, which 2 K a/(m g l) of their load is taken off.
    """
    robot = catalog.swerve(motor="kraken_x60", gear_ratio=5, friction=0.8)
    driven = trundle.drive(commanded([((1.5, 0, 0), 0.01)]), robot, profile="linear")
    assert driven.profile == "linear"
    assert driven.notes == ()
    k, mass, radius = 0.95 * 0.8, 50, 0.05
    moment = 40 * (0.1 + radius) + 10 * radius + 4 * 1 * radius / 2
    acceleration = k * 9.81 / (1 + 2 * k * moment / mass)
    assert driven.motion.duration == pytest.approx(1.5 / acceleration, rel=2e-4)
    (slowdown,) = driven.slowdowns
    assert slowdown.limit == "grip"


def test_declared_limits_alone_are_kept_without_a_share_of_friction():
    robot = catalog.swerve(**STEERED)
    driven = trundle.drive(commanded(TURNS), robot, grip=None)
    assert driven.grip is None
    assert driven.motion.duration == pytest.approx(0.6)
    assert driven.summary()["friction_use"] > 1


def test_twists_beyond_the_motors_are_slower():
    driven = trundle.drive(commanded([((20, 0, 0), 1.0)]), catalog.swerve(**STEERED))
    (note,) = driven.notes
    assert "95%" in note
    assert "voltage" in note or "battery" in note
    assert 4 < driven.motion.samples([driven.motion.duration]).twist[0, 0] < 8
    require_shares(driven, "fast")


def test_a_start_beyond_the_motors_is_refused():
    motion = commanded([((0, 0, 0), 1.0)])
    motion["motion"]["start"] = {"twist": {"v_x": 30}}
    with pytest.raises(InputError, match="at no pace"):
        trundle.drive(motion, catalog.swerve(**STEERED))


def test_a_wheel_without_friction_is_refused():
    with pytest.raises(InputError, match="no friction"):
        trundle.drive(commanded(TURNS), catalog.swerve(**STEERED | {"friction": 0}))
