"""What `sweep` is asked for, checked: the work of robots on a plane, or over a terrain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import Mode
from trundle.documents import Document
from trundle.errors import InputError
from trundle.expected import check_int
from trundle.gpu.devices import Device
from trundle.model.arguments import named
from trundle.model.lanes import NumbersLike
from trundle.model.opening import ground_of, plant_of
from trundle.model.plant import Plant
from trundle.model.terrain_numbers import PREFIX, full_name, number_called, seeds_of
from trundle.robot import Robot
from trundle.robot.terrain import Terrain
from trundle.simulation.sampling import warn_of_period
from trundle.sweeps.cases import cases_of
from trundle.sweeps.design import Design, Draws
from trundle.sweeps.measures import measures_of
from trundle.sweeps.variation import Grid, variation
from trundle.sweeps.work import Work, units_of

# Numbers of all tiles of random ground together: half a gigabyte.
_MOST_TILES = 2**26


class SweepRequest(NamedTuple):
    """What `sweep` is asked of robots and their motion."""

    over: object
    measures: Sequence[str]
    drawn: tuple[object, Draws, object]
    initial: Mapping[str, NumbersLike]
    inputs: Mapping[str, NumbersLike]
    parameters: Mapping[str, NumbersLike]
    steps: int
    dt: float | None
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
        return Design(varied, check_int(samples, "samples", 1), draws, check_int(seed, "seed", 0))


def work_of_request(
    source: Robot | Document | Plant,
    terrain: Terrain | Mapping[str, object] | None,
    mode: Mode,
    request: SweepRequest,
) -> Work:
    """The work of robots on a plane or over a terrain, checked."""
    inputs = [name.removeprefix("inputs.") for name in request.varied if name.startswith("inputs.")]
    ground = ground_of(source, terrain)
    plant, _ = plant_of(
        source, "sweep", {**request.parameters, **_ground_numbers(ground, request.varied)}, terrain=ground, mode=mode,
        inputs=[*request.inputs, *inputs], varied=True,
    )  # fmt: skip
    units, dt = units_of(plant), plant.motion.length if request.dt is None else request.dt
    cases, varied = cases_of(plant, request.varied, request.steps, dt)
    design = request.design(varied, lambda name: units.get(name, ""))
    work = Work(
        plant, design, measures_of(plant, request.measures), dict(request.initial), dict(request.inputs),
        dict(request.parameters), request.steps, dt, request.device, cases,
    )  # fmt: skip
    warn_of_period(plant, request.steps * dt, "a sweep")
    return work


def _ground_numbers(terrain: Terrain | None, varied: Mapping[str, object]) -> dict[str, NumbersLike]:
    """The terrain's numbers that vary, of seeds all that there are."""
    found = dict[str, NumbersLike]()
    if terrain is None:
        return found
    for name in varied:
        if not name.startswith(PREFIX):
            continue
        full = full_name(terrain, name)
        if full in seeds_of(terrain):
            found[name] = _seeds(terrain, name, varied[name])
        else:
            found[name] = number_called(terrain, full, f"over.{name}").number
    return found


def _seeds(terrain: Terrain, name: str, given: object) -> FloatArray:
    """The seeds that there are, in order; refused where memory has no room for them: every process has all."""
    seeds = variation(given, name)
    if not isinstance(seeds, Grid):
        hint = "such as 0:99:100, a hundred grounds"
        raise InputError("seeds are whole numbers: give their values", key=f"over.{name}", hint=hint)
    found = np.unique(seeds.values)
    surface = terrain.surfaces[full_name(terrain, name).split(".")[1]]
    size = cast(Any, surface).map_of().size
    if size * found.size > _MOST_TILES:
        hint = f"at most {_MOST_TILES // size:,} of these, or a shorter tile: (m)"
        message = f"{found.size:,} seeds with {size:,} heights each are too many"
        raise InputError(message, key=f"over.{name}", hint=hint)
    return found
