"""Ground by numbers: height maps, and random ground whose heights a seed makes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.robot.component import default
from trundle.robot.height_maps import MOST_POINTS, HeightMap, height_map, known_around
from trundle.robot.kinds import Read
from trundle.robot.surfaces import SURFACES, HeightSurface, Relief, Spot
from trundle.robot.values import Length, Positive, Ratio, Value, problem, read_value
from trundle.scalars import Scalar, where
from trundle.spatial.vectors import Vector

# How far off the ground is where a map has none (m): farther than any other surface, and no contact.
NOWHERE = 1e9
# Points of a tile of random ground a side at most, and points of the shortest wave at least: a spline through five
# points a wave has the wave's slope to 3 %.
_MOST_SIDE, _POINTS_A_WAVE = 2048, 5
# The curvature of the largest wheel (1/m): where no ground is more curved, the distance has one minimum along a circle.
_ROUND = 1.0
# Heights of random ground are whole multiples of this (m): sums of waves differ between machines by 1e-16.
_ROUNDED = 1e-9


def _rows(written: object) -> object:
    """Rows of heights from what NumPy takes for an array."""
    if written is None:
        return None
    try:
        heights = np.asarray(written, dtype=np.float64)
    except (TypeError, ValueError):
        raise problem("expected rows of heights (m), all of one length") from None
    _check_heights(heights)
    missing = int((~np.isfinite(heights)).sum())
    if missing:
        message = f"{missing} of {heights.size} heights are missing or no finite numbers"
        raise problem(message, "fill the gaps; or give the map as a file, which may have holes")
    return tuple(tuple(row) for row in heights.tolist())


def _check_heights(heights: FloatArray) -> None:
    """Raise pydantic's error for what is no map."""
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise problem(f"expected at least 2 rows of 2 heights, got an array of shape {heights.shape}")
    if heights.size > MOST_POINTS:
        raise problem(f"{heights.size:,} heights are too many", f"a map has {MOST_POINTS:,} at most")
    missing = ~np.isfinite(heights)
    if missing.any() and not known_around(missing)[1:-1, 1:-1].any():
        message = f"{int(missing.sum())} of {heights.size} heights are missing or no finite numbers"
        raise problem(message, "ground is where a point and its eight neighbours have heights: nowhere here")


class _MapSurface(HeightSurface):
    """Ground by a map: heights through a spline."""

    scale: Ratio = default(1.0, "Factor of all heights, default 1.")

    def map_of(self) -> HeightMap:
        """Its heights."""
        raise NotImplementedError

    def is_rough(self, read: Read) -> bool:
        """Whether waves may be shorter than a wheel; nobody looks."""
        return True

    def relief(self, x: Scalar, y: Scalar, read: Read) -> Relief:
        """The spline's height and derivatives."""
        factor = read(self.scale)
        return Relief(*(factor * part for part in self.map_of().relief(x, y)))


