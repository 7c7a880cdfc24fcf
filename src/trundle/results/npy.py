"""Runs and batches as NumPy's own files: readable with `numpy.load` alone; nothing in them is ever executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing
from trundle.results.arrays import FloatArray
from trundle.results.metadata import BatchFields, RunFields

# NumPy counts the bytes of one record in 32 bits.
_MOST_RECORD_BYTES = 2**31 - 1


def write_run(path: Path, columns: Mapping[str, FloatArray]) -> None:
    """A structured array (T,) with the field `time` and one field for each name."""
    table = np.empty(columns["time"].shape, dtype=[(name, np.float64) for name in columns])
    for name, values in columns.items():
        table[name] = values
    with replacing(path) as draft, draft.open("wb") as file:
        np.lib.format.write_array(file, table, allow_pickle=False)


def read_run(path: Path) -> RunFields:
    """The arguments of Run from a file that `write_run` wrote; nothing in it is ever executed."""
    table = _structured(path)
    if table.ndim != 1 or any(table.dtype[name] != np.float64 for name in table.dtype.names or ()):
        raise InputError("this array is not a run: a run's fields are float64 over one row", file=str(path))
    values = {name: np.ascontiguousarray(table[name]) for name in table.dtype.names or ()}
    return {"name": path.stem, "time": values.pop("time"), "values": values}


def write_batch(path: Path, time: FloatArray, states: Sequence[str], values: FloatArray) -> None:
    """Row by row, so that nothing of the batch is held twice."""
    count = values.shape[2]
    fields = [("time", "<f8"), *((name, "<f8", (count,)) for name in states)]
    row_bytes = 8 * (1 + len(states) * count)
    if row_bytes > _MOST_RECORD_BYTES:
        raise InputError(f"{count} robots are too many for one .npy record", hint="save as .nc")
    header = {"descr": fields, "fortran_order": False, "shape": (time.size,)}
    with replacing(path) as draft, draft.open("wb") as file:
        np.lib.format.write_array_header_2_0(file, header)
        for moment, row in zip(time, values, strict=True):
            file.write(np.float64(moment).astype("<f8").tobytes())
            file.write(np.ascontiguousarray(row, dtype="<f8").data)


def read_batch(path: Path) -> BatchFields:
    """The arguments of Batch from a file that `write_batch` wrote."""
    table = _structured(path)
    states = tuple(name for name in table.dtype.names or () if name != "time")
    shapes = {table.dtype[name].shape for name in states}
    if len(shapes) != 1 or len(min(shapes)) != 1 or table.ndim != 1:
        raise InputError("this array is not a batch: every state has one number for each robot")
    values = np.empty((table.size, len(states), *min(shapes)))
    for index, name in enumerate(states):
        values[:, index] = table[name]
    time = np.ascontiguousarray(table["time"])
    return {"name": path.stem, "time": time, "states": states, "values": values}


def _structured(path: Path) -> np.ndarray:
    """A structured array with a field `time` from a .npy file; InputError for anything else."""
    if read_bytes_start(path, 6) != b"\x93NUMPY":
        raise InputError("this is not a .npy file: it does not start as one", file=str(path))
    try:
        table = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError, SyntaxError) as error:
        raise InputError(f"damaged .npy file: {error}", file=str(path)) from error
    if table.dtype.names is None or "time" not in table.dtype.names:
        raise InputError("this array has no field 'time', so it was not written by `save`", file=str(path))
    return table
