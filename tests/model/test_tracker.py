"""The default tracker: any base on wheels follows by its motors' own inputs, and what cannot follow is told why."""

import math
import pickle
import warnings

import numpy as np
import pytest
import yaml

import trundle
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.model.motored_base import MotoredBase
from trundle.motion.forces.forces import DrivenRobot, motion_forces
from trundle.robot import Sight, parse_robot
from trundle.robot.component import plain
from trundle.robot.controllers import CONTROLLERS
from trundle.robot.motors import DCMotor, ServoMotor, TorqueMotor, VelocityMotor

from .test_trackers import CAR, eight

TOLD = ("x", "y", "theta", "v_x", "v_y", "omega", "v_x_rate", "v_y_rate", "omega_rate")
T5 = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
TRACK = {"track": {"type": "tracker"}}


def at_once(robot):
    """The robot with motors whose currents follow at once."""
    none = DCMotor(drives="", torque_constant=1.0, resistance=1.0).inductance
    motors = {
        name: motor.model_copy(update={"inductance": none}) if isinstance(motor, DCMotor) else motor
        for name, motor in robot.motors.items()
    }
    return robot.model_copy(update={"motors": motors})


@pytest.mark.filterwarnings("ignore:.*the run starts")
@pytest.mark.parametrize("off", [0.0, 9.0])
def test_a_tracker_leaves_its_battery_on(off, rng):
    """From far off its motion steering asks for all there is: V (E − V) = 0.975 U (E − U) of a full battery, with U the
    voltage that switches it off, or E/2. And it stays on with any period.
    """
    robot = trundle.catalog.swerve(
        motor="kraken_x60",
        robot_mass=54,
        battery=12.6,
        steering_motor="kraken_x60",
        contact="slip",
        friction=1.0,
    )
    (battery,) = plain(robot)["batteries"].values()
    batteries = {"battery": battery | ({"off_below": off} if off else {})}
    robot = parse_robot(plain(robot) | {"batteries": batteries})
    t, turn = np.linspace(0, 1, 21), rng.choice([-1, 1]) * rng.uniform(0.7, 1.5)
    for period in ({}, {"period": "10 ms"}):
        tracker = {"track": {"type": "tracker", **period}}
        model, way = (
            trundle.derive(robot, controllers=tracker),
            {"time": t, "x": t**2, "y": 0 * t, "theta": 0 * t},
        )
        run = trundle.simulate(
            model, 0.3, {"track": way}, initial={"theta": turn}, samples=3001, progress=False
        )
        least = 6.3 + np.sqrt(6.3**2 - 0.975 * max(off, 6.3) * (12.6 - max(off, 6.3)))
        assert run["battery.voltage"][0] == pytest.approx(least, abs=1e-5)
        assert run["battery.voltage"].min() > max(off, 6.3)
        assert "brown_out" not in run.summary


@pytest.mark.parametrize("ground", [False, True])
def test_a_run_that_starts_far_off_its_motion_is_warned_of_once_with_numbers(ground, rng):
    robot = trundle.catalog.differential_drive(casters=True, contact="slip", friction=1.0)
    robot = robot.model_copy(
        update={"controllers": trundle.derive(robot, controllers=TRACK).robot.controllers}
    )
    x, y, heading = *rng.uniform(-5, 5, 2), rng.uniform(-3, 3)
    t = np.linspace(0, 1, 21)
    way = {"time": t, "x": x + np.cos(heading) * t, "y": y + np.sin(heading) * t}

    def warnings_from(**pose):
        angle = {"yaw" if ground else "theta": pose.pop("theta")}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if ground:
                trundle.simulate(
                    robot, 0.01, {"track": way}, terrain={}, step=0.01, initial=pose | angle, progress=False
                )
            else:
                trundle.simulate(robot, 0.01, {"track": way}, initial=pose | angle, progress=False)
        return [str(warning.message) for warning in said if "off the motion" in str(warning.message)]

    assert warnings_from(x=x + 0.9, y=y, theta=heading + math.radians(29) - 2 * math.pi) == []
    (turned,) = warnings_from(x=x + 0.3, y=y, theta=heading + math.radians(57))
    assert "starts 0.3 m and 57° off the motion of 'track'" in turned
    (aside,) = warnings_from(x=x, y=y - 1.5, theta=heading)
    assert "starts 1.5 m and" in aside
    assert f"begins at x = {x:.4g} m, y = {y:.4g} m with a heading of {math.degrees(heading):.4g}°" in aside


