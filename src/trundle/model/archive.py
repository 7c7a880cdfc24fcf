"""A model kept in one plain file, and reopened without deriving anything: `model.save(path)`, `trundle.open(path)`.

The file is JSON: the format's version, who wrote it, a checksum, the description as it stands in a YAML file, and the
model's fields, its programs as lists of instructions (`program.plain`). docs/model_file.md describes it. Reading runs
no code from it: pydantic checks it against the types of the model's fields (so a new one is kept without another line),
and every name of a program is checked against the model's.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    create_model,
)

from trundle.documents.document import MODEL_SUFFIX, read_text
from trundle.documents.reader import FORMAT as DESCRIPTION_FORMAT
from trundle.documents.reader import File
from trundle.errors import InputError, TrundleError, suggest
from trundle.files import path_of, replacing
from trundle.model.mechanism import mechanism
from trundle.model.model import Model
from trundle.model.placed import names_of_controllers
from trundle.program import Program
from trundle.program.plain import from_plain, to_plain
from trundle.robot.description import Robot
from trundle.robot.noun import plain
from trundle.robot.problems import problems_of, report
from trundle.version import __version__

# The version of the file format that this program writes, and the only one that it reads.
FORMAT = 2
# A program of 100,000 operations takes some 2 MB; a model has half a dozen.
MOST_BYTES = 50_000_000
# Compiled in some 15 s; a robot of 100 general joints has 37,000.
MOST_INSTRUCTIONS = 100_000
_KEYS = ("trundle_model", "written_by", "sha256", "description", "model")
# Lists of plain entries that fit stand in one line.
_LIST, _WIDTH = re.compile(r"\[[^][{}]*\]"), 110
_AGAIN = "derive the model from its description again, and save it"
# What each program of a model gives, from state, input and parameter.
_NEEDED = {
    "dynamics": "rate",
    "audited": "rate",
    "observe": "output",
    "manifold": "residual",
    "projection": "state",
    "sampling": "state",
}
# Outputs that every run asks for; those that runs with an energy account read, and its states.
_SHOWN = {"constraint_residual"}
_STORED, _ACCOUNT = (
    {f"energy.{kind}" for kind in ("kinetic", "potential", "internal")},
    ("energy.work", "energy.losses"),
)


def save_model(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write a model to a file called *.trundle.json, whole or not at all, and return the path."""
    path = path_of(path, "save")
    if not path.name.lower().endswith(MODEL_SUFFIX):
        raise InputError(
            f"{str(path)!r}: the name of a model's file ends in {MODEL_SUFFIX}",
            hint=f"write {path.name.partition('.')[0] or 'model'}{MODEL_SUFFIX}",
        )
    _check_length(model)
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
        model = from_text(read_text(path, MOST_BYTES))
        _check_length(model)
        _check_names(model)
        return model
    except InputError as error:
        raise error.at(file=str(path)) from None


def reduced(model: Model) -> tuple[Callable[[str], Model], tuple[str]]:
    """How a model is pickled: as the text of its file."""
    return from_text, (to_text(model),)


def digest_of(model: Model) -> str:
    """See `Model.digest`. Numbers count by their value, as they do where models are compared."""
    same = (
        model if model.robot else replace(model, derive_seconds=0.0)
    )  # models that were made twice are equal
    described = to_text(same) if same.robot is None else json.dumps(plain(same.robot))
    data = json.loads(described, parse_int=float)
    return hashlib.sha256(json.dumps([__version__, data]).encode()).hexdigest()


def to_text(model: Model) -> str:
    """The file's text: JSON in lines that a person can read."""
    robot = model.robot
    schema = _schema()
    content = {
        "trundle_model": FORMAT,
        "written_by": f"trundle {__version__}",
        "description": None if robot is None else {"trundle": DESCRIPTION_FORMAT, "robot": plain(robot)},
        "model": schema.model_construct(**{n: getattr(model, n) for n in schema.model_fields}).model_dump(),
    }
    try:
        stamped = {**dict.fromkeys(_KEYS), **content, "sha256": checksum(content)}
        text = json.dumps(stamped, ensure_ascii=False, allow_nan=False, indent=1)
    except (TypeError, ValueError) as error:
        raise TrundleError(f"a file can't hold what '{model.name}' does: {error}") from None
    return _LIST.sub(_in_one_line, text) + "\n"


def _in_one_line(entries: re.Match[str]) -> str:
    """A list of JSON without its line breaks, which stand between entries only, if it fits."""
    line = re.sub(r"\n *", " ", entries[0]).replace("[ ", "[", 1)
    return f"{line[:-2]}]" if line.endswith(" ]") and len(line) <= _WIDTH else entries[0]


def from_text(text: str) -> Model:
    """The model of a file's text; raises InputError."""
    try:
        content = _content(text)
        model = Model(robot=_robot(content["description"]), **_fields(content["model"]))
    except RecursionError:
        raise InputError("is nested too deeply for a model's file") from None
    _check_fit(model)
    return model


