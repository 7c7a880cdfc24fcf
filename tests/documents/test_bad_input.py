"""Wrong descriptions: each ends in an InputError that names file, line and key, and the likely fix."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

import trundle
from trundle.documents import load, parse
from trundle.errors import InputError
from trundle.robot import parse_robot
from trundle.robot.bodies import Body
from work import calls

GOOD = """\
trundle: 1
robot:
  name: cart
  body:
    mass: 50.0
    center_of_mass: [d, 0, 0]
    inertia: {xx: 4, yy: 4, zz: 5.0}
  joints:
    mast: {type: revolute, parent: base, at: [0, 0, 0.5], axis: [0, 1, 0], body: {mass: 1, name: pole}}
  wheels:
    right: {at: [0, -0.6, 0], radius: r, mass: 2.0}
    left: {at: [0, 0.6, 0], radius: r, mass: 2.0}
    rear: {type: caster, at: [-0.5, 0, 0.05 - r], radius: 0.05, offset: 0.03, mass: 0.5}
  motors:
    right_motor: {drives: right, torque_constant: 1.0, resistance: 0.05}
    left_motor: {drives: left, torque_constant: 1.0, resistance: 0.05}
  parameters: {d: 0.0, r: 0.15}
run:
  duration: 30.0
  inputs: {right_motor.voltage: 24.0}
