"""A motion of a base on wheels as an exact function of time: pieces, their samples, and the poses they lead through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, IntArray, as_numbers
from trundle.errors import InputError, counted
from trundle.expected import came
from trundle.frozen import Brief, frozen, settle
from trundle.motion.drive.drive import QUANTITIES, Drive
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.pieces.arcs import Arcs, integrate
from trundle.results import Run


@dataclass(frozen=True, eq=False, repr=False)
class Samples(Brief):
    """What a motion is at n times, of m modules.

    Parameters
    ----------
    twist, twist_rate, twist_jerk : array (n, 3)
        v_x, v_y (m/s) in the body's frame and ω (rad/s), and their first and second derivatives there.
    angle : array (n, m), rad
        Of steering, without jumps by turns.
    steering_rate, steering_acceleration, steering_jerk : array (n, m), rad/s, rad/s^2, rad/s^3
        Its derivatives.
    drive_speed, drive_acceleration, drive_jerk : array (n, m), m/s, m/s^2, m/s^3
        Of rolling along the wheel's heading, negative backward.
    slip : array (n, m), m/s
        How fast the wheel slides over the ground: |A_i ξ − s_i (cos α_i, sin α_i)|.
    heading : array (n,), rad
        Of the base in the world; nan of a piece by itself, which doesn't know it.
    """

    twist: FloatArray
    twist_rate: FloatArray
    twist_jerk: FloatArray
    angle: FloatArray
    steering_rate: FloatArray
    steering_acceleration: FloatArray
    steering_jerk: FloatArray
    drive_speed: FloatArray
    drive_acceleration: FloatArray
    drive_jerk: FloatArray
    slip: FloatArray
    heading: FloatArray

    def __post_init__(self) -> None:
        settle(self, **{field.name: frozen(getattr(self, field.name)) for field in fields(self)})

    def __len__(self) -> int:
        return len(self.twist)

    def at_pace(self, pace: FloatArray) -> Samples:
        """The same twists at shares of the pace (n,)."""
        orders = {name: order for name, (_, order) in QUANTITIES.items()} | {"twist_rate": 1, "twist_jerk": 2}
        return replace(self, **{name: getattr(self, name) * pace[:, None] ** k for name, k in orders.items()})

    def along_way(self, pace: FloatArray) -> Samples:
        """The same way at shares of the pace (n,): twists are slower, too."""
        slower = self.at_pace(pace)
        moved = ("twist", "twist_rate", "twist_jerk", "drive_speed", "drive_acceleration", "drive_jerk")
        return replace(slower, **{name: getattr(slower, name) * pace[:, None] for name in moved})

    def chosen(self, places: IntArray) -> Samples:
        """The samples at some of the times."""
        return Samples(**{field.name: getattr(self, field.name)[places] for field in fields(self)})

    @staticmethod
    def joined(parts: Sequence[Samples]) -> Samples:
        """Samples of one part after the other."""
        return Samples(
            **{
                field.name: np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(Samples)
            }
        )


def sampled(
    drive: Drive,
    twists: Sequence[FloatArray],
    steering: Sequence[FloatArray],
    rolling: Sequence[FloatArray],
) -> Samples:
    """Samples from the twist and two derivatives, the modules' angles and three, and their speeds and two."""
    u = drive.at_contacts(drive.velocities(twists[0]), steering[0], twists[0][:, 2:] + steering[1])
    slip = drive.slips(u, steering[0], rolling[0])
    names = (field.name for field in fields(Samples))
    return Samples(
        **dict(zip(names, (*twists, *steering, *rolling, slip, np.full(len(slip), np.nan)), strict=True))
    )


