"""Wheels on the joints of a URDF: the same robots in YAML, the file's own joints as a second formulation."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import trundle
from documents.wheeled_urdf import EXAMPLES, QUARTER, WHEELED, beside, joint, link, own_words, random_wheeled
from documents.wheeled_urdf import robot as robot_text
from robot.same import same_mechanics
from trundle.cli import main
from trundle.documents import dump, dump_urdf, parse, parse_urdf, urdf_extras
from trundle.robot.component import plain
from trundle.simulation.beyond_limits import passed

# Files in published form and the YAML beside them hold the same numbers; sums of masses differ in their order.
ROUNDING = 1e-12


def _difference(ours, theirs) -> float:
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1e-3))


@pytest.mark.parametrize("name", WHEELED)
@pytest.mark.slow
def test_dynamics_are_those_of_the_same_robot_in_yaml(name: str, tmp_path: Path, rng: np.random.Generator):
    ours = trundle.derive(beside(tmp_path, name))
    theirs = trundle.derive(parse(own_words(name)))
    assert (ours.states, ours.inputs) == (theirs.states, theirs.inputs)
    for _ in range(20):
        state = rng.normal(size=len(ours.states)) * 0.5
        inputs = rng.normal(size=len(ours.inputs))
        assert _difference(ours.rhs(state, inputs), theirs.rhs(state, inputs)) < ROUNDING


@pytest.mark.parametrize("name", WHEELED)
def test_kinematics_are_those_of_the_same_robot_in_yaml(name: str, tmp_path: Path):
    ours = trundle.kinematics(beside(tmp_path, name))
    theirs = trundle.kinematics(parse(own_words(name)).robot)
    assert ours.names == theirs.names
    assert _difference(ours.matrix, theirs.matrix) < ROUNDING


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_wheels_move_as_the_joints_of_the_file_do(rng: np.random.Generator, count: int):
    """Wheels that nothing touches are the file's own bodies: its joints' tree has the same M and the same bias."""
    for _ in range(count):
        text, wheels = random_wheeled(rng)
        bodies = trundle.derive(parse_urdf(text, base="planar"))
        rolling = parse_urdf(text.replace("</robot>", f"<trundle>{wheels}</trundle></robot>"))
        assert parse_urdf(dump_urdf(rolling)) == rolling
        ours = trundle.derive(rolling)
        state = dict(zip(ours.states, rng.normal(size=len(ours.states)), strict=True))
        theirs = {_of_joints(name): sign * state[name] for name, sign in _signs(rolling, text, ours.states)}
        rates = dict(zip(bodies.states, bodies.rhs(theirs), strict=True))
        expected = [sign * rates[_of_joints(name)] for name, sign in _signs(rolling, text, ours.states)]
        assert _difference(ours.rhs(state), expected) < ROUNDING


def _of_joints(name: str) -> str:
    """The state of the file's joints that a wheel's state is, but for its sign."""
    owner, _, of = name.partition(".")
    if not of:
        return name
    ending = "rate" if of.endswith("rate") else "angle"
    return f"{'steer' if of.startswith('steering') else 'spin'}{owner[1:]}.{ending}"


def _signs(robot: trundle.Robot, text: str, states: tuple[str, ...]):
    """The states with the sign between a wheel's sense and its joint's: a caster that the file has ahead of its pivot
    trails, and a steering about the downward vertical turns about the upward one.
    """
    root = ElementTree.fromstring(text)
    joints = {joint.get("name"): joint for joint in root.iter("joint")}
    for name in states:
        owner, _, of = name.partition(".")
        joint = joints.get(_of_joints(name).partition(".")[0])
        sign = 1.0
        if of.startswith("steering"):
            sign = float(joint.find("axis").get("xyz").split()[2])
        elif of and robot.wheels[owner].type == "caster":
            turn, across = (float(joint.find("origin").get(key).split()[0]) for key in ("rpy", "xyz"))
            # the axle is -sin(roll) y; a wheel ahead rolls the other way round once it trails
            sign = -1.0 if across * -np.sign(turn) > 0 else 1.0
        yield name, sign


def test_the_example_rolls_and_has_all_that_a_base_has(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = EXAMPLES / "turtlebot.yaml"
    run = trundle.run(example, duration=10.0, progress=False)
    # both motors are quick beside ten seconds: v = r (5 + 6)/2, omega = r (6 - 5)/0.16, less the bearings' drag
    assert run.final["v_x"] == pytest.approx(0.033 * 5.5, rel=0.01)
    assert run.final["omega"] == pytest.approx(0.033 / 0.16, rel=0.01)
    model = trundle.derive(example)
    assert model.speeds == ("v_x", "omega")
    assert trundle.odometry(model).given == ("left.rate", "right.rate")
    assert main(["check", str(example), "--quiet"]) == 0
    assert main(["export", str(example), "--to", "c", "--output", "out", "--quiet"]) == 0


@pytest.mark.parametrize("name", WHEELED)
def test_what_a_description_adds_survives(name: str, tmp_path: Path):
    motors = "  motors: {m: {type: servo, drives: steering, stiffness: 40}}\n" if name == "car" else ""
    robot = trundle.load(beside(tmp_path, name, extra=motors))
    text = dump_urdf(robot)
    assert parse_urdf(text) == robot
    assert dump_urdf(parse_urdf(text)) == text
    assert parse(dump(robot)).robot == robot
    first = next(wheel for wheel in robot.rolling)
    heavier = robot.with_parameters(
        {f"wheels.{first}.mass": 2.5, f"wheels.{first}.inertia.axle": "1e-5 kg*m^2"}
    )
    changed = parse_urdf(dump_urdf(heavier))
    assert changed.model_copy(update={"urdf": None}) == heavier.model_copy(update={"urdf": None})


def _with_actuators(elements: str, **urdf: str) -> trundle.Robot:
    """The car's file with elements of actuators, its wheels on its joints."""
    text, _, _ = WHEELED["car"]
    effort = '<limit effort="12" velocity="30"/>'
    text = text.replace('child link="rear_left_wheel"/>', f'child link="rear_left_wheel"/>{effort}')
    wheels = "".join(
        f'<wheel name="{end}_{side}" joint="{end}_{side}_joint" radius="0.16"/>'
        for end in ("rear", "front")
        for side in ("left", "right")
    )
    extra = urdf.get("extra", "")
    return parse_urdf(text.replace("</robot>", f"{elements}<trundle>{wheels}{extra}</trundle></robot>"))


