"""Figures of a walk as journals print them: joints by planes, means over cycles with bands, sides in two colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import check_float, check_type
from trundle.limbs.gait import Gait
from trundle.robot.anatomy import PLANES, Movement, movement
from trundle.show.figures.curves import STEPS, tick_text
from trundle.show.figures.legends import shortened, width_of
from trundle.show.figures.style import COLOURS, INK, MUTED, Picture, house_style, unit_text

# Widths of one column of a journal and of two (mm), as Elsevier's journals, among them J. Biomech. and Gait & Posture,
# ask for 90 and 190 at most.
ONE_COLUMN, TWO_COLUMNS = 85.0, 170.0
_MM = 1 / 25.4
# Figures narrower than that have no room for panels, wider than that (a sheet A0) no page.
_LEAST, _MOST = 50.0, 1200.0
# Pixels an inch of pictures that are printed.
_DPI = 300
# Letters in print are 6 to 8 points.
_LETTERS, _SMALL = 7.0, 6.5
# In mm: a panel's height, what stands left, right and below of panels, between them, above them, and on top of all.
_HEIGHT, _LEFT, _RIGHT, _BELOW, _GAP, _ABOVE, _HEAD = 22.0, 12.0, 3.5, 8.5, 9.0, 6.0, 5.0
# From a line of the legend to the next one (mm).
_LINE = 3.6
# Right, left, and the middle: two colours that everybody tells apart (Okabe & Ito), two dashes for prints in grey.
_SideLook = tuple[str, Literal["-"] | tuple[float, tuple[float, ...]]]
# Words of the legend, their look, and whether their line is upright.
_Entry = tuple[str, _SideLook, bool]
_LOOKS: dict[str, _SideLook] = {
    "right": (COLOURS[0], "-"),
    "left": (COLOURS[1], (0, (4, 1.2))),
    "": (INK, "-"),
}
# Where an axis of a cycle has ticks: every fifth of it (%).
_PERCENT = (0, 20, 40, 60, 80, 100)
# How opaque a band is, so that two of them show where they overlap; and what it is called.
_BAND, _BANDS = 0.22, "mean \u00b1 SD"
# How the edges of what a mean may be off by are drawn, and what they are called.
_EDGE, _EDGES = (0.0, (1.0, 1.0)), "95 % band of the mean"
# An event's tick is so high, of the panel, and the first side's so wide (points).
_TICK, _OFF = 0.1, 1.8
_KINDS = ("angle", "moment", "power")
# Joints that are shown in the row of another.
_ROWS = {"subtalar": "ankle"}


@dataclass(frozen=True)
class _Panel:
    """A panel: its title, a shorter one for little room, what is upward, and the names of curves by side."""

    title: str
    short: str
    upward: str
    curves: Mapping[str, str]


def gait_figures(gait: Gait, width: float | None = None) -> dict[str, Figure]:
    """The figures of a walk: joint by plane, the mean of the cycles and the band of one standard deviation about it.

    Parameters
    ----------
    gait : Gait
        What `InverseDynamicsResult.gait` gave.
    width : float, mm, optional
        How wide figures are: by default 170 for two columns of a page, 85 where a figure has one panel a row.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        `gait_sagittal`: angles, moments and powers of hip, knee and ankle in the sagittal plane; `gait_angles`,
        `gait_moments`, `gait_powers`: joints by planes. In degrees, over 0 to 100 % of the cycle; a tick at the mean
        time at which the foot leaves the ground. What nothing is known of is left out. Dotted lines are the gait's
        bands, where it was made with some.

    Raises
    ------
    InputError
        A width that no page has.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0, 4, 401)
    >>> recording = trundle.Recording(
    ...     t, {}, {"link_1.angle": np.sin(2 * np.pi * t)}, events={"Left Foot Strike": (0.5, 1.5, 2.5)}
    ... )
    >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), recording)
    >>> list(trundle.gait_figures(arm.gait(movements={"link_1": "left hip flexion"})))
    ['gait_sagittal', 'gait_angles']
    """
    check_type(gait, Gait, "gait", "trundle.inverse(…).gait() gives one")
    if width is not None and not _LEAST <= check_float(width, "width", unit="mm") <= _MOST:
        raise InputError(f"a figure is {_LEAST:g} to {_MOST:g} mm wide, not {width:g} mm", key="width")
    found = [(name, each) for name in gait.run.values if (each := _movement(name)) is not None]
    sets = {"gait_sagittal": _sagittal(gait, [each for _, each in found])}
    sets |= {f"gait_{kind}s": _by_plane(gait, [each for _, each in found], kind) for kind in _KINDS}
    return {name: _drawn(gait, rows, width) for name, rows in sets.items() if rows}


def _movement(name: str) -> Movement | None:
    """The movement whose angle a column is."""
    label, _, what = name.rpartition(".")
    return movement(label.replace("_", " ")) if what == "angle" else None


def _sagittal(gait: Gait, found: Sequence[Movement]) -> list[list[_Panel | None]]:
    """Angle, moment and power upward, joints across."""
    own = [each for each in found if each.plane == "sagittal"]
    joints = [joint for joint in ("hip", "knee", "ankle") if any(each.joint == joint for each in own)]
    rows = [
        [_panel(gait, [each for each in own if each.joint == joint], kind) for joint in joints]
        for kind in _KINDS
    ]
    return [row for row in rows if any(row)]


def _by_plane(gait: Gait, found: Sequence[Movement], kind: str) -> list[list[_Panel | None]]:
    """Joints downward, planes across."""
    joints = list(dict.fromkeys(_ROWS.get(each.joint, each.joint) for each in found))
    planes = [plane for plane in PLANES if any(each.plane == plane for each in found)]

    def cell(joint: str, plane: str) -> _Panel | None:
        own = [each for each in found if each.plane == plane and _ROWS.get(each.joint, each.joint) == joint]
        first = own[0].joint if own else ""
        return _panel(gait, [each for each in own if each.joint == first], kind)

    rows = [[cell(joint, plane) for plane in planes] for joint in joints]
    return [row for row in rows if any(row)]


def _panel(gait: Gait, found: Sequence[Movement], kind: str) -> _Panel | None:
    """A movement's curves of both sides; None where there are none."""
    curves = {each.side: f"{each.label}.{kind}" for each in found if f"{each.label}.{kind}" in gait.curves}
    if not curves:
        return None
    one = found[0]
    ways = ("generation", "absorption") if kind == "power" else (one.positive, one.negative)
    where = f"{one.joint}, {one.plane}" if kind == "power" else one.joint
    short = where if kind == "power" else f"{one.joint} {one.positive}"
    unit = "°" if kind == "angle" else gait.run.units.get(next(iter(curves.values())), "")
    return _Panel(f"{where}: {_ways(*ways)}", short, f"{kind} ({unit_text(unit)})", curves)


