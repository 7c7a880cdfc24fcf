"""The kinematics of modules as programs: what a twist asks of them, and by least squares the twist that they make.

`ModuleStates` and `ModuleRates` are what these give and take: arrays in the order of the wheels' names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers, refuse_masked
from trundle.errors import InputError, require_known
from trundle.mechanics.assembly import assemble
from trundle.mechanics.linear import apply, product, solve_positive, transpose
from trundle.mechanics.modules import Module, followed, modules_of, pointed
from trundle.program import Program, Tracer
from trundle.robot import Robot
from trundle.scalars import Scalar, absolute, sqrt


@dataclass(frozen=True, eq=False)
class ModuleStates:
    """What wheels do at one moment, or at many: arrays (m,) or (n, m) in the order of `names`.

    angles: along which they roll, in the base's frame (rad); speeds: R φ̇ (m/s), negative backward; steering_rates:
    of wheels whose contact is ahead of or behind its pivot, which a twist of the base turns (rad/s), else 0.
    """

    names: tuple[str, ...]
    angles: FloatArray
    speeds: FloatArray
    steering_rates: FloatArray

    def __getitem__(self, name: str) -> tuple[FloatArray, FloatArray]:
        """The angle and the speed of a module; raises InputError for a name that none has."""
        require_known(name, self.names, f"there is no module '{name}'", key=name)
        place = self.names.index(name)
        return self.angles[..., place], self.speeds[..., place]


@dataclass(frozen=True, eq=False)
class ModuleRates:
    """How what wheels do changes: arrays (m,) or (n, m) in the order of `names`.

    steering_rates: of the angles (rad/s); drive_accelerations: of the speeds (m/s²); steering_accelerations: of wheels
    whose contact is beside its pivot (rad/s²), else 0.
    """

    names: tuple[str, ...]
    steering_rates: FloatArray
    drive_accelerations: FloatArray
    steering_accelerations: FloatArray


def twist_lanes(*parts: npt.ArrayLike) -> FloatArray:
    """v_x, v_y, ω as programs take them: (3,), or (3, n) of batches; InputError for what is neither."""
    try:
        twist = np.array(parts, dtype=float)
    except (TypeError, ValueError):  # numbers beside arrays, or something else
        try:
            twist = np.array(np.broadcast_arrays(*parts), dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"expected numbers or arrays (n,) for v_x, v_y, omega, got {parts!r}") from None
    if twist.ndim > 1:
        refuse_masked(parts, "v_x, v_y, omega")
    if twist.ndim > 2 or not np.isfinite(twist).all():
        raise InputError(f"expected finite numbers or arrays (n,) for v_x, v_y, omega, got {parts!r}")
    return twist


def lanes(values: npt.ArrayLike) -> FloatArray:
    """What is by modules, (m,) or (n, m), as programs take it: modules first."""
    return np.ascontiguousarray(as_numbers(values, "what is by modules").T)


TWIST = ("v_x", "v_y", "omega")


@dataclass(frozen=True)
class ParametricModules:
    """The modules that programs are of: in numbers, or in scalars of `parameters`, the last group of inputs then."""

    made: Callable[[Sequence[Scalar]], Sequence[Module]]
    parameters: tuple[str, ...] = ()

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The group of inputs that they are functions of, with its labels; none in numbers."""
        return {"parameter": self.parameters} if self.parameters else {}

    def modules(self, tracer: Tracer) -> Sequence[Module]:
        """The modules in a tracer's scalars, where it has the group."""
        return self.made(tracer.inputs("parameter", len(self.parameters)) if self.parameters else ())


def in_numbers(modules: Sequence[Module]) -> ParametricModules:
    """Modules in numbers: programs of them take no parameters."""
    return ParametricModules(lambda _: modules)


def in_parameters(robot: Robot) -> ParametricModules:
    """A robot's modules as functions of all its parameters, in their order."""
    names = tuple(robot.parameter_values())
    return ParametricModules(
        lambda values: modules_of(assemble(robot, robot.resolver(dict(zip(names, values, strict=True))))),
        names,
    )


def measures(drive: ParametricModules) -> Program:
    """Parameters → radius, heading: what joins rates and steering angles of wheels with the states of modules."""
    tracer = Tracer(*drive.groups)
    modules = drive.modules(tracer)
    names = tuple(module.name for module in modules)
    measured = {
        "radius": [module.radius for module in modules],
        "heading": [module.heading for module in modules],
    }
    outputs = {group: (names, values) for group, values in measured.items()}
    return tracer.program("module_measures", drive.groups, outputs)


