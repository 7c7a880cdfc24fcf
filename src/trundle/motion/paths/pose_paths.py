"""Paths of poses: where a base shall be and how it is turned there, x, y and θ as smooth functions of a length s."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.arrays import ComplexArray, FloatArray, as_numbers
from trundle.errors import InputError, warn
from trundle.expected import check_float, check_str

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

# Where a wheel steers with a limited acceleration, its angle needs a continuous first derivative and a bounded second
# one, and with a limited jerk a third one: splines of degree 5 have four.
_DEGREE = 5
# What a radian counts as, in m, where lengths and turns are added: about a module's distance from the centre.
TURN = 0.5
# Nodes nearer than this share of the curve aren't tried: a curve that still isn't fitted by then turns a corner.
_FINEST = 1e-4
# Distances between nodes are tried as powers of this: smaller steps find fewer nodes, and take more fits.
_SHRINK = 0.75
# Places at which a fitted spline is compared with its curve.
_LOOKS = 4001
# Steps this near to opposite ones (1 + cos of the angle between them) lead back the same way.
_BACK = 1e-6

# A path through points whose pace falls below this share of a metre a metre turns on the spot there.
_STANDS_STILL = 1e-3

# Turns of more than this at once (rad) were meant as degrees, most likely.
_MEANT = 4 * math.pi
# m/s or rad/s: files round what is at rest; a path that began so slowly would take minutes to get going.
STANDS = 1e-6
# m, half of it a radian: places nearer than this are one. Files round, and solvers leave as much between equal ones.
HAIR = 1e-7

PathFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Zone:
    """What a path asks for from one length to another: at most this speed, acceleration, turning rate and its rate.

    start, end: along the whole path (m); velocity, acceleration: of the base's origin (m/s, m/s²); rate,
    rate_change: of its heading (rad/s, rad/s²).
    """

    start: float
    end: float
    velocity: float = math.inf
    acceleration: float = math.inf
    rate: float = math.inf
    rate_change: float = math.inf

    @property
    def limits(self) -> dict[str, float]:
        """What is limited, and to what, by name."""
        return {name: most for name in LIMITS if math.isfinite(most := getattr(self, name))}


LIMITS = ("velocity", "acceleration", "rate", "rate_change")


def apart(values: Iterable[float], least: float) -> list[float]:
    """The values in order, without those at most so far behind one that is kept."""
    kept: list[float] = []
    for value in sorted(map(float, values)):
        if not kept or value - kept[-1] > least:
            kept.append(value)
    return kept


def between(values: FloatArray, begin: float, end: float, least: float) -> FloatArray:
    """The begin, the end, and the values between them that are further apart than that."""
    inner = values[(values > begin + least) & (values < end - least)]
    return np.array([begin, *apart(inner, least), end])


def all_held(zones: Sequence[Zone]) -> tuple[Zone, ...]:
    """Zones one behind the other that ask for what several of these ask for together."""
    held = []
    for a, b in pairwise(sorted({end for zone in zones for end in (zone.start, zone.end)})):
        here = [zone for zone in zones if zone.start <= (a + b) / 2 <= zone.end]
        if here:
            held.append(Zone(a, b, *(min(getattr(zone, limit) for zone in here) for limit in LIMITS)))
    return tuple(held)


@dataclass(frozen=True, eq=False)
class Tangent:
    """s → (x, y, θ) with θ along a spline s → (x, y), θ = arg p′, or against it: no point of the base's axis that
    passes the origin slides across it.
    """

    plane: BSpline
    back: bool = False

    @property
    def t(self) -> FloatArray:
        """The spline's nodes."""
        return self.plane.t

    def __call__(self, s: FloatArray, order: int = 0) -> FloatArray:
        """(n, 3): poses, or a derivative of theirs."""
        s = np.asarray(s)
        heading = self._heading(s) if order == 0 else self._turning(s, order)
        return np.concatenate([self.plane(s, order), heading[:, None]], axis=1)

    def checked(self) -> Tangent:
        """The same; InputError where the spline comes to a stand, so that θ isn't determined."""
        looks = np.linspace(self.t[0], self.t[-1], _LOOKS)
        paces = np.linalg.norm(self.plane(looks, 1), axis=1)
        if paces.min() < _STANDS_STILL:
            x, y = self.plane(looks[int(paces.argmin())])
            raise InputError(
                f"the path turns on the spot at ({x:.4g}, {y:.4g}): it has no direction there",
                key="poses",
                hint="give points that lie wider apart, or poses (x, y, θ) for a robot that turns by itself",
            )
        return self

    def _heading(self, s: FloatArray) -> FloatArray:
        """θ without jumps by turns: counted up over looks, exact between."""
        looks, angles = self._looks
        exact = np.angle(self._rates(s, 1)[0]) + math.pi * self.back
        near = np.interp(s, looks, angles)
        return exact + 2 * math.pi * np.round((near - exact) / (2 * math.pi))

    def _rates(self, s: FloatArray, count: int) -> list[ComplexArray]:
        """So many derivatives of x + i y."""
        return [self.plane(s, order) @ (1.0, 1j) for order in range(1, count + 1)]

    def _turning(self, s: FloatArray, order: int) -> FloatArray:
        """A derivative of Im ln u, u = p′: of u L′ = u′ by Leibniz."""
        u = self._rates(s, order + 1)
        logs: list[ComplexArray] = []
        for n in range(1, order + 1):
            known = sum(
                (math.comb(n - 1, k) * u[k] * logs[n - k - 1] for k in range(1, n)), np.zeros_like(u[0])
            )
            logs.append((u[n] - known) / u[0])
        return logs[-1].imag

    @cached_property
    def _looks(self) -> tuple[FloatArray, FloatArray]:
        looks = np.linspace(self.t[0], self.t[-1], _LOOKS)
        return looks, np.unwrap(np.angle(self._rates(looks, 1)[0])) + math.pi * self.back


