"""`--base`, and that the commands say of a robot that nothing holds it."""

import pytest

from falling_arm import ARM, FALLS
from trundle import catalog, derive, simulate
from trundle.cli.app import COMMANDS, build_parser
from trundle.documents import dump


@pytest.fixture
def arm(folder):
    (folder / "arm.urdf").write_text(ARM)
    return "arm.urdf"


@pytest.mark.slow
def test_an_arm_falls_and_that_is_said(arm, trundle):
    told = trundle("run", arm, "--duration", "1", "--no-figures")
    assert told.status == 0
    assert told.out.count(FALLS) == 1
    assert "--base fixed" in told.out
    data = trundle("run", arm, "--duration", "1", "--no-figures", "--json").data
    assert data["final"]["z"] == pytest.approx(-9.81 / 2)
    assert [FALLS in note for note in data["notes"]].count(True) == 1
    assert FALLS in " ".join(trundle("check", arm).out.split())  # lines are wrapped to the terminal
    assert FALLS in trundle("show", arm, "--page", "--output", "page.html").out


def test_an_arm_that_is_held(arm, trundle):
    answer = trundle("run", arm, "--base", "fixed", "--duration", "1", "--no-figures", "--json")
    assert list(answer.data["final"]) == ["shoulder.angle", "shoulder.rate"]
    assert not any("falls" in note for note in answer.data["notes"])
    assert "falls" not in trundle("check", arm, "--base", "fixed").out
    assert "falls" not in trundle("check", "-", "--base", "fixed", stdin=dump(derive(arm).robot)).out


def test_all_commands_that_read_a_description_take_a_base():
    chosen = next(action.choices for action in build_parser()._actions if isinstance(action.choices, dict))
    reading = {
        name: parser
        for name, parser in chosen.items()
        if {"file", "things"} & {action.dest for action in parser._actions if not action.option_strings}
    }
    assert {"run", "check", "equations", "export", "show", "inverse"} <= {*reading} <= {*COMMANDS}
    for name in {*reading} - {"new", "scale"}:  # what these take is no description
        assert "--base" in reading[name].format_help(), name


def test_bases_that_can_not_be(arm, trundle, folder):
    told = trundle("run", "circle.yaml", "--base", "fixed")
    assert told.status == 1
    assert "--base: a fixed base was asked for, and wheels roll on a planar one" in told.err
    simulate(catalog.pendulum(), 0.1, samples=3).save(folder / "run.nc")
    assert trundle("show", "run.nc", "--base", "fixed").status == 2
