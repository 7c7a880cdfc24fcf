"""Runs: inputs over time, integrators, single runs and batched rollouts. Knows programs, not robots."""

import sys
from types import ModuleType
from typing import Any

from trundle.simulate.dynamic import simulate
from trundle.simulate.kinematic import rate_of, roll
from trundle.simulate.rollout import rollout
from trundle.simulate.signals import Signal, constant, function, table

__all__ = ["Signal", "constant", "function", "rate_of", "roll", "rollout", "simulate", "table"]


class _Room(ModuleType):
    """This module, callable as its function of the same name: importing it binds `trundle.simulate` to the module."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return simulate(*arguments, **keywords)


sys.modules[__name__].__class__ = _Room
