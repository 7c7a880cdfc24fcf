"""Odometry against closed forms, kinematic runs, AD and differences, mpmath, and random sampling."""

import math
from pathlib import Path

import casadi as ca
import mpmath
import numpy as np
import pytest
import sympy as sp

import trundle
from derived import derived
from parameters import mostly_slow
from trundle import catalog, scalars
from trundle.errors import InputError
from trundle.model import derive
from trundle.motion.odometry.displacement import advance
from trundle.motion.odometry.odometry import derive_odometry
from trundle.program import compile_program, trace
from trundle.robot import parse_robot

ROLLING = [name for name in catalog.names() if catalog.robot(name).wheels]


def odometry(name="differential_drive", given=None):
    return derived(name).odometry(given)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


# --- sinc and the arc ----------------------------------------------------------------------------------------------


def test_sinc_and_its_slope_are_right_to_rounding_everywhere(rng):
    x = ca.SX.sym("x", 1)
    kernel = compile_program(
        trace("sinc", {"x": (["x"], x)}, {"y": (["y"], scalars.sinc(x))}).with_jacobians("y", "x")
    )
    edge = [math.nextafter(1.0, 0.0), 1.0, math.nextafter(1.0, 2.0)]
    points = [0.0, 5e-324, 1e-200, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.9, *edge, 1.1, math.pi, 10.0, 1e4]
    for point in [*points, *(-each for each in points), *rng.uniform(-4, 4, 500)]:
        with mpmath.workdps(60):
            h = mpmath.mpf(float(point))
            exact = mpmath.sinc(h)
            slope = mpmath.cos(h) / h - mpmath.sin(h) / h**2 if h else mpmath.mpf(0)
            value, derivative = (mpmath.mpf(float(each[0])) for each in kernel(np.array([point])))
            assert abs(value - exact) < 4e-16
            assert abs(derivative - slope) < 4e-16
            assert abs(scalars.sinc(float(point)) - exact) < 4e-16
    assert scalars.sinc(sp.Symbol("t")) == sp.sinc(sp.Symbol("t"))
    np.testing.assert_allclose(scalars.sinc(np.array([0.0, 2.0])), [1.0, np.sin(2.0) / 2.0], rtol=1e-15)


@pytest.mark.parametrize("turn", [0.0, 1e-9, -0.3, 2.0, 7.0])
def test_an_arc_is_the_matrix_exponential(turn, rng):
    from scipy.linalg import expm

    x, y, heading, a, b = rng.normal(size=5)
    twist = np.array([[0, -turn, a], [turn, 0, b], [0, 0, 0]])
    before = np.eye(3)
    before[:2, :2], before[:2, 2] = rotation(heading), (x, y)
    after = before @ expm(twist)
    found = advance((x, y, heading), (a, b, turn))
    np.testing.assert_allclose(found[:2], after[:2, 2], atol=1e-13)
    assert found[2] == heading + turn


# --- laws ------------------------------------------------------------------------------------------------------------


def test_a_drives_textbook_formulas():
    drive = odometry()
    r, track = drive.parameters["r"], drive.parameters["track"]
    left, right, pose = 0.7, 1.9, np.array([0.3, -0.2, 0.5])
    radius = track / 2 * (right + left) / (right - left)
    turn = r * (right - left) / track
    center = pose[:2] + radius * np.array([-np.sin(pose[2]), np.cos(pose[2])])
    expected = center + rotation(turn) @ (pose[:2] - center)
    found = drive.update(pose, {"left.angle": left, "right.angle": right})
    np.testing.assert_allclose(found, [*expected, pose[2] + turn], rtol=1e-14)
    straight = drive.update(pose, {"left.angle": 1.0, "right.angle": 1.0})
    np.testing.assert_allclose(straight[:2], pose[:2] + r * np.array([np.cos(0.5), np.sin(0.5)]), rtol=1e-15)


