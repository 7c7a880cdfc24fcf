"""Results as NetCDF-4 files, exactly and with all they know; `xarray.open_dataset` reads them, too.

Written through netCDF4 itself: importing it and writing a run of 1001 × 40 numbers takes about 60 ms from cold,
where xarray's own writer starts by importing pandas for half a second.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import netCDF4
import numpy as np

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing
from trundle.operating_system import is_windows
from trundle.results.metadata import ResultContent, ResultKind, Variable, restored

# A NetCDF-4 file is an HDF5 file; CDF is how the older NetCDF files start.
_STARTS = (b"\x89HDF\r\n\x1a\n", b"CDF")
# What others may have compressed with deflate is larger by 1032 at most (https://zlib.net/zlib_tech.html).
_MOST_COMPRESSED = 1032
# Behind what HDF5 reads: this, and the CRC-32 of all bytes before it. Who changes a file by HDF5 takes both away.
_SEAL = b"trundle crc32 "


def write(path: Path, content: ResultContent) -> None:
    """Every variable over its dimensions, and the attributes."""
    for name in content.variables:
        if not name or "/" in name or name != name.strip() or not (name[0].isalnum() or name[0] == "_"):
            raise InputError(
                f"NetCDF cannot hold the name {name!r}",
                hint="start it with a letter or a digit, and use no '/'; or save as .csv",
            )
    with replacing(path) as draft:
        try:
            with _nameable(draft) as path:
                with _open(path, "w") as file:
                    _fill(file, content)
                if path != draft:
                    shutil.copyfile(path, draft)
            seal = _SEAL + zlib.crc32(draft.read_bytes()).to_bytes(4)
            with draft.open("ab") as file:
                file.write(seal)
        except RuntimeError as error:  # how netCDF4 says that HDF5 could not write, a full disk for one
            raise OSError(str(error)) from error


@contextmanager
def _nameable(path: Path) -> Iterator[Path]:
    """The path, or one elsewhere: the NetCDF library takes a backslash for a step into a folder, as Windows does."""
    if is_windows() or "\\" not in os.path.abspath(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        yield Path(folder) / "record.nc"


@contextmanager
def _opened(path: Path) -> Iterator[netCDF4.Dataset]:
    """A NetCDF file to be read."""
    _check_seal(path)
    with _nameable(path) as there:
        if there != path:
            shutil.copyfile(path, there)
        with _open(there, "r") as file:
            yield file


def _check_seal(path: Path) -> None:
    """InputError where bytes aren't those that were written: HDF5's own code may crash over them, or never end."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        seal = content[-len(_SEAL) - 4 :]
        with memoryview(content) as view, view[: -len(seal)] as sealed:
            if seal.startswith(_SEAL) and zlib.crc32(sealed).to_bytes(4) != seal[-4:]:
                raise InputError("damaged NetCDF file: its bytes are not those that were written")


def _open(path: Path, mode: Literal["r", "w"]) -> netCDF4.Dataset:
    """Open a NetCDF file by its absolute path, as netCDF4 takes 'http:...' and the like for addresses.

    netCDF4 also refuses names that the system's encoding lacks signs for. Latin-1 lets their bytes through as they are.
    """
    name = os.fsencode(os.path.abspath(path)).decode("latin-1")
    return netCDF4.Dataset(name, mode, format="NETCDF4", encoding="latin-1")


def _fill(file: netCDF4.Dataset, content: ResultContent) -> None:
    """Write a content's attributes, dimensions and variables."""
    file.setncatts(content.attributes)
    for name, (dimensions, values, attributes) in content.variables.items():
        for dimension, size in zip(dimensions, values.shape, strict=True):
            if dimension not in file.dimensions:
                file.createDimension(dimension, size)
        # No fill value: every number is written, and NaN is a number here.
        variable = file.createVariable(name, "f8", dimensions, fill_value=False)
        variable.set_auto_maskandscale(False)
        variable.setncatts(dict(attributes))
        variable[...] = values


def read(path: Path, kind: ResultKind) -> ResultContent:
    """What `write` wrote."""
    if not read_bytes_start(path, 8).startswith(_STARTS):
        raise InputError("this is not a NetCDF file: it does not start as one")
    try:
        with _opened(path) as file:
            _check_size(file, path)
            variables = {name: _variable(variable) for name, variable in file.variables.items()}
            attributes = _attributes(file)
    except InputError:
        raise
    except Exception as error:  # of whatever kind netCDF4's own code trips into on a file that is damaged
        raise InputError(f"damaged NetCDF file: {error}") from error
    return restored(kind, attributes, variables)


def is_marked(path: Path) -> bool:
    """Whether a file carries Trundle's mark, the attribute `trundle_format`."""
    try:
        with _opened(path) as file:
            return "trundle_format" in file.ncattrs()
    except Exception:  # as in `read`
        return False


def _check_size(file: netCDF4.Dataset, path: Path) -> None:
    """InputError, before any memory is asked for, where there is more to read than a file of this size can hold."""
    count = sum(variable.size for variable in file.variables.values())
    if 8 * count > _MOST_COMPRESSED * path.stat().st_size:
        raise InputError(f"damaged NetCDF file: it claims {count:,} numbers, and has no room for them")


def _attributes(noun: netCDF4.Dataset | netCDF4.Variable) -> dict[str, object]:
    return {name: noun.getncattr(name) for name in noun.ncattrs()}


def _variable(variable: netCDF4.Variable) -> Variable:
    if variable.dtype != np.float64:
        raise InputError(f"damaged file: {variable.name!r} is {variable.dtype}, not float64")
    variable.set_auto_maskandscale(False)
    return Variable(variable.dimensions, np.asarray(variable[...]), _attributes(variable))
