"""Meshes as files: finding the file that a description names, reading its triangles, and taking fewer of them.

A name leads to a file beside the description, in the folder around that (urdf/ and meshes/ side by side), or in a
package whose folder is one of those around it: never to another place, never to the network. What a file may hold is
bounded before it is read, so that a small description can't ask for a large machine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, IntArray
from trundle.errors import InputError
from trundle.operating_system import with_slashes

SUFFIXES = (".stl", ".obj")
# An STL file takes 50 bytes a triangle; scanned parts of robots have some 100,000.
_MOST_BYTES = 50_000_000
# Anything farther off than this (m, or what the file counts in) is no part of a robot.
_FARTHEST = 1e6
_PACKAGE = "package://"
_FILE = "file://"
# How far up from a description its package may begin.
_MOST_UP = 6


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles between corners: corners (n, 3), indices of three each (m, 3); how far simplifying moved corners."""

    corners: FloatArray
    triangles: IntArray
    moved: float = 0.0


def find_mesh(name: str, folder: str | None) -> Path:
    """The file that a description in a folder names; raises InputError where it may not, or where there is none."""
    if not name.lower().endswith(SUFFIXES):
        raise InputError(f"{name!r}: a mesh's file ends in .stl or .obj")
    if "\0" in name or ("://" in name and not name.startswith((_PACKAGE, _FILE))):
        raise InputError(f"{name!r}: meshes are read from files beside the description, nothing else")
    if folder is None:
        raise InputError(f"{name!r}: where it is isn't known, as the description was read from no file")
    around = Path(os.path.normpath(Path(folder).absolute()))
    above = (around, *around.parents[:_MOST_UP])
    if name.startswith(_PACKAGE):
        package, _, inside = with_slashes(name.removeprefix(_PACKAGE)).lstrip("/").partition("/")
        roots = [place if place.name == package else place / package for place in above]
        tried = [(root, root / inside) for root in roots if package not in ("", ".", "..")]
    else:
        tried = [(place, around / with_slashes(name.removeprefix(_FILE))) for place in above[:2]]
    allowed = [Path(os.path.normpath(path)) for root, path in tried if _inside(path, root)]
    mesh = next((path for path in allowed if path.is_file()), None)
    if mesh is not None:
        return mesh
    if not allowed:
        raise InputError(f"{name!r} is outside the description's folder and package, and isn't opened")
    raise InputError(f"there is no {name!r}", hint=f"put it beside the description, in {around}")


def _inside(path: Path, root: Path) -> bool:
    # normalised without following links: packages are often made of links
    normal = Path(os.path.normpath(path))
    return normal != root and normal.is_relative_to(root)


def read_mesh(path: Path) -> TriangleMesh:
    """The triangles of an STL or OBJ file, in its own unit; raises InputError. Corners in one place are one."""
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(path)) from None
    if state.st_size > _MOST_BYTES:
        raise InputError(f"has {state.st_size:,} bytes; a mesh may have {_MOST_BYTES:,}", file=str(path))
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _read(path: Path, changed: int, size: int) -> TriangleMesh:
    """The same; a file that has changed is read again."""
    import trimesh  # late: only who draws meshes waits for it

    try:
        # no resolver: an OBJ file's own links (materials, images) lead nowhere
        loaded = trimesh.load(
            BytesIO(_in_utf8(path.read_bytes())),
            file_type=path.suffix[1:].lower(),
            process=False,
            force="mesh",
            skip_materials=True,
        )
        if not isinstance(loaded, trimesh.Trimesh):
            raise TypeError("it holds no triangles")
        corners = np.asarray(loaded.vertices, dtype=np.float64)
        triangles = np.asarray(loaded.faces, dtype=np.int64)
    except Exception as error:  # whatever a reader makes of a spoilt file
        message = f"is not a mesh that can be read: {error or type(error).__name__}"
        raise InputError(message, file=str(path), line=_spoilt_line(path)) from None
    if corners.ndim != 2 or corners.shape[1:] != (3,) or triangles.shape[1:] != (3,) or not triangles.size:
        raise InputError("holds no triangles", file=str(path))
    if not (np.abs(corners) <= _FARTHEST).all():  # NaN, too
        raise InputError(
            f"has corners that are not numbers, or farther off than {_FARTHEST:g}", file=str(path)
        )
    if triangles.min() < 0 or triangles.max() >= len(corners):
        raise InputError("has triangles between corners that aren't there", file=str(path))
    return _joined(corners, triangles, corners)


