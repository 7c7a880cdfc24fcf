"""`trundle bench`: measure the speed, beside the peers, in a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trundle.cli.output import Output

if TYPE_CHECKING:
    from trundle.bench import Row

SUMMARY = "measure the speed, beside the peers that are installed"
EPILOG = """\
example:
  trundle bench --quick

Peers are optional (pip install 'trundle[peers,pydy]', the latter for `sympy`); their rows say when they are not
installed."""


def configure(parser: ArgumentParser) -> None:
    """The options."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="which measurements (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: rougher figures, sooner")


def execute(args: Namespace, out: Output) -> int:
    """Measure, then print."""
    from dataclasses import asdict

    from trundle.bench import run_bench

    out.remark("measuring; other work on this machine shows in the figures")
    rows = []
    for row in run_bench(args.names, args.quick):
        out.remark(f"  {row.what.strip()}: {row.ours}")
        rows.append(row)
    out.answer({"rows": [asdict(row) for row in rows]})
    if not (out.json or out.quiet):
        _print(rows, out)
    return 0


def _print(rows: Sequence[Row], out: Output) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    wide = any(row.peer for row in rows)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in ("what", "ours", *(("peer", "ratio") if wide else ()), "target", "note"):
        table.add_column(column, justify="left" if column in ("what", "note") else "right")
    for row in rows:
        peer = (row.peer, "" if row.ratio is None else _ratio(row.ratio)) if wide else ()
        style = {True: "green", False: "yellow", None: ""}[row.met]
        verdict = {True: " met", False: " missed", None: ""}[row.met]
        table.add_row(row.what, row.ours, *peer, f"{row.target}{verdict}", row.note, style=style)
    Console(no_color=not out.colours, width=None if out.colours else 120).print(table)


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"
