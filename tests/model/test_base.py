"""How a base moves, asked for beside a description; and that a base which nothing holds is said."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import trundle
from falling_arm import ARM, FALLS
from trundle import InputError
from trundle.documents import dump, dump_urdf, load, load_urdf, parse_urdf
from trundle.robot.component import plain

# What takes what leads to a robot, but needs wheels, which roll on a planar base: there is nothing to choose.
ON_WHEELS = {
    "plan", "plan_to_pose", "kinematics", "odometry", "motor_limits", "follow", "drive", "track", "fastest",
    "estimate", "measure", "reference",
}  # fmt: skip


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_an_arm_falls_and_that_is_said(arm):
    run = trundle.run(arm, duration=1)
    assert run.final["z"] == pytest.approx(-9.81 / 2)
    assert FALLS in repr(run)
    assert FALLS in run._repr_html_()
    assert FALLS in trundle.page.page_of(run)
    assert FALLS in trundle.derive(arm).notes[0]
    assert trundle.load(arm, base="fixed") == load_urdf(arm, base="fixed")
    assert "falls" not in repr(trundle.run(arm, duration=0.1, base="fixed"))


@pytest.mark.parametrize("text", ["gravity: 0", "gravity: [0, 0, 0]"])
def test_without_gravity_nothing_falls(text):
    key, _, value = text.partition(": ")
    data = {"name": "sat", "base": "floating", "body": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}
    robot = {**data, key: json.loads(value)}
    assert trundle.derive({"robot": robot}).notes == ()
    assert len(trundle.derive({"robot": data}).notes) == 1


def test_a_planar_base_slides_where_gravity_is_tilted():
    body = {"mass": 1, "inertia": {"zz": 1}}
    for gravity, count in ((9.81, 0), ([0, 0, -9.81], 0), ([2, 0, -9], 1)):
        model = trundle.derive({"robot": {"base": "planar", "body": body, "gravity": gravity}})
        assert len(model.notes) == count


def test_all_functions_that_take_a_robot_take_a_base():
    lacking = []
    for name in trundle.__all__:
        thing = getattr(trundle, name)
        if inspect.isfunction(thing) and name not in ON_WHEELS:
            taken = inspect.signature(thing).parameters
            if (
                any("Given" in str(parameter.annotation) for parameter in taken.values())
                and "base" not in taken
            ):
                lacking.append(name)
    assert lacking == []


def test_functions_hold_an_arm(arm):
    times = {"time": np.arange(6.0), "shoulder.angle": np.full(6, 0.5)}
    assert trundle.derive(arm, base="fixed").coordinates == ("shoulder.angle",)
    assert trundle.simulate(arm, 0.1, base="fixed").states == ("shoulder.angle", "shoulder.rate")
    assert trundle.run(arm, duration=0.1, base="fixed").states == ("shoulder.angle", "shoulder.rate")
    assert trundle.rollout(arm, steps=1, base="fixed").states == ("shoulder.angle", "shoulder.rate")
    assert trundle.ode(arm, base="fixed").x0.shape == (2,)
    assert len(trundle.linearize(arm, base="fixed").A) == 2
    assert trundle.trim(arm, base="fixed").state["shoulder.angle"] == pytest.approx(0)
    assert trundle.to_numpy(arm, base="fixed")([0.1, 0.0], []).shape == (2,)
    assert trundle.export(arm, "numpy", base="fixed").files
    assert "shoulder" in trundle.equations(arm, base="fixed").text()
    held = trundle.joint_loads(arm, times, base="fixed").wrench("shoulder").moment[2]
    assert held[1] == pytest.approx(-0.3 * 9.81 * np.sin(0.5))
    trundle.inverse(arm, times, base="fixed")
    trundle.symbolic_loads(arm, base="fixed")


def test_a_robot_and_a_document_on_another_base(arm):
    floating, document = trundle.load(arm), load(arm)
    for given in (floating, document, arm, {"robot": {"base": "floating", **_plain(floating)}}):
        assert trundle.derive(given, base="fixed").coordinates == ("shoulder.angle",)
    assert parse_urdf(dump_urdf(trundle.load(arm, base="fixed"))).base == "fixed"


def _plain(robot: trundle.Robot) -> dict[str, object]:
    return {key: value for key, value in plain(robot).items() if key not in ("base", "urdf")}


def test_bases_that_can_not_be(arm, tmp_path):
    cart, model = trundle.catalog.differential_drive(), trundle.derive(arm)
    path = tmp_path / "cart.yaml"
    path.write_text(dump(cart))
    for given in (cart, path):
        with pytest.raises(
            InputError, match="base: a fixed base was asked for, and wheels roll on a planar one"
        ):
            trundle.derive(given, base="fixed")
        assert trundle.derive(given, base="planar").coordinates == trundle.derive(cart).coordinates
    with pytest.raises(
        InputError, match="are those of a floating base, not of a fixed one\n.*derive them anew"
    ):
        trundle.simulate(model, 1.0, base="fixed")
    assert trundle.simulate(model, 0.1, base="floating").final["z"] < 0
    for given in (cart, path, arm):
        with pytest.raises(InputError, match="unknown base 'fixd'\n.*did you mean 'fixed'"):
            trundle.derive(given, base="fixd")
