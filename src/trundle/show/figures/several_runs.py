"""`trundle.compare`: figures of several runs, a pair of axes for a value of all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import FIGURES
from trundle.errors import InputError, choose, suggest
from trundle.results import Run
from trundle.results.between import with_points
from trundle.results.columns import with_angles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.robot import Robot
    from trundle.show.figures.panels import Panel

# Of what differs a legend has room for so much.
_MOST_TOLD = 3
# The fact that tells what drives a robot.
_CONTROLLERS = "controllers"
_TERRAIN, _START = "terrain", "start "
# Curves nearer than this share of the largest value are alike.
_ALIKE = 1e-9
_OVER_TIME = tuple(name for name in FIGURES if name not in ("path", "estimate"))


def compare(*runs: Run, labels: Sequence[str] | None = None) -> Comparison:
    """Figures of several runs in the same axes: `.path()`, and `.over_time("states")`.

    Parameters
    ----------
    *runs : Run
        Two or more; they needn't have the same times, nor the same robot.
    labels : sequence of str, optional
        What they are called; by default what differs among them: parameters, starts, inputs, the method, with units.

    Returns
    -------
    Comparison
        The figures. A figure is drawn when its method is called.

    Raises
    ------
    InputError
        For what is no run, fewer than two, and labels that aren't as many, or not apart.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.pendulum(links=1))
    >>> runs = [trundle.simulate(model, 1.0, samples=11, initial={"link_1.angle": q}) for q in (0.1, 0.2)]
    >>> trundle.compare(*runs).labels
    ('link_1.angle from 0.1 rad', 'link_1.angle from 0.2 rad')
    """
    for run in runs:
        if not isinstance(run, Run):
            raise InputError(
                f"compare takes runs, not {type(run).__name__}", hint="trundle.compare(run, other)"
            )
    if len(runs) < 2:
        raise InputError(f"compare takes two runs or more, not {len(runs)}", hint="run.plot draws one")
    named = difference_labels(runs) if labels is None else tuple(labels)
    if len(named) != len(runs) or len(set(named)) < len(named):
        message = f"expected {len(runs)} different labels, got {', '.join(map(repr, named)) or 'none'}"
        raise InputError(message, key="labels")
    return Comparison(runs, named)


@dataclass(frozen=True)
class Comparison:
    """The figures of several runs in the same axes, as matplotlib Figures.

    Parameters
    ----------
    runs : tuple of Run
        Which.
    labels : tuple of str
        What legends call them.
    """

    runs: tuple[Run, ...]
    labels: tuple[str, ...]

    def path(self) -> Figure:
        """Where the robots went. A robot is drawn at the end of its path.

        Returns
        -------
        matplotlib.figure.Figure
            x and y (m), a colour a run.

        Raises
        ------
        InputError
            Where nothing moves, and where robots are seen from different sides, a car and a pendulum say.

        Examples
        --------
        >>> import trundle
        >>> runs = [trundle.Run("cart", [0.0, 1.0], {"x": [0.0, k], "y": [0.0, 1.0]}) for k in (1.0, 2.0)]
        >>> trundle.compare(*runs, labels=["short", "long"]).path().get_suptitle()
        'cart: paths'
        """
        from trundle.show.figures.path import paths

        return paths(f"{self._name}: paths", self.runs, self.labels)

    def over_time(self, what: str, *names: str) -> Figure:
        """The values that a run's figure of that name shows, a panel for a value that differs; or those of these names.

        Parameters
        ----------
        what : {"states", "inputs", "contacts", "loads", "checks"}
            Which of a run's figures.
        *names : str
            The values to draw instead, also where they are alike.

        Returns
        -------
        matplotlib.figure.Figure
            A panel for every value, in it a curve for every run that holds it.

        Raises
        ------
        InputError
            For another figure, and a name that no run holds.

        Examples
        --------
        >>> import trundle
        >>> runs = [trundle.Run("cart", [0.0, 1.0], {"x": [0.0, k]}) for k in (1.0, 2.0)]
        >>> trundle.compare(*runs, labels=["short", "long"]).over_time("states", "x").get_suptitle()
        'cart: states'
        """
        from trundle.show.figures.series import series

        if what not in _OVER_TIME:
            raise InputError(f"there is no figure {what!r}", key="what", hint=choose(what, _OVER_TIME))
        panels, alike = self._panels(what, names)
        nothing = f"{what}: the runs are alike" if alike else f"these runs have no {what}"
        verb = "doesn't" if alike == 1 else "don't"
        left = f" that differ ({alike} {verb})" if alike and panels else ""
        fixed = {label: place for place, label in enumerate(self.labels)}
        panels = [replace(panel, fixed=fixed) for panel in panels]
        return series(f"{self._name}: {what}{left}", self._time, panels, nothing)

    def save(
        self, folder: str | os.PathLike[str], suffix: str = ".png", only: Sequence[str] = ()
    ) -> list[Path]:
        """Write every figure that has something to show. A file is written whole or not at all.

        Parameters
        ----------
        folder : str or path
            Where they go; made where it isn't there.
        suffix : {".png", ".svg", ".pdf"}
            The kind of file.
        only : sequence of str
            Names of values: one figure `values` of these, instead of all.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        InputError
            For another suffix, a name that no run holds, and where a file can't be written.

        Examples
        --------
        >>> import tempfile, trundle
        >>> runs = [trundle.Run("cart", [0.0, 1.0], {"x": [0.0, k]}) for k in (1.0, 2.0)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in trundle.compare(*runs, labels="ab").save(folder, ".svg", ["x"])]
        ['values.svg']
        """
        from trundle.show.figures.style import save_figure

        figures = {"values": self.over_time("states", *only)} if only else self._figures()
        return [save_figure(drawn, Path(folder) / f"{what}{suffix}") for what, drawn in figures.items()]

    def _figures(self) -> dict[str, Figure]:
        """Every figure that has something to show."""
        from trundle.show.figures.path import track_of

        tracks = [track_of(run) for run in self.runs]
        views = {track.view for track in tracks if track is not None}
        path = {"path": self.path()} if all(tracks) and len(views) == 1 else {}
        return path | {what: self.over_time(what) for what in _OVER_TIME if self._panels(what, ())[0]}

    @property
    def _name(self) -> str:
        """The robots' names."""
        return ", ".join(dict.fromkeys(run.name for run in self.runs))

    @property
    def _time(self) -> FloatArray:
        """The times of all runs: curves stay there what they are in figures of one."""
        return reduce(np.union1d, [run.time for run in self.runs])

    def _panels(self, what: str, names: Sequence[str]) -> tuple[list[Panel], int]:
        """A panel for every value that differs or is asked for, and the number of values that don't differ."""
        from trundle.show.figures import panels

        known = {name for run in self.runs for name in run.values}
        for name in names:
            if name not in known:
                raise InputError(f"no run holds {name!r}", key="names", hint=suggest(name, known))
        shown: dict[str, Panel] = {}
        for run, label in zip(self.runs, self.labels, strict=True):
            held = [name for name in names if name in run]
            for panel in panels.over_time(run, what, held) if held or not names else ():
                for name, values in panel.curves.items():
                    drawn = with_points(run.time, values, panel.between.get(name))
                    curve = np.interp(self._time, *drawn, np.nan, np.nan)
                    title = f"{panel.title}: {name}" if panel.title and name not in run else name
                    first = shown.get(name, panels.Panel(title, panel.label, {}, panel.least, panel.log))
                    further = {label: panel.between[name]} if name in panel.between else {}
                    shown[name] = replace(
                        first, curves={**first.curves, label: curve}, between={**first.between, **further}
                    )
        differing = [
            panel
            for panel in shown.values()
            if names or len(panel.curves) < len(self.runs) or not _alike([*panel.curves.values()])
        ]
        return differing, len(shown) - len(differing)


