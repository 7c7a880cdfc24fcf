"""Plans along paths within what motors, batteries and the floor give: the true laws at 10 kHz, and closed forms."""

import json

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import InputError, catalog
from trundle.motion.constraints.constraint import Moving, shares
from trundle.motion.constraints.real_limits import actuation
from trundle.motion.forces.forces import DrivenRobot, motion_forces
from trundle.motion.paths import retime
from trundle.robot import parse_robot
from trundle.robot.component import plain
from trundle.robot.motors import DCMotor, ServoMotor

# By how much a share may be above what was asked for.
BEYOND = 1e-6


def used(driven, rate=1e4):
    """The largest share of all that binds, of what was planned with, at so many instants a second and about breaks."""
    motion = driven.motion
    beside = np.nextafter(motion.breaks[1:], 0)
    times = np.unique(np.concatenate([np.arange(0.0, motion.duration, 1 / rate), motion.breaks, beside]))
    robot = DrivenRobot(driven.robot, driven.names)
    forces = motion_forces(robot, motion.samples(times), motion.pushes(times))
    taken = shares(actuation(driven.grip), Moving(forces=forces))
    return {name: float(share.max()) for name, share in taken.items()}


def test_a_swerve_keeps_what_motors_and_floor_give():
    robot = catalog.swerve(
        motor="kraken_x60", gear_ratio=6.75, wheelbase=0.6, track=0.6, friction=1.1, body_mass=45
    )
    path = trundle.pose_path([(0, 0, 0), (1, 1, 0.5), (2, 0, 0), (1, -1, 0), (0, 0, 0)])
    shares = used(trundle.follow(path, robot, grip=0.9))
    assert max(share for name, share in shares.items() if name.startswith("grip ")) > 0.999
    assert max(shares.values()) <= 1 + BEYOND


@pytest.mark.parametrize("battery", mostly_slow([12.6, None], [12.6]))
def test_a_margin_is_left_of_grip_and_volts(battery):
    robot = catalog.swerve(motor="kraken_x60", gear_ratio=6.75, friction=1.1, robot_mass=54, battery=battery)
    path = trundle.pose_path([(0, 0, 0), (2, 0.3, 0.5), (4, 0, -0.4)])
    whole, driven = (trundle.follow(path, robot, margin=margin) for margin in (0.0, 0.1))
    assert driven.motion.duration > whole.motion.duration
    shares = used(driven)  # of all volts, and of the grip that was planned with
    volts = [share for name, share in shares.items() if name.startswith(("voltage ", "battery "))]
    assert 0.899 < max(volts) <= 0.9 * (1 + BEYOND)
    assert driven.grip == pytest.approx(0.95 * 0.9)
    assert 0.99 < max(share for name, share in shares.items() if name.startswith("grip ")) <= 1 + BEYOND
    assert max(share.max() for share in driven.limit_usage.shares.values()) <= 1 + BEYOND
    for wrong in (-0.1, 1):
        with pytest.raises(InputError, match="margin from 0 to below 1"):
            trundle.follow(path, robot, margin=wrong)


@pytest.mark.slow
def test_a_straight_line_with_a_turn_is_bound_nearly_all_the_time():
    """Currents lie far within their limit where drives stop pulling and brake: what is left out there was passed."""
    robot = catalog.swerve(
        motor="kraken_x60",
        gear_ratio=6,
        current_limit=26,
        friction=1.5,
        robot_mass=39,
        wheelbase=0.6,
        track=0.6,
    )
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (4, 0, -1)]), robot)
    bound = sum(end - begin for _, begin, end in driven.limit_usage.binding)
    assert bound > 0.97 * driven.motion.duration
    assert max(used(driven).values()) <= 1 + BEYOND


def test_declared_limits_that_are_lower_stay_what_binds():
    """Motors and floor of the default robot give all that its limits ask for: the plan is that of its limits alone."""
    path = trundle.pose_path([(0, 0, 0), (1, 0.5, 1), (2, 0, 0)])
    ours, alone = (trundle.follow(path, grip=grip).motion.duration for grip in (0.95, None))
    assert ours == pytest.approx(alone, rel=1e-4)


