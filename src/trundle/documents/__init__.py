"""Descriptions as files: YAML, URDF and OpenSim's models, read with the line of every error, and written."""

from importlib import import_module
from typing import TYPE_CHECKING

from trundle.documents.document import Document as Document
from trundle.documents.reader import json_schema as json_schema
from trundle.documents.reader import load as load
from trundle.documents.reader import load_robot as load_robot
from trundle.documents.reader import parse as parse
from trundle.documents.runspec import FileTable as FileTable
from trundle.documents.runspec import RunSpec as RunSpec
from trundle.documents.runspec import Table as Table
from trundle.documents.writer import dump as dump

if TYPE_CHECKING:
    from trundle.documents.osim import load_osim as load_osim
    from trundle.documents.osim import osim_markers as osim_markers
    from trundle.documents.urdf import UrdfExtras as UrdfExtras
    from trundle.documents.urdf import dump_urdf as dump_urdf
    from trundle.documents.urdf import load_urdf as load_urdf
    from trundle.documents.urdf import parse_urdf as parse_urdf
    from trundle.documents.urdf import urdf_extras as urdf_extras

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
    return getattr(import_module(f"trundle.documents.{'osim' if 'osim' in name else 'urdf'}"), name)
