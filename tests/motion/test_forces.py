"""From motions to forces: what motors and ground have to give, limits that they imply, and how a robot follows."""

import math

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import catalog
from trundle.errors import InputError
from trundle.motion.forces.forces import DrivenRobot, motion_forces
from trundle.robot.motors import DCMotor, Drive, ServoMotor, TorqueMotor, VelocityMotor

LIMITS = trundle.Limits(
    steering_rate=4,
    steering_acceleration=20,
    steering_jerk=200,
    drive_speed=1,
    drive_acceleration=1.5,
    drive_jerk=10,
)


@pytest.fixture(scope="module")
def motion():
    return trundle.plan(catalog.swerve(), [(0, 0.8, 0), (0.3, 0.3, 0.5), (0, 0, 0)], limits=LIMITS)


def test_contacts_move_the_mass_and_motors_pay_for_its_energy(motion):
    """Newton's law for the base's acceleration in the world; and P = dT/dt, T by the model's own mass matrix."""
    robot = catalog.swerve()
    names, model = trundle.kinematics(robot).names, trundle.derive(robot)
    driven = DrivenRobot(catalog.swerve(contact="ideal"), names)
    h, times = 1e-5, np.linspace(0.05, motion.duration - 0.05, 40)
    samples = motion.samples(times)
    forces = motion_forces(driven, samples)
    pushed = [
        np.sum(
            forces.traction * turn(samples.angle) + sign * forces.side_force * other(samples.angle), axis=1
        )
        for turn, other, sign in ((np.cos, np.sin, -1), (np.sin, np.cos, 1))
    ]
    v, rate = samples.twist.T, samples.twist_rate.T
    mass = 40.0 + 4 * 2.5
    np.testing.assert_allclose(pushed[0], mass * (rate[0] - v[2] * v[1]), atol=1e-9)
    np.testing.assert_allclose(pushed[1], mass * (rate[1] + v[2] * v[0]), atol=1e-9)

    def energy(at):
        each = motion.samples(at)
        q = {name: value for name, value in driven.coordinates(each).items() if name in model.coordinates}
        nu = driven.speeds(each)
        matrix = model.mass_matrix({name: q.get(name, np.zeros(len(at))) for name in model.coordinates})
        return np.einsum("in,ijn,jn->n", nu, matrix, nu) / 2

    power = sum(
        forces.torques[each.name] * driven.speeds(samples)[column]
        for column, motors in driven.actuators.items()
        for each in motors
    )
    np.testing.assert_allclose(power, (energy(times + h) - energy(times - h)) / (2 * h), atol=2e-4)


@pytest.mark.parametrize(
    "make", [catalog.swerve, catalog.differential_drive, catalog.ackermann, catalog.mecanum]
)
def test_motors_pay_for_what_contacts_lose_by_slipping(make):
    """Σ τ ω of wheels that turn as they creep is dT/dt, which ideal wheels take, and −Σ f·v of forces and slips."""
    path = trundle.pose_path([(0, 0), (2, 0.8), (4, 0)])
    limits = trundle.Limits(drive_speed=4, drive_acceleration=3)
    slipping, ideal = (
        make(contact=contact, friction=0.6, motor="kraken_x60") for contact in ("slip", "ideal")
    )
    motion = trundle.follow(path, slipping, limits=limits, grip=None).motion
    times = np.linspace(0, motion.duration, 101)
    samples, names = motion.samples(times), motion.kinematics.names
    powers = []
    for robot in (slipping, ideal):
        driven = DrivenRobot(robot, names)
        forces, rates = motion_forces(driven, samples), driven.speeds(samples)
        for k, wheel in enumerate(driven.wheels):
            rollers = motion.kinematics.modules[k].rollers
            a, b = (1.0, 0.0) if rollers is None else map(float, rollers)
            faster = -forces.slip_along[:, k] - b / a * forces.slip_across[:, k]
            rates[wheel.spin] += faster / float(wheel.radius)
        powers.append(
            sum(forces.torques[m.name] * rates[c] for c, ms in driven.actuators.items() for m in ms)
        )
        if robot is slipping:
            lost = -(forces.traction * forces.slip_along + forces.side_force * forces.slip_across).sum(axis=1)
    quick = np.hypot(*samples.twist[:, :2].T) > 2  # slower wheels are led aside less
    assert quick.sum() > 20
    assert lost[quick].max() > 1
    np.testing.assert_allclose((powers[0] - powers[1])[quick], lost[quick], rtol=0.06, atol=0.02)


