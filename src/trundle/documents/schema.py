"""The JSON Schema of a description: for editors, and for people who want every key on one page."""

from __future__ import annotations

from typing import Any

from trundle.documents.reader import File


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a whole file; each field says its meaning, unit (`x-unit`) and default."""
    schema = File.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Trundle description",
    }
