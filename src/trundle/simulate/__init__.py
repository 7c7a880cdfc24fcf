"""Runs: inputs over time, integrators, single runs and batched rollouts. Knows programs, not robots."""

from trundle.simulate.dynamic import simulate
from trundle.simulate.kinematic import roll
from trundle.simulate.rollout import rollout
from trundle.simulate.signals import Signal, constant, function, table

__all__ = ["Signal", "constant", "function", "roll", "rollout", "simulate", "table"]
