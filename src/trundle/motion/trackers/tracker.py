"""A tracker: from what is wanted to a robot's inputs, by what the robot does.

    reference (a motion, or what a hand sets)
        ──► aims: what every wheel and steering shall do, by its rate's name   (`Aim`; a pose is led back by `Homing`)
        ──► laws: inputs, by the error and by the motors' own physics          (`Law`)
        ──► inputs of `simulate` and `roll` (`Tracker.inputs`), or one step of a loop (`Tracker.command`)

What shows that it is right: on the motion itself the commands are those of inverse dynamics, to rounding, so that the
motion is a fixed point; beside it the error of a steering decays as (1 + b t) e^(−b t), the one of a pose as e^(−k t).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trundle.motion.trackers.laws import Aim, Law
from trundle.simulation.signals import Signal, function

# Aims at a time, for states and outputs by name; by the names of the rates that they are of.
Aims = Callable[[float, Mapping[str, float]], Mapping[str, Aim]]


@dataclass(frozen=True, eq=False)
class Tracker:
    """What feeds a robot's inputs.

    Parameters
    ----------
    aims : callable
        (time, state) → what rates that are driven shall be, by name: the reference.
    laws : mapping of str to (str, callable)
        Of inputs that follow the state: the rate that the input drives, and from its aim and the state to the input.
    ahead : mapping of str to Signal
        Inputs that hang on time alone.
    """

    aims: Aims
    laws: Mapping[str, tuple[str, Law]]
    ahead: Mapping[str, Signal] = field(default_factory=dict)

    def command(self, time: float, state: Mapping[str, float]) -> dict[str, float]:
        """All inputs by name, for states and outputs at a time (s)."""
        fed = {name: signal.value(time) for name, signal in self.ahead.items()}
        return fed | self._followed(time, state)

    @property
    def inputs(self) -> dict[str, Signal]:
        """The same for `simulate` and `roll`, which ask for the inputs one by one."""
        # Their questions at one instant come with one and the same state: it is answered once.
        last: tuple[object, float, dict[str, float]] = (None, 0.0, {})

        def asked(name: str) -> Callable[[float, Mapping[str, float]], float]:
            def follow(time: float, state: Mapping[str, float]) -> float:
                nonlocal last
                if last[0] is not state or last[1] != time:
                    last = (state, time, self._followed(time, state))
                return last[2][name]

            return follow

        return {**self.ahead, **{name: function(asked(name), name) for name in self.laws}}

    def _followed(self, time: float, state: Mapping[str, float]) -> dict[str, float]:
        aims = self.aims(time, state) if self.laws else {}
        return {name: law(aims[rate], state) for name, (rate, law) in self.laws.items()}
