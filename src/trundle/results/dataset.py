"""Runs and batches as xarray Datasets: the same variables and attributes as in their NetCDF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray

from trundle.results.metadata import attributes, variable_attributes

if TYPE_CHECKING:
    from trundle.results.batch import Batch
    from trundle.results.run import Run


def run_dataset(run: Run) -> xarray.Dataset:
    """One variable for each name over `time`; the arrays are the run's own, read-only."""
    roles = {name: group for group, names in run.groups.items() for name in names}
    variables = {
        name: ("time", array, variable_attributes(name, run.units.get(name, ""), roles.get(name, "")))
        for name, array in run.values.items()
    }
    time = ("time", run.time, {"units": run.units.get("time", "s"), "long_name": "time"})
    attrs = attributes("run", run.name, run.description, summary=run.summary, groups=run.groups)
    return xarray.Dataset(variables, coords={"time": time}, attrs=attrs)


def batch_dataset(batch: Batch) -> xarray.Dataset:
    """One variable for each state over (`time`, `robot`), and one over `robot` for each parameter that varies."""
    variables: dict[str, object] = {
        name: (("time", "robot"), batch[name], variable_attributes(name, batch.units.get(name, "")))
        for name in batch.states
    }
    varied = {name: value for name, value in batch.parameters.items() if np.ndim(value) == 1}
    fixed = {name: value for name, value in batch.parameters.items() if np.ndim(value) == 0}
    for name, value in varied.items():
        variables[f"parameter.{name}"] = ("robot", value, {"units": "", "long_name": f"parameter {name}"})
    time = ("time", batch.time, {"units": "s", "long_name": "time"})
    more = {"summary": batch.summary, "parameters": fixed, "varied": list(varied)}
    attrs = attributes("batch", batch.name, batch.description, **more)  # type: ignore[arg-type]
    return xarray.Dataset(variables, coords={"time": time}, attrs=attrs)
