"""A motion of a base on wheels as an exact function of time: pieces, their samples, and the poses they lead through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, NumericsError, counted
from trundle.expected import came
from trundle.frozen import Brief, frozen, settle
from trundle.motion.drive.drive import Drive
from trundle.motion.drive.kinematics import Kinematics
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

    def __post_init__(self) -> None:
        settle(self, **{field.name: frozen(getattr(self, field.name)) for field in fields(self)})

    def __len__(self) -> int:
        return len(self.twist)

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
    drive: Drive, twists: Sequence[FloatArray], steering: Sequence[FloatArray], rolling: Sequence[FloatArray]
) -> Samples:
    """Samples from the twist and two derivatives, the modules' angles and three, and their speeds and two."""
    slip = drive.slips(drive.velocities(twists[0]), steering[0], rolling[0])
    names = (field.name for field in fields(Samples))
    return Samples(**dict(zip(names, (*twists, *steering, *rolling, slip), strict=True)))


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
        last = len(self.pieces) - 1
        # times rise, so the pieces' times are slices that follow one another
        owner = np.clip(np.searchsorted(self.begins, times, "right") - 1, 0, last)
        cuts = np.searchsorted(owner, np.arange(last + 2))
        return Samples.joined(
            [
                piece.samples(np.clip(times[low:high] - begin, 0.0, piece.duration))
                for piece, begin, low, high in zip(
                    self.pieces, self.begins[:-1], cuts[:-1], cuts[1:], strict=True
                )
                if high > low or last == 0
            ]
        )

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
            samples = self.samples(times)
            return np.concatenate([samples.twist, samples.drive_speed], axis=1)

        # a motion that is over at once has one break: a panel without width keeps its pose
        breaks = self.breaks if self.duration else np.zeros(2)
        return integrate(rates, breaks, self.start)

    def _checked(self, times: npt.ArrayLike) -> FloatArray:
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


def motion_of(given: object, call: str) -> Motion:
    """A motion, or the one of what was driven; InputError for what is neither, such as a file's name."""
    motion = given if isinstance(given, Motion) else getattr(given, "motion", None)
    if isinstance(motion, Motion):
        return motion
    hint = "trundle.plan(…), trundle.drive(file) and trundle.follow(path) give one"
    raise InputError(f"{call} takes a motion, not {came(given)}", key="motion", hint=hint)


# A panel's twist is a Legendre series of so many terms; it is resolved where the last two are rounding.
_TERMS = 16
_RESOLVED = 1e-14
# Or where they change the integral by less than this part of the whole length: a thousand panels leave 1e-12 of it.
_OF_LENGTH = 1e-15
_ROUNDING, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
# Beyond so many panels the rates are no smooth function between breaks. With four modules they are 190 MB of series.
_MOST_PANELS = 200_000

_NODES, _WEIGHTS = legendre.leggauss(_TERMS)
# Values at the nodes to the series' coefficients, by the orthogonality that Gauss' weights keep.
_TO_SERIES = (legendre.legvander(_NODES, _TERMS - 1) * (np.arange(_TERMS) + 0.5)).T * _WEIGHTS
# Values at the nodes to the coefficients of their integral from −1.
_TO_INTEGRAL = legendre.legint(np.eye(_TERMS), lbnd=-1, axis=0) @ _TO_SERIES
_AT_NODES = legendre.legvander(_NODES, _TERMS) @ _TO_INTEGRAL
# Values at the nodes to their derivatives there.
_SLOPES = legendre.legvander(_NODES, _TERMS - 2) @ legendre.legder(np.eye(_TERMS), axis=0) @ _TO_SERIES

Rates = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Arcs:
    """Poses as functions of time: on a panel x, y, θ and what else is integrated are Legendre series."""

    edges: FloatArray  # (panels + 1,), s
    series: FloatArray  # (panels, terms + 1, 3 + more)

    def at(self, times: FloatArray) -> FloatArray:
        """Poses (n, 3) at times (n,), and what else is integrated behind them."""
        panel = np.clip(np.searchsorted(self.edges, times, "right") - 1, 0, len(self.series) - 1)
        width = np.diff(self.edges)[panel]
        local = 2 * (times - self.edges[panel]) / np.where(width > 0, width, 1.0) - 1
        return np.einsum("nk,nkj->nj", legendre.legvander(local, _TERMS), self.series[panel])


