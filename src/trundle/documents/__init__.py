"""Descriptions as files: YAML and URDF, read with the line of every error, and written."""

from trundle.documents.document import Document
from trundle.documents.reader import json_schema, load, load_robot, parse
from trundle.documents.runspec import FileTable, RunSpec, Table
from trundle.documents.urdf import UrdfExtras, dump_urdf, load_urdf, parse_urdf, urdf_extras
from trundle.documents.writer import dump

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
