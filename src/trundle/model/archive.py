"""A model kept in one plain file, and reopened without deriving anything: `model.save(path)`, `trundle.open(path)`.

The file is JSON: the format's version, who wrote it, a checksum, the description as it stands in a YAML file, and the
model's fields, its programs as lists of instructions (`program.plain`). docs/model_file.md describes it. Reading runs
no code from it: everything is checked against the types of the model's fields, and every name of a program against the
model's.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from trundle.documents.document import MODEL_SUFFIX, read_text
from trundle.documents.reader import FORMAT as DESCRIPTION_FORMAT
from trundle.errors import InputError, TrundleError
from trundle.files import path_of, replacing
from trundle.model.fields import read, written
from trundle.model.model import Model
from trundle.program import Program
from trundle.robot.description import Robot, parse_robot
from trundle.robot.walk import plain
from trundle.version import __version__

# The version of the file format that this program writes, and the only one so far.
FORMAT = 2
# A program of 100,000 operations takes some 2 MB; a model has half a dozen.
MOST_BYTES = 50_000_000
_KEYS = ("trundle_model", "written_by", "sha256", "description", "model")
_WIDTH = 118


def save_model(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write a model to a file called *.trundle.json, whole or not at all, and return the path."""
    path = path_of(path, "save")
    if not path.name.lower().endswith(MODEL_SUFFIX):
        raise InputError(
            f"{str(path)!r}: the name of a model's file ends in {MODEL_SUFFIX}",
            hint=f"write {path.name.partition('.')[0] or 'model'}{MODEL_SUFFIX}",
        )
    text = to_text(model)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path


def open_model(path: str | os.PathLike[str]) -> Model:
    """The model of a file that `model.save` wrote, equal to the one that was saved; nothing is derived anew.

    Nothing in a file is ever executed: it is plain data, checked against the types of a model's fields.

    Parameters
    ----------
    path : str or path
        The file, *.trundle.json.

    Returns
    -------
    Model
        With the same programs, instruction by instruction.

    Raises
    ------
    InputError
        Where it is missing, damaged, of another version, or something else, saying what is wrong.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.pendulum())
    >>> trundle.open(model.save("pendulum.trundle.json")) == model
    True
    """
    path = path_of(path, "open")
    try:
        return from_text(read_text(path, MOST_BYTES))
    except InputError as error:
        raise error.at(file=str(path)) from None


def to_text(model: Model) -> str:
    """The file's text: JSON in lines that a person can read."""
    robot = model.robot
    described = None if robot is None else {"trundle": DESCRIPTION_FORMAT, "robot": plain(robot)}
    try:
        content = {
            "trundle_model": FORMAT,
            "written_by": f"trundle {__version__}",
            "description": described,
            "model": written(model),
        }
        stamped = {**dict.fromkeys(_KEYS), **content, "sha256": checksum(content)}
    except (TypeError, ValueError) as error:
        raise TrundleError(f"a file can't hold what '{model.name}' does: {error}") from None
    return _laid_out(stamped, 0) + "\n"


def from_text(text: str) -> Model:
    """The model of a file's text; raises InputError."""
    try:
        return _model(_content(text))
    except RecursionError:
        raise InputError("is nested too deeply for a model's file") from None


def checksum(content: Mapping[str, object]) -> str:
    """SHA-256 over everything but the checksum itself, in the order it stands; line breaks and indents don't count."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    packed = json.dumps(rest, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(packed.encode("utf-8")).hexdigest()


def _content(text: str) -> dict[str, object]:
    """The file's object, of this version and undamaged."""
    try:
        content = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except ValueError as error:  # JSONDecodeError is one; so is a whole number of too many digits
        at = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise InputError(
            f"is no model's file, or a damaged one: not valid JSON ({error})",
            line=at,
            hint="a description in YAML or URDF is read by trundle.load",
        ) from None
    if not isinstance(content, dict) or "trundle_model" not in content:
        raise InputError(
            "is no model's file: it has no key 'trundle_model'",
            hint="trundle.open reads what model.save wrote; trundle.load reads descriptions",
        )
    _check_version(content)
    if set(content) != set(_KEYS):
        raise InputError(f"is damaged: it has the keys {', '.join(content)[:200]}", hint=_AGAIN)
    try:
        expected = checksum(content)
    except ValueError:  # a number beyond all floats has become infinity, or half of a character stands alone
        raise InputError("is damaged: it holds a number or a text that can't be", hint=_AGAIN) from None
    if content["sha256"] != expected:
        raise InputError("is damaged, or was changed by hand: its checksum doesn't fit", hint=_AGAIN)
    return content


_AGAIN = "derive the model from its description again, and save it"


