"""Equations as MathML: only what MathML Core has, and what is written reads back to what the programs compute."""

import re
from dataclasses import replace
from itertools import chain
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy

import trundle
from derived import derived
from formulas.test_against_programs import drawn, number
from formulas.typeset.mathml_reader import Reader, shape
from model import random_robots
from parameters import SHORT, mostly_slow
from trundle import catalog
from trundle.formulas.typeset import hypertext
from trundle.formulas.typeset.alignment import set_on_page
from trundle.formulas.typeset.hypertext import fragment
from trundle.formulas.typeset.mathml import symbol_mathml
from trundle.program import compile_program
from trundle.robot import parse_robot

# https://www.w3.org/TR/mathml-core/, what of it stands in equations; `mtext` and `mi` hold text only.
CORE = set("math mrow mfrac msqrt msup msub msubsup mover mtable mtr mtd mi mn mo mspace mtext".split())  # noqa: SIM905
ATTRIBUTES = {
    "math": {"displaystyle"},
    "mi": {"mathvariant"},
    "mo": {"form", "stretchy", "lspace", "rspace"},
    "mspace": {"width"},
    "mover": {"accent"},
}
ROBOTS = {name: lambda name=name: catalog.robot(name) for name in SHORT}


def statements(equations):
    """Both sides of each statement as elements, from what a browser gets; lines that go on belong to one."""
    page = ElementTree.fromstring(fragment(equations))
    for row in page.iterfind(".//table[@class='aligned']/tbody/tr"):
        left, right = (cell.find("math") for cell in row.findall("td")[:2])
        yield left, right


def symbols_of(statement):
    """The symbols of a statement by their names; M of M u̇ = … is a matrix there."""
    sides = map(sympy.sympify, (*statement.lefts, statement.right))
    return {symbol.name: symbol for side in sides for symbol in side.free_symbols}


def read_back(equations):
    """Each statement as it is shown, and as it reads back: sides, in order."""
    page = set_on_page(equations)
    shown = [statement for block in page.layout.blocks for statement in block.statements]
    named = {symbol.name for symbol in page.named}
    names = named.union(*map(symbols_of, shown))
    shapes = {shape(ElementTree.fromstring(symbol_mathml(each, each in named))): each for each in names}
    assert len(shapes) == len(names), "two symbols look alike"
    rows = statements(equations)
    for statement in shown:
        known = Reader(shapes, symbols_of(statement))
        lines = [next(rows) for _ in page.rows(statement)]
        text = "".join(known.text(part) for line in lines for part in line if part is not None)
        yield statement, [known.value(side) for side in text.split("==")]
    assert next(rows, None) is None


def same(a, b, rng):
    """Whether two expressions or matrices have the same numbers at random points."""
    if a.has(sympy.MatrixSymbol):
        return a.doit() == b.doit()
    if a.is_Matrix:
        a, b = sympy.Matrix(a.doit()), sympy.Matrix(b.doit())
        return a.shape == b.shape and all(same(x, y, rng) for x, y in zip(a.flat(), b.flat(), strict=True))
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    points = rng.uniform(0.2, 1.3, (len(symbols), 7))
    x, y = (np.asarray(sympy.lambdify(symbols, each, "numpy")(*points), dtype=float) for each in (a, b))
    return np.allclose(x, y, rtol=1e-10, atol=1e-12)


def check(equations, rng):
    count = 0
    for statement, sides in read_back(equations):
        for shown, found in zip((*statement.lefts, statement.right), sides, strict=True):
            assert same(sympy.sympify(shown), sympy.sympify(found), rng), (shown, found)
            count += 1
    assert count > 3


@pytest.mark.parametrize("name", mostly_slow(ROBOTS, ["differential_drive", "mecanum", "leg"]))
def test_the_catalogue_reads_back(name, rng):
    check(trundle.equations(ROBOTS[name]()), rng)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(random_robots.ALL))
def test_random_robots_read_back(name, rng, monkeypatch):
    monkeypatch.setattr(hypertext, "_MOST_PAGE", 10**9)
    check(trundle.equations(parse_robot(random_robots.ALL[name](rng))), rng)


@pytest.mark.parametrize("name", ["differential_drive", "offset_drive", "pendulum", "tricycle"])
def test_what_reads_back_is_what_the_program_computes(name, rng):
    """Accelerations evaluated from the page's own formulas alone, against the kernel."""
    model = trundle.derive(ROBOTS[name]())
    equations = model.equations()
    x, u, p, numbers = drawn(equations, model, rng)
    (rates,) = compile_program(model.dynamics)(x, u, p)
    waiting = {sides[0]: sides[-1] for s, sides in read_back(equations) if all(e.is_Symbol for e in s.lefts)}
    waiting = {s: e for s, e in waiting.items() if not hasattr(e, "shape") and s.name not in numbers}
    while ready := [s for s, e in waiting.items() if {x.name for x in e.free_symbols} <= set(numbers)]:
        numbers |= {s.name: number(waiting.pop(s), numbers) for s in ready}
    for speed in equations.accelerations:
        found = numbers[equations[f"acceleration.{speed}"].left.name]
        expected = rates[len(model.coordinates) + model.speeds.index(speed)]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert equations.accelerations


@pytest.mark.parametrize("name", mostly_slow(ROBOTS, ["differential_drive", "mecanum", "leg"]))
def test_only_what_mathml_core_has(name):
    text = fragment(trundle.equations(ROBOTS[name]()))
    for element in chain.from_iterable(m.iter() for m in ElementTree.fromstring(text).iter("math")):
        assert element.tag in CORE
        assert set(element.attrib) <= ATTRIBUTES.get(element.tag, set())
    assert not re.search(r"\bstyle=|<script|\bon\w+=|href|src=", text)


@pytest.mark.slow
def test_odometry_is_written():
    text = derived("ackermann").odometry().formulas().equations.mathml()
    assert "<mi>sinc</mi>" in text
    assert "<mtext>if\u00a0</mtext>" in text  # a space at its end would not be seen
    ElementTree.fromstring(text)


def test_hostile_names_stay_text():
    """A robot of any name, and whatever stands in texts."""
    bad = "<img src=x onerror=alert(1)>\"'&amp;<script>"
    found = trundle.equations(catalog.robot("pendulum"))
    section = replace(found.sections[1], title=bad, notes=(bad,))
    symbol = replace(found.symbols[0], symbol=sympy.Symbol(f"a_{bad}"), meaning=bad, unit=bad)
    shown = trundle.format_equations(replace(found, name=bad, sections=(section,), symbols=(symbol,)), "page")
    assert "<img" not in shown
    assert "<script" not in shown
    assert shown.count("&lt;img") >= 6
