"""The stacked figure of a breakdown: how much of a body's motion, as an observer sees it, its wrenches account for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.expected import a_kind
from trundle.show.figures.style import COLOURS, INK, house_style, new_figure
from trundle.wrenches import Breakdown, Wrench

# The columns of a wrench's six parts.
PARTS = tuple(f"{what}_{axis}" for what in ("force", "moment") for axis in "xyz")
_UNITS = {"force": "N", "moment": "N m"}
# What is less than this share of the largest of its kind is rounding, and not shown.
_ROUNDING = 1e-9
# The height of a panel, and of what stands above and below all of them (inches).
_HEIGHT, _HEAD = 1.75, 0.9
# Areas let the grid behind them through.
_SOLID = 0.75
_WORDS = {"d_alembert": "d'Alembert", "euler": "Euler", "coriolis": "Coriolis"}


def breakdown_figure(split: Breakdown, time: FloatArray) -> Figure:
    """The terms stacked over time, what pushes one way above zero and the other below, with what the observer sees as a
    line, their sum; a panel a component that is there at all.

    Parameters
    ----------
    split : Breakdown
        Such as `loads.breakdown(…)` gives, in numbers over time.
    time : array, shape (n,), s
        When.

    Returns
    -------
    matplotlib.figure.Figure
        Forces and moments about the split's point, in its axes.

    Raises
    ------
    InputError
        The split is symbolic.

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
    a_kind(split, Breakdown, "split", "loads.breakdown(…) gives one")
    time = as_numbers(time, "time")
    held = np.shape(split.seen.force)[:-1]
    if time.ndim != 1 or held not in ((), time.shape):
        message = f"the times have the shape {time.shape}, the wrenches {held}"
        raise InputError(message, key="time", hint="those of its motion: loads.time")
    seen = _rows(split.seen, time.size)
    terms = {name: _rows(wrench, time.size) for name, wrench in split.terms.items()}
    stacked = np.stack([*terms.values()])
    sizes = np.abs(np.concatenate([stacked, seen[None]])).max(axis=(0, 1))
    least = np.full(6, _ROUNDING * sizes.max())  # limbs are some metre long: N and N m compare
    shown = [k for k in range(6) if sizes[k] > least[k]] or [0]
    there = [k for k in range(len(terms)) if (np.abs(stacked[k]).max(axis=0) > least).any()]
    names = [_WORDS.get(name, name) for name in terms]
    colours = {names[k]: COLOURS[k % len(COLOURS)] for k in there}
    with house_style():
        figure = new_figure(_HEAD + _HEIGHT * len(shown))
        on, who = split.seen.on, split.observer.name
        title = f"{on} as {who} sees it from {split.origin.name}, moments about {split.seen.point.name}"
        figure.suptitle(title, x=0.01, ha="left")
        panels = np.atleast_1d(figure.subplots(len(shown), sharex=True))
        for axes, part in zip(panels, shown, strict=True):
            _stack(axes, time, stacked[there, :, part], list(colours.values()))
            axes.plot(time, seen[:, part], color=INK, linewidth=1.6)
            kind, _, axis = PARTS[part].partition("_")
            axes.set_ylabel(f"{kind} {axis} ({_UNITS[kind]})")
        panels[-1].set_xlabel("time (s)")
        panels[-1].set_xlim(time[0], time[-1])
        _name(figure, colours)
        return figure


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


def _name(figure: Figure, colours: Mapping[str, str]) -> None:
    handles: list[Artist] = [
        Patch(color=colour, alpha=_SOLID, label=name) for name, colour in colours.items()
    ]
    handles.append(Line2D([], [], color=INK, label="what is seen"))
    figure.legend(handles=handles, loc="outside right upper")
