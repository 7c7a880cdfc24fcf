"""Progress: by default where somebody watches, after a second's work, with the rate; nothing else is written."""

import itertools
import re
import sys
import threading
import time
from collections import OrderedDict
from pathlib import Path
from weakref import WeakValueDictionary

import pytest

import trundle
from trundle import catalog, progress
from trundle.model.mechanism import mechanism
from trundle.program.llvm import jit
from trundle.show.page import page_of

EXAMPLES = Path(__file__).parents[1] / "examples"
MODEL = trundle.derive(catalog.pendulum(links=1))


@pytest.fixture
def slow_clock(monkeypatch):
    """Each look at the clock is 0.4 s after the one before, and nothing was compiled in this process before."""
    ticks = itertools.count()
    monkeypatch.setattr(progress.time, "perf_counter", lambda: 0.4 * next(ticks))
    # How often work looks at the clock hangs on what there is to do: the first look draws.
    monkeypatch.setattr(progress, "_PATIENCE", 0.2)
    monkeypatch.setattr(jit, "_ALIVE", WeakValueDictionary())
    monkeypatch.setattr(jit, "_RECENT", OrderedDict())
    monkeypatch.setattr(progress, "_CALLS", 1)


def test_a_terminal_sees_how_far_it_is_and_the_rate(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0})
    lines = [line for line in capsys.readouterr().err.split("\r") if "simulating" in line]
    assert "simulating pendulum [" in lines[0]
    assert "simulated s a second" in lines[0]
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
    monkeypatch.setattr(progress, "_LONG", 1e6)
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0}, progress=asked)
    assert bool(capsys.readouterr().err) == (asked and (tty or notebook))


def test_short_work_and_callbacks_write_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done = []
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0})
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0}, progress=done.append)
    assert done[-1] == 1.0
    assert capsys.readouterr().err == ""


