"""A page's equations: the run's own, with its numbers, set by the browser."""

import pytest
import sympy
from sympy.physics.mechanics import dynamicsymbols

import trundle
from derived import derived
from trundle import catalog
from trundle.errors import InputError
from trundle.show.page import page_of
from trundle.show.page.page_equations import page_equations


def run_of(robot, **options):
    return trundle.simulate(trundle.derive(robot), 0.2, samples=11, **options)


@pytest.mark.slow
def test_equations_stand_on_the_page(opened):
    page = opened(page_of(run_of(catalog.differential_drive(), inputs={"right_motor.voltage": 2.0})))
    page.locator("#equations").scroll_into_view_if_needed()  # out of sight nothing of them is set
    assert page.locator("#equations h2").inner_text() == "Equations"
    titles = page.locator("#equations summary").evaluate_all(
        "all => all.map(each => each.firstChild.textContent)"
    )
    assert {"Constraints of rolling", "Equations of motion", "Accelerations"} <= set(titles)
    page.evaluate("document.querySelectorAll('#equations details').forEach((each) => (each.open = true))")
    boxes = page.locator("#equations math mfrac").all()
    assert len(boxes) > 10
    assert all(each.bounding_box()["height"] > 12 for each in boxes[:5])  # it is set, not only listed
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_numbers_are_those_of_the_run():
    text = page_of(run_of(catalog.pendulum(links=1), parameters={"length": 0.75}))
    assert '<span data-keys="length">0.75</span>' in text


def test_what_has_no_equations_says_why(monkeypatch):
    def refuse(given):
        raise InputError("none for <b>")

    monkeypatch.setattr("trundle.show.page.page_equations.equations", refuse)
    shown = page_equations(catalog.pendulum(), {})
    assert "left out: none for &lt;b&gt;" in shown


@pytest.mark.slow
def test_numbers_beside_symbols_follow_the_sliders(opened):
    page = opened(page_of(derived("differential_drive")))
    cell = page.locator("#equations [data-keys='r']")
    assert cell.text_content() == "0.15"
    page.evaluate("globalThis.trundlePage.controls.set([['parameters.r', 0.2]])")
    assert cell.text_content() == "0.2"


# The looks that JupyterLab, and what it saves as HTML, give to every table.
_NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr { text-align: right; padding: 0.5em }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: rgb(250, 250, 250) }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: rgb(230, 230, 230) }
</style>"""


@pytest.mark.slow
def test_a_saved_notebook_sets_its_equations_offline(opened):
    """`opened` has no network and fails for a request: everything that shows formulas, as notebooks keep it."""
    robot, world = catalog.differential_drive(), trundle.Frame("world")
    angle, mass = dynamicsymbols("theta_1"), sympy.Symbol("m_b")
    force = (mass * angle.diff() ** 2 / 2, 0, angle.diff(dynamicsymbols._t, 2))
    found, odometry = trundle.equations(robot), trundle.odometry(robot)
    shown = [
        found,
        found["motion"],
        trundle.derive(robot),
        odometry,
        odometry.formulas(),
        trundle.Wrench(force, (0, 0, 0), on="arm", by="rope", point=world.origin, frame=world),
    ]
    cells = [f'<div class="jp-RenderedHTMLCommon">{each._repr_html_()}</div>' for each in shown]
    page = opened(_NOTEBOOK + "".join(cells), offline=True)
    assert "$" not in page.inner_text("body")
    for cell in page.locator(".jp-RenderedHTMLCommon").all():
        boxes = [each.bounding_box() for each in cell.locator("math:visible").all()]
        assert boxes
        assert all(box["height"] > 5 and box["width"] > 3 for box in boxes)
    fraction = page.locator("math mfrac").first
    over, under = (fraction.locator("> *").nth(k).bounding_box() for k in (0, 1))
    assert over["y"] + over["height"] <= under["y"] + 2  # set as a fraction, not side by side
    row = page.locator(".aligned tr").nth(1)
    looks = (
        "each => [getComputedStyle(each).backgroundColor, getComputedStyle(each.lastElementChild).textAlign]"
    )
    assert row.evaluate(looks) == ["rgba(0, 0, 0, 0)", "left"]
