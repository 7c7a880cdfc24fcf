"""Diagrams of robots: the side they are seen from, what is named and measured, and a page that holds all of it."""

import json
import xml.etree.ElementTree as ET
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trundle
from trundle.catalog import names, robot
from trundle.errors import InputError
from trundle.robot import parse_robot
from trundle.show.drawing.scene import SPATIAL, UPRIGHT, Anchor, depth, project
from trundle.show.drawing.scenes import scene
from trundle.show.figures.diagram import diagram, diagram_svg

EXAMPLES = Path(__file__).parents[2] / "examples"
BODY = {"mass": 1.0, "center_of_mass": [0.1, 0, 0.05]}
ROUND = {"mass": 10.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}


def joint(kind, parent="base", at=(0.3, 0.0, 0.1), **more):
    return {"type": kind, "parent": parent, "at": list(at), "body": BODY, **more}


KINDS: Any = {
    "name": "kinds",
    "joints": {
        "slide": joint("prismatic", axis=[1, 0, 0]),
        "twist": joint("screw", "slide", pitch=0.01),
        "tube": joint("cylindrical", "twist", axis=[0, 1, 0]),
        "cross": joint("universal", "tube"),
        "ball": joint("spherical", "cross"),
        "weld": joint("fixed", "ball"),
        "hinge": joint("revolute", "weld", axis=[1, 0, 1]),
        "sheet": joint("planar", "hinge"),
        "free": joint("floating", "sheet"),
    },
}
QUADRUPED: Any = {
    "name": "quadruped",
    "base": "floating",
    "body": ROUND,
    "joints": {
        f"{leg}_{part}": joint("revolute", parent if parent == "base" else f"{leg}_{parent}", at, axis=axis)
        for leg, x, y in (("fl", 0.3, 0.2), ("fr", 0.3, -0.2), ("rl", -0.3, 0.2), ("rr", -0.3, -0.2))
        for part, parent, at, axis in (
            ("hip", "base", (x, y, 0), [1, 0, 0]),
            ("thigh", "hip", (0, 0.1 * np.sign(y), 0), [0, 1, 0]),
            ("knee", "thigh", (0, 0, -0.25), [0, 1, 0]),
        )
    },
}
MANIPULATOR: Any = {
    "name": "manipulator",
    "body": ROUND,
    "wheels": {
        "left": {"at": [0, 0.3, 0], "radius": 0.1, "width": 0.05},
        "right": {"at": [0, -0.3, 0], "radius": 0.1, "width": 0.05},
        "rear": {"type": "ball", "at": [-0.3, 0, -0.07], "radius": 0.03},
    },
    "joints": {"shoulder": joint("revolute"), "elbow": joint("revolute", "shoulder")},
}
PARALLELOGRAM: Any = {
    "name": "parallelogram",
    "joints": {
        "crank": joint("revolute", axis=[0, 1, 0]),
        "coupler": joint("revolute", "crank", axis=[0, 1, 0]),
        "rocker": joint("revolute", axis=[0, 1, 0], at=(0.8, 0, 0.1)),
    },
    "loops": {
        "pin": {
            "type": "revolute",
            "axis": [0, 1, 0],
            "first": {"body": "coupler", "at": [0.5, 0, 0]},
            "second": {"body": "rocker", "at": [0.3, 0, 0.1]},
        }
    },
}
ROBOTS: dict[str, Any] = {
    **{name: (lambda name=name: robot(name)) for name in names()},
    "two modules": lambda: robot("swerve", modules=2),
    "thirty links": lambda: robot("pendulum", links=30),
    "urdf": lambda: trundle.load(EXAMPLES / "urdf" / "arm.urdf"),
    "huge": lambda: trundle.load(EXAMPLES / "kinematic" / "two_wheels.yaml"),
    "kinds": lambda: parse_robot(KINDS),
    "quadruped": lambda: parse_robot(QUADRUPED),
    "manipulator": lambda: parse_robot(MANIPULATOR),
    "parallelogram": lambda: parse_robot(PARALLELOGRAM),
    "a body alone": lambda: parse_robot({"name": "a", "base": "floating", "body": ROUND}),
    "no masses": lambda: parse_robot({"name": "a", "joints": {"b": {"type": "revolute"}}}),
}


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_page_holds_everything_and_is_no_larger_than_a_notebook(name):
    figure = diagram(ROBOTS[name]())
    width, height = figure.get_size_inches()
    assert 0.5 < width < 8
    assert 0.5 < height < 8
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width + 1e-6
    assert box.y1 <= height + 1e-6
    axes = figure.axes[0]
    across, up = np.ptp(axes.get_xlim()) / width, np.ptp(axes.get_ylim()) / height
    assert across == pytest.approx(up), "a metre is as long in both directions"


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.slow
def test_the_svg_is_well_formed_and_the_same_each_time(name):
    made = ROBOTS[name]()
    svg = diagram_svg(made)
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert svg == diagram_svg(made)
    assert len(svg) < 400_000


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "thirty links"])
def test_every_wheel_and_joint_is_named(name):
    made = ROBOTS[name]()
    shown = ", ".join(texts(diagram(made)))
    together = ", …" in shown  # many joints in one place: the first are named
    assert [wheel for wheel in made.wheels if wheel not in shown] == []
    assert together or [each for each in (*made.joints, *made.loops) if each not in shown] == []


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("swerve", "z"),
        ("manipulator", "z"),
        ("pendulum", "y"),
        ("urdf", "y"),
        ("quadruped", "y"),
        ("parallelogram", "y"),
    ],
)
def test_seen_from_where_the_joints_turn(name, normal):
    assert scene(ROBOTS[name]()).view == normal


