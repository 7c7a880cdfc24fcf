"""Figures of values over time: the states, the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trundle.results import Run
from trundle.show.style import COLOURS, DASHES, house_style, new_figure, say, unit_label

# More lines than this in one panel cannot be told apart; the rest goes to a further panel.
_MOST_LINES = 8
_PANEL_HEIGHT = 1.75  # inches

_QUANTITIES = {
    "m": "position",
    "rad": "angle",
    "m/s": "speed",
    "rad/s": "angular rate",
    "A": "current",
    "V": "voltage",
    "N m": "torque",
    "N": "force",
    "W": "power",
    "J": "energy",
}


@dataclass(frozen=True)
class Panel:
    """Values that share one pair of axes, as they have one unit."""

    title: str
    unit: str
    names: tuple[str, ...]


def states(run: Run) -> Figure:
    """Coordinates, speeds and currents over time, one panel for each kind and unit."""
    groups = {group: run.groups[group] for group in ("coordinates", "speeds", "currents")}
    return _figure(run, f"{run.name}: states", panels(run, groups), "this run has no states")


def inputs(run: Run) -> Figure:
    """The inputs over time, one panel for each unit."""
    return _figure(
        run, f"{run.name}: inputs", panels(run, {"inputs": run.groups["inputs"]}), "this run has no inputs"
    )


def panels(run: Run, groups: dict[str, Sequence[str]]) -> list[Panel]:
    """The groups' names, sorted into panels by unit and kind and cut where they are too many for one.

    Kinds (`steering`, `angle`) are kept apart since a wheel's spin soon dwarfs every angle that matters for the path.
    """
    found: list[Panel] = []
    for group, names in groups.items():
        keys = list(dict.fromkeys(_kind(run, name) for name in names))
        for key in keys:
            unit = key[0]
            same = [name for name in names if _kind(run, name) == key]
            parts = -(-len(same) // _MOST_LINES)
            size = -(-len(same) // parts)
            starts = range(0, len(same), size)
            found.extend(Panel(group, unit, tuple(same[start : start + size])) for start in starts)
    return found


def _kind(run: Run, name: str) -> tuple[str, str]:
    """What a value shares its axes by: its unit, and what it is of its owner ("" for the base's own)."""
    return run.units.get(name, ""), name.rpartition(".")[2] if "." in name else ""


def draw_lines(axes: Axes, run: Run, names: Sequence[str], unit: str) -> None:
    """The values as lines, with a legend on the right."""
    for index, name in enumerate(names):
        colour, dash = COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]
        axes.plot(run.time, run[name], color=colour, linestyle=dash, label=name, clip_on=True)
    axes.set_ylabel(unit_label(_QUANTITIES.get(unit, "value"), unit))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.03), borderaxespad=0, handlelength=1.6)
    _room_for_constants(axes, run, names)
    if run.duration > 0:
        axes.set_xlim(run.time[0], run.time[-1])


def _room_for_constants(axes: Axes, run: Run, names: Sequence[str]) -> None:
    """Values that hardly change are shown as flat lines, not as magnified rounding."""
    finite = np.concatenate([run[name][np.isfinite(run[name])] for name in names])
    if finite.size == 0:
        return
    low, high = float(finite.min()), float(finite.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-6 * size or size < 1e-12:
        middle, half = (low + high) / 2, 0.1 * size if size >= 1e-12 else 1.0
        axes.set_ylim(middle - half, middle + half)


def _figure(run: Run, title: str, shown: list[Panel], nothing: str) -> Figure:
    with house_style():
        # A panel is at least as high as its legend.
        heights = [max(_PANEL_HEIGHT, 0.2 * len(panel.names) + 0.35) for panel in shown] or [_PANEL_HEIGHT]
        figure = new_figure(sum(heights) + 0.9)
        figure.suptitle(title, x=0.01, ha="left")
        grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        if not shown:
            say(grid[0], nothing)
            return figure
        title = ""
        for axes, panel in zip(grid, shown, strict=True):
            draw_lines(axes, run, panel.names, panel.unit)
            if panel.title != title:  # once above all the panels of a group
                title = panel.title
                axes.set_title(title)
        grid[-1].set_xlabel("time (s)")
        figure.align_ylabels(list(grid))
    return figure
