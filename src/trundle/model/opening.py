"""The plant that a verb is asked to lead: the one place that knows that a terrain makes another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trundle.choices import Attitude, Mode
from trundle.documents import Document
from trundle.errors import InputError
from trundle.model.arguments import Given, model_of, named, opened, robot_of
from trundle.model.model import Model
from trundle.model.placed import placed
from trundle.model.plant import Plant, Rates
from trundle.progress import Doing
from trundle.robot import Robot

if TYPE_CHECKING:
    from trundle.robot.terrain import Terrain


def ground_of(source: object, terrain: Terrain | Mapping[str, object] | None) -> Terrain | None:
    """The ground that is meant: what was given, else the file's; with the heights of its maps. None is a plane."""
    if terrain is None:
        terrain = source.terrain if isinstance(source, Document) else None
    if terrain is None:
        return None
    from trundle.documents.height_files import with_maps  # late: most robots stand on a plane
    from trundle.robot.terrain import Terrain, parse_terrain

    return with_maps(terrain if isinstance(terrain, Terrain) else parse_terrain(named(terrain, "terrain")))


def source_of(given: Given | Plant, call: str, base: str | None = None) -> Robot | Document | Plant:
    """What was given, or what a file or a mapping describes. Raises InputError for what leads to no plant."""
    if isinstance(given, Plant) and not isinstance(given, Model):
        if base is not None:
            raise InputError(f"'{given.name}' is no description", key="base", hint="leave it away")
        return given
    return opened(given, call, base)


def plant_of(
    given: Given | Plant,
    call: str,
    parameters: Mapping[str, Any],
    *,
    base: str | None = None,
    terrain: Terrain | Mapping[str, object] | None = None,
    mode: Mode = "dynamic",
    attitude: Attitude = "exponential",
    inputs: Iterable[str] = (),
    varied: bool = False,
) -> tuple[Plant, Mapping[str, Any]]:
    """What moves, and the parameters that are left to give it: numbers of the terrain ("terrain.surfaces.hill.height")
    are put into it, or, `varied`, become parameters. In a kinematic run over ground speeds among the `inputs` are
    given. Raises InputError for what is no plant, naming the `call`.
    """
    source = source_of(given, call, base)
    ground = ground_of(source, terrain)
    if ground is None:
        if mode != "dynamic":
            hint = "trundle.roll moves a robot on a plane by the rates of its wheels"
            raise InputError(f"mode: {mode} needs a terrain", key="mode", hint=hint)
        if not isinstance(source, Plant) or isinstance(source, Model):
            return model_of(source, call), parameters
        if isinstance(source.motion, Rates):
            message = f"the rates of '{source.name}' are given, and no forces move it"
            raise InputError(message, hint="trundle.roll takes its robot")
        return source, parameters
    if not isinstance(source, Plant):
        robot = robot_of(source, call, "it has no wheels")
    elif source.robot is not None:
        robot = source.robot
    else:
        raise InputError(f"'{source.name}' has no description that could stand on a terrain", key="terrain")
    rates = rates_among(robot, inputs) if mode == "kinematic" else ()
    from trundle.model.ground_model import derive_on  # late: most robots stand on a plane
    from trundle.model.terrain_numbers import PREFIX, with_numbers

    with Doing(True, f"deriving {robot.name}"):
        if varied:
            numbers = {name: value for name, value in parameters.items() if name.startswith(PREFIX)}
            return derive_on(robot, ground, mode, attitude, rates, numbers), parameters
        ground, parameters = with_numbers(ground, parameters)
        return derive_on(robot, ground, mode, attitude, rates), parameters


def rates_among(robot: Robot, given: Iterable[str]) -> tuple[str, ...]:
    """The speeds among the inputs that a kinematic run is given."""
    motors = {f"{name}.{motor.command}" for name, motor in robot.motors.items()}
    references = {full for each in placed(robot) for full in each.references.values()}
    return tuple(name for name in given if name not in {*motors, *references, *robot.controllers})
