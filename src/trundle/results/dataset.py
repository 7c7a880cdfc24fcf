"""Runs and batches as xarray Datasets: the same variables and attributes as in their NetCDF files."""

from __future__ import annotations

import xarray

from trundle.results.metadata import Content


def dataset(content: Content) -> xarray.Dataset:
    """The content with `time` as its coordinate; the arrays are the run's own, read-only."""
    variables = dict(content.variables)
    coords = {"time": tuple(variables.pop("time"))}
    return xarray.Dataset(variables, coords=coords, attrs=content.attributes)
