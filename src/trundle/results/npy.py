"""Results as NumPy's own files: readable with `numpy.load` alone; nothing in them is ever executed.

A structured array over time with the field `time`, and for each name a field of a number or of one for each robot.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing
from trundle.results.metadata import Content, Kind, Variable

# NumPy counts the bytes of one record in 32 bits.
_MOST_RECORD_BYTES = 2**31 - 1


def write(path: Path, content: Content) -> None:
    """Whole where a record is a row of numbers; a batch's row by row, so that nothing of it is held twice."""
    columns = {name: each.values for name, each in content.variables.items() if each.dimensions[0] == "time"}
    count, robots = len(columns["time"]), max(column[0].size for column in columns.values())
    if 8 * robots * len(columns) > _MOST_RECORD_BYTES:
        raise InputError(f"{robots} robots are too many for one .npy record", hint="save as .nc")
    record = np.dtype([(name, "<f8", column.shape[1:]) for name, column in columns.items()])
    with replacing(path) as draft, draft.open("wb") as file:
        if content.kind == "run":
            table = np.empty(count, record)
            for name, column in columns.items():
                table[name] = column
            np.lib.format.write_array(file, table, allow_pickle=False)
            return
        descr = np.lib.format.dtype_to_descr(record)
        header = {"descr": descr, "fortran_order": False, "shape": (count,)}
        np.lib.format.write_array_header_2_0(file, header)
        for row in range(count):
            for column in columns.values():
                file.write(np.ascontiguousarray(column[row], dtype="<f8").data)


def read(path: Path, kind: Kind) -> Content:
    """What `write` wrote; nothing in it is ever executed."""
    if read_bytes_start(path, 6) != b"\x93NUMPY":
        raise InputError("this is not a .npy file: it does not start as one")
    try:
        table = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError, SyntaxError) as error:
        raise InputError(f"damaged .npy file: {error}") from error
    names = table.dtype.names or ()
    if "time" not in names or table.ndim != 1 or any(table.dtype[each].base != np.float64 for each in names):
        raise InputError(f"this array is not a {kind}: it has no field 'time', or others than float64")
    columns = {name: np.ascontiguousarray(table[name]) for name in names}
    over = ("time", "robot")
    variables = {name: Variable(over[: column.ndim], column, {}) for name, column in columns.items()}
    return Content(kind, path.stem, variables)
