"""Kinematic runs: the published end pose, angles over time, over- and under-determined wheels."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from derived import derived
from trundle import catalog, load, roll, simulate
from trundle.errors import InputError, NumericsError
from trundle.robot import parse_robot


def two_wheels(radius=15.0, track=60.0):
    wheels = {
        "left": {"at": [0, track / 2, 0], "radius": radius},
        "right": {"at": [0, -track / 2, 0], "radius": radius},
    }
    return parse_robot({"body": {"mass": 1.0, "inertia": {"zz": 1.0}}, "wheels": wheels})


def test_published_end_pose():
    run = roll(two_wheels(), 100.0, {"left.rate": 2.0, "right.rate": 1.4}, initial={"x": 500, "y": 500})
    np.testing.assert_allclose(
        [run[n][-1] for n in ("x", "y", "theta")], [610.54893283, 200.85305481, -15], rtol=0, atol=1e-8
    )
    t = run.time
    np.testing.assert_allclose(run["x"], 500 + 25.5 / -0.15 * np.sin(-0.15 * t), atol=1e-7)
    np.testing.assert_allclose(run["y"], 500 - 25.5 / -0.15 * (np.cos(-0.15 * t) - 1), atol=1e-7)
    assert run.summary["slip_residual"] < 1e-9


@pytest.mark.parametrize("form", ["function", "linear", "cubic"])
def test_angles_over_time_are_the_rates_integrated(form):
    robot = two_wheels(0.1, 0.5)
    t = np.linspace(0, 5, 26)
    if form == "function":
        angle, rate = (lambda s: 3 * np.sin(s)), (lambda s: 3 * np.cos(s))
    elif form == "linear":
        angle, rate = (t, t**2, "linear"), (t, np.append(np.diff(t**2) / np.diff(t), 0), "previous")
    else:
        angle, rate = (t, 3 * np.sin(t), "cubic"), CubicSpline(t, 3 * np.sin(t)).derivative()
    by_angle = roll(robot, 5.0, {"left.angle": angle, "right.rate": 2.0}, samples=101)
    by_rate = roll(robot, 5.0, {"left.rate": rate, "right.rate": 2.0}, samples=101)
    for name in ("x", "y", "theta", "left.angle"):
        np.testing.assert_allclose(by_angle[name], by_rate[name], atol=1e-8, err_msg=name)


def test_inconsistent_swerve_is_least_squares_with_its_residual():
    robot = catalog.swerve()
    names = list(robot.wheels)
    rng = np.random.default_rng(4)
    angles, rates = rng.uniform(-1, 1, 4), rng.uniform(5, 10, 4)
    given = {f"{n}.rate": r for n, r in zip(names, rates, strict=True)} | {
        f"{n}.steering": a for n, a in zip(names, angles, strict=True)
    }
    run = roll(robot, 1.0, given)
    places = np.array([[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]])
    a, b = [], []
    for (x, y), beta, rate in zip(places, angles, rates, strict=True):
        c, s = np.cos(beta), np.sin(beta)
        a += [[c, s, s * x - c * y], [-s, c, c * x + s * y]]
        b += [0.05 * rate, 0.0]
    a, b = np.array(a), np.array(b)
    twist = np.linalg.pinv(a) @ b
    left = (np.eye(8) - a @ np.linalg.pinv(a)) @ b
    np.testing.assert_allclose([run[n][-1] for n in ("v_x", "v_y", "omega")], twist, atol=1e-12)
    assert run.summary["slip_residual"] == pytest.approx(np.abs(left).max(), rel=1e-10)
    assert run.summary["slip_residual"] > 0.1
    assert run["theta"][-1] == pytest.approx(twist[2], rel=1e-8)


def test_consistent_swerve_rolls_without_slip():
    robot = catalog.swerve()
    inputs = {f"{n}.rate": 4.0 for n in robot.wheels} | {
        f"{n}.steering": lambda t: 0.5 * t for n in robot.wheels
    }
    run = roll(robot, 2.0, inputs)
    assert run.summary["slip_residual"] < 1e-12
    # v = 0.2 m/s along 0.5 t, the body not turning
    np.testing.assert_allclose(run["x"], 0.2 * np.sin(0.5 * run.time) / 0.5, atol=1e-8)
    np.testing.assert_allclose(run["y"], 0.2 * (1 - np.cos(0.5 * run.time)) / 0.5, atol=1e-8)


@pytest.mark.parametrize("name", ["mecanum", "three_omni", "ackermann", "tricycle", "differential_drive"])
def test_kinematic_and_dynamic_runs_follow_the_same_path(name):
    """A dynamic run's own wheel and steering angles, rolled kinematically (a caster's are left to follow)."""
    model = derived(name)
    commands = {n: (8.0 + k if n.endswith("voltage") else 0.3) for k, n in enumerate(model.inputs)}
    run = simulate(model, 2.0, commands, rtol=1e-10)
    casters = [n for n, wheel in model.robot.wheels.items() if wheel.type == "caster"]
    angles = [
        n for n in model.coordinates if n.endswith((".angle", ".steering")) and n.split(".")[0] not in casters
    ]
    given = {angle: (run.time, run[angle], "cubic") for angle in angles}
    rolled = roll(model.robot, 2.0, given, samples=101)
    for coordinate in ("x", "y", "theta"):
        assert rolled[coordinate][-1] == pytest.approx(run[coordinate][-1], rel=1e-5, abs=1e-5)


def test_rates_that_leave_the_motion_open():
    with pytest.raises(InputError, match="don't determine.*rank") as caught:
        roll(two_wheels(), 1.0, {"left.rate": 1.0})
    assert "right.rate" in str(caught.value)
    with pytest.raises(InputError, match="don't determine"):
        roll(catalog.three_omni(), 1.0, {"left.rate": 1.0, "rear.rate": 1.0})


def test_bad_kinematic_inputs():
    robot = two_wheels()
    for inputs, message in (
        ({"left.rat": 1.0}, "did you mean"),
        ({"left.rate": 1.0, "left.angle": 1.0, "right.rate": 1.0}, "both"),
        ({"left.angle": ((0, 1), (0, 1), "previous"), "right.rate": 1.0}, "jumps"),
        ({"left.rate": float("inf"), "right.rate": 1.0}, "finite"),
    ):
        with pytest.raises(InputError, match=message):
            roll(robot, 1.0, inputs)
    with pytest.raises(InputError, match="not a coordinate"):
        roll(robot, 1.0, {"left.rate": 1.0, "right.rate": 1.0}, initial={"z": 1.0})


def test_text_with_units_and_times_as_asked():
    run = roll(
        two_wheels(),
        inputs={"left.rate": "2 rad/s", "right.rate": 2},
        initial={"x": "3 cm"},
        times=[0.5, 1.0],
    )
    assert run.time.tolist() == [0.5, 1.0]
    np.testing.assert_allclose(run["x"], [15.03, 30.03], atol=1e-9)


def test_an_angle_that_jumps_is_refused():
    with pytest.raises(InputError, match="'left.angle' jumps"):
        roll(two_wheels(), 1.0, {"left.angle": lambda t: float(t > 0.3), "right.rate": 1.0})
    with pytest.raises(InputError, match="finite"):
        roll(two_wheels(), 1.0, {"left.rate": 1.0, "right.rate": 1.0}, initial={"x": float("nan")})


def test_a_linkage_that_rolls_says_where_its_bodies_are():
    crank = 0.3
    run = roll(
        catalog.four_bar(crank=crank, coupler=0.9),
        3.0,
        {"crank.rate": 2.0},
        initial={"crank.angle": "60 deg", "rocker.angle": "95 deg"},
    )
    along = run["coupler.x"], run["coupler.y" if np.ptp(run["coupler.y"]) else "coupler.z"]
    np.testing.assert_allclose(np.hypot(*along), crank, rtol=1e-9)
    assert run.units["coupler.x"] == "m"
    assert run.plot.path().axes


def test_a_linkage_driven_into_its_dead_point_is_told():
    with pytest.raises(NumericsError, match="the robot is singular there"):
        roll(catalog.four_bar(crank=0.3, coupler=0.9), 3, {"rocker.rate": 2.0}, initial={"crank.angle": 1.0})


@pytest.mark.parametrize(
    "name", ["swerve", "mecanum", "three_omni", "differential_drive", "ackermann", "tricycle"]
)
def test_a_twist_turns_and_steers_the_wheels_that_make_it(name):
    """v_y follows from fixed wheels or is 0; a circle is closed, and wheels' rates given back roll the same way."""
    robot = catalog.robot(name)
    run = roll(robot, 2.0, {"v_x": 1, "omega": "0.5 rad/s"}, samples=101)
    expected = [np.sin(1) / 0.5, (1 - np.cos(1)) / 0.5, 1.0]
    np.testing.assert_allclose([run.final[n] for n in ("x", "y", "theta")], expected, atol=1e-9)
    assert run.summary["slip_residual"] < 1e-12
    casters = [n for n, wheel in robot.wheels.items() if wheel.type == "caster"]
    given = {
        coordinate: (run.time, run[coordinate], "cubic")
        for coordinate in run.values
        if coordinate.endswith((".angle", ".steering")) and coordinate.split(".")[0] not in casters
        if name != "ackermann" or "front" not in coordinate  # its linkage's followers
    }
    back = roll(robot, 2.0, given, samples=101)
    np.testing.assert_allclose([back.final[n] for n in ("x", "y", "theta")], expected, atol=1e-6)


