"""A robot drawn into axes: bodies, wheels and bars as a scene has them, from any side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba

from trundle.results.arrays import FloatArray
from trundle.scene import Numbers, Scene, Spot, WheelShape, depth, project
from trundle.show.style import BODY, COLOURS, INK, WHEEL

# A wheel without a width is drawn with this share of its radius.
_SLIM = 0.3
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
    stripes = [project(scene.places(ends), view) for w in scene.wheels for ends in _rollers(w)]
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
        for lines, colour, width in ((stripes, "white", 0.9), (bars, WHEEL, 2.2)):
            if lines:
                drawn = LineCollection(placed(lines, moment), colors=colour, linewidths=width, alpha=alpha)
                drawn.set(zorder=level + 0.01, capstyle="round" if lines is bars else "butt")
                axes.add_collection(drawn, autolim=False)
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
    half = (wheel.width or _SLIM * wheel.radius) / 2
    return centre + wheel.radius * (along * cos + up * sin) + half * side * axle


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _rollers(wheel: WheelShape) -> Iterator[tuple[Spot, Spot]]:
    """Stripes along the rollers as seen from above: those on top slant the other way than the one on the ground."""
    if wheel.roller_angle is None:
        return
    half, r = (wheel.width or _SLIM * wheel.radius) / 2, wheel.radius
    slope = math.tan(min(max(wheel.roller_angle, -1.2), 1.2))
    lean, across = min(half * abs(slope), 0.35 * r) * (1 if slope > 0 else -1), half
    if abs(wheel.roller_angle) > 1.2:  # omni: rollers along the rim
        lean, across = 0.12 * r, 0.0
    for middle in np.linspace(-0.6, 0.6, 4) * r:
        ends: tuple[Numbers, Numbers] = ((middle + lean, -across, r), (middle - lean, across, r))
        yield Spot(wheel.frame, ends[0]), Spot(wheel.frame, ends[1])
