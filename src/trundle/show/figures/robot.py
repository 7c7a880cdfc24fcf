"""A robot drawn into axes: bodies, wheels and bars as a scene has them, from any side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.image import AxesImage

from trundle.arrays import FloatArray
from trundle.show.drawing.scene import Scene, project
from trundle.show.figures.outlines import outlines
from trundle.show.figures.raster import nearest
from trundle.show.figures.shading import Shaded, shaded
from trundle.show.figures.style import BODY, COLOURS, INK, TREAD, WHEEL

# Bodies' own shapes have so many times a picture's pixels across, where they aren't faded.
_FINER, _FADED = 2, 0.5


def draw_scene(
    axes: Axes, scene: Scene, view: str, *, scale: float = 1.0, alphas: Sequence[float] = (1.0,)
) -> None:
    """The robot at every moment of the scene, one over the other, `alphas` giving how strongly; scaled about the point
    that is traced.
    """
    about = project(scene.place(scene.traced), view)[:, None]
    seen = outlines(scene, view)

    def placed(shapes: Sequence[FloatArray], moment: int) -> list[FloatArray]:
        return [(about + scale * (shape - about))[moment] for shape in shapes]

    # collections, no patches: for any of those the axes would look for their limits anew, in every picture of a film
    for moment, alpha in enumerate(alphas):
        level = 3 + moment / len(alphas)
        if scene.solids:
            _draw_solids(axes, shaded(scene, view, moment), about[moment], scale, alpha, level)
        axes.add_collection(
            PolyCollection(
                placed([face.corners for face in seen.faces], moment),
                facecolors=[to_rgba(face.colour, alpha * face.strength) for face in seen.faces],
                edgecolors=[to_rgba(face.edge, alpha) for face in seen.faces],
                linewidths=0.9,
                zorder=level + 0.005,
            ),
            autolim=False,
        )
        for lines, colour, width in ((seen.stripes, TREAD, 0.9), (seen.bars, WHEEL, 2.2)):
            if lines:
                drawn = LineCollection(placed(lines, moment), colors=colour, linewidths=width, alpha=alpha)
                drawn.set(zorder=level + 0.01, capstyle="round" if lines is seen.bars else "butt")
                axes.add_collection(drawn, autolim=False)
        if seen.pivots:
            discs = PolyCollection(placed(seen.pivots, moment), facecolors=BODY, edgecolors=INK, alpha=alpha)
            discs.set(linewidths=0.9, zorder=level + 0.02)
            axes.add_collection(discs, autolim=False)
        if seen.joints.size:
            (dots,) = placed([seen.joints], moment)
            axes.plot(*dots.T, "o", markersize=4.5, color=COLOURS[0], alpha=alpha, zorder=level + 0.02)


def _draw_solids(
    axes: Axes, seen: Shaded, about: FloatArray, scale: float, alpha: float, level: float
) -> None:
    """Bodies' own shapes, as pixels of which the nearest is seen; faded ones with fewer."""
    corners = about + scale * (seen.corners - about)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    low = np.maximum(corners.min(axis=(0, 1)), (min(left, right), min(bottom, top)))
    high = np.minimum(corners.max(axis=(0, 1)), (max(left, right), max(bottom, top)))
    if not (high > low).all():
        return  # out of sight
    pixel = abs(right - left) / max(axes.bbox.width, 1.0) / (_FINER if alpha > _FADED else 1)
    wide, tall = (max(1, math.ceil(length / pixel)) for length in high - low)
    triangle = nearest((corners - low) / pixel, seen.depths, (wide, tall))
    shades = np.zeros((len(corners) + 1, 4), np.uint8)  # the last for where none is
    shades[:-1] = (255 * seen.colours * [1, 1, 1, alpha]).round()
    ends = low[0], low[0] + wide * pixel, low[1], low[1] + tall * pixel
    drawn = AxesImage(axes, extent=ends, origin="lower", interpolation="bilinear", zorder=level)
    drawn.set_data(shades.view(np.uint32)[triangle, 0].view(np.uint8).reshape(tall, wide, 4))
    drawn.set_clip_path(axes.patch)
    axes.add_image(drawn)
