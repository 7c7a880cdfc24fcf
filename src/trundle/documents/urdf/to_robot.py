"""From the links and joints of a URDF file to the plain data of a Robot, and where each piece stands in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from trundle.documents.urdf.nouns import NOUNS, Inertial, Joint, Urdf
from trundle.documents.urdf.part import Numbers, Part
from trundle.documents.urdf.tree_structure import Names, clean
from trundle.robot.checks import inertia_problem
from trundle.robot.problems import Path

Data = dict[str, object]

_TITLE = re.compile(r"\w[\w .+-]{0,79}")
# The element that says a field of a joint, or of the body of a link.
_JOINT_TAGS = {"at": "origin", "rpy": "origin", "axis": "axis", "damping": "dynamics"}
_BODY_TAGS = {"mass": "mass", "center_of_mass": "origin", "inertia": "inertia"}


def robot_name(written: str) -> str:
    """A robot's name that titles and files can carry."""
    return written if _TITLE.fullmatch(written) else clean(written).lstrip("_") or "robot"


def within_a_turn(rpy: Numbers) -> Numbers:
    """The same angles within a full turn, which is as far as a description lets them go."""
    r, p, y = (each if abs(each) <= 2 * math.pi else math.remainder(each, 2 * math.pi) for each in rpy)
    return r, p, y


def robot_data(urdf: Urdf, names: Names, base: str, strict: bool) -> Data:
    """A Robot's plain data. Unless `strict`, moments that no rigid body has are marked as taken on trust."""
    data: Data = {"name": robot_name(urdf.name), "base": base}
    if urdf.gravity is not None:
        data["gravity"] = urdf.gravity
    root_name = names.links[names.root]
    body = _body(urdf.links[names.root].inertial, strict)
    if body or root_name != "base":
        data["body"] = body if root_name == "base" else {"name": root_name, **body}
    joints = urdf.joints.items()
    data["joints"] = {names.joints[name]: _joint(urdf, joint, names, strict) for name, joint in joints}
    couplings = {names.mimics[name]: _gear(joint, names) for name, joint in joints if joint.mimic}
    return data | ({"couplings": couplings} if couplings else {})


def _gear(joint: Joint, names: Names) -> Data:
    assert joint.mimic is not None
    follows = {names.joints[joint.mimic.joint]: joint.mimic.multiplier}
    data: Data = {"type": "gear", "joint": names.joints[joint.name], "follows": follows}
    return data | ({"offset": joint.mimic.offset} if joint.mimic.offset else {})


def _joint(urdf: Urdf, joint: Joint, names: Names, strict: bool) -> Data:
    data: Data = {"type": NOUNS[joint.type]}
    data["parent"] = "base" if joint.parent == names.root else names.links[joint.parent]
    data |= {key: each for key, each in (("at", joint.xyz), ("rpy", within_a_turn(joint.rpy))) if any(each)}
    if joint.type not in ("fixed", "floating"):
        data["axis"] = joint.axis
    data |= {key: each for key, each in (("damping", joint.damping), ("coulomb", joint.friction)) if each}
    if joint.limit is not None and joint.type in ("revolute", "prismatic"):
        data |= joint.limit.stops
    data |= joint.extension
    name = names.links[joint.child]
    body = _body(urdf.links[joint.child].inertial, strict)
    if name != names.joints[joint.name]:
        body = {"name": name, **body}
    return data | ({"body": body} if body else {})


def _body(inertial: Inertial | None, strict: bool) -> Data:
    if inertial is None:
        return {}
    data: Data = {}
    if inertial.mass:
        data["mass"] = inertial.mass
    if any(inertial.xyz):
        data["center_of_mass"] = inertial.xyz
    xx, xy, xz, yy, yz, zz = inertial.in_link
    moments = {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz}
    inertia: Data = {name: number for name, number in moments.items() if number}
    if not strict and inertia_problem(**moments):
        inertia["as_given"] = True
    return data | ({"inertia": inertia} if inertia else {})


def places(urdf: Urdf, names: Names) -> Mapping[Path, Part]:
    """The element that a key of the Robot comes from, for messages."""
    found: dict[Path, Part] = {(): urdf.part}
    bodies: dict[Path, Part] = {("body",): urdf.links[names.root].part}
    for name, joint in urdf.joints.items():
        path: Path = ("joints", names.joints[name])
        found[path] = joint.part
        found |= {(*path, field): joint.part.near(tag) for field, tag in _JOINT_TAGS.items()}
        bodies[*path, "body"] = urdf.links[joint.child].part
        if joint.mimic is not None:
            found["couplings", names.mimics[name]] = joint.part.near("mimic")
    for path, link in bodies.items():
        inertial = link.near("inertial")
        found |= {path: link} | {(*path, field): inertial.near(tag) for field, tag in _BODY_TAGS.items()}
    return found
