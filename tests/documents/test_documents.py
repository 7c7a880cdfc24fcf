"""Whole descriptions: the examples, the catalogue, writing and reading back, the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trundle
from trundle import catalog
from trundle.documents import RunSpec, Table, dump, json_schema, load, load_urdf, parse
from trundle.errors import InputError
from trundle.robot import parse_robot
from trundle.robot.bodies import JOINTS
from trundle.robot.contact import LAWS
from trundle.robot.controllers import CONTROLLERS
from trundle.robot.motors import MOTORS
from trundle.robot.structure import speed_names
from trundle.robot.values import Value
from trundle.robot.wheels import WHEELS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.yaml"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 13


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_example_reads_and_writes_back(path: Path) -> None:
    document = load(path)
    again = parse(dump(document.robot, document.run, terrain=document.terrain, comment="again\nand again"))
    assert again.robot == document.robot
    assert again.run == document.run
    assert again.terrain == document.terrain
    assert again.robot.parameter_values() == document.robot.parameter_values()


def test_the_reference_robot() -> None:
    robot = load(EXAMPLES[0].parents[1] / "diff_drive/circle.yaml").robot
    assert robot.number(robot.wheels["right"].at[1]) == -0.6
    assert robot.parameter_values()["motors.left_motor.inductance"] == 1e-4


@pytest.mark.parametrize("name", catalog.names())
def test_catalogue(name: str) -> None:
    document = catalog.document(name)
    assert document.run is not None
    assert document.robot.name == name
    assert catalog.summary(name).endswith(".")
    assert parse(document.source).robot == document.robot == catalog.robot(name)
    keys = {value.key: value for _, value in document.robot.every_value}
    assert all(value.key for value in keys.values())
    drives = {motor.drives for motor in document.robot.motors.values()}
    assert len(drives) == len(document.robot.motors)


@pytest.mark.parametrize("modules", [2, 3, 5, 8])
def test_swerve_modules(modules: int) -> None:
    robot = catalog.swerve(modules=modules, radius="2 in")
    assert len(robot.wheels) == modules
    assert robot.parameter_values()["r"] == 0.0508
    assert ("track" in robot.parameter_values()) is (modules == 4)


def test_catalogue_measures() -> None:
    assert len(catalog.pendulum(links=5).joints) == 5
    assert "rear" not in catalog.tricycle(caster=False).wheels
    with pytest.raises(InputError, match="no 'swerv'") as caught:
        catalog.document("swerv")
    assert "did you mean 'swerve'" in str(caught.value)
    with pytest.raises(InputError, match="no measure 'radus'") as caught:
        catalog.document("swerve", radus=1)
    assert "did you mean 'radius'" in str(caught.value)
    with pytest.raises(InputError, match="2 to 32 modules"):
        catalog.swerve(modules=1)
    with pytest.raises(InputError, match="greater than zero"):
        catalog.mecanum(radius=0)


def test_speed_names() -> None:
    assert speed_names(catalog.ackermann())[-1] == "steering.rate"
    assert "front_left.steering_rate" not in speed_names(catalog.ackermann())
    assert "rear.steering_rate" in speed_names(catalog.tricycle())


def test_runs_read_back() -> None:
    data: dict[str, Any] = {
        "duration": "1 min",
        "rate": "1 kHz",
        "inputs": {
            "a.voltage": "24 V",
            "b.voltage": {"times": [0, 1], "values": [0, "6 V"], "interpolation": "previous"},
            "c.voltage": {"file": "some where/c.csv", "column": "no"},
        },
        "initial": {"theta": "90 deg"},
        "set": {"r": 1e-7},
        "method": "radau",
        "rtol": 1e-7,
    }
    run = RunSpec(**data)
    assert run.duration == 60.0
    assert run.rate == 1000.0
    table = run.inputs["b.voltage"]
    assert isinstance(table, Table)
    assert table.numbers == (0.0, 6.0)
    assert table.interpolation == "previous"
    voltage = run.inputs["a.voltage"]
    assert isinstance(voltage, Value)
    assert voltage.number == 24.0
    robot = parse_robot(
        {
            "wheels": {"w": {"radius": "r", "at": [0, 0, "r"]}},
            "parameters": {"r": 1},
            "body": {"mass": 1, "inertia": {"zz": 1}},
        }
    )
    text = dump(robot, run).replace("set: {r: 1.0e-07}", "")
    assert "1.0e-07" in dump(robot, run)
    assert parse(text).run == run.model_copy(update={"set": {}})


def test_plain_data_is_read_as_a_file_would_be() -> None:
    cart = {"wheels": {"w": {"radius": "6 in"}}, "body": {"mass": 1, "inertia": {"zz": 1}}}
    document = load({"robot": cart, "run": {"duration": "1 min", "mode": "kinematic"}})
    assert document.robot == parse_robot(cart)
    assert document.run is not None
    assert document.run.duration == 60.0
    assert (document.path, document.lines) == (None, None)
    with pytest.raises(InputError, match="unknown key 'radus'") as caught:
        load({"robot": cart | {"wheels": {"w": {"radus": 1}}}})
    assert caught.value.key == "robot.wheels.w.radus"
    with pytest.raises(InputError, match="unknown key 'wheels' in a description"):
        load(cart)
    with pytest.raises(InputError, match="needs a body with a mass"):
        load({"robot": {"base": "floating"}, "run": {"duration": 1}})
    with pytest.raises(InputError, match="no parameter 'rr'") as caught:
        load({"robot": cart, "run": {"set": {"rr": 1}}})
    assert caught.value.key == "run.set.rr"


LIMITED = """\
trundle: 1
robot:
  body: {mass: 0}
  wheels:
    left: {at: [0, 0.2, 0], radius: 0.1, contact: slip, limits: {drive_speed: 1, drive_acceleration: 2}}
    right: {at: [0, -0.2, 0], radius: 0.1, contact: slip, limits: {drive_speed: 1, drive_acceleration: 2}}
