"""Peaks of runs: the extremes of the solution itself, whatever samples are stored."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.results.peaks import Peak
from trundle.simulation import extremes, integrate

VOLTAGES = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}


@pytest.fixture(scope="module")
def drive() -> trundle.Model:
    return derived("differential_drive")


def near(peaks, others, run, share):
    """Whether peaks are others', in shares of what the values span; what is rounding beside its size doesn't count."""
    for name, peak in peaks.items():
        other = others[name]
        span = other.highest - other.lowest
        if peak.sampled or span < 1e-6 * max(1.0, abs(other.highest), abs(other.lowest)):
            continue
        assert abs(peak.highest - other.highest) <= share * span, name
        assert abs(peak.lowest - other.lowest) <= share * span, name


@pytest.mark.parametrize("samples", [3, 101])
def test_samples_dont_matter(drive, samples):
    few = trundle.simulate(drive, 5.0, VOLTAGES, samples=samples)
    many = trundle.simulate(drive, 5.0, VOLTAGES, samples=20_001)
    near(few.peaks, many.peaks, many, 1e-6)
    current = few.peaks["left_motor.current"]
    assert current.highest > 1.01 * few["left_motor.current"].max()
    # The samples of the long table come within a tenth of a millisecond of the crest.
    assert many["left_motor.current"].max() == pytest.approx(current.highest, rel=1e-3)
    at = np.array([0.0, current.highest_time, 5.0])
    there = trundle.simulate(drive, inputs=VOLTAGES, times=at)["left_motor.current"][1]
    assert there == pytest.approx(current.highest, rel=1e-8)


@pytest.mark.parametrize(
    ("method", "rtol"), [("dop853", None), ("dop853", 1e-7), ("lsoda", None), ("radau", 1e-7), ("rk45", 1e-8)]
)
def test_turning_points_of_a_pendulum(method, rtol):
    model = trundle.derive(trundle.catalog.pendulum(links=1))
    run = trundle.simulate(
        model, 3.3, initial={"link_1.angle": 1.0}, samples=4, method=method, rtol=rtol, progress=False
    )
    angle, rate = run.peaks["link_1.angle"], run.peaks["link_1.rate"]
    assert (angle.lowest, angle.highest) == pytest.approx((-1.0, 1.0), abs=3e-6)
    # What it falls through is what it has at the bottom, where its angle is zero.
    potential, kinetic = run.peaks["energy.potential"], run.peaks["energy.kinetic"]
    assert kinetic.highest == pytest.approx(potential.highest - potential.lowest, rel=1e-5)
    assert rate.highest == pytest.approx(-rate.lowest, rel=1e-5)
    when = sorted([rate.lowest_time, rate.highest_time])
    bottom = trundle.simulate(
        model, times=[0.0, *when], initial={"link_1.angle": 1.0}, method="dop853", progress=False
    )
    assert np.abs(bottom["link_1.angle"][1:]).max() < 1e-2


def test_both_sides_of_jumps_count(drive):
    pulse = ([0.0, 0.011, 0.012], [-1.0, 24.0, 0.0], "previous")
    peaks = trundle.simulate(drive, 1.0, {"left_motor.voltage": pulse}, samples=3).peaks
    assert peaks["left_motor.voltage"] == Peak(-1.0, 0.0, 24.0, pytest.approx(0.011, abs=1e-12))
    # The current's law has a corner where the pulse ends: it is highest there, and falls at once.
    assert peaks["left_motor.current"].highest_time == pytest.approx(0.012, abs=1e-9)


def test_long_runs_are_looked_at_in_parts(drive, monkeypatch):
    whole = trundle.simulate(drive, 5.0, VOLTAGES, samples=3)
    assert whole.peaks["x"].highest > 0
    monkeypatch.setattr(extremes, "MOST_NOTES", 100)
    monkeypatch.setattr(integrate, "MOST_NOTES", 100)
    near(trundle.simulate(drive, 5.0, VOLTAGES, samples=3).peaks, whole.peaks, whole, 1e-6)


def test_where_most_steps_fail_the_few_others_are_kept():
    taken = list[extremes.StepSpan]()
    recorder = extremes.Recorder(0.0, 3.0, taken.append)
    # A step is tried thousands of times, from too far on back to where it holds.
    for tried in (1.0, 2.0):
        for t in np.linspace(tried + 1.0, tried, extremes.MOST_NOTES - 5):
            recorder.note([t], np.array([[t]]))
    recorder.done(np.array([3.0]))
    extreme = extremes.Extremes(lambda times, states, edges: states)
    for steps in taken:
        extreme.take(steps)
    assert extreme.rows()[:, 0] == pytest.approx([1.0, 1.0, 3.0, 3.0])


def test_kinematic_runs_have_peaks_too():
    robot = trundle.catalog.differential_drive(radius=0.15)
    rates = {"left.rate": lambda t: np.sin(7 * t), "right.rate": lambda t: np.sin(7 * t)}
    run = trundle.roll(robot, 1.0, rates, samples=3)
    assert run.peaks["x"].highest == pytest.approx(0.3 / 7, rel=1e-6)
    assert run.peaks["x"].highest_time == pytest.approx(np.pi / 7, abs=1e-3)
    assert run.peaks["left.rate"].lowest == pytest.approx(-1.0, rel=1e-6)


def test_what_travels_with_a_run(drive, tmp_path):
    run = trundle.simulate(drive, 1.0, VOLTAGES, samples=5)
    known = dict(run.peaks)
    assert dict(pickle.loads(pickle.dumps(run)).peaks) == known
    assert dict(trundle.Run.load(run.save(tmp_path / "run.nc")).peaks) == known
    assert run.dataset["left_motor.current"].attrs["highest"] == known["left_motor.current"].highest
    table = trundle.Run.load(run.save(tmp_path / "run.csv"))
    assert all(peak.sampled for peak in table.peaks.values())
    # Other values have other peaks.
    halved = replace(run, values={**run.values, "x": run["x"] / 2})
    assert halved.peaks["x"].sampled
    assert halved.peaks["x"].highest == run["x"].max() / 2
    assert halved.peaks["left_motor.current"] == known["left_motor.current"]


def test_nobody_looks_before_somebody_asks(drive, monkeypatch):
    """A single run would take half as long again."""
    looked = list[int]()
    look = extremes.Extremes.rows
    monkeypatch.setattr(extremes.Extremes, "rows", lambda self: looked.append(1) or look(self))
    run = trundle.simulate(drive, 1.0, VOLTAGES, samples=5)
    assert len(run.peaks) == len(run.values)
    assert not looked
    assert run.peaks["x"].highest > 0
    assert run.peaks["theta"].highest > 0
    assert looked == [1]


def test_runs_of_samples_alone_say_so():
    run = trundle.Run("cart", [0.0, 1.0, 2.0], {"x": [0.0, 3.0, np.nan]})
    assert run.peaks["x"] == Peak(0.0, 0.0, 3.0, 1.0, sampled=True)
    with pytest.raises(InputError, match="'y'"):
        run.peaks["y"]