def difference_labels(runs: Sequence[Run], names: Sequence[str] = ()) -> tuple[str, ...]:
    """A label for every run: the name of its file, if it has one, and the facts in which it differs from the others."""
    facts = [dict(_facts(run)) for run in runs]
    kinds = dict.fromkeys(kind for run_facts in facts for kind in run_facts)
    differing = [kind for kind in kinds if len({run_facts.get(kind) for run_facts in facts}) > 1]
    # theirs are parameters and states that others don't have, and they choose the method
    if _CONTROLLERS in differing:
        shared = [kind for kind in differing if all(kind in run_facts for run_facts in facts)]
        differing = [kind for kind in shared if kind != "method"]
    if any(kind.startswith(_TERRAIN) for kind in differing):  # where robots settle follows from it
        follows = (_START, f"{_TERRAIN} ") if _TERRAIN in differing else _START
        differing = [kind for kind in differing if not kind.startswith(follows)]
    differing = differing[:_MOST_TOLD]
    told = [", ".join(run_facts[kind] for kind in differing if kind in run_facts) for run_facts in facts]
    named = names if len(set(names)) == len(runs) else ()
    if not named and all(told) and len(set(told)) == len(told):
        return tuple(told)
    apart = named or [f"run {number}" for number in range(1, len(runs) + 1)]
    return tuple(f"{name}: {text}" if text else name for name, text in zip(apart, told, strict=True))


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """What a run may differ in from others, and how it is told, with units."""
    from trundle.show.drawing.ground import terrain_of
    from trundle.show.figures.panels import robot_of

    yield "robot", run.name
    terrain = terrain_of(run)
    if terrain is not None:
        yield _TERRAIN, f"on {terrain.words}"
        for name, value in terrain.numbers.items():
            yield f"terrain {name}", f"{name} = {_with_unit(value.number, value.quantity.unit)}"
    parameters = run.description.get("parameters", {})
    robot = robot_of(run) if parameters else None
    units = {} if robot is None else robot.parameter_units()
    if robot is not None:
        yield _CONTROLLERS, _controllers(robot)
    for name, value in parameters.items():
        yield f"parameter {name}", f"{name} = {_with_unit(value, units.get(name, ''))}"
    for name in (
        with_angles(run.states, run) if "method" in run.summary else ()
    ):  # what was measured begins anywhere
        yield f"{_START}{name}", f"{name} from {_with_unit(run[name][0], run.units.get(name, ''))}"
    for name in run.groups["inputs"]:
        constant = np.ptp(run[name]) == 0
        value = _with_unit(run[name][0], run.units.get(name, ""))
        yield f"input {name}", f"{name} = {value}" if constant else f"{name} varies"
    if "method" in run.summary:
        yield "method", str(run.summary["method"])
    yield "duration", f"{run.duration:g} s"
    yield "samples", f"{len(run)} samples"


def _controllers(robot: Robot) -> str:
    """A robot's controllers, those that sample with their period and delay."""
    rhythms = dict[str, list[str]]()
    for name, each in robot.controllers.items():
        rhythm = "" if each.period is None else f" every {1e3 * each.period.number:.6g} ms"
        late = f", {1e3 * each.delay.number:.6g} ms late" if each.delay.number else ""
        rhythms.setdefault(rhythm + late, []).append(name)
    told = "; ".join(f"{', '.join(names)}{rhythm}" for rhythm, names in rhythms.items())
    return f"controllers {told}" if told else "no controllers"


def _with_unit(value: float, unit: str) -> str:
    from trundle.show.figures.style import unit_text

    return f"{value:.6g} {unit_text(unit)}" if unit not in ("", "1") else f"{value:.6g}"


def _alike(curves: Sequence[FloatArray]) -> bool:
    """Whether all curves are the same but for rounding."""
    reach = _ALIKE * max(float(np.nanmax(np.abs(curve), initial=0.0)) for curve in curves)
    return all(np.allclose(curve, curves[0], rtol=0.0, atol=reach, equal_nan=True) for curve in curves[1:])
