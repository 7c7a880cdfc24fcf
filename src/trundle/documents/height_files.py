"""Height maps from files: NumPy's arrays, ESRI's ASCII grids, GeoTIFF. Reading one runs nothing that it holds."""

from __future__ import annotations

import math
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.extras import load
from trundle.files import is_utf16, read_bytes_start
from trundle.operating_system import with_slashes
from trundle.robot.gridded import GridSurface
from trundle.robot.height_maps import packed, unpacked
from trundle.robot.terrain import Terrain

# Bytes of a file at most: a map of the most points as text.
_MOST_BYTES = 2**30
# Numbers of the largest map that a run keeps (8 MB): of larger ones it has file and digest.
_MOST_CARRIED = 2**20
# Heights that differ by more than this many times a map's length stand on places in degrees, which text doesn't say.
_STEEPEST = 10.0
# How many maps that were read stay known by name and digest, for descriptions that runs hold.
_KEPT = 8
# Tags of GeoTIFF: a pixel's size, a pixel's place, what stands for no height; whether pixels are points.
_SIZE, _PLACE, _NO_HEIGHT, _KEYS = 33550, 33922, 42113, 34735
_RASTER_TYPE, _POINTS = 1025, 2
# What its places are, if not degrees or unknown; their unit, if not the metre.
_MODEL_TYPE, _PROJECTED, _UNIT, _METRE = 1024, 1, 3076, 9001


class Heights(NamedTuple):
    """Heights (rows, columns) in m, the first row at the least y; spacing along x and y and the first point's x and y
    (m), where a file says them.
    """

    values: FloatArray
    spacing: tuple[float, float] | None = None
    corner: tuple[float, float] | None = None


_KNOWN: OrderedDict[tuple[str, str], Heights] = OrderedDict()


def with_maps(terrain: Terrain, folder: Path | None = None) -> Terrain:
    """The terrain with the heights of its maps' files, whose names start from a folder (by default the working one).

    Raises InputError, keyed `terrain.surfaces.NAME.…`, for files that aren't there or are no maps.
    """
    surfaces = dict(terrain.surfaces)
    for name, surface in surfaces.items():
        if isinstance(surface, GridSurface):
            try:
                surfaces[name] = _read(surface, folder or Path())
            except InputError as error:
                key = f"terrain.surfaces.{name}.{error.key or 'file'}"
                raise InputError(error.message, key=key, hint=error.hint) from None
    changed = any(surface is not terrain.surfaces[name] for name, surface in surfaces.items())
    return terrain.model_copy(update={"surfaces": surfaces}) if changed else terrain


def packed_maps(terrain: Terrain) -> dict[str, Mapping[str, object]]:
    """The maps of files as plain data by their digests, for runs, which then need no file; larger ones are left out."""
    grids = [surface for surface in terrain.surfaces.values() if isinstance(surface, GridSurface)]
    maps = {grid.sha256: grid.map_of() for grid in grids if grid.sha256}
    return {
        digest: packed(found) for digest, found in maps.items() if found.table.values.size <= _MOST_CARRIED
    }


def with_carried(terrain: Terrain, maps: Mapping[str, object]) -> Terrain:
    """The terrain with maps that a run carries, and with files that are in the working folder; others stay unread."""
    surfaces = dict(terrain.surfaces)
    for name, surface in surfaces.items():
        if isinstance(surface, GridSurface):
            surfaces[name] = _with_heights(surface, maps)
    return terrain.model_copy(update={"surfaces": surfaces})


def _with_heights(surface: GridSurface, maps: Mapping[str, object]) -> GridSurface:
    """The grid with the heights that a run carries for its digest, or else with its file's, where it is there."""
    data = maps.get(surface.sha256 or "")
    if isinstance(data, Mapping):
        with suppress(KeyError, TypeError, ValueError, zlib.error):
            found = unpacked(data)
            if found.table.digest == surface.sha256:
                return surface.with_map(found)
    with suppress(InputError):
        return _read(surface, Path())
    return surface


def _read(surface: GridSurface, folder: Path) -> GridSurface:
    """The grid with its file's heights."""
    if surface.file is None or surface.is_read:
        return surface
    known = (Path(surface.file).name, surface.sha256 or "")
    heights = _KNOWN[known] if known in _KNOWN else read_heights(folder / with_slashes(surface.file))
    made = surface.with_heights(*heights)
    _KNOWN[known[0], made.sha256 or ""] = heights
    if len(_KNOWN) > _KEPT:
        _KNOWN.popitem(last=False)
    return made


