"""Runs: inputs over time, integrators, single runs and batched rollouts. Knows programs, not robots."""

from trundle.simulation.dynamic import simulate
from trundle.simulation.kinematic import kinematic_inputs, roll
from trundle.simulation.rollout import rollout
from trundle.simulation.signals import Signal, constant, function, table

__all__ = ["Signal", "constant", "function", "kinematic_inputs", "roll", "rollout", "simulate", "table"]
