"""Inputs from labelled data: a pandas Series over its index, an xarray DataArray over its one dimension."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from trundle.errors import InputError

_HOW = "seconds, or differences of time: series.index - series.index[0]"


@runtime_checkable
class Series(Protocol):
    """What pandas calls a Series (or a DataFrame, which is refused)."""

    @property
    def index(self) -> object: ...
    def to_numpy(self) -> np.ndarray: ...


@runtime_checkable
class DataArray(Protocol):
    """What xarray calls a DataArray."""

    @property
    def dims(self) -> tuple[object, ...]: ...
    @property
    def coords(self) -> object: ...
    @property
    def values(self) -> np.ndarray: ...
    def __getitem__(self, key: object) -> npt.ArrayLike: ...


def table_of(given: Series | DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and values."""
    if isinstance(given, Series):
        times, values = np.asarray(given.index), given.to_numpy()
    else:
        values = given.values
        times = np.asarray(given[given.dims[0]]) if values.ndim == 1 else values
    if values.ndim != 1:
        kind = type(given).__name__
        raise InputError(
            f"a {kind} of shape {values.shape} is more than one input", hint="give one column of it"
        )
    if times.dtype.kind == "m":
        times = times / np.timedelta64(1, "s")
    if times.dtype.kind not in "fiu":
        raise InputError(f"the times of a {type(given).__name__} are {times.dtype}", hint=f"expected {_HOW}")
    return times, values
