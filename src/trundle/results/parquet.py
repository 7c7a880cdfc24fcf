"""A run as a Parquet table, for data frames: a column of float64 a name, its unit in the column's metadata.

It is written, not read: `.nc` keeps everything.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from trundle.errors import InputError
from trundle.files import replacing, signature
from trundle.results.metadata import Content


def write(path: Path, content: Content) -> None:
    """Write the columns, `time` the first of them."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{str(path)!r}: a Parquet file needs pyarrow, which is not installed",
            hint='pip install "trundle[tables]"',
        ) from None
    fields = [
        arrow.field(name, arrow.float64(), metadata={"units": str(variable.attributes.get("units", ""))})
        for name, variable in content.variables.items()
    ]
    about = {"title": content.name, "written_by": signature()}
    arrays = [arrow.array(variable.values) for variable in content.variables.values()]
    table = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata=about))
    with replacing(path) as draft:
        parquet.write_table(table, draft)
