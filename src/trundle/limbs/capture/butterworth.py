"""A Butterworth filter's sections, and what they leave of signals that they go over forward and backward.

SciPy's are the same to rounding (`tests/limbs/test_smoothing.py`), but importing scipy.signal takes a second.
"""

from __future__ import annotations

import math

import numpy as np

from trundle.arrays import FloatArray

# A double pole is known to the root of rounding, 1.5e-8: nearer to 1 nobody knows whether a filter forgets at all.
_LEAST_DECAY = 1e-7
# What is left of a filter's start-up at the first true sample; its slowest pole says how long that takes.
_FORGOTTEN = 1e-6


def sections(order: int, warped: float) -> FloatArray:
    """The second-order sections (k, 6), b then a, of a low pass of that order, whose warped cut-off is tan(π f T).

    H(s) = Π 1 / (s² + 2 sin θ s + 1) over its poles in pairs, one without a partner where the order is odd; the
    bilinear transform s → (z − 1) / (z + 1) / tan(π f T) brings them to z (Oppenheim & Schafer 2010, section 7.2).
    """
    found = []
    square = warped**2
    for k in range(order // 2):
        damping = 2 * math.sin(math.pi * (2 * k + 1) / (2 * order))
        whole = 1 + damping * warped + square
        gain = square / whole
        found.append(
            [gain, 2 * gain, gain, 1.0, 2 * (square - 1) / whole, (1 - damping * warped + square) / whole]
        )
    if order % 2:
        gain = warped / (1 + warped)
        found.append([gain, gain, 0.0, 1.0, (warped - 1) / (warped + 1), 0.0])
    return np.array(found)


def both_ways(filters: FloatArray, signals: FloatArray) -> FloatArray:
    """Signals (n, c) after all sections, forward and backward."""
    for section in filters:
        signals = _passed(section, signals)
    signals = signals[::-1]
    for section in filters:
        signals = _passed(section, signals)
    return np.ascontiguousarray(signals[::-1])


def _passed(section: FloatArray, signals: FloatArray) -> FloatArray:
    """One section's y, from b and a: y_n + a₁ y_{n−1} + a₂ y_{n−2} = b₀ x_n + b₁ x_{n−1} + b₂ x_{n−2}; before its first
    sample the signal was what it is there, and so was y, as sections leave constants as they are.

    The recursion is a banded system with ones on its diagonal, which LAPACK goes down step by step.
    """
    from scipy.linalg import get_blas_funcs

    b0, b1, b2, _, a1, a2 = section.tolist()
    before = np.vstack([signals[:1], signals[:1], signals])
    needed = b0 * before[2:] + b1 * before[1:-1] + b2 * before[:-2]
    needed[0] -= (a1 + a2) * signals[0]
    needed[1:2] -= a2 * signals[0]
    count = len(signals)
    bands = np.empty((3, count), order="F")
    bands[:] = [[1.0], [a1], [a2]]
    (solve,) = get_blas_funcs(("tbsv",), (bands,))
    columns = [solve(2, bands, column, lower=1, diag=1) for column in np.ascontiguousarray(needed.T)]
    return np.stack(columns, axis=1)


def memory(sections: FloatArray) -> int | None:
    """Samples until a filter has forgotten where it started, by its slowest pole; None where rounding hides that."""
    slowest = max(float(np.abs(np.roots(section[3:])).max()) for section in sections)
    if not 1 - slowest > _LEAST_DECAY:
        return None
    return math.ceil(math.log(_FORGOTTEN) / math.log(slowest))
