"""Bodies' own shapes in a picture: triangles shaded by a light, the nearest last."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.colors import to_rgba

from trundle.arrays import FloatArray
from trundle.documents.meshes import TriangleMesh, simplified
from trundle.show.drawing.scene import Scene, Solid, depth, project
from trundle.show.figures.style import BODY

# More triangles than this (of a whole robot) only cost time in a picture of some hundred pixels.
_MOST = 10_000
# From the left, from the front and from above; how bright what it doesn't reach is.
_LIGHT = np.array([-0.4, -0.65, 0.65]) / np.linalg.norm([-0.4, -0.65, 0.65])
_SHADE = 0.55


class Shaded(NamedTuple):
    """Triangles in a picture, (m, 3, 2) in m, the nearest last, their colours (m, 4), how near corners are (m, 3)."""

    corners: FloatArray
    colours: FloatArray
    depths: FloatArray


@lru_cache(maxsize=8)
def drawn_surfaces(solids: tuple[Solid, ...]) -> tuple[TriangleMesh, ...]:
    """The shapes with few enough triangles for a picture."""
    return tuple(simplified([TriangleMesh(solid.corners, solid.triangles) for solid in solids], _MOST))


def simplification_error(scene: Scene) -> float:
    """How far corners of a scene's shapes are drawn from where they are (m)."""
    return max((surface.moved for surface in drawn_surfaces(scene.solids)), default=0.0)


def shaded(scene: Scene, view: str, moment: int) -> Shaded:
    """What is seen of a scene's shapes at one of its moments."""
    corners, colours = [], []
    for solid, surface in zip(scene.solids, drawn_surfaces(scene.solids), strict=True):
        pose = scene.poses[moment, solid.frame]
        triangles = (surface.corners @ pose[:, :3].T + pose[:, 3])[surface.triangles]
        across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals = across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
        # those that look away are drawn, too: simplified surfaces have gaps, and what is near covers what is far
        toward = np.where(depth(normals, view) < 0, -1.0, 1.0)
        corners.append(triangles)
        bright = _SHADE + (1 - _SHADE) * np.clip(toward * (normals @ _LIGHT), 0.0, 1.0)
        colour = np.array(to_rgba(solid.colour or BODY))
        colours.append(np.column_stack([bright[:, None] * colour[:3], np.full(bright.size, colour[3])]))
    triangles, shades = np.concatenate(corners), np.concatenate(colours)
    near = depth(triangles, view)
    order = np.argsort(near.mean(axis=1), kind="stable")
    return Shaded(project(triangles, view)[order], shades[order], near[order])
