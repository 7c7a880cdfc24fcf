"""Heights at the points of a grid, as a smooth surface: a biquadratic spline through them.

Quadratic splines need only nine numbers a place (cubic ones need 16), and are as smooth as a wheel's contact needs that
moves along: the slope is continuous. The curvature along an axis is constant along it within a cell. Along an axis
z = c₋ (½ − f)²/2 + c (¾ − f²) + c₊ (½ + f)²/2 about the nearest point, f in [−½, ½] cells from it. The coefficients c
solve c₋ + 6 c + c₊ = 8 z, so that the surface goes through all points (Unser 1999, "Splines: a perfect fit").
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
# The coefficients' filter is √2 p^|k|, p the root of p² + 6 p + 1 in the unit circle; p²⁴ is 4e-19.
_POLE, _REACH = 2 * np.sqrt(2.0) - 3, 24


@dataclass(frozen=True)
class HeightMap:
    """Splines over grids of `rows` (along y) and `columns` points, one behind another in a table.

    corner : x and y of the first point (m)
    spacing : between neighbours along x and y (m)
    repeats : whether the grid repeats itself without end
    """

    table: Table
    rows: int
    columns: int
    corner: tuple[float, float]
    spacing: tuple[float, float]
    repeats: bool = False

    @cached_property
    def tiles(self) -> int:
        """How many grids there are."""
        return self.table.values.size // self.size

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
        grids = self.table.values.reshape(-1, self.rows + 2, self.columns + 2)
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
        # A place on the edge counts, whatever rounding does to it.
        slack = 1e-9 * max(self.spacing)
        along = less(left - slack, x) * less(x, right + slack)
        return along * less(low - slack, y) * less(y, high + slack)

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
            moves, cells = less(held - cells, 1e-9) * less(cells - held, 1e-9), held
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
        "numbers": b64encode(numbers).decode("ascii"),
    }


def unpacked(data: Mapping[str, Any]) -> HeightMap:
    """The map of what `packed` gave; ValueError, TypeError or KeyError for anything else."""
    rows, columns = int(data["rows"]), int(data["columns"])
    if min(rows, columns) < 2 or rows * columns > MOST_POINTS:
        raise ValueError(f"a map of {rows} rows and {columns} columns")
    room = 8 * (rows + 2) * (columns + 2)
    # No more than what the map needs is asked for, whatever the compressed text claims.
    taken = zlib.decompressobj().decompress(b64decode(data["numbers"], validate=True), room + 1)
    if len(taken) != room:
        raise ValueError("another number of heights than its rows and columns say")
    values = np.frombuffer(taken, dtype="<f8")
    (x, y), (a, b) = (map(float, data[key]) for key in ("corner", "spacing"))
    return HeightMap(_table(values, columns), rows, columns, (x, y), (a, b), bool(data["repeats"]))


def _table(coefficients: FloatArray, columns: int) -> Table:
    """The table that programs look a grid's numbers up in: three of three lines in a row."""
    return Table(np.ascontiguousarray(coefficients).reshape(-1), 2 * (columns + 2) + 2)


def height_map(
    heights: npt.ArrayLike, corner: tuple[float, float], spacing: tuple[float, float], repeats: bool = False
) -> HeightMap:
    """The spline through heights (rows, columns), rows along y; beyond an edge it goes on straight, or repeats."""
    values = np.asarray(heights, dtype=np.float64)
    coefficients = _coefficients(_coefficients(values, repeats).T, repeats).T
    rows, columns = values.shape
    return HeightMap(_table(coefficients, columns), rows, columns, corner, spacing, repeats)


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