def _spoilt_line(path: Path) -> int | None:
    """The first line of a text in which a corner isn't three numbers, or a face of an OBJ file has no corner of it;
    None where there is none, and in binary files.
    """
    content = path.read_bytes()
    if b"\0" in content:
        return None
    lines = [line.split() or [""] for line in _in_utf8(content).decode().splitlines()]
    corners = sum(kind == "v" for kind, *_ in lines)
    return next((k for k, (kind, *cells) in enumerate(lines, 1) if _is_spoilt(kind, cells, corners)), None)


def _is_spoilt(kind: str, cells: Sequence[str], corners: int) -> bool:
    try:
        if kind in ("v", "vertex"):
            return len([float(cell) for cell in cells]) < 3
        return kind == "f" and not all(1 <= abs(int(cell.split("/")[0])) <= corners for cell in cells)
    except ValueError:
        return True


def _in_utf8(content: bytes) -> bytes:
    """A text as UTF-8, also where a program wrote its names in Latin-1; what is no text (binary STL) as it is."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return content if b"\0" in content else content.decode("latin-1").encode()
    return content


def simplified(surfaces: Sequence[TriangleMesh], most: int) -> list[TriangleMesh]:
    """Surfaces with at most so many triangles together: corners in one cell of a grid become one, their mean (Rossignac
    & Borrel 1993). The grid is the finest of those tried that leaves few enough, and the same for all.
    """
    if sum(len(surface.triangles) for surface in surfaces) <= most:
        return list(surfaces)
    # a surface that passes n cells of width h has an area of about n h², and two triangles a cell
    width = 0.6 * math.sqrt(sum(map(_area, surfaces)) / most)
    farthest = max(float(np.abs(surface.corners).max()) for surface in surfaces)
    while True:
        joined = [_joined(s.corners, s.triangles, np.floor(s.corners / width)) for s in surfaces]
        if sum(len(surface.triangles) for surface in joined) <= most or width > farthest:
            return joined
        width *= 1.15


def _area(surface: TriangleMesh) -> float:
    a, b, c = surface.corners[surface.triangles].swapaxes(0, 1)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2


def _joined(corners: FloatArray, triangles: IntArray, keys: FloatArray) -> TriangleMesh:
    """Corners of one key made one, their mean; triangles without an area, and those that stand twice, are gone."""
    place = _groups(keys)
    count = np.bincount(place)
    means = np.stack([np.bincount(place, axis) / count for axis in corners.T], axis=1)
    moved = float(np.linalg.norm(means[place] - corners, axis=1).max())
    joined = place[triangles]
    a, b, c = joined.T
    joined = joined[(a != b) & (b != c) & (c != a)]
    sides = _groups(np.sort(joined, axis=1))
    first = np.unique(sides, return_index=True)[1]
    return TriangleMesh(means, joined[np.sort(first)], moved)


def _groups(keys: npt.NDArray[np.generic]) -> IntArray:
    """The number of each row (n, 3), the same for rows that are equal, without gaps, by their last column first."""
    order = np.lexsort(keys.T)
    rows = keys[order]
    group = np.empty(len(keys), dtype=np.int64)
    group[order] = np.cumsum(np.concatenate([[False], (rows[1:] != rows[:-1]).any(axis=1)])[: len(keys)])
    return group
