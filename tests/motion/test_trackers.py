"""Trackers: errors decay as designed, a motion is a fixed point of its own tracker, one step is what runs are fed."""

import math

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.model import arguments
from trundle.motion.forces.forces import DrivenRobot, motion_forces
from trundle.motion.trackers.feed_forward import along
from trundle.motion.trackers.tracker import (
    Aim,
    ByHeldTorque,
    ByRate,
    ByTorque,
    Tracker,
    measured,
    module_aims,
)
from trundle.robot.motors import DCMotor

LIMITS = trundle.Limits(
    steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=1.5, drive_jerk=10
)
DC = {"type": "dc", "torque_constant": 0.05, "resistance": 0.5, "gear_ratio": 20, "rotor_inertia": 2e-5}
MOTORS = {
    "torque": {"type": "torque", "gear_ratio": 3},
    "dc": DC,
    "velocity": {"type": "velocity", "gain": 0.7},
}


def dc_steered():
    """A swerve drive whose steering's motors hold no angle by themselves."""
    robot = catalog.swerve(modules=2)
    motors = {name: DCMotor(drives=motor.drives, **DC) for name, motor in robot.motors.items()}
    return robot.model_copy(update={"motors": motors})


@pytest.mark.parametrize("name", ["mecanum", "three_omni"])
@pytest.mark.slow
def test_a_base_led_back_to_a_motion_comes_nearer_exponentially(name):
    """ṗ − ṗ* = −k (p − p*) and θ̇ − θ̇* = −k_θ (θ − θ*), whatever the base turns meanwhile."""
    robot = catalog.robot(name)
    turn = {"name": "turn", "commands": [{"duration": 1, "twist": {"v_x": 0.4, "v_y": 0.2, "omega": 0.7}}]}
    motion = trundle.drive({"motion": turn}, robot, level="body").motion
    kinematics = motion.kinematics

    def back(time, pose):
        twist, wanted = motion.samples([time]).twist[0], motion.poses([time])[0]
        v = complex(twist[0], twist[1]) * np.exp(1j * wanted[2])
        return trundle.holonomic_twist(wanted, (v.real, v.imag, twist[2]), pose, (3.0, 5.0))

    def aims(time, state):
        pose = [state[part] for part in ("x", "y", "theta")]
        wanted = kinematics.module_states(*back(time, pose), previous=measured(kinematics, state))
        return module_aims(kinematics, wanted)

    tracker = Tracker(aims, {f"{wheel}.rate": (f"{wheel}.rate", ByRate(None, 0.0)) for wheel in robot.wheels})
    off, times = np.array([0.1, -0.2, 0.3]), np.linspace(0.0, 1.0, 21)
    start = dict(zip(("x", "y", "theta"), off, strict=True))
    run = trundle.roll(robot, inputs=tracker.inputs, initial=start, times=times, rtol=1e-9, progress=False)
    errors = np.stack([run[part] for part in start], axis=1) - motion.poses(times)
    expected = off * np.exp(-np.outer(times, [3.0, 3.0, 5.0]))
    np.testing.assert_allclose(errors, expected, atol=1e-8)


def test_the_wished_twist_brings_errors_to_zero_exponentially(rng):
    """A base that does what is wished: ṗ − ṗ* = −k (p − p*), whatever it turns meanwhile."""
    wanted, velocity, pose = rng.normal(size=(3, 3))
    pose[2] = wanted[2] + 0.4 + 2 * math.pi
    twist = trundle.holonomic_twist(wanted, velocity, pose, (3.0, 5.0))
    turned = complex(*twist[:2]) * np.exp(1j * pose[2])
    assert (turned.real, turned.imag) == pytest.approx(tuple(velocity[:2] - 3 * (pose - wanted)[:2]))
    assert twist[2] == pytest.approx(velocity[2] - 5 * 0.4)
    with pytest.raises(trundle.InputError, match="two gains above 0"):
        trundle.holonomic_twist(wanted, velocity, pose, (0.0, 1.0))


@pytest.mark.parametrize("kind", MOTORS)
@pytest.mark.slow
def test_a_joint_held_by_torques_comes_back_critically_damped(kind):
    """q − q* = (1 + b t) e^(−b t) of what it was; without a place q̇ − q̇* = e^(−b t): by the motor's own physics."""
    body = {"name": "bar", "mass": 2.0, "inertia": {"zz": 0.03}}
    joint = {"type": "revolute", "axis": [0, 0, 1], "parent": "base", "body": body}
    robot = {"name": "bar", "joints": {"hinge": joint}, "motors": {"m": {"drives": "hinge", **MOTORS[kind]}}}
    model = trundle.derive(trundle.load({"robot": robot}))
    (actuator,), (inertia,) = DrivenRobot(model.robot, ()).here.assembly.actuators, model.mass_matrix([0.0])
    times, b = np.linspace(0.0, 0.5, 11), 12.0
    goals = {"hinge.angle": Aim(0.4, 0.0), None: Aim(0.0, 3.0)}
    for coordinate, aim in goals.items():
        law = ByTorque(actuator, "hinge.rate", coordinate, float(inertia[0]), b)
        tracker = Tracker(
            lambda time, state, aim=aim: {"hinge.rate": aim}, {actuator.command.name: ("hinge.rate", law)}
        )
        run = trundle.simulate(model, inputs=tracker.inputs, times=times, progress=False)
        decay = np.exp(-b * times)
        if coordinate is None:
            np.testing.assert_allclose(run["hinge.rate"], 3.0 * (1 - decay), atol=1e-6)
        else:
            np.testing.assert_allclose(run[coordinate], 0.4 * (1 - (1 + b * times) * decay), atol=1e-6)


