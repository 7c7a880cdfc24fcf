"""One simulated run: labelled numbers over time, with units and the description they came from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.expected import by_name, check_str
from trundle.frozen import Frozen, Rebuilt, frozen, settle
from trundle.results.between import Between
from trundle.results.columns import Column, column_named
from trundle.results.gradients import column_by, require_direction, split_columns
from trundle.results.metadata import ResultContent, StoredData, require, variable
from trundle.results.peaks import Peak, Peaks
from trundle.results.storing import reading, save
from trundle.shown import Displayable

if TYPE_CHECKING:
    import pandas
    import xarray

    from trundle.show.figures.field import FieldLike
    from trundle.show.figures.plots import Plots

GROUPS = ("coordinates", "speeds", "currents", "inputs", "outputs")
STATES = GROUPS[:3]
BASE_SPEEDS = ("v_x", "v_y", "v_z", "omega", "omega_x", "omega_y", "omega_z")

# What a run adds to its model's outputs: no program has it.
ACCOUNT = ("energy.stored", "energy.work", "energy.losses", "energy.imbalance")

_T = TypeVar("_T")


class Named(Frozen[_T]):
    """Values by name, asked for by another name with an InputError that says the nearest."""

    def __missing__(self, name: str) -> _T:
        raise InputError(f"the run has no value {name!r} here", hint=suggest(str(name), self))


@dataclass(frozen=True, repr=False, eq=False)
class Run(Displayable, Rebuilt):
    """What a simulation gave: arrays over time by name.

    Parameters
    ----------
    name : str
        The robot's name.
    time : array_like, shape (T,), s
        When; it never falls.
    values : mapping of str to array_like, shape (T,)
        By name, in the unit that `units` says (SI and radians). Read-only in the run.
    units : mapping of str to str
        Text such as "m/s"; a name without an entry has the unit "".
    description : mapping
        What the run came from, as plain data that JSON can hold; figures are drawn by "yaml" (the description file's
        text) and "parameters" (name -> number).
    summary : mapping
        Findings such as the mobility, operation counts and seconds, as plain data that JSON can hold.
    groups : mapping of str to sequence of str
        Which names are "coordinates", "speeds", "currents" (together the states), "inputs", "outputs".
    columns : mapping of str to Column
        What the values are: whose, and of what kind. Of names without an entry, their own grammar says it.
    peaks : mapping of str to Peak
        The lowest and highest value of the whole motion, and when (s): `run.peaks["x"].highest`. Simulations know them
        between samples, too; of names without an entry they are the samples' own, and are marked as `sampled`.
    between : mapping of str to array_like, shape (2, k)
        Times (s) and values between the samples, where straight lines from one to the next miss the motion by over a
        thousandth of the value's range: at most 256 of a value, as simulations know them. Figures show them.
    gradients : mapping of str to array, shape (T, states)
        Derivatives of the states in their order, by the name that they are taken by; their units stand in `units` as
        "v_x by r".
    slope : callable
        Computes the derivative of one output, (T,), from its name and the name it is taken by.

    Raises
    ------
    InputError
        Where a shape is wrong, time falls, or a group, a unit or a column names what is not there.

    Examples
    --------
    >>> import trundle
    >>> run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 2.0]}, units={"x": "m"})
    >>> run["x"]
    array([0., 2.])
    >>> run
    Run 'cart': 2 samples from 0 s to 1 s, 1 value; ends at x = 2 m
    """

    name: str
    time: FloatArray
    values: Mapping[str, FloatArray]
    units: Mapping[str, str] = field(default_factory=dict)
    description: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    peaks: Mapping[str, Peak] = field(default_factory=dict)
    between: Mapping[str, FloatArray] = field(default_factory=dict)
    gradients: Mapping[str, FloatArray] = field(default_factory=dict)
    slope: Callable[[str, str], FloatArray] | None = None

    def __post_init__(self) -> None:
        """Check time, values, units, groups and columns against one another, and freeze them."""
        time = frozen(self.time)
        if time.ndim != 1 or time.size == 0:
            raise InputError(f"a run's time is one row of at least one number, not of shape {time.shape}")
        if not np.all(np.diff(time) >= 0):
            raise InputError("a run's time never falls and holds no NaN; this one does")
        for mapping in ("values", "units", "groups", "columns", "peaks", "between", "gradients"):
            by_name(getattr(self, mapping), mapping)
        values = {name: frozen(array) for name, array in self.values.items()}
        gradients = {by: frozen(array) for by, array in self.gradients.items()}
        _check_gradients(gradients, time, _states(self.groups))
        derivatives = [column_by(of, by) for by in gradients for of in _states(self.groups)]
        own = {name: unit for name, unit in self.units.items() if name not in derivatives}
        _check_names(values, time, own, self.groups)
        require(self.columns, values, "a column is described for the value")
        groups = {group: tuple(self.groups.get(group, ())) for group in GROUPS}
        about = {"units": Frozen(self.units), "groups": Frozen(groups), "columns": Frozen(self.columns)}
        about |= {"peaks": Peaks(self.peaks, time, values), "between": Between(self.between, time, values)}
        settle(self, time=time, values=Named(values), gradients=Frozen(gradients), **about)

    def __getitem__(self, name: str) -> FloatArray:
        """The (T,) array of that name; "time" is one, too. InputError with the nearest name where there is none."""
        if check_str(name, "run[…]", "its values have names: 'x', say") == "time":
            return self.time
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self.values

    def __len__(self) -> int:
        return self.time.size

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states: coordinates, speeds, currents."""
        return _states(self.groups)

    @property
    def base_speeds(self) -> tuple[str, ...]:
        """The speeds of a moving base in its own frame, also where they are no states but follow from them."""
        known = (*self.groups["speeds"], *self.groups["outputs"])
        return tuple(name for name in BASE_SPEEDS if name in known)

    def column(self, name: str) -> Column:
        """What a value is: whose, and of what kind.

        Parameters
        ----------
        name : str
            Of one of the values, or "time".

        Returns
        -------
        Column
            As who made the run said it; else as its name says.

        Raises
        ------
        InputError
            The run has no such value.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.Run("cart", [0.0, 1.0], {"left.rate": [0.0, 2.0]})
        >>> run.column("left.rate").owner
        'left'
        """
        require([name], ("time", *self.values), "the run is asked for its column")
        return self.columns.get(name) or column_named(name)

    @cached_property
    def parts(self) -> Mapping[str, Mapping[str, str]]:
        """Owner -> which of its numbers -> the value's name: `run.parts["left"]["rate"]` is "left.rate"."""
        owners: dict[str, dict[str, str]] = {}
        for name in self.values:
            column = self.column(name)
            owners.setdefault(column.owner, {})[column.what] = name
        return Frozen({owner: Frozen(names) for owner, names in owners.items()})

    @property
    def final(self) -> Mapping[str, float]:
        """State name -> its value at the end; without groups, of all values."""
        names = self.states or self.values
        return Named({name: float(self.values[name][-1]) for name in names})

    @property
    def duration(self) -> float:
        """From the first time to the last, in s."""
        return float(self.time[-1] - self.time[0])

    def gradient(self, of: str, by: str) -> FloatArray:
        """∂(of)/∂(by) along the run.

        Parameters
        ----------
        of : str
            A state, or an output of the model, whose derivative is computed when asked for.
        by : str
            One of the names that `simulate` was given as `gradients`.

        Returns
        -------
        array, shape (T,)
            In the unit of `of` by that of `by`.

        Raises
        ------
        InputError
            The run has no such value, or no derivatives by that name; one from a file has those of states only.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 12.0, "right_motor.voltage": 12.0}
        >>> run = trundle.simulate(model, 1.0, volts, gradients=["r"])
        >>> run.gradient("v_x", "r").shape == run.time.shape
        True
        """
        by = require_direction(by, self.gradients, "run")
        if check_str(of, "of") in self.states:
            return self.gradients[by][:, self.states.index(of)]
        outputs = [name for name in self.groups["outputs"] if name not in ACCOUNT]
        if of not in outputs:
            hint = suggest(of, [*self.states, *outputs])
            raise InputError(f"the run has no derivatives of {of!r}", key=of, hint=hint)
        if self.slope is None:
            hint = "ask the run that simulate gave"
            raise InputError("this run has derivatives of states only, as one from a file", key=of, hint=hint)
        return self.slope(of, by)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """The run as an xarray Dataset: a variable per name over `time`, units and description in attrs."""
        return self._content().dataset()

    def to_dataframe(self) -> pandas.DataFrame:
        """The run as a pandas DataFrame: a column a value by its name, over the index `time` (s).

        Returns
        -------
        pandas.DataFrame
            A copy, in SI units and radians; `attrs["units"]` has the unit of every column.

        Raises
        ------
        ImportError
            pandas, which comes with xarray, isn't there.

        Examples
        --------
        >>> import trundle
        >>> run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 2.0]}, units={"x": "m"})
        >>> run.to_dataframe().x.iloc[-1]
        np.float64(2.0)
        """
        import pandas

        index = pandas.Index(self.time, name="time")
        frame = pandas.DataFrame(dict(self.values), index=index, copy=True)
        frame.attrs = {"name": self.name, "units": {name: self.units.get(name, "") for name in self.values}}
        return frame

    @property
    def plot(self) -> Plots:
        """Figures of this run: `run.plot.path()`, `.states()`, `.inputs()`, `.contacts()`, `.loads()`, `.checks()`."""
        from trundle import plot

        return plot(self)

    def animate(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fps: float = 30.0,
        speed: float = 1.0,
        width: int = 600,
        field: FieldLike | None = None,
    ) -> Path | Displayable:
        """Write the run as it moved: as a page that a browser opens, or as a film; without a path in a notebook.

        Parameters
        ----------
        path : str or path
            A file that ends in .html (a page with everything in it), .gif or .mp4, or a folder for single pictures.
            None: the page stands in the notebook, and a still picture where that isn't trusted.
        fps, speed, width : float, float, int
            Of films, as in `trundle.animate`.
        field : tuple (file, width, height), optional
            A picture under a page's view from above, as in `run.plot.path`.

        Returns
        -------
        Path or InlinePage
            The file or the folder; what a notebook shows.

        Raises
        ------
        InputError
            As in `trundle.animate`.

        Examples
        --------
        >>> import tempfile, trundle
        >>> model = trundle.derive(trundle.catalog.pendulum())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run = trundle.simulate(model, 0.1, samples=11)
        ...     run.animate(f"{folder}/swing.html").name
        'swing.html'
        """
        from trundle import animate

        return animate(self, path, fps=fps, speed=speed, width=width, field=field)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run, whole or not at all.

        Parameters
        ----------
        path : str or path
            The suffix says how: .nc (NetCDF: everything, exactly) or .csv (a header of names, numbers that read back
            exactly, and nothing else). Other tables are pandas': `run.to_dataframe().to_excel(path)`.

        Returns
        -------
        Path
            The file; folders on the way are made.

        Raises
        ------
        InputError
            For another suffix, for names that NetCDF can't hold, and where the file can't be written.

        Examples
        --------
        >>> import tempfile, trundle
        >>> run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 2.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.save(f"{folder}/cart.csv").read_text()
        'time,x\\n0.0,0.0\\n1.0,2.0\\n'
        """
        return save(path, self._content())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Run:
        """Read a run that `save` wrote; nothing in the file is ever executed.

        Parameters
        ----------
        path : str or path
            A file that ends in .nc or .csv. In .csv an empty cell is NaN, as pandas writes it.

        Returns
        -------
        Run
            The same run; from .csv without units, groups and description.

        Raises
        ------
        InputError
            Where the file is damaged, or something else than a run.

        Examples
        --------
        >>> import tempfile, trundle
        >>> run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 2.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trundle.Run.load(run.save(f"{folder}/cart.nc")).final["x"]
        2.0
        """
        with reading(path, "run") as content:
            units, stored, columns, peaks = content.units, content.stored, content.columns, content.peaks
            between = content.between
            groups = {group: names for group, names in stored.get("groups", {}).items() if names}
            states = _states(groups)
            slopes = split_columns(content.variables, states) if states else {}
            gradients = {
                by: np.stack([content.take(of[name], "time") for name in states], axis=1)
                for by, of in slopes.items()
            }
            names = dict.fromkeys(("time", *content.variables))  # a file without its time is told so
            values = {name: content.take(name, "time") for name in names}
            about = stored.get("description", {}), stored.get("summary", {})
            return Run(
                content.name, values.pop("time"), values, units, *about, groups, columns, peaks, between,
                gradients,
            )  # fmt: skip

    def _content(self) -> ResultContent:
        """What goes to files and Datasets."""
        roles = {name: group for group, names in self.groups.items() for name in names}
        units = {"time": "s", **self.units}
        variables = {
            name: variable(
                name,
                ("time",),
                array,
                units.get(name, ""),
                role=roles.get(name, ""),
                column=self.columns.get(name),
                peak=self.peaks.get(name),
                between=self.between.get(name),
            )
            for name, array in {"time": self.time, **self.values}.items()
        }
        for by, array in self.gradients.items():
            for of, row in zip(self.states, array.T, strict=True):
                name = column_by(of, by)
                variables[name] = variable(name, ("time",), row, self.units.get(name, ""))
        stored: StoredData = {"description": self.description, "summary": self.summary, "groups": self.groups}
        return ResultContent("run", self.name, variables, stored)


def _states(groups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The names of the states."""
    return tuple(name for group in STATES for name in groups.get(group, ()))


def _check_gradients(gradients: Mapping[str, FloatArray], time: FloatArray, states: Sequence[str]) -> None:
    """Refuse derivatives that don't fit the time and the states."""
    for by, array in gradients.items():
        if array.shape != (time.size, len(states)):
            raise InputError(
                f"derivatives by {by!r} have the shape {array.shape}; {time.size} times and {len(states)} states were "
                "expected"
            )


def _check_names(
    values: Mapping[str, FloatArray],
    time: FloatArray,
    units: Mapping[str, str],
    groups: Mapping[str, Sequence[str]],
) -> None:
    """Refuse a value named "time", arrays that don't fit the time, and names without a unit or a group."""
    if "time" in values:
        raise InputError("'time' is the run's time and cannot be the name of a value")
    for name, array in values.items():
        if array.shape != time.shape:
            raise InputError(f"{name!r} has the shape {array.shape}; the run's time has {time.shape}")
    require(units, ("time", *values), "a unit is given for the value")
    require(groups, GROUPS, "values are in the group")
    for group, names in groups.items():
        require(names, values, f"the group {group!r} names the value")