@dataclass(frozen=True, eq=False)
class Section:
    """A smooth part of a path, from `begin` to `end` on a spline s → (x, y, θ); `entry` and `exit` are the speeds that
    are wished for there (m/s), 0 for rest.
    """

    spline: BSpline | Tangent
    begin: float
    end: float
    entry: float = 0.0
    exit: float = 0.0

    @property
    def length(self) -> float:
        """In m, a turn counted with half a metre per radian."""
        return self.end - self.begin

    def at(self, s: FloatArray, order: int = 0) -> FloatArray:
        """(n, 3): poses, or a derivative of theirs, at lengths from 0."""
        return self.spline(np.asarray(s) + self.begin, order)

    def cut(self, places: Sequence[float]) -> tuple[Section, ...]:
        """The same in parts, at rest between them."""
        ends = [self.begin, *(self.begin + place for place in sorted(places)), self.end]
        speeds = [self.entry, *(0.0 for _ in places), self.exit]
        return tuple(
            Section(self.spline, ends[i], ends[i + 1], speeds[i], speeds[i + 1]) for i in range(len(ends) - 1)
        )


@dataclass(frozen=True, eq=False)
class PosePath:
    """Poses one behind the other, without times: sections with rest between them.

    Parameters
    ----------
    name : str
        Of the path, as its file calls it.
    sections : tuple of Section
        One behind the other: a section begins where the one before ends.
    zones : tuple of Zone
        Where several hold, the first one counts.
    events : tuple of (str, float)
        What is to happen at which length (m).
    deviation : tuple of two floats
        How far (m) and by what angle (rad) this leaves the file's path, whose curvature may jump.
    duration : float, s, optional
        How long the file takes for it, where it says so.
    way : callable, optional
        Gives the path of bases that can't move sideways, where that is another one: θ is arg p′, or that plus π.

    Examples
    --------
    >>> import trundle
    >>> path = trundle.pose_path([(0, 0, 0), (1, 0.5, 0), (2, 0, 1.57)])
    >>> path.poses([0.0, path.length]).round(9).tolist()
    [[0.0, 0.0, 0.0], [2.0, 0.0, 1.57]]
    """

    name: str
    sections: tuple[Section, ...]
    zones: tuple[Zone, ...] = ()
    events: tuple[tuple[str, float], ...] = ()
    deviation: tuple[float, float] = (0.0, 0.0)
    duration: float | None = None
    way: Callable[[], PosePath] | None = field(default=None, repr=False)

    @cached_property
    def begins(self) -> FloatArray:
        """Lengths at which sections begin, and the whole, (sections + 1,) in m."""
        return np.concatenate([[0.0], np.cumsum([section.length for section in self.sections])])

    @property
    def length(self) -> float:
        """The last length that `poses` takes (m): of `pose_path` straight from pose to pose, half a metre per radian of
        a turn counted in. A curve between poses is longer.
        """
        return float(self.begins[-1])

    def poses(self, lengths: npt.ArrayLike) -> FloatArray:
        """Where the base shall be, (n, 3): x, y (m), θ (rad), at lengths (n,) from 0 to the whole."""
        lengths = np.atleast_1d(as_numbers(lengths, "lengths"))
        owner = np.clip(np.searchsorted(self.begins, lengths, "right") - 1, 0, len(self.sections) - 1)
        poses = np.empty((len(lengths), 3))
        for place, section in enumerate(self.sections):
            mine = owner == place
            poses[mine] = section.at(np.clip(lengths[mine] - self.begins[place], 0.0, section.length))
        return poses


