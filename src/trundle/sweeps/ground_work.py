"""A sweep's work over terrain: robots that differ in themselves, their starts and inputs, and in the ground."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.choices import Mode
from trundle.documents import dump, parse
from trundle.errors import InputError
from trundle.gpu.devices import CPU, Device
from trundle.model.ground_model import GroundModel
from trundle.model.ground_motion import STEP
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import Program
from trundle.program.plain import to_plain
from trundle.robot import Robot
from trundle.robot.gridded import GridSurface
from trundle.robot.height_maps import HeightMap
from trundle.robot.terrain import Terrain
from trundle.simulation.fates import late
from trundle.simulation.ground_numbers import (
    PREFIX,
    full_name,
    number_called,
    seeds_of,
    terrain_numbers,
)
from trundle.simulation.ground_rollout import MANY, Asked, GroundLanes, ground_lanes, standing
from trundle.simulation.lanes import NumbersLike, inputs_told
from trundle.simulation.sampling import steps_of
from trundle.sweeps.cases import Cases
from trundle.sweeps.design import Design
from trundle.sweeps.ground_programs import TIMES, GroundMeasured
from trundle.sweeps.measures import Measure, measures_of
from trundle.sweeps.places import placed, unvaried
from trundle.sweeps.variation import Grid
from trundle.sweeps.work import BLOCK, DIVERGED, given_to, signals_told, stepped_on, told_apart
from trundle.tables import Table

if TYPE_CHECKING:
    from trundle.results import Run

FATES = (DIVERGED, "overturned", "stuck", "beyond_map", "unsettled")
"""What may become of a robot over terrain."""

# Robots without a meaningful motion have no measures.
_LOST = (DIVERGED, "beyond_map", "unsettled")
# Numbers of all tiles of random ground together: half a gigabyte.
_MOST_TILES = 2**26


class Ground(NamedTuple):
    """A robot's description and the ground under it."""

    robot: Robot
    terrain: Terrain
    mode: Mode

    @staticmethod
    def of(robot: Robot, terrain: Terrain, mode: Mode) -> Ground:
        """As it is where a store says it."""
        return Ground.from_plain(Ground(robot, terrain, mode).plain, Ground.maps_of(terrain))

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON holds it, but for the maps' numbers."""
        maps = {
            name: {
                "rows": each.rows, "columns": each.columns, "corner": each.corner, "spacing": each.spacing,
                "repeats": each.repeats, "holes": each.holes, "reach": each.table.reach, "digest": each.table.digest,
            }
            for name, each in Ground.maps_of(self.terrain).items()
        }  # fmt: skip
        return {"description": dump(self.robot, terrain=self.terrain), "mode": self.mode, "maps": maps}

    @staticmethod
    def maps_of(terrain: Terrain) -> dict[str, HeightMap]:
        """The maps that come from files, by their surfaces."""
        grids = {name: each for name, each in terrain.surfaces.items() if isinstance(each, GridSurface)}
        return {name: each.map_of() for name, each in grids.items() if each.file is not None}

    @staticmethod
    def from_plain(given: Mapping[str, Any], maps: Mapping[str, HeightMap | FloatArray]) -> Ground:
        """What `plain` says, with the maps or their numbers."""
        document = parse(given["description"], "a sweep's description")
        terrain = document.terrain or Terrain()
        surfaces = dict(terrain.surfaces)
        for name, told in given["maps"].items():
            found = maps[name]
            if not isinstance(found, HeightMap):
                found = HeightMap(
                    Table(found, told["reach"]), told["rows"], told["columns"], tuple(told["corner"]),
                    tuple(told["spacing"]), told["repeats"], told.get("holes", False),
                )  # fmt: skip
            if found.table.digest != told["digest"]:
                raise InputError(f"the map {name!r} of the sweep is damaged: its checksum differs")
            surfaces[name] = cast(GridSurface, surfaces[name]).with_map(found)
        return Ground(document.robot, terrain.model_copy(update={"surfaces": surfaces}), given["mode"])


