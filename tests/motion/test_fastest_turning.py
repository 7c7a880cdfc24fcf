"""Fastest motions of bases that turn within a radius: the closed forms of Dubins, and of Reeds and Shepp."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import pytest

import trundle
from trundle.motion.fastest.problem import Problem, Stop
from trundle.motion.fastest.turning import axle, axle_of
from trundle.motion.fastest.words import words

# Motors and floor aside.
declared = partial(trundle.fastest, grip=None)
# Found times agree with closed forms to this share of them.
CLOSED = 1e-3
RADIUS = 1 / math.tan(0.6)
CONSTANT = {
    "rear": trundle.Limits(drive_speed=1.0),
    "front": trundle.Limits(drive_speed=100.0, steering_range=(-0.6, 0.6)),
}
CAR = trundle.Limits(drive_speed=2.0, drive_acceleration=3.0, steering_rate=3.0, steering_range=(-0.6, 0.6))

Pose = tuple[float, float, float]
Parts = list[tuple[int, float]]


def bicycle(at: complex = 0j, heading: float = 0.0) -> trundle.Robot:
    """A fixed wheel and a steered one a metre ahead of it, anywhere on the base."""
    ahead = at + cmath.exp(1j * heading)
    wheel = {"radius": 0.1, "contact": "slip", "heading": heading}
    rear = {**wheel, "type": "fixed", "at": [at.real, at.imag, 0]}
    fork = {"mass": 1, "inertia": {"zz": 0.01}}
    front = {**wheel, "type": "steered", "at": [ahead.real, ahead.imag, 0], "fork": fork}
    body = {"mass": 10, "inertia": {"zz": 1}}
    document = {"name": "bicycle", "base": "planar", "body": body, "wheels": {"rear": rear, "front": front}}
    return trundle.Robot.model_validate(document)


def dubins(x: float, y: float, theta: float, radius: float) -> float:
    """The length of the shortest way of arcs with a straight line between them (Dubins 1957)."""
    ways = []
    for first, last in ((1, 1), (-1, -1), (1, -1), (-1, 1)):
        begin, end = 1j * first * radius, x + 1j * y + 1j * last * radius * np.exp(1j * theta)
        apart, along = abs(end - begin), np.angle(end - begin)
        if first == last:
            straight = apart
        elif apart > 2 * radius:
            straight = math.sqrt(apart**2 - 4 * radius**2)
            along += first * math.asin(2 * radius / apart)
        else:
            continue
        turns = (first * along) % (2 * math.pi) + (last * (theta - along)) % (2 * math.pi)
        ways.append(straight + radius * turns)
    return min(ways)


def wrapped(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)


def tau_omega(u: float, v: float, xi: float, eta: float, phi: float) -> tuple[float, float]:
    """The first and last arc of four from the inner ones, u and v (Reeds and Shepp 1990, below 8.6)."""
    delta = wrapped(u - v)
    a, b = math.sin(u) - math.sin(delta), math.cos(u) - math.cos(delta) - 1
    tau = math.atan2(eta * a - xi * b, xi * a + eta * b)
    if 2 * (math.cos(delta) - math.cos(v) - math.cos(u)) + 3 < 0:
        tau += math.pi
    return wrapped(tau), wrapped(tau - u + v - phi)


def base_words(x: float, y: float, phi: float) -> Iterator[Parts]:
    """What the paper's formulas 8.1 to 8.11 give for one of the symmetric goals; those that miss it are left out."""
    left = complex(x - math.sin(phi), y - 1 + math.cos(phi))
    right = complex(x + math.sin(phi), y - 1 - math.cos(phi))
    u, t = cmath.polar(left)
    yield [(1, t), (0, u), (1, wrapped(phi - t))]
    if u <= 4:
        for sign in (-1, 1):
            inner = 2 * sign * math.asin(u / 4)
            first = wrapped(t + inner / 2 + (math.pi if sign < 0 else 0))
            yield [(1, first), (-1, inner), (1, wrapped(phi - first + inner))]
    rho, angle = cmath.polar(left)
    if rho >= 2:
        r = math.sqrt(rho**2 - 4)
        t = wrapped(angle + math.atan2(r, -2))
        yield [(1, t), (-1, -math.pi / 2), (0, 2 - r), (1, wrapped(phi - math.pi / 2 - t))]
    rho, angle = cmath.polar(right)
    if rho >= 2:
        u = math.sqrt(rho**2 - 4)
        t = wrapped(angle + math.atan2(2, u))
        yield [(1, t), (0, u), (-1, wrapped(t - phi))]
        t = cmath.phase(complex(-right.imag, right.real))
        yield [(1, t), (-1, -math.pi / 2), (0, 2 - rho), (-1, wrapped(t + math.pi / 2 - phi))]
        u = 4 - math.sqrt(rho**2 - 4)
        xi, eta = right.real, right.imag
        t = wrapped(math.atan2((4 - u) * xi - 2 * eta, -2 * xi + (u - 4) * eta))
        last = wrapped(t - phi)
        yield [(1, t), (-1, -math.pi / 2), (0, u), (1, -math.pi / 2), (-1, last)]
    if rho <= 2:
        u = math.acos((2 + rho) / 4)
        t, v = tau_omega(u, -u, right.real, right.imag, phi)
        yield [(1, t), (-1, u), (1, -u), (-1, v)]
    if 0 <= (cosine := (20 - rho**2) / 16) <= 1:
        u = -math.acos(cosine)
        t, v = tau_omega(u, u, right.real, right.imag, phi)
        yield [(1, t), (-1, u), (1, u), (-1, v)]


