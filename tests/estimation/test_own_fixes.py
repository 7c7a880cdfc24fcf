"""Sensors of one's own that tell of the pose under its own names: an antenna beside the base's origin, a compass."""

from typing import Literal

import numpy as np
import pytest
from pydantic import Field
from scipy.stats import chi2

import trundle
from trundle.robot import FixSensor
from trundle.robot.sensors import SENSORS
from trundle.robot.values import Angle, Length, Positive
from trundle.scalars import cos, sin

AHEAD = 0.5


class Antenna(FixSensor):
    """Tells where an antenna is, half a metre ahead of the base's origin."""

    type: Literal["antenna"] = "antenna"
    position: Positive[Length] = Field(description="Standard deviation of x and of y (m).")

    def seen(self):
        return {"x": ("m", self.position), "y": ("m", self.position)}

    def look(self, pose, read):
        x, y, theta = pose
        return {"x": x + AHEAD * cos(theta), "y": y + AHEAD * sin(theta)}


class Compass(FixSensor):
    """Tells the heading."""

    type: Literal["compass"] = "compass"
    heading: Positive[Angle] = Field(description="Standard deviation of the heading (rad).")

    def seen(self):
        return {"theta": ("rad", self.heading)}

    def look(self, pose, read):
        return {"theta": pose[2]}


@pytest.fixture(autouse=True)
def registered():
    before = dict(SENSORS._members)
    trundle.register(Antenna)
    trundle.register(Compass)
    yield
    SENSORS._members = before


FIXES = {
    "antenna": {"type": "antenna", "position": "1 cm"},
    "compass": {"type": "compass", "heading": "1 deg"},
    "pose": {"type": "pose", "position": "1 cm", "heading": "1 deg"},
    "position": {"type": "position", "position": "1 cm"},
}


def robot_with(kind):
    sensors = {"encoders": {"noise": 0.02, "period": "20 ms"}, "fixes": FIXES[kind]}
    return trundle.catalog.differential_drive().with_sensors(sensors)


@pytest.mark.parametrize("kind", FIXES)
def test_an_estimate_errs_as_it_says(kind):
    """The error at the end by its covariance, and the innovations by theirs, are χ²."""
    robot = robot_with(kind)
    run = trundle.roll(robot, 5.0, {"v_x": 0.5, "omega": 0.2})
    log = trundle.measure(robot, run, seed=1)
    start = np.diag([0.02, 0.02, 0.01]) ** 2
    found = trundle.estimate(robot, log, pose=[0.01, -0.01, 0.005], covariance=start)
    fixes = found.summary["fixes"]["fixes"]
    channels = len(robot.sensors["fixes"].seen())
    assert (
        chi2.ppf(1e-4, channels * 51) < fixes["mean_nis"] * fixes["used"] < chi2.ppf(1 - 1e-4, channels * 51)
    )
    error = [found[name][-1] - run[name][-1] for name in ("x", "y", "theta")]
    names = ("x.x", "x.y", "x.theta", "y.y", "y.theta", "theta.theta")
    upper = [found[f"covariance.{name}"][-1] for name in names]
    covariance = np.zeros((3, 3))
    covariance[np.triu_indices(3)] = upper
    covariance += np.triu(covariance, 1).T
    assert error @ np.linalg.solve(covariance, error) < chi2.ppf(1 - 1e-4, 3)


def test_in_a_loop_it_knows_the_same():
    model = trundle.derive(robot_with("antenna"), controllers={"where": {"type": "estimator"}})
    volts = {"left_motor.voltage": 2.0, "right_motor.voltage": 2.4}
    run = trundle.simulate(model, 1.0, volts, samples=51, seed=7)
    found = trundle.estimate(model, trundle.measure(model, run, seed=7))
    for name in ("x", "y", "theta"):
        np.testing.assert_allclose(run[f"where.{name}"][:-1], found[name][:-1], atol=1e-9, rtol=0)
