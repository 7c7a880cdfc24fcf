"""Figures of values over time: panels drawn one below the other, or into axes that a user gives."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.results.between import with_points
from trundle.show.figures.curves import (
    STEPS,
    TICK_LETTERS,
    curve_lines,
    draw_panel,
    limits,
    longest,
    number,
    show_covered,
    span_of,
)
from trundle.show.figures.legends import LINE, Legend
from trundle.show.figures.panels import Panel
from trundle.show.figures.style import MUTED, WIDTH, figure_of, house_style, page, say, sizes_of

# All lengths are in inches, for letters of the house style (8.5 to 12 points): panels are placed by them, as finding
# out where there is room would take half of a figure's time.
# Below a panel with a start-up beside it: the start-up's own numbers.
_TICKS = 0.15
# How wide a letter of a number left of an axis is.
_TICK_LETTER = 0.085
# An axis has at most so many intervals across.
_ACROSS = 6
# Left of the panels: the label, and numbers of `TICK_LETTERS` letters. Right of them.
_LEFT, _RIGHT = 0.85, 0.2
# Below the last panel: its numbers, and what is said of time.
_BELOW = 0.5
# Above a panel, and above one with a title or a legend.
_ABOVE, _TITLE = 0.14, 0.27
# A panel is so high: four numbers upward stay apart. One whose curves are flat is lower.
_HEIGHT, _FLAT = 1.2, 0.9
# Above all panels: the figure's title, and a legend of all of them.
_HEAD, _BELOW_TITLE = 0.42, 0.4
# An inch holds so many letters of a remark.
_LETTERS = 14
# From the page's left edge to the middle of a panel's label.
_BEYOND = 0.23
# The panel of a start-up, and the gap before it, which its numbers stand in.
_START, _BESIDE = 1.2, 0.5
# Its axes have at most so many intervals.
_START_BINS = 3
# Letters stand so far above a panel.
_PAD = 4 / 72
# A start-up is shown by itself where a quarter of the range is gone through in so little of the run.
_SHORT, _MUCH = 0.03, 0.25
# A start-up shows so many samples after the first, or more.
_ENOUGH = 6
# As many samples as are seen as points in the panel of a start-up.
_FEW = 40

AxesLike = Axes | Sequence[Axes]


def series(
    title: str,
    time: FloatArray,
    panels: Sequence[Panel],
    nothing: str,
    *,
    ax: AxesLike | None = None,
    figsize: tuple[float, float] | None = None,
    across: str = "time (s)",
    remarks: Sequence[str] = (),
) -> Figure:
    """The panels as a figure of that title, or in a user's axes; `nothing` is said where there are none, `across` says
    what stands below the last, `remarks` below the title.
    """
    with house_style():
        if ax is not None:
            return _into(ax, time, panels, nothing)
        wide, _ = sizes_of(figsize, (WIDTH, 2.0))
        starts = [start_up(*_dense(time, panel)) if _moves(panel) else None for panel in panels]
        widths = _widths(panels, starts, wide)
        shared = _shared(panels)
        above = Legend.of(shared, "", wide - 2 * _RIGHT)
        rows = [_row(*of, widths, bool(shared)) for of in zip(panels, starts, strict=True)]
        lines = [line for remark in remarks for line in textwrap.wrap(remark, int(_LETTERS * wide))]
        head = _HEAD + (LINE * above.lines if shared else 0.0) + LINE * len(lines)
        total = sum(row.above + row.height + row.below for row in rows) + head + _BELOW if rows else 2.0
        wide, tall = sizes_of(figsize, (WIDTH, total))
        figure = page(title, tall, figsize)
        for k, line in enumerate(lines):
            figure.text(0.01, 1 - (_BELOW_TITLE + LINE * k) / tall, line, fontsize=8.5)
        if rows:
            above.draw(figure, _RIGHT, tall - _BELOW_TITLE - LINE * len(lines))
            _draw_rows(figure, time, _stretched(rows, tall - total), widths, tall - head, across)
        else:
            say(figure.add_axes((0, 0, 1, 1)), nothing)
        return figure


@dataclass(frozen=True)
class _Widths:
    """Across the page (inches): what is left of the panels, the panels, and the start-ups beside them."""

    left: float
    panel: float
    zoom: float


@dataclass(frozen=True)
class _Row:
    """A panel on a page: its legend, its height, what is above and below it (inches), when it has started."""

    panel: Panel
    legend: Legend
    height: float
    above: float
    below: float
    start: float | None


def _moves(panel: Panel) -> bool:
    """Whether curves are seen to change."""
    return not (panel.log or panel.bands) and span_of(panel.curves) > panel.least


def _named(panel: Panel) -> dict[str, int]:
    """What a panel's legend says: names with their places in the palette; of one curve the title may say all."""
    if (panel.log or panel.reach) and len(panel.curves) == 1:
        return {}
    return {panel.labels.get(name, name): place for name, place in panel.places.items()}


