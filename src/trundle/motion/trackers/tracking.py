"""A motion fed to the dynamic model of its robot, and how far from it the robot goes.

What leads it comes from inverse dynamics (`feed_forward.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model import Model
from trundle.model.arguments import Given, model_of, number, opened, robot_of
from trundle.motion.forces.forces import DrivenRobot, MotionForces, motion_forces
from trundle.motion.pieces.motion import Motion, Samples, motion_of
from trundle.motion.trackers.feed_forward import along
from trundle.progress import Doing
from trundle.results import Run
from trundle.simulation.dynamic import dynamic_problem
from trundle.simulation.options import options_of, whole
from trundle.simulation.problem import solve

if TYPE_CHECKING:
    from trundle.motion.commands.drive import Driven


# Of a step: a competition swerve on a battery is at most 1e-8 m off after 6 s, which no slip is near.
_RTOL = 1e-8


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
    J (b² (δ* − δ) + 2 b (δ̇* − δ̇)), of the measured angle.
    Where wheels slip they are led to the rates and angles at which they creep as the motion's forces need, and a servo
    on the pose adds the twist k (R(−θ) (p* − p), θ* − θ), k = 20/s. Else nothing is fed back: what saturates stays off.

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
        lead = along(driven, motion, bandwidth)
    at = np.linspace(0.0, motion.duration, whole(samples, "samples", 2))
    options = options_of(None, samples, times=at, rtol=_RTOL)
    follows = lead.follows(model)
    inputs = (
        {name: lead.signals[name] for name in lead.signals if name in model.inputs}
        if follows
        else lead.inputs
    )
    problem = dynamic_problem(model, inputs, _start(driven, model, motion), parameters, options)
    if follows and lead.laws:
        beside = {name: signal for name, signal in lead.signals.items() if name not in problem.signals}
        problem = replace(problem, law=lead.program(model), signals={**problem.signals, **beside})
    run = solve(problem, progress)
    with Doing(progress, "tracking") as doing:
        doing.at("forces along the motion")
        return Tracking(motion, run, motion_forces(driven, motion.samples(at), motion.pushes(at)), driven)


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
