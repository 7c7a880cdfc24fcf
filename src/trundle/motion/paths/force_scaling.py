"""How fast motors and floor let a path be followed: programmes one after the other, then the true laws everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError
from trundle.motion.constraints.constraint import Moving, shares
from trundle.motion.constraints.real_limits import actuation
from trundle.motion.forces.creeping import any_creeps
from trundle.motion.forces.demand import Demand
from trundle.motion.paths.along_path import WISHES, wishes_within, wishing
from trundle.motion.paths.force_laws import Laws
from trundle.motion.paths.force_programme import Basis, Chosen, ForceProgramme, Rows
from trundle.motion.paths.knots import Knots, cut, graded, merged
from trundle.motion.paths.looks import NODES, WEIGHTS, WISHED, Bound, Forced, Looks
from trundle.motion.paths.path_scaling import Course, Programme, Room, Scaling, quickest

# The friction of wheels that hold whatever comes, for a first guess.
_STICKY = 10.0
# What shares bend at least on an interval, of what counts as lost there: rounding must not cut.
_FLAT = 1e-5
# Shares that bend too sharply for one polynomial an interval: certificates take so many.
_SHARP = 8
# Intervals are cut again, so often at most, where margins cost more than this share of the time.
_LOST, _LEVELS = 5e-4, 3
# What is below this share binds nothing.
_SMALL = 0.1
# Newton's method begins at this share of the greatest b.
_FIRST = 0.5
# Programmes at most, and the change of the time (relative) that ends them.
_MOST_ROUNDS, _ENOUGH = 10, 5e-4
# A path is followed slowly at this share of what b can be.
_SLOW = 1e-6
# By so many parts, cubed, intervals are cut whose margins cost too much.
_FINE = 40
# What motors and floor give may be passed by this share before the whole is slowed; where contacts creep, whose costs
# the programmes don't know, margins come near to it slowly.
_USED, _CREPT = 1e-3, 2e-3
# Within these shares of the time the rounds' programmes are solved: the nearer to its end one was, the more steps the
# next one takes to leave the edge of what has changed.
_GOALS = (3e-3, 3e-4, 3e-5)
# What is known from other intervals begins so far inside of it.
_WARM = 0.97
# Nor at less than this share of what b is expected to be: steps that are cut at its least end there.
_OFF_REST = 1e-2
# How often the whole is slowed at most.
_MOST_LOOKS = 12
# It is slowed by what is too much to this power at most.
_STEEPEST = 100.0
# The whole is slowed until no share is above 1 by more than this.
_BEYOND = 1e-9


def quickest_by_forces(
    course: Course, knots: Knots, jerks: bool, ends: tuple[float, float], bound: Bound
) -> Forced:
    """The least time that a spline b on these knots takes within declared limits and what motors and floor give.

    What declared limits alone allow stays as it is where motors and floor give it.
    """
    if not bound.passed and np.isfinite(course(knots.every[:1])[1][:2]).any(axis=(1, 2)).all():
        looks = Looks.on(knots.every, bound)
        alone = Forced(quickest(course, knots.every, jerks, ends), looks.nothing().pushes)
        if max(share.max() for share in looks.worst(alone).values()) <= 1:
            return alone
    rounds = _Rounds.on(course, knots.every, ends, bound, jerks)
    start, found = rounds.begin(), None
    for level in range(_LEVELS):
        try:
            forced = rounds.run(start, _MOST_ROUNDS)
        except NumericsError:
            if found is None:
                raise
            return found()
        lost, closer = rounds.lost(forced), rounds.looks.closer(forced, _SHARP)
        looks = [rounds.looks, closer] if closer else [rounds.looks]
        found = partial(_certified, forced, rounds.room, looks)
        if level == _LEVELS - 1 or lost.sum() < _LOST:
            return found()
        many = np.ceil(np.cbrt(lost / _LOST * _FINE))
        finer = merged(graded(cut(rounds.declared.knots, many)), knots.marks)
        rounds = _Rounds.on(course, finer, ends, bound, jerks)
        start = rounds.after(forced)
    raise NumericsError("no speeds along the path keep what motors and floor give")


class TooFastError(NumericsError):
    """A path can't be passed as fast as is asked somewhere: at `share` of that speed at most."""

    def __init__(self, share: float) -> None:
        super().__init__(
            f"motors and floor let a pose be passed at {share:.4g} times the speed that is asked for"
        )
        self.share = share


