"""What `sweep` is asked for, checked: the work of robots on a plane, or over a terrain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from trundle.choices import MODES, Mode
from trundle.documents import Document
from trundle.documents.height_files import with_maps
from trundle.errors import InputError, require_known
from trundle.expected import a_count
from trundle.gpu.devices import Device
from trundle.model import Model
from trundle.model.arguments import model_of, named, robot_of
from trundle.robot import Robot
from trundle.robot.terrain import Terrain, parse_terrain
from trundle.simulation.ground_rollout import standing
from trundle.simulation.lanes import NumbersLike
from trundle.simulation.sampling import warn_of_period
from trundle.sweeps.cases import NOISE, Cases, cases_of
from trundle.sweeps.design import Design, Draws
from trundle.sweeps.ground_work import Ground, GroundWork, units_over
from trundle.sweeps.measures import measure_texts, measures_of
from trundle.sweeps.variation import variation
from trundle.sweeps.work import Work, units_of


class Asked(NamedTuple):
    """What `sweep` is told of robots and their motion."""

    over: object
    measures: Sequence[str]
    drawn: tuple[object, Draws, object]
    initial: Mapping[str, NumbersLike]
    inputs: Mapping[str, NumbersLike]
    parameters: Mapping[str, NumbersLike]
    steps: int
    dt: float
    device: Device

    @property
    def varied(self) -> Mapping[str, object]:
        """What varies, by name."""
        given = named(cast("Mapping[str, object]", self.over), "over")
        if not given:
            hint = 'such as {"r": "0.14:0.16:101", "body.mass": "uniform(40, 60)"}'
            raise InputError("nothing varies", key="over", hint=hint)
        return given

    def design(self, given: Mapping[str, object], unit: Callable[[str], str]) -> Design:
        """Which robots there are, where this varies; `unit` says that of a name."""
        varied = {name: variation(value, name, unit(name)) for name, value in given.items()}
        samples, draws, seed = self.drawn
        return Design(varied, a_count(samples, "samples", 1), draws, a_count(seed, "seed", 0))


def on_plane(source: Robot | Model | Document, told: Asked) -> Work:
    """The work of robots without a terrain."""
    model = model_of(source, "sweep")
    units = units_of(model)
    cases, varied = cases_of(model, told.varied, told.steps, told.dt)
    design = told.design(varied, lambda name: units.get(name, ""))
    work = Work(
        model, design, measures_of(model, told.measures),
        dict(told.initial), dict(told.inputs), dict(told.parameters), told.steps, told.dt, told.device, cases,
    )  # fmt: skip
    warn_of_period(model, told.steps * told.dt, "a sweep")
    return work


def on_ground(
    source: Robot | Model | Document, terrain: Terrain | Mapping[str, object], mode: Mode, told: Asked
) -> GroundWork:
    """The work of robots over a terrain."""
    require_known(mode, MODES, f"unknown mode {mode!r}", key="mode")
    read = terrain if isinstance(terrain, Terrain) else parse_terrain(named(terrain, "terrain"))
    ground = Ground.of(robot_of(source, "sweep", "it has no description"), with_maps(read), mode)
    cases, varied = dict[str, Cases](), told.varied
    if any(name == NOISE or name.startswith("inputs.") for name in varied):
        model, _ = standing(ground.robot, ground.terrain, mode, told.inputs, {})
        cases, varied = cases_of(model, varied, told.steps, told.dt)
    design = told.design(varied, lambda name: units_over(ground, told.inputs, name))
    texts = tuple(measure_texts(told.measures))
    work = GroundWork(
        ground,
        design,
        texts,
        dict(told.initial),
        dict(told.inputs),
        dict(told.parameters),
        told.steps,
        told.dt,
        device=told.device,
        cases=cases,
    )
    return replace(work, measured=tuple(measure.text for measure in work.measures))