TRANSMISSION = """
<transmission name="t">
  <type>transmission_interface/SimpleTransmission</type>
  <joint name="rear_left_joint"/><actuator name="drive/left"><mechanicalReduction>-8</mechanicalReduction></actuator>
</transmission>
<transmission name="of two"><joint name="rear_left_joint"/><joint name="rear_right_joint"/></transmission>
<ros2_control name="car" type="system">
  <joint name="rear_right_joint">
    <command_interface name="effort"><param name="min">-9</param><param name="max">10</param></command_interface>
  </joint>
  <joint name="left_steering_joint"><command_interface name="position"/></joint>
  <joint name="front_left_joint"><state_interface name="position"/></joint>
</ros2_control>"""


def test_transmissions_and_ros2_control_are_motors():
    robot = _with_actuators(TRANSMISSION)
    assert {name: plain(motor) for name, motor in robot.motors.items()} == {
        "drive_left": {"type": "torque", "drives": "rear_left", "gear_ratio": -8.0, "torque_limit": 1.5},
        "rear_right_joint_motor": {"type": "torque", "drives": "rear_right", "torque_limit": 9.0},
        "left_steering_joint_motor": {"type": "torque", "drives": "front_left.steering"},
    }
    assert robot.number(robot.wheels["rear_left"].limits.drive_speed) == pytest.approx(30 * 0.16, rel=1e-15)
    text = dump_urdf(robot)
    assert "<motor" not in text
    assert parse_urdf(text) == robot


def test_a_motor_of_ones_own_takes_what_the_file_says_of_it():
    servo = '<motor name="left_steering_joint_motor" type="servo" stiffness="40"/>'
    geared = '<motor name="drive_left" type="dc" torque_constant="0.1" resistance="1"/>'
    other = '<motor name="mine" type="velocity" gain="1" drives="rear_right"/>'
    robot = _with_actuators(TRANSMISSION, extra=servo + geared + other)
    assert list(robot.motors) == ["left_steering_joint_motor", "drive_left", "mine"]
    assert robot.motors["left_steering_joint_motor"].drives == "front_left.steering"
    assert robot.parameter_values()["motors.drive_left.gear_ratio"] == -8.0
    assert parse_urdf(dump_urdf(robot)) == robot
    held = _with_actuators(
        TRANSMISSION, extra='<coupling name="steering" wheels="[front_left, front_right]"/>'
    )
    assert list(held.motors) == ["drive_left", "rear_right_joint_motor"]