@pytest.mark.parametrize("name", mostly_slow(ROLLING, ["mecanum", "tricycle", "skid_steer"]))
def test_one_step_is_a_kinematic_run_at_constant_rates(name, rng):
    """Wheels at constant rates, steering held: the arc in one step is what roll integrates, however far it goes."""
    model = derived(name)
    probe = model.odometry()
    steering = [each for each in probe.angles if each in probe.increments]
    given = [rate for rate, angle in zip(probe.given, probe.increments, strict=True) if angle not in steering]
    counted = model.odometry(given)
    seconds = 3.0
    rates = {rate: rng.uniform(2, 9) for rate in counted.given}
    angles = {angle: rng.uniform(-0.6, 0.6) for angle in counted.angles}
    start = {"x": 0.4, "y": -1.0, "theta": 2.0}
    run = trundle.roll(model.robot, seconds, rates, initial={**start, **angles}, samples=2)
    increments = [rates[rate] * seconds for rate in counted.given]
    found = counted.update(list(start.values()), increments, angles)
    np.testing.assert_allclose(found, [run.final[each] for each in start], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ROLLING)
def test_increments_on_one_arc_add_up(name, rng):
    counted = odometry(name, None)
    steering = [each for each in counted.angles if each in counted.increments]
    increments = {each: 0.0 if each in steering else float(rng.uniform(-3, 3)) for each in counted.increments}
    angles = {each: float(rng.uniform(-0.5, 0.5)) for each in counted.angles}
    pose = rng.normal(size=3)
    whole = counted.update(pose, increments, angles)
    for part in (0.2, 0.5, 0.3):
        pose = counted.update(pose, {each: part * value for each, value in increments.items()}, angles)
    np.testing.assert_allclose(pose, whole, atol=1e-13)


@pytest.mark.parametrize("name", ROLLING)
def test_jacobians_are_differences(name, rng):
    counted = odometry(name)
    p = np.array(list(counted.parameters.values()))
    groups = [rng.uniform(-0.5, 0.5, g.size) for g in counted.program.inputs[:3]]
    _, *slopes = counted.program.evaluate(*groups, p)
    step = 1e-4
    for place, found in enumerate(slopes):
        columns = []
        for k in range(groups[place].size):
            ends = []
            for by in (-2, -1, 1, 2):
                moved = [each.copy() for each in groups]
                moved[place][k] += by * step
                ends.append(counted.update(*moved))
            columns.append((ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step))
        np.testing.assert_allclose(found.reshape(3, -1), np.array(columns).T.reshape(3, -1), atol=1e-10)


def test_jacobians_where_nothing_turns_are_exact():
    """At ω = 0 the heading's effect on the chord is half of the turn: G is what the formula's limit says."""
    drive = odometry()
    r, track = drive.parameters["r"], drive.parameters["track"]
    p = np.array(list(drive.parameters.values()))
    for turn in (0.0, 1e-300, 1e-16, 1e-9):
        left, right = 2.0 - turn, 2.0 + turn
        _, f, g, _ = drive.program.evaluate([0, 0, 0], [right, left], [], p)
        s = 2 * r
        np.testing.assert_allclose(f.reshape(3, 3), [[1, 0, 0], [0, 1, s], [0, 0, 1]], atol=3e-9)
        expected = [[r / 2, r / 2], [s * r / (2 * track), -s * r / (2 * track)], [r / track, -r / track]]
        np.testing.assert_allclose(
            g.reshape(3, 2), expected, rtol=1e-8 if turn > 1e-12 else 4e-16, atol=1e-9 * turn + 1e-16
        )


def test_covariance_is_that_of_samples(rng):
    drive = odometry()
    pose, increments = np.array([1.0, 2.0, 0.3]), np.array([3.0, 2.0])
    sigma, noise = np.diag([1e-4, 2e-4, 1e-5]) + 2e-5, np.array([[4e-5, 1e-5], [1e-5, 9e-5]])
    after, covariance = drive.propagate(pose, sigma, increments, noise)
    np.testing.assert_array_equal(after, drive.update(pose, increments))
    count = 400_000
    poses = rng.multivariate_normal(pose, sigma, count).T
    turned = rng.multivariate_normal(increments, noise, count).T
    sampled = np.cov(drive.update(poses, turned))
    deviation = np.sqrt(np.diag(covariance))
    # an entry's own scatter is √2/√count at most; second-order effects are of the size of the variances
    np.testing.assert_allclose(
        sampled / np.outer(deviation, deviation), covariance / np.outer(deviation, deviation), atol=0.01
    )


