"""A robot on terrain as programs: `step`, from a state to the next, and `observe`, what a run shows.

The path of the data: the robot is assembled in a tracer's nodes, its contacts are found on the terrain (`terrain/`),
and the speeds follow from them: by least squares (kinematic) or by a balance of forces at the step's end (dynamic).
The step leads on to the next configuration. One program holds all of it, so that rollouts run in native code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from trundle.choices import Attitude, Mode
from trundle.errors import require_known
from trundle.mechanics.frames import world_poses
from trundle.mechanics.quantities import TIME, Quantities, Quantity
from trundle.mechanics.wheels import point_rows
from trundle.model.ground_checks import require_ground
from trundle.model.ground_motion import STEP, GroundMotion
from trundle.model.ground_outputs import nearest, observed
from trundle.model.ground_states import TRIAL
from trundle.model.mechanism import mechanism
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer
from trundle.robot import Robot
from trundle.robot.description import floating
from trundle.robot.terrain import Terrain
from trundle.robot.values import Value
from trundle.scalars import Rows, Scalar, is_zero, plus
from trundle.terrain.balance import Search

# A joint that moves no contact up by more than this (m/rad) has nothing to settle by.
_LIFTS = 1e-9
# The label of the step's length.
DT = "dt"


@dataclass(frozen=True, kw_only=True)
class GroundModel:
    """A robot on a terrain, led from step to step: x⁺ = F(x, u, p, h).

    `states` are the coordinates, then (dynamic) the independent speeds and what motors, batteries and contacts bring
    along, then the controllers' own. `step` leads on,
    `observe` gives the `outputs` where a step begins, forces those of that step. `gaps` are zero where a robot
    has settled: how far contacts are above their depth at rest (m), stretches of elastic couplings. Settling moves the
    `loose` coordinates, and the base's height, roll and pitch. `clocks` are those of controllers that sample: period
    and first time (s).
    """

    robot: Robot
    terrain: Terrain
    mode: Mode
    attitude: Attitude
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: Mapping[str, float]
    quantities: Quantities
    step: Program
    observe: Program
    gaps: Program
    loose: tuple[str, ...]
    clocks: Mapping[str, tuple[float, float]]

    @property
    def name(self) -> str:
        """The robot's."""
        return self.robot.name

    def parameter_values(self, given: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """The robot's parameters with some changed, checked; raises InputError."""
        return self.robot.parameter_values(given)

    @property
    def units(self) -> Mapping[str, str]:
        """Units by name."""
        return self.quantities.units

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The states that say where everything is."""
        return tuple(
            name for name in self.states if self.quantities[name].kind in ("coordinate", "quaternion")
        )

    @property
    def speeds(self) -> tuple[str, ...]:
        """The independent speeds among the states; none of a kinematic model."""
        return tuple(name for name in self.states if self.quantities[name].kind == "speed")

    @property
    def outputs(self) -> tuple[str, ...]:
        """What `observe` gives."""
        return self.observe.outputs[0].labels

    @cached_property
    def still(self) -> Program:
        """Rates of zero for every state: what native rollouts integrate before they take the step."""
        tracer = Tracer(STATE)
        return tracer.program(
            self.name, {STATE: self.states}, {"rate": (self.states, [0.0] * len(self.states))}
        )


def derive_on(
    robot: Robot,
    terrain: Terrain,
    mode: Mode = "dynamic",
    attitude: Attitude = "exponential",
    given: Sequence[str] = (),
    varied: Mapping[str, Value] = MappingProxyType({}),
) -> GroundModel:
    """The model of a robot on a terrain; `given` are rates that a kinematic run is told beside its motors', `varied`
    numbers of the terrain that become parameters, by their names.
    """
    described, robot = robot, floating(robot)
    numbers = mechanism(robot, terrain=True)
    require_ground(described, numbers, terrain, mode)
    for name in given:
        known = [
            *numbers.assembly.speeds,
            *(actuator.command.name for actuator in numbers.assembly.actuators),
        ]
        message = f"'{name}' is neither an input nor a speed of '{robot.name}' on terrain"
        require_known(name, known, message, key=f"run.inputs.{name}")
    return _model(GroundMotion(numbers, terrain, mode, attitude, tuple(given), varied), terrain)


def _model(motion: GroundMotion, terrain: Terrain) -> GroundModel:
    """The programs, traced, and the names of everything in them."""
    outputs = observed(motion)
    gaps = {place: plus(distance, motion.depth) for place, distance in nearest(motion).items()}
    gaps |= {each.name: each.stretch(motion.here.at.values) for each in motion.assembly.springs}
    quantities = Quantities.gather(
        (TIME,),
        motion.assembly.quantities.values(),
        (actuator.command for actuator in motion.assembly.actuators),
        motion.own,
        motion.memory,
        motion.commands.quantities,
        outputs,
    )
    return GroundModel(
        robot=motion.numbers.robot,
        terrain=terrain,
        mode=motion.mode,
        attitude=motion.attitude,
        states=motion.states,
        inputs=motion.commands.inputs,
        parameters=motion.parameters,
        quantities=quantities,
        step=_step(motion),
        observe=_observe(motion, outputs),
        gaps=_program(motion, "gaps", {"gap": gaps}),
        loose=_settling(motion),
        clocks=motion.commands.clocks,
    )


def _step(motion: GroundMotion) -> Program:
    """From a state to the next; where forces are sought, with what its rounds do."""
    groups = {STATE: _after(motion)}
    if motion.mode == "kinematic":
        return _program(motion, "step", groups)
    error, following = motion.round
    labels = _sought(motion)
    groups["start"] = dict(zip(labels, Search.starting(motion.kind.balance), strict=True))
    groups["error"] = {"error": error}
    groups["following"] = dict(zip(labels, following, strict=True))
    return _program(motion, "step", groups, labels)


def _observe(motion: GroundMotion, outputs: Mapping[Quantity, Scalar]) -> Program:
    """The outputs where a step begins; dynamic ones are told what it found."""
    found = () if motion.mode == "kinematic" else motion.kind.found
    return _program(
        motion, "observe", {"output": {quantity.name: value for quantity, value in outputs.items()}}, found
    )


def _sought(motion: GroundMotion) -> tuple[str, ...]:
    """The labels of what a search keeps from round to round."""
    return Search.labels(motion.sought)


def _after(motion: GroundMotion) -> dict[str, Scalar]:
    """The state where the step ends."""
    found = {**motion.state, **motion.begun.after}
    found |= motion.led(motion.nu) if motion.mode == "kinematic" else motion.kind.after(motion.nu_free)
    found |= motion.own_after(motion.nu)
    return {name: found[name] for name in motion.states}


def _program(
    motion: GroundMotion, name: str, outputs: Mapping[str, Mapping[str, Scalar]], sought: Sequence[str] = ()
) -> Program:
    """A program of the state, inputs, parameters and the step's length, and of what is sought."""
    labels = {
        STATE: motion.states,
        INPUT: motion.commands.inputs,
        PARAMETER: tuple(motion.parameters),
        STEP: (DT,),
        TRIAL: sought,
    }
    groups = {group: (tuple(values), list(values.values())) for group, values in outputs.items()}
    made = motion.tracer.program(name, labels, groups)
    return made if sought else replace(made, inputs=made.inputs[:-1])


def _settling(motion: GroundMotion) -> tuple[str, ...]:
    """The coordinates of joints that nothing drives, no spring holds and that lift or lower a wheel of the upright
    robot.

    What only turns about the vertical, as steering does, stays: on flat ground it has nothing to settle by.
    """
    numbers = motion.numbers
    assembly, at = numbers.assembly, numbers.at
    driven = {actuator.column for actuator in assembly.actuators}
    driven |= {element.column for element in assembly.elements if not is_zero(element.stiffness)}
    names = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    rows: Rows = []
    for wheel in assembly.wheels:
        points = wheel.noun.touches(wheel.read) or ((0, 0, -wheel.radius),)
        up = world_poses(assembly.tree, at.poses)[wheel.link].rotation[2]
        rows += [point_rows(assembly.tree, at.poses, wheel.link, point, (up,))[0] for point in points]
    return tuple(
        names[column]
        for column in motion.free
        if column in names
        and names[column] in numbers.names
        and column not in driven
        and any(abs(row[column]) > _LIFTS for row in rows if column < len(row))
    )
