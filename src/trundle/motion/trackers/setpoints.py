"""What modules shall do at once, as aims of their wheels and steering, and laws for the inputs that drive these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from trundle.mechanics.assembly import Assembly
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.drive.module_states import ModuleStates
from trundle.motion.trackers.laws import Aim, ByRate, Law, law_of

# How quickly errors decay (1/s): rates of wheels, and angles of steering, which lead, as a wheel that points elsewhere
# pushes the base aside. Chosen for driving by hand: quick to the eye, and not so quick that usual motors saturate.
SPIN, STEER = 1 / 0.15, 1 / 0.08


def measured(kinematics: Kinematics, state: Mapping[str, float]) -> ModuleStates:
    """What modules do by a state; steering and rates that it doesn't hold count as 0."""
    now = np.array(
        [
            (
                float(module.heading) + state.get(f"{module.name}.steering", 0.0),
                float(module.radius) * state.get(f"{module.name}.rate", 0.0),
            )
            for module in kinematics.modules
        ]
    )
    return kinematics.states(*now.T)


def module_aims(kinematics: Kinematics, wanted: ModuleStates) -> dict[str, Aim]:
    """Aims of wheels and steering, by their rates' names, for what modules shall do."""
    aims: dict[str, Aim] = {}
    for module, angle, speed in zip(kinematics.modules, wanted.angles, wanted.speeds, strict=True):
        aims[f"{module.name}.rate"] = Aim(0.0, float(speed) / float(module.radius))
        aims[f"{module.name}.steering_rate"] = Aim(float(angle) - float(module.heading), 0.0)
    return aims


def drive_laws(
    assembly: Assembly, names: Collection[str], inputs: Collection[str], inertia: Callable[[str], float]
) -> dict[str, tuple[str, Law]]:
    """The laws of those inputs that drive the named wheels, their steering, or linkages that steer.

    A wheel's motor moves its share of the robot's mass; what a steering's moves (kg m²) is asked for by its rate.
    """
    driven = [wheel for wheel in assembly.wheels if wheel.name in names]
    spins = {wheel.spin for wheel in assembly.wheels}
    sharing = sum(actuator.column in spins for actuator in assembly.actuators)
    mass = sum(float(link.inertia.mass) for link in assembly.tree.links)
    laws: dict[str, tuple[str, Law]] = {}

    def feed(column: int | None, turns: bool, moved: Callable[[str], float]) -> None:
        if column is None:
            return
        rate, bandwidth = assembly.speeds[column], SPIN if turns else STEER
        coordinate = None if turns else assembly.quantities.coordinate_of(rate)
        if rate in inputs:
            laws[rate] = rate, ByRate(coordinate, bandwidth)
        for actuator in (motor for motor in assembly.actuators if motor.column == column):
            law = law_of(actuator, rate, coordinate, lambda: moved(rate), bandwidth)
            if law is not None:
                laws[actuator.command.name] = rate, law

    for wheel in driven:
        feed(wheel.spin, True, lambda _, radius=float(wheel.radius): mass * radius**2 / sharing)
    for column in [wheel.steering for wheel in driven] + [link.axis.column for link in assembly.linkages]:
        feed(column, False, inertia)
    return {name: laws[name] for name in inputs if name in laws}