STRAIGHT = {"ackermann": "front_left.speed", "tricycle": "front.speed"}


@pytest.mark.parametrize("name", ["differential_drive", "three_omni", "mecanum", *STRAIGHT])
def test_on_the_reference_the_base_changes_its_twist_as_the_reference_does(name, rng):
    """By the closed loop's own equations of motion: the tracker's inverse dynamics is theirs. Cars go straight on, as a
    turning rate comes by steering, which takes time.
    """
    robot = at_once(trundle.catalog.robot(name))
    model = trundle.derive(robot, controllers=TRACK)
    for _ in range(10):
        # So the motors stay below their 24 V: up to 0.8 they need 21.2 V, up to 1 26.2 V.
        pose, twist, rate = rng.normal(size=3), rng.uniform(0.3, 0.8, 3), rng.uniform(-1, 1, 3)
        bound = {"three_omni": (), "mecanum": (), "differential_drive": (1,)}.get(name, (1, 2))
        for k in bound:
            twist[k] = rate[k] = 0.0
        told = dict(zip(TOLD, [*pose, *twist, *rate], strict=True))
        state = dict(zip(("x", "y", "theta", "v_x", "v_y", "omega"), [*pose, *twist], strict=True))
        if name in STRAIGHT:
            state[STRAIGHT[name]] = twist[0]
        x = np.array([state.get(of, 0.0) for of in model.states])
        moved = model.rhs(x, [told[of.removeprefix("track.")] for of in model.inputs])
        found = dict(zip(model.states, moved, strict=True))
        if name in STRAIGHT:
            # what turns the tricycle's caster isn't counted
            near = 5e-3 if name == "tricycle" else 1e-9
            assert found[STRAIGHT[name]] == pytest.approx(rate[0], rel=near)
        else:
            speeds = [of for of in ("v_x", "v_y", "omega") if of in found]
            wanted = dict(zip(("v_x", "v_y", "omega"), rate, strict=True))
            assert {of: found[of] for of in speeds} == pytest.approx(
                {of: wanted[of] for of in speeds}, abs=1e-9
            )


def test_torques_are_those_of_the_motions_own_forces():
    """Against `motion_forces`, which works with arrays and pseudoinverses."""
    robot = at_once(trundle.catalog.mecanum())
    turn = {"name": "turn", "commands": [{"duration": 1, "twist": {"v_x": 0.4, "v_y": 0.2, "omega": 0.7}}]}
    motion = trundle.drive({"motion": turn}, robot, level="body").motion
    samples = motion.samples(np.linspace(0.05, 0.95, 7))
    forces = motion_forces(DrivenRobot(robot, motion.kinematics.names), samples)
    base, read = MotoredBase(robot), robot.resolver()
    for k in range(len(samples)):
        rates = samples.drive_speed[k] / read(robot.wheels["front_left"].radius)
        seen = {f"{wheel}.rate": rate for wheel, rate in zip(motion.kinematics.names, rates, strict=True)}
        came = base.commands(samples.twist[k], samples.twist_rate[k], seen, read, math.inf)
        wanted = {name: values[k] for name, values in forces.commands.items()}
        assert came == pytest.approx(wanted, rel=1e-9, abs=1e-9)