def integrate(rates: Rates, breaks: FloatArray, start: tuple[float, float, float]) -> Arcs:
    """Poses from a start, of a twist in the body's frame that is analytic between breaks: the first three of `rates`,
    functions of time (n, 3 + more); what follows them is integrated by itself, from 0.

    A panel's turn φ and its displacement ∫ R(φ) v dt come by Gauss's quadrature with 16 nodes; panels whose series
    have not died out are halved (as Chebfun does: Battles & Trefethen 2004).
    """
    pending = np.stack([breaks[:-1], breaks[1:]], axis=1)
    length = 0.0
    done: list[FloatArray] = []
    local: list[FloatArray] = []
    while len(pending):
        series, rest, size = _panels(rates, pending)
        if not np.isfinite(series).all():  # no number of halvings would resolve them
            when = float(pending[~np.isfinite(series).all(axis=(1, 2))][0, 0])
            raise NumericsError(f"the speeds are no finite numbers behind t = {when:.6g} s")
        length = length or float(size.sum())  # of all panels, before the first are halved
        smooth = rest <= _OF_LENGTH * length
        # so short a panel is done at any rate: a jump between breaks would be halved for ever
        resolved = smooth | (pending[:, 1] - pending[:, 0] <= 1e-12 * max(1.0, breaks[-1]))
        done.append(pending[resolved])
        local.append(series[resolved])
        rough = pending[~resolved]
        if len(rough) + sum(map(len, done)) > _MOST_PANELS:
            raise NumericsError("the twist is too rough to be integrated to a pose")
        middle = rough.mean(axis=1)
        pending = np.concatenate([np.stack([rough[:, 0], middle], 1), np.stack([middle, rough[:, 1]], 1)])
    spans, series = np.concatenate(done), np.concatenate(local)
    order = np.argsort(spans[:, 0])
    return Arcs(np.append(spans[order, 0], breaks[-1]), _chained(series[order], start))


def _panels(rates: Rates, spans: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The series of the panels' displacements in their first frames; what more terms could add to these beyond
    rounding (p,), in m or rad; and how far the panels lead at most (p,).

    Times are rounded to ε t, so that rates are uncertain by ε t |v̇|: no panel is too short for that.
    """
    half = (spans[:, 1] - spans[:, 0])[:, None] / 2
    times = spans[:, :1] + half * (1 + _NODES)
    # rates take rising times, and panels come in the order in which they were halved
    order = np.argsort(times.ravel(), kind="stable")
    values = rates(times.ravel()[order])[np.argsort(order)].reshape(*times.shape, -1)
    turned = half * (values[..., 2] @ _AT_NODES.T)
    cos, sin = np.cos(turned), np.sin(turned)
    values = _turned(values, cos, sin)
    spectrum = np.abs(np.einsum("kj,pjc->pkc", _TO_SERIES, values))
    # below 1e-3 m/s (or rad/s) the tolerance is absolute: a base at rest leaves rounding only
    scale = np.maximum(spectrum.max(axis=(1, 2)), 1e-3)
    slope = np.abs(np.einsum("kj,pjc->pkc", _SLOPES, values)).max(axis=(1, 2)) / np.maximum(half[:, 0], _TINY)
    rounding = _RESOLVED * scale + _ROUNDING * spans[:, 1] * slope
    tail = spectrum[:, -2:].max(axis=(1, 2))
    rest = np.where(tail <= _TERMS * rounding, 0.0, tail * half[:, 0])
    size = half[:, 0] * np.einsum("j,pjc->pc", _WEIGHTS, np.abs(values)).max(axis=1)
    return half[..., None] * np.einsum("kj,pjc->pkc", _TO_INTEGRAL, values), rest, size


def _chained(series: FloatArray, start: tuple[float, float, float]) -> FloatArray:
    """Panels one behind the other: displacements turned to where their panels begin."""
    moved = series.sum(axis=1)  # Legendre polynomials are 1 at 1
    heading = start[2] + np.concatenate([[0.0], np.cumsum(moved[:, 2])])[:-1]
    chained = _turned(series, np.cos(heading)[:, None], np.sin(heading)[:, None])
    ends = np.cumsum(chained.sum(axis=1), axis=0)
    chained[1:, 0] += ends[:-1]
    chained[:, 0, :3] += start
    return chained


def _turned(values: FloatArray, cos: FloatArray, sin: FloatArray) -> FloatArray:
    """The first two of values (..., 3 + more) as a vector turned by an angle."""
    turned = values.copy()
    turned[..., 0] = cos * values[..., 0] - sin * values[..., 1]
    turned[..., 1] = sin * values[..., 0] + cos * values[..., 1]
    return turned
