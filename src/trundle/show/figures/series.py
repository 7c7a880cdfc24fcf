"""Figures of values over time: panels drawn one below the other, or into axes that a user gives."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.results.peaks import Peak
from trundle.show.figures.panels import Panel
from trundle.show.figures.style import COLOURS, MUTED, WIDTH, figure_of, house_style, page, say, sizes_of

# All lengths are in inches, for letters of the house style (8.5 to 12 points): panels are placed by them, as finding
# out where there is room would take half of a figure's time.
# Below a panel with a start-up beside it: the start-up's own numbers.
_TICKS = 0.15
# A number left of an axis has at most so many letters, where it can be (`_tick` writes it shorter then).
_TICK_LETTERS = 6
# How wide a letter of such a number is.
_TICK_LETTER = 0.085
# An axis has at most so many intervals upward, whose lengths are these times a power of ten, and so many across.
_BINS, _STEPS, _ACROSS = 4, (1, 2, 5, 10), 6
# Left of the panels: the label, and numbers of `_TICK_LETTERS` letters.
_LEFT = 0.85
# Below the last panel: its numbers, and what is said of time.
_BELOW = 0.5
# Above a panel, and above one with a title.
_ABOVE, _TITLE = 0.14, 0.27
# A panel is at least so high: four numbers upward stay apart.
_HEIGHT = 1.2
# Above all panels: the figure's title.
_HEAD = 0.42
# From the page's left edge to the middle of a panel's label.
_BEYOND = 0.23
# The panel of a start-up, and the gap before it, which its numbers stand in.
_START, _BESIDE = 1.2, 0.5
# A line of a legend, a letter in it, its handle with the gap behind it; names are broken into lines of so many letters.
_LINE, _LETTER, _HANDLE, _MOST_LETTERS = 0.165, 0.072, 0.45, 30
# Curves whose distance is below this share of a panel's range cover one another.
_COVERED = 0.005
# Two curves that coincide for this share of the time both show only if one has gaps.
_WHILE = 0.15
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
) -> Figure:
    """The panels as a figure of that title, or in a user's axes; `nothing` is said where there are none, `across` says
    what stands below the last.
    """
    with house_style():
        if ax is not None:
            return _into(ax, time, panels, nothing)
        rows = [_row(time, panel) for panel in panels]
        total = sum(row.above + row.height + row.below for row in rows) + _HEAD + _BELOW if rows else 2.0
        wide, tall = sizes_of(figsize, (WIDTH, total))
        figure = page(title, tall, figsize)
        if rows:
            _draw_rows(figure, time, _stretched(rows, tall - total), (wide, tall), across)
        else:
            say(figure.add_axes((0, 0, 1, 1)), nothing)
        return figure


@dataclass(frozen=True)
class _Row:
    """A panel on a page: its height, what is above and below it, its legend's width (inches), when it has started."""

    panel: Panel
    height: float
    above: float
    below: float
    legend: float
    start: float | None


def _row(time: FloatArray, panel: Panel) -> _Row:
    """How much room a panel takes: it is at least as high as its legend."""
    labels = [_label(names) for names, _ in _curves(panel)]
    lines = [line for label in labels for line in label.split("\n")]
    height = max(_HEIGHT, 0.1 + _LINE * len(lines))
    legend = 0.0 if panel.log and len(panel.curves) == 1 else _HANDLE + _LETTER * max(map(len, lines))
    flat = panel.log or panel.bands or _span(panel.curves) <= panel.least
    start = None if flat else start_up(time, panel.curves)
    return _Row(
        panel, height, _TITLE if panel.title or start else _ABOVE, _TICKS if start else 0.0, legend, start
    )


def _stretched(rows: Sequence[_Row], more: float) -> list[_Row]:
    """Panels that are higher by so much in all, or lower: what stands between them keeps its size."""
    factor = max(0.1, 1 + more / sum(row.height for row in rows))
    return [replace(row, height=factor * row.height) for row in rows]


