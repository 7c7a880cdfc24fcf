"""What came of a run over terrain: its times as a `Run`, what tipped over or was lifted, or why numbers failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents import dump
from trundle.documents.height_files import carried
from trundle.errors import NumericsError
from trundle.mechanics.quantities import Quantity
from trundle.model.ground_model import GroundModel
from trundle.model.ground_states import REMEMBERED
from trundle.model.mechanism import mechanism
from trundle.results import Run
from trundle.results.columns import Column
from trundle.simulation.beyond_maps import place_of
from trundle.simulation.events import worn
from trundle.simulation.fates import fates
from trundle.simulation.ground_energy import COLUMNS, EnergyBooks

if TYPE_CHECKING:
    from trundle.simulation.traversing import GroundProblem


def first_lost(states: FloatArray) -> int:
    """The first time at which a state isn't finite, or how many times there are."""
    lost = ~np.isfinite(states).all(axis=0)
    return int(np.argmax(lost)) if lost.any() else states.shape[1]


def failed(
    problem: GroundProblem, time: FloatArray, states: FloatArray, outputs: FloatArray
) -> NumericsError:
    """Why a run over terrain has no more numbers: when, where, and which wheel stood deepest.

    states, outputs : at times (s) whose states are all finite, and after whose last they are not.
    """
    model = problem.system
    depths = {
        name.removesuffix(".sinkage"): float(row[-1])
        for name, row in zip(model.outputs, outputs, strict=True)
        if name.endswith(".sinkage")
    }
    contact = max(depths, key=lambda name: depths[name], default="")
    wheel = next((name for name in model.robot.wheels if f"{contact}.".startswith(f"{name}.")), contact)
    x, y = (float(states[model.states.index(name), -1]) for name in "xy")
    return NumericsError(
        f"'{model.robot.name}' has no more finite numbers after t = {time[-1]:g} s at {place_of(x, y)}; look at the "
        f"wheel {wheel!r}, its contact law, and what its motor is told"
    )


def run_of(
    problem: GroundProblem,
    time: FloatArray,
    rows: tuple[FloatArray, FloatArray, FloatArray],
    books: EnergyBooks | None,
    more: Mapping[str, object],
) -> Run:
    """States, inputs and outputs as a run, with its energy where forces moved it; not what steps remember.

    more : what else the summary holds
    """
    model = problem.system
    labels = (model.states, model.inputs, model.outputs)
    values = {
        name: row
        for names, group in zip(labels, rows, strict=True)
        for name, row in zip(names, group, strict=True)
        if not name.startswith(REMEMBERED)
    }
    known = {name: model.quantities[name] for name in values}
    if books is None:
        checks: dict[str, object] = {"slip_residual": float(np.abs(values["slip_residual"]).max())}
    else:
        checks, known = books.summary(_fastest(model, values)), known | {each.name: each for each in COLUMNS}
        values |= books.stored
    return Run(
        name=model.robot.name,
        time=time,
        values=values,
        units={name: quantity.unit for name, quantity in known.items()},
        description={
            "yaml": dump(model.robot, terrain=model.terrain),
            "parameters": dict(problem.parameters),
            "maps": carried(model.terrain),
        },
        summary={
            "mode": model.mode,
            "method": _method(model, problem.step),
            "steps": problem.steps,
            "derive_seconds": problem.derive_seconds,
            **more,
            **checks,
            **_ended(model, time, values),
            **_lifted(problem, known, values),
            **worn(
                model.robot,
                problem.parameters,
                lambda fall: fall.fallen(time, values[fall.column]) if fall.column in values else None,
            ),
        },
        groups={
            "coordinates": model.coordinates,
            "speeds": model.speeds,
            "currents": tuple(
                n for n in model.states if n in values and n not in (*model.coordinates, *model.speeds)
            ),
            "inputs": model.inputs,
            "outputs": tuple(n for n in values if n not in (*model.states, *model.inputs)),
        },
        columns={name: Column(noun.owner, noun.label, noun.kind) for name, noun in known.items()},
    )


def _fastest(model: GroundModel, values: Mapping[str, FloatArray]) -> float:
    """The largest rate of the base or of a joint (rad/s)."""
    base = np.sqrt(sum(values[f"omega_{axis}"] ** 2 for axis in "xyz"))
    joints = (name for name in model.speeds if name.rpartition(".")[0] in model.robot.joints)
    rates = [np.abs(values[name]) for name in joints if model.units[name] == "rad/s"]
    return float(max(row.max() for row in [base, *rates]))


def _method(model: GroundModel, step: float) -> str:
    """How the run was stepped, in words."""
    kind = "implicit steps" if model.mode == "dynamic" else "steps"
    turned = ", roll, pitch and yaw by Euler" if model.attitude == "euler_angles" else ""
    return f"{kind} of {step:g} s{turned}"


def _ended(model: GroundModel, time: FloatArray, values: Mapping[str, FloatArray]) -> dict[str, object]:
    """When the base first points sideways or down, where it does, or whether wheels turn in vain at the end."""
    wheels = mechanism(model.robot, terrain=True).assembly.wheels
    found = fates(time, {name: values[name][:, None] for name in model.states if name in values}, wheels)
    if found.overturned[0]:
        return {"overturned_at": float(time[found.first_overturned[0]])}
    return {"stuck": True} if found.stuck[0] else {}


def _lifted(
    problem: GroundProblem, known: Mapping[str, Quantity], values: Mapping[str, FloatArray]
) -> dict[str, dict[str, float]]:
    """By wheel, of those that were off the ground, for how long (s), as far as the times that are stored tell."""
    loads = {quantity.owner: values[name] for name, quantity in known.items() if quantity.kind == "load"}
    places = {owner: load for owner, load in loads.items() if owner.rpartition(".")[0] not in loads}
    apart = problem.step * problem.every
    seconds = {owner: apart * float(np.count_nonzero(load[:-1] <= 0)) for owner, load in places.items()}
    lifted = {owner: time for owner, time in seconds.items() if time}
    return {"lifted": lifted} if lifted else {}
