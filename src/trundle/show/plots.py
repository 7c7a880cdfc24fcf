"""`run.plot`: the figures of one run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.choices import FIGURES
from trundle.errors import InputError
from trundle.results import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    Raises
    ------
    InputError
        For what is no run.

    Examples
    --------
    >>> import trundle
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
    >>> trundle.plot(run).inputs().get_suptitle()
    'pendulum: inputs'
    """
    if not isinstance(run, Run):
        raise InputError(f"plot takes a run, not {type(run).__name__}", hint="run = trundle.run(path)")
    return Plots(run)


@dataclass(frozen=True)
class Plots:
    """The figures of a run, each a matplotlib Figure that a notebook shows and `savefig` writes.

    Parameters
    ----------
    run : Run
        Whose figures.
    """

    run: Run

    def path(self) -> Figure:
        """Where the robot went from above, with the robot drawn at intervals; of a linkage the bars and the tip.

        Returns
        -------
        matplotlib.figure.Figure
            x and y (m), coloured by time.

        Raises
        ------
        InputError
            Where the run's description can't be read, or the run lacks one of its coordinates.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.path().get_suptitle()
        'pendulum: motion'
        """
        from trundle.show.path import path

        return path(self.run)

    def path_png(self) -> bytes | None:
        """The figure `path` as a PNG file, for a notebook.

        Returns
        -------
        bytes or None
            The file's bytes; None where nothing moves in the plane.

        Raises
        ------
        InputError
            As `path` does.

        Examples
        --------
        >>> import trundle
        >>> trundle.Run("still", [0.0, 1.0], {"a": [0.0, 1.0]}).plot.path_png() is None
        True
        """
        from trundle.show.path import track_of
        from trundle.show.style import figure_png

        return None if track_of(self.run) is None else figure_png(self.path())

    def states(self) -> Figure:
        """Coordinates, speeds and currents over time.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for each group, unit and kind; at most eight lines a panel.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.states().get_suptitle()
        'pendulum: states'
        """
        from trundle.show.series import states

        return states(self.run)

    def inputs(self) -> Figure:
        """What drove the robot over time.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for each unit.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.inputs().get_suptitle()
        'pendulum: inputs'
        """
        from trundle.show.series import inputs

        return inputs(self.run)

    def checks(self) -> Figure:
        """How far the numbers can be trusted: constraint residuals and the energy balance.

        Returns
        -------
        matplotlib.figure.Figure
            Panels for what the run holds of these.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.checks().get_suptitle()
        'pendulum: checks'
        """
        from trundle.show.check_figures import checks

        return checks(self.run)

    def save(self, folder: str | os.PathLike[str], suffix: str = ".png") -> list[Path]:
        """Write every figure, each file whole or not at all.

        Parameters
        ----------
        folder : str or path
            Where path, states, inputs and checks go; made where it isn't there.
        suffix : {".png", ".svg", ".pdf"}
            The kind of file.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        InputError
            For another suffix, where a file can't be written, and as `path` does.

        Examples
        --------
        >>> import tempfile, trundle
        >>> run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 2.0], "y": [0.0, 0.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in run.plot.save(folder, ".svg")]
        ['path.svg', 'states.svg', 'inputs.svg', 'checks.svg']
        """
        from trundle.show.style import save_figure

        return [save_figure(getattr(self, name)(), Path(folder) / f"{name}{suffix}") for name in FIGURES]
