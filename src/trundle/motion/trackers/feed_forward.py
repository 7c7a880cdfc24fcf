"""What drives a robot along a motion: every motor's command by inverse dynamics, and steering and pose led back.

    Motion ──► forces at nodes ──► `Lead`: signals, smooth between the motion's breaks ──► a law, compiled

What a motor is told hangs on time alone, or by `ByTorque` on where its axis is and how fast it turns. That law is
affine in what leads it, τ* + J b (b q* + 2 q̇*), so one signal an input is enough. Where wheels slip, those that the
`PoseServo` asks for stand behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.coupling import Linkage
from trundle.mechanics.steering import steering_gain
from trundle.model import Model
from trundle.motion.forces.forces import DrivenRobot, MotionForces, motion_forces
from trundle.motion.pieces.motion import Motion, Samples
from trundle.motion.trackers.pose_servo import LEADS, POSE, PoseServo, ServoLaw, leads
from trundle.motion.trackers.tracker import ByTorque, asked_together
from trundle.program import Program, Tracer
from trundle.robot import units
from trundle.scalars import Scalar
from trundle.simulation.signals import Signal
from trundle.simulation.stretches import smooth_between

# How far apart inverse dynamics is asked for (s): cubics between are off by h⁴/384 of the fourth derivative, which for
# a motion with time constants of 10 ms is 3e-7 of it.
TICK = 1e-3
# How quickly rates of wheels that slip come to what is wanted (1/s), as if their share of the robot moved with them.
ROLL = 20.0
# Nodes of a stretch at least, its ends among them: a cubic has four.
_NODES = 4
# Where accelerations jump the commands do, too: how far before a break (s) the last node of a stretch looks. Of a
# minute's motion a double resolves 1e-14 s. Shorter stretches than the second number are left to the next one.
_BESIDE, _SHORT = 1e-9, 1e-6


# A law of an input: from what leads the inputs and the states, by name, in any scalar.
_Law = Callable[[Mapping[str, Scalar], Mapping[str, Scalar]], Scalar]


@dataclass(frozen=True, eq=False)
class Lead:
    """What leads a robot's inputs along a motion.

    Parameters
    ----------
    signals : mapping of str to Signal
        By input: its command, or where it has a law what leads that, such as the torque that is wished for at place
        and rate 0. Behind them what all laws share.
    laws : mapping of str to callable
        Of the inputs that hang on the state.
    asks : frozenset of str
        The states that the laws read.
    """

    signals: Mapping[str, Signal]
    laws: Mapping[str, _Law]
    asks: frozenset[str]

    def command(self, time: float, state: Mapping[str, float]) -> dict[str, float]:
        """The same in Python, one time at a time: all inputs by name."""
        led = {name: signal.value(time) for name, signal in self.signals.items()}
        return {
            name: float(self.laws[name](led, state)) if name in self.laws else value
            for name, value in led.items()
            if name not in LEADS
        }

    @property
    def inputs(self) -> dict[str, Signal]:
        """The same for `simulate`, which asks for the inputs one by one."""
        ahead = {name: signal for name, signal in self.signals.items() if name not in (*self.laws, *LEADS)}
        return {**ahead, **asked_together(self.command, self.laws)}

    def follows(self, model: Model) -> bool:
        """Whether the model's own states are all that the laws ask for."""
        return self.asks <= set(model.states)

    def program(self, model: Model) -> Program:
        """From the state and what leads the inputs, in their places, to the model's inputs."""
        labels = {group.name: group.labels for group in model.dynamics.inputs}
        told = labels["input"]
        labels |= {"input": (*told, *(name for name in self.signals if name not in told))}
        tracer = Tracer(*labels)
        states, led = (
            dict(zip(labels[k], tracer.inputs(k, len(labels[k])), strict=True))
            for k in labels
            if k != "parameter"
        )
        values = [self.laws[name](led, states) if name in self.laws else led[name] for name in told]
        return tracer.program("feed forward", labels, {"input": (told, values)})


