"""Where the frames of a robot are and how large its shapes, as programs: what a picture needs that moves without
Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from trundle.mechanics.frames import world_poses
from trundle.model.manifold import Constrained
from trundle.model.mechanism import mechanism
from trundle.model.symbols import GROUPS, INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer
from trundle.program.tracer import Node
from trundle.robot import Robot
from trundle.show.drawing.scenes import shapes_in


def placing(robot: Robot, system: Constrained) -> Program:
    """The program of (state, input, parameter) for poses and spins, as scenes over time have them.

    `pose` holds for every frame the three rows of its rotation and position in the world, [R | p], one after the other;
    `spin` how far the wheels have rolled about their axles (rad), NaN of a ball.
    """
    tracer, numbers = Tracer(*GROUPS), mechanism(robot)
    state = dict(zip(system.states, tracer.inputs(STATE, len(system.states)), strict=True))
    parameters = dict(zip(system.parameters, tracer.inputs(PARAMETER, len(system.parameters)), strict=True))
    moved = numbers.in_scalars(parameters, [state[name] for name in numbers.names])
    assembly, links = moved.assembly, moved.assembly.tree.links
    world = world_poses(assembly.tree, moved.at.poses)
    rows = [value for pose in world for k in range(3) for value in (*pose.rotation[k], pose.position[k])]
    spins = [
        moved.at.values[assembly.axes[wheel.name].coordinate] if wheel.spin is not None else math.nan
        for wheel in assembly.wheels
    ]
    return tracer.program(
        "placing",
        {STATE: system.states, INPUT: system.inputs, PARAMETER: tuple(system.parameters)},
        {
            "pose": ([f"{link.name}[{k}]" for link in links for k in range(12)], rows),
            "spin": ([wheel.name for wheel in assembly.wheels], spins),
        },
    )


# The parts of a scene whose measures may hang on parameters.
_SHAPES = ("plates", "wheels", "bars", "mounts", "joints", "loops", "centers", "traced")


def measuring(robot: Robot, system: Constrained) -> Program:
    """The program of (state, input, parameter) for the `measure`s of a scene's shapes that hang on parameters.

    Their labels say where they stand in `Scene.plain()`: "wheels/0/radius", "bars/2/end/1/0".
    """
    tracer = Tracer(*GROUPS)
    parameters = dict(zip(system.parameters, tracer.inputs(PARAMETER, len(system.parameters)), strict=True))
    scene = shapes_in(robot, parameters)
    measures = {path: node for name in _SHAPES for path, node in _nodes(getattr(scene, name), name)}
    return tracer.program(
        "measuring",
        {STATE: system.states, INPUT: system.inputs, PARAMETER: tuple(system.parameters)},
        {"measure": (tuple(measures), list(measures.values()))},
    )


def _nodes(part: object, path: str) -> Iterator[tuple[str, Node]]:
    """What of a part of a scene is computed, with its path."""
    if isinstance(part, Node):
        if part.value not in part.builder.numbers:
            yield path, part
    elif isinstance(part, tuple):
        for k, item in enumerate(part):
            yield from _nodes(item, f"{path}/{k}")
    elif is_dataclass(part):
        for attribute in fields(part):
            yield from _nodes(getattr(part, attribute.name), f"{path}/{attribute.name}")
