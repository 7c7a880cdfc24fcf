"""Results as NumPy's own files: readable with `numpy.load` alone; nothing in them is ever executed.

A structured array over time with the field `time`, and by name fields of one number, or of a number per robot.
Behind it stands a second array, the 32 bytes of the SHA-256 of all before it: `numpy.load(path)` reads one array and
leaves what follows, and twice `numpy.load(file)` of an open file gives both. Files without it are read, too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing
from trundle.results.metadata import Content, ResultKind, Variable

# NumPy counts the bytes of one record in 32 bits.
_MOST_RECORD_BYTES = 2**31 - 1
# NumPy reads 10,000 unasked, some 300 names: its parser was slow on long ones.
_MOST_HEADER_BYTES = 1_000_000


def write(path: Path, content: Content) -> None:
    """Whole where a record is a row of numbers; a batch's row by row, so that nothing of it is held twice."""
    columns = {name: var.values for name, var in content.variables.items() if var.dimensions[0] == "time"}
    count, robots = len(columns["time"]), max(column[0].size for column in columns.values())
    if 8 * robots * len(columns) > _MOST_RECORD_BYTES:
        raise InputError(f"{robots} robots are too many for one .npy record", hint="save as .nc")
    record = np.dtype([(name, "<f8", column.shape[1:]) for name, column in columns.items()])
    with replacing(path) as draft, draft.open("wb+") as file:
        if content.kind == "run":
            table = np.empty(count, record)
            for name, column in columns.items():
                table[name] = column
            np.lib.format.write_array(file, table, allow_pickle=False)
        else:
            descr = np.lib.format.dtype_to_descr(record)
            header = {"descr": descr, "fortran_order": False, "shape": (count,)}
            np.lib.format.write_array_header_2_0(file, header)
            for row in range(count):
                for column in columns.values():
                    file.write(np.ascontiguousarray(column[row], dtype="<f8").data)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").digest()
        np.lib.format.write_array(file, np.frombuffer(digest, np.uint8))


def read(path: Path, kind: ResultKind) -> Content:
    """What `write` wrote; nothing in it is ever executed."""
    if read_bytes_start(path, 6) != b"\x93NUMPY":
        raise InputError("this is not a .npy file: it does not start as one")
    try:
        # Mapped: a header that claims more than the file holds asks for no memory.
        table = np.lib.format.open_memmap(path, mode="r", max_header_size=_MOST_HEADER_BYTES)
    except Exception as error:  # NumPy's parser of headers raises errors of syntax and others, too
        raise InputError(f"damaged .npy file: {error}") from error
    _check_sum(path, table.offset + table.nbytes)
    names = table.dtype.names or ()
    if (
        "time" not in names
        or table.ndim != 1
        or any(table.dtype[field].base != np.float64 for field in names)
    ):
        raise InputError(f"this array is not a {kind}: it has no field 'time', or others than float64")
    columns = {name: np.array(table[name], order="C") for name in names}
    over = ("time", "robot")
    variables = {name: Variable(over[: column.ndim], column, {}) for name, column in columns.items()}
    return Content(kind, path.stem, variables)


def _check_sum(path: Path, end: int) -> None:
    """InputError where the bytes up to `end`, the array's, are not those whose checksum stands behind it."""
    with path.open("rb") as file:
        file.seek(end)
        expected = file.read()[-32:]
    if expected and expected != hashlib.sha256(np.memmap(path, np.uint8, "r", shape=(end,)).data).digest():
        raise InputError("damaged .npy file: its checksum doesn't fit")
