"""All the forces on a robot but the constraints': motors, elements, slipping wheels; and where their energy goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator, Element
from trundle.mechanics.assembly import Assembly, mounting
from trundle.mechanics.coupling import TieSpring
from trundle.mechanics.frames import world_poses
from trundle.mechanics.linear import dot
from trundle.mechanics.momentum import center_of_mass
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel, contact_rows, load_shares
from trundle.model.constraints import Configuration
from trundle.robot.contact import Push
from trundle.robot.motor import Drive, Effort
from trundle.scalars import Scalar, is_zero, maximum, minus, plus, times
from trundle.spatial.motions import IDENTITY_POSE, Pose
from trundle.spatial.vectors import Vector, apply_transposed


@dataclass
class Forces:
    """Generalised forces τ over all speeds (N, N m), and the powers (W) and stored energy (J) that come with them."""

    tau: list[Scalar]
    power: Scalar = 0
    loss: Scalar = 0
    stored: Scalar = 0
    efforts: dict[str, Effort] = field(default_factory=dict)
    rates: dict[str, Scalar] = field(default_factory=dict)
    contacts: dict[Quantity, Scalar] = field(default_factory=dict)
    supplies: dict[Quantity, Scalar] = field(default_factory=dict)

    def add(self, column: int, effort: Effort) -> None:
        """Put one effort on its joint."""
        self.tau[column] = self.tau[column] + effort.torque
        self.power = self.power + effort.power
        self.loss = self.loss + effort.loss
        self.stored = self.stored + effort.stored

    def hold(self, actuator: Actuator, torque: Scalar, rate: Scalar) -> None:
        """Put on a joint the torque that holds its rate."""
        own, held = self.efforts[actuator.name], Effort(torque, power=torque * rate)
        torque, power = plus(own.torque, held.torque), plus(own.power, held.power)
        self.efforts[actuator.name] = own._replace(torque=torque, power=power)
        self.add(actuator.shaft, held)

    def stretch(self, spring: TieSpring, stretch: Scalar, rate: Scalar) -> None:
        """Put a spring between coordinates on all of them."""
        drag, pull = spring.damping * rate, spring.stiffness * stretch
        for axis, share in spring.shares:
            self.tau[axis.column] = self.tau[axis.column] - share * (pull + drag)
        self.loss = self.loss + drag * rate
        self.stored = self.stored + pull * stretch / 2

    def push(self, touching: WheelContact, push: Push) -> None:
        """Put what the ground does to a wheel on all that its contact moves with."""
        wheel, rows, slip, rate = touching
        for row, force, velocity, direction in zip(rows, push.forces, slip, wheel.directions, strict=False):
            for column, entry in enumerate(row):
                self.tau[column] = self.tau[column] + entry * force
            if push.loss is None:
                self.loss = self.loss - force * velocity
            self.contacts[wheel.force(direction)] = force
            self.contacts[wheel.slip(direction)] = velocity
        if push.loss is not None:
            self.loss = self.loss + push.loss
        self.stored = self.stored + push.stored
        if wheel.spin is not None and not is_zero(push.moment):
            self.tau[wheel.spin] = self.tau[wheel.spin] + push.moment
            if push.loss is None:
                self.loss = self.loss - push.moment * rate
            self.contacts[wheel.moment] = push.moment


class WheelContact(NamedTuple):
    """A wheel whose contact law acts: the rows of its directions over all speeds, its slip in them (m/s) and its spin
    rate (rad/s).
    """

    wheel: WheelModel
    rows: Sequence[Sequence[Scalar]]
    slip: Sequence[Scalar]
    rate: Scalar

    def push(self, load: Scalar, own: Mapping[str, Scalar]) -> Push:
        """What the ground does to it at a load (N)."""
        return self.wheel.push(self.slip, load, self.rate, own)


# Loads of wheels by name (N), at least of those that touch: where all other forces on the speeds are τ, the contacts
# as they are, with their states.
LoadLaw = Callable[[Sequence[Scalar], Sequence[WheelContact], Mapping[str, Scalar]], Mapping[str, Scalar]]


def applied_forces(
    assembly: Assembly,
    at: Configuration,
    nu: Sequence[Scalar],
    commands: Mapping[str, Scalar],
    own: Mapping[str, Scalar],
    loads: LoadLaw,
) -> Forces:
    """Everything that pushes, at speeds ν (all of them), commands by input and the own states of motors and contacts by
    name; `loads` are the wheels'.
    """
    forces = inner_forces(assembly, at, nu, commands, own)
    _add_contacts(touching_wheels(assembly, at, nu), assembly.wheels, own, forces, loads)
    return forces


def inner_forces(
    assembly: Assembly,
    at: Configuration,
    nu: Sequence[Scalar],
    commands: Mapping[str, Scalar],
    own: Mapping[str, Scalar],
    switched: Mapping[str, Scalar] = MappingProxyType({}),
) -> Forces:
    """What joints' elements, springs between them and motors do: all but the ground; batteries' relays stand as they
    were `switched`, where a step has begun that they don't change.
    """
    forces = Forces([0] * len(assembly.speeds))
    for element in assembly.elements:
        forces.add(element.column, element_effort(assembly, element, at, nu))
    for spring in assembly.springs:
        forces.stretch(spring, spring.stretch(at.values), spring.rate(nu))
    drives = motor_drives(assembly, at, nu, commands, {**own, **switched})
    fed = _feed(assembly, drives, own, forces)
    for actuator in assembly.actuators:
        drive = drives[actuator.name]
        effort = actuator.effort(drive._replace(supply=fed.get(actuator.name)))
        forces.efforts[actuator.name] = effort
        forces.rates |= {actuator.states[name].name: rate for name, rate in effort.rates.items()}
        # what a battery gives comes from inside; what its cells give has been counted
        forces.add(actuator.shaft, effort._replace(power=0) if actuator.name in fed else effort)
    return forces


def motor_drives(
    assembly: Assembly,
    at: Configuration,
    nu: Sequence[Scalar],
    commands: Mapping[str, Scalar],
    own: Mapping[str, Scalar],
) -> dict[str, Drive]:
    """What each motor sees, by its name."""
    names = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    drives = {
        motor.name: motor.drive(
            commands[motor.command.name], at.values[names[motor.shaft]], nu[motor.shaft], own
        )
        for motor in assembly.actuators
    }
    for supply in assembly.supplies:
        for motor in assembly.actuators:
            if motor.name in supply.feeds:
                drives[motor.name] = supply.switched(motor, drives[motor.name], own)
    return drives


def _feed(
    assembly: Assembly, drives: Mapping[str, Drive], own: Mapping[str, Scalar], forces: Forces
) -> dict[str, Scalar]:
    """The voltage that each motor on a battery works with; the batteries' own powers and rates go to the forces."""
    actuators = {actuator.name: actuator for actuator in assembly.actuators}
    fed: dict[str, Scalar] = {}
    for supply in assembly.supplies:
        bus = supply.feed([actuators[name].winding(drives[name]) for name in supply.feeds], own)
        forces.power, forces.loss = forces.power + bus.power, forces.loss + bus.loss
        forces.rates |= {supply.states[name].name: rate for name, rate in bus.rates.items()}
        forces.supplies |= {supply.voltage: bus.voltage, supply.current: bus.current}
        fed |= dict.fromkeys(supply.feeds, bus.voltage)
    return fed


