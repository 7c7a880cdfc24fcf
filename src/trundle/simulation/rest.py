"""Runs that stand still where the least push would set them off: an arm upright, as many URDF files have it at zero."""

from __future__ import annotations

import numpy as np

from trundle.errors import TrundleError
from trundle.model import Model
from trundle.results import Run

# States that change by less are at rest, and motions that grow more slowly (1/s) don't count: poles at 0 that are
# multiple are known only to the root of rounding.
_STILL, _SLOW = 1e-6, 1e-3


def balanced(model: Model, run: Run) -> tuple[str, float] | None:
    """The coordinate that would leave fastest, and how fast (1/s), of a run that rests at an unstable equilibrium.

    None for a run that moves, and where it is stable or nobody knows: the largest Re λ of ẋ = A x tells.
    """
    if any(np.ptp(run[name]) > _STILL for name in run.states):
        return None
    from trundle.control.linearization import linearize  # late: most runs move

    start = {name: float(run[name][0]) for name in run.states}
    given = {name: float(run[name][0]) for name in run.groups["inputs"]}
    try:
        about = linearize(model, start, given, run.description["parameters"])
    except TrundleError:
        return None
    if not about.states or not about.is_equilibrium:
        return None
    poles, ways = np.linalg.eig(about.A)
    rates = np.real(poles)
    fastest = int(np.argmax(rates))
    parts = dict(zip(about.states, np.abs(ways[:, fastest]), strict=True))
    moved = [name for name in parts if name in model.coordinates]
    if rates[fastest] < _SLOW or not moved:
        return None
    return max(moved, key=parts.__getitem__), float(rates[fastest])