@pytest.mark.parametrize("tag", ["transmission", "ros2_control"])
def test_actuators_of_joints_that_are_not_there_are_told_with_line_and_name(tag: str, tmp_path: Path):
    path = tmp_path / "car.urdf"
    element = (
        '<transmission name="t"><joint name="rear_lft_joint"/><actuator name="drive"/></transmission>',
        '<ros2_control name="c"><joint name="rear_lft_joint"><command_interface name="effort"/></joint></ros2_control>',
    )[tag == "ros2_control"]
    path.write_text(WHEELED["car"][0].replace("</robot>", f"\n{element}</robot>"), encoding="utf-8")
    line = path.read_text(encoding="utf-8").partition("rear_lft_joint")[0].count("\n") + 1
    said = rf"car\.urdf:{line}: <{tag}> names the joint 'rear_lft_joint', which isn't .*'rear_left_joint'\?"
    with pytest.warns(UserWarning, match=said):
        assert not trundle.load(path).motors
    path.write_text(path.read_text(encoding="utf-8").replace("rear_lft_joint", "chassis_joint"))
    with pytest.warns(UserWarning, match=rf"car\.urdf:{line}: .*'chassis_joint': a fixed joint has no"):
        trundle.load(path)


def test_a_motor_of_the_file_that_is_taken_away_is_told():
    robot = _with_actuators(TRANSMISSION)
    with pytest.raises(trundle.InputError, match=r"motors\.drive_left"):
        dump_urdf(robot.model_copy(update={"motors": {}}))


STOPS = '<limit lower="-0.2" upper="0.1" effort="3" velocity="0.5"/></joint>'


@pytest.mark.parametrize("up", [1, -1])
def test_runs_tell_which_limits_of_the_files_joints_they_went_beyond(up: int):
    """A fork of a tricycle whose servo turns it to 0.4 rad; its sense is the upward vertical's."""
    pieces = [
        link("base_link", 20.0, "1 1 1", "-0.2 0 0.3", "0 0 0"),
        joint("steer joint", "base_link", "fork", "0 0 0.1", axis=f"0 0 {up}")
        .replace("continuous", "revolute")
        .replace("</joint>", STOPS),
        link("fork", 1.0, "0.01 0.01 0.01"),
        joint("spin joint", "fork", "wheel", "0 0 0", QUARTER, "0 0 1").replace(
            "</joint>", '<limit effort="1" velocity="2"/></joint>'
        ),
        link("wheel", 1.0, "0.01 0.01 0.02"),
        joint("tail", "base_link", "ball", "-0.5 0 0.05").replace("continuous", "fixed"),
        link("ball", 0.1, "1e-4 1e-4 1e-4"),
    ]
    nouns = (
        '<trundle><wheel name="front" joint="spin joint" radius="r"/><parameter name="r" value="0.1"/>'
        '<wheel name="rear" type="ball" joint="tail" radius="0.05"/>'
        '<motor name="servo" type="servo" drives="front.steering" stiffness="50" damping="5"/>'
        '<motor name="drive" type="velocity" drives="front" gain="10"/></trundle></robot>'
    )
    robot = parse_urdf(robot_text(*pieces).replace("</robot>", nouns))
    run = trundle.simulate(robot, 2, {"servo.angle": 0.4, "drive.rate": 3})
    told = {(each.name, each.limit.rstrip(",")): each for each in passed(robot, run)}
    assert {key: (each.at, each.joint) for key, each in told.items()} == {
        ("front.rate", "limit drive_speed"): (pytest.approx(2.0), "spin joint"),
        ("front.steering", "upper limit"): (0.1 if up > 0 else 0.2, "steer joint"),
        ("front.steering_rate", "limit steering_rate"): (0.5, "steer joint"),
        ("servo.torque", "<limit effort>"): (3.0, "steer joint"),
        ("drive.torque", "<limit effort>"): (1.0, "spin joint"),
    }
    assert not list(passed(robot, trundle.simulate(robot, 1)))


@pytest.mark.parametrize(
    ("off", "accepted"), [(1e-4, True), (5e-4, True), (-3.8e-3, True), (3.9e-3, False), (-3e-7, True)]
)
def test_a_base_is_level_up_to_a_share_of_the_wheels_distance(
    off: float, accepted: bool, tmp_path: Path, recwarn
):
    path = beside(tmp_path, "husky")
    file = tmp_path / "base.urdf"
    text = file.read_text(encoding="utf-8")
    assert text.count("0.03282") == 4
    file.write_text(text.replace("0.03282", repr(0.03282 + off), 1), encoding="utf-8")
    if not accepted:
        with pytest.raises(trundle.InputError, match="touches z = -0.12838, .* -0.13228"):
            trundle.load(path)
        return
    robot = trundle.load(path)
    heights = {robot.number(wheel.at[2]) - robot.number(wheel.radius) for wheel in robot.wheels.values()}
    assert max(heights) - min(heights) == pytest.approx(abs(off), abs=1e-12)  # nothing moves
    said = [str(each.message) for each in recwarn if "a tilt of" in str(each.message)]
    assert len(said) == (abs(off) > 3.9e-4)  # below a tenth of what may be it is rounding
    assert all(f"{abs(off) * 1e3:.2g} mm, a tilt of" in each for each in said)
    assert parse_urdf(dump_urdf(robot)) == robot


