"""Wheels in loose soil: sinkage, slip, torque and power beside SciPy's quadrature, what soil takes, soil too weak."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, root

import trundle
from trundle.errors import InputError
from trundle.robot.contact import LAWS, Bearing, Touch

RADIUS, WIDTH, RATE = 0.17, 0.15, 1.2
PLACES = {"fl": (0.5, 0.4), "fr": (0.5, -0.4), "rl": (-0.5, 0.4), "rr": (-0.5, -0.4)}
RATES = {f"{name}_motor.rate": RATE for name in PLACES}
# Of a robot of 118 kg and four wheels of 0.5 kg.
LOAD = 120 * 9.81 / 4
COHESIVE = {"cohesion": 800.0}
# The default, then Wong's dry sand, clayey soil and sandy loam (Theory of Ground Vehicles, table 2.3), c in Pa.
SOILS = {
    "rear 0": COHESIVE | {"rear": 0.0},
    "rear 1": COHESIVE,
    "sand": {"exponent": 1.1, "cohesion_modulus": 990.0, "friction_modulus": 1.528e6, "cohesion": 1040.0,
             "internal_friction": math.radians(28), "rear": 0.5},
    "clay": {"exponent": 0.5, "cohesion_modulus": 1.319e4, "friction_modulus": 6.9215e5, "cohesion": 4140.0,
             "internal_friction": math.radians(13), "shear_length": 0.006, "rear": 0.0},
    "loam": {"exponent": 0.7, "cohesion_modulus": 5270.0, "friction_modulus": 1.515e6, "cohesion": 1720.0,
             "internal_friction": math.radians(29)},
}  # fmt: skip
# Slip ratio, lateral slip over the wheel's own speed, and the rim's way.
MOTIONS = {
    "drives": (0.05, 0.0, 1), "digs": (0.3, 0.0, 1), "brakes": (-0.1, 0.0, 1), "brakes hard": (-0.5, 0.0, 1),
    "locked": (-1.0, 0.0, 0), "backward": (0.2, 0.0, -1), "steered": (0.2, 0.3, 1), "steered, brakes": (-0.2, -0.5, 1),
}  # fmt: skip


def published(soil, sinkage, slip, aside):
    """F_x, F_y, F_z (N) and T (N m) by Ishigami et al. (2007), eq. 3 to 11, written anew and summed by SciPy."""
    law = {
        "cohesion_modulus": 1370.0, "friction_modulus": 8.14e5, "exponent": 1.0, "shear_length": 0.025, "rear": 1.0,
        "internal_friction": math.radians(37.2),
    } | soil  # fmt: skip
    n, stiff = law["exponent"], law["cohesion_modulus"] / WIDTH + law["friction_modulus"]
    front, back = math.acos(1 - sinkage / RADIUS), -math.acos(1 - law["rear"] * sinkage / RADIUS)
    peak = (0.4 + 0.15 * slip) * front

    def turned(theta):
        return front - theta - (1 - slip) * (math.sin(front) - math.sin(theta))

    def stresses(theta):
        at = theta if theta > peak else front - (theta - back) * (front - peak) / (peak - back)
        normal = stiff * (RADIUS * max(math.cos(at) - math.cos(front), 0)) ** n
        ahead, across = RADIUS * turned(theta), -RADIUS * (1 - abs(slip)) * (front - theta) * aside
        way = math.hypot(ahead, across)
        shear = -(law["cohesion"] + normal * math.tan(law["internal_friction"])) * math.expm1(
            -way / law["shear_length"]
        )
        return normal, shear * ahead / way if way else 0.0, shear * across / way if way else 0.0

    grid = np.linspace(back, front - 1e-6, 200)
    changes = [brentq(turned, a, b) for a, b in pairwise(grid) if turned(a) * turned(b) < 0]
    edges = sorted([back, *(angle for angle in (peak, *changes) if back < angle), front])

    def integral(part):
        pieces = pairwise(edges)
        area = RADIUS * WIDTH
        return area * sum(
            quad(lambda theta: part(theta, *stresses(theta)), *piece, epsrel=1e-9)[0] for piece in pieces
        )

    return (
        integral(lambda theta, p, x, y: x * math.cos(theta) - p * math.sin(theta)),
        integral(lambda theta, p, x, y: y),
        integral(lambda theta, p, x, y: x * math.sin(theta) + p * math.cos(theta)),
        RADIUS * integral(lambda theta, p, x, y: x),
    )


def pushed(soil, sinkage, slip, aside, way):
    """What the law does, and the wheel's speeds ahead and aside (m/s) and rate (rad/s)."""
    rim = way * RADIUS * RATE
    # A locked wheel is dragged; a braked one, of slip below 0, turns at the rate all the same.
    ahead = (1 - slip) * rim if way else RADIUS * RATE
    aside *= abs(ahead)
    bearing = Bearing(sinkage, 0.0, 1.0, 0.0)
    law = LAWS.read({"type": "soil", "contact_width": WIDTH, **soil})
    touch = Touch((ahead - rim, aside), 0.0, rim, RADIUS, {}, bearing)
    return law.push(touch, lambda value: value.number), (ahead, aside, rim / RADIUS)


