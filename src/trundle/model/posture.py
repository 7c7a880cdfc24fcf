"""How a robot stands when nobody says how: every joint at its zero, or as near to that as its loops can be closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.kinematics import world_poses
from trundle.mechanics.loops import close, half_turned
from trundle.model.configuration import configure, independent_coordinates
from trundle.spatial.motions import Pose

_CLOSED = 1e-9
_STEPS = 40
_ENOUGH = 3
# Starts beside zero, where linkages are often flat and singular, then from all around.
_STARTS = (0.3, 0.3, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0)


def posture(assembly: Assembly) -> list[Pose]:
    """T_base_link of every link of a numeric assembly; loops that no configuration was found to close stay open."""
    names = independent_coordinates(assembly)
    q = np.array(assembly.quantities.starts(names))
    if assembly.loops:
        q = _nearest_closed(assembly, names, q)
    return world_poses(assembly.tree, configure(assembly, names, list(q)).poses)


def _nearest_closed(assembly: Assembly, names: Sequence[str], zeros: np.ndarray) -> np.ndarray:
    """Of the first closed configurations that least squares find the one with the least sum of squared changes."""
    from scipy.optimize import least_squares

    def gaps(q: np.ndarray) -> np.ndarray:
        poses = configure(assembly, names, list(q)).poses
        closures = [close(assembly.tree, poses, loop, 0) for loop in assembly.loops]
        return np.array([float(gap) for closure in closures for gap in closure.gaps])

    rng = np.random.default_rng(0)
    starts = [zeros, *(zeros + rng.uniform(-reach, reach, zeros.size) for reach in _STARTS)]
    found = []
    for start in starts:
        q = least_squares(gaps, start, xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=_STEPS).x
        poses = configure(assembly, names, list(q)).poses
        turned = any(half_turned(assembly.tree, poses, loop) for loop in assembly.loops)
        if not turned and np.abs(gaps(q)).max(initial=0.0) <= _CLOSED:
            found.append(q)
        if len(found) == _ENOUGH:
            break
    return min(found, key=lambda q: float(np.sum((q - zeros) ** 2)), default=zeros)