def test_a_twist_that_turns_steers_exactly():
    """cos t, sin t/2 with yaw: no slip at any time, the pose is the twist's integral, angles go on without a jump."""
    robot, omega = catalog.swerve(), 0.3
    given = {"v_x": np.cos, "v_y": lambda t: 0.5 * np.sin(t), "omega": omega}
    run = roll(robot, 6.0, given, samples=601)
    assert run.summary["slip_residual"] < 1e-10
    t, heading = run.time, omega * run.time
    v = np.array([np.cos(t), 0.5 * np.sin(t)])
    world = np.array(
        [np.cos(heading) * v[0] - np.sin(heading) * v[1], np.sin(heading) * v[0] + np.cos(heading) * v[1]]
    )
    for name, rate in zip("xy", world, strict=True):
        np.testing.assert_allclose(run[name], CubicSpline(t, rate).antiderivative()(t), atol=1e-8)
    for wheel in robot.wheels:
        assert np.abs(np.diff(run[f"{wheel}.steering"])).max() < 0.1


def test_a_twist_through_rest_goes_on_backward():
    run = roll(catalog.swerve(), 6.0, {"v_x": np.sin, "v_y": lambda t: 0.5 * np.sin(t)}, samples=61)
    np.testing.assert_allclose(run["front_left.steering"], np.arctan2(0.5, 1), atol=1e-9)
    np.testing.assert_allclose(run["x"], 1 - np.cos(run.time), atol=1e-9)