def passing_by_forces(course: Course, knots: Knots, jerks: bool, bound: Bound) -> Forced:
    """The same from rest to rest, with the bound's ż² at the jumps where it has one: asked for with what certifying
    takes, then slowed to it. TooFastError where what binds leaves less.
    """
    wished, more, before = np.array(bound.passed), 1.0, 0.0
    while True:
        asked = tuple((z, b * more) for z, b in wished.tolist())
        forced = quickest_by_forces(course, knots, jerks, (np.inf, np.inf), replace(bound, passed=asked))
        reached = float((_along(forced, wished[:, 0])[0] / wished[:, 1]).min())
        if reached >= 1:
            every = forced.scaling.knots
            return _surely(forced, Room.on(every, course), Looks.on(every, bound), 1 / reached)
        if reached < before * (1 + _ENOUGH):
            raise TooFastError(math.sqrt(reached))
        more, before = more / reached * (1 + _BEYOND), reached


def evenly_by_forces(course: Course, knots: FloatArray, square: float, bound: Bound) -> Forced:
    """The same b everywhere, less only by what declared limits and what motors and floor give ask for."""
    looks = Looks.on(knots, bound)
    even = Scaling(knots, np.tile([square, 0.0, 0.0], (len(knots) - 1, 1)))
    return _surely(Forced(even, looks.nothing().pushes), Room.on(knots, course), looks)


def blocking(knots: FloatArray, bound: Bound) -> tuple[str, float, float]:
    """What takes most of what there is however slowly a path is followed: its name, the share, and z."""
    demand = bound.demand(knots)
    slow = _SLOW * _greatest_pace(demand)
    taken = shares(actuation(bound.grip), Moving(forces=demand.forces(np.zeros_like(slow), slow)))
    name = max(taken, key=lambda each: float(taken[each].max()))
    place = int(taken[name].argmax())
    return name, float(taken[name][place]), float(knots[place])


def blocked(pose: FloatArray, name: str, share: float) -> InputError:
    """The error of a path that asks for more than there is at the slowest pace that is tried."""
    what, _, owner = name.partition(" of ")
    return InputError(
        f"at ({pose[0]:.4g}, {pose[1]:.4g}) the path takes {share:.4g} times the {what} that {owner} has, "
        "far slower than other limits leave it, too",
        key="robot",
        hint="give it more, or plan within declared limits alone: grip=None",
    )


class Bent(Programme):
    """The same for b of degree 2 whose slope may jump at knots, as forces do: Bernstein's polynomials on intervals."""

    def nodes(self) -> FloatArray:
        """The knots twice, the ends once more."""
        return np.concatenate([self.knots[:1], self.knots.repeat(2), self.knots[-1:]])

    def basis(self, points: FloatArray) -> tuple[np.ndarray, list[FloatArray]]:
        """Three polynomials on every interval, the last of them the next one's first."""
        widths = np.diff(self.knots)
        columns = 2 * np.repeat(np.arange(len(widths)), len(points))[:, None] + np.arange(3)
        t, one = points, np.ones_like(points)
        by_order = [
            np.stack([(1 - t) ** 2, 2 * t * (1 - t), t**2], axis=1),
            np.stack([-2 * (1 - t), 2 - 4 * t, 2 * t], axis=1),
            np.stack([2 * one, -4 * one, 2 * one], axis=1),
        ]
        return columns, [
            (values / widths[:, None, None] ** order).reshape(len(columns), 3)
            for order, values in enumerate(by_order)
        ]


