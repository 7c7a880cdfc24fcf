"""What to run: a description's file and its `run:` section, with what the command line changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.errors import InputError

if TYPE_CHECKING:
    from trundle.documents import Document, RunSpec
    from trundle.model import Model

STDIN = "-"
# Options of the command line that stand for one entry of the run section, and the section they belong to.
_PAIRS = {"set": "set", "input": "inputs", "initial": "initial"}
_PLAIN = ("duration", "method", "samples")


@dataclass(frozen=True)
class Request:
    """A checked document and its run; `overridden` maps keys of the run section to the options that gave them, `kept`
    is the model where the file holds one.
    """

    document: Document
    run: RunSpec
    overridden: Mapping[str, str]
    from_file: bool
    kept: Model | None = None

    def model(self) -> Model:
        """The model that the file holds, or the one derived from its description."""
        from trundle.model import derive

        return self.kept or derive(self.document.robot)

    @property
    def folder(self) -> Path:
        """Where files that the description names are looked for."""
        path = self.document.path
        return path.parent if path is not None and self.from_file else Path()

    @property
    def source(self) -> str:
        """The file, for a person."""
        return str(self.document.path) if self.document.path is not None else "a description"

    @property
    def stem(self) -> str:
        """The name for what is written: the file's without its ending, or the robot's."""
        path = self.document.path
        if self.from_file and path is not None and path.stem:
            return path.stem.removesuffix(".trundle") if self.kept else path.stem
        return self.document.robot.name.replace(" ", "_")

    def locate(self, error: InputError) -> InputError:
        """The same error with its place: the option on the command line, or file and line."""
        for key, option in self.overridden.items():
            if error.key == key or (error.key or "").startswith(f"{key}."):
                return InputError(error.message, key=option, hint=error.hint)
        return self.document.locate(error)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors from inside the block get their place."""
        try:
            yield
        except InputError as error:
            raise self.locate(error) from error.__cause__


def read_request(args: argparse.Namespace) -> Request:
    """Read the file (or standard input) and lay the command line's changes over its run section."""
    document, kept = read_file(args.file)
    run, overridden = _changed(document, args)
    request = Request(document, run, overridden, args.file != STDIN, kept)
    if getattr(args, "set", None) and run.mode == "dynamic":
        with request.located():
            _require_masses(document, run)
    return request


def read_file(file: str) -> tuple[Document, Model | None]:
    """The description in a file, and the model where it holds a kept one (which has no run section)."""
    from trundle.documents.document import MODEL_SUFFIX

    if not file.lower().endswith(MODEL_SUFFIX):
        return read_document(file), None
    from trundle.documents import Document
    from trundle.model.archive import open_model

    model = open_model(file)
    if model.robot is None:
        raise InputError(
            "holds a model that came from SymPy, without a description",
            file=file,
            hint="use it from Python: trundle.simulate(trundle.open(path), ...)",
        )
    return Document(model.robot, None, Path(file)), model


def read_document(file: str) -> Document:
    """The description in a file, or on standard input for "-"."""
    from trundle.documents import load, parse
    from trundle.documents.document import MOST_BYTES, decode

    if file != STDIN:
        return load(file)
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(f"has more than {MOST_BYTES:,} bytes", file="<stdin>", hint="is it a description?")
    return parse(decode(content, "<stdin>"), "<stdin>")


def _changed(document: Document, args: argparse.Namespace) -> tuple[RunSpec, dict[str, str]]:
    """The run section with the options laid over it, each option checked by itself first, so that errors name it."""
    from trundle.documents import RunSpec

    described = document.run
    data: dict[str, Any] = (
        {} if described is None else {n: getattr(described, n) for n in described.model_fields_set}
    )
    overridden = {}
    for option in _PLAIN:
        written = getattr(args, option, None)
        if written is not None:
            checked = _check(RunSpec, option, written, f"--{option}")
            data[option] = getattr(checked, option)
            overridden[f"run.{option}"] = f"--{option}"
    if "run.samples" in overridden:
        data.pop("rate", None)
    for option, section in _PAIRS.items():
        for name, written in getattr(args, option, None) or ():
            checked = _check(RunSpec, section, {name: written}, f"--{option} {name}")
            data[section] = {**data.get(section, {}), name: getattr(checked, section)[name]}
            overridden[f"run.{section}.{name}"] = f"--{option} {name}"
    try:
        return RunSpec(**data), overridden
    except InputError as error:  # options and file that don't go together: a long duration at the file's rate
        raise document.locate(InputError(error.message, key=f"run.{error.key}", hint=error.hint)) from None


def _check(spec: Callable[..., Any], key: str, written: Any, option: str) -> Any:
    try:
        return spec(**{key: written})
    except InputError as error:
        raise InputError(error.message, key=option, hint=error.hint) from None


def _require_masses(document: Document, run: RunSpec) -> None:
    """With changed parameters a mass may have become zero: look again."""
    from trundle.robot.checks import dynamic_problems
    from trundle.robot.problems import report

    try:
        scope = document.robot.parameter_values(run.set)
    except InputError as error:
        raise InputError(error.message, key=f"run.set.{error.key}", hint=error.hint) from None
    problems = dynamic_problems(document.robot, scope)
    if problems:
        error = report(problems)
        raise error if error.key not in run.set else InputError(error.message, key=f"run.set.{error.key}")


def sampling(run: RunSpec) -> dict[str, Any]:
    """`samples`, or `times` where the run asks for a rate: every k/rate up to the end, and the end itself."""
    if run.rate is None:
        return {"samples": run.samples}
    import numpy as np

    # A whole number of periods that rounding made a little less still counts as whole.
    count = int(np.floor(run.duration * run.rate * (1 + 1e-12)))
    times = np.minimum(np.arange(count + 1) / run.rate, run.duration)
    if times[-1] < run.duration:
        times = np.append(times, run.duration)
    return {"times": times}


def start(run: RunSpec) -> dict[str, float]:
    """The initial values in SI."""
    return {name: value.number for name, value in run.initial.items()}


def signals(request: Request) -> dict[str, Any]:
    """The inputs as `trundle.simulate` takes them: numbers and tables, those in files read."""
    from trundle.cli.columns import read_column
    from trundle.documents import FileTable, Table

    given: dict[str, Any] = {}
    for name, signal in request.run.inputs.items():
        if isinstance(signal, FileTable):
            given[name] = read_column(signal, name, request.folder, f"run.inputs.{name}")
        elif isinstance(signal, Table):
            given[name] = (signal.times, signal.numbers, signal.interpolation)
        else:
            given[name] = signal.number
    return given
