"""Whole runs of some of a sweep's robots, for pages whose browsers can't simulate them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, zip_longest

import numpy as np

from trundle.errors import InputError, NumericsError
from trundle.progress import Doing
from trundle.results import Run
from trundle.sweeps.outcome import Sweep

# Runs at most: a page of theirs stays below 10 MB.
_RUNS = 16


def runs_of_some(found: Sweep, robots: list[int], doing: Doing) -> Mapping[int, Run]:
    """Runs of some of the robots, by number: half of them have the extremes of measures, the others lie evenly between.

    Raises InputError where no robot has a dot, NumericsError where none of them has a run.
    """
    if not robots:
        hint = "found.outcomes says what became of them; measures that all have: final.x, say"
        raise InputError(
            "no robot has numbers for all measures, so a page has no dots", key="given", hint=hint
        )
    runs: dict[int, Run] = {}
    failed: NumericsError | None = None
    for robot in _chosen_robots(found, robots):
        doing.at(f"the run of robot {robot:,}")
        try:
            runs[robot] = found.run(robot)
        except NumericsError as error:
            failed = error
    if failed is not None and not runs:
        raise failed
    return dict(sorted(runs.items()))


def _chosen_robots(found: Sweep, robots: list[int]) -> list[int]:
    """The robots that get runs, of those with a dot."""
    known = set(robots)
    ends = [found.extremes(name, _RUNS, largest) for name in found.measures for largest in (True, False)]
    by_turns = [robot for robot in chain(*zip_longest(*ends)) if robot in known]
    extremes = list(dict.fromkeys(by_turns))[: _RUNS // 2]
    rest = [robot for robot in robots if robot not in extremes]
    places = np.linspace(0, len(rest) - 1, min(len(rest), _RUNS - len(extremes))).round().astype(int)
    return sorted({*extremes, *(rest[place] for place in places)})
