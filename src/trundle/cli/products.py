"""The files of a run in one folder; none of them replaces what isn't an earlier run's."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from trundle.choices import FIGURE_FORMATS, FIGURES, PANDAS, RUN_FILES
from trundle.cli.garbage import no_collection
from trundle.cli.output import claim
from trundle.errors import InputError
from trundle.files import is_marked, is_taken, replacing_in, require_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.results import Run

# Where runs go when nobody says where: one folder for all of them, with a folder per file in it.
DEFAULT_PARENT = Path("runs")
# How the name of the table of peaks ends.
_PEAKS = ".peaks.csv"
# The key of a record's summary.
_SUMS = "sha256"


def claim_all(folder: Path, names: Sequence[str], force: bool) -> None:
    """Raise InputError, before any work is done, where files of these names can't be written into a folder.

    Files that no earlier run wrote are never replaced. The first name is the record, a NetCDF file. Nothing is made or
    changed here.
    """
    if is_taken(folder) and not folder.is_dir():
        what = "a file, not a folder" if folder.exists() else "a link that leads nowhere"
        raise InputError(f"'{folder}' is {what}", key="--output", hint="name a folder for the results")
    require_writable(folder)
    taken = [name for name in names if is_taken(folder / name)]
    foreign = [name for name in taken if not _is_replaceable(folder / name, folder / names[0], force)]
    if foreign:
        them = "them" if len(foreign) > 1 else "it"
        raise InputError(
            f"'{folder}' holds {', '.join(foreign)}, but not from an earlier run, or changed since: writing would "
            f"destroy {them}",
            key="--output",
            hint=f"name another folder with --output, move {them} away, or say --force",
        )


def is_one_file(output: str | None) -> bool:
    """Whether --output names one file of a run by its ending, and no folder that is there."""
    tables = (*RUN_FILES, *PANDAS)  # others' endings, too: they are refused in words, and name no folder
    return output is not None and PurePath(output).suffix.lower() in tables and not Path(output).is_dir()


def claim_run(path: Path, force: bool) -> None:
    """Raise InputError where a run can't be saved, or would replace what is no run of Trundle's."""
    from trundle.results import netcdf
    from trundle.results.storing import require_suffix

    require_suffix(path, "run", "--output")
    claim(str(path), force or (path.suffix.lower() == ".nc" and path.is_file() and netcdf.is_marked(path)))


def claim_place(args: Namespace, stem: str, names: Sequence[str]) -> tuple[Path, bool]:
    """Where results go, by default a folder of that stem, and whether it is one file; InputError as above."""
    place, alone = Path(args.output) if args.output else DEFAULT_PARENT / stem, is_one_file(args.output)
    if alone:
        claim_run(place, args.force)
    else:
        claim_all(place, names, args.force)
    return place, alone


def write_figure(file: str | None, draw: Callable[[], Figure]) -> dict[str, object]:
    """Draw and write a figure where a file is named for it; that file by the word "figure"."""
    if file is None:
        return {}
    from trundle.show.figures.style import save_figure

    return {"figure": str(save_figure(draw(), file))}


def save_record(run: Run, folder: Path, drafts: Path, record: str, others: Sequence[str]) -> None:
    """Save a run among its drafts, with the checksums of those other files there that have no room for a mark.

    What lies in their places goes, so that no old one is ever beside a new record, as whose it would not be known.
    """
    sums = {name: sha256((drafts / name).read_bytes()).hexdigest() for name in others}
    replace(run, summary={**run.summary, _SUMS: sums}).save(drafts / record)
    for name in others:
        (folder / name).unlink(missing_ok=True)


def names(stem: str, figure_format: str | None) -> list[str]:
    """The files' names; no figures for the format None."""
    figures = [] if figure_format is None else [f"{name}.{figure_format}" for name in FIGURES]
    return [f"{stem}.nc", f"{stem}.csv", f"{stem}{_PEAKS}", *figures]


def write(run: Run, folder: Path, stem: str, figure_format: str | None) -> tuple[list[Path], float]:
    """Write the numbers, then the figures; a set is written whole or not at all; a figure that fails loses no numbers.

    Returns the paths, and the seconds that the figures took.
    """
    record, table, peaks, *figures = names(stem, figure_format)
    with replacing_in(folder, [record, table, peaks]) as drafts:
        written = [run.save(drafts / record), run.save(drafts / table), drafts / peaks]
        (drafts / peaks).write_text(_peaks_text(run), encoding="utf-8", newline="\n")
        # A table has no room for a mark, and is known by its record: there must not be an old one beside a new record.
        for name in (table, peaks):
            (folder / name).unlink(missing_ok=True)
    seconds = 0.0
    if figure_format is not None:
        began = time.perf_counter()
        with no_collection(), replacing_in(folder, figures) as drafts:
            written += run.plot.save(drafts, f".{figure_format}")
        seconds = time.perf_counter() - began
    return [folder / path.name for path in written], seconds


def _peaks_text(run: Run) -> str:
    """The lowest and highest values of a run as CSV: what its samples, in the other table, may have missed."""
    from trundle.results.peaks import peak_rows
    from trundle.results.table import csv_text

    return csv_text(peak_rows(run.peaks, run.units))


def left_over(folder: Path, written: list[Path]) -> list[str]:
    """Figures of an earlier run that still lie there and don't belong to this one."""
    old = [folder / f"{name}.{ending}" for name in FIGURES for ending in FIGURE_FORMATS]
    return [path.name for path in old if path not in written and path.is_file()]


def _is_replaceable(path: Path, record: Path, force: bool) -> bool:
    """Whether an earlier run wrote a file: it carries our mark, or its record has its checksum or its numbers."""
    if force or path.is_symlink() or not path.is_file():
        return force and not path.is_dir()
    from trundle.results import Run, netcdf

    if path == record:
        return netcdf.is_marked(path)
    if is_marked(path):
        return True
    try:
        run = Run.load(record)
        sums = run.summary.get(_SUMS)
        if isinstance(sums, Mapping) and path.name in sums:
            return sums[path.name] == sha256(path.read_bytes()).hexdigest()
        if path.name.endswith(_PEAKS):
            return path.read_bytes() == _peaks_text(run).encode()
        table = Run.load(path)
    except InputError:
        return False
    return list(table.values) == list(run.values) and all(
        table[name].tobytes() == run[name].tobytes() for name in ("time", *run.values)
    )
