"""What runs and batches came to: in a line, in a notebook, for the command line, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trundle.errors import InputError, counted
from trundle.html import MOST_FOLDED, MOST_ROWS, block, facts, folded, picture, side_by_side
from trundle.html import table as html_table
from trundle.mechanics.quantities import UNSEEN
from trundle.results import Batch, Run
from trundle.results.columns import with_angles
from trundle.show.summaries.lines import Page, quantity, seconds, table, terminal_width
from trundle.show.summaries.model_summary import system_data, system_facts
from trundle.show.summaries.robot_summary import kind_of
from trundle.show.summaries.verbs import html, text
from trundle.show.verdicts import doubts, verdicts

if TYPE_CHECKING:
    from trundle.robot import Robot
    from trundle.simulation.runfile import Task

# States beyond this many are counted, not listed; the files have them all.
_MOST_STATES = 30


@dataclass(frozen=True)
class RunReport:
    """All that is told of a run: its robot, the task that it did, the files that were written, how long the
    figures took, and what the user should know.
    """

    robot: Robot
    task: Task
    run: Run
    files: Sequence[Path] = ()
    figure_seconds: float = 0.0
    notes: Sequence[str] = ()

    @property
    def all_notes(self) -> list[str]:
        """What the derivation has to say, then what the run has."""
        return [*(self.task.model.notes if self.task.model else ()), *self.notes]

    @property
    def changes(self) -> Mapping[str, tuple[float, float]]:
        """The parameters that the run changed: the description's value, and the run's."""
        described, used = self.robot.parameter_values(), self.run.description["parameters"]
        return {name: (described[name], used[name]) for name in self.task.changed}


@text.register
def run_text(run: Run) -> str:
    """Run 'diff_drive': 1001 samples from 0 s to 30 s, 24 values; ends at x = 1.2 m, y = 0.3 m, theta = 2 rad."""
    final = run.final
    ends = ", ".join(
        f"{name} = {quantity(final[name], run.units.get(name, ''), 6)}" for name in list(final)[:3]
    )
    more = ", …" if len(final) > 3 else ""
    told = "".join(f"; note: {note}" for note in notes_of(run))
    return f"Run {run.name!r}: {_span(run)}, {counted(len(run.values), 'value')}; ends at {ends}{more}{told}"


@html.register
def run_html(run: Run) -> str:
    """How it ended and what its checks say, the path, and all values with their range to unfold."""
    names = with_angles(run.states or tuple(run.values)[:MOST_ROWS], run)
    ends = [(name, quantity(run[name][-1], run.units.get(name, ""), 6)) for name in names]
    accuracy = [("method", str(run.summary["method"]))] if "method" in run.summary else []
    accuracy += [(each.name, ": ".join(filter(None, (each.value, each.verdict)))) for each in verdicts(run)]
    accuracy += [("note", note) for note in notes_of(run)]
    ranges = [
        (name, run.units.get(name, ""), *_numbers(values[0], values[-1], peak.lowest, peak.highest))
        for (name, values), peak in zip(run.values.items(), run.peaks.values(), strict=True)
    ]
    sampled = all(peak.sampled for peak in run.peaks.values())
    of = " sample" if sampled else ""
    header = ("name", "unit", "first", "last", f"lowest{of}", f"highest{of}")
    return block(
        run.name,
        _span(run),
        side_by_side(_path(run), html_table(("at the end", ""), ends), facts(accuracy)),
        folded(counted(len(run.values), "value"), html_table(header, ranges, range(2, 6), MOST_FOLDED)),
    )


@text.register
def batch_text(batch: Batch) -> str:
    """Batch 'diff_drive': 100000 robots, 101 saved times from 0 s to 10 s; states x, y, theta, …"""
    states = ", ".join(batch.states[:6]) + (", …" if len(batch.states) > 6 else "")
    return f"Batch {batch.name!r}: {_size(batch)}; states {states}"


@html.register
def batch_html(batch: Batch) -> str:
    """A table: state, unit, and mean, smallest and largest final value over the robots."""
    rows = [
        (name, batch.units.get(name, ""), *_numbers(float(np.mean(final)), final.min(), final.max()))
        for name in (batch.states if batch.count and batch.time.size else ())
        for final in [batch.final(name)]
    ]
    header = ("state", "unit", "mean at the end", "min", "max")
    count = [("diverged", str(batch.summary["diverged"]))] if "diverged" in batch.summary else []
    return block(batch.name, _size(batch), side_by_side(html_table(header, rows, range(2, 5)), facts(count)))


def run_data(report: RunReport) -> dict[str, object]:
    """Everything about a run as plain data."""
    run, system = report.run, report.task.problem.system
    groups = {name: run.groups[name] for name in ("coordinates", "speeds", "inputs")}
    return {
        **system_data(system),
        **groups,
        **{name: value for name, value in run.summary.items() if name != "mobility"},
        "mode": "dynamic" if report.task.model else run.summary.get("mode", "kinematic"),
        "figure_seconds": report.figure_seconds,
        "duration": run.duration,
        "samples": len(run),
        "parameters": run.description["parameters"],
        "changed": {name: new for name, (_, new) in report.changes.items()},
        "final": run.final,
        "outputs": {name: float(run[name][-1]) for name in run.groups["outputs"]},
        "checks": [asdict(each) for each in verdicts(run)],
        "peaks": {name: peak._asdict() for name, peak in run.peaks.items()},
        "units": dict(run.units),
        "notes": report.all_notes,
        "files": [str(path) for path in report.files],
    }


def run_lines(report: RunReport, page: Page) -> list[str]:
    """The summary for a person."""
    run, files, system = report.run, report.files, report.task.problem.system
    robot, facts = report.robot, [fact for fact in system_facts(system) if fact[0] != "note"]
    units = robot.parameter_units()
    changes = ", ".join(
        f"{name} = {quantity(new, units.get(name, ''))} (was {old:g})"
        for name, (old, new) in report.changes.items()
    )
    facts += [("parameters", changes)] if changes else []
    lines = [*page.title(robot.name, kind_of(robot)), *page.facts(facts)]
    lines += ["", page.heading("time"), *table(_times(report), right=(1,))]
    lines += ["", page.heading(f"at t = {run.time[-1]:g} s"), *_final(run, files)]
    lines += ["", page.heading("checks"), *table(_checks(run, page))]
    lines += ["", f"{page.heading('files')}  in {files[0].parent}"]
    lines += page.facts([("", "  ".join(path.name for path in files))], 0)
    for note in report.all_notes:
        lines += ["", page.styled(f"note: {note}", "yellow")]
    return lines


def notes_of(run: Run) -> list[str]:
    """What a run keeps of what its model had to say, that nothing holds its base say, and what makes it doubtful; files
    may hold anything there.
    """
    notes = run.summary.get("notes")
    kept = [note for note in notes if isinstance(note, str)] if isinstance(notes, list | tuple) else []
    return [*kept, *doubts(run)]


def _times(report: RunReport) -> list[tuple[str, str, str]]:
    """Rows of a step's name, the time that it took, and a remark on it. Figures stand there if some were drawn."""
    run = report.run
    told = {
        "derive": "",
        "compile": "",
        "simulate": f"{run.duration:g} s, by {run.summary['method']}, {counted(len(run), 'sample')}",
    }
    times = [(step, seconds(run.summary[f"{step}_seconds"]), text) for step, text in told.items()]
    return [*times, ("figures", seconds(report.figure_seconds), "")] if report.figure_seconds else times


