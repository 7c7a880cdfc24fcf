"""Limits of modules, read from descriptions."""

import math

import pytest

import trundle
from trundle.documents import parse
from trundle.documents.writer import dump
from trundle.errors import InputError
from trundle.motion.drive.drive import Limits, limits_of

_LIMITS = {
    "drive_speed": "2 ft/s",
    "drive_jerk": 10,
    "steering_rate": "90 deg/s",
    "lower": "-1 rev",
    "upper": 3,
}


def robot(limits, kind="steered"):
    wheel = {"type": kind, "at": [0.2, 0, 0], "radius": 0.1, "mass": 1, "limits": limits}
    return trundle.load(
        {
            "robot": {
                "name": "cart",
                "base": "planar",
                "body": {"mass": 1, "inertia": {"zz": 1}},
                "wheels": {"one": wheel},
            }
        }
    )


def test_limits_are_read_with_units_and_written_back():
    there = robot(_LIMITS)
    limits = limits_of(there)["one"]
    assert limits.drive_speed == pytest.approx(0.6096)
    assert limits.steering_rate == pytest.approx(math.pi / 2)
    assert limits.steering_range == pytest.approx((-2 * math.pi, 3.0))
    assert limits.declared == ("steering_rate", "drive_speed", "drive_jerk")
    assert parse(dump(there)).robot == there
    assert not any("limits" in name for name in there.parameter_values())


def test_wheels_without_limits_can_do_anything():
    assert limits_of(trundle.catalog.swerve())["front_left"] == Limits()


@pytest.mark.parametrize(
    ("limits", "kind", "message"),
    [
        ({"drive_speed": -1}, "steered", "must be greater than zero"),
        ({"drive_speed": "1 m"}, "steered", "expected a speed"),
        ({"steering_rate": 1}, "fixed", "unknown key 'steering_rate'"),
        ({"lower": 1, "upper": 0}, "steered", "lower limit 1 is not below"),
        ({"drive_sped": 1}, "steered", "did you mean 'drive_speed'"),
    ],
)
def test_wrong_limits_are_refused(limits, kind, message):
    with pytest.raises(InputError, match=message):
        robot(limits, kind)


def test_limits_from_python_are_checked():
    with pytest.raises(InputError, match="positive drive_speed"):
        Limits(drive_speed=0.0)
    with pytest.raises(InputError, match="positive steering_rate, got '2 rad/s'"):
        Limits("2 rad/s")
    with pytest.raises(InputError, match="holds no angle"):
        Limits(steering_range=(1.0, 1.0))
