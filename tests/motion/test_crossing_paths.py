"""PathPlanner's paths whose handles cross: they all but stop on the way, and every one of them has a plan.

A copy that is a thousandth larger, mirrored or turned takes as long, unless it has another number of stops.
"""

import json

import numpy as np
import pytest

import trundle
from tests.parameters import mostly_slow
from trundle import catalog

ROBOT = catalog.swerve(motor="kraken_x60")
HANDLES = [(1, 0), (0.26, -0.016), (0.337, 0.0278), (-0.7845, 0)]
LIMITS = {
    "maxVelocity": 1.0,
    "maxAcceleration": 3.0,
    "maxAngularVelocity": 40.0,
    "maxAngularAcceleration": 720.0,
}
HEADINGS = {"begin": 180.0, "target": 180.0, "place": 0.99, "end": 137.0}


def planned(tmp_path, points, limits, headings):
    """The plan along one curve with these handles (m) and headings (degrees)."""
    begin, leaves, comes, end = ({"x": float(x), "y": float(y)} for x, y in points)
    none = {"isLocked": False, "linkedName": None}
    data = {
        "version": "2025.0",
        "waypoints": [
            {"anchor": begin, "prevControl": None, "nextControl": leaves, **none},
            {"anchor": end, "prevControl": comes, "nextControl": None, **none},
        ],
        "rotationTargets": [
            {"waypointRelativePos": headings["place"], "rotationDegrees": headings["target"]}
        ],
        "constraintZones": [],
        "pointTowardsZones": [],
        "eventMarkers": [],
        "globalConstraints": {**limits, "nominalVoltage": 12.0, "unlimited": False},
        "goalEndState": {"velocity": 0, "rotation": headings["end"]},
        "reversed": False,
        "folder": None,
        "idealStartingState": {"velocity": 0, "rotation": headings["begin"]},
        "useDefaultConstraints": False,
    }
    file = tmp_path / "crossing.path"
    file.write_text(json.dumps(data))
    return trundle.follow(trundle.read_path(file), ROBOT, progress=False).motion


@pytest.mark.parametrize("scale", mostly_slow([1.038, 1.1, 1.11], [1.038]))
def test_a_search_that_begins_where_the_base_all_but_stands_ends(scale, tmp_path):
    """b's least coefficients were below what barriers begin with, and no step could go on."""
    points = scale * np.array(HANDLES)
    longer = planned(tmp_path, points * 1.002, LIMITS, HEADINGS).duration
    shorter = planned(tmp_path, points, LIMITS, HEADINGS).duration
    assert 0.99 * longer <= shorter <= longer


def test_a_step_that_would_stop_the_base_stops_no_other(tmp_path):
    """b of one place fell to 1e-95, as each step could only take 0.95 of it, and all others stood with it."""
    points = [(0.0, 0.0), (0.9376733, -0.02885874), (0.7287478, 0.0196238), (1.4910036, 0.0)]
    limits = dict(zip(LIMITS, (2.36301915, 3.15515950, 270.745042, 970.109375), strict=True))
    headings = {"begin": -135.36849498, "target": -84.00664967, "place": 0.937892777, "end": 40.954654525}
    durations = [planned(tmp_path, k * np.array(points), limits, headings).duration for k in (1.0, 1.001)]
    assert durations[1] == pytest.approx(durations[0], rel=0.01)


def test_what_only_closer_looks_show_costs_its_interval_and_not_the_whole(tmp_path):
    """A peak between the nodes of one interval slowed all of the last programme's motion by a twentieth."""
    points = [(0.0, 0.0), (1.1254607, -0.02038844), (0.8355179, -0.00102231), (2.14890045, 0.0)]
    limits = dict(zip(LIMITS, (2.24358682, 4.11435402, 98.5057554, 466.829699), strict=True))
    headings = {"begin": 173.92010122, "target": 131.82442467, "place": 0.92962508, "end": -61.52391939}
    durations = [planned(tmp_path, k * np.array(points), limits, headings).duration for k in (0.998, 1.003)]
    assert durations[1] == pytest.approx(durations[0], rel=0.01)


def drawn(rng):
    """Handles that reach past one another along a nearly straight way, limits, and headings."""
    far = rng.uniform(1.2, 2.5)
    leaves, comes = (far * rng.uniform([0.35, -0.02], [0.65, 0.02]) for _ in range(2))
    points = np.array([(0, 0), (leaves[0], leaves[1]), (far - comes[0], comes[1]), (far, 0)])
    limits = dict(zip(LIMITS, rng.uniform([0.5, 1, 30, 300], [3, 5, 400, 1000]).tolist(), strict=True))
    begin, end = rng.uniform(-180, 180, 2).tolist()
    headings = {
        "begin": begin,
        "target": begin + rng.uniform(-60, 60),
        "place": rng.uniform(0.9, 0.999),
        "end": end,
    }
    return points, limits, headings


def copies(points, headings):
    """The same a thousandth smaller and larger, mirrored, and turned by 10°."""
    for share in (1 - 1e-3, 1 + 1e-3):
        yield share * points, headings
    yield points * [1, -1], {name: x if name == "place" else -x for name, x in headings.items()}
    turn = np.exp(1j * np.radians(10)) * (points @ [1, 1j])
    yield (
        np.stack([turn.real, turn.imag], axis=1),
        {name: x if name == "place" else x + 10 for name, x in headings.items()},
    )


@pytest.mark.campaign
def test_paths_take_as_long_as_their_copies(campaign, tmp_path):
    for rng in campaign(200):
        points, limits, headings = drawn(rng)
        motion = planned(tmp_path, points, limits, headings)
        for beside, turned in copies(points, headings):
            copy = planned(tmp_path, beside, limits, turned)
            print(motion.duration, copy.duration, len(motion.pieces), len(copy.pieces))
            assert len(copy.pieces) != len(motion.pieces) or copy.duration == pytest.approx(
                motion.duration, rel=0.01
            )