def test_joints_that_only_slide_are_seen_square_to_where_they_reach():
    axis = [0, 1, 0]
    chain = {
        "a": joint("prismatic", at=(0, 0, 0), axis=axis),
        "b": joint("prismatic", "a", (0, 0.5, 0.2), axis=axis),
    }
    assert scene(parse_robot({"name": "slides", "joints": chain})).view == "x"


def test_measures():
    assert {"track 0.8 m"} == {t for t in texts(diagram(robot("differential_drive", track=0.8))) if " m" in t}
    car = texts(diagram(robot("ackermann", track=0.7, wheelbase=1.1)))
    assert {"track 0.7 m", "wheelbase 1.1 m"} <= set(car)
    around = [t for t in texts(diagram(robot("three_omni", spread=0.25))) if t.endswith(" m")]
    assert around == ["0.1 m"], "wheels that aren't parallel have no track: a scale stands for it"


def test_the_skeleton_of_an_arm():
    shape = scene(parse_robot(PARALLELOGRAM))
    at = {mark.name: shape.place(Anchor(mark.frame))[0] for mark in shape.joints}
    np.testing.assert_allclose(at["coupler"], [0.6, 0, 0.2])
    assert [mark.name for mark in shape.joints if mark.on_base] == ["crank", "rocker"]
    (loop,) = shape.loops
    assert (loop.name, loop.symbol) == ("pin", "hinge")
    np.testing.assert_allclose(shape.places((loop.first, loop.second))[0], [[1.1, 0, 0.2]] * 2, atol=1e-9)
    ends = {tuple(np.round(shape.place(bar.end)[0], 9)) for bar in shape.bars}
    assert {(0.6, 0.0, 0.2), (1.1, 0.0, 0.2)} == ends, "a body that carries something has its bars to that"
    assert len(shape.centers) == 3


def test_loops_are_drawn_closed():
    shape = scene(robot("four_bar", crank=0.3, coupler=0.9, rocker=0.7, ground=1.0))
    at = {mark.name: shape.place(Anchor(mark.frame))[0] for mark in shape.joints}
    (pin,) = shape.loops
    first, second = shape.places((pin.first, pin.second))[0]
    np.testing.assert_allclose(first, second, atol=1e-9)
    lengths = {"a": at["coupler"], "b": first - at["coupler"], "c": first - at["rocker"]}
    assert {name: np.linalg.norm(bar) for name, bar in lengths.items()} == pytest.approx(
        {"a": 0.3, "b": 0.9, "c": 0.7}
    )


def test_loops_that_can_not_be_closed_are_drawn_open():
    shape = scene(robot("four_bar", ground=10.0))
    (pin,) = shape.loops
    assert np.linalg.norm(shape.place(pin.first) - shape.place(pin.second)) > 7


def test_bars_lie_under_the_wheels_of_a_base_that_moves():
    shape = scene(parse_robot(MANIPULATOR))
    assert [wheel.name for wheel in shape.wheels] == ["left", "right", "rear"]
    assert len(shape.mounts) == 1
    assert not scene(robot("pendulum")).mounts


def test_figures_show_themselves_in_notebooks():
    picture: Any = diagram(robot("mecanum"))
    data, size = picture._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert size["width"] / size["height"] == pytest.approx(np.divide(*picture.get_size_inches()), rel=0.02)


def test_figures_say_how_they_are_seen_elsewhere():
    with pytest.raises(InputError, match="opens no window") as told:
        diagram(robot("mecanum")).show()
    assert "savefig" in str(told.value.hint)


@pytest.mark.parametrize("name", ROBOTS)
def test_scenes_are_plain_data(name):
    """As a page's script would get them, and in front of every viewer nothing is lost: a metre stays one."""
    shape = scene(ROBOTS[name]())
    assert json.loads(json.dumps(asdict(shape), default=np.ndarray.tolist))["base"] == shape.base
    for view in ("x", "y", "z", SPATIAL, UPRIGHT):
        axes = project(np.eye(3), view)
        assert axes.T @ axes == pytest.approx(np.eye(2), abs=1e-12)
        assert depth(np.eye(3), view) @ axes == pytest.approx([0, 0], abs=1e-12)
