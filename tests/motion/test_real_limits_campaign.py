"""Random robots with real motors along random paths: the true laws at 10 kHz, and a dense solve by IPOPT."""

import casadi
import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.motion.constraints.constraint import Moving, shares
from trundle.motion.constraints.friction import LIFTED
from trundle.motion.constraints.real_limits import actuation
from trundle.motion.forces.forces import Demand, DrivenRobot, motion_forces

BEYOND = 1e-6
# A dense plan with the laws as they are is faster by this share of the time at most, and slower by its own grid's.
NEAR, GRID = 2e-3, 1e-4
# How far simulated robots may be off their plans (m), half of them and the worst.
MEDIAN, WORST = 0.01, 0.05
# The curvature (1/m) that the catalogue's car, 1 m long and 0.7 m wide, is asked for at most: at 80° of its inner
# wheel, which steers to 90°.
CAR_TURNS = 1 / (0.35 + 1 / np.tan(np.radians(80)))


def random_robot(kind, rng, fed=True, **more):
    real = more | {
        "motor": str(rng.choice(["kraken_x60", "neo", "falcon_500"])),
        "friction": rng.uniform(0.6, 1.2),
        "center_height": rng.uniform(0.05, 0.4),
        "robot_mass": rng.uniform(25, 60),
    }
    if fed and rng.random() < 0.6:
        real |= {"battery": rng.uniform(11.5, 12.8), "battery_resistance": rng.uniform(0.01, 0.03)}
    if rng.random() < 0.7:
        real |= {"current_limit": rng.uniform(60, 150)}
    if rng.random() < 0.7:
        real |= {"supply_current_limit": rng.uniform(30, 80)}
    ratio = rng.uniform(5, 10)
    if kind == "swerve":
        if fed and rng.random() < 0.7:
            real |= {"steering_motor": "kraken_x60", "steering_ratio": rng.uniform(12, 25)}
        return catalog.swerve(wheelbase=0.6, track=rng.uniform(0.4, 0.8), gear_ratio=ratio, **real)
    if kind == "mecanum":
        return catalog.mecanum(gear_ratio=2 * ratio, **real)
    if kind == "omni":
        return catalog.three_omni(gear_ratio=ratio, **real)
    if kind == "differential":
        return catalog.differential_drive(radius=0.08, track=0.5, gear_ratio=ratio, **real)
    return catalog.ackermann(gear_ratio=ratio, **real)


def random_path(kind, rng):
    """Poses; of robots that go along their heading points, whose turns a car's steering holds."""
    count = rng.integers(2, 6)
    if kind not in ("differential", "car"):
        return trundle.pose_path(np.cumsum(rng.uniform(-1.5, 1.5, (count, 3)), axis=0))
    path = random_points(count, rng)
    while kind == "car" and sharpest(path) > CAR_TURNS:
        path = random_points(count, rng)
    return path


def random_points(count, rng):
    turns, steps = np.cumsum(rng.uniform(-0.6, 0.6, count)), rng.uniform(1, 2, count)
    points = np.cumsum(np.stack([steps * np.cos(turns), steps * np.sin(turns)], axis=1), axis=0)
    return trundle.pose_path(np.concatenate([np.zeros((1, 2)), points]))


def sharpest(path):
    """The greatest curvature of a path (1/m)."""
    bends = []
    for section in path.sections:
        lengths = np.linspace(0.0, section.length, 2001)
        (x, y, _), (xx, yy, _) = (section.at(lengths, order).T for order in (1, 2))
        bends.append(np.abs(x * yy - y * xx) / np.hypot(x, y) ** 3)
    return np.max(bends)


KINDS = ("swerve", "mecanum", "omni", "differential", "car")


