"""What a sweep brought: rows by name, and what they say of all robots together, in fixed blocks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.expected import check_int
from trundle.files import path_of
from trundle.model.lanes import NumbersLike
from trundle.sweeps.indices import SobolIndices, sobol_indices
from trundle.sweeps.statistics import Moments, histogram, moments, quantiles
from trundle.sweeps.store import Store, open_store
from trundle.sweeps.work import DIVERGED, Work

if TYPE_CHECKING:
    from pathlib import Path

    import xarray
    from matplotlib.figure import Figure

    from trundle.results import Run

# The median, and the ends of the middle 90 %.
_QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, repr=False)
class Sweep:
    """The rows of a sweep's robots.

    Attributes
    ----------
    store : Store
        Where they lie.
    work : Work
        What was done.
    skipped : int
        Robots that the store had already.
    """

    store: Store
    work: Work
    skipped: int = 0

    @staticmethod
    def load(place: str | os.PathLike[str]) -> Sweep:
        """The sweep of a store.

        Parameters
        ----------
        place : path
            Its folder.

        Returns
        -------
        Sweep

        Raises
        ------
        InputError
            Where no sweep is there, or one of another format.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ...     store="out.zarr",
        ... )
        >>> trundle.Sweep.load("out.zarr").count
        101
        """
        store = open_store(path_of(place, "Sweep.load"))
        return Sweep(store, store.work(), store.count)

    @property
    def count(self) -> int:
        """How many robots there are."""
        return self.store.count

    @property
    def varied(self) -> tuple[str, ...]:
        """What differs between robots."""
        return tuple(self.work.design.over)

    @property
    def measures(self) -> tuple[str, ...]:
        """What was measured."""
        return tuple(measure.text for measure in self.work.measures)

    @property
    def units(self) -> dict[str, str]:
        """The units of what varies and of what was measured, by name."""
        return self.work.units | {measure.text: measure.unit for measure in self.work.measures}

    @property
    def diverged(self) -> int:
        """How many robots' numbers ceased to be finite."""
        return self.outcomes[DIVERGED]

    @property
    def outcomes(self) -> dict[str, int]:
        """How many robots diverged; over terrain also how many overturned, got stuck, left a map or never stood."""
        return {
            name: int(sum(block.sum() for block in self.store.blocks(name))) for name in self.work.outcomes
        }

    @property
    def finished(self) -> bool:
        """Whether all robots have rolled."""
        return bool(self.store.whole().all())

    def __getitem__(self, name: str) -> FloatArray:
        """All robots' values of what varies or was measured, (count,), NaN where a robot has not rolled or diverged."""
        return self.store.read(self._check_name(name))

    def __repr__(self) -> str:
        return f"Sweep({self.work.name}: {self.count:,} robots, {', '.join((*self.varied, *self.measures))})"

    def moments(self, name: str) -> Moments:
        """Count, mean, standard deviation, least and greatest of the finite values of a name.

        Parameters
        ----------
        name : str
            What varies, or a measure.

        Returns
        -------
        Moments

        Raises
        ------
        InputError
            There is no such name.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> round(found.moments("length").mean, 12)
        1.0
        """
        return moments(self.store.blocks(self._check_name(name)))

    def quantiles(self, name: str, shares: Sequence[float] = _QUANTILES) -> FloatArray:
        """The values of a name below which these shares of the robots lie, exactly, by two or more passes over blocks.

        Parameters
        ----------
        name : str
            What varies, or a measure.
        shares : sequence of float
            0 to 1.

        Returns
        -------
        ndarray, (shares,)
            Linear between neighbours, as `numpy.quantile` has it; NaN where no value is finite.

        Raises
        ------
        InputError
            There is no such name, or a share is none.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> found.quantiles("length", [0.0, 0.5]).tolist()
        [0.5, 1.0]
        """
        own = np.asarray(shares, dtype=float)
        if own.ndim != 1 or not ((own >= 0) & (own <= 1)).all():
            raise InputError("expected shares from 0 to 1", key="shares", hint="such as (0.05, 0.5, 0.95)")
        known = self._check_name(name)
        return quantiles(lambda: self.store.blocks(known), own)

    def histogram(self, name: str, bins: int = 60) -> tuple[FloatArray, FloatArray]:
        """How many robots lie in bins of equal width, and the bins' edges, as `numpy.histogram` has it.

        Parameters
        ----------
        name : str
            What varies, or a measure.
        bins : int
            How many.

        Returns
        -------
        (ndarray, ndarray)
            Counts (bins,) and edges (bins + 1,).

        Raises
        ------
        InputError
            There is no such name.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> found.histogram("length", 4)[0].tolist()
        [25.0, 25.0, 25.0, 26.0]
        """
        known = self._check_name(name)
        return histogram(lambda: self.store.blocks(known), check_int(bins, "bins", 1))

    def robot(self, number: int) -> dict[str, dict[str, NumbersLike]]:
        """What `simulate` and `rollout` take for a robot: initial, inputs and parameters.

        Parameters
        ----------
        number : int
            0 to count − 1.

        Returns
        -------
        dict

        Raises
        ------
        InputError
            There is no such robot.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> found.robot(100)["parameters"]
        {'length': 1.5}
        """
        if not isinstance(number, (int, np.integer)) or not 0 <= number < self.count:
            raise InputError(f"there is no robot {number!r}", key="robot", hint=f"0 to {self.count - 1:,}")
        return self.work.arguments(int(number))

    def run(self, number: int, **options: Any) -> Run:
        """The whole run of a robot over the sweep's time, by `simulate`: with a controlled error, or by the sweep's
        own steps.

        Parameters
        ----------
        number : int
            0 to count − 1.
        **options : object
            As `simulate` takes them.

        Returns
        -------
        Run

        Raises
        ------
        InputError
            There is no such robot.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> bool(abs(found.run(50).final["link_1.angle"] - found["final.link_1.angle"][50]) < 1e-6)
        True
        """
        self.robot(number)
        return self.work.run(int(number), **options)

    def extremes(self, measure: str, count: int = 5, largest: bool = True) -> list[int]:
        """The robots with the largest or the least values of a measure, the most extreme first.

        Parameters
        ----------
        measure : str
            Which.
        count : int
            How many robots.
        largest : bool
            The largest, or the least.

        Returns
        -------
        list of int

        Raises
        ------
        InputError
            There is no such measure.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> found.extremes("length", 2)
        [100, 99]
        """
        known, sign = self._check_name(measure), -1.0 if largest else 1.0
        best = np.zeros((0, 2))
        for index in np.flatnonzero(self.store.whole()):
            first, size = self.store.rows_of(int(index))
            values = sign * self.store.read(known, first, size)
            own = np.column_stack([values, np.arange(first, first + size)])[np.isfinite(values)]
            best = np.vstack([best, own])
            best = best[np.argsort(best[:, 0], kind="stable")[:count]]
        return [int(robot) for robot in best[:, 1]]

    def sobol_indices(self, measure: str) -> SobolIndices:
        """How much of a measure's variance is due to what varies, alone and with all others.

        Parameters
        ----------
        measure : str
            Which.

        Returns
        -------
        SobolIndices
            With 95 % intervals by the bootstrap.

        Raises
        ------
        InputError
            For a sweep with other draws than "indices", and where a robot diverged or has not rolled.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "uniform(0.5, 1)", "m": "uniform(1, 2)"},
        ...     samples=64,
        ...     draws="indices",
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> found.sobol_indices("final.link_1.angle").first.shape
        (2,)
        """
        design, known = self.work.design, self._check_name(measure)
        if design.draws != "indices":
            hint = f'sweep with draws="indices"; these are {design.draws!r}'
            raise InputError("Sobol' indices need samples of their own", key="draws", hint=hint)
        values = self.store.read(known).reshape(len(design.drawn) + 2, design.samples)
        lost = int((~np.isfinite(values)).sum())
        if lost:
            message = f"{lost:,} robots have no {measure}: they diverged, have not rolled, or never met it"
            raise InputError(message, key="measure", hint="vary less, or take another measure")
        return sobol_indices(tuple(design.drawn), values, design.seed)

    def figure(self) -> Figure:
        """The measures' distributions, and dots over what varies; see `trundle.sweep_figure`.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        InputError
            Where no robot has a finite measure.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> picture = found.figure()
        """
        from trundle import sweep_figure

        return sweep_figure(self)

    def animate(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the robots as dots: a click on one shows how it drives, simulated by the browser.

        Parameters
        ----------
        path : path
            A file that ends in .html.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            For another ending, models without a description, and inputs that are no constants.

        Examples
        --------
        >>> import trundle
        >>> over, pendulum = {"length": "0.5:1.5:11"}, trundle.catalog.pendulum()
        >>> found = trundle.sweep(pendulum, over=over, measures=["final.link_1.angle"])
        >>> found.animate("sweep.html").name
        'sweep.html'
        """
        from trundle import animate

        return cast("Path", animate(self, path))

    def to_xarray(self) -> xarray.Dataset:
        """The rows as a Dataset of one dimension, `robot`, read when they are asked for, with units.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        ImportError
            Where xarray is missing, which comes with Trundle.

        Examples
        --------
        >>> import trundle
        >>> swing = {"link_1.angle": 0.5}
        >>> found = trundle.sweep(
        ...     trundle.catalog.pendulum(),
        ...     over={"length": "0.5:1.5:101"},
        ...     initial=swing,
        ...     measures=["final.link_1.angle"],
        ... )
        >>> found.to_xarray()["length"].attrs["units"]
        'm'
        """
        import xarray

        return xarray.open_zarr(self.store.group.store, consolidated=False, chunks=None)

    def _check_name(self, name: str) -> str:
        if name not in self.store.names:
            raise InputError(
                f"the sweep has no {name!r}", key="name", hint=suggest(str(name), self.store.names)
            )
        return name
