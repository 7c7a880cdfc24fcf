"""Ground reactions as OpenSim's tables have them: columns for a force, the point where it acts, and a free torque.

Source: OpenSim's gait2354 example, walk_grf.mot: ground_force_vx, ground_force_px, ground_torque_x, by prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from trundle.arrays import BoolArray, FloatArray, as_numbers
from trundle.errors import InputError, choose, require_known
from trundle.expected import check_type
from trundle.frozen import Brief
from trundle.limbs.capture.force_plates import Pushing
from trundle.limbs.capture.plate_samples import averaged, plate_smoothing, smoothed_tables
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.smoothing import Smoothing

# "1_ground_force_vx" of a foot, or "ground_force_1_vx" as other programs write it; x stands for all three.
_FORCE = re.compile(r"(?P<before>.*ground)_force(?P<after>.*)_vx")
_TORQUES = ("{before}_torque{after}_{axis}", "{before}_moment{after}_m{axis}")
# The axes that laboratories and models have up; x is forward in both, and stays.
_UP = ("y", "z")
# N; less has no point of its own, as nothing that weighs so little stands there.
LEAST = 1e-6
_Y_FROM_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True, eq=False, repr=False)
class GroundReaction(Brief, Pushing):
    """What the ground does to a foot over time: a force, where it acts, and the free torque there.

    Parameters
    ----------
    name : str
        What to call it.
    time : array, shape (k,), s
        When samples were taken.
    force, place, torque : array, shape (k, 3), N, m and N m
        On the person by the ground, in the laboratory's axes.
    """

    name: str
    time: FloatArray
    force: FloatArray
    place: FloatArray
    torque: FloatArray

    @property
    def normal(self) -> FloatArray:
        """The direction (3,) of the mean force; zero where there is none."""
        mean = self.force.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), np.finfo(float).tiny)

    @property
    def pressing(self) -> FloatArray:
        """How large the force is, (k,) N."""
        return np.linalg.norm(self.force, axis=1)

    def _pushed(self, threshold: float) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
        """At the point that the file gives; at the origin where nobody stands."""
        loaded = self.pressing[:, None] >= threshold
        return loaded, np.where(loaded, self.place, 0.0), self.force, self.torque

    def at(self, times: npt.ArrayLike) -> GroundReaction:
        """The reaction at other times, by means over their intervals, as `ForcePlate.at` does.

        Force and moment are averaged. The point is where the force's line then goes through the points' level, with a
        torque about the vertical only: where a foot is up, files have any.

        Parameters
        ----------
        times : array_like, shape (n,), s
            Within its own.

        Returns
        -------
        GroundReaction

        Raises
        ------
        InputError
            A time lies outside its own.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> up, still = np.array([[0, 0, 0], [0, 700, 0]]), np.zeros((2, 3))
        >>> trundle.GroundReaction("ground", np.array([0.0, 1.0]), up, still, still).at([0.5]).force
        array([[  0., 350.,   0.]])
        """
        wanted = as_numbers(times, "times")
        return self._from_tables(
            wanted, averaged(f"ground reaction {self.name!r}", wanted, self.time, self._linear)
        )

    def smoothed(self, method: Smoothing | str | Mapping[str, object], **options: object) -> GroundReaction:
        """The reaction with its force and its moment about the origin smoothed at its own rate; the point follows.

        Parameters
        ----------
        method : Smoothing, str or mapping
            As `trundle.smoothing` takes it, such as "butterworth"; not "noise_spline", which has one noise for N and
            N m.
        **options : object
            The method's numbers, such as `cutoff` (Hz).

        Returns
        -------
        GroundReaction

        Raises
        ------
        InputError
            The method or a number is wrong, or the times aren't even.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> up, still = np.tile([0.0, 700.0, 0.0], (50, 1)), np.zeros((50, 3))
        >>> ground = trundle.GroundReaction("ground", np.arange(50) / 1000, up, still, still)
        >>> ground.smoothed("butterworth", cutoff=20).force[25].round(9)
        array([  0., 700.,   0.])
        """
        return self._from_tables(
            self.time, smoothed_tables(self.time, self._linear, plate_smoothing(method, **options))
        )

    @property
    def _linear(self) -> tuple[FloatArray, ...]:
        """What may be averaged: force, moment about the origin, the force's size times the point's level, its size."""
        size, about = self.pressing[:, None], np.cross(self.place, self.force) + self.torque
        return self.force, about, size * self.place[:, [self._vertical]], size

    @property
    def _vertical(self) -> int:
        """The axis that the mean force is along."""
        return int(np.abs(self.normal).argmax())

    def _from_tables(self, time: FloatArray, tables: Sequence[FloatArray]) -> GroundReaction:
        """The reaction from its `_linear` tables: p = (n × M + h F)/(n · F), at the level n · p = h."""
        force, about, heavy, size = tables
        normal = np.eye(3)[self._vertical]
        level = np.divide(heavy, size, out=np.zeros_like(heavy), where=size > LEAST)
        along = force[:, [self._vertical]]
        place = np.cross(normal, about) + level * force
        place = np.divide(place, along, out=np.zeros_like(place), where=np.abs(along) > LEAST)
        return GroundReaction(self.name, time, force, place, about - np.cross(place, force))


def ground_reactions(recording: Recording) -> tuple[GroundReaction, ...]:
    """The ground reactions among a recording's columns, as OpenSim's `walk_grf.mot` has them.

    Columns `ground_force_vx` (N), `ground_force_px` (m) and `ground_torque_x` (N m), and those of y and z, are called
    "ground"; `l_ground_force_vx` … are "l_ground", `ground_force_1_vx` … (with `ground_moment_1_mx`) "ground_1".

    Parameters
    ----------
    recording : Recording
        What was measured.

    Returns
    -------
    tuple of GroundReaction
        In the columns' order; none where there are no such columns.

    Raises
    ------
    InputError
        A force lacks a column, or a number where something pushes; a column is in a unit of something else.

    Examples
    --------
    >>> import trundle
    >>> trundle.ground_reactions(trundle.Recording([0, 1], channels={"knee": [0, 1]}))
    ()
    """
    return tuple(_reaction(recording, columns) for columns in reaction_columns(recording))


def reaction_columns(recording: Recording) -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """Names of ground reactions with the columns of their force, place and torque."""
    for column in check_type(recording, Recording, "recording", "trundle.read_recording(path)").channels:
        if not (match := _FORCE.fullmatch(column)):
            continue
        before, after = match["before"], match["after"]
        forces, places = ([f"{before}_force{after}_{what}{axis}" for axis in "xyz"] for what in "vp")
        kinds = [[kind.format(before=before, after=after, axis=axis) for axis in "xyz"] for kind in _TORQUES]
        torques = next((columns for columns in kinds if columns[0] in recording.channels), kinds[0])
        yield before + after, forces, places, torques


def _reaction(recording: Recording, columns: tuple[str, list[str], list[str], list[str]]) -> GroundReaction:
    """Read one ground reaction from its nine channels: force (N), place (m) and torque (N m), (n, 3) all three."""
    name, *groups = columns
    force, place, torque = (
        np.column_stack([recording.channel(channel, unit) for channel in group])
        for group, unit in zip(groups, ("N", "m", "N m"), strict=True)
    )
    # A foot that is up has no centre of pressure: some files leave it empty there.
    up = ~force.any(axis=1)
    place[up], torque[up] = 0.0, 0.0
    for group, table in zip(groups, (force, place, torque), strict=True):
        bad = np.argwhere(np.isnan(table))
        if bad.size:
            row, column = bad[0]
            message = f"there is no number at {recording.time[row]:g} s, where {name} pushes"
            raise InputError(message, file=recording.source or None, key=group[column])
    return GroundReaction(name, recording.time, force, place, torque)


def turned(recording: Recording, up: str, to: str) -> Recording:
    """What `Recording.turned` says: markers, plates and ground reactions."""
    for key, axis in (("up", up), ("to", to)):
        require_known(axis, _UP, f"up is y or z, not {axis!r}", key=key, hint=choose)
    if up == to:
        return recording
    back = _Y_FROM_Z if up == "y" else _Y_FROM_Z.T  # vectors are rows: v Rᵀ
    markers = {name: places @ back for name, places in recording.markers.items()}
    channels = dict(recording.channels)
    for _, *groups in reaction_columns(recording):
        for names in groups:
            if all(name in channels for name in names):
                table = np.column_stack([channels[name] for name in names]) @ back
                channels |= dict(zip(names, table.T, strict=True))
    plates = tuple(
        replace(plate, **{part: getattr(plate, part) @ back for part in ("corners", "force", "moment")})
        for plate in recording.plates
    )
    return replace(recording, markers=markers, channels=channels, plates=plates)
