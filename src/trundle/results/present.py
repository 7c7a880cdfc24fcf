"""How runs and batches show themselves: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trundle.results.batch import Batch
    from trundle.results.run import Run

_MOST_ROWS = 24


def run_text(run: Run) -> str:
    """Run 'diff_drive': 1001 samples from 0 s to 30 s, 24 values; ends at x = 1.2 m, y = 0.3 m, theta = 2 rad."""
    shown = list(run.final)[:3]
    ends = ", ".join(f"{name} = {quantity(run.final[name], run.units.get(name, ''))}" for name in shown)
    more = ", …" if len(run.final) > len(shown) else ""
    span = f"{len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s"
    return f"Run {run.name!r}: {span}, {len(run.values)} values; ends at {ends}{more}"


def run_html(run: Run) -> str:
    """A table: name, unit, first, last, smallest and largest value."""
    rows = []
    for name in list(run.values)[:_MOST_ROWS]:
        array = run.values[name]
        numbers = [f"{number:.6g}" for number in (array[0], array[-1], array.min(), array.max())]
        rows.append((name, run.units.get(name, ""), *numbers))
    title = f"{run.name}: {len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s"
    return _table(title, ("name", "unit", "first", "last", "min", "max"), rows, len(run.values) - len(rows))


def batch_text(batch: Batch) -> str:
    """Batch 'diff_drive': 100000 robots, 101 saved times from 0 s to 10 s; states x, y, theta, …"""
    states = ", ".join(batch.states[:6]) + (", …" if len(batch.states) > 6 else "")
    return f"Batch {batch.name!r}: {_size(batch)}; states {states}"


def batch_html(batch: Batch) -> str:
    """A table: state, unit, and mean, smallest and largest final value over the robots."""
    rows = []
    for name in batch.states[:_MOST_ROWS] if batch.count and batch.time.size else ():
        final = batch.final(name)
        numbers = [f"{number:.6g}" for number in (np.mean(final), np.min(final), np.max(final))]
        rows.append((name, batch.units.get(name, ""), *numbers))
    header = ("state", "unit", "mean at the end", "min", "max")
    return _table(f"{batch.name}: {_size(batch)}", header, rows, len(batch.states) - len(rows))


def quantity(number: float, unit: str) -> str:
    """A number with six digits and its unit."""
    return f"{number:.6g} {unit}".rstrip()


def _size(batch: Batch) -> str:
    span = f" from {batch.time[0]:g} s to {batch.time[-1]:g} s" if batch.time.size else ""
    return f"{batch.count} robots, {batch.time.size} saved times{span}"


def _table(title: str, header: Iterable[str], rows: Iterable[tuple[str, ...]], left_off: int) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    foot = f"<p>and {left_off} more</p>" if left_off > 0 else ""
    return (
        f"<div><p><b>{escape(title)}</b></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{foot}</div>"
    )