def _draw_rows(
    figure: Figure, time: FloatArray, rows: Sequence[_Row], size: tuple[float, float], across: str
) -> None:
    """Draw the rows of panels from the top down, their start-ups beside them.

    Places are in inches: to have matplotlib look for room would take half of a figure's time.
    """
    wide, total = size
    zoom = _START + _BESIDE if any(row.start for row in rows) else 0.0
    left = _LEFT + _TICK_LETTER * max(0, max(_longest(row.panel) for row in rows) - _TICK_LETTERS)
    width = max(0.5, wide - left - zoom - 0.15 - max(row.legend for row in rows))
    bottom, first = total - _HEAD, None
    for row in rows:
        bottom -= row.height + row.above

        def box(left: float, across: float, row: _Row = row, low: float = bottom) -> tuple[float, ...]:
            return left / wide, low / total, across / wide, row.height / total

        axes = figure.add_axes(box(left, width), sharex=first)  # type: ignore[arg-type]  # four numbers
        first = first or axes
        draw_panel(axes, time, row.panel)
        axes.yaxis.set_label_coords((_BEYOND - left) / width, 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(_ACROSS))
        axes.xaxis.set_label_coords(0.5, -0.34 / row.height)
        if row is rows[-1]:
            axes.set_xlabel(across)
        else:
            _rule(axes)
        if row.start:
            beside = figure.add_axes(box(left + width + _BESIDE, _START))  # type: ignore[arg-type]
            _draw_start(beside, axes, row.start)
        if row.legend:
            at = (width + 0.1 + (zoom if row.start else 0.0)) / width
            _name_lines(axes, at, 0.28 / width, _LINE / row.height)
        bottom -= row.below


def _rule(axes: Axes) -> None:
    """Draw the vertical grid of an axis without numbers as plain lines, and hide the axis.

    Six ticks of which nothing is seen would take longer to draw than the curves.
    """
    first, last = axes.get_xlim()
    ticks = MaxNLocator(_ACROSS).tick_values(first, last)
    seen = [tick for tick in ticks if first <= tick <= last]
    look = {"color": rcParams["grid.color"], "linewidth": rcParams["grid.linewidth"], "zorder": 0.5}
    axes.vlines(seen, 0, 1, transform=axes.get_xaxis_transform(), **look)
    axes.xaxis.set_visible(False)


def _name_lines(axes: Axes, left: float, handle: float, line: float) -> None:
    """A legend right of a panel, in its own shares of it: one of matplotlib's takes ten times as long."""
    top = 1 - 0.4 * line
    for drawn in (line for line in axes.get_lines() if not str(line.get_label()).startswith("_")):
        label = str(drawn.get_label())
        rows = 1 + label.count("\n")
        handles = Line2D([left, left + handle], [top, top], transform=axes.transAxes, clip_on=False)
        handles.set(color=drawn.get_color(), linestyle=drawn.get_linestyle())
        axes.add_artist(handles)
        place = {
            "va": "center_baseline" if rows == 1 else "top",
            "fontsize": 8.5,
            "transform": axes.transAxes,
        }
        axes.text(left + 1.3 * handle, top + (0.35 * line if rows > 1 else 0.0), label, **place)
        top -= line * rows


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
        peaks = {name: peak for panel in panels for name, peak in panel.peaks.items()}
        panels = [Panel(panels[0].title, labels, curves, min(panel.least for panel in panels), peaks=peaks)]
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
        axes.set_xlabel("time (s)")
        axes.legend()
    return figure_of(given[0])


def draw_panel(axes: Axes, time: FloatArray, panel: Panel) -> None:
    """The curves of a panel with its title and label."""
    if panel.title:
        axes.set_title(panel.title)
    axes.set_ylabel(panel.label)
    if panel.log:
        _draw_logarithmic(axes, time, panel.curves)
    else:
        _draw_curves(axes, time, panel)
        for limit in panel.limits:
            axes.axhline(limit, color=MUTED, linestyle=":", linewidth=1.0, zorder=1)
        axes.set_ylim(*_limits(panel))
        _number(axes.yaxis, MaxNLocator(_BINS, steps=_STEPS))
    if time[-1] > time[0]:
        axes.set_xlim(time[0], time[-1])


