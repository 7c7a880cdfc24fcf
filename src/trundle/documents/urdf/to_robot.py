"""From the links and joints of a URDF file to the plain data of a Robot, and where each piece stands in the file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trundle.documents.urdf.nouns import NOUNS, Urdf, UrdfData, UrdfJoint, UrdfLink
from trundle.documents.urdf.part import Part
from trundle.documents.urdf.tree_structure import UrdfNames, clean
from trundle.robot.bodies import MOMENTS
from trundle.robot.checks import inertia_problem
from trundle.robot.problems import Path

_TITLE = re.compile(r"\w[\w .+-]{0,79}")
# The element that says a field of a joint, or of the body of a link.
_JOINT_TAGS = {"at": "origin", "rpy": "origin", "axis": "axis", "damping": "dynamics"}
_BODY_TAGS = {"mass": "mass", "center_of_mass": "origin", "inertia": "inertia"}


def _robot_name(written: str) -> str:
    """A robot's name that titles and files can carry."""
    return written if _TITLE.fullmatch(written) else clean(written).lstrip("_") or "robot"


def robot_data(urdf: Urdf, names: UrdfNames, base: str, strict: bool) -> UrdfData:
    """A Robot's plain data. Unless `strict`, moments that no rigid body has are marked as taken on trust."""
    data: dict[str, object] = {"name": _robot_name(urdf.name), "base": base}
    if urdf.gravity is not None:
        data["gravity"] = urdf.gravity
    root_name = names.links[names.root]
    body = _body(urdf.links[names.root], strict)
    if body or root_name != "base":
        data["body"] = body if root_name == "base" else {"name": root_name, **body}
    joints = urdf.joints.items()
    data["joints"] = {names.joints[name]: _joint(urdf, joint, names, strict) for name, joint in joints}
    couplings = {names.mimics[name]: _gear(joint, names) for name, joint in joints if joint.mimic}
    return data | ({"couplings": couplings} if couplings else {})


def _gear(joint: UrdfJoint, names: UrdfNames) -> UrdfData:
    assert joint.mimic is not None
    follows = {names.joints[joint.mimic.joint]: joint.mimic.multiplier}
    data = {"type": "gear", "joint": names.joints[joint.name], "follows": follows}
    return data | ({"offset": joint.mimic.offset} if joint.mimic.offset else {})


def _joint(urdf: Urdf, joint: UrdfJoint, names: UrdfNames, strict: bool) -> UrdfData:
    parent = "base" if joint.parent == names.root else names.links[joint.parent]
    data = {"type": NOUNS[joint.type], "parent": parent, **joint.data}
    name = names.links[joint.child]
    body = _body(urdf.links[joint.child], strict)
    if name != names.joints[joint.name]:
        body = {"name": name, **body}
    return data | ({"body": body} if body else {})


def _body(link: UrdfLink, strict: bool) -> UrdfData:
    inertia = link.body.get("inertia")
    if strict or not (isinstance(inertia, dict) and on_trust(link.body)):
        return link.body
    return {**link.body, "inertia": {**inertia, "as_given": True}}


def on_trust(body: UrdfData) -> bool:
    """Whether no rigid body has a link's moments of inertia."""
    inertia = body.get("inertia")
    return isinstance(inertia, dict) and bool(inertia_problem(**dict.fromkeys(MOMENTS, 0.0) | inertia))


def places(urdf: Urdf, names: UrdfNames) -> Mapping[Path, Part]:
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
