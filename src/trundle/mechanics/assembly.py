"""From the description's components to what the algorithms walk: links' tree, wheels, couplings, actuators, elements.

Generic in the scalar: `read` turns a described value into a scalar (a number, a batch, a symbol of a program).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator, Element, SoftStop, Supply
from trundle.mechanics.coupling import ActionAxis, Cam, Gear, Linkage, TieSpring, Transmission, in_order
from trundle.mechanics.frames import world_poses
from trundle.mechanics.joints import KINDS, check_joint, plane_axes
from trundle.mechanics.loop_joints import HELD, End, LoopJoint
from trundle.mechanics.quantities import Quantities, Quantity, angle, turning
from trundle.mechanics.tree import NO_INERTIA, WORLD, Link, Tree
from trundle.mechanics.wheels import WheelModel, centre_of, directions_of
from trundle.robot.bodies import (
    MOMENTS,
    Body,
    DirectedJoint,
    Joint,
    ScrewJoint,
    Sliding,
    SphericalJoint,
    Turning,
    TwoAxisJoint,
    drive_axes,
)
from trundle.robot.couplings import (
    AckermannCoupling,
    CamCoupling,
    ElasticCoupling,
    GearCoupling,
    cams,
    elastic,
    gears,
    linkages,
)
from trundle.robot.kinds import Read, ask
from trundle.robot.loops import DirectedLoop, JointLoop, RodLoop, Side
from trundle.robot.loops import Loop as ClosingJoint
from trundle.robot.motor import Motor, optional
from trundle.robot.mounts import Shaft, shafts, stance
from trundle.robot.parameters import Resolver
from trundle.robot.parts import Parts
from trundle.robot.structure import has_heights
from trundle.robot.values import ValueVector
from trundle.robot.wheels import PivotedWheel, RollingWheel
from trundle.scalars import Scalar, cos, is_zero, sin
from trundle.spatial.motions import IDENTITY_POSE, Inertia, Pose, compose, inertia_about_origin
from trundle.spatial.vectors import IDENTITY, ZERO, Vector, add, euler_rotation, principal_rotation, transpose


def gravity_of(robot: Parts, read: Read) -> Vector:
    """Gravity in the world frame (m/s²)."""
    gravity = robot.gravity
    if isinstance(gravity, tuple):
        return (read(gravity[0]), read(gravity[1]), read(gravity[2]))
    down = read(gravity)
    return (0, 0, 0 if is_zero(down) else -down)


def vector(values: ValueVector, read: Read) -> Vector:
    """Three values."""
    return (read(values[0]), read(values[1]), read(values[2]))


def inertia_of(body: Body | None, read: Read) -> Inertia:
    """A body's mass, first moment and inertia about its frame's origin."""
    if body is None:
        return NO_INERTIA
    xx, yy, zz, xy, xz, yz = (read(getattr(body.inertia, name)) for name in MOMENTS)
    about_center = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return inertia_about_origin(read(body.mass), vector(body.center_of_mass, read), about_center)


def element_of(column: int, component: Turning | Sliding, read: Read) -> Element:
    """Springs, friction and stops as one axis of a joint has them; limits without a stiffness stop nothing."""
    stops: list[SoftStop] = []
    stiffness = read(component.limit_stiffness)
    if not is_zero(stiffness):
        damping, width = read(component.limit_damping), read(component.limit_width)
        limits = ((component.lower, -1), (component.upper, 1))
        stops = [SoftStop(read(at), side, stiffness, damping, width) for at, side in limits if at is not None]
    own = ("stiffness", "rest", "damping", "coulomb", "coulomb_speed")
    return Element(column, *(read(getattr(component, key)) for key in own), stops=tuple(stops))


def unit_axis(axis: ValueVector) -> Vector:
    """The axis as a constant unit vector: directions are structure, not parameters, so that zeros stay zero."""
    x, y, z = (value.number for value in axis)
    length = (x * x + y * y + z * z) ** 0.5
    return tuple(int(c) if c in (-1.0, 0.0, 1.0) else c for c in (x / length, y / length, z / length))  # type: ignore[return-value]


def wheel_inertia(wheel: RollingWheel, read: Read) -> Inertia:
    """A wheel's mass and moments about its centre."""
    axle, diameter = wheel.moments(read)
    return Inertia(read(wheel.mass), ZERO, ((diameter, 0, 0), (0, axle, 0), (0, 0, diameter)))


