"""A page within a notebook: by IPython's own formatter, in a browser, without scripts, and without its iframe."""

import re

import pytest
from IPython.core.formatters import DisplayFormatter

import trundle
from derived import derived


@pytest.fixture(scope="module")
def shown():
    """What a kernel sends for `run.animate()`."""
    model = derived("differential_drive")
    run = trundle.simulate(model, 1.0, {"right_motor.voltage": 6.0}, samples=51)
    return DisplayFormatter().format(run.animate())[0]


def notebook(html):
    return f"<!doctype html><meta charset='utf-8'><link rel='icon' href='data:,'><body>{html}</body>"


@pytest.mark.slow
def test_the_page_runs_in_its_iframe(opened, shown):
    page = opened(notebook(shown["text/html"]))
    inside = page.frame_locator("iframe")
    inside.locator("input.time").wait_for()
    assert inside.locator("input.time").count() == 1
    assert inside.locator("#equations math").count() > 10
    assert inside.locator("#facts").inner_text().startswith("1 s")
    assert page.locator("iframe").bounding_box()["height"] > 600


@pytest.mark.slow
def test_nothing_in_it_reaches_the_notebook(opened, shown):
    """The frame is sandboxed: its scripts run, and see nothing of the page around it."""
    page = opened(notebook(shown["text/html"]))
    frame = page.frames[1]
    frame.wait_for_selector("#canvas")
    reached = "() => { try { return parent.document.title; } catch { return 'refused'; } }"
    assert frame.evaluate(reached) == "refused"


@pytest.mark.slow
def test_a_still_picture_stands_where_no_script_runs(opened, shown):
    page = opened(notebook(shown["text/html"]), java_script_enabled=False)
    inside = page.frame_locator("iframe")
    box = inside.locator(".noscript img").bounding_box()
    assert box["width"] > 300
    assert box["height"] > 200
    assert inside.locator("main").bounding_box() is None
    assert inside.locator("#equations math").count() > 10


def test_a_still_picture_stands_where_iframes_are_taken_out(opened, shown):
    """JupyterLab's sanitizer drops an iframe with all that it holds; pictures with their own bytes stay."""
    sanitized = re.sub(r"<iframe.*?</iframe>", "", shown["text/html"], flags=re.DOTALL)
    page = opened(notebook(sanitized))
    assert page.locator("img").bounding_box()["width"] > 300
    assert page.evaluate("document.querySelector('img').naturalWidth") > 300


def test_its_words_and_its_picture(shown):
    assert (
        shown["text/plain"]
        == "<page of 'differential_drive': a notebook shows it; animate('page.html') writes it>"
    )
    assert shown["image/png"]


def test_a_run_of_nothing_known_has_no_picture():
    run = trundle.Run("numbers", [0.0, 1.0], {"a": [0.0, 1.0]})
    data, _ = DisplayFormatter().format(trundle.animate(run))
    assert "<img" not in data["text/html"].partition("<iframe")[0]
    assert "image/png" not in data


@pytest.mark.slow
def test_a_model_shows_itself_alive(opened):
    page = opened(notebook(derived("differential_drive").animate()._repr_html_()))
    page.frame_locator("iframe").locator("#controls input[type=range]").first.wait_for()


@pytest.mark.slow
def test_a_hostile_name_leaves_no_attribute_and_no_element(opened):
    name = "\"></iframe></script><img src=x onerror=alert(1)>&quot; onload='alert(2)' \x1b]0;x\x07"
    run = trundle.Run(name, [0.0, 1.0], {name: [0.0, 1.0]}, units={name: name})
    page = opened(notebook(run.animate()._repr_html_()))
    page.frame_locator("iframe").locator("input.time").wait_for()
    assert page.locator("img").count() == 0
    assert page.frame_locator("iframe").locator("h1").inner_text().startswith('"></iframe></script><img')