class GridSurface(_MapSurface):
    """A height map: heights at the points of a grid, a biquadratic spline through them."""

    type: Literal["grid"] = "grid"
    file: str | None = default(
        None, "File with the heights (m), from the description's folder: .npy, .asc, or .tif (GeoTIFF)."
    )
    heights: Annotated[tuple[tuple[float, ...], ...] | None, BeforeValidator(_rows)] = default(
        None, "The heights themselves (m) in rows along y, the first row at the least y."
    )
    spacing: Positive[Length] | None = default(
        None, "Between neighbours (m). Default: the file's own; NPY files and rows have none."
    )
    corner: tuple[Length, Length] | None = default(
        None,
        "Where the first point is, [x, y] (m). Default: the file's own; else the map's middle is the origin.",
    )
    edge: Literal["error", "clamp", "repeat"] = default(
        "error",
        "What lies beyond the map. error (default): nothing, and a run that gets there ends with time, wheel and "
        "place, as nobody measured that ground. clamp: the edge's heights go on, level. repeat: the map again.",
    )
    sha256: str | None = default(
        None, "Digest of the file's heights, which they are checked by. Runs write it."
    )
    _map: HeightMap | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _one_source(self) -> GridSurface:
        """Refuse a map of no or two sources, and rows without a spacing."""
        if (self.file is None) == (self.heights is None):
            came = "neither" if self.file is None else "both"
            raise problem(f"a grid needs a file or heights, got {came}", "file: map.npy, spacing: 10 cm")
        if self.heights is not None and self.spacing is None:
            raise problem("heights without a spacing", "say how far points are apart: spacing: 10 cm")
        return self

    @property
    def is_read(self) -> bool:
        """Whether its heights are there."""
        return self._map is not None

    def with_heights(
        self, heights: FloatArray, spacing: tuple[float, float] | None, corner: tuple[float, float] | None
    ) -> GridSurface:
        """The same with its file's heights; spacing and corner (m) as far as the file says them.

        Raises InputError for what is no map, or one without a spacing.
        """
        try:
            _check_heights(heights)
        except ValueError as error:
            raise InputError(str(error), key="file") from None
        if self.spacing is not None:
            spacing = (self.spacing.number, self.spacing.number)
        if spacing is None:
            message = f"{self.file!r} doesn't say how far its points are apart in metres"
            hint = (
                "say it: spacing: 10 cm; or take a map whose places are no degrees, in UTM's coordinates say"
            )
            raise InputError(message, key="spacing", hint=hint)
        found = self._placed(heights, spacing, corner)
        digest = found.table.digest
        if self.sha256 is not None and digest != self.sha256:
            message = f"{self.file!r} is another map than the one that is meant: its digest is {digest}"
            raise InputError(message, key="sha256", hint="take sha256 away where the new map is meant")
        # A run's description names no folders of the machine that it ran on.
        return self.model_copy(update={"sha256": digest, "file": PurePath(self.file or "").name}).with_map(
            found
        )

    def with_map(self, found: HeightMap) -> GridSurface:
        """The same with the heights of a map that was read."""
        made = self.model_copy()
        made._map = found  # pyright: ignore[reportAttributeAccessIssue]  # private, of a copy
        return made

    def _placed(
        self, heights: FloatArray, spacing: tuple[float, float], corner: tuple[float, float] | None
    ) -> HeightMap:
        if self.corner is not None:
            corner = (self.corner[0].number, self.corner[1].number)
        if corner is None:
            rows, columns = heights.shape
            corner = (-spacing[0] * (columns - 1) / 2, -spacing[1] * (rows - 1) / 2)
        return height_map(heights, corner, spacing, self.edge == "repeat")

    def map_of(self) -> HeightMap:
        """Its heights; InputError where its file wasn't read."""
        if self._map is None:
            if self.heights is None or self.spacing is None:
                raise InputError(
                    f"the heights of {self.file!r} were not read",
                    key="file",
                    hint="trundle.load reads the file beside a description, terrain=… that of a mapping",
                )
            apart = self.spacing.number
            found = self._placed(np.array(self.heights), (apart, apart), None)
            self._map = found  # pyright: ignore[reportAttributeAccessIssue]  # private, kept
            return found
        return self._map

    def is_rough(self, read: Read) -> bool:
        """Whether it is anywhere more curved than a wheel of a radius of 1 m, the largest that is thought of."""
        factor = read(self.scale)
        return not isinstance(factor, (int, float)) or self.map_of().bend * abs(factor) > _ROUND

    @property
    def ends(self) -> bool:
        """Whether there are places of which it says nothing."""
        return self.edge == "error" or self.map_of().holes

    def covers(self, x: Scalar, y: Scalar) -> Scalar:
        """1 on the map, and beyond where `edge` says what is there, but for its holes."""
        known = self.map_of().measured(x, y)
        return self.map_of().inside(x, y) * known if self.edge == "error" else known

    def spot(self, point: Vector, read: Read) -> Spot:
        """As of heights; nowhere near where the map has ended and says nothing of what is beyond, and in its holes."""
        spot = super().spot(point, read)
        if not self.ends:
            return spot
        return spot._replace(distance=where(self.covers(*point[:2]), spot.distance, NOWHERE))

    def words(self, read: Read) -> str:
        """Its file or size."""
        if self.file is not None:
            return f"map {self.file}"
        rows = self.heights or ()
        return f"map of {len(rows)} × {len(rows[0]) if rows else 0} points"


