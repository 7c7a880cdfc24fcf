"""What came of a problem, as a Run: columns, peaks, findings, and the energy account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.frozen import Deferred
from trundle.mechanics.quantities import Quantity
from trundle.model.plant import Plant
from trundle.results import Run
from trundle.results.columns import Column
from trundle.results.run import GROUPS
from trundle.simulation.carried import Sensitivities
from trundle.simulation.events import event_times, falling
from trundle.simulation.extremes import Extremes, Fall, Fallen
from trundle.simulation.observed import STORED_ENERGY, between_of, columns_of, peaks_of

if TYPE_CHECKING:
    from trundle.simulation.problem import Problem

# Initial values that constraints moved by less than this are as they were given.
_SAME = 1e-9


def start_changes(problem: Problem) -> dict[str, object]:
    """`settled`: the given initial values that closed loops or other constraints moved, as (given, used)."""
    used = dict(zip(problem.system.states, problem.start, strict=False))
    moved = {
        name: (value, used[name])
        for name, value in problem.given.items()
        if abs(used[name] - value) > _SAME * max(1.0, abs(value))
    }
    return {"settled": moved} if moved else {}


def run_of(
    plant: Plant,
    time: FloatArray,
    values: Mapping[str, FloatArray],
    known: Mapping[str, Quantity],
    parameters: Mapping[str, float],
    summary: Mapping[str, object],
    units: Mapping[str, str] | None = None,
    **more: Any,
) -> Run:
    """Columns by name, and what is known of them, as a run of a plant."""
    own = {*plant.states, *plant.inputs}
    groups = {group: tuple(n for n in getattr(plant, group) if n in values) for group in GROUPS}
    return Run(
        name=plant.name,
        time=time,
        values=values,
        description={**plant.made_from, "parameters": dict(parameters)},
        summary=summary,
        groups=groups | {"outputs": tuple(name for name in values if name not in own)},
        columns={name: Column(noun.owner, noun.label, noun.kind) for name, noun in known.items()},
        units={name: noun.unit for name, noun in known.items()} if units is None else units,
        **more,
    )


def integrated_run(
    problem: Problem,
    solution: tuple[FloatArray, FloatArray, FloatArray],
    summary: Mapping[str, object],
    seen: Extremes | None = None,
    slopes: Sensitivities | None = None,
) -> Run:
    """States, commands and outputs at all times as a Run: without the time 0, where that wasn't asked for.

    seen: what tells how it went between those times, if anything does. slopes: the derivatives along it.
    """
    system, options, states = problem.system, problem.options, solution[0]
    labels = (system.states, system.inputs, system.outputs)
    values = {
        name: row
        for names, rows in zip(labels, solution, strict=True)
        for name, row in zip(names, rows, strict=False)
    }
    _require_finite(values, options.times)
    account = _energy_account(states, values) if len(states) > len(system.states) else {}
    skip = options.times.size - options.stored.size
    values = {name: series[skip:] for name, series in {**values, **account}.items()}
    units = {**system.units, **dict.fromkeys(account, "J")}
    shown = columns_of(problem)
    falls = falling(system, problem.parameters)
    times = dict[Fall, Fallen]() if seen is None or not falls else seen.fallen()
    samples = (
        (fall, fall.fallen(options.stored, values[fall.column])) for fall in falls if fall not in times
    )
    times |= {fall: when for fall, when in samples if when is not None}
    slopes = None if slopes is None else slopes.after(skip)
    by = {} if slopes is None else slopes.tangents.units(system.states)
    known = {name: system.quantities[name] for name in values if name in system.quantities}
    fallen = event_times(system, problem.parameters, times, float(np.ptp(options.times)))
    return run_of(
        system, options.stored, values, known, problem.parameters, {**summary, **_worst(values), **fallen},
        units={name: unit for name, unit in units.items() if name in values} | by,
        peaks={} if seen is None else Deferred(shown, lambda: peaks_of(problem, seen)),
        between={} if seen is None else Deferred(shown, lambda: between_of(problem, seen, values)),
        gradients={} if slopes is None else slopes.gradients(),
        slope=None if slopes is None else slopes.of_output,
    )  # fmt: skip


def _worst(values: Mapping[str, FloatArray]) -> dict[str, float]:
    """The largest residuals, and how far the energy is out of balance beside what passed through."""
    residuals = ("constraint_residual", "loop_residual", "slip_residual")
    largest = {name: float(values[name].max()) for name in residuals if name in values}
    # A kinematic run holds all other constraints by construction: only what its wheels can't do could be violated.
    if "slip_residual" in largest:
        largest["constraint_residual"] = largest["slip_residual"]
    if "energy.imbalance" in values:
        largest["energy_imbalance"] = float(np.abs(values["energy.imbalance"]).max())
        # What passed through (J): the largest of work, losses, and the travel of any kind of stored energy.
        kinds = ("kinetic", "potential", "internal", "work", "losses")
        largest["energy_turned_over"] = max(float(np.ptp(values[f"energy.{kind}"])) for kind in kinds)
    return largest


def _energy_account(states: FloatArray, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Stored energy, work, losses and what doesn't balance (J); work and losses are the last two states."""
    stored = np.sum([values[name] for name in STORED_ENERGY], axis=0)
    return {
        "energy.stored": stored,
        "energy.work": states[-2],
        "energy.losses": states[-1],
        "energy.imbalance": states[-2] - states[-1] - (stored - stored[0]),
    }


def _require_finite(values: Mapping[str, FloatArray], at: FloatArray) -> None:
    for name, series in values.items():
        for t in at[~np.isfinite(series)][:1]:
            raise NumericsError(f"'{name}' is not finite at t = {t:g} s: the robot is singular there")
