"""What makes a page alive: a model's own programs as JavaScript, and what a person can change about its run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.languages import JAVASCRIPT, source
from trundle.model import Model
from trundle.model.arguments import Given
from trundle.program import Program
from trundle.program.simplify import only_output
from trundle.robot.units import UNITS
from trundle.show.drawing.scene_programs import measuring, placing
from trundle.show.drawing.scenes import scene
from trundle.show.page.joining import as_script, joined
from trundle.show.page.knobs import knobs_of
from trundle.simulation.problem import Problem
from trundle.simulation.runfile import Changes, task_of
from trundle.simulation.signals import Signal

# A page stores fewer times than a run: what its curves can show, and every step ends at one.
_SAMPLES = 601
# Operations times states up to which slopes are formed (in a second), and operations of slopes that a page holds (in
# 400 kB); beyond them it takes differences.
_FORMED, _MOST_SLOPES = 100_000, 12_000
# Nodes by which an input that is a Python function, or a very long table, is taken into the page.
_NODES = 4001
# By how much of its span the cubics that a page keeps of it may pass those nodes: far less than a run's own tolerance.
_PASSED = 1e-9


def live_data(given: Given, changes: Changes | None = None) -> dict[str, object]:
    """A live model for a page, as plain data: its worker's text, its run as described, and the knobs that change it.

    Parameters
    ----------
    given : path, mapping, Document, Robot or Model
        What `trundle.run` takes.
    changes : Changes, optional
        What is laid over its run section.

    Returns
    -------
    dict
        `name`; `worker`: JavaScript; `base`: start, inputs (numbers, or tables of arrays), parameters, duration and
        samples in the model's order;
        `knobs`: what can be changed (see `knobs_of`); `units`: the factors and dimensions of units that may be typed.

    Raises
    ------
    InputError
        For what doesn't fit, models without a description, and inputs that follow the motion.

    Examples
    --------
    >>> import trundle
    >>> from trundle.show.page.live import live_data
    >>> live = live_data(trundle.catalog.document("differential_drive"))
    >>> live["base"]["duration"], "function dynamics(" in live["worker"]
    (30.0, True)
    """
    return live_of(task_of(given, changes).integrated)


def live_of(problem: Problem, first: Sequence[str] = ()) -> dict[str, object]:
    """The same of a run that is stated already; parameters named `first` have knobs whatever else there is."""
    if problem.system.robot is None:
        message = f"'{problem.system.name}' has no description to draw it by"
        raise InputError(message, hint="a page of its run shows its numbers: run.animate(path)")
    end = float(problem.options.times[-1])
    inputs = [_input(name, signal, end) for name, signal in problem.signals.items()]
    return {
        "name": problem.system.name,
        "worker": worker_text(problem),
        "base": {
            "start": list(problem.start)[: len(problem.system.states)],
            "inputs": inputs,
            "parameters": list(problem.parameters.values()),
            "duration": end,
            "samples": min(len(problem.options.times), _SAMPLES),
        },
        "knobs": knobs_of(problem, inputs, first),
        "units": dict(UNITS),
    }


def worker_text(problem: Problem) -> str:
    """The script of a worker that runs a problem's model: what integrates, the model's functions, then its names."""
    system, robot = problem.system, problem.system.robot
    assert robot is not None
    paths = measuring(robot, system).outputs[0].labels
    plain = scene(robot).plain()
    facts = {
        "names": {"states": system.states, "inputs": list(problem.signals), "outputs": system.outputs},
        "shapes": {name: plain[name] for name in plain if any(path.startswith(f"{name}/") for path in paths)},
        "paths": paths,
    }
    return "\n".join(
        [joined("worker"), as_script(model_text(problem)), f"serve(self, model, {json.dumps(facts)});", ""]
    )


def model_text(problem: Problem) -> str:
    """The model of `simulate.js`: its programs as functions, and their sizes. No name of the robot is in it."""
    programs = _programs(problem)
    sizes = {
        group.name: group.size
        for program in programs.values()
        for group in (*program.inputs, *program.outputs)
    }
    units = [problem.system.units.get(name, "") for name in problem.system.states]
    facts = {
        "sizes": {name: sizes.get(name, 0) for name in _SIZED},
        "kinds": [sorted(set(units)).index(unit) for unit in units],
        "clocks": [list(clock) for clock in getattr(problem.system, "clocks", {}).values()],
        "operations": programs["dynamics"].operations,
        "slopeOperations": programs["slopes"].operations if "slopes" in programs else None,
    }
    known = ", ".join(name if name in programs else f"{name}: null" for name in _FUNCTIONS)
    return f"{source(programs, JAVASCRIPT)}\nexport const model = {{ ...{json.dumps(facts)}, {known} }};"


_SIZED = ("state", "input", "parameter", "output", "pose", "spin", "measure")
_FUNCTIONS = ("dynamics", "slopes", "observe", "place", "measure", "project", "sample")


def _programs(problem: Problem) -> dict[str, Program]:
    """The functions of a model by their names; without `slopes` where these would be a page of their own size."""
    system, robot = problem.system, problem.system.robot
    assert robot is not None
    rate = system.dynamics if isinstance(system, Model) else only_output(problem.rate, "rate")
    programs = {
        "dynamics": rate,
        "observe": only_output(problem.observe, "output"),
        "place": placing(robot, system),
    }
    if rate.operations * len(system.states) <= _FORMED:
        slopes = rate.with_jacobians("rate", "state")
        programs |= {"slopes": slopes} if slopes.operations <= _MOST_SLOPES else {}
    measures = measuring(robot, system)
    if measures.outputs[0].size:
        programs["measure"] = measures
    if system.projection is not None:
        programs["project"] = system.projection
    if system.sampling is not None:
        programs["sample"] = system.sampling
    return programs


def _input(name: str, signal: Signal, end: float) -> float | dict[str, object]:
    """An input as `simulate.js` takes it: a number, or a table."""
    if signal.feedback is not None:
        raise InputError(
            f"the input '{name}' follows the motion, by a Python function that no page can hold",
            key=f"inputs.{name}",
            hint="run it here, and make a page of the run: run.animate(path)",
        )
    if signal.held:
        times = [0.0, *(t for t in signal.jumps if t > 0)]
        values = [signal.value(t) for t in times]
        return values[0] if len(times) == 1 else _table(times, values, interpolation="previous")
    if signal.resolution is None:
        nodes = sorted({0.0, *signal.kinks, end})
        return _table(nodes, [signal.value(t) for t in nodes], coefficients=_pieces(signal, nodes))
    looked = np.linspace(0.0, end, _NODES)
    nodes = _needed(signal, looked)
    pieces = _pieces(signal, nodes)
    return _table(nodes, [signal.value(t) for t in nodes], coefficients=pieces, stop=float(looked[1]))


def _table(times: Sequence[float], values: Sequence[float], **more: object) -> dict[str, object]:
    """An input over time, its numbers as arrays: a page holds those times once that several inputs share."""
    return {"times": np.array(times), "values": np.array(values), **more}


def _needed(signal: Signal, times: FloatArray) -> list[float]:
    """Those of the times between which cubics pass all of a signal's values there: halves of halves where it needs
    them. The page's steps end at all of the times, as steps found by error estimates alone might pass what is short.
    """
    values = signal.sample(times)
    off = max(_PASSED * float(np.ptp(values)), 1e-13 * float(np.abs(values).max()))
    kept, left = [0], [(0, len(times) - 1)]
    while left:
        first, last = left.pop()
        inside = times[first : last + 1]
        cubic = list(_cubic(signal, float(inside[0]), float(inside[-1])))
        if (
            last - first > 1
            and np.abs(np.polyval(cubic, inside - inside[0]) - values[first : last + 1]).max() > off
        ):
            middle = (first + last) // 2
            left += [(middle, last), (first, middle)]
        else:
            kept.append(last)
    return times[kept].tolist()


def _pieces(signal: Signal, nodes: Sequence[float]) -> FloatArray:
    """The cubics through a signal's values and slopes at nodes, which of a table are its own pieces; one row after the
    other.
    """
    return np.array([list(_cubic(signal, a, b)) for a, b in pairwise(nodes)]).reshape(-1)


def _cubic(signal: Signal, a: float, b: float) -> Iterator[float]:
    """The coefficients of the cubic in t − a, highest power first, with a signal's values and slopes at a and b."""
    h, before, after = b - a, signal.value(a), signal.value(b)
    rise = (after - before) / h
    # inside of the piece: at its ends the slope may be another one's
    first, last = (signal.derivative(math.nextafter(t, (a + b) / 2), 0.0, b) for t in (a, b))
    yield (first + last - 2 * rise) / h**2
    yield (3 * rise - 2 * first - last) / h
    yield first
    yield before
