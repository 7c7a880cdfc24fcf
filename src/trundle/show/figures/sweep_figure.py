"""The figure of a sweep: how its measures are distributed, and how they hang on what varies."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import check_type
from trundle.show.figures.style import COLOURS, INK, MUTED, house_style, new_figure
from trundle.sweeps.outcome import Sweep

# Bars of a histogram: with more, some hundred robots would leave gaps between them.
_BINS = 60
# Robots that are drawn as dots, evenly picked: with more a cloud is only blacker.
_DOTS = 4000
# Panels in a row: the distribution, then against so many names.
_ACROSS = 3
# The height of a varied name's histogram, in panels.
_MARGIN = 0.25
_SHARES = (0.05, 0.5, 0.95)


def sweep_figure(found: Sweep) -> Figure:
    """A row a measure: its histogram with median and 5 and 95 %, then dots over what varies, below its histogram.

    Parameters
    ----------
    found : Sweep
        Of which at most three varied names are drawn.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        Where no robot has a finite measure.

    Examples
    --------
    >>> import trundle
    >>> over, pendulum = {"length": "0.5:1.5:11"}, trundle.catalog.pendulum()
    >>> found = trundle.sweep(pendulum, over=over, measures=["final.link_1.angle"])
    >>> picture = trundle.sweep_figure(found)
    """
    check_type(found, Sweep, "found")
    if not any(found.moments(name).count for name in found.measures):
        raise InputError("no robot has a measure: there is nothing to draw", key="found")
    names = found.varied[:_ACROSS]
    with house_style():
        rows = len(found.measures)
        figure = new_figure(2.3 * rows + 1.3, 2.9 * (1 + len(names)))
        figure.suptitle(f"{found.work.name}: {found.count:,} robots")
        ratios = [_MARGIN] + [1.0] * rows
        panels = figure.subplots(1 + rows, 1 + len(names), squeeze=False, height_ratios=ratios)
        panels[0][0].set_axis_off()
        for axes, name, below in zip(panels[0][1:], names, panels[1][1:], strict=True):
            axes.sharex(below)
            _margin(axes, found, name)
        for row, measure in zip(panels[1:], found.measures, strict=True):
            _distribution(row[0], found, measure)
            for axes, name in zip(row[1:], names, strict=True):
                _dots(axes, found, measure, name)
    return figure


def _margin(axes: Axes, found: Sweep, name: str) -> None:
    """How what varies is distributed."""
    counts, edges = found.histogram(name, _BINS)
    axes.stairs(counts, edges, fill=True, color=MUTED, alpha=0.6)
    axes.set_yticks([])
    axes.grid(visible=False)


def _distribution(axes: Axes, found: Sweep, measure: str) -> None:
    counts, edges = found.histogram(measure, _BINS)
    axes.stairs(counts, edges, fill=True, color=COLOURS[0], alpha=0.75)
    for share, value in zip(_SHARES, found.quantiles(measure, _SHARES), strict=True):
        axes.axvline(value, color=INK if share == 0.5 else MUTED, linewidth=1.0 if share == 0.5 else 0.8)
    axes.set_xlabel(_label(found, measure))
    axes.set_ylabel("robots")
    axes.locator_params(axis="y", integer=True)  # of few robots there are no halves


def _dots(axes: Axes, found: Sweep, measure: str, name: str) -> None:
    x, y = _picked(found, name), _picked(found, measure)
    axes.plot(x, y, ".", markersize=2.0, alpha=0.5, color=COLOURS[0], rasterized=True)
    axes.set_xlabel(_label(found, name))
    axes.set_ylabel(_label(found, measure))


def _picked(found: Sweep, name: str) -> FloatArray:
    return found[name][:: max(1, -(-found.count // _DOTS))]


def _label(found: Sweep, name: str) -> str:
    unit = found.units.get(name, "")
    return f"{name} ({unit})" if unit else name
