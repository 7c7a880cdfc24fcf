"""Loop closures on the way to a model: their residuals over the states, and closed configurations to look at.

What ideal wheels and couplings leave, ν = S(q) u, is bound further by φ(q) = 0 and A S u = 0. No speed is solved for:
which of them could follow from the others changes along the motion (a crank's dead points), so all stay states, their
rates come with multipliers, and runs are projected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.closing import CLOSED, CLOSED_ZERO
from trundle.mechanics.elimination import generic_rank, null_space, plan_passive_pivots
from trundle.mechanics.linear import apply, product, transpose
from trundle.mechanics.loop_joints import Closure, close
from trundle.mechanics.quantities import Quantities, Quantity
from trundle.model.guided import independent_rows, solve_guided
from trundle.model.manifold import residual_labels
from trundle.model.mechanism import Mechanism
from trundle.model.numeric_loops import WIDE, NumericLoops
from trundle.model.symbols import STATE, Groups, Symbols, SymbolSamples, evaluated, jacobian, replaced
from trundle.program import Program
from trundle.scalars import Scalar, is_zero, minus
from trundle.spatial.motions import Force

# Any number: the same loops choose the same pivots on every machine and day.
_SEED = 20260
# The symbols of the state, which begins with the coordinates and the speeds, of the inputs and of the parameters.
GroupsOfSymbols = tuple[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]]
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
    samples: SymbolSamples
    row_count: int
    empty: tuple[tuple[str, int], ...]  # loop and place of each row that vanishes

    @property
    def rank(self) -> int:
        """How many of the rows are independent in general."""
        return generic_rank(self.samples.of_constraints(self.rows), CLOSED_ZERO) if self.rows else 0

    def configuration(self, names: Sequence[str], q: Sequence[Scalar]) -> list[Scalar]:
        """Everything that is zero at a configuration: the gaps, and what keeps quaternions unit."""
        return [*self.gaps, *unit_lengths(self.quantities, names, q)]

    def dependent(
        self, names: Sequence[str], rows: Sequence[Sequence[Scalar]], driven: Collection[str]
    ) -> tuple[str, ...]:
        """Those of the states `names` that follow from the others by `rows`: best those that nothing drives.

        By pivots at all samples, so that the choice is good at most configurations; at some it may be singular.
        """
        values = self.samples.of_constraints(rows)
        places = {k for k, name in enumerate(names) if name in driven}
        pivots = plan_passive_pivots(values, places, CLOSED_ZERO)
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
    mechanism: Mechanism, basis: Sequence[Sequence[Scalar]], symbols: GroupsOfSymbols
) -> Closures:
    """The loops of a mechanism in symbols whose speeds are bound to ν = S u already, S being the `basis`.

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
    values = np.array(list(numbers.parameters.values()), dtype=float)
    _refuse_open(every, symbols, values, robot_name)
    samples = closed_samples(numbers, rows, symbols)
    result = Closures(assembly.quantities, gaps, rows, owners, closures, samples, len(every), empty)
    _refuse_lock(result, len(basis[0]) if basis else 0, robot_name)
    return result


def closed_samples(
    numbers: Mechanism, rows: Sequence[Sequence[Scalar]], symbols: GroupsOfSymbols
) -> SymbolSamples:
    """Closed configurations with speeds that keep them so, without loops any; raises InputError where none closes."""
    loops = NumericLoops(numbers.assembly, numbers.names, numbers.robot.name)
    values = np.array(list(numbers.parameters.values()), dtype=float)
    state, commands, _ = symbols
    closed, count = loops.samples, len(loops.names)
    beside = np.random.default_rng(_SEED).uniform(-WIDE, WIDE, (len(closed), len(state)))
    beside[:, :count] = loops.normalised(beside[:, :count])
    others = [np.zeros((len(commands), len(closed)))]
    others += [np.repeat(values[:, None], len(closed), axis=1)]
    x = np.hstack([closed, beside[:, count:]])
    samples = SymbolSamples(symbols, (x.T, *others), CLOSED_ZERO, (beside.T, *others))
    if rows:
        moving = slice(count, count + len(rows[0]))
        for place, slope in enumerate(samples.of_constraints(rows)):
            free = null_space(slope, CLOSED_ZERO)
            x[place, moving] = free @ (free.T @ x[place, moving])
    return samples


