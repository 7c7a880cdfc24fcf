"""A sweep on a page: its robots are dots, and the one that is clicked drives as its row says."""

import numpy as np
import pytest

import trundle
from trundle.show.page import page_of

VOLTS = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}


@pytest.fixture(scope="module")
def swept():
    over = {
        "r": "14 cm:16 cm:3",
        "body.mass": "normal(50, 2)",
        "inputs.left_motor.voltage": "uniform(18, 22)",
    }
    return trundle.sweep(
        trundle.catalog.differential_drive(), over=over, samples=300, measures=["final.x", "first(x > 0.2)"],
        steps=500, inputs=VOLTS,
    )  # fmt: skip


def test_the_robot_that_is_clicked_drives(swept, opened):
    page = opened(page_of(swept, progress=False))
    canvas = page.locator(".cloud canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.45 * box["height"])
    said = page.locator(".cloud p[role=status]").inner_text()
    robot = int(said.removeprefix("robot ").partition(":")[0].replace(",", ""))
    for name in swept.varied:
        place, label = swept.work.place(name)
        value = page.evaluate("key => trundlePage.controls.values.get(key)", f"{place}.{label}")
        assert value == pytest.approx(swept[name][robot], rel=1e-15)
    page.wait_for_function(
        "x => Math.abs(trundlePage.motion.values.x.at(-1) - x) < 1e-5", arg=float(swept["final.x"][robot])
    )
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".cloud p[role=status]").inner_text() != said


def test_what_no_page_of_a_sweep_holds_is_said(tmp_path):
    robot, over = trundle.catalog.differential_drive(), {"r": "0.14, 0.15"}
    stepped = {"left_motor.voltage": np.linspace(0, 24, 10)[:, None]}
    found = trundle.sweep(robot, over=over, measures=["final.x"], steps=10, inputs=stepped)
    with pytest.raises(trundle.InputError, match="constant inputs only"):
        found.animate(tmp_path / "sweep.html")
    with pytest.raises(trundle.InputError, match="a film shows one robot"):
        found.animate(tmp_path / "sweep.gif")
