"""URDF in and out: what is read, what is kept, what comes back."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trundle
from documents.urdf_files import meaning, random_urdf
from trundle import catalog
from trundle.cli import main
from trundle.documents import dump, dump_urdf, load, load_urdf, parse, parse_urdf, urdf_extras
from trundle.documents.urdf import Limit, UrdfMesh
from trundle.documents.urdf.urdf_reader import read
from trundle.errors import InputError
from trundle.robot import GearCoupling, PrismaticJoint, parse_robot
from trundle.robot.component import plain

EXAMPLE = Path(__file__).parents[2] / "examples" / "urdf" / "arm.urdf"

ARM = """\
<?xml version="1.0"?>
<!-- a comment > on top -->
<robot name="little arm">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base-link"/>
  <link name="upper/arm">
    <inertial>
      <origin xyz="0 0 .2" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx=".1" ixy="0" ixz="0" iyy=".12" iyz="0" izz="5e-2"/>
    </inertial>
    <visual><geometry><mesh filename="package://arm/a&amp;b.stl"/></geometry></visual>
  </link>
  <joint name="shoulder 1" type="revolute">
    <parent link="base-link"/><child link="upper/arm"/>
    <origin xyz="0 0 1" rpy="0 0 1.5"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0.2" spring="7"/>
    <safety_controller k_velocity="20"/>
  </joint>
  <link name="hand"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".05"/></inertial></link>
  <joint name="wrist" type="prismatic">
    <parent link="upper/arm"/><child link="hand"/>
    <limit lower="0" upper="0.1" effort="1" velocity="inf"/>
    <mimic joint="shoulder 1" multiplier="-2" offset="0.5"/>
  </joint>
  <link name="tool"/>
  <joint name="tool" type="fixed"><parent link="hand"/><child link="tool"/></joint>
  <gazebo reference="hand"><mu1>0.2</mu1></gazebo>
