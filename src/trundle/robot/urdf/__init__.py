"""URDF in and out. What Trundle doesn't use is kept and written back."""

from trundle.robot.urdf.elements import Limit, Mimic
from trundle.robot.urdf.extras import Mesh, UrdfExtras, urdf_extras
from trundle.robot.urdf.reader import load_urdf, parse_urdf
from trundle.robot.urdf.writer import dump_urdf

__all__ = [
    "Limit",
    "Mesh",
    "Mimic",
    "UrdfExtras",
    "dump_urdf",
    "load_urdf",
    "parse_urdf",
    "urdf_extras",
]