def ended(parts: Parts) -> complex:
    """Where parts lead, integrated: the place; their turns don't hang on the order."""
    z, theta = 0j, 0.0
    for s, length in parts:
        z += cmath.exp(1j * theta) * (length if not s else (cmath.exp(1j * s * length) - 1) / (1j * s))
        theta += s * length
    return z


def reeds_shepp(x: float, y: float, phi: float) -> float:
    """The shortest of the paper's words (radii): its formulas for the goal and its images (symmetries of section 8)."""
    back = (x * math.cos(phi) + y * math.sin(phi), x * math.sin(phi) - y * math.cos(phi))
    best = math.inf
    for (a, b), time, mirror in product(((x, y), back), (1, -1), (1, -1)):
        goal = (time * a, mirror * b, time * mirror * phi)
        for parts in base_words(*goal):
            apart = abs(ended(parts) - complex(*goal[:2]))
            turned = wrapped(sum(s * length for s, length in parts) - goal[2])
            if apart < 1e-9 and abs(turned) < 1e-9:
                best = min(best, sum(abs(length) for _, length in parts))
    return best


def poses(seed: int, count: int, reach: float) -> Iterator[Pose]:
    rng = np.random.default_rng(seed)
    for x, y, theta in rng.uniform(-1, 1, (count, 3)) * [reach, reach, math.pi]:
        yield float(x), float(y), float(theta)


def test_the_shortest_words_are_those_of_the_papers_formulas():
    for x, y, theta in poses(20261123, 150, 5):
        assert words(complex(x, y), theta)[0].length == pytest.approx(reeds_shepp(x, y, theta), rel=1e-9)


def test_words_lead_to_the_goal_and_dubins_are_among_them():
    for x, y, theta in poses(20261124, 40, 4):
        found = words(complex(x, y), theta)
        for word in found:
            parts = list(zip(word.steering, word.lengths, strict=True))
            assert ended(parts) == pytest.approx(complex(x, y), abs=1e-9)
            assert wrapped(sum(s * length for s, length in parts) - theta) == pytest.approx(0, abs=1e-9)
        ahead = min(word.length for word in found if not word.cusps and not word.backward)
        assert ahead <= dubins(x, y, theta, 1.0) * (1 + 1e-9)


def problem_of(robot: trundle.Robot, limits: dict[str, trundle.Limits] | trundle.Limits) -> Problem:
    drive = trundle.kinematics(robot).drive.limited(limits)
    return Problem(drive, (Stop(0, 0, 0.0), Stop(1, 0, 0.0)), (), np.zeros((0, 2)))


@pytest.mark.parametrize(("at", "heading"), [(0j, 0.0), (0.3 - 0.2j, 0.7), (-0.5 + 0j, 2.9)])
def test_the_axle_is_the_fixed_wheels(at, heading):
    held = axle_of(problem_of(bicycle(at, heading), CONSTANT | {"front": steered(heading)}))
    assert held is not None
    assert cmath.exp(1j * held.direction) == pytest.approx(cmath.exp(1j * heading))
    assert held.place == pytest.approx(at)
    assert held.radius == pytest.approx(RADIUS)