@dataclass(frozen=True)
class GroundWork:
    """What a sweep over terrain does; see `Work`. `measured` are the measures' texts.

    equations: digest of the programs of whoever began the sweep; "" where nobody has yet.
    """

    ground: Ground
    design: Design
    measured: tuple[str, ...]
    initial: Mapping[str, NumbersLike]
    inputs: Mapping[str, NumbersLike]
    parameters: Mapping[str, NumbersLike]
    steps: int
    dt: float
    equations: str = ""
    device: Device = CPU
    cases: Mapping[str, Cases] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.design.over:
            if name not in self.cases:
                self.place(name)
        steps_of(self.model.clocks, self.dt, "dt", "step")

    @property
    def name(self) -> str:
        """The robot's."""
        return self.ground.robot.name

    @property
    def fates(self) -> tuple[str, ...]:
        """What may become of a robot."""
        return FATES

    @property
    def model(self) -> GroundModel:
        """Its model, whose parameters are the terrain's numbers that differ, too."""
        return self._standing[0]

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is kept of a robot."""
        return measures_of(self.model, self.measured)

    @cached_property
    def programs(self) -> GroundMeasured:
        """Its programs."""
        return GroundMeasured.of(self.model, self.measures, self.cases)

    @cached_property
    def digest(self) -> str:
        """Of the programs, with their tables."""
        known = {"step": self.programs.ending, "gaps": self.model.gaps}
        plain = {name: _with_digests(each) for name, each in known.items()}
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of what varies."""
        return {name: units_over(self.ground, self.inputs, name, self.model) for name in self.design.over}

    @cached_property
    def told(self) -> Mapping[str, NumbersLike]:
        """The inputs that all robots have, with those of trackers."""
        return inputs_told(self.model, self.inputs, self.steps, self.dt)

    @cached_property
    def _seeds(self) -> dict[str, FloatArray]:
        """The seeds that there are, in order, by the names that vary."""
        known = seeds_of(self.ground.terrain)
        found: dict[str, FloatArray] = {}
        for name, each in self.design.over.items():
            if name.startswith(PREFIX) and full_name(self.ground.terrain, name) in known:
                if not isinstance(each, Grid):
                    hint = "such as 0:99:100, a hundred grounds"
                    raise InputError(
                        "seeds are whole numbers: give their values", key=f"over.{name}", hint=hint
                    )
                found[name] = np.unique(each.values)
        return found

    @cached_property
    def _standing(self) -> tuple[GroundModel, dict[str, Floats]]:
        terrain = self.ground.terrain
        theirs = {name: value for name, value in self.parameters.items() if name.startswith(PREFIX)}
        for name in self.design.over:
            if name in self._seeds:
                self._require_room(name)
                theirs[name] = self._seeds[name]
            elif name.startswith(PREFIX):
                theirs[name] = number_called(terrain, full_name(terrain, name), f"over.{name}").number
        varied = (name for name in self.design.over if name.startswith("inputs.") and name not in self.cases)
        inputs = [*self.inputs, *(name.removeprefix("inputs.") for name in varied)]
        return standing(self.ground.robot, terrain, self.ground.mode, inputs, theirs)

    def _require_room(self, name: str) -> None:
        """Refuse more grounds than memory has room for: every process has all of them."""
        surface = self.ground.terrain.surfaces[full_name(self.ground.terrain, name).split(".")[1]]
        size, count = cast(Any, surface).map_of().size, self._seeds[name].size
        if size * count > _MOST_TILES:
            hint = f"at most {_MOST_TILES // size:,} of these, or a shorter tile: (m)"
            message = f"{count:,} seeds with {size:,} heights each are too many"
            raise InputError(message, key=f"over.{name}", hint=hint)

    def check(self) -> None:
        """Raise InputError where what the first robots are given can't be."""
        count = min(BLOCK, self.design.count)
        self._lanes(self.design.columns(0, count), count)

    def rows(
        self, first: int, count: int, threads: int | None = 1, progress: Callable[[float], None] | None = None
    ) -> dict[str, FloatArray]:
        """What is kept of `count` robots from the one with the number `first`; see `Work.rows`."""
        if self.equations and self.equations != self.digest:
            hint = "go on with the version of Trundle that began it"
            raise InputError("the sweep was begun with other equations than these", hint=hint)
        columns = self.design.columns(first, count)
        lanes, start, lost = self._started(columns, first, count)
        programs = self.programs
        which = {name: case.places(columns[name]) for name, case in self.cases.items()}
        times = self.dt * np.arange(self.steps + 1, dtype=np.float64)
        # Of a single robot nothing differs between lanes; wide inputs keep one code for all.
        result = self.device.rollout(
            programs.rates, programs.start(start, which),
            {INPUT: stepped_on(lanes.inputs) or np.zeros(0), PARAMETER: lanes.parameters or np.zeros(0),
             STEP: [self.dt], TIMES: [float(self.steps), float(late(times))]},
            dt=1.0, steps=self.steps + 1, every=None, count=lanes.count, threads=threads, progress=progress,
            projection=programs.ending, quick=self.steps * self.design.count < MANY,
        )  # fmt: skip
        rows, fates = programs.ended(result.final[:, :count], self.steps, self.dt)
        fates = {name: (truths & ~lost[:count]).astype(float) for name, truths in fates.items()}
        fates["unsettled"] = lost[:count].astype(float)
        none = np.any([fates[name] > 0 for name in _LOST], axis=0)
        return columns | {name: np.where(none, np.nan, row) for name, row in rows.items()} | fates

    def _started(
        self, columns: Mapping[str, FloatArray], first: int, count: int
    ) -> tuple[GroundLanes, FloatArray, np.ndarray]:
        """The robots, their states on the ground, and who finds no place there."""
        if count == 1:
            columns = {name: np.repeat(values, 2) for name, values in columns.items()}
        lanes = self._lanes(columns, max(count, 2))
        blocks = [self._block(begin) for begin in range(first // BLOCK * BLOCK, first + count, BLOCK)]
        states, lost = (
            np.concatenate(parts, axis=-1)[..., first % BLOCK :][..., :count]
            for parts in zip(*blocks, strict=True)
        )
        if count == 1:
            states, lost = np.repeat(states, 2, axis=1), np.repeat(lost, 2)
        return lanes, states, lost

    def _block(self, begin: int) -> tuple[FloatArray, np.ndarray]:
        """The starts of a whole block (states, robots), and who has none."""
        count = min(BLOCK, self.design.count - begin)
        lanes, lost = self._lanes(self.design.columns(begin, count), count), np.zeros(count, dtype=bool)
        return lanes.settled(lost), lost

    def _lanes(self, columns: Mapping[str, FloatArray], count: int) -> GroundLanes:
        given = told_apart(self, columns, self.told)
        model, numbers = self._standing
        own = {name: value for name, value in given["parameters"].items() if not name.startswith(PREFIX)}
        ground = {name: self._of_ground(name, columns.get(name), known) for name, known in numbers.items()}
        return ground_lanes(model, Asked(given["initial"], given["inputs"], own), ground, count)

    def _of_ground(self, name: str, column: FloatArray | None, known: Floats) -> Floats:
        """What robots have for a number of the terrain; for a seed its place among them."""
        if column is None:
            return known
        if name in self._seeds:
            return np.searchsorted(self._seeds[name], column).astype(np.float64)
        terrain = self.ground.terrain
        return terrain_numbers(number_called(terrain, full_name(terrain, name), name), name, column)

    def given(self, robot: int) -> dict[str, dict[str, NumbersLike]]:
        """What `rollout` and `traverse` take for a robot: initial, inputs and parameters."""
        return given_to(self, robot)

    def run(self, robot: int, **options: Any) -> Run:
        """A robot's whole run, by the sweep's steps."""
        from trundle.simulation.traversing import traverse

        given: dict[str, Any] = self.given(robot)
        given["inputs"] = signals_told(given["inputs"], self.dt)
        how: dict[str, Any] = {"mode": self.ground.mode, "step": self.dt, **given, **options}
        return traverse(self.ground.robot, self.ground.terrain, self.steps * self.dt, **how)

    def place(self, name: str) -> tuple[str, str]:
        """Where a varied name belongs, and its own name there."""
        model = self.model
        if (found := placed(name, model, (*model.states, "yaw"))) is not None:
            return found
        numbers = [
            f"{PREFIX}{each}" for each in (*self.ground.terrain.numbers, *seeds_of(self.ground.terrain))
        ]
        known = [*model.parameters, *numbers, "initial.yaw", *(f"initial.{each}" for each in model.states)]
        known += [f"inputs.{each}" for each in model.inputs]
        raise unvaried(name, self.name, self.ground.robot, known)


def units_over(
    ground: Ground, inputs: Mapping[str, object], name: str, model: GroundModel | None = None
) -> str:
    """The unit of what may vary, "" where it isn't known."""
    if name.startswith(PREFIX):
        full = full_name(ground.terrain, name)
        known = ground.terrain.numbers
        return known[full].quantity.unit.removeprefix("1") if full in known else ""
    place, _, label = name.partition(".")
    if place not in ("initial", "inputs"):
        return ground.robot.parameter_units().get(name, "")
    if label == "yaw":
        return "rad"
    if model is None:
        model, _ = standing(ground.robot, ground.terrain, ground.mode, [*inputs, label], {})
    return model.quantities.units.get(label, "")


def _with_digests(program: Program) -> dict[str, object]:
    """A program as plain data, with its tables' digests in place of their numbers."""
    tables = list(dict.fromkeys(each.table for each in program.instructions if each.table is not None))
    return {**to_plain(program), "tables": [table.digest for table in tables]}
