"""The figure of a design: poles without it and with it, and how much every input's loop bears."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import FuncFormatter, NullLocator

from trundle.control.kalman import Kalman
from trundle.control.margins import Margin
from trundle.control.regulator import Regulator
from trundle.expected import check_type
from trundle.show.figures.style import COLOURS, INK, MUTED, house_style, new_figure

# Poles slower than this share of the fastest stand in the middle, where the scale is linear.
_LINEAR = 1e-4
# Gains beyond this (dB) go on to the panel's edge.
_MOST_DB = 40.0
# The half-plane, or the outside of the circle, in which what is off grows.
_GROWS = "#f6e3d8"


def pole_figure(design: Regulator | Kalman) -> Figure:
    """The poles of a loop, or of an estimate's error, beside those without it; and the margins of a loop's inputs.

    Parameters
    ----------
    design : Regulator or Kalman
        What `model.lqr` or `model.kalman` gave.

    Returns
    -------
    matplotlib.figure.Figure
        Poles in 1/s on axes that are logarithmic but about 0; of samples in the unit circle. Below, of a regulator, by
        how much every input's gain may change, the others' loops closed (dB).

    Raises
    ------
    InputError
        For what is no design.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
    >>> len(trundle.pole_figure(hold).axes)
    2
    """
    if not isinstance(design, Kalman):
        design = check_type(design, Regulator, "design", "model.lqr(…) gives one")
    margins = design.margins if isinstance(design, Regulator) else {}
    with house_style():
        below = 0.5 + 0.28 * len(margins) if margins else 0.0
        whose = "the loop" if margins else "the estimate's error"
        figure = new_figure(4.6 + below, title=f"{design.name}: poles of {whose}")
        grid = figure.add_gridspec(2 if margins else 1, 1, height_ratios=[4.6, below] if margins else None)
        axes = figure.add_subplot(grid[0])
        before = design.about.poles
        if design.period is None:
            _draw_rates(axes, before, design.poles)
        else:
            _draw_samples(axes, np.exp(before * design.period), design.poles)
        _mark(axes, before if design.period is None else np.exp(before * design.period), design.poles)
        if margins:
            _draw_margins(figure.add_subplot(grid[1]), margins)
        return figure


def _mark(axes: Axes, before: npt.NDArray[np.complex128], poles: npt.NDArray[np.complex128]) -> None:
    """Put down the poles without and with the design."""
    axes.plot(before.real, before.imag, "o", mfc="none", mec=MUTED, ms=8, label="without it", zorder=4)
    axes.plot(poles.real, poles.imag, "x", color=COLOURS[0], ms=7, mew=1.6, label="with it", zorder=5)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)


def _draw_rates(axes: Axes, before: npt.NDArray[np.complex128], poles: npt.NDArray[np.complex128]) -> None:
    """Prepare the plane of rates (1/s), both axes logarithmic on either side of 0."""
    every = np.concatenate([before, poles])
    most = np.abs(every).max() * 2
    sizes = np.abs(every)[np.abs(every) > _LINEAR * most]
    linear = 10.0 ** np.floor(np.log10(sizes.min(initial=most)))
    axes.set_xscale("symlog", linthresh=linear)
    axes.set_yscale("symlog", linthresh=linear)
    right = max(float(every.real.max()) * 2, linear / 3)
    high = max(float(np.abs(every.imag).max()) * 2, linear)
    axes.set_xlim(-most, right)
    axes.set_ylim(-high, high)
    axes.axvspan(0, right, color=_GROWS, lw=0, zorder=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
    axes.axhline(0, color=MUTED, lw=0.6)
    axes.axvline(0, color=INK, lw=0.9)
    axes.set_xlabel("decay and growth (1/s)")
    axes.set_ylabel("oscillation (rad/s)")


def _draw_samples(axes: Axes, before: npt.NDArray[np.complex128], poles: npt.NDArray[np.complex128]) -> None:
    """Prepare the plane of what is left from one sample to the next, with the unit circle."""
    most = max(1.15, 1.1 * float(np.abs(np.concatenate([before, poles])).max()))
    axes.set_facecolor(_GROWS)
    axes.add_patch(Circle((0, 0), 1.0, fc="white", ec=INK, lw=0.9, zorder=1))
    axes.set(xlim=(-most, most), ylim=(-most, most), aspect="equal")
    axes.set_xlabel("left from a sample to the next, real part")
    axes.set_ylabel("imaginary part")


def _draw_margins(axes: Axes, margins: Mapping[str, Margin]) -> None:
    """Draw a bar an input: the factors its gain bears, with the phase in words."""
    for row, each in enumerate(margins.values()):
        low, high = (
            20 * np.log10(max(factor, 1e-9)) if np.isfinite(factor) else np.inf
            for factor in (each.lowest, each.highest)
        )
        left, right = max(low, -_MOST_DB), min(high, _MOST_DB)
        axes.barh(row, right - left, left=left, height=0.55, color=COLOURS[0], alpha=0.75)
        axes.text(
            right + 0.8, row, f"{np.degrees(each.phase):.0f}° of phase", va="center", fontsize=8, color=MUTED
        )
    axes.set_yticks(range(len(margins)), list(margins))
    axes.set_xlim(-_MOST_DB, _MOST_DB + 14)
    axes.invert_yaxis()
    axes.axvline(0, color=INK, lw=0.9)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("what its gain may be multiplied by (dB), the other loops closed")
