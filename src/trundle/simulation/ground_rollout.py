"""Many robots over terrain at once: lanes differ in start, inputs, parameters, and in the terrain's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.choices import MODES, Mode
from trundle.documents import dump
from trundle.documents.height_files import carried, with_maps
from trundle.errors import InputError, require_known
from trundle.frozen import frozen
from trundle.gpu.devices import CPU, Device
from trundle.model.arguments import named
from trundle.model.ground_checks import require_carried
from trundle.model.ground_model import GroundModel, derive_on
from trundle.model.ground_motion import STEP
from trundle.model.ground_states import REMEMBERED
from trundle.model.mechanism import mechanism
from trundle.model.placed import warn_of_references
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import compile_program
from trundle.progress import Progress
from trundle.results import Batch
from trundle.robot import Robot
from trundle.robot.terrain import Terrain, parse_terrain
from trundle.simulation.beyond_maps import is_beyond
from trundle.simulation.fates import fates
from trundle.simulation.ground_numbers import PREFIX, varied_ground
from trundle.simulation.lanes import NumbersLike, column, common_size, complete, inputs_told, parameters_told
from trundle.simulation.observing import lane_numbers
from trundle.simulation.options import positive
from trundle.simulation.rollout_checks import check_whole_numbers, diverged, require_memory
from trundle.simulation.sampling import steps_of
from trundle.simulation.settling import settled_lanes
from trundle.simulation.start_pose import ANGLES, is_posed, turned
from trundle.simulation.traversing import rates_among, require_standing

MANY = 15_000_000
"""Steps of robots from which fast code pays: for Zoe it takes some 3 s more to compile, and 0.2 µs less a step."""
# States observed together.
_TOGETHER = 4096


class Asked(NamedTuple):
    """What robots are given, by name, as `rollout` takes it."""

    initial: Mapping[str, NumbersLike] | None
    inputs: Mapping[str, NumbersLike] | None
    parameters: Mapping[str, NumbersLike] | None


@dataclass(frozen=True)
class Rolling:
    """A rollout over terrain, ready to go."""

    model: GroundModel
    start: FloatArray
    inputs: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    step: float
    count: int

    def advanced(
        self, start: FloatArray, inputs: Mapping[str, Floats], parameters: Mapping[str, Floats],
        steps: int, every: int | None, threads: int | None, progress: Callable[[float], None] | None = None,
        device: Device = CPU,
    ) -> tuple[np.ndarray, FloatArray, FloatArray]:  # fmt: skip
        """Steps of many robots: which were stored, their states, and the last ones."""
        result = device.rollout(
            self.model.still, start,
            {INPUT: inputs or np.zeros(0), PARAMETER: parameters or np.zeros(0), STEP: [self.step]},
            dt=1.0, steps=steps, every=every, count=start.shape[1], threads=threads, progress=progress,
            projection=self.model.step, quick=steps * start.shape[1] < MANY,
        )  # fmt: skip
        return result.steps, result.states, result.final

    def observed(self, values: FloatArray, steps: np.ndarray, name: str) -> FloatArray:
        """An output (times, robots) of stored states; forces are those of the step that begins there."""
        row = self.model.outputs.index(name)
        found = np.empty((values.shape[0], values.shape[2]))
        for time, step in enumerate(steps):
            for begin in range(0, self.count, _TOGETHER):
                lanes = slice(begin, min(begin + _TOGETHER, self.count))
                found[time, lanes] = self._outputs(values[time, :, lanes], int(step), lanes)[row]
        return found

    def _outputs(self, states: FloatArray, step: int, lanes: slice) -> FloatArray:
        model = self.model
        inputs = lane_numbers(self.inputs, step, lanes)
        parameters = lane_numbers(self.parameters, 0, lanes)
        groups = [np.ascontiguousarray(states), inputs, parameters, np.array([self.step])]
        if len(model.observe.inputs) > len(groups):
            own = (
                dict(zip(names, rows, strict=True))
                for names, rows in ((model.inputs, inputs), (self.parameters, parameters))
            )
            _, _, after = self.advanced(groups[0], *own, steps=1, every=None, threads=None)
            rows = [model.states.index(each) for each in model.observe.inputs[-1].labels]
            groups.append(np.ascontiguousarray(after[rows]))
        return compile_program(model.observe)(*groups)[0]


def rolled_over(
    robot: Robot, terrain: Terrain | Mapping[str, object], mode: Mode, asked: Asked, *,
    steps: int, dt: float | str, every: int, count: int | None, threads: int | None,
    gradients: Sequence[str], device: Device, progress: bool | Callable[[float], None],
) -> Batch:  # fmt: skip
    """Many robots over terrain; the arguments are those of `rollout`."""
    require_known(mode, MODES, f"unknown mode {mode!r}", key="mode")
    check_whole_numbers(steps, every, count, threads)
    if gradients:
        raise InputError(
            "a rollout over terrain has no derivatives", key="gradients", hint="take differences"
        )
    h = positive(dt, "dt", "s")
    rolling = prepared(robot, terrain, mode, asked, steps, h, count)
    require_memory(steps // every + 1, len(rolling.model.states), rolling.count)
    with Progress(progress, steps * rolling.count, f"driving {robot.name}", "robot steps") as bar:
        taken, values, _ = rolling.advanced(
            rolling.start,
            rolling.inputs,
            rolling.parameters,
            steps,
            every,
            threads,
            bar.fraction,
            device,
        )
    summary = {"mode": mode, "steps": steps, "dt": h, "every": every, "count": rolling.count}
    summary |= device.record
    return _batch(rolling, taken, frozen(values), summary)


def prepared(
    robot: Robot, terrain: Terrain | Mapping[str, object], mode: Mode, asked: Asked,
    steps: int, h: float, count: int | None,
) -> Rolling:  # fmt: skip
    """The model, and everything that robots are given, checked."""
    given = named(asked.parameters, "parameters")
    own = {name: value for name, value in given.items() if not name.startswith(PREFIX)}
    theirs = {name: value for name, value in given.items() if name not in own}
    inputs = named(asked.inputs, "inputs")
    model, numbers = standing(robot, terrain, mode, inputs, theirs)
    steps_of(model.clocks, h, "dt", "step")
    told = inputs_told(model, inputs, steps, h)
    warn_of_references(model.robot, model.inputs, told)
    lanes = ground_lanes(model, Asked(asked.initial, told, own), numbers, count)
    return Rolling(model, lanes.settled(), lanes.inputs, lanes.parameters, h, lanes.count)


def standing(
    robot: Robot, terrain: Terrain | Mapping[str, object], mode: Mode, inputs: Iterable[str],
    theirs: Mapping[str, NumbersLike],
) -> tuple[GroundModel, dict[str, Floats]]:  # fmt: skip
    """The model, whose parameters are `theirs` as well, the terrain's numbers by name; and what robots have for them.

    In a kinematic model the speeds among the `inputs` are told.
    """
    ground = with_maps(terrain if isinstance(terrain, Terrain) else parse_terrain(named(terrain, "terrain")))
    if robot.urdf is not None:
        from trundle.documents.urdf.feet import with_feet  # late, as in `traverse`

        robot = with_feet(robot)
    ground, varied, numbers = varied_ground(ground, theirs)
    rates = rates_among(robot, inputs) if mode == "kinematic" else ()
    model = derive_on(robot, ground, mode, "exponential", rates, varied)
    require_standing(model)
    return model, numbers


@dataclass(frozen=True)
class GroundLanes:
    """`count` robots that begin on a terrain: states (states, robots), inputs and parameters by name.

    yaw: where they point (robots,), None where their whole pose was given.
    """

    model: GroundModel
    states: FloatArray
    yaw: FloatArray | None
    inputs: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    count: int

    def settled(self, lost: np.ndarray | None = None) -> FloatArray:
        """The states on the ground; see `settled_lanes`. Raises InputError for soil that can't carry a robot."""
        if self.model.mode == "dynamic":
            require_carried(self.model.robot, self.parameters, lost)
        if self.yaw is None:
            return self.states
        rows = lane_numbers(self.parameters, 0, slice(0, self.count))
        inputs = np.zeros(len(self.model.inputs))
        return settled_lanes(self.model, self.states, self.yaw, inputs, rows, lost)


