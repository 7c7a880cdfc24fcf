"""How well markers fit a robot: what is no fit is refused, and what is poor is told."""

from __future__ import annotations

import warnings

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.marker_model import MarkerModel

# Of the robot's size. OpenSim's best practices for inverse kinematics accept 2 to 4 cm at most, of a person's 1.8 m.
_POOR = 0.05
# Postures that the robot's size is measured at.
_LOOKS = 32
_CAUSES = (
    "are they in the unit that the file says (mm, m), the same way up, and where `markers` says on each body?"
)


def judge_fit(model: MarkerModel, postures: FloatArray, off: FloatArray) -> None:
    """Warn where a marker is further from where it was seen, (n, m) m, NaN unseen, than fits a robot of this size.

    Raises InputError where all together (root of the mean square) are further off than the robot is large.
    """
    counts = np.isfinite(off).sum(axis=0)
    if not counts.any():
        return
    squares, size = np.nansum(off**2, axis=0), _size(model, postures)
    each, whole = np.sqrt(squares / np.maximum(counts, 1)), np.sqrt(squares.sum() / counts.sum())
    worst = int(each.argmax())
    told = f"'{model.markers[worst]}' most, by {each[worst]:.3g} m (root mean square)"
    if whole > size:
        message = f"the markers don't fit the robot, which is {size:.3g} m large: {told}"
        raise InputError(message, key="markers", hint=_CAUSES)
    if each[worst] > _POOR * size:
        text = f"the markers fit poorly on a robot {size:.3g} m large: {told}; {_CAUSES}"
        warnings.warn(text, stacklevel=3)


def _size(model: MarkerModel, postures: FloatArray) -> float:
    """How far apart its markers are (m) at most in some postures; of one marker, how far from the world's origin."""
    places, _ = model.evaluate(postures[:: -(-len(postures) // _LOOKS)])
    places = places.reshape(len(places), -1, 3)
    spread = float(np.linalg.norm(np.ptp(places, axis=1), axis=1).max())
    return spread or float(np.linalg.norm(places, axis=2).max())
