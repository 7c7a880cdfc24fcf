"""Where an animation goes, by its file's suffix: a page or a film."""

from __future__ import annotations

import os
from pathlib import Path

from trundle.files import path_of, replacing
from trundle.page.page import page_of
from trundle.results import Run
from trundle.show.animation import animate as write_film


def animate(run: Run, path: str | os.PathLike[str], *, fps: float = 25.0, speed: float = 1.0) -> Path:
    """Write a run as it moved, whole or not at all: as a page that a browser opens, or as a film.

    Parameters
    ----------
    run : Run
        What `trundle.run`, `simulate` or `roll` gave; forces and moments are drawn of one that holds them, as
        `loads.to_run()` does.
    path : str or path
        A file that ends in .html (a page with everything in it) or .gif (a film).
    fps : float, 1/s
        A film's pictures a second.
    speed : float
        How many times as fast as it went a film shows it.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        For another suffix, where a film shows nothing that moves, and where the file can't be written.

    Examples
    --------
    >>> import tempfile, trundle
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 0.1, samples=11)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trundle.animate(run, f"{folder}/swing.html").name
    'swing.html'
    """
    where = path_of(path, "animate")
    if where.suffix.lower() not in (".html", ".htm"):
        return write_film(run, where, fps=fps, speed=speed)
    text = page_of(run)
    with replacing(where) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return where
