"""What the columns of a run are: whose numbers, which of their owner's, and of what kind."""

from __future__ import annotations

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
