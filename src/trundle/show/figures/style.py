"""The house style of all figures, kept here and applied without touching matplotlib's global settings."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NoReturn

import matplotlib
import numpy as np
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.files import replacing

# Okabe and Ito's colours, told apart with every common kind of colour blindness; the yellow is left out, as it
# is too light for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555", "#000000")
# Line styles change with every round through the colours, so that many lines stay apart.
DASHES = ("-", "--", ":", "-.")
INK = "#222222"
MUTED = "#8a8a8a"
BODY = "#dfe6ee"
WHEEL = "#3b4350"
# Marks on wheels, by which they are seen to turn.
TREAD = "#e8edf3"

WIDTH = 8.0  # inches; a figure's height follows from what it shows
DPI = 150
# What kinds of files say about themselves, for `files.is_marked`; no dates, so that the same run gives the same file.
_METADATA: dict[str, dict[str, str | None]] = {
    ".png": {"Software": "Trundle"},
    ".svg": {"Creator": "Trundle", "Date": None},
    ".pdf": {"Creator": "Trundle", "CreationDate": None},
}
SUFFIXES = tuple(_METADATA)
# A notebook's column is some 720 pixels wide; screens of twice the density show all of a picture's.
_NOTEBOOK_DPI = 90

_SETTINGS = rc_params_from_file(str(Path(__file__).with_name("house.mplstyle")), use_default_template=False)


@contextmanager
def house_style() -> Iterator[None]:
    """The style for what is drawn inside the block."""
    with matplotlib.rc_context(_SETTINGS):
        yield


class Picture(Figure):
    """A figure that shows itself in a notebook, which by itself knows how to show pyplot's only."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = (int(_NOTEBOOK_DPI * inches) for inches in self.get_size_inches())
        return figure_png(self), {"width": width, "height": height}

    def show(self, warn: bool = True) -> NoReturn:
        """Say how to look at it: no window of pyplot's is about a figure that pyplot didn't make."""
        del warn
        hint = '.savefig("figure.png") writes it to a file, and a notebook shows it where it ends a cell'
        raise InputError("a figure opens no window by itself", hint=hint)


def new_figure(height: float, width: float = WIDTH, title: str | None = None) -> Figure:
    """An empty figure of that size in inches with a title, laid out so that nothing overlaps."""
    figure = Picture(figsize=(width, height), dpi=DPI, layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return figure


def sizes_of(figsize: tuple[float, float] | None, default: tuple[float, float]) -> tuple[float, float]:
    """Width and height in inches, as they were given."""
    if figsize is None:
        return default
    try:
        wide, tall = map(float, figsize)
    except (TypeError, ValueError):
        wide = tall = np.nan
    if not (np.isfinite([wide, tall]).all() and min(wide, tall) > 0):
        message = f"figsize is a width and a height in inches, not {figsize!r}"
        raise InputError(message, key="figsize", hint="as matplotlib has it: figsize=(6, 4)")
    return wide, tall


def page(title: str, height: float, figsize: tuple[float, float] | None = None) -> Figure:
    """A figure with a title, its axes to be placed by who draws it, at last in another size."""
    figure = Picture(figsize=(WIDTH, height), dpi=DPI)
    figure.suptitle(title, x=0.01, y=1 - 0.08 / height, ha="left", va="top")
    figure.set_size_inches(*sizes_of(figsize, (WIDTH, height)))
    return figure


def figure_of(axes: Axes) -> Figure:
    """The figure that axes are on, also where they are on a part of it."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)  # axes that were removed are on none
    return figure


def figure_png(figure: Figure) -> bytes:
    """A figure as a PNG file's bytes."""
    return _drawn(figure, "png")


def figure_svg(figure: Figure) -> str:
    """A figure as an SVG element, without the lines that a file has before it."""
    text = _drawn(figure, "svg").decode("utf-8")
    return text[text.index("<svg") :]


def png_mark() -> PngInfo:
    """What a PNG file that Pillow writes says about itself."""
    mark = PngInfo()
    mark.add_text("Software", str(_METADATA[".png"]["Software"]))
    return mark


def _drawn(figure: Figure, kind: str) -> bytes:
    drawn = io.BytesIO()
    _write(figure, drawn, kind)
    return drawn.getvalue()


def _write(figure: Figure, file: IO[bytes], kind: str) -> None:
    """A figure into a file; a PNG by its canvas itself, as `savefig` lays everything out once more before it draws."""
    figure.set_facecolor("white")
    metadata = _METADATA[f".{kind}"]
    with house_style():
        if kind == "png" and figure.get_layout_engine() is None:
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            # Without the transparency that white paper hides.
            pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
            pixels.save(file, "PNG", dpi=(figure.dpi, figure.dpi), pnginfo=png_mark(), compress_level=2)
        else:
            figure.savefig(file, format=kind, metadata=metadata)


def time_colours() -> LinearSegmentedColormap:
    """Colours from dark, for early, to light, for late: viridis without its yellow end, which is lost on white."""
    shades = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, 256))
    return LinearSegmentedColormap.from_list("trundle_time", [tuple(shade) for shade in shades])


def draw_coloured(
    axes: Axes,
    segments: FloatArray,
    values: FloatArray,
    span: tuple[float, float],
    label: str,
    *,
    bar: Axes | None = None,
    width: float | FloatArray = 2.0,
    zorder: float = 5,
) -> None:
    """Lines (n, 2, 2) of a width (points), or of n, in the colours of `values` (n,) over a span, and the bar of these
    colours, beside or in `bar`.
    """
    lines = LineCollection(
        list(segments), cmap=time_colours(), linewidths=width, capstyle="round", zorder=zorder
    )
    lines.set_array(values)
    lines.set_clim(*span)
    axes.add_collection(lines, autolim=False)
    colours = figure_of(axes).colorbar(lines, cax=bar, ax=None if bar else axes)
    colours.set_label(label)
    colours.outline.set_visible(False)  # type: ignore[operator]


def unit_label(what: str, unit: str) -> str:
    """'time (s)', or the bare word where there is no unit."""
    return f"{what} ({unit_text(unit)})" if unit and unit != "1" else what


def unit_text(unit: str) -> str:
    """A unit as it is read: rad/s² for rad/s^2."""
    return unit.replace("^2", "\u00b2").replace("^3", "\u00b3")


def say(axes: Axes, text: str) -> None:
    """A sentence in the middle of axes that have nothing to show."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=MUTED)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure, whole or not at all, as .png, .svg or .pdf by its suffix; return the path."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{str(path)!r}: a figure's file ends in one of {', '.join(SUFFIXES)}")
    with replacing(path) as draft, draft.open("wb") as file:
        _write(figure, file, suffix[1:])
    return path