def _ways(positive: str, negative: str) -> str:
    """Both ways in a few words: "internal +, external − rotation"."""
    first, _, last = positive.rpartition(" ")
    if first and negative.endswith(f" {last}"):
        return f"{first} +, {negative.removesuffix(f' {last}')} \u2212 {last}"
    return f"{positive} +, {negative} \u2212"


def _drawn(gait: Gait, rows: Sequence[Sequence[_Panel | None]], width: float | None) -> Figure:
    """The panels in a grid, placed in mm."""
    count = max(map(len, rows))
    wide = width or (ONE_COLUMN if count == 1 else TWO_COLUMNS)
    legend = _legend(gait, [panel for row in rows for panel in row if panel], wide)
    head = _HEAD + (len(legend) - 1) * _LINE
    tall = head + len(rows) * (_ABOVE + _HEIGHT) + (len(rows) - 1) * 3.0 + _BELOW
    across = (wide - _LEFT - _RIGHT - (count - 1) * _GAP) / count
    with house_style():
        figure = Picture(figsize=(wide * _MM, tall * _MM), dpi=_DPI)
        _name(figure, legend, wide, tall)
        for place, row in enumerate(rows):
            bottom = tall - head - (place + 1) * (_ABOVE + _HEIGHT) - place * 3.0
            for k, panel in enumerate(row):
                if panel is None:
                    continue
                box = (_LEFT + k * (across + _GAP), bottom, across, _HEIGHT)
                left, low, right, up = (part / size for part, size in zip(box, (wide, tall) * 2, strict=True))
                axes = figure.add_axes((left, low, right, up))
                _draw(axes, gait, panel, across)
                last = not any(below[k] for below in rows[place + 1 :] if k < len(below))
                _name_axes(axes, panel, across, first=k == 0 or row[k - 1] is None, last=last)
        return figure


