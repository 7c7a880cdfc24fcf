"""Arrays of numbers that stay as they are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def frozen(array: npt.ArrayLike) -> FloatArray:
    """A read-only float64 view of `array`, without a copy where it is float64 already."""
    view = np.asarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view
