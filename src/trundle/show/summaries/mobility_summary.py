"""Which way wheels let a base go: what mechanics finds out of it, in a sentence."""

from __future__ import annotations

import math

from trundle.mechanics.mobility import BaseMotion, Mobility, PlanePoint, centre_of_rotation
from trundle.show.summaries.verbs import sentence

# By the degrees of mobility and steerability (Campion, Bastin & d'Andréa-Novel 1996).
_CLASSES = {
    (3, 0): "it moves in every direction at once",
    (2, 0): "it drives and turns, and never moves sideways",
    (2, 1): "it drives and turns, its heading set by a steered wheel",
    (1, 1): "it drives along the line or arc that its steering sets",
    (1, 2): "it drives along arcs about any centre that its steering sets",
    (
        1,
        0,
    ): "it can only follow one line or circle: its fixed axles, or gears between its wheels, leave no other way",
}


@sentence.register
def mobility_sentence(about: Mobility) -> str:
    """What degrees of mobility and steerability mean."""
    text = _CLASSES.get((about.mobility, about.steerability), "its fixed wheels hold it still")
    if about.coordinated:
        text += f"; its {len(about.steered)} steered wheels must be turned together"
    return text


@sentence.register
def base_motion_sentence(motion: BaseMotion) -> str:
    """Which way the wheels let the base go."""
    if motion.dimension == 3:
        return "any twist: it drives in every direction and turns about any point"
    if motion.dimension == 2 and motion.centre is None:
        return "it drives in every direction, but does not turn"
    if motion.dimension == 2:
        return f"it drives straight along {_degrees(motion.heading)}, and turns about any point of {_line(motion)}"
    if motion.dimension == 1:
        if motion.centre is None:
            return f"it drives straight along {_degrees(motion.heading)}, no other way"
        return f"it turns about {_point(motion.centre)}, no other way"
    text = "nothing without slip: the wheels' axles do not meet in one point"
    if motion.nearest is None:
        return text
    centre = centre_of_rotation(motion.nearest)
    along = f"driving along {_degrees(math.atan2(motion.nearest[1], motion.nearest[0]))}"
    way = f"turning about {_point(centre)}" if centre else along
    return f"{text}; nearest is {way}, which slips by {motion.slip:.2g} m/s at 1 m/s"


def _line(motion: BaseMotion) -> str:
    """The line of centres that a motion with two freedoms leaves."""
    x, y = motion.centre or (0.0, 0.0)
    across = abs(math.remainder(motion.heading or 0.0, math.pi))
    if across < 1e-9:
        return f"the line x = {x:.4g} m"
    if abs(across - math.pi / 2) < 1e-9:
        return f"the line y = {y:.4g} m"
    return f"the line through {_point((x, y))} across it"


def _point(point: PlanePoint) -> str:
    return f"({point[0]:.4g}, {point[1]:.4g}) m"


def _degrees(angle: float | None) -> str:
    return f"{math.degrees(angle or 0.0):.4g}°"
