"""Trackers: on the reference their commands are the reference's, beside it errors decay by the linear law's poles."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.robot import Sight
from trundle.robot.controllers import CONTROLLERS

EIGHT = Path(__file__).parents[2] / "examples" / "feedback" / "eight.py"
L = 1.1
KINDS = {
    "unicycle": {"speed_to": "v", "turn_to": "w"},
    "kanayama": {"speed_to": "v", "turn_to": "w", "K_y": 6.0, "K_theta": 5.0},
    "samson": {"speed_to": "v", "turn_to": "w"},
    "holonomic": {"speed_to": "v", "sideways_to": "s", "turn_to": "w"},
    "stanley": {"speed_to": "v", "steer_to": "d", "wheelbase": L},
    "pure_pursuit": {"speed_to": "v", "steer_to": "d", "wheelbase": L, "look_ahead": 0.6},
}


def law_of(kind, **changed):
    """(pose, reference by name) → commands by name, in numbers."""
    tracker = CONTROLLERS.read({"type": kind, **KINDS[kind], **changed})

    def law(pose, reference):
        seen = dict(zip(("x", "y", "theta"), pose, strict=True))
        return tracker.law(Sight(seen, reference, {}), lambda value: value.number)

    return law


def at(pose, v_x, v_y, omega):
    return dict(zip(("x", "y", "theta", "v_x", "v_y", "omega"), (*pose, v_x, v_y, omega), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_on_the_reference_commands_are_the_references(kind, rng):
    """Its twist, or of cars the angle with tan δ = L ω/v; whole turns of the heading don't count."""
    law = law_of(kind)
    for _ in range(50):
        pose, omega, v = rng.normal(size=3) * 3, rng.uniform(-0.4, 0.4), rng.uniform(0.7, 2)
        v_y = rng.normal() if kind == "holonomic" else 0.0
        seen = pose + [0, 0, 2 * math.pi * rng.integers(-3, 4)]
        action = law(seen, at(pose, v, v_y, omega))
        wanted = {"v": v, "s": v_y, "w": omega, "d": math.atan(L * omega / v)}
        for name, command in action.commands.items():
            assert abs(command - wanted[name]) < 1e-12, (name, command, wanted)
        assert max(map(abs, action.outputs.values())) < 1e-12


def moved(kind, off, v, omega, **changed):
    """The rate of (ahead, left, turned) of a base beside a reference, in its axes, by the base's kinematics."""
    ahead, left, turned = off
    commands = law_of(kind, **changed)((ahead, left, turned), at((0.0, 0.0, 0.0), v, 0.0, omega)).commands
    speed, aside = commands["v"], commands.get("s", 0.0)
    turn = commands["w"] if "w" in commands else speed * math.tan(commands["d"]) / L
    c, s = math.cos(turned), math.sin(turned)
    return np.array(
        [c * speed - s * aside - v + omega * left, s * speed + c * aside - omega * ahead, turn - omega]
    )


def poles(kind, v, omega=0.0, **changed):
    h = 1e-5
    slopes = [
        (moved(kind, h * e, v, omega, **changed) - moved(kind, -h * e, v, omega, **changed)) / (2 * h)
        for e in np.eye(3)
    ]
    return np.linalg.eigvals(np.array(slopes).T)