@pytest.mark.parametrize("make", [catalog.differential_drive, catalog.ackermann])
def test_wheels_on_one_axle_slip_across_as_one(make):
    """What they give together is what the base takes; how they share it their one slip says."""
    robot = make(contact="slip", friction=1.0, motor="kraken_x60")
    path = trundle.pose_path([(0, 0), (2, 0.8), (4, 0)])
    motion = trundle.follow(
        path, robot, limits=trundle.Limits(drive_speed=3, drive_acceleration=3), grip=None
    ).motion
    names = motion.kinematics.names
    forces = motion_forces(DrivenRobot(robot, names), motion.samples(np.linspace(0, motion.duration, 101)))
    axle = [k for k, module in enumerate(motion.kinematics.modules) if not module.pivots]
    across = forces.slip_across[:, axle]
    assert forces.friction_use.max() < 0.95
    assert np.abs(across).max() > 2e-3
    assert np.abs(np.subtract(*np.hypot(forces.traction, forces.side_force)[:, axle].T)).max() > 1
    np.testing.assert_allclose(across[:, 0], across[:, 1], atol=1e-12)


@pytest.mark.parametrize("motor", mostly_slow([None, "kraken_x60"], [None]))
@pytest.mark.slow
def test_a_robot_whose_wheels_creep_follows_a_plan_by_feed_forward(motor, motion):
    robot = catalog.swerve(motor=motor)
    tracking = trundle.track(robot, motion, samples=201)
    worst = tracking.largest
    assert worst["position"] < 2e-3
    assert worst["heading"] < 1e-3
    forces = tracking.forces
    for k, wheel in enumerate(robot.wheels):  # they creep as their forces need: rates and angles lead by it
        for way, needed in (("rolling", forces.slip_along[:, k]), ("lateral", forces.slip_across[:, k])):
            np.testing.assert_allclose(tracking.run[f"{wheel}.{way}_slip"], needed, atol=5e-4)
    # Together the wheels move the mass: the wheel that uses most of its grip uses no less than all of them on average.
    samples = motion.samples(tracking.run.time)
    v, rate = samples.twist.T, samples.twist_rate.T
    needed = 50.0 * np.hypot(rate[0] - v[2] * v[1], rate[1] + v[2] * v[0])
    assert (needed / tracking.forces.grip.sum(axis=-1)).max() <= worst["friction_use"] < 1
    for k, wheel in enumerate(robot.wheels):  # the simulated contacts find the same forces
        assert np.abs(tracking.run[f"{wheel}.traction"] - tracking.forces.traction[:, k]).max() < 1.5
    slippery = trundle.track(
        robot, motion, parameters={f"wheels.{n}.slip_speed": 0.1 for n in robot.wheels}, samples=11
    )
    assert slippery.largest["position"] > 5 * worst["position"]


@pytest.mark.slow
def test_saturated_motors_show_as_errors(motion):
    """4 V are not enough for 1 m/s: the robot stays behind, which the commands could tell."""
    robot = catalog.swerve()
    weak = {f"motors.{name}_drive.voltage_limit": 4.0 for name in robot.wheels}
    tracking = trundle.track(robot, motion, parameters=weak, samples=51)
    assert (
        max(np.abs(each).max() for name, each in tracking.forces.commands.items() if "voltage" in name) > 4.5
    )
    assert tracking.largest["position"] > 0.1


@pytest.mark.slow
def test_ideal_wheels_and_steering_by_motors_that_hold_no_angle():
    data = catalog.document("swerve", modules=2).robot
    motors = {
        name: {
            "type": "dc",
            "drives": motor.drives,
            "torque_constant": 0.05,
            "resistance": 0.5,
            "gear_ratio": 20,
        }
        for name, motor in data.motors.items()
    }
    robot = data.model_copy(update={"motors": {n: DCMotor(**each) for n, each in motors.items()}})
    motion = trundle.plan(robot, [(0.8, 0.2, 0), (0.3, 0.1, 0.5), (0, 0, 0)], limits=LIMITS)
    tracking = trundle.track(robot, motion, samples=101)
    assert tracking.largest["position"] < 2e-3
    assert tracking.largest["steering"] < 2e-3


def test_commands_give_their_torques(rng):
    torque, position, rate = rng.normal(size=3)
    kinds = (
        DCMotor(drives="x", torque_constant=0.05, resistance=0.5, gear_ratio=-8, friction=1e-4, coulomb=0.01),
        TorqueMotor(drives="x", gear_ratio=3),
        ServoMotor(drives="x", stiffness=40, damping=4),
        VelocityMotor(drives="x", gain=2),
    )
    for motor in kinds:
        read = _read
        drive = Drive(0.0, position, rate, {})
        drive = drive._replace(command=motor.command_for(torque, drive, read))
        assert motor.effort(drive, read).torque == pytest.approx(torque, rel=1e-12), motor.type


def _read(value):
    return float(value.number)