def read_heights(path: Path) -> Heights:
    """The heights of a file; raises InputError, keyed `file`."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        message = f"a height map can't be read from {path.name!r}"
        raise InputError(message, key="file", hint=f"files end in {', '.join(_READERS)}")
    if not path.is_file():
        beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        maps = [name for name in beside if Path(name).suffix.lower() in _READERS]
        hint = suggest(path.name, maps) if maps else "its name starts from the description's folder"
        raise InputError(f"there is no height map {path.name!r}", key="file", hint=hint)
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path.name!r} has more than {_MOST_BYTES:,} bytes", key="file")
    try:
        return reader(path)
    except (OSError, ValueError, EOFError, IndexError, KeyError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name!r} is not a height map: {said[:200]}", key="file") from None


def _numpy(path: Path) -> Heights:
    """An array as `numpy.save` writes it; pickled objects are refused."""
    array = np.load(path, allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise ValueError("expected an array of real numbers")
    return Heights(np.asarray(array, dtype=np.float64))


def _ascii(path: Path) -> Heights:
    """ESRI's ASCII grid: a header of keys, then rows from north to south."""
    header = dict[str, float]()
    if is_utf16(read_bytes_start(path, 64)):
        raise ValueError("it is UTF-16 text, and UTF-8 was expected")
    with path.open(encoding="utf-8-sig") as lines:
        for line in lines:
            key, *rest = line.split()
            if key[0] not in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" or len(rest) != 1:
                break
            header[key.lower()] = float(rest[0])
        else:
            raise ValueError("it has no rows of heights")
        first = np.array(line.split(), dtype=np.float64)
        values = np.concatenate([first, np.array(lines.read().split(), dtype=np.float64)])
    missing = [key for key in ("ncols", "nrows", "cellsize") if key not in header]
    if missing:
        raise ValueError(f"its header lacks {', '.join(missing)}")
    rows, columns, size = int(header["nrows"]), int(header["ncols"]), header["cellsize"]
    if values.size != rows * columns:
        raise ValueError(f"it has {values.size} heights, and says {rows} rows of {columns}")
    values[values == header.get("nodata_value", -9999.0)] = np.nan
    corner = [
        header.get(f"{axis}llcenter", header.get(f"{axis}llcorner", -size / 2) + size / 2) for axis in "xy"
    ]
    found = _northern_first(values.reshape(rows, columns))
    known = values[np.isfinite(values)]
    if known.size and np.ptp(known) > _STEEPEST * size * max(rows, columns):
        return Heights(found)
    return Heights(found, (size, size), (corner[0], corner[1]))


def _geotiff(path: Path) -> Heights:
    """The first band of a GeoTIFF whose rows run along its axes."""
    tifffile = load("tifffile", "GeoTIFF files are read by tifffile", extra="geotiff", key="file")
    try:
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            if 8 * math.prod(page.shape) > _MOST_BYTES:
                raise ValueError(f"it has more heights than {_MOST_BYTES:,} bytes hold: {page.shape}")
            found = page.asarray()
            tags: Mapping[int, tuple[float, ...]] = {tag.code: tag.value for tag in page.tags.values()}
    except Exception as error:  # every decoder has errors of its own
        if "imagecodecs" in str(error):
            told = f"the way {path.name!r} is compressed needs imagecodecs"
            load("imagecodecs", told, extra="geotiff", key="file")
        raise ValueError(str(error) or type(error).__name__) from None
    values = np.asarray(found, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"expected one band of heights, got an array of shape {values.shape}")
    if _NO_HEIGHT in tags:
        missing = float(str(tags[_NO_HEIGHT]).strip("\0 "))
        # Text of a number that the file holds in single precision.
        values[(found == found.dtype.type(missing)) if found.dtype.kind == "f" else values == missing] = (
            np.nan
        )
    listed = tags.get(_KEYS, ())
    keys = {listed[k]: listed[k + 3] for k in range(4, len(listed) - 3, 4)}
    metres = keys.get(_MODEL_TYPE, _PROJECTED) == _PROJECTED and keys.get(_UNIT, _METRE) == _METRE
    if _SIZE not in tags or _PLACE not in tags or not metres:
        return Heights(_northern_first(values))
    dx, dy = tags[_SIZE][:2]
    column, row, _, x, y, *_ = tags[_PLACE]
    middle = 0.0 if keys.get(_RASTER_TYPE) == _POINTS else 0.5
    left = x + (middle - column) * dx
    low = y - (len(values) - 1 + middle - row) * dy
    return Heights(_northern_first(values), (float(dx), float(dy)), (float(left), float(low)))


def _northern_first(values: FloatArray) -> FloatArray:
    """Rows from south to north of rows that a file has from north to south."""
    return np.ascontiguousarray(values[::-1])


_READERS: dict[str, Callable[[Path], Heights]] = {
    ".npy": _numpy,
    ".asc": _ascii,
    ".tif": _geotiff,
    ".tiff": _geotiff,
}
