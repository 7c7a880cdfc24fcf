"""The table of the page that compares Trundle with others: from the file that `make bench` writes, never typed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import ratio_text

_PLACE = "<!-- the benchmark's table -->"
_WITHOUT = (
    "This site was built without the benchmark's table. `make bench` writes it to `site/benchmarks.json`; "
    "then build the site again."
)


def fill(source: Path) -> None:
    """Put the table into the page, or the words that it is left out."""
    page, kept = source / "compared.md", source / "benchmarks.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else None
    if found is None:
        print(f"left out: {_WITHOUT}")
    text = page.read_text(encoding="utf-8")
    if _PLACE not in text:
        raise ValueError(f"{page.name} has no place for the table; write {_PLACE}")
    lines = [_WITHOUT] if found is None else _table(found)
    page.write_text(text.replace(_PLACE, "\n".join(lines)), encoding="utf-8")


def _table(found: Mapping[str, Any]) -> Iterator[str]:
    """Rows that have a peer's figure, and before them the machine."""
    machine = found["machine"]
    yield f"Measured on {machine['processor']}, Python {machine['python']}, Trundle {machine['trundle']}."
    yield from ["", "| what | Trundle | peer | ratio | note |", "| --- | ---: | ---: | ---: | --- |"]
    for row in found["rows"]:
        if row["peer"]:
            ratio = "" if row["ratio"] is None else ratio_text(row["ratio"])
            cells = (row["what"].strip(), row["ours"], row["peer"], ratio, row["note"])
            yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