def _draw(axes: Axes, gait: Gait, panel: _Panel, across: float) -> None:
    """The curves of a panel with their bands, and ticks where feet leave the ground.

    Artists are made and added as they are: axes' own methods look at limits that stand already, for as long again.
    """
    colours = [_LOOKS[side][0] for side in panel.curves]
    bands: list[FloatArray] = []
    lines: list[Line2D] = []
    low, high = np.inf, -np.inf
    for (side, name), colour in zip(panel.curves.items(), colours, strict=True):
        mean, half = _in_degrees(gait, name)
        there = np.concatenate([gait.percent, gait.percent[::-1]])
        bands.append(np.stack([there, np.concatenate([mean - half, (mean + half)[::-1]])], axis=1))
        lines.append(Line2D(gait.percent, mean, color=colour, linestyle=_LOOKS[side][1], linewidth=1.0))
        low, high = min(low, (mean - half).min()), max(high, (mean + half).max())
        for edge in gait.band(name) if name in gait.bands else ():
            lines.append(Line2D(gait.percent, edge, color=colour, linestyle=_EDGE, linewidth=0.5))
            low, high = min(low, edge.min()), max(high, edge.max())
    for artist in (PolyCollection(bands, facecolors=colours, alpha=_BAND, linewidths=0), *lines):
        axes.add_artist(artist)
    axes.set_xlim(0, 100)
    room = 0.06 * (high - low) or 1.0
    axes.set_ylim(low - room, high + room)
    _draw_offs(axes, gait, panel)
    room = (across + _RIGHT - 0.5) * _MM
    title = panel.title if width_of(panel.title, _LETTERS) <= room else panel.short
    axes.set_title(shortened(title, room * 8.5 / _LETTERS), fontsize=_LETTERS, fontweight="normal", pad=2.5)


def _draw_offs(axes: Axes, gait: Gait, panel: _Panel) -> None:
    """Ticks below and on top where feet leave the ground, the later ones thinner: both are seen at the same time."""
    offs = {side: gait.off(side) for side in panel.curves if side in gait.spans}
    offs = {side: off for side, off in offs.items() if np.isfinite(off)}
    ends = [[(off, low), (off, low + _TICK)] for off in offs.values() for low in (0.0, 1 - _TICK)]
    widths = [_OFF / (1 + k) for k in range(len(offs)) for _ in range(2)]
    look = {"colors": [_LOOKS[side][0] for side in offs for _ in range(2)], "linewidths": widths}
    if offs:
        axes.add_artist(LineCollection(ends, transform=axes.get_xaxis_transform(), zorder=2, **look))


def _in_degrees(gait: Gait, name: str) -> tuple[FloatArray, FloatArray]:
    """The mean of a curve and half of its band."""
    factor = np.degrees(1.0) if gait.run.units.get(name) == "rad" else 1.0
    return factor * gait.mean(name), factor * gait.deviation(name)


