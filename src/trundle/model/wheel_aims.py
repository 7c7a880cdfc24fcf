"""What the wheels of a driven base do at a twist: which are fixed, which motors reach, how steered ones turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trundle.mechanics.actuation import Actuator
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.modules import Module, turned
from trundle.robot import units
from trundle.scalars import Scalar, atan2, less

Twist = Sequence[Scalar]

# Below this speed (m/s), and the one that it gets in so short a time (s), a wheel's angle isn't led by how the twist
# changes: as it stops, that rate has no bound.
_SLOW, _SHORT = 1e-3, 0.01


def fixed_of(modules: Sequence[Module]) -> list[Module]:
    """Those that neither turn nor have rollers."""
    return [module for module in modules if module.is_fixed]


def holds(motor: Actuator) -> bool:
    """Whether a motor holds by itself what it is told, an angle or a rate."""
    return motor.motor.commands in (units.ANGLE, units.RATE)


def told_rates(motor: Actuator) -> bool:
    """Whether it is told a rate."""
    return motor.motor.commands is units.RATE


def angle_ahead(module: Module, twist: Twist) -> Scalar:
    """The angle at which a wheel rolls along its place's velocity, within 90° of its heading."""
    along, across = turned(module.velocity(twist), module.direction)
    side = 1 - 2 * less(along, 0)
    return module.heading + atan2(side * across, side * along)


def turning_rate(module: Module, twist: Twist, twist_rate: Twist) -> Scalar:
    """How fast a wheel has to turn so as to go on rolling, (u × u̇)/u² (rad/s); as it stops, 0."""
    (u_x, u_y), (a_x, a_y) = module.velocity(twist), module.velocity(twist_rate)
    least = _SLOW * _SLOW + _SHORT * _SHORT * (a_x * a_x + a_y * a_y)
    return (u_x * a_y - u_y * a_x) / (u_x * u_x + u_y * u_y + least)


def all_columns(assembly: Assembly, base: Twist, turning: Mapping[int, Scalar]) -> list[Scalar]:
    """Speeds or accelerations of all columns, by those of the base and of what turns; others rest."""
    filled: list[Scalar] = [0] * len(assembly.speeds)
    for column, value in [*zip(assembly.base_columns, base, strict=True), *turning.items()]:
        filled[column] = value
    return filled