</robot>
"""


def test_smoothed_friction_is_said():
    """Which joints, below which speed; not where the file gives one, nor without friction."""
    with pytest.warns(UserWarning, match=r"friction of shoulder_1 is smoothed below 0\.001 rad/s") as told:
        parse_urdf(ARM)
    assert len(told) == 1
    said = ARM.replace("<dynamics damping", '<trundle coulomb_speed="0.02"/><dynamics damping', 1)
    for text in (said, ARM.replace('friction="0.2"', 'friction="0"')):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parse_urdf(text)


def test_what_is_read():
    robot = parse_urdf(ARM)
    assert (robot.name, robot.base) == ("little arm", "fixed")
    assert list(robot.joints) == ["shoulder_1", "wrist", "tool"]
    shoulder, wrist, tool = robot.joints.values()
    assert (shoulder.type, wrist.type, tool.type) == ("revolute", "prismatic", "fixed")
    assert (shoulder.parent, wrist.parent, tool.parent) == ("base", "upper_arm", "hand")
    assert isinstance(wrist, PrismaticJoint)
    values = robot.parameter_values()
    assert values["joints.shoulder_1.at.z"] == 1.0
    assert values["joints.shoulder_1.rpy.z"] == 1.5
    assert values["joints.shoulder_1.damping"] == 0.1
    assert values["joints.shoulder_1.coulomb"] == 0.2
    assert values["joints.shoulder_1.body.mass"] == 2.0
    assert values["joints.wrist.body.inertia.zz"] == 0.05
    assert [value.number for value in wrist.axis] == [
        1.0,
        0.0,
        0.0,
    ]  # URDF's default axis is x


def test_the_inertial_frame_turns_the_inertia_into_the_links_axes():
    inertia = parse_urdf(ARM).joints["shoulder_1"].body.inertia
    read = {name: getattr(inertia, name).number for name in ("xx", "yy", "zz", "xy", "xz", "yz")}
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (0.1, 0.2, 0.3))
    rotation = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    expected = rotation @ np.diag([0.1, 0.12, 0.05]) @ rotation.T
    matrix = [
        [read["xx"], read["xy"], read["xz"]],
        [read["xy"], read["yy"], read["yz"]],
        [read["xz"], read["yz"], read["zz"]],
    ]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-16)


def test_what_the_equations_do_not_use_can_be_asked_for():
    extras = urdf_extras(parse_urdf(ARM))
    assert extras.joints == {"shoulder_1": "shoulder 1", "wrist": "wrist", "tool": "tool"}
    assert extras.links == {
        "base_link": "base-link",
        "upper_arm": "upper/arm",
        "hand": "hand",
        "tool": "tool",
    }
    assert extras.limits["shoulder_1"] == Limit(-1.0, 1.5, 10.0, 3.0)
    assert extras.limits["wrist"] == Limit(0.0, 0.1, 1.0, math.inf)
    assert extras.meshes == (UrdfMesh("upper_arm", "visual", "package://arm/a&b.stl"),)
    with pytest.raises(InputError, match="was not read from URDF"):
        urdf_extras(catalog.robot("pendulum"))


def test_an_unchanged_robot_is_written_as_it_was_read():
    robot = parse_urdf(ARM)
    written = dump_urdf(robot)
    assert meaning(written) == meaning(ARM)
    assert written.startswith(ARM[: ARM.index("<robot")])  # what stands before the root, to the byte
    assert parse_urdf(written) == robot
    assert dump_urdf(parse_urdf(written)) == written
    assert urdf_extras(parse_urdf(written)) == urdf_extras(robot)


@pytest.mark.slow
def test_round_trip_of_random_files(rng):
    for _ in range(30):
        text = random_urdf(rng, int(rng.integers(1, 20)), massive_root=bool(rng.integers(2)))
        robot = parse_urdf(text)
        written = dump_urdf(robot)
        assert meaning(written) == meaning(text)
        assert parse_urdf(written) == robot
        assert dump_urdf(parse_urdf(written)) == written
        assert urdf_extras(parse_urdf(written)) == urdf_extras(robot)
        assert parse(dump(robot)).robot == robot  # through YAML, too


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("ab #:\"'|>-\t\n\r\x85\u2028é🙂")),
    st.sampled_from(["", "\n", "\n\n", " \n \n"]),
)
@pytest.mark.slow
def test_yaml_carries_any_text(text: str, end: str) -> None:
    robot = catalog.robot("pendulum").model_copy(update={"urdf": f"x{text}\ny{end}"})
    assert parse(dump(robot)).robot.urdf == robot.urdf


def test_a_change_touches_its_own_element_only():
    robot = parse_urdf(ARM).with_parameters({"joints.shoulder_1.body.mass": 3, "joints.shoulder_1.at.z": 2.5})
    written = dump_urdf(robot)
    assert meaning(written) == meaning(
        ARM.replace('<mass value="2"/>', '<mass value="3"/>').replace(
            '<origin xyz="0 0 1" rpy="0 0 1.5"/>', '<origin xyz="0 0 2.5" rpy="0 0 1.5"/>'
        )
    )
    back = parse_urdf(written)
    assert back.parameter_values() == robot.parameter_values()
    assert dump_urdf(back) == written


READ = {"inertial", "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "trundle"}


def kept(text: str | None) -> object:
    """What a file says and Trundle has no use for: comments, visuals, transmissions, unknown attributes."""
    tag, _, _, inside = meaning(text or "")
    return tag, [
        (tag, attributes.get("name"), words, [each for each in below if each[0] not in READ])
        for tag, attributes, words, below in inside
        if tag != "trundle"
    ]


@pytest.mark.slow
def test_every_number_can_change_and_comes_back_exactly(rng):
    for _ in range(10):
        robot = parse_urdf(random_urdf(rng, int(rng.integers(1, 8)), massive_root=bool(rng.integers(2))))
        changes: dict[str, float | str] = {}
        for name, number in robot.parameter_values().items():
            if "inertia" in name or rng.random() < 0.3:
                continue
            changes[name] = number * float(rng.uniform(0.5, 1.0))
        changed = robot.with_parameters(changes)
        back = parse_urdf(dump_urdf(changed))
        assert back.parameter_values() == changed.parameter_values()
        ours, theirs = urdf_extras(back), urdf_extras(robot)
        assert (ours.links, ours.joints, ours.meshes) == (theirs.links, theirs.joints, theirs.meshes)
        assert kept(dump_urdf(back)) == kept(robot.urdf)
        leaders = [{n: list(gear.follows) for n, gear in each.couplings.items()} for each in (back, robot)]
        assert leaders[0] == leaders[1]
        assert dump_urdf(back) == dump_urdf(changed)


@pytest.mark.slow
def test_parts_can_change_and_come_back_exactly(rng):
    """Limits, frictions, masses, bases and gravity come and go; written into the file, and anew."""
    for _ in range(30):
        robot = parse_urdf(random_urdf(rng, int(rng.integers(1, 8)), massive_root=bool(rng.integers(2))))
        data = plain(robot)
        joint = data["joints"][str(rng.choice(list(data["joints"])))]
        if joint["type"] in ("revolute", "prismatic"):
            stops = {"lower": -0.3, "upper": 0.7} if rng.integers(2) else {"lower": None, "upper": None}
            joint |= {key: each for key, each in stops.items() if each is not None}
            for key in [key for key, each in stops.items() if each is None]:
                joint.pop(key, None)
        if rng.integers(2):
            joint.pop("damping", None)
        if rng.integers(2):
            joint.setdefault("body", {}).update(mass=2.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.5})
        if rng.integers(2):
            data.setdefault("body", {}).update(mass=3.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
        if rng.integers(2):
            data["gravity"] = 1.6
        data["base"] = str(rng.choice(["fixed", "planar", "floating"]))
        changed = parse_robot(data)
        for start in (changed, changed.model_copy(update={"urdf": None})):
            back = read(dump_urdf(start), strict=False).robot
            assert back.parameter_values() == changed.parameter_values()
            assert back.base == changed.base


def test_signs_that_xml_must_escape_come_back():
    text = ARM.replace("<mu1>0.2</mu1>", "<mu1><![CDATA[a < b && c]]>&#13;</mu1>").replace(
        "package://arm/a&amp;b.stl", "a&quot;&#10;&#9;&lt;&gt;'.stl"
    )
    robot = parse_urdf(text)
    assert meaning(dump_urdf(robot)) == meaning(text)
    assert parse_urdf(dump_urdf(robot)) == robot
    assert urdf_extras(robot).meshes[0].filename == "a\"\n\t<>'.stl"


def test_a_changed_inertia_is_written_in_the_links_axes():
    robot = parse_urdf(ARM).with_parameters(
        {"joints.shoulder_1.body.inertia.xx": 0.11, "joints.wrist.damping": 0.5}
    )
    back = parse_urdf(dump_urdf(robot))
    assert back.parameter_values() == robot.parameter_values()
    root = ElementTree.fromstring(dump_urdf(robot))
    assert root.find("link[@name='upper/arm']/inertial/origin").attrib == {"xyz": "0 0 .2"}
    assert root.find("joint[@name='wrist']/dynamics").attrib == {"damping": "0.5"}


def test_joints_come_and_go():
    robot = parse_urdf(ARM)
    data = {name: joint for name, joint in robot.joints.items() if name != "tool"}
    finger = {"type": "revolute", "parent": "hand", "stiffness": 2.0, "body": {"name": "tip", "mass": 0.1}}
    changed = parse_robot(
        {
            "name": "little arm",
            "joints": {**data, "finger": finger},
            "couplings": robot.couplings,
            "urdf": robot.urdf,
        }
    )
    written = dump_urdf(changed)
    assert "<mimic" in written
    assert "</gazebo>" in written
    assert '<link name="tool"' not in written
    assert '<joint name="finger" type="continuous">' in written
    back = parse_urdf(written)
    assert list(back.joints) == ["shoulder_1", "wrist", "finger"]
    assert back.parameter_values() == changed.parameter_values()


def test_a_robot_from_elsewhere_is_written_anew():
    robot = parse_robot(
        {
            "name": "spring arm",
            "base": "floating",
            "gravity": 1.62,
            "body": {"mass": "2*m", "inertia": {"xx": 1, "yy": 1, "zz": 1}, "center_of_mass": [0, "1 in", 0]},
            "joints": {
                "hip": {
                    "type": "revolute",
                    "axis": [1, 2, 3],
                    "rpy": ["20 deg", 0, 0],
                    "at": [0, 0, -1],
                    "stiffness": 3,
                    "rest": 0.1,
                    "armature": 0.01,
                    "coulomb": 0.1,
                    "coulomb_speed": 0.02,
                    "body": {"mass": "m", "name": "thigh"},
                },
                "foot": {"type": "prismatic", "parent": "thigh", "body": {"mass": 0.3}, "damping": 2},
                "sole": {"type": "fixed", "parent": "foot"},
            },
            "parameters": {"m": 1.5},
        }
    )
    text = dump_urdf(robot)
    back = parse_urdf(text)
    assert dump_urdf(back) == text
    assert (back.base, back.name, list(back.joints)) == (robot.base, robot.name, list(robot.joints))
    assert back.resolver().gravity() == (0.0, 0.0, -1.62)
    for name, joint in robot.joints.items():
        for field in type(joint).model_fields:
            ours, theirs = getattr(joint, field), getattr(back.joints[name], field)
            if hasattr(ours, "source"):
                assert robot.number(ours) == back.number(theirs), (name, field)
    assert back.resolver().vector(back.joints["hip"].rpy) == (math.radians(20), 0, 0)
    assert back.body is not None
    assert back.number(back.body.mass) == 3.0


def test_limits_become_stops_once_they_are_stiff():
    robot = parse_urdf(ARM)
    values = robot.parameter_values()
    assert (values["joints.shoulder_1.lower"], values["joints.wrist.upper"]) == (-1.0, 0.1)
    data = {
        "joints.shoulder_1.upper": 1.25,
        "joints.shoulder_1.limit_stiffness": 100.0,
        "joints.wrist.upper": 0.2,
    }
    shoulder = robot.joints["shoulder_1"]
    stiff = {
        **{field: getattr(shoulder, field) for field in shoulder.model_fields_set},
        "limit_stiffness": 100.0,
    }
    changed = parse_robot(
        {"name": "little arm", "joints": {**robot.joints, "shoulder_1": stiff}, "urdf": robot.urdf}
    ).with_parameters(data)
    written = dump_urdf(changed)
    assert '<limit lower="-1" upper="1.25" effort="10" velocity="3" />' in written
    assert '<trundle limit_stiffness="100" />' in written
    assert '<limit lower="0" upper="0.2" effort="1" velocity="inf" />' in written
    assert parse_urdf(written).parameter_values() == changed.parameter_values()
    fresh = dump_urdf(changed.model_copy(update={"urdf": None}))
    assert '<joint name="shoulder_1" type="revolute">' in fresh
    assert parse_urdf(fresh).parameter_values() == changed.parameter_values()


@pytest.mark.parametrize("name", ["limited_swerve", "mecanum", "three_omni", "skid_steer"])
def test_wheels_and_motors_of_a_description_survive(name: str):
    robot = catalog.robot(name)
    assert parse_urdf(dump_urdf(robot)).model_copy(update={"urdf": None}) == robot


def test_the_base():
    free = ARM.replace(
        '<link name="base-link"/>',
        '<link name="base-link"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>',
    )
    assert parse_urdf(free).base == "floating"
    assert parse_urdf(free.replace("base-link", "world")).base == "fixed"
    assert parse_urdf(free, base="fixed").base == "fixed"
    planar = parse_urdf(free, base="planar")
    written = dump_urdf(planar)
    assert '<trundle base="planar" />' in written
    assert parse_urdf(written).base == "planar"
    with pytest.raises(InputError, match="unknown base 'flaoting'"):
        parse_urdf(free, base="flaoting")


def test_names_that_trundle_has_other_uses_for():
    text = ARM.replace("base-link", "base").replace("upper/arm", "sin").replace('"hand"', '"wrist"')
    robot = parse_urdf(text.replace("shoulder 1", "sin"))
    assert list(robot.joints) == ["sin_1", "wrist", "tool"]
    assert urdf_extras(robot).links == {"base": "base", "sin_link": "sin", "wrist": "wrist", "tool": "tool"}
    assert robot.joints["wrist"].parent == "sin_link"


def test_inertias_that_no_body_has_can_be_taken_on_trust(tmp_path):
    text = ARM.replace('izz=".05"', 'izz="5"')
    with pytest.raises(InputError, match="leave strict away"):
        parse_urdf(text, strict=True)
    (tmp_path / "arm.urdf").write_text(text)
    with pytest.raises(InputError, match="leave strict away"):
        trundle.load(tmp_path / "arm.urdf", strict=True)
    with pytest.raises(InputError, match="leave strict away"):
        trundle.load({"robot": {"urdf": str(tmp_path / "arm.urdf")}}, strict=True)
    with pytest.warns(UserWarning, match="moments of inertia of hand; they are taken as they stand"):
        robot = parse_urdf(text)
    assert robot.joints["wrist"].body.inertia.as_given
    assert not robot.joints["shoulder_1"].body.inertia.as_given
    assert meaning(dump_urdf(robot)) == meaning(text)
    with_tag = text.replace("<gazebo", '<trundle inertia="as_given"/><gazebo')
    assert parse_urdf(with_tag).joints == robot.joints
    changed = parse_urdf(with_tag).with_parameters({"gravity": 1.6})
    said = ElementTree.fromstring(dump_urdf(changed)).find("trundle")
    assert said.attrib == {"gravity": "1.6", "inertia": "as_given"}
    fresh = dump_urdf(robot.model_copy(update={"urdf": None}))
    assert parse_urdf(fresh).parameter_values() == robot.parameter_values()


def test_files(tmp_path: Path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(("\ufeff" + ARM.replace("\n", "\r\n")).encode())
    robot = trundle.load(path)
    assert robot == load_urdf(path) == load(path).robot
    assert meaning(dump_urdf(robot)) == meaning(ARM)
    assert parse(dump(robot)).robot == robot
    document = load(path)
    located = document.locate(InputError("something", key="joints.wrist.damping"))
    assert (located.file, located.line) == (
        str(path),
        ARM[: ARM.index('<joint name="wrist"')].count("\n") + 1,
    )


def test_a_robot_from_urdf_can_be_derived_and_simulated():
    model = trundle.derive(parse_urdf(ARM))
    assert model.states == ("shoulder_1.angle", "shoulder_1.rate")  # the wrist follows
    run = trundle.simulate(model, duration=0.1, initial={"shoulder_1.angle": 1.0})
    np.testing.assert_allclose(run["wrist.position"], 0.5 - 2 * run["shoulder_1.angle"], rtol=1e-14)
    assert model.units["wrist_mimic.torque"] == "N"
    assert abs(run.summary["energy_imbalance"]) < 1e-8


def test_a_mimic_is_a_gear():
    robot = parse_urdf(ARM)
    gear = robot.couplings["wrist_mimic"]
    assert isinstance(gear, GearCoupling)
    assert (gear.joint, list(gear.follows)) == ("wrist", ["shoulder_1"])
    values = robot.parameter_values()
    assert values["couplings.wrist_mimic.follows.shoulder_1"] == -2.0
    assert values["couplings.wrist_mimic.offset"] == 0.5
    taken = ARM.replace('"tool"', '"wrist_mimic"')
    assert list(parse_urdf(taken).couplings) == ["wrist_mimic_1"]
    frozen = ARM.replace('name="wrist" type="prismatic"', 'name="wrist" type="fixed"')
    assert not parse_urdf(frozen).couplings
    assert meaning(dump_urdf(parse_urdf(frozen))) == meaning(frozen)


def test_a_changed_mimic_is_written():
    robot = parse_urdf(ARM)
    faster = robot.with_parameters({"couplings.wrist_mimic.follows.shoulder_1": -2.5})
    assert meaning(dump_urdf(faster)) == meaning(ARM.replace('multiplier="-2"', 'multiplier="-2.5"'))
    free = robot.model_copy(update={"couplings": {}})
    assert meaning(dump_urdf(free)) == meaning(
        ARM.replace('    <mimic joint="shoulder 1" multiplier="-2" offset="0.5"/>\n', "")
    )
    data = {"name": "little arm", "joints": robot.joints, "urdf": robot.urdf}
    turned = {"type": "gear", "joint": "shoulder_1", "follows": {"wrist": 3}}
    written = dump_urdf(parse_robot({**data, "couplings": {"other": turned}}))
    assert '<mimic joint="wrist" multiplier="3" offset="0" />' in written
    assert written.count("<mimic") == 1
    assert parse_urdf(written).couplings["shoulder_1_mimic"].joint == "shoulder_1"


def test_gears_and_loops_that_urdf_has_no_word_for_are_elements_of_trundles():
    hinge = {"type": "revolute", "body": {"mass": 1, "inertia": {"zz": 1}}}
    joints = {name: dict(hinge) for name in "abc"}
    one = {"type": "gear", "joint": "b", "follows": {"a": "1/3"}, "offset": "10 deg"}
    made = parse_robot({"joints": joints, "couplings": {"mesh": one}})
    back = parse_urdf(dump_urdf(made))
    assert list(back.couplings) == ["b_mimic"]
    assert back.parameter_values()["couplings.b_mimic.follows.a"] == 1 / 3
    assert back.parameter_values()["couplings.b_mimic.offset"] == math.radians(10)
    both = {"type": "gear", "joint": "c", "follows": {"a": 1, "b": 2}}
    loop = {"type": "spherical", "first": {"body": "a", "at": [1, 0, 0]}, "second": {"at": [1, 0, 0]}}
    made = parse_robot({"joints": joints, "couplings": {"mesh": one, "set": both}, "loops": {"pin": loop}})
    back = parse_urdf(dump_urdf(made))
    assert back.couplings["set"] == made.couplings["set"]
    assert back.loops == made.loops
    assert list(back.couplings) == ["b_mimic", "set"]


@pytest.mark.slow
def test_the_example_runs_on_the_command_line(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(EXAMPLE), "--duration", "0.1", "--quiet"]) == 0
    assert main(["check", str(EXAMPLE), "--quiet"]) == 0


def test_the_example_arm_is_what_it_says():
    arm = load_urdf(EXAMPLE)
    inertia = arm.joints["shoulder"].body.inertia
    assert (arm.base, inertia.zz.number, inertia.xz.number) == ("fixed", 0.0006, 0.0)
    assert inertia.xx.number == pytest.approx(0.0093, rel=1e-15)
    assert meaning(dump_urdf(arm)) == meaning(EXAMPLE.read_text())


def test_declared_encodings_and_blank_lines_before_a_prologue(tmp_path):
    """As public files have them: what is written again is UTF-8, and says so; lines are those of the file."""
    wanted, robot = parse_urdf(ARM), ARM[ARM.index("<robot") :]
    text = f'\n\n<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- für Übungen -->\n{robot}'
    (tmp_path / "latin.urdf").write_bytes(text.encode("latin-1"))
    read = load_urdf(tmp_path / "latin.urdf")
    assert read.joints == wanted.joints
    assert 'encoding="UTF-8"' in dump_urdf(read)
    assert "für Übungen" in dump_urdf(read)
    (tmp_path / "broken.urdf").write_text("\n\n<?xml version='1.0'?>\n<robot name='a'>\n<link>\n</robot>")
    with pytest.raises(InputError, match="mismatched tag") as found:
        load_urdf(tmp_path / "broken.urdf")
    assert found.value.line == 6