def checksum(content: Mapping[str, object]) -> str:
    """SHA-256 over everything but the checksum itself, in the order it stands; line breaks and indents don't count."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    packed = json.dumps(rest, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(packed.encode("utf-8")).hexdigest()


def programs(model: Model) -> dict[str, Program]:
    """Every program of a model, by its field; those of the field `formed` by their names."""
    own = {name: value for name, value in vars(model).items() if isinstance(value, Program)}
    return {**own, **{f"formed.{name}": program for name, program in model.formed.items()}}


def _content(text: str) -> dict[str, object]:
    """The file's object, of this version and undamaged."""
    try:
        content = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except ValueError as error:  # JSONDecodeError is one; so is a whole number of too many digits
        message = f"is no model's file, or a damaged one: not valid JSON ({error})"
        hint = "a description in YAML or URDF is read by trundle.load"
        raise InputError(message, line=getattr(error, "lineno", None), hint=hint) from None
    if not isinstance(content, dict) or "trundle_model" not in content:
        raise InputError(
            "is no model's file: it has no key 'trundle_model'",
            hint="trundle.open reads what model.save wrote; trundle.load reads descriptions",
        )
    _check_version(content)
    if set(content) != set(_KEYS):
        raise _damaged(f"is damaged: it has the keys {', '.join(content)[:200]}")
    try:
        expected = checksum(content)
    except ValueError:  # a number beyond all floats has become infinity, or half of a character stands alone
        raise _damaged("is damaged: it holds a number or a text that can't be") from None
    if content["sha256"] != expected:
        raise _damaged("is damaged, or was changed by hand: its checksum doesn't fit")
    return content


def _damaged(message: str, key: str | None = None) -> InputError:
    return InputError(message, key=key, hint=_AGAIN)


def _no_number(name: str) -> NoReturn:
    raise _damaged(f"is damaged: it holds {name}, which is no number")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys come once each: of two, other readers might take the other."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _damaged(f"is damaged: the key '{twice[:60]}' comes twice")
    return mapping


def _check_version(content: Mapping[str, object]) -> None:
    """Refuse a file of another version of the format, and say which program reads it."""
    version = content["trundle_model"]
    if type(version) is not int or version < 1:
        raise _damaged(f"expected the version of the format, got {repr(version)[:60]}", "trundle_model")
    if version != FORMAT:
        raise InputError(
            f"is written by {str(content.get('written_by'))[:60]} in version {version} of the format; this program "
            f"(trundle {__version__}) reads version {FORMAT}",
            key="trundle_model",
            hint="upgrade trundle, or derive the model from its description again"
            if version > FORMAT
            else _AGAIN,
        )


def _robot(described: object) -> Robot | None:
    """The robot of a file's description; None for a model that came from equations."""
    try:
        return None if described is None else File.model_validate(described).robot
    except ValidationError as error:
        raise _wrong(error, "description") from None


@cache
def _schema() -> type[BaseModel]:
    """A model's fields but its description, with checks that take nothing for what it isn't: a truth value is no
    number.
    """
    hints, kept = get_type_hints(Model), dict[str, Any]()
    for field in fields(Model):
        hint, default = hints[field.name], ... if field.default is MISSING else field.default
        if callable(field.default_factory):
            default = Field(default_factory=field.default_factory)
        if hint in (Program, Program | None):
            read = PlainValidator(_program if default is ... else _optional_program)
            hint = Annotated[Any, read, PlainSerializer(lambda program: program and to_plain(program))]
        if hint == Mapping[str, Program]:
            hint = Annotated[Any, PlainValidator(_programs), PlainSerializer(_plain_programs)]
        if field.name != "robot":
            kept[field.name] = (hint, default)
    return create_model("Kept", __config__=ConfigDict(strict=True, extra="forbid"), **kept)


def _program(data: object, info: ValidationInfo) -> Program:
    return from_plain(data, f"model.{info.field_name}")


def _programs(data: object) -> dict[str, Program]:
    if not isinstance(data, dict):
        raise _damaged(f"expected programs by name, got {repr(data)[:60]}", "model.formed")
    return {name: from_plain(program, f"model.formed.{name}") for name, program in data.items()}


def _plain_programs(formed: Mapping[str, Program]) -> dict[str, object]:
    return {name: to_plain(program) for name, program in formed.items()}


def _optional_program(data: object, info: ValidationInfo) -> Program | None:
    return None if data is None else _program(data, info)


