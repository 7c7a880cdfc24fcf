"""From the shapes of a description to what is drawn of them: triangles on frames, their number bounded and told."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trundle.documents.meshes import TriangleMesh, find_mesh, read_mesh, simplified
from trundle.errors import InputError, warn
from trundle.robot.shapes import Box, Cylinder, Mesh, Shape, Sphere
from trundle.robot.structure import body_names
from trundle.show.drawing.scene import Solid
from trundle.spatial.vectors import euler_rotation

if TYPE_CHECKING:
    from trundle.robot import Robot
    from trundle.robot.parameters import Resolver

# How many triangles all meshes of a robot may have together where they are drawn, and how many shapes there may be.
MOST_TRIANGLES = 80_000
_MOST_SHAPES = 2000
# Sides of what is round.
_AROUND, _ALONG = 32, 12
_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def solids(
    robot: Robot, read: Resolver, frames: Mapping[str, int], most: int = MOST_TRIANGLES
) -> tuple[Solid, ...]:
    """The solids that a robot's description gives its bodies; `frames` has the index of a frame by its body's name.

    A warning tells which meshes can't be had (their bodies are drawn as those without a shape), and that meshes are
    simplified, and by how much.
    """
    wrong: list[str] = []
    looks: list[tuple[int, Shape, TriangleMesh]] = []
    for name, shape in _shapes(robot, wrong):
        try:
            surface = _surface(shape, read, robot.folder)
        except InputError as error:
            wrong.append(f"{name}: {error}")
            continue
        looks.append((frames[name], shape, surface))
    drawn = simplified([surface for *_, surface in looks], most)
    result = tuple(
        Solid(frame, _placed(surface, shape, read), surface.triangles, shape.colour)
        for (frame, shape, _), surface in zip(looks, drawn, strict=True)
    )
    _tell(robot.name, wrong, [surface for *_, surface in looks], drawn)
    return result


def _shapes(robot: Robot, wrong: list[str]) -> Iterator[tuple[str, Shape]]:
    """The shapes of a robot, those of its URDF text among them, with the names of their bodies."""
    shapes: Mapping[str, Sequence[Shape]] = {}
    if robot.urdf is not None:
        from trundle.documents.urdf.visuals import urdf_shapes  # late: most descriptions are no URDF

        shapes, missing = urdf_shapes(robot.urdf)
        wrong += missing
    bodies = {"base": robot.body, **{name: joint.body for name, joint in robot.joints.items()}}
    own = {name: tuple(body.shapes.values()) for name, body in bodies.items() if body and body.shapes}
    places = body_names(robot)
    listed = [
        (name, shape) for name, several in {**shapes, **own}.items() if name in places for shape in several
    ]
    if len(listed) > _MOST_SHAPES:
        wrong.append(f"{len(listed)} shapes are too many: the first {_MOST_SHAPES} are drawn")
    yield from listed[:_MOST_SHAPES]


def _surface(shape: Shape, read: Resolver, folder: str | None) -> TriangleMesh:
    """A shape's triangles about its own centre (m)."""
    if isinstance(shape, Mesh):
        mesh = read_mesh(find_mesh(shape.file, folder))
        scale = np.array([float(read(factor)) for factor in shape.scale])
        turned = mesh.triangles[:, ::-1] if np.prod(scale) < 0 else mesh.triangles  # seen in a mirror
        return TriangleMesh(mesh.corners * scale, turned)
    if isinstance(shape, Box):
        return TriangleMesh(_CORNERS * [float(read(edge)) for edge in shape.size], _FACES)
    if isinstance(shape, Cylinder):
        half, radius = float(read(shape.length)) / 2, float(read(shape.radius))
        return _turned([(0.0, -half), (radius, -half), (radius, half), (0.0, half)])
    assert isinstance(shape, Sphere)
    radius = float(read(shape.radius))
    angles = np.linspace(-math.pi / 2, math.pi / 2, _ALONG + 1)
    return _turned([(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles])


def _turned(profile: Sequence[tuple[float, float]]) -> TriangleMesh:
    """The surface of a profile of points (r, z), from below up, turned about z; its ends are on the axis."""
    around = 2 * math.pi * np.arange(_AROUND) / _AROUND
    r, z = np.array(profile[1:-1]).T
    ring = np.stack(
        [np.outer(r, np.cos(around)), np.outer(r, np.sin(around)), np.outer(z, np.ones(_AROUND))], -1
    )
    poles = [[0.0, 0.0, profile[0][1]], [0.0, 0.0, profile[-1][1]]]
    corners = np.concatenate([ring.reshape(-1, 3), poles])
    south, north, top = len(corners) - 2, len(corners) - 1, _AROUND * (len(r) - 1)
    k = np.arange(_AROUND)
    after = np.roll(k, -1)
    faces = [
        np.stack([np.full(_AROUND, south), after, k], 1),
        np.stack([np.full(_AROUND, north), top + k, top + after], 1),
    ]
    for row in range(0, top, _AROUND):
        faces += [
            np.stack([row + k, row + after, row + _AROUND + after], 1),
            np.stack([row + k, row + _AROUND + after, row + _AROUND + k], 1),
        ]
    return TriangleMesh(corners, np.concatenate(faces))


def _placed(surface: TriangleMesh, shape: Shape, read: Resolver) -> np.ndarray:
    rotation = euler_rotation(*(float(read(number)) for number in shape.rpy))
    return surface.corners @ np.array(rotation, dtype=float).T + [float(read(number)) for number in shape.at]


def _tell(
    name: str, wrong: Sequence[str], full: Sequence[TriangleMesh], drawn: Sequence[TriangleMesh]
) -> None:
    """One warning for all shapes that are missing, one for all that are simplified."""
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        warn(f"{name}: not everything of its shapes is drawn: {wrong[0]}{more}")
    moved = max((surface.moved for surface in drawn), default=0.0)
    if any(a is not b for a, b in zip(full, drawn, strict=True)):
        counts = [sum(len(surface.triangles) for surface in several) for several in (full, drawn)]
        warn(
            f"{name}: its meshes are drawn with {counts[1]:,} of {counts[0]:,} triangles, corners up to "
            f"{1e3 * moved:.2g} mm off"
        )
