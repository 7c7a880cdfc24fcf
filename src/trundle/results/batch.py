"""Many robots simulated side by side: the states of all of them at the saved times."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trundle.errors import InputError, suggest
from trundle.files import replacing
from trundle.results.arrays import FloatArray, frozen, load_structured
from trundle.shown import Shown

if TYPE_CHECKING:
    import xarray

# NumPy counts the bytes of one record in 32 bits.
_MOST_RECORD_BYTES = 2**31 - 1


@dataclass(frozen=True, repr=False, eq=False)
class Batch(Shown):
    """What a rollout gave: values[k, i, j] is state i of robot j at time[k].

    name: the robot's name.
    time: (saved,) in s, never falling.
    states: the names of the states.
    values: (saved, states, robots), float64; kept without a copy, read-only.
    units: name -> text such as "m/s".
    parameters: name -> number, or (robots,) array where it varies.
    description, summary: as in Run.
    outputs, observer: names that `output` knows, and what computes one, (saved, robots); none in a batch from a file.
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

    def __post_init__(self) -> None:
        time, values, states = frozen(self.time), frozen(self.values), tuple(self.states)
        if values.ndim != 3 or values.shape[:2] != (time.size, len(states)) or time.ndim != 1:
            raise InputError(
                f"a batch's values have the shape (saved, states, robots); they have {values.shape} "
                f"with time of shape {time.shape} and {len(states)} states"
            )
        if len(set(states)) < len(states) or "time" in states:
            raise InputError("the states of a batch have different names, none of them 'time'")
        for name in self.units:
            if name not in states:
                raise InputError(
                    f"a unit is given for {name!r}, which is no state", hint=suggest(name, states)
                )
        parameters = {
            name: _parameter(name, value, values.shape[2]) for name, value in self.parameters.items()
        }
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))
        object.__setattr__(self, "parameters", MappingProxyType(parameters))

    @property
    def count(self) -> int:
        """How many robots."""
        return self.values.shape[2]

    def __getitem__(self, name: str) -> FloatArray:
        """That state of all robots at all saved times, (saved, robots): a view, not a copy."""
        if name not in self.states:
            raise InputError(f"the batch has no state {name!r}", hint=suggest(name, self.states))
        return self.values[:, self.states.index(name), :]

    def final(self, name: str) -> FloatArray:
        """That state of all robots at the last saved time, (robots,)."""
        return self[name][-1]

    def output(self, name: str) -> FloatArray:
        """An output of all robots at all saved times, (saved, robots), computed from the states when asked for."""
        if name in self.states:
            return self[name]
        if self.observer is None:
            raise InputError(
                "this batch has states only, as one that was read from a file",
                hint="ask the batch that rollout gave",
            )
        if name not in self.outputs:
            raise InputError(f"the batch has no output {name!r}", hint=suggest(name, self.outputs))
        return self.observer(name)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """The batch as an xarray Dataset over (`time`, `robot`), without copying the values."""
        from trundle.results.dataset import batch_dataset

        return batch_dataset(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the batch, whole or not at all: .nc (NetCDF: everything) or .npy (times and states only).

        The .npy file is a structured array (saved,) with the field `time` and, for each state, a field (robots,).
        """
        path = Path(path)
        match path.suffix.lower():
            case ".nc":
                from trundle.results.netcdf import write_batch

                write_batch(path, self)
            case ".npy":
                _write_npy(path, self)
            case _:
                raise InputError(f"{str(path)!r}: a batch's file ends in .nc or .npy")
        return path

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Batch:
        """Read a batch that `save` wrote; InputError where the file is damaged or something else. Runs no code."""
        path = Path(path)
        try:
            match path.suffix.lower():
                case ".nc":
                    from trundle.results.netcdf import read_batch

                    return Batch(**read_batch(path))
                case ".npy":
                    return _read_npy(path)
                case _:
                    raise InputError("a batch's file ends in .nc or .npy")
        except InputError as error:
            raise error.at(file=str(path)) from error.__cause__


def _parameter(name: str, value: npt.ArrayLike, count: int) -> float | FloatArray:
    array = frozen(value)
    if array.ndim == 0:
        return float(array)
    if array.shape != (count,):
        raise InputError(
            f"the parameter {name!r} has the shape {array.shape}; a number or ({count},) was expected"
        )
    return array


def _write_npy(path: Path, batch: Batch) -> None:
    """Row by row, so that nothing of the batch is held twice."""
    fields = [("time", "<f8"), *((name, "<f8", (batch.count,)) for name in batch.states)]
    row_bytes = 8 * (1 + len(batch.states) * batch.count)
    if row_bytes > _MOST_RECORD_BYTES:
        raise InputError(f"{batch.count} robots are too many for one .npy record", hint="save as .nc")
    header = {"descr": fields, "fortran_order": False, "shape": (batch.time.size,)}
    with replacing(path) as draft, draft.open("wb") as file:
        np.lib.format.write_array_header_2_0(file, header)
        for time, row in zip(batch.time, batch.values, strict=True):
            file.write(np.float64(time).astype("<f8").tobytes())
            file.write(np.ascontiguousarray(row, dtype="<f8").data)


def _read_npy(path: Path) -> Batch:
    table = load_structured(path)
    states = tuple(name for name in table.dtype.names or () if name != "time")
    shapes = {table.dtype[name].shape for name in states}
    if len(shapes) != 1 or len(min(shapes)) != 1 or table.ndim != 1:
        raise InputError("this array is not a batch: every state has one number for each robot")
    values = np.empty((table.size, len(states), *min(shapes)))
    for index, name in enumerate(states):
        values[:, index] = table[name]
    return Batch(name=path.stem, time=np.ascontiguousarray(table["time"]), states=states, values=values)
