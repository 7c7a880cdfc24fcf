"""A sweep on a page: its robots as dots over what differs between them and what was measured."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from trundle.model import Model
from trundle.show.page.inert_json import PageData
from trundle.simulation.dynamic import dynamic_problem
from trundle.simulation.options import options_of
from trundle.simulation.problem import Problem
from trundle.sweeps.outcome import Sweep

# Dots at most, evenly picked, beside the robots with the extremes of measures.
_DOTS = 1500
_EXTREMES = 3
# Times that a robot's run is asked for, as `trundle run` does: the page keeps what its curves can show.
_SAMPLES = 1001
# What a page calls the places of varied names.
_GROUPS = {"parameters": "parameters", "initial": "start", "inputs": "inputs"}


def drives_live(found: Sweep) -> bool:
    """Whether a browser can simulate and draw its robots: on a plane, by inputs that stay as they are."""
    work = found.work
    if not isinstance(work.plant, Model) or work.cases or work.plant.robot is None:
        return False
    return all(isinstance(value, int | float | str) or not np.ndim(value) for value in work.inputs.values())


def problem_of(found: Sweep) -> Problem:
    """What all robots have in common, as a run of the sweep's length; of robots that a browser can simulate."""
    work = found.work
    assert isinstance(work.plant, Model)
    options = options_of(work.steps * work.dt, _SAMPLES)
    return dynamic_problem(work.plant, dict(work.inputs), dict(work.initial), dict(work.parameters), options)  # type: ignore[arg-type]


def cloud_of(found: Sweep, knobs: Collection[str] = ()) -> dict[str, PageData]:
    """The dots as plain data: names, units, robots by number, a column a name, and the knobs that varied names turn.

    A page without knobs has the whole runs of some robots beside them: `runs` are these by number.
    """
    names = [*found.varied, *found.measures]
    robots = _picked(found)
    columns = [found[name][robots] for name in names]
    finite = np.isfinite(columns).all(axis=0)
    keys = {name: key for name in found.varied if (key := _key(found, name)) in knobs} if knobs else {}
    return {
        "names": names,
        "units": [found.units.get(name, "") for name in names],
        "robots": robots[finite].tolist(),
        "count": found.count,
        "columns": [column[finite] for column in columns],
        "keys": keys,
        "across": names.index(next(iter(found.work.design.drawn), names[0])),
        "up": len(found.varied),
    }


def _key(found: Sweep, name: str) -> str:
    place, label = found.work.place(name)
    return f"{_GROUPS[place]}.{label}"


def _picked(found: Sweep) -> np.ndarray:
    """Robots by number: some evenly, and those with a measure's extremes."""
    robots = set(range(0, found.count, max(1, -(-found.count // _DOTS))))
    for measure in found.measures:
        for largest in (False, True):
            robots |= set(found.extremes(measure, _EXTREMES, largest))
    return np.array(sorted(robots))
