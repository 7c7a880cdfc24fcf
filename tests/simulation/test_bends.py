"""Points between samples: curves through them are the solution's, however few samples are stored."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.results.between import with_points
from trundle.simulation import bends, extremes, integrate

VOLTAGES = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}


@pytest.fixture(scope="module")
def drive() -> trundle.Model:
    return derived("differential_drive")


@pytest.fixture(scope="module")
def many(drive):
    return trundle.simulate(drive, 5.0, VOLTAGES, samples=20_001)


def furthest(run, truth):
    """How far curves through samples and points miss the truth at most, in shares of what they span, and their name."""
    worst = (0.0, "")
    for name, values in run.values.items():
        span = float(np.ptp(truth[name]))
        if span < 1e-4 or name == "energy.imbalance":  # rounding
            continue
        drawn = with_points(run.time, values, run.between[name])
        off = float(np.abs(np.interp(truth.time, *drawn) - truth[name]).max())
        worst = max(worst, (off / span, name))
    return worst


@pytest.mark.parametrize("samples", [3, 101, 1001])
def test_lines_through_the_points_are_the_solution(drive, many, samples):
    run = trundle.simulate(drive, 5.0, VOLTAGES, samples=samples)
    # The bound, and what the long table's own lines miss of it.
    assert furthest(run, many)[0] < 1.1 * bends.CLOSE
    assert furthest(replace(run, between={}), many)[0] > 0.02
    counts = [points.shape[1] for points in run.between.values()]
    assert 0 < max(counts) <= bends.MOST_POINTS
    assert all(np.all(np.diff(points[0]) > 0) for points in run.between.values())
    # The samples themselves are equal in time.
    assert np.ptp(np.diff(run.time)) < 1e-12


def test_long_runs_are_looked_at_in_parts(drive, many, monkeypatch):
    monkeypatch.setattr(extremes, "MOST_NOTES", 100)
    monkeypatch.setattr(integrate, "MOST_NOTES", 100)
    monkeypatch.setattr(extremes, "_MOST_TIMES", 150)
    run = trundle.simulate(drive, 5.0, VOLTAGES, samples=3)
    # What the parts kept misses the solution by one bound, and what was chosen among it by another.
    assert furthest(run, many)[0] < 2.1 * bends.CLOSE


def test_dense_samples_need_no_points(drive):
    run = trundle.simulate(drive, 0.5, VOLTAGES, samples=20_001)
    assert not any(points.size for points in run.between.values())


def test_many_swings_have_few_points_and_their_turns():
    model = trundle.derive(trundle.catalog.pendulum(links=1))
    start = {"link_1.angle": 1.0}
    run = trundle.simulate(model, 60.0, initial=start, samples=11, progress=False)
    times, angle = run.between["link_1.angle"]
    assert times.size == bends.MOST_POINTS
    assert np.abs(angle).max() == pytest.approx(1.0, abs=1e-3)
    there = trundle.simulate(model, times=[0.0, *times], initial=start, progress=False)
    assert there["link_1.angle"][1:] == pytest.approx(angle, abs=3e-6)


def test_jumps_of_inputs_are_steep(drive):
    pulse = ([0.0, 0.11, 0.23], [0.0, 24.0, 0.0], "previous")
    run = trundle.simulate(drive, 1.0, {"left_motor.voltage": pulse}, samples=6)
    drawn = with_points(run.time, run["left_motor.voltage"], run.between["left_motor.voltage"])
    assert np.interp([0.1, 0.10999, 0.11001, 0.2, 0.22999, 0.23001, 0.4], *drawn) == pytest.approx(
        [0.0, 0.0, 24.0, 24.0, 24.0, 0.0, 0.0], abs=1e-6
    )


def test_what_is_rounding_has_no_points():
    """The stored energy of what turns all of it over is a small difference of large numbers."""
    run = trundle.simulate(derived("pendulum"), 5.0, initial={"link_1.angle": 1.5}, progress=False)
    assert run.between["link_2.rate"].size
    assert not run.between["energy.stored"].size


def test_what_travels_with_a_run(drive, tmp_path):
    run = trundle.simulate(drive, 1.0, VOLTAGES, samples=5)
    known = {name: points.tolist() for name, points in run.between.items()}
    for other in (pickle.loads(pickle.dumps(run)), trundle.Run.load(run.save(tmp_path / "run.nc"))):
        assert {name: points.tolist() for name, points in other.between.items()} == known
    assert run.dataset["left_motor.current"].attrs["between_values"].max() > run["left_motor.current"].max()
    assert list(run.dataset.sizes) == ["time"]
    table = trundle.Run.load(run.save(tmp_path / "run.csv"))
    assert table.time.tolist() == run.time.tolist()
    assert not any(points.size for points in table.between.values())
    # Other values, and values at other times, have other curves.
    halved = replace(run, values={**run.values, "v_x": run["v_x"] / 2})
    assert not halved.between["v_x"].size
    assert halved.between["omega"].size
    assert not replace(run, time=run.time + 1).between["omega"].size


def test_one_point_comes_back_from_a_file(tmp_path):
    run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 1.0]}, between={"x": [[0.5], [3.0]]})
    assert trundle.Run.load(run.save(tmp_path / "cart.nc")).between["x"].tolist() == [[0.5], [3.0]]


@pytest.mark.parametrize("points", [[1.0, 2.0], [[1.0, 0.5], [0.0, 0.0]], [["a"], [1.0]]])
def test_points_that_are_none_are_refused(points):
    run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 1.0]}, between={"x": points})
    with pytest.raises(InputError, match="'x'"):
        run.between["x"]
    with pytest.raises(InputError, match="'y'"):
        run.between["y"]


def test_columns_have_the_same_points_whoever_is_looked_at_beside_them(rng, monkeypatch):
    time, columns = np.sort(rng.random(300)), np.cumsum(rng.normal(size=(7, 300)), axis=1)
    ends, bound = np.isin(np.arange(300), [0, 299]), 0.01 * np.ptp(columns, axis=1)
    together = bends.chosen(time, columns, ends, bound, 40)
    monkeypatch.setattr(bends, "_TOGETHER", 700)
    assert (bends.chosen(time, columns, ends, bound, 40) == together).all()
    assert (together.sum(axis=1) > 10).all()
