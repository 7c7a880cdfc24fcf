"""Results to and from files: the suffix says how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from trundle.choices import RUN_FILES, RUN_TABLES
from trundle.errors import InputError
from trundle.files import path_of
from trundle.results.metadata import Content, ResultKind

# The modules that write and read; imported when they are needed, as netCDF4 takes 30 ms.
_FORMATS = {
    ".nc": "netcdf",
    ".csv": "csv_file",
    ".npy": "npy",
    ".xlsx": "spreadsheet",
    ".parquet": "parquet",
}
_READ: dict[ResultKind, tuple[str, ...]] = {"run": RUN_FILES, "batch": (".nc", ".npy")}
_WRITTEN: dict[ResultKind, tuple[str, ...]] = {"run": RUN_TABLES, "batch": (".nc", ".npy")}


def save(path: object, content: Content) -> Path:
    """Write it, whole or not at all; return the path."""
    path = path_of(path, "save")
    _format(path, content.kind, _WRITTEN).write(path, content)
    return path


@contextmanager
def reading(path: object, kind: ResultKind) -> Iterator[Content]:
    """What a file holds; what is wrong with it is an InputError with the file's name, inside the block, too."""
    path = path_of(path, "load")
    try:
        yield _format(path, kind, _READ).read(path, kind)
    except InputError as error:
        raise error.at(file=str(path)) from error.__cause__


def _format(path: Path, kind: ResultKind, suffixes: Mapping[ResultKind, tuple[str, ...]]) -> ModuleType:
    suffix, known = path.suffix.lower(), suffixes[kind]
    if suffixes is _READ and suffix in _WRITTEN[kind] and suffix not in known:
        message = f"{str(path)!r}: {suffix} files are written for other programs, not read"
        raise InputError(message, hint=f"save as {known[0]}, too, which keeps everything")
    if suffix not in known:
        came = f"the suffix {path.suffix!r}" if suffix else "no suffix"
        raise InputError(f"{str(path)!r} has {came}; a {kind}'s file ends in one of {', '.join(known)}")
    return import_module(f"trundle.results.{_FORMATS[suffix]}")