"""
FORWARD = """\
trundle: 1
motion:
  name: forward
  commands: [{duration: 0.2 s, twist: {v_x: 1.0}}]
"""


def test_wheels_without_mass_are_for_kinematics_and_plans(tmp_path: Path) -> None:
    """Limits and places are all that these need; forces are refused with the lines, by a run section at once."""
    file = tmp_path / "cart.yaml"
    file.write_text(LIMITED)
    assert trundle.kinematics(file).module_states(0.5, 0.0, 1.0).speeds == pytest.approx([0.3, 0.7])
    motion = tmp_path / "forward.yaml"
    motion.write_text(FORWARD)
    assert trundle.drive(motion, robot=file).motion.duration > 0.5  # (1 m/s)/(2 m/s²), smoothly
    with pytest.raises(InputError, match="needs a body with a mass") as refused:
        trundle.run(file)
    assert (refused.value.line, refused.value.key) == (3, "robot.body.mass")
    file.write_text(f"{LIMITED}run: {{mode: dynamic, duration: 1}}\n")
    with pytest.raises(InputError, match="needs a body with a mass") as refused:
        load(file)
    assert (refused.value.line, refused.value.key) == (3, "robot.body.mass")


@pytest.fixture(scope="module")
def schema() -> Any:
    return json_schema()


def test_schema(schema: Any) -> None:
    assert schema["properties"].keys() == {"trundle", "robot", "terrain", "run"}
    assert schema["additionalProperties"] is False
    wheel = schema["$defs"]["CasterWheel"]["properties"]
    assert wheel["offset"]["x-unit"] == "m"
    # Other tests register kinds of their own, whose words are theirs.
    kinds = [family.named(kind) for family in (CONTROLLERS, JOINTS, LAWS, MOTORS, WHEELS) for kind in family]
    guests = {kind.__name__ for kind in kinds if not kind.__module__.startswith("trundle.")}
    for name, noun in schema["$defs"].items():
        if name in guests:
            continue
        for key, field in noun.get("properties", {}).items():
            assert field.get("description"), f"{name}.{key} has no description"
    # a choice of nothing is no JSON Schema: constraints are users' classes alone
    assert '"anyOf": []' not in json.dumps(schema)
    assert '"oneOf": []' not in json.dumps(schema)


def _check(data: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """The part of JSON Schema that our schema uses."""
    if "$ref" in schema:
        return _check(data, root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            found = [_check(data, each, root) for each in schema[word]]
            return any(found) if word == "anyOf" else sum(found) == 1
    if "const" in schema:
        return data == schema["const"]
    if "enum" in schema and data not in schema["enum"]:
        return False
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    python = {
        "number": (int, float),
        "integer": int,
        "string": str,
        "array": (list, tuple),
        "object": dict,
        "null": type(None),
    }
    if kinds and not any(isinstance(data, python[kind]) for kind in kinds):
        return False
    if isinstance(data, dict):
        known = schema.get("properties", {})
        other = schema.get("additionalProperties", True)
        if not set(schema.get("required", [])) <= data.keys():
            return False
        for key, inner in data.items():
            rule = known.get(key, other)
            if rule is False or (isinstance(rule, dict) and not _check(inner, rule, root)):
                return False
    if isinstance(data, list) and "items" in schema:
        return all(_check(each, schema["items"], root) for each in data)
    return True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_schema_accepts_the_examples(path: Path, schema: Any) -> None:
    from trundle.documents.yamltext import read_yaml

    data: Any = read_yaml(path.read_text(encoding="utf-8"))[0]
    assert _check(data, schema, schema)
    data["robot"]["wheeels"] = {}
    assert not _check(data, schema, schema)


@pytest.mark.parametrize("name", ["forward_to_left", "round_the_clock"])
def test_schema_of_motions_accepts_the_examples(name: str) -> None:
    from trundle.documents.yamltext import read_yaml
    from trundle.motion.commands.commands import MotionFile

    schema: Any = json_schema(MotionFile, "motion")
    path = Path(__file__).parents[2] / "examples" / "swerve" / "motions" / f"{name}.yaml"
    data: Any = read_yaml(path.read_text(encoding="utf-8"))[0]
    assert _check(data, schema, schema)
    data["motion"]["commands"][0]["twits"] = {}
    assert not _check(data, schema, schema)


def test_keys_that_hold_nothing_are_not_written():
    """A robot made anew of another one's fields has all of them set, those that say nothing, too."""
    arm = load_urdf(Path(__file__).parents[2] / "examples" / "urdf" / "arm.urdf")
    again = type(arm)(**dict(arm))
    assert "None" not in dump(again)
    assert parse(dump(again)).robot == arm


