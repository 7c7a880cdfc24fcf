"""Progress: by default where somebody watches, after a second's work, with the rate; nothing else is written."""

import re
import sys
import threading
import time
from collections import OrderedDict, defaultdict
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
def watched(monkeypatch):
    """Somebody watches; and as nobody is patient and nothing was compiled here before, all is shown."""
    monkeypatch.setattr(progress, "someone_watches", lambda: True)
    for name, value in (("_PATIENCE", 0.0), ("_FORECAST", 0.0), ("_EVERY", 1e-3), ("_CALLS", 1)):
        monkeypatch.setattr(progress, name, value)
    monkeypatch.setattr(jit, "_ALIVE", WeakValueDictionary())
    monkeypatch.setattr(jit, "_RECENT", OrderedDict())


def test_a_terminal_sees_how_far_it_is_and_the_rate(capsys, watched):
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0})
    lines = [line for line in capsys.readouterr().err.split("\r") if "simulating" in line]
    assert re.match(r"simulating pendulum: +0%\|", lines[0])
    assert re.match(r"simulating pendulum: 100%\|\S+\| [\d.]+k? simulated s/s, 00:00 left *\n", lines[-1])
    trundle.rollout(MODEL, steps=1000, dt=1e-3, every=1000, count=64)
    assert "robot steps/s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tty", "asked", "notebook"), [(True, False, False), (False, True, False), (True, True, True)]
)
def test_who_sees_it(monkeypatch, capsys, tty, asked, notebook):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_FORECAST", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty and not notebook)
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    else:
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0}, progress=asked)
    assert bool(capsys.readouterr().err) == (asked and (tty or notebook))


def test_short_work_and_callbacks_write_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "_PATIENCE", 60.0)  # on a busy machine this takes more than a second
    monkeypatch.setattr(progress, "_FORECAST", 60.0)
    done = []
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0})
    trundle.simulate(MODEL, 1.0, initial={"link_1.angle": 1.0}, progress=done.append)
    assert done[-1] == 1.0
    assert done == sorted(done)
    assert capsys.readouterr().err == ""


@pytest.fixture
def unhurried(monkeypatch, watched):
    """Work waits until a line says it: that of a small robot is over before another thread has its turn."""
    said, line = defaultdict(threading.Event), progress._line

    def spied(*args):
        made = line(*args)
        draw = made.set_description_str
        made.set_description_str = lambda text: (draw(text), said[text].set())
        return made

    def waiting(text, work):
        def waits(*args, **how):
            assert said[text].wait(10)
            return work(*args, **how)

        return waits

    monkeypatch.setattr(progress, "_line", spied)
    return waiting


def test_deriving_and_compiling_are_said_where_nothing_around_them_is(monkeypatch, capsys, unhurried):
    derive, problem = sys.modules["trundle.model.derive"], sys.modules["trundle.simulation.problem"]
    monkeypatch.setattr(derive, "mechanism", unhurried("deriving pendulum", mechanism))
    model = trundle.derive(catalog.pendulum(links=4))
    assert "deriving pendulum, 00:00" in capsys.readouterr().err
    text = f"compiling pendulum: {model.audited.operations} operations"
    monkeypatch.setattr(problem, "compile_program", unhurried(text, problem.compile_program))
    trundle.simulate(model, 0.1)
    assert f"{text}, 00:00" in capsys.readouterr().err
    monkeypatch.setattr(derive, "mechanism", mechanism)
    capsys.readouterr()
    trundle.rollout(model, steps=3, dt=1.234e-3, every=1, count=3, progress=False)
    with progress.Doing(False, "all of it"):
        trundle.derive(catalog.pendulum(links=3))
    assert capsys.readouterr().err == ""


def test_pages_and_plans_say_what_they_are_at(monkeypatch, capsys, unhurried):
    page, said = sys.modules["trundle.show.page.page"], "making the page of cart: 4 samples"
    monkeypatch.setattr(page, "run_data", unhurried(said, page.run_data))
    run = trundle.Run(
        "cart", [0.0, 1.0], {"x": [0.0, 1.0], "y": [0.0, 1.0]}, groups={"coordinates": ["x", "y"]}
    )
    page_of([run, run])
    assert f"{said}, 00:00" in capsys.readouterr().err
    page_of(run, progress=False)
    assert capsys.readouterr().err == ""


def test_time_goes_on_while_nothing_is_told(monkeypatch, capsys, watched):
    """A compiler that takes two seconds reports nothing meanwhile; what is over leaves no line and no thread."""
    monkeypatch.setattr(progress, "_PATIENCE", 0.02)
    before = {*threading.enumerate()}
    with progress.Doing(True, "compiling") as doing:
        doing.at("9 operations")
        (mine,) = {*threading.enumerate()} - before
        time.sleep(1.5)
    said = capsys.readouterr().err
    assert "compiling: 9 operations, 00:00" in said
    assert "compiling: 9 operations, 00:01" in said
    assert said.split("\r")[-2].strip() == ""
    assert not mine.is_alive()
    with pytest.raises(ValueError, match="no"), progress.Doing(True, "compiling"):
        time.sleep(0.2)
        raise ValueError("no")
    assert capsys.readouterr().err.split("\r")[-2].strip() == ""


def test_a_run_far_too_long_says_so_and_not_that_it_is_singular():
    """LSODA's bound on steps was told as a singular robot."""
    with pytest.raises(trundle.NumericsError, match="shorten the run, store more samples") as told:
        trundle.run(EXAMPLES / "diff_drive/circle.yaml", duration=1e12, samples=11, progress=False)
    assert "20,000" in str(told.value)
    assert "singular" not in str(told.value)