def expected(kind, v):
    """The poles of the linear laws on a straight line: ahead, and the roots of s² + k_θ s + v k_y."""
    if kind == "unicycle":
        k_y = 1 / 0.1
        return [-3.0, *np.roots([1, math.sqrt((1 / math.radians(10)) ** 2 + 2 * abs(v) * k_y), abs(v) * k_y])]
    if kind == "kanayama":
        return [-10.0, *np.roots([1, 5 * v, 6 * v * v])]
    if kind == "samson":
        gain = 2 * 0.7 * math.sqrt(2 * v * v)
        return [-gain, *np.roots([1, gain, 2 * v * v])]
    if kind == "holonomic":
        return [-3.0, -3.0, -0.5 / math.radians(10)]
    if kind == "stanley":  # the front axle nears the line as e^(−k t), the rear one follows it as e^(−v t/L)
        return [-2.5, -2.5, -v / L]
    return [-2.5, *np.roots([1, 2 * v / 0.6, 2 * v * v / 0.6**2])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("v", [0.4, 1.7])
def test_errors_decay_by_the_poles_of_the_linear_law(kind, v):
    np.testing.assert_allclose(
        np.sort_complex(poles(kind, v)), np.sort_complex(expected(kind, v)), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("kind", KINDS)
def test_errors_decay_on_a_bend_too(kind):
    assert poles(kind, 1.0, 0.6).real.max() < 0


def test_the_unicycles_gains_are_the_regulators(rng):
    """Against the Riccati equation at random tolerances, forward and backward."""
    for _ in range(10):
        lateral, heading, turn = rng.uniform(0.05, 1, 3)
        v = rng.choice([-1, 1]) * rng.uniform(0.3, 2)
        a, b = np.array([[0.0, v], [0.0, 0.0]]), np.array([[0.0], [1.0]])
        cost = scipy.linalg.solve_continuous_are(a, b, np.diag([lateral**-2, heading**-2]), [[turn**-2]])
        gain = (turn**2 * b.T @ cost)[0]
        law = law_of("unicycle", lateral=lateral, heading=heading, turn=turn)
        h = 1e-5
        there = at((0.0, 0.0, 0.0), v, 0.0, 0.0)
        slopes = [
            (law(h * e, there).commands["w"] - law(-h * e, there).commands["w"]) / (2 * h)
            for e in np.eye(3)[1:]
        ]
        np.testing.assert_allclose(slopes, -gain, rtol=1e-7)


def held(every=None, **tracker):
    """The differential drive with a tracker over controllers of speed and turning rate, which may sample."""
    both = {"left_motor.voltage": 1, "right_motor.voltage": 1}
    apart = {"left_motor.voltage": -1, "right_motor.voltage": 1}
    controllers = {
        "track": {"type": "unicycle", "speed_to": "speed.reference", "turn_to": "turn.reference", **tracker},
        "speed": {"reads": "v_x", "drives": both, "proportional": 20, "integral": 20, "feedforward": "1/r"},
        "turn": {"reads": "omega", "drives": apart, "proportional": 10, "integral": 20, "feedforward": "track/2/r"},
    }  # fmt: skip
    if every is not None:
        controllers = {name: {**written, "period": every} for name, written in controllers.items()}
    controllers["track"] = {key: value for key, value in controllers["track"].items() if value is not None}
    if every is not None:
        controllers = {name: {**written, "period": every} for name, written in controllers.items()}
    controllers["track"] = {key: value for key, value in controllers["track"].items() if value is not None}
    return trundle.derive(trundle.catalog.differential_drive(), controllers=controllers)


def test_a_closed_loop_is_the_same_law_written_in_python():
    """Both by the same Runge-Kutta steps of fourth order, the reference held over a step, as rollouts hold inputs."""
    model, plant = held(), derived("differential_drive")
    steps, dt = 400, 5e-4
    t = np.arange(steps) * dt
    told = {
        "x": t,
        "y": 0.1 * t,
        "theta": 0.1 + 0.2 * t,
        "v_x": 1 + 0 * t,
        "v_y": 0 * t,
        "omega": 0.2 + 0 * t,
    }
    start = {"y": 0.3, "v_x": 0.8}
    inputs = {f"track.{of}": values[:, None] for of, values in told.items()}
    came = trundle.rollout(model, steps=steps, dt=dt, every=steps, initial=start, inputs=inputs)
    r, half = plant.parameters["r"], plant.parameters["track"] / 2

    def rates(x, k):
        state = dict(zip(model.states, x, strict=True))
        goal = {of: values[k] for of, values in told.items()}
        dx, dy = goal["x"] - state["x"], goal["y"] - state["y"]
        c, s = math.cos(state["theta"]), math.sin(state["theta"])
        ahead, left = c * dx + s * dy, c * dy - s * dx
        turned = math.remainder(goal["theta"] - state["theta"], 2 * math.pi)
        v = goal["v_x"]
        speed = v * math.cos(turned) + 3 * ahead
        k_theta = math.sqrt((1 / math.radians(10)) ** 2 + 2 * v * 10)
        turn = goal["omega"] + 10 * left * np.sinc(turned / math.pi) + k_theta * turned
        off, twisted = speed - state["v_x"], turn - state["omega"]
        both = speed / r + 20 * off + state["speed.integral"]
        apart = turn * half / r + 10 * twisted + state["turn.integral"]
        volts = {"left_motor.voltage": both - apart, "right_motor.voltage": both + apart}
        moves = plant.rhs([state[name] for name in plant.states], [volts[name] for name in plant.inputs])
        found = dict(zip(plant.states, moves, strict=True))
        return np.array(
            [(found | {"speed.integral": 20 * off, "turn.integral": 20 * twisted})[n] for n in model.states]
        )

    x = np.array(model.state_vector(start))
    for k in range(steps):
        one = rates(x, k)
        two = rates(x + dt / 2 * one, k)
        three = rates(x + dt / 2 * two, k)
        x = x + dt / 6 * (one + 2 * two + 2 * three + rates(x + dt * three, k))
    final = np.array([came[name][-1].item() for name in model.states])
    np.testing.assert_allclose(final, x, rtol=1e-10, atol=1e-10)


def eight(speed=1.0, samples=1001):
    """Gerono's figure of eight, 8 m by 4 m, at a speed: time, x, y."""
    p = np.linspace(0, 2 * math.pi, 20_001)
    x, y = 4 * np.sin(p), 4 * np.sin(p) * np.cos(p)
    way = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    time = np.linspace(0, way[-1] / speed, samples)
    at_time = np.interp(time * speed, way, p)
    return {"time": time, "x": 4 * np.sin(at_time), "y": 4 * np.sin(at_time) * np.cos(at_time)}


def pid(reads, feedforward, **drives):
    """Of a speed; the feed-forward is the back-EMF of the motors by it (20 turns to one, 0.05 V s/rad)."""
    named = {f"{name}.voltage": share for name, share in drives.items()}
    return {
        "reads": reads,
        "drives": named,
        "feedforward": feedforward,
        "proportional": 40,
        "integral": 100,
    }


MECANUM = ("front_left_motor", "front_right_motor", "rear_left_motor", "rear_right_motor")


def omnidirectional():
    """A holonomic tracker over controllers of the three speeds of a mecanum base, by the shares of its motors."""
    taken = {"speed_to": "ahead.reference", "sideways_to": "aside.reference", "turn_to": "turn.reference"}
    ahead, aside, turn = (1, 1, 1, 1), (-1, 1, 1, -1), (-1, 1, -1, 1)
    by_speed = 20 * 0.05 / 0.1
    return {
        "track": {"type": "holonomic", **taken},
        "ahead": pid("v_x", by_speed, **dict(zip(MECANUM, ahead, strict=True))),
        "aside": pid("v_y", by_speed, **dict(zip(MECANUM, aside, strict=True))),
        "turn": pid("omega", by_speed * 0.5, **dict(zip(MECANUM, turn, strict=True))),
    }


def car(kind):
    """A tracker of a car of the catalogue, whose axles are 1 m apart, over a controller of its speed."""
    taken = {"speed_to": "speed.reference", "steer_to": "steering_servo.angle", "wheelbase": 1.0}
    speed = pid("v_x", 20 * 0.05 / 0.15, left_motor=1, right_motor=1)
    return {"track": {"type": kind, **taken}, "speed": speed}


# A car's least radius is that of a steering angle of 0.5 rad, its eight as large as twice that; the eight's is 0.835 m.
CAR = 2 / math.tan(0.5) / 0.835
OTHERS = {
    "mecanum": ("mecanum", omnidirectional(), 1.0, True),
    "stanley": ("ackermann", car("stanley"), CAR, False),
    "pure pursuit": ("ackermann", car("pure_pursuit"), CAR, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHERS)
def test_other_bases_with_motors_follow_it_too(case):
    robot, controllers, size, own_heading = OTHERS[case]
    model = trundle.derive(trundle.catalog.robot(robot), controllers=controllers)
    places = {name: size * values for name, values in eight().items()}
    if own_heading:
        places["theta"] = 0.3 * np.sin(places["time"] / 3)
    start = {"y": 0.3} if own_heading else {"y": 0.3, "theta": math.pi / 4, "front_left.speed": 1.0}
    run = trundle.simulate(model, places["time"][-1], trundle.reference(places), initial=start)
    later = run.time > 5
    assert math.sqrt(np.mean(run["track.lateral"][later] ** 2)) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unicycle", "kanayama", "samson"])
def test_a_drive_with_motors_follows_an_eight(kind):
    """From 0.3 m beside it; below a centimetre after 5 s, as the mean of squares."""
    places = eight()
    run = trundle.simulate(
        held(type=kind),
        places["time"][-1],
        trundle.reference(places),
        initial={"y": 0.3, "theta": math.pi / 4},
    )
    later = run.time > 5
    assert math.sqrt(np.mean(run["track.lateral"][later] ** 2)) < 0.01
    assert math.sqrt(np.mean(run["track.along"][later] ** 2)) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unicycle", "kanayama", "samson"])
def test_sampled_trackers_follow_it_in_rollouts(kind):
    """All controllers at 10 ms, with motors, the reference told by arrays."""
    places, dt = eight(), 5e-4
    steps = int(places["time"][-1] / dt / 20) * 20
    times = np.arange(steps) * dt
    told = {
        name: trundle.table(*values).sample(times)[:, None]
        for name, values in trundle.reference(places).items()
    }
    came = trundle.rollout(
        held("10 ms", type=kind),
        steps=steps,
        dt=dt,
        every=20,
        inputs=told,
        initial={"y": 0.3, "theta": math.pi / 4},
    )
    stored = np.arange(steps // 20 + 1) * 20 * dt
    goal = {of: np.interp(stored, times, told[f"track.{of}"][:, 0]) for of in ("x", "y", "theta")}
    off_x, off_y = came["x"].squeeze() - goal["x"], came["y"].squeeze() - goal["y"]
    lateral = np.cos(goal["theta"]) * off_y - np.sin(goal["theta"]) * off_x
    assert math.sqrt(np.mean(lateral[stored > 5] ** 2)) < 0.01


def test_references_of_places_plans_and_runs():
    t = np.linspace(0, 3, 601)
    arc = trundle.reference({"time": t, "x": 2 * np.sin(t / 2), "y": 2 - 2 * np.cos(t / 2)}, "follow")
    assert set(arc) == {f"follow.{name}" for name in ("x", "y", "theta", "v_x", "v_y", "omega")}
    for name, wanted in {"theta": t / 2, "v_x": 1 + 0 * t, "v_y": 0 * t, "omega": 0.5 + 0 * t}.items():
        np.testing.assert_allclose(arc[f"follow.{name}"][1], wanted, atol=1e-5)
    turned = trundle.reference({"time": t, "x": t, "y": 0 * t, "theta": t})
    np.testing.assert_allclose(turned["track.v_y"][1], -np.sin(t), atol=1e-9)
    plan = trundle.plan(trundle.catalog.limited_swerve(), (0.5, 0.5, 0.3))
    told = trundle.reference(plan)
    times = np.array(told["track.x"][0])
    np.testing.assert_array_equal(told["track.theta"][1], plan.poses(times)[:, 2])
    np.testing.assert_array_equal(told["track.v_y"][1], plan.samples(times).twist[:, 1])
    run = plan.run()
    same = trundle.reference(run)
    np.testing.assert_allclose(same["track.x"][1], plan.poses(run.time)[:, 0], atol=1e-12)


T4 = [0.0, 1.0, 2.0, 3.0]
REFUSED = {
    "no motion": (lambda: trundle.reference(3), "takes a motion, not"),
    "waypoints": (lambda: trundle.reference([[0, 0], [1, 1]]), r"pose_path\(waypoints\)"),
    "no y": (lambda: trundle.reference({"time": T4, "x": T4}), "needs the column 'y'"),
    "another column": (lambda: trundle.reference({"time": T4, "x": T4, "z": T4}), "no column 'z'"),
    "short": (lambda: trundle.reference({"time": T4, "x": T4, "y": T4[:2]}), "as long as its times"),
    "falling": (lambda: trundle.reference({"time": T4[::-1], "x": T4, "y": T4}), "times must rise"),
    "standing": (lambda: trundle.reference({"time": T4, "x": [0] * 4, "y": [0] * 4}), "stands at 0 s"),
    "one taker": (lambda: held(turn_to="speed.reference"), "can't take two commands"),
    "no taker": (lambda: held(turn_to="nobody.reference"), "drives 'nobody.reference'"),
    "no tolerance": (lambda: held(lateral=0), "lateral"),
    "a car's law": (
        lambda: held(type="stanley", steer_to="turn.reference", turn_to=None, wheelbase=1.0),
        "'track' can't lead 'differential_drive': none of its wheels steers",
    ),
    "sideways": (
        lambda: held(type="holonomic", sideways_to="left_motor.voltage"),
        "its wheels don't let it go sideways",
    ),
    "a car as a unicycle": (
        lambda: trundle.derive(
            trundle.catalog.ackermann(),
            controllers={
                "track": {
                    "type": "unicycle",
                    "speed_to": "left_motor.voltage",
                    "turn_to": "right_motor.voltage",
                }
            },
        ),
        "1 velocity at a time",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_told(case):
    call, said = REFUSED[case]
    with pytest.raises(InputError, match=said):
        call()


def test_a_run_that_is_of_no_base_is_no_reference():
    run = trundle.simulate(trundle.derive(trundle.catalog.pendulum(links=1)), 0.1, samples=3)
    with pytest.raises(InputError, match="no 'x'"):
        trundle.reference(run)


@pytest.mark.slow
def test_the_tutorial_draws_path_and_errors(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EIGHT), str(tmp_path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert "off the path" in done.stdout
    assert (tmp_path / "eight.png").stat().st_size > 10_000
