"""Singular configurations: where a matrix M(q), of rank ρ at general q, loses rank; found by a bounded global search.

Samples all over the box give starts; Newton's method then solves for the nearby point where the ρ-th singular value
vanishes. Matrices of rank ρ − 1 are those whose part between the last singular vectors is zero: with M = U Σ Vᵀ and
U₀, V₀ the vectors from the ρ-th on, U₀ᵀ M(q) V₀ = 0 to first order in q (Golub & Van Loan 2013, sec. 2.5; the
derivative of a singular value is uᵀ (∂M/∂q) v).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.analysis.velocity_maps import VelocityMaps
from trundle.mechanics.coupling import Gear
from trundle.mechanics.elimination import SEED, generic_rank
from trundle.robot.bodies import drive_axes

# M at configurations (s, d) as (s, m, n).
MatrixFunction = Callable[[np.ndarray], np.ndarray]

# A σ_ρ/σ₁ up to here is a singularity: Newton's method with differences of 1e-6 ends at about 1e-10.
SINGULAR = 1e-7
_STEP = 1e-6  # of the central differences, whose error is then about 1e-12 in SI-sized numbers
# Steps of Newton's method: quadratic convergence takes a few, the way from a far start takes most.
_NEWTON = 30
# Newton's method may stray for some steps; where no start has come closer for so many, none will.
_PATIENCE = 6
# Starts over the whole box, this far apart in its widths, and around each isolated point that they find.
_STARTS, _APART, _BESIDE = 24, 0.15, 8
# A coordinate is free at a singular point where moving it changes the conditions by no more than this share of what
# the others do: the differences' own error is far smaller.
_FREE = 1e-6
_ON = 1e-9  # how near (m) to a surface counts as on it


@dataclass(frozen=True)
class SearchBox:
    """The configurations that are searched: names, bounds (d,) each, and which coordinates are angles that close after
    `period` (rad; 0 for none).
    """

    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    period: np.ndarray

    def wrap(self, q: np.ndarray) -> np.ndarray:
        """Configurations (s, d) with the angles brought into their period: (upper − period, upper]."""
        turns = np.where(self.period > 0, self.period, 1.0)
        wrapped = self.upper - np.mod(self.upper - q, turns)
        # What rounding put just above the lower end is the upper end.
        wrapped = np.where(wrapped - (self.upper - turns) < 1e-9, self.upper, wrapped)
        return np.where(self.period > 0, wrapped, q)

    def holds(self, q: np.ndarray) -> np.ndarray:
        """Which of the configurations (s, d) lie inside."""
        return np.all((q >= self.lower - 1e-9) & (q <= self.upper + 1e-9), axis=1)


@dataclass(frozen=True)
class ConstraintSurface:
    """What configurations must lie on: `gaps` (s, d) → (s, c) vanish there; `project` moves configurations onto it and
    says which of them arrived.
    """

    gaps: Callable[[np.ndarray], np.ndarray]
    project: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class _Problem:
    matrices: MatrixFunction
    box: SearchBox
    surface: ConstraintSurface | None
    rank: int

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """(s, c), with no columns where every configuration is allowed."""
        return np.zeros((len(q), 0)) if self.surface is None else self.surface.gaps(q)

    def allowed(self, q: np.ndarray) -> np.ndarray:
        """Of configurations (s, d) those that can be brought onto the surface inside the box."""
        if self.surface is not None:
            moved, arrived = self.surface.project(q)
            q = self.box.wrap(moved[arrived])
        return q[self.box.holds(q)]

    def relative(self, values: np.ndarray) -> np.ndarray:
        """σ_ρ/σ₁ of each matrix."""
        sigma = np.linalg.svd(values, compute_uv=False)
        return sigma[:, self.rank - 1] / np.maximum(sigma[:, 0], 1e-300)


@dataclass(frozen=True)
class SingularPoint:
    """A configuration, by name, with σ_ρ/σ₁ there. The coordinates in `free` may have any value; `family` more
    dimensions of singular configurations pass through it besides.
    """

    at: tuple[tuple[str, float], ...]
    value: float
    free: tuple[str, ...] = ()
    family: int = 0


@dataclass(frozen=True)
class SingularitySearch:
    """What a search over a box found: the rank ρ at general configurations, the singular ones, and else the worst.

    `worst` is the configuration with the smallest σ_ρ/σ₁ that was seen; where nothing depends on the configuration it
    has no coordinates. `samples` configurations were looked at before refining.
    """

    rank: int
    singular: tuple[SingularPoint, ...]
    worst: SingularPoint
    box: SearchBox
    samples: int


def relevant(matrices: MatrixFunction, base: np.ndarray) -> list[int]:
    """The coordinates on which the singular values of M depend, found on numbers around the configuration (d,)."""
    # A random configuration and a long step (rad, m): at special ones, or after half a turn, nothing might change.
    rng = np.random.default_rng(SEED)
    starts = base + rng.uniform(-1.2, 1.2, (3, base.size))
    count = base.size
    moved = np.repeat(starts, count + 1, axis=0)
    for k in range(count):
        moved[k + 1 :: count + 1, k] += 0.7
    values = np.linalg.svd(matrices(moved), compute_uv=False).reshape(len(starts), count + 1, -1)
    change = np.abs(values[:, 1:] - values[:, :1]).max(axis=(0, 2), initial=0.0)
    return [k for k in range(count) if change[k] > 1e-9 * max(values.max(initial=0.0), 1e-300)]


def find_singular(
    matrices: MatrixFunction,
    box: SearchBox,
    samples: int = 1500,
    surface: ConstraintSurface | None = None,
    rank: int | None = None,
) -> SingularitySearch:
    """Where M loses rank inside the box, and on the surface if there is one, by sampling and Newton's method.

    `rank` is that of general configurations, by default the largest among the samples. Finds isolated points and one
    point a family; in many dimensions a small singular set can be missed, which is why the worst value seen comes with
    it.
    """
    rng = np.random.default_rng(SEED)
    count = len(box.names)
    problem = _Problem(matrices, box, surface, 0)
    start = problem.allowed(rng.uniform(box.lower, box.upper, (samples if count else 1, count)))
    if not len(start):
        return SingularitySearch(rank or 0, (), SingularPoint((), 1.0), box, 0)
    values = matrices(start)
    problem = replace(problem, rank=generic_rank(values) if rank is None else rank)
    if problem.rank == 0:
        return SingularitySearch(0, (), SingularPoint((), 0.0), box, len(start))
    sizes = problem.relative(values)
    best = int(np.argmin(sizes))
    worst = SingularPoint(_named(box, start[best]), float(sizes[best]))
    if not count:
        return SingularitySearch(problem.rank, (), worst, box, 1)
    points, ends = _refine(problem, start[_scattered(start, np.argsort(sizes), box, _APART, _STARTS)])
    families = _distinct(problem, points[ends <= SINGULAR], ends[ends <= SINGULAR])
    beside = _starts_near(
        start, sizes, box, [dict(point.at) for point in families if not (point.family or point.free)]
    )
    if beside:
        more, their_ends = _refine(problem, start[beside])
        points, ends = np.concatenate([points, more]), np.concatenate([ends, their_ends])
        families = _distinct(problem, points[ends <= SINGULAR], ends[ends <= SINGULAR])
    if len(ends) and float(ends.min()) < worst.value:
        at = int(np.argmin(ends))
        worst = SingularPoint(_named(box, points[at]), float(ends[at]))
    return SingularitySearch(problem.rank, families, worst, box, len(start))


def _starts_near(
    start: np.ndarray, sizes: np.ndarray, box: SearchBox, isolated: Sequence[dict[str, float]]
) -> list[int]:
    """More starts around each isolated singularity, closer to one another: where a mechanism is nearly special, such
    points come in pairs, and one start for both finds one.
    """
    chosen: set[int] = set()
    for point in isolated:
        at = np.array([[point[name] for name in box.names]])
        near = np.flatnonzero(_distances(box, start, at[0]) <= _APART)
        chosen |= set(_scattered(start, near[np.argsort(sizes[near])], box, _APART / 10, _BESIDE))
    return sorted(chosen)


def _scattered(start: np.ndarray, order: np.ndarray, box: SearchBox, apart: float, most: int) -> list[int]:
    """The first of the samples in that order that are far enough from one another."""
    taken: list[int] = []
    for index in order:
        if not taken or float(_distances(box, start[taken], start[index]).min()) > apart:
            taken.append(int(index))
        if len(taken) == most:
            break
    return taken


def _distances(box: SearchBox, q: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Root-mean-square distances (s,) from the configurations (s, d) to one, in widths of the box."""
    gaps = np.abs(q - at) / np.maximum(box.upper - box.lower, 1e-12)
    gaps = np.where(box.period > 0, np.minimum(gaps, 1 - gaps), gaps)
    return np.sqrt((gaps**2).mean(axis=1))


