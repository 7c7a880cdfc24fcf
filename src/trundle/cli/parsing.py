"""Parsing that all commands share."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from trundle.cli.failures import UsageError


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is an exception, so that --json can answer with an object. It keeps its texts'
    lines, and takes no abbreviations, which a new option could break.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **how)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print before it ends the process."""
        raise UsageError(message, self.format_usage())


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options that every command has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="print nothing but errors and what was asked for"
    )


def add_output(parser: argparse.ArgumentParser, metavar: str, text: str) -> None:
    """Where a command writes: --output everywhere; --out is short for it."""
    parser.add_argument("--output", "--out", metavar=metavar, help=text)


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE of an option."""
    name, mark, value = text.partition("=")
    if not (mark and name.strip() and value.strip()):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name.strip(), value.strip()