REAL = {"motor": "kraken_x60", "robot_mass": 54, "center_height": 0.2, "friction": 1.1, "contact": "slip"}
REAL_BASES = {
    "swerve": {"gear_ratio": 6.75, "steering_motor": "kraken_x60", "steering_ratio": 21.4},
    "mecanum": {"gear_ratio": 8},
    "differential_drive": {"gear_ratio": 8.45, "track": 0.6, "radius": 0.076},
}


@pytest.mark.parametrize("battery", mostly_slow([None, 12.6], [None]))
@pytest.mark.parametrize("grip", mostly_slow([0.95, 0.8, 0.3], [0.95]))
@pytest.mark.parametrize("name", mostly_slow(list(REAL_BASES), ["swerve"]))
def test_plans_at_the_limit_of_the_grip_are_kept_to(name, grip, battery):
    """Commands held for 5 ms, wheels that slip by up to 3 cm/s for their forces: 20 mm along the way and aside, 1°.

    Without the plan's forces a swerve at 95 % is 70 mm late: wheels that share otherwise ask for volts beyond 12 V.
    """
    robot = trundle.catalog.robot(name, **REAL | REAL_BASES[name], battery=battery)
    straight = name == "differential_drive"
    path = trundle.pose_path([(0, 0, 0), (4, 0, 0)] if straight else [(0, 0, 0), (2, 0.3, 0.5), (4, 0, -0.4)])
    motion = trundle.follow(path, robot, grip=grip, progress=False).motion
    model = trundle.derive(robot, controllers={"track": TRACK["track"] | {"period": "5 ms"}})
    begins = DrivenRobot(robot, motion.kinematics.names).coordinates(motion.samples(np.zeros(1)))
    initial = {of: float(values[0]) for of, values in begins.items()}
    run = trundle.simulate(model, motion.duration, {"track": motion}, initial=initial, progress=False)
    wanted, twist = motion.poses(run.time), motion.samples(run.time).twist
    off = (run["x"] - wanted[:, 0]) + 1j * (run["y"] - wanted[:, 1])
    way = np.exp(1j * (wanted[:, 2] + np.arctan2(twist[:, 1], twist[:, 0])))
    beside = off * np.conj(way)
    worst = [np.abs(part).max() for part in (beside.real, beside.imag, run["theta"] - wanted[:, 2])]
    print(f"{1e3 * worst[0]:.1f} mm along, {1e3 * worst[1]:.1f} mm aside, {np.degrees(worst[2]):.2f}°")
    assert worst[0] < 0.02
    assert worst[1] < 0.02
    assert worst[2] < math.radians(1)


@pytest.mark.parametrize("beside", mostly_slow([0.0, 1e-6, 0.02, 0.1], [0.02]))
def test_a_swerve_beside_its_plan_comes_back_and_stays_at_the_end(beside):
    """At rest its wheels are steered to where it is about to go: turned across its way they drove it farther aside,
    19 mm for a micrometre. Behind the plan's end nothing quickens it any more: it left its goal by 15 cm.
    """
    robot = trundle.catalog.swerve(**REAL | REAL_BASES["swerve"], battery=12.6)
    motion = trundle.follow(
        trundle.pose_path([(0, 0, 0), (4, 0, 0)]), robot, margin=0.5, progress=False
    ).motion
    model = trundle.derive(robot, controllers={"track": TRACK["track"] | {"period": "20 ms"}})
    run = trundle.simulate(
        model, motion.duration + 1, {"track": motion}, initial={"y": beside}, progress=False
    )
    assert np.abs(run["track.lateral"]).max() <= 1.2 * beside + 1e-4
    assert math.hypot(run["x"][-1] - 4, run["y"][-1]) < 2e-3


WHERE = {"type": "estimator", "encoders": 0.01, "position": "1 cm", "heading": "0.5 deg"}
SENSORS = {
    "encoders": {"ticks": 1024, "period": "10 ms"},
    "fixes": {"type": "pose", "position": "1 cm", "heading": "0.5 deg", "latency": "60 ms"},
}