# Pivots of wheels turn about z; wheels spin about y, as x is their heading.
UP: Vector = (0, 0, 1)
AXLE: Vector = (0, 1, 0)


@dataclass(frozen=True)
class Assembly:
    """Everything that the equations are made of.

    `coordinates` and `speeds` name the tree's q and ν, then the linkages' coordinates and rates, and `quantities` says
    what each of them is; `axes` maps what a motor can drive to its column and coordinate. `couplings` stand so that
    they come after what they follow. `heights` says whether the description tells how high its masses are.
    """

    tree: Tree
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    quantities: Quantities
    wheels: tuple[WheelModel, ...]
    couplings: tuple[Transmission, ...]
    actuators: tuple[Actuator, ...]
    elements: tuple[Element, ...]
    axes: Mapping[str, ActionAxis]
    base_columns: tuple[int, ...]
    links: Mapping[str, int] = field(default_factory=dict)
    loops: tuple[LoopJoint, ...] = ()
    supplies: tuple[Supply, ...] = ()
    heights: bool = False
    springs: tuple[TieSpring, ...] = ()

    @property
    def linkages(self) -> list[Linkage]:
        """The couplings with a coordinate of their own, in the order of those coordinates."""
        linkages = [coupling for coupling in self.couplings if isinstance(coupling, Linkage)]
        return sorted(linkages, key=lambda linkage: linkage.column)

    @property
    def own_states(self) -> tuple[Quantity, ...]:
        """The states that motors, contacts and batteries bring along: a winding's current, say."""
        parts = (*self.actuators, *self.wheels, *self.supplies)
        return tuple(state for part in parts for state in part.states.values())


@dataclass
class _Draft:
    """Links and names as they are collected; only `assemble` sees it. `shafts` are those of motors and of wheels'
    bearings, `armatures` the rotors' inertias (kg m²) by what they turn with, `gears` what makes the shafts turn.
    """

    read: Read
    number: Read
    shafts: Mapping[str, Shaft]
    armatures: Mapping[str, Scalar]
    gears: list[Gear] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    coordinates: list[Quantity] = field(default_factory=list)
    speeds: list[Quantity] = field(default_factory=list)
    axes: dict[str, ActionAxis] = field(default_factory=dict)
    elements: list[Element] = field(default_factory=list)
    indices: dict[str, int] = field(default_factory=dict)

    def add(self, link: Link, coordinates: Iterable[Quantity], speeds: Iterable[Quantity]) -> int:
        self.links.append(link)
        self.coordinates.extend(coordinates)
        self.speeds.extend(speeds)
        return len(self.links) - 1

    def add_hinge(self, link: Link, drives: str, coordinate: str, rate: str, owner: str) -> tuple[int, int]:
        """Add a link that turns by one angle, which motors drive as `drives`: its index and its rate's column."""
        column = len(self.speeds)
        self.axes[drives] = ActionAxis(column, f"{owner}.{coordinate}")
        speeds = (turning(rate, coordinate).of(owner),)
        return self.add(link, (angle(coordinate).of(owner),), speeds), column

    def shaft(self, part: str, driven: str) -> ActionAxis:
        """What a motor or a bearing acts on: its shaft, or the driven itself where this turns against its mount.

        A shaft is a link without mass that follows what it lies between as a gear does: so torque, friction and rotor
        reach all of that by the gear's ratios.
        """
        shaft = self.shafts.get(part)
        if shaft is None:
            return self.axes[driven]
        if shaft.name in self.indices:
            message = f"the name {shaft.name!r} is that of what turns between {driven!r} and {shaft.mount!r}"
            raise InputError(message, key="robot", hint="call the joint or wheel of this name something else")
        if shaft.name not in self.axes:
            armature = self.armatures.get(shaft.name, 0)
            link = Link(shaft.name, self.indices[shaft.mount], "spin", AXLE, armature=armature)
            self.add_hinge(link, shaft.name, "angle", "rate", shaft.name)
            leaders = (self.axes[driven], *(self.axes[joint] for joint in shaft.signs))
            self.gears.append(Gear(shaft.name, self.axes[shaft.name], leaders, (1, *shaft.signs.values())))
        return self.axes[shaft.name]


