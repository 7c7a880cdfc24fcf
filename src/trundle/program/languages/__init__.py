"""Programs as source text: `language` writes them, a file a language says how that language is written."""

from __future__ import annotations

from trundle.program.languages.c import C_SINGLE, C
from trundle.program.languages.java import JAVA
from trundle.program.languages.javascript import JAVASCRIPT
from trundle.program.languages.language import (
    Language,
    arguments,
    identifier,
    identifiers,
    require_identifier,
    source,
)
from trundle.program.languages.python import JAX, NUMPY

__all__ = [
    "C_SINGLE",
    "JAVA",
    "JAVASCRIPT",
    "JAX",
    "NUMPY",
    "C",
    "Language",
    "arguments",
    "identifier",
    "identifiers",
    "require_identifier",
    "source",
]  # fmt: skip
