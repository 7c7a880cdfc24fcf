"""What a run shows of states and inputs: its outputs, all its columns at any time, their peaks and their bends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.model.manifold import on_manifold
from trundle.program import Program, compile_program
from trundle.results.peaks import Peak
from trundle.simulation.extremes import Extremes, Look
from trundle.simulation.feedback import Fill, commands_inside

if TYPE_CHECKING:
    from trundle.simulation.problem import Problem

# The energy that a robot holds, which its account balances.
STORED_ENERGY = ("energy.kinetic", "energy.potential", "energy.internal")


def is_whole(guided: Program) -> bool:
    """Whether it gives P(x) and the outputs, too."""
    return any(group.name == "state" for group in guided.outputs)


def observed(problem: Problem, guided: Program, states: FloatArray, commanded: FloatArray) -> FloatArray:
    """The outputs along a run, whose states are moved onto the constraints, in place: by P, twice."""
    system, n, p = problem.system, len(problem.system.states), problem.numbers
    u = commanded if commanded.size else np.zeros(0)
    if not is_whole(guided):
        states[:n] = on_manifold(system, states[:n], commanded, p)
        return compile_program(problem.observe)(states[:n], u, p, often=False)[-1]
    kernel = compile_program(guided)
    *_, states[:n], _ = kernel(states, u, p, often=False)
    *_, states[:n], outputs = kernel(states, u, p, often=False)
    return outputs


def look_of(problem: Problem, guided: Program, fill: Fill) -> Look:
    """All columns at any times of the run: states, inputs and outputs in order, then the energy account's own."""
    signals, system = list(problem.signals.values()), problem.system
    n, stored = len(system.states), [k for k, name in enumerate(system.outputs) if name in STORED_ENERGY]

    def look(times: FloatArray, states: FloatArray, edges: FloatArray) -> FloatArray:
        """At states (n, count), on pieces that end at these edges."""
        given = commands_inside(signals, fill, times, states, edges)
        outputs = observed(problem, guided, states, given)
        if len(states) == n:
            return np.vstack([states, given, outputs])
        return np.vstack([states[:n], given, outputs, states[n:], outputs[stored].sum(axis=0)])

    return look


def columns_of(problem: Problem) -> tuple[str, ...]:
    """The names of the columns that `look_of` gives."""
    system = problem.system
    account = (
        ("energy.work", "energy.losses", "energy.stored") if len(problem.start) > len(system.states) else ()
    )
    return (*system.states, *system.inputs, *system.outputs, *account)


def peaks_of(problem: Problem, seen: Extremes) -> dict[str, Peak]:
    """The peaks of all columns by name."""
    return {name: Peak(*row) for name, row in zip(columns_of(problem), seen.rows().T.tolist(), strict=True)}


def between_of(problem: Problem, seen: Extremes, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Points (2, k) of columns between their samples, by name; `values` are the samples."""
    names = columns_of(problem)
    points = seen.between([values[name] for name in names])
    return dict(zip(names, points, strict=True))
