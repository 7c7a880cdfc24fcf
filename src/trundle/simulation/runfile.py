"""What a file's `run:` section asks for: `trundle.run` does what the command `trundle run` does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import MOST_SAMPLES
from trundle.documents import Document, FileTable, RunSpec, Table
from trundle.documents.reader import require_masses
from trundle.errors import InputError
from trundle.model import Model
from trundle.model.arguments import Given, named, opened, robot_of
from trundle.model.opening import ground_of, plant_of
from trundle.model.placed import placed
from trundle.model.plant import Plant
from trundle.operating_system import with_slashes
from trundle.progress import Doing
from trundle.results import Run
from trundle.robot import Controller, Robot, require_dynamic
from trundle.simulation.columns import read_column
from trundle.simulation.dynamic import dynamic_problem, require_no_integrator
from trundle.simulation.kinematic import TOLERANCE, kinematic_problem
from trundle.simulation.options import RunOptions, options_of, positive
from trundle.simulation.problem import Problem
from trundle.simulation.signals import Input, Inputs

if TYPE_CHECKING:
    from trundle.simulation.stepping import SteppedProblem

# Options of a run section that say how equations are integrated.
_INTEGRATORS = ("method", "rtol", "atol", "max_step")


@dataclass(frozen=True)
class Changes:
    """What is laid over a run section: the arguments of `run`. None leaves what is there."""

    parameters: Mapping[str, float | str] | None = None
    inputs: Inputs | None = None
    initial: Mapping[str, float | str] | None = None
    duration: float | str | None = None
    method: str | None = None
    samples: int | None = None
    rtol: float | None = None
    atol: float | None = None
    max_step: float | str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Task:
    """A run before it is run: what its run section says, and the problem and options that come of it and of changes.

    changed: the parameters that don't have the description's values. started: the states that were given.
    """

    spec: RunSpec
    problem: Problem | SteppedProblem
    changed: tuple[str, ...]
    started: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def model(self) -> Model | None:
        """The model of a run with forces on a plane; None where the wheels' motions are given, and over terrain."""
        return self.problem.system if isinstance(self.problem.system, Model) else None

    @property
    def integrated(self) -> Problem:
        """The problem, where its equations are integrated; InputError for steps over terrain."""
        if isinstance(self.problem, Problem):
            return self.problem
        name = self.problem.system.name
        message = f"'{name}' goes over terrain by steps that no browser and no window takes"
        hint = "a page of its run shows it: trundle show --page FILE; trundle sweep rolls many"
        raise InputError(message, key="terrain", hint=hint)

    def run(self, progress: bool | Callable[[float], None] = False) -> Run:
        """Run it."""
        return self.problem.solve(progress)


def run(
    given: Given,
    *,
    parameters: Mapping[str, float | str] | None = None,
    inputs: Inputs | None = None,
    initial: Mapping[str, float | str] | None = None,
    controllers: Mapping[str, Controller | Mapping[str, object]] | None = None,
    duration: float | str | None = None,
    method: str | None = None,
    samples: int | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | str | None = None,
    seed: int | None = None,
    base: str | None = None,
    progress: bool | Callable[[float], None] = True,
) -> Run:
    """Run what a file or a description says, as the command `trundle run` does, with some of it changed.

    Parameters
    ----------
    given : path, mapping, Document, Robot or Model
        A description file (YAML or URDF), or what such a file would hold. Its run
        section says whether forces move the robot (`simulate`) or the motions of its wheels are given (`roll`).
    parameters : mapping of str to number or str
        Changed values by name, beside those that the run section sets; in SI or as text with units.
    inputs : mapping of str to number, str, function, Signal or tuple; or function
        Inputs by name, beside those of the run section, as in `simulate`; a function of all replaces them.
    initial : mapping of str to number or str
        States at the start by name, beside those of the run section.
    controllers : mapping of str to Controller or mapping
        What drives its inputs, by name, beside the controllers that the description has. Inputs of the run section that
        they drive are theirs.
    duration : float or str, s
        How long; by default as the run section says, or 10 s.
    method : {"auto", "lsoda", "radau", "bdf", "dop853", "rk45", "rk23"}
        The integrator; by default as the run section says, or auto (see `simulate`).
    samples : int
        How many equal times to store; by default as the run section says, or 1001.
    rtol, atol : float
        Bounds on a step's error; by default as the run section says, or the method's own.
    max_step : float or str, s
        The longest step, as in `simulate`.
    seed : int
        Of sensors' noise, as in `simulate`; by default as the run section says, or 0.
    progress : bool or callable
        Whether to show progress after a second's work where a person watches (a terminal or a notebook), or what to
        call with the share done (0 to 1).
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Run
        What came out, over time.

    Raises
    ------
    InputError
        For what doesn't fit, with file, line and key where it stands in a file.
    NumericsError
        Where the numbers fail, saying when.

    Examples
    --------
    >>> import trundle
    >>> described = trundle.catalog.document("differential_drive").source
    >>> _ = open("robot.yaml", "w").write(described)
    >>> run = trundle.run("robot.yaml", duration="1 s", parameters={"d": "10 cm"})
    >>> run.duration, run.description["parameters"]["d"]
    (1.0, 0.1)
    """
    changes = Changes(parameters, inputs, initial, duration, method, samples, rtol, atol, max_step, seed)
    with Doing(progress, "deriving the model"):
        described = opened(given, "run", base)
        task = task_of(_with_controllers(described, controllers) if controllers else described, changes)
    return task.run(progress)


