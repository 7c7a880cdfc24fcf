"""`trundle new`: write a description to start from."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trundle.cli.failures import UsageError
from trundle.cli.output import Output, emit, output_for, write_file
from trundle.cli.parsing import Parser, add_common, add_output, measure, options_named
from trundle.errors import InputError
from trundle.files import is_taken

SUMMARY = "write the description of a robot from the catalogue, to start from"
EPILOG = """\
examples:
  trundle new --list
  trundle new differential_drive robot.yaml
  trundle new swerve --modules 6 --radius "2 in" > swerve.yaml

Each robot has measures of its own, given as --MEASURE VALUE: `trundle new KIND --help` shows them. Without
FILE, or with -, the description is printed."""

# Words behind the sections' keys in the file that is written.
_COMMENTS = {
    "  gravity": "m/s^2",
    "  body": "the base's; inertia is about the centre of mass",
    "  joints": "each carries a body; at and axis in the parent's frame",
    "  wheels": "at: the wheel's centre; contact: ideal (never slips), slip (friction) or free",
    "  motors": "drives: a wheel, a joint, or a steering (WHEEL.steering)",
    "  batteries": "feed the motors, and sag under all their currents",
    "  couplings": "one coordinate for both wheels, NAME.angle",
    "  loops": "joints that close a chain: they hold a frame on one body to one on another",
    "  controllers": "what drives motors by what the robot does: reads, drives, gains",
    "  sensors": "what measures the robot, with noise: for logs and estimators",
    "  parameters": "names for numbers, for use above; change them with --set NAME=VALUE",
    "  duration": "s",
    "  inputs": "constants, tables (previous, linear, cubic), or columns of a CSV file",
    "  initial": "states at the start; the others are 0",
}


def configure(parser: ArgumentParser) -> None:
    """The options. What stands behind KIND is parsed when the kind is known, because the measures depend on it."""
    _options(parser)
    parser.add_argument(
        "words",
        nargs=REMAINDER,
        metavar="KIND [FILE] [--MEASURE VALUE ...]",
        help="which robot, where to, how large",
    )


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="show the catalogue")
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")


def execute(args: Namespace, out: Output) -> int:
    """Print or write one description, or list them all."""
    from trundle import catalog

    measures: dict[str, float | str] = {}
    kind = args.words[0] if args.words else ""
    if kind:
        known = catalog.options(kind)  # raises InputError for an unknown kind
        # The words behind the kind, read into the same namespace: options may stand on both sides of it.
        args = _kind_parser(kind, catalog.summary(kind), known).parse_args(args.words[1:], args)
        out = output_for(args)
        given = {name: getattr(args, f"measure {name}") for name in known}
        measures = {name: value for name, value in given.items() if value is not None}
    if args.list:
        return _list(out)
    if not kind:
        raise UsageError(
            "which robot? `trundle new --list` shows the catalogue", "usage: trundle new KIND [FILE]"
        )
    file = args.output or args.file
    with options_named({name: f"--{name.replace('_', '-')}" for name in measures}):
        text = _annotated(kind, catalog.document(kind, **measures).source, file)
    if file in (None, "-"):
        out.answer({"kind": kind, "file": None, "text": text})
        if not out.json:
            emit(text, end="")
        return 0
    if is_taken(file) and not args.force:
        raise InputError("is there already", file=file, hint="--force replaces it")
    if not (folder := Path(file).parent).is_dir():  # none is made unasked
        raise InputError(f"there is no folder '{folder}'", file=file, hint=f'make it first: mkdir "{folder}"')
    write_file(file, text)
    out.answer({"kind": kind, "file": file, "text": text})
    out.say(f"wrote {file}; now: trundle run {file}")
    return 0


def _kind_parser(kind: str, summary: str, measures: Mapping[str, object]) -> Parser:
    """The parser of `trundle new KIND`, with an option for every measure of the kind.

    A measure's default in the catalogue also says its type: a switch, a whole number, or text with a unit.
    """
    from trundle.catalog.entry import MEASURES

    epilog = 'Measures are numbers in SI, or text with a unit: "6 in".'
    parser = Parser(prog=f"trundle new {kind}", description=summary, epilog=epilog)
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="where to write it; printed without, or with -"
    )
    add_output(parser, "FILE", "the same")
    _options(parser)
    add_common(parser)
    group = parser.add_argument_group("measures")
    for name, default in measures.items():
        names = [f"--{spelling}" for spelling in dict.fromkeys((name.replace("_", "-"), name))]
        help_text = MEASURES[name] + ("" if default is None else f" default: {default}")
        how: dict[str, Any] = {"type": measure, "metavar": "VALUE"}
        if isinstance(default, bool):
            how = {"action": BooleanOptionalAction}
        elif isinstance(default, int):
            how = {"type": int, "metavar": "N"}
        group.add_argument(*names, dest=f"measure {name}", default=None, help=help_text, **how)
    return parser


def _list(out: Output) -> int:
    """Print the catalogue: its kinds with their measures and defaults, and the motors."""
    from trundle import catalog

    known = {
        name: {"summary": catalog.summary(name), "measures": catalog.options(name)}
        for name in (*catalog.names(), *catalog.names(terrain=True))
    }
    out.answer({"catalogue": known, "motors": list(catalog.motors())})
    lines = []
    for name, entry in known.items():
        lines += out.facts([(name, entry["summary"])], 20)
        measures = ", ".join(
            f"{measure}={default}" for measure, default in entry["measures"].items() if default is not None
        )
        lines += [f"{' ' * 22}{out.styled(line.strip(), 'dim')}" for line in out.facts([("", measures)], 20)]
    out.say([*lines, *out.facts([("--motor", ", ".join(catalog.motors()))], 20)])
    return 0


def _annotated(kind: str, source: str, file: str | None) -> str:
    """The text with a word behind its sections, and how to run it on top."""
    lines = []
    for line in source.splitlines():
        comment = _COMMENTS.get(line.partition(":")[0])
        lines.append(f"{line}  # {comment}" if comment else line)
    head = (
        f'# From `trundle new {kind}`. Numbers are in SI and radians; text may have units ("6 in", "20 deg").'
    )
    name = file if file not in (None, "-") else "FILE"
    return "\n".join([head, f"# Run it: trundle run {name}    All keys: trundle schema", *lines]) + "\n"