def _number(axis: Axis, ticks: MaxNLocator) -> None:
    """Ticks with whole numbers: a power of ten above the axis would stand in the title."""
    axis.set_major_locator(ticks)
    axis.set_major_formatter(lambda value, _: _tick(value, float(np.ptp(axis.get_view_interval()))))


def _tick(value: float, span: float) -> str:
    """A number at a tick of an axis that spans so much, its neighbours' apart, and short: −2e7 for −20000000."""
    decimals = max(0, -math.floor(math.log10(span / _BINS)))
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    if len(text) > _TICK_LETTERS and value:
        digits = max(0, math.floor(math.log10(abs(value))) + decimals)
        mantissa, power = f"{value:.{digits}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if digits else mantissa
        text = min(text, f"{mantissa}e{int(power)}", key=len)
    return text.replace("-", "\u2212")


def _longest(panel: Panel) -> int:
    """How many letters the numbers left of a panel have at most."""
    if panel.log:
        return 0
    low, high = _limits(panel)
    values = MaxNLocator(_BINS, steps=_STEPS).tick_values(low, high)
    return max(len(_tick(value, high - low)) for value in values)


def _draw_curves(axes: Axes, time: FloatArray, panel: Panel) -> None:
    """Draw the curves as lines. A line that coincides with earlier ones for a while has gaps, which show those."""
    reach = _COVERED * max(_span(panel.curves), panel.least)
    drawn: list[tuple[FloatArray, int]] = []
    for index, (names, values) in enumerate(_curves(panel), len(axes.get_lines())):
        along = [level for other, level in drawn if np.mean(np.abs(other - values) < reach) > _WHILE]
        level = max(along, default=-1) + 1
        dash = (0, (4, 4 * level)) if level else "-"
        drawn.append((values, level))
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(
            *_through(time, values, panel.peaks.get(names[0])),
            color=colour,
            linestyle=dash,
            label=_label(names),
        )
        if names[0] in panel.bands:
            axes.fill_between(time, *panel.bands[names[0]], color=colour, alpha=0.2, linewidth=0)


def _through(time: FloatArray, values: FloatArray, peak: Peak | None) -> tuple[FloatArray, FloatArray]:
    """A curve's samples, and between them its lowest and its highest point where they are known."""
    if peak is None or peak.sampled:
        return time, values
    known = {peak.lowest_time: peak.lowest, peak.highest_time: peak.highest}
    further = [t for t in sorted(known) if time[0] < t < time[-1] and t not in time]
    at = np.searchsorted(time, further)
    return np.insert(time, at, further), np.insert(values, at, [known[t] for t in further])


def _curves(panel: Panel) -> list[tuple[list[str], FloatArray]]:
    """The curves with their names. Curves that coincide throughout are one curve with several names."""
    reach = _COVERED * max(_span(panel.curves), panel.least)
    drawn: list[tuple[list[str], FloatArray]] = []
    for name, values in panel.curves.items():
        same = (names for names, other in drawn if np.allclose(other, values, 0.0, reach, equal_nan=True))
        names = next(same, None)
        if names is None:
            drawn.append(([name], values))
        else:
            names.append(name)
    return drawn


def _span(curves: Mapping[str, FloatArray]) -> float:
    """The distance from the lowest value of all curves to the highest."""
    ends = [end for values in curves.values() for end in _ends(values)]
    return max(ends, default=0.0) - min(ends, default=0.0)


def _ends(values: FloatArray) -> tuple[float, ...]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else ()


