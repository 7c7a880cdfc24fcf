"""Where a picture's plane is on the screen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray

# What is in sight is within this share of the window.
_FILLED = 0.86
# From how much of the window everything fills at least, to how many windows: pixels are whole numbers in C.
_LEAST, _MOST = 1e-3, 1e4


@dataclass(frozen=True)
class Camera:
    """`centre` (m, in the picture's plane) is in the middle of a window of `size` pixels, `scale` pixels a metre, y up;
    `fitted` is the scale at which everything is in sight.
    """

    centre: tuple[float, float]
    scale: float
    size: tuple[int, int]
    fitted: float

    @property
    def origin(self) -> tuple[int, int]:
        """The pixel of the plane's origin, a whole one: so tiles and what is drawn on them fit."""
        (x, y), (wide, tall) = self.centre, self.size
        return round(wide / 2 - self.scale * x), round(tall / 2 + self.scale * y)

    def on_screen(self, points: FloatArray) -> FloatArray:
        """Pixels (…, 2) of points (…, 2) in the plane."""
        return self.origin + points * (self.scale, -self.scale)

    def in_plane(self, pixel: tuple[float, float]) -> tuple[float, float]:
        """The point of the plane under a pixel."""
        (x, y), (left, top) = pixel, self.origin
        return (x - left) / self.scale, (top - y) / self.scale

    def zoomed(self, factor: float, about: tuple[float, float]) -> Camera:
        """Closer by a factor; what is under the pixel `about` stays there."""
        scale = min(max(self.scale * factor, _LEAST * self.fitted), _MOST * self.fitted)
        x, y = self.in_plane(about)
        (wide, tall), (left, top) = self.size, about
        return replace(
            self, scale=scale, centre=(x + (wide / 2 - left) / scale, y - (tall / 2 - top) / scale)
        )

    def panned(self, right: float, down: float) -> Camera:
        """Everything moved by so many pixels."""
        x, y = self.centre
        return replace(self, centre=(x - right / self.scale, y + down / self.scale))


def fitted(points: FloatArray, size: tuple[int, int], below: int = 0) -> Camera:
    """A camera that has all points (n, 2) in sight, above what covers so many pixels below."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    wide, tall = size
    scale = _FILLED * min(wide / float(span[0]), max(tall - below, 1) / float(span[1]))
    x, y = (low + high) / 2
    return Camera((float(x), float(y - below / 2 / scale)), scale, size, scale)
