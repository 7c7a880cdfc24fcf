"""Slip that wheels show: found, left out of the displacement, and counted in its covariance."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import trundle
from trundle.motion.odometry.displacement import advance

NOISE = {"encoders": 0.005, "gyro": 0.002}
CREEP = {"slip": 0.005}
ICE, FRICTION, DT = (1.0, 1.5), 0.02, 0.02


def on_ice(robot):
    """A run of a swerve that speeds up on an arc, its front left wheel on ice for half a second."""
    angles = {"front_left": 0.3, "front_right": 0.2, "rear_left": -0.3, "rear_right": -0.2}
    steering = {f"{name}_steer.angle": angle for name, angle in angles.items()}
    state = {f"{name}.steering": angle for name, angle in angles.items()}
    parts = []
    for length, volts, parameters in (
        (ICE[0], 6.0, {}),
        (ICE[1] - ICE[0], 11.0, {"wheels.front_left.friction": FRICTION}),
        (0.5, 11.0, {}),
    ):
        inputs = {f"{name}_drive.voltage": volts for name in angles} | steering
        samples = round(length / DT) + 1
        part = trundle.simulate(robot, length, inputs, initial=state, parameters=parameters, samples=samples)
        state = {name: part.final[name] for name in trundle.derive(robot).states}
        parts.append(part)
    names = trundle.derive(robot).coordinates
    return {name: np.concatenate([part[name][:-1] for part in parts]) for name in names}


@pytest.mark.slow
def test_a_swerve_with_a_wheel_on_ice_is_off_by_less_than_half(seed):
    """Simulated with a contact law; at the end, on average over noise, with slip looked for and without."""
    robot = trundle.catalog.swerve(contact="slip", friction=0.8)
    run = on_ice(robot)
    truth = np.array([run[name] for name in ("x", "y", "theta")])
    count, lanes = truth.shape[1], 100
    rng = np.random.default_rng(seed)
    off = {}
    for words, noise in (("without", NOISE), ("with", NOISE | CREEP)):
        estimator = trundle.Estimator(robot, noise, pose=np.tile(truth[:, :1], lanes))
        turned = np.diff([run[name] for name in estimator.increments])
        angles = np.array([run[name] for name in estimator.angles])
        slipping = []
        for step in range(count - 1):
            walk = NOISE["encoders"] * np.sqrt(np.abs(turned[:, step]).mean())
            noisy = turned[:, [step]] + walk * rng.normal(size=(len(turned), lanes))
            rate = np.diff(truth[2, step : step + 2]) / DT + NOISE["gyro"] / np.sqrt(DT) * rng.normal(
                size=lanes
            )
            estimator.predict(noisy, DT, rate, angles[:, step])
            slipping.append({name: np.median(value) for name, value in estimator.slip.items()})
        error = truth[:, -1:] - estimator.pose
        off[words] = np.sqrt((error[:2] ** 2).sum(axis=0).mean())
    assert off["with"] < off["without"] / 2
    found = [max(each, key=each.__getitem__) for each in slipping if max(each.values()) > 3]
    expected = round((ICE[1] - ICE[0]) / DT)
    assert set(found) == {"front_left"}
    assert expected - 2 <= len(found) <= expected + 2


def test_reweighed_least_squares_are_those_over_the_modules_map():
    """The same rounds in NumPy over `kinematics.matrix`, all wheels pointing ahead, NumPy's inverse as covariance."""
    robot = trundle.catalog.swerve()
    kinematics, estimator = trundle.kinematics(robot), trundle.Estimator(robot, NOISE | CREEP)
    turns, radius = dict.fromkeys(kinematics.names, 0.2) | {"rear_right": 0.7}, 0.05
    named = {name: turns.get(name.removesuffix(".angle"), 0.0) for name in estimator.increments}
    estimator.predict(named, DT, None, np.zeros(4))
    ahead, mean = np.array([turns[name] for name in kinematics.names]), sum(turns.values()) / 8
    rows, told = kinematics.matrix, np.column_stack([radius * ahead, np.zeros(4)]).ravel()
    counted = np.tile([radius**2, 0.0], 4) * NOISE["encoders"] ** 2 * mean
    crept = CREEP["slip"] ** 2 * radius * ahead.mean()
    known = crept + counted
    leads = rows @ np.linalg.solve(rows.T @ (rows / known[:, None]), (rows / known[:, None]).T)
    spare = 1 - np.diag(leads)
    bound, found = 9 * known * spare, known
    for round_ in range(4):
        root = 1 / np.sqrt(found)
        d = least_squares(lambda z, root=root: (rows @ z - told) * root, np.zeros(3), x_scale="jac").x
        miss = rows @ d - told
        found = known + np.where(miss**2 > bound, (miss / (1 if round_ else spare)) ** 2, 0)
    gain = np.linalg.solve(rows.T @ (rows / found[:, None]), (rows / found[:, None]).T)
    spread = counted + crept + 2 * 0.25 / DT * (found - known)
    np.testing.assert_allclose(estimator.pose, exp(gain @ told), atol=1e-9)
    slope = np.column_stack([(exp(gain @ told + h) - exp(gain @ told - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
    expected = slope @ gain @ np.diag(spread) @ gain.T @ slope.T
    # the counts of steering have noise, too, of half of a step's in its middle
    np.testing.assert_allclose(estimator.covariance, expected, atol=1e-3 * expected.max())
    off = np.sqrt(miss**2 / (bound / 9)).reshape(-1, 2).max(axis=1)
    np.testing.assert_allclose(list(estimator.slip.values()), off, rtol=1e-6)


def exp(d):
    return np.array(advance((0, 0, 0), d))


def test_a_fix_catches_a_drive_of_two_wheels_that_slipped(rng):
    """A wheel spins for half a second; encoders against a gyro tell, and a fix behind the gate's 3 is then believed."""
    robot = trundle.catalog.differential_drive()
    odometry, truth, off = trundle.odometry(robot), np.zeros(3), {}
    estimators = {False: trundle.Estimator(robot, NOISE), True: trundle.Estimator(robot, NOISE | CREEP)}
    for step in range(80):
        turns = np.array([0.2, 0.2])
        truth = odometry.update(truth, turns)
        turns += NOISE["encoders"] * np.sqrt(0.2) * rng.normal(size=2) + (step // 25 == 1) * np.array(
            [0.4, 0]
        )
        for estimator in estimators.values():
            estimator.predict(turns, DT, NOISE["gyro"] / np.sqrt(DT) * rng.normal())
        if step == 40:
            assert all(each > 3 for each in estimators[True].slip.values())
    for slip, estimator in estimators.items():
        # by half of what it says, so that luck decides nothing
        fixed = estimator.fix(truth + 0.01 * rng.normal(size=3), [0.02, 0.02, 0.02], gate=3.4)
        off[slip] = fixed.used, np.linalg.norm((estimator.pose - truth)[:2])
    assert not off[False][0]
    assert off[True][0]
    assert off[True][1] < 0.1 < 0.2 < off[False][1]


@pytest.mark.parametrize("robot", ["differential_drive", "swerve"])
def test_a_robot_that_is_turned_with_its_wheels_locked_turns(robot):
    """On a turntable, say: encoders that count nothing are exact where nothing slips."""
    estimator = trundle.Estimator(trundle.catalog.robot(robot), NOISE | CREEP)
    still = np.zeros(len(estimator.increments)), np.zeros(len(estimator.angles))
    for _ in range(50):
        estimator.predict(still[0], DT, 0.0, still[1])
    assert max(estimator.slip.values()) < 3
    np.testing.assert_allclose(estimator.covariance, 0, atol=1e-12)
    for _ in range(50):
        estimator.predict(still[0], DT, 0.5, still[1])
    assert min(estimator.slip.values()) > 3
    assert estimator.pose[2] == pytest.approx(0.5, abs=1e-3)


def test_who_looks_for_no_slip_is_told_of_none():
    assert trundle.Estimator(trundle.catalog.swerve(), NOISE).slip == {}
