"""What is written as LaTeX goes through a real TeX and fits its pages: A4, margins of 2 cm."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import trundle
from derived import derived
from model import random_robots
from parameters import SHORT
from trundle import catalog
from trundle.formulas import equations
from trundle.formulas.typeset.alignment import AlignedPage
from trundle.formulas.typeset.tex_width import tex_width
from trundle.robot import parse_robot

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [
    path.relative_to(EXAMPLES).as_posix()
    for kind in ("yaml", "urdf")
    for path in EXAMPLES.glob(f"*/*.{kind}")
    if path.parent.name != "rover"  # wheels over terrain have no equations in closed form
]
# How far anything may stand out, in pt.
MOST_OVERFULL = 5.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]


def compiled(document, folder):
    """The log of a document's second run, in which every reference is known; a failure shows its end."""
    (folder / "equations.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "equations.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, "\n".join(done.stdout.splitlines()[-30:])
    # TeX breaks its lines after 79 signs.
    return (folder / "equations.log").read_text(errors="replace").replace("\n", " ")


def test_widths_are_those_of_tex(tmp_path):
    """What breaks lines is the width that TeX finds, to a tenth."""
    page = AlignedPage(equations(catalog.swerve()))
    rows = [row for block in page.layout.blocks for each in block.statements for row in page.rows(each)]
    formulas = [
        side for row in rows for side in (page.left_side(row), page.right_side(row)) if len(side) > 40
    ]
    boxes = [f"\\setbox0\\hbox{{$\\displaystyle {each}$}}\\typeout{{width \\the\\wd0}}" for each in formulas]
    head, tail = r"\documentclass{article}\usepackage{amsmath}\begin{document}", r"\end{document}"
    log = compiled("\n".join([head, *boxes, tail]), tmp_path)
    widths = [float(each) for each in re.findall(r"width ([\d.]+)pt", log)]
    assert len(widths) == len(formulas) > 40
    for formula, width in zip(formulas, widths, strict=True):
        assert tex_width(formula) == pytest.approx(width, rel=0.15, abs=8), formula


def check(found, folder):
    log = compiled(found.tex(), folder)
    boxes = re.findall(r"Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)\).{0,60}", log)
    assert not [each for each in boxes if float(each) > MOST_OVERFULL]
    assert "multiply defined" not in log
    assert "undefined" not in log


@pytest.mark.parametrize("name", SHORT)
def test_every_robot_of_the_catalogue(name, tmp_path):
    check(equations(catalog.robot(name)), tmp_path)


@pytest.mark.parametrize("file", sorted(FILES))
def test_every_example(file, tmp_path):
    check(equations(trundle.load(EXAMPLES / file)), tmp_path)


@pytest.mark.parametrize("name", sorted(random_robots.ALL))
def test_random_robots(name, rng, tmp_path):
    check(equations(parse_robot(random_robots.ALL[name](rng))), tmp_path)


@pytest.mark.parametrize("name", ["ackermann", "swerve"])
def test_odometry(name, tmp_path):
    check(derived(name).odometry().formulas().equations, tmp_path)
