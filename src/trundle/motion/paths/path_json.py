"""JSON files of other tools, checked against what Trundle reads of them: errors with file, line, key and the fix."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from trundle.documents.document import read_text
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError
from trundle.robot.component import Component
from trundle.robot.problems import Path, problems_of, report
from trundle.robot.values import describe

# Trajectories of a minute at 100 Hz have 3 MB; what is much larger isn't a path, and would fill the memory.
_MOST_BYTES = 20_000_000

# Lengths, times and angles beyond this are mistakes: nobody means them, and their powers overflow later on.
MOST = 1e9
Number = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
Least0 = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]


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


def read_json(path: FilePath) -> JsonFile:
    """A file's JSON, an object; InputError for other texts, and for NaN or Infinity, which Python reads."""
    file, text = str(path), read_text(path, _MOST_BYTES)
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