def _with_controllers(
    described: Robot | Model | Document, controllers: Mapping[str, Controller | Mapping[str, object]]
) -> Robot | Document:
    """The same with further controllers, whose inputs the run section gives no more."""
    if not isinstance(described, Document):
        return robot_of(described, "run", "controllers drive described robots").with_controllers(controllers)
    robot, spec = described.robot.with_controllers(controllers), described.run
    if spec is not None and spec.mode == "kinematic":
        raise InputError(
            "controllers drive motors, and the run section gives the wheels' motions",
            key="controllers",
            hint="mode: dynamic",
        )
    if spec is not None:
        driven = {name for each in placed(robot) if each.name in controllers for name in each.drives}
        inputs = {name: given for name, given in spec.inputs.items() if name not in driven}
        spec = spec.model_copy(update={"inputs": inputs})
    return replace(described, robot=robot, run=spec)


def task_of(given: Given, changes: Changes | None = None) -> Task:
    """What a file or a description says with changes laid over it, checked and ready to run.

    Raises InputError: its key is the changes' ("inputs.left.rate", "duration"), or leads to the file and the line.
    """
    described, changes = opened(given, "run"), changes or Changes()
    document = described if isinstance(described, Document) else None
    spec = (document.run if document is not None else None) or RunSpec.model_validate({})
    folder = Path() if document is None or document.path is None else document.path.parent
    try:
        return _task(described, spec, folder, changes)
    except InputError as error:
        raise _placed(error, document, spec, changes) from error.__cause__


def _task(described: Robot | Model | Document, spec: RunSpec, folder: Path, changes: Changes) -> Task:
    """The problem that a run section describes, with the caller's changes over what the section says."""
    initial = {**spec.initial, **named(changes.initial, "initial")}
    parameters = {**spec.set, **named(changes.parameters, "parameters")}
    ground = ground_of(described, None)
    if spec.mode == "kinematic" and ground is None:
        robot = robot_of(described, "run", "it has no wheels to roll on")
        asked = _by_name(spec, folder, changes.inputs)
        problem = kinematic_problem(robot, asked, initial, parameters, _options(spec, changes))
        return Task(spec, problem, tuple(parameters), initial)
    if ground is None and isinstance(described, Document) and described.run is None:
        # nobody has asked for forces before
        require_masses(described, described.robot.parameter_values(parameters))
    robot, given = described if isinstance(described, Robot) else described.robot, changes.inputs
    tracked = () if robot is None else robot.controllers
    inputs = given if callable(given) else _by_name(spec, folder, given, tracked)
    plant, own = plant_of(
        described, "run", parameters, terrain=ground, mode=spec.mode, attitude=spec.attitude,
        inputs=() if callable(inputs) else inputs,
    )  # fmt: skip
    if not isinstance(plant, Model):
        problem = _stepped(plant, spec, changes, inputs, initial, own)
        return Task(spec, problem, tuple(own), initial)
    if own and plant.robot is not None:  # with them a mass may have become zero
        require_dynamic(plant.robot, plant.robot.parameter_values(own))
    problem = dynamic_problem(plant, inputs, initial, own, _options(spec, changes))
    return Task(spec, problem, tuple(own), initial)