REAL = {"motor": "kraken_x60", "friction": 0.9, "robot_mass": 45, "center_height": 0.2, "current_limit": 100}
FED = REAL | {"battery": 12.4, "battery_resistance": 0.02, "supply_current_limit": 50}
STRONG = {"motor": "kraken_x60", "friction": 1.5, "robot_mass": 45, "battery_resistance": 0.03}
BASES = {
    "swerve": lambda: catalog.swerve(gear_ratio=6.75, steering_motor="kraken_x60", steering_ratio=20, **FED),
    "mecanum": lambda: catalog.mecanum(gear_ratio=15, **FED),
    "omni": lambda: catalog.three_omni(gear_ratio=8, **REAL),
    "differential": lambda: catalog.differential_drive(radius=0.08, track=0.5, gear_ratio=8, **FED),
    "car": lambda: catalog.ackermann(gear_ratio=8, **REAL),
}
POINTS = [(0, 0), (1, 0.4), (2.2, 0), (3, -0.6)]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.slow
def test_every_base_keeps_what_it_has(base):
    turned = [(*point, 0.4 * k) for k, point in enumerate(POINTS)]
    path = trundle.pose_path(POINTS if base in ("differential", "car") else turned)
    shares = used(trundle.follow(path, BASES[base](), grip=0.9))
    assert 0.99 < max(shares.values()) <= 1 + BEYOND


@pytest.mark.filterwarnings("ignore:.*the battery")
def test_plans_keep_batteries_on(rng):
    """A plan that takes its battery below `off_below` ends it; one that knows of it is slower, and never does."""
    robot = plain(catalog.differential_drive(radius=0.08, track=0.5, gear_ratio=6, battery=12.4, **STRONG))
    path = trundle.pose_path([(0, 0), (1.5, 0.2)])
    free = trundle.follow(path, parse_robot(robot))
    robot["batteries"]["battery"]["off_below"] = off = free.summary()["battery"] + rng.uniform(0.1, 2.5)
    switched = parse_robot(robot)
    plan = trundle.follow(path, switched)
    assert plan.motion.duration > free.motion.duration
    assert max(used(plan).values()) <= 1 + BEYOND
    assert "off_below of battery" in {
        name for names, *_ in plan.limit_usage.binding for name in names.split(", ")
    }
    assert "brown_out" in trundle.track(switched, free, progress=False).run.summary
    tracked = trundle.track(switched, plan, progress=False).run
    assert "brown_out" not in tracked.summary
    least = 6.2 + np.sqrt(6.2**2 - 0.95 * off * (12.4 - off))
    assert tracked["battery.voltage"].min() == pytest.approx(least, abs=0.02)


def test_a_path_of_points_has_its_heading_along_it_and_goes_on_backward_from_a_cusp():
    path = trundle.pose_path([(0, 0), (1, 0.5), (2, 0), (1, 0.5)])
    for section, way in zip(path.sections, (1, -1), strict=True):
        s = np.linspace(0, section.length, 101)
        rates = section.at(s, 1)
        heading = section.at(s)[:, 2]
        np.testing.assert_allclose(
            way * np.hypot(*rates[:, :2].T) * np.exp(1j * heading), rates[:, 0] + 1j * rates[:, 1], atol=1e-12
        )
        h = 1e-5
        for order in range(4):
            inner = s[1:-1]
            slope = (section.at(inner + h, order) - section.at(inner - h, order)) / (2 * h)
            np.testing.assert_allclose(slope, section.at(inner, order + 1), rtol=1e-6, atol=1e-4)


def test_points_that_lead_round_on_the_spot_are_refused():
    with pytest.raises(trundle.InputError, match="turns on the spot"):
        trundle.pose_path([(0, 0), (1, 0), (0, 0.0016)])


