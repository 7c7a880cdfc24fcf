"""Back onto the constraints: the state moved by one Newton step, as a program for runs to end their steps with.

q ← q − Jᵀ(J Jᵀ)⁻¹ φ(q) with J = ∂φ/∂q, then u ← u − Bᵀ(B Bᵀ)⁻¹ ψ(q, u) with B = ∂ψ/∂u at the new q (Eich 1993; Hairer &
Wanner 1996, section VII.2): the least changes, in the states' own units, that close φ to second order and, where ψ is
linear in u, ψ exactly. A step's error is small already, so its square is rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import casadi as ca

from trundle.mechanics.linear import apply, product, transpose
from trundle.model.closures import Closures
from trundle.model.guided import independent_rows, solve_guided
from trundle.model.manifold import residual_labels
from trundle.model.samples import Samples
from trundle.model.symbols import STATE, Groups, Symbols, column, dense_rows, entries
from trundle.program import Program


@dataclass(frozen=True)
class HeldPrograms:
    """What models with loops have beside the others: the `residual` of all that holds them, the way back to where it
    vanishes, and the states that follow from the others.
    """

    manifold: Program | None = None
    projection: Program | None = None
    dependent: tuple[str, ...] = ()


def held_programs(
    loops: Closures | None,
    symbols: Symbols,
    groups: Groups,
    split: tuple[int, int],
    driven: Collection[str],
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
    residual = [*entries(configuration), *velocity]
    said = residual_labels(configuration.numel(), len(velocity))
    moved = projected(loops.samples.symbols, split, configuration, column(velocity), loops.samples)
    dependent = loops.dependent(names, dense_rows(ca.jacobian(configuration, column(q))), driven)
    if labels:
        dependent += loops.dependent(labels, loops.rows, driven)
    return HeldPrograms(
        symbols.program("manifold", groups, {"residual": (said, residual)}),
        symbols.program(
            "projection", groups, {"state": (states, [*entries(moved)[: count + speeds], *rest])}
        ),
        dependent,
    )


def projected(
    symbols: Sequence[ca.SX],
    split: tuple[int, int],
    configuration: ca.SX,
    velocity: ca.SX,
    samples: Samples,
) -> ca.SX:
    """The state's column moved onto φ = 0 and ψ = 0.

    symbols: (state, input, parameter); split: how many coordinates and speeds the state begins with; configuration,
    velocity: columns of residuals, redundant ones among them, of which `samples` tell the independent ones.
    """
    state = symbols[0]
    count, speeds = split
    q, u, rest = state[:count], state[count : count + speeds], state[count + speeds :]
    q = _moved(q, configuration, samples)
    u_moved = _moved(u, velocity, samples)
    at = ca.Function("velocity", list(symbols), [u_moved])
    return ca.vertcat(q, at(ca.vertcat(q, u, rest), *symbols[1:]), rest)


def _moved(part: ca.SX, residual: ca.SX, samples: Samples) -> ca.SX:
    """The least change of `part` that makes the linearised residual vanish."""
    if not residual.numel():
        return part
    slope = ca.jacobian(residual, part)
    rows = dense_rows(slope)
    kept = independent_rows(samples.of_constraints(rows), samples.zero)
    if not kept:
        return part
    chosen = [rows[i] for i in kept]
    gram = product(chosen, transpose(chosen))
    names = [f"constraint {i + 1}" for i in kept]
    solved = solve_guided(gram, [[residual[i]] for i in kept], samples.of(gram), names, "projections")
    change = apply(transpose(chosen), [value for (value,) in solved])
    return part - column(change)
