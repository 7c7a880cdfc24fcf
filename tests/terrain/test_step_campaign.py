"""The step over ground on many robots: what it makes of energy, turns beside short steps, batches, steps too long."""

import numpy as np
import pytest

import trundle
from tests.terrain.step_cases import (
    COMMANDS,
    LAWS,
    MOTORS,
    RADIUS,
    body,
    drawn,
    framed,
    of_before,
    problem_of,
    run_of,
)
from tests.terrain.test_motors_and_batteries import BATTERY, box, told
from tests.terrain.test_step import car, chain

# Of the energy turned over, by the step's length (s): what the step may make, and the ground at the shorter one.
MADE, BENT = {0.01: 4e-3, 0.05: 2e-2}, 1e-2


@pytest.mark.campaign
def test_random_runs_make_no_energy(campaign):
    """Of 200 runs the most was 1.1e-3 and 5.7e-3, their mean 3e-5 and 2e-4; steps in speeds along the base's turning
    axes made up to 0.08 and 0.34, in the mean 4e-3 and 2e-2.
    """
    made, unsolved, steps = [], np.zeros(2, int), 0
    for rng in campaign(200, least=8):
        what, *given = drawn(rng)
        print(*what)
        problem = problem_of(*given)
        with of_before():
            before = problem_of(*given)
        for step, most in MADE.items():
            new, old = (run_of(each, step, 1.0).summary for each in (problem, before))
            energy = new["energy"]
            assert energy["made_by_step"] <= min(most, max(old["energy"]["made_by_step"], 1e-5))
            assert step > 0.01 or energy["made_by_ground"] <= BENT
            made.append([each["energy"]["made_by_step"] for each in (new, old)])
            unsolved += [each["unsolved_steps"] for each in (new, old)]
            steps += round(1.0 / step)
    ours, theirs = np.mean(made, axis=0)
    assert ours <= max(theirs / 10, 1e-4)
    assert unsolved[0] <= max(unsolved[1], 1e-3 * steps)


WHEEL = {"radius": RADIUS, "mass": 2.0, "width": 0.05, "contact": "linear", "friction": 1.0}
BODY = {"mass": 100.0, "center_of_mass": [0, 0, 0.2], "inertia": {"xx": 10.0, "yy": 10.0, "zz": 10.0}}
DRIVE = {"type": "dc", "torque_constant": 0.05, "resistance": 0.5, "gear_ratio": 20}
TURN, SHORT = 2.0, 1e-4


def turning(kind, omega, speed, driven, rng):
    """A car, rover or skid-steer in a circle of a radius speed/omega, the middle of its rear axle on it."""
    parts = framed("elastic rockers" if kind == "rover" else "rigid", WHEEL, rng)
    for name in ("fl", "fr") if kind != "skid-steer" else ():
        y = 0.4 if name == "fl" else -0.4
        parts["wheels"][name]["heading"] = float(np.arctan2(omega / speed, 1 - y * omega / speed))
    pulls = (
        dict.fromkeys(("rl", "rr"), 12.0) if kind != "skid-steer" else {"fl": 4, "rl": 4, "fr": 12, "rr": 12}
    )
    pulls = pulls if driven else {}
    motors = {f"{name}_motor": {**DRIVE, "drives": name} for name in pulls}
    robot = trundle.Robot(name="turning", base="floating", body=BODY, motors=motors, **parts)
    sideways = 0.0 if kind == "skid-steer" else omega / 2
    initial = {
        "v_x": speed,
        "v_y": sideways,
        "omega_z": omega,
        **{f"{n}.rate": speed / RADIUS for n in parts["wheels"]},
    }
    return robot, {}, {f"{name}_motor.voltage": volts for name, volts in pulls.items()}, initial


def ends(problem, step):
    """Speed (m/s), place (m) and power put in (W) at the end of a turn."""
    run = run_of(problem, step, TURN)
    assert run.summary["unsolved_steps"] == 0
    return np.array(
        [np.hypot(run["v_x"][-1], run["v_y"][-1]), run["x"][-1], run["y"][-1], run["power.in"][-1]]
    )


