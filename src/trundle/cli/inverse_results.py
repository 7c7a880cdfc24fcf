"""What `trundle inverse` writes and tells: tables, figures, and a few lines."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.choices import GAIT_FIGURES, LOAD_FIGURES
from trundle.cli import products
from trundle.cli.output import Output
from trundle.show.summaries.lines import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.arrays import FloatArray
    from trundle.limbs.bands import Bands
    from trundle.limbs.capture.cycles import Cycles
    from trundle.limbs.gait import Gait
    from trundle.results import Run
    from trundle.results.table import NumberTable
    from trundle.wrenches import Breakdown

# Contacts with plates that are told; --json has all.
_MOST_CONTACTS = 12
_BREAKDOWN, _CYCLES, _GAIT, _BANDS = "breakdown.csv", "cycles.csv", "gait.csv", "bands.csv"


def names(stem: str, args: Namespace) -> tuple[list[str], list[str]]:
    """The files of numbers, the record first, and the figures that there may be."""
    tables, drawn = [f"{stem}.nc", f"{stem}.csv", f"{stem}.sto"], list(LOAD_FIGURES)
    if args.gait:
        tables, drawn = [*tables, _GAIT, _CYCLES], list(GAIT_FIGURES)
    if args.breakdown:
        tables, drawn = [*tables, _BREAKDOWN], [*drawn, "breakdown"]
    if args.cycles:
        tables, drawn = [*tables, _CYCLES], [*drawn, *(f"cycles_{name}" for name in LOAD_FIGURES[:-1])]
    if args.bands:
        tables, drawn = [*tables, _BANDS], [*drawn, "bands"]
    if args.breakdown and (args.cycles or args.gait):
        drawn = [*drawn, "cycles_breakdown"]
    return tables, [] if args.no_figures else [f"{name}.{args.figure_format}" for name in drawn]


@dataclass(frozen=True)
class Results:
    """What is written: the loads; a breakdown of a body, cycles, a walk and bands where they were asked for."""

    run: Run
    split: Breakdown | None
    cycles: Cycles | None
    gait: Gait | None
    terms: Sequence[str] | None
    body: str
    bands: Bands | None = None

    @property
    def summary(self) -> dict[str, object]:
        """What --json tells beside the run's own."""
        walk: dict[str, object] = {} if self.gait is None else {"gait": self.gait.summary}
        return walk if self.bands is None else {**walk, "bands": self.bands.summary}

    def write_table(self, path: Path) -> None:
        """Write a file of numbers by its name."""
        from trundle.limbs.capture.recording_files import write_columns
        from trundle.results.table import write_rows

        if path.name == _GAIT and self.gait is not None:
            write_rows(path, self.gait.rows())
        else:
            write_columns(path, self._columns(path.name))

    @cached_property
    def _whole(self) -> NumberTable:
        """All columns of the run, made text once for its files."""
        from trundle.results.table import NumberTable

        return NumberTable({"time": self.run.time, **self.run.values})

    def _columns(self, name: str) -> Mapping[str, FloatArray] | NumberTable:
        """The columns of a table by its file's name; the run's own by default."""
        if name == _BREAKDOWN and self.split is not None:
            return {"time": self.run.time, **self.split.table()}
        if name == _BANDS and self.bands is not None:
            return self.bands.table(self.run.summary["mass"])
        if name.endswith(".sto"):
            from trundle.limbs.loads.as_run import generalized_forces

            forces = generalized_forces(self.run)
            return {"time": self.run.time} | {name: self.run[column] for name, column in forces.items()}
        cut = self.gait or self.cycles
        return cut.table() if name == _CYCLES and cut is not None else self._whole

    def figures(self) -> Mapping[str, Figure]:
        """All figures by name."""
        from trundle.show.figures.breakdown_figure import breakdown_figure
        from trundle.show.figures.gait_figures import gait_figures
        from trundle.show.figures.load_figures import load_figures

        figures = load_figures(self.run) if self.gait is None else gait_figures(self.gait)
        if self.cycles is not None:
            drawn = load_figures(self.run, self.cycles)
            figures |= {f"cycles_{name}": figure for name, figure in drawn.items()}
        if self.bands is not None:
            from trundle.show.figures.band_figure import band_figure

            figures["bands"] = band_figure(self.bands, self.run.summary["mass"])
        if self.split is not None:
            figures["breakdown"] = breakdown_figure(self.split, self.run.time, terms=self.terms)
            spans = self._spans()
            if spans is not None:
                figures["cycles_breakdown"] = breakdown_figure(
                    self.split, self.run.time, terms=self.terms, cycles=spans
                )
        return figures

    def _spans(self) -> FloatArray | None:
        """The cycles of the breakdown's body: its own side's."""
        if self.gait is not None:
            return self.gait.spans_of(self.body)
        return None if self.cycles is None else self.cycles.spans


def write(results: Results, folder: Path, named: tuple[list[str], list[str]]) -> list[str]:
    """The numbers together, then the figures: a set is written whole or not at all."""
    from trundle.files import replacing_in

    run, ((record, *others), figures) = results.run, named
    with replacing_in(folder, named[0]) as drafts:
        for name in others:
            results.write_table(drafts / name)
        products.save_record(run, folder, drafts, record, others)
    if not figures:
        return named[0]
    with replacing_in(folder, figures) as drafts:
        from trundle.show.figures.style import save_figure

        drawn = results.figures()
        written = [name for name in figures if Path(name).stem in drawn]
        for name in written:
            save_figure(drawn[Path(name).stem], drafts / name)
    return [*named[0], *written]


