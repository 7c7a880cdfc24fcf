"""Curves of a panel in its axes: lines that stay seen where others lie on them, limits, and round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator, NullLocator

from trundle.arrays import FloatArray
from trundle.results.between import with_points
from trundle.show.figures.looks import look, places
from trundle.show.figures.panels import Panel, ends
from trundle.show.figures.style import MUTED

# A number left of an axis has at most so many letters, where it can be (it is written shorter then).
TICK_LETTERS = 6
# An axis has at most so many intervals upward, whose lengths are these times a power of ten; fewer where it is low.
BINS, STEPS = 4, (1, 2, 5, 10)
_LOW, _LOW_BINS = 1.0, 2
# Curves nearer than this (points) cover one another: half of a line's width.
_COVERED = 0.8
# Where they do they are seen in turn, so far each (points), at so many places across or more.
_TURN, _PLACES = 6.0, 1500
# At more places across than this nothing more is seen.
_MOST_PLACES = 20_000
# What such pieces are called among the artists of axes.
_COVERING = "covering"
# Limits are within an axis where the curves keep this share of it.
_READABLE = 2 / 3


def draw_panel(axes: Axes, time: FloatArray, panel: Panel) -> None:
    """The curves of a panel with its title and label."""
    if panel.title:
        axes.set_title(panel.title)
    axes.set_ylabel(panel.label)
    if time[-1] > time[0]:
        axes.set_xlim(time[0], time[-1])
    chosen = places(panel.curves, panel.fixed, [str(line.get_color()) for line in axes.get_lines()])
    if panel.log:
        _draw_logarithmic(axes, time, panel, chosen)
        return
    for name, values in panel.curves.items():
        drawn = with_points(time, values, panel.between.get(name))
        axes.plot(*drawn, **look(chosen[name])._asdict(), label=panel.labels.get(name, name))
        if name in panel.bands:
            band = {"color": look(chosen[name]).color, "alpha": 0.2, "linewidth": 0}
            axes.fill_between(time, *panel.bands[name], **band)
    low, high = limits(panel)
    _draw_limits(axes, panel, low, high)
    axes.set_ylim(low, high)
    number(axes.yaxis, upward(axes))
    show_covered(axes)


def _draw_limits(axes: Axes, panel: Panel, low: float, high: float) -> None:
    """Lines at those of a panel's limits that are in sight."""
    for limit in panel.limits:
        if low <= limit <= high:
            axes.axhline(limit, color=MUTED, linestyle=":", linewidth=1.0, zorder=1)


def upward(axes: Axes) -> MaxNLocator:
    """The ticks of an upward axis: few where it is low."""
    tall = axes.bbox.height / axes.figure.dpi
    return MaxNLocator(_LOW_BINS if tall < _LOW else BINS, steps=STEPS)


def number(axis: Axis, ticks: MaxNLocator) -> None:
    """Ticks with whole numbers: a power of ten above the axis would stand in the title."""
    axis.set_major_locator(ticks)
    axis.set_major_formatter(_Round(axis))


class _Round(Formatter):
    """Numbers at the ticks of an axis, all with an exponent where one of them is long without."""

    def __init__(self, of: Axis) -> None:
        self._of = of

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self._text(x, self._of.get_majorticklocs())

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return [self._text(value, values) for value in values]

    def _text(self, value: float, ticks: Iterable[float]) -> str:
        low, high = sorted(self._of.get_view_interval())
        return tick_text(float(value), high - low, [tick for tick in ticks if low <= tick <= high])


def tick_text(value: float, span: float, beside: Iterable[float] = ()) -> str:
    """A number at a tick of an axis that spans so much, its neighbours' apart, and short: −2e7 for −20000000."""
    decimals = max(0, -math.floor(math.log10(span / BINS)))
    if max(len(_plain(abs(tick), decimals)) for tick in (value, *beside)) <= TICK_LETTERS or not value:
        return _plain(value, decimals)
    digits = max(0, math.floor(math.log10(abs(value))) + decimals)
    mantissa, power = f"{value:.{digits}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if digits else mantissa
    text = f"{mantissa}e{int(power)}".replace("-", "\u2212")
    return min(text, _plain(value, decimals), key=len)


