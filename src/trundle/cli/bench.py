"""`trundle bench`: measure the speed, beside the peers, in a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from trundle.cli.output import Output

SUMMARY = "measure the speed, beside the peers that are installed"
EPILOG = """\
example:
  trundle bench --quick

Peers are optional (pip install 'trundle[peers]'); their rows say when they are not installed."""


def configure(parser: ArgumentParser) -> None:
    """The options."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="which measurements (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: rougher figures, sooner")


def execute(args: Namespace, out: Output) -> int:
    """Measure, then print."""
    from dataclasses import asdict

    from trundle.bench import run_bench

    out.remark("measuring; other work on this machine would show in the figures")
    rows = run_bench(args.names, args.quick)
    out.answer({"rows": [asdict(row) for row in rows]})
    if not (out.json or out.quiet):
        _print(rows, out)
    return 0


def _print(rows: Sequence[Any], out: Output) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Speed", title_justify="left", header_style="bold")
    for column in ("what", "ours", "peer", "ratio", "target", "note"):
        table.add_column(column, justify="left" if column in ("what", "note") else "right")
    for row in rows:
        table.add_row(row.what, row.ours, row.peer, row.ratio, row.target, row.note)
    Console(no_color=not out.colours).print(table)
