"""Whatever stands in a file, reading it ends, and ends in a Robot or an InputError."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trundle.documents import Document, dump, parse
from trundle.documents.document import decode
from trundle.errors import InputError
from trundle.robot import parse_robot
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import read_value
from work import calls

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.yaml"))
TEXTS = [path.read_text(encoding="utf-8") for path in EXAMPLES]
PIECES = [
    *("0", "-1", "1e400", ".nan", ".inf", "true", "~", "[]", "{}", "[1, 2, 3]", "r", "6 in", "1/0", "'", '"'),
    *("{", "}", "[", "]", ":", ": ", "- ", "# ", "\t", "\n", "\n  ", "&a ", "*a", "<<: ", "? ", "| ", "> "),
    *("!!python/name:os.system ", "---\n", "...\n", "%YAML 1.1\n", "\0", "\ufeff", "é", "🙂", "x" * 300),
    *("base", "type: caster", "contact: slip", "parent: left", "mass", "wheels"),
]


def _read(text: str) -> Document | None:
    document, message = None, "fuzz.yaml"
    try:
        document = parse(text, "fuzz.yaml")
    except InputError as error:
        message = str(error)
    assert message.startswith("fuzz.yaml")
    return document


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
@pytest.mark.slow
def test_an_example_with_pieces_thrown_in(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    document = _read(text)
    if document is not None:
        assert parse(dump(document.robot, document.run, terrain=document.terrain)).robot == document.robot


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    assert _read(text) is None
    _read(f"trundle: 1\nrobot: {text}")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    with suppress(InputError):
        parse(decode(content))


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(PIECES)
)
KEYS = st.sampled_from(
    ["name", "base", "gravity", "body", "joints", "wheels", "motors", "couplings", "parameters", "speeds"]
    + ["mass", "inertia", "zz", "type", "kind", "at", "radius", "drives", "parent"]
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, DATA, max_size=6))
@pytest.mark.slow
def test_any_data(data: dict[str, object]) -> None:
    with suppress(InputError):
        parse_robot(data)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*"()+-*/^.0123456789", "**", " ", "r", "m", "pi", "sqrt", "sin(", "1e9", "kg", "deg"]
        ),
        max_size=30,
    )
)
@pytest.mark.slow
def test_any_formula(pieces: list[str]) -> None:
    value = None
    with suppress(ExpressionError):
        value = read_value("".join(pieces))
    if value is not None and not value.names:
        assert abs(value.number) < float("inf")


LARGE = {
    "wheels": (
        "  wheels:\n",
        "    w{}: {{radius: 1, mass: 2, parent: nothing}}\n",
        "wheels; a description may have 1000",
    ),
    "parameters": ("  parameters:\n", "    p{0}: q{0}\n", "parameters; a description may have 10000"),
    "unknown keys": ("  wheels:\n", "    w{}: {{radus: 1}}\n", "wheels; a description may have 1000"),
    "text": ("  body: {mass: ", "1 + ", "characters long"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_work_on_large_files_grows_as_they_do(case: str) -> None:
    head, piece, message = LARGE[case]

    def refused(count: int) -> None:
        text = "trundle: 1\nrobot:\n" + head + "".join(piece.format(each) for each in range(count))
        with pytest.raises(InputError, match=message):
            parse(text + ("1}" if case == "text" else ""))

    few, many = (calls(partial(refused, size // len(piece))).total() for size in (200_000, 400_000))
    assert many < 2.5 * few


@pytest.mark.slow
def test_work_on_many_of_everything_grows_as_they_do() -> None:
    def read(count: int) -> None:
        numbers = range(count)
        joints = {f"j{k}": {"type": "revolute", "parent": f"j{k - 1}" if k else "base"} for k in numbers}
        wheels = {f"w{k}": {"radius": f"p{k}", "at": [0, 0, f"p{k}"], "parent": "j9"} for k in numbers}
        parameters = {f"p{k}": f"p{k - 1}/1" if k % 99 else 0.5 for k in numbers}
        robot = parse_robot({"joints": joints, "wheels": wheels, "parameters": parameters})
        assert len(robot.wheels) == count

    few, many = (calls(partial(read, count)).total() for count in (500, 1000))
    assert many < 2.5 * few


def test_forty_thousand_wheels_are_refused_before_they_are_read() -> None:
    def refused() -> None:
        with pytest.raises(InputError, match="40000 wheels; a description may have 1000"):
            parse_robot({"wheels": wheels})

    wheels = {f"w{each}": {"radius": 0.1, "mass": 2} for each in range(40_000)}
    one = calls(lambda: parse_robot({"wheels": {"w": wheels["w0"]}})).total()
    assert calls(refused).total() < 0.2 * one * len(wheels)
