"""`run.plot`: the figures of one run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.choices import FIGURES
from trundle.errors import InputError
from trundle.files import path_of
from trundle.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from trundle.show.figures.field import FieldLike

# What a figure says that has nothing to show.
_NOTHING = {
    "states": "this run has no states",
    "inputs": "this run has no inputs",
    "contacts": "this run's wheels have neither slip nor forces",
    "loads": "this run has no loads of a measured motion",
    "estimate": "this run's robot has no estimator",
    "checks": "this run has neither a constraint residual nor an energy balance",
}


def plot(run: Run) -> Plots:
    """The figures of a run, as `run.plot`: `.path()`, `.states()`, `.inputs()`, `.contacts()`, `.loads()`,
    `.estimate()`, `.checks()`.

    Parameters
    ----------
    run : Run
        What `trundle.run`, `simulate` or `roll` gave.

    Returns
    -------
    Plots
        The figures. A figure is drawn when its method is called.

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
    """The figures of a run, as matplotlib Figures that a notebook shows and `savefig` writes.

    Parameters
    ----------
    run : Run
        Whose figures.
    """

    run: Run

    def path(
        self,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        field: FieldLike | None = None,
    ) -> Figure:
        """Where the robot went, with the robot drawn at intervals: from above, or in space; of a linkage its tip.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        figsize : tuple of two floats, inches, optional
            The figure's size.
        field : tuple (file, width, height), optional
            A picture that lies under the path, such as that of a competition's field, and how large what it shows is
            (m, or text with a unit). Its lower left corner is the world's origin.

        Returns
        -------
        matplotlib.figure.Figure
            x and y (m), coloured by time.

        Raises
        ------
        InputError
            Where the run's description can't be read, the run lacks one of its coordinates, or there is no such
            picture.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.path().get_suptitle()
        'pendulum: motion'
        """
        from trundle.show.figures.path import path

        return path(self.run, ax, figsize, field)

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
        from trundle.show.figures.path import track_of
        from trundle.show.figures.style import figure_png

        return None if track_of(self.run) is None else figure_png(self.path())

    def states(
        self, *names: str, ax: Axes | Sequence[Axes] | None = None, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """Coordinates, speeds with the base's own, currents and batteries over time.

        Parameters
        ----------
        *names : str
            The values to draw instead, any of the run's; a panel for every unit and kind.
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw: all panels in one, or as many as there are panels.
        figsize : tuple of two floats, inches, optional
            The figure's size.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for a group, unit and kind, with at most eight lines; lines that coincide are one.

        Raises
        ------
        InputError
            For a name that the run doesn't hold, and for as many axes as there are no panels.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.states("link_1.angle", "link_1.rate").axes[1].get_ylabel()
        'angular rate (rad/s)'
        """
        return self._over_time("states", names, ax, figsize)

    def inputs(
        self, *names: str, ax: Axes | Sequence[Axes] | None = None, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """What drove the robot over time.

        Parameters
        ----------
        *names : str
            The values to draw instead, any of the run's; a panel for every unit and kind.
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw: all panels in one, or as many as there are panels.
        figsize : tuple of two floats, inches, optional
            The figure's size.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for every unit.

        Raises
        ------
        InputError
            For a name that the run doesn't hold, and for as many axes as there are no panels.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.inputs().get_suptitle()
        'pendulum: inputs'
        """
        return self._over_time("inputs", names, ax, figsize)

    def contacts(
        self, *names: str, ax: Axes | Sequence[Axes] | None = None, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """Slip, forces and loads of the wheels, and how much of the friction they use, |F| / (μ N).

        Parameters
        ----------
        *names : str
            The values to draw instead, any of the run's; a panel for every unit and kind.
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw: all panels in one, or as many as there are panels.
        figsize : tuple of two floats, inches, optional
            The figure's size.

        Returns
        -------
        matplotlib.figure.Figure
            A row for every wheel; in it panels of slip, force and the use of friction, whose axes all rows share.

        Raises
        ------
        InputError
            For a name that the run doesn't hold, and for as many axes as there are no panels.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.skid_steer()), 1.0, samples=11)
        >>> len(run.plot.contacts().axes)
        12
        """
        from trundle.show.figures.panels import contact_legend, contacts
        from trundle.show.figures.small_multiples import small_multiples

        panels = contacts(self.run) if not names and ax is None else []
        if not panels:
            return self._over_time("contacts", names, ax, figsize)
        legend = contact_legend(self.run)
        return small_multiples(f"{self.run.name}: contacts", self.run.time, panels, legend, figsize)

    def loads(
        self, *names: str, ax: Axes | Sequence[Axes] | None = None, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """Net moments and powers of joints, of a run of `trundle.inverse` or `joint_loads(…).to_run()`.

        Parameters
        ----------
        *names : str
            The values to draw instead, any of the run's; a panel for every unit and kind.
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw: all panels in one, or as many as there are panels.
        figsize : tuple of two floats, inches, optional
            The figure's size.

        Returns
        -------
        matplotlib.figure.Figure
            Panels for what the run holds of these.

        Raises
        ------
        InputError
            For a name that the run doesn't hold, and for as many axes as there are no panels.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> swing = {"time": np.linspace(0, 1, 11), "link_1.angle": np.linspace(0, 1, 11) ** 2}
        >>> run = trundle.joint_loads(trundle.catalog.pendulum(links=1), swing).to_run()
        >>> [axes.get_ylabel() for axes in run.plot.loads().axes]
        ['torque (N m)', 'power (W)']
        """
        return self._over_time("loads", names, ax, figsize)

    def estimate(self) -> Figure:
        """Where the robot was, and where its estimator said that it is, with 95 % ellipses and the error in its bands.

        Returns
        -------
        matplotlib.figure.Figure
            As `trundle.estimate_figure` draws it; a few words for a run without an estimator.

        Raises
        ------
        InputError
            Where the run's description can't be read.

        Examples
        --------
        >>> import trundle
        >>> parts = {"where": {"type": "estimator"}}
        >>> robot = trundle.catalog.differential_drive().with_sensors({"encoders": {"noise": 0.02}})
        >>> run = trundle.simulate(trundle.derive(robot, controllers=parts), 1.0, seed=1)
        >>> len(run.plot.estimate().axes)
        4
        """
        from trundle.show.figures.estimate_figure import estimate_figure, holds_estimate
        from trundle.show.figures.series import series

        if holds_estimate(self.run):
            return estimate_figure(self.run)
        return series(f"{self.run.name}: estimate", self.run.time, [], _NOTHING["estimate"])

    def checks(
        self, *names: str, ax: Axes | Sequence[Axes] | None = None, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """How far the numbers can be trusted: residuals and the energy balance, against what they are held to, in doubt
        with a sentence why.

        Parameters
        ----------
        *names : str
            The values to draw instead, any of the run's; a panel for every unit and kind.
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw: all panels in one, or as many as there are panels.
        figsize : tuple of two floats, inches, optional
            The figure's size.

        Returns
        -------
        matplotlib.figure.Figure
            Panels for what the run holds of these.

        Raises
        ------
        InputError
            For a name that the run doesn't hold, and for as many axes as there are no panels.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
        >>> run.plot.checks().get_suptitle()
        'pendulum: checks'
        """
        return self._over_time("checks", names, ax, figsize)

    def _over_time(
        self,
        what: str,
        names: Sequence[str],
        ax: Axes | Sequence[Axes] | None,
        figsize: tuple[float, float] | None,
    ) -> Figure:
        """The panels of `what`, one below the other."""
        from trundle.show.figures.panels import from_afar, over_time
        from trundle.show.figures.series import series
        from trundle.show.verdicts import doubts

        panels = over_time(self.run, what, names)
        panels = panels if names or ax is not None else [from_afar(panel) for panel in panels]
        title, remarks = f"{self.run.name}: {what}", doubts(self.run) if what == "checks" else ()
        return series(title, self.run.time, panels, _NOTHING[what], ax=ax, figsize=figsize, remarks=remarks)

    def save(self, folder: str | os.PathLike[str], suffix: str = ".png") -> list[Path]:
        """Write every figure that has something to show. A file is written whole or not at all.

        Parameters
        ----------
        folder : str or path
            Where path, states, inputs, contacts (of wheels that can slip), loads, estimate (of robots with an
            estimator) and checks go; made where it is none.
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
        ['path.svg']
        """
        from trundle.show.figures import panels
        from trundle.show.figures.estimate_figure import holds_estimate
        from trundle.show.figures.path import track_of
        from trundle.show.figures.style import save_figure

        where = path_of(folder, "plot.save")
        empty = {what: not show(self.run) for what, show in panels.OVER_TIME.items()}
        empty |= {"path": track_of(self.run) is None, "contacts": not panels.slips(self.run)}
        empty |= {"estimate": not holds_estimate(self.run)}
        shown = [name for name in FIGURES if not empty[name]]
        return [save_figure(getattr(self, name)(), where / f"{name}{suffix}") for name in shown]