def _name_axes(axes: Axes, panel: _Panel, across: float, first: bool, last: bool) -> None:
    """A grid and its numbers, and what they are where no neighbour says it.

    They are drawn here, as matplotlib's own ticks would take half of a figure's time; the axes are there for who asks.
    """
    axes.set_xlabel("gait cycle (%)")
    axes.set_ylabel(panel.upward)
    low, high = axes.get_ylim()
    ticks = [tick for tick in MaxNLocator(4, steps=STEPS).tick_values(low, high) if low <= tick <= high]
    # The line at 0 comes last, over the grid's.
    colours, widths = [*[rcParams["grid.color"]] * len(ticks), MUTED], [*[0.4] * len(ticks), 0.5]
    level = {"colors": colours, "linewidths": widths, "transform": axes.get_yaxis_transform()}
    axes.add_artist(LineCollection([[(0, y), (1, y)] for y in (*ticks, 0.0)], zorder=0.5, **level))
    upright = {"colors": colours[0], "linewidths": 0.4, "transform": axes.get_xaxis_transform()}
    axes.add_artist(LineCollection([[(x, 0), (x, 1)] for x in _PERCENT], zorder=0.4, **upright))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_visible(False)
    for spine in axes.spines.values():
        spine.set_linewidth(0.5)
    for tick in ticks:
        place = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center", "fontsize": _SMALL}
        axes.text(-1.0 / across, tick, tick_text(float(tick), high - low, ticks), **place)
    if first:
        place = {"transform": axes.transAxes, "ha": "center", "va": "center", "fontsize": _LETTERS}
        axes.text(-(_LEFT - 2.0) / across, 0.5, panel.upward, rotation=90, **place)
    for percent in _PERCENT if last else ():
        place = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "top", "fontsize": _SMALL}
        axes.text(percent, -1.0 / _HEIGHT, f"{percent}", **place)
    if last:
        place = {"transform": axes.transAxes, "ha": "center", "va": "top", "fontsize": _LETTERS}
        axes.text(0.5, -4.2 / _HEIGHT, "gait cycle (%)", **place)


def _legend(gait: Gait, panels: Sequence[_Panel], wide: float) -> list[list[tuple[_Entry, float]]]:
    """The legend's entries in lines that are no wider than the figure, and where they begin (mm)."""
    start = _LEFT if wide > ONE_COLUMN else _RIGHT
    lines: list[list[tuple[_Entry, float]]] = [[]]
    x = start
    for entry in _entries(gait, panels):
        text, _, upright = entry
        needed = (0.0 if text == _BANDS else 2.0 if upright else 7.0) + width_of(text, _LETTERS) / _MM
        if lines[-1] and x + needed > wide - 0.5:
            lines.append([])
            x = start
        lines[-1].append((entry, x))
        x += needed + 2.5
    return lines


def _name(figure: Figure, legend: Sequence[Sequence[tuple[_Entry, float]]], wide: float, tall: float) -> None:
    """A legend on top: the sides, of how many cycles, what ticks are, and what bands."""
    for line, entries in enumerate(legend):
        y = tall - _HEAD + 1.2 - line * _LINE
        for (text, (colour, dashes), upright), x in entries:
            shift = 0.0
            if text != _BANDS:
                across, up = ((1.0, 1.0), (-0.4, 2.0)) if upright else ((0.0, 6.0), (0.8, 0.8))
                ends = [(x + part) / wide for part in across], [(y + part) / tall for part in up]
                figure.add_artist(Line2D(*ends, color=colour, linestyle=dashes, linewidth=1.0))
                shift = 2.0 if upright else 7.0
            figure.text((x + shift) / wide, y / tall, text, fontsize=_LETTERS, va="baseline")


def _entries(gait: Gait, panels: Sequence[_Panel]) -> Iterator[_Entry]:
    """What the legend tells."""
    named: dict[str, int] = {}
    for panel in panels:
        for side, name in panel.curves.items():
            named.setdefault(side, len(gait.curves[name]))
    for side in (side for side in _LOOKS if side in named):
        words = side or ("trunk" if len(named) > 1 else "leg")
        yield f"{words} (n = {named[side]})", _LOOKS[side], False
    if any(np.isfinite(gait.off(side)) for side in gait.spans):
        yield "toe off", (INK, "-"), True
    if any(name in gait.bands for panel in panels for name in panel.curves.values()):
        yield _EDGES, (INK, _EDGE), False
    yield _BANDS, (INK, "-"), False
