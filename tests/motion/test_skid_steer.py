"""Bases whose wheels slide to turn: what turning takes by hand and by power, plans within it, their tracking."""

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.errors import InputError
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.forces.sliding import SlidingBase
from trundle.motion.pieces.motion import sampled
from trundle.robot.component import plain

# Half the catalogue's wheelbase and track (m), its wheels' radius (m) and friction.
A, B, RADIUS, FRICTION = 0.25, 0.3, 0.12, 0.8


def skid(**more):
    real = {"motor": "kraken_x60", "current_limit": 80, "battery": 12.6, "center_height": 0.2}
    return catalog.skid_steer(**{**real, **more})


def moving(robot, twists, rates=None):
    """Samples of twists (n, 3) and their rates."""
    drive, twists = trundle.kinematics(robot).drive, np.array(twists, dtype=float)
    rates = np.zeros_like(twists) if rates is None else np.array(rates, dtype=float)
    none = np.zeros((len(twists), len(drive.modules)))
    rolling = (drive.velocities(twists).real, drive.velocities(rates).real, none)
    return sampled(drive, (twists, rates, np.zeros_like(twists)), (none,) * 4, rolling)


def of(robot):
    return DrivenRobot(robot, trundle.kinematics(robot).names)


def test_turning_on_the_spot_by_hand():
    """All friction points at the centre: T = μN a/√(a² + b²), wheels roll faster by ω a²/b, and motors give R T."""
    robot, omega = skid(), 3.0
    forces = motion_forces(of(robot), moving(robot, [[0, 0, omega]]))
    traction = FRICTION * forces.load[0] * A / np.hypot(A, B)
    # friction is smoothed below 1 cm/s: of 1.2 m/s that leaves out (0.01/1.2)²/2
    np.testing.assert_allclose(np.abs(forces.traction[0]), traction, rtol=2e-4)
    np.testing.assert_allclose(np.abs(forces.side_force[0]), traction * B / A, rtol=2e-4)
    np.testing.assert_allclose(np.abs(forces.slip_along[0]), omega * A**2 / B, rtol=2e-4)
    np.testing.assert_allclose(np.abs(forces.slip_across[0]), omega * A, rtol=1e-9)
    torques = np.array([abs(torque[0]) for torque in forces.torques.values()])
    np.testing.assert_allclose(torques, RADIUS * traction, rtol=2e-4)
    assert forces.sliding is not None
    np.testing.assert_allclose(forces.sliding[0], A / np.hypot(A, B), rtol=2e-4)
    assert forces.friction_use.min() > 0.9999


def test_most_braking_is_at_right_angles_to_the_lever():
    """M = −Σ μN √(a² + b²) stops a turn as quickly as friction can; more of it has no answer, and says so."""
    robot = skid()
    driven, level = of(robot), moving(robot, [[0, 0, 3.0]] * 2)
    balance = ForceBalance.at(driven, level)
    yaw = driven.base_inertia[2, 2]
    most = FRICTION * driven.loads.sum() * np.hypot(A, B) / yaw
    slowing = moving(robot, [[0, 0, 3.0]] * 2, [[0, 0, -0.99 * most], [0, 0, -1.05 * most]])
    scrub = SlidingBase(balance, driven.speeds(slowing), driven.speeds(slowing, 1)).solve()
    assert (scrub.shares[0] < 1).all()
    assert (scrub.shares[0] > 0.8).all()
    assert (scrub.shares[1] > 1).any()


@pytest.mark.parametrize("twist", [(0, 0, 2), (1.5, 0, 0.8), (-1.0, 0, 0.5), (0.8, 0, -1.5), (2, 0, 0.01)])
def test_motors_pay_for_what_slides(twist):
    """At an even pace Σ τ φ̇ of the motors is all that friction takes, −Σ f·slip, with dampers' share."""
    robot = skid()
    driven, samples = of(robot), moving(robot, [twist])
    balance = ForceBalance.at(driven, samples)
    scrub = SlidingBase(balance, driven.speeds(samples), driven.speeds(samples, 1)).solve()
    forces = motion_forces(driven, samples)
    paid = sum(forces.torques[m.name][0] * scrub.nu[c, 0] for c, ms in driven.actuators.items() for m in ms)
    lost = -(forces.traction * forces.slip_along + forces.side_force * forces.slip_across).sum()
    lost -= (balance.efforts(scrub.nu) * scrub.nu).sum()
    # where the base drifts it goes aside of where it heads; that counts less at a crawl, as steering does
    assert paid == pytest.approx(lost, rel=0.01, abs=1e-6)
    assert lost > 0 or twist[2] == 0


