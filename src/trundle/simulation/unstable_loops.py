"""Loops that are unstable: an implicit step hides what grows, and samples may come too seldom.

The run is linearised where it stands by differences of very short steps: ẋ = A x between samples, with the controllers
that act at every instant in A, and x ← S x at samples. From one instant at which all are due to the next
x ← … S e^(A Δt) S e^(A Δt) x. What grows, and doesn't where a controller's commands stand still, is its loop's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import warn
from trundle.model.placed import Placed, placed
from trundle.model.plant import REMEMBERED, STEP
from trundle.model.sampled import DUE
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import compile_program
from trundle.program.rollout import rollout as native
from trundle.robot.component import plain
from trundle.simulation.sampling import NEXT_INPUT, steps_of

if TYPE_CHECKING:
    from trundle.simulation.stepping import SteppedProblem

# At how many of the times that are stored a run is looked at.
_LOOKS = 20
# The length of a short step (s), which hides nothing that grows slower than in 1e-5 s, and how far states differ.
_SHORT, _NEAR = 1e-5, 1e-6
# What grows slower than this (1/s) counts as standing still, as differences lose 1e-5; of the robot alone slower than
# that, so that no loop is blamed for what it hardly changes.
_GROWS, _ALONE = 0.1, 0.01
# A loop is unstable where it is so at this share of the looks: a wheel that begins to slide, or a base that is about to
# turn on the spot, makes it so for moments. Of 23 sound loops over rough ground none was so at more than 6 of 101. And
# at this share of the last quarter: a base that begins beside its way slides at first, a third of a short run.
_LASTS, _SETTLED = 0.25, 0.5
# The period of what acts at every instant, where its part in a loop is looked at (s), and a limit beyond all commands.
_OFTEN, _UNLIMITED = 1e-4, 1e9
# States beyond this leave differences no digits, as where a run is about to end without numbers.
_FAR = 1e6
# Steps until all samples fall together again, at most, and the least share of the periods that is looked at.
_MOST, _LEAST = 1_000, 1e-3


class _Unstable(NamedTuple):
    """At how many looks these controllers' loops are unstable, how fast they grow (1/s), and up to which share of their
    periods they aren't: None of what has no period, 0 where there is none.
    """

    looks: dict[str, int]
    growth: float
    share: float | None = None


@dataclass(frozen=True)
class _Looks:
    """A run where it is looked at: states (states, looks) and inputs (inputs, looks)."""

    problem: SteppedProblem
    states: FloatArray
    inputs: FloatArray

    def slopes(self, due: Collection[str] = (), step: float = _SHORT) -> FloatArray:
        """∂x⁺/∂x (looks, states, states) of these samples and the short step that follows."""
        states = self._fresh
        n, looks = states.shape
        away = _NEAR * np.maximum(np.abs(states), 1.0)
        moved = np.broadcast_to(states[:, None, None], (n, 2, n, looks)).copy()
        moved[range(n), 0, range(n)] += away
        moved[range(n), 1, range(n)] -= away
        after = self._stepped(self._sampled(moved.reshape(n, -1), due), step).reshape(moved.shape)
        return np.moveaxis((after[:, 0] - after[:, 1]) / (2 * away), 2, 0)

    @cached_property
    def rates(self) -> FloatArray:
        """A (looks, states, states): what moves between samples, by two steps (Richardson), as one loses λ h/2 of λ."""
        one, half = self.slopes(), self.slopes(step=_SHORT / 2)
        return (4 * half - one - 3 * np.eye(len(self.states))) / _SHORT

    @property
    def controllers(self) -> list[Placed]:
        """Who drives it."""
        description = self.problem.system.control_description
        return [] if description is None else placed(description)

    def rows(self, names: Iterable[str]) -> list[int]:
        """The places of states."""
        return [self.problem.system.states.index(name) for name in names]

    def rows_of(self, each: Placed) -> list[int]:
        """The places of a controller's own states."""
        return self.rows(f"{each.name}.{own}" for own in each.states)

    def often(self, names: Collection[str]) -> _Looks:
        """The same with samples every now and then of controllers that act at every instant."""
        model, description = self.problem.system, self.problem.system.control_description
        assert description is not None
        other = model.closed(
            {name: {**plain(description.controllers[name]), "period": _OFTEN} for name in names}
        )
        known = dict(zip(model.states, self.states, strict=True))
        start = np.array([known.get(name, np.zeros(self.states.shape[1])) for name in other.states])
        looks = _Looks(replace(self.problem, system=other), start, self.inputs)
        held = looks.rows(place for each in looks.controllers if each.name in names for place in each.held)
        start[held] = looks._sampled(start, names)[held]
        return looks

    @property
    def _fresh(self) -> FloatArray:
        """The states, of which a step remembers none before it."""
        states, names = self.states.copy(), self.problem.system.states
        states[[row for row, name in enumerate(names) if name.startswith(REMEMBERED)]] = 0.0
        return states

    def _inputs_of(self, states: FloatArray) -> FloatArray:
        """The inputs (inputs, n) at these states (states, n), of every look as many."""
        return np.tile(self.inputs, states.shape[1] // self.states.shape[1])

    def _sampled(self, states: FloatArray, due: Collection[str]) -> FloatArray:
        """The states after these samples."""
        sampling = self.problem.system.sampling
        if sampling is None or not due:
            return states
        clocks = np.array([float(clock in due) for clock in self.problem.system.clocks])
        kernel = compile_program(sampling)
        return np.asarray(
            kernel(states, self._inputs_of(states), self.problem.numbers, clocks)[0], dtype=float
        )

    def _stepped(self, states: FloatArray, step: float = _SHORT) -> FloatArray:
        """The states after a step without samples, by the run's own code: the first of two, inputs that stay without a
        time's axis.
        """
        model, given = self.problem.system, self._inputs_of(states)[None]
        varies = self.inputs.size and np.ptp(self.inputs, axis=1).any()
        told = np.repeat(given, 2, axis=0) if varies else given if model.inputs else np.zeros(0)
        groups = {INPUT: told, PARAMETER: self.problem.numbers, STEP: [step]}
        if model.sampling is not None:
            groups |= {NEXT_INPUT: told, DUE: np.zeros((2, len(model.clocks), 1))}
        found = native(
            self.problem.motion.still,
            states,
            groups,
            dt=1.0,
            steps=2,
            projection=self.problem.ending,
            quick=True,
        )
        return np.asarray(found.states[1], dtype=np.float64)


def unstable_loops(problem: SteppedProblem, states: FloatArray, inputs: FloatArray) -> Mapping[str, object]:
    """What a run's summary says of loops that are unstable, with warnings: `unstable_loops`, at how many looks by
    controller, and `longest_periods` (s) of those that sample too seldom.

    states, inputs: (states, times) and (inputs, times) that were stored.
    """
    system = problem.system
    if system.control_description is None or not problem.motion.implicit or not states.size:
        return {}
    every = placed(system.control_description)
    free = {
        name: -_UNLIMITED if name.endswith(".lowest") else _UNLIMITED
        for name in problem.parameters
        if name.startswith("controllers.") and name.endswith((".lowest", ".highest"))
    }  # at a limit a loop is open, and swings from one to the other all the same
    problem = replace(problem, parameters={**problem.parameters, **free})
    at = np.unique(np.linspace(0, states.shape[1] - 1, _LOOKS).round().astype(int))
    looks = _Looks(problem, states[:, at], inputs[:, at])
    with np.errstate(over="ignore", invalid="ignore"):
        good = np.isfinite(looks.rates).all(axis=(1, 2)) & (np.abs(looks.states) < _FAR).all(axis=0)
    looks = _Looks(problem, looks.states[:, good], looks.inputs[:, good])
    always, seldom = ([each for each in every if (each.hold is None) is kind] for kind in (True, False))
    found = [_continuous(looks, always), _sampled(looks, seldom)] if good.any() else []
    loops, longest = dict[str, int](), dict[str, float]()
    for loop in found:
        loops |= loop.looks
        periods = {each.name: each.hold and each.hold.period for each in every if each.name in loop.looks}
        for period in dict.fromkeys(periods.values()):
            names = [name for name, own in periods.items() if own == period]
            longest |= {name: period * loop.share for name in names if period and loop.share}
            warn(_said(names, loop, period, problem.step))
    said = {"unstable_loops": loops, "longest_periods": longest}
    return {key: value for key, value in said.items() if value}


def _said(names: list[str], loop: _Unstable, period: float | None, step: float) -> str:
    """The warning of controllers of one period."""
    one = len(names) == 1
    who = (
        f"the controller{'' if one else 's'} {', '.join(map(repr, names))} {'is' if one else 'are'} unstable"
    )
    if period is None:
        fast = f"what is off grows e-fold in {1 / loop.growth:.2g} s, which steps of {step:g} s may hide"
        meant = "look at the signs and sizes of gains, unless it is meant to swing between limits"
        return f"{who}: {fast}; {meant}"
    at = f"{who} at {'its' if one else 'their'} period of {1e3 * period:g} ms"
    if not loop.share:
        # One that ran away is in states that no period would mend.
        return (
            f"{at}; in the states that it reached no shorter one holds: look at the signs and sizes of gains"
        )
    digits = 10.0 ** (math.floor(math.log10(1e3 * period * loop.share)) - 1)
    return f"{at}; up to {math.floor(1e3 * period * loop.share / digits) * digits:g} ms holds"


def _blamed(
    names: Collection[str], growing: Callable[[Collection[str]], FloatArray], alone: FloatArray
) -> _Unstable:
    """Whose loops are unstable: without whom less grows than with all. `growing` gives eigenvalues' growths (looks, n)
    with some controllers at work, `alone` those of the robot alone.
    """
    with_all = growing(names)
    bad = _grows(with_all, alone)
    if not _lasts(bad):
        return _Unstable({}, 0.0)
    count = (with_all > _GROWS).sum(axis=1)
    without = {name: growing([each for each in names if each != name]) for name in names}
    looks = {name: int((bad & ((rest > _GROWS).sum(axis=1) < count)).sum()) for name, rest in without.items()}
    looks = {name: times for name, times in looks.items() if times} or dict.fromkeys(names, int(bad.sum()))
    return _Unstable(looks, float(with_all[bad].max()))


def _grows(growths: FloatArray, alone: FloatArray) -> np.ndarray:
    """Where more grows than of the robot alone (looks,)."""
    return (growths > _GROWS).sum(axis=1) > (alone > _ALONE).sum(axis=1)


def _lasts(bad: np.ndarray) -> bool:
    """Whether it is so often, and of the last looks at half: where it has settled."""
    return bool(bad.mean() >= _LASTS and bad[-max(bad.size // 4, 1) :].mean() >= _SETTLED)


def _continuous(looks: _Looks, controllers: list[Placed]) -> _Unstable:
    """Of those that act at every instant; what samples stands still. The robot without them is derived where something
    grows.
    """
    names = [each.name for each in controllers]
    if not names or not _lasts(_growth(looks.rates).max(axis=1) > _GROWS):
        return _Unstable({}, 0.0)
    often = looks.often(names)
    theirs = {each.name: each for each in often.controllers}

    def growing(at_work: Collection[str]) -> FloatArray:
        """With commands u = K x of these in place of held ones: ẋ = A x + B K x."""
        jump = often.slopes(at_work)
        held = often.rows(place for name in at_work for place in theirs[name].held)
        own = [row for name in at_work for row in often.rows_of(theirs[name])]
        commands = np.broadcast_to(np.eye(jump.shape[1]), jump.shape).copy()
        commands[:, held] = jump[:, held]
        moving = often.rates @ commands
        moving[:, own] = (jump - np.eye(jump.shape[1]))[:, own] / _OFTEN
        moving[:, held] = 0.0
        return _growth(moving)

    return _blamed(names, growing, _growth(often.rates))


def _growth(matrices: FloatArray) -> FloatArray:
    return np.array(np.linalg.eigvals(matrices).real, dtype=np.float64)


def _sampled(looks: _Looks, controllers: list[Placed]) -> _Unstable:
    """Of those that sample, over the shortest time after which all samples fall together again."""
    clocks = looks.problem.system.clocks
    pattern = dict(zip(clocks, steps_of(clocks, looks.problem.step), strict=True))
    common = math.lcm(*(every for every, _ in pattern.values()))
    if not clocks or common > _MOST:
        return _Unstable({}, 0.0)
    from scipy.linalg import expm  # late: most robots have nothing that samples

    names = [each.name for each in controllers if not each.at_once]
    own = [row for each in controllers if each.name in names for row in looks.rows_of(each)]
    jumps: dict[frozenset[str], FloatArray] = {}
    same = np.eye(len(looks.states))

    def growing(at_work: Collection[str], share: float = 1.0) -> FloatArray:
        """With samples of these and of estimators, all periods and delays this share of what they are."""
        silent = {*names} - {*at_work}
        due = [
            frozenset(c for c, (every, first) in pattern.items() if (k - first) % every == 0)
            for k in range(common)
        ]
        due = [frozenset(clock for clock in each if clock.partition(".")[0] not in silent) for each in due]
        instants = [k for k, each in enumerate(due) if each] or [0]
        total, moved = same, dict[float, FloatArray]()
        for k, after in zip(instants, [*instants[1:], instants[0] + common], strict=True):
            if due[k] not in jumps:
                jumps[due[k]] = looks.slopes(due[k])
            jump = jumps[due[k]].copy()
            jump[:, own] = same[own] + share * (jump[:, own] - same[own])
            gap = share * looks.problem.step * (after - k)
            if gap not in moved:
                moved[gap] = np.array(expm(looks.rates * (gap - _SHORT)), dtype=np.float64)
            total = moved[gap] @ jump @ total
        with np.errstate(divide="ignore"):
            return np.log(np.abs(np.linalg.eigvals(total))) / (share * looks.problem.step * common)

    alone = _growth(looks.rates)
    loop = _blamed(names, growing, alone)
    if not loop.looks:
        return loop
    low, high = _LEAST, 1.0
    for _ in range(16):
        middle = math.sqrt(low * high)
        holds = not _lasts(_grows(growing(names, middle), alone))
        low, high = (middle, high) if holds else (low, middle)
    return loop._replace(share=low if low > _LEAST else 0.0)
