"""Where an animation goes, by its name's ending: a page or a film."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from trundle.errors import InputError
from trundle.files import path_of, replacing
from trundle.model.arguments import Given, opened
from trundle.results import Run
from trundle.show.figures.field import FieldLike
from trundle.show.figures.films import film
from trundle.show.page.inline import InlinePage
from trundle.show.page.page import shown_page
from trundle.simulation.runfile import task_of
from trundle.sweeps.outcome import Sweep

PAGES = (".html", ".htm")


def animate(
    given: Run | Sweep | Given,
    path: str | os.PathLike[str] | None = None,
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    width: int = 600,
    base: str | None = None,
    field: FieldLike | None = None,
    progress: bool | Callable[[float], None] = True,
) -> Path | InlinePage:
    """Write a run as it moved, whole or not at all: as a page that a browser opens, or as a film.

    A model's page is alive: it simulates anew as its sliders are moved.

    Without a path it shows itself in a notebook: the page, or a still picture where a notebook isn't trusted.

    Parameters
    ----------
    given : Run, Sweep, or path, mapping, Document, Robot or Model
        What `trundle.run`, `simulate`, `roll` or `sweep` gave (of a sweep pages only), or what leads to a model and its
        run section; forces and moments are drawn of a run that holds them, as
        `loads.to_run()` does.
    path : str or path
        A file that ends in .html (a page with everything in it), .gif or .mp4 (a film, by ffmpeg), or a folder, without
        an ending, for single pictures. None: nothing is written.
    fps : float, 1/s
        A film's pictures a second.
    speed : float
        How many times as fast as it went a film shows it.
    width : int, pixels
        Of a film's pictures.
    progress : bool or callable
        Whether to show progress where a person watches, or what to call with the share done of a film.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.
    field : tuple (file, width, height), optional
        A picture under a page's view from above, and its size (m, or text with a unit), as in `run.plot.path`.

    Returns
    -------
    Path or InlinePage
        The file or the folder; what a notebook shows.

    Raises
    ------
    InputError
        For another ending, a film over a field, where a film shows nothing that moves, and where the file can't be
        written.

    Examples
    --------
    >>> import tempfile, trundle
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 0.1, samples=11)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trundle.animate(run, f"{folder}/swing.html").name
    'swing.html'
    """
    if base is not None and not isinstance(given, Sweep):
        given = opened(given, "animate", base)
    if path is None:
        return shown_page(given, progress, field)
    where = path_of(path, "animate")
    if where.suffix.lower() not in PAGES:
        if field is not None:
            raise InputError("films have no picture of a field under them, pages have", key="field")
        if isinstance(given, Sweep):
            hint = "a page: found.animate('sweep.html'); or found.run(NUMBER).animate(path)"
            raise InputError("a film shows one robot, a sweep has many", key="given", hint=hint)
        run = given if isinstance(given, Run) else task_of(given).run()
        return film(run, where, fps=fps, speed=speed, width=width, progress=progress)
    text = shown_page(given, progress, field).text
    with replacing(where) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return where
