"""`trundle verify`: motions at every level and profile, judged against the exact motion and the limits."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli.output import Output, claim, json_text
from trundle.cli.parsing import add_force, add_output
from trundle.show.summaries.lines import table

if TYPE_CHECKING:
    from trundle.motion.commands.commands import CommandFile
    from trundle.motion.commands.verification import Verdict

SUMMARY = "judge motions of a drive at every level and profile against the exact motion and the limits"
EPILOG = """\
examples:
  trundle verify --output runs/verification
  trundle verify --file verifications.yaml --output runs/verification

Without a file the standard motions: along x, y, diagonally, turning, and both at once, to and fro, from modules at 0 to
180 degrees. Files are basic-swerve-sim's verifications, or motions and plans themselves. Writes verification.csv and
verification.json. Exit status 1 if one fails."""

_COLUMNS = ("plan", "level", "profile", "duration", "error", "slip", "exceeded", "passed")


def configure(parser: ArgumentParser) -> None:
    """The options."""
    text = "verifications, or a motion (as often as needed; default: the standard motions)"
    parser.add_argument("--file", "-f", metavar="FILE", action="append", default=[], help=text)
    parser.add_argument("--robot", metavar="FILE", help="who drives (default: four modules with limits)")
    add_output(parser, "DIR", "the folder for the results (default: runs/verification)")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Judge, write the table, tell it."""
    from trundle.cli.output import write_file
    from trundle.motion.commands.verification import as_row, verify
    from trundle.results.table import csv_text

    folder = Path(args.output or Path("runs") / "verification")
    sheet, record = folder / "verification.csv", folder / "verification.json"
    if not record.is_file():  # an earlier table is known by its record beside it
        claim(str(sheet), args.force)
    files = _files(args)
    verdicts = [verdict for file in files for verdict in verify(file, args.robot)]
    rows = [as_row(verdict) for verdict in verdicts]
    names = [*_COLUMNS, "wrong"]
    text = csv_text([names, *([_cell(row[name]) for name in names] for row in rows)])
    write_file(str(record), json_text({"verdicts": rows}) + "\n")
    write_file(str(sheet), text)
    failed = [verdict for verdict in verdicts if verdict.wrong]
    out.answer({"verdicts": rows, "failed": len(failed), "files": [str(sheet), str(record)]})
    out.say(_lines(verdicts))
    out.say(f"{len(verdicts) - len(failed)} of {len(verdicts)} passed; wrote {sheet} and {record.name}")
    return 1 if failed else 0


def _files(args: Namespace) -> list[CommandFile]:
    from trundle.motion.commands.verification import standard_motions, verification_files

    if not args.file:
        return list(standard_motions(args.robot))
    return [path for file in args.file for path in verification_files(file)]


def _cell(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _lines(verdicts: list[Verdict]) -> list[str]:
    """The table: one row a verdict."""
    rows = [("plan", "level", "profile", "time (s)", "error", "slip (m/s)", "")]
    for verdict in verdicts:
        told = "; ".join(verdict.wrong) or (
            "passed" if not verdict.exceeded else f"passed (beyond {', '.join(verdict.exceeded)})"
        )
        numbers = f"{verdict.duration:.3f}", f"{verdict.error:.1e}", f"{verdict.slip:.1e}"
        rows.append((verdict.plan, verdict.level, verdict.profile, *numbers, told))
    return table(rows, right=(3, 4, 5))
