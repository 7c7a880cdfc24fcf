"""Random cases for the exported classes of kinematics and odometry, and what they must give.

A case is a row of numbers: a twist; rates, steering angles and steering rates of the wheels before; a pose, readings of
the encoders there, and readings later. The answer is a row, too: the wheels at the twist, from nothing and from what
they do; the twist of what they do, each wheel's slip at it; the pose and its covariance at the later readings.
"""

from dataclasses import dataclass

import numpy as np

import trundle
from trundle.languages import identifiers
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.odometry.odometry import Odometry

WHEELED = (
    "differential_drive", "offset_drive", "swerve", "limited_swerve", "ackermann", "tricycle", "mecanum", "three_omni",
    "skid_steer",
)  # fmt: skip


@dataclass(frozen=True)
class Cases:
    """Cases of a robot: `table` (count, width), the noise (P, Q, R) that all share, and what they are made of."""

    kinematics: Kinematics
    odometry: Odometry
    table: np.ndarray
    noise: tuple[np.ndarray, ...]

    @property
    def readings(self):
        increments, angles = self.odometry.increments, self.odometry.angles
        return [*increments, *(each for each in angles if each not in increments)]

    @property
    def answer_width(self):
        return 7 * len(self.kinematics.modules) + 15

    @property
    def header(self):
        """What all cases share, in one row."""
        return np.concatenate([each.ravel() for each in self.noise])

    def parts(self):
        """Columns of the table, each (count, n): twist, rate, steering, steering rate, pose, last, now."""
        m, r = len(self.kinematics.modules), len(self.readings)
        return np.split(self.table, np.cumsum([3, m, m, m, 3, r]), axis=1)

    def answers(self, found):
        """Columns of what classes give: wheels from nothing and on, twist, slip, pose, covariance."""
        m = len(self.kinematics.modules)
        return np.split(found, np.cumsum([3 * m, 3 * m, 3, m, 3]), axis=1)

    def expected(self):
        """The answers by the library itself."""
        twist, rate, steering, steering_rate, pose, last, now = self.parts()
        radii = np.array([module.radius for module in self.kinematics.modules], dtype=float)
        headings = self.kinematics.headings
        states = self.kinematics.states(headings + steering, radii * rate, steering_rate)
        wheels = [
            np.hstack([each.speeds / radii, each.angles - headings, each.steering_rates])
            for each in (
                self.kinematics.module_states(*twist.T),
                self.kinematics.module_states(*twist.T, states),
            )
        ]
        names = self.readings
        places = [names.index(each) for each in self.odometry.angles]
        counted = len(self.odometry.increments)
        covariance, increments, angles = self.noise
        after, spread = self.odometry.propagate(
            pose.T,
            covariance,
            (now - last)[:, :counted].T,
            increments,
            last[:, places].T,
            angles,
        )
        moved = self.kinematics.twist(states), self.kinematics.slip(states)
        return np.hstack([*wheels, *moved, after.T, spread.reshape(9, -1).T])


def cases(robot, count, rng):
    """Random cases of a robot."""
    model = trundle.derive(robot)
    kinematics, odometry = model.kinematics(), model.odometry()
    m = len(kinematics.modules)
    n, a = len(odometry.increments), len(odometry.angles)
    pivots = np.array([module.pivots for module in kinematics.modules])
    trails = np.array([module.is_caster for module in kinematics.modules])
    readings = n + sum(each not in odometry.increments for each in odometry.angles)
    last = rng.uniform(-1.2, 1.2, (count, readings))
    table = np.hstack([
        rng.uniform(-3, 3, (count, 3)),
        rng.uniform(-20, 20, (count, m)),
        rng.uniform(-np.pi, np.pi, (count, m)) * pivots,
        rng.uniform(-5, 5, (count, m)) * trails,
        rng.uniform(-3, 3, (count, 3)),
        last,
        last + rng.uniform(-2, 2, (count, readings)),
    ])  # fmt: skip
    noise = tuple(_covariance(rng, size) for size in (3, n, a))
    return Cases(kinematics, odometry, table, noise)


def measured(robot, rng):
    """The robot with the lengths and angles of its description changed by up to a fifth, its wheels on the ground."""
    units, values = robot.parameter_units(), robot.parameter_values()
    changes = {each: values[each] * rng.uniform(0.8, 1.2) for each in values if units[each] in ("m", "rad")}
    for name, radius in changes.items():
        wheel, _, measure = name.rpartition(".")
        if measure == "radius":
            raised = f"{wheel}.at.z" in changes
            changes[f"{wheel}.at.z" if raised else name] = radius if raised else values[name]
    return robot.with_parameters(changes)


def fields(given, exported, language):
    """The fields of parameters in which the robot of some cases differs from an exported one, with its numbers."""
    if exported is None:
        return {}
    before, after = (each.parameter_values() for each in (exported, given.kinematics.robot))
    names = identifiers(before, language)
    return {names[each]: after[each] for each in after if after[each] != before[each]}


def _covariance(rng, size):
    root = rng.normal(size=(size, size))
    return 1e-2 * root @ root.T


def off(got, expected):
    """The largest difference in each column group, in parts of its largest number or of one."""
    return float(np.max(np.abs(got - expected) / np.maximum(1.0, np.abs(expected).max(axis=0))))
