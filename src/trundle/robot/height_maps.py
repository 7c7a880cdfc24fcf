"""Heights at the points of a grid, as a smooth surface: a biquadratic spline through them.

Quadratic splines need only nine numbers a place (cubic ones need 16), and are as smooth as a wheel's contact needs that
moves along: the slope is continuous. The curvature along an axis is constant along it within a cell. Along an axis
z = c₋ (½ − f)²/2 + c (¾ − f²) + c₊ (½ + f)²/2 about the nearest point, f in [−½, ½] cells from it. The coefficients c
solve c₋ + 6 c + c₊ = 8 z, so that the surface goes through all points (Unser 1999, "Splines: a perfect fit").

Where a height is missing there is no surface: neither at that point nor where its coefficient counts, 1.5 cells around.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.scalars import Scalar, clamp, floor, less, lookup
from trundle.tables import Table

# Points of a map at most: 0.5 GB of numbers.
MOST_POINTS = 2**26
# Places are known to so many units in their last digit, as sums and differences of coordinates round.
_ROUNDS = 8 * float(np.finfo(float).eps)
# The coefficients' filter is √2 p^|k|, p the root of p² + 6 p + 1 in the unit circle; p²⁴ is 4e-19.
_POLE, _REACH = 2 * np.sqrt(2.0) - 3, 24


@dataclass(frozen=True)
class HeightMap:
    """Splines over grids of `rows` (along y) and `columns` points, one behind another in a table.

    corner : x and y of the first point (m)
    spacing : between neighbours along x and y (m)
    repeats : whether the grid repeats itself without end
    holes : whether heights are missing; then a last grid of the table has 1 where the surface is known around a point
    """

    table: Table
    rows: int
    columns: int
    corner: tuple[float, float]
    spacing: tuple[float, float]
    repeats: bool = False
    holes: bool = False

    @cached_property
    def tiles(self) -> int:
        """How many grids of heights there are."""
        return self.table.values.size // self.size - self.holes

    @property
    def coverage(self) -> np.ndarray:
        """Around which points (rows, columns) the surface is known."""
        if not self.holes:
            return np.ones((self.rows, self.columns), dtype=bool)
        return self._grids[-1, 1:-1, 1:-1] > 0

    @property
    def _grids(self) -> FloatArray:
        return self.table.values.reshape(-1, self.rows + 2, self.columns + 2)

    @property
    def size(self) -> int:
        """Numbers of a grid in the table."""
        return (self.rows + 2) * (self.columns + 2)

    @property
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """From where to where it lies along x and y (m); of one tile, where it repeats."""
        counts = (self.columns, self.rows) if self.repeats else (self.columns - 1, self.rows - 1)
        (x, y), (a, b) = self.corner, self.spacing
        return (x, x + counts[0] * a), (y, y + counts[1] * b)

    @cached_property
    def bend(self) -> float:
        """A bound of all curvatures (1/m): second derivatives are means of the coefficients' second differences."""
        grids = self._grids[: self.tiles]
        (a, b), x, y = self.spacing, np.diff(grids, axis=2), np.diff(grids, axis=1)
        along, across = np.abs(np.diff(x, axis=2)).max() / a**2, np.abs(np.diff(y, axis=1)).max() / b**2
        return float(max(along, across) + np.abs(np.diff(x, axis=1)).max() / (a * b))

    def with_tiles(self, *others: HeightMap) -> HeightMap:
        """The same with further grids of the same measures behind its own."""
        values = np.concatenate([self.table.values, *(each.table.values for each in others)])
        return HeightMap(
            Table(values, self.table.reach), self.rows, self.columns, self.corner, self.spacing, self.repeats
        )

    def inside(self, x: Scalar, y: Scalar) -> Scalar:
        """1 where a place lies on the grid, else 0; 1 everywhere where it repeats."""
        if self.repeats:
            return 1
        (left, right), (low, high) = self.extent
        along, across = (self._slack(axis) * self.spacing[axis] for axis in (0, 1))
        within = less(left - along, x) * less(x, right + along)
        return within * less(low - across, y) * less(y, high + across)

    def measured(self, x: Scalar, y: Scalar) -> Scalar:
        """1 where no height is missing around a place, else 0."""
        if not self.holes:
            return 1
        column, row = (self._place(at, axis)[0] for axis, at in enumerate((x, y)))
        index = (row + 1) * (self.columns + 2) + column + 1
        return lookup(self.table, index + self.tiles * self.size - self.table.reach, self.table.reach)

    def _slack(self, axis: int) -> float:
        """How far beyond an edge a place still counts as on it (cells), whatever rounding does to it."""
        farthest = max(abs(end) for end in self.extent[axis])
        return max(1e-9, _ROUNDS * farthest / self.spacing[axis])

    def relief(self, x: Scalar, y: Scalar, tile: Scalar = 0) -> tuple[Scalar, ...]:
        """h, h_x, h_y, h_xx, h_xy, h_yy in cells' own measures turned to m; beyond an edge h is the edge's, level."""
        column, f, moves = self._place(x, 0)
        row, g, rises = self._place(y, 1)
        index = row * (self.columns + 2) + column + tile * self.size
        lines: list[tuple[Scalar, Scalar, Scalar]] = []
        for start in (0, self.columns + 2, 2 * (self.columns + 2)):
            before, here, after = (lookup(self.table, index, start + k) for k in range(3))
            lines.append(_along(before, here, after, f))
        (h, hy, hyy), (hx, hxy, _), (hxx, _, _) = (_along(a, b, c, g) for a, b, c in zip(*lines, strict=True))
        a, b = moves / self.spacing[0], rises / self.spacing[1]
        return h, a * hx, b * hy, a * a * hxx, a * b * hxy, b * b * hyy

    def _place(self, at: Scalar, axis: int) -> tuple[Scalar, Scalar, Scalar]:
        """The nearest point's number along an axis, cells from it, and 1 (0 beyond an edge, where nothing changes)."""
        count = (self.columns, self.rows)[axis]
        cells = (at - self.corner[axis]) * (1 / self.spacing[axis])
        moves: Scalar = 1
        if not self.repeats:
            middle = (count - 1) / 2
            held = middle + clamp(cells - middle, middle)
            slack = self._slack(axis)
            moves, cells = less(held - cells, slack) * less(cells - held, slack), held
        nearest = floor(cells + 0.5)
        number = nearest - count * floor(nearest * (1 / count)) if self.repeats else nearest
        return number, cells - nearest, moves


