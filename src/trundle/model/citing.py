"""What to cite for a robot: the works that its parts follow, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from trundle.model.arguments import Given, robot_of
from trundle.robot import Robot
from trundle.robot.component import Component
from trundle.robot.kinds import Kind
from trundle.version import __version__

# Where an entry of a bibliography begins: its kind, then its key.
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.MULTILINE)
_TRUNDLE = """@software{{trundle,
  author = {{{{The Trundle developers}}}},
  title = {{Trundle: wheeled robots and linkages, from descriptions to equations, programs and motions}},
  version = {{{version}}}
}}"""
# The recursions of every tree; what a base that rolls without slip can do; wheels over rough ground.
_TREES, _ROLLING, _GROUND = (
    ("featherstone2008",),
    ("campion1996", "muir1987"),
    ("seegmiller2014", "seegmiller2016"),
)


def citation(given: Given, base: str | None = None) -> str:
    """What to cite where a robot's results are published: BibTeX of Trundle, and of the works that its parts follow.

    Contact laws, trackers and controllers name their own; a law of a user's own does by its class's `sources`, keys of
    these entries or whole BibTeX. Beside them stand the recursions of rigid bodies, the theory of rolling constraints
    where wheels roll without slip, and the one of wheels on rough ground where a base floats on wheels or feet.

    Parameters
    ----------
    given : Robot, Model, path or mapping
        The robot, the file of one, or what a file would hold.
    base : str, optional
        "fixed", "planar" or "floating" in place of the base that is described.

    Returns
    -------
    str
        BibTeX entries, Trundle's own first, the others by their keys.

    Raises
    ------
    InputError
        What was given leads to no robot.

    Examples
    --------
    >>> import trundle
    >>> print(trundle.citation(trundle.catalog.differential_drive()).count("@"))
    4
    """
    robot = robot_of(given, "citation", "its equations came from elsewhere; cite what they came from", base)
    asked = {*_TREES, *_whole(robot), *_sources(robot)}
    entries = _bibliography()
    known = [entries[key] for key in sorted(asked & entries.keys())]
    return "\n\n".join([_TRUNDLE.format(version=__version__), *known, *sorted(asked - entries.keys())]) + "\n"


def _whole(robot: Robot) -> Iterator[str]:
    """Works about how wheels and base go together."""
    if any(wheel.law.rolls for wheel in robot.wheels.values()):
        yield from _ROLLING
    if robot.base == "floating" and robot.wheels:
        yield from _GROUND


def _sources(part: object) -> Iterator[str]:
    """What a component's kinds follow, and those of all that it holds."""
    if isinstance(part, Kind):
        yield from part.sources
    if isinstance(part, Component):
        for field in type(part).model_fields:
            yield from _sources(getattr(part, field))
    elif isinstance(part, dict):
        for inner in part.values():
            yield from _sources(inner)
    elif isinstance(part, tuple):
        for inner in part:
            yield from _sources(inner)


@cache
def _bibliography() -> dict[str, str]:
    """The entries of bibliography.bib by their keys."""
    text = files("trundle").joinpath("bibliography.bib").read_text(encoding="utf-8")
    starts = list(_ENTRY.finditer(text))
    ends = [*(found.start() for found in starts[1:]), len(text)]
    return {found[1]: text[found.start() : end].strip() for found, end in zip(starts, ends, strict=True)}
