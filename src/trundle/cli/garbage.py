"""Python's search for garbage, stopped where it would only cost time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New objects after which Python looks for garbage; by itself 700 or, since 3.13, 2,000. A run makes 150,000 to 200,000,
# mostly modules that stay, over rough ground 600,000; looking through 250,000 of them takes 50 ms.
_RARELY = 700_000


def collect_rarely() -> None:
    """Search for garbage seldom in a process that is one command: most of what it makes are modules, which stay."""
    gc.set_threshold(_RARELY)


def leave_garbage() -> None:
    """End without a last search: looking through all that SciPy and CasADi made would take another 0.1 s."""
    gc.freeze()


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch the garbage collector off for a while.

    Importing SymPy or Matplotlib makes hundreds of thousands of objects that stay. Going through them again and again
    takes a tenth of the time that a user waits. Afterwards what is there counts as old, to be gone through with all
    else one day: as new it would be searched at once, for a quarter of a second behind a walk's figures.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.freeze()
            gc.unfreeze()
            gc.enable()
