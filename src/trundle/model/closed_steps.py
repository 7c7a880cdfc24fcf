"""Plants by steps of their own whose controllers drive them: of a balance e(x⁺, x, u) = 0 and a law k

    e(x⁺, x, k(x⁺, x_c⁺, r)) = 0,   x_c⁺ = x_c + h g(x⁺, x_c⁺, r)

so that a loop holds at any step at which the plant does. A map F takes k(x, x_c, r), where the step begins.
"""

from __future__ import annotations

from dataclasses import replace

from trundle.model.closed_loop import ClosedLoop, ScalarGroups
from trundle.model.own_steps import StepPlant
from trundle.model.placed import Placed
from trundle.model.plant import STEP
from trundle.model.symbols import STATE
from trundle.program import Program
from trundle.program.llvm.llvm_rollout import ITERATE
from trundle.program.tracer import scalars_by_name
from trundle.robot import Robot
from trundle.scalars import times


def closed_steps(plant: StepPlant, description: Robot) -> StepPlant:
    """The plant with the controllers of a description of them alone; raises InputError as `closed_model` does."""
    return _ClosedSteps(plant, description).plant_closed()


class _ClosedSteps(ClosedLoop[StepPlant]):
    """Of steps: laws see the step's end where a balance is solved, else its beginning."""

    def plant_closed(self) -> StepPlant:
        """The plant with another law and other names."""
        observe = self._observe()
        return replace(
            self.plant,
            loop=self.description,
            open_plant=self.plant,
            currents=(*self.plant.currents, *self.loop.states),
            inputs=self.loop.inputs,
            outputs=observe.outputs[0].labels,
            parameters=self.parameters,
            quantities=self.quantities,
            law=self._law(),
            observe=observe,
            sampling=self.sampling(),
            clocks=self.loop.clocks,
        )

    def _law(self) -> Program:
        """What must be zero where a step ends, or the map."""
        plant = self.plant
        ended = {ITERATE: self.states} if plant.implicit else {}
        labels = self.labels(**{STEP: plant.law.inputs[3].labels}, **ended)
        tracer, sees = scalars_by_name(labels)
        (h,) = sees[STEP].values()
        action = self.loop.act(self.view(tracer, self._where_it_acts(sees)))
        values = self.copied(tracer, plant.law, sees, action.commands)
        for name in self.loop.states:
            after = sees[STATE][name] + times(h, action.rates[name])
            values.append(sees[ITERATE][name] - after if plant.implicit else after)
        return tracer.program(plant.law.name, labels, {plant.law.outputs[0].name: (self.states, values)})

    def _where_it_acts(self, sees: ScalarGroups) -> ScalarGroups:
        """The scalars at which laws act: what samples stands still until the step has ended."""
        if ITERATE not in sees:
            return sees
        still = {name for each in self.loop.controllers if each.hold for name in self._own(each)}
        ended = {name: value for name, value in sees[ITERATE].items() if name not in still}
        return {**sees, STATE: {**sees[STATE], **ended}}

    @staticmethod
    def _own(each: Placed) -> list[str]:
        return [*each.held, *(f"{each.name}.{own}" for own in each.states)]

    def _observe(self) -> Program:
        """The outputs where a step begins, under the commands that act during it."""
        ended = {ITERATE: self.states} if self.plant.implicit and self.loop.continuous else {}
        labels = self.labels(**{STEP: self.plant.law.inputs[3].labels}, **ended)
        tracer, sees = scalars_by_name(labels)
        acts = self.acted(self.view(tracer, self._where_it_acts(sees)))
        pool = {**acts.commands, **acts.outputs}
        known = zip(
            self.plant.outputs, self.copied(tracer, self.plant.observe, sees, acts.commands), strict=True
        )
        pool |= dict(known)
        return tracer.program(
            self.plant.observe.name, labels, {"output": (self.outputs, [pool[name] for name in self.outputs])}
        )
