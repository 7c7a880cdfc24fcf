"""What the columns of a run are: whose numbers, which of their owner's, and of what kind."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

# What the wheels of this package call what the ground does to them, for files of bare names.
_KINDS = {
    "rolling_slip": "slip",
    "lateral_slip": "slip",
    "traction": "ground",
    "side_force": "ground",
    "roller_force": "ground",
    "load": "load",
}

# How a base is turned: as numbers of a program, and as people read it.
_QUATERNION, _ANGLES = ("q_w", "q_x", "q_y", "q_z"), ("roll", "pitch", "yaw")


class Column(NamedTuple):
    """What one column holds.

    owner: the part whose number it is; "" for the base's own and for those of the whole robot.
    what: which of its owner's numbers, such as "rate".
    kind: what it is, as `mechanics.quantities` has kinds: "speed", "slip", "force", …; "" where nobody knows.
    """

    owner: str
    what: str
    kind: str = ""


def column_named(name: str) -> Column:
    """A column of which nothing but its name is known: runs that users make, and files without attributes.

    Only here is a meaning read off a name, by the grammar of runs' own: "left.rate" is the rate of the part "left".
    """
    owner, _, what = name.rpartition(".")
    return Column(owner, what, _KINDS.get(what, "") if owner else "")


def with_angles(names: Iterable[str], known: Container[str]) -> list[str]:
    """Names with roll, pitch and yaw in place of the base's quaternion, where those are among the `known`."""
    names = list(names)
    if not set(_QUATERNION) <= set(names) or not all(name in known for name in _ANGLES):
        return names
    at = names.index(_QUATERNION[0])
    names[at:at] = _ANGLES
    return [name for name in dict.fromkeys(names) if name not in _QUATERNION]