def _conditions(problem: _Problem, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At each q (s, d): σ_ρ/σ₁, the residual U₀ᵀ M V₀ with the surface's gaps (s, c), and its derivative (s, c, d)."""
    count, rank = q.shape[1], problem.rank
    moved = np.repeat(q, 2 * count + 1, axis=0)
    for k in range(count):
        moved[2 * k + 1 :: 2 * count + 1, k] += _STEP
        moved[2 * k + 2 :: 2 * count + 1, k] -= _STEP
    values = problem.matrices(moved)
    values = values.reshape(len(q), 2 * count + 1, *values.shape[1:])
    # σ_ρ itself has a corner where it vanishes; entries of the block between the last singular vectors have none.
    u, sigma, vt = np.linalg.svd(values[:, 0])
    left, right = u[:, :, rank - 1 :], vt[:, rank - 1 :, :]
    slopes = (values[:, 1::2] - values[:, 2::2]) / (2 * _STEP)
    between = np.einsum("sma,skmn,sbn->sabk", left, slopes, right)
    residual = np.zeros(between.shape[:3])
    residual[:, 0, 0] = sigma[:, rank - 1]
    size = sigma[:, rank - 1] / np.maximum(sigma[:, 0], 1e-300)
    gaps = problem.gaps(moved).reshape(len(q), 2 * count + 1, -1)
    along = (gaps[:, 1::2] - gaps[:, 2::2]).swapaxes(1, 2) / (2 * _STEP)
    return (
        size,
        np.concatenate([residual.reshape(len(q), -1), gaps[:, 0]], axis=1),
        np.concatenate([between.reshape(len(q), -1, count), along], axis=1),
    )


def _refine(problem: _Problem, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each start moved by Newton's method with the least step that meets the conditions: of each way the best point, if
    it lies inside the box, and σ_ρ/σ₁ there.
    """
    box = problem.box
    reach = 0.25 * (box.upper - box.lower)
    best, lowest = q.copy(), np.full(len(q), np.inf)
    idle = 0
    for _ in range(_NEWTON):
        size, residual, slope = _conditions(problem, q)
        # Off the surface a small σ says nothing.
        off = np.abs(problem.gaps(q)).max(axis=1, initial=0.0)
        size = np.where(off <= _ON, size, np.inf)
        better = (size < lowest) & box.holds(box.wrap(q))
        idle = 0 if (better & (size < 0.9 * lowest)).any() else idle + 1
        best[better], lowest[better] = box.wrap(q)[better], size[better]
        if (lowest <= 1e-13).all() or idle == _PATIENCE:
            break
        # A coarse cut-off: directions that hardly change the conditions are those of a family.
        step = -(np.linalg.pinv(slope, rcond=1e-5) @ residual[..., None])[..., 0]
        shrink = np.maximum((np.abs(step) / reach).max(axis=1, keepdims=True), 1.0)
        q = q + step / shrink
        q = np.where(box.period > 0, q, np.clip(q, box.lower, box.upper))
    inside = box.holds(best)
    return best[inside], lowest[inside]


def _distinct(problem: _Problem, q: np.ndarray, sizes: np.ndarray) -> tuple[SingularPoint, ...]:
    """One point for each isolated singularity, and one for each kind of family."""
    if not len(q):
        return ()
    box = problem.box
    _, _, slope = _conditions(problem, q)
    families: list[Finding] = []
    for at, size, derivative in zip(q, sizes, slope, strict=True):
        scale = max(np.abs(derivative).max(initial=0.0), 1e-300)
        free = tuple(bool(column <= _FREE * scale) for column in np.abs(derivative).max(axis=0))
        held = [k for k, is_free in enumerate(free) if not is_free]
        codimension = int(np.linalg.matrix_rank(derivative, tol=1e-5 * scale))
        family = len(held) - codimension
        same = [p for p, f, point in families if f == free and (point.family or _near(box, p, at, held))]
        if same:
            continue
        names = tuple(box.names[k] for k in range(len(free)) if free[k])
        point = SingularPoint(tuple((box.names[k], _tidy(at[k])) for k in held), float(size), names, family)
        families.append((at, free, point))
    families = [
        finding for finding in families if not any(_covers(box, other, finding) for other in families)
    ]
    return tuple(point for _, _, point in sorted(families, key=lambda finding: [v for _, v in finding[2].at]))


Finding = tuple[np.ndarray, tuple[bool, ...], SingularPoint]


def _covers(box: SearchBox, family: Finding, other: Finding) -> bool:
    """Whether a point lies in a family that leaves more coordinates free: where two families cross, Newton's method is
    slow, and ends beside the crossing.
    """
    more = sum(family[1]) > sum(other[1]) and all(
        a or not b for a, b in zip(family[1], other[1], strict=True)
    )
    return more and _near(box, family[0], other[0], [k for k, free in enumerate(family[1]) if not free])


def _near(box: SearchBox, a: np.ndarray, b: np.ndarray, held: Sequence[int]) -> bool:
    gap = np.abs(a - b)
    gap = np.where(box.period > 0, np.minimum(gap, np.abs(box.period - gap)), gap)
    return bool(gap[list(held)].max(initial=0.0) < 1e-4)


def _named(box: SearchBox, q: np.ndarray) -> tuple[tuple[str, float], ...]:
    return tuple((name, float(value)) for name, value in zip(box.names, q, strict=True))


def _tidy(value: float) -> float:
    """0 where Newton's method leaves rounding beside it."""
    return 0.0 if abs(value) < 1e-9 else float(value)


# How far a sliding joint without limits is searched, in the robot's own lengths: loops have two ways to their ends.
_SLIDE, _SLIDE_IN_LOOPS = 1.0, 2.0


def box(maps: VelocityMaps, coordinates: Sequence[int]) -> SearchBox:
    """Where those coordinates are searched: within their joints' limits, a wheel's or coupling's steering within a
    half turn (its line is then the same again), other angles around, sliding joints over the robot's length, all
    as wide as what gears move by them needs.
    """
    bounds = [_bounds(maps, maps.names[k]) for k in coordinates]
    lower, upper, period = np.array(bounds, dtype=float).reshape(-1, 3).T
    return SearchBox(tuple(maps.names[k] for k in coordinates), lower, upper, period)


def _bounds(maps: VelocityMaps, name: str) -> tuple[float, float, float]:
    """Lower and upper bound and period (0 for none) of a coordinate, wide enough for all that gears move by it."""
    bounds = _own_bounds(maps, name)
    for gear in maps.assembly.couplings:
        if not isinstance(gear, Gear) or [axis.coordinate for axis in gear.leaders] != [name]:
            continue
        ratio, offset = float(gear.ratios[0]), float(gear.offset)
        if ratio:
            lower, upper, period = _bounds(maps, gear.follower.coordinate)
            first, last = sorted(((lower - offset) / ratio, (upper - offset) / ratio))
            bounds = _common(bounds, (first, last, period / abs(ratio)))
    return bounds


def _own_bounds(maps: VelocityMaps, name: str) -> tuple[float, float, float]:
    """Lower and upper bound and period of a coordinate by its own limits, gears left aside.

    A steering angle repeats after half a turn: then the wheel rolls along the same line. A slide without limits is
    searched as far as the robot is long, or a multiple of it.
    """
    robot, quantity = maps.mechanism.robot, maps.assembly.quantities[name]
    owner, what = quantity.owner, quantity.label
    if owner in robot.couplings or (what == "steering" and robot.wheels[owner].is_steered):
        return -math.pi / 2, math.pi / 2, math.pi
    drives = (
        [drive for axis, drive in drive_axes(robot.joints[owner]).values() if axis.coordinate == what]
        if owner in robot.joints
        else []
    )
    limits = [getattr(drive, end) for drive in drives for end in ("lower", "upper")] or [None, None]
    read = robot.resolver()
    lower, upper = (None if limit is None else float(read(limit)) for limit in limits)
    if quantity.unit == "rad":
        if lower is None and upper is None:
            return -math.pi, math.pi, 2 * math.pi
        lower = -math.pi if lower is None else lower
        return lower, math.pi if upper is None else upper, 0.0
    reach = (_SLIDE_IN_LOOPS if maps.assembly.loops else _SLIDE) * maps.length
    return -reach if lower is None else lower, reach if upper is None else upper, 0.0


def _common(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    """Bounds and period of a coordinate that has both: of limits the narrower, of periods the one that holds both."""
    (narrow, wide), free = sorted((a, b), key=lambda range_: range_[1] - range_[0]), [not a[2], not b[2]]
    if any(free):
        held = [bounds for bounds, is_free in zip((a, b), free, strict=True) if is_free]
        return max(bounds[0] for bounds in held), min(bounds[1] for bounds in held), 0.0
    turns = next((k for k in (1, 2, 3, 4) if abs(math.remainder(k * wide[2], narrow[2])) < 1e-9), 0)
    return (-turns * wide[2] / 2, turns * wide[2] / 2, turns * wide[2]) if turns else (*wide[:2], 0.0)
