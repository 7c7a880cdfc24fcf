"""Lie brackets of vector fields that CasADi holds, by automatic differentiation: what they span, and where.

With q̇ = Σ g_i(q) u_i, moving along f and g to and fro gains [f, g] = (∂g/∂q) f − (∂f/∂q) g. `analysis.lie_filtration`
decides which brackets to form and what they add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from trundle.analysis.lie_filtration import Filtration, NamedField, filtration

# At a singular configuration brackets may have to be nested deeper than around it; so many levels are looked at more.
_DEEPER = 3


def growth(
    fields: Sequence[NamedField[ca.SX]], q: ca.SX, general: np.ndarray, here: np.ndarray, dimension: int
) -> tuple[Filtration, Filtration]:
    """What fields over the symbols q (n,) span with all their brackets, at general configurations and at one.

    `general` (s, n) and `here` (n,) are their numbers; nothing spans more than `dimension`. Where a field is not
    defined at `here`, only what is general is told, for both.
    """

    def bracket(f: ca.SX, g: ca.SX) -> ca.SX:
        return ca.jtimes(g, q, f) - ca.jtimes(f, q, g)

    fields = _marked(fields, q)
    generic = filtration(fields, bracket, _values(q, general), dimension, dimension)
    at_here = _values(q, here[None])
    if not np.isfinite(at_here([field.field for field in fields])).all():
        return generic, generic
    depth = len(generic.growth) + _DEEPER
    return generic, filtration(fields, bracket, at_here, generic.dimension, depth, regular=False)


def _marked(fields: Sequence[NamedField[ca.SX]], q: ca.SX) -> list[NamedField[ca.SX]]:
    """The fields, inert where they are constant and move only coordinates on which no field depends: an arm's joints on
    a base that drives, a hundred of which would give thousands of brackets, all zero.
    """
    n = q.numel()
    slopes = ca.jacobian(ca.vertcat(*(field.field for field in fields)), q) if fields else ca.SX(0, n)
    rows, columns = slopes.sparsity().get_triplet()
    varying, used = {row // n for row in rows}, set(columns)
    moved = [set(ca.sparsify(field.field).sparsity().get_triplet()[0]) for field in fields]
    return [replace(field, inert=k not in varying and not moved[k] & used) for k, field in enumerate(fields)]


def _values(q: ca.SX, places: np.ndarray) -> Callable[[Sequence[ca.SX]], np.ndarray]:
    """Fields → their values at the places, (places, fields, n)."""

    def values(fields: Sequence[ca.SX]) -> np.ndarray:
        function = ca.Function("fields", [q], [ca.densify(ca.horzcat(*fields))])
        return np.array([np.asarray(function(place)).reshape(-1, len(fields)).T for place in places])

    return values
