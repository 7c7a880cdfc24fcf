"""Back onto the constraints: the state moved by one Newton step, as a program for runs to end their steps with.

q ← q − Jᵀ(J Jᵀ)⁻¹ φ(q) with J = ∂φ/∂q, then u ← u − Bᵀ(B Bᵀ)⁻¹ ψ(q, u) with B = ∂ψ/∂u at the new q (Eich 1993; Hairer &
Wanner 1996, section VII.2): the least changes, in the states' own units, that close φ to second order and, where ψ is
linear in u, ψ exactly. A step's error is small already, so its square is rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trundle.mechanics.linear import apply, product, transpose
from trundle.model.closures import Closures
from trundle.model.guided import independent_rows, solve_guided
from trundle.model.manifold import residual_labels
from trundle.model.samples import SymbolSamples
from trundle.model.symbols import STATE, Groups, Symbols, jacobian, replaced
from trundle.program import Program
from trundle.scalars import Scalar, minus


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