def test_greatest_torques():
    keys = {"drives": "x", "torque_constant": 0.05, "resistance": 0.5}
    motor = DCMotor(**keys, gear_ratio=-8, voltage_limit=24, current_limit=20)
    at = [float(motor.greatest_torque(Drive(0, 0, rate, {}), _read)) for rate in (0.0, 20.0, 50.0, 60.0)]
    np.testing.assert_allclose(at, [8, 8, 8 * 0.05 * (24 - 20) / 0.5, 0], atol=1e-12)
    assert DCMotor(**keys).greatest_torque(Drive(0, 0, 0, {}), _read) is None
    fed = DCMotor(**keys).greatest_torque(Drive(0, 0, 0, {}, 12.0), _read)
    assert fed == pytest.approx(0.05 * 12 / 0.5)


@pytest.mark.slow
def test_limits_that_motors_imply_can_be_planned_with_and_followed():
    robot = catalog.swerve()
    implied = trundle.motor_limits(robot, speed="1.5 m/s")
    assert {each.drive_speed for each in implied.values()} == {1.5}
    most = implied["front_left"].drive_acceleration
    # Friction comes before the motors: across a corner, whose wheel accelerations unload, m a/4 = μ m (g/4 − h a/√2).
    height = (40 * 0.15 + 4 * 2.5 * 0.05) / 50
    assert most == pytest.approx(0.8 * 9.81 / (1 + 2 * math.sqrt(2) * 0.8 * height), rel=1e-5)
    slow = trundle.motor_limits(robot, speed=2.8)["front_left"].drive_acceleration
    torque = 8 * 0.05 * (24 - 8 * 0.05 * 2.8 / 0.05) / 0.5
    rotor = 8**2 * 2e-5 + 1.0 * 0.05**2 / 2
    assert slow == pytest.approx(torque / (0.05 * 12.5 + rotor / 0.05), rel=1e-5)
    steering = {"steering_rate": 4, "steering_acceleration": 30, "steering_jerk": 300, "drive_jerk": 40}
    limits = {
        name: trundle.Limits(
            drive_speed=each.drive_speed, drive_acceleration=each.drive_acceleration, **steering
        )
        for name, each in implied.items()
    }
    plan = trundle.plan(robot, [(1.2, 0, 0), (0, 0, 0)], limits=limits)
    tracking = trundle.track(robot, plan, samples=101)
    assert tracking.largest["friction_use"] < 1.0
    assert (
        max(np.abs(each).max() for name, each in tracking.forces.commands.items() if "voltage" in name) < 24
    )


def test_no_acceleration_from_rest_takes_more_than_the_limits_allow(rng):
    """Random places, mass and yaw inertia: whatever way the base speeds up, no wheel carries more than it can."""
    from tests.motion.test_against_wpimath import drive

    robot = drive(rng.uniform(-1, 1, (4, 2)))
    found = trundle.motor_limits(robot)
    matrix = trundle.kinematics(robot).matrix
    driven = DrivenRobot(robot, trundle.kinematics(robot).names)
    base = list(driven.here.assembly.base_columns)
    mass = np.array([driven.inertia(column)[base] for column in base])
    rates = rng.normal(size=(50_000, 3)) * [1, 1, 2]
    rates[::2, 2] *= 1e-4  # all wheels are nearly as fast there, where the ratio has a ridge
    size = np.linalg.norm((rates @ matrix.T).reshape(-1, 4, 2), axis=2).max(axis=1)
    force = np.linalg.norm((rates @ mass @ np.linalg.pinv(matrix)).reshape(-1, 4, 2), axis=2)
    assert found is not None
    assert math.isinf(found["m0"].drive_speed)  # no motors, ideal wheels: nothing implies a limit
    from trundle.motion.forces.motor_limits import _masses

    assert (force / size[:, None] <= np.array(_masses(driven, matrix))).all()


@pytest.mark.slow
def test_casters_may_be_left_out_of_a_motion():
    """A tricycle's motion at the level of its body, whose caster follows by itself."""
    robot = catalog.robot("tricycle")
    ahead = {"name": "ahead", "commands": [{"duration": 2, "twist": {"v_x": 0.5}}]}
    motion = trundle.drive({"motion": ahead}, robot, level="body").motion
    tracking = trundle.track(robot, motion, samples=51)
    assert tracking.largest["position"] < 0.02


def test_what_cannot_be_followed_says_so(motion):
    with pytest.raises(InputError, match="a module 'front_left'"):
        trundle.track(catalog.swerve(modules=3), motion)
    with pytest.raises(InputError, match="rollers"):
        trundle.motor_limits(catalog.mecanum())
    with pytest.raises(InputError, match="can't accelerate"):
        trundle.motor_limits(catalog.swerve(), speed=50.0)
