"""Films: a robot as it moved, with the forces and moments in its joints where the run holds them.

What stands still is drawn once. A picture is that, the trail so far, and on it what moves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

from trundle.arrays import FloatArray
from trundle.errors import InputError, TrundleError
from trundle.expected import check_float, check_int
from trundle.files import path_of, replacing, replacing_in, signature
from trundle.progress import Progress
from trundle.results import Run
from trundle.show.drawing.scene import Scene, project
from trundle.show.figures.arrows import draw_arrows, name_arrows, with_wrenches
from trundle.show.figures.gif import delays, palette_of, write_gif
from trundle.show.figures.path import Track, drawn_scale, scale_note, track_of, unseen
from trundle.show.figures.plane import draw_plane, film_axes, limits_around
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.style import COLOURS, MUTED, figure_of, house_style, png_mark

# Eleven minutes at 30 a second: whoever asks for more has rather slipped in the speed or in the frames a second.
_MOST_FRAMES = 20_000
# Pixels: narrower pictures have no room for their words, wider ones are beyond any screen.
_NARROWEST, _WIDEST = 200, 4000
# So many pictures give the colours of all.
_SAMPLED = 6


def film(
    run: Run,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    width: int = 600,
    progress: bool | Callable[[float], None] = True,
) -> Path:
    """Write a film of a run, whole or not at all: the robot as it moved, its trail, and its joints' wrenches.

    The arguments are those of `trundle.animate`. Between samples every value is on a straight line, as figures draw it;
    a GIF has at most 50 pictures a second, shown for whole hundredths of a second.
    """
    where = path_of(path, "a film")
    write = _WRITERS.get(where.suffix.lower())
    if write is None:
        hint = "for single pictures name a folder, without an ending" if where.suffix == ".png" else None
        raise InputError(f"{str(where)!r}: a film's file ends in .gif or .mp4", key="path", hint=hint)
    track = track_of(run)
    if track is None:
        raise InputError(f"there is no film of this run: {unseen(run)}", key="run")
    times = _times(track.time, fps, speed)
    if check_int(width, "width", 1) % 2 or not _NARROWEST <= width <= _WIDEST:
        message = f"expected an even number of pixels from {_NARROWEST} to {_WIDEST}, got {width!r}"
        raise InputError(message, key="width")
    stage = _stage(run, track, times, width)
    with Progress(progress, float(times.size), where.name, "pictures") as at:
        write(where, stage, fps, at)
    return where


def _times(time: FloatArray, fps: float, speed: float) -> FloatArray:
    """When the pictures are taken, the last one at the run's end."""
    for key, given in (("fps", fps), ("speed", speed)):
        if not np.isfinite(check_float(given, key, above=0)):
            raise InputError(f"expected a positive number, got {given}", key=key)
    step = speed / fps
    if not np.isfinite(step):
        raise InputError(f"{fps:g} pictures a second are none", key="fps", hint="such as 30")
    count = (time[-1] - time[0]) / step
    if count > _MOST_FRAMES:
        message = f"{count:.0f} frames are too many, the most is {_MOST_FRAMES}"
        raise InputError(message, key="fps", hint="a greater speed, or fewer")
    return np.minimum(time[0] + step * np.arange(np.ceil(count - 1e-9) + 1), time[-1])


@dataclass(frozen=True)
class _Stage:
    """What stands still, drawn; what moves on it at the pictures' times; and the track on which the trail is laid."""

    canvas: FigureCanvasAgg
    axes: Axes
    clock: Text
    trail: Line2D
    scene: Scene
    times: FloatArray
    track: Track
    scale: float

    def pictures(self, every: int = 1) -> Iterator[Image.Image]:
        """The pictures, or every `every`-th of them, in RGB."""
        canvas, axes, box = self.canvas, self.axes, self.canvas.figure.bbox
        with house_style():
            canvas.draw()
            still, since = canvas.copy_from_bbox(box), 0
            always = set(axes.get_children())
            for moment in range(0, self.times.size, every):
                until = int(np.searchsorted(self.track.time, self.times[moment], side="right"))
                canvas.restore_region(still)
                self.trail.set_data(*self.track.points[max(since - 1, 0) : until].T)
                axes.draw_artist(self.trail)
                still, since = canvas.copy_from_bbox(box), until
                self._draw(moment)
                for artist in sorted(set(axes.get_children()) - always, key=lambda item: item.get_zorder()):
                    axes.draw_artist(artist)
                    artist.remove()
                yield Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")

    def _draw(self, moment: int) -> None:
        """What moves, into the axes, at a picture's time."""
        now = self.scene.at([moment])
        draw_scene(self.axes, now, self.track.view, scale=self.scale)
        draw_arrows(self.axes, now, self.track.view)
        self.clock.set_text(f"{self.times[moment]:.2f} s")
        self.axes.draw_artist(self.clock)