def test_steered_wheels_that_a_file_rounds_are_put_side_by_side(tmp_path: Path):
    path = beside(tmp_path, "car")
    file = tmp_path / "base.urdf"
    file.write_text(file.read_text(encoding="utf-8").replace('"1.1 0.36', '"1.1004 0.36'), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"side by side but for rounding: front_left moved by 0\.2 mm"):
        robot = trundle.load(path)
    assert [robot.number(robot.wheels[f"front_{side}"].at[0]) for side in ("left", "right")] == [1.1002] * 2
    file.write_text(file.read_text(encoding="utf-8").replace('"1.1004', '"1.102'), encoding="utf-8")
    with pytest.raises(trundle.InputError, match=r"not side by side: x = 1\.102 and 1\.1"):
        trundle.load(path)


def test_a_radius_that_is_changed_takes_others_with_it():
    example = EXAMPLES / "turtlebot.yaml"
    robot = trundle.load(example).with_parameters({"r": 0.035})
    assert robot.number(robot.wheels["caster"].radius) == pytest.approx(0.008)
    alone = parse(example.read_text(encoding="utf-8").replace("r - 27 mm", "6 mm"), example).robot
    with pytest.raises(trundle.InputError, match=r"radius: r - 0\.027 follows the others"):
        alone.with_parameters({"r": 0.035})


@pytest.mark.parametrize("given", [3, [1], True])
def test_what_is_no_name_of_a_file_is_told_once(given: object):
    wheels = {"left": {"joint": "a", "radius": 1}, "right": {"joint": "b", "radius": 1}}
    with pytest.raises(trundle.InputError) as caught:
        trundle.load({"robot": {"urdf": given, "wheels": wheels}})
    assert str(caught.value).startswith("robot.urdf: expected the name of a URDF file, got")
    assert "\n" not in str(caught.value)


def test_a_misspelt_motor_of_the_file_is_told(tmp_path: Path):
    example = (
        (EXAMPLES / "turtlebot.yaml")
        .read_text(encoding="utf-8")
        .replace("wheel_left_motor:", "wheel_lft_motor:")
    )
    with pytest.raises(
        trundle.InputError, match=r"robot\.motors\.wheel_lft_motor(.|\n)*'wheel_left_motor'\?"
    ):
        parse(example, EXAMPLES / "turtlebot.yaml")


@pytest.mark.parametrize("name", WHEELED)
def test_a_bare_file_names_the_joints_that_look_like_wheels(name: str, recwarn):
    text, lines, _ = WHEELED[name]
    parse_urdf(text)
    (said,) = [str(each.message) for each in recwarn if "spin on air" in str(each.message)]
    assert re.findall(r"joint: (\w+)", said)[0] in lines
    recwarn.clear()
    parse_urdf(text, base="planar")
    parse_urdf((EXAMPLES / "arm.urdf").read_text(encoding="utf-8"))
    assert not [each for each in recwarn if "spin on air" in str(each.message)]
    nowhere = '<trundle><wheel name="left" radius="0.1"/></trundle></robot>'
    with pytest.warns(UserWarning, match=r"stand at the base's origin: left; joint: \w+ puts"):
        parse_urdf(text.replace("</robot>", nowhere))


@pytest.mark.parametrize("name", ["left", "wheel"])
def test_the_line_that_puts_wheels_down_is_the_files_own(name: str, recwarn):
    """Whichever joint comes first: `left` on the left one, with the radius of its shape."""
    text = (EXAMPLES / "turtlebot.urdf").read_text(encoding="utf-8")
    swapped = (
        text.replace("wheel_left", "wheel_x")
        .replace("wheel_right", "wheel_left")
        .replace("wheel_x", "wheel_right")
    )
    for given in (text, swapped):
        recwarn.clear()
        given = given if name == "left" else given.replace("_left", "_port")
        parse_urdf(given)
        (said,) = [str(each.message) for each in recwarn if "spin on air" in str(each.message)]
        written = re.search(r"wheels: \{(\w+): \{joint: (\w+), radius: ([\d.]+)\}", said)
        assert written is not None
        assert written.group(1, 3) == (name, "0.033")
        assert name == "wheel" or written.group(2) == "wheel_left_joint"


