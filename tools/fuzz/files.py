"""Files of motions, paths and shapes, and results written anew after they were changed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import cast

import numpy as np
import yaml

import trundle
from tools.fuzz.mutations import mutate_bytes, mutate_text, mutate_tree
from trundle.documents.meshes import read_mesh
from trundle.motion.commands.commands import read_commands
from trundle.results import netcdf
from trundle.results.metadata import ResultContent, Variable

EXAMPLES = Path(__file__).parents[2] / "examples"
LEVELS = ("module", "body", "limited", "coordinated")
# A plan that is this long, or a path, is only read: how long driving takes grows with it, and no limit is about that.
_LONG = 30.0
# Shares of what is taken that is driven, followed, written: a plan takes a thousand times as long as reading it.
_DRIVEN, _FOLLOWED = 0.03, 0.05

_METRES = "position_in_meters_relative_to_world", "linear_velocity_in_meters_per_second"
_TURNS = "orientation_in_radians_relative_to_world", "angular_velocity_in_radians_per_second"


def _simulators() -> dict[str, object]:
    """A plan of basic-swerve-sim: from rest to a body's motion, and to modules' states."""
    body = {key: {"x": 0.0, "y": 0.0} for key in _METRES} | {key: {"z": 0.0} for key in _TURNS}
    ahead = {"linear_velocity_in_meters_per_second": {"x": 0.5, "y": 0.0}, _TURNS[1]: {"z": 0.2}}
    modules = [
        {"name": name, "orientation_in_radians_relative_to_body": 0.0, "velocity_in_meters_per_second": 0.0}
        for name in ("left-front", "left_rear", "right-rear", "right-front")
    ]
    commands = [{"time_span": 1.0, "body": ahead}, {"time_span": 1.0, "modules": modules}]
    start = {"body": body, "modules": modules}
    return {"plan": {"name": "other", "description": "d", "start_state": start, "commands": commands}}


def commands() -> tuple[object, ...]:
    """Commands in both formats, and modules that are commanded one by one."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("swerve/motions/*.yaml"))]
    modules = {name: {"angle": "30 deg", "speed": 0.5} for name in trundle.catalog.limited_swerve().wheels}
    alone = {"trundle": 1, "motion": {"name": "m", "commands": [{"duration": 1, "modules": modules}]}}
    return (*(yaml.safe_load(text) for text in texts), _simulators(), alone)


def read_and_drive(content: object, rng: Random) -> None:
    """Read commands from a file; few of them are driven, at any level."""
    path = Path("commands.yaml")
    path.write_text(_as_yaml(content), encoding="utf-8")
    file = read_commands(path)
    if (
        sum(command.duration.number for command in file.motion.commands) > _LONG
        or len(file.motion.commands) > 6
    ):
        return
    if rng.random() < _DRIVEN:
        driven = trundle.drive(path, level=rng.choice(LEVELS))
        poses = driven.motion.poses([driven.motion.duration])
        assert np.isfinite(poses).all(), "a pose's NaN unsaid"


def paths() -> tuple[object, ...]:
    """A path of PathPlanner's, and a trajectory of Choreo's with a stop, limits and an event."""
    score = EXAMPLES / "swerve/paths/score.path"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "score.traj")
        trundle.write_trajectory(trundle.follow(score), file, rate=5)
        written = json.loads(file.read_text(encoding="utf-8"))
    return ((".path", json.loads(score.read_text(encoding="utf-8"))), (".traj", written))


def mutate_path(content: object, rng: Random, bases: Sequence[object]) -> object:
    """One thing of the file's data, or of its text; rarely the other format's name."""
    assert isinstance(content, tuple)
    suffix, inside = content
    if rng.random() < 0.02:
        suffix = rng.choice((".path", ".traj"))
    if isinstance(inside, str) or rng.random() < 0.2:
        return suffix, mutate_text(inside if isinstance(inside, str) else json.dumps(inside, indent=1), rng)
    return suffix, mutate_tree(inside, rng, [base[1] for base in bases if isinstance(base, tuple)])


def read_and_follow(content: object, rng: Random) -> None:
    """Read a path; few are followed, and few of these written."""
    assert isinstance(content, tuple)
    suffix, inside = content
    file = Path(f"way{suffix}")
    text = inside if isinstance(inside, str) else json.dumps(inside, indent=1, default=str)
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    path = trundle.read_path(file)
    assert np.isfinite(path.poses([0.0, path.length])).all(), "a path's NaN unsaid"
    if path.length < _LONG and rng.random() < _FOLLOWED:
        driven = trundle.follow(path)
        assert np.isfinite(driven.motion.duration), "a duration's NaN unsaid"
        trundle.write_trajectory(driven, rng.choice(("a.traj", "a.csv")))


_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
Shaped = tuple[str, str | bytes]


def meshes() -> tuple[Shaped, ...]:
    """A tetrahedron as STL in text and in bytes, and as OBJ."""
    text = "solid four\n"
    for face in _FACES:
        text += "facet normal 0 0 0\n outer loop\n"
        text += "".join(f"  vertex {x} {y} {z}\n" for x, y, z in _CORNERS[face])
        text += " endloop\nendfacet\n"
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    triangles = np.zeros(len(_FACES), record)
    triangles["corners"] = _CORNERS[_FACES]
    packed = bytes(80) + np.uint32(len(_FACES)).tobytes() + triangles.tobytes()
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in _CORNERS)
    obj += "usemtl m\n" + "".join(f"f {a + 1}/1 {b + 1} {c + 1}//2\n" for a, b, c in _FACES)
    return (".stl", f"{text}endsolid four\n"), (".stl", packed), (".obj", obj)


def mutate_mesh(content: object, rng: Random) -> object:
    """The same file, a little damaged."""
    assert isinstance(content, tuple)
    suffix, inside = content
    return suffix, mutate_bytes(inside, rng) if isinstance(inside, bytes) else mutate_text(inside, rng)


def read_shape(content: object, rng: Random) -> None:
    """Read the mesh; few are drawn on a robot."""
    assert isinstance(content, tuple)
    suffix, inside = content
    path = Path(f"part{suffix}").absolute()
    path.write_bytes(inside if isinstance(inside, bytes) else inside.encode("utf-8", "surrogatepass"))
    surface = read_mesh(path)
    assert np.isfinite(surface.corners).all(), "a mesh's NaN unsaid"
    if rng.random() < 0.05:
        body = {"mass": 1, "inertia": {"zz": 1}, "shapes": {"part": {"type": "mesh", "file": path.name}}}
        Path("robot.yaml").write_text(
            yaml.dump({"trundle": 1, "robot": {"name": "r", "body": body}}), encoding="utf-8"
        )
        trundle.to_svg(trundle.load("robot.yaml"))


def results() -> tuple[object, ...]:
    """Results as plain data: attributes, and variables by name with dimensions, numbers and attributes."""
    run = trundle.run(EXAMPLES / "diff_drive/circle.yaml", duration=0.2, samples=5, progress=False)
    batch = trundle.rollout(trundle.catalog.robot("pendulum"), steps=4, count=3, threads=1, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        return tuple(_plain(made.save(Path(folder, "saved.nc"))) for made in (run, batch))


def _plain(path: Path) -> dict[str, object]:
    with netcdf._open(path, "r") as file:
        attributes = {name: file.getncattr(name) for name in file.ncattrs()}
        variables = {
            name: [
                list(variable.dimensions),
                np.asarray(variable[...]).tolist(),
                {key: variable.getncattr(key) for key in variable.ncattrs()},
            ]
            for name, variable in file.variables.items()
        }
    return {"attributes": _opened(attributes), "variables": variables}


def _opened(attributes: dict[str, object]) -> dict[str, object]:
    """Attributes that hold JSON as data, so that mutations reach what is inside."""
    opened = dict(attributes)
    for name, value in attributes.items():
        if isinstance(value, str) and value.startswith(("{", "[")):
            with suppress(ValueError):
                opened[name] = json.loads(value)
    return opened


def read_written_anew(content: object, rng: Random) -> None:
    """Write the data with a checksum that fits, as far as NetCDF holds it, and read it."""
    path = Path("results.nc")
    try:
        whole = _content(content)
        path.unlink(missing_ok=True)
        netcdf.write(path, whole)
    except Exception:
        return  # nobody can have such a file
    loaded = (trundle.Run if rng.random() < 0.6 else trundle.Batch).load(path)
    if rng.random() < 0.5:
        trundle.to_text(loaded)


def _content(content: object) -> ResultContent:
    """What NetCDF's writer takes; raises whatever where the data has become something else."""
    assert isinstance(content, dict)
    attributes = {
        str(name): json.dumps(value) if isinstance(value, dict | list) else value
        for name, value in content["attributes"].items()
    }
    variables = {
        str(name): Variable(tuple(dimensions), np.asarray(values, dtype=float), about)
        for name, (dimensions, values, about) in content["variables"].items()
    }
    return cast(ResultContent, SimpleNamespace(attributes=attributes, variables=variables))


def _as_yaml(content: object) -> str:
    return content if isinstance(content, str) else yaml.dump(content, Dumper=yaml.CSafeDumper)
