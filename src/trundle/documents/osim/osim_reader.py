"""Reading OpenSim's models: text to a checked Robot, every error with the file's own line and names.

Each coordinate becomes a joint about or along one axis that is called as the coordinate, so that OpenSim's tables of
motions fit; bodies between them have no mass. A body's frame is its joint's frame on it, as in any description: that
of the file where the joint is at the body's origin.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath

from pydantic import ValidationError

from trundle.documents.document import Document, read_text
from trundle.documents.osim.osim_elements import (
    GROUND,
    WHOLE,
    OsimAxis,
    OsimJoint,
    OsimModel,
    OsimNode,
    axes_of,
    read_model,
)
from trundle.documents.urdf.elements import moments_in
from trundle.documents.urdf.to_robot import clean, free_name, on_trust
from trundle.documents.urdf.xml_tree import read_xml
from trundle.files import path_of
from trundle.robot.bodies import MOMENTS
from trundle.robot.checks import dynamic_problems
from trundle.robot.description import Robot, check_base
from trundle.robot.noun import RESERVED
from trundle.robot.problems import CircleError, Path, in_order, problems_of, report
from trundle.scalars import cos, sin
from trundle.spatial.motions import IDENTITY_POSE, Pose, compose, inverse, transform_point
from trundle.spatial.vectors import IDENTITY, ZERO, Matrix, axis_rotation, scale

# Models of a whole body with their muscles have 3 MB.
MOST_BYTES = 20_000_000
# Entries of a rotation that are only rounding become exact zeros again.
_ROUNDING = 1e-15

OsimData = dict[str, object]


def load_osim(path: str | FilePath) -> Robot:
    """The robot of an OpenSim model's bodies and joints; see `trundle.load`.

    Read are PinJoint, SliderJoint, WeldJoint, UniversalJoint, GimbalJoint, PlanarJoint, BallJoint, FreeJoint, and
    CustomJoint whose axes follow one coordinate each in a straight line of slope 1 or -1. What else a model has
    (muscles, constraints) is left out, and a warning names it.

    Parameters
    ----------
    path : str or pathlib.Path
        The file, of OpenSim 3 or 4.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        Where the file can't be read or holds a joint that isn't: with file, line and joint.
    """
    return load_document(path).robot


def load_document(path: str | FilePath, *, base: str | None = None) -> Document:
    """The same as a Document, whose lines are the file's."""
    return parse_document(read_text(path_of(path, "load_osim"), MOST_BYTES), path, base=base)


def osim_markers(path: str | FilePath) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """The markers of an OpenSim model: by name the body, and the place in the frame that it has in the Robot (m).

    Parameters
    ----------
    path : str or pathlib.Path
        The file.

    Returns
    -------
    dict of str to (str, tuple of 3 floats)

    Raises
    ------
    InputError
        Where the file can't be read, or a marker is on no body.
    """
    file = path_of(path, "osim_markers")
    model = read_model(read_xml(read_text(file, MOST_BYTES), str(file))[0], str(file))
    child_frames = {joint.child.body: joint.child.pose for joint in model.joints}
    names = _body_names(model)
    markers: dict[str, tuple[str, tuple[float, float, float]]] = {}
    holder = model.node.child("MarkerSet", "objects")
    for node in [] if holder is None else holder.children():
        node = OsimNode(node.element, node.file, f"marker {node.name!r}")
        frame = model.frame_of(node.text("socket_parent_frame") or node.text("body"), node, node)
        in_joint = compose(inverse(child_frames.get(frame.body, IDENTITY_POSE)), frame.pose)
        x, y, z = transform_point(in_joint, node.vector("location"))
        markers[node.name] = (names[frame.body], (float(x), float(y), float(z)))
    return markers


def parse_document(text: str, path: str | FilePath | None = None, *, base: str | None = None) -> Document:
    """The robot of an OpenSim text; `path` is for messages only."""
    file = None if path is None else str(path)
    model = read_model(read_xml(text, file)[0], file)
    _check_tree(model)
    lines: dict[Path, int] = {("robot",): model.node.element.line}
    data = _robot(model, lines)
    if base is not None:
        check_base(base, wheeled=False)
        data["base"] = base
    inner = {key[1:]: line for key, line in lines.items()}
    try:
        robot = Robot.model_validate(data)
    except ValidationError as error:
        raise report(problems_of(error), file=file, lines=inner) from None
    if problems := dynamic_problems(robot):
        raise report(problems, file=file, lines=inner)
    for note in _notes(model, robot):
        warnings.warn(f"{file}: {note}" if file else note, stacklevel=3)
    return Document(robot, None, None if path is None else FilePath(path), text, lines)


def _check_tree(model: OsimModel) -> None:
    """Raise where a body has no joint or two, or bodies carry each other in a circle."""
    carried: dict[str, OsimJoint] = {}
    for joint in model.joints:
        if joint.child.body in carried or joint.child.body == GROUND:
            on = (
                "the ground"
                if joint.child.body == GROUND
                else f"{joint.child.body!r}, which has a joint already"
            )
            raise joint.node.fail(f"its child is {on}", "a body has one joint; loops aren't read")
        carried[joint.child.body] = joint
    for name, body in model.bodies.items():
        if name not in carried:
            raise body.fail("no joint carries it", f"write a FreeJoint between {GROUND} and it if it is free")
    try:
        in_order(
            {name: [joint.parent.body] for name, joint in carried.items() if joint.parent.body != GROUND}
        )
    except CircleError as error:
        raise carried[error.circle[0]].node.fail(f"bodies carry each other in a circle: {error}") from None


