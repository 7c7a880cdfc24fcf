"""Dormand and Prince's method of order 8, with errors of order 5 and 3 and dense output of order 7, by SciPy's numbers.

Rows hold what isn't zero, by the number of the stage that it goes with. Stages 0 to 11 make a step, 12 are the rates
after it, 13 to 15 serve the dense output alone.

Source: Hairer, Nørsett & Wanner 1993, sec. II.5 and II.6, and their program DOP853.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scipy.integrate import DOP853

from trundle.arrays import FloatArray


def _row(numbers: FloatArray) -> Mapping[int, float]:
    return MappingProxyType({stage: weight for stage, weight in enumerate(numbers.tolist()) if weight})


AT = (*DOP853.C.tolist(), 1.0, *DOP853.C_EXTRA.tolist())
"""When the stages are, in parts of a step."""
STAGES = (*map(_row, DOP853.A), _row(DOP853.B), *map(_row, DOP853.A_EXTRA))
"""The rates' weights in every stage; those of stage 12 make the step."""
FIFTH, THIRD = _row(DOP853.E5), _row(DOP853.E3)
"""Its errors by the embedded methods of order 5 and 3."""
DENSE = tuple(map(_row, DOP853.D))
"""The rates' weights in the last four coefficients of the polynomial between two steps."""