def test_forces_are_the_laws_own_and_keep_to_newton():
    robot = skid()
    driven = of(robot)
    samples = moving(robot, [[1.5, 0, 1.0], [1.0, 0, -1.2]], [[1.0, 0, 0.5], [-0.5, 0, 1.0]])
    forces, wheel = motion_forces(driven, samples), driven.wheels[0]
    slip = np.hypot(forces.slip_along, forces.slip_across)
    given = forces.grip * slip / np.hypot(slip, float(wheel.read(wheel.law.slip_speed)))
    np.testing.assert_allclose(np.hypot(forces.traction, forces.side_force), given, rtol=1e-9)
    np.testing.assert_allclose(forces.traction, -given * forces.slip_along / slip, rtol=1e-9)
    mass, yaw = driven.base_inertia[0, 0], driven.base_inertia[2, 2]
    v, _, omega = samples.twist.T
    faster, _, turning = samples.twist_rate.T
    size = np.hypot(forces.traction.sum(axis=1), forces.side_force.sum(axis=1))
    # the base goes aside of where it heads: what its origin takes is as large, turned by so much
    np.testing.assert_allclose(size, mass * np.hypot(faster, v * omega), rtol=1e-9)
    x, y = np.array([[float(part) for part in wheel.position] for wheel in driven.wheels]).T
    np.testing.assert_allclose(forces.side_force @ x - forces.traction @ y, yaw * turning, rtol=1e-8)


CURVE = trundle.pose_path([(0, 0), (1, 0.3), (2, 0)])
SPOT = trundle.pose_path([(0, 0, 0), (0, 0, 1.5)])
LIMITS = trundle.Limits(drive_speed=1.5, drive_acceleration=2)


@pytest.fixture(scope="module")
def plans():
    return [trundle.follow(path, skid(), limits=LIMITS, progress=False) for path in (CURVE, SPOT)]


def test_plans_keep_to_declared_limits_and_tell_what_they_take(plans):
    for driven in plans:
        motion = driven.motion
        times = np.unique(np.concatenate([np.arange(0, motion.duration, 1e-4), motion.breaks]))
        samples = motion.samples(times)
        assert np.abs(samples.drive_speed).max() <= 1.5 * (1 + 1e-6)
        assert np.abs(samples.drive_acceleration).max() <= 2 * (1 + 1e-6)
        assert driven.summary()["friction_use"] > 0.99  # a wheel that slides uses all of it


@pytest.mark.slow
def test_robots_stay_near_their_plans(plans):
    """The dynamic model with slip, current limits and battery."""
    for driven, far in zip(plans, (0.015, 1e-6), strict=True):
        assert trundle.track(skid(), driven, progress=False).largest["position"] < far


def test_commands_turn_it():
    commands = [{"duration": 0.5, "twist": {"omega": 1.0}}, {"duration": 0.5, "twist": {"v_x": 0}}]
    driven = trundle.drive({"motion": {"name": "turn", "commands": commands}}, skid(), progress=False)
    assert driven.motion.poses([driven.motion.duration])[0, 2] == pytest.approx(0.5, rel=1e-6)
    forces = motion_forces(of(skid()), driven.motion.samples(np.linspace(0, driven.motion.duration, 101)))
    assert max(abs(torque).max() for torque in forces.torques.values()) > RADIUS * 50


def test_what_cannot_turn_is_told():
    ideal = trundle.load({"robot": {"name": "four", "wheels": {
        name: {"at": [x, y, 0], "radius": 0.1} for name, x, y in
        [("fl", 0.2, 0.3), ("fr", 0.2, -0.3), ("rl", -0.2, 0.3), ("rr", -0.2, -0.3)]
    }}})  # fmt: skip
    with pytest.raises(InputError, match=r"holds its direction.*\n.*contact: slip"):
        trundle.follow(CURVE, ideal, limits=LIMITS, progress=False)
    with pytest.raises(InputError, match=r"front_left rolls\n.*declared limits alone"):
        trundle.follow(CURVE, skid(), progress=False)
    with pytest.raises(InputError, match=r"front_left rolls\n.*declared limits alone"):
        trundle.fastest(skid(), (0, 0, 0), (1, 0.3, 0.3), progress=False)


def test_one_undriven_axle_is_planned_no_otherwise():
    """Its wheels scrub, too: by forces without scrub a plan went 1 m past what the robot can."""
    data = plain(skid())
    data["motors"] = {name: motor for name, motor in data["motors"].items() if "front" not in name}
    with pytest.raises(InputError, match=r"front_left rolls\n.*declared limits alone"):
        trundle.follow(CURVE, {"robot": data}, progress=False)


@pytest.mark.slow
def test_the_fastest_motion_turns_it():
    driven = trundle.fastest(skid(), (0, 0, 0), (1, 0.3, 0.3), limits=LIMITS, progress=False)
    motion = driven.motion
    np.testing.assert_allclose(motion.poses([motion.duration])[0], (1, 0.3, 0.3), atol=1e-6)