def test_compiling_is_said_with_its_rate(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    # Seven links: no other test may have compiled it in this process before.
    trundle.run(catalog.pendulum(links=7), duration=0.1, method="lsoda")
    said = capsys.readouterr().err
    assert "compiling pendulum: outputs, " in said
    assert re.search(r"compiling pendulum: [\d.]+ s, \d.* operations a second *\n", said)


@pytest.fixture
def unhurried(monkeypatch):
    """Deriving begins with a wait until a line says it: a small robot's is over before another thread has its turn."""
    said, write = threading.Event(), progress._Line.write
    derive = sys.modules["trundle.model.derive"]

    def written(line, text, *rest):
        write(line, text, *rest)
        if text.startswith("deriving "):
            said.set()

    def waiting(robot):
        said.wait(10)
        return mechanism(robot)

    monkeypatch.setattr(progress._Line, "write", written)
    monkeypatch.setattr(derive, "mechanism", waiting)


def test_deriving_is_said(monkeypatch, capsys, unhurried):
    """Where it takes long: with a patience of a millisecond the smallest robot does."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 1e-3)
    trundle.run("examples/pendulum/double.yaml", duration=0.1)
    assert "deriving the model: 0 s" in capsys.readouterr().err


def test_deriving_and_compiling_say_what_they_are_at_where_nothing_around_them_does(
    monkeypatch, capsys, unhurried
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 1e-3)
    model = trundle.derive(catalog.pendulum(links=4))
    assert "deriving pendulum: 0 s" in capsys.readouterr().err
    trundle.rollout(model, steps=3, dt=1.234e-3, every=1, count=3)
    assert "compiling dynamics" in capsys.readouterr().err
    model = trundle.derive(catalog.pendulum(links=5))
    capsys.readouterr()
    trundle.rollout(model, steps=3, dt=1.234e-3, every=1, count=3, progress=False)
    assert capsys.readouterr().err == ""
    with progress.Doing(True, "all of it"):
        trundle.derive(catalog.pendulum(links=3))
    assert "deriving" not in capsys.readouterr().err


def test_pages_say_what_they_are_at(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run = trundle.Run(
        "cart", [0.0, 1.0], {"x": [0.0, 1.0], "y": [0.0, 1.0]}, groups={"coordinates": ["x", "y"]}
    )
    page_of([run, run])
    said = capsys.readouterr().err
    assert "making the page of cart: 4 samples" in said or "making the page of cart: equations" in said
    assert re.search(r"making the page of cart: [\d.]+ s, [\d.]+ samples a second *\n", said)
    page_of(run, progress=False)
    assert capsys.readouterr().err == ""


def test_tracking_says_what_it_is_at(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    robot = trundle.load("examples/swerve/two_modules.yaml")
    limits = trundle.Limits(steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=1)
    motion = trundle.plan(robot, (0.2, 0, 0), limits=limits)
    trundle.track(robot, motion, samples=11)
    said = capsys.readouterr().err
    assert "tracking: commands along the motion, " in said
    assert "compiling " in said
    trundle.track(robot, motion, samples=11, progress=False)
    assert capsys.readouterr().err == ""


def test_time_goes_on_while_nothing_is_told(monkeypatch, capsys):
    """A compiler that takes two seconds reports nothing meanwhile."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "_PATIENCE", 0.02)
    monkeypatch.setattr(progress, "_EVERY", 0.01)
    before = threading.active_count()
    with progress.Doing(True, "compiling", "operations") as doing:
        assert threading.active_count() == before + 1
        doing.at("9 operations", 9)
        written = threading.Event()
        monkeypatch.setattr(progress._Line, "write", lambda line, text, end="": written.set())
        assert written.wait(10)
    assert threading.active_count() == before
    capsys.readouterr()


def test_what_fails_leaves_no_rate(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with pytest.raises(ValueError, match="no"), progress.Doing(True, "compiling", "operations") as doing:
        for _ in range(4):
            doing.at("9 operations", 9)
        raise ValueError("no")
    said = capsys.readouterr().err
    assert "9 operations" in said
    assert "a second" not in said
    assert said.endswith("\r")


def test_work_of_unknown_length_says_what_it_is_at(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(progress, "_PATIENCE", 1.0)
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


def test_long_work_that_no_terminal_shows_says_once_what_it_takes(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    bar = progress.Progress(True, 1e12, "simulating arm", "simulated s")
    for done in range(1, 16):
        bar.at(1e3 * done)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.match(
        r"simulating arm: it takes some \d[\d.]* years, at [\d.]+( thousand)? simulated s a second", said
    )
    bar = progress.Progress(True, 1.0, "simulating arm", "simulated s")
    for done in range(1, 10):
        bar.at(done / 9)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "_LONG", 0.05)
    with progress.Doing(True, "writing"):
        time.sleep(0.3)
    assert re.fullmatch(r"writing: \d+ s so far\n", capsys.readouterr().err)


def test_a_slow_start_is_not_taken_for_the_rate(monkeypatch, capsys, slow_clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    bar = progress.Progress(True, 1.0, "simulating arm", "simulated s")
    for _ in range(40):  # 16 s by the clock: an import, say
        progress.time.perf_counter()
    for done in (1e-3, 0.3, 0.6, 1.0):
        bar.at(done)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (40, "40 s"),
        (130, "2.2 min"),
        (3600 * 12, "12 h"),
        (86400 * 40, "40 days"),
        (1e12, "31.7 thousand years"),
    ],
)
def test_long_times_are_said_as_people_count_them(seconds, said):
    assert progress._long(seconds) == said


def test_a_run_far_too_long_says_so_and_not_that_it_is_singular():
    """LSODA's bound on steps was told as a singular robot."""
    with pytest.raises(trundle.NumericsError, match="shorten the run, store more samples") as told:
        trundle.run(EXAMPLES / "diff_drive/circle.yaml", duration=1e12, samples=11, progress=False)
    assert "20,000" in str(told.value)
    assert "singular" not in str(told.value)
