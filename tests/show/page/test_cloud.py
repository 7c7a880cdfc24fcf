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


@pytest.mark.slow
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


@pytest.fixture(scope="module")
def over_terrain():
    rough = {"surfaces": {"rubble": {"type": "fractal", "slope": 0.2, "shortest": 0.5, "longest": 2}}}
    over = {"terrain.seed": "0:3:4", "initial.yaw": "uniform(-1, 1)"}
    return trundle.sweep(
        trundle.catalog.talon(), terrain=rough, over=over, samples=10, measures=["final.x", "max(tilt)"],
        steps=60, dt="20 ms",
    )  # fmt: skip


@pytest.fixture(scope="module")
def terrain_page(over_terrain):
    return page_of(over_terrain, progress=False)


@pytest.mark.slow
def test_over_terrain_a_robot_with_a_ring_drives_on_its_own_ground(over_terrain, terrain_page, opened):
    page = opened(terrain_page)
    cloud = page.evaluate("(({ runs, robots }) => ({ runs, robots }))(trundlePage.data.cloud)")
    assert len(cloud["runs"]) == 16
    ends = {
        over_terrain.extremes(name, 1, largest)[0]
        for name in over_terrain.measures
        for largest in (True, False)
    }
    assert ends <= set(cloud["runs"])
    grounds = set()
    for robot in cloud["runs"]:
        page.evaluate("k => trundlePage.cloud.choose(k)", cloud["robots"].index(robot))
        x, heights = page.evaluate(
            "[trundlePage.motion.values.x.at(-1), Array.from(trundlePage.scene.ground.heights).slice(0, 50)]"
        )
        assert x == pytest.approx(over_terrain["final.x"][robot], abs=1e-6)
        grounds.add(tuple(heights))
    assert len(grounds) == len({over_terrain["terrain.seed"][robot] for robot in cloud["runs"]})


@pytest.mark.slow
def test_a_dot_without_a_run_says_so_and_the_robot_that_is_shown_stays(terrain_page, opened):
    page = opened(terrain_page)
    cloud = page.evaluate("(({ runs, robots }) => ({ runs, robots }))(trundlePage.data.cloud)")
    assert f"robot {cloud['runs'][0]}:" in page.locator(".cloud p[role=status]").inner_text()
    before = page.evaluate("trundlePage.motion.values.x.at(-1)")
    bare = next(robot for robot in cloud["robots"] if robot not in cloud["runs"])
    page.evaluate("k => trundlePage.cloud.choose(k)", cloud["robots"].index(bare))
    assert "a robot with a ring drives" in page.locator(".cloud p[role=status]").inner_text()
    assert page.evaluate("trundlePage.motion.values.x.at(-1)") == before


@pytest.mark.slow
def test_robots_under_inputs_over_time_have_whole_runs(opened):
    stepped = {"left_motor.voltage": np.linspace(0, 24, 500)[:, None], "right_motor.voltage": 12.0}
    found = trundle.sweep(
        trundle.catalog.differential_drive(), over={"r": "14 cm, 15 cm, 16 cm"}, measures=["final.x"],
        steps=500, inputs=stepped,
    )  # fmt: skip
    page = opened(page_of(found, progress=False))
    for robot in range(3):
        page.evaluate("k => trundlePage.cloud.choose(k)", robot)
        assert page.evaluate("trundlePage.motion.values.x.at(-1)") == pytest.approx(
            found["final.x"][robot], rel=1e-6
        )


def test_a_film_of_a_sweep_is_refused(tmp_path):
    robot, over = trundle.catalog.differential_drive(), {"r": "0.14, 0.15"}
    found = trundle.sweep(robot, over=over, measures=["final.x"], steps=10)
    with pytest.raises(trundle.InputError, match="a film shows one robot"):
        found.animate(tmp_path / "sweep.gif")


def test_a_sweep_in_which_no_robot_gets_anywhere_has_no_page(tmp_path):
    robot, over = trundle.catalog.differential_drive(), {"r": "0.14, 0.15"}
    stepped = {"left_motor.voltage": np.linspace(0, 24, 10)[:, None]}
    found = trundle.sweep(robot, over=over, measures=["first(x > 99)"], steps=10, inputs=stepped)
    with pytest.raises(trundle.InputError, match="no robot has numbers for all measures"):
        found.animate(tmp_path / "sweep.html")
    assert not list(tmp_path.iterdir())
