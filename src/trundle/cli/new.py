"""`trundle new`: write a description to start from."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trundle.cli.failures import UsageError
from trundle.cli.output import Output, table
from trundle.errors import InputError, suggest

SUMMARY = "write the description of a robot from the catalogue, to start from"
EPILOG = """\
examples:
  trundle new --list
  trundle new differential_drive robot.yaml
  trundle new swerve --modules 6 --radius "2 in" > swerve.yaml

Each robot has measures of its own, given as --NAME VALUE; `trundle new --list` shows them. Without FILE, or with -, the
description is printed."""


def configure(parser: ArgumentParser) -> None:
    """The options; the measures come behind and depend on the kind."""
    parser.add_argument("kind", metavar="KIND", nargs="?", help="which robot")
    parser.add_argument("file", metavar="FILE", nargs="?", help="where to write it")
    parser.add_argument("--list", action="store_true", help="show the catalogue")
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")
    parser.add_argument("measures", nargs="...", metavar="--MEASURE VALUE", help=SUPPRESS)