LEFT = "left: {joint: wheel_left_joint, radius: 0.0985"
SPIN = 'rpy="-1.5707963267948966 0 0"/><axis xyz="0 0 1"/></joint>\n  <link name="wheel_left'
BELOW = '<joint name="wheel_left_joint" type="continuous"><parent link="base_link"/>'
ABOVE = (
    '<link name="a"/><link name="b"/><joint name="j1" type="continuous"><parent link="base_link"/><child link="a"/>'
    '<axis xyz="0 1 0"/></joint><joint name="j2" type="continuous"><parent link="a"/><child link="b"/>'
    '<axis xyz="0 0 1"/></joint></robot>'
)
# What is changed in TIAGo's base or in the lines beside it, by what, and what the error says: its file and key first.
WRONG = {
    "no joint": (
        "joint: wheel_left_joint",
        "joint: wheel_lft_joint",
        "yaml:5: robot.wheels.left.joint",
        "'wheel_left_joint'?",
    ),
    "no type": (
        LEFT,
        "left: {type: castr, joint: wheel_left_joint, radius: 1",
        "robot.wheels.left.type",
        "'caster'?",
    ),
    "no steering": (
        LEFT,
        f"left: {{type: caster, {LEFT[7:]}",
        "robot.wheels.left.type",
        "needs a steering joint above",
    ),
    "another type": (
        "caster_front_left: {",
        "caster_front_left: {type: steered, ",
        "front_left.type",
        "write type: caster",
    ),
    "unknown key": (
        LEFT,
        f"{LEFT}, with: 3",
        "yaml:5: robot.wheels.left: unknown key 'with'",
        "did you mean 'width'",
    ),
    "no joint's key": (
        "left: {joint: wheel_left_joint",
        "left: {jiont: wheel_left_joint",
        "yaml:5: robot.wheels.left: unknown key 'jiont'",
        "did you mean 'joint'?",
    ),
    "another word": (
        "left: {joint: wheel_left_joint",
        "left: {link: wheel_left_link",
        "yaml:5: robot.wheels.left: unknown key 'link'",
        "did you mean 'joint'?",
    ),
    "no joint at all": (
        "left: {joint: wheel_left_joint, ",
        "left: {",
        "yaml:5: robot.wheels.left: stands off the ground",
        "joint: NAME; known: ",
        "wheel_left_joint",
    ),
    "twice": (
        "joint: wheel_right_joint",
        "joint: wheel_left_joint",
        "yaml:6: robot.wheels.right.joint",
        "'left' already",
    ),
    "hangs": (
        LEFT,
        LEFT.replace("0.0985", "0.09"),
        "yaml:5: robot.wheels.left",
        "touches z = 0.0085",
        "the radius 0.0985 m",
    ),
    "sinks": (
        LEFT,
        LEFT.replace("0.0985", "0.2"),
        "yaml:5: robot.wheels.left",
        "touches z = -0.1015",
        "the radius 0.0985 m",
    ),
    "no number": (f"{LEFT}, width: 0.04}}", "left: 3", "yaml:5: robot.wheels.left", "expected a wheel"),
    "no file": (
        "urdf: base.urdf",
        "urdf: bse.urdf",
        "yaml:3: robot.urdf",
        "there is no such file",
        "'base.urdf'?",
    ),
    "no URDF": ("urdf: base.urdf", "urdf: base.yaml", "yaml:3: robot.urdf", "expected a URDF file"),
    "a joint beside": (
        "  wheels:\n",
        "  joints: {}\n  wheels:\n",
        "yaml:4: robot.joints",
        "can't stand beside a URDF file",
    ),
    "a base": ("  wheels:\n", "  base: fixed\n  wheels:\n", "wheels on a fixed base"),
    "not level": (
        SPIN,
        SPIN.replace("-1.57", "-1.5"),
        "urdf:6: joint 'wheel_left_joint' <axis>",
        "3.6 degrees off level",
    ),
    "vertical": (
        SPIN,
        SPIN.replace("-1.57079", "0.0"),
        "urdf:6: joint 'wheel_left_joint' <axis>",
        "off level",
    ),
    "fixed": (
        BELOW,
        BELOW.replace("continuous", "fixed"),
        "robot.wheels.left.joint",
        "is fixed",
        "type: ball",
    ),
    "tilts": (
        (BELOW, BELOW.replace("base_link", "b")),
        ("</robot>", ABOVE),
        "joint 'j1'",
        "it tilts the wheel",
        "make it fixed",
    ),
    "both ways": (
        '"-0.016 0 -0.04"',
        '"-0.016 0.01 -0.04"',
        "2_joint' <origin>",
        "0.016 m behind its pivot",
        "0.01 m beside",
    ),
    "carries": (
        "</robot>",
        '<link name="x"/><joint name="y" type="planar"><parent link="wheel_left_link"/><child link="x"/></joint>'
        "</robot>",
        "joint 'y'",
        "it hangs on the wheel 'left'",
    ),
    "no disc": (
        'izz="0.00412484"',
        'izz="0.412484"',
        "robot.wheels.left",
        "triangle inequality",
        "the wheel's own: inertia",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wheels_that_a_file_can_not_carry_are_told_with_file_line_and_fix(name: str, tmp_path: Path):
    old, new, *said = WRONG[name]
    path = beside(tmp_path, "tiago")
    changes = [old, new] if isinstance(old, tuple) else [(old, new)]
    for file in (path, tmp_path / "base.urdf"):
        text = file.read_text(encoding="utf-8")
        for before, after in changes:
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")
    with pytest.raises(trundle.InputError) as caught:
        trundle.load(path)
    message = str(caught.value)
    for words in said:
        assert words in message


def test_a_wheel_of_another_size_than_its_link_is_told():
    text = (EXAMPLES / "turtlebot.urdf").read_text(encoding="utf-8")
    wheel = '<trundle><wheel name="left" joint="wheel_left_joint" radius="0.33"/></trundle></robot>'
    with pytest.warns(
        UserWarning, match=r"'left' has radius 0\.33 m, and the shape of 'wheel_left_link' 0\.033 m"
    ):
        parse_urdf(text.replace("</robot>", wheel))


def test_a_wheel_that_is_not_round_is_told():
    text, _, _ = WHEELED["husky"]
    text = text.replace('ixx="0.02467"', 'ixx="0.03"', 1)
    wheel = '<trundle><wheel name="w" joint="front_left_wheel" radius="0.1651"/></trundle></robot>'
    with pytest.warns(UserWarning, match="'front_left_wheel_link' isn't round about its axle"):
        robot = parse_urdf(text.replace("</robot>", wheel))
    assert robot.parameter_values()["wheels.w.inertia.diameter"] == pytest.approx((0.03 + 0.02467) / 2)


def test_a_file_that_calls_everything_otherwise_has_the_same_mechanics(tmp_path: Path):
    robot = trundle.load(beside(tmp_path, "tiago"))
    text = dump_urdf(robot)
    for old, new in (
        ("caster", "castor"),
        ('name="left"', 'name="port"'),
        ("_1_", "-upper "),
        ("base_link", "hull"),
    ):
        text = text.replace(old, new)
    other = parse_urdf(text)
    assert {*robot.wheels} != {*other.wheels}
    assert same_mechanics(robot, other)
    assert not same_mechanics(
        robot, other.with_parameters({"wheels.port.radius": 0.0986, "wheels.port.at.z": 0.0986})
    )


def test_the_files_own_names_can_be_asked_for(tmp_path: Path):
    robot = trundle.load(beside(tmp_path, "tiago"))
    extras = urdf_extras(robot)
    assert extras.joints["left"] == "wheel_left_joint"
    assert extras.joints["caster_back_left.steering"] == "caster_back_left_1_joint"
    assert extras.links["left"] == "wheel_left_link"
    assert extras.links["caster_back_left"] == "caster_back_left_2_link"


def test_plain_data_may_come_from_python(tmp_path: Path):
    path = beside(tmp_path, "tiago").with_suffix(".urdf")
    wheels = {
        "left": {"joint": "wheel_left_joint", "radius": np.float64(0.0985), "at": (0, np.int64(1), 0.0985)}
    }
    robot = trundle.load({"robot": {"urdf": path, "wheels": wheels, "gravity": "1.62 m/s^2"}})
    assert robot.resolver().vector(robot.wheels["left"].at) == (0.0, 1.0, 0.0985)
    assert robot.resolver().gravity() == (0.0, 0.0, -1.62)
    assert trundle.load({"robot": {"urdf": str(path), "wheels": wheels, "gravity": [0.1, 0, -9.81]}}).gravity
    with pytest.raises(trundle.InputError, match="robot.wheels.left.radius: expected plain data, got object"):
        trundle.load({"robot": {"urdf": path, "wheels": {"left": {"radius": object()}}}})


HOSTILE = (
    "[1]",
    "{a: 1}",
    ".nan",
    "1e400",
    "-.inf",
    "*a",
    "a b",
    "'",
    "[",
    "]]",
    "é",
    "<",
    "0x1F",
    "true",
    "~",
    "1 mi",
)


@pytest.mark.parametrize("tag", ["wheel", "motor", "battery", "coupling", "loop", "parameter"])
def test_any_text_in_an_attribute_is_read_or_told(tag: str):
    body = robot_text(
        link("base", 1.0, "1 1 1"), joint("spin", "base", "w", "0 0 0", axis="0 1 0"), link("w", 1.0, "1 1 1")
    )
    for text in HOSTILE:
        said = text.replace("<", "&lt;").replace("'", "&apos;")
        for key in (
            "name",
            "joint",
            "type",
            "radius",
            "drives",
            "wheels",
            "value",
            "limits",
            "at",
            "first",
            "contact",
        ):
            keys = {"name": "x", "joint": "spin", "radius": "1", "drives": "x", key: said}
            attributes = " ".join(f'{name}="{value}"' for name, value in keys.items())
            with suppress(trundle.InputError):  # nothing else is raised
                parse_urdf(body.replace("</robot>", f"<trundle><{tag} {attributes}/></trundle></robot>"))


def _in_mujoco(text: str, torques: dict[str, float], step: float, time: float) -> np.ndarray:
    """v_x and omega of a file's base in MuJoCo after a time, on contacts of twenty steps' time constant."""
    mujoco = pytest.importorskip("mujoco", reason="compares with MuJoCo, which is not installed")
    spec = mujoco.MjSpec.from_string(text)
    spec.option.timestep, spec.option.integrator = step, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100
    spec.option.tolerance, spec.option.iterations, spec.option.noslip_iterations = 1e-12, 200, 20
    spec.body("base_footprint").add_freejoint()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10, 10, 0.1], name="floor")
    for geom in spec.geoms:
        floor = geom.name == "floor"
        geom.solref, geom.contype, geom.conaffinity = [20 * step, 1], 1 if floor else 2, 2 if floor else 1
        geom.condim, geom.priority = (1, 1) if abs(geom.size[0] - 0.006) < 1e-9 else (3, 0)
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(round(0.5 / step)):  # it settles first
        mujoco.mj_step(model, data)
    data.qvel[:] = 0
    for name, torque in torques.items():
        data.qfrc_applied[model.joint(name).dofadr[0]] = torque
    for _ in range(round(time / step)):
        mujoco.mj_step(model, data)
    heading = 2 * np.arctan2(data.qpos[6], data.qpos[3])
    return np.array([np.cos(heading) * data.qvel[0] + np.sin(heading) * data.qvel[1], data.qvel[5]])


