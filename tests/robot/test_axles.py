"""Axles that files round: the robots are those of exact axles, and what is no rounding stays.

The laws are independent of how axles are found: lateral rows of an axle's wheels have rank 1, and robots in the forms
of published files move, count and command as their twins with exact axles do.
"""

from __future__ import annotations

import functools
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from robot.same import same_mechanics
from trundle.documents import dump, dump_urdf, parse, parse_urdf
from trundle.languages import NUMPY, source
from trundle.model.classification import mobility_class
from trundle.motion.odometry.odometry import derive_odometry

TRACK = 0.5
QUARTER = "-1.5707963267948966 0 0"
EXACT = (0.0, "0 0 0", "0 1 0")
# How far ahead a wheel's joint is (m), its rpy and its axis, of the left wheel and of the right one.
FORMS = {
    "a yaw of 1.57": ((0, "0 0 1.57", "1 0 0"), (0, "0 0 1.57", "1 0 0")),
    "1.5708 0 3.1416": ((0, QUARTER, "0 0 1"), (0, "1.5708 0 3.1416", "0 0 1")),
    "1.57 0 3.14": ((0, "-1.57 0 0", "0 0 1"), (0, "1.57 0 3.14", "0 0 1")),
    "axis 0.00012 1 0": (EXACT, (0, "0 0 0", "0.00012 1 0")),
    "0.1 mm": ((1e-4, "0 0 0", "0 1 0"), EXACT),
    "10 um": (EXACT, (1e-5, "0 0 0", "0 1 0")),
    "turned round": (EXACT, (0, "0 0 3.14159", "0 -1 0")),
    "CAD": ((3.1e-5, "-1.5708 1.2e-16 0", "0 0 1"), (-1.2e-5, "1.5708 0 0", "0 0 -1")),
    "a yaw of 0.0012": ((0, "0 0 0.0012", "0 1 0"), (0, "0 0 -0.0007", "0 1 0")),
    "1e-9": (EXACT, (1e-9, "0 0 1e-9", "0 1 0")),
}
# Degrees of mobility and steerability, and what drives, by robot. (The class takes wheels that slip for ideal ones.)
KINDS = {
    "differential": ((2, 0), {"left_m.rate": 6.0, "right_m.rate": 4.0}),
    "car": ((1, 1), {"left_m.rate": 5.0, "link_m.angle": 0.3}),
    "tricycle": ((1, 1), {"left_m.rate": 5.0, "front_m.angle": 0.3}),
    "six": ((1, 0), {"left_m.rate": 6.0, "right_m.rate": 4.0}),
    "all ideal": ((2, 0), {"left_m.rate": 6.0, "right_m.rate": 4.0}),
}
CASES = [(kind, form) for kind in KINDS for form in FORMS]
QUICK = [*((kind, "CAD") for kind in KINDS), ("differential", "1.57 0 3.14")]


def joint(name: str, parent: str, at: str, rpy: str = "0 0 0", axis: str = "") -> str:
    kind, turns = ("continuous", f'<axis xyz="{axis}"/>') if axis else ("fixed", "")
    return (
        f'<link name="{name}"><inertial><mass value="0.5"/><inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" '
        f'ixz="0" iyz="0"/></inertial></link><joint name="{name}_joint" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{name}"/><origin xyz="{at}" rpy="{rpy}"/>{turns}</joint>'
    )


