"""`trundle lqr`: what it prints, for people and for programs, and what it refuses."""

import json

import numpy as np
import pytest

import trundle
from trundle.cli.app import main

CIRCLE = "examples/diff_drive/circle.yaml"
TOLERANCES = ["v_x=5 cm/s", "omega=5 deg/s", "left_motor.voltage=6 V", "right_motor.voltage=6 V"]


@pytest.mark.parametrize("period", [None, "10 ms"])
def test_json_holds_gains_by_name(capsys, period):
    words = ["lqr", CIRCLE, "--at", "v_x=1", "omega=0", "--tolerances", *TOLERANCES, "--json"]
    assert main([*words, *(["--period", period] if period else [])]) == 0
    answer = json.loads(capsys.readouterr().out)
    tolerances = dict(word.split("=") for word in TOLERANCES)
    wanted = trundle.derive(CIRCLE).lqr({"v_x": 1, "omega": 0}, tolerances, period=period)
    assert answer["states"] == list(wanted.about.states)
    np.testing.assert_allclose(list(answer["gains"].values()), wanted.K, rtol=1e-12)
    assert answer["margins"].keys() == answer["gains"].keys() == {"left_motor.voltage", "right_motor.voltage"}
    assert answer["not_moved"]


def test_people_read_gains_poles_margins_and_what_stays(capsys):
    assert main(["lqr", CIRCLE, "--at", "v_x=1", "--at", "omega=0", "--tolerances", *TOLERANCES]) == 0
    said = capsys.readouterr().out
    for words in ("acting at every instant", "poles of the loop", "disk", "phase, deg", "inputs control"):
        assert words in said


@pytest.mark.parametrize("period", [None, "50 ms"])
def test_poles_are_drawn(capsys, tmp_path, period):
    file = tmp_path / "poles.png"
    words = ["lqr", CIRCLE, "--at", "v_x=1", "--tolerances", *TOLERANCES, "--figure", str(file), "--json"]
    assert main([*words, *(["--period", period] if period else [])]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["figure"] == str(file)
    assert file.stat().st_size > 10_000
    design = trundle.derive(CIRCLE).lqr(
        {"v_x": 1}, dict(word.split("=") for word in TOLERANCES), period=period
    )
    before, after, *_ = trundle.pole_figure(design).axes[0].lines[-2:]
    assert len(before.get_xdata()) == len(after.get_xdata()) == 4
    np.testing.assert_allclose(after.get_xdata(), design.poles.real)
    file.write_text("mine", encoding="utf-8")
    assert main(words) == 1
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tolerances", "v_z=1"], "--tolerances v_z: there is no state or input 'v_z'"),
        (["--tolerances", "v_x=1"], "--tolerances: no tolerance for"),
        (["--at", "v_x"], "expected NAME=VALUE"),
        (["--tolerances", *TOLERANCES, "--period", "0"], "--period"),
    ],
)
def test_what_does_not_fit_names_the_option(capsys, words, said):
    assert main(["lqr", CIRCLE, *words]) in (1, 2)
    assert said in capsys.readouterr().err