def test_covariance_of_a_steered_robot_and_of_many():
    tricycle = odometry("tricycle", ["front.rate"])
    assert tricycle.angles == ("front.steering",)
    still = np.zeros((3, 3))
    one = tricycle.propagate([0, 0, 0], still, [1.0], [[1e-4]], [0.3])[1]
    more = tricycle.propagate([0, 0, 0], still, [1.0], [[1e-4]], [0.3], [[1e-3]])[1]
    assert np.linalg.eigvalsh(more - one).min() > -1e-18
    assert np.trace(more) > np.trace(one)
    many = tricycle.propagate(
        np.zeros((3, 2)), still, np.ones((1, 2)), np.array([[[1e-4, 2e-4]]]), np.full((1, 2), 0.3)
    )[1]
    assert many.shape == (3, 3, 2)
    np.testing.assert_allclose(many, np.stack([one, 2 * one], axis=-1), rtol=1e-14)


@pytest.mark.slow
def test_steering_is_taken_in_the_middle():
    """A steering that moves evenly: halving the increments makes the error a quarter, second order."""
    tricycle = odometry("tricycle")
    assert set(tricycle.increments) == {"front.angle", "front.steering"}
    run = trundle.roll(tricycle.robot, 1.0, {"front.rate": 6.0, "front.steering_rate": 0.8}, samples=2)
    exact = np.array([run.final[each] for each in ("x", "y", "theta")])
    errors = []
    for steps in (10, 20, 40):
        pose, steering = np.zeros(3), 0.0
        for _ in range(steps):
            moved = {"front.angle": 6.0 / steps, "front.steering": 0.8 / steps}
            pose = tricycle.update(pose, moved, [steering])
            steering += 0.8 / steps
        errors.append(np.abs(pose - exact).max())
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.1)


def test_steering_across_half_a_turn_drives_on():
    """4 m/s at 50 Hz with all wheels turned round: a sample is 8 cm along them, and was 8 cm back."""
    counted = odometry("swerve")
    wheels = [name for name in counted.increments if name not in counted.angles]
    radius = 0.05
    moved = {
        name: 0.08 / radius if name in wheels else 2 * np.radians(1) - 2 * np.pi
        for name in counted.increments
    }
    angles = dict.fromkeys(counted.angles, np.radians(179))
    there = counted.update([0, 0, 0], moved, angles)
    plain = counted.update([0, 0, 0], {**moved, **dict.fromkeys(counted.angles, 2 * np.radians(1))}, angles)
    np.testing.assert_allclose(there, plain, atol=1e-12)
    assert there[0] < -0.05


# --- formulas --------------------------------------------------------------------------------------------------------


def test_a_drives_formulas_are_the_textbooks():
    formulas = odometry().formulas()
    r, track, left, right = (sp.Symbol(each) for each in ("r", "track", "Δleft.angle", "Δright.angle"))
    named = {str(symbol): value for symbol, value in formulas.definitions.items()}
    assert sp.expand(named["Δs"] - r * (left + right) / 2) == 0
    assert sp.simplify(named["Δθ"] - r * (right - left) / track) == 0
    assert "Δn" not in named
    theta, psi, k, step, turn = (sp.Symbol(each) for each in ("theta", "ψ", "k", "Δs", "Δθ"))
    assert formulas.pose["x"] == sp.Symbol("x") + k * step * sp.cos(psi)
    assert formulas.pose["theta"] == theta + turn
    assert named["ψ"] == theta + turn / 2
    assert r"\mathrm{track}" in formulas.latex()
    assert "G = E⋅J" in repr(formulas)


def number(expression, known):
    """Its value, with what is known put in all at once: `subs` goes through a long expression symbol by symbol."""
    return float(expression.xreplace({symbol: sp.Float(value) for symbol, value in known.items()}))


