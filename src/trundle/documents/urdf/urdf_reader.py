"""Reading URDF: text to a checked Robot, every error with the file's own line and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from pydantic import ValidationError

from trundle.documents.reader import Document, read_text
from trundle.documents.urdf.convert import default_base, parts, robot_data
from trundle.documents.urdf.elements import AS_GIVEN, EXTENSION, UrdfFile, read_elements
from trundle.documents.urdf.part import Part
from trundle.documents.urdf.tree_structure import Names, check_tree, identifiers
from trundle.documents.urdf.xmltext import read_xml
from trundle.errors import InputError, suggest
from trundle.robot.checks import dynamic_problems
from trundle.robot.description import Robot
from trundle.robot.problems import Path, Problem, problems_of

BASES = ("fixed", "planar", "floating")
_LISTED = 8


@dataclass(frozen=True)
class Reading:
    """A text as it was read: the file's own elements, its names in Trundle, and the robot."""

    urdf: UrdfFile
    names: Names
    robot: Robot


def load_urdf(path: str | FilePath, *, base: str | None = None, strict: bool = True) -> Robot:
    """The robot of a URDF file; raises InputError with file, line, link or joint, and attribute.

    URDF doesn't say how the base moves: `base` does ("fixed", "planar" or "floating"). By default a root link without
    mass or called "world" is fixed to the ground and any other floats. The robot keeps the text it came from, so that
    `dump_urdf` writes back what Trundle has no use for (limits, visuals, meshes, transmissions, other tools' tags).
    Moments of inertia that no rigid body can have are an error; with `strict=False` they are taken as they stand.
    """
    return load_document(path, base=base, strict=strict).robot


def load_document(path: str | FilePath, *, base: str | None = None, strict: bool = True) -> Document:
    """The same as a Document, whose lines are the file's."""
    return parse_document(read_text(FilePath(path)), path, base=base, strict=strict)


def parse_document(
    text: str, path: str | FilePath | None = None, *, base: str | None = None, strict: bool = True
) -> Document:
    """The same from text; `path` is for messages only."""
    file = None if path is None else str(path)
    reading = read(text, file, base=base, strict=strict)
    places = parts(reading.urdf, reading.names)
    problems = dynamic_problems(reading.robot)
    if problems:
        raise _error([_in_urdf_words(each, reading) for each in problems], places)
    lines: dict[Path, int] = {("robot", *key): part.element.line for key, part in places.items()}
    return Document(reading.robot, None, None if path is None else FilePath(path), text, lines)


def parse_urdf(text: str, *, base: str | None = None, strict: bool = True) -> Robot:
    """The robot of a URDF text; see `load_urdf`."""
    return parse_document(text, base=base, strict=strict).robot


def read(text: str, file: str | None = None, *, base: str | None = None, strict: bool = True) -> Reading:
    """A text's elements and robot, without the question whether every motion has a mass."""
    if base is not None and base not in BASES:
        raise InputError(f"unknown base {base!r}", key="base", hint=suggest(base, BASES))
    urdf = read_elements(read_xml(text, file), file)
    root = check_tree(urdf)
    if base is None and urdf.base is not None and urdf.base not in BASES:
        part = urdf.part.child("trundle") or urdf.part
        raise part.fail(f"unknown base {urdf.base!r}", "base", suggest(urdf.base, BASES))
    names = identifiers(urdf, root)
    data = robot_data(urdf, names, base or default_base(urdf, root), strict and not urdf.as_given)
    try:
        robot = Robot.model_validate({**data, "urdf": text})
    except ValidationError as error:
        problems = [_with_way_out(each) for each in problems_of(error)]
        raise _error(problems, parts(urdf, names)) from None
    return Reading(urdf, names, robot)


def _error(problems: Sequence[Problem], places: Mapping[Path, Part]) -> InputError:
    """One InputError in the file's words: the first problem in full, the others a line each."""
    located = [(_nearest(problem.path, places), problem) for problem in problems]
    located.sort(key=lambda each: each[0].element.line)
    (part, first), *others = located
    hint = [first.hint] if first.hint else []
    if others:
        hint.append(f"{len(others)} more:" if len(others) > 1 else "and:")
    for other, problem in others[:_LISTED]:
        hint.append(f"  line {other.element.line}: {other.owner}: {problem.message}")
    if len(others) > _LISTED:
        hint.append("  ...")
    return part.fail(first.message, hint="\n  ".join(hint) or None)


def _nearest(path: Path, places: Mapping[Path, Part]) -> Part:
    return next(places[path[:length]] for length in range(len(path), -1, -1) if path[:length] in places)


def _with_way_out(problem: Problem) -> Problem:
    if problem.path[-1:] != ("inertia",):
        return problem
    hint = (
        "no rigid body has such moments; to take them all the same: load_urdf(path, strict=False), or "
        f'<{EXTENSION} inertia="{AS_GIVEN}"/> inside <robot>'
    )
    return Problem(problem.path, problem.message, hint)


def _in_urdf_words(problem: Problem, reading: Reading) -> Problem:
    """A motion without mass in the words of the file: which link, on which joint."""
    urdf, names = reading.urdf, reading.names
    if problem.path[:1] == ("joints",) and len(problem.path) == 2:
        by_name = {identifier: name for name, identifier in names.joints.items()}
        joint = urdf.joints[by_name[str(problem.path[1])]]
        message = (
            f"the {joint.type} joint {joint.name!r} moves the link {joint.child!r}, and neither it nor anything "
            "behind it has a mass: forces would accelerate it without bound"
        )
        hint = f"give {joint.child!r} an <inertial>, or make the joint fixed"
        return Problem((*problem.path, "body"), message, hint)
    if problem.path[:1] in ((), ("body",)):
        root = names.root
        message = f"the base moves ({reading.robot.base}), but the root link {root!r} has no mass or inertia to resist"
        return Problem(("body",), message, f"give {root!r} an <inertial>, or load it with base='fixed'")
    return problem
