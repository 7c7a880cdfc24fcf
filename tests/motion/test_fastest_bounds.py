"""Lower bounds of fastest motions: gauges of ways and turns together, against random motions of the wheels."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace

import numpy as np
import pytest

import trundle
from trundle.motion.fastest.bounds import inscribed, lower_bound
from trundle.motion.fastest.gauges import Gauge, gauges, minimum, travelled
from trundle.motion.fastest.problem import FREE, Problem, Stop

ROLLING = trundle.Limits(drive_speed=4.0, drive_acceleration=6.0)
BASES = {
    "swerve": trundle.catalog.swerve(wheelbase=0.7, track=0.5),
    "mecanum": trundle.catalog.mecanum(),
    "omni": trundle.catalog.three_omni(),
    "differential": trundle.catalog.differential_drive(track=0.5),
}


def problem_of(robot: trundle.Robot, start: Stop, goal: Stop) -> Problem:
    return Problem(trundle.kinematics(robot).drive.limited(ROLLING), (start, goal), (), np.zeros((0, 2)))


def at_rest(name: str) -> Problem:
    return problem_of(BASES[name], Stop(0, 0, 0.0), Stop(1, 0, 0.0))


def shares(problem: Problem, gauge: Gauge, twists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a gauge says of twists (n, 3), and what the fastest wheel does of its greatest rate."""
    drive = problem.drive
    u = drive.velocities(twists)
    rolling = np.conj(drive.rolling_axes(drive.headings)) * u
    done = (np.abs(u) if drive.points.all() else np.abs(rolling.real)) / drive.rolling[0]
    v = twists[:, 0] + 1j * twists[:, 1] + 1j * twists[:, 2] * gauge.place
    told = [gauge.travel(abs(way), abs(turn)) for way, turn in zip(v, twists[:, 2], strict=True)]
    return np.array(told) / gauge.rates[0], done.max(axis=1)


@pytest.mark.parametrize("name", BASES)
def test_wheels_do_no_less_than_gauges_say(name):
    problem = at_rest(name)
    rng = np.random.default_rng(20261123)
    twists = rng.normal(size=(4000, len(problem.basis))) @ problem.basis * [1, 1, 1 / problem.size]
    found = list(gauges(problem))
    best = np.zeros(len(twists))
    for gauge in found:
        told, done = shares(problem, gauge, twists)
        assert (told <= done * (1 + 1e-9)).all()
        best = np.maximum(best, told / done)
    # some twist of every sort does just that
    assert found
    assert best.max() > 0.999


@pytest.mark.parametrize("name", BASES)
def test_gauges_are_convex_and_grow(name):
    rng = np.random.default_rng(20261124)
    for gauge in gauges(at_rest(name)):
        for a, b in rng.uniform(0, 3, (200, 2, 2)):
            middle = gauge.travel(*(a + b))
            assert middle <= (gauge.travel(*a) + gauge.travel(*b)) * (1 + 1e-12)
            assert middle >= gauge.travel(*a) * (1 - 1e-12)
        assert gauge.travel(2.0, 3.0) == pytest.approx(2 * gauge.travel(1.0, 1.5))


def test_a_differential_drive_goes_no_shorter_than_turns_and_lines_say():
    gauge = next(gauges(at_rest("differential")))
    rng = np.random.default_rng(20261125)
    nearest = math.inf
    for _ in range(300):
        z, heading, taken = 0j, 0.0, 0.0
        # turns, lines, and swings about one wheel
        for turn, way in rng.normal(size=(int(rng.integers(1, 5)), 2)) * (rng.random((1, 2)) < 0.7):
            arc = 1.0 if not turn else (cmath.exp(1j * turn) - 1) / (1j * turn)
            z += way * cmath.exp(1j * heading) * arc
            heading += turn
            taken += gauge.travel(abs(way), abs(turn))
        told = travelled(gauge, z, abs(z), 0.0, math.remainder(heading, 2 * math.pi))
        assert told <= taken * (1 + 1e-9) + 1e-9
        nearest = min(nearest, taken / told if told else math.inf)
    assert nearest == pytest.approx(1, abs=1e-3)
    # aside by a metre: a quarter turn, the line, and back; or a little less of a turn and more of a way
    told = travelled(gauge, 1j, 1.0, 0.0, 0.0)
    assert told <= gauge.travel(1.0, math.pi)
    assert told == pytest.approx(
        min(gauge.travel(1 / math.cos(e), math.pi - 2 * e) for e in np.linspace(0, 1.5, 4001)), rel=1e-6
    )


