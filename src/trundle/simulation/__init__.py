"""Runs: inputs over time, integrators, single runs and batched rollouts. Knows programs, not robots."""

from trundle.simulation.dynamic import simulate
from trundle.simulation.kinematic import kinematic_inputs, roll
from trundle.simulation.rollout import rollout
from trundle.simulation.runfile import Task, run, task_of
from trundle.simulation.signals import Signal, constant, function, table

__all__ = [
    "Signal",
    "Task",
    "constant",
    "function",
    "kinematic_inputs",
    "roll",
    "rollout",
    "run",
    "simulate",
    "table",
    "task_of",
]
