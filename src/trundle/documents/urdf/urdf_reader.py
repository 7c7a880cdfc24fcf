"""Reading URDF: text to a checked Robot, every error with the file's own line and names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from pydantic import ValidationError

from trundle.choices import BASES
from trundle.documents.document import Document, read_text
from trundle.documents.urdf.actuators import without_motor
from trundle.documents.urdf.additions import EXTENSION
from trundle.documents.urdf.elements import Limit, Urdf, default_base, read_elements
from trundle.documents.urdf.links import LinkTree, vector
from trundle.documents.urdf.to_robot import (
    UrdfNames,
    check_tree,
    identifiers,
    named,
    on_trust,
    places,
    robot_data,
)
from trundle.documents.urdf.visuals import names_meshes
from trundle.documents.urdf.wheel_joints import shown_radius, wheel_like
from trundle.documents.urdf.wording import in_urdf_words, with_way_out
from trundle.documents.urdf.xml_tree import XmlElement, XmlPart, read_xml, write_xml
from trundle.errors import InputError, suggest, warn
from trundle.expected import check_bool, check_str, check_type
from trundle.files import path_of
from trundle.robot.bodies import drive_axes
from trundle.robot.checks import dynamic_problems
from trundle.robot.description import QUIET, STRICT, Robot, check_base
from trundle.robot.problems import Mistake, Path, problems_of, with_others
from trundle.robot.structure import reached
from trundle.spatial.vectors import apply

# The link on the floor below a base, as REP 120 calls it; how far off it may be (m, rad) to have the base's pose.
FOOTPRINT, _SAME_FRAME = "base_footprint", 1e-9


@dataclass(frozen=True)
class UrdfReading:
    """A text as it was read: its elements, what stands before them, what they say, Trundle's names, the robot."""

    root: XmlElement
    before: str
    urdf: Urdf
    names: UrdfNames
    robot: Robot


def load_urdf(path: str | FilePath, *, base: str | None = None, strict: bool = False) -> Robot:
    """The robot of a URDF file.

    The robot keeps the file's text beside its own numbers, so that `dump_urdf` writes back what Trundle has no use for
    (visuals, meshes, efforts, transmissions, other tools' tags).

    Parameters
    ----------
    path : str or pathlib.Path
        The file.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, which URDF doesn't say. By default a root link called "world" is fixed to the ground, and
        so is one without mass, on its own and in what is fixed to it; any other floats.
    strict : bool
        Whether moments of inertia that no rigid body can have, and axles that are rounded, are an error; if not, the
        former are taken as they stand and the latter made exact, and a warning says which.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        Where the file can't be read or isn't a robot: with file, line, link or joint, and attribute.

    Examples
    --------
    >>> from pathlib import Path
    >>> import trundle
    >>> from trundle.documents import dump_urdf, load_urdf
    >>> written = Path("pendulum.urdf").write_text(dump_urdf(trundle.catalog.pendulum()))
    >>> load_urdf("pendulum.urdf").base
    'fixed'
    """
    return load_document(path, base=base, strict=check_bool(strict, "strict")).robot


def load_document(path: str | FilePath, *, base: str | None = None, strict: bool = False) -> Document:
    """The same as a Document, whose lines are the file's."""
    return parse_document(read_text(path_of(path, "load_urdf")), path, base=base, strict=strict)


def parse_urdf(text: str, *, base: str | None = None, strict: bool = False) -> Robot:
    """The robot of a URDF text; see `load_urdf`.

    Parameters
    ----------
    text : str
        The content of a URDF file.
    base : {"fixed", "planar", "floating"}, optional
        As for `load_urdf`.
    strict : bool
        As for `load_urdf`.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        With line, link or joint, and attribute of what is wrong.

    Examples
    --------
    >>> import trundle
    >>> from trundle.documents import dump_urdf, parse_urdf
    >>> list(parse_urdf(dump_urdf(trundle.catalog.pendulum())).joints)
    ['link_1', 'link_2']
    """
    return parse_document(check_str(text, "text"), base=base, strict=check_bool(strict, "strict")).robot


def parse_document(
    text: str, path: str | FilePath | None = None, *, base: str | None = None, strict: bool = False
) -> Document:
    """The same as a Document; `path` is for messages only."""
    folder = None if path is None or not names_meshes(text) else str(FilePath(path).resolve().parent)
    reading = read(text, None if path is None else str(path), base=base, strict=strict, folder=folder)
    lines = checked_reading(reading, path, base)
    return Document(reading.robot, None, None if path is None else FilePath(path), text, lines)


