"""Verdicts on runs: the same ones in terminal, JSON, figures, notebooks and pages, and none where nothing is known."""

from dataclasses import replace

import numpy as np
import pytest

import trundle
from trundle.results import Run
from trundle.show.page.page import page_of
from trundle.show.summaries.lines import Page
from trundle.show.summaries.run_summary import _checks, run_html
from trundle.show.verdicts import doubts, verdicts

TIME = np.linspace(0, 10, 101)
SOUND = {"turned_over": 1200.0, "made_by_step": 2e-4, "lost_by_step": 0.0, "made_by_ground": 4e-3}


def driven(energy=SOUND, **summary):
    """A run over ground with its books of energy."""
    values = {
        "x": TIME, "left.load": 100 + TIME, "balance_residual": np.full(101, 1e-7), "energy.kinetic": TIME,
        "energy.work": 120 * TIME, "energy.losses": 119 * TIME, "energy.made_by_step": 0.02 * TIME,
        "energy.made_by_ground": 0.5 * TIME,
    }  # fmt: skip
    units = dict.fromkeys(values, "J") | {"x": "m", "left.load": "N", "balance_residual": "N"}
    known = {
        "mode": "dynamic",
        "steps": 1000,
        "balance_residual": 1e-7,
        "unsolved_steps": 0,
        "energy": energy,
    }
    return Run("rover", TIME, values, units, summary=known | summary, groups={"coordinates": ["x"]})


MADE = SOUND | {"made_by_step": 0.03, "made_by_step_from": 4.2}
BENT = SOUND | {"made_by_ground": 0.08, "made_by_ground_from": 3.0, "ground_step": 0.004}
DOUBTFUL = {
    "doubtful: the step makes energy from 4.2 s on; take a shorter step": driven(MADE),
    "doubtful: the ground bends within a step from 3 s on; a step of 0.004 s holds": driven(BENT),
    "doubtful: the step makes energy from 4.2 s on; take a step of 0.005 s": driven(MADE | {"step": 0.005}),
    "doubtful: joints turn too far in a step of flight: take a step of 0.01 s": driven(
        SOUND | {"step": 0.01}, too_long_steps=7
    ),
    "doubtful: the loop 'speed' is unstable with its period: it holds up to 20 ms": driven(
        unstable_loops={"speed": 3}, longest_periods={"speed": 0.02}
    ),
    "doubtful: 3 of 1000 steps are unsolved: forces don't balance there": driven(unsolved_steps=3),
    "doubtful: the loop 'speed' is unstable; an implicit step hides it: look at the sign of its gains": driven(
        unstable_loops={"speed": 40}
    ),
}


def words(figure):
    """All that is written above panels of a figure."""
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return " ".join([*titles, *(text.get_text() for text in figure.texts)])


def test_a_sound_run_is_ok_everywhere():
    run = driven()
    assert doubts(run) == []
    made = ("energy made by the step", "0.02 % of the 1.2 kJ turned over", "ok")
    ground = ("energy made by the ground", "0.4 % of the 1.2 kJ turned over", "ok")
    assert {made, ground} <= set(_checks(run, Page()))
    titles = [axes.get_title(loc="left") for axes in run.plot.checks().axes]
    assert titles[:3] == ["balance residual: 1e-07 N: ok", ": ".join(made), ": ".join(ground)]


@pytest.mark.parametrize("sentence", DOUBTFUL)
def test_a_doubt_is_said_in_terminal_notebook_figure_and_page(sentence):
    run = DOUBTFUL[sentence]
    assert doubts(run) == [sentence]
    assert sentence in [text for *_, text in _checks(run, Page())]
    assert sentence in words(run.plot.checks())
    escaped = sentence.replace("'", "&#x27;")
    assert escaped in run_html(run)
    assert escaped in page_of(run)
    assert sentence in str(run)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.04, "ok"), (0.08, "the step dissipates 8 %: take a shorter step")],
)
def test_what_steps_lose_is_a_remark_and_no_doubt(share, text):
    run = driven(SOUND | {"made_by_step": 0.0, "lost_by_step": share})
    assert doubts(run) == []
    assert ("energy lost by the step", f"{100 * share:g} % of the 1.2 kJ turned over", text) in _checks(
        run, Page()
    )


def test_a_flight_in_which_nothing_carries_is_balanced_to_rounding():
    thrown = trundle.simulate(
        trundle.catalog.talon(),
        0.1,
        terrain={},
        step=0.02,
        initial={"z": 9.0, "omega_z": 1.0},
        progress=False,
    )
    assert thrown.summary["balance_residual"] > 0
    assert doubts(thrown) == []


def test_bounds_are_drawn_where_curves_are_held_against_them():
    _, made, ground, _ = driven().plot.checks().axes
    lines = [[float(np.asarray(line.get_ydata())[0]) for line in axes.lines[1:]] for axes in (made, ground)]
    assert lines == [pytest.approx([12.0, -60.0]), pytest.approx([60.0])]


def test_runs_without_books_of_energy_and_files_that_hold_anything_have_no_such_verdict():
    old = driven(None)
    assert [each.name for each in verdicts(old)] == ["balance residual"]
    for odd in ({"turned_over": 3.0}, "much", {**SOUND, "made_by_step": "a little"}):
        assert [each.name for each in verdicts(driven(odd))] == ["balance residual"]
    assert verdicts(replace(old, summary={})) == []
    assert verdicts(replace(old, summary={"energy_imbalance": "big", "constraint_residual": None})) == []


def test_people_read_roll_pitch_and_yaw_where_a_run_has_them():
    quaternion = {"q_w": np.ones(101), **dict.fromkeys(("q_x", "q_y", "q_z"), np.zeros(101))}
    values = {"x": TIME, **quaternion, "left.angle": TIME}
    groups = {"coordinates": list(values)}
    bare = Run("rover", TIME, values, {"x": "m", "left.angle": "rad"}, groups=groups)
    angles = dict.fromkeys(("roll", "pitch", "yaw"), 0.1 * TIME)
    run = replace(bare, values=values | angles, units=bare.units | dict.fromkeys(angles, "rad"))
    for shown, four in ((bare, list(quaternion)), (run, list(angles))):
        curves = [
            name
            for axes in shown.plot.states().axes
            for name in (str(each.get_label()) for each in axes.lines)
        ]
        assert [name for name in curves if name in {*quaternion, *angles}] == four
    assert "yaw" in run_html(run).partition("<details")[0]
    assert "q_w" not in run_html(run).partition("<details")[0]
    assert list(run.final)[1:5] == list(quaternion)  # data keep them
