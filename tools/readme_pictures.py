"""The README's pictures: robots as they move, and one for each of its parts. `make gallery` draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

import trundle
from tools.gallery_pictures import draw_still, still_limits, still_scale
from trundle.files import replacing
from trundle.formulas.typeset.hypertext import page as page_of_equations
from trundle.motion.commands.drive import Driven
from trundle.results import Run
from trundle.show.drawing.scene import project
from trundle.show.figures.contours import hilly
from trundle.show.figures.gif import delays, palette_of, write_gif
from trundle.show.figures.path import Track, track_of
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.style import COLOURS, MUTED, house_style, new_figure, png_mark, save_figure

ROOT = Path(__file__).parents[1]
_EXAMPLES = ROOT / "examples"
_ACROSS = 4
# Pixels across a figure in the README.
_WIDEST = 1200
# The film of robots: pictures, and how many of them a second shows. A run fills it, whatever time it takes.
_FRAMES, _RATE = 56, 12
_SIZE = (2.8, 7.0)


@dataclass(frozen=True)
class _Cell:
    """A robot's place in the film: its axes, its way, and how much larger than its way it is drawn."""

    axes: Axes
    track: Track
    scale: float

    def draw(self, part: float) -> None:
        """The robot at a part of its run's time, and its way so far."""
        time = self.track.time
        moment = int(np.searchsorted(time, time[0] + part * (time[-1] - time[0])).clip(0, time.size - 1))
        self.axes.plot(*self.track.points[: moment + 1].T, color=COLOURS[0], linewidth=1.6)
        draw_scene(self.axes, self.track.scene.at([moment]), self.track.view, scale=self.scale)


def moving_robots() -> list[tuple[str, Run]]:
    """What the film shows: names, and runs from as many corners of the field."""
    swerve = trundle.catalog.swerve(motor="kraken_x60", gear_ratio=6.75, steering_motor="kraken_x60")
    path = _EXAMPLES / "swerve/paths/score.path"
    return [
        ("a circle, held", trundle.run(_EXAMPLES / "feedback/circle.yaml")),
        ("swerve, on a path", trundle.follow(path, swerve).run()),
        ("mecanum", trundle.run(_EXAMPLES / "mecanum/drive.yaml")),
        ("tricycle", trundle.run(_EXAMPLES / "tricycle/turn.yaml")),
        ("rocker-bogie, over a step", trundle.run(_EXAMPLES / "rover/rocker_bogie.yaml")),
        ("slider-crank", trundle.run(_EXAMPLES / "slider_crank/pump.yaml")),
        ("double pendulum", trundle.run(_EXAMPLES / "pendulum/double.yaml")),
        ("limb, from its angles", _limb().to_run()),
    ]


def _limb() -> trundle.Loads:
    recording = trundle.read_recording(_EXAMPLES / "limb/motion.csv")
    return trundle.joint_loads(_EXAMPLES / "limb/limb.yaml", recording)


def draw_pictures(robots: Sequence[Run], page: Path, pictures: Path) -> None:
    """All of the pictures; of them the catalogue's robots from their runs, and a page as a browser shows it."""
    draw_film(moving_robots(), pictures / "robots.gif")
    _draw_stills(robots, pictures / "robots.png")
    circle = _EXAMPLES / "diff_drive/circle.yaml"
    compared = [trundle.run(circle, parameters={"d": d}, duration=12.0) for d in ("0 cm", "30 cm")]
    _save_small(trundle.compare(*compared).path(), pictures / "compared.png")
    _save_small(trundle.drive_figures(_followed())["binding"], pictures / "plan.png")
    _save_small(trundle.gait_figures(_gait())["gait_sagittal"], pictures / "gait.png")
    _draw_pages(page, pictures)


def _save_small(figure: Figure, path: Path) -> None:
    """A figure in few colours and no wider than a page shows it: a tenth of the bytes."""
    with TemporaryDirectory() as scratch, replacing(path) as draft:
        with Image.open(save_figure(figure, Path(scratch) / "whole.png")) as whole:
            height = round(whole.height * min(1, _WIDEST / whole.width))
            small = whole.convert("RGB").resize((min(_WIDEST, whole.width), height), Image.Resampling.LANCZOS)
        small.quantize(64).save(draft, format="PNG", pnginfo=png_mark(), optimize=True)


