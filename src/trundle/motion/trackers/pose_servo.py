"""A servo on the pose: what leads wheels that slip back to where a motion has the base.

    pose, motion's pose and twist ──► a twist that leads back ──► what it adds to the wheels' rates and angles

Wheels that slip leave a motion by what they creep: no feed-forward of torques knows that. The twist is that of
`holonomic_twist` as far as wheels that hold their direction let the base have it; where they don't let it go aside, it
turns towards the motion instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.modules import Module, turned
from trundle.mechanics.steering import CRAWL, steering_gain, velocity_at
from trundle.mechanics.wheels import WheelModel
from trundle.motion.drive.drive import Drive
from trundle.motion.pieces.motion import Motion, Samples
from trundle.scalars import Scalar, cos, less, minus, plus, sin, sqrt, times, where

# What leads the servo, behind the inputs: the pose in the world and the twist in the base's frame.
LEADS = ("pose.x", "pose.y", "pose.theta", "twist.v_x", "twist.v_y", "twist.omega")
POSE = ("x", "y", "theta")
# The rate (1/s) at which a pose is led back: as quick as wheels' rates are. Of 10, 20 and 40, on robots of the
# campaign (tests/motion/test_real_limits_campaign.py), 10 left differential drives aside, 40 shook cars' steering.
RETURN = 20.0
# How fast (m/s) a base that goes along its heading alone catches up at most.
CATCHING = 0.02
# What is aside of its way such a base gets rid of on a way of so much (m) at least: at a crawl a car would steer by a
# tenth for a millimetre. Of 0 to 0.5 m, on cars and differential drives on level ground and slopes: the worst are 8 and
# 28 mm off, not 32 and 61, and hardly less or more from 0.15 to 0.3 m.
WAY = 0.2
# The share of its grip that counts as all, and the least (m/s) that a servo may add where contacts hold without slip.
ALL, LEAST = 0.995, 0.1
# A base that drifts as it turns is led to head aside so long (s) before and behind where its drift jumps. Of 0.05 to
# 0.3 s this and 0.2 s left random skid-steers of the campaign nearest to their plans.
TURNING = 0.15
# The same (m/s) of wheels that slide for the base to turn: as fast as they do in a turn, so that it costs no grip.
SLIDING = 0.5


@dataclass(frozen=True, eq=False)
class PoseServo:
    """The twist that leads a drive back to a motion, and what its wheels are told for it, in any scalar."""

    drive: Drive

    @cached_property
    def free(self) -> FloatArray:
        """The projection (3, 3) of twists onto those that wheels which hold their direction roll along with."""
        held = self.drive.holding
        if not held:
            return np.eye(3)
        length = max(float(np.abs(self.drive.places).max()), 0.1)
        scale = np.array([1.0, 1.0, 1 / length])
        rows = np.array(
            [[float(turned(m.velocity(unit), m.direction)[1]) for unit in np.eye(3).tolist()] for m in held]
        )
        rows = rows * scale
        onto = np.eye(3) - np.linalg.pinv(rows, rcond=1e-9) @ rows
        onto = scale[:, None] * onto / scale
        return np.where(np.abs(onto) < 1e-12, 0.0, onto)

    def twist(self, led: Mapping[str, Scalar], state: Mapping[str, Scalar]) -> list[Scalar]:
        """The twist (v_x, v_y, ω) to add, in the base's frame."""
        off = [minus(led[f"pose.{name}"], state[name]) for name in POSE]
        c, s = cos(state["theta"]), sin(state["theta"])
        ahead, aside = c * off[0] + s * off[1], c * off[1] - s * off[0]
        wish: list[Scalar] = [RETURN * ahead, RETURN * aside, RETURN * off[2]]
        if not np.allclose(self.free[1], [0, 1, 0]):
            # at a speed critically damped: ë + k ė + (k/2)² e = 0 across the way
            v_x, v_y = led["twist.v_x"], led["twist.v_y"]
            square = v_x * v_x + v_y * v_y
            across = (RETURN / 2) ** 2 * (v_x * aside - v_y * ahead) / (square + CRAWL**2)
            if (
                not self.drive.slides
            ):  # slower where that were too short a way; what slides turns on the spot, too
                across = across * square / (square + (RETURN / 2 * WAY) ** 2)
            wish[2] = wish[2] + across
            # what is behind and speeds up has to brake harder than its plan, whose motors may have no more
            late = less(0, wish[0] * v_x)
            wish[0] = where(late, saturated(wish[0], CATCHING), wish[0])
        led_back: list[Scalar] = []
        for row in self.free.tolist():
            total: Scalar = 0
            for factor, part in zip(row, wish, strict=True):
                total = plus(total, times(factor, part))
            led_back.append(total)
        return led_back

    def rolling(self, wheel: WheelModel, module: Module, heading: float, steering: str | None) -> ServoLaw:
        """What a wheel rolls faster (rad/s), with the name of the angle by which it is steered from its heading."""
        radius, most = float(wheel.radius), most_slip(wheel)
        most = max(most, SLIDING) if self.drive.slides else most

        def faster(led: Mapping[str, Scalar], state: Mapping[str, Scalar]) -> Scalar:
            angle = heading if steering is None else heading + state[steering]
            speed, _ = module.rolling(module.along(angle), self.twist(led, state))
            return saturated(speed, most) / radius

        return ServoLaw(faster, frozenset(POSE) | ({steering} if steering else frozenset()))

    def steering(
        self, wheel: WheelModel, place: tuple[Scalar, Scalar], heading: float, steering: str
    ) -> ServoLaw:
        """By how much a wheel at a place is steered further (rad)."""
        most = most_slip(wheel)

        def further(led: Mapping[str, Scalar], state: Mapping[str, Scalar]) -> Scalar:
            angle = heading + state[steering]
            direction = cos(angle), sin(angle)
            _, across = turned(velocity_at(place, self.twist(led, state)), direction)
            going = [led["twist.v_x"], led["twist.v_y"], led["twist.omega"]]
            along, _ = turned(velocity_at(place, going), direction)
            return saturated(across, most) * steering_gain(along)

        return ServoLaw(further, frozenset((*POSE, steering)))


