"""Where a mechanism can go by manoeuvring: the Lie brackets of its admissible velocities.

With q̇ = Σ X_i(q) u_i, moving along X and Y to and fro gains [X, Y] = ∂Y/∂q X − ∂X/∂q Y. The X_i and all their brackets
span what the coordinates can reach from a configuration (Chow's theorem: Murray, Li & Sastry 1994, theorem 7.1).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product
from typing import Any

import casadi as ca
import numpy as np

from trundle.mechanics.elimination import generic_rank
from trundle.model.guided import independent_rows

Array = np.ndarray[Any, np.dtype[np.float64]]

# Brackets are taken until levels add nothing (at singular places a few more are looked at), or get this large.
_MOST = 200
_IDLE = 2
# Samples at which brackets are looked at lie this far (m, rad) from the configuration: the first is the place itself,
# the second a generic one.
_SPREAD = 0.3


@dataclass(frozen=True)
class Reach:
    """At one configuration: the admissible velocities q̇, (n, k), and those with all their brackets, (n, m)."""

    velocities: Array
    closure: Array


def reach(model: Any, x: Array, p: Array, dependent: Collection[str] = ()) -> Reach:
    """The admissible velocities at the state x and the parameters p, and their involutive closure.

    dependent: the states that the model's constraints are solved for.
    """
    q, fields = _fields(model, x, p, dependent)
    n = q.numel()
    rng = np.random.default_rng(0)
    places = [x[:n], x[:n] + rng.uniform(-_SPREAD, _SPREAD, n)]
    found, level = _values(fields, q, places), fields
    velocities, rank, idle = found[0], _ranks(found), 0
    # Where a generic place gains no more and the place itself has as much, nothing can follow.
    while rank[0] < n and (idle == 0 or rank[0] < rank[1]) and idle <= _IDLE and level.shape[1] <= _MOST:
        level = _brackets(fields, level, q)
        values = _values(level, q, places)
        adding = _adding(found, values)
        idle = 0 if adding else idle + 1
        if adding:  # those that add nothing at either place needn't be bracketed further
            level, values = ca.cse(level[:, adding]), values[:, :, adding]
        found = np.concatenate([found, values], axis=2)
        rank = _ranks(found)
    return Reach(velocities, found[0])


def _fields(model: Any, x: Array, p: Array, dependent: Collection[str]) -> tuple[Any, Any]:
    """The coordinates' symbols and the X_i(q), one column an independent speed."""
    n, count = len(model.coordinates), len(model.speeds)
    q, u = ca.SX.sym("q", n), ca.SX.sym("u", count)
    rest = [ca.DM.zeros(len(model.currents)), ca.DM.zeros(len(model.inputs)), ca.DM(p)]
    groups = [ca.vertcat(q, u, rest[0]), *rest[1:]]
    (rate,) = model.dynamics.casadi_function.call(groups)
    fields = ca.substitute(ca.jacobian(rate[:n], u), u, 0)
    if model.manifold is None:
        return q, fields
    (residual,) = model.manifold.casadi_function.call(groups)
    rows = [k for k, label in enumerate(model.manifold.outputs[0].labels) if label.startswith("velocity")]
    slopes = ca.substitute(ca.jacobian(residual[rows], u), u, 0)
    numbers = np.asarray(ca.Function("rows", [q], [ca.densify(slopes)])(x[:n])).reshape(len(rows), count)
    solved = [k for k, name in enumerate(model.speeds) if name in dependent]
    free = [k for k in range(count) if k not in solved]
    if not solved:
        return q, fields
    kept = list(independent_rows(numbers[None]))
    tied = -ca.solve(slopes[kept, solved], slopes[kept, free])
    return q, fields[:, free] + fields[:, solved] @ tied


def _brackets(fields: Any, level: Any, q: Any) -> Any:
    """[X, Y] of every X of `fields` with every Y of `level`."""
    pairs = product(range(fields.shape[1]), range(level.shape[1]))
    found = [
        ca.jtimes(level[:, j], q, fields[:, i]) - ca.jtimes(fields[:, i], q, level[:, j]) for i, j in pairs
    ]
    return ca.horzcat(*found)


def _adding(found: Array, values: Array) -> list[int]:
    """Columns of `values` that are independent of `found`, and of those before them, at one of the places."""
    kept: set[int] = set()
    for known, new in zip(found, values, strict=True):
        basis, count = known, generic_rank(known.T[None])
        for k in range(new.shape[1]):
            more = np.column_stack([basis, new[:, k]])
            if generic_rank(more.T[None]) > count:
                basis, count = more, count + 1
                kept.add(k)
    return sorted(kept)


def _values(fields: Any, q: Any, places: list[Array]) -> Array:
    """Values of fields at places, (places, n, k), each column by its largest; rounding beside a larger neighbour is 0.

    An entry counts as rounding where a change of the configuration by 1e-9 would change it by as much.
    """
    function = ca.Function("fields", [q], [ca.densify(fields)])
    rng = np.random.default_rng(1)
    result = []
    for place in places:
        value = np.asarray(function(place)).reshape(fields.shape)
        near = [np.asarray(function(place + 1e-9 * rng.uniform(-1, 1, place.size))) for _ in range(3)]
        noise = np.max([np.abs(each.reshape(fields.shape) - value) for each in near], axis=0)
        value[np.abs(value) <= 10 * noise] = 0.0
        result.append(value / np.maximum(np.abs(value).max(axis=0), 1e-300))
    return np.array(result)


def _ranks(found: Array) -> tuple[int, ...]:
    return tuple(generic_rank(each.T[None]) for each in found)
