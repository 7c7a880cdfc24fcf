"""Back onto the constraints: the state moved by one Newton step, as a program for runs to end their steps with.

q ← q − Jᵀ(J Jᵀ)⁻¹ φ(q) with J = ∂φ/∂q, then u ← u − Bᵀ(B Bᵀ)⁻¹ ψ(q, u) with B = ∂ψ/∂u at the new q (Eich 1993; Hairer &
Wanner 1996, section VII.2): the least changes, in the states' own units, that close φ to second order and, where ψ is
linear in u, ψ exactly. A step's error is small already, so its square is rounding.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from trundle.mechanics.linear import apply, product, transpose
from trundle.model.guided import independent_rows, solve_guided
from trundle.model.samples import Samples


def projected(
    symbols: tuple[Any, Any, Any], split: tuple[int, int], configuration: Any, velocity: Any, samples: Samples
) -> Any:
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


def _moved(part: Any, residual: Any, samples: Samples) -> Any:
    """The least change of `part` that makes the linearised residual vanish."""
    if not residual.numel():
        return part
    slope = ca.jacobian(residual, part)
    rows = [[_entry(slope, i, j) for j in range(slope.shape[1])] for i in range(slope.shape[0])]
    kept = independent_rows(samples.of_constraints(rows), samples.zero)
    if not kept:
        return part
    chosen = [rows[i] for i in kept]
    gram = product(chosen, transpose(chosen))
    names = [f"constraint {i + 1}" for i in kept]
    solved = solve_guided(gram, [[residual[i]] for i in kept], samples.of(gram), names, "projections")
    change = apply(transpose(chosen), [value for (value,) in solved])
    return part - ca.vertcat(*(ca.SX(each) for each in change))


def _entry(matrix: Any, i: int, j: int) -> Any:
    entry = matrix[i, j]
    return 0 if entry.is_zero() else entry
