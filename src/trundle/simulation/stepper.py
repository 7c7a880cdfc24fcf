"""A problem solved a step at a time, its inputs held from step to step: for motions that somebody steers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.model.manifold import on_manifold
from trundle.program import compile_program, feed
from trundle.results import Run
from trundle.simulation.integrate import RateFunction, Settings, integrate
from trundle.simulation.outcome import integrated_run
from trundle.simulation.problem import Problem, slope_of
from trundle.simulation.sampling import Instants, Jump, sampling_of

# A step's error, relative and absolute: what is looked at needs no more, and a restart at every step costs most.
_BOUNDS = 1e-7, 1e-8


class Stepper:
    """Where a problem has come to: `time` (s), `state`, and all before it; what its signals say is not asked.

    LSODA starts anew at every step, as the inputs jump there: with stiff formulas where it finds the motion stiff.
    """

    def __init__(self, problem: Problem) -> None:
        """Compile rates, their Jacobian and what is observed, and call the compiled functions once."""
        self.problem = problem
        system = problem.system
        guided = problem.rate if system.projection is None else feed(problem.rate, system.projection)
        self._rate = self._bound(compile_program(guided).single(), 0)
        slope = slope_of(problem, guided)
        self._slope = (
            None if slope is None else self._bound(compile_program(slope).single(), len(problem.start))
        )
        self._observe = compile_program(problem.observe).single()
        self._sampling = None
        if system.sampling is not None:
            self._sampling = compile_program(sampling_of(system)).single()
        self._names = guided.inputs[guided.input_index("state")].labels
        self.restart()
        for compiled in (self._rate, self._slope):  # now, and not in the first step
            if compiled is not None:
                compiled(0.0, self.state)

    def _bound(self, call: Callable[..., tuple[FloatArray, ...]], columns: int) -> RateFunction:
        """A kernel as integrators call it, at the commands that are held."""
        numbers = self.problem.numbers

        def at(t: float, x: FloatArray) -> FloatArray:
            rows = call(x, self._commands, numbers)[0]
            return rows.reshape(-1, columns) if columns else rows

        return at

    def restart(self) -> None:
        """Back to the start; what was is forgotten."""
        self.time, self.state = 0.0, np.array(self.problem.start, dtype=float)
        self._commands = np.zeros(len(self.problem.signals))
        self._kept = [(self.time, self.state)]
        self._given: list[FloatArray] = []

    @property
    def values(self) -> dict[str, float]:
        """States, inputs and outputs now, by name."""
        system, n = self.problem.system, len(self.problem.system.states)
        *_, outputs = self._observe(self.state[:n].copy(), self._commands, self.problem.numbers)
        rows = ((system.states, self.state), (system.inputs, self._commands), (system.outputs, outputs))
        return {name: value for names, row in rows for name, value in zip(names, row.tolist(), strict=False)}

    def step(self, commands: FloatArray, seconds: float) -> None:
        """Go on with these commands; NumericsError where the numbers fail, and then nothing has changed."""
        before, self._commands = self._commands, np.array(commands, dtype=float)
        times = np.array([self.time, self.time + seconds])
        jump, breaks = self._sampled(*times)
        try:
            with np.errstate(all="ignore"):
                states = integrate(
                    lambda a, b: (self._rate, self._slope),
                    self.state,
                    times,
                    breaks=breaks,
                    settings=Settings("lsoda", *_BOUNDS),
                    names=self._names,
                    jump=jump,
                )
                n, state = len(self.problem.system.states), states[:, -1].copy()
                own = on_manifold(self.problem.system, state[:n, None], self._commands, self.problem.numbers)
            state[:n] = own[:, 0]
            if not np.isfinite(state).all():
                raise NumericsError(f"the motion stopped being finite at t = {times[1]:g} s")
        except NumericsError:
            self._commands = before
            raise
        self.time, self.state = float(times[1]), state
        self._kept.append((self.time, self.state))
        self._given.append(self._commands)

    def _sampled(self, begin: float, end: float) -> tuple[Jump | None, Sequence[float]]:
        """What samples do from one time to another, the last excepted, and when between."""
        system, sampling = self.problem.system, self._sampling
        if sampling is None:
            return None, ()
        instants, n = Instants.between(system.clocks, begin, end), len(system.states)
        inside = (instants.times > begin + instants.apart) & (instants.times < end - instants.apart)

        def jump(a: float, b: float, x: FloatArray) -> FloatArray:
            due = instants.at(a) if a < b else None
            if due is None:
                return x
            moved = x.copy()
            (moved[:n],) = sampling(x[:n].copy(), self._commands, self.problem.numbers, due)
            return moved

        return jump, instants.times[inside].tolist()

    def run(self) -> Run:
        """All that was, as a run; an input's value at a time is the one that was held from then on."""
        times, states = (np.array(kept) for kept in zip(*self._kept, strict=True))
        commands = np.array([*self._given, self._commands]).T.copy()
        problem = replace(self.problem, options=replace(self.problem.options, stored=times))
        x, n = states.T.copy(), len(problem.system.states)
        observe = compile_program(problem.observe)
        *_, outputs = observe(
            x[:n].copy(), commands if len(commands) else np.zeros(0), problem.numbers, often=False
        )
        return integrated_run(problem, (x, commands, outputs), {**problem.summary, "method": "lsoda"})
