"""Reading descriptions: a file, text or plain data to a checked Robot and its run, every error with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from trundle.documents.document import MOST_BYTES, MOST_JSON, Document, read_text, too_large
from trundle.documents.runspec import RunSpec
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError
from trundle.expected import by_name, came, check_bool, check_str
from trundle.files import path_of
from trundle.robot.checks import dynamic_problems
from trundle.robot.component import Component
from trundle.robot.description import STRICT, Robot, check_base
from trundle.robot.motors import MOTORS
from trundle.robot.problems import Mistake, Path, problems_of, report
from trundle.robot.shapes import Mesh
from trundle.robot.values import describe
from trundle.robot.wheels import WHEELS

if TYPE_CHECKING:
    from trundle.robot.terrain import Terrain

# The version of the file format that this program writes, and the only one so far.
FORMAT = 1


class _ReadsTerrain:
    """Reads a terrain by its own room, loaded where a file has one: most have none."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_terrain)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, how: GetJsonSchemaHandler) -> JsonSchemaValue:
        from trundle.robot.terrain import Terrain

        Terrain.model_rebuild()
        return how(core_schema.nullable_schema(Terrain.__pydantic_core_schema__))


def _terrain(data: object) -> Terrain | None:
    if data is None:
        return None
    from trundle.robot.terrain import Terrain

    return Terrain.model_validate(data)


class File(Component):
    """A description of a robot and a run, for Trundle."""

    called: ClassVar[str] = "description"
    instead: ClassVar[Mapping[str, str]] = {"motion": "a motion is driven: trundle drive --file FILE"}

    trundle: int = Field(description="Version of this format: 1.", ge=1, le=FORMAT)
    robot: Robot = Field(description="The robot.")
    terrain: Annotated[Any, _ReadsTerrain()] = Field(
        None, description="The ground that it drives over. Default: a plane."
    )
    run: RunSpec | None = Field(None, description="What to do with it.")


def load(
    source: str | FilePath | Mapping[str, object], *, base: str | None = None, strict: bool = False
) -> Document:
    """The robot and the run of a description. Nothing in a file is ever executed.

    Parameters
    ----------
    source : str, pathlib.Path or mapping
        A file, read as URDF where it is called .urdf, as an OpenSim model where it is called .osim, and as YAML
        otherwise; or the plain data that a YAML file would hold: {"robot": {...}, "run": {...}}. YAML may name a URDF
        file (`urdf: FILE` under `robot`) and put wheels on its joints. PathPlanner's settings.json and Choreo's .chor
        are told by their keys.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the file says or, for URDF, of what it leaves open.
    strict : bool
        Whether moments of inertia that no rigid body can have are an error in files of other tools (URDF, OpenSim); if
        not, they are taken as they stand, and a warning names the bodies. In YAML and plain data they always are.
        Whether axles that are rounded are an error, too; if not, they are made exact, and a warning says how.

    Returns
    -------
    Document
        `robot`, `run` (None without one), and where they stand.

    Raises
    ------
    InputError
        With file, line and key of what is wrong.

    Examples
    --------
    >>> from trundle.documents import load
    >>> axis = {"type": "revolute", "axis": [0, 0, 1], "body": {"mass": 1}}
    >>> robot = {"name": "top", "base": "fixed", "joints": {"spin": axis}}
    >>> load({"robot": robot, "run": {"duration": 2}}).run.duration
    2.0
    """
    check_bool(strict, "strict")
    if isinstance(source, Mapping):
        return _document({"trundle": FORMAT, **by_name(source, "source")}, base=base, strict=strict)
    path = path_of(source, "load")
    if path.suffix.lower() == ".urdf":
        from trundle.documents.urdf.urdf_reader import load_document  # late: others don't wait for it

        return load_document(source, base=base, strict=strict)
    if path.suffix.lower() == ".osim":
        from trundle.documents.osim import osim_reader

        return osim_reader.load_document(source, base=base, strict=strict)
    most = MOST_JSON if path.suffix.lower() in (".chor", ".traj") else MOST_BYTES
    return parse(read_text(path, most), source, base=base, strict=strict)


