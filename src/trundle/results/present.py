"""How runs and batches show themselves: one line in a terminal, picture and tables in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trundle.errors import InputError
from trundle.html import MOST_FOLDED, MOST_ROWS, beside, block, facts, folded, picture, table

if TYPE_CHECKING:
    from trundle.results.batch import Batch
    from trundle.results.run import Run


def run_text(run: Run) -> str:
    """Run 'diff_drive': 1001 samples from 0 s to 30 s, 24 values; ends at x = 1.2 m, y = 0.3 m, theta = 2 rad."""
    shown = list(run.final)[:3]
    ends = ", ".join(f"{name} = {quantity(run.final[name], run.units.get(name, ''))}" for name in shown)
    more = ", …" if len(run.final) > len(shown) else ""
    span = f"{len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s"
    return f"Run {run.name!r}: {span}, {len(run.values)} values; ends at {ends}{more}"


def run_html(run: Run) -> str:
    """How it ended and what its checks say, the path, and all values with their range to unfold."""
    names = run.states or tuple(run.values)[:MOST_ROWS]
    ends = [(name, quantity(run[name][-1], run.units.get(name, ""))) for name in names]
    return block(
        run.name,
        f"{len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s",
        beside(_path(run), table(("at the end", ""), ends), facts(_findings(run))),
        folded(
            f"{len(run.values)} values",
            table(("name", "unit", "first", "last", "min", "max"), _ranges(run), range(2, 6), MOST_FOLDED),
        ),
    )


def _path(run: Run) -> str:
    """The path's picture; a run whose sketch can't be drawn shows its numbers all the same."""
    try:
        drawn = run.plot.path_png()
    except InputError as error:
        return facts([("path", error.message)])
    return "" if drawn is None else picture(drawn, f"path of {run.name}", width=480)


def _findings(run: Run) -> list[tuple[str, str]]:
    """How the run was made and how far it can be trusted, as far as it says so."""
    found = [("method", str(run.summary["method"]))] if "method" in run.summary else []
    units = {
        "constraint_residual": "m/s",
        "slip_residual": "m/s",
        "energy_imbalance": "J",
        "energy_turned_over": "J",
    }
    for name, unit in units.items():
        if isinstance(run.summary.get(name), int | float):
            found.append((name.replace("_", " "), f"{run.summary[name]:.2g} {unit}"))
    return found


def _ranges(run: Run) -> list[tuple[str, ...]]:
    """Name, unit, first, last, smallest and largest value, all of them: a table shows what it has room for."""
    rows = []
    for name in list(run.values):
        array = run.values[name]
        numbers = [f"{number:.6g}" for number in (array[0], array[-1], array.min(), array.max())]
        rows.append((name, run.units.get(name, ""), *numbers))
    return rows


def batch_text(batch: Batch) -> str:
    """Batch 'diff_drive': 100000 robots, 101 saved times from 0 s to 10 s; states x, y, theta, …"""
    states = ", ".join(batch.states[:6]) + (", …" if len(batch.states) > 6 else "")
    return f"Batch {batch.name!r}: {_size(batch)}; states {states}"


def batch_html(batch: Batch) -> str:
    """A table: state, unit, and mean, smallest and largest final value over the robots."""
    rows = []
    for name in batch.states if batch.count and batch.time.size else ():
        final = batch.final(name)
        numbers = [f"{number:.6g}" for number in (np.mean(final), np.min(final), np.max(final))]
        rows.append((name, batch.units.get(name, ""), *numbers))
    header = ("state", "unit", "mean at the end", "min", "max")
    found = [("diverged", str(batch.summary["diverged"]))] if "diverged" in batch.summary else []
    return block(batch.name, _size(batch), beside(table(header, rows, range(2, 5)), facts(found)))


def quantity(number: float, unit: str) -> str:
    """A number with six digits and its unit."""
    return f"{number:.6g} {unit}".rstrip()


def _size(batch: Batch) -> str:
    span = f" from {batch.time[0]:g} s to {batch.time[-1]:g} s" if batch.time.size else ""
    return f"{batch.count} robots, {batch.time.size} saved times{span}"