def _draw_stills(runs: Sequence[Run], path: Path) -> None:
    with house_style():
        figure = new_figure(-(-len(runs) // _ACROSS) * 1.75, 8.0, None)
        for place, run in enumerate(runs):
            axes = figure.add_axes(_box(place, len(runs)))
            draw_still(axes, run)
            axes.set_title(run.name.replace("_", " "), loc="center", fontsize=8.5, fontweight="normal")
        _save_small(figure, path)


def _draw_pages(page: Path, pictures: Path) -> None:
    """A run's page, a rover's, and equations, as a browser shows them."""
    from tools.gallery_check import screenshot

    screenshot(page, pictures / "page.png")
    with TemporaryDirectory() as scratch:
        shown = Path(scratch) / "shown.html"
        trundle.animate(trundle.run(_EXAMPLES / "rover/rocker_bogie.yaml"), shown)
        screenshot(shown, pictures / "rover.png")
        equations = trundle.derive(trundle.catalog.differential_drive(offset=0.2)).equations()
        shown.write_text(page_of_equations(equations), encoding="utf-8")
        screenshot(shown, pictures / "equations.png")


def _followed() -> Driven:
    """A competition swerve along a path, as fast as motors and floor allow."""
    path = trundle.pose_path([(0, 0, 0), (1.5, 1, 0.8), (3, 0, 0), (4.5, -1, -0.8), (6, 0, 0)])
    return trundle.follow(path, _EXAMPLES / "battery/competition_swerve.yaml", progress=False)


def _gait() -> trundle.Gait:
    """A person of a static trial's markers, walking on two force plates."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _example("gait/walk.py").write(folder)
        person = trundle.scale_person(folder / "static.c3d", body_mass=70, sex="male", height=1.75)
        smoothing = {"method": "butterworth", "cutoff": 8.0, "order": 4}
        asked = {"markers": person.markers, "smoothing": smoothing, "threshold": 5.0}
        return trundle.inverse(person.robot, folder / "walk.c3d", **asked).gait(mass=70)


def _example(name: str) -> ModuleType:
    spec = spec_from_file_location(Path(name).stem, _EXAMPLES / name)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw_film(runs: Sequence[tuple[str, Run]], path: Path) -> None:
    """Write a GIF of robots side by side, all from the begin of their runs to the end."""
    shown = delays(_FRAMES, _RATE)
    palette = palette_of(_pictures(runs, np.linspace(0, 1, 5)))
    with replacing(path) as draft, draft.open("wb") as file:
        write_gif(file, _pictures(runs, np.linspace(0, 1, _FRAMES)), palette, shown)


def _pictures(runs: Sequence[tuple[str, Run]], parts: np.ndarray) -> Iterator[Image.Image]:
    with house_style():
        figure = new_figure(*_SIZE, None)
        cells = [_cell(figure.add_axes(_box(place, len(runs))), *each) for place, each in enumerate(runs)]
        canvas = FigureCanvasAgg(figure)
        still = [set(cell.axes.get_children()) for cell in cells]
        for part in parts:
            for cell in cells:
                cell.draw(float(part))
            canvas.draw()
            yield Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
            for cell, kept in zip(cells, still, strict=True):
                for artist in set(cell.axes.get_children()) - kept:
                    artist.remove()


def _seen(run: Run) -> Track:
    """A run's way; one over rough ground from its side, where climbing is seen."""
    track = track_of(run)
    assert track is not None, run.name
    if not hilly(run):
        return track
    return replace(track, view="y", points=project(track.scene.place(track.scene.traced), "y"))


def _box(place: int, count: int) -> tuple[float, float, float, float]:
    row, column = divmod(place, _ACROSS)
    rows = -(-count // _ACROSS)
    return column / _ACROSS + 0.01, 1 - (row + 1) / rows + 0.01, 1 / _ACROSS - 0.02, 0.82 / rows


def _cell(axes: Axes, name: str, run: Run) -> _Cell:
    track = _seen(run)
    still_limits(axes, track, np.linspace(0, track.time.size - 1, _FRAMES).astype(int).tolist())
    axes.set_axis_off()
    axes.set_title(name, loc="center", fontsize=8.5, fontweight="normal")
    axes.plot(*track.points.T, color=MUTED, linewidth=1.0, alpha=0.6)
    return _Cell(axes, track, still_scale(track))
