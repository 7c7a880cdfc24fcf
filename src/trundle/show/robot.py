"""A robot drawn into axes: bodies, wheels and bars as a scene has them, from any side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba

from trundle.results.arrays import FloatArray
from trundle.scene import Scene, Spot, WheelShape, depth, marks, project
from trundle.show.style import BODY, COLOURS, INK, TREAD, WHEEL

# How strongly a body is drawn whose shape is assumed: what is below it shows.
_ASSUMED = 0.4
# Around a rim, twice at each: silhouettes have corners where the two rims of a wheel seen from above meet its sides.
_AROUND = np.sort(np.add.outer(np.arange(32) * math.pi / 16, (-1e-9, 1e-9)).ravel())


def draw_scene(
    axes: Axes, scene: Scene, view: str, *, scale: float = 1.0, alphas: Sequence[float] = (1.0,)
) -> None:
    """The robot at every moment of the scene, one over the other, `alphas` giving how strongly; scaled about the point
    that is traced.
    """
    about = project(scene.place(scene.traced), view)[:, None]
    faces = _faces(scene, view)
    stripes, pivots = _turning(scene, view)
    bars = [project(scene.places((b.start, b.end)), view) for b in (*scene.mounts, *scene.bars)]
    trails = [scene.places((wheel.pivot, Spot(wheel.frame))) for wheel in scene.wheels]
    bars += [project(trail, view) for trail in trails if not np.allclose(trail[:, 0], trail[:, 1])]
    joints = project(scene.places(Spot(joint.frame) for joint in scene.joints), view)

    def placed(shapes: Sequence[FloatArray], moment: int) -> list[FloatArray]:
        return [(about + scale * (shape - about))[moment] for shape in shapes]

    for moment, alpha in enumerate(alphas):
        level = 3 + moment / len(alphas)
        axes.add_collection(
            PolyCollection(
                placed([shape for shape, *_ in faces], moment),
                facecolors=[to_rgba(colour, alpha * strength) for _, colour, _, strength in faces],
                edgecolors=[to_rgba(edge, alpha) for _, _, edge, _ in faces],
                linewidths=0.9,
                zorder=level,
            ),
            autolim=False,
        )
        for lines, colour, width in ((stripes, TREAD, 0.9), (bars, WHEEL, 2.2)):
            if lines:
                drawn = LineCollection(placed(lines, moment), colors=colour, linewidths=width, alpha=alpha)
                drawn.set(zorder=level + 0.01, capstyle="round" if lines is bars else "butt")
                axes.add_collection(drawn, autolim=False)
        for pivot in placed(pivots, moment):
            axes.fill(
                *pivot.T, facecolor=BODY, edgecolor=INK, linewidth=0.9, alpha=alpha, zorder=level + 0.02
            )
        if joints.size:
            (dots,) = placed([joints], moment)
            axes.plot(*dots.T, "o", markersize=4.5, color=COLOURS[0], alpha=alpha, zorder=level + 0.02)


def _faces(scene: Scene, view: str) -> list[tuple[FloatArray, str, str, float]]:
    """Corners over time, the colours of what is inside and of the edge, and how strong: bodies, the nearest last, then
    wheels.
    """
    plates = [(p, scene.places(Spot(p.frame, corner) for corner in p.corners)) for p in scene.plates]
    plates.sort(key=lambda plate: float(depth(plate[1][0], view).mean()))
    faces = [(project(at, view), BODY, INK, _ASSUMED if plate.assumed else 1.0) for plate, at in plates]
    return faces + [(silhouette(scene, wheel, view), WHEEL, WHEEL, 1.0) for wheel in scene.wheels]


def silhouette(scene: Scene, wheel: WheelShape, view: str) -> FloatArray:
    """A wheel's outline over time as it is seen, (T, n, 2): a sphere's, or a cylinder's, whose rim r(φ) is carried
    along the axle to the side that its outward normal points to.
    """
    centre = project(scene.place(Spot(wheel.frame)), view)[:, None]
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
    around = 2 * math.pi * np.arange(16) / 16
    (x, y, z), frame = wheel.pivot.at, wheel.pivot.frame
    spots = (Spot(frame, (x + r * math.cos(a), y + r * math.sin(a), z)) for a in around)
    return project(scene.places(spots), view)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
