"""What is seen of a robot from a side: outlines in the picture's plane, which figures, films and windows draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.show.drawing.scene import Anchor, Scene, WheelShape, depth, marks, project
from trundle.show.figures.style import BODY, INK, WHEEL

# How strongly a body is drawn whose shape is assumed: what is below it shows.
_ASSUMED = 0.4
# Around a rim, corners twice: silhouettes have them where the two rims of a wheel seen from above meet its sides.
_AROUND = np.sort(np.add.outer(np.arange(32) * math.pi / 16, (-1e-9, 1e-9)).ravel())


class Face(NamedTuple):
    """A polygon over time, (T, n, 2) in m, the colours of what is inside and of its edge, and how strong."""

    corners: FloatArray
    colour: str
    edge: str
    strength: float = 1.0


@dataclass(frozen=True)
class Outlines:
    """What is seen of a scene over time, in the order in which it is drawn.

    `faces`, the nearest last; `stripes`, marks on wheels, and `bars`, both of (T, 2, 2), NaN where hidden; `pivots`,
    discs (T, n, 2); `joints`, points (T, n, 2).
    """

    faces: tuple[Face, ...]
    stripes: tuple[FloatArray, ...]
    bars: tuple[FloatArray, ...]
    pivots: tuple[FloatArray, ...]
    joints: FloatArray


def outlines(scene: Scene, view: str) -> Outlines:
    """What is seen of a scene from a view."""
    stripes, pivots = _turning(scene, view)
    shown = [bar for bar in (*scene.mounts, *scene.bars) if bar.start.frame not in scene.clothed]
    bars = [project(scene.places((b.start, b.end)), view) for b in shown]
    trails = [scene.places((wheel.pivot, Anchor(wheel.frame))) for wheel in scene.wheels]
    bars += [project(trail, view) for trail in trails if not np.allclose(trail[:, 0], trail[:, 1])]
    spots = [Anchor(joint.frame) for joint in scene.joints if not scene.solids]  # else they are inside
    joints = project(scene.places(spots), view)
    return Outlines(tuple(_faces(scene, view)), tuple(stripes), tuple(bars), tuple(pivots), joints)


def _faces(scene: Scene, view: str) -> list[Face]:
    """Bodies, the nearest last, then wheels."""
    shown = [plate for plate in scene.plates if plate.frame not in scene.clothed]
    corners = scene.places(Anchor(plate.frame, corner) for plate in shown for corner in plate.corners)
    ends = np.cumsum([len(plate.corners) for plate in shown])
    plates = list(zip(shown, np.split(corners, ends[:-1], axis=1), strict=False))
    plates.sort(key=lambda plate: float(depth(plate[1][0], view).mean()))
    faces = [Face(project(at, view), BODY, INK, _ASSUMED if p.assumed else 1.0) for p, at in plates]
    return faces + [Face(silhouette(scene, wheel, view), WHEEL, WHEEL) for wheel in scene.wheels]


def silhouette(scene: Scene, wheel: WheelShape, view: str) -> FloatArray:
    """A wheel's outline over time as it is seen, (T, n, 2): a sphere's, or a cylinder's, whose rim r(φ) is carried
    along the axle to the side that its outward normal points to.
    """
    centre = project(scene.place(Anchor(wheel.frame)), view)[:, None]
    cos, sin = np.cos(_AROUND)[:, None], np.sin(_AROUND)[:, None]
    if wheel.round:
        return centre + wheel.radius * np.concatenate([cos, sin], axis=1)
    along, axle, up = (
        project(scene.turned(wheel.frame, axis), view)[:, None] for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    )
    tangent = up * cos - along * sin
    turn = np.where(_cross(along, up) < 0, -1.0, 1.0)
    side = np.sign(turn * _cross(axle, tangent))[..., None]
    return centre + wheel.radius * (along * cos + up * sin) + wheel.half * side * axle


def _turning(scene: Scene, view: str) -> tuple[list[FloatArray], list[FloatArray]]:
    """What shows how wheels roll and steer: lines over time, (T, 2, 2), and discs on their pivots, (T, n, 2).

    Of a robot that isn't seen in motion only its rollers.
    """
    moves = scene.spins is not None
    lines = [
        line
        for index, wheel in enumerate(scene.wheels)
        if not wheel.round and (moves or wheel.roller_angle is not None)
        for line in marks(scene, index, view).swapaxes(0, 1)
    ]
    steered = [wheel for wheel in scene.wheels if wheel.steered and moves]
    return lines, [pivot_disc(scene, wheel, view) for wheel in steered]


def pivot_disc(scene: Scene, wheel: WheelShape, view: str) -> FloatArray:
    """The disc on the pivot of a steered wheel as it is seen, (T, n, 2)."""
    r = 0.3 * min(wheel.radius, 2 * wheel.half)
    x, y = (project(scene.turned(wheel.pivot.frame, axis), view)[:, None] for axis in ((1, 0, 0), (0, 1, 0)))
    cos, sin = np.cos(_AROUND[::4])[:, None], np.sin(_AROUND[::4])[:, None]
    return project(scene.place(wheel.pivot), view)[:, None] + r * (x * cos + y * sin)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
