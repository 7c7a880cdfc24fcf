"""What a file holds, and the text it is read from: shared by the readers of every format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from trundle.documents.foreign import LOOKED_AT, refuse_foreign
from trundle.documents.runspec import RunSpec
from trundle.errors import InputError, suggest
from trundle.robot.description import Robot
from trundle.robot.problems import Path

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
        """The same error with file and line, found by its key ("run.inputs.left.voltage" or "wheels.left").

        Parameters
        ----------
        error : InputError
            With a key.

        Returns
        -------
        InputError

        Raises
        ------
        TypeError
            It is no error with a key.

        Examples
        --------
        >>> import trundle
        >>> from trundle.documents import dump, parse
        >>> document = parse(dump(trundle.catalog.pendulum()))
        >>> document.locate(trundle.InputError("too heavy", key="robot.joints.link_1")).line is None
        False
        """
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


def read_text(path: FilePath, most: int = MOST_BYTES) -> str:
    """Text of an ordinary UTF-8 file of at most so many bytes; raises InputError."""
    file = str(path)
    try:
        if path.is_dir():
            raise InputError("is a folder, not a file", file=file, hint="name a YAML or URDF file in it")
        if path.exists() and not path.is_file():  # a pipe or a device could be endless
            raise InputError("is no ordinary file", file=file)
        with path.open("rb") as stream:
            content = stream.read(most + 1)
            size = stream.seek(0, 2)
    except FileNotFoundError:
        raise InputError("there is no such file", file=file, hint=_near_files(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"can't be read: {reason}", file=file.replace("\0", "?")) from None
    refuse_foreign(content[:LOOKED_AT], file)
    if size > most:
        raise too_large(size, file, most)
    return decode(content, file)


def decode(content: bytes, file: str | None = None) -> str:
    """Text of a file's bytes: UTF-8."""
    refuse_foreign(content[:LOOKED_AT], file)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", file=file, line=line, hint="save it as UTF-8") from None


def too_large(size: int, file: str | None, most: int = MOST_BYTES) -> InputError:
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