def _no_number(name: str) -> NoReturn:
    raise InputError(f"is damaged: it holds {name}, which is no number", hint=_AGAIN)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys come once each: of two, other readers might take the other."""
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"is damaged: the key '{name[:60]}' comes twice", hint=_AGAIN)
        found[name] = value
    return found


def _check_version(content: Mapping[str, object]) -> None:
    version = content["trundle_model"]
    if type(version) is not int or version < 1:
        raise InputError(
            f"expected the version of the format, got {repr(version)[:60]}", key="trundle_model", hint=_AGAIN
        )
    if version != FORMAT:
        raise InputError(
            f"is written by {str(content.get('written_by'))[:60]} in version {version} of the format; this program "
            f"(trundle {__version__}) reads version {FORMAT}",
            key="trundle_model",
            hint="upgrade trundle, or derive the model from its description again"
            if version > FORMAT
            else _AGAIN,
        )


def _model(content: Mapping[str, object]) -> Model:
    robot = _robot(content["description"])
    model = Model(robot=robot, **read(content["model"], "model"))
    _check_names(model)
    for name, program in programs(model).items():
        _check_program(model, name, program)
    _check_description(model)
    return model


def programs(model: Model) -> dict[str, Program]:
    """Every field of a model that is a program."""
    return {name: value for name, value in vars(model).items() if isinstance(value, Program)}


def _robot(described: object) -> Robot | None:
    if described is None:
        return None
    if not isinstance(described, dict) or set(described) != {"trundle", "robot"}:
        raise InputError("expected the keys trundle and robot", key="description", hint=_AGAIN)
    if described["trundle"] != DESCRIPTION_FORMAT:
        raise InputError(
            f"is written in version {described['trundle']!r:.60} of descriptions; this program reads version "
            f"{DESCRIPTION_FORMAT}",
            key="description.trundle",
            hint="upgrade trundle",
        )
    try:
        return parse_robot(described["robot"])
    except InputError as error:
        key = f"description.robot.{error.key}" if error.key else "description.robot"
        raise InputError(error.message, key=key, hint=error.hint) from None


def _check_names(model: Model) -> None:
    """Names that come twice, or that belong to nothing."""
    for what in ("states", "inputs", "outputs"):
        names = getattr(model, what)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"'{twice}' comes twice among the {what}", key="model", hint=_AGAIN)
    unknown = [
        name for name in (*model.states, *model.inputs, *model.outputs) if name not in model.quantities
    ]
    if unknown:
        raise InputError(f"nothing says what '{unknown[0]}' is", key="model.quantities", hint=_AGAIN)
    strangers = [name for name in model.dependent if name not in model.states]
    if strangers:
        raise InputError(f"'{strangers[0]}' is not a state", key="model.dependent", hint=_AGAIN)


# What each program of a model gives; one that isn't named here is checked by its groups' names only.
_NEEDED = {
    "dynamics": "rate",
    "audited": "rate",
    "observe": "output",
    "manifold": "residual",
    "projection": "state",
}


def _check_program(model: Model, name: str, program: Program) -> None:
    """Its groups are those that whoever runs it counts on, with the model's own names."""
    inputs = tuple(group.name for group in program.inputs)
    outputs = tuple(group.name for group in program.outputs)
    if name in _NEEDED and (inputs, outputs) != (("state", "input", "parameter"), (_NEEDED[name],)):
        raise InputError(
            f"expected a program from state, input and parameter to {_NEEDED[name]}, got one from "
            f"{', '.join(inputs)} to {', '.join(outputs)}",
            key=f"model.{name}",
            hint=_AGAIN,
        )
    states = model.states
    if name == "audited" and program.inputs[0].labels[: len(states)] == states:
        states = program.inputs[0].labels  # the energy account stands behind the model's own
    held = {
        "state": states,
        "rate": states,
        "input": model.inputs,
        "output": model.outputs,
        "parameter": tuple(model.parameters),
    }
    for group in (*program.inputs, *program.outputs):
        if group.name in held and group.labels != held[group.name]:
            raise InputError(
                f"the names in its group '{group.name}' aren't the model's", key=f"model.{name}", hint=_AGAIN
            )


def _check_description(model: Model) -> None:
    """The description and the equations belong together: the same name, the same parameters."""
    if model.robot is None:
        return
    described = model.robot.parameter_values()
    same = list(described) == list(model.parameters) and model.robot.name == model.name
    # formulas' last digits may depend on the machine's sines
    if not same or not all(math.isclose(described[n], v, rel_tol=1e-12) for n, v in model.parameters.items()):
        raise InputError(
            "the description and the equations don't belong together: their parameters differ",
            key="model.parameters",
            hint=_AGAIN,
        )


def _laid_out(data: object, indent: int) -> str:
    """JSON with what fits into a line in one line, and short entries side by side up to the width."""
    short = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(short) + indent <= _WIDTH or not isinstance(data, (dict, list, tuple)):
        return short
    pad = " " * (indent + 1)
    if isinstance(data, dict):
        entries = [
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(value, indent + 1)}"
            for key, value in data.items()
        ]
        side_by_side = (
            not any(isinstance(value, (dict, list, tuple)) for value in data.values()) and indent > 1
        )
    else:
        entries = [_laid_out(each, indent + 1) for each in data]
        side_by_side = True
    lines = _filled(entries, _WIDTH - len(pad)) if side_by_side else entries
    brackets = "{}" if isinstance(data, dict) else "[]"
    return f"{brackets[0]}\n" + ",\n".join(pad + line for line in lines) + f"\n{pad[1:]}{brackets[1]}"


def _filled(entries: list[str], width: int) -> list[str]:
    """Entries joined into lines of at most that width, where they are not longer by themselves."""
    lines: list[list[str]] = []
    left = 0
    for entry in entries:
        if not lines or len(entry) + 2 > left:
            lines.append([])
            left = width
        lines[-1].append(entry)
        left -= len(entry) + 2
    return [", ".join(line) for line in lines]