@lru_cache(maxsize=4)
def packed(found: HeightMap) -> Mapping[str, object]:
    """A map as plain data that JSON can hold: measures, and the spline's numbers compressed."""
    numbers = zlib.compress(np.asarray(found.table.values, dtype="<f8").tobytes(), 1)
    return {
        "rows": found.rows,
        "columns": found.columns,
        "corner": list(found.corner),
        "spacing": list(found.spacing),
        "repeats": found.repeats,
        "holes": found.holes,
        "numbers": b64encode(numbers).decode("ascii"),
    }


def unpacked(data: Mapping[str, Any]) -> HeightMap:
    """The map of what `packed` gave; ValueError, TypeError or KeyError for anything else."""
    rows, columns = int(data["rows"]), int(data["columns"])
    if min(rows, columns) < 2 or rows * columns > MOST_POINTS:
        raise ValueError(f"a map of {rows} rows and {columns} columns")
    holes = bool(data.get("holes", False))
    room = 8 * (rows + 2) * (columns + 2) * (1 + holes)
    # No more than what the map needs is asked for, whatever the compressed text claims.
    taken = zlib.decompressobj().decompress(b64decode(data["numbers"], validate=True), room + 1)
    if len(taken) != room:
        raise ValueError("another number of heights than its rows and columns say")
    values = np.frombuffer(taken, dtype="<f8")
    (x, y), (a, b) = (map(float, data[key]) for key in ("corner", "spacing"))
    return HeightMap(_table(values, columns), rows, columns, (x, y), (a, b), bool(data["repeats"]), holes)


def _table(coefficients: FloatArray, columns: int) -> Table:
    """The table that programs look a grid's numbers up in: three of three lines in a row."""
    return Table(np.ascontiguousarray(coefficients).reshape(-1), 2 * (columns + 2) + 2)


