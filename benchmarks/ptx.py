"""PTX of rollouts: how long it takes to be made and to be assembled, and what threads need."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.measure import Row, seconds_text
from tools import ptxas
from trundle.choices import PRECISIONS, Precision
from trundle.gpu.ptx import Ptx, rollout_ptx
from trundle.model import Model
from trundle.program.llvm.llvm_rollout import ChannelLayout
from trundle.program.rollout import Asked
from trundle.simulation.gradients import Tangents

MADE = 0.2  # s, of every catalogue robot: the issue of GPUs
ASSEMBLED = {"swerve": 5.0, "chain of 25 links": 60.0}
LINKS = (25, 100)


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
    asked = Asked.of(
        program, np.zeros(len(model.states)), {**given, **further}, dt=1.0, steps=1, every=None, count=2,
        state="state", rate="rate", projection=projection,
    )  # fmt: skip
    layouts = {source: ChannelLayout(c.wide, c.stepped) for source, c in asked.channels.items()}
    return rollout_ptx(asked.program, asked.state, layouts, precision=precision)


def making(quick: bool) -> list[Row]:
    """CPU seconds to make a catalogue robot's PTX: the longest of all, and of chains."""
    import trundle

    names = trundle.catalog.names()
    rows: list[Row] = []
    for precision in PRECISIONS:
        slowest = max(
            (_made(trundle.derive(trundle.catalog.robot(name)), precision, quick), name) for name in names
        )
        rows.append(_row(f"PTX of {len(names)} catalogue robots, {precision}: longest", *slowest, MADE))
    for links in LINKS:
        seconds = _made(trundle.derive(trundle.catalog.pendulum(links=links)), "double", quick)
        rows.append(_row(f"PTX of a chain of {links} links, double", seconds))
    return rows


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


def _made(model: Model, precision: Precision, quick: bool) -> float:
    """The least CPU time of some tries."""
    kernel(model, precision)
    tries: list[float] = []
    for _ in range(1 if quick else 3):
        started = time.process_time()
        kernel(model, precision)
        tries.append(time.process_time() - started)
    return min(tries)


def _row(what: str, seconds: float, note: str = "", most: float | None = None) -> Row:
    target = "" if most is None else f"≤ {most} s"
    return Row(
        what, seconds_text(seconds), target=target, met=None if most is None else seconds <= most, note=note
    )