def along(driven: DrivenRobot, motion: Motion, bandwidth: float) -> Lead:
    """What leads a robot along a motion: all motors are fed forward; steering by motors that hold no angle is fed back,
    and where wheels slip the pose.

    A motor is told the command by which it gives the torque that the motion takes, at the motion's own position and
    rate; fed back, at the measured ones (`ByTorque`, with `bandwidth` in rad/s and the mass matrix's J). Wheels that
    slip are led to the rates and angles at which they creep as the motion's forces need. Raises InputError as `track`
    does.
    """
    if not motion.duration > 0:
        raise InputError("the motion takes no time: there is nothing to follow", key="motion")
    nodes = _nodes(motion)
    times = np.concatenate(nodes)
    wanted = motion.samples(times)
    forces = motion_forces(driven, wanted, motion.pushes(times))
    columns, laws, asks = dict(forces.commands), dict[str, _Law](), set[str]()
    for axis in _axes(driven, motion, wanted, forces, bandwidth):
        for actuator in driven.actuators.get(axis.column, ()):
            name = actuator.command.name
            if (led := axis.law(actuator, forces.torques[actuator.name])) is not None:
                columns[name], laws[name], states = led
                asks |= states
    if asks & set(POSE):
        columns |= dict(zip(LEADS, leads(motion, times, wanted, forces.slip_across).T, strict=True))
    values = np.split(np.stack(list(columns.values()), axis=1), np.cumsum([len(t) for t in nodes])[:-1])
    # A stretch ends where the next one begins, and the last node looks just before.
    ends = [float(times[0]) for times in nodes[1:]] + [motion.duration]
    closed = [np.append(times[:-1], end) for times, end in zip(nodes, ends, strict=True)]
    signals = dict(zip(columns, smooth_between(closed, values), strict=True))
    return Lead(signals, laws, frozenset(asks))


@dataclass(frozen=True, eq=False)
class _Axis:
    """An axis that motors turn along a motion: where it shall be (n,; None: it turns for ever), how fast, the inertia
    that moves with it, and what a servo on the pose adds to where, or how fast.
    """

    driven: DrivenRobot
    column: int
    place: FloatArray | None
    speed: FloatArray
    inertia: float
    bandwidth: float
    more: ServoLaw | None

    def law(self, actuator: Actuator, torque: FloatArray) -> tuple[FloatArray, _Law, set[str]] | None:
        """What leads a motor that gives a torque, its law, and the states that this reads; None where time alone leads
        it.
        """
        assembly, name, more = self.driven.here.assembly, actuator.command.name, self.more
        rate, asks = assembly.speeds[self.column], set[str]() if more is None else set(more.asks)
        if actuator.motor.commands is units.ANGLE:
            if more is None or self.place is None:
                return None
            ahead = actuator.command_for(torque, self.place, self.speed)

            def turn(led: Mapping[str, Scalar], state: Mapping[str, Scalar]) -> Scalar:
                return led[name] + actuator.command_for(0.0, more.value(led, state), 0.0)

            return ahead, turn, asks
        coordinate = None if self.place is None else assembly.quantities.coordinate_of(rate)
        # Motors on one axis share what moves, as they share its torque.
        shared = self.inertia / len(self.driven.actuators[self.column])
        law = ByTorque(actuator, rate, coordinate, shared, self.bandwidth)
        gain = law.aim_torque(0.0, 1.0, 0.0) if self.place is None else law.aim_torque(1.0, 0.0, 0.0)

        def push(led: Mapping[str, Scalar], state: Mapping[str, Scalar]) -> Scalar:
            back = 0.0 if more is None else gain * more.value(led, state)
            return law.command(led[name] + back, state)

        wished = law.aim_torque(0.0 if self.place is None else self.place, self.speed, torque)
        return wished, push, asks | {rate} | ({coordinate} if coordinate else set())


