"""What a breakdown needs of a robot's body beside its joints' wrenches: its inertia, and its joint's friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.loads.recursion import Recursion
from trundle.mechanics.tree import Link
from trundle.scalars import is_zero
from trundle.spatial.vectors import ZERO, scale
from trundle.wrenches import Frame, Inertia


def inertia_of(link: Link, frame: Frame) -> Inertia:
    """A link's inertia about its frame's origin; one without mass has its centre there."""
    mass, h, about_origin = link.inertia
    center = ZERO if is_zero(mass) else scale(1 / mass, h)
    at = frame.point(f"centre of {frame.name}", center, velocity=ZERO, acceleration=ZERO)
    return Inertia(mass, about_origin, center=at, point=frame.origin, as_given=True)


def friction(recursion: Recursion, index: int, nu: FloatArray) -> FloatArray | None:
    """What damping and dry friction give to a joint's speeds (k, n), in N or N m; None where there are none."""
    at = recursion.tree.speed_slices()[index]
    found = np.zeros((at.stop - at.start, len(nu)))
    rubs = False
    for element in recursion.mechanism.assembly.elements:
        if at.start <= element.column < at.stop and not (
            is_zero(element.damping) and is_zero(element.coulomb)
        ):
            rubs = True
            only = replace(element, stiffness=0, stops=())
            found[element.column - at.start] += only.effort(0.0, nu[:, element.column]).torque
    return found if rubs else None