def assemble(robot: Parts, read: Read) -> Assembly:
    """The assembly of a described robot, its values read by `read`."""
    # which links a motor acts on is structure, decided on the robot's own numbers
    number = Resolver(robot, robot.own_numbers)
    turned = shafts(robot, number)
    draft = _Draft(read, number, turned, _armatures(robot, turned, read))
    _add_base(draft, robot)
    for name in _in_order(robot.joints):
        _add_joint(draft, name, robot.joints[name])
    for name, loop in robot.loops.items():
        if isinstance(loop, JointLoop):
            _add_joint(draft, name, loop.hung)
    wheels = {name: _add_wheel(draft, name, robot) for name in robot.wheels}
    for name, shaft in turned.items():
        draft.shaft(name, shaft.driven)
    tree = Tree(tuple(draft.links), gravity_of(robot, read))
    couplings: list[Transmission] = [
        _add_linkage(draft, name, component, wheels) for name, component in linkages(robot.couplings).items()
    ]
    couplings += [_gear(draft, name, component) for name, component in gears(robot.couplings).items()]
    couplings += [_cam(draft, name, component) for name, component in cams(robot.couplings).items()]
    couplings += draft.gears
    return Assembly(
        tree,
        tuple(coordinate.name for coordinate in draft.coordinates),
        tuple(speed.name for speed in draft.speeds),
        Quantities.gather(draft.coordinates, draft.speeds),
        tuple(wheels.values()),
        in_order(couplings),
        tuple(
            _actuator(name, motor, draft.axes[motor.drives], draft.shaft(name, motor.drives), read)
            for name, motor in robot.motors.items()
        ),
        tuple(element for element in draft.elements if not element.idle),
        draft.axes,
        tuple(range(len(draft.links[0].joint.speeds))),
        draft.indices,
        tuple(_loop(draft, name, component) for name, component in robot.loops.items()),
        tuple(Supply(name, robot.batteries[name], motors, read) for name, motors in robot.fed.items()),
        bool(wheels) and has_heights(robot),
        tuple(_spring(draft, name, component) for name, component in elastic(robot.couplings).items()),
    )


def _add_base(draft: _Draft, robot: Parts) -> None:
    link = Link("base", WORLD, robot.base, UP, IDENTITY_POSE, inertia_of(robot.body, draft.read))
    draft.indices["base"] = draft.add(link, link.joint.coordinates, link.joint.speeds)
    if robot.body is not None and robot.body.name:
        draft.indices[robot.body.name] = 0


def _in_order(joints: Mapping[str, Joint]) -> list[str]:
    """Joints by how far they are from the base, so that they come after those they hang on (the description has been
    checked for cycles).
    """
    owner = {j.body.name: name for name, j in joints.items() if j.body.name}
    parent = {n: owner[j.parent] if j.parent in owner else str(j.parent) for n, j in joints.items()}
    depth: dict[str, int] = {}
    for name in TopologicalSorter({name: {carrier} for name, carrier in parent.items()}).static_order():
        depth[name] = depth[parent[name]] + 1 if name in parent else 0
    return sorted(joints, key=depth.__getitem__)


def _add_joint(draft: _Draft, name: str, joint: Joint) -> None:
    """A joint with the body on it: their link, the joint's coordinates and speeds, and what resists along its axes."""
    read = draft.read
    placement = Pose(euler_rotation(*vector(joint.rpy, read)), vector(joint.at, read))
    driven = drive_axes(joint)
    rotors: list[Scalar] = [0] * len(joint.speeds)
    for ending, (axis, component) in driven.items():
        rotors[axis.place] = read(component.armature) + draft.armatures.get(name + ending, 0)
    kind = check_joint(type(joint), joint.formulas or KINDS.get(joint.type))
    link = Link(
        name,
        draft.indices[joint.parent],
        kind if joint.formulas else joint.type,
        unit_axis(joint.axis) if isinstance(joint, DirectedJoint) else UP,
        placement,
        inertia_of(joint.body, read),
        tuple(rotors),
        unit_axis(joint.axis2) if isinstance(joint, TwoAxisJoint) else AXLE,
        read(joint.pitch) if isinstance(joint, ScrewJoint) else 0,
    )
    column = len(draft.speeds)
    index = draft.add(link, (c.of(name) for c in kind.coordinates), (s.of(name) for s in kind.speeds))
    draft.indices[name] = index
    if joint.body.name:
        draft.indices[joint.body.name] = index
    for ending, (axis, component) in driven.items():
        slides = kind.speeds[axis.place].slides
        draft.axes[name + ending] = ActionAxis(column + axis.place, f"{name}.{axis.coordinate}", slides)
        draft.elements.append(element_of(column + axis.place, component, read))
    if isinstance(joint, SphericalJoint):
        for place in range(len(kind.speeds)):
            draft.elements.append(Element(column + place, damping=read(joint.damping)))


