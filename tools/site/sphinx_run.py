"""Sphinx over sources that were put together; of a tutorial that fails it says the file and the line."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import docutils_namespace, patch_docutils


def run(source: Path, folder: Path, *, tutorials: bool = True) -> int:
    """Build `folder` from `source`; the exit status, which warnings make 1. Without `tutorials` none of them runs."""
    options = {} if tutorials else {"plot_gallery": "0"}
    how = {"confoverrides": options, "status": None, "warning": sys.stderr, "warningiserror": True}
    with patch_docutils(source), docutils_namespace():
        try:
            app = Sphinx(source, source, folder, source / "_doctrees", "html", **how)
            app.build()
        except ExtensionError as error:
            print(_told(error, source / "tutorials"), file=sys.stderr)
            return 1
        return app.statuscode


def _told(error: ExtensionError, tutorials: Path) -> str:
    """What failed in a tutorial, before it the file as it stands in the repository and the line; else the error."""
    reason = error.orig_exc
    if reason is None:
        return str(error)
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(reason.__traceback__)]
    if isinstance(reason, SyntaxError):
        lines.append((reason.filename or "", reason.lineno))
    own = [(Path(file).name, line) for file, line in lines if Path(file).parent == tutorials]
    if not own:
        return str(error)
    name, line = own[-1]
    said = reason.msg if isinstance(reason, SyntaxError) else reason
    return f"site/tutorials/{name}:{line}: {type(reason).__name__}: {said}"