def require_shares(driven, kind):
    """At 10 kHz and on both sides of all breaks no share is above what was asked for."""
    motion, robot = driven.motion, DrivenRobot(driven.robot, driven.names)
    beside = np.nextafter(motion.breaks[1:], 0)
    times = np.unique(np.concatenate([np.arange(0, motion.duration, 1e-4), motion.breaks, beside]))
    for part in np.array_split(times, 1 + len(times) // 8000):
        forces = motion_forces(robot, motion.samples(part), motion.pushes(part))
        for name, share in shares(actuation(driven.grip), Moving(forces=forces)).items():
            assert share.max() <= 1 + BEYOND, (kind, name)


@pytest.mark.campaign
def test_no_share_is_above_what_was_asked_for(campaign):
    for rng in campaign(500):
        for kind in KINDS:
            require_shares(trundle.follow(random_path(kind, rng), random_robot(kind, rng)), kind)


@pytest.mark.slow
def test_a_peak_in_the_middle_of_an_interval_is_seen():
    """Its share is even about there: of the polynomial through its nodes the last term is none."""
    rng = np.random.default_rng([3, 256])
    require_shares(trundle.follow(random_path("swerve", rng), random_robot("swerve", rng)), "swerve")


@pytest.mark.campaign
def test_robots_that_slip_stay_on_their_plans(campaign):
    """At 95 % of their friction: the dynamic model with slip, current limits and sagging batteries, plan by plan."""
    off = []
    for place, rng in enumerate(campaign(100, least=len(KINDS))):
        kind = KINDS[place % len(KINDS)]
        robot = random_robot(kind, rng, contact="slip")
        tracking = trundle.track(robot, trundle.follow(random_path(kind, rng), robot), progress=False)
        off.append(tracking.largest["position"])
        print(f"{kind}: {1e3 * off[-1]:.1f} mm off in {tracking.motion.duration:.3f} s")
        assert off[-1] <= WORST, kind
    print(f"{len(off)} plans: median {1e3 * np.median(off):.2f} mm, worst {1e3 * max(off):.2f} mm")
    assert np.median(off) <= MEDIAN


@pytest.mark.slow
@pytest.mark.parametrize(("place", "kind", "near"), [(69, "car", MEDIAN), (93, "differential", MEDIAN)])
def test_bases_that_hold_their_axle_stay_on_plans_at_the_limit_of_their_motors(place, kind, near):
    """A car and a differential drive whose motors have nothing left for what wheels lose by slipping: 68 and 27 mm."""
    rng = np.random.default_rng([11, place])
    robot = random_robot(kind, rng, contact="slip")
    tracking = trundle.track(robot, trundle.follow(random_path(kind, rng), robot), progress=False)
    assert tracking.largest["position"] <= near


@pytest.mark.campaign
def test_plans_take_hardly_longer_than_a_dense_solve_and_never_less(campaign):
    for place, rng in enumerate(campaign(50)):
        kind = KINDS[place % len(KINDS)]
        # the dense plan knows no slip, which costs some of the time
        robot = random_robot(kind, rng, fed=False, contact="ideal")
        driven = trundle.follow(random_path(kind, rng), robot, grip=1.0)
        if len(driven.motion.pieces) > 1:
            continue
        dense = dense_time(driven, 20)
        ratio = driven.motion.duration / dense
        print(f"{kind}: {ratio - 1:+.1e} of the dense time")
        assert 1 - GRID <= ratio <= 1 + NEAR, kind


def dense_time(driven, finer):
    """The least time with b linear on intervals so many times finer, all laws as they are in the intervals' middles."""
    piece, robot = driven.motion.pieces[-1], DrivenRobot(driven.robot, driven.names)
    knots = piece.scaling.knots
    at = np.append((knots[:-1, None] + np.diff(knots)[:, None] * np.arange(finer) / finer).ravel(), 1.0)
    widths, z = np.diff(at), (at[:-1] + at[1:]) / 2
    one, none = np.ones_like(z), np.zeros_like(z)
    demand = Demand.along(robot, piece.passed(z, (one, none, none)))
    laws, low, high, given, unit = laws_at_a_point(demand)
    owner = np.clip(np.searchsorted(knots, at, "right") - 1, 0, len(knots) - 2)
    scale = piece.scaling.squared(owner, at - knots[owner])[0]
    squares, forces = casadi.MX.sym("b", len(at)), casadi.MX.sym("f", demand.balance.rows.shape[1], len(z))
    b = squares * casadi.DM(scale)
    parameters = casadi.DM(np.concatenate([widths[None], given]))
    held = laws.map(len(z))(b[:-1].T, b[1:].T, forces, parameters)
    spent = casadi.sum1(2 * casadi.DM(widths) / (casadi.sqrt(b[:-1]) + casadi.sqrt(b[1:])))
    start = piece.pushes(np.array([piece.scaling.when(x) for x in z])) / unit
    variables = casadi.vertcat(squares, casadi.vec(forces))
    options = {"ipopt.print_level": 0, "print_time": 0, "ipopt.tol": 1e-7, "ipopt.max_iter": 500}
    solver = casadi.nlpsol("s", "ipopt", {"x": variables, "f": spent, "g": casadi.vec(held)}, options)
    solved = solver(
        x0=np.concatenate([np.full(len(at), 0.9), 0.9 * start.ravel()]),
        lbx=np.concatenate([np.full(len(at), 1e-6), np.full(start.size, -10)]),
        lbg=np.tile(low, len(z)),
        ubg=np.tile(high, len(z)),
    )
    assert solver.stats()["success"]
    return float(solved["f"])


def laws_at_a_point(demand):
    """g(b₀, b₁, f, parameters) with its bounds, the parameters at all points, and the unit of forces."""
    robot, balance = demand.balance.driven, demand.balance
    begin, end, width = (casadi.SX.sym(name) for name in ("b0", "b1", "h"))
    f, unit = casadi.SX.sym("f", balance.rows.shape[1]), float(robot.grips.max())
    b, a = (begin + end) / 2, (end - begin) / (2 * width)
    letters, given, laws = [width], [], []

    def data(values):
        letter = casadi.SX.sym("p", len(values))
        letters.append(letter)
        given.append(values)
        return letter

    def moving(parts):
        letter = data(parts)
        return letter[0] + letter[1] * a + letter[2] * b

    def left(column):
        """M ν̇ + c less the contacts' forces."""
        return moving(demand.needed[:, column]) - casadi.dot(data(balance.rows[:, :, column].T), f) * unit

    laws += [(left(column) / unit, 0.0, 0.0) for column in balance.free]
    for k, friction in enumerate(robot.friction):
        wheel = balance.on[k]
        load = moving(demand.loads[:, :, wheel])
        parts = [
            f[i] * np.hypot(along, across) for i, (m, along, across) in enumerate(robot.directions) if m == k
        ]
        laws.append((sum(part**2 for part in parts) - (friction * load / unit) ** 2, -np.inf, 0.0))
        laws.append((load / balance.standing[wheel], 1 - LIFTED, np.inf))
    moved = np.abs(demand.pace).max(axis=1) + np.abs(demand.needed[1:]).max(axis=(0, 2))
    for column in np.flatnonzero(moved).tolist():
        for actuator in robot.actuators.get(column, ()):
            motor, read = actuator.motor, actuator.read
            if motor.type == "dc":
                ratio, constant = read(motor.gear_ratio), read(motor.torque_constant)
                shaft = ratio * data(demand.pace[column][None]) * casadi.sqrt(b)
                current = (left(column) / ratio + read(motor.friction) * shaft) / constant
                emf = constant if motor.back_emf_constant is None else read(motor.back_emf_constant)
                voltage = read(motor.resistance) * current + emf * shaft
                limit = read(motor.voltage_limit)
                laws.append((voltage / limit, -1.0, 1.0))
                if motor.current_limit is not None:
                    laws.append((current / read(motor.current_limit), -1.0, 1.0))
                if motor.supply_current_limit is not None:
                    drawn = voltage * current / (limit * read(motor.supply_current_limit))
                    laws.append((drawn, -np.inf, 1.0))
    values, low, high = zip(*laws, strict=True)
    function = casadi.Function("laws", [begin, end, f, casadi.vertcat(*letters)], [casadi.vertcat(*values)])
    return function, low, high, np.concatenate(given), unit
