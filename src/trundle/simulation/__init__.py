"""Runs: inputs over time, integrators, single runs, batched rollouts, files' run sections."""

from trundle.simulation.dynamic import simulate
from trundle.simulation.kinematic import roll
from trundle.simulation.ode import Ode, ode
from trundle.simulation.rollout import rollout
from trundle.simulation.runfile import run
from trundle.simulation.signals import Signal, table

__all__ = ["Ode", "Signal", "ode", "roll", "rollout", "run", "simulate", "table"]
