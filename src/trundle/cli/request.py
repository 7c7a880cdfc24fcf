"""What a command is about: the description in a file, and what its options change of the run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from trundle.cli.parsing import Payload, options_named
from trundle.errors import InputError
from trundle.files import file_name

if TYPE_CHECKING:
    from trundle.documents import Document, RunSpec
    from trundle.simulation.runfile import Task

STDIN = "-"
# The options that change a run, by what the library calls what they change.
_OPTIONS = {name: f"--{name}" for name in ("initial", "duration", "method", "samples", "seed")} | {
    "parameters": "--set",
    "inputs": "--input",
}


@dataclass(frozen=True)
class Request:
    """What a file holds."""

    document: Document
    from_file: bool = True

    @cached_property
    def run(self) -> RunSpec:
        """The run section; without one what holds then."""
        from trundle.documents import RunSpec

        return self.document.run or RunSpec.model_validate({})

    @property
    def stem(self) -> str:
        """The name for what is written: the file's without its ending, or the robot's."""
        path = self.document.path
        if self.from_file and path is not None and path.stem:
            return path.stem
        return file_name(self.document.robot.name)

    def task(self, args: argparse.Namespace) -> Task:
        """The run that the file and the options ask for, checked; errors name the option, or file and line."""
        from trundle.simulation.runfile import Changes, task_of

        said = {name: getattr(args, option[2:], None) for name, option in _OPTIONS.items()}
        said |= {name: dict(said[name] or ()) for name in ("parameters", "inputs", "initial")}
        with options_named(_OPTIONS):
            return task_of(self.document, Changes(**said))

    def unmoved(self, seconds: float) -> Iterator[str]:
        """That the file doesn't say what moves the robot, and what holds then."""
        if self.document.run is None:
            what = self.document.path if self.from_file else "standard input"
            yield f"{what} has no run section: {seconds:g} s, and inputs that aren't given are 0"

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors from inside the block get their place in the file; those of options and of other files have theirs."""
        try:
            yield
        except InputError as error:
            if error.file is not None or (error.key or "").startswith("--"):
                raise
            raise self.document.locate(error) from error.__cause__


def read_request(file: str, base: str | None = None, payload: Payload | None = None) -> Request:
    """The description in a file or on standard input ("-"), on the `base` and with the payload that are asked for."""
    from trundle.documents import load

    with options_named({"base": "--base", "joints": "--payload"}):
        document = _standard_input(base) if file == STDIN else load(file, base=base)
        if payload is not None:
            document = replace(document, robot=document.robot.with_payload(*payload))
    return Request(document, from_file=file != STDIN)


def _standard_input(base: str | None) -> Document:
    from trundle.documents import parse
    from trundle.documents.document import MOST_BYTES, decode

    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(f"has more than {MOST_BYTES:,} bytes", file="<stdin>", hint="is it a description?")
    return parse(decode(content, "<stdin>"), "<stdin>", base=base)