@pytest.mark.parametrize("kind", [name for name in catalog.names() if "motor" in catalog.options(name)])
def test_every_kind_of_the_catalogue_takes_a_real_motor_and_a_gear(kind):
    robot = catalog.robot(kind, motor="neo", gear_ratio=7)
    driving = [motor for motor in robot.motors.values() if motor.type == "dc"]
    assert driving
    for motor in driving:
        assert robot.number(motor.gear_ratio) == 7  # type: ignore[attr-defined]
        assert robot.number(motor.resistance) == pytest.approx(12 / 105)  # type: ignore[attr-defined]


def test_a_heavier_body_of_the_catalogue_turns_as_its_mass_says():
    light, heavy = catalog.swerve(), catalog.swerve(body_mass="80 kg")
    names = ("body.mass", "body.inertia.zz")
    assert [heavy.parameter_values()[n] / light.parameter_values()[n] for n in names] == [2, 2]
    scaled = catalog.swerve(body_mass="r*(1600 kg)/(1 m)")
    assert scaled.body is not None
    assert scaled.number(scaled.body.inertia.zz) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("kind", "measure"), [("differential_drive", "track"), ("three_omni", "spread"), ("four_bar", "crank")]
)
def test_a_size_that_is_not_positive_is_told(kind, measure):
    with pytest.raises(InputError, match="must be greater than zero") as caught:
        catalog.robot(kind, **{measure: -1})
    assert caught.value.key == measure