@dataclass(eq=False)
class _Rounds:
    """Programmes one after the other on the same knots."""

    programme: ForceProgramme
    laws: Laws
    declared: Programme
    looks: Looks
    jerks: bool
    room: Room
    allowed: FloatArray
    passed: Rows

    @classmethod
    def on(
        cls, course: Course, knots: FloatArray, ends: tuple[float, float], bound: Bound, jerks: bool
    ) -> _Rounds:
        """What stays from round to round on these knots."""
        looks = Looks.on(knots, bound)
        z = looks.z
        most = _greatest_pace(looks.demand)
        kind = Programme if jerks else Bent
        declared = kind(course, knots, 2, ends, lambda at: np.interp(at, z, most))
        columns, values = declared.basis(NODES)
        count = len(knots) - 1
        values = np.stack([values[0], values[1] / 2], axis=1).reshape(count, len(NODES), 2, -1)
        weights = np.diff(knots)[:, None] * WEIGHTS
        basis = Basis(columns[:: len(NODES)], values, declared.scale, weights, declared.ends, wishing(NODES))
        laws = Laws(looks.demand, bound.grip)
        programme = ForceProgramme(laws, basis)
        passed = _passed(declared, bound)
        return cls(programme, laws, declared, looks, jerks, Room.on(knots, course), np.ones(count), passed)

    def begin(self) -> Chosen:
        """A start at a share of what b is expected to be."""
        programme = self.programme
        return programme.start(programme.carrying(np.full(len(self.declared.scale), _FIRST)))

    def after(self, forced: Forced) -> Chosen:
        """A start from what other intervals had."""
        declared, laws = self.declared, self.laws
        b = _coefficients(forced.scaling, declared.full)
        widths = np.diff(declared.knots)
        z = (declared.knots[:-1, None] + widths[:, None] * WISHES).ravel()
        wished = _along(forced, z)[1].reshape(len(widths), 3, -1)
        null = laws.null.reshape(len(widths), len(NODES), *laws.null.shape[1:])[:, len(NODES) // 2]
        free = np.einsum("kfr,kjf->kjr", null, wished).reshape(len(widths), 3 * null.shape[2]) / laws.typical
        return self.programme.start(np.maximum(b / declared.scale * _WARM, _OFF_REST), free * _WARM)

    def run(self, chosen: Chosen, count: int) -> Forced:
        """The best of so many programmes within the margins of the last; fewer where nothing changes."""
        programme = self.programme
        used = _CREPT if any_creeps(self.looks.demand.driven) else _USED
        barriers, before, best = None, np.inf, (np.inf, self.looks.nothing())
        for place in range(count):
            try:
                chosen, barriers = programme.solved(chosen, self._asked(), _GOALS[min(place, 2)], barriers)
            except NumericsError:
                if place:
                    break
                raise
            forced = self._forced(chosen)
            worst, now = self.looks.closely(forced, _SHARP), float(forced.scaling.times[-1])
            left = self.room.left(forced.scaling)
            most_used = max(1 / left.min(), *(share.max() for share in worst.values()))
            # grip goes with b: so much longer it takes where all is slowed that far
            best = min(best, (now * np.sqrt(max(most_used, 1.0)), forced), key=lambda each: each[0])
            if abs(before - now) < _ENOUGH * now and most_used < 1 + used:
                break
            before = now
            self.allowed = np.clip(self.allowed * left, _SMALL, 1.0)
            self._spare(worst)
            self.laws.spare(programme.place(chosen))
        return best[1]

    def _forced(self, chosen: Chosen) -> Forced:
        """What is chosen, as a scaling and wishes."""
        laws, declared = self.laws, self.declared
        forces = laws.wishes(self.programme.place(chosen))
        nodes = forces.reshape(len(declared.knots) - 1, len(NODES), -1)
        return Forced(
            Scaling(declared.knots, declared.pieces(chosen.b * declared.scale)),
            np.einsum("pj,kpf->kjf", WISHED, nodes),
        )

    def lost(self, forced: Forced) -> FloatArray:
        """The share of the time (K,) that margins cost: a third of what shares bend, as the time goes with a root."""
        margins = {name: m.reshape(-1, len(NODES)).min(axis=1) for name, m in self.laws.margins.items()}
        if any_creeps(self.looks.demand.driven):
            # what contacts creep costs margins, too, and no finer intervals spare it: of shares what is between nodes
            worst, nodes = self.looks.worst(forced), self.looks.nodes(forced)
            margins = {
                name: np.maximum(m, np.abs(nodes[name]).max(axis=1) / np.maximum(worst[name], _SMALL))
                for name, m in margins.items()
            }
        spent = np.diff(forced.scaling.times) / forced.scaling.times[-1]
        return spent * (1 - np.minimum(np.min([*margins.values()], axis=0), self.allowed) + _FLAT) / 3

    def _asked(self) -> Callable[[FloatArray], Rows]:
        """The rows of declared limits by b, those of jerks by their tangents there."""
        declared = self.declared
        many = len(declared.z) // len(self.allowed)
        # bounds leave out what is between the points, which a room below 1 shows
        allowed = np.repeat(self.allowed, many)

        def asked(b: FloatArray) -> Rows:
            rows, most = declared.rows(b if self.jerks else None)
            times = len(rows) // len(declared.z)
            where, most = np.tile(declared.columns, (times, 1)), most * np.tile(allowed, times)
            kept = np.isfinite(most)
            scaled = rows[kept] * declared.scale[where[kept]] / most[kept, None]
            return Rows(
                np.concatenate([scaled, self.passed.entries]),
                np.concatenate([where[kept], self.passed.columns]),
            )

        if self.jerks:
            return asked
        always = asked(declared.scale)
        return lambda _: always

    def _spare(self, worst: Mapping[str, FloatArray]) -> None:
        """Plan with less of what the last plan passed between points, with more of what it left."""
        laws = self.laws
        for name, share in worst.items():
            wished = laws.margin(name) / np.maximum(np.repeat(share, len(NODES)), _SMALL)
            laws.margins[name] = np.clip(wished, _SMALL, 1.0)


def _passed(declared: Programme, bound: Bound) -> Rows:
    """Rows of what b is at most at knots."""
    columns, values = declared.basis(np.zeros(1))
    at = np.searchsorted(declared.knots, [z for z, _ in bound.passed])
    most = np.array([b for _, b in bound.passed])
    return Rows(values[0][at] * declared.scale[columns[at]] / most[:, None], columns[at])


def _coefficients(scaling: Scaling, full: FloatArray) -> FloatArray:
    """Those of the same b on splines of degree 2 with these nodes: its polar forms c₀ + c₁ (u + v)/2 + c₂ u v.

    b's values would do for splines on even knots; beside a dip they tilt b, and start with wheels off the ground.
    """
    begins, ends = full[1:-2], full[2:-1]
    piece, inside = scaling.placed((begins + ends) / 2)
    zero, one, two = scaling.squares[piece].T
    u, v = begins - scaling.knots[piece], ends - scaling.knots[piece]
    polar = zero + one * (u + v) / 2 + two * u * v
    # beside a knot that has been left out the form of one piece alone is none of b's, and may be negative
    return np.where(polar > 0, polar, scaling.squared(piece, inside)[0])


def _along(forced: Forced, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """b and what is wished at z (n,)."""
    scaling = forced.scaling
    places = scaling.placed(z)
    return scaling.squared(*places)[0], wishes_within(scaling, forced.pushes, *places)


def _greatest_pace(demand: Demand) -> FloatArray:
    """What ż² can be about at most, (n,), by the motors' greatest rates and by what all contacts hold."""
    driven = demand.driven
    fastest = np.full(demand.pace.shape[1], np.inf)
    for column in demand.columns:
        with np.errstate(divide="ignore"):
            rate = driven.greatest_rate(column)
            fastest = np.minimum(fastest, (rate / np.abs(demand.pace[column])) ** 2)
    base = list(driven.here.assembly.base_columns)
    lever = float(np.abs([complex(*map(float, wheel.position)) for wheel in driven.wheels]).max()) or 1.0
    taken = demand.needed[:, base] / np.array([1.0, 1.0, lever])[None, :, None]
    total = float(np.fmin(driven.grips, _STICKY * driven.loads).sum())
    with np.errstate(divide="ignore"):
        by_turning = total / np.linalg.norm(taken[2], axis=0)
        by_speeding = 2 * total / np.linalg.norm(taken[1], axis=0)
    return np.minimum(fastest, np.minimum(by_turning, by_speeding))


def _surely(forced: Forced, room: Room, looks: Looks, most: float = 1.0) -> Forced:
    """The same certified, and again by closer looks where the first ones don't show how much binds."""
    slowed = _certified(forced, room, [looks], most)
    closer = looks.closer(slowed, _SHARP)
    return slowed if closer is None else _certified(slowed, room, [looks, closer])


def _certified(forced: Forced, room: Room, looks: list[Looks], most: float = 1.0) -> Forced:
    """The same, its b at most so many times as large, slowed as a whole by as little as holds all limits and shares."""
    factor = min(most, float(room.left(forced.scaling).min()) * (1 - _BEYOND))
    steps, before = 1.0, (1.0, 1.0)
    for place in range(_MOST_LOOKS):
        if not factor > 0:
            break
        slowed = Forced(forced.scaling.slowed(factor), forced.pushes * factor)
        worst = max(share.max() for each in looks for share in each.worst(slowed).values())
        if worst <= 1 + _BEYOND:
            return slowed
        if place and before[1] > worst:
            # by how much shares go with b the last step says
            steps = min(math.log(factor / before[0]) / math.log(worst / before[1]), _STEEPEST)
        before = factor, worst
        # grip goes with b, voltages more with its root
        factor *= worst ** -max(1 + place, steps) * (1 - _BEYOND)
    raise NumericsError("the motion passes what motors and floor give, however slow it is")