@pytest.mark.parametrize("name", mostly_slow(ROLLING, ["differential_drive", "mecanum", "tricycle"]))
def test_formulas_agree_with_the_program_where_nothing_turns(name):
    """`formulas` itself compares at random points; here at zero increments, where sin(x)/x has its hole."""
    counted = odometry(name)
    formulas = counted.formulas()
    known = {sp.Symbol(each): value for each, value in counted.parameters.items()}
    known |= {sp.Symbol(f"Δ{each}"): 0.0 for each in counted.increments}
    known |= {sp.Symbol(each): 0.2 for each in counted.angles}
    known |= {sp.Symbol("x"): 1.0, sp.Symbol("y"): 2.0, sp.Symbol("theta"): 0.3}
    for symbol, meaning in formulas.definitions.items():
        known[symbol] = number(meaning, known)
    pose, f, g, _ = counted.program.evaluate(
        [1.0, 2.0, 0.3],
        np.zeros(len(counted.increments)),
        np.full(len(counted.angles), 0.2),
        list(counted.parameters.values()),
    )
    for found, expected in ((formulas.pose.values(), pose), (formulas.F.flat(), f), (formulas.G.flat(), g)):
        np.testing.assert_allclose([number(each, known) for each in found], expected, atol=1e-12)


# --- what is asked for -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_does_not_move_the_base_is_not_counted():
    assert set(odometry("offset_drive").increments) == {"left.angle", "right.angle"}
    assert odometry("tricycle").angles == ("front.steering",)  # not the caster's


@pytest.mark.slow
def test_steering_has_short_slopes():
    """An increment that turns wheels moves entries and determinant of the normal equations: by letters, not in full."""
    formulas = odometry("ackermann").formulas()
    assert sp.Symbol("D") in formulas.definitions
    assert sp.Symbol("D′") in formulas.definitions
    assert sp.count_ops(formulas.J) < 400
    assert max(map(len, repr(formulas).splitlines())) < 120
    assert formulas.latex().isascii()


def test_parameters_and_names():
    drive = odometry()
    wide = drive.update([0, 0, 0], {"left.angle": 0.0, "right.angle": 1.0}, parameters={"track": "2 m"})
    assert wide[2] == pytest.approx(drive.parameters["r"] / 2.0)
    assert drive.units["left.angle"] == "rad"
    assert "x, y, theta from right.angle, left.angle" in repr(drive)
    for arguments, message in (
        (([0, 0], [1, 1]), r"expected 3 numbers \(x, y, theta\) .* got the shape \(2,\)"),
        (([0, 0, 0], [1, 1, 1]), "expected 2 numbers .* along the first axis"),
        (([0, 0, 0], {"left.angle": 1.0}), "lack 'right.angle'"),
        (([0, 0, 0], {"left.angel": 1.0, "right.angle": 1.0}), "did you mean 'left.angle'"),
        (([0, 0, 0], ["a", "b"]), "the increments must hold real numbers"),
        ((np.zeros((3, 2)), np.zeros((2, 3))), "2 and 3 robots"),
    ):
        with pytest.raises(InputError, match=message):
            drive.update(*arguments)
    for spread, noise, message in (
        (np.eye(2), np.eye(2), r"a matrix \(3, 3\), or one a lane, got the shape \(2, 2\)"),
        (np.ones(3), np.eye(2), "np.diag"),
        (-np.eye(3), np.eye(2), "can't be below 0, and this covariance has -1"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.eye(2), "can't be below 0"),
        ([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], np.eye(2), "symmetric"),
        (np.eye(3), np.diag([1, -1e-3]), "increment_covariance: .*has -0.001"),
        (np.eye(3)[..., None] * [1, -1], np.eye(2), "has -1"),
    ):
        with pytest.raises(InputError, match=message):
            drive.propagate([0, 0, 0], spread, [1, 1], noise)
    half = np.outer([1, 2, 3], [1, 2, 3])  # of rank one: a heading that is known from the place
    drive.propagate([0, 0, 0], half, [1, 1], np.zeros((2, 2)))
    with pytest.raises(InputError, match="did you mean 'left.rate'"):
        odometry(given=["left.angle", "right.rate"])
    with pytest.raises(InputError, match="don't determine"):
        odometry(given=["left.rate"])
    with pytest.raises(InputError, match="planar base"):
        odometry("pendulum")