@dataclass(frozen=True, eq=False)
class ServoLaw:
    """What a servo adds: from what leads it and the states, of which it reads some."""

    value: Callable[[Mapping[str, Scalar], Mapping[str, Scalar]], Scalar]
    asks: frozenset[str]


def most_slip(wheel: WheelModel) -> float:
    """The slip (m/s) beyond which a wheel's contact gives next to nothing more: a servo that asks for more of it along
    the wheel takes what holds it across.
    """
    return max(float(wheel.law.creep(ALL, wheel.read)), LEAST)


def saturated(value: Scalar, most: float) -> Scalar:
    """v/√(1 + (v/m)²): the same where it is small, and nowhere above m."""
    return value / sqrt(1 + (value / most) * (value / most))


def leads(motion: Motion, times: FloatArray, wanted: Samples, across: FloatArray) -> FloatArray:
    """What leads the servo at times, (n, 6): the motion's poses and `wanted`, its samples there, of wheels that creep
    across by so much (n, m; m/s).

    A base whose wheels hold their direction goes along its path where it heads aside of it by what they creep.
    """
    led = np.concatenate([motion.poses(times), wanted.twist], axis=1)
    held = [k for k, m in enumerate(motion.kinematics.modules) if m.is_fixed]
    drive = motion.kinematics.drive
    if drive.slides:
        turned_back = np.exp(-1j * drive.headings)
        drift = (across - (drive.velocities(wanted.twist) * turned_back).imag).mean(axis=1)
        heading = float(drive.headings[0])
        ahead = wanted.twist[:, 0] * np.cos(heading) + wanted.twist[:, 1] * np.sin(heading)
        turned_aside, rate = _smooth(times, drift * steering_gain(ahead))
        led[:, 2] -= turned_aside + rate / RETURN  # by its gain the servo makes that rate of it
    elif held:
        rolled = wanted.drive_speed[:, held]
        led[:, 2] -= (across[:, held] * steering_gain(rolled)).mean(axis=1)
    return led


def _smooth(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean of values over what is around their times, (n,), and its rate: no base heads elsewhere at once."""
    rising, own = np.unique(times, return_index=True)
    ends = np.array([-TURNING, TURNING])
    # the integral of what is linear between times, and stays behind them
    padded = np.concatenate([[rising[0] - TURNING], rising, [rising[-1] + TURNING]])
    held = np.concatenate([values[own][:1], values[own], values[own][-1:]])
    area = np.concatenate([[0.0], np.cumsum(np.diff(padded) * (held[1:] + held[:-1]) / 2)])
    low, high = (np.interp(times + end, padded, area) for end in ends)
    first, last = (np.interp(times + end, padded, held) for end in ends)
    return (high - low) / (2 * TURNING), (last - first) / (2 * TURNING)