def _shared(panels: Sequence[Panel]) -> dict[str, int]:
    """The legend of all panels, where one says all that theirs would; else nothing."""
    legends = [named for named in map(_named, panels) if named]
    largest = max(legends, key=len, default={})
    alike = all(named.items() <= largest.items() for named in legends)
    return largest if alike and len(legends) > 1 else {}


def _widths(panels: Sequence[Panel], starts: Sequence[float | None], wide: float) -> _Widths:
    zoom = _START + _BESIDE if any(starts) else 0.0
    letters = max(map(longest, panels), default=0)
    left = _LEFT + _TICK_LETTER * max(0, letters - TICK_LETTERS)
    return _Widths(left, max(0.5, wide - left - zoom - _RIGHT), zoom)


def _row(panel: Panel, start: float | None, widths: _Widths, shared: bool) -> _Row:
    """How much room a panel takes, with a legend of its own where none is `shared`."""
    room = widths.panel + (0.0 if start else widths.zoom)
    legend = Legend.of({} if shared else _named(panel), panel.title, room)
    low, high = limits(panel)
    flat = not panel.log and span_of(panel.curves) < 0.01 * (high - low)
    above = _TITLE if panel.title or legend.entries or start else _ABOVE
    return _Row(
        panel,
        legend,
        _FLAT if flat else _HEIGHT,
        above + LINE * (legend.lines - 1),
        _TICKS if start else 0.0,
        start,
    )


def _stretched(rows: Sequence[_Row], more: float) -> list[_Row]:
    """Panels that are higher by so much in all, or lower: what stands between them keeps its size."""
    factor = max(0.1, 1 + more / sum(row.height for row in rows))
    return [replace(row, height=factor * row.height) for row in rows]


def _draw_rows(
    figure: Figure, time: FloatArray, rows: Sequence[_Row], widths: _Widths, top: float, across: str
) -> None:
    """Draw the rows of panels from the top down, their start-ups beside them.

    Places are in inches: to have matplotlib look for room would take half of a figure's time.
    """
    (wide, total), left, width = figure.get_size_inches(), widths.left, widths.panel
    bottom, first = top, None
    for row in rows:
        bottom -= row.height + row.above

        def box(left: float, across: float, row: _Row = row, low: float = bottom) -> tuple[float, ...]:
            return left / wide, low / total, across / wide, row.height / total

        axes = figure.add_axes(box(left, width), sharex=first)  # type: ignore[arg-type]  # four numbers
        first = first or axes
        draw_panel(axes, time, row.panel)
        lifted = LINE * (row.legend.lines - 1)
        axes.set_title(row.panel.title, y=1 + lifted / row.height)
        axes.yaxis.set_label_coords((_BEYOND - left) / width, 0.5)
        number_across(axes, row.height, across if row is rows[-1] else "")
        if row.start:
            beside = figure.add_axes(box(left + width + _BESIDE, _START))  # type: ignore[arg-type]
            _draw_start(beside, axes, row.start)
        row.legend.draw(figure, left, bottom + row.height + lifted + _PAD)
        bottom -= row.below


def number_across(axes: Axes, height: float, across: str) -> None:
    """Numbers below axes that are so high (inches), and what is said of them; without that only a grid of plain lines.

    Six ticks of which nothing is seen would take longer to draw than the curves.
    """
    locator = MaxNLocator(_ACROSS, steps=STEPS)
    if across:
        axes.xaxis.set_label_coords(0.5, -0.34 / height)
        number(axes.xaxis, locator)
        axes.set_xlabel(across)
        return
    first, last = axes.get_xlim()
    seen = [tick for tick in locator.tick_values(first, last) if first <= tick <= last]
    look = {"color": rcParams["grid.color"], "linewidth": rcParams["grid.linewidth"], "zorder": 0.5}
    axes.vlines(seen, 0, 1, transform=axes.get_xaxis_transform(), **look)
    axes.xaxis.set_visible(False)


