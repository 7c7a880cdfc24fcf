"""Wrong URDF: each ends in an InputError that names file, line, link or joint, attribute, and the likely fix."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from documents.test_urdf import ARM
from documents.urdf_files import meaning
from trundle.documents import Document, dump_urdf, load, parse_urdf
from trundle.documents.urdf.elements import NOUNS
from trundle.documents.urdf.urdf_reader import parse_document
from trundle.errors import InputError
from work import calls

HAND = '<link name="hand"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".05"/></inertial></link>'
MIMIC = '<mimic joint="shoulder 1" multiplier="-2" offset="0.5"/>'
WRIST = ARM[ARM.index(HAND) + len(HAND) : ARM.index(MIMIC) + len(MIMIC)]

# what is replaced, by what, what the error says in this order (the first is its key), and the line's own text
CASES = {
    "no attribute": ('<mass value="2"/>', "<mass/>", "link 'upper/arm' <mass>", "'value' is missing"),
    "misspelt attribute": (
        '<mass value="2"/>',
        '<mass valeu="2"/>',
        "link 'upper/arm' <mass valeu>",
        "unknown attribute 'valeu'",
        "did you mean 'value'",
    ),
    "misspelt element": (
        '<limit lower="-1"',
        '<limits lower="-1"',
        "joint 'shoulder 1' <limits>",
        "unknown element <limits>",
        "did you mean <limit>",
    ),
    "no number": ('value="2"', 'value="heavy"', "<mass value>", "expected a number, got 'heavy'"),
    "comma": ('value="2"', 'value="2,5"', "<mass value>", "expected a number", "a point, not a comma"),
    "not a number": ('value="2"', 'value="nan"', "<mass value>", "expected a number, got 'nan'"),
    "infinite": ('value="2"', 'value="inf"', "<mass value>", "expected a number, got 'inf'"),
    "too large": ('value="2"', 'value="1e999"', "<mass value>", "too large"),
    "hexadecimal": ('value="2"', 'value="0x2"', "<mass value>", "expected a number"),
    "empty": ('value="2"', 'value=" "', "<mass value>", "is empty"),
    "negative mass": (
        'value="2"',
        'value="-2"',
        "link 'upper/arm' <mass value>",
        "must not be negative, got -2",
        "did you mean 2?",
    ),
    "two numbers": (
        'xyz="0 0 .2"',
        'xyz="0 0"',
        "link 'upper/arm' <origin xyz>",
        "three numbers with spaces",
        "got '0 0'",
    ),
    "commas in a vector": ('xyz="0 0 .2"', 'xyz="0,0,.2"', "<origin xyz>", "three numbers with spaces"),
    "NaN in a vector": ('xyz="0 0 .2"', 'xyz="0 NaN .2"', "<origin xyz>", "got 'NaN'"),
    "degrees": ('rpy="0 0 1.5"', 'rpy="0 0 90"', "joint 'shoulder 1' <origin rpy>", "90 radians", "1.5708"),
    "negative moment": ('ixx=".1" ixy', 'ixx="-.1" ixy', "<inertia ixx>", "must not be negative"),
    "no inertia": (
        '<inertia ixx=".1" iyy=".1" izz=".05"/></inertial></link>',
        "</inertial></link>",
        "link 'hand' <inertial>",
        "has no <inertia>",
    ),
    "triangle": (
        'iyy=".1" izz=".05"',
        'iyy=".1" izz=".5"',
        "link 'hand' <inertia>",
        "triangle inequality: zz = 0.5 is more than xx + yy = 0.2",
    ),
    "products": (
        'iyy=".1" izz=".05"',
        'iyy=".1" izz=".05" ixy="1"',
        "link 'hand' <inertia>",
        "principal moments",
    ),
    "unknown type": (
        'name="wrist" type="prismatic"',
        'name="wrist" type="prismatik"',
        "joint 'wrist' <joint type>",
        "unknown type 'prismatik'",
        "did you mean 'prismatic'",
    ),
    "zero axis": ('xyz="0 1 0"', 'xyz="0 0 0"', "joint 'shoulder 1' <axis xyz>", "zero vector"),
    "negative damping": ('damping="0.1"', 'damping="-0.1"', "<dynamics damping>", "must not be negative"),
    "no limit": (
        '<limit lower="0" upper="0.1" effort="1" velocity="inf"/>',
        "",
        "joint 'wrist'",
        "a prismatic joint needs a <limit>",
    ),
    "limits": ('upper="1.5"', 'upper="-1.5"', "joint 'shoulder 1' <limit lower>", "lower limit -1 is above"),
    "mimic of nothing": (
        'mimic joint="shoulder 1"',
        'mimic joint="shoulder"',
        "joint 'wrist' <mimic joint>",
        "there is no joint 'shoulder'",
        "did you mean 'shoulder 1'",
    ),
    "mimic of itself": (
        'mimic joint="shoulder 1"',
        'mimic joint="wrist"',
        "joint 'wrist' <mimic joint>",
        "itself",
    ),
    "missing link": (
        '<parent link="hand"/>',
        '<parent link="hnad"/>',
        "joint 'tool' <parent link>",
        "there is no link 'hnad'",
        "did you mean 'hand'",
    ),
    "no parent": ('<parent link="hand"/>', "", "joint 'tool'", "has no <parent>"),
    "its own parent": (
        '<parent link="hand"/>',
        '<parent link="tool"/>',
        "joint 'tool'",
        "the same link, 'tool'",
    ),
    "two parents": (
        '<parent link="hand"/><child link="tool"/>',
        '<parent link="base-link"/><child link="hand"/>',
        "joint 'tool' <child link>",
        "'hand' hangs on the joint 'wrist' already",
    ),
    "two roots": (
        '<link name="tool"/>',
        '<link name="tool"/><link name="spare"/>',
        "link 'spare'",
        "2 roots",
        "'spare'",
    ),
    "circle": (
        '<parent link="base-link"/>',
        '<parent link="tool"/>',
        "joint '",
        "in a circle",
        "one link must be the root",
    ),
    "a link twice": (
        '<link name="tool"/>',
        '<link name="tool"/><link name="hand"/>',
        "link 'hand'",
        "taken already, in line 22",
    ),
    "a joint twice": (
        '<joint name="tool"',
        '<joint name="wrist"',
        "joint 'wrist'",
        "taken already, in line 23",
    ),
    "two inertials": (
        "<visual>",
        "<inertial/><visual>",
        "link 'upper/arm' <inertial>",
        "<inertial> stands twice, first in line 7",
    ),
    "no name": ('<link name="tool"/>', "<link/>", "<link>", "'name' is missing"),
    "no robot's name": ('<robot name="little arm">', "<robot>", "<robot>", "'name' is missing"),
    "mimic of a joint that holds still": (
        'mimic joint="shoulder 1"',
        'mimic joint="tool"',
        "joint 'wrist' <mimic joint>",
        "the joint 'tool' is fixed: it holds still",
        "take the mimic away",
    ),
    "mimic by nothing": (
        'multiplier="-2"',
        'multiplier="0"',
        "joint 'wrist' <mimic multiplier>",
        "the multiplier is zero",
        "make the joint fixed",
    ),
    "mimic by words": (
        'multiplier="-2"',
        'multiplier="twice"',
        "joint 'wrist' <mimic multiplier>",
        "expected a number, got 'twice'",
    ),
    "misspelt mimic": (
        'multiplier="-2"',
        'multipler="-2"',
        "joint 'wrist' <mimic multipler>",
        "did you mean 'multiplier'",
    ),
    "mimics in a circle": (
        '<safety_controller k_velocity="20"/>',
        '<mimic joint="wrist"/>',
        "joint 'shoulder 1' <mimic joint>",
        "in a circle: shoulder 1 -> wrist -> shoulder 1",
        "must be free",
    ),
    "a massless hand": (
        HAND + WRIST,
        '<link name="hand"/>' + WRIST.replace(MIMIC, ""),
        "link 'hand'",
        "the prismatic joint 'wrist' moves the link 'hand', and neither it nor anything behind it has a mass",
        "give 'hand' an <inertial>",
    ),
    "number of xacro": ('value="2"', 'value="${m*2}"', "<mass value>", "expected a number", "xacro file"),
    "xacro": ('<link name="tool"/>', "<xacro:arm/>", "<xacro:arm>", "is a macro, not URDF", "xacro file"),
    "a document type": (
        "<!-- a comment > on top -->",
        '<!DOCTYPE robot [<!ENTITY a "aaaa">]>',
        "",
        "document types and entities are not allowed",
    ),
    "an entity": ('value="2"', 'value="&mass;"', "", "not valid XML: undefined entity"),
    "not closed": ("</gazebo>", "", "", "not valid XML: mismatched tag"),
    "not quoted": ('value="2"', "value=2", "", "not valid XML"),
    "unknown word of ours": (
        '<link name="tool"/>',
        '<link name="tool"/><trundle bse="fixed"/>',
        "<trundle bse>",
        "did you mean 'base'",
    ),
    "unknown word of ours in a joint": (
        '<parent link="hand"/>',
        '<parent link="hand"/><trundle stifness="1"/>',
        "joint 'tool'",
        "unknown key 'stifness'",
    ),
}


def _read(text: str) -> Document:
    return parse_document(text, "arm.urdf", strict=True)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_wrong_files(case: tuple[str, ...]) -> None:
    before, after, key, *parts = case
    assert ARM.count(before) == 1
    text = ARM.replace(before, after)
    with pytest.raises(InputError) as caught:
        _read(text)
    error = caught.value
    assert error.file == "arm.urdf"
    assert error.line is not None
    assert key in (error.key or "")
    for part in parts:
        assert part in str(error)


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_joints_that_a_description_may_not_have(kind: str) -> None:
    text = ARM.replace('name="wrist" type="prismatic"', f'name="wrist" type="{kind}"')
    with pytest.raises(InputError, match=f"joint 'wrist' <mimic>: a {kind} joint can't mimic another one"):
        _read(text)
    text = text.replace(MIMIC, "")
    if kind in NOUNS:
        assert _read(text).robot.joints["wrist"].type == kind
    else:
        with pytest.raises(InputError, match=f"joint 'wrist' <joint type>: Trundle has no {kind} joints yet"):
            _read(text)


def test_the_line_is_the_elements_own() -> None:
    for before, after in (
        ('value="2"', 'value="x"'),
        ('xyz="0 1 0"', 'xyz="0 1"'),
        ('upper="0.1"', 'upper="-1"'),
    ):
        with pytest.raises(InputError) as caught:
            _read(ARM.replace(before, after))
        assert caught.value.line == ARM[: ARM.index(before)].count("\n") + 1


def test_files_that_are_something_else(tmp_path) -> None:
    for content, message in (
        (b"", "empty"),
        (b"trundle: 1", "not valid XML"),
        (b"<sdf><model/></sdf>", r"a Gazebo model or world \(SDF\)"),
        (b"<robot name='a'/>", "has no links"),
        (b"<robot name='a'><link name='b'/></robot>", "nothing that can move"),
        (b"<robot name='\xff'/>", "not UTF-8"),
    ):
        path = tmp_path / "file.urdf"
        path.write_bytes(content)
        with pytest.raises(InputError, match=message) as caught:
            load(path)
        assert caught.value.file == str(path)
    with pytest.raises(InputError, match="no such file.*\n.*did you mean 'file.urdf'"):
        load(tmp_path / "fil.urdf")


@pytest.mark.slow
def test_what_grows_is_refused_where_it_is_too_large() -> None:
    """What stands behind that place costs nothing."""
    link = '<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    joint = '<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{k}"/></joint>'
    many = "".join(link.format(i=i) for i in range(2000)) + "".join(
        joint.format(i=i, k=i + 1) for i in range(1999)
    )
    for text, message in (
        (f"<robot name='many'>{many}</robot>", "1999 joints; a description may have 1000"),
        (f"<robot name='{'x' * 100_000}'><link name='{'y' * 100_000}'/></robot>", "nothing that can move"),
    ):
        with pytest.raises(InputError, match=message):
            _read(text)

    def refused(text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            _read(text)

    for text, message in (("<a>", "nested more than 50 deep"), ("<a/>", "more than 100,000 elements")):
        few, many = (f"<robot>{text * count}</robot>" for count in (110_000, 220_000))
        refused(few, message)  # patterns are compiled at first
        work = [calls(partial(refused, each, message)) for each in (few, many)]
        assert work[0] == work[1]


PIECES = [
    *(
        '"',
        "'",
        "<",
        ">",
        "/",
        "=",
        "&",
        "&lt;",
        "&#0;",
        "&#x41;",
        "]]>",
        "<![CDATA[",
        "<!--",
        "-->",
        "<?x ?>",
    ),
    *(
        "<link/>",
        '<link name="hand"/>',
        "<joint/>",
        "<trundle/>",
        '<trundle base="x"/>',
        "</robot>",
        "<inertial/>",
    ),
    *(
        "nan",
        "-1",
        "1e400",
        "é",
        "\0",
        "\ufeff",
        "\ud800",
        "🙂",
        "x" * 300,
        ' type="fixed"',
        "mimic",
        "floating",
    ),
]


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_file_with_pieces_thrown_in(data: st.DataObject) -> None:
    text = ARM
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    robot, message = None, "arm.urdf"
    try:
        robot = _read(text).robot
    except InputError as error:
        message = str(error)
    assert message.startswith("arm.urdf")
    if robot is None:
        return
    written = dump_urdf(robot)
    assert meaning(written) == meaning(text)
    assert parse_urdf(written) == robot.model_copy(update={"folder": None})  # a text is in no folder
    masses = [
        name for name in robot.parameter_values() if name.endswith(".body.mass")
    ]  # names may be hit, too
    changed = robot.with_parameters({**dict.fromkeys(masses[:1], 1.25), "gravity": 3.7})
    assert parse_urdf(dump_urdf(changed)).parameter_values() == changed.parameter_values()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    with pytest.raises(InputError):
        _read(text)
    with pytest.raises(InputError):
        _read(f"<robot name='a'>{text}</robot>")
