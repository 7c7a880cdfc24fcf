"""The body's slip in the kinematic mode: closed forms on slopes and arcs, its place, what is refused."""

import math

import pytest

import trundle
from trundle.errors import InputError

WHEELS = {"fl": (0.3, 0.25), "fr": (0.3, -0.25), "rl": (-0.3, 0.25), "rr": (-0.3, -0.25)}


def cart(center=(0, 0, 0.1)):
    """Four balls, driven by nothing: its speeds are given."""
    balls = {name: {"type": "ball", "at": [*at, 0], "radius": 0.1} for name, at in WHEELS.items()}
    inertia = {"xx": 0.5, "yy": 0.6, "zz": 0.8}
    body = {"mass": 20, "center_of_mass": [*center], "inertia": inertia}
    return trundle.Robot(name="cart", base="floating", body=body, wheels=balls)


def told(terrain, seconds=1.0, center=(0, 0, 0.1), **speeds):
    given = {name: speeds.get(name, 0.0) for name in ("v_x", "v_y", "omega_z")}
    return trundle.simulate(cart(center), seconds, given, terrain=terrain, mode="kinematic", step=0.01)


def test_uphill_it_is_slower_by_the_slope():
    slope = {"surfaces": {"s": {"slope": "10 deg"}}, "body_slip": {"pull_ahead": -0.5, "ahead": -0.02}}
    run = told(slope, v_x=0.8)
    assert run["v_x"][-1] == pytest.approx(0.8 * (1 - 0.5 * math.tan(math.radians(10)) - 0.02), rel=1e-9)
    assert math.hypot(run["x"][-1], run["z"][-1] - run["z"][0]) == pytest.approx(run["v_x"][-1], rel=1e-9)


def test_across_a_slope_it_goes_downhill_and_turns():
    slope = {"surfaces": {"s": {"slope": "8 deg", "uphill": "90 deg"}}}
    slope["body_slip"] = {"pull_left": -0.3, "pull_turn": 0.0, "turn": 0.0}
    run = told(slope, v_x=0.5)
    assert run["v_y"][-1] == pytest.approx(-0.3 * math.tan(math.radians(8)) * 0.5, rel=1e-9)
    slope["body_slip"] = {"pull_turn": 0.4, "turn": 0.1}
    run = told(slope, 0.01, v_x=0.5)
    assert run["omega_z"][0] == pytest.approx((0.4 * math.tan(math.radians(8)) + 0.1) * 0.5, rel=1e-9)


def test_on_an_arc_its_mass_pulls_it_outward():
    """f = m (g − ω × v): f_y/f_z = ω v/g on level ground, at the centre of mass, which may lie ahead."""
    ahead, v, omega = 0.2, 0.6, 0.9
    ground = {"body_slip": {"pull_left": -0.7, "spin": -0.1}}
    run = told(ground, 0.01, center=(ahead, 0, 0.1), v_x=v, omega_z=omega)
    left = -0.7 * omega * v / 9.81 * v
    assert run["omega_z"][0] == pytest.approx(0.9 * omega, rel=1e-9)
    # of the origin, which turns 0.1 ω slower about the centre of mass
    assert run["v_y"][0] == pytest.approx(left + 0.1 * omega * ahead, rel=1e-9)
    assert run.summary["slip_residual"] < 1e-9, (
        "what wheels slip against what they are told isn't the body's slip"
    )


def test_with_forces_it_is_refused():
    with pytest.raises(InputError, match="a dynamic run has forces"):
        trundle.simulate(cart(), 1.0, terrain={"body_slip": {"ahead": 0.1}}, step=0.1)


def test_a_file_has_it_under_terrain(tmp_path):
    ground = {"body_slip": {"pull_ahead": -0.5}}
    robot = trundle.catalog.document("talon").robot
    text = trundle.documents.dump(robot, terrain=trundle.robot.terrain.parse_terrain(ground))
    assert trundle.documents.parse(text).terrain.body_slip.pull_ahead.number == -0.5
