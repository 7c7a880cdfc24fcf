"""A run over terrain: from step to step in native code, and what the ground did at the times that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import ATTITUDES, MODES, Attitude, Mode
from trundle.documents import Document
from trundle.documents.height_files import with_maps
from trundle.errors import InputError, require_known, suggest
from trundle.model.arguments import Given, named, number, opened, robot_of
from trundle.model.ground_checks import require_carried
from trundle.model.ground_model import GroundModel, derive_on
from trundle.model.ground_motion import STEP
from trundle.model.placed import placed, require_undriven, warn_of_references
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import compile_program
from trundle.program.rollout import rollout as native
from trundle.progress import Doing, Progress, Stopwatch
from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.terrain import Terrain, parse_terrain
from trundle.simulation.beyond_maps import beyond, first_beyond
from trundle.simulation.draws import noise_of
from trundle.simulation.dynamic import with_references
from trundle.simulation.ground_energy import EnergyBooks
from trundle.simulation.ground_numbers import with_numbers
from trundle.simulation.ground_run import failed, first_lost, run_of
from trundle.simulation.options import positive, whole
from trundle.simulation.problem import signals_of
from trundle.simulation.sampling import steps_of
from trundle.simulation.settling import check_outside, settled
from trundle.simulation.signals import Input, Signal
from trundle.simulation.start_pose import ANGLES, is_posed, turned, warn_of_start
from trundle.simulation.unstable_loops import unstable_loops

# The length of a step where nobody says another (s): wheels of 0.3 m at 1 m/s turn by 2 degrees in it.
STEP_SECONDS = 0.01
# How near to a whole number of steps a duration must be.
_WHOLE = 1e-9
# What every step leaves, inputs and energies, takes some 100 bytes.
_MOST = 100_000_000
# Steps that are taken and looked at together.
_BLOCK = 4096
# Contacts and springs that a base needs to stand on.
_STANDS = 3


@dataclass(frozen=True)
class GroundProblem:
    """A run over terrain, ready to go: who, by which inputs, from where, how many steps of what length.

    `every` is how many steps lie between stored times.
    """

    system: GroundModel
    signals: Mapping[str, Signal]
    parameters: Mapping[str, float]
    start: FloatArray
    step: float
    steps: int
    every: int
    derive_seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many times are stored."""
        return -(-self.steps // self.every) + 1

    @property
    def numbers(self) -> FloatArray:
        """The parameters in order."""
        return np.array(list(self.parameters.values()))

    def inputs_at(self, times: FloatArray) -> FloatArray:
        """The inputs (times, inputs), held over a step."""
        rows = [
            self.signals[name].sample(times) if name in self.signals else np.zeros(times.shape)
            for name in self.system.inputs
        ]
        return np.array(rows).T.reshape(times.size, len(rows))

    def solve(self, progress: bool | Callable[[float], None]) -> Run:
        """The run; raises NumericsError with time and wheel where numbers fail."""
        clock = Stopwatch()
        clock.begin("compile_seconds")
        inputs = self.inputs_at(self.step * np.arange(self.steps + 1, dtype=float))
        inputs = inputs if np.ptp(inputs, axis=0).any() else inputs[:1]
        self._advanced(self.start, inputs[:2], min(len(inputs), 2), lambda _: None)
        clock.begin("simulate_seconds")
        with Progress(progress, self.steps, f"driving {self.system.robot.name}", "steps") as bar:
            rows, books = self._driven(inputs, bar.fraction)
        time = self.step * np.minimum(self.every * np.arange(self.count, dtype=float), self.steps)
        clock.begin("")
        loops = unstable_loops(self, *rows[:2])
        return run_of(self, time, rows, books, {**clock.seconds(), **loops})

    def _driven(
        self, inputs: FloatArray, fraction: Callable[[float], None]
    ) -> tuple[tuple[FloatArray, FloatArray, FloatArray], EnergyBooks | None]:
        """States, inputs and outputs (rows, times) that are stored, and what energy did in every step.

        One step more than there are is taken: what the ground does at the last time is that of the step that begins
        there.
        """
        state, found, energy = self.start, list[tuple[FloatArray, ...]](), list[FloatArray]()
        begin = 0
        while begin <= self.steps:
            left = self.steps + 1 - begin
            count = left if left <= _BLOCK + 1 else _BLOCK  # a single step would be other code
            given = inputs[begin : begin + count] if len(inputs) > 1 else inputs
            done = begin / (self.steps + 1)
            passed = self._advanced(
                state, given, count, lambda part, done=done: fraction(done + part * (1 - done))
            )
            given = np.broadcast_to(given.T, (given.shape[1], count))
            outputs = self._observed(passed, given)
            self._check(begin, passed, given, outputs)
            number = begin + np.arange(count)
            stored = (number % self.every == 0) | (number == self.steps)
            found.append((passed[:, :-1][:, stored], given[:, stored], outputs[:, stored]))
            if self.system.mode == "dynamic":
                energy.append(EnergyBooks.read(self.system.outputs, outputs))
            state, begin = passed[:, -1], begin + count
        states, told, outputs = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
        return (states, told, outputs), EnergyBooks.of(self.step, self.every, energy) if energy else None

    def _check(self, begin: int, passed: FloatArray, given: FloatArray, outputs: FloatArray) -> None:
        """Raise InputError where a wheel has left all maps, NumericsError where states are no numbers; `passed` are the
        states from step `begin` on, inputs and outputs those of the steps between them.
        """
        lost = min(first_lost(passed), outputs.shape[1])
        time = self.step * np.arange(begin, begin + lost, dtype=np.float64)
        self._check_ground(time, passed, outputs[:, :lost])
        if lost < outputs.shape[1]:
            unstable_loops(self, passed[:, :lost], given[:, :lost])
            raise failed(self, time, passed[:, :lost], outputs[:, :lost])

    def _check_ground(self, time: FloatArray, states: FloatArray, outputs: FloatArray) -> None:
        """Raise InputError where a wheel has left all maps."""
        model = self.system
        shown = dict(zip(model.outputs, outputs, strict=True))
        # Those of the nearest ground: a wheel beyond a map may stand on something else.
        named = ((name, f"{name}.sinkage") for name in model.gaps.outputs[0].labels)
        gone = first_beyond(
            model.terrain, {name: shown[sinkage] for name, sinkage in named if sinkage in shown}
        )
        if gone is not None:
            place, wheel = gone
            x, y = (float(states[model.states.index(name), place]) for name in "xy")
            raise beyond(model.terrain, wheel, f"at t = {time[place]:g} s", x, y)

    def _advanced(
        self, start: FloatArray, inputs: FloatArray, steps: int, fraction: Callable[[float], None]
    ) -> FloatArray:
        """The states before and after every step (states, steps + 1); inputs (steps, inputs), or (1, inputs) that stay.

        Two lanes in place of one, and inputs that stay without an axis of time: then it is one code for all.
        """
        model = self.system
        groups = {
            INPUT: np.repeat(inputs[:, :, None], 2, axis=2) if model.inputs else np.zeros(0),
            PARAMETER: self.numbers,
            STEP: [self.step],
        }
        found = native(
            model.still, np.repeat(start[:, None], 2, axis=1), groups, dt=1.0, steps=steps,
            progress=fraction, projection=model.step, quick=True,
        )  # fmt: skip
        return found.states[:, :, 0].T

    def _observed(self, passed: FloatArray, inputs: FloatArray) -> FloatArray:
        """The outputs (outputs, steps) of steps between states (states, steps + 1) that were passed."""
        model = self.system
        groups = [
            np.ascontiguousarray(passed[:, :-1]),
            np.ascontiguousarray(inputs),
            self.numbers,
            np.array([self.step]),
        ]
        if len(model.observe.inputs) > len(groups):
            rows = [model.states.index(name) for name in model.observe.inputs[-1].labels]
            groups.append(np.ascontiguousarray(passed[rows, 1:]))
        return compile_program(model.observe)(*groups, often=False)[0]


def traverse(
    robot: Given,
    terrain: Terrain | Mapping[str, object] | None = None,
    duration: float | str = 10.0,
    inputs: Mapping[str, Input] | None = None,
    *,
    mode: Mode = "dynamic",
    step: float | str = STEP_SECONDS,
    attitude: Attitude = "exponential",
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    samples: int = 1001,
    seed: int = 0,
    progress: bool | Callable[[float], None] = True,
) -> Run:
    """The motion of a robot on wheels or feet over terrain, by steps x⁺ = F(x, u, p, h) of one length.

    Kinematic: A ν = v says that every contact neither slips nor leaves its depth; ν by least squares, what motors drive
    given. Dynamic: carried momenta change by the forces at the step's end, (p⁺ − p)/h = τ(ν⁺), by Newton's method,
    and with them the laws of controllers without a period. Loops that are unstable are warned of: a step may hide them.
    Inertia makes no energy; in flight momenta are kept to rounding. Runs are of the first order in the step's
    length where contacts act, of the second in flight; `summary["energy"]` says whether a step is short enough.

    Parameters
    ----------
    robot : Robot, Document, path or mapping
        What drives; its base floats, also where the description says planar.
    terrain : Terrain or mapping, optional
        The ground, as under `terrain:` in a file; by default the file's, or flat ground.
    duration : float or str, s
        How long; a whole number of steps.
    inputs : mapping of str to number, str, function, Signal or tuple
        Inputs by name, as in `simulate`, held over a step. Kinematic runs also take rates by the speed's name.
    mode : {"dynamic", "kinematic"}
        Whether forces move it, or the motors' rates are given and wheels don't slip.
    step : float or str, s
        Length of a step.
    attitude : {"exponential", "euler_angles"}
        The kind of step: by momenta, or (euler_angles) that of Seegmiller's library, whose published rows it repeats:
        speeds in the base's axes, roll, pitch and yaw by their rates. It makes energy where a base turns fast.
    initial : mapping of str to number or str
        States by name, and `yaw` (rad). The robot settles onto the ground, unless z or its quaternion is given; beside
        z also `roll` and `pitch` (rad).
    parameters : mapping of str to number or str
        Changed values by name, the terrain's, too: "terrain.surfaces.hill.height", "terrain.seed".
    samples : int
        How many times to store at most; the last one always is.
    seed : int
        Of the noise of sensors that an estimator in the robot reads.
    progress : bool or callable
        Whether to show progress, or what to call with the share done.

    Returns
    -------
    Run
        States, and by wheel sinkage, slip, load and forces; forces are those of the step that begins at a time.

    Raises
    ------
    InputError
        For what doesn't fit, a robot without wheels and feet, ground on which it can't stand.
    NumericsError
        Where numbers fail, with time, place and wheel.

    Examples
    --------
    >>> import trundle
    >>> slope = {"surfaces": {"slope": {"type": "plane", "slope": "5 deg"}}, "sinkage": "1 cm"}
    >>> talon = trundle.catalog.talon(curvature=0)
    >>> run = trundle.traverse(talon, slope, 1.0, mode="kinematic", step=0.02)
    >>> round(float(run["z"][-1] - run["z"][0]), 4)
    0.0436

    References
    ----------
    N. Seegmiller and A. Kelly, "High-Fidelity Yet Fast Dynamic Models of Wheeled Mobile Robots", IEEE T-RO 32(3), 2016.
    """
    source = opened(robot, "traverse")
    if terrain is None:
        terrain = (source.terrain if isinstance(source, Document) else None) or {}
    ground = with_maps(parse_terrain(terrain if isinstance(terrain, Terrain) else named(terrain, "terrain")))
    problem = ground_problem(
        robot_of(source, "traverse", "it has no description"), ground, inputs,
        duration=duration, mode=mode, step=step, attitude=attitude, initial=initial, parameters=parameters,
        samples=samples, seed=seed,
    )  # fmt: skip
    return problem.solve(progress)


def ground_problem(
    robot: Robot,
    terrain: Terrain,
    inputs: Mapping[str, Input] | None,
    *,
    duration: float | str,
    mode: Mode,
    step: float | str,
    attitude: Attitude,
    initial: Mapping[str, float | str] | None,
    parameters: Mapping[str, float | str] | None,
    samples: int,
    seed: int,
) -> GroundProblem:
    """A run over terrain, checked; the arguments are those of `traverse`."""
    require_known(mode, MODES, f"unknown mode {mode!r}", key="run.mode")
    require_known(attitude, ATTITUDES, f"unknown attitude {attitude!r}", key="run.attitude")
    h, seconds = positive(step, "run.step", "s"), positive(duration, "run.duration", "s")
    steps = round(seconds / h)
    if steps < 1 or abs(steps * h - seconds) > _WHOLE * seconds:
        near = max(steps, 1) * h
        message = f"{seconds:g} s is no whole number of steps of {h:g} s"
        raise InputError(message, key="run.duration", hint=f"the nearest is {near:g} s")
    if steps > _MOST:
        message = f"{seconds:g} s in steps of {h:g} s is {steps:.3g} steps, more than memory has room for"
        hint = f"take steps of at least {seconds / _MOST:.2g} s: they are implicit, and 0.02 s often does"
        raise InputError(message, key="run.step", hint=hint)
    whole(samples, "samples", 2)
    given = named(inputs, "inputs")
    terrain, own = with_numbers(terrain, named(parameters, "parameters"))
    began = perf_counter()
    if robot.urdf is not None:
        from trundle.documents.urdf.feet import with_feet  # late: a YAML file's run doesn't wait for URDF

        robot = with_feet(robot)
    with Doing(True, f"deriving {robot.name}"):
        model = derive_on(
            robot, terrain, mode, attitude, rates_among(robot, given) if mode == "kinematic" else ()
        )
    taken = perf_counter() - began
    given = with_references(model.robot, given)
    require_undriven(model.robot, given, "run.inputs.")
    warn_of_references(model.robot, model.inputs, given)
    units = {name: model.quantities.units.get(name, "") for name in model.inputs}
    require_standing(model)
    steps_of(model.clocks, h, "run.step", "step")
    noise = noise_of(model.robot, whole(seed, "seed", 0), seconds)
    signals = noise | signals_of(given, units, robot.name)
    values = model.robot.parameter_values(own)
    every = -(-steps // (samples - 1))
    problem = GroundProblem(model, signals, values, np.zeros(0), h, steps, every, taken)
    return replace(problem, start=_start(problem, named(initial, "initial")))


def require_standing(model: GroundModel) -> None:
    """Raise InputError where contacts alone lead a base, and are too few."""
    count = model.gaps.outputs[0].size
    if model.mode == "kinematic" and count < _STANDS:
        raise InputError(
            f"'{model.robot.name}' touches the ground at {count} points: nothing says how it pitches",
            key="robot.wheels",
            hint="describe what else it stands on, such as a caster or a ball: {type: ball, at: [...], radius: ...}",
        )


def rates_among(robot: Robot, given: Iterable[str]) -> tuple[str, ...]:
    """The speeds among the inputs that a kinematic run is given."""
    motors = {f"{name}.{motor.command}" for name, motor in robot.motors.items()}
    references = {full for each in placed(robot) for full in each.references.values()}
    return tuple(name for name in given if name not in {*motors, *references, *robot.controllers})


def _start(problem: GroundProblem, given: Mapping[str, float | str]) -> FloatArray:
    """The state where the run begins: as given, on the ground."""
    model = problem.system
    known = {name: model.quantities[name].start for name in model.states}
    angles = dict[str, float]()
    for name, value in given.items():
        key = f"run.initial.{name}"
        if name in ANGLES:
            angles[name] = number(value, key, "rad")
        elif name in known:
            known[name] = number(value, key, model.quantities[name].unit)
        else:
            message = f"'{name}' is no state of '{model.robot.name}' on terrain"
            raise InputError(message, key=key, hint=suggest(name, [*known, *ANGLES]))
    known |= turned(given, angles)
    posed = is_posed(given)
    if model.mode == "dynamic":
        require_carried(model.robot, problem.parameters)
    if not posed:
        inputs = np.zeros(len(model.inputs))
        known = settled(model, known, angles.get("yaw", 0.0), inputs, problem.numbers)
    model.quantities.check_start(known)
    check_outside(model, known, problem.parameters, posed=posed)
    warn_of_start(model.robot, problem.signals, known)
    return np.array([known[name] for name in model.states])
