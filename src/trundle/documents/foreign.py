"""Files that are no descriptions, told by how they begin or else by their names: what each is, and what reads it."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import NamedTuple

from trundle.errors import InputError

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
    """What a file is, what reads it, how its bytes begin, its root element in XML, and how its name ends."""

    what: str
    reads: str
    starts: tuple[bytes, ...] = ()
    roots: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()


_FORMATS = (
    Format(
        "holds a run or a batch, not a description",
        "trundle.Run.load(path) reads a run, trundle.Batch.load(path) a batch",
        (b"\x89HDF", b"CDF", b"\x93NUMPY"),
        suffixes=(".nc", ".npy"),
    ),
    Format(
        "is a table, not a description",
        "trundle.Run.load(path) reads a run's table; as an input it is inputs: {NAME: {file: table.csv}}",
        suffixes=(".csv",),
    ),
    Format(
        "is a xacro file, from which URDF is made",
        "expand it with xacro first: xacro FILE > robot.urdf",
        suffixes=(".xacro",),
    ),
    Format("is URDF, in a file that is called otherwise", "call it robot.urdf", roots=("robot",)),
    Format("is a MuJoCo model (MJCF)", _ROBOT, roots=("mujoco", "mujocoinclude"), suffixes=(".mjcf",)),
    Format("is a Gazebo model or world (SDF)", _ROBOT, roots=("sdf", "gazebo"), suffixes=(".sdf", ".world")),
    Format(
        "is an OpenSim model, in a file that is called otherwise",
        "call it model.osim",
        roots=("OpenSimDocument",),
    ),
    Format("is a Simscape or Simulink model", _ROBOT, suffixes=(".slx", ".mdl")),
    Format("is a Modelica model", _ROBOT, suffixes=(".mo", ".fmu")),
    Format("is a USD scene", _ROBOT, (b"#usda", b"PXR-USDC"), suffixes=(".usd", ".usda", ".usdc", ".usdz")),
    Format("is a recording of a motion capture (C3D)", _MOTION, suffixes=(".c3d",)),
    Format("is a recording of a motion capture (BVH)", _RECORD, (b"HIERARCHY",), suffixes=(".bvh",)),
    Format("is a table of OpenSim's", _MOTION, suffixes=(".trc", ".mot", ".sto")),
    Format(
        "is a recording of ROS",
        _RECORD,
        (b"#ROSBAG", b"\x89MCAP0", b"SQLite format 3"),
        suffixes=(".bag", ".mcap", ".db3"),
    ),
    Format("is a file of MATLAB's", _RECORD, (b"MATLAB ",), suffixes=(".mat",)),
    Format(
        "is a table of a spreadsheet or a data frame", _RECORD, (b"PAR1",), suffixes=(".xlsx", ".parquet")
    ),
    Format(
        "is a shape",
        _SHAPE,
        (b"solid ", b"ISO-10303-21", b"ply\n", b"glTF"),
        ("COLLADA",),
        (".stl", ".dae", ".obj", ".ply", ".step", ".stp", ".gltf", ".glb"),
    ),
    Format("is a Python script", "run it: python FILE", suffixes=(".py",)),
    Format("is a notebook", "open it in Jupyter", suffixes=(".ipynb",)),
    Format("is a picture or a page", _ROBOT, (b"\x89PNG", b"%PDF", b"\xff\xd8\xff"), ("svg", "html")),
    Format(
        "is an archive", "unpack it first", (b"PK\x03\x04", b"\x1f\x8b"), suffixes=(".zip", ".gz", ".tar")
    ),
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
    by_content = (each for each in _FORMATS if content.startswith(each.starts) or element in each.roots)
    by_name = (each for each in _FORMATS if suffix in each.suffixes)
    first = (*by_name, *by_content) if suffix == ".xacro" else (*by_content, *by_name)
    found = first[0] if first else None
    if found is not None and (element, suffix) not in _OURS:
        raise InputError(found.what, file=file, hint=found.reads)
