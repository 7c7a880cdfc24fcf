"""Progress: by default where somebody watches, after a second's work, with the rate; nothing else is written."""

import itertools
import sys

import pytest

import trundle
from trundle import catalog
from trundle.simulation import progress

MODEL = trundle.derive(catalog.pendulum(links=1))


@pytest.fixture
def slow_clock(monkeypatch):
    """Each look at the clock is 0.4 s after the one before."""
    ticks = itertools.count()
    monkeypatch.setattr(progress.time, "perf_counter", lambda: 0.4 * next(ticks))
    monkeypatch.setattr(progress, "_CALLS", 1)


def test_a_terminal_sees_how_far_it_is_and_the_rate(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0})
    lines = capsys.readouterr().err.split("\r")
    assert "simulating pendulum [" in lines[1]
    assert "simulated s a second" in lines[1]
    assert lines[-1].startswith("simulating pendulum: ")
    assert lines[-1].endswith("\n")
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)  # how often native threads report hangs on the machine
    trundle.rollout(MODEL, steps=1000, dt=1e-3, every=1000, count=64)
    assert "robot steps a second" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tty", "asked", "notebook"), [(True, False, False), (False, True, False), (True, True, True)]
)
def test_who_sees_it(monkeypatch, capsys, slow_clock, tty, asked, notebook):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty and not notebook)
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    else:
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0}, progress=asked)
    assert bool(capsys.readouterr().err) == (asked and (tty or notebook))


def test_short_work_and_callbacks_write_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done = []
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0})
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0}, progress=done.append)
    assert done[-1] == 1.0
    assert capsys.readouterr().err == ""


def test_work_of_unknown_length_says_what_it_is_at(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.Doing(True, "writing") as doing:
        for words in ("kinematics", "dynamics", "motors"):
            doing.at(words)
    said = capsys.readouterr().err
    assert "kinematics" not in said  # within the first second
    assert "writing: motors, 1 s" in said
    assert said.split("\r")[-2].strip() == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with progress.Doing(True, "writing") as doing:
        doing.at("kinematics")
        doing.at("dynamics")
        doing.at("motors")
    assert capsys.readouterr().err == ""
