"""Paths that wheels which hold their direction, or a range of angles, can't go along."""

from __future__ import annotations

import math

import numpy as np

from trundle.errors import InputError
from trundle.motion.drive.drive import Drive
from trundle.motion.paths.along_path import local_velocities
from trundle.motion.paths.pose_paths import Section

# A wheel that holds its angle may be pushed across by this share of its velocity.
_ACROSS = 1e-6
# Looks along a section at what is across.
_LOOKS = 4001


def check_held(drive: Drive, section: Section) -> None:
    """InputError where a wheel that doesn't steer and has no rollers would be pushed across; where wheels slide for the
    base to turn, of its origin.
    """
    holding = Drive(drive.holding, drive.limits[: len(drive.holding)])
    u = local_velocities(holding, section, np.linspace(0.0, section.length, _LOOKS))
    across = np.abs((u * np.exp(-1j * holding.headings)).imag)
    if (across > _ACROSS).any():
        name = holding.names[int(across.max(axis=0).argmax())]
        hint = "give points without headings, pose_path([(x, y), …]), and put the base's origin on the axle, x ahead"
        if len(holding.modules) == len(drive.modules) > 2:
            hint = f"{hint}; wheels that slide in turns need `contact: slip`"
        raise InputError(
            f"{name} holds its direction, and the path would push it sideways",
            key=f"robot.wheels.{name}",
            hint=hint,
        )


def out_of_range(drive: Drive, place: int, least: float, most: float) -> InputError:
    """The error of a module that the path steers from its least to its greatest angle (rad), which its range doesn't
    hold, nor both of them half a turn aside.
    """
    name, (low, high) = drive.names[place], drive.ranges[:, place]
    begin, end, lower, upper = (f"{math.degrees(angle):.4g}°" for angle in (least, most, low, high))
    asked = f"holds {name} at {begin}" if begin == end else f"steers {name} from {begin} to {end}"
    return InputError(
        f"the path {asked}: its range from {lower} to {upper} doesn't hold that at once, nor half a turn aside",
        key=f"robot.wheels.{name}.limits",
        hint="let the base turn with the path, or stop on the way",
    )
