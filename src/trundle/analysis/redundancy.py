"""Which rows repeat what others say already, as relations between them that hold in every configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.mechanics.elimination import ZERO
from trundle.shown import Explained


@dataclass(frozen=True)
class Relation(Explained):
    """Σ c_k row_k = 0: names and coefficients, scaled so that the first is 1; `constant` where they are the same in
    every configuration (else they are the first sample's).
    """

    terms: tuple[tuple[str, float], ...]
    constant: bool

    @property
    def names(self) -> tuple[str, ...]:
        """What the relation is between."""
        return tuple(name for name, _ in self.terms)


def relations(samples: np.ndarray, names: Sequence[str]) -> tuple[Relation, ...]:
    """The linear relations between rows of matrices (s, rows, columns), one for each row that depends on earlier ones.

    Rows are looked at in order; a row that lies in the span of those before it in every sample gets the sparsest of
    its least-squares combinations that Gaussian elimination finds: over the independent rows before it, which is
    unique.
    """
    if _all_independent(samples):
        return ()
    kept: list[int] = []
    result: list[Relation] = []
    for row in range(samples.shape[1]):
        coefficients = _combination(samples, kept, row)
        if coefficients is None:
            kept.append(row)
            continue
        constant = bool(np.ptp(coefficients, axis=0).max(initial=0.0) <= 1e-7)
        used = [k for k in range(len(kept)) if np.abs(coefficients[:, k]).max() > 1e-7]
        terms = [(names[row], 1.0), *((names[kept[k]], _rounded(-coefficients[0, k])) for k in used)]
        result.append(Relation(tuple(terms), constant))
    return tuple(result)


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
