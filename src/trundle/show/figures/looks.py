"""How curves look: the one place that decides which colour and dash a curve has, in every panel of every figure.

A look is a place in a palette. What belongs to a wheel, a joint or a motor on them has that part's place everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from trundle.robot.couplings import linkages
from trundle.show.figures.style import COLOURS, DASHES

if TYPE_CHECKING:
    from trundle.results import Run
    from trundle.robot import Robot


class LineLook(NamedTuple):
    """What a line is drawn with."""

    color: str
    linestyle: str


def look(place: int) -> LineLook:
    """The look at a place of the palette; dashes change with every round through the colours."""
    return LineLook(COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)])


def places(names: Iterable[str], fixed: Mapping[str, int], taken: Iterable[str] = ()) -> dict[str, int]:
    """A place for every name, no two alike: its `fixed` one, else the first that is free.

    `taken` are colours that stand in the same axes already.
    """
    names, used = list(names), set(taken)
    free = [place for place in range(len(COLOURS) * len(DASHES)) if look(place).color not in used]
    chosen: dict[str, int] = {}
    for name in names:
        if fixed.get(name) in free:
            chosen[name] = fixed[name]
            free.remove(fixed[name])
    for index, name in enumerate(names):
        if name not in chosen:
            chosen[name] = free.pop(0) if free else index
    return {name: chosen[name] for name in names}


def fixed_places(run: Run, robot: Robot | None) -> dict[str, int]:
    """The places of all values that belong to a part, by their names.

    Wheels are counted by themselves, joints too, then what is left. A motor looks like what it drives.
    """
    owner_of = {name: owner for name in run.values if (owner := run.column(name).owner)}
    counted: dict[str, int] = {}
    for kind in (robot.wheels, robot.joints) if robot is not None else ():
        counted |= {name: index for index, name in enumerate(kind)}
    driven = {} if robot is None else {name: driven_part(robot, name)[0] for name in robot.motors}
    owners = dict.fromkeys(owner_of.values())
    rest = [name for name in owners if name not in counted and driven.get(name) not in counted]
    counted |= {name: index for index, name in enumerate(rest)}
    counted |= {name: counted[part] for name, part in driven.items() if part in counted}
    return {name: counted[owner] for name, owner in owner_of.items() if owner in counted}


def driven_part(robot: Robot, motor: str) -> tuple[str, str]:
    """The part that a motor drives, and what of it: "steering", a wheel's "spin", or a "joint"."""
    drives = robot.motors[motor].drives
    part, _, _ = drives.rpartition(".")
    if part or drives in linkages(robot.couplings):
        return part or drives, "steering"
    return drives, "spin" if drives in robot.wheels else "joint"
