"""Turning recordings between laboratories whose z is up and those whose y is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trundle.errors import InputError, choose
from trundle.limbs.capture.ground_reactions import reaction_columns
from trundle.limbs.capture.recording import Recording

# The axes that laboratories and models have up; x is forward in both, and stays.
UP = ("y", "z")
_Y_FROM_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def turned(recording: Recording, up: str, to: str) -> Recording:
    """What `Recording.turned` says."""
    for key, axis in (("up", up), ("to", to)):
        if axis not in UP:
            raise InputError(f"up is y or z, not {axis!r}", key=key, hint=choose(axis, UP))
    if up == to:
        return recording
    back = _Y_FROM_Z if up == "y" else _Y_FROM_Z.T  # vectors are rows: v Rᵀ
    markers = {name: places @ back for name, places in recording.markers.items()}
    channels = dict(recording.channels)
    for _, *groups in reaction_columns(recording):
        for names in groups:
            if all(name in channels for name in names):
                table = np.column_stack([channels[name] for name in names]) @ back
                channels |= dict(zip(names, table.T, strict=True))
    plates = tuple(
        replace(plate, corners=plate.corners @ back, force=plate.force @ back, moment=plate.moment @ back)
        for plate in recording.plates
    )
    return replace(recording, markers=markers, channels=channels, plates=plates)