# What speeds and places may be off, as shares of what steps in turning axes are. Driving is of the first order in the
# step in both, and errors of the steps before cancel in some speeds: these are told as shares of the speed.
NEAR = {
    ("car", False): (1.0, 0.3), ("rover", False): (1.0, 0.3), ("car", True): (1.1, 0.4), ("rover", True): (None, 0.4),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("omega", "speed"), [(0.25, 4.0), (1.0, 4.0), (3.0, 3.0)])
@pytest.mark.parametrize(("kind", "driven"), NEAR)
def test_vehicles_in_turns_go_as_at_a_short_step(kind, driven, omega, speed):
    given = turning(kind, omega, speed, driven, np.random.default_rng(0))
    problem = problem_of(*given)
    with of_before():
        before = problem_of(*given)
    exact = ends(problem, SHORT)
    most, away = NEAR[kind, driven]
    for step in (0.2, 0.05, 0.01):
        ours, theirs = (np.abs(ends(each, step) - exact) for each in (problem, before))
        if step * omega > 0.2:
            assert ours[0] <= 0.02 * exact[0]
            continue
        assert ours[0] <= (0.02 * exact[0] if most is None else most * theirs[0])
        assert np.hypot(*ours[1:3]) <= away * np.hypot(*theirs[1:3])
        if not driven and omega <= 1:
            assert np.hypot(*ours[1:3]) <= 0.1 * np.hypot(*theirs[1:3])
        assert ours[3] <= theirs[3]


@pytest.mark.slow
@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize(("omega", "speed"), [(0.25, 4.0), (3.0, 3.0)])
def test_skid_steers_are_of_the_first_order(omega, speed, driven):
    """Wheels that scrub stop its turn within few steps, and the turn that a step foresees is that where it begins."""
    problem = problem_of(*turning("skid-steer", omega, speed, driven, np.random.default_rng(0)))
    exact = ends(problem, SHORT)
    off = [np.abs(ends(problem, step) - exact) for step in (0.02, 0.01, 0.005)]
    assert off[1][0] <= 5e-3 * exact[0]
    assert np.hypot(*off[1][1:3]) <= 0.05 * TURN * exact[0]
    assert off[2][0] <= 0.65 * off[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize(("omega", "speed"), [(0.25, 4.0), (1.0, 4.0)])
def test_skid_steers_turn_no_farther_than_their_heading(omega, speed, driven):
    """In steps that are longer than their yaw lasts."""
    given = turning("skid-steer", omega, speed, driven, np.random.default_rng(0))
    problem = problem_of(*given)
    with of_before():
        before = problem_of(*given)
    exact = ends(problem, SHORT)
    ours, theirs = (np.abs(ends(each, 0.2) - exact) for each in (problem, before))
    assert ours[0] <= theirs[0] + 2.5e-3 * exact[0]
    assert np.hypot(*ours[1:3]) <= np.hypot(*theirs[1:3])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "motor", "law"),
    [
        ("elastic rockers", "ideal", "ellipse"),
        ("geared rockers", "battery", "bristle"),
        ("struts", "velocity", "pacejka"),
    ],
)
def test_many_robots_go_as_one_does(frame, motor, law, rng):
    """With what a step remembers of joints and held speeds, over ground of their own."""
    parts = framed(frame, {**WHEEL, **LAWS[law], "friction": 0.8}, rng)
    motors = {f"{name}_motor": {"drives": name, **MOTORS[motor]} for name in parts["wheels"]}
    cells = {"batteries": {"b": BATTERY}} if motor == "battery" else {}
    robot = trundle.Robot(name="many", base="floating", body=body(rng, 80.0), motors=motors, **cells, **parts)
    count, steps, step = 4, 40, 0.02
    ground = {"surfaces": {"g": {"type": "waves", "amplitude": 0.05, "length": 3.0, "across": 4.0}}}
    numbers = {"terrain.surfaces.g.amplitude": (0.01, 0.08), "terrain.surfaces.g.length": (2.5, 4.0)}
    starts = {"v_x": (1, 4), "omega_z": (-2, 2), "yaw": (-3, 3)} | (
        {"z": (0.6, 1.0)} if frame == "struts" else {}
    )
    commands = {f"{name}_motor.{COMMANDS[motor]}": (3, 10) for name in parts["wheels"]}
    told_all = [
        {name: rng.uniform(*limits, count) for name, limits in each.items()}
        for each in (numbers, commands, starts)
    ]
    given = dict(zip(("parameters", "inputs", "initial"), told_all, strict=True))
    batch = trundle.rollout(robot, terrain=ground, **given, steps=steps, dt=step, progress=False)
    for lane in range(count):
        one = {key: {name: float(row[lane]) for name, row in rows.items()} for key, rows in given.items()}
        run = trundle.simulate(
            robot, steps * step, terrain=ground, step=step, samples=steps + 1, progress=False, **one
        )
        for name in batch.states:
            if name in run.columns:
                assert batch[name][:, lane] == pytest.approx(run[name], rel=1e-9, abs=1e-9), name


