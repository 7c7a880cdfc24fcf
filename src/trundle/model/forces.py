"""All the forces on a robot but the constraints': motors, elements, slipping wheels; and where their energy goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trundle.mechanics.actuation import Element
from trundle.mechanics.assembly import Assembly, mounting
from trundle.mechanics.frames import world_poses
from trundle.mechanics.linear import dot
from trundle.mechanics.momentum import center_of_mass
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel, contact_rows, load_shares
from trundle.model.constraints import Configuration
from trundle.robot.contact import Push
from trundle.robot.motors import Drive, Effort
from trundle.scalars import Scalar, is_zero, maximum
from trundle.spatial.motions import IDENTITY_POSE, Pose


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

    def push(
        self, wheel: WheelModel, push: Push, rows: Sequence[Sequence[Scalar]], slip: Sequence[Scalar]
    ) -> None:
        """Put what the ground does to a wheel on all that its contact moves with."""
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


def applied_forces(
    assembly: Assembly,
    at: Configuration,
    nu: Sequence[Scalar],
    commands: Mapping[str, Scalar],
    own: Mapping[str, Scalar],
    span: Sequence[int],
) -> Forces:
    """Everything that pushes, at speeds ν (all of them), commands by input and the own states of motors and contacts by
    name.
    """
    forces = Forces([0] * len(assembly.speeds))
    names = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    for element in assembly.elements:
        forces.add(element.column, element_effort(assembly, element, at, nu))
    drives = {
        motor.name: motor.drive(
            commands[motor.command.name], at.values[names[motor.column]], nu[motor.column], own
        )
        for motor in assembly.actuators
    }
    fed = _feed(assembly, drives, own, forces)
    for actuator in assembly.actuators:
        drive = drives[actuator.name]
        effort = actuator.effort(drive._replace(supply=fed.get(actuator.name)))
        forces.efforts[actuator.name] = effort
        forces.rates |= {actuator.states[name].name: rate for name, rate in effort.rates.items()}
        # what a battery gives comes from inside; what its cells give has been counted
        forces.add(actuator.column, effort._replace(power=0) if actuator.name in fed else effort)
    _add_contacts(assembly, at, nu, own, forces, span)
    return forces


def _feed(
    assembly: Assembly, drives: Mapping[str, Drive], own: Mapping[str, Scalar], forces: Forces
) -> dict[str, Scalar]:
    """The voltage that each motor on a battery works with; the batteries' own powers and rates go to the forces."""
    actuators = {actuator.name: actuator for actuator in assembly.actuators}
    fed: dict[str, Scalar] = {}
    for supply in assembly.supplies:
        bus = supply.feed([actuators[name].winding(drives[name]) for name in supply.feeds], own)
        forces.power, forces.loss = forces.power + bus.power, forces.loss + bus.loss
        forces.rates[supply.charge.name] = bus.rate
        forces.supplies |= {supply.voltage: bus.voltage, supply.current: bus.current}
        fed |= dict.fromkeys(supply.feeds, bus.voltage)
    return fed


def element_effort(assembly: Assembly, element: Element, at: Configuration, nu: Sequence[Scalar]) -> Effort:
    """What a spring, damper or friction does to its joint; a ball joint's damper acts on speeds without coordinate."""
    names = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    position = at.values[names[element.column]] if element.column in names else 0
    return element.effort(position, nu[element.column])


def _add_contacts(
    assembly: Assembly,
    at: Configuration,
    nu: Sequence[Scalar],
    own: Mapping[str, Scalar],
    forces: Forces,
    span: Sequence[int],
) -> None:
    """The forces of the contacts whose law gives them; those of constraints follow from the motion."""
    pushing = [wheel for wheel in assembly.wheels if wheel.acts]
    if not pushing:
        return
    loads = wheel_loads(assembly, at, span)
    for wheel in pushing:
        rows = contact_rows(assembly.tree, at.poses, wheel, len(assembly.speeds)) if wheel.pushed else []
        slip = [dot(row, nu) for row in rows]
        rate = 0 if wheel.spin is None else nu[wheel.spin]
        push = wheel.push(slip, loads[wheel.name], rate, own)
        forces.push(wheel, push, rows, slip)
        if wheel.spin is not None and not is_zero(push.moment):
            forces.tau[wheel.spin] = forces.tau[wheel.spin] + push.moment
            if push.loss is None:
                forces.loss = forces.loss - push.moment * rate
            forces.contacts[wheel.moment] = push.moment
        forces.contacts[wheel.pressed] = loads[wheel.name]
        forces.contacts |= {wheel.output(name): value for name, value in push.outputs.items()}
        forces.rates |= {wheel.states[name].name: value for name, value in push.rates.items()}


def wheel_loads(assembly: Assembly, at: Configuration, span: Sequence[int]) -> dict[str, Scalar]:
    """Normal force on each wheel (N): as given, or its share of what the given ones leave of the weight.

    Quasi-static: the robot stands as configured, and accelerations move no load from wheel to wheel, which a planar
    base can't do. A wheel that would have to be pulled down carries nothing: friction from a negative load would
    drive the robot.
    """
    frames = base_frames(assembly, at.poses)
    loads, resultant = shared_weight(assembly, frames)
    sharing = sharing_wheels(assembly)
    if sharing:
        shares = load_shares([contact_place(wheel, frames) for wheel in sharing], resultant, span)
        loads |= {wheel.name: maximum(share, 0) for wheel, share in zip(sharing, shares, strict=True)}
    return loads


def shared_weight(
    assembly: Assembly, frames: Sequence[Pose]
) -> tuple[dict[str, Scalar], tuple[Scalar, Scalar, Scalar]]:
    """The given loads by wheel (N), and the weight W, W x and W y (N, N m) that they leave to the other wheels."""
    mass, center = center_of_mass(assembly.tree, frames)
    weight = -assembly.tree.gravity[2] * mass
    resultant = [weight, weight * center[0], weight * center[1]]
    loads: dict[str, Scalar] = {}
    for wheel in assembly.wheels:
        if wheel.load is not None:
            x, y = contact_place(wheel, frames)
            loads[wheel.name] = wheel.load
            resultant = [r - wheel.load * arm for r, arm in zip(resultant, (1, x, y), strict=True)]
    return loads, (resultant[0], resultant[1], resultant[2])


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
