"""What is wrong with a description: pydantic's errors in our words, with key path, line and likely fix; and circles of
things that depend on themselves: joints on parents, parameters on others, gears on leaders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from pydantic import ValidationError

from trundle.errors import InputError, choose
from trundle.robot.values import describe


class CircleError(ValueError):
    """Things that depend on each other in a circle: each on the next, the last on the first."""

    def __init__(self, circle: list[str]) -> None:
        super().__init__(" -> ".join([*circle, circle[0]]))
        self.circle = circle


def in_order(depends: Mapping[str, Iterable[str]]) -> list[str]:
    """The names in an order in which each comes after those it depends on; raises CircleError where there is none.

    A circle begins with the name that stands first among the keys.
    """
    try:
        return list(TopologicalSorter(depends).static_order())
    except CycleError as error:
        circle = error.args[1][:0:-1]  # graphlib lists what is depended on first, and one name at both ends
        start = min(map(list(depends).index, circle))
        at = circle.index(list(depends)[start])
        raise CircleError([*circle[at:], *circle[:at]]) from None


Path = tuple[str | int, ...]
_AXES = ("x", "y", "z")
_VECTORS = ("at", "rpy", "axis", "center_of_mass", "gravity")
# What pydantic's kinds of errors say here, and how to put them right.
_NAMES, _LIST = "expected a mapping of names, got {came}", "expected a list, got {came}"
_NUMBER = "expected a number, got {came}"
NO_NAME = (
    "{came} is not a valid name",
    "letters, digits, spaces and _ . + -, starting with a letter or digit",
)
_WORDS: dict[str, tuple[str, str | None]] = {
    "missing": ("{key!r} is missing", None),
    "dict_type": (_NAMES, "write NAME: {...} below this key"),
    "mapping_type": (_NAMES, "write NAME: {...} below this key"),
    "model_type": ("expected a mapping of keys, got {came}", None),
    "dataclass_type": ("expected a mapping of keys, got {came}", None),
    "bool_type": ("expected true or false, got {came}", None),
    "list_type": (_LIST, None),
    "tuple_type": (_LIST, None),
    "too_short": ("expected at least {min_length}, got {came}", None),
    "string_type": ("expected text, got {came}", "put it in quotes"),
    "float_parsing": (_NUMBER, None),
    "float_type": (_NUMBER, None),
    "greater_than": ("must be greater than {gt}, got {came}", None),
    "greater_than_equal": ("must be at least {ge}, got {came}", None),
    "less_than_equal": ("must be at most {le}, got {came}", None),
    "int_type": ("expected a whole number, got {came}", None),
    "string_pattern_mismatch": NO_NAME,
}
# How many further problems are listed under the first one.
_LISTED = 8
# How many are looked at: each costs the search for a name that is near.
_ENOUGH = 200


@dataclass(frozen=True)
class Mistake:
    """One thing wrong with a description: where (keys from the top), what, and how to put it right."""

    path: Path
    message: str
    hint: str | None = None


def key_of(path: Path) -> str:
    """Key path as text; the entries of a vector go by x, y and z: ("wheels", "right", "at", 1) is wheels.right.at.y."""
    parts = list(path)
    for place, part in enumerate(parts):
        if isinstance(part, int) and part < 3 and place and parts[place - 1] in _VECTORS:
            parts[place] = _AXES[part]
    return ".".join(str(part) for part in parts)


def problems_of(error: ValidationError) -> list[Mistake]:
    """Every problem in a pydantic error."""
    mistakes: list[Mistake] = []
    for problem in error.errors(include_url=False)[:_ENOUGH]:
        context = problem.get("ctx", {})
        if problem["type"] == "too_short" and len(problem["input"]) >= context["min_length"]:
            continue  # pydantic counts only entries that are right; what is wrong with the others is said for each
        path = _without_tags(problem["loc"])
        if "problems" in context:  # the robot's own checks report several at once
            mistakes.extend(Mistake((*path, *one.path), one.message, one.hint) for one in context["problems"])
            continue
        path = (*path, *context.get("at", ()))
        message, hint = _words(problem["type"], problem["msg"], problem["input"], context, path)
        mistakes.append(Mistake(path, message, hint))
    return mistakes


def _without_tags(loc: tuple[int | str, ...]) -> Path:
    # pydantic puts the chosen type of a union ("<table>") and "[key]" for a wrong key among the keys
    return tuple(
        part for part in loc if not (isinstance(part, str) and part[:1] in "<[" and part[-1:] in ">]")
    )


def _words(
    kind: str, fallback: str, came: object, context: Mapping[str, object], path: Path
) -> tuple[str, str | None]:
    """Message and hint of one of pydantic's errors, in the words of descriptions."""
    if "message" in context:
        hint = context.get("hint")
        return str(context["message"]), None if hint is None else str(hint)
    if kind == "literal_error":
        allowed = str(context.get("expected", "")).replace(" or ", ", ").replace("'", "").split(", ")
        return f"unknown choice {describe(came)}", choose(came, allowed)
    if kind in _WORDS:
        words, hint = _WORDS[kind]
        hint = hint if kind != "string_type" or isinstance(came, (int, float)) else None
        return words.format(key=path[-1] if path else "", came=describe(came), **context), hint
    return f"{fallback[:1].lower()}{fallback[1:]}, got {describe(came)}", None


def report(
    problems: Sequence[Mistake],
    *,
    file: str | None = None,
    lines: Mapping[Path, int] | None = None,
    within: str | None = None,
) -> InputError:
    """One InputError: the first problem in full (in the order of the file), the others a line each."""
    ordered = (
        sorted(problems, key=lambda problem: _line(problem.path, lines) or 0) if lines else list(problems)
    )
    first, others = ordered[0], ordered[1:]
    listed: list[str] = []
    for other in others[: _LISTED + 1]:
        line = _line(other.path, lines)
        listed.append(f"{f'line {line}: ' if line else ''}{key_of(other.path)}: {other.message}")
    key = key_of(first.path) or within
    hint = with_others(first.hint, listed, len(others))
    return InputError(first.message, file=file, line=_line(first.path, lines), key=key, hint=hint)


def with_others(hint: str | None, others: Sequence[str], count: int) -> str | None:
    """The hint of an error that stands for several: its own, then the others, a line each."""
    parts = [hint] if hint else []
    if others:
        parts.append(f"{count} more:" if count > 1 else "and:")
    parts += [f"  {other}" for other in others[:_LISTED]]
    if count > _LISTED:
        parts.append("  ...")
    return "\n  ".join(parts) or None


def _line(path: Path, lines: Mapping[Path, int] | None) -> int | None:
    """Line of a key, or of the nearest key above it that is in the file."""
    if lines is None:
        return None
    for length in range(len(path), -1, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def input_error(error: ValidationError, within: str | None = None) -> InputError:
    """The same for a description made in Python, which has no file."""
    return report(problems_of(error), within=within)
