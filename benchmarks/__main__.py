"""`python -m benchmarks [NAME …]`: measurements; `… compare CHECKOUT [NAME …]`: two checkouts by turns."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

import benchmarks
import trundle
from benchmarks.by_turns import by_turns
from benchmarks.compare import checkout, compare
from benchmarks.measure import ratio_text
from trundle.errors import InputError, TrundleError
from trundle.files import replacing


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"which: {', '.join(benchmarks.BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: rougher figures, sooner")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument(
        "--table", metavar="FILE", help="write the rows there, too, with what machine this is"
    )
    args = parser.parse_args(argv)
    try:
        if args.names[:1] == ["compare"]:
            return _compare(args.names[1:], args.quick)
        return _measure(args.names, args.quick, args.json, args.table)
    except TrundleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _measure(names: Sequence[str], quick: bool, as_json: bool, table: str | None) -> int:
    print("measuring; other work on this machine shows in the figures", file=sys.stderr)
    rows = []
    for row in benchmarks.run_benchmarks(names, quick):
        print(f"  {row.what.strip()}: {row.ours}", file=sys.stderr)
        rows.append(row)
        if table is not None:  # at once: what follows may fail, or be stopped
            write_table(Path(table), rows)
    if as_json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    else:
        _print(rows)
    return 0


def write_table(path: Path, rows: Sequence[benchmarks.Row]) -> None:
    """The rows as JSON, with the machine's processor and the versions: the site shows them."""
    machine = {"processor": _processor(), "python": platform.python_version(), "trundle": trundle.__version__}
    text = json.dumps(
        {"machine": machine, "rows": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False
    )
    with replacing(path) as draft:
        draft.write_text(f"{text}\n", encoding="utf-8")


def _processor() -> str:
    """The processor's name where Linux says it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _print(rows: Sequence[benchmarks.Row]) -> None:
    wide = any(row.peer for row in rows)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in ("what", "ours", *(("peer", "ratio") if wide else ()), "target", "note"):
        table.add_column(column, justify="left" if column in ("what", "note") else "right")
    for row in rows:
        peer = (row.peer, "" if row.ratio is None else f"{ratio_text(row.ratio)} ×") if wide else ()
        style = {True: "green", False: "yellow", None: ""}[row.met]
        verdict = {True: " met", False: " missed", None: ""}[row.met]
        table.add_row(row.what, row.ours, *peer, f"{row.target}{verdict}", row.note, style=style)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _compare(checkouts: Sequence[str], quick: bool) -> int:
    if not checkouts:
        raise InputError("compare takes another checkout", hint="git worktree add ../old REVISION makes one")
    there, *names = checkouts
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in ("what", "there", "here", "here / there"):
        table.add_column(column, justify="left" if column == "what" else "right")
    rows = by_turns(checkout(there), names, 3, quick) if names else compare(there, 5 if quick else 15)
    for row in rows:
        table.add_row(
            row.what, row.peer, row.ours, f"{row.ratio:.3f}", style="yellow" if row.met is False else ""
        )
        print(f"  {row.what}: {row.ratio:.3f}", file=sys.stderr)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
