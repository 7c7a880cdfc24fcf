"""From the elements of a URDF file to the plain data of a Robot, and where each piece stands in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from trundle.documents.urdf.elements import (
    HAS_LIMITS,
    LIMITED,
    NO_LIMIT,
    NOUNS,
    Inertial,
    UrdfFile,
    UrdfJoint,
)
from trundle.documents.urdf.part import Part
from trundle.documents.urdf.tree_structure import Names, clean
from trundle.robot.checks import inertia_problem
from trundle.robot.problems import Path
from trundle.spatial.vectors import Matrix, euler_rotation, multiply, transpose

_TITLE = re.compile(r"\w[\w .+-]{0,79}")
# Roots that mean the ground (as Gazebo and MoveIt have it).
_GROUND = "world"
# Products that are only the rounding of a rotation by a quarter turn become exact zeros again, relative to the largest.
_ROUNDING = 4e-16


def default_base(urdf: UrdfFile, root: str) -> str:
    """The base that a file means: what it says itself, else fixed for a root without mass or called world, else
    floating.
    """
    if urdf.base is not None:
        return urdf.base
    inertial = urdf.links[root].inertial
    return "fixed" if inertial is None or inertial.is_weightless or root == _GROUND else "floating"


def robot_data(urdf: UrdfFile, names: Names, base: str, strict: bool) -> dict[str, Any]:
    """A Robot's plain data. Unless `strict`, moments that no rigid body has are marked as taken on trust."""
    data: dict[str, Any] = {"name": robot_name(urdf.name), "base": base}
    if urdf.gravity is not None:
        data["gravity"] = list(urdf.gravity) if isinstance(urdf.gravity, tuple) else urdf.gravity
    root = urdf.links[names.root]
    root_name = names.links[names.root]
    body = _body(root.inertial, strict)
    if body or root_name != "base":
        data["body"] = body if root_name == "base" else {"name": root_name, **body}
    data["joints"] = {
        names.joints[name]: _joint(urdf, joint, names, strict) for name, joint in urdf.joints.items()
    }
    couplings = {
        names.mimics[name]: _gear(joint, names) for name, joint in urdf.joints.items() if joint.mimic
    }
    return data | ({"couplings": couplings} if couplings else {})


def _gear(joint: UrdfJoint, names: Names) -> dict[str, Any]:
    assert joint.mimic is not None
    data: dict[str, Any] = {"type": "gear", "joint": names.joints[joint.name]}
    data["follows"] = {names.joints[joint.mimic.joint]: joint.mimic.multiplier}
    return data | ({"offset": joint.mimic.offset} if joint.mimic.offset else {})


def robot_name(written: str) -> str:
    """A robot's name that titles and files can carry."""
    return written if _TITLE.fullmatch(written) else clean(written).lstrip("_") or "robot"


def _joint(urdf: UrdfFile, joint: UrdfJoint, names: Names, strict: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"type": NOUNS[joint.type]}
    data["parent"] = "base" if joint.parent == names.root else names.links[joint.parent]
    if any(joint.xyz):
        data["at"] = list(joint.xyz)
    if any(joint.rpy):
        data["rpy"] = [_within_a_turn(angle) for angle in joint.rpy]
    if joint.type not in ("fixed", "floating"):
        data["axis"] = list(joint.axis)
        data |= {
            key: number for key, number in (("damping", joint.damping), ("coulomb", joint.friction)) if number
        }
    data |= _limits(joint)
    data |= joint.extension
    name = names.links[joint.child]
    body = _body(urdf.links[joint.child].inertial, strict)
    if name != names.joints[joint.name]:
        body = {"name": name, **body}
    return data | ({"body": body} if body else {})


def _limits(joint: UrdfJoint) -> dict[str, float]:
    """Where its stops are; URDF says nothing of how stiff they are, so they stop nothing until somebody does."""
    limit = joint.limit
    if not HAS_LIMITS or limit is None or joint.type not in LIMITED or limit.lower >= limit.upper:
        return {}
    given = {"lower": limit.lower, "upper": limit.upper}
    return {name: number for name, number in given.items() if abs(number) < NO_LIMIT}


def _within_a_turn(angle: float) -> float:
    return angle if abs(angle) <= 2 * math.pi else math.remainder(angle, 2 * math.pi)


def _body(inertial: Inertial | None, strict: bool) -> dict[str, Any]:
    if inertial is None:
        return {}
    data: dict[str, Any] = {}
    if inertial.mass:
        data["mass"] = inertial.mass
    if any(inertial.xyz):
        data["center_of_mass"] = list(inertial.xyz)
    moments = link_inertia(inertial)
    inertia: dict[str, Any] = {name: number for name, number in moments.items() if number}
    if not strict and inertia_problem(**moments):
        inertia["as_given"] = True
    return data | ({"inertia": inertia} if inertia else {})


def link_inertia(inertial: Inertial) -> dict[str, float]:
    """The inertia about the centre of mass in the link's axes: R I Rᵀ, with R the inertial frame's rotation."""
    xx, xy, xz, yy, yz, zz = inertial.moments
    matrix: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if any(inertial.rpy):
        rotation = euler_rotation(*inertial.rpy)
        matrix = multiply(multiply(rotation, matrix), transpose(rotation))
    floor = _ROUNDING * max(abs(number) for row in matrix for number in row)
    places = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    return {name: _rounded(float(matrix[i][j]), floor if i != j else 0.0) for name, (i, j) in places.items()}


def _rounded(number: float, floor: float) -> float:
    return 0.0 if abs(number) <= floor else number


def parts(urdf: UrdfFile, names: Names) -> dict[Path, Part]:
    """The element that a key of the Robot comes from, for messages."""
    found: dict[Path, Part] = {(): urdf.part}
    root = urdf.links[names.root].part
    found["body",] = root
    for name, joint in urdf.joints.items():
        path: Path = ("joints", names.joints[name])
        found[path] = joint.part
        for field, tag in (("at", "origin"), ("rpy", "origin"), ("axis", "axis"), ("damping", "dynamics")):
            found[*path, field] = joint.part.child(tag) or joint.part
        found[*path, "body"] = urdf.links[joint.child].part
        if joint.mimic is not None:
            found["couplings", names.mimics[name]] = joint.part.child("mimic") or joint.part
    for path in [path for path in found if path and path[-1] == "body"]:
        found |= _inertial_parts(path, found[path])
    return found


def _inertial_parts(path: Path, link: Part) -> Mapping[Path, Part]:
    inertial = link.child("inertial") or link
    return {
        (*path, "mass"): inertial.child("mass") or inertial,
        (*path, "center_of_mass"): inertial.child("origin") or inertial,
        (*path, "inertia"): inertial.child("inertia") or inertial,
    }