"""

# what is replaced, by what, line of the error, key, part of the message, part of the hint
CASES = {
    "unknown key": (
        "mass: 50.0",
        "mas: 50.0",
        5,
        "robot.body.mas",
        "unknown key 'mas'",
        "did you mean 'mass'",
    ),
    "wheels inside a body": (
        "mass: 50.0",
        "wheels: {}",
        5,
        "robot.body.wheels",
        "unknown key 'wheels' in a body",
        "robot.wheels, with `parent:`",
    ),
    "unknown key of a wheel": (
        "right: {at: [0, -0.6, 0], radius: r",
        "right: {at: [0, -0.6, 0], radus: r",
        11,
        "robot.wheels.right.radus",
        "unknown key",
        "did you mean 'radius'",
    ),
    "name of 81 letters": (
        "name: cart",
        f"name: {'n' * 81}",
        3,
        "robot.name",
        "is not a valid name",
        "letters, digits, spaces",
    ),
    "key of a controller in a file of its own": (
        "  parameters: {d",
        "  controllers: {speed: {reads: v_x, drives: left_motor.voltage, target: 1, look_ahead: 1}}\n  parameters: {d",
        17,
        "robot.controllers.speed.look_ahead",
        "a pid controller has no 'look_ahead'; pure pursuit controllers have",
        "known: type",
    ),
    "unknown top key": ("run:", "runs:", 18, "runs", "unknown key 'runs'", "did you mean 'run'"),
    "key of another wheel": (
        "radius: r, mass: 2.0}\n    left",
        "radius: r, mass: 2.0, offset: 1}\n    left",
        11,
        "robot.wheels.right.offset",
        "a fixed wheel has no 'offset'; caster wheels have",
        "known",
    ),
    "key of another caster": (
        "offset: 0.03",
        "offset: 0.03, roller_angle: 1",
        13,
        "robot.wheels.rear.roller_angle",
        "a caster wheel has no 'roller_angle'",
        "known",
    ),
    "missing key": ("radius: 0.05, ", "", 13, "robot.wheels.rear.radius", "'radius' is missing", ""),
    "wrong type": (
        "mass: 50.0",
        "mass: [50]",
        5,
        "robot.body.mass",
        "expected a mass, got a list of 1",
        "kg",
    ),
    "text": (
        "mass: 50.0",
        "mass: heavy",
        5,
        "robot.body.mass",
        "'heavy' is used and never given",
        "parameters",
    ),
    "text for a number": (
        "mass: 50.0",
        "mass: nan",
        5,
        "robot.body.mass",
        "'nan' is used",
        "is not a finite number",
    ),
    "unit": ("mass: 50.0", "mass: 50 m", 5, "robot.body.mass", "expected a mass (kg), got one in m", "kg"),
    "unit of a parameter": ("r: 0.15", "r: 15 kg", 11, "robot.wheels.right.radius", "expected a length", "m"),
    "vector": ("[d, 0, 0]", "[d, 0]", 6, "robot.body.center_of_mass", "list of three lengths", "[x, y, z]"),
    "entry of a vector": (
        "[d, 0, 0]",
        "[d, 1 kg, 0]",
        6,
        "robot.body.center_of_mass.y",
        "expected a length",
        "",
    ),
    "negative mass": ("mass: 50.0", "mass: -50.0", 5, "robot.body.mass", "must not be negative", "mean 50?"),
    "no mass": ("mass: 50.0", "mass: 0", 5, "robot.body.mass", "greater than zero", "body"),
    "not a number": ("mass: 50.0", "mass: .nan", 5, "robot.body.mass", "expected a finite mass, got nan", ""),
    "infinite": ("mass: 50.0", "mass: -.inf", 5, "robot.body.mass", "expected a finite mass, got -inf", ""),
    "no value": ("mass: 50.0", "mass:", 5, "robot.body.mass", "no value", "take the key away"),
    "boolean": ("mass: 50.0", "mass: true", 5, "robot.body.mass", "expected a mass, got true", ""),
    "triangle": ("zz: 5.0", "zz: 9.0", 7, "robot.body.inertia", "zz = 9 is more than xx + yy = 8", "axes"),
    "products": ("zz: 5.0", "zz: 5.0, xy: 6", 7, "robot.body.inertia", "principal moments", ""),
    "no radius": (
        "r: 0.15",
        "r: 0",
        11,
        "robot.wheels.right.radius",
        "must be greater than zero, got r = 0",
        "",
    ),
    "no resistance": (
        "resistance: 0.05}\n  parameters",
        "resistance: 0}\n  parameters",
        16,
        "robot.motors.left_motor.resistance",
        "must be greater than zero",
        "",
    ),
    "zero axis": (
        "axis: [0, 1, 0]",
        "axis: [0, 0, 0]",
        9,
        "robot.joints.mast.axis",
        "zero vector",
        "[0, 0, 1]",
    ),
    "axis of parameters": (
        "axis: [0, 1, 0]",
        "axis: [0, r, 0]",
        9,
        "robot.joints.mast.axis.y",
        "an axis can't use parameters",
        "rpy",
    ),
    "off the ground": (
        "left: {at: [0, 0.6, 0]",
        "left: {at: [0, 0.6, 0.1]",
        12,
        "robot.wheels.left",
        "stands off the ground",
        "at.z = 0",
    ),
    "wheel on a tilting joint": (
        "left: {",
        "left: {parent: pole, heading: 1 deg, ",
        12,
        "robot.wheels.left.parent",
        "leave the ground",
        "",
    ),
    "no trail": (
        "offset: 0.03",
        "offset: 0",
        13,
        "robot.wheels.rear.offset",
        "greater than zero",
        "type: steered",
    ),
    "unknown parent": (
        "parent: base",
        "parent: bse",
        9,
        "robot.joints.mast.parent",
        "no body or joint 'bse'",
        "did you mean 'base'",
    ),
    "circle": ("parent: base", "parent: pole", 9, "robot.joints.mast.parent", "mast -> mast", "'base'"),
    "drives nothing": (
        "drives: left",
        "drives: lefd",
        16,
        "robot.motors.left_motor.drives",
        "'lefd'",
        "mean 'left'",
    ),
    "drives the same": ("drives: left", "drives: right", 16, "robot.motors.left_motor.drives", "already", ""),
    "steers a fixed wheel": (
        "drives: left",
        "drives: left.steering",
        16,
        "robot.motors.left_motor.drives",
        "the wheel 'left' is fixed: it can't be steered",
        "",
    ),
    "name taken": ("left_motor: {", "left: {", 16, "robot.motors.left", "taken by wheels.left", "left_motor"),
    "bad name": (
        "left_motor: {",
        "left motor: {",
        16,
        "robot.motors.left motor",
        "not a valid name",
        "left_motor",
    ),
    "reserved name": ("left_motor: {", "base: {", 16, "robot.motors.base", "reserved", ""),
    "bad choice": (
        "{type: caster",
        "{type: castor",
        13,
        "robot.wheels.rear.type",
        "unknown type 'castor'",
        "did you mean 'caster'",
    ),
    "bad kind": (
        "drives: left,",
        "type: ac, drives: left,",
        16,
        "robot.motors.left_motor.type",
        "unknown type 'ac'",
        "dc",
    ),
    "bad contact": (
        "offset: 0.03",
        "offset: 0.03, contact: slippy",
        13,
        "robot.wheels.rear.contact",
        "unknown contact 'slippy'",
        "did you mean 'slip'",
    ),
    "not a mapping": (
        "mast: {type: revolute, parent: base",
        "mast: 3 #",
        9,
        "robot.joints.mast",
        "got 3",
        "keys",
    ),
    "names expected": (
        "parameters: {d: 0.0, r: 0.15}",
        "parameters: 7",
        17,
        "robot.parameters",
        "got 7",
        "NAME",
    ),
    "missing parameter": (
        "r: 0.15",
        "rr: 0.15",
        11,
        "robot.wheels.right.radius",
        "never given",
        "did you mean 'rr'",
    ),
    "unused parameter": ("r: 0.15", "r: 0.15, q: 1", 17, "robot.parameters.q", "nothing uses it", ""),
    "circular parameter": (
        "r: 0.15",
        "r: 2*s, s: r/2",
        17,
        "robot.parameters.r",
        "circle: r -> s -> r",
        "number",
    ),
    "parameter without a value": ("r: 0.15", "r: 1/d", 17, "robot.parameters.r", "divides by zero", ""),
    "degrees": (
        "{type: caster",
        "{type: caster, heading: 45",
        13,
        "robot.wheels.rear.heading",
        "full turn",
        "45 deg",
    ),
    "negative duration": ("duration: 30.0", "duration: -30", 19, "run.duration", "above zero", ""),
    "duration in metres": ("duration: 30.0", "duration: 3 m", 19, "run.duration", "expected a time", ""),
    "bad mode": (
        "duration: 30.0",
        "mode: dinamic",
        19,
        "run.mode",
        "unknown choice 'dinamic'",
        "did you mean 'dynamic'",
    ),
    "samples": ("duration: 30.0", "samples: 1", 19, "run.samples", "must be at least 2, got 1", ""),
    "two samplings": ("duration: 30.0", "samples: 5\n  rate: 5", 20, "run.rate", "both", "keep one"),
    "times": (
        "24.0}",
        "{times: [0, 2, 1], values: [1, 2, 3]}}",
        20,
        "run.inputs.right_motor.voltage.times.2",
        "times must increase: 1 comes after 2",
        "sort",
    ),
    "lengths": (
        "24.0}",
        "{times: [0, 2], values: [1, 2, 3]}}",
        20,
        "run.inputs.right_motor.voltage.values",
        "2 times but 3 values",
        "",
    ),
    "table": (
        "24.0}",
        "{time: [0, 2], values: [1, 2]}}",
        20,
        "run.inputs.right_motor.voltage.time",
        "unknown key",
        "times",
    ),
    "input with a parameter": (
        "24.0}",
        "2*r}",
        20,
        "run.inputs.right_motor.voltage",
        "can't use parameters",
        "",
    ),
    "set unknown": (
        "24.0}",
        "24.0}\n  set: {dd: 1}",
        21,
        "run.set.dd",
        "no parameter 'dd'",
        "did you mean 'd'",
    ),
    "set out of bounds": (
        "24.0}",
        "24.0}\n  set: {r: -1}",
        21,
        "run.set.r",
        "wheels.right.radius: radius must be greater",
        "",
    ),
    "tag": (
        "mass: 50.0",
        "mass: !!python/object/apply:os.system [ls]",
        5,
        "robot.body.mass",
        "the tag",
        "plain data",
    ),
    "harmless tag": ("mass: 50.0", "mass: !!float 50", 5, "robot.body.mass", "the tag", ""),
    "anchor": ("mass: 50.0", "mass: &m 50", 5, "robot.body.mass", "the anchor &m", "parameters"),
    "alias": ("mass: 50.0", "mass: *m", 5, "robot.body.mass", "the alias *m", ""),
    "merge": ("mass: 50.0", "<<: {mass: 5}", 5, "robot.body", "merge key", ""),
    "twice": (
        "mass: 50.0",
        "mass: 50.0\n    mass: 4",
        6,
        "robot.body.mass",
        "stands twice, first in line 5",
        "",
    ),
    "key of a number": ("mass: 50.0", "7: 50.0", 5, "robot.body", "the key '7' is not text", "quotes"),
    "key of a list": ("mass: 50.0", "[a]: 50.0", 5, "robot.body", "as a key", ""),
    "tab": ("    mass: 50.0", "\tmass: 50.0", 5, None, "not valid YAML", "tabs"),
    "bracket": ("[d, 0, 0]", "[d, 0, 0", 6, None, "not valid YAML", "brackets"),
    "version missing": ("trundle: 1\n", "", 1, None, "version of the format, is missing", "trundle: 1"),
    "version newer": ("trundle: 1", "trundle: 2", 1, "trundle", "version 2", "upgrade"),
    "version wrong": ("trundle: 1", "trundle: one", 1, "trundle", "got 'one'", "trundle: 1"),
    "second document": ("run:", "---\nrun:", 18, None, "second YAML document", "---"),
    "speeds": (
        "name: cart",
        "speeds: [v_x, omgea]",
        3,
        "robot.speeds.1",
        "no speed 'omgea'",
        "did you mean 'omega'",
    ),
    "name of a file": ("name: cart", "name: ../cart", 3, "robot.name", "not a valid name", "letters"),
    "slip without mass": (
        "mass: 2.0}\n    left",
        "contact: slip}\n    left",
        11,
        "robot.wheels.right",
        "needs inertia",
        "mass",
    ),
    "joint without mass": (
        "body: {mass: 1,",
        "body: {",
        9,
        "robot.joints.mast",
        "nothing behind the joint",
        "armature",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str, tmp_path: Path) -> None:
    old, new, line, key, message, hint = CASES[case]
    assert GOOD.count(old) >= 1
    path = tmp_path / "cart.yaml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(path)
    error = caught.value
    assert (error.file, error.line, error.key) == (str(path), line, key), str(error)
    assert message in error.message
    assert hint in (error.hint or ""), str(error)
    assert str(error).startswith(f"{path}:{line}: ")


def test_the_good_one_is_good() -> None:
    assert parse(GOOD).robot.base == "planar"


def test_every_problem_is_listed() -> None:
    text = GOOD.replace("mass: 50.0", "mas: 50.0").replace("radius: 0.05", "radius: []").replace("30.0", "0")
    with pytest.raises(InputError) as caught:
        parse(text, "cart.yaml")
    assert caught.value.line == 5
    assert "line 13: robot.wheels.rear.radius: expected a length" in str(caught.value)
    assert "line 19: run.duration" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"   \n\n", b"# only a comment\n", b"---\n", b"null\n"])
def test_empty(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match="empty"):
        load(path)


@pytest.mark.parametrize("content", [b"3\n", b"[1, 2]\n", b"hello\n"])
def test_not_a_description(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match="expected the keys trundle, robot and run"):
        load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "cart.yaml").write_text(GOOD)
    with pytest.raises(InputError, match="no such file") as caught:
        load(tmp_path / "card.yaml")
    assert "cart.yaml" in (caught.value.hint or "")
    with pytest.raises(InputError, match="folder"):
        load(tmp_path)
    with pytest.raises(InputError, match="zero byte"):
        load("a\0b.yaml")
    with pytest.raises(InputError, match="not an ordinary file"):
        load("/dev/zero")
    (tmp_path / "latin.yaml").write_bytes(GOOD.replace("cart", "cart\xe4").encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8") as caught:
        load(tmp_path / "latin.yaml")
    assert caught.value.line == 3


def test_enormous_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as stream:
        stream.truncate(10**10)  # sparse: takes no room
    tracemalloc.start()
    with pytest.raises(InputError, match="1,000,000"):
        load(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5_000_000  # no more was read than a file may have


@pytest.mark.parametrize(("begin", "piece"), [("", "["), ("", "{a: "), ("", "- "), ("a: {b: ", "[")])
def test_deep_nesting_is_refused_where_it_is_too_deep(begin: str, piece: str) -> None:
    """What stands behind that place costs nothing."""

    def refused(depth: int) -> None:
        with pytest.raises(InputError, match="50 deep|not valid YAML"):
            parse(begin + piece * depth)

    refused(60)  # patterns are compiled at first
    assert calls(lambda: refused(100_000)) == calls(lambda: refused(60))


def test_yaml_words_are_text() -> None:
    text = (
        GOOD.replace("left_motor", "no")
        .replace("right_motor", "on")
        .replace("drives: left", "drives: 'left'")
    )
    robot = parse(text).robot
    assert list(robot.motors) == ["on", "no"]
    assert parse(GOOD.replace("50.0", "010")).robot.parameter_values()["body.mass"] == 10.0
    assert parse(GOOD.replace("50.0", "5e1")).robot.parameter_values()["body.mass"] == 50.0
    with pytest.raises(InputError, match="no place"):
        parse(GOOD.replace("50.0", "1:30"))


def test_a_byte_order_mark_and_windows_lines_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "cart.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(path).robot == parse(GOOD).robot


def test_inputs_and_states_that_do_not_exist() -> None:
    good = GOOD.replace("mass: 1, name: pole", "mass: 1, inertia: {yy: 1}, name: pole")
    document = parse(good.replace("right_motor.voltage: 24.0", "right_motor.voltge: 24.0"), "cart.yaml")
    with pytest.raises(InputError, match="'right_motor.voltge' is not an input of 'cart'") as caught:
        trundle.run(document)
    assert (caught.value.file, caught.value.line) == ("cart.yaml", 20)
    assert "did you mean 'right_motor.voltage'" in (caught.value.hint or "")
    document = parse(good.replace("24.0}", "24 A}\n  initial: {x: 1, y: 2 kg}"))
    with pytest.raises(InputError, match="expected a voltage"):
        trundle.run(document)
    document = parse(good.replace("24.0}", "24 V}\n  initial: {x: 1, y: 2 kg}"))
    with pytest.raises(InputError, match="expected a length") as caught:
        trundle.run(document)
    assert "run.initial.y" in str(caught.value)


def test_from_python_the_same_messages() -> None:
    with pytest.raises(InputError, match="unknown key 'mas' in a body") as caught:
        Body(mas=3.0)  # type: ignore[arg-type]
    assert "did you mean 'mass'" in str(caught.value)
    with pytest.raises(InputError, match="must not be negative") as caught:
        parse_robot({"body": {"mass": -1}, "wheels": {"w": {"radius": 1}}})
    assert caught.value.key == "body.mass"
    with pytest.raises(InputError, match="nothing that can move"):
        parse_robot({})
    with pytest.raises(InputError, match="expected a mapping"):
        parse_robot([1])  # type: ignore[arg-type]


STEERED = {"type": "steered", "radius": 0.1, "mass": 1.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wheels": ["left", "left"]}, "the same"),
        ({"wheels": ["left", "rear"]}, "is fixed"),
        ({"wheels": ["left", "rigth"]}, "no wheel 'rigth'"),
        ({"wheels": ["lfet", "right"]}, "no wheel 'lfet'"),
        ({"wheels": ["right", "left"]}, "not greater"),
        ({"axle": 1.0}, "stand on the fixed axle"),
        ({"wheels": ["left"]}, "wheels"),
    ],
)
def test_couplings(changes: dict[str, object], message: str) -> None:
    wheels = {
        "left": {**STEERED, "at": [1, 0.5, 0]},
        "right": {**STEERED, "at": [1, -0.5, 0]},
        "rear": {"radius": 0.1, "mass": 1},
    }
    coupling = {"wheels": ["left", "right"]} | changes
    with pytest.raises(InputError, match=message):
        parse_robot({"body": {"mass": 1}, "wheels": wheels, "couplings": {"steering": coupling}})


def test_a_coupled_wheel_has_no_motor_of_its_own() -> None:
    wheels = {"left": {**STEERED, "at": [1, 0.5, 0]}, "right": {**STEERED, "at": [1, -0.5, 0]}}
    motors = {"m": {"type": "servo", "drives": "left.steering", "stiffness": 1}}
    with pytest.raises(InputError, match="held by the coupling 'steering'"):
        parse_robot(
            {"wheels": wheels, "motors": motors, "couplings": {"steering": {"wheels": ["left", "right"]}}}
        )


def test_loops_over_joints_that_make_no_tree():
    """The check of a loop walks up the joints: it must neither fail nor run on for ever where they lead nowhere."""
    link = {"type": "revolute", "body": {"mass": 1.0}}
    pin = {"type": "revolute", "first": {"body": "c"}, "second": {"body": "a"}}
    for parent, message in (("nobody", "no body or joint 'nobody'"), ("c", "in a circle: b -> c -> b")):
        joints = {"a": link, "b": {**link, "parent": parent}, "c": {**link, "parent": "b"}}
        with pytest.raises(InputError, match=message):
            parse_robot({"joints": joints, "loops": {"pin": pin}})


@pytest.mark.parametrize("sign", ["\x00", "\x07", "\x1b", "\x7f", "\ufffe", "\ud800"])
def test_control_characters_are_told_with_their_line(sign):
    text = f"trundle: 1\n# Räder\nrobot:\n  name: a{sign}b\n"
    with pytest.raises(InputError, match=rf"a.yaml:4: not valid YAML: the character U\+{ord(sign):04X}"):
        parse(text, "a.yaml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("trundle: 1\nrobot:\n  name: a\n   and more\n   and yet\n   base: planar\n", 4),
        ("trundle: 1\nrobot:\n  body: {mass: 1, inertia: {zz: 2}\n  name: a\n  base: planar\n", 3),
        ('trundle: 1\nrobot:\n  name: "a\n  base: planar\n  body: {mass: 1}\n', 3),
        ("trundle: 1\nrobot:\n  name: a\n  base\n  body: {mass: 1}\n", 4),
        ("trundle: 1\nrobot:\n  name: a\n   base: planar\n", 4),
        ("trundle: 1\nrobot:\n  wheels:\n    left: {radius: 1}\n   motors:\n    m: {drives: left}\n", 5),
    ],
)
def test_bad_yaml_is_told_where_it_begins(text, line):
    with pytest.raises(InputError, match="not valid YAML") as caught:
        parse(text)
    assert caught.value.line == line


def test_a_motors_model_is_a_name():
    with pytest.raises(InputError, match="there is no model a mapping"):
        parse(
            GOOD.replace(
                "{drives: right, torque_constant: 1.0, resistance: 0.05}", "{drives: right, model: {a: 1}}"
            )
        )


def test_negative_friction_is_no_slip_of_the_pen():
    described = GOOD.replace("axis: [0, 1, 0], body", "axis: [0, 1, 0], coulomb: -0.195065, body")
    with pytest.raises(InputError, match="coulomb .*got -0.195065") as caught:
        parse(described)
    assert "did you mean" not in (caught.value.hint or "")
