"""Plants whose controllers drive them: the plant's programs with the controllers' laws put in.

The path of the data: what a controller reads are states, or elements of `observe`; its law gives commands, which take
the places of the plant's inputs, and rates of its own states, which stand behind the plant's. So everything that runs,
exports or shows a plant runs, exports or shows the closed loop. The law is put into the equation: the rate, or what
must be zero where a step ends. A plant that gives only a map is closed where the step begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Generic, TypeVar

from trundle.errors import InputError
from trundle.expected import by_name
from trundle.mechanics.quantities import Quantities
from trundle.model.control_loop import PlantView, control_loop
from trundle.model.model import Model
from trundle.model.placed import Placed, placed
from trundle.model.plant import Plant
from trundle.model.sampled import DUE
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer
from trundle.program.ir import Group
from trundle.program.simplify import copied, only_elements
from trundle.program.tracer import Node, scalars_by_name
from trundle.robot import Robot
from trundle.robot.component import Component, Identifier, components, own_values
from trundle.robot.controllers import CONTROLLERS, Action, Controller
from trundle.robot.kinds import ask
from trundle.scalars import Scalar

# Scalars by group and name.
ScalarGroups = Mapping[str, Mapping[str, Scalar]]
Kind = TypeVar("Kind", bound=Plant)


def closed_model(plant: Model, description: Robot) -> Model:
    """The model with the controllers of a description, its robot's or one of them alone.

    ẋ = f(x, u(x, x_c, r)), ẋ_c = g(x, x_c, r): states x, then the controllers' x_c; inputs that nobody drives, then
    references r that nobody gives. What controllers drive becomes an output.

    Raises InputError for what they read or drive that isn't there, and for algebraic loops.
    """
    loop = _ClosedModel(plant, description)
    loop.check_base()
    return loop.model()


def controllers_alone(plant: Plant, controllers: Mapping[str, Controller | Mapping[str, object]]) -> Robot:
    """The description of controllers of a plant that no robot describes, with those that it has already; they may use
    its parameters by name.
    """
    known = {} if plant.loop is None else plant.loop.controllers
    parts = _Controllers(controllers={**known, **by_name(controllers, "controllers")})  # pyright: ignore[reportArgumentType]
    values = (value for path, part in components(parts) for value in own_values(part, path))
    used = {name for _, value in values for name in value.names}
    return Robot(
        name=re.sub(r"^\W+|[^\w .+-]", "_", plant.name)[:80],
        base="floating",
        controllers=parts.controllers,
        parameters={name: plant.parameters[name] for name in plant.parameters if name in used},  # pyright: ignore[reportArgumentType]
    )


class _Controllers(Component):
    """Controllers before it is known what they use."""

    controllers: dict[Identifier, Annotated[Controller, CONTROLLERS]]


class ClosedLoop(Generic[Kind]):
    """The closed loop while it is put together: controllers' laws and the plant's programs in one builder."""

    def __init__(self, plant: Kind, description: Robot) -> None:
        """Raise InputError for controllers that don't fit the plant."""
        self.plant, self.description = plant, description
        readable = (*plant.states, *plant.outputs)
        self.loop = control_loop(
            placed(description), plant.inputs, plant.units, readable, self._inputs_behind,
            "which is no state and no output of the robot" if plant.robot else f"which '{plant.name}' hasn't",
        )  # fmt: skip
        self.loop.check_units(description)
        self.states = (*plant.states, *self.loop.states)
        numbers = description.parameter_values().items()
        own = {name: number for name, number in numbers if name.startswith("controllers.")}
        self.parameters = {**plant.parameters, **own}
        reads = {each.name: [n for n in each.reads if n not in self.states] for each in self.loop.controllers}
        self._observed = {name: only_elements(plant.observe, outputs) for name, outputs in reads.items()}

    @property
    def quantities(self) -> Quantities:
        """The plant's, then the controllers' states, references and outputs."""
        return Quantities.gather(self.plant.quantities.values(), self.loop.quantities)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The plant's outputs, then commands and what controllers show."""
        return (*self.plant.outputs, *self.loop.driven, *self.loop.shown)

    def labels(self, **further: Sequence[str]) -> dict[str, Sequence[str]]:
        """The names in the groups of the closed loop's programs."""
        return {STATE: self.states, INPUT: self.loop.inputs, PARAMETER: tuple(self.parameters), **further}

    def sampling(self) -> Program | None:
        """Where the states go at an instant, by which clocks are due then; None where nobody samples."""
        if not self.loop.clocks:
            return None
        labels = self.labels(**{DUE: tuple(self.loop.clocks)})
        tracer, sees = scalars_by_name(labels)
        after = self.loop.sample(self.view(tracer, sees), sees[DUE])
        return tracer.program(
            "sampling", labels, {STATE: (self.states, [after[name] for name in self.states])}
        )

    def view(self, tracer: Tracer, sees: ScalarGroups) -> PlantView:
        """What controllers see at these scalars."""

        def observe(each: Placed, commands: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
            program = self._observed[each.name]
            return dict(
                zip(program.outputs[0].labels, self.copied(tracer, program, sees, commands), strict=True)
            )

        return PlantView(sees[STATE], sees[INPUT], self.description.resolver(sees[PARAMETER]), observe)

    def acted(self, view: PlantView) -> Action:
        """What all controllers do, and all that they show."""
        action = self.loop.act(view)
        shown = action.outputs | self.loop.sampled_outputs(view, action.commands)  # type: ignore[operator]
        return action._replace(outputs=shown)

    @staticmethod
    def copied(
        tracer: Tracer, program: Program, sees: ScalarGroups, commands: Mapping[str, Scalar]
    ) -> list[Scalar]:
        """The outputs of a program of the plant, whose inputs are commands where controllers drive them.

        An input whose command isn't known yet counts as 0: nothing that is asked for then hangs on it.
        """
        builder = tracer.builder

        def load(group: int, element: int) -> int:
            name, label = program.inputs[group].name, program.inputs[group].labels[element]
            value = commands.get(label, sees[INPUT].get(label, 0.0)) if name == INPUT else sees[name][label]
            return value.value if isinstance(value, Node) else builder.const(float(value))

        values = copied(builder, program, load)
        return [Node(builder, values[place]) for place in program.results[0]]

    def _inputs_behind(self, names: Sequence[str]) -> Iterator[str]:
        """The plant's inputs on which these outputs hang at once."""
        shown = {*self.plant.outputs}
        outputs = [name for name in names if name in shown]
        if not outputs:
            return
        program = only_elements(self.plant.observe, outputs)
        place = self.plant.observe.input_index(INPUT)
        for instruction in program.instructions:
            if instruction.op == "input" and instruction.source[0] == place:
                yield self.plant.inputs[instruction.source[1]]


class _ClosedModel(ClosedLoop[Model]):
    """Of rates."""

    def model(self) -> Model:
        """The plant with other programs and names."""
        plant = self.plant
        observed = self._program(plant.observe, self.outputs)
        audited = self._program(plant.audited, (*self.states, *plant.audit))
        # nothing reads the account's own states, which stand last
        bare = (Group(STATE, self.states), *audited.inputs[1:])
        return replace(
            plant,
            robot=self.description if plant.robot else None,
            loop=None if plant.robot else self.description,
            open_plant=None if plant.robot else plant,
            currents=(*plant.currents, *self.loop.states),
            inputs=self.loop.inputs,
            outputs=observed.outputs[0].labels,
            parameters=self.parameters,
            quantities=self.quantities,
            dynamics=only_elements(replace(audited, name="dynamics", inputs=bare), self.states),
            audited=audited,
            observe=observed,
            manifold=plant.manifold and self._program(plant.manifold),
            projection=plant.projection and self._program(plant.projection, self.states),
            sampling=self.sampling(),
            clocks=self.loop.clocks,
        )

    def _program(self, program: Program, labels: Sequence[str] | None = None) -> Program:
        """A program of the plant over the closed loop's groups; `labels` of its outputs, by default its own.

        Where they name them, rates or values of the controllers' states, commands and outputs stand there, too.
        """
        own = self.labels()
        own[STATE] = (
            *self.states,
            *(name for name in program.inputs[0].labels if name not in self.plant.states),
        )
        tracer, sees = scalars_by_name(own)
        acted = self.acted(self.view(tracer, sees))
        (outputs,) = program.outputs
        pool: dict[str, Scalar] = dict(acted.commands) | dict(acted.outputs)
        pool |= (
            acted.rates if outputs.name == "rate" else {name: sees[STATE][name] for name in self.loop.states}
        )
        pool |= dict(zip(outputs.labels, self.copied(tracer, program, sees, acted.commands), strict=True))
        names = outputs.labels if labels is None else labels
        return tracer.program(program.name, own, {outputs.name: (names, [pool[name] for name in names])})

    def check_base(self) -> None:
        """Raise InputError where the wheels don't let the base do what a controller commands.

        Wheels that slip let it do anything, more or less.
        """
        mobility = self.plant.mobility
        if mobility is None:
            return
        bound = (*mobility.fixed, *mobility.steered)
        slips = any(not self.description.wheels[name].law.rolls for name in bound)
        hint = "unicycle, kanayama and samson turn as they go, stanley and pure_pursuit steer, holonomic goes any way"
        for each in self.loop.controllers:
            reason = ask(
                each.controller, each.key, each.controller.cannot, mobility.mobility, mobility.steerability
            )
            if reason is not None and not slips:
                came = f"{each.controller.called} {each.name!r} can't lead {self.description.name!r}"
                raise InputError(f"the {came}: {reason}", key=f"{each.key}.type", hint=hint)