def test_whole_turns_have_a_bound_of_their_own():
    problem = problem_of(BASES["swerve"], Stop(0, 0, 0.0), Stop(0.5, 0, 2.0))
    assert lower_bound(problem) < lower_bound(problem, None, -1)


def through(zone: dict[str, float]) -> Problem:
    """By a pose on the way, behind which a zone begins."""
    drive = trundle.kinematics(BASES["omni"]).drive.limited(ROLLING)
    stops = Stop(0, 0, 0.0), Stop(1, 0, 0.0, leg=replace(FREE, **zone)), Stop(4, 0, 1.0)
    return Problem(drive, stops, (), np.zeros((0, 2)))


def test_zones_have_a_part_in_the_bound():
    # the base goes at no more than 4/3 of its wheels' speed, while it turns
    slow, turning = (lower_bound(through(zone)) for zone in ({"velocity": 0.5}, {"rate": 0.25}))
    assert lower_bound(through({})) < 2
    assert slow == pytest.approx(3 / 0.5 + 1 / (4 * 4 / 3))
    assert turning == pytest.approx(1 / 0.25 + 1 / (4 * 4 / 3))


@pytest.mark.slow
def test_a_motion_through_a_zone_comes_near_to_its_bound():
    arguments = {"via": [(1, 0, 0)], "limits": ROLLING, "grip": None, "progress": False}
    zones = [(1, 2, {"velocity": 0.5})]
    slow = trundle.fastest(BASES["omni"], (0, 0, 0), (4, 0, 1), zones=zones, **arguments)
    assert 0 <= slow.gap < 0.15
    turning = [(1, 2, {"rate": 0.25})]
    assert trundle.fastest(BASES["omni"], (0, 0, 0), (4, 0, 1), zones=turning, **arguments).gap >= 0


def test_the_circle_about_a_place_lies_within_the_outline():
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    assert inscribed(square) == 1
    assert inscribed(square, 0.25 + 0.5j) == 0.5
    assert inscribed(square, 2 + 0j) == 0


def test_golden_sections_find_the_least_value():
    assert minimum(lambda x: (x - 0.3) ** 2 + 1, 0, 1) == pytest.approx(1, abs=1e-12)
    assert minimum(lambda x: x, 0.5, 1) == 0.5


@pytest.mark.parametrize("name", ["mecanum", "omni", "differential"])
def test_headings_count_by_what_they_differ_from_whole_turns(name):
    def found(theta: float) -> trundle.motion.fastest.fastest.Fastest:
        return trundle.fastest(
            BASES[name], (0, 0, 0), (1, 0.5, theta), limits=ROLLING, grip=None, progress=False
        )

    more, same = found(4.0), found(4.0 - 2 * math.pi)
    assert more.motion.duration == pytest.approx(same.motion.duration, rel=1e-5)
    assert more.bound == pytest.approx(same.bound)
    end = more.motion.poses([more.motion.duration])[0]
    assert math.remainder(end[2] - 4.0, 2 * math.pi) == pytest.approx(0, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [(1, 0, math.pi), (0.5, 0.5, 2.5), (5, 0, 3.0), (2, -1, -1.0)])
def test_the_default_robot_comes_near_to_its_bound(goal):
    found = trundle.fastest(None, (0, 0, 0), goal, progress=False)
    assert 0 <= found.gap < 0.06
    assert all(math.isfinite(tried.duration) or "bound" in tried.verdict for tried in found.candidates)


QUICK = trundle.Limits(drive_speed=4.0, drive_acceleration=6.0, steering_rate=6.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["swerve", "mecanum", "omni"])
def test_no_other_planner_beats_the_bound(name):
    limits = QUICK if name == "swerve" else ROLLING
    drive = trundle.kinematics(BASES[name]).drive.limited(limits)
    for goal in np.random.default_rng(20261126).uniform(-1, 1, (8, 3)) * [3, 3, math.pi]:
        x, y, theta = goal.tolist()
        bound = lower_bound(Problem(drive, (Stop(0, 0, 0.0), Stop(x, y, theta)), (), np.zeros((0, 2))))
        path = trundle.pose_path([(0, 0, 0), (x, y, theta)])
        others = [trundle.follow(path, BASES[name], limits=limits, grip=None, progress=False).motion.duration]
        if name == "swerve":
            others.append(trundle.plan_to_pose(BASES[name], (x, y, theta), limits=limits).duration)
        assert bound <= min(others)
