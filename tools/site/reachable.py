"""What scrolls can be scrolled with keys: Sphinx and Furo leave wide code and tables out of the order of tabs."""

from __future__ import annotations

import re
from pathlib import Path

_SCROLLS = re.compile(r'<pre(?=>)|<div class="table-wrapper[^"]*"(?=>)')


def make_reachable(folder: Path) -> None:
    """Let every block of code and every table of a built site have the keyboard's focus."""
    for path in folder.rglob("*.html"):
        if path.parent.name != "live":
            text = path.read_text(encoding="utf-8")
            path.write_text(_SCROLLS.sub(r'\g<0> tabindex="0"', text), encoding="utf-8")