def text_of(kind: str, form) -> str:
    """URDF of a robot whose left and right wheels have a form."""
    joints, nouns = [], []

    def wheel(name: str, at: str, rpy: str = "0 0 0", axis: str = "0 1 0", parent="base_link", more=""):
        joints.append(joint(name, parent, at, rpy, axis))
        nouns.append(f'<wheel name="{name}" joint="{name}_joint" radius="0.1" {more}/>')

    def steered(name: str, x: float, y: float):
        joints.append(joint(f"{name}_knuckle", "base_link", f"{x} {y} 0.1", axis="0 0 1"))
        wheel(name, "0 0 0", parent=f"{name}_knuckle")

    for name, y, (ahead, rpy, axis) in zip(("left", "right"), (TRACK / 2, -TRACK / 2), form, strict=True):
        wheel(name, f"{ahead!r} {y} 0.1", rpy, axis)
    driven = ["left"] if kind in ("car", "tricycle") else ["left", "right"]
    nouns += [f'<motor name="{name}_m" type="velocity" drives="{name}" gain="20"/>' for name in driven]
    servo = 'type="servo" stiffness="50" damping="8"'
    if kind == "differential":
        joints.append(joint("ball", "base_link", "-0.2 0 0.05"))
        nouns.append('<wheel name="ball" type="ball" joint="ball_joint" radius="0.05"/>')
    elif kind == "car":
        steered("fl", 0.8, TRACK / 2)
        steered("fr", 0.8, -TRACK / 2)
        nouns.append('<coupling name="link" type="ackermann" wheels="[fl, fr]"/>')
        nouns.append(f'<motor name="link_m" {servo} drives="link"/>')
    elif kind == "tricycle":
        steered("front", 0.7, 0.0)
        nouns.append(f'<motor name="front_m" {servo} drives="front.steering"/>')
    elif kind == "six":
        for name, x, y in (("fl", 0.5, 0.25), ("fr", 0.5, -0.25), ("rl", -0.5, 0.25), ("rr", -0.5, -0.25)):
            wheel(name, f"{x} {y} 0.1", more='contact="slip" load="20"')
    else:
        nouns.append('<wheel name="middle" parent="base" at="[0, 0.1, 0.1]" radius="0.1"/>')
    return (
        '<robot name="r"><link name="base_link"><inertial><mass value="10"/><inertia ixx="0.3" iyy="0.4" izz="0.6" '
        f'ixy="0" ixz="0" iyz="0"/></inertial></link>{"".join(joints)}<trundle>{"".join(nouns)}</trundle></robot>'
    )


def made(kind: str, form) -> trundle.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse_urdf(text_of(kind, form))


@functools.cache
def motion(kind: str, form) -> tuple[trundle.Robot, trundle.Model, trundle.Run]:
    """A robot, its model, and a run of it."""
    robot = made(kind, form)
    model = trundle.derive(robot)
    return robot, model, trundle.simulate(model, 1.0, KINDS[kind][1], samples=11, rtol=1e-12, atol=1e-12)


def exact_form(robot: trundle.Robot):
    """The form of exact wheels that stand where a robot's do."""
    ahead = [robot.number(robot.wheels[name].at[0]) for name in ("left", "right")]
    return tuple((x, *EXACT[1:]) for x in ahead)


