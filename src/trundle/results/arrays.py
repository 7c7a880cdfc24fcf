"""Arrays that stay as they are, and NumPy's own file of a run: readable with `numpy.load` alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing

if TYPE_CHECKING:
    from trundle.results.run import Run

FloatArray = npt.NDArray[np.float64]


def frozen(array: npt.ArrayLike) -> FloatArray:
    """A read-only float64 view of `array`, without a copy where it is float64 already."""
    view = np.asarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def write_npy(path: Path, run: Run) -> None:
    """A structured array (T,) with the field `time` and one field for each name."""
    names = ["time", *run.values]
    table = np.empty(run.time.shape, dtype=[(name, np.float64) for name in names])
    for name in names:
        table[name] = run[name]
    with replacing(path) as draft, draft.open("wb") as file:
        np.lib.format.write_array(file, table, allow_pickle=False)


def read_npy(path: Path) -> dict[str, Any]:
    """The arguments of Run from a file that `write_npy` wrote; nothing in it is ever executed."""
    table = load_structured(path)
    if table.ndim != 1 or any(table.dtype[name] != np.float64 for name in table.dtype.names or ()):
        raise InputError("this array is not a run: a run's fields are float64 over one row", file=str(path))
    values = {name: np.ascontiguousarray(table[name]) for name in table.dtype.names or ()}
    return {"name": path.stem, "time": values.pop("time"), "values": values}


def load_structured(path: Path) -> np.ndarray[Any, Any]:
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