def _final(run: Run, files: Sequence[Path]) -> list[str]:
    """The final states, and the base's own speeds, in as many columns as fit."""
    every = dict.fromkeys(with_angles((*run.groups["coordinates"], *run.base_speeds, *run.final), run))
    names = [name for name in every if run.column(name).kind not in UNSEEN]
    final = [(name, float(run[name][-1])) for name in names]
    # What is nothing but rounding is shown as zero; files and plain data keep it.
    cells = [
        (name, f"{0.0 if abs(value) < 1e-12 else value:.7g}", run.units.get(name, ""))
        for name, value in final[:_MOST_STATES]
    ]
    width = sum(max(len(cell[k]) for cell in cells) for k in range(3)) + 8 if cells else 1
    across = max(1, min(3, terminal_width() // width))
    down = -(-len(cells) // across)
    cells += [("", "", "")] * (across * down - len(cells))
    rows = [[part for k in range(across) for part in cells[k * down + row]] for row in range(down)]
    lines = table(rows, right=range(1, 3 * across, 3))
    if more := len(every) - min(len(final), _MOST_STATES):
        lines.append(f"  and {counted(more, 'more state')} in {files[0].name}")
    return lines


def _checks(run: Run, page: Page) -> list[tuple[str, str, str]]:
    """What was checked, by how much it is off, and whether that is good."""
    colours = {"ok": "green", "doubtful": "yellow"}
    return [
        (each.name, each.value, page.styled(each.text, colours[each.verdict]) if each.verdict else each.text)
        for each in verdicts(run)
    ]


def _path(run: Run) -> str:
    """The path's picture; a run whose description can't be read shows its numbers all the same."""
    try:
        drawn = run.plot.path_png()
    except InputError as error:
        return facts([("path", error.message)])
    return "" if drawn is None else picture(drawn, f"path of {run.name}", width=480)


def _numbers(*numbers: float) -> list[str]:
    return [f"{number:.6g}" for number in numbers]


def _span(run: Run) -> str:
    return f"{counted(len(run), 'sample')} from {run.time[0]:g} s to {run.time[-1]:g} s"


def _size(batch: Batch) -> str:
    span = f" from {batch.time[0]:g} s to {batch.time[-1]:g} s" if batch.time.size else ""
    return f"{counted(batch.count, 'robot')}, {counted(batch.time.size, 'saved time')}{span}"
