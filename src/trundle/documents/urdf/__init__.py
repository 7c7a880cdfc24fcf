"""URDF in and out. What Trundle doesn't use is kept and written back."""

from trundle.documents.urdf.elements import Limit
from trundle.documents.urdf.urdf_reader import UrdfExtras, UrdfMesh, load_urdf, parse_urdf, urdf_extras
from trundle.documents.urdf.urdf_writer import dump_urdf

__all__ = ["Limit", "UrdfExtras", "UrdfMesh", "dump_urdf", "load_urdf", "parse_urdf", "urdf_extras"]
