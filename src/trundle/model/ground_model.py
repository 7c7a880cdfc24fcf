"""A robot on terrain as programs: `step`, from a state to the next, and `observe`, what a run shows.

The path of the data: the robot is assembled in a tracer's nodes, its contacts are found on the terrain (`terrain/`),
and the speeds follow from them: by least squares (kinematic) or by a balance of forces at the step's end (dynamic).
The step leads on to the next configuration. One program holds all of it, so that rollouts run in native code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from types import MappingProxyType

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.choices import ATTITUDES, MODES, Attitude, Mode
from trundle.documents import dump
from trundle.documents.height_files import packed_maps
from trundle.errors import InputError, require_known
from trundle.mechanics.frames import world_poses
from trundle.mechanics.quantities import TIME, Quantities, Quantity
from trundle.mechanics.wheels import WheelModel, point_rows
from trundle.model.base_pose import ANGLES, is_posed
from trundle.model.beyond_maps import off_maps
from trundle.model.ground_checks import require_ground
from trundle.model.ground_motion import GroundMotion
from trundle.model.ground_outputs import nearest, observed
from trundle.model.ground_states import TRIAL
from trundle.model.lanes import NumbersLike
from trundle.model.mechanism import mechanism
from trundle.model.outcomes import (
    OUTCOMES,
    end_of,
    gets_nowhere,
    lifted_wheels,
    place_and_wheel,
    require_ground_below,
    upward,
)
from trundle.model.plant import STEP, Plant, Steps
from trundle.model.sampled import DUE
from trundle.model.settling import check_outside, start_on_ground
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.model.terrain_numbers import TerrainNumber, varied_ground
from trundle.program import Program
from trundle.program.ir import Group
from trundle.robot import Controller, Robot
from trundle.robot.description import floating
from trundle.robot.gridded import GridSurface
from trundle.robot.height_maps import HeightMap
from trundle.robot.terrain import Terrain
from trundle.scalars import Rows, Scalar, is_zero, plus
from trundle.terrain.balance import Search

# The length of a step where nobody says another (s): wheels of 0.3 m at 1 m/s turn by 2 degrees in it.
STEP_SECONDS = 0.01
# Contacts and springs that a base needs to stand on.
_STANDS = 3
# A joint that moves no contact up by more than this (m/rad) has nothing to settle by.
_LIFTS = 1e-9
# The label of the step's length.
DT = "dt"


@dataclass(frozen=True, kw_only=True, repr=False)
class GroundModel(Plant):
    """A robot on a terrain, led from step to step: x⁺ = F(x, u, p, h).

    Beside coordinates and (dynamic) independent speeds `currents` are what motors, batteries and contacts bring along,
    then the controllers' own, then what steps remember. `step` leads on, `observe` gives the outputs where a step
    begins, forces those of that step. `gaps` are zero where a robot has settled: how far contacts are above their depth
    at rest (m), stretches of elastic couplings. Settling moves the `loose` coordinates, and the base's height, roll and
    pitch. `rates` are those that a kinematic run is given beside its motors', `terrain_numbers` the ground's that are
    parameters.
    """

    robot: Robot
    terrain: Terrain
    mode: Mode
    attitude: Attitude
    step: Program
    observe: Program
    gaps: Program
    loose: tuple[str, ...]
    rates: tuple[str, ...] = ()
    terrain_numbers: Mapping[str, TerrainNumber] = field(default_factory=dict)

    @cached_property
    def motion(self) -> Steps:
        """x⁺ = F(x, u, p, h)."""
        turned = ", roll, pitch and yaw by Euler" if self.attitude == "euler_angles" else ""
        method = ("implicit steps" if self.mode == "dynamic" else "steps") + " of {:g} s" + turned
        way = "by a balance of forces at its end" if self.mode == "dynamic" else "by least squares"
        return Steps(
            self.step, STEP_SECONDS, method, {"mode": self.mode}, f"its speeds {way}", self.mode == "dynamic"
        )

    def closed(self, controllers: Mapping[str, Controller | Mapping[str, object]]) -> GroundModel:
        """The same robot over the same ground, with controllers."""
        robot = self.robot.with_controllers(controllers)
        return derive_on(robot, self.terrain, self.mode, self.attitude, self.rates)

    def check_start(
        self, start: Mapping[str, float], given: Collection[str], parameters: Mapping[str, float]
    ) -> None:
        """Refuse wheels that begin inside the ground, and warn of those that it throws up."""
        check_outside(self, start, parameters, posed=is_posed(given))

    def check_motion(self, time: FloatArray, states: FloatArray, outputs: FloatArray) -> None:
        """Refuse what leaves the maps."""
        require_ground_below(self, time, states, outputs)

    def explain(self, states: FloatArray, outputs: FloatArray) -> str:
        """Where the robot was, and the wheel that stood deepest."""
        return place_and_wheel(self, states, outputs)

    def fastest_rate(self, values: Mapping[str, FloatArray]) -> float:
        """Of the base or of a joint."""
        base = np.sqrt(sum(values[f"omega_{axis}"] ** 2 for axis in "xyz"))
        joints = (name for name in self.speeds if name.rpartition(".")[0] in self.robot.joints)
        rates = [np.abs(values[name]) for name in joints if self.units[name] == "rad/s"]
        return float(max(row.max() for row in [base, *rates]))

    def run_findings(
        self, time: FloatArray, values: Mapping[str, FloatArray], apart: float
    ) -> dict[str, object]:
        """The largest slip of a kinematic run; who turned over, got stuck or was lifted."""
        slips = np.abs(values["slip_residual"]).max() if self.mode == "kinematic" else None
        return {
            **({} if slips is None else {"slip_residual": float(slips)}),
            **end_of(time, {name: values[name] for name in self.shown_states}, self.wheels),
            **lifted_wheels(self.quantities, values, apart),
        }

    @property
    def start_programs(self) -> Mapping[str, Program]:
        """The gaps that settling closes."""
        return {"gaps": self.gaps}

    @property
    def marked_states(self) -> tuple[str, ...]:
        """How far it went, and how far its wheels rolled."""
        angles = (f"{wheel.name}.angle" for wheel in self.wheels)
        return ("x", "y", *(name for name in angles if name in self.states))

    @cached_property
    def minima(self) -> Mapping[str, Callable[[Mapping[str, Scalar]], Scalar]]:
        """How far the base points up, and whether the robot's place lies on a map."""
        return {
            "upward": lambda x: upward(x["q_x"], x["q_y"]),
            "there": lambda x: 1 - off_maps(self.terrain, x["x"], x["y"]),
        }

    def outcomes_of(
        self, marks: Mapping[str, FloatArray], ends: Mapping[str, FloatArray], least: Mapping[str, FloatArray]
    ) -> Mapping[str, np.ndarray]:
        """Who overturned, got stuck, or left the maps, beyond which a robot falls."""
        beyond, overturned = least["there"] < 1, least["upward"] <= 0
        stuck = gets_nowhere(marks, ends, self.wheels) & ~overturned
        return {"overturned": overturned & ~beyond, "stuck": stuck & ~beyond, "beyond_map": beyond}

    def simulate_arguments(self, step: float) -> dict[str, object]:
        """The same robot over the same ground."""
        return {
            "model": self.robot, "terrain": self.terrain, "mode": self.mode, "attitude": self.attitude, "step": step
        }  # fmt: skip

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """The heights of maps from files."""
        return {name: each.table.values for name, each in file_maps(self.terrain).items()}

    @property
    def wheels(self) -> Sequence[WheelModel]:
        """The wheels, whose angles tell who is stuck."""
        return mechanism(self.robot, terrain=True).assembly.wheels

    @property
    def parameter_readers(self) -> Mapping[str, TerrainNumber]:
        """The numbers of the ground."""
        return self.terrain_numbers

    @property
    def about(self) -> Mapping[str, str]:
        """The terrain."""
        return {"terrain": self.terrain.words}

    @property
    def start_names(self) -> tuple[str, ...]:
        """States, and the base's angles."""
        return (*self.states, *ANGLES)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What may become of one among many."""
        return OUTCOMES

    @cached_property
    def made_from(self) -> Mapping[str, object]:
        """The description with its terrain as text, and the maps that it takes from files."""
        return {"yaml": dump(self.robot, terrain=self.terrain), "maps": packed_maps(self.terrain)}

    def parameter_values(self, changes: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """The robot's parameters with some changed, checked; raises InputError."""
        return self.robot.parameter_values(changes)

    def start(
        self, given: Mapping[str, Floats], parameters: Mapping[str, Floats], count: int = 1, *,
        lost: np.ndarray | None = None, often: bool | None = None,
    ) -> FloatArray:  # fmt: skip
        """x(0) on the ground (`start_on_ground`)."""
        return start_on_ground(self, given, parameters, count, lost)