def _fields(data: object) -> dict[str, Any]:
    """The arguments of a model but its description from plain data; fields that have a default may be missing.

    Raises InputError for unknown and missing fields, and for what isn't of a field's type.
    """
    schema = _schema()
    try:
        kept = schema.model_validate_json(json.dumps(data))  # JSON's lists are tuples only when read as JSON
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "extra_forbidden":
            name = str(first["loc"][0])[:60]
            raise InputError(
                f"a Model has no {name!r}", key="model", hint=suggest(name, schema.model_fields)
            ) from None
        raise _wrong(error, "model") from None
    return {name: getattr(kept, name) for name in schema.model_fields}


def _wrong(error: ValidationError, part: str) -> InputError:
    """What is wrong in a part of a file."""
    return report([replace(problem, path=(part, *problem.path)) for problem in problems_of(error)])


def _check_length(model: Model) -> None:
    """No program of a file takes minutes to compile."""
    for name, program in programs(model).items():
        if (count := len(program.instructions)) > MOST_INSTRUCTIONS:
            message = f"a program of {count:,} instructions; a model's file may have {MOST_INSTRUCTIONS:,}"
            raise InputError(message, key=f"model.{name}", hint="derive the model where it is used")


def _check_fit(model: Model) -> None:
    """Raise InputError where parts of a file put together by hand don't fit: a checksum can't say that."""
    unfit = [name for name, program in programs(model).items() if not _takes_the_names(model, name, program)]
    if not unfit:
        names = (model.states, model.inputs, model.outputs)
        described = model.parameters if model.robot is None else model.robot.parameter_values()
        # formulas' last digits may depend on the machine's sines
        same = [
            math.isclose(a, b, rel_tol=1e-12)
            for a, b in zip(described.values(), model.parameters.values(), strict=False)
        ]
        fits = {
            "name": model.robot is None or model.robot.name == model.name,
            "quantities": all(len({*own}) == len(own) and {*own} <= model.quantities.keys() for own in names),
            "dependent": {*model.dependent} <= {*model.states},
            "parameters": list(described) == list(model.parameters) and all(same),
            "audited": model.audit in ((), _ACCOUNT),
            "clocks": all(period > 0 and 0 <= first < period for period, first in model.clocks.values()),
            "sampling": (model.sampling is None) == (not model.clocks),
            "outputs": _SHOWN | (_STORED if model.audit else set()) <= {*model.outputs},
        }
        unfit = [what for what, fit in fits.items() if not fit]
    if unfit:
        raise _damaged("the parts of this model don't belong together", f"model.{unfit[0]}")


def _check_names(model: Model) -> None:
    """Raise InputError where states or inputs are none that the file's own description has: renamed by hand, say."""
    if model.robot is None:
        return
    numbers = mechanism(model.robot)
    assembly, own = numbers.assembly, {*model.states, *model.inputs}
    own -= {*assembly.quantities, *(state.name for state in assembly.own_states)}
    own -= {actuator.command.name for actuator in assembly.actuators} | names_of_controllers(model.robot)
    # Speeds that the choice of independent ones makes, "front.speed" say, take longest to find.
    if numbers.names != model.coordinates or (own and own - {made.name for made in numbers.basis.made}):
        raise _damaged("the names of this model aren't those of its description", "model.coordinates")


def _has_form(name: str, program: Program) -> bool:
    """Whether a program of the field `formed` gives what is made of it: a square matrix, a column, a frame's motion."""
    names, sizes = [group.name for group in program.outputs], [group.size for group in program.outputs]
    if name.startswith("formed.frame_"):
        speeds = program.inputs[1].size
        return (names, sizes) == (
            ["position", "rotation", "velocity", "jacobian", "bias"],
            [3, 9, 6, 6 * speeds, 6],
        )
    square = math.isqrt(sizes[0]) ** 2 == sizes[0] if sizes else False
    return names == [name.removeprefix("formed.")] and (
        names == ["bias"] or (names == ["mass_matrix"] and square)
    )


def _takes_the_names(model: Model, name: str, program: Program) -> bool:
    """Whether a program's groups are those that whoever runs it counts on, with the model's own names."""
    inputs, outputs = ([group.name for group in groups] for groups in (program.inputs, program.outputs))
    asked = ["state", "input", "parameter", *(["due"] if name == "sampling" else [])]
    if name in _NEEDED and (inputs, outputs) != (asked, [_NEEDED[name]]):
        return False
    states = model.states
    if name == "audited" and program.inputs[0].labels[: len(states)] == states:
        states = program.inputs[0].labels  # the energy account stands behind the model's own
    held = {"state": states, "rate": states, "input": model.inputs, "output": model.outputs}
    held |= {"parameter": tuple(model.parameters), "due": tuple(model.clocks)}
    if name.startswith("formed."):
        held |= {"coordinate": model.coordinates, "speed": model.speeds}
        if inputs != ["coordinate", "speed", "parameter"] or not _has_form(name, program):
            return False
    groups = (*program.inputs, *program.outputs)
    return all(group.labels == held.get(group.name, group.labels) for group in groups)
