"""`Bands`: net joint moments with what they may be off by, over time and by source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, choose, require_known
from trundle.frozen import Brief, Frozen, Rebuilt, settle
from trundle.model.arguments import number

# How many standard deviations 95 % of a normal distribution lie within.
SPREAD = 1.959963984540054
# The source whose deviations at one time have nothing to do with those at another.
INDEPENDENT = "markers"


@dataclass(frozen=True, eq=False, repr=False)
class Bands(Brief, Rebuilt):
    """Net joint moments with their standard deviations over time, by what these come from.

    `found.uncertainty(…)` of what `trundle.inverse` gave makes them.

    Parameters
    ----------
    time : array, shape (n,), s
        The motion's times.
    values : mapping of str to array, shape (n,), N m or N
        Net moments along the joints' freedoms, as a run calls them: "knee.net".
    sources : mapping of str to mapping of str to array, shape (n,)
        By source, "markers", "segments" or "smoothing", the standard deviations by those names. The last is what a
        smoothing that tells it may have taken away, as GCV splines do.
    units : mapping of str to str
        Of the values.
    record : mapping
        What was assumed, as plain data: `noise` (m) and where it is from, `segments` with their deviations.
    """

    time: FloatArray
    values: Mapping[str, FloatArray]
    sources: Mapping[str, Mapping[str, FloatArray]]
    units: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sources = Frozen({source: Frozen(deviations) for source, deviations in self.sources.items()})
        settle(
            self,
            values=Frozen(self.values),
            units=Frozen(self.units),
            record=Frozen(self.record),
            sources=sources,
        )

    @property
    def summary(self) -> dict[str, Any]:
        """What was assumed, and of every moment the `widest` half of its band (N m), as plain data."""
        widest = {name: float((self.band(name)[1] - self.values[name]).max()) for name in self.values}
        return {**self.record, "widest": widest}

    def deviation(self, name: str, source: str | None = None) -> FloatArray:
        """The standard deviation of a moment over time, of one source or of all: these are independent.

        Parameters
        ----------
        name : str
            Such as "knee.net".
        source : "markers", "segments" or "smoothing", optional
            By default all that there are.

        Returns
        -------
        numpy.ndarray, shape (n,)

        Raises
        ------
        InputError
            There is no such moment or source.

        Examples
        --------
        >>> import trundle
        >>> sources = {"markers": {"knee.net": [3.0]}, "segments": {"knee.net": [4.0]}}
        >>> float(trundle.Bands([0.0], {"knee.net": [60.0]}, sources).deviation("knee.net")[0])
        5.0
        """
        require_known(name, self.values, f"there is no net moment {name!r}", key=name, hint=choose)
        if source is not None:
            require_known(source, self.sources, f"there is no source {source!r}", key="source", hint=choose)
        chosen = self.sources.values() if source is None else [self.sources[source]]
        return np.sqrt(sum((np.square(each[name]) for each in chosen), np.zeros(len(self.time))))

    def band(self, name: str, source: str | None = None) -> tuple[FloatArray, FloatArray]:
        """Between what a moment is with 95 % probability: 1.96 standard deviations to either side.

        Parameters
        ----------
        name : str
            Such as "knee.net".
        source : "markers", "segments" or "smoothing", optional
            By default all that there are.

        Returns
        -------
        tuple of two arrays, shape (n,)
            Low and high.

        Raises
        ------
        InputError
            There is no such moment or source.

        Examples
        --------
        >>> import trundle
        >>> bands = trundle.Bands([0.0], {"knee.net": [60.0]}, {"markers": {"knee.net": [1.0]}})
        >>> [round(float(edge[0]), 2) for edge in bands.band("knee.net")]
        [58.04, 61.96]
        """
        spread = SPREAD * self.deviation(name, source)
        return self.values[name] - spread, self.values[name] + spread

    def table(self, mass: float | None = None) -> dict[str, FloatArray]:
        """Columns by name: time, and of every moment NAME, NAME.low, NAME.high and NAME.sd_SOURCE.

        Parameters
        ----------
        mass : float, kg, optional
            What all are divided by.

        Returns
        -------
        dict of str to numpy.ndarray, shape (n,)

        Raises
        ------
        InputError
            The mass isn't positive.

        Examples
        --------
        >>> import trundle
        >>> bands = trundle.Bands([0.0], {"knee.net": [60.0]}, {"markers": {"knee.net": [1.0]}})
        >>> list(bands.table())
        ['time', 'knee.net', 'knee.net.low', 'knee.net.high', 'knee.net.sd_markers']
        """
        by = 1.0 if mass is None else number(mass, "mass", "kg")
        if not by > 0:
            raise InputError(f"a mass is positive, not {by:g} kg", key="mass")
        columns = {"time": np.asarray(self.time)}
        for name, values in self.values.items():
            low, high = self.band(name)
            columns |= {name: np.asarray(values) / by, f"{name}.low": low / by, f"{name}.high": high / by}
            columns |= {f"{name}.sd_{source}": self.deviation(name, source) / by for source in self.sources}
        return columns
