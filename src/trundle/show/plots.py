"""`run.plot`: the figures of one run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.results import Run


def plot(run: Run) -> Plots:
    """The figures of a run: `plot(run).path()`, `.states()`, `.inputs()`, `.checks()`; `run.plot` is the same.

    Parameters
    ----------
    run : Run
        What `trundle.run`, `simulate` or `roll` gave.

    Returns
    -------
    Plots
        The figures, each drawn when its method is called.

    Examples
    --------
    >>> import trundle
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0)
    >>> run.plot.states().savefig("states.svg")  # doctest: +SKIP
    """
    return Plots(run)


FIGURES = ("path", "states", "inputs", "checks")


@dataclass(frozen=True)
class Plots:
    """The figures of `run`, each a matplotlib Figure."""

    run: Run

    def path(self) -> Figure:
        """Where the robot went, with the robot drawn at intervals."""
        from trundle.show.path import path

        return path(self.run)

    def path_png(self) -> bytes | None:
        """The same as a PNG file's bytes, for a notebook; None where nothing moves in the plane."""
        from trundle.show.path import moves_in_plane
        from trundle.show.style import figure_png

        return figure_png(self.path()) if moves_in_plane(self.run) else None

    def states(self) -> Figure:
        """Coordinates, speeds and currents over time."""
        from trundle.show.series import states

        return states(self.run)

    def inputs(self) -> Figure:
        """What drove the robot over time."""
        from trundle.show.series import inputs

        return inputs(self.run)

    def checks(self) -> Figure:
        """How far the numbers can be trusted: constraint residual and energy balance."""
        from trundle.show.check_figures import checks

        return checks(self.run)

    def save(self, folder: str | os.PathLike[str], suffix: str = ".png") -> list[Path]:
        """Write every figure into `folder` as path.png, states.png, inputs.png, checks.png; return the paths."""
        from trundle.show.style import save_figure

        return [save_figure(getattr(self, name)(), Path(folder) / f"{name}{suffix}") for name in FIGURES]
