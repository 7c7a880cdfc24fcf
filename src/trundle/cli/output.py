"""Printing: one JSON object, or text that lines up and has colours where a person sits in front of it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from trundle.errors import InputError, TrundleError
from trundle.operating_system import takes_colours
from trundle.show.summaries.lines import Page, harmless

if TYPE_CHECKING:
    from trundle.progress import Doing

# Control characters that JSON leaves as they are, and that terminals obey.
_CONTROL = re.compile(r"[\x7f-\x9f]")


def colours_on(stream: TextIO) -> bool:
    """Whether a stream takes colours, and NO_COLOR (https://no-color.org) is not set."""
    return not os.environ.get("NO_COLOR") and takes_colours(stream)


@dataclass(frozen=True)
class Output(Page):
    """Where a command's answer goes: text for a person (unless quiet), or one JSON object."""

    json: bool = False
    quiet: bool = False

    def say(self, lines: str | Iterable[str] = "") -> None:
        """Lines for a person, on standard output; nothing with --json or --quiet."""
        if not (self.json or self.quiet):
            emit(lines if isinstance(lines, str) else "\n".join(lines))

    def doing(self, title: str) -> Doing:
        """While the block runs, a line on standard error once it takes long; nothing with --quiet."""
        from trundle.progress import Doing

        return Doing(not self.quiet, harmless(title))

    def answer(self, data: Mapping[str, object]) -> None:
        """The JSON object, where one was asked for."""
        if self.json:
            write_json(data)

    def report(self, data: Mapping[str, object], text: str, files: Mapping[str, object]) -> None:
        """What a command is asked for, as text or as data, and the files that it wrote."""
        self.answer({**data, **files})
        if not self.json:
            emit(text)
        for file in files.values():
            self.say(f"wrote {file}")


def output_for(args: Namespace) -> Output:
    """What --json and --quiet ask for."""
    return Output(colours_on(sys.stdout), args.json, args.quiet)


def emit(text: str, end: str = "\n") -> None:
    """Print on standard output at once, so that where it is full or closed the command says so."""
    try:
        print(harmless(text), end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        mute(sys.stdout)
        raise TrundleError(f"cannot write to standard output: {error.strerror or error}") from error


def mute(stream: TextIO) -> None:
    """Let what is still to be written to a stream that has failed go nowhere, the interpreter's last flush too."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_json(data: Mapping[str, object]) -> None:
    """One JSON object on standard output, in ASCII where its encoding is none of Unicode's (a Windows pipe, say)."""
    text = json_text(data)
    unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    emit(text if unicode else json.dumps(json.loads(text), indent=2))


def json_text(data: Mapping[str, object]) -> str:
    """The text of one JSON object; the control characters that JSON lets stand are escaped, as the others are."""
    text = json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def claim(file: str | None, force: bool) -> None:
    """Raise InputError, before any work is done, for a file that can't be written, or is there and isn't Trundle's,
    unless it is forced.
    """
    from trundle.files import is_marked, is_taken, require_writable

    if file is None:
        return
    if not is_taken(file):
        require_writable(Path(file).parent)
        return
    if Path(file).is_dir():
        raise InputError("is a folder", file=file, hint="name a file")
    if not force and not is_marked(Path(file)):
        # descriptions have no mark, as people go on with them
        edited = Path(file).suffix.lower() in (".yaml", ".yml")
        why = "may have been edited since" if edited else "trundle didn't write it"
        raise InputError(f"is there already, and {why}", file=file, hint="--force replaces it")


def write_file(file: str, text: str) -> None:
    """Text into a file, whole or not at all."""
    from trundle.files import replacing

    with replacing(file) as draft:
        # A file's name may stand in it that the system's encoding has no signs for.
        draft.write_text(text, encoding="utf-8", errors="replace", newline="\n")


def _plain(data: object) -> object:
    """Data that JSON holds: NumPy's numbers as Python's, and null for what is no finite number."""
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    if data is None or isinstance(data, str | bool | int):
        return data
    if isinstance(data, Iterable):
        return [_plain(value) for value in data]
    item = getattr(data, "item", None)  # a NumPy number; NumPy itself may not have been loaded
    return str(data) if item is None else _plain(item())