@pytest.mark.slow
def test_mujocos_soft_contacts_come_to_the_same_motion_the_stiffer_they_are():
    """Balls for wheels touch in points; a contact that yields lags by its own time constant."""
    text = (EXAMPLES / "turtlebot.urdf").read_text(encoding="utf-8").replace("-1.57 0 0", QUARTER)
    text = text.replace('<cylinder radius="0.033" length="0.018"/>', '<sphere radius="0.033"/>')
    ball = "<collision><geometry><sphere radius='0.006'/></geometry></collision>"
    text = text.replace('<link name="caster_back_link">', f'<link name="caster_back_link">{ball}')
    wheels = "".join(
        f'<wheel name="{side}" joint="wheel_{side}_joint" radius="0.033"/>' for side in ("left", "right")
    )
    robot = parse_urdf(text.replace("</robot>", f"<trundle>{wheels}</trundle></robot>"))
    left, right, time = 0.002, 0.0025, 1.0
    inputs = {"wheel_left_motor.torque": left, "wheel_right_motor.torque": right}
    run = trundle.simulate(trundle.derive(robot), time, inputs)
    ours = np.array([run.final["v_x"], run.final["omega"]])
    mujocos = '<robot name="turtlebot"><mujoco><compiler fusestatic="false"/></mujoco>'
    theirs = text.replace('<robot name="turtlebot">', mujocos)
    torques = {"wheel_left_joint": left, "wheel_right_joint": right}
    off = [np.abs(_in_mujoco(theirs, torques, step, time) / ours - 1) for step in (1e-3, 2e-4)]
    assert np.all(off[0] < 5e-3)
    assert np.all(off[1] < off[0] / 2)