def off(robot, places, period, dt=5e-4, rng=None, duration=8.0):
    """Lateral errors over time of a rollout on places, the tracker sampled; begun 0.3 m beside them.

    With random numbers by the pose that an estimator knows of encoders and fixes, else by the true one.
    """
    controllers = {"track": TRACK["track"] | ({} if period is None else {"period": period})}
    if rng is not None:
        robot = robot.with_sensors(SENSORS)
        controllers = {"where": WHERE, "track": controllers["track"] | {"pose": "where"}}
    model = trundle.derive(robot, controllers=controllers)
    stores = round(0.01 / dt)
    steps = int(duration / dt / stores) * stores
    told = {"track": places}
    if rng is not None:
        told |= {name: rng.normal(size=(steps, 1)) for name in model.inputs if name.startswith("where.")}
    start = {"y": 0.3, "theta": math.pi / 4}
    came = trundle.rollout(model, steps=steps, dt=dt, every=stores, inputs=told, initial=start)
    stored = np.arange(steps // stores + 1) * stores * dt
    wanted = trundle.reference(places)
    goal = {of: trundle.table(*wanted[f"track.{of}"]).sample(stored) for of in ("x", "y", "theta")}
    off_x, off_y = came["x"].squeeze() - goal["x"], came["y"].squeeze() - goal["y"]
    return stored, np.cos(goal["theta"]) * off_y - np.sin(goal["theta"]) * off_x


def scaled(size, speed=1.0):
    places = eight(speed / size)
    return {name: values if name == "time" else size * values for name, values in places.items()}


def unchanged(motor):
    return motor


def with_motors(robot, spins, steers=unchanged):
    """The robot with other motors on wheels, and on their steering."""
    motors = {
        name: (steers if "steer" in motor.drives else spins)(motor) for name, motor in robot.motors.items()
    }
    return robot.model_copy(update={"motors": motors})


def torque(motor):
    return TorqueMotor(drives=motor.drives)


def velocity(motor):
    return VelocityMotor(drives=motor.drives, gain=2.0)


def dc(motor):
    return DCMotor(
        drives=motor.drives, torque_constant=0.05, resistance=0.5, gear_ratio=20, rotor_inertia=2e-5
    )


SIZES = {"ackermann": CAR, "tricycle": CAR}
STEPS = {"swerve": 2e-4}
CASES = {
    **{
        name: (trundle.catalog.robot, name)
        for name in ("differential_drive", "three_omni", "mecanum", "swerve")
    },
    "ackermann": (trundle.catalog.robot, "ackermann"),
    "tricycle": (trundle.catalog.robot, "tricycle"),
    "a drive by torques": (
        lambda name: with_motors(trundle.catalog.robot(name), torque),
        "differential_drive",
    ),
    "a drive by rates": (lambda name: with_motors(trundle.catalog.robot(name), velocity), "mecanum"),
    "a swerve steered by voltages": (
        lambda name: with_motors(trundle.catalog.robot(name), unchanged, dc),
        "swerve",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_any_base_follows_an_eight(case):
    """Sampled every 10 ms, from 0.3 m beside it, by the true pose: millimetres are left after 5 s."""
    make, name = CASES[case]
    time, lateral = off(make(name), scaled(SIZES.get(name, 1.0)), "10 ms", STEPS.get(name, 5e-4))
    rms = math.sqrt(np.mean(lateral[time > 5] ** 2))
    assert rms < 0.002, rms


def competition_swerve():
    motors = {"motor": "kraken_x60", "gear_ratio": 6.75, "current_limit": 40, "battery": 12}
    steering = {"steering_motor": "kraken_x60", "steering_ratio": 12.8, "steering_current_limit": 40}
    sizes = {"wheelbase": "22 in", "track": "22 in", "radius": "2 in", "center_height": "8 in"}
    return trundle.catalog.swerve(**motors, **steering, **sizes, robot_mass="115 lb", friction=1.1)


@pytest.mark.slow
def test_a_competition_swerve_follows_it_at_2_m_s():
    """With limits of 40 A, a battery, motors on its steering, and wheels that slip. Wheels take 92 % of their grip, and
    motors 12 A and 7 V: 0.8 mm; 4 mm at 3 m/s, at the floor's limit and 11 V.
    """
    time, lateral = off(competition_swerve(), eight(2.0), "10 ms", 2e-4)
    assert math.sqrt(np.mean(lateral[time > 5] ** 2)) < 2e-3


# By name the robot, its speed on the eight (m/s), how large that is, and steps.
FIGURE = {
    **{name: (name, 1.0, 1.0, 5e-4) for name in ("differential_drive", "three_omni", "mecanum")},
    "ackermann": ("ackermann", 1.0, CAR, 5e-4),
    "swerve": ("swerve", 1.0, 1.0, 2e-4),
    "a competition swerve": (None, 2.0, 1.0, 2e-4),
}


@pytest.mark.campaign
def test_by_encoders_and_late_fixes_they_stay_within_a_centimetre(campaign):
    """Encoders of 1,024 ticks a turn, ten fixes a second of 1 cm and 0.5°, 60 ms late: RMS after 5 s of the eight."""
    for rng in campaign(12):
        name, speed, size, dt = FIGURE[str(rng.choice(list(FIGURE)))]
        robot = competition_swerve() if name is None else trundle.catalog.robot(name)
        places = scaled(size, speed)
        time, lateral = off(robot, places, "10 ms", dt, rng, duration=places["time"][-1])
        rms = math.sqrt(np.mean(lateral[time > 5] ** 2))
        assert rms < 0.01, (robot.name, rms)


@pytest.mark.slow
def test_a_mecanum_base_does_so_for_8_s(rng):
    time, lateral = off(trundle.catalog.mecanum(), eight(), "10 ms", rng=rng)
    assert math.sqrt(np.mean(lateral[time > 5] ** 2)) < 0.01


@pytest.mark.slow
def test_without_samples_a_drive_follows_it_closer():
    time, lateral = off(trundle.catalog.differential_drive(), eight(), None)
    assert math.sqrt(np.mean(lateral[time > 5] ** 2)) < 2e-5


def test_a_drive_whose_axle_is_not_at_its_origin_follows_too():
    """What it can do is told by a run of itself by voltages: from 10 cm beside that it comes back to it."""
    source = trundle.catalog.document("differential_drive").source.replace("at: [0,", "at: [-0.3,")
    robot = trundle.load({"robot": yaml.safe_load(source)["robot"]})
    assert [float(module.place[0]) for module in MotoredBase(robot).modules] == [-0.3, -0.3]
    volts = {"left_motor.voltage": (T5, [4, 6, 5, 3, 5, 5], "cubic"), "right_motor.voltage": 5.0}
    way = trundle.simulate(robot, 5.0, volts, initial={"v_x": 0.7}, samples=501, progress=False)
    assert np.abs(way["v_y"]).max() > 0.05
    model = trundle.derive(robot, controllers=TRACK)
    run = trundle.simulate(
        model, 5.0, {"track": way}, initial={"y": 0.1, "v_x": 0.7}, samples=501, progress=False
    )
    assert abs(run["track.lateral"][0]) > 0.05
    assert np.abs(run["track.lateral"][-100:]).max() < 2e-3
    assert np.abs(run["track.along"][-100:]).max() < 2e-3


def told_to(robot, wanted, seen, **tracker):
    """Commands at a pose of zeros, for what the reference says and what is read beside it."""
    base = MotoredBase(robot)
    tracker = CONTROLLERS.read({"type": "tracker", **tracker}).on(base)
    read = dict.fromkeys(tracker.reads_from(), 0.0) | seen
    told = dict.fromkeys(tracker.references(), 0.0) | wanted
    return tracker.law(Sight(read, told, {}), robot.resolver()).commands


def test_swerves_go_back_by_the_nearer_half_turn():
    """Told to reverse, wheels keep their angles and roll backward."""
    robot = trundle.catalog.swerve()
    ahead, back = (told_to(robot, {"v_x": v}, {}) for v in (1.0, -1.0))
    for name, command in ahead.items():
        assert back[name] == pytest.approx(command if name.endswith("angle") else -command, abs=1e-9)
    aside = told_to(robot, {"v_x": -0.5, "v_y": -1.0}, {f"{wheel}.steering": 1.0 for wheel in robot.wheels})
    assert [v for name, v in aside.items() if name.endswith("angle")] == pytest.approx(
        [math.atan2(1, 0.5)] * 4
    )
    assert all(v < 0 for name, v in aside.items() if name.endswith("voltage"))


@pytest.mark.parametrize("limit", [20, 35])
def test_a_car_isnt_steered_beyond_its_limit(limit):
    """Far beside the path it drives the sharpest bend, on which its inner wheel is at the limit."""
    told = told_to(trundle.catalog.ackermann(), {"v_x": 1.0, "y": 5.0}, {}, steering=f"{limit} deg")
    angle = told[
        "steering_servo.angle"
    ]  # of the wheel in the middle, 1 m ahead of the axle; the track is 0.7 m
    inner = math.atan2(math.sin(angle), math.cos(angle) - 0.35 * math.sin(angle))
    assert inner == pytest.approx(math.radians(limit), abs=1e-3)


def changed(name, **parts):
    robot = trundle.catalog.robot(name)
    return robot.model_copy(update={of: change(getattr(robot, of)) for of, change in parts.items()})


def without(*names):
    return lambda parts: {name: part for name, part in parts.items() if name not in names}


REFUSED = {
    "on no wheels": (lambda: trundle.catalog.pendulum(), "can't lead 'pendulum': its base is fixed"),
    "one motor": (
        lambda: changed("differential_drive", motors=without("left_motor")),
        "choose 1 of the 2 velocities",
    ),
    "two motors": (
        lambda: changed("three_omni", motors=without("rear_motor")),
        "choose 2 of the 3 velocities",
    ),
    "no motors": (lambda: changed("mecanum", motors=lambda _: {}), "choose 0 of the 3 velocities"),
    "nobody steers": (
        lambda: changed("ackermann", motors=without("steering_servo")),
        "no motor steers 'front_left'",
    ),
    "one that nobody steers": (
        lambda: changed("swerve", motors=without("rear_left_steer")),
        "no motor steers 'rear_left'",
    ),
    "a servo on a wheel": (
        lambda: with_motors(
            trundle.catalog.differential_drive(),
            lambda motor: ServoMotor(drives=motor.drives, stiffness=10.0),
        ),
        "'right_motor' holds an angle, and what it drives turns on and on",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_robot_that_cannot_follow_is_told_why(case):
    make, said = REFUSED[case]
    with pytest.raises(InputError, match=said) as told:
        trundle.derive(make(), controllers=TRACK)
    assert told.value.key == "robot.controllers.track.type"


def test_run_files_take_motions_by_their_files(tmp_path):
    """Columns, a trajectory, a kept run and places in Python give one run, also of a model that was kept."""
    places = {name: values[:200] for name, values in eight().items()}
    described = trundle.catalog.document("differential_drive").source.split("run:")[0]
    rows = zip(*(places[name].tolist() for name in ("time", "x", "y")), strict=True)
    (tmp_path / "eight.csv").write_text("time,x,y\n" + "\n".join(f"{t!r},{x!r},{y!r}" for t, x, y in rows))
    lines = "  controllers:\n    track: {type: tracker}\nrun:\n  duration: 1 s\n  samples: 21\n"
    file = tmp_path / "robot.yaml"
    file.write_text(f"{described.rstrip()}\n{lines}  inputs: {{track: {{file: eight.csv}}}}\n")
    run = trundle.run(file)
    assert run["track.lateral"][0] == 0
    same = trundle.run(file, inputs={"track": places})
    np.testing.assert_array_equal(run["x"], same["x"])
    by_file = trundle.simulate(
        trundle.derive(file), 1.0, {"track": {"file": str(tmp_path / "eight.csv")}}, samples=21
    )
    np.testing.assert_array_equal(run["x"], by_file["x"])
    rolled = trundle.rollout(trundle.derive(file), steps=1000, dt=1e-3, every=50, inputs={"track": places})
    np.testing.assert_allclose(rolled["x"].squeeze(), run["x"], atol=5e-4)
    (tmp_path / "away.yaml").write_text(file.read_text().replace("eight.csv", "none.csv"))
    with pytest.raises(InputError, match="there is no such file: .*none.csv") as told:
        trundle.run(tmp_path / "away.yaml")
    assert told.value.file.endswith("away.yaml")
    model = trundle.derive(file)
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    kept = trundle.simulate(again, 1.0, {"track": places}, samples=21)
    # one program, but sums of linear algebra round by where arrays lie in memory
    np.testing.assert_allclose(run["x"], kept["x"], rtol=1e-12, atol=1e-15)


def test_references_of_files(tmp_path):
    """A plan's own files, Choreo's and columns, tell what the plan does; a path is driven within the robot's limits."""
    robot = trundle.catalog.limited_swerve()
    plan = trundle.plan(robot, (0.5, 0.5, 0.3))
    told = trundle.reference(plan)
    times = np.array(told["track.x"][0])
    for name in ("plan.traj", "plan.csv"):
        trundle.write_trajectory(plan, tmp_path / name)
        read = trundle.reference(tmp_path / name)
        for of in ("x", "y", "theta"):
            came = np.interp(times, *read[f"track.{of}"][:2])
            np.testing.assert_allclose(came, told[f"track.{of}"][1], atol=2e-4)
    plan.run().save(tmp_path / "plan.nc")
    assert trundle.reference(tmp_path / "plan.nc")["track.x"][1][-1] == pytest.approx(told["track.x"][1][-1])
    path = trundle.pose_path([(0, 0, 0), (1, 0.5, 0), (2, 0, 0)])
    driven = trundle.reference(path, robot=trundle.derive(robot, controllers=TRACK))
    assert driven["track.x"][1][-1] == pytest.approx(2.0)
    assert "track.omega_rate" in driven
    with pytest.raises(InputError, match="a path has no times"):
        trundle.reference(path)
    with pytest.raises(InputError, match="no file of a motion"):
        trundle.reference(__file__)
    with pytest.raises(InputError, match="there is no such file"):
        trundle.reference(tmp_path / "none.traj")


def test_a_motion_for_what_follows_none_is_refused():
    hold = {"hold": {"reads": "v_x", "drives": "left_motor.voltage", "proportional": 1}}
    model = trundle.derive(trundle.catalog.differential_drive(), controllers=hold)
    with pytest.raises(InputError, match="'hold' of 'differential_drive' is no tracker") as told:
        trundle.simulate(model, 1.0, {"hold": eight()})
    assert told.value.key == "run.inputs.hold"


def test_a_swerve_that_turns_its_wheels_by_a_quarter_stays_on_its_plan():
    """Wheels go on by the reference's direction, also at a crawl: forward to aside within a millimetre."""
    robot = trundle.catalog.swerve()
    limits = trundle.Limits(steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=1)
    motion = trundle.plan(robot, (0, 0.5, 0), limits=limits)
    model = trundle.derive(robot, controllers={"track": {"type": "tracker"}})
    run = trundle.simulate(model, motion.duration, {"track": motion}, progress=False)
    off = np.hypot(*(np.stack([run["x"], run["y"]], axis=1) - motion.poses(run.time)[:, :2]).T)
    assert off.max() < 1e-3
    angles = motion.samples(run.time).angle[:, 0]
    assert np.abs(run["front_left.steering"] - angles).max() < 0.02
