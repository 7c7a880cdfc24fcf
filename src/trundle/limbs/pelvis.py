"""How the pelvis stands in the room while its person walks: tilt, obliquity and rotation, a side by itself.

The pelvis is first turned about the vertical, then about its own way forward, then about its own axis across (Baker
2001, Gait & Posture 13:1): so every angle is what people mean by its name, however large the others are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.limbs.gait_events import pelvis_of, up_of
from trundle.limbs.loads import Loads
from trundle.results import Run
from trundle.robot.anatomy import Movement
from trundle.robot.structure import body_names

# What moves less than this (rad) is held.
_STILL = 1e-9


def with_pelvis(run: Run, loads: Loads, given: Mapping[str, Movement], forward: FloatArray | None) -> Run:
    """A clinical run with the angles of the pelvis, where the hips hang on a body of that name that moves.

    `right_pelvis_anterior_tilt.angle`, `right_pelvis_up_obliquity.angle` (this side up) and
    `right_pelvis_internal_rotation.angle` (this side ahead), rad, and those of the left. `forward` is the way that the
    person walks, level; without one rotation is zero on average. `given` are anatomical names by joint.
    """
    sides = [side for side in ("right", "left") if any(name.startswith(f"{side}_hip") for name in run.values)]
    robot = loads.recursion.mechanism.robot
    joints, body = body_names(robot), pelvis_of(robot, given)
    called = [name for name, joint in joints.items() if joint == joints[body]]
    if not sides or not any("pelvis" in name.lower() for name in called):
        return run
    tilt, obliquity, rotation = _angles(loads, body, forward)
    if max(map(np.ptp, (tilt, obliquity, rotation))) < _STILL:
        return run
    found: dict[str, FloatArray] = {}
    for side in sides:
        own = {"right": 1.0, "left": -1.0}[side]
        found[f"{side}_pelvis_anterior_tilt.angle"] = tilt
        found[f"{side}_pelvis_up_obliquity.angle"] = own * obliquity
        found[f"{side}_pelvis_internal_rotation.angle"] = own * rotation
    units = dict.fromkeys(found, "rad") | dict(run.units)
    groups = {**run.groups, "coordinates": (*found, *run.groups["coordinates"])}
    return replace(run, values={**found, **run.values}, units=units, groups=groups)


def _angles(loads: Loads, body: str, forward: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Tilt forward, rise and lead of the right side (n,), rad, of a body whose x is ahead, whose up the room's."""
    up = up_of(loads)
    turned = np.broadcast_to(loads.frames[body].rotation(frame=loads.world), (loads.time.size, 3, 3))
    own_up, own_ahead = np.eye(3)[np.abs(up).argmax()], np.eye(3)[0]
    ahead = turned @ own_ahead
    way = ahead.mean(axis=0) if forward is None else forward
    way = way - up * (way @ up)
    way /= np.linalg.norm(way)
    # In the room's axes ahead, left and up, and the body's: R = R_up(rotation) R_ahead(-rise) R_left(tilt).
    room = np.array([way, np.cross(up, way), up])
    left, top = turned @ np.cross(own_up, own_ahead), turned @ own_up
    across, height = left @ room.T, np.stack([ahead @ up, left @ up, top @ up], axis=1)
    tilt = np.arctan2(-height[:, 0], height[:, 2])
    rise = -np.arcsin(np.clip(height[:, 1], -1.0, 1.0))
    lead = np.unwrap(np.arctan2(-across[:, 0], across[:, 1]))
    return np.unwrap(tilt), rise, lead if forward is not None else lead - lead.mean()