def _limits(panel: Panel) -> tuple[float, float]:
    """The ends of a panel's axis. Values that hardly change become flat lines, not magnified rounding."""
    ends = [end for values in panel.curves.values() for end in _ends(values)] or [0.0]
    ends += [end for band in panel.bands.values() for edge in band for end in _ends(edge)]
    ends += panel.limits
    ends += [end for peak in panel.peaks.values() for end in (peak.lowest, peak.highest) if np.isfinite(end)]
    low, high = min(ends), max(ends)
    size = max(abs(low), abs(high))
    least = max(panel.least, 1e-6 * size)
    half = (high - low) * 0.54
    if high - low <= least or not half:
        half = max(0.1 * size, 10 * least) or 1.0
    return (low + high) / 2 - half, (low + high) / 2 + half


def start_up(time: FloatArray, curves: Mapping[str, FloatArray]) -> float | None:
    """How long (s) to show a start-up that is too short for a panel of the whole run; None where there is none.

    A start-up goes through much of the range in little time. It ends where 95 % of the early travel is done.
    """
    duration, span = float(time[-1] - time[0]), _span(curves)
    early = time - time[0] <= _SHORT * duration
    if not span or early.sum() < 3:
        return None
    if max(_span({name: values[early]}) for name, values in curves.items()) < _MUCH * span:
        return None
    wider = time - time[0] <= 4 * _SHORT * duration
    travel = np.sum([np.nancumsum(np.abs(np.diff(values[wider]))) for values in curves.values()], axis=0)
    settled = float(time[1 + int(np.searchsorted(travel, 0.95 * travel[-1]))] - time[0])
    until = max(1.5 * settled, float(time[min(_ENOUGH, time.size - 1)] - time[0]))
    return until if settled < 2 * _SHORT * duration and until <= 3 * _SHORT * duration else None


def _draw_start(axes: Axes, whole: Axes, until: float) -> None:
    """Draw the first moments of a panel beside it, in the colours and dashes of the panel."""
    for line in whole.get_lines():
        time, values = (np.asarray(numbers, dtype=float) for numbers in line.get_data())
        count = min(int(np.sum(time - time[0] <= until)) + 1, time.size)
        look = {"color": line.get_color(), "linestyle": line.get_linestyle()}
        axes.plot(time[:count], values[:count], marker="." if count < _FEW else "", **look)
        axes.set_xlim(time[0], time[0] + until)
    axes.set_title("start-up (s)", fontsize=8.5, fontweight="normal", color=MUTED)
    for axis in (axes.xaxis, axes.yaxis):
        _number(axis, MaxNLocator(_BINS, steps=_STEPS))


def _draw_logarithmic(axes: Axes, time: FloatArray, curves: Mapping[str, FloatArray]) -> None:
    """Magnitudes on a logarithmic axis of three decades at least; what is zero throughout is said to be."""
    magnitudes = {name: np.abs(values) for name, values in curves.items()}
    every = np.concatenate(list(magnitudes.values()))
    positive = every[np.isfinite(every) & (every > 0)]
    if positive.size == 0:
        axes.text(0.5, 0.6, "exactly zero throughout", transform=axes.transAxes, color=MUTED, ha="center")
        axes.plot(time, next(iter(magnitudes.values())), color=COLOURS[0])
        axes.set_yticks([0.0])
        return
    axes.set_yscale("log")
    for index, (name, magnitude) in enumerate(magnitudes.items()):
        # Exact zeros have no logarithm: they are gaps.
        shown, colour = np.where(magnitude > 0, magnitude, np.nan), COLOURS[index % len(COLOURS)]
        axes.plot(time, shown, color=colour, linewidth=1.1, label=_label([name]))
    # From where nearly all values are, and at least three decades, so that rounding noise does not look like drama.
    high = 3 * float(positive.max())
    low = min(float(np.quantile(positive, 0.05)) / 10, high * 1e-3)
    axes.set_ylim(max(low, high * 1e-12, np.finfo(float).tiny), high)
    axes.yaxis.set_major_locator(LogLocator(numticks=5))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")


def _label(names: Sequence[str]) -> str:
    """The names of one curve, in lines that leave room for the panel."""
    return "\n".join(textwrap.wrap(", ".join(names), _MOST_LETTERS, break_long_words=False))
