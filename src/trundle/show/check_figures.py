"""The figure that says how far a run's numbers can be trusted: constraint residual and energy balance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trundle.results import Run
from trundle.show.style import COLOURS, MUTED, house_style, new_figure, say, unit_label

# The values these panels draw, by the names under which a run holds them.
RESIDUALS = {
    "constraint_residual": "constraint residual",
    "loop_residual": "loop residual",
    "slip_residual": "slip residual",
}
IMBALANCE = "energy.imbalance"
ENERGIES = {
    "energy.work": "work put in",
    "energy.losses": "losses",
    "energy.stored": "stored",
    "energy.kinetic": "kinetic",
    "energy.potential": "potential",
    "energy.internal": "in springs and coils",
}


def checks(run: Run) -> Figure:
    """Constraint residual over time on a logarithmic scale; work, losses and stored energy, and what is left over.

    What a run does not hold (a robot without constraints, say) has no panel.
    """
    shown: list[Callable[[Axes, Run], None]] = [
        partial(_residual, name=name) for name in RESIDUALS if name in run
    ]
    shown += [_energies] if any(name in run for name in ENERGIES) else []
    shown += [_imbalance] if IMBALANCE in run else []
    with house_style():
        figure = new_figure(1.9 * max(len(shown), 1) + 0.9)
        figure.suptitle(f"{run.name}: checks", x=0.01, ha="left")
        panels = figure.subplots(max(len(shown), 1), 1, sharex=True, squeeze=False)[:, 0]
        if not shown:
            say(panels[0], "this run has neither a constraint residual nor an energy balance")
            return figure
        for axes, draw in zip(panels, shown, strict=True):
            draw(axes, run)
        panels[-1].set_xlabel("time (s)")
        if run.duration > 0:
            panels[-1].set_xlim(run.time[0], run.time[-1])
        figure.align_ylabels(list(panels))
    return figure


def _residual(axes: Axes, run: Run, name: str) -> None:
    unit = run.units.get(name, "m/s")
    axes.set_title(f"{RESIDUALS[name]}: at most {_largest(run[name]):.1e} {unit}")
    _logarithmic(axes, run, name)
    axes.set_ylabel(unit_label("residual", unit))


def _energies(axes: Axes, run: Run) -> None:
    axes.set_title("energy")
    # The potential energy of a robot on level ground, say, is zero throughout and would only hide the axis.
    shown = [name for name in ENERGIES if name in run and np.any(run[name] != 0)]
    if not shown:
        shown = [name for name in ENERGIES if name in run]
    for index, name in enumerate(shown):
        axes.plot(run.time, run[name], color=COLOURS[index], label=ENERGIES[name])
    axes.set_ylabel(unit_label("energy", run.units.get(shown[0], "J")))
    axes.margins(y=0.1)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.03), borderaxespad=0, handlelength=1.6)


def _imbalance(axes: Axes, run: Run) -> None:
    largest = _largest(run[IMBALANCE])
    turned_over = run.summary.get("energy_turned_over", 0.0)
    share = f", {largest / turned_over:.2g} of the energy turned over" if turned_over > 0 else ""
    unit = run.units.get(IMBALANCE, "J")
    axes.set_title(f"energy balance: out by at most {largest:.2g} {unit}{share}")
    _logarithmic(axes, run, IMBALANCE)
    axes.set_ylabel(unit_label("|imbalance|", unit))


def _logarithmic(axes: Axes, run: Run, name: str) -> None:
    magnitude = np.abs(run[name])
    positive = magnitude[np.isfinite(magnitude) & (magnitude > 0)]
    if positive.size == 0:
        axes.text(0.5, 0.6, "exactly zero throughout", transform=axes.transAxes, color=MUTED, ha="center")
        axes.plot(run.time, magnitude, color=COLOURS[0])
        return
    axes.set_yscale("log")
    # Exact zeros have no logarithm: they are gaps.
    axes.plot(run.time, np.where(magnitude > 0, magnitude, np.nan), color=COLOURS[0], linewidth=1.1)
    # From where nearly all values are, and at least three decades, so that rounding noise does not look like drama.
    high = 3 * float(positive.max())
    low = min(float(np.quantile(positive, 0.05)) / 10, high * 1e-3)
    axes.set_ylim(max(low, high * 1e-12, np.finfo(float).tiny), high)


def _largest(array: np.ndarray) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else float("nan")
