"""The command `trundle`: finds the subcommand, runs it, and turns what goes wrong into a message and an exit status.

Nothing here, and nothing at the top of a command's module, imports NumPy or anything heavier: `--help` must stay instant.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from trundle.cli import bench, check, run, schema
from trundle.cli.failures import BROKEN_PIPE, BUG, INTERRUPTED, USAGE, UsageError, explain
from trundle.cli.output import output_for
from trundle.errors import suggest
from trundle.version import __version__

COMMANDS = {"check": check, "run": run, "schema": schema, "bench": bench}

_EPILOG = f"""\
start here:
  trundle new differential_drive robot.yaml
  trundle run robot.yaml

exit status: 0 done; 1 the input is wrong; 2 the command line is wrong; 3 the numbers failed
({BUG} a bug in trundle, {INTERRUPTED} interrupted). `trundle COMMAND --help` tells about one command."""


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is an exception, so that --json can answer with an object."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print before it ends the process."""
        raise UsageError(message, self.format_usage())


def build_parser() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="trundle",
        description="Wheeled robots and linkages: from a description to equations, simulations and pictures.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"trundle {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, module in COMMANDS.items():
        summary = module.SUMMARY
        own = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.configure(own)
        own.add_argument("--json", action="store_true", help="print one JSON object on standard output")
        own.add_argument(
            "--quiet", "-q", action="store_true", help="print nothing but what was asked for, and errors"
        )
        own.set_defaults(execute=module.execute)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; by default the process's own) and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _guarded(given)
        sys.stdout.flush()
    except BrokenPipeError:
        return _mute()
    return status


def _guarded(given: list[str]) -> int:
    try:
        return _dispatch(given)
    except SystemExit as ended:  # how argparse ends --help and --version
        return ended.code if isinstance(ended.code, int) else 0
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        return explain(error, "--json" in given)


def _dispatch(given: list[str]) -> int:
    parser = build_parser()
    if not given:
        parser.print_help(sys.stderr)
        return USAGE
    first = next((each for each in given if not each.startswith("-")), None)
    if first is not None and first not in COMMANDS:
        raise UsageError(f"there is no command '{first}'; {suggest(first, COMMANDS)}", parser.format_usage())
    args = parser.parse_args(given)
    if args.command is None:
        raise UsageError("no command is given", parser.format_usage())
    return args.execute(args, output_for(args))


def _mute() -> int:
    """Whoever read the output has gone: say nothing more, and let the interpreter's last flush go nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