def test_module_forces_in_choreos_files_accelerate_the_robot(tmp_path):
    """Σ f = m a in the world's axes, at every sample, in Choreo's order of modules."""
    robot = catalog.swerve(gear_ratio=6.75, **REAL)
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.5, 0.8), (2, 0, 1)]), robot)
    trundle.write_trajectory(driven, tmp_path / "there.traj")
    samples = json.loads((tmp_path / "there.traj").read_text())["trajectory"]["samples"]
    for sample in samples:
        for force, acceleration in (("fx", "ax"), ("fy", "ay")):
            assert sum(sample[force]) == pytest.approx(45 * sample[acceleration], abs=1e-8)
    at = samples[len(samples) // 3]["t"]
    forces = motion_forces(
        DrivenRobot(robot, driven.names), driven.motion.samples([at]), driven.motion.pushes([at])
    )
    angle = driven.motion.samples([at]).angle + driven.motion.poses([at])[:, 2:]
    pushed = (forces.traction + 1j * forces.side_force) * np.exp(1j * angle)
    order = [driven.names.index(name) for name in ("front_left", "front_right", "rear_left", "rear_right")]
    np.testing.assert_allclose(samples[len(samples) // 3]["fx"], pushed.real[0, order], atol=1e-8)


def test_what_cannot_be_planned_is_told_with_the_wheel():
    path = trundle.pose_path([(0, 0, 0), (1, 0, 0)])
    slippery = catalog.swerve(motor="kraken_x60", friction=0.0)
    with pytest.raises(trundle.InputError, match=r"wheels\.front_left\.friction: .*no friction"):
        trundle.follow(path, slippery)
    robot = catalog.swerve(motor="kraken_x60")
    stuck = DCMotor(drives="rear_left", model="kraken_x60", voltage_limit=12, gear_ratio=6.75, coulomb=9)
    stuck = robot.model_copy(update={"motors": {**robot.motors, "rear_left_drive": stuck}})
    with pytest.raises(trundle.InputError, match="rear_left_drive can't move the wheel 'rear_left'"):
        trundle.follow(path, stuck)
    weak = ServoMotor(drives="rear_left.steering", stiffness=40, torque_limit=1e-9)
    weak = robot.model_copy(update={"motors": {**robot.motors, "rear_left_steer": weak}})
    turning = trundle.pose_path([(0, 0, 0), (1, 0.4, 0), (2, 0, 0)])
    # a motor that hardly turns its wheel makes the plan as slow
    driven = trundle.follow(turning, weak)
    assert driven.motion.duration > 1000
    assert "torque of rear_left_steer" in {name for name, *_ in driven.limit_usage.binding}


def test_what_no_programme_finds_is_told_with_the_wheel_and_the_place(monkeypatch):
    def none(*_):
        raise trundle.NumericsError("no speeds along the path keep what binds it")

    monkeypatch.setattr(retime, "_quickest", none)
    path = trundle.pose_path([(0, 0, 0), (1, 1, 0)])
    with pytest.raises(trundle.NumericsError, match=r"at a crawl the path takes .* of the .* at \(.*, .*\)"):
        trundle.follow(path, catalog.swerve(gear_ratio=6.75, **FED))


def test_modules_turn_first_as_fast_as_their_motors_and_the_battery_do():
    robot = catalog.swerve(gear_ratio=6.75, steering_motor="kraken_x60", steering_ratio=20, **FED)
    names = trundle.kinematics(robot).names
    driven = trundle.follow(
        trundle.pose_path([(0, 0, 0), (1, 0, 0)]), robot, angles=dict.fromkeys(names, 1.0)
    )
    first = driven.motion.pieces[0]
    assert first.duration > 0.01
    assert driven.motion.samples([0.0]).angle[0] == pytest.approx(1.0)
    assert max(used(driven).values()) <= 1 + BEYOND


def test_a_robot_that_tips_at_rest_is_named():
    robot = catalog.swerve(motor="kraken_x60", friction=1.1).with_payload(300, at=(0.6, 0, 1))
    with pytest.raises(InputError, match="would tip: .* nothing loads"):
        trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)]), robot)
