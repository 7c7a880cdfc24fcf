"""`Recording`: what a motion laboratory measured, in SI units and the laboratory's frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, suggest
from trundle.frozen import Frozen, Rebuilt
from trundle.limbs.capture.force_plates import ForcePlate
from trundle.robot.units import NUMBER, unit_text
from trundle.robot.values import unit_in_si

# OpenSim's tables say of all columns at once that they are in degrees; it is the model that knows which ones turn.
DEGREES_IF_TURNING = "deg, if it turns"
_ANEW = "make another Recording"
# What joints of one axis call their coordinate; other tools call it as the joint.
_OF_ONE_AXIS = ("angle", "position")


@dataclass(frozen=True, repr=False, eq=False)
class Recording(Rebuilt):
    """What was measured of a motion: markers, joint angles, force plates and events over time.

    Parameters
    ----------
    time : array_like, shape (n,), s
        When samples were taken; increasing.
    markers : mapping of str to array_like, shape (n, 3), m
        Positions by marker, in the laboratory's frame; NaN where a marker wasn't seen.
    channels : mapping of str to array_like, shape (n,)
        Other columns by name, coordinates of joints above all, in rad, m or the unit that `units` says, in SI; NaN
        where there is none. Ask for them by `channel(name, unit)`, which holds them against their units.
    plates : sequence of ForcePlate
        Each with its own time.
    events : mapping of str to sequence of float, s
        When what happened.
    source : str
        The file.
    units : mapping of str to str
        Units of the columns and markers in the file, by name, where it says them.

    Raises
    ------
    InputError
        Where a shape is wrong, times don't increase, or a number is infinite: names column or marker, and sample.

    Examples
    --------
    >>> import trundle
    >>> recording = trundle.Recording([0.0, 0.1], channels={"knee": [0.2, 0.3]})
    >>> recording
    Recording of 0 markers, 1 channel, 0 plates: 2 samples, 0 to 0.1 s
    """

    time: FloatArray
    markers: Mapping[str, FloatArray] = field(default_factory=dict)
    channels: Mapping[str, FloatArray] = field(default_factory=dict)
    plates: tuple[ForcePlate, ...] = ()
    events: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    source: str = ""
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that markers and channels fit the times, and keep them as they are."""
        time = increasing(self.time, self.source)
        shape = time.shape
        markers = {name: _checked(name, rows, (*shape, 3), "marker") for name, rows in self.markers.items()}
        channels = {name: _checked(name, rows, shape, "channel") for name, rows in self.channels.items()}
        events = {name: tuple(map(float, moments)) for name, moments in self.events.items()}
        for name, value in {
            "time": time,
            "markers": Frozen(markers, _ANEW),
            "channels": Frozen(channels, _ANEW),
            "plates": tuple(self.plates),
            "events": Frozen(events, _ANEW),
            "units": Frozen(dict(self.units), _ANEW),
        }.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = ((self.markers, "marker"), (self.channels, "channel"), (self.plates, "plate"))
        counts = ", ".join(f"{len(items)} {word}{'' if len(items) == 1 else 's'}" for items, word in parts)
        span = f"{self.time[0]:g} to {self.time[-1]:g} s"
        return f"Recording of {counts}: {len(self.time):,} samples, {span}"

    def channel(self, name: str, unit: str) -> FloatArray:
        """A column in the unit that the caller takes it for, held against the unit that its file says.

        A marker's coordinates are there, too, as "ankle.x", "ankle.y", "ankle.z"; and the only coordinate of a joint,
        "knee.angle" or "slide.position", is read from a column called as the joint. A column of an OpenSim table in
        degrees is in degrees where it is asked for as an angle, and as it stands otherwise.

        Parameters
        ----------
        name : str
            The column.
        unit : str
            Such as "rad", "m" or "N m".

        Returns
        -------
        numpy.ndarray, shape (n,)

        Raises
        ------
        InputError
            There is no such column, or the file has it in a unit of something else.

        Examples
        --------
        >>> import trundle
        >>> trundle.Recording([0, 1], channels={"slide": [0, 2]}, units={"slide": "mm"}).channel("slide", "rad")
        Traceback (most recent call last):
        trundle.errors.InputError: slide: this column is in mm, and 'slide' is measured in rad
          give the column its right unit, or name the coordinate that it belongs to
        """
        factor, dimension = unit_in_si(unit)
        key, values = self._column(name)
        said = self.units.get(key, "")
        if said == DEGREES_IF_TURNING:
            return (values if dimension == NUMBER else np.degrees(values)) / factor
        if said and unit_in_si(said)[1] != dimension:
            message = f"this column is in {said}, and {name!r} is measured in {unit or unit_text(dimension)}"
            hint = "give the column its right unit, or name the coordinate that it belongs to"
            raise InputError(message, file=self.source or None, key=name, hint=hint)
        return values / factor

    def turned(self, up: str, to: str) -> Recording:
        """The recording in axes whose y, or z, is up: markers, plates and ground reactions turned together about x.

        From z up to y up (x, y, z) becomes (x, z, −y). Coordinates of joints stay.

        Parameters
        ----------
        up : "y" or "z"
            What is up in this recording.
        to : "y" or "z"
            What is to be up, as it is for the robot: y in OpenSim's models.

        Returns
        -------
        Recording

        Raises
        ------
        InputError
            For any other axis.

        Examples
        --------
        >>> import trundle
        >>> trundle.Recording([0], {"heel": [(1, 2, 3)]}).turned("z", to="y").markers["heel"]
        array([[ 1.,  3., -2.]])
        """
        from trundle.limbs.capture.turning import turned

        return turned(self, up, to)

    def _column(self, name: str) -> tuple[str, FloatArray]:
        """A column's own name, as its unit has it, and its values."""
        stem, _, axis = name.rpartition(".")
        for key in (name, stem if axis in _OF_ONE_AXIS else name):
            if key in self.channels:
                return key, self.channels[key]
        marker, place = name[:-2], "xyz".find(name[-1:])
        if marker in self.markers and name[-2:-1] in "._" and place >= 0:
            return marker, self.markers[marker][:, place]
        hint = suggest(name, [*self.channels, *self.markers])
        raise InputError(f"there is no column {name!r}", file=self.source or None, hint=hint)


