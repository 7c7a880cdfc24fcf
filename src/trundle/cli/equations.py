"""`trundle equations`: a robot's equations for reading, for a paper, for a page, for a program."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from trundle.choices import WHAT
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output, claim, emit, json_text, write_file, write_json
from trundle.cli.parsing import add_description, add_force, add_output
from trundle.errors import InputError, counted
from trundle.files import signature
from trundle.show.summaries.lines import terminal_width

if TYPE_CHECKING:
    from trundle.formulas import Equations

SUMMARY = "print a robot's equations: kinematics, constraints, dynamics, motors"
EPILOG = """\
examples:
  trundle equations examples/diff_drive/offset.yaml
  trundle equations examples/offset_drive/turning.yaml --what kinematics --format latex
  trundle equations examples/diff_drive/offset.yaml --what state

The symbols are the description's parameters; numbers without a name get one, and a list says which. Each equation is
compared with the compiled program at random points before it is printed. --format json has every expression as text
that sympy.sympify reads; in Python trundle.equations has them as SymPy's own."""

_FORMATS = ("text", "latex", "tex", "json", "markdown", "mathml", "page")


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add_description(parser)
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default="text",
        help="default: text, for a terminal; tex and page are whole documents, latex and mathml parts of such",
    )
    parser.add_argument(
        "--what",
        choices=WHAT,
        help="default: all, or kinematics where the file's run is kinematic; state is x' = f(x, u) line by line",
    )
    add_output(parser, "FILE", "write to this file, not to standard output")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Derive, check, print."""
    from trundle.cli.request import read_request

    claim(args.output, args.force)
    request = read_request(args.file, args.base)
    what = args.what or ("kinematics" if request.run.mode == "kinematic" else "all")
    with request.located(), no_collection():
        from trundle.formulas import equations

        robot = request.document.robot
        with out.doing(f"writing the equations of {robot.name}") as doing:
            result = equations(robot, what, progress=doing.at)
    if args.output:
        write_file(args.output, _signed(result, args.format))
        out.answer({"name": result.name, "what": what, "file": args.output, "operations": result.operations})
        out.say(f"{result.name}: {counted(result.operations, 'operation')}, written to {args.output}")
    elif out.json or args.format == "json":
        write_json(result.data())
    else:
        _show(_written(result, args.format).rstrip())
    return 0


def _show(text: str) -> None:
    """Print, or say that standard output can't hold the signs of formulas."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        raise InputError(
            f"formulas need signs that this terminal's encoding, {encoding}, has not",
            hint="set PYTHONIOENCODING=utf-8, or ask for --format latex, or write a file with --output",
        ) from None
    emit(text)


def _signed(result: Equations, form: str) -> str:
    """The equations in one format for a file, which says at its end where it comes from."""
    if form == "json":
        return json_text({**result.data(), "written_by": signature().removeprefix("written by ")}) + "\n"
    comment = {"text": "\n{}"} | dict.fromkeys(("markdown", "mathml", "page"), "\n<!-- {} -->")
    return f"{_written(result, form)}{comment.get(form, '% {}').format(signature())}\n"


def _written(result: Equations, form: str) -> str:
    """The equations in one format."""
    from trundle import format_equations

    text = format_equations(result, form, terminal_width())
    return f"{text}\n" if form == "text" else text
