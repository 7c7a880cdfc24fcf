"""Many robots simulated side by side: the states of all of them at the saved times."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import InputError, require_known, suggest
from trundle.expected import check_str
from trundle.frozen import Frozen, Rebuilt, frozen, settle
from trundle.results.gradients import column_by, require_direction, split_columns
from trundle.results.metadata import ResultContent, StoredData, Variable, require, variable
from trundle.results.storing import reading, save
from trundle.shown import Displayable

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, repr=False, eq=False)
class Batch(Displayable, Rebuilt):
    """What a rollout gave: values[k, i, j] is state i of robot j at time[k].

    Parameters
    ----------
    name : str
        The robot's name.
    time : array_like, shape (saved,), s
        When; it never falls.
    states : sequence of str
        The names of the states.
    values : array, shape (saved, states, robots)
        Float64, in the units that `units` says; kept without a copy, read-only.
    units : mapping of str to str
        Text such as "m/s".
    parameters : mapping of str to float or array, shape (robots,)
        A number, or an array where it varies.
    description, summary : mapping
        As in `Run`.
    outputs : sequence of str
        Names that `output` knows; none in a batch from a file.
    observer : callable
        Computes one output, (saved, robots), from its name.
    gradients : mapping of str to array, shape (saved, states, robots)
        Derivatives of the states, by the name that they are taken by; their units stand in `units` as "v_x by r".
    slope : callable
        Computes the derivative of one output, (saved, robots), from its name and the name it is taken by.

    Raises
    ------
    InputError
        Where shapes, states, units or parameters don't fit each other.

    Examples
    --------
    >>> import numpy, trundle
    >>> trundle.Batch("carts", [0.0, 1.0], ["x"], numpy.zeros((2, 1, 3)))
    Batch 'carts': 3 robots, 2 saved times from 0 s to 1 s; states x
    """

    name: str
    time: FloatArray
    states: Sequence[str]
    values: FloatArray
    units: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, float | FloatArray] = field(default_factory=dict)
    description: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    observer: Callable[[str], FloatArray] | None = None
    gradients: Mapping[str, FloatArray] = field(default_factory=dict)
    slope: Callable[[str, str], FloatArray] | None = None

    def __post_init__(self) -> None:
        """Check shapes, names and units against one another, and freeze what was passed."""
        time, values, states = frozen(self.time), frozen(self.values), tuple(self.states)
        if values.ndim != 3 or values.shape[:2] != (time.size, len(states)) or time.ndim != 1:
            raise InputError(
                f"a batch's values have the shape (saved, states, robots); they have {values.shape} "
                f"with time of shape {time.shape} and {len(states)} states"
            )
        if len(set(states)) < len(states) or "time" in states:
            raise InputError("the states of a batch have different names, none of them 'time'")
        gradients = {by: frozen(array) for by, array in self.gradients.items()}
        for by, array in gradients.items():
            if array.shape != values.shape:
                raise InputError(
                    f"derivatives by {by!r} have the shape {array.shape}; the values have {values.shape}"
                )
        columns = [column_by(of, by) for by in gradients for of in states]
        require(self.units, (*states, *columns), "a unit is given for the state")
        parameters = {
            name: _parameter(name, value, values.shape[2]) for name, value in self.parameters.items()
        }
        units, parameters = Frozen(self.units), Frozen(parameters)
        settle(self, time=time, values=values, states=states, units=units, parameters=parameters)
        settle(self, gradients=Frozen(gradients))

    @property
    def count(self) -> int:
        """How many robots."""
        return self.values.shape[2]

    def __getitem__(self, name: str) -> FloatArray:
        """That state of all robots at all saved times, (saved, robots): a view, not a copy."""
        require_known(name, self.states, f"the batch has no state {name!r}")
        return self.values[:, self.states.index(name), :]

    def final(self, name: str) -> FloatArray:
        """A state of all robots at the last saved time.

        Parameters
        ----------
        name : str
            The state.

        Returns
        -------
        array, shape (robots,)
            In the state's unit.

        Raises
        ------
        InputError
            For a name that is no state.

        Examples
        --------
        >>> import numpy, trundle
        >>> trundle.Batch("carts", [0.0, 1.0], ["x"], numpy.ones((2, 1, 3))).final("x")
        array([1., 1., 1.])
        """
        return self[name][-1]

    def output(self, name: str) -> FloatArray:
        """An output of all robots at all saved times, computed from the states when asked for.

        Parameters
        ----------
        name : str
            An output of the model, or a state.

        Returns
        -------
        array, shape (saved, robots)
            In the output's unit.

        Raises
        ------
        InputError
            For names that are neither, and for a batch that was read from a file, which has states only.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> batch = trundle.rollout(model, steps=10, dt=1e-3, count=3)
        >>> batch.output("energy.kinetic").shape == (len(batch.time), 3)
        True
        """
        if check_str(name, "name") in self.states:
            return self[name]
        if self.observer is None:
            raise InputError(
                "this batch has states only, as one that was read from a file",
                hint="ask the batch that rollout gave",
            )
        if name not in self.outputs:
            raise InputError(f"the batch has no output {name!r}", hint=suggest(name, self.outputs))
        return self.observer(name)

    def gradient(self, of: str, by: str) -> FloatArray:
        """∂(of)/∂(by) of all robots at all saved times.

        Parameters
        ----------
        of : str
            A state, or an output of the model, whose derivative is computed when asked for.
        by : str
            One of the names that `rollout` was given as `gradients`.

        Returns
        -------
        array, shape (saved, robots)
            In the unit of `of` by that of `by`.

        Raises
        ------
        InputError
            The batch has no such value, or no derivatives by that name; one from a file has those of states only.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 12.0, "right_motor.voltage": 12.0}
        >>> batch = trundle.rollout(model, inputs=volts, steps=100, dt=1e-3, gradients=["r"])
        >>> batch.gradient("v_x", "r").shape
        (101, 1)
        """
        by = require_direction(by, self.gradients, "batch")
        if check_str(of, "of") in self.states:
            return self.gradients[by][:, self.states.index(of), :]
        if self.slope is None:
            raise InputError(
                "this batch has derivatives of states only, as one that was read from a file",
                hint="ask the batch that rollout gave",
            )
        if of not in self.outputs:
            hint = suggest(of, [*self.states, *self.outputs])
            raise InputError(f"the batch has no state and no output {of!r}", hint=hint)
        return self.slope(of, by)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """The batch as an xarray Dataset over (`time`, `robot`), without copying the values."""
        return self._content().dataset()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the batch, whole or not at all.

        Parameters
        ----------
        path : str or path
            It ends in .nc: NetCDF.

        Returns
        -------
        Path
            The file; folders on the way are made.

        Raises
        ------
        InputError
            For another suffix, and where the file can't be written.

        Examples
        --------
        >>> import numpy, tempfile, trundle
        >>> batch = trundle.Batch("carts", [0.0, 1.0], ["x"], numpy.ones((2, 1, 3)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     batch.save(f"{folder}/carts.nc").name
        'carts.nc'
        """
        return save(path, self._content())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Batch:
        """Read a batch that `save` wrote; nothing in the file is ever executed.

        Parameters
        ----------
        path : str or path
            A file that ends in .nc.

        Returns
        -------
        Batch
            The same batch, without outputs.

        Raises
        ------
        InputError
            Where the file is damaged, or something else than a batch.

        Examples
        --------
        >>> import numpy, tempfile, trundle
        >>> batch = trundle.Batch("carts", [0.0, 1.0], ["x"], numpy.ones((2, 1, 3)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trundle.Batch.load(batch.save(f"{folder}/carts.nc")).count
        3
        """
        with reading(path, "batch") as content:
            units, stored = content.units, content.stored
            time = content.take("time", "time")
            varied = {name: content.take(f"parameter.{name}", "robot") for name in stored.get("varied", ())}
            slopes = _slopes(content)
            states = tuple(content.variables)
            if not states:
                raise InputError("this is not a batch: it has no states")
            first = content.take(states[0], "time", "robot")
            # Filled from arrays that go one by one, so that hardly more than the batch itself is held.
            values = np.empty((len(first), len(states), first.shape[1]))
            values[:, 0] = first
            for index, name in enumerate(states[1:], 1):
                values[:, index] = content.take(name, "time", "robot")
            parameters = {**stored.get("parameters", {}), **varied}
            about = stored.get("description", {}), stored.get("summary", {})
            gradients = {by: np.stack([of[name] for name in states], axis=1) for by, of in slopes.items()}
            return Batch(content.name, time, states, values, units, parameters, *about, gradients=gradients)

    def _content(self) -> ResultContent:
        """What goes to files and Datasets: states over time and robots, parameters that vary over robots."""
        over = ("time", "robot")
        variables = {"time": variable("time", ("time",), self.time, "s")}
        variables |= {
            name: variable(name, over, self[name], self.units.get(name, "")) for name in self.states
        }
        for by, array in self.gradients.items():
            for place, of in enumerate(self.states):
                name = column_by(of, by)
                variables[name] = variable(name, over, array[:, place], self.units.get(name, ""))
        fixed = {name: value for name, value in self.parameters.items() if isinstance(value, float | int)}
        varied = {name: value for name, value in self.parameters.items() if isinstance(value, np.ndarray)}
        for name, value in varied.items():
            about = {"units": "", "long_name": f"parameter {name}"}
            variables[f"parameter.{name}"] = Variable(("robot",), value, about)
        stored: StoredData = {"description": self.description, "summary": self.summary}
        stored |= {"parameters": fixed, "varied": list(varied)}
        return ResultContent("batch", self.name, variables, stored)


def _slopes(content: ResultContent) -> dict[str, dict[str, FloatArray]]:
    """The derivatives by the name that they are taken by, and then by state; taken out of the content."""
    split = split_columns(content.variables)
    return {
        by: {of: content.take(name, "time", "robot") for of, name in names.items()}
        for by, names in split.items()
    }


def _parameter(name: str, value: npt.ArrayLike, count: int) -> float | FloatArray:
    array = frozen(value)
    if array.ndim == 0:
        return float(array)
    if array.shape != (count,):
        raise InputError(
            f"the parameter {name!r} has the shape {array.shape}; a number or ({count},) was expected"
        )
    return array
