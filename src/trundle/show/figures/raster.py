"""Triangles as pixels, of which the nearest is seen: what lies within or behind another can't come through."""

from __future__ import annotations

import numpy as np

from trundle.arrays import FloatArray


def nearest(corners: FloatArray, depths: FloatArray, size: tuple[int, int]) -> np.ndarray:
    """Which triangle is seen in the middle of every pixel, (tall, wide); -1 where none is.

    corners: (m, 3, 2) in pixels, from the lower left; depths: (m, 3), greater is nearer; size: wide, tall. Where
    triangles are equally near the last is seen.
    """
    wide, tall = size
    whose, y, left, right = _spans(corners, wide, tall)
    counts = right - left
    span = np.repeat(np.arange(counts.size), counts)
    x = left[span] + np.arange(span.size) - np.repeat(np.cumsum(counts) - counts, counts)
    triangle, y = whose[span], y[span]
    near = _plane(corners, depths, triangle, x + 0.5, y + 0.5)
    pixel = y * wide + x
    most = np.full(wide * tall, -np.inf)
    np.maximum.at(most, pixel, near)
    won = near == most[pixel]
    seen = np.full(wide * tall, -1)
    seen[pixel[won]] = triangle[won]
    return seen.reshape(tall, wide)


def _spans(
    corners: FloatArray, wide: int, tall: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows of pixels in triangles: whose, which row, from which column on, up to before which."""
    low, high = (end(corners[..., 1], axis=1) for end in (np.min, np.max))
    first, last = (np.clip(np.ceil(edge - 0.5), 0, tall).astype(int) for edge in (low, high))
    counts = np.maximum(last - first, 0)
    whose = np.repeat(np.arange(len(corners)), counts)
    y = first[whose] + np.arange(whose.size) - np.repeat(np.cumsum(counts) - counts, counts)
    a, b = corners, np.roll(corners, -1, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (b[..., 0] - a[..., 0]) / (b[..., 1] - a[..., 1])
        crossing = a[whose, :, 0] + (y[:, None] + 0.5 - a[whose, :, 1]) * slope[whose]
    middle = y[:, None] + 0.5
    crosses = (np.minimum(a[..., 1], b[..., 1])[whose] <= middle) & (
        middle < np.maximum(a[..., 1], b[..., 1])[whose]
    )
    left = np.where(crosses, crossing, np.inf).min(axis=1)
    right = np.where(crosses, crossing, -np.inf).max(axis=1)
    left, right = (np.clip(np.ceil(edge - 0.5), 0, wide).astype(int) for edge in (left, right))
    return whose, y, left, np.maximum(right, left)


def _plane(
    corners: FloatArray, depths: FloatArray, triangle: np.ndarray, x: np.ndarray, y: np.ndarray
) -> FloatArray:
    """Depths at points of triangles, by the planes through their corners."""
    (x0, y0), (u, v) = corners[:, 0].T, (corners[:, 1:] - corners[:, :1]).swapaxes(0, 1)
    first, second = (depths[:, 1:] - depths[:, :1]).T
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    area = np.where(np.abs(area) > 1e-12, area, np.inf)  # a line: as deep as its first corner
    along_x = (first * v[:, 1] - second * u[:, 1]) / area
    along_y = (second * u[:, 0] - first * v[:, 0]) / area
    start = depths[:, 0] - along_x * x0 - along_y * y0
    return start[triangle] + along_x[triangle] * x + along_y[triangle] * y