def pose_path(
    poses: npt.ArrayLike, name: str = "path", velocity: float = math.inf, acceleration: float = math.inf
) -> PosePath:
    """A path through poses or points, from rest to rest: the spline of degree 5 over the lengths between them.

    Points (x, y) without headings make a path whose heading is along it, as differential drives and cars need it.
    Where the path leads straight back, the base stops; along points it goes on backward from there.

    Parameters
    ----------
    poses : array_like (n, 3) or (n, 2)
        x, y (m), θ (rad), without jumps by turns; or x, y alone.
    name : str, optional
        Of the path.
    velocity, acceleration : float, m/s and m/s^2, optional
        Of the base at most.

    Returns
    -------
    PosePath

    Raises
    ------
    InputError
        There are fewer than two poses, one isn't finite, two neighbours are the same, or a path through points turns on
        the spot.

    Examples
    --------
    >>> import trundle
    >>> round(trundle.pose_path([(0, 0, 0), (3, 4, 0)]).length, 12)
    5.0
    >>> trundle.pose_path([(0, 0), (1, 1)]).poses([0.0])[0, 2].round(6)  # along it
    np.float64(0.785398)
    """
    rows = as_numbers(poses, "poses")
    if rows.ndim != 2 or rows.shape[1] not in (2, 3) or len(rows) < 2:
        message = f"expected two or more poses (x, y, θ), or points (x, y), got an array {rows.shape}"
        raise InputError(message, key="poses")
    if not np.isfinite(rows).all():
        place = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise InputError(f"pose {place} has a number that isn't finite: {rows[place].tolist()}", key="poses")
    if rows.shape[1] == 3:
        warn_of_turns(float(np.abs(np.diff(rows[:, 2])).max()), "poses")
    limits = {"velocity": velocity, "acceleration": acceleration}
    velocity, acceleration = (check_float(given, key, above=0) for key, given in limits.items())
    whole = rows if rows.shape[1] == 3 else np.column_stack([rows, np.zeros(len(rows))])
    steps = distances(np.diff(whole, axis=0))
    if not steps.all():
        again = int(np.flatnonzero(steps == 0)[0]) + 1
        raise InputError(f"pose {again} is the same as the one before it", key="poses", hint="leave it out")
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    parts = [slice(a, b + 1) for a, b in pairwise([0, *_turning_back(whole), len(rows) - 1])]
    splines = [_through(lengths[part], rows[part]) for part in parts]
    if rows.shape[1] == 2:
        splines = [Tangent(spline, back=bool(place % 2)).checked() for place, spline in enumerate(splines)]
    sections = tuple(
        Section(spline, *lengths[part][[0, -1]].tolist()) for spline, part in zip(splines, parts, strict=True)
    )
    zone = Zone(0.0, float(lengths[-1]), velocity, acceleration)
    return PosePath(check_str(name, "name"), sections, (zone,))


