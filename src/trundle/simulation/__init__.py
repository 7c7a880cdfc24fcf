"""Runs: inputs over time, integrators, single runs and batched rollouts. Knows programs, not robots."""

from trundle.simulation.dynamic import simulate
from trundle.simulation.kinematic import rate_of, roll
from trundle.simulation.rollout import rollout
from trundle.simulation.signals import Signal, constant, function, table

__all__ = ["Signal", "constant", "function", "rate_of", "roll", "rollout", "simulate", "table"]
