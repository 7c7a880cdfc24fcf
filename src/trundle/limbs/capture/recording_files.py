"""Recordings from files and to files, the format told by the file's suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from trundle.arrays import FloatArray
from trundle.errors import InputError, choose
from trundle.files import path_of
from trundle.limbs.capture.c3d_file import read_c3d
from trundle.limbs.capture.number_table import checked_table, recording_of
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.sto_file import read_sto, write_sto
from trundle.limbs.capture.trc_file import read_trc, write_trc
from trundle.results.table import Table, read_sheet, write_rows


def _read_csv(path: Path) -> Recording:
    return recording_of(checked_table(read_sheet(path)))


def _write_csv(path: Path, table: Table) -> None:
    write_rows(path, table.rows(gap=""))


_READERS: Mapping[str, Callable[[Path], Recording]] = {
    ".csv": _read_csv,
    ".c3d": read_c3d,
    ".mot": read_sto,
    ".sto": read_sto,
    ".trc": read_trc,
}
_WRITERS: Mapping[str, Callable[[Path, Table], None]] = {
    ".csv": _write_csv,
    ".mot": write_sto,
    ".sto": write_sto,
}


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """What a file recorded of a motion, in SI units: CSV, C3D, TRC, OpenSim's MOT and STO.

    In CSV the first row names the columns: `time` and one per coordinate, or NAME.x, NAME.y, NAME.z (or NAME_x …) per
    marker; units in brackets behind a name are honoured, "knee [deg]", "ankle.x [mm]". Nothing is smoothed or filled.
    Times that were rounded when they were written (0.0083, 0.0167) are even again, if they were.

    C3D has markers (points that a program computed are left out), force plates of types 1 to 4 and events. A plate's
    offsets (FORCE_PLATFORM:ZERO) are not taken off. Its force counts as on the person. A force into the plate's
    surface is what the person does to the plate, as no plate pulls: such forces are turned round.

    Parameters
    ----------
    path : str or path
        The file; its suffix tells the format.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        The file can't be read, its times don't increase, it contradicts itself, or its units do: with file, line or
        sample, and column or marker.

    Examples
    --------
    >>> import pathlib, trundle
    >>> _ = pathlib.Path("walk.csv").write_text("time [ms],knee [deg]\\n0,0\\n10,180\\n")
    >>> trundle.read_recording("walk.csv").channels["knee"].round(4).tolist()
    [0.0, 3.1416]
    """
    file = path_of(path, "read_recording")
    return _READERS[_suffix(file, list(_READERS))](file)


def write_recording(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write a recording, in SI units, by the file's suffix: CSV, OpenSim's MOT and STO, or TRC for markers alone.

    Parameters
    ----------
    recording : Recording
        What to write. Force plates and events have no place in these formats, nor have channels in TRC.
    path : str or path
        Written whole or not at all.

    Raises
    ------
    InputError
        The suffix is another one, TRC has no markers or uneven times, or the file can't be written.

    Examples
    --------
    >>> import trundle
    >>> trundle.write_recording(trundle.Recording([0, 1], channels={"knee": [0.5, 1]}), "walk.sto")
    >>> trundle.read_recording("walk.sto").channels["knee"].tolist()
    [0.5, 1.0]
    """
    file = path_of(path, "write_recording")
    if file.suffix.lower() == ".trc":
        write_trc(file, recording.time, recording.markers)
        return
    _suffix(file, [*_WRITERS, ".trc"])
    named = {"time": recording.time}
    for name, positions in recording.markers.items():
        named |= {f"{name}.{axis}": positions[:, k] for k, axis in enumerate("xyz")}
    write_columns(path, named | dict(recording.channels))


def write_columns(path: str | os.PathLike[str], named: Mapping[str, FloatArray]) -> None:
    """Write columns by name, `time` first, in the table format that the suffix tells: .csv, .mot or .sto."""
    file = path_of(path, "write_columns")
    _WRITERS[_suffix(file, list(_WRITERS))](file, Table(named))


def _suffix(path: Path, known: list[str]) -> str:
    suffix = path.suffix.lower()
    if suffix not in known:
        raise InputError(f"{path.name} is no recording", file=str(path), hint=choose(suffix, known))
    return suffix
