"""A rocker-bogie climbs a riser of 0.75 wheel diameters where planar statics allow it, and not with a tenth less."""

import math

import pytest

import trundle
from tests.terrain.planar_statics import Rover
from trundle import catalog

G, RADIUS, HALF = 9.81, 0.15, 0.6
HEIGHT = 0.75 * 2 * RADIUS
# A side of the catalogue's rocker-bogie: half of 50 kg, wheels of 2 kg.
ROVER = Rover(RADIUS, HALF, 3 * RADIUS, 25 * G, 2 * G)


def by_hand(equation):
    """The friction at which an equation of docs/terrain/risers.md holds, between 0.3 and 1.2."""
    low, high = 0.3, 1.2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if equation(middle) < 0 else (low, middle)
    return low


def levers(rocker):
    """The front axle and the centre of mass beside the bogie's pivot, the rocker turned up by an angle (m)."""
    front = 1.5 * HALF * math.cos(rocker), 1.5 * HALF * math.sin(rocker)
    body = HALF / 2 * math.cos(rocker) - 2 * RADIUS * math.sin(rocker)
    return *front, (25 * body + 2 * front[0]) / 31


def middle_wheel(mu):
    """At the foot of the riser, the front wheel a step higher: what lifts the bogie less what holds it."""
    x, z, centre = levers(math.asin(HEIGHT / (1.5 * HALF)))
    front = centre / (x - mu * (z - RADIUS))
    rear, middle = 1 / (1 + mu**2) - front, mu / (1 + mu**2)
    return mu * middle * (HALF / 2 + RADIUS) - rear * (HALF / 2 - mu * RADIUS)


def rear_wheel(mu):
    """At the end of the riser, the others a step higher."""
    bogie = math.asin(RADIUS / HALF)
    x, z, centre = levers(math.asin(RADIUS / 2 / (1.5 * HALF)))
    front = centre / (x - mu * (z - RADIUS))
    middle, rear = 1 / (1 + mu**2) - front, mu / (1 + mu**2)
    along, up = HALF / 2 * math.cos(bogie), HALF / 2 * math.sin(bogie)
    return rear * (mu * (along - RADIUS) + up) - middle * (along - mu * (up - RADIUS))


def test_the_front_wheel_needs_its_closed_form():
    """mu^2 = d/(2 (d + r)), where wheels weigh nothing beside the body."""
    light = Rover(RADIUS, HALF, 3 * RADIUS, 31 * G, 0.0)
    assert light.needed(0, 0.0, HEIGHT) == pytest.approx(math.sqrt(HALF / (2 * (HALF + RADIUS))), rel=1e-9)


def test_statics_are_those_by_hand():
    end = (HEIGHT - RADIUS) / (HEIGHT - RADIUS + math.pi / 2 * RADIUS)
    assert ROVER.needed(1, 0.0, HEIGHT) == pytest.approx(by_hand(middle_wheel), rel=1e-9)
    assert ROVER.needed(2, end, HEIGHT) == pytest.approx(by_hand(rear_wheel), rel=1e-9)
    assert ROVER.needs(HEIGHT) == pytest.approx([0.6325, 0.5543, 0.8768], abs=1e-4)


def climbed(friction):
    """How much higher the robot is in the end than at the start (m), and the run.

    Wheels of 5 cm/s slide at all of the riser: friction is at its limit from mu h/0.1 s, 4 mm/s, on. What moves as
    slowly has the energy to climb 0.1 mm.
    """
    step = {"type": "step", "height": HEIGHT, "at": [HALF + 1.4 * RADIUS, 0]}
    terrain = {"surfaces": {"ground": {"type": "plane"}, "step": step}, "sinkage": "0.5 mm"}
    robot = catalog.robot("rocker_bogie", speed=0.05, friction=friction)
    run = trundle.simulate(robot, 50.0, terrain=terrain, step=0.01, samples=501)
    return run["z"][-1] - run["z"][0], run


@pytest.mark.slow
def test_it_climbs_with_the_friction_that_statics_ask_for():
    up, run = climbed(1.01 * max(ROVER.needs(HEIGHT)))
    assert up == pytest.approx(HEIGHT, abs=1e-4)
    assert run["rear_left.ground.load"][-1] == run["front_left.ground.load"][-1] == 0.0


@pytest.mark.slow
def test_it_stays_below_with_a_tenth_less():
    """With its rear wheels at the riser, which need the most."""
    up, run = climbed(0.9 * max(ROVER.needs(HEIGHT)))
    assert up < HEIGHT - 0.03
    assert run["x"][-1] - HALF < HALF + 1.4 * RADIUS - RADIUS + 0.02
    assert run["rear_left.step.load"][-1] > 0
    # The middle wheels are up: the front and the middle ones need less.
    assert run["middle_left.step.load"][-1] > 0
    assert abs(run["v_x"][-50:]).mean() < 0.5 * 0.05
