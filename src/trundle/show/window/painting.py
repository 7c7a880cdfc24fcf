"""A robot at one moment on the screen: its outlines, and arrows of what acts on it."""

from __future__ import annotations

import numpy as np
import pygame

from trundle.arrays import FloatArray
from trundle.show.drawing.scene import Scene, project
from trundle.show.figures.arrows import FORCE, MOMENT, arrow_lines
from trundle.show.figures.outlines import Face, outlines
from trundle.show.figures.shading import shaded
from trundle.show.figures.style import BODY, COLOURS, INK, TREAD, WHEEL
from trundle.show.window.camera import Camera

_JOINT, _TRACED, _RING = COLOURS[0], COLOURS[1], COLOURS[1]
# Pixels: shorter arrows are left out, and have a smaller head; half a head's width and its length.
_SHORTEST, _SHORT, _HALF, _HEAD = 1.0, 12.0, 4.0, 9.0


def paint(screen: pygame.Surface, scene: Scene, view: str, camera: Camera, unit: float) -> None:
    """The robot at a scene's only moment; `unit` is how many pixels a point of a line is wide."""
    seen = outlines(scene, view)
    if scene.solids:
        shapes = shaded(scene, view, 0)
        colours = np.round(255 * shapes.colours[:, :3]).astype(int).tolist()
        for points, colour in zip(camera.on_screen(shapes.corners).tolist(), colours, strict=True):
            pygame.draw.polygon(screen, colour, points)
    for face in seen.faces:
        _fill(screen, face, camera.on_screen(face.corners[0]))
    for pivot in seen.pivots:
        _fill(screen, Face(pivot, BODY, INK), camera.on_screen(pivot[0]))
    for lines, colour, width in ((seen.stripes, TREAD, 1.0), (seen.bars, WHEEL, 3.0)):
        ends = camera.on_screen(np.array([line[0] for line in lines]).reshape(-1, 2, 2))
        for a, b in ends[np.isfinite(ends).all(axis=(1, 2))].tolist():
            pygame.draw.aaline(screen, colour, a, b, max(1, round(width * unit)))
    for at in camera.on_screen(seen.joints[0]).tolist():
        pygame.draw.aacircle(screen, "white", at, 5.0 * unit)
        pygame.draw.aacircle(screen, _JOINT, at, 4.0 * unit)
    if scene.base == "fixed":
        pygame.draw.aacircle(
            screen,
            _TRACED,
            camera.on_screen(project(scene.place(scene.traced), view)[0]).tolist(),
            3.5 * unit,
        )


def _fill(screen: pygame.Surface, face: Face, corners: FloatArray) -> None:
    """A polygon with a smooth edge, shone through where it is weaker."""
    points = corners.tolist()
    if face.strength < 1:
        low = np.floor(corners.min(axis=0)).clip(0, screen.get_size())
        high = np.ceil(corners.max(axis=0) + 1).clip(0, screen.get_size())
        if (high > low).all():
            glass = pygame.Surface((high - low).astype(int).tolist(), pygame.SRCALPHA)
            colour = pygame.Color(face.colour)
            colour.a = round(255 * face.strength)
            pygame.draw.polygon(glass, colour, (corners - low).tolist())
            screen.blit(glass, low.astype(int).tolist())
    else:
        pygame.draw.polygon(screen, face.colour, points)
    pygame.draw.aalines(screen, face.edge, True, points)


def paint_arrows(screen: pygame.Surface, scene: Scene, view: str, camera: Camera, unit: float) -> None:
    """Forces and moments at the scene's only moment."""
    for arrow in scene.arrows:
        for line in arrow_lines(arrow, view):
            points = camera.on_screen(line)
            if (length := float(np.ptp(points, axis=0).max())) >= _SHORTEST * unit:
                _arrow(
                    screen, MOMENT if arrow.turns else FORCE, points, unit, min(1.0, length / (_SHORT * unit))
                )


def _arrow(screen: pygame.Surface, colour: str, line: FloatArray, unit: float, share: float) -> None:
    """A line (n, 2) in pixels with a head at its end, which is as small as a `share` says."""
    tip, way = line[-1], line[-1] - line[-2]
    way = way / max(float(np.hypot(*way)), 1e-12)
    back, across = (
        tip - share * _HEAD * unit * way,
        share * _HALF * unit * np.array([-way[1], way[0]]),
    )
    for a, b in zip(line[:-1], [*line[1:-1], back], strict=True):
        pygame.draw.aaline(screen, colour, a.tolist(), b.tolist(), max(1, round(2.4 * unit)))
    head = [tip.tolist(), (back + across).tolist(), (back - across).tolist()]
    pygame.draw.polygon(screen, colour, head)
    pygame.draw.aalines(screen, colour, True, head)


def paint_ring(screen: pygame.Surface, at: FloatArray, unit: float) -> None:
    """Draw a ring around a robot that is too small to be seen."""
    pygame.draw.aacircle(screen, _RING, at.tolist(), 16 * unit, max(1, round(2 * unit)))