def checked_reading(reading: UrdfReading, path: str | FilePath | None, base: str | None) -> dict[Path, int]:
    """The lines of what was read; raises where motions lack a mass, and warns of what was made of the file."""
    parts = places(reading.urdf, reading.names)
    problems = dynamic_problems(reading.robot)
    if problems:
        raise _error(
            [in_urdf_words(problem, reading.urdf, reading.names, reading.robot.base) for problem in problems],
            parts,
        )
    where = "" if path is None else f"{path}: "
    for note in _notes(reading, base):
        warn(f"{where}{note}")
    for part, note in without_motor(reading.urdf):
        line = f"line {part.line}: " if path is None else f"{path}:{part.line}: "
        warn(f"{line}{note}")
    return {("robot", *key): part.element.line for key, part in parts.items()}


def read(
    text: str,
    file: str | None = None,
    *,
    base: str | None = None,
    strict: bool = False,
    folder: str | None = None,
    again: bool = False,
) -> UrdfReading:
    """A text's elements and robot, without the question whether every motion has a mass."""
    root, before = read_xml(text, file)
    return read_root(root, before, file, base=base, strict=strict, folder=folder, again=again)


def read_root(
    root: XmlElement,
    before: str,
    file: str | None = None,
    *,
    base: str | None = None,
    strict: bool = False,
    folder: str | None = None,
    again: bool = False,
) -> UrdfReading:
    """The same of a root element and what stands before it."""
    urdf = read_elements(root, file)
    said = urdf.extension
    if base is not None:
        check_base(base, said.wheeled)
    root_link = check_tree(urdf)
    if base is None and said.base is not None and said.base not in BASES:
        raise urdf.part.near(EXTENSION).fail(f"unknown base {said.base!r}", "base", suggest(said.base, BASES))
    names = identifiers(urdf, root_link)
    weighs = bool(_massive(urdf, root_link))
    base = base or said.base or default_base(root_link, weighs, said.wheeled)
    data = robot_data(urdf, names, base, strict and not said.as_given)
    try:
        kept = {"urdf": write_xml(root, before)} | ({} if folder is None else {"folder": folder})
        robot = Robot.model_validate({**data, **kept}, context=STRICT if strict else QUIET if again else None)
    except ValidationError as error:
        problems = [with_way_out(problem, urdf, names) for problem in problems_of(error)]
        raise _error(problems, places(urdf, names)) from None
    return UrdfReading(root, before, urdf, names, robot)


def _massive(urdf: Urdf, root: str) -> list[str]:
    """The links with a mass or an inertia that are one with the root."""
    fixed = [(joint.parent, joint.child) for joint in urdf.joints.values() if joint.type == "fixed"]
    return [name for name in reached(root, fixed) if {"mass", "inertia"} & urdf.links[name].body.keys()]


def _notes(reading: UrdfReading, asked: str | None) -> Iterator[str]:
    """What was made of a file that says too little, or what can't be."""
    urdf, root, robot = reading.urdf, reading.names.root, reading.robot
    massive = _massive(urdf, root)
    if asked is None and urdf.extension.base is None and robot.base == "floating" and root not in massive:
        yield (
            f"the root link {root!r} has no mass, but {massive[0]!r}, which is fixed to it, has one: the robot floats; "
            f'base="fixed" (or <{EXTENSION} base="fixed"/> inside <robot>) holds it to the ground'
        )
    trusted = [name for name, link in urdf.links.items() if on_trust(link.body)]
    if trusted and not urdf.extension.as_given:
        yield (
            f"no rigid body has the moments of inertia of {_listed(trusted)}; they are taken as they stand "
            "(trundle.load(path, strict=True) refuses them)"
        )
    yield from reading.names.wheels.notes
    yield from _without_joint(urdf, root, asked)
    for speed, names in _smoothed(robot).items():
        yield (
            f"the dry friction of {_listed(names)} is smoothed below {speed}, so that under a load less than it they "
            f'creep: <{EXTENSION} coulomb_speed="0.01"/> inside <joint> says another speed'
        )


def _without_joint(urdf: Urdf, root: str, asked: str | None) -> Iterator[str]:
    """That joints look like those of wheels that nobody speaks of, and that wheels take no joint."""
    spinning = wheel_like(urdf, root)
    taken = {wheel.joint for wheel in urdf.extension.on_joints}
    if not spinning or taken.intersection(spinning):
        return
    nowhere = [
        each.name
        for each in urdf.extension.additions
        if each.family == "wheels" and each.joint is None and not {"at", "parent"} & each.data.keys()
    ]
    if nowhere:
        yield (
            f"wheels that take no joint stand at the base's origin: {_listed(nowhere)}; joint: {spinning[0]} puts one "
            "where the file has it"
        )
    elif asked is None and urdf.extension.base is None and not urdf.extension.wheeled:
        joint = next((each for each in spinning if "left" in each.lower()), spinning[0])
        radius = shown_radius(urdf, urdf.joints[joint].child) or 0.1
        wheel = f"{'left' if 'left' in joint.lower() else 'wheel'}: {{joint: {joint}, radius: {radius:g}}}"
        yield (
            f"{_listed(spinning)} spin on air; if they are wheels' joints, a YAML file with `urdf: FILE` and "
            f"`wheels: {{{wheel}, ...}}` under `robot:` puts them on the floor"
        )


