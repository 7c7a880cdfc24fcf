"""Where Chromium is, which looks at pages."""

from __future__ import annotations

import shutil

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """Its program, by the names that distributions give it; None where there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)