GENTLE = {
    "surfaces": {"ground": {"type": "waves", "amplitude": 0.05, "length": 5.0, "across": 5.0}},
    "sinkage": 0.01,
}
# A hopper's spring wants shorter steps than the default, and its runs say so.
VEHICLES = [name for name in trundle.catalog.names(terrain=True) if name != "hopper"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*VEHICLES, "driven", "on bristles"])
def test_a_thousand_default_steps_over_gentle_ground_are_not_doubtful(name):
    if name in VEHICLES:
        robot, inputs = trundle.catalog.robot(name), {}
    else:
        law = "bristle" if name == "on bristles" else "linear"
        robot, inputs = box({"friction": 0.8, "contact": law}), told("voltage", 6, 9)
    run = trundle.simulate(robot, 10.0, inputs, terrain=GENTLE)
    assert all(np.isfinite(run[column]).all() for column in run.columns)
    assert run.summary["unsolved_steps"] == 0
    energy = run.summary["energy"]
    assert not {"step", "ground_step", "made_by_step_from"} & {*energy}


def landing(frame, law):
    """A robot that is thrown onto the ground, turning."""
    rng = np.random.default_rng(4)
    parts = framed(frame, {**WHEEL, **LAWS[law]}, rng)
    return trundle.Robot(name="thrown", base="floating", body=body(rng, 80.0), **parts)


FALLS = {"z": 1.5, "v_x": 5.0, "omega_x": 5.0, "omega_z": 3.0}
TOO_LONG = {
    "chain": (lambda: chain(np.random.default_rng(4), 3), {"z": 1e3, "omega_y": 20.0, "j0.rate": 10.0}, 0.1),
    "skid": (lambda: car(friction=0.2), {"v_x": 6.0, "v_y": 4.0, "omega_z": 3.0}, 0.5),
    "spin": (lambda: car(friction=0.2), {"v_x": 6.0, "v_y": 4.0, "omega_z": 20.0}, 0.2),
    "fall": (lambda: car(friction=0.8), {"z": 500.0, "v_x": 4.0, "omega_x": 0.3}, 0.2),
    "landing": (lambda: car(friction=0.8), {**FALLS, "omega_y": -6.0}, 0.5),
    "struts": (lambda: landing("struts", "bristle"), FALLS, 0.5),
    "rockers": (lambda: landing("elastic rockers", "pacejka"), FALLS, 0.5),
    "gears": (lambda: landing("geared rockers", "slip"), FALLS, 0.2),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TOO_LONG)
def test_steps_that_no_motion_can_be_followed_with_end_and_say_so(case):
    robot, initial, step = TOO_LONG[case]
    run = trundle.simulate(
        robot(), 6.0 if case != "fall" else 14.0, terrain={}, initial=initial, step=step, progress=False
    )
    assert all(np.isfinite(run[column]).all() for column in run.columns)
    assert run.summary["energy"]["step"] < step / 2