def _body_names(model: OsimModel) -> dict[str, str]:
    """Names that descriptions can use, by the bodies' names in the file; numbers keep them apart."""
    taken = set(RESERVED)
    return {GROUND: "base"} | {name: free_name(clean(name), taken) for name in model.bodies}


def _robot(model: OsimModel, lines: dict[Path, int]) -> OsimData:
    """A Robot's plain data; the line of each joint goes into `lines`."""
    names = _body_names(model)
    poses = {joint.child.body: joint.child.pose for joint in model.joints}
    joints: dict[str, object] = {}
    for joint in model.joints:
        parent = compose(inverse(poses.get(joint.parent.body, IDENTITY_POSE)), joint.parent.pose)
        body = {"name": names[joint.child.body], **_body(model.bodies[joint.child.body], joint.child.pose)}
        for name, data in _joints(joint, parent, names[joint.parent.body], body):
            called = clean(name)
            if called in joints:
                raise joint.node.fail(
                    f"the name {called!r} is taken already", "names of coordinates must differ"
                )
            joints[called] = data
            lines["robot", "joints", called] = joint.node.element.line
    gravity = model.node.vector("gravity", (0.0, -9.80665, 0.0))
    return {"name": clean(model.node.name) or "model", "base": "fixed", "gravity": gravity, "joints": joints}


def _joints(joint: OsimJoint, pose: Pose, parent: str, body: OsimData) -> Iterator[tuple[str, OsimData]]:
    """A joint as joints of one axis each, the last with the body; `pose` is that of its frame in the parent."""
    if joint.kind in WHOLE:
        yield joint.name, {"type": WHOLE[joint.kind], "parent": parent, **_placed(pose), "body": body}
        return
    steps: list[tuple[str, OsimData]] = []
    for axis in axes_of(joint):
        if axis.offset:
            pose = compose(pose, _held(axis))
        if axis.coordinate:
            kind, direction = "revolute" if axis.turns else "prismatic", scale(axis.slope, axis.direction)
            data = {"type": kind, "parent": parent, **_placed(pose), "axis": direction, **_limits(axis)}
            steps.append((axis.coordinate, data))
            parent, pose = clean(axis.coordinate), IDENTITY_POSE
    if not steps or pose != IDENTITY_POSE:  # held still behind all that moves
        steps.append((joint.name, {"type": "fixed", "parent": parent, **_placed(pose)}))
    *before, (name, last) = steps
    yield from before
    yield name, {**last, "body": body}


def _held(axis: OsimAxis) -> Pose:
    """The pose that an axis's offset makes."""
    length = math.hypot(*axis.direction)
    unit = scale(1 / length, axis.direction)
    if axis.turns:
        return Pose(axis_rotation(unit, cos(axis.offset), sin(axis.offset)), ZERO)
    return Pose(IDENTITY, scale(axis.offset, unit))


def _limits(axis: OsimAxis) -> OsimData:
    return {} if axis.limits is None else {"lower": axis.limits[0], "upper": axis.limits[1]}


def _placed(pose: Pose) -> OsimData:
    """`at` and `rpy` of a pose, without zeros: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    r = pose.rotation
    level = math.hypot(r[0][0], r[1][0])
    pitch = math.atan2(-r[2][0], level)
    if level > _ROUNDING:
        roll, yaw = math.atan2(r[2][1], r[2][2]), math.atan2(r[1][0], r[0][0])
    else:  # straight up or down: roll and yaw turn about the same axis
        roll, yaw = 0.0, math.atan2(-r[0][1], r[1][1])
    angles = tuple(0.0 if abs(angle) < _ROUNDING else angle for angle in (roll, pitch, yaw))
    given: OsimData = {"at": tuple(map(float, pose.position))} if any(pose.position) else {}
    return given | ({"rpy": angles} if any(angles) else {})


def _body(node: OsimNode, joint: Pose) -> OsimData:
    """Mass, centre and inertia in the frame that the body's joint has on it."""
    (mass,) = node.numbers("mass", 1)
    if mass < 0:
        raise node.fail(f"a mass must not be negative, got {mass:g}")
    if not mass:
        return {}
    back = inverse(joint)
    center = transform_point(back, node.vector("mass_center", ZERO))
    moments = _moments(node, back.rotation)
    return {"mass": mass, "center_of_mass": tuple(map(float, center)), "inertia": moments}


def _moments(node: OsimNode, rotation: Matrix) -> OsimData:
    """Moments about the centre of mass: one element of six numbers in version 4, six elements in version 3."""
    if node.child("inertia") is not None:
        six = node.numbers("inertia", 6)
    else:
        six = tuple(node.numbers(f"inertia_{name}", 1, (0.0,))[0] for name in MOMENTS)
    moments: OsimData = {**moments_in(rotation, six)}
    return moments | ({"as_given": True} if on_trust({"inertia": moments}) else {})


def _notes(model: OsimModel, robot: Robot) -> Iterator[str]:
    """What a model has and a Robot hasn't."""
    left: Mapping[str, int] = {
        what: len(holder.children())
        for tag, what in (("ConstraintSet", "constraints"), ("ForceSet", "forces"))
        if (holder := model.node.child(tag, "objects")) is not None and holder.children()
    }
    if left:
        listed = " and ".join(f"{count} {what}" for what, count in left.items())
        yield f"the model's {listed} are left out: what they held or pulled moves freely"
    bodies = [joint.body for joint in robot.joints.values()]
    trusted = [str(body.name) for body in bodies if body.inertia.as_given]
    if trusted:
        yield f"no rigid body has the moments of inertia of {', '.join(trusted[:4])}; they are taken as they stand"
