"""Ground under runs: heights are the surfaces', walls end, holes are none, planar robots have none."""

import numpy as np
import pytest

import trundle
from trundle.robot.terrain import parse_terrain
from trundle.show.drawing.ground import grounds_under, sampled
from trundle.show.page.payload import run_data

LOW, HIGH = np.array([-1.0, 0.0, -0.1]), np.array([2.0, 1.0, 0.2])
WAVES = {"type": "waves", "amplitude": 0.1, "length": 2.0, "across": 3.0}
SLOPE = {"type": "plane", "slope": "20 deg", "uphill": "30 deg"}


def ground(**surfaces):
    return sampled(parse_terrain({"surfaces": surfaces}), LOW, HIGH, 0.5)


def only(run, size):
    """The ground of a run alone."""
    grounds, own = grounds_under([run], size)
    assert own == [0]
    return grounds[0]


def places(seen):
    rows, columns = seen.heights.shape
    x = seen.corner[0] + seen.spacing * np.arange(columns)
    y = seen.corner[1] + seen.spacing * np.arange(rows)
    return np.meshgrid(x, y)


def waves(x, y):
    return 0.1 * np.sin(np.pi * x) * np.cos(2 * np.pi / 3 * y)


def slope(x, y):
    return np.tan(np.radians(20)) * (x * np.cos(np.pi / 6) + y * np.sin(np.pi / 6))


def test_heights_are_those_of_the_highest_surface():
    seen = ground(waves=WAVES, slope=SLOPE)
    x, y = places(seen)
    assert np.abs(seen.heights - np.maximum(waves(x, y), slope(x, y))).max() < 1e-9
    assert x.min() == pytest.approx(-1.5)
    assert x.max() >= 2.5
    assert 10_000 < seen.heights.size < 30_000


def test_a_wall_ends_where_the_rest_does():
    seen = ground(waves=WAVES, wall={"type": "plane", "slope": "90 deg", "through": [1, 0, 0]})
    x, y = places(seen)
    rest = x < 1 - seen.spacing
    assert np.abs(seen.heights - waves(x, y))[rest].max() < 1e-9
    assert seen.heights[x > 1 + seen.spacing] == pytest.approx(seen.heights[x < 1].max())


def test_ground_that_lies_below_all_is_none():
    seen = ground(cliff={"type": "ramp", "rise": -100, "run": 0.01, "rounding": 0.001, "at": [1, 0]})
    x, _ = places(seen)
    assert np.isnan(seen.heights[x > 1.1]).all()
    assert np.abs(seen.heights[x < 0.9]).max() < 0.05


def test_the_ground_of_a_run_reaches_around_its_path():
    run = trundle.simulate(
        trundle.catalog.talon(), 1.0, terrain={"surfaces": {"w": WAVES}}, mode="kinematic", step=0.1
    )
    seen = only(run, 0.8)
    x, y = places(seen)
    assert x.min() == pytest.approx(run["x"].min() - 1.2)
    assert y.max() >= run["y"].max() + 1.2
    assert np.abs(seen.heights - waves(x, y)).max() < 1e-9


def test_a_planar_robot_has_no_ground_of_its_own():
    robot = trundle.catalog.differential_drive()
    assert grounds_under([trundle.run(robot, duration=0.1, progress=False)], 0.5) == ([], [None])


def test_runs_over_other_terrains_have_grounds_of_their_own():
    def over(**surfaces):
        return trundle.simulate(
            trundle.catalog.talon(),
            0.2,
            terrain={"surfaces": surfaces},
            mode="kinematic",
            step=0.1,
            progress=False,
        )

    waves_of, higher = over(w=WAVES), over(w={**WAVES, "amplitude": 0.2})
    planar = trundle.run(trundle.catalog.differential_drive(), duration=0.1, progress=False)
    grounds, own = grounds_under([waves_of, planar, higher, waves_of], 0.8)
    assert own == [0, None, 1, 0]
    first, second = grounds
    x, y = places(first)
    assert first.heights == pytest.approx(waves(x, y), abs=1e-9)
    x, y = places(second)
    assert second.heights == pytest.approx(2 * waves(x, y), abs=1e-9)
    data = run_data([waves_of, planar, higher])
    assert [data["ground"], *(each["ground"] for each in data["others"])] == [0, None, 1]
    assert len(data["grounds"]) == 2


def test_a_straight_way_has_a_box_without_a_width():
    seen = sampled(
        parse_terrain({"surfaces": {"it": WAVES}}), np.array([0, 0, 0.0]), np.array([5, 1e-17, 0.1]), 0.0
    )
    assert seen.heights.size < 10_000
    x, y = places(seen)
    assert seen.heights == pytest.approx(waves(x, y), abs=1e-9)


def test_beyond_a_map_there_is_no_ground():
    surface = {"type": "grid", "heights": [[0.1, 0.1], [0.1, 0.1]], "spacing": 1}
    seen = ground(map=surface)
    x, y = places(seen)
    beyond = (np.abs(x) > 0.5) | (np.abs(y) > 0.5)
    assert np.isnan(seen.heights[beyond]).all()
    assert seen.heights[~beyond] == pytest.approx(0.1, abs=1e-9)