def test_wheels_start_where_the_twist_needs_them():
    robot, twist = catalog.swerve(), {"v_x": 1.0, "v_y": 1.0}
    across = {"front_left.steering": 0.0}
    with pytest.raises(InputError, match=r"would slip by 1 m/s") as error:
        roll(robot, 1.0, twist, initial=across)
    assert error.value.key == "run.initial.front_left.steering"
    run = roll(robot, 1.0, twist, initial={"front_left.steering": np.pi / 4 + np.pi})
    assert run["front_left.rate"][0] == pytest.approx(-np.sqrt(2) / 0.05)
    assert run["rear_left.rate"][0] == pytest.approx(np.sqrt(2) / 0.05)
    later = {"v_x": ([0, 1, 2], [0, 0, 1]), "v_y": ([0, 1, 2], [0, 0, 1])}
    np.testing.assert_allclose(roll(robot, 2.0, later)["front_left.steering"], np.pi / 4, atol=1e-12)


def test_twists_that_no_wheel_can_follow():
    robot = catalog.swerve()
    corner = {"v_x": ([0, 1], [1, 0], "previous"), "v_y": ([0, 1], [0, 1], "previous")}
    with pytest.raises(InputError, match=r"t = 1 s .*front_left.* in no time"):
        roll(robot, 2.0, corner)
    stop = {"v_x": ([0, 1, 2], [1, 0, 0]), "v_y": ([0, 1, 2], [0, 0, 1])}
    with pytest.raises(InputError, match="in no time"):
        roll(robot, 2.0, stop)
    with pytest.raises(InputError, match="can't follow the motion"):
        roll(robot, 1.0, {"v_x": lambda t, state: state["x"]})
    with pytest.raises(InputError, match="its input at 0"):
        roll(two_wheels(), 1.0, {"left.angle": lambda t: t, "right.rate": 1}, initial={"left.angle": 1.0})
    assert roll(two_wheels(), 2.0, {"v_x": ([0, 1], [1, 0], "previous")}).final["x"] == pytest.approx(1.0)


def test_steering_behind_gears_is_given_or_asked_for():
    """An Ackermann linkage behind a gearbox; a wheel of a synchro drive that follows another one."""
    car = load("examples/gears/rear_axle.yaml")
    with pytest.raises(InputError, match="'gearbox'") as error:
        roll(car, 1.0, {"v_x": 1.0})
    assert "column.angle" in str(error.value)
    run = roll(car, 1.0, {"v_x": 1.0, "omega": np.tan(0.2) / 1.8, "column.angle": 15 * 0.2})
    assert run.summary["slip_residual"] < 1e-12
    with pytest.raises(InputError, match="'chain_left'"):
        roll(load("examples/gears/synchro.yaml"), 1.0, {"v_x": 1.0})
