"""Which coordinates a motion may leave behind: those on which nothing depends but other such coordinates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trundle.mechanics.elimination import ZERO
from trundle.model import Model

# States at which dependence is asked for: general ones, as a slope may vanish at a special one.
_LOOKS, _SPREAD = 3, 1.0


def moving_on(model: Model, p: npt.NDArray[np.float64]) -> frozenset[str]:
    """The coordinates that may move on in a steady motion: a pose on level ground, a wheel's angle.

    The largest set of coordinates that no rate of a state outside it depends on, and no constraint, by the slopes at
    general states; `p` are the parameters. While everything outside it holds still, the motion is a relative
    equilibrium: the same again from wherever it has come to.
    """
    rng, n = np.random.default_rng(0), len(model.states)
    paths = np.zeros((n, n), dtype=bool)
    for _ in range(_LOOKS):
        x = model.quantities.normalised(model.states, rng.uniform(-_SPREAD, _SPREAD, n))
        u = rng.uniform(-_SPREAD, _SPREAD, len(model.inputs))
        _, slope, _ = model.rate_slopes.evaluate(x, u, p)
        paths |= _depends(slope.reshape(n, n))
        if model.manifold_jacobian is not None:
            held = _depends(model.manifold_jacobian.evaluate(x, u, p)[0].reshape(-1, n)).any(axis=0)
            paths |= held  # constraints may be about anything
    free = np.array([name in model.coordinates for name in model.states])
    while (bound := free & paths[~free].any(axis=0)).any():
        free &= ~bound
    return frozenset(name for name, is_free in zip(model.states, free, strict=True) if is_free)


def _depends(slope: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which entries are more than rounding beside the largest of their row, where all are finite."""
    slope = np.nan_to_num(np.abs(slope), nan=np.inf)
    return slope > ZERO * slope.max(axis=1, keepdims=True, initial=0.0)