def unit_lengths(quantities: Quantities, names: Sequence[str], q: Sequence[Scalar]) -> list[Scalar]:
    """|quaternion|² − 1 of every quaternion among the coordinates: a configuration too must have them zero."""
    return [sum(q[k + i] * q[k + i] for i in range(4)) - 1 for k in quantities.quaternions(names)]


def _refuse_open(
    every: Sequence[tuple[str, int, Scalar, list[Scalar]]],
    symbols: GroupsOfSymbols,
    values: np.ndarray,
    robot_name: str,
) -> None:
    """Gaps that no motion changes must be closed as described."""
    numbers = [np.zeros((len(group), 1)) for group in symbols[:2]]
    for name, _, gap, row in every:
        if not all(is_zero(entry) for entry in row) or is_zero(gap):
            continue
        value = float(evaluated([gap], symbols, [*numbers, values[:, None]])[0, 0])
        if abs(value) > CLOSED:
            message = f"the loop '{name}' of '{robot_name}' is open by {value:.3g}, and no joint can close it"
            hint = "its ends must lie in the plane in which the joints move: look at at.z, rpy and the axes"
            raise InputError(message, key=f"robot.loops.{name}", hint=hint)


def _refuse_lock(closures: Closures, speeds: int, robot_name: str) -> None:
    """Raise InputError where the loops' rows leave no speed free."""
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


@dataclass(frozen=True)
class HeldPrograms:
    """What models with loops have beside the others: the `residual` of all that holds them, the way back to where it
    vanishes, and the states that follow from the others.
    """

    manifold: Program | None = None
    projection: Program | None = None
    dependent: tuple[str, ...] = ()


def held_programs(
    loops: Closures | None, symbols: Symbols, groups: Groups, split: tuple[int, int], driven: Collection[str]
) -> HeldPrograms:
    """The programs of a model with loops; nothing without.

    groups: those of the model's programs; split: how many coordinates and speeds the state begins with; driven: what
    should lead, if it can.
    """
    if loops is None:
        return HeldPrograms()
    (states, values), (count, speeds) = groups[STATE], split
    q, u, rest = values[:count], values[count : count + speeds], values[count + speeds :]
    names, labels = tuple(states[:count]), tuple(states[count : count + speeds])
    configuration = loops.configuration(names, q)
    velocity = apply(loops.rows, u) if labels else []
    residual = [*configuration, *velocity]
    said = residual_labels(len(configuration), len(velocity))
    moved = projected([*q, *u], split, configuration, velocity, loops.samples)
    dependent = loops.dependent(names, jacobian(configuration, q), driven)
    if labels:
        dependent += loops.dependent(labels, loops.rows, driven)
    return HeldPrograms(
        symbols.program("manifold", groups, {"residual": (said, residual)}),
        symbols.program("projection", groups, {"state": (states, [*moved, *rest])}),
        dependent,
    )


def projected(
    state: Sequence[Scalar],
    split: tuple[int, int],
    configuration: Sequence[Scalar],
    velocity: Sequence[Scalar],
    samples: SymbolSamples,
) -> list[Scalar]:
    """The state moved onto φ = 0 and ψ = 0.

    split: how many coordinates and speeds the state begins with; configuration, velocity: residuals, redundant ones
    among them, of which `samples` tell the independent ones.
    """
    count, speeds = split
    q, u, rest = state[:count], state[count : count + speeds], state[count + speeds :]
    moved = _moved(q, configuration, samples)
    return [*moved, *replaced(_moved(u, velocity, samples), q, moved), *rest]


def _moved(part: Sequence[Scalar], residual: Sequence[Scalar], samples: SymbolSamples) -> list[Scalar]:
    """The least change of `part` that makes the linearised residual vanish."""
    if not residual:
        return list(part)
    rows = jacobian(residual, part)
    kept = independent_rows(samples.of_constraints(rows), samples.zero)
    if not kept:
        return list(part)
    chosen = [rows[i] for i in kept]
    gram = product(chosen, transpose(chosen))
    names = [f"constraint {i + 1}" for i in kept]
    solved = solve_guided(gram, [[residual[i]] for i in kept], samples.of(gram), names, "projections")
    change = apply(transpose(chosen), [value for (value,) in solved])
    return [minus(value, each) for value, each in zip(part, change, strict=True)]