def _plain(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    return ("0" if text == "-0" else text).replace("-", "\u2212")


def longest(panel: Panel) -> int:
    """How many letters the numbers left of a panel have at most."""
    if panel.log:
        return 0
    low, high = limits(panel)
    values = MaxNLocator(BINS, steps=STEPS).tick_values(low, high)
    return max(len(tick_text(value, high - low, values)) for value in values)


def curve_lines(axes: Axes) -> list[Line2D]:
    """The lines of axes that are curves with a name."""
    return [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]


def show_covered(axes: Axes) -> None:
    """Where lines cover one another, draw pieces of the lower ones over the last, so that all are seen in turn.

    The lines themselves stay whole, and as they are everywhere else.
    """
    for before in [drawn for drawn in axes.collections if drawn.get_gid() == _COVERING]:
        before.remove()
    lines = curve_lines(axes)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    curves = [(np.asarray(of, float), np.asarray(seen, float)) for of, seen in map(Line2D.get_data, lines)]
    if len(curves) < 2 or not (right > left and high > low):
        return
    known = np.concatenate([x[(x >= left) & (x <= right)] for x, _ in curves])
    if known.size > len(curves) * _MOST_PLACES:
        known = np.linspace(left, right, _MOST_PLACES)
    x = np.unique(np.concatenate([known, np.linspace(left, right, _PLACES)]))
    values = np.array([np.interp(x, of, seen) for of, seen in curves])
    point = 72 / axes.figure.dpi
    across, up = point * axes.bbox.width / (right - left), point * axes.bbox.height / (high - low)
    values = np.where(np.isfinite(values), values, np.nan)
    steps = np.nan_to_num(np.abs(np.diff(values, axis=1)).max(axis=0))
    lengths = np.hypot(across * np.diff(x), up * steps)
    turn = np.concatenate([[0.0], np.cumsum(lengths)]) // _TURN
    # Where curves are steep they are nearer than they lie apart upward.
    steep = np.concatenate([lengths, lengths[-1:]]) / (across * np.gradient(x))
    together = _together(up * values / steep)
    pieces: list[FloatArray] = []
    colours: list[str] = []
    for index, line in enumerate(lines):
        share, rank = together[index].sum(axis=0), together[index, :index].sum(axis=0)
        shown = (share > 1) & (turn % share == rank)
        ends = np.flatnonzero(np.diff(np.concatenate([[False], shown[:-1], [False]]).astype(int)))
        points = np.column_stack([x, values[index]])
        pieces += [points[first : last + 1] for first, last in ends.reshape(-1, 2)]
        colours += [str(line.get_color())] * (ends.size // 2)
    if pieces:  # in one collection: many cost as much time as the lines
        drawn = LineCollection(pieces, colors=colours, linewidths=lines[0].get_linewidth(), gid=_COVERING)
        drawn.set(capstyle="butt", zorder=lines[0].get_zorder() + 0.1)
        axes.add_collection(drawn, autolim=False)


def _together(heights: FloatArray) -> np.ndarray:
    """Where curves (n, T), in points, lie on one another, or on others between them, (n, n, T)."""
    order = np.argsort(heights, axis=0)
    with np.errstate(invalid="ignore"):
        apart = ~(np.diff(np.take_along_axis(heights, order, 0), axis=0) < _COVERED)
    cluster = np.zeros(heights.shape, int)
    np.put_along_axis(cluster, order[1:], np.cumsum(apart, axis=0), 0)
    return cluster[:, None] == cluster[None]


def span_of(curves: Mapping[str, FloatArray]) -> float:
    """The distance from the lowest value of all curves to the highest."""
    found = [end for values in curves.values() for end in ends(values)]
    return max(found, default=0.0) - min(found, default=0.0)


def limits(panel: Panel) -> tuple[float, float]:
    """The ends of a panel's axis. Values that hardly change become flat lines, not magnified rounding."""
    every = [*panel.curves.values(), *(edge for band in panel.bands.values() for edge in band)]
    every += [np.array(panel.reach), *(points[1] for points in panel.between.values())]
    all_ends = [end for values in every for end in ends(values)] or [0.0]
    low, high = _with_limits(min(all_ends), max(all_ends), panel.limits)
    size = max(abs(low), abs(high))
    least = max(panel.least, 1e-6 * size)
    half = (high - low) * 0.54
    if high - low <= least or not half:
        half = max(0.1 * size, 10 * least) or 1.0
    return (low + high) / 2 - half, (low + high) / 2 + half


def _with_limits(low: float, high: float, held: Sequence[float]) -> tuple[float, float]:
    """The range of curves from `low` to `high`, with the nearest limits that leave them readable."""
    first, last = low, high
    for limit in sorted(held, key=lambda limit: max(low - limit, limit - high)):
        wider = min(first, limit), max(last, limit)
        if high - low >= _READABLE * (wider[1] - wider[0]):
            first, last = wider
    return first, last


def _draw_logarithmic(axes: Axes, time: FloatArray, panel: Panel, chosen: Mapping[str, int]) -> None:
    """Magnitudes on a logarithmic axis of three decades at least; what is zero throughout is said to be."""
    magnitudes = {name: np.abs(values) for name, values in panel.curves.items()}
    every = np.concatenate(list(magnitudes.values()))
    positive = every[np.isfinite(every) & (every > 0)]
    if positive.size == 0:
        axes.text(0.5, 0.6, "exactly zero throughout", transform=axes.transAxes, color=MUTED, ha="center")
        axes.plot(time, next(iter(magnitudes.values())), color=look(0).color)
        axes.set_yticks([0.0])
        return
    axes.set_yscale("log")
    for name, magnitude in magnitudes.items():
        # Exact zeros have no logarithm: they are gaps.
        shown = np.where(magnitude > 0, magnitude, np.nan)
        label = panel.labels.get(name, name)
        axes.plot(time, shown, **look(chosen[name])._asdict(), linewidth=1.1, label=label)
    # From where nearly all values are, and at least three decades, so that rounding noise does not look like drama.
    high = 3 * max([float(positive.max()), *panel.limits])
    low = min(float(np.quantile(positive, 0.05)) / 10, high * 1e-3)
    axes.set_ylim(max(low, high * 1e-12, np.finfo(float).tiny), high)
    _draw_limits(axes, panel, *axes.get_ylim())
    axes.yaxis.set_major_locator(LogLocator(numticks=5))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")
