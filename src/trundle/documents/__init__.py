"""Descriptions as files: YAML, URDF and OpenSim's models, read with the line of every error, and written."""

from importlib import import_module
from typing import TYPE_CHECKING

from trundle.documents.document import Document
from trundle.documents.reader import json_schema, load, load_robot, parse
from trundle.documents.runspec import FileTable, RunSpec, Table
from trundle.documents.writer import dump
from trundle.errors import no_attribute

if TYPE_CHECKING:
    from trundle.documents.osim import load_osim as load_osim
    from trundle.documents.osim import osim_markers as osim_markers
    from trundle.documents.osim import osim_weights as osim_weights
    from trundle.documents.urdf import UrdfExtras, dump_urdf, load_urdf, parse_urdf, urdf_extras

__all__ = [
    "Document",
    "FileTable",
    "RunSpec",
    "Table",
    "UrdfExtras",
    "dump",
    "dump_urdf",
    "json_schema",
    "load",
    "load_robot",
    "load_urdf",
    "parse",
    "parse_urdf",
    "urdf_extras",
]


def __getattr__(name: str) -> object:
    """Functions of URDF and OpenSim, loaded when they are asked for: a run of a YAML file doesn't wait for them."""
    if name not in __all__ and name not in ("load_osim", "osim_markers", "osim_weights"):
        raise no_attribute("trundle.documents", name, __all__)
    return getattr(import_module(f"trundle.documents.{'osim' if 'osim' in name else 'urdf'}"), name)
