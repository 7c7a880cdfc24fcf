"""Trajectories, contacts and forces of N. Seegmiller's library of vehicle models (2014), its solver converged.

States are roll, pitch, yaw, place, joints; speeds the body's angular velocity and its origin's velocity in its axes.
"""

import csv
import json
import math
from functools import cache
from pathlib import Path

import numpy as np

import trundle
from trundle.mechanics.joints import quaternion_rotation
from trundle.model.ground_model import derive_on
from trundle.program.rollout import rollout
from trundle.robot.terrain import parse_terrain
from trundle.terrain.advance import angles_of, quaternion_of

DATA = Path(__file__).parent / "data"
NAMES = {
    "zoe": {
        "SteerFront": "steer_front", "SteerRear": "steer_rear", "RollRear": "roll_rear",
        "WheelFrontLeft": "front_left", "WheelFrontRight": "front_right",
        "WheelRearLeft": "rear_left", "WheelRearRight": "rear_right",
    },
    "rocky7": {
        "D1": "rocker_left", "S1": "steer_left", "B1": "bogie_left",
        "A1": "front_left", "A3": "middle_left", "A5": "rear_left",
        "D2": "rocker_right", "S2": "steer_right", "B2": "bogie_right",
        "A2": "front_right", "A4": "middle_right", "A6": "rear_right",
    },
    "talon": {"LeftTrack": "left", "RightTrack": "right"},
}  # fmt: skip
SPEEDS = {"wx": "omega_x", "wy": "omega_y", "wz": "omega_z", "vx": "v_x", "vy": "v_y", "vz": "v_z"}
ANGLES = ("roll", "pitch", "yaw")
PLACE = ("x", "y", "z")


@cache
def trajectories():
    return json.loads((DATA / "trajectories.json").read_text())


@cache
def contacts():
    return json.loads((DATA / "contacts.json").read_text())


def forces():
    with (DATA / "wheel_ground_models.csv").open() as rows:
        return list(csv.DictReader(rows))


def terrain(kind, vehicle):
    amplitude, length = (0.1, 4.0) if vehicle == "zoe" else (0.05, 2.0)
    waves = {"type": "waves", "amplitude": amplitude, "length": length}
    surface = {
        "flat": {"type": "plane"},
        "pitch10": {"type": "plane", "slope": "10 deg"},
        "roll10": {"type": "plane", "slope": "10 deg", "uphill": "90 deg"},
        "sin1d": waves,
        "sin2d": {**waves, "across": length},
    }[kind]
    return parse_terrain({"surfaces": {"ground": surface}, "sinkage": 0.01 if vehicle == "talon" else 0.02})


class Case:
    """A trajectory by its file's name: vehicle_ground_path[_law]__mode__solver__dtSTEP."""

    def __init__(self, name):
        what, mode, _, step = name.split("__")
        vehicle, ground, path, *law = what.split("_")
        self.vehicle = "rocky7" if vehicle == "rocky" else vehicle
        self.step = float(step.removeprefix("dt"))
        self.rows = trajectories()[name]
        curvature = 0.0 if path == "straight" else 1 / float(path.removeprefix("arcR"))
        robot = trundle.catalog.robot(
            self.vehicle, speed=0.5, curvature=curvature, **({"contact": law[0]} if law else {})
        )
        mode = {"kin": "kinematic", "dyn": "dynamic"}[mode]
        self.model = derive_on(robot, terrain(ground, self.vehicle), mode, "euler_angles")
        self.joints = NAMES[self.vehicle]

    def row(self, when):
        return dict(zip(self.rows["columns"], self.rows[when], strict=True))

    def start(self):
        """The state in the model's order."""
        row = self.row("first")
        state = {name: row[name] for name in PLACE}
        state |= dict(
            zip(("q_w", "q_x", "q_y", "q_z"), quaternion_of(*(row[a] for a in ANGLES)), strict=True)
        )
        for theirs, ours in self.joints.items():
            state |= {f"{ours}.angle": row[theirs], f"{ours}.rate": row[f"{theirs}_rate"]}
        state |= {ours: row[theirs] for theirs, ours in SPEEDS.items()}
        return np.array([state[name] for name in self.model.states])

    def off(self):
        """How far the poses and joints after 5 and 10 s are from the reference's (rad, m)."""
        steps = round(10 / self.step)
        model = self.model
        given = {
            "input": np.zeros(len(model.inputs)), "parameter": list(model.parameters.values()),
            "step": [self.step],
        }  # fmt: skip
        run = rollout(
            model.motion.still, self.start(), given, dt=1.0, steps=steps, every=steps // 2, projection=model.step,
            quick=True,
        )  # fmt: skip
        return max(
            self._off(state, when) for state, when in zip(run.states[1:], ("middle", "last"), strict=True)
        )

    def _off(self, state, when):
        row, ours = self.row(when), dict(zip(self.model.states, state, strict=True))
        attitude = angles_of(quaternion_rotation(*(ours[f"q_{part}"] for part in "wxyz")))
        differences = [a - row[name] for a, name in zip(attitude, ANGLES, strict=True)]
        differences += [ours[name] - row[name] for name in PLACE]
        differences += [ours[f"{mine}.angle"] - row[theirs] for theirs, mine in self.joints.items()]
        return max(map(abs, differences)) if all(map(math.isfinite, differences)) else math.inf
