"""What a SymPy method object says about a mechanism, as blocks of unevaluated expressions.

SymPy keeps some of these blocks in attributes with a leading underscore only; this is the one file that reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, Point, ReferenceFrame, dynamicsymbols

from trundle.errors import InputError

# SymPy types its operators and attributes as Basic, if at all, so its classes can't be written here. An expression is
# a scalar one or a number; a leaf is a symbol, a function of time, or the derivative of one.
SympyExpression = Any
Leaf = SympyExpression
SympyMethod = Any  # KanesMethod, LagrangesMethod or System: their blocks are untyped attributes

TIME: Leaf = vars(dynamicsymbols)["_t"]  # the symbol of time that all functions of time are of

Entries = tuple[tuple[SympyExpression, ...], ...]


@dataclass(frozen=True)
class FormedEquations:
    """K q̇ = k, then M u̇ = f + Aᵀλ with A u̇ = b (Lagrange), or M u̇ = f with A u̇ = b and M wide (Kane).

    q, u: coordinates and speeds. kinematic: K (n, n) and k (n,), or none where q̇ = u. mass: M, one row a speed for
    Lagrange, one row an independent speed for Kane. forcing: f. rows, right: A and b of the accelerations'
    constraints. multipliers: λ, none for Kane. holonomic, velocity: what the motion keeps zero. zeros: auxiliary speeds
    and the like, which are zero. inertial, origin: where positions are measured, as far as the method knows.
    """

    kind: str
    q: tuple[Leaf, ...]
    u: tuple[Leaf, ...]
    kinematic: tuple[Entries, tuple[SympyExpression, ...]] | None
    mass: Entries
    forcing: tuple[SympyExpression, ...]
    rows: Entries
    right: tuple[SympyExpression, ...]
    multipliers: tuple[Leaf, ...]
    holonomic: tuple[SympyExpression, ...]
    velocity: tuple[SympyExpression, ...]
    dependent: tuple[Leaf, ...]
    zeros: tuple[SympyExpression, ...]
    inertial: ReferenceFrame | None = None
    origin: Point | None = None


def read_method(method: SympyMethod) -> FormedEquations:
    """The blocks of a KanesMethod, LagrangesMethod or System whose equations were formed; InputError for others."""
    if isinstance(method, KanesMethod):
        return _kane(method)
    if isinstance(method, LagrangesMethod):
        return _lagrange(method)
    if type(method).__name__ == "System" and hasattr(method, "eom_method"):
        if method.eom_method is None:
            message = "the System has no equations of motion yet"
            raise InputError(message, key="method", hint="call system.form_eoms() before")
        formed = read_method(method.eom_method)
        return replace(formed, inertial=method.frame, origin=method.fixed_point)
    raise InputError(
        f"expected SymPy's KanesMethod, LagrangesMethod or System, got {type(method).__name__}", key="method"
    )


def _kane(method: SympyMethod) -> FormedEquations:
    """The blocks of a KanesMethod: M u̇ = f of the independent speeds, and the constraints' rows below them."""
    try:
        mass, forcing = method.mass_matrix, method.forcing
    except (ValueError, AttributeError):
        message = "the KanesMethod has no equations of motion yet"
        hint = "call method.kanes_equations(bodies, loads) before, with kd_eqs given to KanesMethod"
        raise InputError(message, key="method", hint=hint) from None
    q, u = tuple(method.q), tuple(method.u)
    independent = len(u) - len(method._udep)
    auxiliary = tuple(method._uaux)
    velocity = method._k_nh * sp.Matrix(u) + method._f_nh if method._k_nh else []
    return FormedEquations(
        kind="KanesMethod",
        q=q,
        u=u,
        kinematic=(_rows(method.mass_matrix_kin), tuple(method.forcing_kin)),
        mass=_rows(mass)[:independent],
        forcing=tuple(forcing)[:independent],
        rows=_rows(mass)[independent:],
        right=tuple(forcing)[independent:],
        multipliers=(),
        holonomic=tuple(method._f_h),
        velocity=tuple(velocity),
        dependent=(*tuple(method._qdep), *tuple(method._udep)),
        zeros=(*auxiliary, *(speed.diff(TIME) for speed in auxiliary)),
        inertial=method._inertial,
    )


def _lagrange(method: SympyMethod) -> FormedEquations:
    """The blocks of a LagrangesMethod: u = q̇, its mass matrix and forcing without multipliers, rows A q̈ = b."""
    if method.eom is None:
        message = "the LagrangesMethod has no equations of motion yet"
        raise InputError(message, key="method", hint="call method.form_lagranges_equations() before")
    count = len(method.q)
    q = tuple(method.q)
    return FormedEquations(
        kind="LagrangesMethod",
        q=q,
        u=tuple(coordinate.diff(TIME) for coordinate in q),
        kinematic=None,
        mass=tuple(row[:count] for row in _rows(method.mass_matrix)),
        forcing=tuple(method.forcing),
        rows=_rows(method._m_cd),
        right=tuple(method._f_cd),
        multipliers=tuple(method.lam_vec),
        holonomic=tuple(method._hol_coneqs),
        velocity=tuple(method.coneqs),
        dependent=(),
        zeros=(),
        inertial=method.inertial,
    )


def _rows(matrix: sp.MatrixBase) -> Entries:
    """A matrix as tuples of its rows."""
    return tuple(map(tuple, matrix.tolist()))


def name_of(symbol: Leaf | str) -> str:
    """The name of a symbol or function of time (or a name already), with `_dot` behind it for its time derivative."""
    if isinstance(symbol, sp.Derivative):
        order = int(symbol.derivative_count)
        return f"{name_of(symbol.expr)}_{'d' * order}ot"
    if isinstance(symbol, str):
        return symbol
    return str(getattr(symbol, "name", None) or symbol.func)


def next_to(point: Point, named: Mapping[Point, str]) -> list[str]:
    """The named points from which this one was located, or that from it, without another named one between."""
    open_, seen, found = [point], {point}, list[str]()
    while open_:
        for near in open_.pop()._pos_dict:
            if near not in seen:
                seen.add(near)
                found += [named[near]] if near in named else []
                open_ += [] if near in named else [near]
    return found
