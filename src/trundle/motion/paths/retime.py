"""How fast constraints let a path be passed: programmes one after the other, then the true laws everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.motion.forces.creeping import any_creeps
from trundle.motion.paths.along_path import WISHES, wishes_within, wishing
from trundle.motion.paths.barrier_solver import BarrierRows, BarrierSolver, Basis, Chosen
from trundle.motion.paths.collocation_grid import (
    NODES,
    WEIGHTS,
    WISHED,
    CollocationGrid,
    PathProblem,
    TimedPath,
)
from trundle.motion.paths.knots import Knots, cut, graded, merged
from trundle.motion.paths.path_constraints import PathConstraints
from trundle.motion.paths.path_scaling import Squares

# What shares bend at least on an interval, of what counts as lost there: rounding must not cut.
_FLAT = 1e-5
# Shares that bend too sharply for one polynomial an interval: certificates take so many.
_SHARP = 8
# Intervals are cut again, so often at most, where margins cost more than this share of the time.
_LOST, _LEVELS = 5e-4, 3
# What is below this share binds nothing.
_SMALL = 0.1
# Newton's method begins at the first of these shares of the greatest b; where it doesn't end, at the next.
_FIRST = 0.5, 0.1, 0.02, 0.9
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
_GOALS = (3e-3, 3e-4, 1e-4)
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


def retime(
    problem: PathProblem, knots: Knots, pose: Callable[[float], FloatArray], exactly: bool = False
) -> TimedPath:
    """The least time that a spline b on these knots takes within all that limits it; errors say where, by poses at z.

    exactly: with the problem's ż² where it has one, and not less; TooFastError where what limits it leaves less.
    """
    try:
        return _passing(problem, knots) if exactly else _quickest(problem, knots)
    except TooFastError:
        raise
    except NumericsError:
        raise _unsolved(problem, knots.every, pose) from None


def _quickest(problem: PathProblem, knots: Knots) -> TimedPath:
    """The least time that a spline b on these knots takes."""
    # splines whose slopes don't jump have half as many coefficients
    rounds = _Rounds.on(cut(knots.every, np.full(len(knots.every) - 1, 2 if problem.jerks else 1)), problem)
    start, best, found = None, np.inf, None
    for level in range(_LEVELS):
        try:
            time, timed = rounds.first() if start is None else rounds.run(start)
        except NumericsError:
            if found is None:
                raise
            return found()
        lost, closer = rounds.lost(timed), rounds.grid.closer(timed, _SHARP)
        if time < best or found is None:
            best, found = time, partial(_certified, timed, [rounds.grid, *([closer] if closer else [])])
        if level == _LEVELS - 1 or lost.sum() < _LOST:
            return found()
        many = np.ceil(np.cbrt(lost / _LOST * _FINE))
        rounds = _Rounds.on(merged(graded(cut(rounds.grid.knots, many)), knots.marks), problem)
        start = rounds.after(timed)
    raise NumericsError("no speeds along the path keep what limits them")


class TooFastError(NumericsError):
    """A path can't be passed as fast as is asked somewhere: at `share` of that speed at most."""

    def __init__(self, share: float) -> None:
        super().__init__(
            f"motors and floor let a pose be passed at {share:.4g} times the speed that is asked for"
        )
        self.share = share


def _passing(problem: PathProblem, knots: Knots) -> TimedPath:
    """The same with the problem's ż² where it has one: asked for with what certifying takes, then slowed to it."""
    wished, more, before = np.array(problem.passed), 1.0, 0.0
    while True:
        asked = tuple((z, b * more) for z, b in wished.tolist())
        timed = _quickest(replace(problem, passed=asked), knots)
        reached = float((_along(timed, wished[:, 0])[0] / wished[:, 1]).min())
        if reached >= 1:
            grid = CollocationGrid.on(timed.scaling.knots, problem)
            slowed = _certified(timed, [grid], 1 / reached)
            closer = grid.closer(slowed, _SHARP)
            return slowed if closer is None else _certified(slowed, [grid, closer])
        if reached < before * (1 + _ENOUGH):
            raise TooFastError(math.sqrt(reached))
        more, before = more / reached * (1 + _BEYOND), reached


