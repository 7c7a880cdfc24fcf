"""Figures of several runs: what they are called, what is drawn, and what is left out."""

import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.show.figures.several_runs import difference_labels


@pytest.fixture(scope="module")
def model():
    return derived("differential_drive")


def drive(model, **how):
    inputs = {"right_motor.voltage": 12.0, "left_motor.voltage": how.pop("left", 10.0)}
    return trundle.simulate(model, how.pop("duration", 1.0), inputs, samples=how.pop("samples", 11), **how)


def test_runs_are_called_by_what_differs(model):
    first = drive(model)
    assert trundle.compare(first, drive(model, left=11.0)).labels == (
        "left_motor.voltage = 10 V",
        "left_motor.voltage = 11 V",
    )
    assert trundle.compare(first, drive(model, duration=2.0)).labels == ("1 s", "2 s")
    assert trundle.compare(first, first).labels == ("run 1", "run 2")
    started = drive(model, initial={"theta": 0.5}, method="radau")
    assert trundle.compare(first, started).labels == ("theta from 0 rad, lsoda", "theta from 0.5 rad, radau")


def test_curves_are_the_runs_own_numbers(model):
    """On other times than another's, a run's curve goes through its own samples, and ends where it ends."""
    short, long = drive(model), drive(model, duration=2.0, samples=8)
    figure = trundle.compare(short, long, labels=["short", "long"]).over_time("states", "x")
    axes = figure.axes[0]
    for run, label in ((short, "short"), (long, "long")):
        (line,) = (each for each in axes.get_lines() if each.get_label() == label)
        time, values = (np.asarray(each) for each in line.get_data())
        drawn = dict(zip(time.tolist(), values.tolist(), strict=True))
        assert [drawn[t] for t in run.time.tolist()] == run["x"].tolist()
        assert np.isnan(values[time > run.time[-1]]).all()


def test_values_that_are_alike_are_left_out_unless_asked_for(model):
    runs = drive(model), drive(model, initial={"x": 1.0})
    comparison = trundle.compare(*runs)
    shown = comparison.over_time("states")
    assert [each.get_title(loc="left") for each in shown.axes] == ["x"]
    assert re.search(r" that differ \((1 doesn't|([2-9]|\d\d+) don't)\)$", shown.get_suptitle())
    assert comparison.over_time("inputs").axes[0].texts[0].get_text() == "inputs: the runs are alike"
    assert len(comparison.over_time("states", "theta", "x").axes) == 2


def test_checks_are_logarithmic_for_every_run(model):
    runs = drive(model), drive(model, left=0.0)
    axes = trundle.compare(*runs).over_time("checks", "energy.imbalance").axes
    assert len(axes) == 1
    figure = trundle.compare(*runs).over_time("checks")
    (imbalance,) = (each for each in figure.axes if each.get_title(loc="left") == "energy.imbalance")
    assert imbalance.get_yscale() == "log"
    assert {"left_motor.voltage = 10 V", "left_motor.voltage = 0 V"} <= {
        line.get_label() for line in imbalance.get_lines()
    }


def test_paths_end_where_the_runs_do(model):
    runs = drive(model), drive(model, left=-10.0, duration=3.0)
    figure = trundle.compare(
        *runs, labels=["ahead", "a turn with a name so long that it wants more room"]
    ).path()
    axes = figure.axes[0]
    lines = {each.get_label(): each for each in axes.get_lines()}
    for run, label in zip(runs, ("ahead", "a turn with a name so long that it wants more room"), strict=True):
        x, y = (np.asarray(each) for each in lines[label].get_data())
        assert (x[-1], y[-1]) == pytest.approx((run["x"][-1], run["y"][-1]))
    renderer = FigureCanvasAgg(figure).get_renderer()
    assert {text.get_text() for text in figure.texts} > {"ahead"}
    assert max(text.get_window_extent(renderer).x1 for text in figure.texts) <= figure.bbox.x1


@pytest.mark.slow
def test_a_run_has_one_colour_in_every_panel_and_one_legend_names_all(model):
    """Where curves are alike, too: of these all but one of the values are, for a while or throughout."""
    runs = [drive(model, parameters={"d": d}) for d in (0.0, 0.1, 0.2)]
    comparison = trundle.compare(*runs)
    assert comparison.labels == ("d = 0 m", "d = 0.1 m", "d = 0.2 m")
    for figure in (comparison.over_time("states"), comparison.over_time("checks")):
        looks = {
            (line.get_label(), line.get_color(), line.get_linestyle())
            for axes in figure.axes
            for line in axes.lines
            if not line.get_label().startswith("_")
        }
        assert {label for label, *_ in looks} == set(comparison.labels)
        assert len(looks) == 3
        words = [text.get_text() for text in figure.texts]
        assert [word for word in words if word in comparison.labels] == list(comparison.labels)


def test_files_and_what_differs_name_runs(model):
    runs = drive(model), drive(model, parameters={"d": 0.1})
    assert difference_labels(runs, ("circle", "offset")) == ("circle: d = 0 m", "offset: d = 0.1 m")
    assert difference_labels(runs, ("circle", "circle")) == ("d = 0 m", "d = 0.1 m")


def test_what_cannot_be_compared_is_told(model):
    run = drive(model)
    with pytest.raises(InputError, match="compare takes runs, not str"):
        trundle.compare(run, "run.nc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two runs or more, not 1"):
        trundle.compare(run)
    with pytest.raises(InputError, match="expected 2 different labels, got 'a', 'a'"):
        trundle.compare(run, run, labels=["a", "a"])
    with pytest.raises(InputError, match="no run holds 'tetha'"):
        trundle.compare(run, run).over_time("states", "tetha")
    with pytest.raises(InputError, match="there is no figure 'state'"):
        trundle.compare(run, run).over_time("state")
    swing = trundle.simulate(derived("pendulum"), 1.0, samples=5)
    with pytest.raises(InputError, match="aren't seen from one side: diff.* from above.* from the side"):
        trundle.compare(run, swing, labels=["differential", "pendulum"]).path()
    with pytest.raises(InputError, match="no path of the run 'still': no description says"):
        trundle.compare(run, trundle.Run("still", [0.0], {"a": [0.0]}), labels=["moving", "still"]).path()


def test_runs_of_other_samples_are_the_same_curves():
    """At one another's times they are on their own curves, which know more than their samples."""
    robot = trundle.catalog.differential_drive()
    few, many, truth = (
        trundle.simulate(robot, 5.0, {"left_motor.voltage": 24.0}, samples=count, progress=False)
        for count in (21, 501, 20_001)
    )
    name = "left_motor.current"
    figure = trundle.compare(few, many, labels=["few", "many"]).over_time("states", name)
    for line in figure.axes[0].get_lines()[:2]:
        off = np.interp(truth.time, *np.array(line.get_xydata()).T) - truth[name]
        assert np.abs(off).max() < 2e-3 * truth[name].max()