def element_effort(assembly: Assembly, element: Element, at: Configuration, nu: Sequence[Scalar]) -> Effort:
    """What a spring, damper or friction does to its joint; a ball joint's damper acts on speeds without coordinate."""
    names = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    position = at.values[names[element.column]] if element.column in names else 0
    return element.effort(position, nu[element.column])


def touching_wheels(assembly: Assembly, at: Configuration, nu: Sequence[Scalar]) -> list[WheelContact]:
    """The wheels whose contact law acts, at speeds ν."""
    touching = []
    for wheel in assembly.wheels:
        if wheel.acts:
            rows = contact_rows(assembly.tree, at.poses, wheel, len(assembly.speeds)) if wheel.pushed else []
            rate = 0 if wheel.spin is None else nu[wheel.spin]
            touching.append(WheelContact(wheel, rows, [dot(row, nu) for row in rows], rate))
    return touching


def _add_contacts(
    touching: Sequence[WheelContact],
    wheels: Sequence[WheelModel],
    own: Mapping[str, Scalar],
    forces: Forces,
    loads: LoadLaw,
) -> None:
    """The forces of the contacts whose law gives them, and the loads; forces of constraints follow from the motion."""
    if not touching:
        return
    pressing = loads(forces.tau, touching, own)
    for each in touching:
        wheel, load = each.wheel, pressing[each.wheel.name]
        push = each.push(load, own)
        forces.push(each, push)
        forces.contacts[wheel.pressed] = load
        forces.contacts |= {wheel.output(name): value for name, value in push.outputs.items()}
        forces.rates |= {wheel.states[name].name: value for name, value in push.rates.items()}
    forces.contacts |= {wheel.pressed: pressing[wheel.name] for wheel in wheels if wheel.name in pressing}


def standing_loads(assembly: Assembly, at: Configuration, span: Sequence[int]) -> LoadLaw:
    """Loads that no motion shifts, by `wheel_loads`, of the wheels whose law acts."""

    def loads(_tau: object, touching: Sequence[WheelContact], _own: object) -> dict[str, Scalar]:
        every = wheel_loads(assembly, at, span)
        return {each.wheel.name: every[each.wheel.name] for each in touching}

    return loads