def _stage(run: Run, track: Track, times: FloatArray, width: int) -> _Stage:
    """What stands still, drawn around all that will be seen."""
    scene, view = with_wrenches(track.scene, run), track.view
    scale = 1.0 if scene.arrows else drawn_scale(track)
    about = track.points[:, None]
    around = [(about + scale * (project(scene.extent, view) - about)).reshape(-1, 2), track.points]
    around += [
        project(points, view) for arrow in scene.arrows for points in (arrow.at, arrow.at + arrow.vector)
    ]
    low, high = limits_around(np.concatenate(around))
    with house_style():
        axes = film_axes(run.name, low, high, width)
        draw_plane(axes, view, low, high)
        axes.plot(*track.points.T, color=MUTED, linewidth=0.8, alpha=0.6)
        name_arrows(axes, scene)
        beside = {"transform": axes.transAxes, "va": "bottom", "color": MUTED}
        axes.text(0, 1.01, scale_note(track, scale), fontsize=8.5, **beside)
        clock = axes.text(1, 1.01, "", ha="right", animated=True, **beside)
        (trail,) = axes.plot([], [], color=COLOURS[0], linewidth=1.6, animated=True)
        canvas = FigureCanvasAgg(figure_of(axes))
    return _Stage(canvas, axes, clock, trail, _moving(run, times, scene), times, track, scale)


def _moving(run: Run, times: FloatArray, whole: Scene) -> Scene:
    """The scene at the times, arrows as long as they are in the whole run's."""
    values = {name: np.interp(times, run.time, column) for name, column in run.values.items()}
    between = replace(run, time=times, values=values)
    track = track_of(between)
    assert track is not None  # there is one of the whole run
    current = with_wrenches(track.scene, between)
    arrows = (
        replace(arrow, vector=arrow.vector * (all_of.scale / arrow.scale), scale=all_of.scale)
        for arrow, all_of in zip(current.arrows, whole.arrows, strict=True)
    )
    return replace(current, arrows=tuple(arrows))


def _with_progress(stage: _Stage, at: Progress) -> Iterator[Image.Image]:
    """The pictures of a film; after every one of them the progress is told."""
    for count, picture in enumerate(stage.pictures()):
        yield picture
        at.fraction(count / stage.times.size)


def _write_gif(where: Path, stage: _Stage, fps: float, at: Progress) -> None:
    shown = delays(stage.times.size, fps)
    palette = palette_of(stage.pictures(max(1, -(-stage.times.size // _SAMPLED))))
    with replacing(where) as draft, draft.open("wb") as file:
        write_gif(file, _with_progress(stage, at), palette, shown)


def _write_mp4(where: Path, stage: _Stage, fps: float, at: Progress) -> None:
    """A film by ffmpeg, which is fed raw pictures; InputError where there is no ffmpeg."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise InputError(
            "an .mp4 is written by ffmpeg, which is not there",
            key="path",
            hint="install it (Debian: apt install ffmpeg; https://ffmpeg.org), or write a .gif",
        )
    wide, tall = stage.canvas.get_width_height()
    given = f"-f rawvideo -pix_fmt rgb24 -s {wide}x{tall} -r {fps!r} -i -".split()
    made = ["-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-f", "mp4"]
    with replacing(where) as draft:
        command = [program, "-y", "-loglevel", "error", *given, *made, "-metadata", f"comment={signature()}"]
        with subprocess.Popen([*command, draft], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            _feed(process, stage, at)


def _feed(process: subprocess.Popen[bytes], stage: _Stage, at: Progress) -> None:
    """The pictures to ffmpeg, and what it says where it fails."""
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        for picture in _with_progress(stage, at):
            process.stdin.write(picture.tobytes())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it says why
    except BaseException:
        process.kill()
        raise
    said = process.stderr.read().decode(errors="replace").strip()
    if process.wait():
        raise TrundleError(
            f"ffmpeg could not write the film: {said.splitlines()[-1] if said else process.returncode}"
        )


def _write_pictures(where: Path, stage: _Stage, fps: float, at: Progress) -> None:
    """Write the film as numbered PNG files in a folder; InputError where other pictures lie there already."""
    names = [f"{count:05}.png" for count in range(1, stage.times.size + 1)]
    others = sorted({picture.name for picture in where.glob("*.png")} - set(names)) if where.is_dir() else []
    if others:
        message = f"'{where}' holds pictures that are none of this film's: {', '.join(others[:3])}"
        raise InputError(message, key="path", hint="name another folder, or move them away")
    with replacing_in(where, names) as drafts:
        for name, picture in zip(names, _with_progress(stage, at), strict=True):
            picture.save(drafts / name, pnginfo=png_mark(), compress_level=2)


_WRITERS: dict[str, Callable[[Path, _Stage, float, Progress], None]] = {
    ".gif": _write_gif,
    ".mp4": _write_mp4,
    "": _write_pictures,
}
