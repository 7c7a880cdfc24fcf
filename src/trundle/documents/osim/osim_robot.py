"""An OpenSim model as a Robot's plain data.

Each coordinate becomes a joint about or along one axis that is called as the coordinate, so that OpenSim's tables of
motions fit. Axes that move by a function of a coordinate become joints that follow it, by cams (curves) and gears
(straight lines). A coordinate that is no axis by itself becomes a hinge beside the joint that carries nothing. Bodies
between joints have no mass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from trundle.documents.osim.osim_axes import OsimAxis, axes_of, coordinates_of, range_of, whole_type
from trundle.documents.osim.osim_constraints import OsimConstraints, OsimWeld, constraints_of
from trundle.documents.osim.osim_elements import GROUND, OsimJoint, OsimModel, OsimNode
from trundle.documents.osim.osim_functions import OsimFunction
from trundle.documents.urdf.elements import moments_in
from trundle.documents.urdf.to_robot import clean, free_name, on_trust
from trundle.robot.bodies import MOMENTS
from trundle.robot.component import RESERVED
from trundle.robot.problems import Path
from trundle.scalars import cos, sin
from trundle.spatial.motions import IDENTITY_POSE, Pose, compose, inverse, transform_point
from trundle.spatial.vectors import IDENTITY, ZERO, Matrix, axis_rotation, scale

# Entries of a rotation that are only rounding become exact zeros again.
_ROUNDING = 1e-15

OsimData = dict[str, object]


def body_names(model: OsimModel) -> dict[str, str]:
    """Names that descriptions can use, by the bodies' names in the file; numbers keep them apart."""
    taken = set(RESERVED)
    return {GROUND: "base"} | {name: free_name(clean(name), taken) for name in model.bodies}


def child_poses(model: OsimModel) -> dict[str, Pose]:
    """Where a body's joint is in the body's own frame, by the body: a Robot's bodies have their frames there."""
    return {joint.child.body: joint.child.pose for joint in model.joints}


def robot_data(model: OsimModel, lines: dict[Path, int]) -> OsimData:
    """A Robot's plain data; the line of each joint, coupling and loop goes into `lines`."""
    constraints, parts = constraints_of(model), _Parts(body_names(model), child_poses(model), lines)
    parts.taken |= {*RESERVED, *parts.bodies.values()}
    parts.taken |= {clean(node.name) for joint in model.joints for node in coordinates_of(joint)}
    for joint in model.joints:
        _add_joint(parts, joint, _body(model.bodies[joint.child.body], joint.child.pose), constraints)
    for coupler in constraints.couplers:
        parts.follow(coupler.node, clean(coupler.dependent), coupler.function, clean(coupler.node.name))
    for weld in constraints.welds:
        _add_weld(parts, model, weld, constraints)
    name = clean(model.node.name) if model.node.name else "model"
    gravity = model.node.vector("gravity", (0.0, -9.80665, 0.0))
    families: OsimData = {"joints": parts.joints, "couplings": parts.couplings, "loops": parts.loops}
    there = {family: members for family, members in families.items() if members}
    return {"name": name, "base": "fixed", "gravity": gravity, **there}


@dataclass
class _Parts:
    """What is collected: joints, couplings and loops by name; only `robot_data` sees it."""

    bodies: Mapping[str, str]
    frames: Mapping[str, Pose]
    lines: dict[Path, int]
    joints: OsimData = field(default_factory=dict)
    couplings: OsimData = field(default_factory=dict)
    loops: OsimData = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def in_body(self, body: str, pose: Pose) -> Pose:
        """A pose in a body's own frame, in the frame that the Robot's body has."""
        return compose(inverse(self.frames.get(body, IDENTITY_POSE)), pose)

    def add(self, node: OsimNode, name: str, data: OsimData) -> str:
        """A joint: its name."""
        if name in self.joints:
            raise node.fail(f"the name {name!r} is taken already", "names of coordinates must differ")
        self.joints[name] = data
        self.lines["robot", "joints", name] = node.element.line
        return name

    def follow(self, node: OsimNode, joint: str, function: OsimFunction, wished: str) -> None:
        """A coupling by which a joint follows coordinates."""
        leaders = [clean(name) for name in function.coordinates]
        if function.curve is not None:
            data: OsimData = {"type": "cam", "joint": joint, "follows": leaders[0], "curve": function.curve}
        else:
            follows = dict(zip(leaders, function.slopes, strict=True))
            data = {"type": "gear", "joint": joint, "follows": follows}
            data |= {"offset": function.offset} if function.offset else {}
        name = free_name(wished, self.taken)
        self.couplings[name] = data
        self.lines["robot", "couplings", name] = node.element.line


