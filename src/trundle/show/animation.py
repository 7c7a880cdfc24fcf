"""Films: a robot as it moved, with the forces and moments in its joints where the run holds them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.artist import Artist

from trundle.errors import InputError
from trundle.files import path_of, replacing
from trundle.results import Run
from trundle.scene import project
from trundle.show.arrows import draw_arrows, name_arrows, with_wrenches
from trundle.show.path import track_of
from trundle.show.plane import draw_plane, limits_around, plane_axes
from trundle.show.robot import draw_scene
from trundle.show.style import MUTED, house_style

_MOST_FRAMES = 2000
# Films are smaller than figures: their time and size go with their pixels.
_DPI = 80


def film(run: Run, fps: float, speed: float) -> FuncAnimation:
    """The run as an animation of matplotlib's, `speed` times as fast as it went."""
    track = track_of(run)
    if track is None:
        raise InputError("nothing of this robot moves, so there is no film of it", key="run")
    for key, given in (("fps", fps), ("speed", speed)):
        if not (np.isfinite(given) and given > 0):
            raise InputError(f"expected a positive number, got {given}", key=key)
    time = track.time
    count = int(np.ceil((time[-1] - time[0]) * fps / speed)) + 1
    if count > _MOST_FRAMES:
        raise InputError(
            f"{count} frames are too many, the most is {_MOST_FRAMES}",
            key="fps",
            hint="a greater speed, or fewer",
        )
    shown = np.searchsorted(time, np.linspace(time[0], time[-1], count)).clip(max=time.size - 1)
    scene, view = with_wrenches(track.scene, run), track.view
    ends = [project(each, view) for arrow in scene.arrows for each in (arrow.at, arrow.at + arrow.vector)]
    around = [project(scene.extent, view).reshape(-1, 2), *ends]
    low, high = limits_around(np.concatenate(around))
    with house_style():
        figure, axes, bar = plane_axes(run.name, low, high)
        bar.remove()
        draw_plane(axes, view, low, high)
        axes.plot(*track.points.T, color=MUTED, linewidth=0.8, alpha=0.6)
        name_arrows(axes, scene)
        clock = axes.text(1, 1.01, "", transform=axes.transAxes, ha="right", va="bottom", color=MUTED)
    always = set(axes.get_children())

    def draw(frame: int) -> list[Artist]:
        for artist in set(axes.get_children()) - always:
            artist.remove()
        moment = scene.at([int(shown[frame])])
        with house_style():
            draw_scene(axes, moment, view)
            draw_arrows(axes, moment, view)
        clock.set_text(f"{time[shown[frame]]:.2f} s")
        return []

    return FuncAnimation(figure, draw, frames=count, interval=1000 / fps, init_func=list)


def animate(run: Run, path: str | os.PathLike[str], *, fps: float = 25.0, speed: float = 1.0) -> Path:
    """Write a film of a run as a GIF, whole or not at all: the robot as it moved, with its joints' wrenches.

    Parameters
    ----------
    run : Run
        What `trundle.run`, `simulate` or `roll` gave; forces and moments are drawn of one that holds them, as
        `loads.to_run()` does.
    path : str or path
        A file that ends in .gif.
    fps : float, 1/s
        Pictures a second.
    speed : float
        How many times as fast as it went it is shown.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        Where nothing moves, for another suffix, and where the file can't be written.

    Examples
    --------
    >>> import tempfile, trundle
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 0.1, samples=11)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trundle.animate(run, f"{folder}/swing.gif").name
    'swing.gif'
    """
    where = path_of(path, "animate")
    if where.suffix.lower() != ".gif":
        raise InputError(f"{str(where)!r}: a film's file ends in .gif", key="path")
    animation = film(run, fps, speed)
    with replacing(where) as draft:
        animation.save(str(draft), writer=PillowWriter(fps=round(fps)), dpi=_DPI)
    return where