def wheel_loads(assembly: Assembly, at: Configuration, span: Sequence[int]) -> dict[str, Scalar]:
    """Normal force on each wheel (N) of a robot that stands: as given, or its share of what the given ones leave of the
    weight.

    A wheel that would have to be pulled down carries nothing: friction from a negative load would drive the robot.
    Raises InputError on a slope where no height of a mass is known.
    """
    frames = base_frames(assembly, at.poses)
    loads, resultant = shared_weight(assembly, at)
    sharing = sharing_wheels(assembly)
    if sharing:
        shares = load_shares([contact_place(wheel, frames) for wheel in sharing], resultant, span)
        loads |= {wheel.name: maximum(share, 0) for wheel, share in zip(sharing, shares, strict=True)}
    return loads


def shared_weight(
    assembly: Assembly, at: Configuration
) -> tuple[dict[str, Scalar], tuple[Scalar, Scalar, Scalar]]:
    """The given loads by wheel (N), and the weight W, W x and W y (N, N m) that they leave to the other wheels.

    On a slope, the pull along the ground g_x, g_y at the height h of the centre of mass adds m h g_x and m h g_y.
    """
    frames = base_frames(assembly, at.poses)
    mass, center = center_of_mass(assembly.tree, frames)
    weight = -assembly.tree.gravity[2] * mass
    resultant = [weight, weight * center[0], weight * center[1]]
    if is_tilted(assembly):
        _require_heights(assembly)
        pull = apply_transposed(at.poses[0].rotation, assembly.tree.gravity)
        lever = mass * (center[2] - ground_height(assembly, frames))
        resultant = [weight, resultant[1] + lever * pull[0], resultant[2] + lever * pull[1]]
    loads = {wheel.name: wheel.load for wheel in assembly.wheels if wheel.load is not None}
    force, about_x, about_y = less_given(assembly, frames, resultant)
    return loads, (force, about_x, about_y)


def less_given(
    assembly: Assembly, frames: Sequence[Pose], resultant: Sequence[Scalar], kinds: Sequence[int] = (0, 1, 2)
) -> list[Scalar]:
    """What wheels of given load leave of (W, W x, W y), or of those `kinds` of it, to the other wheels (N, N m)."""
    left = list(resultant)
    for wheel in assembly.wheels:
        if wheel.load is not None:
            arms = carried_by(wheel, frames)
            left = [
                minus(total, times(wheel.load, arms[kind])) for total, kind in zip(left, kinds, strict=True)
            ]
    return left


def carried_by(wheel: WheelModel, frames: Sequence[Pose]) -> Vector:
    """What a load of 1 N on a wheel carries of (W, W x, W y): 1, x, y (N, N m)."""
    return (1, *contact_place(wheel, frames))


def is_tilted(assembly: Assembly) -> bool:
    """Whether gravity pulls along the ground, or may: whether the ground is a slope."""
    return not (is_zero(assembly.tree.gravity[0]) and is_zero(assembly.tree.gravity[1]))


def _require_heights(assembly: Assembly) -> None:
    """Raise InputError where wheels that act share a weight whose height nobody has told."""
    if not assembly.heights and any(wheel.acts and wheel.load is None for wheel in assembly.wheels):
        raise InputError(
            "gravity is tilted, and the body's center_of_mass has no height: how a slope loads the wheels hangs on it",
            key="robot.body.center_of_mass",
            hint="write its height above the base's frame, such as center_of_mass: [0, 0, 0.2] "
            "(of 0 m by a parameter that is 0), or give the slipping wheels a load (N)",
        )


def ground_height(assembly: Assembly, frames: Sequence[Pose]) -> Scalar:
    """z of the ground in the frame of the poses (m): all wheels stand on it."""
    wheel = assembly.wheels[0]
    return frames[wheel.link].position[2] - wheel.radius


def sharing_wheels(assembly: Assembly) -> list[WheelModel]:
    """The wheels that share the weight: those whose load isn't given."""
    return [wheel for wheel in assembly.wheels if wheel.load is None]


def base_frames(assembly: Assembly, poses: Sequence[Pose]) -> list[Pose]:
    """T_base_link of every link."""
    return world_poses(assembly.tree, [IDENTITY_POSE, *poses[1:]])


def contact_place(wheel: WheelModel, frames: Sequence[Pose]) -> tuple[Scalar, Scalar]:
    """Where a wheel stands, (x, y) in the frame of the poses (m)."""
    position = frames[wheel.link].position
    return position[0], position[1]


def contact_span(assembly: Assembly) -> tuple[int, ...]:
    """Which of x (0) and y (1) the contacts of a numeric assembly spread over, by more than a thousandth of the
    larger spread.
    """
    frames = mounting(assembly)
    places = [contact_place(wheel, frames) for wheel in sharing_wheels(assembly)]
    if len(places) < 2:
        return ()
    x0, y0 = places[0]
    area = max(abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)) for x1, y1 in places for x2, y2 in places)
    reach = max(max(abs(x - x0), abs(y - y0)) for x, y in places)
    if area > 1e-3 * reach * reach:
        return (0, 1)
    if reach == 0:
        return ()
    spread_x = max(x for x, _ in places) - min(x for x, _ in places)
    spread_y = max(y for _, y in places) - min(y for _, y in places)
    return (0,) if spread_x > spread_y else (1,)