class Piece(ABC):
    """A part of a motion, analytic between its breaks; the drive's wheels and their limits come with it.

    `breaks` are times in it (s), from 0 to its `duration`, at which some derivative may jump; `samples` gives at a
    break what follows it.
    """

    drive: Drive

    @property
    @abstractmethod
    def duration(self) -> float:
        """How long it takes, in s."""

    @property
    @abstractmethod
    def breaks(self) -> FloatArray:
        """Times from 0 to the duration at which some derivative may jump, in s."""

    @abstractmethod
    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,), rising."""

    def slower(self, factor: float) -> Piece:
        """The same twists over so many times the time; of pieces that go from twist to twist."""
        raise NotImplementedError

    def pushes(self, times: FloatArray) -> FloatArray | None:
        """What is wished of the contacts' forces (n, forces) in N, at times (n,); None where nothing is."""
        return None

    @cached_property
    def end_angles(self) -> FloatArray:
        """Where the modules' angles arrive, (m,) in rad."""
        return self.samples(np.array([self.duration])).angle[0]


def total(pieces: Sequence[Piece]) -> float:
    """How long pieces take, in s."""
    return float(sum(piece.duration for piece in pieces))


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """Pieces one after the other, from a pose on.

    Parameters
    ----------
    kinematics : Kinematics
        Of the robot that moves: its modules' names and places.
    pieces : sequence of Piece
        At least one; times in a piece begin at 0.
    start : tuple of three floats, optional
        x, y (m), θ (rad) in the world at time 0.
    angles : array (m,), optional
        The modules' angles before time 0 (rad), where they are others than at it.
    """

    kinematics: Kinematics
    pieces: Sequence[Piece]
    start: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angles: FloatArray | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.kinematics.names)
        pieces = counted(len(self.pieces), "piece")
        return f"<{type(self).__name__} of {names}: {self.duration:.4g} s in {pieces}>"

    @cached_property
    def begins(self) -> FloatArray:
        """When the pieces begin, and the end, (pieces + 1,) in s."""
        return np.concatenate([[0.0], np.cumsum([piece.duration for piece in self.pieces])])

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.begins[-1])

    @cached_property
    def breaks(self) -> FloatArray:
        """All times at which some derivative may jump, from 0 to the end, in s."""
        return np.unique(
            np.concatenate(
                [begin + piece.breaks for begin, piece in zip(self.begins, self.pieces, strict=False)]
            )
        )

    def samples(self, times: npt.ArrayLike) -> Samples:
        """Twist and modules at times.

        Parameters
        ----------
        times : array_like (n,), s
            Rising, from 0 to the duration; where one piece ends the next one counts.

        Returns
        -------
        Samples

        Raises
        ------
        InputError
            The times fall, or lie outside the motion.
        """
        times = self._checked(times)
        return replace(self._moved(times), heading=self._arcs.at(times)[:, 2])

    def _moved(self, times: FloatArray) -> Samples:
        """The pieces' own samples."""
        return Samples.joined([piece.samples(inside) for piece, inside in self._owners(times)])

    def pushes(self, times: npt.ArrayLike) -> FloatArray | None:
        """What the plan wishes of the contacts' forces, in the order of the modules and their directions.

        Parameters
        ----------
        times : array_like (n,), s
            Rising, from 0 to the duration.

        Returns
        -------
        array (n, forces) or None
            In N; zeros where a piece wishes nothing, None where none does.

        Raises
        ------
        InputError
            The times fall, or lie outside the motion.
        """
        parts = [(len(inside), piece.pushes(inside)) for piece, inside in self._owners(self._checked(times))]
        width = next((wished.shape[1] for _, wished in parts if wished is not None), None)
        if width is None:
            return None
        return np.concatenate([np.zeros((n, width)) if wished is None else wished for n, wished in parts])

    def _owners(self, times: FloatArray) -> Iterator[tuple[Piece, FloatArray]]:
        """The pieces of rising times, with the times in them."""
        last = len(self.pieces) - 1
        # times rise, so the pieces' times are slices that follow one another
        owner = np.clip(np.searchsorted(self.begins, times, "right") - 1, 0, last)
        cuts = np.searchsorted(owner, np.arange(last + 2))
        for piece, begin, low, high in zip(self.pieces, self.begins[:-1], cuts[:-1], cuts[1:], strict=True):
            if high > low or last == 0:
                yield piece, np.clip(times[low:high] - begin, 0.0, piece.duration)

    def poses(self, times: npt.ArrayLike) -> FloatArray:
        """Where the base is: the integral of its twist, to rounding.

        Parameters
        ----------
        times : array_like (n,), s
            Rising, from 0 to the duration.

        Returns
        -------
        array (n, 3)
            x, y (m), θ (rad, without jumps by turns) in the world.

        Raises
        ------
        InputError
            The times fall, or lie outside the motion.
        """
        return self._arcs.at(self._checked(times))[:, :3]

    def distances(self, times: npt.ArrayLike) -> FloatArray:
        """How far the wheels have rolled: the integrals of their speeds, to rounding.

        Parameters
        ----------
        times : array_like (n,), s
            Rising, from 0 to the duration.

        Returns
        -------
        array (n, m)
            In m; divided by a wheel's radius the angle that its encoder counts.

        Raises
        ------
        InputError
            The times fall, or lie outside the motion.
        """
        return self._arcs.at(self._checked(times))[:, 3:]

    def measurements(self, times: npt.ArrayLike) -> dict[str, FloatArray]:
        """What encoders of the wheels and of their steering would read, from zero turns at the start.

        Parameters
        ----------
        times : array_like (n,), s
            Rising, from 0 to the duration.

        Returns
        -------
        dict of str to array (n,)
            Coordinates by name, in rad: `Odometry.along` takes them.

        Raises
        ------
        InputError
            The times fall, or lie outside the motion.
        """
        readings: dict[str, FloatArray] = {}
        angles, rolled = self.samples(times).angle, self.distances(times)
        for module, angle, distance in zip(self.kinematics.modules, angles.T, rolled.T, strict=True):
            readings[f"{module.name}.angle"] = distance / float(module.radius)
            if module.pivots:
                readings[f"{module.name}.steering"] = angle - float(module.heading)
        return readings

    def run(self, rate: float = 100.0) -> Run:
        """The motion as a run: labelled samples with units, which figures and files take.

        Parameters
        ----------
        rate : float, 1/s
            Samples a second; the end is one more.

        Returns
        -------
        Run
            Poses, speeds, accelerations and jerks of the body and of the modules.

        Raises
        ------
        InputError
            The rate is not positive.

        Examples
        --------
        >>> import trundle
        >>> plan = trundle.plan(trundle.catalog.limited_swerve(), (1, 0, 0))
        >>> plan.run().final["v_x"]
        1.0
        """
        from trundle import to_run

        return to_run(self, rate)

    @cached_property
    def _arcs(self) -> Arcs:
        def rates(times: FloatArray) -> FloatArray:
            samples = self._moved(times)
            return np.concatenate([samples.twist, samples.drive_speed], axis=1)

        # a motion that is over at once has one break: a panel without width keeps its pose
        breaks = self.breaks if self.duration else np.zeros(2)
        return integrate(rates, breaks, self.start)

    def _checked(self, times: npt.ArrayLike) -> FloatArray:
        """Times (n,) as an array; InputError where they fall, or lie outside the motion."""
        checked = np.atleast_1d(as_numbers(times, "times"))
        # the end of a motion is a sum of durations: a caller's may differ by rounding
        slack = 1e-9 * max(1.0, self.duration)
        if (
            checked.ndim != 1
            or not checked.size
            or not (checked[0] >= -slack and checked[-1] <= self.duration + slack)
        ):
            raise InputError(f"times lie outside the motion, which takes {self.duration:g} s", key="times")
        if (np.diff(checked) < 0).any():
            raise InputError("times must not fall", key="times", hint="sort them")
        return checked


# What gives motions.
_GIVERS = "trundle.plan(…), trundle.drive(file) and trundle.follow(path) give one"
_OF_POINTS = "waypoints make a path: trundle.follow(trundle.pose_path(waypoints), robot) times it"


def motion_of(given: object, call: str, hint: str = _GIVERS) -> Motion:
    """A motion, or the one of what was driven; InputError for what is neither, such as a file's name."""
    motion = given if isinstance(given, Motion) else getattr(given, "motion", None)
    if isinstance(motion, Motion):
        return motion
    hint = _OF_POINTS if isinstance(given, (list, tuple, np.ndarray)) else hint
    raise InputError(f"{call} takes a motion, not {came(given)}", key="motion", hint=hint)
