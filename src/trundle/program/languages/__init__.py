"""Programs as source text: `language` writes them, a file a language says how that language is written."""

from __future__ import annotations

from trundle.program.languages.javascript import JAVASCRIPT
from trundle.program.languages.language import Language, identifier, identifiers, require_identifier, source
from trundle.program.languages.python import JAX, NUMPY

__all__ = [
    "JAVASCRIPT",
    "JAX",
    "NUMPY",
    "Language",
    "identifier",
    "identifiers",
    "require_identifier",
    "source",
]