def _add_wheel(draft: _Draft, name: str, robot: Parts) -> WheelModel:
    """The wheel's links (a fork that steers, then the spinning wheel) and its model; a ball has a contact only."""
    read, wheel = draft.read, robot.wheels[name]
    stand, steps = stance(robot, wheel, draft.number)
    parent = draft.indices[stand]
    mounted, on_base = _mount(draft, parent)
    placement = Pose(IDENTITY, vector(steps[0], read))
    for step in steps[1:]:
        placement = Pose(IDENTITY, add(vector(step, read), placement.position))
    spin = steering = load = None
    offset: tuple[Scalar, Scalar] = (0, 0)
    if isinstance(wheel, RollingWheel):
        heading = read(wheel.heading)
        if not is_zero(heading):
            placement = Pose(principal_rotation(2, cos(heading), sin(heading)), placement.position)
        load = optional(wheel.load, read)
    place = compose(mounted, placement)
    if isinstance(wheel, PivotedWheel):
        parent, steering = _add_fork(draft, name, wheel, placement)
        offset = centre_of(name, wheel, read)
        placement = Pose(IDENTITY, (*offset, 0))
        if (
            not wheel.is_steered
        ):  # a steered wheel's axle passes through its pivot, wherever on it the wheel is
            place = compose(place, placement)
    if isinstance(wheel, RollingWheel):
        draft.indices[name], spin = _add_spin(draft, name, wheel, parent, placement)
    else:
        body = Inertia(read(wheel.mass), ZERO, (ZERO, ZERO, ZERO))
        draft.indices[name] = draft.add(Link(name, parent, "fixed", AXLE, placement, body), (), ())
    return WheelModel(
        name=name,
        component=wheel,
        link=draft.indices[name],
        radius=read(wheel.radius),
        position=(place.position[0], place.position[1]),
        law=wheel.law,
        read=read,
        directions=directions_of(name, wheel, read),
        spin=spin,
        steering=steering,
        load=load,
        on_base=on_base,
        offset=offset,
    )


def _add_fork(draft: _Draft, name: str, wheel: PivotedWheel, placement: Pose) -> tuple[int, int]:
    """What turns a wheel about the vertical: its link's index and its rate's column."""
    read, armature = draft.read, draft.armatures.get(f"{name}.steering", 0)
    body = inertia_of(wheel.fork, read)
    fork = Link(f"{name}.fork", draft.indices[wheel.parent], "revolute", UP, placement, body, armature)
    index, column = draft.add_hinge(fork, f"{name}.steering", "steering", "steering_rate", name)
    draft.elements.append(Element(column, damping=read(wheel.steering_damping)))
    return index, column


def _mount(draft: _Draft, index: int) -> tuple[Pose, bool]:
    """T_base_link with every joint at its zero, and whether nothing between the base and the link can move."""
    pose, rigid = IDENTITY_POSE, True
    while index != 0:
        link = draft.links[index]
        pose, rigid = compose(link.placement, pose), rigid and not link.moves
        index = link.parent
    return pose, rigid


def _add_spin(draft: _Draft, name: str, wheel: RollingWheel, parent: int, placement: Pose) -> tuple[int, int]:
    """The spinning wheel itself: its link's index and its rate's column."""
    read = draft.read
    inertia, armature = wheel_inertia(wheel, read), draft.armatures.get(name, 0)
    link = Link(name, parent, "spin", AXLE, placement, inertia, armature)
    index, spin = draft.add_hinge(link, name, "angle", "rate", name)
    damping, coulomb, width = read(wheel.damping), read(wheel.coulomb), read(wheel.coulomb_speed)
    bearing = draft.shaft(name, name).column
    draft.elements.append(Element(bearing, damping=damping, coulomb=coulomb, coulomb_speed=width))
    return index, spin