def test_a_batch_is_its_robots(rng):
    drive = odometry()
    poses, increments = rng.normal(size=(3, 50)), rng.normal(size=(2, 50))
    many = drive.update(poses, increments)
    for k in range(0, 50, 7):
        np.testing.assert_allclose(
            many[:, k], drive.update(poses[:, k], increments[:, k]), rtol=1e-13, atol=1e-15
        )
    shared = drive.update([0, 0, 0], {"left.angle": increments[0], "right.angle": 1.0})
    assert shared.shape == (3, 50)


def test_a_trailing_wheel_with_an_encoder_counts(rng):
    """A free wheel's own encoder is one more row: the least-squares pose is the best of all three."""
    robot = parse_robot(
        {
            "name": "three",
            "body": {"mass": 1.0, "inertia": {"zz": 1.0}},
            "wheels": {
                "left": {"at": [0, 0.3, 0], "radius": 0.1},
                "right": {"at": [0, -0.3, 0], "radius": 0.1},
                "middle": {"at": [0, 0, 0], "radius": 0.1},
            },
        }
    )
    counted = derive(robot).odometry(["left.rate", "right.rate", "middle.rate"])
    left, right, middle = rng.normal(size=3)
    rows = np.array([[1, -0.3], [1, 0.3], [1, 0.0]])
    forward, turn = np.linalg.lstsq(rows, 0.1 * np.array([left, right, middle]), rcond=None)[0]
    found = counted.update([0, 0, 0], {"left.angle": left, "right.angle": right, "middle.angle": middle})
    np.testing.assert_allclose(found, advance((0, 0, 0), (forward, 0.0, turn)), atol=1e-14)
    two = derive(robot).odometry(["left.rate", "right.rate"])
    np.testing.assert_allclose(two.update([0, 0, 0], [1.0, 1.0])[0], 0.1)


@pytest.mark.slow
def test_a_linkage_behind_a_gear_is_followed():
    """The rear axle's front wheels turn with the steering column: the pose is roll's, and the formulas agree."""
    robot = trundle.load(Path(__file__).parents[2] / "examples" / "gears" / "rear_axle.yaml")
    model = derive(robot)
    rates = {"rear_left.rate": 3.1, "rear_right.rate": 2.7}
    counted = model.odometry([*rates, "column.rate"])
    assert counted.angles == ("column.angle",)
    run = trundle.roll(robot, 2.0, rates, initial={"column.angle": 0.4}, samples=2)
    moved = dict(zip(counted.increments, [*(2 * rate for rate in rates.values()), 0.0], strict=True))
    found = counted.update([0, 0, 0], moved, [0.4])
    np.testing.assert_allclose(found, [run.final[each] for each in ("x", "y", "theta")], atol=1e-9)
    assert "column.angle_mid" in repr(counted.formulas())
    with pytest.raises(InputError, match="give more of: rear_left.rate"):
        model.odometry()


def test_wheels_on_loops_are_left_to_roll():
    """A wheel on a parallel linkage's coupler: where it stands follows from the loop, which odometry doesn't solve."""
    arm = {"type": "revolute", "body": {"mass": 0.1, "inertia": {"zz": 0.01}}}
    robot = parse_robot(
        {
            "name": "linked",
            "base": "planar",
            "body": {"mass": 1.0, "inertia": {"zz": 1.0}},
            "joints": {
                "left": {**arm, "at": [0, 0.2, 0]},
                "right": {**arm, "at": [0, -0.2, 0]},
                "bar": {**arm, "parent": "left", "at": [0.3, 0, 0]},
            },
            "loops": {
                "pin": {
                    "type": "revolute",
                    "first": {"body": "bar", "at": [0, -0.4, 0]},
                    "second": {"body": "right", "at": [0.3, 0, 0]},
                }
            },
            "wheels": {"wheel": {"at": [0, -0.2, 0], "radius": 0.1, "parent": "bar"}},
        }
    )
    with pytest.raises(InputError, match="hang on closed loops"):
        derive_odometry(robot, ["wheel.rate"])