def test_a_joint_without_a_file_is_told():
    with pytest.raises(
        trundle.InputError, match=r"unknown key 'joint' in a fixed wheel\s+joints are a URDF file's"
    ):
        trundle.load({"robot": {"wheels": {"left": {"joint": "wheel_left_joint", "radius": 1}}}})


def test_a_joint_about_the_vertical_that_carries_two_wheels_is_a_hitch():
    """A trailer's hitch stays a joint, its wheels fixed on it: the robot in YAML has the same accelerations."""
    pieces = [link("base", 5.0, "1 1 1", "0 0 0.2"), link("bar", 2.0, "0.2 0.3 0.4", "-0.5 0 0")]
    pieces.append(joint("hitch", "base", "bar", "-0.3 0 0.1", axis="0 0 1"))
    for side, y in (("left", 0.4), ("right", -0.4)):
        pieces += [joint(side, "bar", f"{side}_wheel", f"-1 {y} 0", QUARTER, "0 0 1")]
        pieces += [link(f"{side}_wheel", 1.0, "0.01 0.01 0.02")]
    pieces += [joint("drive", "base", "drive_wheel", "0 0 0.1", axis="0 1 0")]
    pieces += [link("drive_wheel", 1.0, "0.01 0.02 0.01")]
    wheels = "".join(
        f'<wheel name="{name}" joint="{name}" radius="0.1"/>' for name in ("left", "right", "drive")
    )
    robot = parse_urdf(robot_text(*pieces).replace("</robot>", f"<trundle>{wheels}</trundle></robot>"))
    assert [(name, wheel.type, wheel.parent) for name, wheel in robot.wheels.items()] == [
        ("left", "fixed", "bar"),
        ("right", "fixed", "bar"),
        ("drive", "fixed", "base"),
    ]
    keys = "radius: 0.1, mass: 1, inertia: {axle: 0.02, diameter: 0.01}"
    own = parse(f"""trundle: 1
robot:
  body: {{mass: 5, center_of_mass: [0, 0, 0.2], inertia: {{xx: 1, yy: 1, zz: 1}}}}
  joints:
    hitch: {{type: revolute, axis: [0, 0, 1], at: [-0.3, 0, 0.1], body:
      {{mass: 2, center_of_mass: [-0.5, 0, 0], inertia: {{xx: 0.2, yy: 0.3, zz: 0.4}}}}}}
  wheels:
    left: {{parent: hitch, at: [-1, 0.4, 0], {keys}}}
    right: {{parent: hitch, at: [-1, -0.4, 0], {keys}}}
    drive: {{at: [0, 0, 0.1], {keys}}}
""").robot
    assert same_mechanics(robot, own)
    ours, theirs = trundle.derive(robot), trundle.derive(own)
    state = dict(zip(ours.states, np.linspace(0.3, 1.1, len(ours.states)), strict=True))
    rates = dict(zip(theirs.states, theirs.rhs(state), strict=True))
    assert _difference(ours.rhs(state), [rates[name] for name in ours.states]) < ROUNDING