def _armatures(robot: Parts, turned: Mapping[str, Shaft], read: Read) -> dict[str, Scalar]:
    """Rotor inertias as felt behind their gears, N² J, by what is driven, or by the shaft between it and a mount."""
    felt: dict[str, Scalar] = {}
    for name, motor in robot.motors.items():
        armature = ask(motor, f"robot.motors.{name}", motor.armature, read)
        if is_zero(armature):
            continue
        place = turned[name].name if name in turned else motor.drives
        try:
            felt[place] = felt.get(place, 0) + armature
        except TypeError:
            message = f"{type(motor).__name__} gives {armature!r} for its armature"
            hint = "expected a number or an expression (kg m^2)"
            raise InputError(message, key=f"robot.motors.{name}", hint=hint) from None
    return felt


def _gear(draft: _Draft, name: str, gear: GearCoupling) -> Gear:
    read = draft.read
    leaders = tuple(draft.axes[leader] for leader in gear.follows)
    ratios = tuple(read(ratio) for ratio in gear.follows.values())
    return Gear(name, draft.axes[gear.joint], leaders, ratios, read(gear.offset))


def _spring(draft: _Draft, name: str, spring: ElasticCoupling) -> TieSpring:
    axes = [draft.axes[spring.joint], *(draft.axes[leader] for leader in spring.follows)]
    shares = [1, *(-draft.read(ratio) for ratio in spring.follows.values())]
    numbers = (draft.read(value) for value in (spring.offset, spring.stiffness, spring.damping))
    return TieSpring(name, tuple(zip(axes, shares, strict=True)), *numbers)


def _cam(draft: _Draft, name: str, cam: CamCoupling) -> Cam:
    return Cam(name, draft.axes[cam.joint], (draft.axes[cam.follows],), cam.curve)


def _add_linkage(
    draft: _Draft, name: str, coupling: AckermannCoupling, wheels: Mapping[str, WheelModel]
) -> Linkage:
    """An Ackermann linkage: its own coordinate and rate behind the tree's."""
    left, right = (wheels[wheel] for wheel in coupling.wheels)
    center = (left.position[1] + right.position[1]) / 2
    # Where both are written alike, the one value: half their sum would be two terms in written equations.
    same = left.component.at[0].source == right.component.at[0].source
    front = left.position[0] if same else (left.position[0] + right.position[0]) / 2
    draft.axes[name] = ActionAxis(len(draft.speeds), f"{name}.angle")
    draft.coordinates.append(angle("angle").of(name))
    draft.speeds.append(turning("rate", "angle").of(name))
    return Linkage(
        name,
        draft.axes[name],
        tuple(draft.axes[f"{wheel}.steering"] for wheel in coupling.wheels),
        (left.position[1] - center, right.position[1] - center),
        front - draft.read(coupling.axle),
        draft.armatures.get(name, 0),
    )


def _loop(draft: _Draft, name: str, loop: ClosingJoint) -> LoopJoint:
    """A closing joint between two links; z of its frames is its axis, so that what is held is whole components.

    One that is a link of its own (see `JointLoop`) is welded to the second end.
    """
    read, indices = draft.read, draft.indices
    axis = unit_axis(loop.axis) if isinstance(loop, DirectedLoop) else UP
    columns = (*plane_axes(axis), axis)
    axes = transpose(columns) if HELD.get(loop.type) else IDENTITY

    def end(side: Side) -> End:
        described = Pose(euler_rotation(*vector(side.rpy, read)), vector(side.at, read))
        return End(indices[side.body], compose(described, Pose(axes, ZERO)))

    if isinstance(loop, JointLoop):
        return LoopJoint(name, "fixed", End(indices[name], IDENTITY_POSE), end(loop.second))
    length = read(loop.length) if isinstance(loop, RodLoop) else 0
    return LoopJoint(name, loop.type, end(loop.first), end(loop.second), axes, length)


def _actuator(name: str, motor: Motor, driven: ActionAxis, shaft: ActionAxis, read: Read) -> Actuator:
    return Actuator(name, driven.column, shaft.column, motor, read, driven.slides)


def mounting(assembly: Assembly) -> list[Pose]:
    """T_base_link with every joint at its zero, base included: where things stand on the robot."""
    placements = [link.placement for link in assembly.tree.links[1:]]
    return world_poses(assembly.tree, [IDENTITY_POSE, *placements])