class FractalSurface(_MapSurface):
    """Random ground of many wavelengths, made by a seed: self-similar between two wavelengths, a tile that repeats.

    Waves k of random phase with amplitudes ∝ |k|^−(H + 1), so that heights h apart differ by about h^H.
    """

    type: Literal["fractal"] = "fractal"
    slope: Positive[Ratio] = Field(description="Root mean square of its slope, √(mean |∇h|²).")
    shortest: Positive[Length] = Field(description="Shortest wavelength (m).")
    longest: Positive[Length] | None = default(
        None, "Longest wavelength (m). Default: 16 times the shortest."
    )
    hurst: Ratio = default(
        0.8, "Hurst's exponent H, 0 (rough) to 1 (smooth), default 0.8; the fractal dimension is 3 − H."
    )
    seed: int = Field(0, ge=0, strict=True, description="Which ground of this kind, default 0.")
    tile: Positive[Length] | None = default(
        None,
        "Length after which it repeats itself along x and y (m). Default: 4 times the longest wavelength.",
    )
    _tiles: tuple[HeightMap, Value] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _resolved(self) -> FractalSurface:
        """Refuse wavelengths out of order, and tiles of too many points."""
        if any(value.names for value in (self.shortest, self.hurst, self.slope)):
            return self  # said by the terrain
        shortest, longest, tile = self._lengths
        if not shortest < longest <= tile:
            message = f"wavelengths from {shortest:g} to {longest:g} m on a tile of {tile:g} m"
            raise problem(message, "shortest < longest <= tile", ("longest",))
        if not 0 <= self.hurst.number <= 1:
            raise problem(f"hurst must be from 0 to 1, got {self.hurst.number:g}", at=("hurst",))
        if self._side > _MOST_SIDE:
            message = f"a tile of {tile:g} m with waves of {shortest:g} m needs {self._side} points a side"
            raise problem(message, f"at most {_MOST_SIDE}: take a shorter tile", ("tile",))
        return self

    @property
    def _lengths(self) -> tuple[float, float, float]:
        shortest = self.shortest.number
        longest = 16 * shortest if self.longest is None else self.longest.number
        return shortest, longest, 4 * longest if self.tile is None else self.tile.number

    @property
    def _side(self) -> int:
        shortest, _, tile = self._lengths
        return 2 ** math.ceil(math.log2(_POINTS_A_WAVE * tile / shortest))

    def map_of(self) -> HeightMap:
        """Its tile."""
        return self.tile_of(self.seed)

    def tile_of(self, seed: int) -> HeightMap:
        """The tile of another seed."""
        return _tile(seed, self._lengths, self._side, self.hurst.number, self.slope.number)

    def of_seeds(self, seeds: Iterable[int]) -> tuple[FractalSurface, Value]:
        """Ground of several seeds at once, and the number that says which of these it is, counted from 0."""
        first, *others = (self.tile_of(seed) for seed in seeds)
        made, which = self.model_copy(), read_value(0.0)
        tiles = first.with_tiles(*others), which
        made._tiles = tiles  # pyright: ignore[reportAttributeAccessIssue]  # private, of a copy
        return made, which

    def relief(self, x: Scalar, y: Scalar, read: Read) -> Relief:
        """The tile's, or that of the seed that is asked for."""
        if self._tiles is None:
            return super().relief(x, y, read)
        tiles, which = self._tiles
        factor = read(self.scale)
        return Relief(*(factor * part for part in tiles.relief(x, y, read(which))))

    def words(self, read: Read) -> str:
        """Its roughness and seed."""
        return f"random ground of slope {self.slope.number:g} rms from {self.shortest.number:g} m up, seed {self.seed}"


@lru_cache(maxsize=8)
def _tile(seed: int, lengths: tuple[float, float, float], side: int, hurst: float, slope: float) -> HeightMap:
    """Waves of random phase and size on a torus, their sum scaled to the slope; lengths: shortest, longest, the tile's.

    The generator's raw bits stay the same in every version of NumPy; its numbers of a distribution need not.
    """
    shortest, longest, tile = lengths
    wave = np.fft.fftfreq(side, 1 / side)
    square = wave[:, None] ** 2 + wave**2
    size = np.sqrt(np.maximum(square, 1.0))
    kept = (size >= tile / longest * (1 - 1e-12)) & (size <= tile / shortest * (1 + 1e-12)) & (square > 0)
    turns = (np.random.PCG64(seed).random_raw(side * side) >> np.uint64(11)) * 2.0**-53
    phases = np.exp(2j * np.pi * turns.reshape(side, side))
    spectrum = np.where(kept, size ** -(hurst + 1), 0.0) * phases
    heights = np.fft.ifft2(spectrum).real
    parts = np.fft.fft2(heights)
    found = np.sqrt((np.abs(parts) ** 2 * square).sum()) * (2 * np.pi / tile) / side**2
    heights = np.round(heights * (slope / found) / _ROUNDED) * _ROUNDED
    return height_map(heights, (0.0, 0.0), (tile / side, tile / side), repeats=True)


SURFACES.add(GridSurface, FractalSurface)
