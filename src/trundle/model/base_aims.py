"""How wheels of a driven base are to stand and turn at a twist: angles of what steers, rates and accelerations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import lead_on
from trundle.mechanics.modules import Module, followed
from trundle.model.constraints import Configuration, configure
from trundle.model.wheel_aims import Twist, angle_ahead, turning_rate
from trundle.model.wheeled_base import WheeledBase
from trundle.scalars import Scalar, minus, plus, times

PAIR = 1 / 0.3
"""How quickly wheels that share a joint turn it to its angle (1/s): they slip as they do so, hence slower."""
# How far ahead (s) the twist counts along which wheels of a base at rest are steered.
_SOON = 0.01
# What leads back steers wheels of a base that goes any way the less, the slower than this its reference goes (m/s), and
# at rest by this share: it would turn them across the way on which the base is about to start.
_SLOWLY, _RESTING = 0.05, 1e-3
# How fast that direction turns counts above such a speed (m/s): below it the rate has no bound.
_LED = 0.4


@dataclass(frozen=True)
class WheelAims:
    """What turns shall do, by the columns of the speeds: angles of what steers (rad), rates and accelerations."""

    positions: dict[int, Scalar] = field(default_factory=dict)
    rates: dict[int, Scalar] = field(default_factory=dict)
    accelerations: dict[int, Scalar] = field(default_factory=dict)

    def configuration(self, base: WheeledBase, assembly: Assembly) -> Configuration:
        """Where everything is: what steers as it should be, all else at its start."""
        names = assembly.quantities
        wanted = {names.coordinate_of(assembly.speeds[column]): q for column, q in self.positions.items()}
        starts = zip(base.here.names, base.here.q, strict=True)
        return configure(assembly, base.here.names, [wanted.get(name, start) for name, start in starts])


def aims_at(
    base: WheeledBase,
    assembly: Assembly,
    twist: Twist,
    twist_rate: Twist,
    seen: Mapping[str, Scalar],
    quickest: float,
    *,
    going: Twist,
) -> WheelAims:
    """What everything that turns shall do at a twist that changes at a rate.

    Wheels that share a joint turn it back to its angle, too. going: what of the twist is the reference's.
    """
    aims, modules = WheelAims(), base.modules_in(assembly)
    soon = _steering_twist(base, modules, twist, twist_rate, going)
    angles = _angles(base, assembly, soon, seen)
    for module, wheel, (now, wanted) in zip(modules, base.wheels_in(assembly), angles, strict=True):
        rate: Scalar = 0
        faster = module.rates(module.along(wanted), twist, twist_rate)[1]
        if module.is_steered:
            rate = _turning_rate(module, going, soon, twist_rate)
        speed, trailing = module.rolling(module.along(now), twist)
        if module.name in base.paired:
            rate = rate + min(PAIR, quickest) * (wanted - now)
            speed = speed - module.offset[1] * rate
        if wheel.spin is not None:
            aims.rates[wheel.spin] = speed / module.radius
            aims.accelerations[wheel.spin] = faster / module.radius
        if wheel.steering is not None:
            aims.rates[wheel.steering] = trailing if module.is_caster else rate
            aims.accelerations[wheel.steering] = 0
            if module.is_steered:
                aims.positions[wheel.steering] = wanted - module.heading
    lead_on(assembly.couplings, aims.rates, aims.positions)
    lead_on(assembly.couplings, aims.accelerations, {})
    for linkage in assembly.linkages:
        column = linkage.column
        if column in aims.positions:
            (slope,) = linkage.slopes([aims.positions[column]])[0]
            aims.rates[column] = aims.rates[linkage.followers[0].column] / slope
            aims.accelerations[column] = 0
    return aims


def _steering_twist(
    base: WheeledBase, modules: Sequence[Module], twist: Twist, twist_rate: Twist, going: Twist
) -> Twist:
    """The twist along which wheels are steered: that of the reference and what leads back to it; at rest that to
    which the base is about to go.
    """
    square = sum(part * part for module in modules for part in module.velocity(going)) / len(modules)
    still = _SLOWLY**2 / (square + _SLOWLY**2)
    back = 1.0 if base.along else 1 - (1 - _RESTING) * still
    return [
        plus(plus(part, times(back, minus(whole, part))), times(_SOON * still, rate))
        for whole, part, rate in zip(twist, going, twist_rate, strict=True)
    ]


def _turning_rate(module: Module, going: Twist, soon: Twist, twist_rate: Twist) -> Scalar:
    """How fast a wheel is steered (rad/s): as along the reference, and with what leads back to it at a speed."""
    x, y = module.velocity(going)
    speed, rate = x * x + y * y, turning_rate(module, going, twist_rate)
    led = turning_rate(module, soon, twist_rate)
    return plus(rate, times(speed / (speed + _LED**2), minus(led, rate)))


def _angles(
    base: WheeledBase, assembly: Assembly, twist: Twist, seen: Mapping[str, Scalar]
) -> list[tuple[Scalar, Scalar]]:
    """The angles of all wheels, as they are (where that counts) and as they should be (rad)."""
    names, modules, now = assembly.quantities, base.modules_in(assembly), list[Scalar]()
    for module, wheel in zip(modules, base.wheels_in(assembly), strict=True):
        column = wheel.steering
        led = module.is_caster or module.name in base.paired
        if column is None or (base.along and not led):
            now.append(module.heading)
        else:
            now.append(module.heading + seen[names.coordinate_of(assembly.speeds[column])])
    if base.along:
        wanted = [
            angle_ahead(module, twist) if module.is_steered else angle
            for module, angle in zip(modules, now, strict=True)
        ]
        return [
            (here if module.name in base.paired else angle, angle)
            for module, here, angle in zip(modules, now, wanted, strict=True)
        ]
    rolling = [
        module.rolling(module.along(angle), twist)[0] for module, angle in zip(modules, now, strict=True)
    ]
    found = followed(modules, twist, now, rolling)
    return [(here, angle) for here, (angle, _, _) in zip(now, found, strict=True)]