def increasing(given: object, file: str = "", what: str = "time") -> FloatArray:
    """Times as an array (n,); InputError where one is no finite number or none greater than the one before."""
    time = as_numbers(given, what)  # type: ignore[arg-type]
    if time.ndim != 1 or not time.size:
        raise InputError(f"expected times (n,), got shape {time.shape}", file=file or None, key=what)
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        message = f"sample {bad[0] + 1} has no finite time: {time[bad[0]]}"
        raise InputError(message, file=file or None, key=what)
    falls = np.flatnonzero(np.diff(time) <= 0)
    if falls.size:
        k = int(falls[0]) + 1
        message = f"times must increase: sample {k + 1} has {time[k]:.9g} s after {time[k - 1]:.9g} s"
        hint = "sort the samples and take repeated ones out"
        raise InputError(message, file=file or None, key=what, hint=hint)
    time = np.array(time)
    time.flags.writeable = False
    return time


def _checked(name: str, given: object, shape: tuple[int, ...], what: str) -> FloatArray:
    """An array of this shape in which NaN are gaps and nothing is infinite, read-only."""
    values = np.array(as_numbers(given, f"{what} {name!r}"))  # type: ignore[arg-type]
    if values.shape != shape:
        raise InputError(f"{what} {name!r}: expected an array of shape {shape}, got {values.shape}", key=name)
    infinite = np.flatnonzero(np.isinf(values).reshape(shape[0], -1).any(axis=1))
    if infinite.size:
        raise InputError(f"{what} {name!r} is infinite at sample {infinite[0] + 1}", key=name)
    values.flags.writeable = False
    return values