def height_map(
    heights: npt.ArrayLike, corner: tuple[float, float], spacing: tuple[float, float], repeats: bool = False
) -> HeightMap:
    """The spline through heights (rows, columns), rows along y; beyond an edge it goes on straight, or repeats.

    What is no finite number is missing.
    """
    values = np.asarray(heights, dtype=np.float64)
    missing = ~np.isfinite(values)
    holes = bool(missing.any())
    if holes:
        values = _filled(values, missing)
    coefficients = _coefficients(_coefficients(values, repeats).T, repeats).T
    if holes:
        coefficients = np.concatenate([coefficients, known_around(missing, repeats)])
    rows, columns = values.shape
    return HeightMap(_table(coefficients, columns), rows, columns, corner, spacing, repeats, holes)


def known_around(missing: np.ndarray, repeats: bool = False) -> np.ndarray:
    """Around which points the surface is known, as none of the nine there is missing; one more point at every end."""
    from scipy.ndimage import binary_dilation  # late: few maps have holes

    wide = np.pad(missing, 1, mode="wrap" if repeats else "edge")
    return ~np.asarray(binary_dilation(wide, np.ones((3, 3))), dtype=bool)


def _filled(values: FloatArray, missing: np.ndarray) -> FloatArray:
    """Heights with numbers where they are missing, so that the spline's filter has some.

    From the rim inward the mean of the straight lines through two neighbours, or of single ones where there is no line
    anywhere: planes go on. Farther in than the filter reaches nothing counts.
    """
    from scipy.ndimage import binary_dilation  # late, as above

    result = np.pad(np.where(missing, np.nan, values), 2, constant_values=np.nan)
    steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    for _ in range(_REACH):
        known = np.isfinite(result)
        rim = np.asarray(binary_dilation(known, np.ones((3, 3)))) & ~known
        rows, columns = (places + 2 for places in np.nonzero(rim[2:-2, 2:-2]))
        near, farther = (np.array([result[rows + k * i, columns + k * j] for i, j in steps]) for k in (1, 2))
        straight = 2 * near - farther
        lines = np.isfinite(straight)
        ready = lines.any(axis=0)
        guess = straight if ready.any() else near
        ready |= ~ready.any()
        filled = np.nansum(guess[:, ready], axis=0) / np.isfinite(guess[:, ready]).sum(axis=0)
        result[rows[ready], columns[ready]] = filled
    return np.where(np.isfinite(result), result, np.nanmean(values[~missing]))[2:-2, 2:-2]


def _coefficients(values: FloatArray, repeats: bool) -> FloatArray:
    """c of c₋ + 6 c + c₊ = 8 z along the first axis, with one more at both ends.

    A sum of shifted rows, so that every machine has the same bits. Beyond an end z goes on as 2 z₀ − z, mirrored: then
    so does c, and the end's second difference is 0.
    """
    count = len(values)
    reach = _REACH + 1
    if repeats:
        places = np.arange(-reach, count + reach) % count
        wide = values[places]
    else:
        wide = _mirrored(values, reach)
    result = np.sqrt(2.0) * wide[_REACH : len(wide) - _REACH]
    for k in range(1, _REACH + 1):
        pair = wide[_REACH - k : len(wide) - _REACH - k] + wide[_REACH + k : len(wide) - _REACH + k]
        result = result + np.sqrt(2.0) * _POLE**k * pair
    return result


def _mirrored(values: FloatArray, reach: int) -> FloatArray:
    """Rows with so many more at both ends, mirrored through the end's own; short ones go back and forth."""
    wide = values
    while len(wide) < len(values) + 2 * reach:
        more = min(len(wide) - 1, reach)
        first, last = wide[:1], wide[-1:]
        wide = np.concatenate([2 * first - wide[more:0:-1], wide, 2 * last - wide[-2 : -more - 2 : -1]])
    spare = (len(wide) - len(values)) // 2 - reach
    return wide[spare : len(wide) - spare]


def _along(before: Scalar, here: Scalar, after: Scalar, f: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """A spline's value and its first two derivatives by f, from three coefficients."""
    bend = (before + after) / 2 - here
    slope = (after - before) / 2
    return here + bend / 4 + f * (slope + f * bend), slope + 2 * f * bend, 2 * bend
