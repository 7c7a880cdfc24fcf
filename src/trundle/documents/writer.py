"""Writing a description as YAML that reads back to an equal one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from trundle.documents.runspec import RunSpec
from trundle.documents.yamltext import scalar
from trundle.robot.description import Robot
from trundle.robot.walk import plain

_WIDTH = 118
# Text that is plain to YAML 1.1 and 1.2 alike, in block and in flow.
_PLAIN = re.compile(r"-?[A-Za-z_0-9.(][A-Za-z0-9_ .*/()+^-]*", re.ASCII)
# Text of several lines that a literal block holds as it is; what YAML 1.1 takes for line ends is left to quotes.
_LITERAL = re.compile(r"[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+")
# What must not stand in quotes as it is: what no editor shows, and what YAML 1.1 takes for line ends.
_ESCAPED = re.compile(r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
# Words that readers of YAML 1.1 take for booleans.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def dump(robot: Robot, run: RunSpec | None = None, *, comment: str = "") -> str:
    """YAML text of a robot and its run; what nobody wrote stays out. `comment` goes on top."""
    data: dict[str, Any] = {"trundle": 1, "robot": plain(robot)}
    if run is not None:
        data["run"] = plain(run)
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())
    return head + "\n".join(_block(data, 0)) + "\n"


def _block(data: Mapping[str, Any], indent: int) -> list[str]:
    lines: list[str] = []
    for key, inner in data.items():
        head = " " * indent + _text(key) + ":"
        if isinstance(inner, str) and inner.count("\n") > 1 and inner.strip() and _LITERAL.fullmatch(inner):
            lines += [f"{head} {_literal(inner, indent + 2)}"]
            continue
        short = f"{head} {_flow(inner)}"
        if isinstance(inner, Mapping) and inner and (_outer(inner, indent) or len(short) > _WIDTH):
            lines += [head, *_block(inner, indent + 2)]
        else:
            lines.append(short)
    return lines


def _literal(text: str, indent: int) -> str:
    """A literal block: the text line by line, with how it ends."""
    ends = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    lines = text.removesuffix("\n").split("\n")
    return "\n".join([f"|2{ends}", *(" " * indent + line if line else "" for line in lines)])


def _outer(inner: Mapping[str, Any], indent: int) -> bool:
    """Whether a mapping is one of the outer levels, which read better in lines; a wheel or a motor fits into one."""
    return indent == 0 or (indent == 2 and any(isinstance(each, Mapping) for each in inner.values()))


def _flow(inner: Any) -> str:
    if isinstance(inner, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_flow(each)}" for key, each in inner.items()) + "}"
    if isinstance(inner, (list, tuple)):
        # 0 reads better than 0.0 in a vector, and is the same number
        return "[" + ", ".join(_flow(int(each) if _is_whole(each) else each) for each in inner) + "]"
    if isinstance(inner, bool) or inner is None:
        return {True: "true", False: "false", None: "null"}[inner]
    if isinstance(inner, (int, float)):
        return _number(inner)
    return _text(str(inner))


def _is_whole(number: Any) -> bool:
    return isinstance(number, float) and number.is_integer() and abs(number) < 1e6


def _number(number: float) -> str:
    text = repr(number)
    mantissa, mark, exponent = text.partition("e")
    # YAML 1.1 readers want a point and a signed exponent
    if mark and "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}{mark}{exponent}" if not mark or exponent[0] in "+-" else f"{mantissa}e+{exponent}"


def _text(text: str) -> str:
    is_plain = _PLAIN.fullmatch(text) and not text.endswith(" ") and text.lower() not in _WORDS
    if is_plain and isinstance(scalar(text), str):
        return text
    return _ESCAPED.sub(lambda match: f"\\U{ord(match[0]):08x}", json.dumps(text, ensure_ascii=False))