def about_axle(push):
    """The torque that a motor has to give (N m): the traction acts a radius below the axle."""
    return RADIUS * push.forces[0] - push.moment


def taken(push, speeds):
    """T ω − F · v (W)."""
    ahead, aside, rate = speeds
    return about_axle(push) * rate - push.forces[0] * ahead - push.forces[1] * aside


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("soil", SOILS)
def test_sinkage_slip_torque_and_power_are_those_of_the_published_integrals(soil, motion):
    """At a load and a pull: which sinkage and slip give these, and what they cost."""
    (slip, aside, way), soil = MOTIONS[motion], SOILS[soil]
    sinkage = brentq(lambda h: published(soil, h, slip, aside)[2] - LOAD, 0.002, 0.16, xtol=1e-9)
    pull, side, _, torque = published(soil, sinkage, slip, aside)
    signed = way or 1

    def missing(sought):
        push, _ = pushed(soil, *sought, aside, way)
        return [(push.load - LOAD) / LOAD, (signed * push.forces[0] - pull) / LOAD]

    if way:
        found = root(missing, [1.1 * sinkage, 0.9 * slip], tol=1e-12).x
    else:
        found = [brentq(lambda h: missing((h, slip))[0], 0.002, 0.16), slip]
    push, speeds = pushed(soil, *found, aside, way)
    ahead, sideways, rate = pushed(soil, sinkage, slip, aside, way)[1]
    power = signed * torque * rate - signed * pull * ahead - side * sideways
    came = [*found, *push.forces, signed * about_axle(push), taken(push, speeds)]
    assert came == pytest.approx([sinkage, slip, signed * pull, side, torque, power], rel=1e-4)


def test_soil_takes_power_and_never_gives_it(rng):
    """Of wheels that go the way in which they turn, above the speed below which slip ratios are smoothed."""
    for _ in range(300):
        soil = {
            "cohesion": rng.uniform(0, 5000), "internal_friction": rng.uniform(0.2, 0.7), "rear": rng.uniform(0, 1),
            "exponent": rng.uniform(0.4, 1.5), "shear_length": rng.uniform(0.005, 0.04),
        }  # fmt: skip
        slip = rng.uniform(-3, 1)
        came = pushed(soil, rng.uniform(0.002, 0.1), slip, rng.uniform(-1, 1), rng.choice([-1, 1]))
        assert taken(*came) >= 0, (soil, slip)


def test_the_reference_s_sum_has_no_moment():
    push, _ = pushed(COHESIVE | {"quadrature": "trapezoid"}, 0.03, 0.1, 0.0, 1)
    assert push.moment == 0


def rover(parameters=None, motor="ideal", **soil):
    """A robot of 120 kg in all on four wheels, whose motors hold their rates."""
    wheel = {"radius": RADIUS, "width": WIDTH, "mass": 0.5, **({"contact": "soil", **COHESIVE} | soil)}
    return trundle.Robot(
        name="rover",
        base="floating",
        parameters=parameters or {},
        body={"mass": 118.0, "center_of_mass": [0, 0, 0], "inertia": {"xx": 5.0, "yy": 8.0, "zz": 10.0}},
        wheels={name: {"at": [*place, 0], **wheel} for name, place in PLACES.items()},
        motors={f"{name}_motor": {"type": motor, "drives": name} for name in PLACES},
    )


@pytest.mark.parametrize(
    ("rear", "sinkage", "slip", "torque", "power"),
    [
        (0.0, 41.291e-3, 0.1136, 16.787, 80.58),
        pytest.param(1.0, 26.56e-3, -0.0342, 3.419, 16.41, marks=pytest.mark.slow),
    ],
)
def test_a_robot_pays_for_its_way_over_flat_soil(rear, sinkage, slip, torque, power):
    """The numbers are those of one wheel by SciPy, at its load and without a pull."""
    run = trundle.simulate(rover(rear=rear), 3.0, RATES, terrain={}, step=0.02, progress=False)
    for name in PLACES:
        assert run[f"{name}.sinkage"][-1] == pytest.approx(sinkage, rel=1e-3)
        assert run[f"{name}_motor.torque"][-1] == pytest.approx(torque, rel=1e-3)
    assert 1 - run["v_x"][-1] / (RADIUS * RATE) == pytest.approx(slip, rel=2e-3)  # as many digits as it has
    for column in ("power.in", "power.lost", "power.ground", "power.soil"):
        assert run[column][-1] == pytest.approx(power, rel=1e-3)


