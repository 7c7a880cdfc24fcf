"""States of motors, batteries and contact laws on terrain: led on by a step whose rates are those at its end.

s⁺ = s + (1/h − ∂f/∂s)⁻¹ f(s) at the step's other ends: implicit Euler where rates are linear in the states, as those of
windings, lags, integrals and bristles are, and the Rosenbrock method of the first order elsewhere (Hairer & Wanner,
"Solving Ordinary Differential Equations II", IV.7). So a step is stable however quick a winding is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.linear import solve_general
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel
from trundle.program.llvm.llvm_rollout import ITERATE
from trundle.program.tangents import jacobian, replaced
from trundle.program.tracer import Node
from trundle.robot.terrain import Terrain
from trundle.scalars import AnyRows, Rows, Scalar, is_zero, minus, plus
from trundle.terrain.contact import contact_names

# The input group of the speeds that a step's rounds seek.
TRIAL = ITERATE
# Symbols that are replaced before a program is done stand behind all that a search has: of speeds, and of states.
SYMBOLS, OWN_SYMBOLS = 10_000, 20_000

StateRates = Callable[[Mapping[str, Scalar]], Mapping[str, Scalar]]


def inner_states(assembly: Assembly) -> list[Quantity]:
    """What motors and batteries bring along."""
    owners = (*assembly.actuators, *assembly.supplies)
    return [quantity for owner in owners for quantity in owner.states.values()]


def tread_states(wheel: WheelModel, contact: str) -> dict[str, Quantity]:
    """What the law of a wheel brings along at one of its contacts, by the law's own names."""
    states = wheel.states.items()
    return {own: replace(state, name=f"{contact}.{own}", owner=contact) for own, state in states}


def all_states(assembly: Assembly, terrain: Terrain) -> list[Quantity]:
    """Everything that brings states along beside joints: motors, batteries, contacts."""
    treads = [
        quantity
        for wheel in assembly.wheels
        for contacts in contact_names(terrain, wheel).values()
        for contact in contacts
        for quantity in tread_states(wheel, contact).values()
    ]
    return [*inner_states(assembly), *treads]


def led_on(
    rates: StateRates, states: Mapping[str, Scalar], dt: Scalar, symbols: Sequence[Node]
) -> dict[str, Scalar]:
    """The states where a step of length dt ends; `symbols` stand for them while slopes are taken, one a state."""
    names = list(states)
    if not names:
        return {}
    at = rates(dict(zip(names, symbols, strict=True)))
    f = [at[name] for name in names]
    f, *slopes = put([f, *jacobian(f, symbols, at_rest=True)], symbols, list(states.values()))
    after = dict(states)
    for group in _together(slopes):
        matrix = [[minus(1 / dt if i == j else 0, slopes[i][j]) for j in group] for i in group]
        for place, change in zip(group, solve_general(matrix, [f[i] for i in group]), strict=True):
            after[names[place]] = plus(after[names[place]], change)
    return after


def put(rows: Rows, symbols: Sequence[Node], values: Sequence[Scalar]) -> Rows:
    """Rows with values in place of symbols."""
    flat = iter(replaced([entry for row in rows for entry in row], symbols, values))
    return [[next(flat) for _ in row] for row in rows]


def _together(slopes: AnyRows) -> list[list[int]]:
    """The states in groups that hang on each other: a motor's own, or those of all motors of a battery."""
    group = list(range(len(slopes)))
    for i, row in enumerate(slopes):
        for j, slope in enumerate(row):
            if not is_zero(slope):
                old, new = group[i], group[j]
                group = [new if member == old else member for member in group]
    return [[i for i, member in enumerate(group) if member == which] for which in dict.fromkeys(group)]
