"""Which rows repeat what others say already, as relations between them that hold in every configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.mechanics.combinations import combination
from trundle.mechanics.elimination import ZERO


@dataclass(frozen=True)
class Relation:
    """Σ c_k row_k = 0: names and coefficients, scaled so that the first is 1; `constant` where they are the same in
    every configuration (else they are the first sample's).
    """

    terms: tuple[tuple[str, float], ...]
    constant: bool

    @property
    def names(self) -> tuple[str, ...]:
        """What the relation is between."""
        return tuple(name for name, _ in self.terms)

    def explain(self) -> str:
        """'left.lateral = right.lateral', signs sorted to both sides; names alone where coefficients vary."""
        if not self.constant:
            return f"{self.names[0]} follows from {_listed(self.names[1:])}"
        terms = [*self.terms[1:], self.terms[0]]  # the first depends on those before it: in their own order
        left = [(name, c) for name, c in terms if c > 0]
        right = [(name, -c) for name, c in terms if c < 0]
        return f"{combination(left)} = {combination(right) or '0'}"


def summary(found: Sequence[Relation]) -> str:
    """All relations in one line; those that follow from the same rows together."""
    following: dict[tuple[str, ...], list[str]] = {}
    parts: list[str] = []
    equal: dict[str, list[str]] = {}
    for each in found:
        if len(each.terms) == 1:
            equal.setdefault("0", []).append(each.names[0])
        elif each.constant and len(each.terms) == 2 and abs(each.terms[1][1] + 1) < 1e-9:
            equal.setdefault(each.names[1], []).append(each.names[0])
        elif each.constant:
            parts.append(each.explain())
        else:
            following.setdefault(each.names[1:], []).append(each.names[0])
    parts = [
        " = ".join((*others, first) if first == "0" else (first, *others)) for first, others in equal.items()
    ] + parts
    parts += [
        f"{_listed(names)} follow{'s' if len(names) == 1 else ''} from {_listed(leaders)}"
        for leaders, names in following.items()
    ]
    return "; ".join(parts)


def relations(samples: np.ndarray, names: Sequence[str]) -> tuple[Relation, ...]:
    """The linear relations between rows of matrices (s, rows, columns), one for each row that depends on earlier ones.

    Rows are looked at in order; a row that lies in the span of those before it in every sample gets the sparsest of
    its least-squares combinations that Gaussian elimination finds: over the independent rows before it, which is
    unique.
    """
    if _all_independent(samples):
        return ()
    kept: list[int] = []
    found: list[Relation] = []
    for row in range(samples.shape[1]):
        coefficients = _combination(samples, kept, row)
        if coefficients is None:
            kept.append(row)
            continue
        constant = bool(np.ptp(coefficients, axis=0).max(initial=0.0) <= 1e-7)
        used = [k for k in range(len(kept)) if np.abs(coefficients[:, k]).max() > 1e-7]
        terms = [(names[row], 1.0), *((names[kept[k]], _rounded(-coefficients[0, k])) for k in used)]
        found.append(Relation(tuple(terms), constant))
    return tuple(found)


def _all_independent(samples: np.ndarray) -> bool:
    """Whether no row depends on the others in some sample: the common case, decided at once."""
    if samples.shape[1] > samples.shape[2]:
        return False
    sigma = np.linalg.svd(samples, compute_uv=False)
    return samples.shape[1] == 0 or bool((sigma[:, -1] > 1e3 * ZERO * sigma[:, 0]).any())


def _combination(samples: np.ndarray, kept: Sequence[int], row: int) -> np.ndarray | None:
    """Coefficients (s, kept) of a row over the kept ones, or None where it is no combination of them in some sample."""
    result = np.zeros((len(samples), len(kept)))
    for k, matrix in enumerate(samples):
        target = matrix[row]
        if kept:
            basis = matrix[list(kept)]
            result[k] = np.linalg.lstsq(basis.T, target, rcond=None)[0]
            target = target - result[k] @ basis
        if np.abs(target).max(initial=0.0) > ZERO * max(np.abs(matrix).max(initial=0.0), 1e-300):
            return None
    return result


def _rounded(value: float) -> float:
    """A coefficient without the last digits' rounding: ±1 stays ±1."""
    return float(f"{value:.9g}")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