@pytest.mark.parametrize(("kind", "form"), mostly_slow(CASES, QUICK))
def test_a_rounded_axle_is_its_exact_twin(kind: str, form: str, rng):
    robot, model, run = motion(kind, FORMS[form])
    twin, other, exact = motion(kind, exact_form(robot))
    moves = mobility_class(robot)
    assert (moves.mobility, moves.steerability) == KINDS[kind][0]
    assert mobility_class(twin) == moves
    assert model.speeds == other.speeds
    for (
        name
    ) in model.states:  # what forces they have is compared below: a motor's gain multiplies steps' rounding
        np.testing.assert_allclose(run[name], exact[name], rtol=1e-9, atol=1e-9, err_msg=name)
    assert abs(run.final["theta"]) > 0.1
    # The drive, the counts of the odometry, and exported functions.
    twist = [0.7, 0.0, 0.4]
    for a, b in zip(
        trundle.kinematics(robot).drive.pointed(twist),
        trundle.kinematics(twin).drive.pointed(twist),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-9)
    counted = [derive_odometry(each) for each in (robot, twin)]
    moved = rng.uniform(-0.1, 0.1, len(counted[0].increments))
    turned = rng.uniform(-0.5, 0.5, len(counted[0].angles))
    steps = [each.update([0.1, 0.2, 0.3], moved, turned) for each in counted]
    np.testing.assert_allclose(steps[0], steps[1], atol=1e-9)
    x, u = rng.uniform(-0.5, 0.5, len(model.states)), rng.uniform(-1, 1, len(model.inputs))
    found = []
    for each in (model, other):
        functions: dict[str, object] = {}
        exec(source({"dynamics": each.dynamics, "observe": each.observe}, NUMPY), functions)
        given = x, u, np.array(list(each.parameters.values()))
        found.append(np.concatenate([functions[name](*given) for name in ("dynamics", "observe")]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


def drive(left=None, right=None, **more) -> dict[str, object]:
    """Plain data of a differential drive whose wheels have these keys beside their own."""
    wheels = {
        "left": {"at": [0, TRACK / 2, 0], "radius": 0.1} | (left or {}),
        "right": {"at": [0, -TRACK / 2, 0], "radius": 0.1} | (right or {}),
    }
    body = {"mass": 5, "inertia": {"zz": 1}}
    return {"name": "base", "base": "planar", "body": body, "wheels": wheels | more.pop("wheels", {}), **more}


def quietly(robot: dict[str, object]) -> trundle.Robot:
    """A robot of which nothing is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return trundle.load({"robot": robot})


def noted(robot: dict[str, object], match: str) -> trundle.Robot:
    """A robot of which one thing is said."""
    with pytest.warns(UserWarning, match=match) as said:
        made = trundle.load({"robot": robot})
    assert len(said) == 1, [str(each.message) for each in said]
    return made


def wheels_of(robot: trundle.Robot) -> dict[str, tuple[float, float, float]]:
    """x, y (m) and heading (rad) of the wheels."""
    return {
        name: (robot.number(wheel.at[0]), robot.number(wheel.at[1]), robot.number(wheel.heading))
        for name, wheel in robot.rolling.items()
    }


@pytest.mark.parametrize(
    ("right", "note", "x", "heading"),
    [
        ({"at": ["10 um", -0.25, 0]}, "right moved by 0.01 mm", 0.0, 0.0),
        ({"heading": 3.1416}, "right turned by -0.00042°", 0.0, math.pi),
        ({"heading": "-179.6 deg", "at": ["-2 mm", -0.25, 0]}, "right turned by -0.4° and moved by 2 mm", 0, -math.pi),
        ({"heading": "0.9 deg"}, "left turned by 0.45° and moved by 2 mm, right", None, math.radians(0.45)),
    ],
)  # fmt: skip
def test_what_was_made_of_wheels_is_said(
    right: dict[str, object], note: str, x: float | None, heading: float
):
    robot = noted(drive(right=right), f"^base: left and right stand on one axle but for rounding: .*{note}")
    if x is not None:
        assert robot.number(robot.wheels["right"].at[0]) == x
    assert robot.number(robot.wheels["right"].heading) == pytest.approx(heading, abs=1e-15)
    assert mobility_class(robot).mobility == 2
    twin = quietly(drive(**{n: {"at": [x, y, 0], "heading": h} for n, (x, y, h) in wheels_of(robot).items()}))
    assert same_mechanics(robot, twin)
    with pytest.warns(UserWarning, match="but for rounding"):
        assert trundle.Robot(**drive(right=right)) == robot


def test_random_axles_become_one_line(rng):
    """Wheels of one axle part by less than the tolerance: then lateral rows have rank 1, places across stay."""
    for _ in range(30):
        angle = rng.uniform(-math.pi, math.pi)
        along, across = (
            np.array([math.cos(angle), math.sin(angle)]),
            np.array([-math.sin(angle), math.cos(angle)]),
        )
        centre, places = rng.uniform(-1, 1, 2), np.array([-0.4, 0.38, 0.5])
        wheels = {}
        for k, y in enumerate(places):
            # w1 is up to 0.78 m * 0.008 + 2 * 0.7 mm = 7.64 mm off w0's line, within 1 % of 0.78 m.
            x, y = centre + y * across + rng.uniform(-0.0007, 0.0007) * along
            heading = math.remainder(angle + math.pi * (k % 2) + rng.uniform(-0.008, 0.008), 2 * math.pi)
            wheels[f"w{k}"] = {"at": [x, y, 0.1], "radius": 0.1, "heading": heading}
        robot = noted(
            {"name": "base", "wheels": wheels, "body": {"mass": 1, "inertia": {"zz": 1}}}, "on one axle"
        )
        rows = [
            (-math.sin(h), math.cos(h), x * math.cos(h) + y * math.sin(h))
            for x, y, h in wheels_of(robot).values()
        ]
        assert np.linalg.svd(rows, compute_uv=False)[1] < 1e-12
        for name, (x, y, heading) in wheels_of(robot).items():
            x0, y0, _ = wheels[name]["at"]
            turned = heading - wheels[name]["heading"]
            assert abs(turned) < math.radians(1.0)
            # moved along its heading alone
            assert abs((y - y0) * math.cos(heading) - (x - x0) * math.sin(heading)) < 1e-15
            assert math.hypot(x - x0, y - y0) < 0.01


TOED = {"left": {"heading": "1 deg"}, "right": {"heading": "-1 deg"}}
STEP = {"right": {"at": [0.02 * TRACK, -TRACK / 2, 0]}}


@pytest.mark.parametrize(
    ("robot", "mobility"),
    [
        (drive(**TOED), 1),
        (drive(**STEP), 1),
        (drive(wheels={"third": {"at": [0.4, 0.25, 0], "radius": 0.1}}), 1),  # a tandem axle of one wheel
        (
            {
                **drive(),
                "wheels": {n: {"at": [x, 0, 0], "radius": 0.1} for n, x in (("a", 0.5), ("b", -0.5))},
            },
            1,
        ),
        (
            drive(
                left={"heading": 0.001, "contact": "slip", "mass": 1}, right={"contact": "slip", "mass": 1}
            ),
            1,
        ),
    ],
    ids=["toe", "step", "tandem", "bicycle", "slipping"],
)
def test_what_is_no_rounding_stays(robot: dict[str, object], mobility: int):
    made = quietly(robot)
    assert mobility_class(made).mobility == mobility
    written = {name: wheel["at"][0] for name, wheel in robot["wheels"].items()}
    assert {name: x for name, (x, _, _) in wheels_of(made).items()} == written
    assert all(made.number(wheel.heading) == wheel.heading.number for wheel in made.rolling.values())


@pytest.mark.parametrize("name", ["mecanum", "skid_steer", "three_omni", "swerve"])
def test_robots_without_axles_have_none(name: str):
    assert all(axle.apart is not None for axle in trundle.catalog.robot(name).axles)


def test_an_axle_just_beyond_is_named_with_its_angle():
    robot = noted(
        drive(right={"heading": "1.2 deg"}),
        r"left and right are not one axle: 1\.2° between their directions",
    )
    assert wheels_of(robot)["right"][2] == pytest.approx(math.radians(1.2))
    robot = noted(
        drive(right={"at": ["6 mm", -0.25, 0]}),
        r"not one axle: 0° .*, 6 mm off one line; rounding is up to 1° and 1 % of their distance",
    )
    assert wheels_of(robot)["right"][0] == 0.006


def test_strict_readers_refuse_it_with_its_line(tmp_path: Path):
    right = {"heading": 3.1416}
    with pytest.raises(
        trundle.InputError, match=r"robot\.wheels\.right: left and right stand on one axle but for rounding"
    ):
        trundle.load({"robot": drive(right=right)}, strict=True)
    trundle.load({"robot": drive(right={"heading": "180 deg"})}, strict=True)
    text = dump(trundle.catalog.differential_drive()).replace("at: [0, track/2, 0]", "at: [1 um, track/2, 0]")
    with pytest.raises(trundle.InputError, match=r"^line \d+: robot\.wheels"):
        parse(text, strict=True)
    file = tmp_path / "r.urdf"
    file.write_text(text_of("car", FORMS["CAD"]), encoding="utf-8")
    with pytest.raises(
        trundle.InputError, match="r.urdf:1: .*left moved by 0.031 mm, right moved by 0.012 mm"
    ):
        trundle.load(file, strict=True)


def test_what_is_written_is_what_the_user_gave(tmp_path: Path):
    robot = noted(
        drive(right={"at": ["lead", -0.25, 0], "heading": 3.1416}, parameters={"lead": "10 um"}), "moved"
    )
    text = dump(robot)
    assert "lead: 10 um" in text
    assert "at: [lead, -0.25, 0" in text
    assert "heading: 3.1416" in text
    with pytest.warns(UserWarning, match="but for rounding"):
        again = parse(text).robot
    assert again == robot
    assert again.parameter_values() == robot.parameter_values()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what was said once
        assert pickle.loads(pickle.dumps(robot)).parameter_values() == robot.parameter_values()
    cad = made("car", FORMS["CAD"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "3.1e-05 0.25 0.1" in dump_urdf(cad)
    model = trundle.derive(robot)
    with pytest.warns(UserWarning, match="but for rounding"):
        assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize("off", [0.0, "20 um"])
def test_parameters_that_part_an_axle_by_rounding_keep_it(off: float | str, recwarn):
    robot = trundle.load({"robot": drive(right={"at": ["lead", -0.25, 0]}, parameters={"lead": off})})
    model = trundle.derive(robot)
    recwarn.clear()
    for name in ("lead", "wheels.right.at.x"):
        assert model.parameter_values({name: "1 mm"})["wheels.right.at.x"] == 0.0
    said = [str(each.message) for each in recwarn]
    assert said == (
        ["base: left and right are kept on one axle where parameters part them by rounding"]
        if off == 0.0
        else []
    )
    # beyond it the wheel is as it is given
    assert robot.parameter_values({"lead": "1 cm"})["wheels.right.at.x"] == 0.01
    with pytest.raises(trundle.InputError, match="no longer those it was derived with"):
        model.parameter_values({"lead": "1 cm"})
    # so it is robot by robot
    offs = np.array([0.0, 1e-4, -2e-3, 5e-3])
    batch = trundle.rollout(
        model, parameters={"lead": offs}, initial={"v_x": 1.0, "omega": 0.5}, steps=50, dt=0.01
    )
    one = trundle.rollout(model, initial={"v_x": 1.0, "omega": 0.5}, steps=50, dt=0.01)
    for state in ("x", "y", "theta"):
        np.testing.assert_array_equal(batch[state][-1], np.full(4, one[state][-1, 0]))
    with pytest.raises(
        trundle.InputError, match="'wheels.right.at.x' follows from 'lead' and is kept on its axle"
    ):
        trundle.simulate(model, 0.1, gradients=["lead"])


def test_an_axle_that_formulas_keep_is_no_parameter():
    wheels = {n: {"at": ["-span/2", f"{s}*track/2", 0]} for n, s in (("left", 1), ("right", -1))}
    robot = quietly(drive(**wheels, parameters={"span": 0.6, "track": 0.5}))
    assert not {key for key in robot.parameter_values() if key.endswith(("at.x", "heading"))}
    assert robot.parameter_values({"span": 0.8})["span"] == 0.8
    assert wheels_of(robot.with_parameters({"span": 0.8}))["left"][0] == -0.4


def test_a_toe_by_a_parameter(recwarn):
    wheels = {n: {"heading": f"{s}*toe"} for n, s in (("left", 1), ("right", -1))}
    robot = quietly(drive(**wheels, parameters={"toe": 0.0}))
    values = robot.parameter_values({"toe": "0.3 deg"})
    assert values["wheels.left.heading"] == values["wheels.right.heading"] == 0.0
    values = robot.parameter_values({"toe": "1 deg"})
    toes = [values[f"wheels.{name}.heading"] for name in ("left", "right")]
    assert toes == pytest.approx([math.radians(1), -math.radians(1)])


def test_an_axle_behind_a_hinge_is_one_too():
    hitch = {
        "type": "revolute",
        "axis": [0, 0, 1],
        "at": [-0.5, 0, 0],
        "rpy": [0, 0, 1e-4],
        "body": {"mass": 2, "inertia": {"zz": 1}},
    }
    axle = {
        f"t{k}": {"parent": "hitch", "at": [-0.3 + 1e-4 * k, y, 0], "radius": 0.1}
        for k, y in enumerate((0.25, -0.25))
    }
    robot = noted(drive(wheels=axle, joints={"hitch": hitch}), "t0 and t1 stand on one axle")
    assert trundle.derive(robot).freedoms == 2  # the hitch follows
    assert not [
        axle
        for axle in robot.axles
        if {part.path[1] for part in axle.parts} & {"left"} and len(axle.parts) > 2
    ]


def test_wheels_of_a_linkage_stand_side_by_side_in_any_file():
    car = trundle.robot.component.plain(trundle.catalog.ackermann())
    left, right = car["couplings"]["steering"]["wheels"]
    x, *rest = car["wheels"][left]["at"]
    moved = {**car["wheels"], left: {**car["wheels"][left], "at": [f"{x} + 0.4 mm", *rest]}}
    robot = noted(
        {**car, "wheels": moved}, rf"{left} and {right} stand side by side .*{left} moved by 0.2 mm, {right}"
    )
    assert robot.number(robot.wheels[left].at[0]) == robot.number(robot.wheels[right].at[0])
    trundle.derive(robot)
    moved = {**car["wheels"], left: {**car["wheels"][left], "at": [f"{x} + 1.1 mm", *rest]}}
    with pytest.raises(trundle.InputError, match="the wheels are not side by side"):
        trundle.load({"robot": {**car, "wheels": moved}})


def test_calibrated_radii_tilt_a_base_that_is_taken_as_level(recwarn):
    robot = noted(
        drive({"radius": 0.1004}, {"radius": 0.0997}),
        r"differ by 0\.7 mm, a tilt of 0\.08°: it is taken as level",
    )
    assert robot.number(robot.wheels["left"].radius) == 0.1004
    run = trundle.roll(robot, 1.0, {"left.rate": 1.0, "right.rate": 1.0})
    assert run.final["theta"] == pytest.approx((0.0997 - 0.1004) / TRACK, rel=1e-9)
    even = quietly(drive())
    recwarn.clear()
    for radius in ("100.5 mm", "101 mm"):
        assert even.parameter_values({"wheels.left.radius": radius})["wheels.left.radius"] > 0.1
    assert ["a tilt of 0.057°" in str(each.message) for each in recwarn] == [True]
    for radius in (0.1026, 0.0974):
        with pytest.raises(trundle.InputError, match="stands off the ground"):
            even.parameter_values({"wheels.left.radius": radius})
