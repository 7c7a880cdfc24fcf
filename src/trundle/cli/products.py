"""The files of a run in one folder; none of them replaces what isn't an earlier run's."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.choices import FIGURE_FORMATS, FIGURES
from trundle.cli.garbage import no_collection
from trundle.errors import InputError

if TYPE_CHECKING:
    from trundle.results import Run

# Where runs go when nobody says where: one folder for all of them, one in it for each file.
DEFAULT_PARENT = Path("runs")
_NETCDF_STARTS = (b"\x89HDF", b"CDF")


def prepare(folder: Path, stem: str, figure_format: str | None) -> None:
    """Raise InputError, before any work is done, where writing would destroy files that no earlier run wrote.

    An earlier run is known by its `STEM.nc`. Nothing is made or changed here.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"'{folder}' is a file, not a folder", key="--output", hint="name a folder for the results"
        )
    record = folder / f"{stem}.nc"
    if record.is_file() and _starts_as_netcdf(record):
        return
    taken = [name for name in names(stem, figure_format) if (folder / name).exists()]
    if taken:
        raise InputError(
            f"'{folder}' holds {', '.join(taken)}, but not from an earlier run: writing would destroy them",
            key="--output",
            hint="name another folder with --output, or move them away",
        )


def names(stem: str, figure_format: str | None) -> list[str]:
    """The files' names; no figures for the format None."""
    figures = [] if figure_format is None else [f"{name}.{figure_format}" for name in FIGURES]
    return [f"{stem}.nc", f"{stem}.csv", *figures]


def write(run: Run, folder: Path, stem: str, figure_format: str | None) -> tuple[list[Path], float]:
    """Write everything, each file whole or not at all; return the paths, and the seconds that the figures took."""
    paths = [run.save(folder / f"{stem}.nc"), run.save(folder / f"{stem}.csv")]
    if figure_format is None:
        return paths, 0.0
    began = time.perf_counter()
    with no_collection():
        paths += run.plot.save(folder, f".{figure_format}")
    return paths, time.perf_counter() - began


def left_over(folder: Path, written: list[Path]) -> list[str]:
    """Figures of an earlier run that still lie there and don't belong to this one."""
    old = [folder / f"{name}.{ending}" for name in FIGURES for ending in FIGURE_FORMATS]
    return [path.name for path in old if path not in written and path.is_file()]


def _starts_as_netcdf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(8).startswith(_NETCDF_STARTS)
    except OSError:
        return False
