"""URDF in and out. What Trundle doesn't use is kept and written back."""

from trundle.documents.urdf.elements import Limit, Mimic
from trundle.documents.urdf.extras import Mesh, UrdfExtras, urdf_extras
from trundle.documents.urdf.urdf_reader import load_urdf, parse_urdf
from trundle.documents.urdf.urdf_writer import dump_urdf

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
