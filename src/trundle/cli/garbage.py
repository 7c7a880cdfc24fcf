"""Python's search for garbage, stopped where it would only cost time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch the garbage collector off for a while.

    Importing SymPy or Matplotlib makes hundreds of thousands of objects that stay. Going through them again and again
    takes a tenth of the time that a user waits.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