def derive_on(
    robot: Robot,
    terrain: Terrain,
    mode: Mode = "dynamic",
    attitude: Attitude = "exponential",
    rates: Sequence[str] = (),
    varied: Mapping[str, NumbersLike] = MappingProxyType({}),
) -> GroundModel:
    """The model of a robot on a terrain; `rates` are those that a kinematic run is given beside its motors', `varied`
    numbers of the terrain that become parameters ("terrain.surfaces.hill.height"), of seeds all that there are.
    """
    require_known(mode, MODES, f"unknown mode {mode!r}", key="run.mode")
    require_known(attitude, ATTITUDES, f"unknown attitude {attitude!r}", key="run.attitude")
    began = perf_counter()
    if robot.urdf is not None:
        from trundle.documents.urdf.feet import with_feet  # late: a YAML file's run doesn't wait for URDF

        robot = with_feet(robot)
    described, robot = robot, floating(robot)
    made, numbers_of = varied_ground(terrain, varied)
    numbers = mechanism(robot, terrain=True)
    require_ground(described, numbers, made, mode)
    for name in rates:
        known = [
            *numbers.assembly.speeds,
            *(actuator.command.name for actuator in numbers.assembly.actuators),
        ]
        message = f"'{name}' is neither an input nor a speed of '{robot.name}' on terrain"
        require_known(name, known, message, key=f"run.inputs.{name}")
    values = {name: each.value for name, each in numbers_of.items()}
    model = _model(GroundMotion(numbers, made, mode, attitude, tuple(rates), values))
    model = replace(model, terrain=terrain, rates=tuple(rates), terrain_numbers=numbers_of)
    _require_standing(model)
    return replace(model, derive_seconds=perf_counter() - began)


