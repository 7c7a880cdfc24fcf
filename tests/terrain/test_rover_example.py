"""The rover's example and the examples of docs/terrain.md and docs/terrain/ do what they say."""

import re
from pathlib import Path

import pytest

import trundle
from trundle.show.page.payload import run_data

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_rover_crosses_random_ground_and_stands_on_the_step():
    run = trundle.run(ROOT / "examples" / "rover" / "rocker_bogie.yaml")
    wheels = [f"{end}_{side}" for end in ("front", "middle", "rear") for side in ("left", "right")]
    for wheel in wheels:
        assert run[f"{wheel}.rubble.load"][0] > 0
        assert run[f"{wheel}.rubble.load"][-1] == 0
        assert run[f"{wheel}.step.load"][-1] == pytest.approx(62 * 9.81 / 6, rel=1e-3)
    assert abs(run["bogie_left.angle"]).max() > 0.1
    assert run.summary["balance_residual"] < 1e-9 * 62 * 9.81
    # Twelve contacts have many curves, and jump at the step: its page has them all the same.
    drawn = run_data([run])["run"]
    assert isinstance(drawn, dict)
    assert drawn["off"] < 2e-3


def example(name, about, result="run"):
    """What the example of a page of docs/ that is about something has made."""
    page = (ROOT / "docs" / name).read_text()
    (block,) = (each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if about in each)
    names = {}
    exec(compile(block, name, "exec"), names)
    return names[result]


@pytest.mark.slow
def test_the_page_s_rover_climbs_its_step():
    run = example("terrain.md", "rocker_bogie(")
    assert run["z"][-1] - run["z"][0] == pytest.approx(0.2, abs=1e-4)


@pytest.mark.slow
def test_the_page_s_base_follows_its_way_over_hills():
    run = example("terrain/paths.md", "mecanum(")
    assert abs(run["track.lateral"][-1]) < 0.02
    assert "lifted" not in run.summary


@pytest.mark.slow
def test_the_page_s_zoe_follows_its_way_over_rubble():
    run = example("terrain/paths.md", "zoe().without_controllers")
    assert abs(run["track.lateral"]).max() < 0.1
    assert run["x"][-1] == pytest.approx(10, abs=0.2)


@pytest.mark.slow
def test_the_page_s_rollout_drives_on_sixteen_grounds():
    batch = example("terrain/rollouts.md", "trundle.rollout", "batch")
    assert batch.final("x").shape == (16,)
    assert batch.summary["overturned"] == batch.summary["stuck"] == 0
    assert len({*batch.final("x")}) == 16
