"""Arrays of numbers, as they come from users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trundle.choices import BATCHES
from trundle.errors import InputError, require_known

# The types of arrays, for all rooms.
FloatArray = npt.NDArray[np.float64]
ComplexArray = npt.NDArray[np.complex128]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Floats = float | FloatArray  # one number, or one of each sample, robot or point
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Triple = tuple[float, float, float]  # a place, an axis or sizes along three axes


def as_numbers(given: npt.ArrayLike, what: str) -> FloatArray:
    """`given` as a float64 array, without a copy where it is one already.

    Raises InputError where it holds anything but real numbers, and where entries are masked, which NumPy would take
    for the numbers behind the mask. `what` is the subject of the message.
    """
    try:
        array = np.asanyarray(given)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold real numbers, got rows of different lengths") from None
    refuse_masked([array, *given] if array.ndim > 1 and isinstance(given, list | tuple) else [array], what)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{what} must hold real numbers, got {array.dtype} ({type(given).__name__})")
    return np.asarray(array, dtype=np.float64)


def turned(batch: str, *tables: Any) -> tuple[Any, ...]:
    """Tables (count, n) as (n, count), and back, where `batch` is "first"; what is no table stays as it is."""
    if batch == "last":
        return tables
    require_known(batch, BATCHES, f"expected 'last' or 'first', got {batch!r}", key="batch")
    return tuple(
        each
        if isinstance(each, Mapping) or np.ndim(each) != 2
        else each.T
        if hasattr(each, "T")
        else np.transpose(each)
        for each in tables
    )


def refuse_masked(parts: Iterable[object], what: str) -> None:
    """Raise InputError where a part has masked entries: an array that is made of it would hold what is behind them."""
    if any(map(np.ma.is_masked, parts)):
        raise InputError(
            f"{what} must hold real numbers, got masked ones", hint="fill them, or leave them out"
        )


def increasing(given: npt.ArrayLike, file: str = "", lines: Sequence[int] = ()) -> FloatArray:
    """Times as an array (n,); InputError where one is no finite number or none greater than the one before, with its
    line where `lines` are known.
    """
    time = as_numbers(given, "time")
    if time.ndim != 1 or not time.size:
        raise InputError(f"expected times (n,), got shape {time.shape}", file=file or None, key="time")
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        message = f"sample {bad[0] + 1} has no finite time: {time[bad[0]]}"
        raise InputError(message, file=file or None, line=lines[bad[0]] if lines else None, key="time")
    falls = np.flatnonzero(np.diff(time) <= 0)
    if falls.size:
        k = int(falls[0]) + 1
        message = f"times must increase: sample {k + 1} has {time[k]:.9g} s after {time[k - 1]:.9g} s"
        hint = "sort the samples and take repeated ones out"
        line = lines[k] if lines else None
        raise InputError(message, file=file or None, line=line, key="time", hint=hint)
    time = np.array(time)
    time.flags.writeable = False
    return time
