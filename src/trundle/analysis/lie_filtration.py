"""Controllability of a system without drift, q̇ = Σ g_i(q) u_i: how Lie brackets of its fields span more and more.

The filtration Δ_1 = span{g_i}, Δ_{k+1} = Δ_k + [Δ_1, Δ_k] has the growth vector (dim Δ_1, dim Δ_2, …). Where it
reaches the dimension of the configurations, the system goes everywhere (Chow's theorem); its length is the degree of
nonholonomy (Murray, Li & Sastry 1994, sec. 7.2 and 7.3). Where it stops short, what is left is integrable (Frobenius).

Fields are opaque here: a `bracket` of two fields and their `values` at configurations come from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from trundle.mechanics.combinations import echelon, null_rows
from trundle.mechanics.elimination import ZERO

F = TypeVar("F")  # a vector field
LieBracket = Callable[[F, F], F]
# (fields) → their values at the sample configurations, (s, fields, n)
FieldValues = Callable[[Sequence[F]], np.ndarray]
# Brackets of more than this many fields at a level are not formed: no robot of wheels needs them.
_MOST = 400


@dataclass(frozen=True)
class NamedField(Generic[F]):
    """A vector field and how it came about: 'drive', '[drive, turn]'. `inert`: its brackets are known to be zero."""

    name: str
    field: F
    level: int = 1
    inert: bool = False


@dataclass(frozen=True)
class Filtration:
    """The growth vector up to where it stops growing, and for each dimension a field that brought it.

    `basis`: names of the independent fields in order, each with its level (1: a speed itself); `span` (s, dim, n)
    their values at the samples. `cut`: more brackets would have been needed than are formed.
    """

    growth: tuple[int, ...]
    basis: tuple[tuple[str, int], ...]
    span: np.ndarray
    cut: bool = False

    @property
    def dimension(self) -> int:
        """Dimension of all that the brackets reach."""
        return self.growth[-1] if self.growth else 0


def filtration(
    fields: Sequence[NamedField[F]],
    bracket: LieBracket[F],
    values: FieldValues[F],
    dimension: int,
    depth: int = 6,
    *,
    regular: bool = True,
) -> Filtration:
    """The filtration at the configurations that `values` evaluates: ranks are the largest among them.

    Fields that add nothing are dropped: near a `regular` configuration they are combinations, with functions as
    coefficients, of those kept, and so are their brackets. At one that need not be regular a field that is a
    combination of others need not be one around it: there all brackets are kept. Stops at `dimension`, where no
    bracket adds anything, or at `depth` levels.
    """
    keep_all = not regular
    kept, span = _extend([], np.zeros((0, 0, 0)), list(fields), values)
    growth = [len(kept)]
    generators = [field for field in (fields if keep_all else kept) if not field.inert]
    newest, cut = generators, False
    while len(kept) < dimension and len(growth) < depth and newest:
        level = len(growth) + 1
        made = [
            NamedField(f"[{first.name}, {second.name}]", bracket(first.field, second.field), level)
            for i, first in enumerate(generators)
            # At the second level [a, b] and [b, a] are one.
            for second in (newest[i + 1 :] if level == 2 else newest)
        ]
        if len(made) > _MOST:
            cut = True
            break
        before = len(kept)
        kept, span = _extend(kept, span, made, values)
        if len(kept) == before and not keep_all:
            break
        growth.append(len(kept))
        newest = made if keep_all else kept[before:]
    while len(growth) > 1 and growth[-1] == growth[-2]:
        growth.pop()
    return Filtration(tuple(growth), tuple((field.name, field.level) for field in kept), span, cut)


def _extend(
    kept: list[NamedField[F]], span: np.ndarray, more: list[NamedField[F]], values: FieldValues[F]
) -> tuple[list[NamedField[F]], np.ndarray]:
    """The kept fields and those of `more` that are independent of all before them in some sample, with their values."""
    if not more:
        return kept, span
    new = values([field.field for field in more])
    size = np.linalg.norm(new, axis=2, keepdims=True)
    # Brackets differ in size by powers of a length; only directions count.
    new = new / np.where(size > ZERO, size, np.inf)
    span = span if kept else new[:, :0]
    together = np.concatenate([span, new], axis=1)
    if _independent(together):
        return [*kept, *more], together
    kept = kept[:]
    for k, field in enumerate(more):
        tried = np.concatenate([span, new[:, k : k + 1]], axis=1)
        if _independent(tried):
            kept.append(field)
            span = tried
    return kept, span


def _independent(span: np.ndarray) -> bool:
    """Whether the rows (s, k, n) are independent in some sample."""
    if span.shape[1] > span.shape[2]:
        return False
    smallest = np.linalg.svd(span, compute_uv=False)[:, -1]
    return bool(smallest.max() > ZERO)


def constant_integrals(span: np.ndarray) -> np.ndarray:
    """Rows w (k, n) with w · v = 0 for every field v of (s, dim, n) in every sample: combinations of the coordinates
    that never change. In reduced row-echelon form, later coordinates first.
    """
    fields = span.reshape(-1, span.shape[2])
    return echelon(null_rows(fields.T), np.ones(fields.shape[1]))[::-1]