def _add_joint(parts: _Parts, joint: OsimJoint, body: OsimData, constraints: OsimConstraints) -> None:
    """A joint as joints of one axis each, the last with the body."""
    parent, pose = parts.bodies[joint.parent.body], parts.in_body(joint.parent.body, joint.parent.pose)
    body = {"name": parts.bodies[joint.child.body], **body}
    if whole := whole_type(joint, constraints.single):
        data = {"type": whole, "parent": parent, **_placed(pose), "body": body}
        parts.add(joint.node, clean(joint.name), data)
        return
    axes = axes_of(joint, constraints.held)
    carriers = {axis.carries: axis for axis in axes if axis.carries}  # the last: a turn before a slide
    for node in _alone(joint, axes, carriers, constraints):
        data = {"type": "revolute", "parent": parent, **_placed(pose), **range_of(node)}
        parts.add(joint.node, clean(node.name), data)
    steps = list(_steps(parts, joint, axes, carriers, parent, pose))
    steps[-1][1]["body"] = body
    for name, data in steps:
        parts.add(joint.node, name, data)


def _alone(
    joint: OsimJoint, axes: list[OsimAxis], carriers: Mapping[str, OsimAxis], constraints: OsimConstraints
) -> Iterator[OsimNode]:
    """The joint's coordinates that axes or other coordinates follow, or that follow others, but that are no axis."""
    used = {name for axis in axes for name in axis.function.coordinates} | constraints.single
    for node in coordinates_of(joint):
        if node.name in used and node.name not in carriers and node.name not in constraints.held:
            yield node


def _steps(
    parts: _Parts,
    joint: OsimJoint,
    axes: list[OsimAxis],
    carriers: Mapping[str, OsimAxis],
    parent: str,
    pose: Pose,
) -> Iterator[tuple[str, OsimData]]:
    """The joints of one axis each, from a frame `pose` in the parent on; what is held still moves the next one."""
    nodes = {node.name: node for node in coordinates_of(joint)}
    moved = False
    for axis in axes:
        function, direction = axis.function, axis.direction
        own = carriers.get(axis.carries) is axis
        if function.offset and (own or function.still):
            pose = compose(pose, _offset_pose(axis))
        if function.still:
            continue
        data: OsimData = {
            "type": "revolute" if axis.turns else "prismatic",
            "parent": parent,
            **_placed(pose),
        }
        if own:
            name = clean(axis.carries)
            data["axis"] = scale(function.slopes[0], direction)
            data |= range_of(nodes[axis.carries])
        else:
            name = free_name(clean(f"{joint.name}_{axis.name}"), parts.taken)
            data["axis"] = direction
            parts.follow(joint.node, name, function, f"{name}_curve")
        yield name, data
        parent, pose, moved = name, IDENTITY_POSE, True
    if not moved or pose != IDENTITY_POSE:  # held still behind all that moves
        yield clean(joint.name), {"type": "fixed", "parent": parent, **_placed(pose)}


def _offset_pose(axis: OsimAxis) -> Pose:
    """The pose that an axis's offset makes."""
    offset = axis.function.offset
    unit = scale(1 / math.hypot(*axis.direction), axis.direction)
    if axis.turns:
        return Pose(axis_rotation(unit, cos(offset), sin(offset)), ZERO)
    return Pose(IDENTITY, scale(offset, unit))


def _add_weld(parts: _Parts, model: OsimModel, weld: OsimWeld, constraints: OsimConstraints) -> None:
    """A weld as a loop, unless nothing between its bodies can move."""
    if _rigid(model, weld.first.body, constraints) == _rigid(model, weld.second.body, constraints):
        return
    ends = {
        key: {"body": parts.bodies[end.body], **_placed(parts.in_body(end.body, end.pose))}
        for key, end in (("first", weld.first), ("second", weld.second))
    }
    name = free_name(clean(weld.node.name), parts.taken)
    parts.loops[name] = {"type": "fixed", **ends}
    parts.lines["robot", "loops", name] = weld.node.element.line


def _rigid(model: OsimModel, body: str, constraints: OsimConstraints) -> str:
    """The body nearest to the ground that another one is fixed on."""
    carried = {joint.child.body: joint for joint in model.joints}
    while body in carried:
        joint = carried[body]
        moves = whole_type(joint, constraints.single)
        if moves or any(not axis.function.still for axis in axes_of(joint, constraints.held)):
            break
        body = joint.parent.body
    return body


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
