"""What the joints of a base are told at a twist: the twist that its fixed wheels allow, then rates and angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.coupling import lead_on
from trundle.mechanics.modules import Module, modules_of, turned
from trundle.motion.drive.programs import TWIST, ParametricModules
from trundle.program import Program, Tracer
from trundle.robot import Robot
from trundle.scalars import Scalar

_STATES = ("angle", "speed", "steering_rate")


def allowing(drive: ParametricModules) -> Program:
    """Twist → twist: without the part of its velocity by which fixed wheels would slide sideways, on their mean.

    v' = v − Σ n (n·u) / k over the k wheels that neither turn nor have rollers, n across them. So a car's v_y follows
    from ω; a base without such wheels keeps its twist.
    """
    tracer = Tracer("twist", *drive.groups)
    twist = tracer.inputs("twist", 3)
    fixed = [module for module in drive.modules(tracer) if module.is_fixed]
    x, y = twist[0], twist[1]
    for module in fixed:
        c, s = module.direction
        _, aside = turned(module.velocity(twist), module.direction)
        x, y = x + s * aside / len(fixed), y - c * aside / len(fixed)
    groups = {"twist": TWIST, **drive.groups}
    return tracer.program("allowed_twist", groups, {"twist": (TWIST, [x, y, twist[2]])})


def commanding(robot: Robot) -> Program:
    """Angle, speed, steering rate of modules → velocity and position of the joints that motors drive.

    A wheel's velocity is v/R, a pivot's position its angle less its heading, a driven caster's pivot has a velocity.
    Gears and Ackermann linkages lead on to joints that move wheels; a URDF file's joints are the wheels' own. Without
    motors all wheels count as driven but casters. Labels are the joints' coordinates. Raises InputError where a base's
    joints don't follow from its wheels.
    """
    names = tuple(robot.parameter_values())
    tracer = Tracer(*_STATES, "parameter")
    values = dict(zip(names, tracer.inputs("parameter", len(names)), strict=True))
    assembly = assemble(robot, robot.resolver(values))
    modules = modules_of(assembly)
    angles, speeds, rates = (tracer.inputs(group, len(modules)) for group in _STATES)
    joints = _Joints()
    for module, angle, speed, rate in zip(modules, angles, speeds, rates, strict=True):
        joints.add_wheel(assembly, module, angle, speed, rate)
    lead_on(assembly.couplings, joints.velocities, joints.positions)
    coordinates = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    driven = list(dict.fromkeys(actuator.column for actuator in assembly.actuators))
    if not robot.motors:
        driven = _undriven(assembly, modules)
    if robot.urdf is not None:  # its joints are the wheels' own, and a linkage is none
        own = {linkage.column: [axis.column for axis in linkage.followers] for linkage in assembly.linkages}
        driven = [column for each in driven for column in own.get(each, [each])]
    outputs: dict[str, tuple[tuple[str, ...], list[Scalar]]] = {}
    for group, found in (("velocity", joints.velocities), ("position", joints.positions)):
        if columns := [column for column in driven if column in found]:
            labels = tuple(coordinates[column] for column in columns)
            outputs[group] = (labels, [found[column] for column in columns])
    if "velocity" not in outputs:
        hint = "let a motor drive a wheel, or leave all motors out: every wheel counts as driven then"
        raise InputError(
            f"no motor of '{robot.name}' drives a wheel of its base", key="robot.motors", hint=hint
        )
    wheels = tuple(module.name for module in modules)
    return tracer.program("joint_commands", {**dict.fromkeys(_STATES, wheels), "parameter": names}, outputs)


def _undriven(assembly: Assembly, modules: Sequence[Module]) -> list[int]:
    """The columns of all wheels but casters, where a description has no motors: what rolls, then what steers."""
    wheels = {wheel.name: wheel for wheel in assembly.wheels}
    tied = {axis.column for coupling in assembly.couplings for axis in coupling.followers}
    led = [axis.column for coupling in assembly.linkages for axis in coupling.leaders]
    kept = [(module, wheels[module.name]) for module in modules if not module.is_caster]
    rolling = [wheel.spin for _, wheel in kept]
    steering = [wheel.steering for module, wheel in kept if module.is_steered]
    return [column for column in (*rolling, *steering, *led) if column is not None and column not in tied]


@dataclass(frozen=True)
class _Joints:
    """What is known of joints, by the columns of their rates: rates, and of those that steer angles."""

    velocities: dict[int, Scalar] = field(default_factory=dict)
    positions: dict[int, Scalar] = field(default_factory=dict)

    def add_wheel(
        self, assembly: Assembly, module: Module, angle: Scalar, speed: Scalar, rate: Scalar
    ) -> None:
        wheel = next(wheel for wheel in assembly.wheels if wheel.name == module.name)
        if wheel.spin is not None:
            self.velocities[wheel.spin] = speed / module.radius
        if wheel.steering is not None and module.is_caster:
            self.velocities[wheel.steering] = rate
        elif wheel.steering is not None:
            self.positions[wheel.steering] = angle - module.heading
