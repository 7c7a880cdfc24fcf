"""What modules shall do at once, as aims of their wheels and steering, and laws for the inputs that drive these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from trundle.mechanics.assembly import Assembly
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.drive.module_states import ModuleStates
from trundle.motion.trackers.laws import Aim, ByRate, ByTorque, Law, by_angle
from trundle.robot import units

# How quickly errors decay (1/s): rates of wheels, and angles of steering, which lead, as a wheel that points elsewhere
# pushes the base aside. Chosen for driving by hand: quick to the eye, and not so quick that usual motors saturate.
SPIN, STEER = 1 / 0.15, 1 / 0.08


def measured(kinematics: Kinematics, state: Mapping[str, float]) -> ModuleStates:
    """What modules do by a state; steering and rates that it doesn't hold count as 0."""
    steering = np.array([state.get(f"{name}.steering", 0.0) for name in kinematics.names])
    rolled = [float(wheel.radius) * state.get(f"{wheel.name}.rate", 0.0) for wheel in kinematics.modules]
    return kinematics.states(kinematics.headings + steering, rolled)


def module_aims(kinematics: Kinematics, wanted: ModuleStates) -> dict[str, Aim]:
    """Aims of wheels and steering, by their rates' names, for what modules shall do."""
    aims: dict[str, Aim] = {}
    for module, angle, speed in zip(kinematics.modules, wanted.angles, wanted.speeds, strict=True):
        aims[f"{module.name}.rate"] = Aim(0.0, float(speed) / float(module.radius))
        aims[f"{module.name}.steering_rate"] = Aim(float(angle) - float(module.heading), 0.0)
    return aims


def drive_laws(
    assembly: Assembly, inputs: Collection[str], inertia: Callable[[str], float]
) -> dict[str, tuple[str, Law]]:
    """The laws of those inputs that drive wheels on the base, their steering, or linkages that steer.

    A wheel's motor moves its share of the robot's mass; what a steering's moves (kg m²) is asked for by its rate.
    """
    speeds, actuators = assembly.speeds, {motor.command.name: motor for motor in assembly.actuators}
    wheels = [wheel for wheel in assembly.wheels if wheel.on_base and wheel.grips]
    spins = {wheel.spin for wheel in assembly.wheels}
    sharing = max(sum(motor.column in spins for motor in assembly.actuators), 1)
    share = sum(float(link.inertia.mass) for link in assembly.tree.links) / sharing
    spun = {
        speeds[wheel.spin]: share * float(wheel.radius) ** 2 for wheel in wheels if wheel.spin is not None
    }
    steering = {wheel.steering for wheel in wheels} | {linkage.axis.column for linkage in assembly.linkages}
    steered = {speeds[column] for column in steering if column is not None}

    def law_of(name: str) -> tuple[str, Law] | None:
        """The rate that an input drives, and its law by what its motor takes."""
        motor = actuators.get(name)
        rate = name if motor is None else speeds[motor.column]
        turns = rate in spun
        if not turns and rate not in steered:
            return None
        coordinate, bandwidth = (None, SPIN) if turns else (assembly.quantities.coordinate_of(rate), STEER)
        if motor is None or motor.motor.commands is units.RATE:
            return rate, ByRate(coordinate, bandwidth)
        if motor.motor.commands is units.ANGLE:
            # A motor that holds an angle can't drive what turns for ever.
            return None if turns else (rate, by_angle)
        # Asked for only here: the inertia of a steering takes a mass matrix.
        moved = spun[rate] if turns else inertia(rate)
        return rate, ByTorque(motor, rate, coordinate, moved, bandwidth)

    return {name: law for name in inputs if (law := law_of(name)) is not None}
