"""What a file holds, and the text it is read from: shared by the readers of every format.

Files that are no descriptions are told by how they begin or else by their names: what they are, and what reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from trundle.documents.runspec import RunSpec
from trundle.errors import InputError, suggest
from trundle.files import decoded
from trundle.robot.description import Robot
from trundle.robot.problems import Path

if TYPE_CHECKING:
    from trundle.robot.terrain import Terrain

# How much of a file says what it is: a long comment may stand before an XML file's first element.
LOOKED_AT = 4096
_ROOT = re.compile(rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<([A-Za-z_][\w:.-]*)", re.DOTALL)

_ROBOT = "nothing in Trundle reads it yet: describe the robot in YAML (`trundle new` writes one to start from) or URDF"
_RECORD = (
    "nothing in Trundle reads it yet; as an input, write a CSV file of it: inputs: {NAME: {file: table.csv}}"
)
_MOTION = "trundle.read_recording(path) reads it"
_SHAPE = "it holds no masses and no joints: these are described in YAML (`trundle new`) or URDF"


class Format(NamedTuple):
    """What a file is, what reads it, how its name ends, its root element in XML, and how its bytes begin."""

    what: str
    reads: str
    suffixes: str = ""
    roots: str = ""
    starts: tuple[bytes, ...] = ()


_RUN = "trundle.Run.load(path) reads a run"
_FORMATS = (
    Format(
        "holds a run or a batch, not a description",
        f"{_RUN}, trundle.Batch.load(path) a batch",
        ".nc",
        starts=(b"\x89HDF", b"CDF"),
    ),
    Format(
        "is a table, not a description",
        f"{_RUN}'s table; as an input it is inputs: {{NAME: {{file: table.csv}}}}",
        ".csv",
    ),
    Format(
        "is a xacro file, from which URDF is made",
        "expand it with xacro first: xacro FILE > robot.urdf",
        ".xacro",
    ),
    Format("is URDF, in a file that is called otherwise", "call it robot.urdf", roots="robot"),
    Format("is a MuJoCo model (MJCF)", _ROBOT, ".mjcf", "mujoco mujocoinclude"),
    Format("is a Gazebo model or world (SDF)", _ROBOT, ".sdf .world", "sdf gazebo"),
    Format(
        "is an OpenSim model, in a file that is called otherwise",
        "call it model.osim; a set-up of InverseDynamicsTool is for trundle inverse",
        roots="OpenSimDocument",
    ),
    Format("is a Simscape or Simulink model", _ROBOT, ".slx .mdl"),
    Format("is a Modelica model", _ROBOT, ".mo .fmu"),
    Format("is a USD scene", _ROBOT, ".usd .usda .usdc .usdz", starts=(b"#usda", b"PXR-USDC")),
    Format("is a recording of a motion capture (C3D)", _MOTION, ".c3d"),
    Format("is a recording of a motion capture (BVH)", _RECORD, ".bvh", starts=(b"HIERARCHY",)),
    Format("is a table of OpenSim's", _MOTION, ".trc .mot .sto"),
    Format(
        "is a recording of ROS",
        _RECORD,
        ".bag .mcap .db3",
        starts=(b"#ROSBAG", b"\x89MCAP0", b"SQLite format 3"),
    ),
    Format("is a file of MATLAB's", _RECORD, ".mat", starts=(b"MATLAB ",)),
    Format("is a table of a spreadsheet or a data frame", _RECORD, ".xlsx .parquet", starts=(b"PAR1",)),
    Format(
        "is a shape",
        _SHAPE,
        ".stl .dae .obj .ply .step .stp .gltf .glb",
        "COLLADA",
        (b"solid ", b"ISO-10303-21", b"ply\n", b"glTF"),
    ),
    Format("is a Python script", "run it: python FILE", ".py"),
    Format("is a notebook", "open it in Jupyter", ".ipynb"),
    Format("is a picture or a page", _ROBOT, "", "svg html", (b"\x89PNG", b"%PDF", b"\xff\xd8\xff")),
    Format("is an archive", "unpack it first", ".zip .gz .tar", starts=(b"PK\x03\x04", b"\x1f\x8b")),
)


# Root elements of XML that are descriptions, in files of these names.
_OURS = (("robot", ".urdf"), ("OpenSimDocument", ".osim"))


def refuse_foreign(content: bytes, file: str | None) -> None:
    """Raise InputError where a file that begins so, or is called so, is none of the formats of descriptions.

    Content tells before the name does, and a name ending in .urdf or .osim tells which element is meant.
    """
    suffix = PurePath(file or "").suffix.lower()
    root = _ROOT.match(content.removeprefix(b"\xef\xbb\xbf"))
    element = root[1].decode() if root else ""
    by_content = (f for f in _FORMATS if content.startswith(f.starts) or element in f.roots.split())
    by_name = (f for f in _FORMATS if suffix in f.suffixes.split())
    first = (*by_name, *by_content) if suffix == ".xacro" else (*by_content, *by_name)
    foreign = first[0] if first else None
    if foreign is not None and (element, suffix) not in _OURS:
        raise InputError(foreign.what, file=file, hint=foreign.reads)


# A description of a hundred bodies has some 20 kB; tables that need more belong into a CSV file.
MOST_BYTES = 1_000_000
# Of other tools' JSON: trajectories of a minute at 100 Hz have 3 MB, and Choreo's projects of 2024 hold all of theirs.
MOST_JSON = 20_000_000
# The encoding that an XML file declares.
_DECLARED = re.compile(rb"\s*<\?xml[^>]*?\sencoding=[\"']([\w.-]+)[\"']")


@dataclass(frozen=True)
class Document:
    """What a file holds: the robot, its run (None without one), where it was read, its text and its keys' lines, and
    the terrain under it, if any.
    """

    robot: Robot
    run: RunSpec | None = None
    path: FilePath | None = None
    source: str = ""
    lines: Mapping[Path, int] | None = None
    terrain: Terrain | None = None

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
                if key in by_key and key not in ("robot", "run", "terrain"):
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
            raise InputError("is not an ordinary file", file=file)
        with path.open("rb") as stream:
            content = stream.read(most + 1)
            size = stream.seek(0, 2)
    except FileNotFoundError:
        raise InputError("there is no such file", file=file, hint=near_files(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"can't be read: {reason}", file=file.replace("\0", "?")) from None
    refuse_foreign(content[:LOOKED_AT], file)
    if size > most:
        raise too_large(size, file, most)
    return decode(content, file)


def decode(content: bytes, file: str | None = None) -> str:
    """Text of a file's bytes: UTF-8, or in XML the encoding that it declares, which then declares UTF-8."""
    refuse_foreign(content[:LOOKED_AT], file)
    declared = _DECLARED.match(content)
    try:
        return decoded(content, file)
    except InputError:
        text = None if declared is None else _decoded_as(content, declared[1].decode("ascii"))
        if declared is None or text is None:
            raise
        return text[: declared.start(1)] + "UTF-8" + text[declared.end(1) :]


def _decoded_as(content: bytes, encoding: str) -> str | None:
    """The text of bytes in an encoding; None where it isn't that, or no encoding of text is called so."""
    try:
        return content.decode(encoding)
    except (LookupError, UnicodeError):
        return None


def too_large(size: int, file: str | None, most: int = MOST_BYTES) -> InputError:
    return InputError(
        f"has {size:,} bytes; it may have {most:,}",
        file=file,
        hint=None
        if (file or "").lower().endswith(".urdf")
        else 'keep long tables in a CSV file: inputs: {NAME: {file: "table.csv"}}',
    )


def near_files(path: FilePath) -> str | None:
    """The files beside it that may be meant: those that end as it does, else descriptions."""
    try:
        beside = [file for file in path.parent.iterdir() if file.suffix]
    except OSError:
        return f"there is no folder {path.parent}"
    alike = [file.name for file in beside if file.suffix == path.suffix]
    names = alike or [file.name for file in beside if file.suffix in (".yaml", ".yml", ".urdf", ".json")]
    return suggest(path.name, names) if names else None