DROPS = """
<robot name="vacuum">
  <link name="base_link"><inertial><mass value="3"/><inertia ixx="0.02" iyy="0.02" izz="0.03"/></inertial></link>
  {sides}
</robot>
"""
SIDE = """
  <link name="drop_{0}"/>
  <link name="{0}"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
  <joint name="wheel_drop_{0}_joint" type="{2}"><parent link="base_link"/><child link="drop_{0}"/>
    <origin xyz="0 {1} 0.030"/>{3}</joint>
  <joint name="{0}_joint" type="continuous"><parent link="drop_{0}"/><child link="{0}"/><axis xyz="0 1 0"/></joint>
"""
SPRUNG = '<axis xyz="0 0 2"/><limit lower="0" upper="0.03" effort="1" velocity="1"/><dynamics damping="1"/>'


def vacuum(folder: Path, kind: str, moves: str, fixed: str, height: float = 0.03) -> Path:
    sides = "".join(SIDE.format(side, y, kind, moves) for side, y in (("left", 0.12), ("right", -0.12)))
    text = (
        DROPS.format(sides=sides).replace("0.030", str(height))
        if kind == "fixed"
        else DROPS.format(sides=sides)
    )
    (folder / "base.urdf").write_text(text)
    wheels = "".join(f"    {side}: {{joint: {side}_joint, radius: 0.035}}\n" for side in ("left", "right"))
    (folder / "base.yaml").write_text(f"trundle: 1\nrobot:\n  urdf: base.urdf\n{fixed}  wheels:\n{wheels}")
    return folder / "base.yaml"


def test_sprung_wheel_drops_are_held(tmp_path: Path):
    with pytest.raises(trundle.InputError, match="lifts the wheel.*\n.*fixed: {wheel_drop_left_joint: 0}"):
        trundle.load(vacuum(tmp_path, "prismatic", SPRUNG, ""))
    held = "  fixed: {wheel_drop_left_joint: 0.005, wheel_drop_right_joint: 0.005}\n"
    robot = trundle.load(vacuum(tmp_path, "prismatic", SPRUNG, held))
    rigid = trundle.load(vacuum(tmp_path, "fixed", "", "", 0.035))
    assert [robot.number(each) for each in robot.wheels["left"].at] == pytest.approx([0, 0.12, 0.035])
    assert {**robot.parameter_values()} == pytest.approx({**rigid.parameter_values()})
    for fixed, words in (
        ("{wheel_drop_lift_joint: 0}", "the file has no joint 'wheel_drop_lift_joint'"),
        ("{left_joint: 0.5}", "expected 0: turn its <origin rpy>"),
        ("[left_joint]", "expected positions by joint"),
    ):
        with pytest.raises(trundle.InputError, match=words):
            trundle.load(vacuum(tmp_path, "prismatic", SPRUNG, f"  fixed: {fixed}\n"))
