"""Reading a description from a file: text to a checked Robot and its run, every error with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from trundle.documents.runspec import RunSpec
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError, suggest
from trundle.robot.checks import dynamic_problems
from trundle.robot.description import Robot
from trundle.robot.noun import Noun
from trundle.robot.problems import Path, problems_of, report
from trundle.robot.values import describe

# The version of the file format that this program writes, and the only one so far.
FORMAT = 1
# A description of a hundred bodies has some 20 kB; tables that need more belong into a CSV file.
MOST_BYTES = 1_000_000
# How the name of a file ends that `model.save` wrote: a description with the equations derived from it.
MODEL_SUFFIX = ".trundle.json"


@dataclass(frozen=True)
class Document:
    """What a file holds: the robot, its run (None without one), where it was read, its text and its keys' lines."""

    robot: Robot
    run: RunSpec | None = None
    path: FilePath | None = None
    source: str = ""
    lines: Mapping[Path, int] | None = None

    def locate(self, error: InputError) -> InputError:
        """The same error with file and line, found by its key ("run.inputs.left.voltage" or "wheels.left")."""
        file = None if self.path is None else str(self.path)
        if self.lines is None or error.key is None or error.line is not None:
            return error.at(file=file)
        by_key = {".".join(str(part) for part in path): line for path, line in self.lines.items()}
        for key in (error.key, f"robot.{error.key}", f"run.{error.key}"):
            while key:
                if key in by_key and key not in ("robot", "run"):
                    return error.at(file=file, line=by_key[key])
                key = key.rpartition(".")[0]
        return error.at(file=file)


class File(Noun):
    """A description of a robot and a run, for Trundle."""

    called: ClassVar[str] = "description"

    trundle: int = Field(description="Version of this format: 1.", ge=1, le=FORMAT)
    robot: Robot = Field(description="The robot.")
    run: RunSpec | None = Field(None, description="What to do with it.")


def load(path: str | FilePath) -> Document:
    """Read a description from a file; raises InputError with file, line and key. Nothing in a file is ever executed.

    A file called .urdf is read as URDF (see `load_urdf`), any other as YAML.
    """
    if str(path).lower().endswith(MODEL_SUFFIX):
        raise InputError(
            "holds a model that was kept, not a description alone",
            file=str(path),
            hint="trundle.open(path) gives the model, and its robot",
        )
    if FilePath(path).suffix.lower() == ".urdf":
        from trundle.documents.urdf.urdf_reader import load_document  # late: it needs this module

        return load_document(path)
    return parse(read_text(FilePath(path)), path)


def load_robot(path: str | FilePath) -> Robot:
    """The robot of a file."""
    return load(path).robot


def read_text(path: FilePath, most: int = MOST_BYTES) -> str:
    """Text of an ordinary UTF-8 file of at most so many bytes; raises InputError."""
    file = str(path)
    try:
        if path.is_dir():
            raise InputError("is a folder, not a file", file=file, hint="name a YAML or URDF file in it")
        if not path.is_file():  # a pipe or a device could be endless
            if path.exists():
                raise InputError("is no ordinary file", file=file)
            raise FileNotFoundError
        size = path.stat().st_size
        if size > most:
            raise _too_large(size, file, most)
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", file=file, hint=_near_files(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"can't be read: {reason}", file=file.replace("\0", "?")) from None
    if len(content) > most:
        raise _too_large(len(content), file, most)
    return decode(content, file)


def decode(content: bytes, file: str | None = None) -> str:
    """Text of a file's bytes: UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", file=file, line=line, hint="save it as UTF-8") from None


def _too_large(size: int, file: str | None, most: int = MOST_BYTES) -> InputError:
    return InputError(
        f"has {size:,} bytes; it may have {most:,}",
        file=file,
        hint=None
        if (file or "").lower().endswith((".urdf", MODEL_SUFFIX))
        else 'keep long tables in a CSV file: inputs: {NAME: {file: "table.csv"}}',
    )


def _near_files(path: FilePath) -> str | None:
    try:
        names = [
            each.name for each in path.parent.iterdir() if each.suffix in (".yaml", ".yml", ".urdf", ".json")
        ]
    except OSError:
        return f"there is no folder {path.parent}"
    return suggest(path.name, names) if names else None


def parse(text: str, path: str | FilePath | None = None) -> Document:
    """The same from text; `path` is for messages only."""
    file = None if path is None else str(path)
    if len(text) > MOST_BYTES:
        raise _too_large(len(text), file)
    data, lines = read_yaml(text, file)
    _check_version(data, lines, file)
    try:
        whole = File.model_validate(data)
    except ValidationError as error:
        raise report(problems_of(error), file=file, lines=lines) from None
    except RecursionError:
        raise InputError("is nested too deeply", file=file) from None
    document = Document(whole.robot, whole.run, None if path is None else FilePath(path), text, lines)
    _check_whole(document, file)
    return document


def _check_version(data: Any, lines: Mapping[Path, int], file: str | None) -> None:
    if data is None:
        raise InputError("the file is empty", file=file, hint="`trundle new` writes one to start from")
    if not isinstance(data, dict):
        message = f"expected the keys trundle, robot and run, got {describe(data)}"
        raise InputError(message, file=file, line=lines[()], hint="start the file with 'trundle: 1'")
    if "trundle" not in data:
        hint = "start the file with 'trundle: 1'"
        raise InputError(
            "'trundle', the version of the format, is missing", file=file, line=lines[()], hint=hint
        )
    version = data["trundle"]
    line = lines[("trundle",)]
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        message = f"expected the version of the format, got {describe(version)}"
        raise InputError(message, file=file, line=line, key="trundle", hint=f"write 'trundle: {FORMAT}'")
    if version > FORMAT:
        message = (
            f"the file is written for version {version} of the format; this program reads version {FORMAT}"
        )
        raise InputError(message, file=file, line=line, key="trundle", hint="upgrade trundle")


def _check_whole(document: Document, file: str | None) -> None:
    """What shows only with robot and run together: changed parameters, masses where forces will act."""
    robot, run = document.robot, document.run
    try:
        scope = robot.parameter_values(run.set if run else None)
    except InputError as error:
        changed = ("run", "set", error.key or "")
        path = changed if changed in (document.lines or {}) else changed[:2]
        line = (document.lines or {}).get(path)
        raise InputError(error.message, file=file, line=line, key=".".join(path), hint=error.hint) from None
    if run is None or run.mode == "dynamic":
        problems = dynamic_problems(robot, scope)
        if problems:
            inside = [type(each)(("robot", *each.path), each.message, each.hint) for each in problems]
            raise report(inside, file=file, lines=document.lines)
