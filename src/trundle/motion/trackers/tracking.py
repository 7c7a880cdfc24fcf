"""A motion fed to the dynamic model of its robot, and how far from it the robot goes.

A tracker of a motion comes from inverse dynamics (`motion_forces`): torques and commands at ticks, linear between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model import Model
from trundle.model.arguments import Given, model_of, number, opened, robot_of
from trundle.motion.forces.forces import DrivenRobot, MotionForces, motion_forces
from trundle.motion.pieces.motion import Motion, Samples, motion_of
from trundle.motion.trackers.tracker import Aim, ByTorque, Law, Tracker
from trundle.progress import Doing
from trundle.results import Run
from trundle.robot import units
from trundle.simulation import simulate
from trundle.simulation.options import whole
from trundle.simulation.signals import table

if TYPE_CHECKING:
    from trundle.motion.commands.drive import Driven

# Commands are told this often (s), linear between, as fast controllers do. Inverse dynamics runs once a tick.
TICK = 1e-3
# Where accelerations jump the commands do, too: they are told on both sides of a break, this far apart (s). A table's
# times must increase; of a minute's motion a double resolves 1e-14 s.
_BESIDE = 1e-9


@dataclass(frozen=True, eq=False)
class Tracking:
    """A run of a robot that was commanded to follow a motion.

    Parameters
    ----------
    motion : Motion
        What it was to do.
    run : Run
        What it did.
    forces : MotionForces
        What the motion takes of ground and motors, at the run's times.
    driven : DrivenRobot
        Which wheels its modules are.
    """

    motion: Motion
    run: Run
    forces: MotionForces
    driven: DrivenRobot

    @cached_property
    def errors(self) -> FloatArray:
        """Run less motion, (n, 3): x, y (m), θ (rad) in the world."""
        poses = np.stack([self.run[name] for name in ("x", "y", "theta")], axis=1)
        return poses - self.motion.poses(self.run.time)

    @cached_property
    def steering_errors(self) -> FloatArray:
        """Run less motion, (n, m): the modules' angles (rad); 0 of wheels that don't steer."""
        wanted = self._samples.angle - self.driven.headings
        came = [
            wanted[:, k] if wheel.steering is None else self.run[f"{wheel.name}.steering"]
            for k, wheel in enumerate(self.driven.wheels)
        ]
        return np.stack(came, axis=1) - wanted

    @cached_property
    def speed_errors(self) -> FloatArray:
        """Run less motion, (n, m): R φ̇ of the wheels (m/s)."""
        came = [self.run[f"{wheel.name}.rate"] * float(wheel.radius) for wheel in self.driven.wheels]
        return np.stack(came, axis=1) - self._samples.drive_speed

    @cached_property
    def largest(self) -> Mapping[str, float]:
        """The largest errors: `position` (m), `heading` (rad), `steering` (rad), `speed` (m/s); and `friction_use`, the
        largest share of a wheel's grip that the motion takes.
        """
        return {
            "position": float(np.hypot(*self.errors[:, :2].T).max()),
            "heading": float(np.abs(self.errors[:, 2]).max()),
            "steering": float(np.abs(self.steering_errors).max()),
            "speed": float(np.abs(self.speed_errors).max()),
            "friction_use": float(self.forces.friction_use.max()),
        }

    def __repr__(self) -> str:
        worst = self.largest
        return (
            f"<Tracking of {self.run.name}: {worst['position']:.3g} m and {worst['heading']:.3g} rad off at most in "
            f"{self.motion.duration:.3g} s>"
        )

    @cached_property
    def _samples(self) -> Samples:
        return self.motion.samples(self.run.time)


def track(
    robot: Given,
    motion: Motion | Driven,
    *,
    parameters: Mapping[str, float | str] | None = None,
    bandwidth: float = 60.0,
    samples: int = 1001,
    progress: bool | Callable[[float], None] = True,
) -> Tracking:
    """Drive a robot's dynamic model along a motion by feed-forward, and look how far from it it goes.

    Each motor gets the command by which it gives the torque that inverse dynamics asks of it (a voltage: R i + K_e ω),
    at the motion's own position and rate. Steering by motors that don't hold angles themselves also gets
    J (b² (δ* − δ) + 2 b (δ̇* − δ̇)), of the measured angle. Nothing else is fed back: what slips or saturates stays off.

    Parameters
    ----------
    robot : Robot, Model, Document, path or mapping
        With motors on its wheels. Its wheels' contact laws say whether and how they slip.
    motion : Motion or Driven
        Of its modules: what `plan`, `drive` and `follow` give.
    parameters : mapping of str to number or str
        Changed values of the model that is driven; the commands come from the robot as described.
    bandwidth : float, rad/s
        b, of steering by motors that don't hold angles.
    samples : int
        How many equal times to store.
    progress : bool or callable
        As in `simulate`.

    Returns
    -------
    Tracking
        The run, its errors, and the forces that the motion takes.

    Raises
    ------
    InputError
        A mass is missing, a motor doesn't say by which command it gives a torque, the motion is of other modules or is
        none, or the bandwidth isn't positive.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.swerve()
    >>> limits = trundle.Limits(steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=1)
    >>> tracking = trundle.track(robot, trundle.plan(robot, (0, 0.5, 0), limits=limits))
    >>> tracking.largest["position"] < 0.02
    True
    """
    motion = motion_of(motion, "track")
    if not number(bandwidth, "bandwidth", "rad/s") > 0:
        raise InputError(f"expected a bandwidth > 0 rad/s, got {bandwidth!r}", key="bandwidth")
    # Opened once: what leads to a robot and to its model may be a file.
    description = opened(robot, "track")
    with Doing(progress, "tracking") as doing:
        doing.at("the robot")
        driven = DrivenRobot(robot_of(description, "track", "it has no wheels"), motion.kinematics.names)
        model = model_of(description, "track")
        doing.at("commands along the motion")
        tracker = along(driven, motion, bandwidth)
    at = np.linspace(0.0, motion.duration, whole(samples, "samples", 2))
    run = simulate(
        model,
        inputs=tracker.inputs,
        initial=_start(driven, model, motion),
        parameters=parameters,
        times=at,
        progress=progress,
    )
    with Doing(progress, "tracking") as doing:
        doing.at("forces along the motion")
        return Tracking(motion, run, motion_forces(driven, motion.samples(at)), driven)


def along(driven: DrivenRobot, motion: Motion, bandwidth: float) -> Tracker:
    """The tracker of a motion: all motors are fed forward, and steering by motors that hold no angle is fed back, too.

    A motor is told the command by which it gives the torque that the motion takes, at the motion's own position and
    rate; fed back, at the measured ones (`ByTorque`, with `bandwidth` in rad/s and the mass matrix's J). Raises
    InputError as `track` does.
    """
    if not motion.duration > 0:
        raise InputError("the motion takes no time: there is nothing to follow", key="motion")
    times = _ticks(motion)
    wanted = motion.samples(times)
    forces = motion_forces(driven, wanted)
    ahead = {name: table(times, values) for name, values in forces.commands.items()}
    assembly, places, nu = driven.here.assembly, driven.coordinates(wanted), driven.speeds(wanted)
    laws: dict[str, tuple[str, Law]] = {}
    references: dict[str, tuple[Callable[[float], float], ...]] = {}
    for column in (wheel.steering for wheel in driven.wheels if wheel.steering is not None):
        motors = driven.actuators.get(column, ())
        rate = assembly.speeds[column]
        coordinate = assembly.quantities.coordinate_of(rate)
        for actuator in motors:
            if actuator.motor.commands is units.ANGLE:
                continue
            # Motors on one axis share what moves, as they share its torque.
            inertia = float(driven.inertia(column)[column]) / len(motors)
            laws[actuator.command.name] = rate, ByTorque(actuator, rate, coordinate, inertia, bandwidth)
            wished = places[coordinate], nu[column], forces.torques[actuator.name]
            references[rate] = tuple(table(times, values).value for values in wished)

    def aims(time: float, state: Mapping[str, float]) -> dict[str, Aim]:
        return {rate: Aim(*(value(time) for value in values)) for rate, values in references.items()}

    return Tracker(aims, laws, {name: signal for name, signal in ahead.items() if name not in laws})


def _ticks(motion: Motion) -> FloatArray:
    """Times of commands: ticks, and both sides of the motion's breaks."""
    count = max(int(np.ceil(motion.duration / TICK)), 1)
    inner = motion.breaks[1:-1]
    beside = np.concatenate([np.linspace(0.0, motion.duration, count + 1), inner, inner - _BESIDE])
    times = np.unique(beside)
    return times[np.concatenate([[True], np.diff(times) > _BESIDE / 2])]


def _start(driven: DrivenRobot, model: Model, motion: Motion) -> dict[str, float]:
    """The states at the start: pose, steering, and the independent speeds u with S(q) u = ν."""
    wanted = motion.samples(np.zeros(1))
    where = {name: float(values[0]) for name, values in driven.coordinates(wanted).items()}
    where |= dict(zip(("x", "y", "theta"), motion.start, strict=True))
    here = driven.here
    posed = here.configured([where.get(name, start) for name, start in zip(here.names, here.q, strict=True)])
    basis = np.array(posed.basis.matrix, dtype=float)[driven.columns]
    # The motion says ν of some columns, and of ideal wheels more than there are u: least squares meets all of them.
    u = np.linalg.lstsq(basis, driven.speeds(wanted)[driven.columns, 0], rcond=None)[0]
    speeds = dict(zip(posed.basis.labels, u.tolist(), strict=True))
    return {name: value for name, value in {**where, **speeds}.items() if name in model.states}
