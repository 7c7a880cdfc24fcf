"""How things show themselves: IPython's own formatter, names from files escaped, the notebooks of examples/ run."""

import atexit
import base64
import contextlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import trundle
from derived import derived
from parameters import SHORT, mostly_slow
from trundle.program import Group, Instruction, Program
from trundle.results import Batch, Run
from trundle.robot import parse_robot

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
EVIL = "<script>alert('x')</script> & \"$x^2$"


class Checked(HTMLParser):
    """Every tag that is opened is closed, and only those that Trundle writes occur."""

    KNOWN = frozenset(
        [
            "div",
            "p",
            "b",
            "i",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "details",
            "summary",
            "pre",
            "img",
            *(
                "style",
                "section",
                "h3",
                "math",
                "mi",
                "mn",
                "mo",
                "mrow",
                "mfrac",
                "msub",
                "msup",
                "msubsup",
                "mover",
            ),
            *("mtable", "mtr", "mtd", "msqrt", "mspace", "mtext", "span", "bdi"),
        ]
    )  # nothing that runs or loads
    ATTRIBUTES = frozenset(
        [
            "style",
            "src",
            "alt",
            "class",
            "role",
            "scope",
            "data-keys",
            "displaystyle",
            "form",
            "stretchy",
            "lspace",
        ]
        + ["rspace", "width", "mathvariant", "accent"]
    )

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.pictures: list[bytes] = []
        self.text = ""
        self.formulas = 0

    def handle_starttag(self, tag, attrs):
        assert tag in self.KNOWN, tag
        given = dict(attrs)
        assert set(given) <= self.ATTRIBUTES, given
        self.formulas += tag == "math"
        if tag == "img":
            found = re.fullmatch(r"data:image/(png|svg\+xml);base64,(.*)", given["src"])
            assert found
            self.pictures.append(base64.b64decode(found[2], validate=True))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def checked(html):
    parser = Checked()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def robot():
    return trundle.catalog.swerve()


@pytest.fixture(scope="module")
def model(robot):
    return trundle.derive(robot)


@pytest.fixture(scope="module")
def run(model):
    return trundle.simulate(model, 1.0, {model.inputs[0]: 5.0}, samples=51)


@pytest.fixture(scope="module")
def batch(model):
    return trundle.rollout(model, steps=10, dt=1e-4, count=20)


@pytest.mark.slow
def test_lines_in_a_terminal(robot, model, run, batch):
    assert repr(robot) == str(robot)
    assert repr(robot).startswith(
        "Robot 'swerve' on a planar base: 4 wheels (steered), 8 motors (4 dc, 4 servo); "
    )
    assert repr(model) == str(model)
    assert re.fullmatch(
        r"Model 'swerve': \d+ coordinates, \d+ speeds, \d+ currents, 8 inputs; mobility \(1, 2\); \d+ operations",
        repr(model),
    )
    for each in (robot, model, run, batch, model.dynamics):
        assert "\n" not in repr(each)
        assert len(repr(each)) < 200
    wheel = repr(robot.wheels["front_left"])
    assert wheel.startswith("SteeredWheel(")
    assert "radius=Value(" in wheel
    assert "Operation" not in wheel, "values show what was written, not its meaning"
    alone = trundle.catalog.pendulum(links=1)
    assert "1 joint (revolute); " in repr(alone)
    assert repr(trundle.derive(alone)).startswith("Model 'pendulum': 1 coordinate, 1 speed; ")


def test_a_robot_in_a_notebook(robot):
    seen = checked(robot._repr_html_())
    (svg,) = seen.pictures
    assert svg.decode() == robot._repr_svg_()
    for word in ("front_left", "steered", "radius (m)", "dc", "parameters", "ohm"):
        assert word in seen.text


def test_a_model_in_a_notebook(model):
    seen = checked(model._repr_html_())
    assert len(seen.pictures) == 1
    for word in (*model.states[:10], model.inputs[0], "rad/s", "(1, 2)", "constraints", "operations"):
        assert word in seen.text


@pytest.mark.parametrize("name", mostly_slow(SHORT, ["differential_drive", "four_bar"]))
def test_a_model_shows_its_equations(name):
    model = derived(name)
    seen = checked(model._repr_html_())
    assert seen.formulas > 10
    assert "$" not in seen.text, "nothing waits for a script to be set"
    assert "can't be shown" not in seen.text
    assert "model.equations()" in seen.text
    for title in ("Equations of motion", "symbols"):
        assert title in seen.text
    if model.robot.base == "planar":
        assert "Inverse kinematics" in seen.text


def test_equations_and_one_of_them_need_no_network():
    found = trundle.equations(trundle.catalog.pendulum(links=1), "dynamics")
    for shown in (found, found["motion"], found["mass_matrix"]):
        seen = checked(shown._repr_html_())
        assert seen.formulas
        assert "$" not in seen.text
    assert found.html() == found._repr_html_()


@pytest.mark.slow
def test_long_equations_are_left_out():
    long = trundle.derive(trundle.catalog.pendulum(links=10))
    page = long._repr_html_()
    assert len(page) < 300_000
    assert "Not written out" in checked(page).text
    many = 25
    longer = trundle.derive(trundle.catalog.pendulum(links=many))
    assert longer.operations > 1000
    assert "Its equations are long" in checked(longer._repr_html_()).text


def test_equations_that_fail_leave_the_rest(model, monkeypatch):
    def fail(self):
        raise ZeroDivisionError("<b>")

    monkeypatch.setattr(type(model), "equations", fail)
    seen = checked(model._repr_html_())
    assert "Its equations can't be shown here: <b>" in seen.text
    assert model.states[0] in seen.text


