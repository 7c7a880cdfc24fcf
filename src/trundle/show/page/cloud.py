"""A sweep on a page: its robots as dots over what differs between them and what was measured."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from trundle.errors import InputError
from trundle.simulation.dynamic import dynamic_problem
from trundle.simulation.options import options_of
from trundle.simulation.problem import Problem
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.work import Work

# Dots at most, evenly picked, beside the robots with the extremes of measures.
_DOTS = 1500
_EXTREMES = 3
_SAMPLES = 1001
# What a page calls the places of varied names.
_GROUPS = {"parameters": "parameters", "initial": "start", "inputs": "inputs"}


def problem_of(found: Sweep) -> Problem:
    """What all robots have in common, as a run of the sweep's length."""
    work = found.work
    if not isinstance(work, Work):
        hint = "one robot's run has a page: found.run(NUMBER).animate(path)"
        raise InputError("robots go over terrain by steps that no browser takes", key="given", hint=hint)
    if work.cases:
        hint = "one robot's run has a page: found.run(NUMBER).animate(path)"
        raise InputError(
            "a sweep's page holds constant inputs only", key=f"over.{next(iter(work.cases))}", hint=hint
        )
    if work.model.robot is None:
        hint = "the sweep's figure shows its numbers: found.figure()"
        raise InputError(f"'{work.model.name}' has no description to draw it by", key="given", hint=hint)
    for name, value in work.inputs.items():
        if not isinstance(value, (int, float, str)) and np.ndim(value):
            hint = "one robot's run has a page: found.run(NUMBER).animate(path)"
            raise InputError("a sweep's page holds constant inputs only", key=f"inputs.{name}", hint=hint)
    options = options_of(work.steps * work.dt, _SAMPLES)
    return dynamic_problem(work.model, dict(work.inputs), dict(work.initial), dict(work.parameters), options)  # type: ignore[arg-type]


def cloud_of(found: Sweep, knobs: Collection[str]) -> dict[str, object]:
    """The dots as plain data: names, units, robots by number, a column a name, and the knobs that varied names turn."""
    names = [*found.varied, *found.measures]
    robots = _picked(found)
    columns = [found[name][robots] for name in names]
    finite = np.isfinite(columns).all(axis=0)
    keys = {name: key for name in found.varied if (key := _key(found, name)) in knobs}
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