@pytest.mark.parametrize("soil", ["clay", pytest.param("sand", marks=pytest.mark.slow)])
def test_wheels_of_a_robot_are_as_deep_as_one_by_scipy_at_any_exponent(soil):
    """A sinkage that doesn't press in proportion, as written and as a parameter's other number."""
    written, other = (rover(**SOILS[soil] | {"exponent": n}) for n in (SOILS[soil]["exponent"], 1.0))
    changed = {f"wheels.{name}.exponent": SOILS[soil]["exponent"] for name in PLACES}
    for robot, parameters in ((written, None), (other, changed)):
        run = trundle.simulate(
            robot, 3.0, RATES, terrain={}, step=0.02, parameters=parameters, progress=False
        )
        slip = 1 - run["v_x"][-1] / (RADIUS * RATE)
        pull, _, load, torque = published(SOILS[soil], run["fl.sinkage"][-1], slip, 0.0)
        assert [run["fl.load"][-1], run["fl_motor.torque"][-1]] == pytest.approx([load, torque], rel=1e-4)
        assert [load, pull] == pytest.approx([LOAD, 0.0], abs=1e-4 * LOAD)


@pytest.mark.parametrize("rear", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_a_robot_that_nothing_drives_rests(rear):
    run = trundle.simulate(rover(motor="torque", rear=rear), 1.0, terrain={}, step=0.02, progress=False)
    assert run["balance_residual"].max() < 1e-9 * 4 * LOAD
    assert abs(run["v_x"]).max() < 1e-9
    assert max(abs(run[f"{name}.rate"]).max() for name in PLACES) < 1e-9


def test_hard_ground_has_no_row_of_soil():
    hard = trundle.catalog.talon()
    run = trundle.simulate(hard, 0.1, terrain={}, step=0.02, progress=False)
    assert "power.soil" not in run.columns


WEAK = {"friction_modulus": 1000.0}


def test_soil_that_can_t_carry_a_robot_is_refused_with_what_would_do():
    with pytest.raises(
        InputError, match=r"soil carries 200\.\d of 1177 N at a sinkage of the whole radius"
    ) as caught:
        trundle.simulate(rover(**WEAK), 0.1, terrain={}, step=0.02, progress=False)
    assert caught.value.key == "robot.wheels.fl.cohesion_modulus"
    words = str(caught.value.hint).split()
    least, half = (float(word) for word in words if word[0].isdigit())
    assert words[:2] == ["a", "cohesion_modulus"]
    with pytest.raises(InputError, match=r"carries 116\d of 1177 N"):
        trundle.simulate(
            rover(**WEAK, cohesion_modulus=0.99 * least), 0.1, terrain={}, step=0.02, progress=False
        )
    rests = trundle.simulate(rover(**WEAK, cohesion_modulus=half), 3.0, terrain={}, step=0.02, progress=False)
    # Wheels at rest shear nothing that would pull them in, and sink by less than those that roll.
    assert rests["fl.sinkage"][-1] < RADIUS / 2
    trundle.simulate(rover(**WEAK), 0.1, terrain={}, mode="kinematic", step=0.02, progress=False)


def test_rollouts_refuse_soil_that_is_too_weak_and_sweeps_count_who_has_no_place():
    options = {"terrain": {}, "steps": 2, "dt": 0.02, "progress": False}
    varied = rover({"firm": 8.14e5}, friction_modulus="firm")
    with pytest.raises(InputError, match="the wheels of robot 1 of 'rover'"):
        trundle.rollout(varied, parameters={"firm": np.array([8.14e5, 1000.0])}, **options)
    found = trundle.sweep(varied, over={"firm": [8.14e5, 1000.0, 1e6]}, measures=["final.z"], **options)
    assert found.outcomes["unsettled"] == 1
    assert np.isnan(found["final.z"]).tolist() == [False, True, False]
    with pytest.raises(InputError, match="the wheels of 'rover'"):
        trundle.sweep(rover(**WEAK), over={"initial.yaw": [0.0, 1.0]}, measures=["final.z"], **options)


@pytest.mark.parametrize(
    ("key", "value"),
    [("cohesion", -1), ("cohesion_modulus", -1), ("friction_modulus", -1), ("shear_length", 0), ("rear", -1),
     ("contact_width", 0), ("internal_friction", -0.1)],
)  # fmt: skip
def test_numbers_that_no_soil_has_are_refused(key, value):
    with pytest.raises(InputError, match=rf"{key} must (be greater than zero|not be negative)"):
        rover(**{key: value})


def test_wheels_without_a_width_are_refused_as_parameters_too():
    wide = {f"wheels.{name}.width": 0.0 for name in PLACES}
    with pytest.raises(InputError, match="how broad the wheel is"):
        trundle.simulate(rover(), 0.1, terrain={}, parameters=wide, step=0.02, progress=False)