def pointing(drive: ParametricModules) -> Program:
    """Twist → angle, speed, steering rate (of those that trail): every wheel forward along its velocity, angles within
    (−π, π].

    One that stands still, and one whose angle doesn't follow from the twist, has the angle that it has unsteered.
    """
    tracer = Tracer("twist", *drive.groups)
    twist, modules = tracer.inputs("twist", 3), drive.modules(tracer)
    return _states(tracer, drive, modules, [pointed(module, twist) for module in modules])


def following(drive: ParametricModules) -> Program:
    """Twist, angle, speed → angle, speed, steering rate (of those that trail): from the states that modules are in, the
    next.

    Angles go on from those before without a jump, by half turns chosen for all (see `half_turns`). A wheel that stands
    still holds its angle.
    """
    tracer = Tracer("twist", "angle", "speed", *drive.groups)
    modules = drive.modules(tracer)
    twist, angles = tracer.inputs("twist", 3), tracer.inputs("angle", len(modules))
    speeds = tracer.inputs("speed", len(modules))
    return _states(tracer, drive, modules, followed(modules, twist, angles, speeds))


def speeding(drive: ParametricModules) -> Program:
    """Twist, twist rate, angle → steering rate, drive acceleration, steering acceleration (see `Module.rates`)."""
    tracer = Tracer("twist", "twist_rate", "angle", *drive.groups)
    modules = drive.modules(tracer)
    twist, rate, angles = (
        tracer.inputs("twist", 3),
        tracer.inputs("twist_rate", 3),
        tracer.inputs("angle", len(modules)),
    )
    changes = [
        module.rates(module.along(angle), twist, rate) for module, angle in zip(modules, angles, strict=True)
    ]
    names = tuple(module.name for module in modules)
    groups = ("steering_rate", "drive_acceleration", "steering_acceleration")
    values = zip(*changes, strict=True)
    rates = tuple(f"{name}_rate" for name in TWIST)
    return tracer.program(
        "module_rates",
        {"twist": TWIST, "twist_rate": rates, "angle": names, **drive.groups},
        {group: (names, list(column)) for group, column in zip(groups, values, strict=True)},
    )


def _states(
    tracer: Tracer,
    drive: ParametricModules,
    modules: Sequence[Module],
    states: Sequence[tuple[Scalar, Scalar, Scalar]],
) -> Program:
    names = tuple(module.name for module in modules)
    trailing = [k for k, module in enumerate(modules) if module.is_caster]
    angles, speeds, rates = (list(values) for values in zip(*states, strict=True))
    outputs = {"angle": (names, angles), "speed": (names, speeds)}
    if trailing:
        outputs["steering_rate"] = (tuple(names[k] for k in trailing), [rates[k] for k in trailing])
    groups = {"twist": TWIST, "angle": names, "speed": names, **drive.groups}
    return tracer.program("module_states", {name: groups[name] for name in tracer.groups}, outputs)


def agreeing(drive: ParametricModules) -> Program:
    """Angle, speed, steering rate → twist, slip: the twist with the least squares of slip, and what slip is left."""
    states = "angle", "speed", "steering_rate"
    tracer = Tracer(*states, *drive.groups)
    modules = drive.modules(tracer)
    names = tuple(module.name for module in modules)
    angles, speeds, rates = (tracer.inputs(group, len(modules)) for group in states)
    directions = [module.along(angle) for module, angle in zip(modules, angles, strict=True)]
    wheels = list(zip(modules, directions, speeds, rates, strict=True))
    slips = [affine_slip(*state) for state in wheels]
    rows = [row for slip in slips for row, _ in slip]
    right = [-offset for slip in slips for _, offset in slip]
    turned_rows = transpose(rows)
    gram = product(turned_rows, rows)
    twist = [value for (value,) in solve_positive(gram, [[value] for value in apply(turned_rows, right)])]
    left = [_size(module.slip(direction, twist, speed, rate)) for module, direction, speed, rate in wheels]
    outputs = {"twist": (TWIST, twist), "slip": (names, left)}
    return tracer.program("module_twist", {**dict.fromkeys(states, names), **drive.groups}, outputs)


def affine_slip(
    module: Module, direction: tuple[Scalar, Scalar], speed: Scalar = 0.0, rate: Scalar = 0.0
) -> list[tuple[list[Scalar], Scalar]]:
    """Each of a module's slip velocities as a row over the twist and what is beside it."""
    units = [[1.0 if i == j else 0.0 for j in range(3)] for i in range(3)]
    columns = [module.slip(direction, unit, 0.0) for unit in units]
    rest = module.slip(direction, (0.0, 0.0, 0.0), speed, rate)
    return [([column[k] for column in columns], beside) for k, beside in enumerate(rest)]


def _size(slip: Sequence[Scalar]) -> Scalar:
    return absolute(slip[0]) if len(slip) == 1 else sqrt(slip[0] * slip[0] + slip[1] * slip[1])