def steered(heading: float) -> trundle.Limits:
    return trundle.Limits(drive_speed=100.0, steering_range=(heading - 0.6, heading + 0.6))


def test_only_what_turns_within_a_radius_has_words():
    free = problem_of(bicycle(), trundle.Limits(drive_speed=1.0))
    assert axle_of(free) is None
    assert axle(free) is not None
    assert axle(problem_of(trundle.catalog.three_omni(), trundle.Limits(drive_speed=1.0))) is None


def by_reeds_and_shepp(robot: trundle.Robot, goal: Pose, least: float) -> None:
    found = declared(robot, (0, 0, 0), goal, limits=CONSTANT, progress=False)
    assert found.motion.duration == pytest.approx(least, rel=CLOSED)
    end = found.motion.poses([found.motion.duration])[0] - goal
    assert [*end[:2], wrapped(end[2])] == pytest.approx([0, 0, 0], abs=1e-8)
    assert found.summary()["exceeded"] == []


@pytest.mark.parametrize("goal", [(1.74, 1.04, 3.02), (0.0, 1.5, 0.0)])
def test_a_car_at_a_constant_speed_takes_reeds_and_shepps_way(goal):
    by_reeds_and_shepp(bicycle(), goal, RADIUS * reeds_shepp(goal[0] / RADIUS, goal[1] / RADIUS, goal[2]))


@pytest.mark.slow
def test_a_car_turned_on_its_base_goes_as_fast():
    at, heading, goal = 0.3 - 0.2j, 0.7, (1.5, 0.5, 2.0)
    end = complex(*goal[:2]) + cmath.exp(1j * goal[2]) * at - at
    ahead = end * cmath.exp(-1j * heading) / RADIUS
    limits = CONSTANT | {"front": steered(heading)}
    found = declared(bicycle(at, heading), (0, 0, 0), goal, limits=limits, progress=False)
    least = RADIUS * reeds_shepp(ahead.real, ahead.imag, goal[2])
    assert found.motion.duration == pytest.approx(least, rel=CLOSED)


@pytest.mark.campaign
def test_random_cars_take_reeds_and_shepps_way(campaign: Callable[[int], Iterator[np.random.Generator]]):
    for rng in campaign(200):
        goal = (*rng.uniform(-4, 4, 2).tolist(), float(rng.uniform(-math.pi, math.pi)))
        by_reeds_and_shepp(bicycle(), goal, RADIUS * reeds_shepp(goal[0] / RADIUS, goal[1] / RADIUS, goal[2]))


@pytest.mark.slow
@pytest.mark.parametrize("goal", [(8, 3, 0), (6, 4, 1.5), (7, -2, -0.8)])
def test_a_car_at_a_constant_speed_takes_dubins_way(goal):
    # without a cusp Reeds and Shepp's way is Dubins'
    least = dubins(*goal, RADIUS)
    assert RADIUS * reeds_shepp(goal[0] / RADIUS, goal[1] / RADIUS, goal[2]) == pytest.approx(least)
    by_reeds_and_shepp(bicycle(), goal, least)


@pytest.mark.slow
def test_a_car_that_has_to_stop_at_cusps_parks():
    found = declared(trundle.catalog.ackermann(), (0, 0, 0), (0, 1.5, 0), limits=CAR, progress=False)
    # words aside, it turns soon or late
    assert {"straight, turning first", "straight, turning last"} < {tried.way for tried in found.candidates}
    assert found.motion.poses([found.motion.duration])[0] == pytest.approx((0, 1.5, 0), abs=1e-8)
    assert found.summary()["exceeded"] == []


@pytest.mark.slow
def test_starts_of_a_car_under_motors_and_floor_have_times():
    # the even pace along one of its words is none: its time was not a number, and took the first place
    robot = trundle.catalog.ackermann(motor="kraken_x60", friction=1.0, contact="slip")
    found = trundle.fastest(robot, (0, 0, 0), (3.99, 1.22, -1.67), progress=False)
    times = [tried.duration for tried in found.candidates]
    assert not np.isnan(times).any()
    assert times[0] == found.motion.duration
    assert all(tried.duration >= times[0] for tried in found.candidates if tried.verdict == "slower")
    # a first look knows about what motors and driven wheels' grip give
    looked = [tried.duration for tried in found.candidates if "first look" in tried.verdict]
    assert all(time > 0.9 * times[0] for time in looked)