def file_maps(terrain: Terrain) -> dict[str, HeightMap]:
    """The maps of a terrain that come from files, by their surfaces."""
    grids = {name: each for name, each in terrain.surfaces.items() if isinstance(each, GridSurface)}
    return {name: each.map_of() for name, each in grids.items() if each.file is not None}


def _require_standing(model: GroundModel) -> None:
    """Raise InputError where contacts alone lead a base, and are too few."""
    count = model.gaps.outputs[0].size
    if model.mode == "kinematic" and count < _STANDS:
        raise InputError(
            f"'{model.robot.name}' touches the ground at {count} points: nothing says how it pitches",
            key="robot.wheels",
            hint="describe what else it stands on, such as a caster or a ball: {type: ball, at: [...], radius: ...}",
        )


def _model(motion: GroundMotion) -> GroundModel:
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
        motion.loop.quantities,
        outputs,
    )
    kinds = [quantities[name].kind for name in motion.states]
    places = sum(kind in ("coordinate", "quaternion") for kind in kinds)
    speeds = sum(kind == "speed" for kind in kinds)
    observe = _observe(motion, outputs)
    return GroundModel(
        name=motion.numbers.robot.name,
        robot=motion.numbers.robot,
        terrain=motion.terrain,
        mode=motion.mode,
        attitude=motion.attitude,
        coordinates=motion.states[:places],
        speeds=motion.states[places : places + speeds],
        currents=motion.states[places + speeds :],
        inputs=motion.loop.inputs,
        outputs=observe.outputs[0].labels,
        parameters=motion.parameters,
        quantities=quantities,
        step=_step(motion),
        observe=observe,
        gaps=_program(motion, "gaps", {"gap": gaps}),
        loose=_settling(motion),
        clocks=motion.loop.clocks,
        sampling=_sampling(motion),
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


def _sampling(motion: GroundMotion) -> Program | None:
    """Where the states go at an instant, by which clocks are due then."""
    clocks = tuple(motion.loop.clocks)
    if not clocks:
        return None
    due = motion.tracer.inputs(
        STEP, len(clocks)
    )  # in the place of the step's length, which no sample asks for
    after = motion.loop.sample(motion.view, dict(zip(clocks, due, strict=True)))
    made = _program(
        motion, "sampling", {STATE: {name: after[name] for name in motion.states}}, further=clocks
    )
    return replace(made, inputs=(*made.inputs[:3], Group(DUE, clocks)))


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
    found = dict(motion.state)
    found |= motion.led(motion.nu) if motion.mode == "kinematic" else motion.kind.after(motion.nu_free)
    found |= motion.own_after(motion.nu)
    return {name: found[name] for name in motion.states}


def _program(
    motion: GroundMotion,
    name: str,
    outputs: Mapping[str, Mapping[str, Scalar]],
    sought: Sequence[str] = (),
    further: Sequence[str] = (DT,),
) -> Program:
    """A program of the state, inputs, parameters and the step's length, and of what is sought."""
    labels = {
        STATE: motion.states,
        INPUT: motion.loop.inputs,
        PARAMETER: tuple(motion.parameters),
        STEP: further,
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
        points = wheel.component.touches(wheel.read) or ((0, 0, -wheel.radius),)
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
