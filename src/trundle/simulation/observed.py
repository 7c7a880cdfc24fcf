"""What a run shows of states and inputs: its outputs, all its columns at any time, their peaks and their bends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.quantities import UNSEEN
from trundle.model.manifold import on_manifold
from trundle.program import Program, compile_program
from trundle.results.peaks import Peak
from trundle.simulation.extremes import Extremes, Sampler
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


def look_of(problem: Problem, guided: Program, fill: Fill) -> Sampler:
    """The columns of `columns_of` at any times of the run."""
    signals, system, places = list(problem.signals.values()), problem.system, _seen(problem)
    n, stored = len(system.states), [k for k, name in enumerate(system.outputs) if name in STORED_ENERGY]

    def look(times: FloatArray, states: FloatArray, edges: FloatArray) -> FloatArray:
        """At states (n, count), on pieces that end at these edges."""
        given = problem.inputs_of(states, commands_inside(signals, fill, times, states, edges))
        outputs = observed(problem, guided, states, given)
        columns = np.vstack([states[:n], given, outputs])[places]
        if len(states) == n:
            return columns
        return np.vstack([columns, states[n:], outputs[stored].sum(axis=0)])

    return look


def columns_of(problem: Problem) -> tuple[str, ...]:
    """The names of the columns that are looked at between samples: states, inputs and outputs that people look at, in
    order, then the energy account's own.
    """
    system = problem.system
    account = (
        ("energy.work", "energy.losses", "energy.stored") if len(problem.start) > len(system.states) else ()
    )
    names = (*system.states, *system.inputs, *system.outputs)
    return (*(names[place] for place in _seen(problem)), *account)


def _seen(problem: Problem) -> list[int]:
    """The places among states, inputs and outputs of what isn't a controller's own memory, or noise: those are held
    between samples.
    """
    system = problem.system
    known = system.quantities
    names = (*system.states, *system.inputs, *system.outputs)
    return [k for k, name in enumerate(names) if name not in known or known[name].kind not in UNSEEN]


def peaks_of(problem: Problem, seen: Extremes) -> dict[str, Peak]:
    """The peaks of all columns by name."""
    return {name: Peak(*row) for name, row in zip(columns_of(problem), seen.rows().T.tolist(), strict=True)}


def between_of(problem: Problem, seen: Extremes, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Points (2, k) of columns between their samples, by name; `values` are the samples."""
    names = columns_of(problem)
    points = seen.between([values[name] for name in names])
    return dict(zip(names, points, strict=True))