def ground_lanes(
    model: GroundModel, asked: Asked, numbers: Mapping[str, Floats], count: int | None
) -> GroundLanes:
    """What was given, completed and checked; `numbers` are the terrain's. Inputs are those of `inputs_told`."""
    u = complete(dict.fromkeys(model.inputs, 0.0), asked.inputs or {}, "input", model)
    p = parameters_told(model, asked.parameters or {}) | dict(numbers)
    initial = dict(named(asked.initial, "initial"))
    given = (*initial,)
    angles = {name: column(f"run.initial.{name}", initial.pop(name, 0.0), "rad", 1) for name in ANGLES}
    initial |= turned(given, angles)
    x = complete({name: model.quantities[name].start for name in model.states}, initial, "state", model)
    size = common_size(count, x, u, p, angles)
    model.quantities.check_start(x)
    start = np.array([np.broadcast_to(x[name], (size,)) for name in model.states], dtype=np.float64)
    yaw = None if is_posed(given) else np.array(np.broadcast_to(angles["yaw"], (size,)), dtype=np.float64)
    return GroundLanes(model, start, yaw, u, p, size)


def _batch(rolling: Rolling, taken: np.ndarray, values: FloatArray, summary: Mapping[str, object]) -> Batch:
    """What was stored, with what became of the robots."""
    model, time = rolling.model, np.asarray(taken) * rolling.step
    shown = tuple(
        name for name in model.states if not name.startswith(REMEMBERED)
    )  # what steps remember is behind them
    wheels = mechanism(model.robot, terrain=True).assembly.wheels
    rows = {name: values[:, row] for row, name in enumerate(shown)}
    ended, gone = fates(time, rows, wheels), is_beyond(model.terrain, rows)
    plain = {name: float(value) for name, value in rolling.parameters.items() if np.ndim(value) == 0}
    return Batch(
        name=model.robot.name,
        time=time,
        states=shown,
        values=values[:, : len(shown)],
        units={name: model.units[name] for name in shown},
        parameters=rolling.parameters,
        description={
            "yaml": dump(model.robot, terrain=model.terrain),
            "parameters": plain,
            "maps": carried(model.terrain),
        },
        summary={
            **summary,
            "diverged": diverged(values, time, model.robot.name),
            # Beyond its map a robot falls.
            "overturned": int((ended.overturned & ~gone).sum()),
            "stuck": int((ended.stuck & ~gone).sum()),
            "beyond_map": int(gone.sum()),
        },
        outputs=model.outputs,
        observer=partial(rolling.observed, values, taken),
    )
