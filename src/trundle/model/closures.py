"""Loop closures on the way to a model: their residuals over the states, and closed configurations to look at.

What ideal wheels and couplings leave, ν = S(q) u, is bound further by φ(q) = 0 and A S u = 0. No speed is solved for:
which of them could follow from the others changes along the motion (a crank's dead points), so all stay states, their
rates come with multipliers, and runs are projected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.elimination import generic_rank, plan_pivots
from trundle.mechanics.linear import apply, product
from trundle.mechanics.loops import Closure, close, half_turned
from trundle.mechanics.quantities import Quantities, Quantity
from trundle.model.configuration import configure
from trundle.model.mechanism import Mechanism
from trundle.model.samples import COUNT, Residual, Samples, newton
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Force

# Random configurations from which Newton's method looks for closed ones.
TRIES = 100
_SEED = 20260
# Angles are drawn over more than a turn's half: linkages close far from where their joints are at zero.
WIDE = 2.5
CLOSED = 1e-9
# Where a loop holds a motion twice, its gap grows with the square of the distance from closed configurations: a gap of
# 1e-15 is a distance of 3e-8, and such singular values of rows are zeros.
_POLISHED, CLOSED_ZERO = 1e-15, 1e-6
# How far (rad, m) and how often a configuration is moved along its freedoms before it counts as a general one.
KICK, KICKS = 0.2, 2
_PARTS = tuple(
    Quantity(f"{what}_{axis}", unit, "force")
    for what, unit in (("force", "N"), ("moment", "N m"))
    for axis in "xyz"
)


@dataclass(frozen=True)
class Closures:
    """All loops at symbols q and u: residuals φ, rows A S over the independent speeds, and where they come from.

    `owners` are the loops' names row by row, `closures` by loop; `samples` closed configurations with admissible
    speeds. Rows that vanish by structure (what a planar linkage can't break) are counted and otherwise left out.
    """

    quantities: Quantities
    gaps: list[Scalar]
    rows: list[list[Scalar]]
    owners: tuple[str, ...]
    closures: Mapping[str, Closure]
    samples: Samples
    row_count: int
    empty: tuple[tuple[str, int], ...]  # loop and place of each row that vanishes

    @property
    def rank(self) -> int:
        """How many of the rows are independent in general."""
        return generic_rank(self.samples.of_constraints(self.rows), CLOSED_ZERO) if self.rows else 0

    def configuration(self, names: Sequence[str], q: Sequence[Scalar]) -> Any:
        """The column of everything that is zero at a configuration: the gaps, and what keeps quaternions unit."""
        return _column([*self.gaps, *unit_lengths(self.quantities, names, q)])

    def dependent(
        self, names: Sequence[str], rows: Sequence[Sequence[Scalar]], driven: Collection[str]
    ) -> tuple[str, ...]:
        """Those of the states `names` that follow from the others by `rows`: best those that nothing drives.

        By pivots at all samples, so that the choice is good at most configurations; at some it may be singular.
        """
        values = self.samples.of_constraints(rows)
        rank = generic_rank(values, CLOSED_ZERO)
        pivots = plan_pivots(values, [k for k, name in enumerate(names) if name not in driven], CLOSED_ZERO)
        if len(pivots) < rank:
            pivots = plan_pivots(values, range(len(names)), CLOSED_ZERO)
        return tuple(names[k] for k in sorted(column for _, column in pivots))

    def wrenches(
        self, assembly: Assembly, multipliers: Sequence[Scalar]
    ) -> tuple[dict[str, Force], list[Scalar]]:
        """Each loop's wrench on its second body, from one multiplier a row of `rows`; and the multipliers of all rows,
        the vanishing ones too.
        """
        left = iter(multipliers)
        result, every = {}, []
        for loop in assembly.loops:
            closure = self.closures[loop.name]
            own = [
                0 if (loop.name, place) in self.empty else next(left) for place in range(len(closure.rows))
            ]
            result[loop.name] = closure.wrench(loop, own)
            every += own
        return result, every

    def undetermined(self, assembly: Assembly, rows: Sequence[int]) -> list[str]:
        """Names of the forces that redundancy leaves open: those of `rows`, and of the rows that vanish."""
        loops = {loop.name: loop for loop in assembly.loops}
        there = [
            (name, place)
            for name, closure in self.closures.items()
            for place in range(len(closure.rows))
            if (name, place) not in self.empty
        ]
        open_rows = {there[row] for row in rows} | set(self.empty)
        names = []
        for name, closure in self.closures.items():
            units = [closure.wrenches[place] for owner, place in sorted(open_rows) if owner == name]
            felt = [
                closure.wrench(loops[name], [1 if w is unit else 0 for w in closure.wrenches])
                for unit in units
            ]
            names += [
                part.of(name).name
                for k, part in enumerate(_PARTS)
                if any(not is_zero((*w.force, *w.moment)[k]) for w in felt)
            ]
        return names


def reactions(assembly: Assembly, wrenches: Mapping[str, Force]) -> dict[Quantity, Scalar]:
    """Outputs NAME.force_x … NAME.moment_z (N, N m), those that the motion determines; NAME.push of a rod (N)."""
    outputs: dict[Quantity, Scalar] = {}
    for loop in assembly.loops:
        wrench = wrenches[loop.name]
        for part, value in zip(_PARTS, (*wrench.force, *wrench.moment), strict=True):
            if not is_zero(value):
                outputs[part.of(loop.name)] = value
    return outputs


def close_loops(
    mechanism: Mechanism, basis: Sequence[Sequence[Scalar]], symbols: tuple[ca.SX, ca.SX, ca.SX]
) -> Closures:
    """The loops of a mechanism in CasADi's symbols whose speeds are bound to ν = S u already, S being the `basis`.

    symbols: (state, input, parameter), the state starting with the coordinates and the speeds u. Raises InputError
    where the loops can't be closed or leave no motion.
    """
    assembly, robot_name = mechanism.assembly, mechanism.robot.name
    width = len(assembly.speeds)
    closures = {loop.name: close(assembly.tree, mechanism.at.poses, loop, width) for loop in assembly.loops}
    every = [
        (name, place, gap, row)
        for name, closure in closures.items()
        for place, (gap, row) in enumerate(zip(closure.gaps, closure.rows, strict=True))
    ]
    there = [each for each in every if not all(is_zero(entry) for entry in each[3])]
    empty = tuple((name, place) for name, place, _, row in every if all(is_zero(entry) for entry in row))
    gaps = [gap for _, _, gap, _ in there]
    owners = tuple(name for name, *_ in there)
    rows = product([row for *_, row in there], basis) if there else []
    numbers = mechanism.numbers
    _refuse_open(every, symbols, numbers.parameters, robot_name)
    moving = len(basis[0]) if basis else 0
    parameters = np.array(list(numbers.parameters.values()))
    search = _Search(numbers.assembly, numbers.names, moving, symbols, parameters)
    samples = search.closed_samples(gaps, rows, owners, robot_name)
    found = Closures(assembly.quantities, gaps, rows, owners, closures, samples, len(every), empty)
    _refuse_lock(found, moving, robot_name)
    return found


def unclosable(robot_name: str, tries: int, culprit: str) -> InputError:
    """What is said where no configuration was found that closes the loop `culprit`."""
    return InputError(
        f"the loops of '{robot_name}' can't be closed: from {tries} random configurations Newton's method "
        f"found none that closes '{culprit}'",
        key=f"robot.loops.{culprit}",
        hint="look at its ends: are the bodies between them long enough to meet, and the axes parallel?",
    )


def unit_lengths(quantities: Quantities, names: Sequence[str], q: Sequence[Scalar]) -> list[Scalar]:
    """|quaternion|² − 1 of every quaternion among the coordinates: a configuration too must have them zero."""
    return [sum(q[k + i] * q[k + i] for i in range(4)) - 1 for k in quantities.quaternions(names)]


def _refuse_open(
    every: Sequence[tuple[str, int, Scalar, list[Scalar]]],
    symbols: tuple[Any, Any, Any],
    parameters: Mapping[str, float],
    robot_name: str,
) -> None:
    """Gaps that no motion changes must be closed as described."""
    for name, _, gap, row in every:
        if not all(is_zero(entry) for entry in row) or is_zero(gap):
            continue
        value = ca.Function("gap", [symbols[2]], [ca.SX(gap)])(list(parameters.values()))
        if abs(float(value)) > CLOSED:
            raise InputError(
                f"the loop '{name}' of '{robot_name}' is open by {float(value):.3g}, and no joint can close it",
                key=f"robot.loops.{name}",
                hint="its ends must lie in the plane in which the joints move: look at at.z, rpy and the axes",
            )


@dataclass(frozen=True)
class _Search:
    """The search for closed configurations of an assembly in numbers, over symbols (state, input, parameter)."""

    numeric: Assembly
    names: Sequence[str]
    moving: int
    symbols: tuple[Any, Any, Any]
    parameters: np.ndarray

    def closed_samples(
        self,
        gaps: Sequence[Scalar],
        rows: Sequence[Sequence[Scalar]],
        owners: Sequence[str],
        robot_name: str,
    ) -> Samples:
        """Configurations that Newton's method finds from random ones, with speeds that keep them closed."""
        state = self.symbols[0]
        count = len(self.names)
        held = _column([*gaps, *unit_lengths(self.numeric.quantities, self.names, _entries(state[:count]))])
        configuration = Residual.of(held, self.symbols, slice(0, count))
        moving = slice(count, count + self.moving)
        velocity = Residual.of(_column(apply(rows, _entries(state[moving]))), self.symbols, moving)
        rng = np.random.default_rng(_SEED)
        found: list[np.ndarray] = []
        least, culprit = np.inf, owners[0] if owners else ""
        for _ in range(TRIES):
            x = self._closed(configuration, self._drawn(rng, state.numel()))
            for _ in range(KICKS):
                x = self._closed(configuration, self._kicked(configuration, x, rng))
            left = np.abs(configuration.at(self._numbers(x))[0][: len(owners)])
            if left.max(initial=0.0) <= CLOSED and not self._half_turned(x):
                found.append(newton(velocity, self._numbers(x)))
            elif left.max(initial=0.0) < least:
                least, culprit = float(left.max()), owners[int(left.argmax())]
            if len(found) == COUNT:
                break
        if not found:
            raise unclosable(robot_name, TRIES, culprit)
        samples = self._samples(found)
        if not rows:
            return samples
        ranks = [generic_rank(each[None], CLOSED_ZERO) for each in samples.of_constraints(rows)]
        # Of several ways of assembly the one that moves most: in others a motion that is held twice may be locked.
        return self._samples([x for x, rank in zip(found, ranks, strict=True) if rank == min(ranks)])

    def _drawn(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """A random state, its quaternions unit."""
        x = rng.uniform(-WIDE, WIDE, size)
        x[: len(self.names)] = self.numeric.quantities.normalised(self.names, x[: len(self.names)])
        return x

    def _closed(self, configuration: Residual, x: np.ndarray) -> np.ndarray:
        """The configuration moved until the loops are closed to the last digit; as it was where that fails."""
        return newton(configuration, self._numbers(x), _POLISHED)

    def _kicked(self, configuration: Residual, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The configuration a bit further in a random direction that keeps the loops closed to first order.

        Newton's method likes to end in singular configurations, where loops seem to hold less than they do.
        """
        count = len(self.names)
        _, slope = configuration.at(self._numbers(x))
        _, sizes, right = np.linalg.svd(slope)
        rank = int((sizes > CLOSED_ZERO * max(sizes.max(initial=0.0), 1e-300)).sum())
        free = right[rank:].T
        kicked = x.copy()
        if free.size:
            direction = free @ rng.normal(size=free.shape[1])
            kicked[:count] += KICK * direction / np.linalg.norm(direction)
        return kicked

    def _numbers(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return x, np.zeros(self.symbols[1].numel()), self.parameters

    def _samples(self, found: Sequence[np.ndarray]) -> Samples:
        commands = np.zeros((self.symbols[1].numel(), len(found)))
        parameters = np.repeat(self.parameters[:, None], len(found), axis=1)
        x = np.array(found).T
        rng = np.random.default_rng(_SEED)
        beside = np.array([self._drawn(rng, len(x)) for _ in found]).T
        return Samples(self.symbols, (x, commands, parameters), CLOSED_ZERO, (beside, commands, parameters))

    def _half_turned(self, x: np.ndarray) -> bool:
        """Whether an end faces the other the wrong way round."""
        at = configure(self.numeric, self.names, list(x[: len(self.names)]))
        return any(half_turned(self.numeric.tree, at.poses, loop) for loop in self.numeric.loops)


def _column(values: Sequence[Scalar]) -> Any:
    return ca.vertcat(*(ca.SX(value) for value in values)) if values else ca.SX(0, 1)


def _entries(column: Any) -> list[Any]:
    return [column[k] for k in range(column.numel())]


def _refuse_lock(closures: Closures, speeds: int, robot_name: str) -> None:
    rank = closures.rank
    if rank < speeds:
        return
    loops = ", ".join(dict.fromkeys(closures.owners))
    raise InputError(
        f"the loops of '{robot_name}' lock it: the constraints of {loops} have rank {rank}, and there are {speeds} "
        "speeds, so nothing can move",
        key="robot.loops",
        hint="take a loop away, or let its joint hold less (spherical in place of revolute, say)",
    )
