"""Runs and batches as NetCDF-4 files, exactly and with all they know; `xarray.open_dataset` reads them, too.

Written through netCDF4 itself: importing it and writing a run of 1001 × 40 numbers takes about 60 ms from cold,
where xarray's own writer starts by importing pandas for half a second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import netCDF4
import numpy as np

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing
from trundle.results.arrays import FloatArray
from trundle.results.metadata import BatchFields, Content, RunFields, restore

_T = TypeVar("_T")

# A NetCDF-4 file is an HDF5 file; CDF is how the older NetCDF files start.
_STARTS = (b"\x89HDF\r\n\x1a\n", b"CDF")


def write_netcdf(path: Path, content: Content) -> None:
    """Every variable over its dimensions, and the attributes."""
    with _writing(path, content) as file:
        for name, (dimensions, values, attrs) in content.variables.items():
            for dimension, size in zip(dimensions, values.shape, strict=True):
                if dimension not in file.dimensions:
                    file.createDimension(dimension, size)
            # No fill value: every number is written, and NaN is a number here.
            variable = file.createVariable(name, "f8", dimensions, fill_value=False)
            variable.set_auto_maskandscale(False)
            variable.setncatts(dict(attrs))
            variable[...] = values


def read_run(path: Path) -> RunFields:
    """The arguments of Run."""
    with _reading(path) as file:
        name, kept = restore("run", _attributes(file))
        values = {key: _get(variable, ("time",)) for key, variable in file.variables.items()}
        units = {key: str(getattr(variable, "units", "")) for key, variable in file.variables.items()}
    if "time" not in values:
        raise InputError("damaged file: it has no variable 'time'")
    return {
        "name": name,
        "time": values.pop("time"),
        "values": values,
        "units": {key: unit for key, unit in units.items() if unit and (key, unit) != ("time", "s")},
        "description": kept["description"],
        "summary": kept.get("summary", {}),
        "groups": {group: names for group, names in kept.get("groups", {}).items() if names},
    }


def read_batch(path: Path) -> BatchFields:
    """The arguments of Batch."""
    with _reading(path) as file:
        name, kept = restore("batch", _attributes(file))
        varied = kept.get("varied", [])
        columns = {each: f"parameter.{each}" for each in varied}
        missing = [each for each in ("time", *columns.values()) if each not in file.variables]
        if missing:
            raise InputError(f"damaged file: it has no variable {missing[0]!r}")
        time = _get(file.variables["time"], ("time",))
        parameters = {each: _get(file.variables[columns[each]], ("robot",)) for each in varied}
        states = [key for key in file.variables if key != "time" and key not in columns.values()]
        count = len(file.dimensions["robot"])
        values = np.empty((time.size, len(states), count))
        for index, key in enumerate(states):
            values[:, index] = _get(file.variables[key], ("time", "robot"))
        units = {key: str(getattr(file.variables[key], "units", "")) for key in states}
    return {
        "name": name,
        "time": time,
        "states": tuple(states),
        "values": values,
        "units": {key: unit for key, unit in units.items() if unit},
        "parameters": {**kept.get("parameters", {}), **parameters},
        "description": kept["description"],
        "summary": kept.get("summary", {}),
    }


@contextmanager
def _writing(path: Path, content: Content) -> Iterator[netCDF4.Dataset]:
    for name in content.variables:
        if not name or "/" in name or name != name.strip() or not (name[0].isalnum() or name[0] == "_"):
            raise InputError(
                f"NetCDF cannot hold the name {name!r}",
                hint="start it with a letter or a digit, and use no '/'; or save as .csv or .npy",
            )
    with replacing(path) as draft:
        try:
            with netCDF4.Dataset(os.fspath(draft), "w", format="NETCDF4") as file:
                file.setncatts(dict(content.attributes))
                yield file
        except RuntimeError as error:  # how netCDF4 says that HDF5 could not write, a full disk for one
            raise OSError(str(error)) from error


@contextmanager
def _reading(path: Path) -> Iterator[netCDF4.Dataset]:
    if not read_bytes_start(path, 8).startswith(_STARTS):
        raise InputError("this is not a NetCDF file: it does not start as one")
    # An absolute path, because netCDF4 takes 'http:...' and the like for addresses.
    file = _guarded(lambda: netCDF4.Dataset(os.path.abspath(path), "r"))
    try:
        yield file
    finally:
        file.close()


def _attributes(file: netCDF4.Dataset) -> dict[str, str]:
    return _guarded(lambda: {name: file.getncattr(name) for name in file.ncattrs()})


def _get(variable: netCDF4.Variable, dimensions: tuple[str, ...]) -> FloatArray:
    if variable.dimensions != dimensions or variable.dtype != np.float64:
        found = f"{variable.dtype} over {variable.dimensions}"
        raise InputError(f"damaged file: {variable.name!r} is {found}, not float64 over {dimensions}")
    variable.set_auto_maskandscale(False)
    return _guarded(lambda: np.asarray(variable[...]))


def _guarded(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (OSError, RuntimeError, AttributeError, UnicodeDecodeError) as error:
        raise InputError(f"damaged NetCDF file: {error}") from error