def load_robot(
    source: str | FilePath | Mapping[str, object], *, base: str | None = None, strict: bool = False
) -> Robot:
    """The robot of a description; its run, if it has one, is left aside.

    Parameters
    ----------
    source : str, pathlib.Path or mapping
        A file, read as URDF where it is called .urdf, as an OpenSim model where it is called .osim, and as YAML
        otherwise; or the plain data that a YAML file would hold: {"robot": {...}}. Numbers are in SI and radians, or
        text with a unit ("6 in").
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the file says. URDF doesn't say it: unless asked otherwise, a root link
        with a mass floats, and "fixed" holds an arm to the ground.
    strict : bool
        Whether moments of inertia that no rigid body can have are an error in files of other tools (URDF, OpenSim); if
        not, they are taken as they stand, and a warning names the bodies. In YAML and plain data they always are.
        Whether axles that are rounded are an error, too; if not, they are made exact, and a warning says how.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        With file, line and key of what is wrong.

    Examples
    --------
    >>> import trundle
    >>> arm = {"type": "revolute", "axis": [0, 1, 0], "body": {"mass": 2, "center_of_mass": ["1 ft", 0, 0]}}
    >>> robot = trundle.load({"robot": {"name": "arm", "joints": {"shoulder": arm}}})
    >>> robot.number(robot.joints["shoulder"].body.center_of_mass[0])
    0.3048
    """
    return load(source, base=base, strict=strict).robot


def parse(
    text: str,
    path: str | FilePath | None = None,
    *,
    base: str | None = None,
    strict: bool = False,
    maps: Mapping[str, object] | None = None,
) -> Document:
    """The same from YAML text; `path` is for messages only.

    Parameters
    ----------
    text : str
        The content of a YAML file.
    path : str or pathlib.Path, optional
        Where it came from.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the text says.
    strict : bool
        As for `trundle.load`.
    maps : mapping, optional
        Height maps by their digests, as the description of a run has them under "maps". With it a map whose file isn't
        there either is no error: its surface stays without heights.

    Returns
    -------
    Document
        `robot`, `run` (None without one), and where they stand.

    Raises
    ------
    InputError
        With line and key of what is wrong.

    Examples
    --------
    >>> import trundle
    >>> from trundle.documents import dump, parse
    >>> parse(dump(trundle.catalog.pendulum())).robot.base
    'fixed'
    """
    file = None if path is None else str(path)
    check_str(text, "text", "trundle.load takes plain data")
    check_bool(strict, "strict")
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        from trundle.documents.frc_robots import robot_document  # late: most files are YAML

        if (theirs := robot_document(text, path, base)) is not None:
            return theirs
    if len(text) > MOST_BYTES:
        raise too_large(len(text), file)
    data, lines = read_yaml(text, file)
    maps = None if maps is None else by_name(maps, "maps")
    data = _versioned(data, lines, file)
    return _document(data, lines=lines, path=path, text=text, base=base, strict=strict, maps=maps)


def _document(
    data: Mapping[str, object],
    *,
    lines: Mapping[Path, int] | None = None,
    path: str | FilePath | None = None,
    text: str = "",
    base: str | None = None,
    strict: bool = False,
    maps: Mapping[str, object] | None = None,
) -> Document:
    """A document of plain data, checked; errors name the file and the line."""
    file = None if path is None else str(path)
    robot = data.get("robot")
    if isinstance(robot, Mapping) and _is_name(robot.get("urdf")):
        from trundle.documents.urdf.beside import robot_beside  # late: most descriptions name no URDF

        data = {**data, "robot": robot_beside(robot, path, lines, base, strict)}
    elif isinstance(robot, Mapping) and not isinstance(robot.get("urdf"), (str, type(None))):
        mistake = Mistake(
            ("robot", "urdf"), f"expected the name of a URDF file, got {describe(robot['urdf'])}"
        )
        raise report([mistake], file=file, lines=lines)
    elif base is not None and isinstance(robot, Mapping):
        check_base(base, bool(robot.get("wheels")))
        data = {**data, "robot": {**robot, "base": base}}
    try:
        whole = File.model_validate(data, context=STRICT if strict else None)
    except ValidationError as error:
        raise report(problems_of(error), file=file, lines=lines) from None
    except RecursionError:
        raise InputError("is nested too deeply", file=file) from None
    placed = (
        whole.robot
        if path is None or isinstance(data["robot"], Robot)
        else _with_mesh_folder(whole.robot, FilePath(path))
    )
    document = Document(placed, whole.run, None if path is None else FilePath(path), text, lines)
    if whole.terrain is not None:
        document = replace(document, terrain=_with_maps(whole.terrain, document, maps))
    _check_whole(document, file)
    return document


def _with_maps(terrain: Terrain, document: Document, maps: Mapping[str, object] | None) -> Terrain:
    """The terrain with its maps' heights; raises InputError with file and line."""
    from trundle.documents.height_files import with_carried, with_maps  # late: few have a terrain

    if maps is not None:
        return with_carried(terrain, maps)
    try:
        return with_maps(terrain, None if document.path is None else document.path.parent)
    except InputError as error:
        file = None if document.path is None else str(document.path)
        located = InputError(error.message, file=file, key=error.key, hint=error.hint)
        raise document.locate(located) from None


