"""The stacked figure of a breakdown: how much of a body's motion, as an observer sees it, its wrenches account for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, counted, require_known
from trundle.expected import check_type
from trundle.limbs.capture.cycles import time_normalize as cut_at
from trundle.results import Run
from trundle.show.figures.legends import shortened
from trundle.show.figures.style import INK, house_style, new_figure
from trundle.wrenches import Breakdown, Wrench

# The columns of a wrench's six parts.
PARTS = tuple(f"{what}_{axis}" for what in ("force", "moment") for axis in "xyz")
_UNITS = {"force": "N", "moment": "N m"}
# What is less than this share of the largest of its kind is rounding, and not shown.
_ROUNDING = 1e-9
# The height of a panel, and of what stands above and below all of them (inches).
_HEIGHT, _HEAD = 1.75, 0.9
# A title's lines end before the legend begins (inches).
_TITLE = 5.8
# Areas let the grid behind them through.
_SOLID = 0.75
# What the line is called among the terms; no part has such a name.
_LINE = ""
# A colour for every term that a breakdown may have (Okabe & Ito 2008, and their yellow, which areas can bear).
# Reactions of joints that hang on the body are greys.
_COLOURS = {
    "gravity": "#009E73",
    "joint": "#0072B2",
    "passive": "#56B4E9",
    "external": "#E69F00",
    "loops": "#7a4fa3",
    "d_alembert": "#CC79A7",
    "euler": "#F0E442",
    "centrifugal": "#D55E00",
    "coriolis": "#8c1d40",
}
_JOINTS = ("#bdbdbd", "#8c8c8c", "#636363", "#404040")
_WORDS = {"d_alembert": "d'Alembert", "euler": "Euler", "coriolis": "Coriolis"}


def breakdown_figure(
    split: Breakdown,
    time: FloatArray,
    *,
    terms: Sequence[str] | None = None,
    cycles: npt.ArrayLike | None = None,
) -> Figure:
    """The terms stacked over time, what pushes one way above zero and the other below, with what the observer sees as a
    line, their sum; a panel a component that is there at all.

    Parameters
    ----------
    split : Breakdown
        Such as `loads.breakdown(…)` gives, in numbers over time.
    time : array, shape (n,), s
        When.
    terms : sequence of str, optional
        Which terms to show, so that small ones are seen beside large ones; the line is then their sum.
    cycles : array_like, shape (k, 2), s, optional
        Starts and ends of cycles: what is shown is the mean over these, from 0 to 100 %.

    Returns
    -------
    matplotlib.figure.Figure
        Forces and moments about the split's point, in its axes. A term has its colour in every figure.

    Raises
    ------
    InputError
        The split is symbolic; there is no such term; a cycle is outside of the times.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0.0, 1.0, 11)
    >>> loads = trundle.joint_loads(trundle.catalog.pendulum(links=1), {"time": t, "link_1.angle": 2 * t})
    >>> arm = loads.frames["link_1"]
    >>> split = loads.breakdown("link_1", observer=arm, origin=arm.origin)
    >>> trundle.breakdown_figure(split, loads.time).axes[0].get_ylabel()
    'force x (N)'
    """
    check_type(split, Breakdown, "split", "loads.breakdown(…) gives one")
    time = as_numbers(time, "time")
    held = np.shape(split.seen.force)[:-1]
    if time.ndim != 1 or held not in ((), time.shape):
        message = f"the times have the shape {time.shape}, the wrenches {held}"
        raise InputError(message, key="time", hint="those of its motion: loads.time")
    for name in terms or ():
        require_known(name, split.terms, f"the breakdown has no term {name!r}", key="terms")
    shown = {name: _rows(split.terms[name], time.size) for name in terms or split.terms}
    line = _rows(split.seen, time.size) if terms is None else np.sum([*shown.values()], axis=0)
    rows = {_LINE: line, **shown}
    across, told = time, ""
    if cycles is not None:
        rows, across, count = _means(rows, time, cycles)
        told = f", mean of {counted(count, 'cycle')}"
    title = (
        f"{split.seen.on} as {split.observer.name} sees it from {split.origin.name}",
        f"moments about the {split.seen.point.name}{told}".replace("the the ", "the "),
    )
    below = "time (s)" if cycles is None else "cycle (%)"
    return _drawn(title, rows, across, below, "what is seen" if terms is None else "their sum")


def _drawn(
    title: Sequence[str], rows: Mapping[str, FloatArray], across: FloatArray, below: str, summed: str
) -> Figure:
    """The figure of terms (n, 6) and the line beside them."""
    stacked = np.stack([values for name, values in rows.items() if name != _LINE])
    names = [name for name in rows if name != _LINE]
    sizes = np.abs(np.stack([*rows.values()])).max(axis=(0, 1))
    least = np.full(6, _ROUNDING * sizes.max())  # limbs are some metre long: N and N m compare
    shown = [k for k in range(6) if sizes[k] > least[k]] or [0]
    there = [k for k in range(len(names)) if (np.abs(stacked[k]).max(axis=0) > least).any()]
    looks = _looks(names)
    colours = {_WORDS.get(names[k], names[k]): looks[names[k]] for k in there}
    with house_style():
        figure = new_figure(_HEAD + _HEIGHT * len(shown))
        lines = "\n".join(shortened(line, _TITLE) for line in title)
        figure.suptitle(lines, x=0.01, ha="left", fontsize=8.5, linespacing=1.5)
        panels = np.atleast_1d(figure.subplots(len(shown), sharex=True))
        for axes, part in zip(panels, shown, strict=True):
            _stack(axes, across, stacked[there, :, part], list(colours.values()))
            axes.plot(across, rows[_LINE][:, part], color=INK, linewidth=1.6)
            kind, _, axis = PARTS[part].partition("_")
            axes.set_ylabel(f"{kind} {axis} ({_UNITS[kind]})")
        panels[-1].set_xlabel(below)
        panels[-1].set_xlim(across[0], across[-1])
        _name(figure, colours, summed)
        return figure


def _looks(names: Iterable[str]) -> dict[str, str]:
    """The colours of terms: those that every breakdown may have have their own; joints that hang on the body the rest,
    from light to dark.
    """
    others = [name for name in names if name not in _COLOURS]
    return _COLOURS | {name: _JOINTS[k % len(_JOINTS)] for k, name in enumerate(others)}


def _means(
    rows: Mapping[str, FloatArray], time: FloatArray, cycles: npt.ArrayLike
) -> tuple[dict[str, FloatArray], FloatArray, int]:
    """Means (101, 6) over cycles, their percent, and how many cycles there are."""
    columns = {f"{name} {k}": values[:, k] for name, values in rows.items() for k in range(6)}
    cut = cut_at(Run("terms", time, columns), cycles)
    means = {name: np.stack([cut.mean(f"{name} {k}") for k in range(6)], axis=1) for name in rows}
    return means, cut.percent, len(cut)


def _rows(wrench: Wrench, count: int) -> FloatArray:
    """A wrench's six numbers over time, (n, 6)."""
    if not all(isinstance(part, np.ndarray) for part in (wrench.force, wrench.moment)):
        raise InputError("a split in symbols has no figure", hint="loads.breakdown(…) gives one in numbers")
    return np.hstack([np.broadcast_to(part, (count, 3)) for part in (wrench.force, wrench.moment)])


def _stack(axes: Axes, time: FloatArray, values: FloatArray, colours: Sequence[str]) -> None:
    """Areas from zero up and from zero down. An area begins where the one before it ends."""
    for part in (np.maximum(values, 0.0), np.minimum(values, 0.0)):
        if part.any():
            axes.stackplot(time, part, colors=colours, alpha=_SOLID, linewidth=0)
    axes.axhline(0.0, color=INK, linewidth=0.8)


def _name(figure: Figure, colours: Mapping[str, str], summed: str) -> None:
    handles: list[Artist] = [
        Patch(color=colour, alpha=_SOLID, label=name) for name, colour in colours.items()
    ]
    handles.append(Line2D([], [], color=INK, label=summed))
    figure.legend(handles=handles, loc="outside right upper")