def summary_lines(results: Results, out: Output) -> Iterator[str]:
    """What came out, in a few lines."""
    run = results.run
    span = f"{len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s"
    yield from out.title(run.name, f"{len(run.summary['peaks'])} joints, {span}")
    rows = [("smoothing", _method(run.summary["smoothing"]))]
    if fit := run.summary["marker_fit"]:
        worst = f"{fit['worst']} by {1e3 * fit['largest']:.3g} mm at {fit['time']:.4g} s"
        rows += [("markers off", f"{1e3 * fit['rms']:.3g} mm (root mean square), most {worst}")]
    if left := run.summary["markers_left_out"]:
        rows += [("left out", f"{', '.join(left)}: markers that are on no body (--markers)")]
    rows += [*_plate_rows(run.summary["plates"])]
    rows += [("frame", run.summary["frame"])]
    if run.summary["mass"] is not None:
        rows += [("divided by", f"{run.summary['mass']:g} kg")]
    if (up := run.summary["up"]) is not None:
        rows += [("up", f"{up['recording']} in the recording, {up['robot']} for the robot")]
    if results.bands is not None:
        rows += [("bands", _banded(results.bands, run.summary["mass"]))]
    yield from out.facts(rows, 12)
    if results.gait is not None:
        yield from _walk(results.gait)
        return
    yield from table([["largest", "net", "force", "power"], *_peak_rows(run)], right=(1, 2, 3))


def _peak_rows(run: Run) -> Iterator[list[str]]:
    """A row for each freedom of a joint, by OpenSim's name; of a joint without one the force alone."""
    from trundle.limbs.loads.as_run import generalized_forces

    named = {column: name for name, column in generalized_forces(run).items()}
    for joint, part in run.summary["peaks"].items():
        units = {what: run.units[run.parts[joint].get(what, f"{joint}.{what}_x")] for what in part}
        told = {
            what: f"{peak['largest']:.4g} {units[what]} at {peak['time']:.4g} s"
            for what, peak in part.items()
        }
        rest = [told["force"], told["power"]]
        for what in [what for what in part if what.startswith("net")]:
            yield [named[run.parts[joint][what]], told[what], *rest]
            rest = ["", ""]
        if rest[0]:
            yield [joint, "", *rest]


def _walk(gait: Gait) -> Iterator[str]:
    """Times and lengths of steps by side; gait.csv has the work, too."""
    sides = list(gait.spans)
    head = [f"cycles by {gait.source}", *(f"{side or 'leg'} ({len(gait.spans[side])})" for side in sides)]
    found: dict[str, dict[str, str]] = {}
    for each in gait.measures:
        if "work" not in each.name:
            spread = f" ± {each.deviation:.2g}" if each.values.size > 1 else ""
            found.setdefault(f"{each.name} ({each.unit})", {})[each.side] = f"{each.mean:.4g}{spread}"
    rows = [[name, *(own.get(side, "") for side in sides)] for name, own in found.items()]
    yield from table([head, *rows], right=tuple(range(1, len(head))))


def _banded(bands: Bands, mass: float | None) -> str:
    """What was assumed, and the widest band, by the mass where moments are."""
    summary = bands.summary
    of = [f"{1e3 * summary['noise']:.2g} mm of marker noise"] if "noise" in summary else []
    of += [f"deviations of {', '.join(summary['segments'])}"] if "segments" in summary else []
    turning = {name: wide for name, wide in summary["widest"].items() if bands.units[name] == "N m"}
    widest = max(turning or summary["widest"], key=lambda name: summary["widest"][name])
    wide, unit = summary["widest"][widest] / (mass or 1.0), bands.units[widest] + ("/kg" if mass else "")
    return f"95 % of {' and '.join(of)}: ± {wide:.3g} {unit} at most ({widest})"


def _method(record: Mapping[str, object]) -> str:
    """A smoothing's record in words."""
    numbers = ", ".join(f"{name} {value}" for name, value in record.items() if name != "method")
    return f"{record.get('method', 'none')} ({numbers})" if numbers else str(record.get("method", "none"))


def _plate_rows(plates: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What was done to the plates, and who stood on them."""
    if plates is None:
        return
    onto = {"mean": "by means over the motion's steps", "linear": "linear between samples"}[plates["times"]]
    yield "plates", f"{_method(plates['smoothing'])}, {onto}, from {plates['threshold']:g} N"
    for contact in plates["contacts"][:_MOST_CONTACTS]:
        told = "as told" if contact["by"] == "external" else f"{1e3 * contact['off']:.0f} mm from its markers"
        if contact["by"] != "external" and contact["margin"] is not None:
            told += f", {1e3 * contact['margin']:.0f} mm nearer than the next foot"
        yield (
            "",
            f"{contact['body']} on {contact['plate']}, {contact['start']:.4g} to {contact['end']:.4g} s ({told})",
        )
    if (more := len(plates["contacts"]) - _MOST_CONTACTS) > 0:
        yield "", f"and {more} contacts more"
