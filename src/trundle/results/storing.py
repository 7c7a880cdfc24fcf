"""Results to and from files: the suffix says how."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from trundle.choices import PANDAS, RUN_FILES
from trundle.errors import InputError
from trundle.files import path_of
from trundle.results.metadata import ResultContent, ResultKind

# The modules that write and read; imported when they are needed, as netCDF4 takes 30 ms.
_FORMATS = {".nc": "netcdf", ".csv": "csv_file"}
_SUFFIXES: dict[ResultKind, tuple[str, ...]] = {"run": RUN_FILES, "batch": (".nc",)}


def save(path: object, content: ResultContent) -> Path:
    """Write it, whole or not at all; return the path."""
    path = path_of(path, "save")
    _format(path, content.kind).write(path, content)
    return path


@contextmanager
def reading(path: object, kind: ResultKind) -> Iterator[ResultContent]:
    """What a file holds; what is wrong with it is an InputError with the file's name, inside the block, too."""
    path = path_of(path, "load")
    try:
        yield _format(path, kind).read(path, kind)
    except InputError as error:
        raise error.at(file=str(path)) from error.__cause__


def require_suffix(path: Path, kind: ResultKind, key: str | None = None) -> None:
    """Raise InputError where no such file is written or read; the hint says what writes it."""
    suffix, known = path.suffix.lower(), _SUFFIXES[kind]
    if suffix not in known:
        came = f"the suffix {path.suffix!r}" if suffix else "no suffix"
        message = f"{str(path)!r} has {came}; a {kind}'s file ends in one of {', '.join(known)}"
        table = PANDAS.get(suffix, "").format("trundle.Run.load(FILE).to_dataframe()")
        hint = f"a table that ends so: {table}; every spreadsheet opens .csv" if table else None
        raise InputError(message, key=key, hint=hint)


def _format(path: Path, kind: ResultKind) -> ModuleType:
    require_suffix(path, kind)
    return import_module(f"trundle.results.{_FORMATS[path.suffix.lower()]}")
