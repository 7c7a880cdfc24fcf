"""The ground and the trail on it, drawn once onto tiles that move with the camera.

A trail grows by what came since the last frame, whatever its length: its cost doesn't grow with time. Zooming starts
new tiles, and a tile draws all of the trail once when it comes in sight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pygame

from trundle.arrays import FloatArray
from trundle.show.figures.style import COLOURS
from trundle.show.window.camera import Camera

BACK, GRID, AXIS = "#fbfcfd", "#e8ecf1", "#ccd4de"
TRAIL = COLOURS[0]
# Pixels of a tile's side; how many are kept; how near points of a trail are thinned to; between lines of the grid.
_SIDE, _KEPT, _APART, _GRID = 512, 64, 0.7, 90
# Half of the trail's width (points).
_HALF = 1.1

# Copies of the trail are shifted these ways: together they are a wide line, drawn by lines a point wide.
_WAYS = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))


@dataclass
class _Tile:
    """A piece of ground; how many of the trail's points it has had to look at."""

    surface: pygame.Surface
    done: int = 0


class TrailGround:
    """Tiles by their place at one scale, and the trail in pixels at that scale, thinned."""

    def __init__(self, grid: bool = True, width: float = 1.0) -> None:
        self.grid, self.width = grid, width
        # Smooth lines of pygame's are one pixel wide: a trail is several side by side.
        self.beside = [(r * dx, r * dy) for r in np.arange(0.6, _HALF * width, 0.8) for dx, dy in _WAYS]
        self.clear(1.0)

    def clear(self, scale: float) -> None:
        """Forget the trail and all tiles."""
        self.scale, self.tiles = scale, dict[tuple[int, int], _Tile]()
        self.trail, self.count, self.taken = np.zeros((256, 2)), 0, 0

    def draw(self, screen: pygame.Surface, camera: Camera, points: FloatArray | Sequence[FloatArray]) -> None:
        """The ground in sight with the trail so far, (n, 2) in m: the same points as at the last call and more, or it
        starts anew.
        """
        if camera.scale != self.scale or len(points) < self.taken:
            self.clear(camera.scale)
        self._take(points)
        left, top = camera.origin
        wide, tall = screen.get_size()
        for i in range(math.floor(-left / _SIDE), (wide - left - 1) // _SIDE + 1):
            for j in range(math.floor(-top / _SIDE), (tall - top - 1) // _SIDE + 1):
                screen.blit(self._tile(i, j), (left + i * _SIDE, top + j * _SIDE))

    def draw_tail(self, screen: pygame.Surface, ends: FloatArray) -> None:
        """Draw the line from the trail's last point to where the robot is now; `ends` are two pixels (2, 2)."""
        for way in self.beside:
            pygame.draw.aalines(screen, TRAIL, False, (ends + way).tolist())

    def _take(self, points: FloatArray | Sequence[FloatArray]) -> None:
        """New points in pixels, those left out that are nearly where the last one is."""
        fresh = np.array(points[self.taken :]).reshape(-1, 2) * (self.scale, -self.scale)
        self.taken = len(points)
        if not len(fresh):
            return
        before = self.trail[self.count - 1 : self.count] if self.count else fresh[:1]
        way = np.cumsum(np.hypot(*np.diff(np.concatenate([before, fresh]), axis=0).T))
        cells = np.floor(way / _APART)
        kept = (
            fresh[np.diff(cells, prepend=0.0) > 0] if self.count else fresh[np.diff(cells, prepend=-1.0) > 0]
        )
        need = self.count + len(kept)
        if need > len(self.trail):
            more = np.zeros((max(need, 2 * len(self.trail)), 2))
            more[: self.count] = self.trail[: self.count]
            self.trail = more
        self.trail[self.count : need] = kept
        self.count = need

    def _tile(self, i: int, j: int) -> pygame.Surface:
        """The tile at a place with all of the trail on it."""
        tile = self.tiles.pop((i, j), None) or _Tile(self._paved(i, j))
        if len(self.tiles) >= _KEPT:  # the one that was out of sight for longest
            del self.tiles[next(iter(self.tiles))]
        self.tiles[i, j] = tile
        if self.count > max(tile.done, 1):
            self._extend(tile, i, j)
        return tile.surface

    def _extend(self, tile: _Tile, i: int, j: int) -> None:
        """Draw what a tile hasn't looked at yet: the stretches of it that come near."""
        line = self.trail[max(tile.done - 1, 0) : self.count] - (i * _SIDE, j * _SIDE)
        tile.done = self.count
        low, high = np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])
        near = ((high > -4 * self.width) & (low < _SIDE + 4 * self.width)).all(axis=1)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]]).astype(int)))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            for way in self.beside:
                pygame.draw.aalines(tile.surface, TRAIL, False, (line[a : b + 1] + way).tolist())

    def _paved(self, i: int, j: int) -> pygame.Surface:
        """A tile without a trail."""
        surface = pygame.Surface((_SIDE, _SIDE))
        surface.fill(BACK)
        if self.grid:
            step = nice_length(_GRID * self.width / self.scale) * self.scale
            for axis, first in enumerate((i * _SIDE, j * _SIDE)):
                for k in range(math.ceil(first / step), math.floor((first + _SIDE - 1) / step) + 1):
                    at = round(k * step) - first
                    ends = ((at, 0), (at, _SIDE)) if axis == 0 else ((0, at), (_SIDE, at))
                    pygame.draw.line(surface, GRID if k else AXIS, *ends)
        return surface


def nice_length(least: float) -> float:
    """The smallest of 1, 2, 5, 10, … (times a power of ten) that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
