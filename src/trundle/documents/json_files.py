"""JSON files of PathPlanner and Choreo, checked against what Trundle reads of them: errors with file, line, key and the
fix. Which kind one is, its keys tell, whatever its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import Annotated, NamedTuple, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from trundle.documents.document import MOST_JSON, read_text
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError
from trundle.robot.component import Component
from trundle.robot.problems import Path, problems_of, report
from trundle.robot.values import describe

# Lengths, times and angles beyond this are mistakes: nobody means them, and their powers overflow later on.
MOST = 1e9
Number = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
Least0 = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]
Above0 = Annotated[float, Field(gt=0, le=MOST, allow_inf_nan=False)]


class ForeignComponent(Component):
    """Keys of another tool's file by that tool's names; those that Trundle doesn't use are passed over."""

    model_config = ConfigDict(extra="ignore", strict=False)

    @classmethod
    def keys_of(cls, data: Mapping[str, object]) -> list[str]:
        """The names that this class reads and those in the file: an unknown key of another tool's is no error."""
        return [*cls.model_fields, *map(str, data)]


_T = TypeVar("_T", bound=ForeignComponent)


@dataclass(frozen=True)
class JsonFile:
    """A file's data, and its text, where lines of keys are looked for when something is wrong."""

    file: str
    text: str
    data: Mapping[str, object]

    def error(self, message: str, path: Path, hint: str | None = None) -> InputError:
        """An error at a key."""
        lines = self._lines()
        near = next(path[:k] for k in range(len(path), -1, -1) if path[:k] in lines)
        key = ".".join(map(str, path)) or None
        return InputError(message, file=self.file, line=lines[near], key=key, hint=hint)

    def checked(self, form: type[_T]) -> _T:
        """The data as a noun; InputError with the line of the first key that is wrong, and the others."""
        try:
            return form.model_validate(self.data)
        except ValidationError as error:
            raise report(problems_of(error), file=self.file, lines=self._lines()) from None

    def _lines(self) -> dict[Path, int]:
        # JSON is YAML but for tabs, which stand nowhere inside its texts
        return read_yaml(self.text.replace("\t", " "), self.file, nulls=True)[1]


class JsonKind(NamedTuple):
    """A kind of file: the keys that tell it, what it is, and what to do where a robot is wanted ("": it has one), or a
    motion, and its name doesn't end as one's.
    """

    keys: str
    what: str
    for_robot: str
    for_motion: str


_SETTINGS = "the robot is in PathPlanner's settings.json, or Choreo's .chor: give that"
_OLD_SETTINGS = (
    "open the project in PathPlanner 2025 or 2026, fill in its robot config, and give that settings.json"
)
_PATHS = "it describes a robot, for --robot (robot=…); its paths are beside it: paths/NAME.path"
_OLD_PROJECT = "open it in Choreo 2025 or 2026 and save it"
# A file is of the first kind whose keys it has.
KINDS = {
    "settings": JsonKind("robotMass", "is PathPlanner's settings", "", _PATHS),
    "old settings": JsonKind(
        "holonomicMode", "is PathPlanner's settings without robotMass, as before 2025", _OLD_SETTINGS, _PATHS
    ),
    "project": JsonKind(
        "config variables", "is a Choreo project", "", "give its .traj; the project is for --robot (robot=…)"
    ),
    "old project": JsonKind(
        "robotConfiguration paths",
        "is a Choreo project of 2024",
        _OLD_PROJECT,
        f"{_OLD_PROJECT}, and give its .traj",
    ),
    "trajectory": JsonKind("trajectory", "is a trajectory of Choreo", _SETTINGS, "call it NAME.traj"),
    "old trajectory": JsonKind("samples", "is a trajectory of Choreo 2024", _SETTINGS, _OLD_PROJECT),
    "path": JsonKind("waypoints", "is a path of PathPlanner", _SETTINGS, "call it NAME.path"),
    "routine": JsonKind(
        "command", "is an autonomous routine of PathPlanner's (.auto)", _SETTINGS, "give the paths that it names"
    ),
    "grid": JsonKind(
        "grid nodeSizeMeters",
        "is PathPlanner's grid of a field (navgrid.json)",
        _SETTINGS,
        "it has no path; give one of pathplanner/paths: NAME.path",
    ),
}  # fmt: skip


def kind_of(text: str, file: str | None = None) -> tuple[str, JsonFile] | None:
    """Which of the kinds a text is, and its data; None where it is of no such kind, or is YAML in braces."""
    try:
        source = _parsed(text, file or "")
    except InputError:
        if PurePath(file or "").suffix in (".json", ".chor"):
            raise
        return None
    keys = source.data.keys()
    found = next((name for name, kind in KINDS.items() if keys >= set(kind.keys.split())), None)
    return None if found is None or "trundle" in keys else (found, source)


def refuse_no_motion(path: FilePath) -> None:
    """Raise InputError for a file of a kind that is called as no motion is: what it is, and what to give."""
    if path.suffix not in (".json", ".chor", ".auto") or not path.is_file():
        return
    found = kind_of(read_text(path, MOST_JSON), str(path))
    if found is not None:
        raise InputError(KINDS[found[0]].what, file=str(path), hint=KINDS[found[0]].for_motion)


def choreo_version(source: JsonFile, newest: int) -> None:
    """InputError for a version of Choreo's formats that isn't read.

    Choreo wrote "v2025.0…" before it counted its versions; that format is read like the first one that it counts.
    """
    version = source.data.get("version")
    number = version if isinstance(version, int) else 0 if str(version).startswith("v2025.0") else None
    if number is None or number > newest:
        came = "no version" if version is None else f"version {version!r}"
        hint = "save it with Choreo 2025 or 2026, or ask for newer formats"
        raise source.error(f"expected Choreo's format up to {newest}, got {came}", ("version",), hint)


def read_json(path: FilePath) -> JsonFile:
    """A file's JSON, an object; InputError for other texts, and for NaN or Infinity, which Python reads."""
    return _parsed(read_text(path, MOST_JSON), str(path))


def _parsed(text: str, file: str) -> JsonFile:
    """A text's JSON, an object; InputError for what is none."""
    try:
        data = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        hint = "is it whole? PathPlanner's and Choreo's files are JSON"
        raise InputError(f"not valid JSON: {error.msg}", file=file, line=error.lineno, hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", file=file, line=_line_of_no_number(text)) from None
    if not isinstance(data, dict):
        raise InputError(f"expected an object of keys, got {describe(data)}", file=file, line=1)
    return JsonFile(file, text, data)


# A text, which is passed over, or what Python's reader takes for a number.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)')


def _line_of_no_number(text: str) -> int | None:
    """Where the first NaN or Infinity stands outside of texts."""
    first = next((token for token in _TOKEN.finditer(text) if token[1]), None)
    return None if first is None else text.count("\n", 0, first.start()) + 1


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")
