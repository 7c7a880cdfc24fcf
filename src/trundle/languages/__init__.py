"""Programs as source text and packages: `language` writes them, a file a language says how and what is in them."""

from __future__ import annotations

from trundle.languages.c import C_SINGLE, C
from trundle.languages.java import JAVA
from trundle.languages.javascript import JAVASCRIPT
from trundle.languages.language import (
    Language,
    arguments,
    identifier,
    identifiers,
    require_identifier,
    source,
)
from trundle.languages.python import JAX, NUMPY

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
