"""`ForcePlate`: what a plate in the ground does to a person, in the laboratory's frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from trundle.arrays import BoolArray, FloatArray, as_numbers
from trundle.errors import InputError
from trundle.frozen import Brief, Rebuilt
from trundle.limbs.capture.plate_samples import averaged, plate_smoothing, smoothed_tables
from trundle.limbs.capture.smoothing import Smoothing
from trundle.wrenches import Frame, Wrench

# Below some 10 to 20 N a centre of pressure is noise divided by noise (Robertson et al., Research Methods in
# Biomechanics, 2nd ed. 2014, section 4: 20 N is common in gait).
THRESHOLD = 20.0
# How far a plate's corners may be from a rectangle, as a part of its sides: a survey is good to a few millimetres.
_SKEW = 0.05


class Pushing(Rebuilt, ABC):
    """What pushes a person over time: a plate, or the ground under a foot."""

    name: str
    number: int | None = None

    @abstractmethod
    def at(self, times: npt.ArrayLike) -> Self:
        """The same at other times, by means over their intervals.

        A time's interval reaches up to the middles between it and its neighbours. Of its mean force and moment, those
        in its middle are F = F̄ − Δ²F̄/24, so that the impulse stays, ∫F dt = Σ F Δt. Where samples are no denser than
        the times, values are linear in between.

        Parameters
        ----------
        times : array_like, shape (n,), s
            Within its own.

        Returns
        -------
        ForcePlate or GroundReaction

        Raises
        ------
        InputError
            A time lies outside its own.

        Examples
        --------
        >>> import trundle
        >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
        >>> trundle.ForcePlate("left", corners, [0, 1], [(0, 0, 700)] * 2, [(0, 0, 0)] * 2).at([0.5]).time
        array([0.5])
        """

    @abstractmethod
    def smoothed(self, method: Smoothing | str | Mapping[str, object], **options: object) -> Self:
        """The same with its force and its moment about a fixed point smoothed at its own rate.

        A centre of pressure is a quotient, which no filter keeps: it follows from what is smoothed.

        Parameters
        ----------
        method : Smoothing, str or mapping
            As `trundle.smoothing` takes it, such as "butterworth"; not "noise_spline", which has one noise for N and
            N m.
        **options : object
            The method's numbers, such as `cutoff` (Hz).

        Returns
        -------
        ForcePlate or GroundReaction

        Raises
        ------
        InputError
            The method or a number is wrong, or the times aren't even.

        Examples
        --------
        >>> import trundle
        >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
        >>> time, force = [0.001 * k for k in range(100)], [(0, 0, 700)] * 100
        >>> plate = trundle.ForcePlate("left", corners, time, force, [(70, 0, 0)] * 100)
        >>> plate.smoothed("butterworth", cutoff=20).centre_of_pressure()[50].round(9)
        array([0. , 0.1, 0. ])
        """

    @property
    @abstractmethod
    def pressing(self) -> FloatArray:
        """How hard it pushes, (k,) N: what is compared with a threshold."""

    @abstractmethod
    def _pushed(self, threshold: float) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
        """Whether somebody stands on it (k, 1), where it pushes (k, 3), and force and moment there."""

    def wrench(
        self,
        on: str,
        *,
        times: npt.ArrayLike | None = None,
        threshold: float = THRESHOLD,
        frame: Frame | None = None,
    ) -> Wrench:
        """What it does to a body over time, at the centre of pressure: the force and the free moment.

        Parameters
        ----------
        on : str
            The body that stands on it.
        times : array_like, shape (n,), s, optional
            When: force and moment come by means over their intervals, as `at` says. Default: at its own times.
        threshold : float, N, optional
            Where the force on a plate's surface, or a ground reaction's, is less, nobody stands there: force and
            moment are zero.
        frame : Frame, optional
            The laboratory's; default: a root of that name.

        Returns
        -------
        Wrench
            Over `times`, in the laboratory's axes.

        Raises
        ------
        InputError
            A time lies outside its own, or the threshold isn't positive.

        Examples
        --------
        >>> import trundle
        >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
        >>> plate = trundle.ForcePlate("left", corners, [0.0, 1.0], [(0, 0, 700)] * 2, [(70, 0, 5)] * 2)
        >>> float(plate.wrench("foot", times=[0.5]).moment[0, 2])
        5.0
        """
        _require_threshold(threshold)
        here = self if times is None else self.at(times)
        loaded, place, force, moment = here._pushed(threshold)
        force, moment = np.where(loaded, force, 0.0), np.where(loaded, moment, 0.0)
        laboratory = frame or Frame("laboratory")
        point = laboratory.point(f"centre of pressure on {self.name}", place)
        return Wrench(force, moment, on=on, by=self.name, point=point, frame=laboratory)


@dataclass(frozen=True, eq=False, repr=False)
class ForcePlate(Brief, Pushing):
    """A force plate over time: the force on the person, and its moment about the centre of the plate's surface.

    Parameters
    ----------
    name : str
        What to call it.
    corners : array_like, shape (4, 3), m
        In the laboratory, in the order of the plate's own quadrants: (+x, +y), (-x, +y), (-x, -y), (+x, -y).
    time : array_like, shape (k,), s
        When samples were taken.
    force, moment : array_like, shape (k, 3), N and N m
        On the person by the plate, in the laboratory's axes.
    number : int, optional
        Its number in the file, from 1; by default its place among plates.

    Raises
    ------
    InputError
        The corners are no rectangle, or a shape is wrong, or a number isn't finite.

    Examples
    --------
    >>> import trundle
    >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
    >>> plate = trundle.ForcePlate("left", corners, [0.0], [(0, 0, 700)], [(70, -35, 0)])
    >>> plate.centre_of_pressure()
    array([[0.05, 0.1 , 0.  ]])
    """

    name: str
    corners: FloatArray
    time: FloatArray
    force: FloatArray
    moment: FloatArray
    number: int | None = None

    def __post_init__(self) -> None:
        """Check shapes, finite numbers, increasing times and a flat surface; keep the arrays read-only."""
        times = np.size(self.time)
        shapes = {"corners": (4, 3), "time": (times,), "force": (times, 3), "moment": (times, 3)}
        for field, shape in shapes.items():
            values = np.array(as_numbers(getattr(self, field), f"force plate {self.name!r}: {field}"))
            if values.shape != shape:
                message = f"force plate {self.name!r}: expected {field} {shape}, got {values.shape}"
                raise InputError(message)
            bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
            if bad.size:
                raise InputError(f"force plate {self.name!r}: {field} is not a number at sample {bad[0] + 1}")
            values.flags.writeable = False
            object.__setattr__(self, field, values)
        falls = np.flatnonzero(np.diff(self.time) <= 0)
        if falls.size:
            raise InputError(f"force plate {self.name!r}: times must increase, sample {falls[0] + 2} doesn't")
        surface_axes(self.corners, self.name)

    @property
    def centre(self) -> FloatArray:
        """The centre of its surface, shape (3,), m, in the laboratory."""
        return self.corners.mean(axis=0)

    @cached_property
    def axes(self) -> FloatArray:
        """R_laboratory_plate, shape (3, 3): the plate's x, y and z (for C3D's order of corners down) as columns."""
        return surface_axes(self.corners, self.name)

    @property
    def normal(self) -> FloatArray:
        """The surface's normal (3,), the plate's z."""
        return self.axes[:, 2]

    @property
    def pressing(self) -> FloatArray:
        """The force along the normal, (k,) N, positive where it has the mean's side: a plate pushes and never pulls."""
        along = self.force @ self.normal
        return along if along.sum() >= 0 else -along

    def centre_of_pressure(self, threshold: float = THRESHOLD) -> FloatArray:
        """Where the force's line goes through the surface, with a moment about the normal only.

        p = c + n × M / (n · F); in the plate's axes x = −M_y / F_z, y = M_x / F_z.

        Parameters
        ----------
        threshold : float, N, optional
            Where the force along the normal is less, there is none.

        Returns
        -------
        numpy.ndarray, shape (k, 3), m
            In the laboratory; NaN where there is none.

        Raises
        ------
        InputError
            The threshold isn't positive.

        Examples
        --------
        >>> import trundle
        >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
        >>> trundle.ForcePlate("left", corners, [0.0], [(0, 0, 10)], [(1, 0, 0)]).centre_of_pressure()
        array([[nan, nan, nan]])
        """
        _require_threshold(threshold)
        normal = self.normal
        along = np.where(self.pressing < threshold, np.nan, self.force @ normal)
        return self.centre + np.cross(normal, self.moment) / along[:, None]

    def _pushed(self, threshold: float) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
        """At the centre of pressure; at the centre where nobody stands on it."""
        places = self.centre_of_pressure(threshold)
        loaded = np.isfinite(places[:, :1])
        places = np.where(loaded, places, self.centre)
        return loaded, places, self.force, self.moment - np.cross(places - self.centre, self.force)

    def at(self, times: npt.ArrayLike) -> ForcePlate:
        """The plate at other times, by means over their intervals.

        A time's interval reaches up to the middles between it and its neighbours. Of its mean force and moment, those
        in its middle are F = F̄ − Δ²F̄/24, so that the impulse stays, ∫F dt = Σ F Δt. Where samples are no denser than
        the times, values are linear in between.

        Parameters
        ----------
        times : array_like, shape (n,), s
            Within the plate's own.

        Returns
        -------
        ForcePlate

        Raises
        ------
        InputError
            A time lies outside the plate's.

        Examples
        --------
        >>> import trundle
        >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
        >>> plate = trundle.ForcePlate("left", corners, [0, 1], [(0, 0, 0), (0, 0, 700)], [(0, 0, 0)] * 2)
        >>> plate.at([0.5]).force
        array([[  0.,   0., 350.]])
        """
        wanted = as_numbers(times, "times")
        force, moment = averaged(f"force plate {self.name!r}", wanted, self.time, (self.force, self.moment))
        return replace(self, time=wanted, force=force, moment=moment)

    def smoothed(self, method: Smoothing | str | Mapping[str, object], **options: object) -> ForcePlate:
        """The plate with its force and its moment about the surface's centre smoothed at its own rate.

        A centre of pressure is a quotient, which no filter keeps: it follows from what is smoothed.

        Parameters
        ----------
        method : Smoothing, str or mapping
            As `trundle.smoothing` takes it, such as "butterworth"; not "noise_spline", which has one noise for N and
            N m.
        **options : object
            The method's numbers, such as `cutoff` (Hz).

        Returns
        -------
        ForcePlate

        Raises
        ------
        InputError
            The method or a number is wrong, or the times aren't even.

        Examples
        --------
        >>> import trundle
        >>> corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
        >>> time, force = [0.001 * k for k in range(100)], [(0, 0, 700)] * 100
        >>> plate = trundle.ForcePlate("left", corners, time, force, [(70, 0, 0)] * 100)
        >>> plate.smoothed("butterworth", cutoff=20).force[50].round(9)
        array([  0.,   0., 700.])
        """
        chosen = plate_smoothing(method, **options)
        force, moment = smoothed_tables(self.time, (self.force, self.moment), chosen)
        return replace(self, force=force, moment=moment)


def _require_threshold(threshold: float) -> None:
    """InputError where a threshold isn't positive."""
    if not threshold > 0:
        message = f"expected a positive threshold in N, got {threshold}"
        hint = "without force the centre of pressure is 0/0"
        raise InputError(message, key="threshold", hint=hint)


def surface_axes(corners: FloatArray, name: str) -> FloatArray:
    """R_laboratory_plate of four corners; InputError where they are no rectangle in order."""
    one, two, three, four = corners
    along_x, along_y = (one - two + four - three) / 2, (one - four + two - three) / 2
    sides = np.linalg.norm(along_x), np.linalg.norm(along_y)
    skew = max(np.linalg.norm(one - two + three - four), abs(along_x @ along_y) / max(*sides, 1e-12))
    if not min(sides) > 1e-3 or skew > _SKEW * min(sides):
        listed = ", ".join(f"({x:g}, {y:g}, {z:g})" for x, y, z in corners)
        hint = "in the order of the plate's own quadrants: (+x, +y), (-x, +y), (-x, -y), (+x, -y)"
        raise InputError(f"force plate {name!r}: its corners do not form a rectangle: {listed} m", hint=hint)
    x, z = along_x / sides[0], np.cross(along_x, along_y)
    z /= np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])