def warn_of_turns(angle: float, key: str) -> None:
    """Warn of an angle (rad) of more turns than anybody means: degrees, most likely."""
    if abs(angle) > _MEANT:
        meant = math.radians(angle)
        turns = abs(angle) / (2 * math.pi)
        warn(f"{key}: {angle:.4g} rad of θ are {turns:.3g} turns; {angle:.4g}° would be {meant:.4g} rad")


def _turning_back(poses: FloatArray) -> list[int]:
    """The poses behind which a path goes back the way it came: a smooth curve through them has no direction there."""
    steps = np.diff(poses, axis=0) * (1.0, 1.0, TURN)
    ways = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    return (np.flatnonzero((ways[1:] * ways[:-1]).sum(axis=1) < _BACK - 1) + 1).tolist()


def distances(changes: FloatArray) -> FloatArray:
    """√(Δx² + Δy² + (Δθ/2)²) of changes (n, 3), in m."""
    return np.sqrt(changes[:, 0] ** 2 + changes[:, 1] ** 2 + (TURN * changes[:, 2]) ** 2)


def fitted_sections(
    curve: Callable[[float, float], PathFunction],
    ends: FloatArray,
    marks: FloatArray,
    tolerance: float,
    speeds: tuple[float, float],
    back: bool | None = None,
) -> tuple[tuple[Section, ...], tuple[float, float]]:
    """Sections from end to end, at rest between them, within a tolerance (m) of curves; the largest deviation.

    curve: what leads from one length to another; marks: lengths at which sections go through it, of which those a hair
    apart are one; speeds: at the whole path's ends (m/s), of which less than `STANDS` is rest; back: θ is along the way
    (False) or against it (True), not the curve's.
    """
    sections, deviations = [], []
    first, last = (speed if speed >= STANDS else 0.0 for speed in speeds)
    for a, b in pairwise(ends):
        spline, deviation = fitted(curve(a, b), between(marks, a, b, HAIR), tolerance, back)
        entry = first if a == ends[0] else 0.0
        leaving = last if b == ends[-1] else 0.0
        sections.append(Section(spline, float(a), float(b), entry, leaving))
        deviations.append(deviation)
    distance, angle = np.max(deviations, axis=0).tolist()
    return tuple(sections), (distance, angle)


def fitted(
    curve: PathFunction, marks: FloatArray, tolerance: float, back: bool | None
) -> tuple[BSpline | Tangent, FloatArray]:
    """The spline with the fewest even nodes that stays within a tolerance (m) of a curve, and its deviation (2,) in m
    and rad; it goes through the curve at the marks, which are the ends at least.

    Few nodes matter: where a curve's curvature jumps, a wheel has to turn at once, which its limits don't allow. The
    spline spreads the jump over a node's distance h, and leaves the curve by about h²/50 times the jump.
    """
    spans = np.diff(marks)
    looks = np.linspace(marks[0], marks[-1], _LOOKS)
    goal = curve(looks)
    # at first as many spans as the degree asks for, then ever shorter ones
    step = marks[-1] / _DEGREE
    while step > _FINEST * marks[-1]:
        # rounding must not add a node where a span is a whole number of steps
        counts = np.ceil(spans / step - 1e-9).astype(int)
        nodes = [a + (b - a) * np.arange(n) / n for a, b, n in zip(marks, marks[1:], counts, strict=False)]
        even = np.append(np.concatenate(nodes), marks[-1])
        poses = curve(even)
        spline = _through(even, poses) if back is None else Tangent(_through(even, poses[:, :2]), back)
        off = np.abs(spline(looks) - goal)
        off[:, 2] = np.abs(off[:, 2] - 2 * math.pi * np.round(off[:, 2] / (2 * math.pi)))
        if distances(off).max() <= tolerance:
            return spline, np.array([np.hypot(off[:, 0], off[:, 1]).max(), off[:, 2].max()])
        step *= _SHRINK
    raise InputError(
        f"no smooth path stays within {tolerance:g} m of it: it turns a corner",
        hint="a larger tolerance, or control points further from their anchors",
    )


def _through(lengths: FloatArray, poses: FloatArray) -> BSpline:
    """The spline of degree 5 through poses; of a lower one where there are too few of them."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(lengths, poses, k=min(_DEGREE, len(lengths) - 1))
