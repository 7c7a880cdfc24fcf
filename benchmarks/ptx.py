"""PTX of rollouts: how long it takes to be made and to be assembled, and what threads need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from benchmarks.measure import Row, seconds_text
from tools import ptxas
from trundle.choices import PRECISIONS, Precision
from trundle.gpu.ptx import Ptx, rollout_ptx
from trundle.model import Model
from trundle.model.ground_model import derive_on
from trundle.model.plant import STEP, Steps
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program.llvm.llvm_rollout import ChannelLayout
from trundle.program.rollout import RolloutRequest
from trundle.robot.terrain import parse_terrain
from trundle.simulation.gradients import Tangents
from trundle.simulation.rollout_inputs import RolloutInputs, rollout_inputs

MADE = 0.2  # s, of every catalogue robot: the issue of GPUs
ASSEMBLED = {"swerve": 5.0, "chain of 25 links": 60.0}
LINKS = (25, 100)
SURFACES = {
    "a plane": {"type": "plane"},
    "random ground": {"type": "fractal", "slope": 0.2, "shortest": 0.5, "longest": 2.0},
}


def kernel(model: Model, precision: Precision) -> Ptx:
    """A rollout whose robots differ in all parameters and in all inputs, which change from step to step."""
    tangents = Tangents(model, ())
    program = model.dynamics
    given = {
        "input": np.zeros((1, len(model.inputs), 2)),
        "parameter": np.zeros((program.inputs[program.input_index("parameter")].size, 2)),
    }
    projection = tangents.stepped
    further = {
        group.name: np.zeros((1, group.size, 2))
        for group in (projection.inputs if projection else ())
        if group.name not in (*given, "state", "iterate")
    }
    asked = RolloutRequest.of(
        program, np.zeros(len(model.states)), {**given, **further}, dt=1.0, steps=1, every=None, count=2,
        state="state", rate="rate", projection=projection,
    )  # fmt: skip
    layouts = {source: ChannelLayout(c.wide, c.stepped) for source, c in asked.channels.items()}
    return rollout_ptx(asked.program, asked.state, layouts, precision=precision)


def ground_kernel(robots: RolloutInputs) -> Ptx:
    """A rollout over terrain, whose steps are found by rounds; robots differ in nothing but where they stand."""
    motion = robots.plant.motion
    assert isinstance(motion, Steps)
    asked = RolloutRequest.of(
        motion.still, robots.starts(),
        {INPUT: robots.inputs or np.zeros(0), PARAMETER: robots.parameters, STEP: [0.05]},
        dt=1.0, steps=1, every=None, count=robots.count, state="state", rate="rate", projection=motion.step,
    )  # fmt: skip
    layouts = {source: ChannelLayout(c.wide, c.stepped) for source, c in asked.channels.items()}
    return rollout_ptx(asked.program, asked.state, layouts)


def making(quick: bool) -> list[Row]:
    """CPU seconds to make a catalogue robot's PTX: the longest of all, on the plane and over terrain, and of chains."""
    import trundle

    names = trundle.catalog.names()
    rows: list[Row] = []
    for precision in PRECISIONS:
        slowest = max(
            (_made(partial(kernel, trundle.derive(trundle.catalog.robot(name)), precision), quick), name)
            for name in names
        )
        rows.append(_row(f"PTX of {len(names)} catalogue robots, {precision}: longest", *slowest, MADE))
    names = trundle.catalog.names(terrain=True)
    for kind, surface in SURFACES.items():
        slowest = max((_made(partial(ground_kernel, _over(name, surface)), quick), name) for name in names)
        rows.append(_row(f"PTX of {len(names)} robots on {kind}, double: longest", *slowest, MADE))
    for links in LINKS:
        made = partial(kernel, trundle.derive(trundle.catalog.pendulum(links=links)), "double")
        rows.append(_row(f"PTX of a chain of {links} links, double", _made(made, quick)))
    return rows


def _over(name: str, surface: Mapping[str, object]) -> RolloutInputs:
    """Two robots of the catalogue's on a surface."""
    import trundle

    model = derive_on(trundle.catalog.robot(name), parse_terrain({"surfaces": {"ground": surface}}))
    return rollout_inputs(model, None, {}, {}, 2)


def assembling(quick: bool) -> list[Row]:
    """CPU seconds that ptxas takes, with registers and spills."""
    import trundle

    if ptxas.assembler() is None:
        return [Row("ptxas", "not installed", note=f"pip install {ptxas.WHEEL}")]
    chains = {f"chain of {links} links": links for links in LINKS[: 1 if quick else None]}
    made: dict[str, Callable[[], Model]] = {
        name: lambda name=name: trundle.derive(trundle.catalog.robot(name))
        for name in ("differential_drive", "swerve", "person")
    } | {
        name: lambda links=links: trundle.derive(trundle.catalog.pendulum(links=links))
        for name, links in chains.items()
    }
    rows: list[Row] = []
    for name, model in made.items():
        for precision in PRECISIONS:
            said = ptxas.assembled(kernel(model(), precision))
            assert said is not None
            note = (
                f"{said.registers} registers, {said.stored} bytes stored in spills, a stack of {said.stack}"
            )
            rows.append(_row(f"ptxas: {name}, {precision}", said.seconds, note, ASSEMBLED.get(name)))
    return rows


def _made(made: Callable[[], Ptx], quick: bool) -> float:
    """The least CPU time of some tries."""
    made()
    tries: list[float] = []
    for _ in range(1 if quick else 3):
        started = time.process_time()
        made()
        tries.append(time.process_time() - started)
    return min(tries)


def _row(what: str, seconds: float, note: str = "", most: float | None = None) -> Row:
    target = "" if most is None else f"≤ {most} s"
    return Row(
        what, seconds_text(seconds), target=target, met=None if most is None else seconds <= most, note=note
    )
