"""Loads as a run: one named column for each number over time, as files and figures take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trundle.arrays import FloatArray
from trundle.documents import dump
from trundle.loads.recursion import PARTS, Recursion
from trundle.results import Run
from trundle.wrenches import Wrench

Column = tuple[str, str, FloatArray]  # name, unit, (n,)


def wrench_columns(joint: str, wrench: Wrench) -> Iterator[Column]:
    """JOINT.force_x … JOINT.moment_z."""
    rows = [*wrench.force.T, *wrench.moment.T]
    for part, row in zip(PARTS, rows, strict=True):
        yield f"{joint}.{part}", "N" if part.startswith("force") else "N m", row


def effort_columns(recursion: Recursion, efforts: Mapping[str, FloatArray]) -> Iterator[Column]:
    """KNEE.effort of a joint with one speed, HIP.effort_SPEED of one with more; a base has no drive."""
    quantities = recursion.mechanism.assembly.quantities
    owners = [quantities[name].owner for name in efforts]
    for name, values in efforts.items():
        each = quantities[name]
        if each.owner:
            single = owners.count(each.owner) == 1
            yield f"{each.owner}.effort{'' if single else f'_{each.label}'}", each.effort_unit, values


def run_of(
    recursion: Recursion,
    time: FloatArray,
    states: Mapping[str, FloatArray],
    columns: Iterator[Column],
    summary: Mapping[str, object],
) -> Run:
    """The run: coordinates, speeds, and everything else as outputs."""
    robot, quantities = recursion.mechanism.robot, recursion.mechanism.assembly.quantities
    loads = list(columns)
    units = {name: quantities[name].unit for name in states} | {name: unit for name, unit, _ in loads}
    return Run(
        robot.name,
        time,
        {**states, **{name: values for name, _, values in loads}},
        units,
        {"yaml": dump(robot), "parameters": dict(recursion.mechanism.parameters)},
        summary,
        {
            "coordinates": recursion.coordinates,
            "speeds": recursion.speeds,
            "outputs": [name for name, *_ in loads],
        },
    )