def _is_name(urdf: object) -> bool:
    """Whether what stands at `urdf` names a file; else it is a URDF file's text, of many lines."""
    if isinstance(urdf, PurePath):
        return True
    return isinstance(urdf, str) and "\n" not in urdf and "<" not in urdf


def _with_mesh_folder(robot: Robot, path: FilePath) -> Robot:
    """The robot knowing the folder that its meshes' names start from, if it has any."""
    bodies = [robot.body, *(joint.body for joint in robot.joints.values())]
    if not any(isinstance(shape, Mesh) for body in bodies if body for shape in body.shapes.values()):
        return robot
    folder = path.absolute().parent / (robot.folder or "")
    return robot.model_copy(update={"folder": str(folder)})


def _versioned(data: object, lines: Mapping[Path, int], file: str | None) -> Mapping[str, object]:
    """The data of a file that says a version of the format which this program reads."""
    if data is None:
        raise InputError("the file is empty", file=file, hint="`trundle new` writes one to start from")
    if not isinstance(data, dict):
        message = f"expected the keys trundle, robot and run, got {describe(data)}"
        raise InputError(message, file=file, line=lines[()], hint="start the file with 'trundle: 1'")
    if "trundle" not in data:
        message, hint = "'trundle', the version of the format, is missing", "start the file with 'trundle: 1'"
        raise InputError(message, file=file, line=lines[()], hint=hint)
    version = data["trundle"]
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        message = f"expected the version of the format, got {describe(version)}"
        hint = f"write 'trundle: {FORMAT}'"
    elif version > FORMAT:
        message = (
            f"the file is written for version {version} of the format; this program reads version {FORMAT}"
        )
        hint = "upgrade trundle"
    else:
        return data
    raise InputError(message, file=file, line=lines["trundle",], key="trundle", hint=hint)


def _check_whole(document: Document, file: str | None) -> None:
    """What shows only with robot and run together: changed parameters, masses where forces will act."""
    robot, run = document.robot, document.run
    try:
        scope = robot.parameter_values(run.set if run else None)
    except InputError as error:
        key = f"run.set.{error.key}" if run and error.key in run.set else "run.set"
        raise document.locate(InputError(error.message, file=file, key=key, hint=error.hint)) from None
    # What has no run may be described for kinematics, plans or inverse dynamics alone.
    if run is not None and run.mode == "dynamic":
        require_masses(document, scope)


def require_masses(document: Document, scope: Mapping[str, float]) -> None:
    """Raise InputError, with the lines, where forces would move what no mass resists; `scope` has the parameters."""
    problems = dynamic_problems(document.robot, scope)
    if problems:
        inside = [replace(problem, path=("robot", *problem.path)) for problem in problems]
        file = None if document.path is None else str(document.path)
        raise report(inside, file=file, lines=document.lines)


def json_schema(file: type[Component] = File, title: str = "Trundle description") -> dict[str, object]:
    """JSON Schema (2020-12) of a whole file; each field says its meaning, unit (`x-unit`) and default.

    Parameters
    ----------
    file : type, optional
        What the file holds: a description, or `trundle.motion.commands.commands.MotionFile`.
    title : str, optional
        Of the schema.

    Returns
    -------
    dict
        Plain data.

    Raises
    ------
    pydantic.errors.PydanticInvalidForJsonSchema
        A kind of your own has a field that JSON has no words for.

    Examples
    --------
    >>> from trundle.documents import json_schema
    >>> list(json_schema()["properties"])
    ['trundle', 'robot', 'terrain', 'run']
    """
    if not (isinstance(file, type) and issubclass(file, Component)):
        raise InputError(f"expected a class of components, got {came(file)}", key="file", hint="leave it out")
    schema: dict[str, object] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    whole = file.model_json_schema(by_alias=True)
    known = whole.get("$defs", {})
    for kind in map(WHEELS.named, WHEELS):
        if kind.__name__ in known:
            _let_stand_on_joints(known[kind.__name__])
    for kind in map(MOTORS.named, MOTORS):  # a URDF file says what the motors that it names drive
        if kind.__name__ in known:
            known[kind.__name__]["required"] = [
                key for key in known[kind.__name__]["required"] if key != "drives"
            ]
    return schema | whole | {"title": title}


def _let_stand_on_joints(wheel: JsonSchemaValue) -> None:
    """Let a wheel's schema have the key `joint`, beside which URDF says what else the kind needs but the radius."""
    words = "The joint of the URDF file that it takes the place of (with robot.urdf: FILE)."
    wheel["properties"] |= {"joint": {"type": "string", "description": words}}
    needed = [key for key in wheel.get("required", ()) if key != "radius"]
    if needed:
        wheel["required"] = ["radius"]
        wheel["anyOf"] = [{"required": ["joint"]}, {"required": needed}]