def _stepped(
    plant: Plant,
    spec: RunSpec,
    changes: Changes,
    inputs: Inputs,
    initial: Mapping[str, float | str],
    parameters: Mapping[str, float | str],
) -> SteppedProblem:
    """The run of a plant that goes by steps of its own and takes no integrator's options."""
    from trundle.simulation.stepping import stepped_problem  # late: most robots stand on a plane

    said = {name: getattr(spec, name) for name in _INTEGRATORS if name in spec.model_fields_set}
    require_no_integrator(plant, **{name: getattr(changes, name) or said.get(name) for name in _INTEGRATORS})
    duration = spec.duration if changes.duration is None else changes.duration
    samples = spec.samples if changes.samples is None else changes.samples
    if spec.rate is not None and changes.samples is None:
        samples = int(positive(duration, "run.duration", "s") * spec.rate) + 1
    return stepped_problem(
        plant, inputs, initial, parameters, duration=duration, step=spec.step, samples=samples,
        seed=spec.seed if changes.seed is None else changes.seed,
    )  # fmt: skip


def _placed(error: InputError, document: Document | None, spec: RunSpec, changes: Changes) -> InputError:
    """The error with its place: the change that gave it, or else file and line."""
    key = error.key or ""
    if key in spec.set or (isinstance(changes.parameters, Mapping) and key in changes.parameters):
        key = f"run.set.{key}"
    for section, given in vars(changes).items():
        names = [f".{name}" for name in given] if isinstance(given, Mapping) else [""] * (given is not None)
        for name in names:
            place = f"run.{'set' if section == 'parameters' else section}{name}."
            if f"{key}.".startswith(place):
                return InputError(error.message, key=f"{section}{name}", hint=error.hint)
    error = InputError(error.message, file=error.file, line=error.line, key=key or None, hint=error.hint)
    return error if document is None else document.locate(error)


def _options(spec: RunSpec, changes: Changes) -> RunOptions:
    """Times, method and tolerances: as changed, or as the run section says."""
    said = spec.model_dump(include={"duration", "samples", "method", "rtol", "atol", "seed"})
    sections = ("parameters", "inputs", "initial")
    said |= {name: new for name, new in vars(changes).items() if new is not None and name not in sections}
    if spec.rate is not None and changes.samples is None:
        said["times"] = _periods(positive(said["duration"], "run.duration", "s"), spec.rate)
    return options_of(**said, tolerance=TOLERANCE if spec.mode == "kinematic" else None)


def _periods(duration: float, rate: float) -> FloatArray:
    """Every k/rate up to the end, and the end itself."""
    if duration * rate > MOST_SAMPLES:
        raise InputError(
            f"more than {MOST_SAMPLES} samples", key="run.rate", hint="lower the rate or the duration"
        )
    # A whole number of periods that rounding made a little less still counts as whole.
    count = int(np.floor(duration * rate * (1 + 1e-12)))
    times = np.minimum(np.arange(count + 1) / rate, duration)
    return times if times[-1] >= duration else np.append(times, duration)


def _by_name(
    spec: RunSpec, folder: Path, given: Inputs | None, tracked: Collection[str] = ()
) -> dict[str, Input]:
    """The run section's inputs with those of the caller over them; InputError for a function of all."""
    changed = named(cast("Mapping[str, Input] | None", given), "inputs")
    return {**_signals(spec, folder, changed, tracked), **changed}


def _signals(
    spec: RunSpec, folder: Path, replaced: Collection[str], tracked: Collection[str]
) -> dict[str, Input]:
    """The run section's inputs but those `replaced`, tables in files read from the description's folder; of what
    controllers `tracked` follow the files themselves.
    """
    inputs: dict[str, Input] = {}
    for name, signal in spec.inputs.items():
        if name in replaced:
            continue
        if isinstance(signal, FileTable) and name in tracked:
            inputs[name] = cast("Input", folder / with_slashes(signal.file))
        elif isinstance(signal, FileTable):
            inputs[name] = read_column(signal, name, folder, f"run.inputs.{name}")
        elif isinstance(signal, Table):
            inputs[name] = (signal.times, signal.values, signal.interpolation)
        else:
            inputs[name] = signal
    return inputs
