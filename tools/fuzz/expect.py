"""What holds for every answer: numbers are numbers, or somebody says that they are not."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from trundle import Run

_NO_NUMBER = re.compile(r"(?<![\w.])[-+]?(nan|inf|zoo|oo)(?![\w.])", re.IGNORECASE)


class UnsaidError(AssertionError):
    """An answer that holds no number where it seems to, without a word on it."""


def require_numbers(run: Run) -> None:
    """A run that ends without an error holds finite numbers only."""
    for name, values in {"time": run.time, **run.values}.items():
        if not np.isfinite(values).all():
            raise UnsaidError(f"{name} is not a number somewhere in a run, unsaid")


def require_said(text: str, names: Iterable[str] = ()) -> None:
    """A text shows no NaN and no infinity, but where names are so called."""
    for name in filter(_NO_NUMBER.search, names):
        text = text.replace(name, "_")
    if found := _NO_NUMBER.search(text):
        line = next(line for line in text.splitlines() if found[0] in line)
        raise UnsaidError(f"{found[0]} unsaid: {line.strip()[:200]}")