def test_massless_robots_show_what_they_have():
    robot = trundle.load(Path(__file__).parents[2] / "examples" / "kinematic" / "two_wheels.yaml")
    seen = checked(trundle.derive(robot)._repr_html_())
    assert seen.formulas
    assert "Not written out: a planar base needs a body with a mass" in seen.text


@pytest.mark.slow
def test_a_run_in_a_notebook(run):
    seen = checked(run._repr_html_())
    (png,) = seen.pictures
    assert png.startswith(b"\x89PNG")
    for word in ("51 samples", "constraint residual", "energy imbalance", "theta", "highest"):
        assert word in seen.text


def test_runs_without_a_path_or_with_a_description_that_is_damaged():
    time = np.linspace(0, 1, 5)
    still = Run("still", time, {"a": time})
    assert checked(still._repr_html_()).pictures == []
    damaged = Run("damaged", time, {"a": time}, description={"yaml": "robot: {"})
    assert "not valid YAML" in checked(damaged._repr_html_()).text
    many = Run("many", time, {f"value_{k}": time for k in range(500)})
    assert "and 100 more" in checked(many._repr_html_()).text


def test_a_batch_in_a_notebook(batch):
    seen = checked(batch._repr_html_())
    assert "20 robots" in seen.text
    assert "diverged" in seen.text
    assert checked(Batch("empty", np.zeros(0), ("x",), np.zeros((0, 1, 0)))._repr_html_()).text


def test_a_program_in_a_notebook(model):
    seen = checked(model.dynamics._repr_html_())
    counts = model.dynamics.count_by_op()
    assert f"{counts['mul']} mul" in seen.text
    assert sum(counts.values()) == model.operations
    assert "…" in seen.text, "a long program shows its first steps only"
    steps = list(model.dynamics.steps())
    assert [line.strip() for line in model.dynamics.describe().splitlines()[-len(steps) :]] == steps


def test_names_are_escaped():
    """Whatever a file or a symbol is called, it is text."""
    program = Program(
        EVIL,
        (Group(EVIL, (EVIL,)),),
        (Group(EVIL, (EVIL,)),),
        (Instruction("input", 0, (), 0.0, (0, 0)),),
        ((0,),),
    )
    mass: Any = sp.Symbol(EVIL)
    place: Any = dynamicsymbols("x")
    method = LagrangesMethod(mass * place.diff() ** 2 / 2, [place])
    method.form_lagranges_equations()
    model = trundle.from_sympy(method, parameters={mass: 1.0}, name=EVIL)
    time = np.linspace(0, 1, 5)
    run = Run(EVIL, time, {EVIL: time, "x": time, "y": time}, {EVIL: EVIL}, {}, {"method": EVIL})
    batch = Batch(EVIL, time, (EVIL,), np.zeros((5, 1, 3)), {EVIL: EVIL}, summary={"diverged": EVIL})
    for each in (program, model, run, batch):
        seen = checked(each._repr_html_())
        assert EVIL in seen.text
    robot = parse_robot({"name": "a", "joints": {"b": {"type": "revolute"}}})
    assert checked(robot._repr_html_())


@contextlib.contextmanager
def ipython():
    """IPython's own shell in this process, which keeps no history."""
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    settings = pytest.importorskip("traitlets.config").Config(HistoryManager={"enabled": False})
    main = sys.modules["__main__"]  # the shell puts its own there, which processes can't be spawned from
    shell = interactiveshell.InteractiveShell(config=settings)
    try:
        yield shell
    finally:
        shell.atexit_operations()
        atexit.unregister(shell.atexit_operations)
        interactiveshell.InteractiveShell.clear_instance()
        sys.modules["__main__"] = main


@pytest.mark.slow
def test_ipython_takes_what_is_shown(robot, model, run, batch):
    with ipython() as shell:
        for each, kinds in (
            (robot, {"text/plain", "text/html", "image/svg+xml"}),
            (model, {"text/plain", "text/html"}),
            (model.dynamics, {"text/plain", "text/html"}),
            (run, {"text/plain", "text/html"}),
            (batch, {"text/plain", "text/html"}),
            (run.plot.path(), {"text/plain", "image/png"}),
        ):
            data, _ = shell.display_formatter.format(each)
            assert set(data) == kinds
        assert shell.display_formatter.format(model)[0]["text/plain"] == repr(model)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.slow
def test_notebooks_run_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matplotlib, "get_backend", lambda *_: "agg")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["nbformat"] == 4
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells), (
        "kept without outputs"
    )
    shown = []
    with ipython() as shell:
        for cell in cells:
            source = "".join(cell["source"])
            done = shell.run_cell(source)
            done.raise_error()
            if done.result is not None:
                data, _ = shell.display_formatter.format(done.result)
                shown.append(data)
    assert len(shown) >= len(cells) - 1
    assert sum("text/html" in data for data in shown) >= 5
    assert list(tmp_path.iterdir()) == [], "a notebook leaves nothing behind"


def test_words_are_found_by_the_nearest_class():
    class MyRun(Run):
        """A user's own."""

    assert repr(MyRun("mine", [0.0, 1.0], {"x": [0.0, 1.0]})).startswith("Run 'mine': 2 samples")
    for say in (trundle.to_text, trundle.to_html, trundle.explain):
        with pytest.raises(trundle.InputError, match="got 1"):
            say(1)
