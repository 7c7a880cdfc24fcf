"""Writing a description as YAML that reads back to an equal one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from trundle.documents.runspec import RunSpec
from trundle.documents.yamltext import scalar
from trundle.expected import check_str, check_type
from trundle.robot.component import plain
from trundle.robot.description import Robot

if TYPE_CHECKING:
    from trundle.robot.terrain import Terrain

# Wide enough for a wheel or a motor in one line.
_WIDTH = 118
_TAG = "tag:yaml.org,2002:"
# What may stand as it is: what editors show, without what YAML 1.1 takes for line ends.
_SHOWN = re.compile(r"[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+")


def dump(
    robot: Robot, run: RunSpec | None = None, *, terrain: Terrain | None = None, comment: str = ""
) -> str:
    """YAML text of a robot and its run; what nobody wrote stays out. `comment` goes on top.

    Parameters
    ----------
    robot : Robot
        Also one that was read from URDF.
    run : RunSpec, optional
        What to do with it.
    terrain : Terrain, optional
        The ground under it.
    comment : str
        Lines of text.

    Returns
    -------
    str
        `trundle.documents.parse` reads the same robot and run back.

    Raises
    ------
    InputError
        The robot holds data that YAML has no words for.

    Examples
    --------
    >>> import trundle
    >>> from trundle.documents import dump, parse
    >>> robot = trundle.catalog.pendulum()
    >>> parse(dump(robot, comment="Two links.")).robot == robot
    True
    """
    check_type(robot, Robot, "robot", "trundle.load(path) reads one")
    data: dict[str, object] = {"trundle": 1, "robot": plain(robot)}
    if terrain is not None:
        from trundle.robot.terrain import Terrain  # late: most files have none

        data["terrain"] = plain(check_type(terrain, Terrain, "terrain"))
    if run is not None:
        data["run"] = plain(check_type(run, RunSpec, "run"))
    check_str(comment, "comment")
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())
    return head + to_yaml(data)


def to_yaml(data: Mapping[str, object]) -> str:
    """YAML text of plain data that `yamltext.read_yaml` reads back to the same."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.serialize(_node(data), Dumper=dumper, width=10**6, allow_unicode=True)


def _node(inner: object, indent: int = -2, key: str = "") -> Node:
    """The YAML of plain data: the outer levels in lines, and a mapping inside them in one line where it fits."""
    if isinstance(inner, Mapping):
        outer = indent <= 0 or (indent == 2 and any(isinstance(entry, Mapping) for entry in inner.values()))
        # Python writes a mapping as YAML does, but for the quotes
        fits = indent + len(key) + len(str(inner).replace("'", "")) <= _WIDTH
        pairs = [(_node(entry), _node(value, indent + 2, entry)) for entry, value in inner.items()]
        return MappingNode(_TAG + "map", pairs, flow_style=fits and not outer)
    if isinstance(inner, (list, tuple)):
        if any(isinstance(entry, Mapping) for entry in inner):  # each in lines of its own
            return SequenceNode(_TAG + "seq", [_node(entry, indent + 2) for entry in inner], flow_style=False)
        return SequenceNode(_TAG + "seq", [_node(_whole(entry)) for entry in inner], flow_style=True)
    if isinstance(inner, bool):
        return ScalarNode(_TAG + "bool", str(inner).lower())
    if isinstance(inner, (int, float)):
        return ScalarNode(_TAG + ("float" if isinstance(inner, float) else "int"), _number(inner))
    return _text_node(str(inner))


def _text_node(text: str) -> ScalarNode:
    """Text of many lines as it stands; in quotes what can't be shown, and what YAML 1.2 takes for a number.

    What only YAML 1.1 takes for something else (yes, on) the emitter puts in quotes.
    """
    quoted = '"' if (text and not _SHOWN.fullmatch(text)) or not isinstance(scalar(text), str) else None
    style = "|" if text.count("\n") > 1 and text.strip() and not quoted else quoted
    return ScalarNode(_TAG + "str", text, style=style)


def _whole(entry: object) -> object:
    """In a vector 0 reads better than 0.0, and is the same number."""
    return int(entry) if isinstance(entry, float) and entry.is_integer() and abs(entry) < 1e6 else entry


def _number(number: float) -> str:
    """The shortest text that reads back exactly; readers of YAML 1.1 want a point in front of an exponent."""
    mantissa, mark, exponent = repr(number).partition("e")
    return f"{mantissa}.0{mark}{exponent}" if mark and "." not in mantissa else f"{mantissa}{mark}{exponent}"