def _axes(
    driven: DrivenRobot, motion: Motion, wanted: Samples, forces: MotionForces, bandwidth: float
) -> Iterator[_Axis]:
    """The axes whose motors are fed back: steering, and where wheels slip what rolls and linkages."""
    places, nu, assembly = driven.coordinates(wanted), driven.speeds(wanted), driven.here.assembly
    slips = any(wheel.law.pushes for wheel in driven.wheels)
    servo = PoseServo(motion.kinematics.drive) if slips else None
    mass = sum(float(link.inertia.mass) for link in assembly.tree.links) / len(driven.wheels)
    for k, (wheel, module) in enumerate(zip(driven.wheels, motion.kinematics.modules, strict=True)):
        name = (
            None
            if wheel.steering is None
            else assembly.quantities.coordinate_of(assembly.speeds[wheel.steering])
        )
        led = servo
        if wheel.steering is not None and name is not None:
            moves = float(driven.inertia(wheel.steering)[wheel.steering])
            aside = (
                0.0 if led is None else -forces.slip_across[:, k] * steering_gain(wanted.drive_speed[:, k])
            )
            more = None if led is None else led.steering(wheel, wheel.position, driven.headings[k], name)
            yield _Axis(
                driven, wheel.steering, places[name] + aside, nu[wheel.steering], moves, bandwidth, more
            )
        if wheel.spin is not None and led is not None:
            a, b = (1.0, 0.0) if module.rollers is None else map(float, module.rollers)
            creep = forces.slip_along[:, k] + b / a * forces.slip_across[:, k]
            radius = float(wheel.radius)
            moves = mass * radius**2 + float(driven.inertia(wheel.spin)[wheel.spin])
            more = led.rolling(wheel, module, driven.headings[k], name)
            yield _Axis(driven, wheel.spin, None, nu[wheel.spin] - creep / radius, moves, ROLL, more)
    for linkage in assembly.linkages:
        if servo is not None and linkage.axis.coordinate in places:
            yield _linked(driven, linkage, servo, wanted, forces, bandwidth)


def _linked(
    driven: DrivenRobot,
    linkage: Linkage,
    servo: PoseServo,
    wanted: Samples,
    forces: MotionForces,
    bandwidth: float,
) -> _Axis:
    """The axis of a linkage: it steers as the wheel in the middle of its own would."""
    columns = [axis.column for axis in linkage.followers]
    own = [k for k, wheel in enumerate(driven.wheels) if wheel.steering in columns]
    place = tuple(sum(float(driven.wheels[k].position[i]) for k in own) / len(own) for i in (0, 1))
    heading, name, column = float(driven.headings[own[0]]), linkage.axis.coordinate, linkage.column
    creep = forces.slip_across[:, own].mean(axis=1)
    aside = -creep * steering_gain(wanted.drive_speed[:, own].mean(axis=1))
    where, rate = driven.coordinates(wanted)[name] + aside, driven.speeds(wanted)[column]
    moves = sum(float(driven.inertia(each)[each]) for each in columns) + float(linkage.armature)
    more = servo.steering(driven.wheels[own[0]], (place[0], place[1]), heading, name)
    return _Axis(driven, column, where, rate, moves, bandwidth, more)


def _nodes(motion: Motion) -> list[FloatArray]:
    """Times of commands, stretch by stretch between the motion's breaks; before a break the last is just before it."""
    inner = [float(t) for t in motion.breaks if _SHORT < t < motion.duration - _SHORT]
    edges = [0.0]
    for t in inner:
        if t - edges[-1] > _SHORT:
            edges.append(t)
    edges.append(motion.duration)
    found = [np.linspace(a, b, max(int(np.ceil((b - a) / TICK)) + 1, _NODES)) for a, b in pairwise(edges)]
    for times in found[:-1]:
        times[-1] -= _BESIDE
    return found