@pytest.mark.parametrize("kind", ["torque", "dc", "stiff"])
def test_a_joint_held_by_commands_of_100_hz_comes_there_without_swinging(kind):
    """Also by a motor whose back-EMF holds it within less than a step: torques at its rate leave it behind."""
    body = {"name": "bar", "mass": 2.0, "inertia": {"zz": 0.03}}
    joint = {"type": "revolute", "axis": [0, 0, 1], "parent": "base", "body": body}
    motor = {"drives": "hinge", **MOTORS.get(kind, DC | {"gear_ratio": 200, "rotor_inertia": 0.0})}
    model = trundle.derive(
        trundle.load({"robot": {"name": "bar", "joints": {"hinge": joint}, "motors": {"m": motor}}})
    )
    (actuator,), (inertia,) = DrivenRobot(model.robot, ()).here.assembly.actuators, model.mass_matrix([0.0])
    law = ByHeldTorque(actuator, "hinge.rate", "hinge.angle", float(inertia[0]), 25.0)
    step, state, angles = 0.01, {"hinge.angle": 0.0, "hinge.rate": 0.0}, []
    for _ in range(50):
        told = {actuator.command.name: law(Aim(0.4, 0.0), state)}
        run = trundle.simulate(model, step, told, initial=state, samples=2, progress=False)
        state = {name: float(run[name][-1]) for name in state}
        angles.append(state["hinge.angle"])
    assert 0.39 < angles[-1] < 0.404
    assert max(angles) < 0.404


def test_a_motion_is_a_fixed_point_of_its_tracker():
    """On the motion the commands are inverse dynamics' own; a steering that is off adds J b² of what it lacks."""
    robot = dc_steered()
    motion = trundle.plan(robot, [(0.8, 0.2, 0), (0, 0, 0)], limits=LIMITS)
    driven = DrivenRobot(robot, motion.kinematics.names)
    tracker = along(driven, motion, 60.0)
    times = np.linspace(0.0, motion.duration, math.ceil(motion.duration / 1e-3) + 1)[[0, 40, 333]]
    wanted = motion.samples(times)
    forces, where, nu = motion_forces(driven, wanted), driven.coordinates(wanted), driven.speeds(wanted)
    speeds = driven.here.assembly.speeds
    for place, time in enumerate(times):
        state = {name: float(values[place]) for name, values in where.items()}
        state |= {name: float(values[place]) for name, values in zip(speeds, nu, strict=True)}
        commands = tracker.command(time, state)
        assert set(commands) == set(forces.commands)
        for name, value in commands.items():
            assert value == pytest.approx(forces.commands[name][place], rel=1e-9, abs=1e-9), name
        fed = {
            n: (s.feedback(time, state) if s.feedback else s.value(time)) for n, s in tracker.inputs.items()
        }
        assert fed == commands
        (wheel,) = driven.wheels[:1]
        off = state | {f"{wheel.name}.steering": state[f"{wheel.name}.steering"] - 0.01}
        more = tracker.command(time, off)[f"{wheel.name}_steer.voltage"]
        torque = float(driven.inertia(wheel.steering)[wheel.steering]) * 60.0**2 * 0.01
        gained = (more - commands[f"{wheel.name}_steer.voltage"]) * 20 * 0.05 / 0.5
        assert gained == pytest.approx(torque, rel=1e-9)


@pytest.mark.slow
def test_a_law_in_the_program_is_the_trackers_own():
    """`track` compiles the tracker with the model: the same run as with Python's answers, by another formula."""
    robot = dc_steered()
    motion = trundle.plan(robot, (0.3, 0.2, 0.2), limits=LIMITS)
    tracking = trundle.track(robot, motion, samples=21, progress=False)
    lead = along(DrivenRobot(robot, motion.kinematics.names), motion, 60.0)
    start = {name: tracking.run[name][0] for name in tracking.run.groups["coordinates"]}
    run = trundle.simulate(robot, inputs=lead.inputs, initial=start, times=tracking.run.time, progress=False)
    for name in (*tracking.run.groups["coordinates"], *lead.signals):
        np.testing.assert_allclose(tracking.run[name], run[name], atol=2e-6, err_msg=name)


@pytest.mark.slow
def test_a_description_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "swerve.yaml"
    path.write_text(catalog.document("swerve", modules=2).source)
    motion = trundle.plan(catalog.swerve(modules=2), (0.1, 0, 0), limits=LIMITS)
    paths = []
    load = arguments.load
    monkeypatch.setattr(
        arguments, "load", lambda given, base=None: paths.append(given) or load(given, base=base)
    )
    trundle.track(path, motion, samples=2, progress=False)
    assert paths == [path]


@pytest.mark.slow
def test_what_was_driven_is_tracked_as_its_motion_is():
    robot = trundle.catalog.swerve()
    limits = trundle.Limits(steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=1)
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (0.3, 0, 0)]), robot, limits=limits)
    one, two = (trundle.track(robot, each, samples=11) for each in (driven, driven.motion))
    assert one.largest == two.largest


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda swerve, driven: trundle.track(swerve, "score.path"),
            "track takes a motion, not 'score.path'",
        ),
        (lambda swerve, driven: trundle.track(swerve, [(0, 0), (1, 1)]), r"pose_path\(waypoints\)"),
        (lambda swerve, driven: trundle.track(swerve, driven, bandwidth=0), "bandwidth > 0"),
        (lambda swerve, driven: trundle.track(swerve, driven, bandwidth=float("nan")), "finite|not a number"),
    ],
)
def test_what_cannot_be_tracked_is_told(call, words):
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (0.3, 0, 0)]))
    with pytest.raises(trundle.InputError, match=words):
        call(trundle.catalog.swerve(), driven)
