"""Plants as plain data and back: models and own steps with their programs, robots on a terrain by their
description. No code runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from trundle.arrays import FloatArray, Json
from trundle.documents import dump, parse
from trundle.errors import InputError
from trundle.model.archive import from_text, to_text
from trundle.model.ground_model import GroundModel, derive_on, file_maps
from trundle.model.model import Model
from trundle.model.own_steps import StepPlant
from trundle.model.plant import Plant
from trundle.robot.gridded import GridSurface
from trundle.robot.height_maps import HeightMap
from trundle.robot.terrain import Terrain
from trundle.tables import Table


def plain_plant(plant: Plant) -> dict[str, Json]:
    """A plant as JSON holds it, but for the numbers of its `tables`; InputError for one that can't be kept."""
    if isinstance(plant, Model | StepPlant):  # how long deriving took is no part of it
        return json.loads(to_text(replace(plant, derive_seconds=0.0)))
    assert isinstance(plant, GroundModel)
    maps = {
        name: {
            "rows": each.rows, "columns": each.columns, "corner": each.corner, "spacing": each.spacing,
            "repeats": each.repeats, "holes": each.holes, "reach": each.table.reach, "digest": each.table.digest,
        }
        for name, each in file_maps(plant.terrain).items()
    }  # fmt: skip
    varied = {
        name: None if each.seeds is None else each.seeds.tolist()
        for name, each in plant.terrain_numbers.items()
    }
    ground = {
        "description": dump(plant.robot, terrain=plant.terrain), "mode": plant.mode, "attitude": plant.attitude,
        "rates": list(plant.rates), "varied": varied, "maps": maps,
    }  # fmt: skip
    return {"ground": ground}


def read_plant(plain: Mapping[str, Any], tables: Mapping[str, FloatArray]) -> Plant:
    """What `plain_plant` says, with the numbers of its tables; InputError where these are others."""
    if "ground" not in plain:
        return from_text(json.dumps(plain))
    ground = plain["ground"]
    document = parse(ground["description"], "a sweep's description")
    terrain = _with_maps(document.terrain or Terrain(), ground["maps"], tables)
    varied = {
        name: 0.0 if seeds is None else np.array(seeds, dtype=float)
        for name, seeds in ground["varied"].items()
    }
    return derive_on(
        document.robot, terrain, ground["mode"], ground["attitude"], tuple(ground["rates"]), varied
    )


def _with_maps(terrain: Terrain, maps: Mapping[str, Any], tables: Mapping[str, FloatArray]) -> Terrain:
    """A terrain with the maps of a sweep's file; InputError where a map's numbers have changed."""
    surfaces = dict(terrain.surfaces)
    for name, said in maps.items():
        found = HeightMap(
            Table(tables[name], said["reach"]), said["rows"], said["columns"], tuple(said["corner"]),
            tuple(said["spacing"]), said["repeats"], said.get("holes", False),
        )  # fmt: skip
        if found.table.digest != said["digest"]:
            raise InputError(f"the map {name!r} of the sweep is damaged: its checksum differs")
        surfaces[name] = cast(GridSurface, surfaces[name]).with_map(found)
    return terrain.model_copy(update={"surfaces": surfaces})