def _into(ax: AxesLike, time: FloatArray, panels: Sequence[Panel], nothing: str) -> Figure:
    """The panels in as many axes, or all of them in one, beside what is there already."""
    given = [ax] if isinstance(ax, Axes) else list(np.ravel(np.array(ax, dtype=object)))
    for axes in given:
        if not isinstance(axes, Axes):
            raise InputError(
                f"ax takes matplotlib's axes, not {type(axes).__name__}",
                key="ax",
                hint="fig, ax = plt.subplots()",
            )
    if not panels:
        raise InputError(nothing, key="ax", hint="names choose what is drawn")
    if len(given) == 1 and len(panels) > 1:
        labels = ", ".join(dict.fromkeys(panel.label for panel in panels))
        curves = {name: values for panel in panels for name, values in panel.curves.items()}
        between = {name: points for panel in panels for name, points in panel.between.items()}
        fixed = {name: place for panel in panels for name, place in panel.fixed.items()}
        least = min(panel.least for panel in panels)
        panels = [Panel(panels[0].title, labels, curves, least, between=between, fixed=fixed)]
    if len(given) != len(panels):
        labels = "; ".join(f"{', '.join(panel.curves)} in {panel.label}" for panel in panels)
        raise InputError(
            f"{len(given)} axes were given for {len(panels)} panels: {labels}",
            key="ax",
            hint="give one, or as many as there are panels; names choose what is drawn",
        )
    for axes, panel in zip(given, panels, strict=True):
        shared = axes.has_data()
        draw_panel(axes, time, panel)
        if shared:  # another run's curves, say
            axes.relim()
            axes.autoscale()
            show_covered(axes)
        axes.set_xlabel("time (s)")
        axes.legend()
    return figure_of(given[0])


def _dense(time: FloatArray, panel: Panel) -> tuple[FloatArray, dict[str, FloatArray]]:
    """The samples' times and all between that curves of a panel run through, and the curves there."""
    every = reduce(np.union1d, [points[0] for points in panel.between.values()], time)
    curves = {
        name: with_points(time, values, panel.between.get(name)) for name, values in panel.curves.items()
    }
    return every, {name: np.interp(every, *curve) for name, curve in curves.items()}


def start_up(time: FloatArray, curves: Mapping[str, FloatArray]) -> float | None:
    """How long (s) to show a start-up that is too short for a panel of the whole run; None where there is none.

    A start-up goes through much of the range in little time. It ends where 95 % of the early travel is done.
    """
    duration, span = float(time[-1] - time[0]), span_of(curves)
    early = time - time[0] <= _SHORT * duration
    if not span or early.sum() < 3:
        return None
    if max(span_of({name: values[early]}) for name, values in curves.items()) < _MUCH * span:
        return None
    wider = time - time[0] <= 4 * _SHORT * duration
    travel = np.sum([np.nancumsum(np.abs(np.diff(values[wider]))) for values in curves.values()], axis=0)
    settled = float(time[1 + int(np.searchsorted(travel, 0.95 * travel[-1]))] - time[0])
    until = max(1.5 * settled, float(time[min(_ENOUGH, time.size - 1)] - time[0]))
    return until if settled < 2 * _SHORT * duration and until <= 3 * _SHORT * duration else None


def _draw_start(axes: Axes, whole: Axes, until: float) -> None:
    """Draw the first moments of a panel beside it, in the looks of the panel."""
    for line in curve_lines(whole):
        time, values = (np.asarray(numbers, dtype=float) for numbers in line.get_data())
        count = min(int(np.sum(time - time[0] <= until)) + 1, time.size)
        style = {"color": line.get_color(), "linestyle": line.get_linestyle(), "label": line.get_label()}
        axes.plot(time[:count], values[:count], marker="." if count < _FEW else "", **style)
        axes.set_xlim(time[0], time[0] + until)
    axes.set_title("start-up (s)", fontsize=8.5, fontweight="normal", color=MUTED)
    for axis in (axes.xaxis, axes.yaxis):
        number(axis, MaxNLocator(_START_BINS, steps=STEPS))
    show_covered(axes)