def _unsolved(problem: PathProblem, knots: FloatArray, pose: Callable[[float], FloatArray]) -> NumericsError:
    """The error of a search that found no speeds: what a path takes most of at a crawl, and where, by the pose at z."""
    grid = CollocationGrid.on(knots, problem)
    slow = _SLOW * grid.expected()
    taken = grid.shares(slow, np.zeros_like(slow), np.zeros_like(slow))
    name = max(taken, key=lambda each: float(taken[each].max()))
    place = int(taken[name].argmax())
    x, y, _ = pose(float(grid.z[place]))
    return NumericsError(
        "the search for the quickest speeds along the path didn't end: at a crawl the path takes "
        f"{taken[name][place]:.2g} of the {name} at ({x:.4g}, {y:.4g}), and less of all else. Other limits, or a path "
        "that differs a little, may do"
    )


@dataclass(eq=False)
class _Rounds:
    """Programmes one after the other on the same knots."""

    programme: BarrierSolver
    laws: PathConstraints
    squares: Squares
    grid: CollocationGrid

    @classmethod
    def on(cls, knots: FloatArray, problem: PathProblem) -> _Rounds:
        """What stays from round to round on these knots."""
        grid, squares = CollocationGrid.on(knots, problem), Squares.on(knots, problem.jerks)
        laws = PathConstraints(grid)
        scale = np.interp(squares.pairs.mean(axis=1), grid.z, grid.expected())
        values = squares.values(NODES, laws.orders)
        rows = _passed(squares, scale, problem.passed)
        weights = np.diff(knots)[:, None] * WEIGHTS
        basis = Basis(squares.columns, values, scale, weights, wishing(NODES), rows)
        return cls(BarrierSolver(laws, basis), laws, squares, grid)

    def first(self) -> tuple[float, TimedPath]:
        """As `run` finds from a share of what b is expected to be; from another one where no search from it ends."""
        *shares, last = (np.full(len(self.programme.basis.scale), share) for share in _FIRST)
        for share in shares:
            with suppress(NumericsError):
                return self.run(self.programme.begin(share))
        return self.run(self.programme.begin(last))

    def after(self, timed: TimedPath) -> Chosen:
        """A start from what other intervals had."""
        laws, squares, b = self.laws, self.squares, self.squares.coefficients(timed.scaling)
        widths = np.diff(squares.knots)
        z = (squares.knots[:-1, None] + widths[:, None] * WISHES).ravel()
        wished = _along(timed, z)[1].reshape(len(widths), 3, -1)
        null = laws.null.reshape(len(widths), len(NODES), *laws.null.shape[1:])[:, len(NODES) // 2]
        free = np.zeros((len(widths), len(WISHES), laws.wide - laws.orders))
        free[..., : null.shape[2]] = np.einsum("kfr,kjf->kjr", null, wished) / laws.typical
        scaled = np.maximum(b / self.programme.basis.scale * _WARM, _OFF_REST)
        return self.programme.start(scaled, free.reshape(len(widths), -1) * _WARM)

    def run(self, chosen: Chosen) -> tuple[float, TimedPath]:
        """The best of some programmes within the margins of the last, and its time as far as that is known."""
        programme = self.programme
        used = _CREPT if self._creeps else _USED
        barriers, before, best = None, np.inf, (np.inf, self.grid.nothing())
        for place in range(_MOST_ROUNDS):
            try:
                chosen, barriers = programme.solved(chosen, _GOALS[min(place, 2)], barriers)
            except NumericsError:
                if place:
                    break
                raise
            timed = self._timed_path(chosen)
            worst, now = self.grid.closely(timed, _SHARP), float(timed.scaling.times[-1])
            most_used = max(share.max() for share in worst.values())
            # grip goes with b: so much longer it takes where all is slowed that far
            best = min(best, (now * np.sqrt(max(most_used, 1.0)), timed), key=lambda each: each[0])
            if abs(before - now) < _ENOUGH * now and most_used < 1 + used:
                break
            before = now
            self._spare(worst)
        return best

    @property
    def _creeps(self) -> bool:
        driven = self.grid.problem.constraints.driven
        return driven is not None and any_creeps(driven)

    def _timed_path(self, chosen: Chosen) -> TimedPath:
        """What is chosen, as a scaling and wishes."""
        forces = self.laws.wishes(self.programme.place(chosen))
        nodes = forces.reshape(len(self.squares.columns), len(NODES), -1)
        return TimedPath(
            self.squares.scaling(chosen.b * self.programme.basis.scale),
            np.einsum("pj,kpf->kjf", WISHED, nodes),
        )

    def lost(self, timed: TimedPath) -> FloatArray:
        """The share of the time (K,) that margins cost: a third of what shares bend, as the time goes with a root."""
        margins = {name: m.reshape(-1, len(NODES)).min(axis=1) for name, m in self.laws.margins.items()}
        if self._creeps:
            # what contacts creep costs margins, too, and no finer intervals spare it: of shares what is between nodes
            worst, nodes = self.grid.worst(timed), self.grid.nodes(timed)
            margins = {
                name: np.maximum(m, np.abs(nodes[name]).max(axis=1) / np.maximum(worst[name], _SMALL))
                for name, m in margins.items()
            }
        spent = np.diff(timed.scaling.times) / timed.scaling.times[-1]
        return spent * (1 - np.min([np.ones(len(spent)), *margins.values()], axis=0) + _FLAT) / 3

    def _spare(self, worst: Mapping[str, FloatArray]) -> None:
        """Plan with less of what the last plan passed between points, with more of what it left."""
        laws = self.laws
        for name, share in worst.items():
            wished = laws.margin(name) / np.maximum(np.repeat(share, len(NODES)), _SMALL)
            laws.margins[name] = np.clip(wished, _SMALL, 1.0)


def _passed(squares: Squares, scale: FloatArray, passed: tuple[tuple[float, float], ...]) -> BarrierRows:
    """Rows of what b is at most at knots, where it is limited, by its coefficients in units of their scale."""
    z, most = np.array([(z, b) for z, b in passed if math.isfinite(b)]).reshape(-1, 2).T
    # the last knot is the end of the last interval
    interval = np.minimum(np.searchsorted(squares.knots, z), len(squares.columns) - 1)
    entries = np.where((z < squares.knots[-1])[:, None], squares.onto[interval, 0], squares.onto[interval, 2])
    columns = squares.columns[interval]
    return BarrierRows(entries * scale[columns] / most[:, None], columns)


def _along(timed: TimedPath, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """b and what is wished at z (n,)."""
    scaling = timed.scaling
    places = scaling.placed(z)
    return scaling.squared(*places)[0], wishes_within(scaling, timed.pushes, *places)


def _certified(timed: TimedPath, grids: list[CollocationGrid], most: float = 1.0) -> TimedPath:
    """The same, its b at most so many times as large, slowed as a whole by as little as holds all limits and shares."""
    factor, steps, before = most, 1.0, (1.0, 1.0)
    for place in range(_MOST_LOOKS):
        if not factor > 0:
            break
        slowed = TimedPath(timed.scaling.slowed(factor), timed.pushes * factor)
        worst = max(share.max() for each in grids for share in each.worst(slowed).values())
        if worst <= 1 + _BEYOND:
            return slowed
        if place and before[1] > worst:
            # by how much shares go with b the last step says
            steps = min(math.log(factor / before[0]) / math.log(worst / before[1]), _STEEPEST)
        before = factor, worst
        # grip goes with b, voltages more with its root
        factor *= worst ** -max(1 + place, steps) * (1 - _BEYOND)
    raise NumericsError("the motion passes what motors and floor give, however slow it is")
