"""A run as a Parquet table, for data frames: a column of float64 a name, its unit in the column's metadata.

It is written, not read: `.nc` keeps everything.
"""

from __future__ import annotations

from pathlib import Path

from trundle.extras import load
from trundle.files import replacing, signature
from trundle.results.metadata import Content


def write(path: Path, content: Content) -> None:
    """Write the columns, `time` the first of them."""
    arrow, parquet = (
        load(module, f"{str(path)!r}: a Parquet file needs pyarrow", extra="tables")
        for module in ("pyarrow", "pyarrow.parquet")
    )
    fields = [
        arrow.field(name, arrow.float64(), metadata={"units": str(variable.attributes.get("units", ""))})
        for name, variable in content.variables.items()
    ]
    about = {"title": content.name, "written_by": signature()}
    arrays = [arrow.array(variable.values) for variable in content.variables.values()]
    table = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata=about))
    with replacing(path) as draft:
        parquet.write_table(table, draft)
