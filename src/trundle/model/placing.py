"""Where the frames of a robot are, as a program of its state: what a picture needs that moves without Python."""

from __future__ import annotations

import math

from trundle.mechanics.frames import world_poses
from trundle.model.manifold import Bound
from trundle.model.mechanism import mechanism
from trundle.model.symbols import GROUPS, INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer
from trundle.robot import Robot


def placing(robot: Robot, system: Bound) -> Program:
    """The program of (state, input, parameter) for poses and spins, as scenes over time have them.

    `pose` holds for each frame the three rows of its rotation and position in the world, [R | p], one after the other;
    `spin` how far each wheel has rolled about its axle (rad), NaN of a ball.
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
