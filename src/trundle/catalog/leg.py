"""A person's leg from mass and height: thigh, shank and foot of a published table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trundle.catalog.anthropometry import ankle_in_foot, fractions, head_arms_trunk
from trundle.catalog.entry import Data, MeasureLike, described, entry
from trundle.errors import InputError, choose
from trundle.robot.description import Robot

_HIPS = ("revolute", "spherical")
_BASES = ("fixed", "floating")


def _swing(robot: Robot) -> Data:
    planar = len(robot.joints["hip"].speeds) == 1
    start = {"hip.angle": "30 deg"} if planar else {"hip.q_w": math.cos(0.25), "hip.q_y": -math.sin(0.25)}
    return {"duration": 2.0, "initial": {**start, "knee.angle": "20 deg"}}


@entry(_swing)
def leg(
    *,
    body_mass: MeasureLike = 70.0,
    height: MeasureLike = 1.75,
    table: str = "winter",
    sex: str | None = None,
    hip: str = "revolute",
    damping: MeasureLike = 0.0,
    base: str = "fixed",
) -> Robot:
    """A person's leg that hangs from the hip: thigh, shank and foot; x is forward, hip and knee flex, the toes rise.

    On a floating base it hangs from the person's head, arms and trunk, which move as one body from the hip up.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.leg(table="de_leva", sex="female").joints)
    ['hip', 'knee', 'ankle']
    """
    if hip not in _HIPS:
        raise InputError(f"the hip can't be {hip!r}", key="hip", hint=choose(hip, _HIPS))
    if base not in _BASES:
        raise InputError(f"the base of a leg can't be {base!r}", key="base", hint=choose(base, _BASES))
    rows = fractions(table, sex)
    parameters: dict[str, MeasureLike] = {"body_mass": body_mass, "height": height}
    for name in ("thigh", "shank", "foot"):
        part, length, *_ = rows[name]
        parameters |= {f"{name}_mass": f"{part:.12g}*body_mass", f"{name}_length": f"{length:.12g}*height"}
    ahead, below = ankle_in_foot(table, rows["foot"])
    hinge: Data = {"type": "revolute", "damping": damping}
    turning = {**hinge, "axis": [0, -1, 0], "movement": "hip flexion"}
    flexion = turning if hip == "revolute" else {**hinge, "type": "spherical"}
    thigh, shank = (segment(name, rows[name][2], *rows[name][3:]) for name in ("thigh", "shank"))
    foot = {
        "name": "foot",
        "mass": "foot_mass",
        "center_of_mass": [f"{ahead:.12g}*foot_length", 0, f"-{below:.12g}*height"],
        "inertia": moments("foot_mass", "foot_length", rows["foot"][:2:-1]),
    }
    knee = {**hinge, "axis": [0, 1, 0], "movement": "knee flexion", "parent": "thigh"}
    knee |= {"at": [0, 0, "-thigh_length"]}
    ankle = {**hinge, "axis": [0, -1, 0], "movement": "ankle dorsiflexion", "parent": "shank"}
    ankle |= {"at": [0, 0, "-shank_length"]}
    joints = {
        "hip": {**flexion, "body": thigh},
        "knee": {**knee, "body": shank},
        "ankle": {**ankle, "body": foot},
    }
    if base == "fixed":
        return described("leg", parameters, joints=joints)
    whole = head_arms_trunk(table, sex)
    parameters |= {"trunk_mass": f"{whole.mass:.12g}*body_mass"}
    trunk = {
        "name": "trunk",
        "mass": "trunk_mass",
        "center_of_mass": [0, 0, f"{whole.center:.12g}*height"],
        "inertia": moments("trunk_mass", "height", whole.radii),
    }
    return described("leg", parameters, joints=joints, base=base, body=trunk)


def segment(
    name: str, center: float, *radii: float, length: str | None = None, mass: str | None = None
) -> Data:
    """A segment that hangs from its joint; how far down its centre is and its radii are parts of its length."""
    mass, length = mass or f"{name}_mass", length or f"{name}_length"
    return {
        "name": name,
        "mass": mass,
        "center_of_mass": [0, 0, f"-{center:.12g}*{length}"],
        "inertia": moments(mass, length, radii),
    }


def moments(mass: str, length: str, radii: Sequence[float]) -> Data:
    """m (k l)² about x, y and z."""
    pairs = zip(("xx", "yy", "zz"), radii, strict=True)
    return {axis: f"{mass}*({radius:.12g}*{length})**2" for axis, radius in pairs if radius}