def _listed(names: Sequence[str]) -> str:
    """A few names, the others counted."""
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _smoothed(robot: Robot) -> dict[str, list[str]]:
    """Joints with dry friction, by the speed that it is smoothed below, where the file doesn't say that."""
    found: dict[str, list[str]] = {}
    for name, joint in robot.joints.items():
        for axis, component in drive_axes(joint).values():
            if robot.number(component.coulomb) and "coulomb_speed" not in component.model_fields_set:
                speed = f"{robot.number(component.coulomb_speed):g} {'m/s' if axis.sliding else 'rad/s'}"
                found.setdefault(speed, []).append(name)
    return found


@dataclass(frozen=True)
class UrdfMesh:
    """A mesh that a link shows (`visual`) or touches things with (`collision`); its file is never opened."""

    link: str
    use: str
    filename: str


@dataclass(frozen=True)
class UrdfExtras:
    """What a URDF file says beyond the robot's own components, under Trundle's names of links and joints.

    `joints` and `links` map Trundle's names to the file's. `limits` are in SI, `meshes` in the order of the file.
    `base_frame` is the link whose frame the base's is: base_footprint where it is above or below the root, else that.
    """

    joints: Mapping[str, str]
    links: Mapping[str, str]
    limits: Mapping[str, Limit]
    meshes: tuple[UrdfMesh, ...]
    base_frame: str = ""


def urdf_extras(robot: Robot) -> UrdfExtras:
    """What a URDF file says beyond the robot's own components; InputError for a robot that didn't come from URDF.

    Parameters
    ----------
    robot : Robot
        That `load_urdf` or `parse_urdf` gave.

    Returns
    -------
    UrdfExtras
        Limits of efforts and speeds, meshes and more, by link or joint.

    Raises
    ------
    InputError
        It was not read from URDF.

    Examples
    --------
    >>> import trundle
    >>> from trundle.documents import dump_urdf, parse_urdf, urdf_extras
    >>> extras = urdf_extras(parse_urdf(dump_urdf(trundle.catalog.pendulum())))
    >>> type(extras).__name__
    'UrdfExtras'
    """
    check_type(robot, Robot, "robot", "trundle.load(path) reads one")
    if robot.urdf is None:
        raise InputError("the robot was not read from URDF", hint="use trundle.documents.load_urdf")
    urdf, names = named(robot.urdf)
    joints = {ours: urdf.joints[name] for name, ours in names.joints.items()}
    limits = {ours: joint.limit for ours, joint in joints.items() if joint.limit}
    meshes = tuple(
        UrdfMesh(names.links[name], shape.element.tag, mesh.get("filename", ""))
        for name, link in urdf.links.items()
        for shape in link.part.children()
        if shape.element.tag in ("visual", "collision")
        for mesh in shape.element.iter("mesh")
    )
    own_joints = {identifier: name for name, identifier in names.joints.items()}
    taken = {joint.child: names.joints[name] for name, joint in urdf.joints.items() if name in names.joints}
    # of links that are one wheel, the one that its joint carries; forks have no name of their own here
    own_links = {
        identifier: name
        for name, identifier in names.links.items()
        if name not in names.wheels.links or taken.get(name) == identifier
    }
    return UrdfExtras(own_joints, own_links, limits, meshes, _base_frame(urdf, names.root))


def _base_frame(urdf: Urdf, root: str) -> str:
    """The link that a planar base's pose is that of: REP 120's base_footprint, or the root."""
    tree = LinkTree(urdf, root)
    if FOOTPRINT not in tree.fixed_to(root):
        return root
    pose = tree.at_zero(FOOTPRINT)
    (a, b, _), (x, y, _) = vector(apply(pose.rotation, (1.0, 0.0, 0.0))), vector(pose.position)
    return FOOTPRINT if math.hypot(a - 1.0, b, x, y) < _SAME_FRAME else root


def _error(problems: Sequence[Mistake], parts: Mapping[Path, XmlPart]) -> InputError:
    """One InputError in the file's words: the first problem in full, the others a line each."""
    located = [(_nearest(problem.path, parts), problem) for problem in problems]
    located.sort(key=lambda place: place[0].line)
    (part, first), *others = located
    listed = [f"line {other.line}: {other.owner}: {problem.message}" for other, problem in others]
    return part.fail(first.message, hint=with_others(first.hint, listed, len(others)))


def _nearest(path: Path, parts: Mapping[Path, XmlPart]) -> XmlPart:
    return next(parts[path[:length]] for length in range(len(path), -1, -1) if path[:length] in parts)
