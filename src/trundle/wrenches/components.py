"""Vectors and matrices as people give them and get them: NumPy arrays in numbers, tuples in any other scalar.

Inside they are `spatial`'s tuples of scalars, a batch being one array a component.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.scalars import Scalar
from trundle.spatial.vectors import Matrix, Vector

TripleLike = Any  # what a person gives or gets: an array (..., 3), three scalars or batches, a SymPy matrix
BatchShape = tuple[int, ...]

# Beyond rounding of float64, below that of numbers printed with ten digits.
_ORTHONORMAL = 1e-9


def is_number(x: Scalar) -> bool:
    """Whether x is a real number or a batch of them, and no expression."""
    return isinstance(x, (int, float, np.ndarray, np.number))


def is_symbolic(x: Scalar) -> bool:
    """Whether x is a SymPy expression; nothing is one before SymPy is imported."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(x, sympy.Basic)


def as_vector(given: TripleLike, what: str) -> Vector:
    """Three scalars of an array (..., 3), of a sequence of three scalars or batches (n,), or of a SymPy matrix."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        if given.ndim == 0 or given.shape[-1] != 3:
            raise InputError(f"{what} needs three components, got an array of shape {given.shape}")
        numbers = as_numbers(given, what)
        return tuple(_plain(numbers[..., k]) for k in range(3))  # type: ignore[return-value]
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InputError(f"{what} needs three components, got {given!r}")
    entries = list(given)
    if len(entries) != 3:
        raise InputError(f"{what} needs three components, got {len(entries)}")
    return tuple(_scalar(entry, what) for entry in entries)  # type: ignore[return-value]


def as_matrix(given: TripleLike, what: str, hint: str = "") -> Matrix:
    """Three rows of an array (..., 3, 3), of three sequences of three, or of a SymPy matrix."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        if given.shape[-2:] != (3, 3):
            raise InputError(
                f"{what} needs 3 × 3 entries, got an array of shape {given.shape}", hint=hint or None
            )
        rows = [given[..., k, :] for k in range(3)]
    elif getattr(given, "shape", None) == (3, 3):  # SymPy's matrices iterate over their entries
        rows = [[given[i, j] for j in range(3)] for i in range(3)]
    else:
        rows = list(given) if isinstance(given, Iterable) else []
        if len(rows) != 3:
            raise InputError(f"{what} needs 3 × 3 entries, got {given!r}", hint=hint or None)
    return tuple(as_vector(row, what) for row in rows)  # type: ignore[return-value]


def array(vector: Vector, shape: BatchShape = ()) -> TripleLike:
    """An array (..., 3), read-only and one for each sample of `shape`, where all components are numbers; else the
    tuple.
    """
    return stacked(vector, (3,), shape) if all(is_number(x) for x in vector) else vector


def shown_matrix(matrix: Matrix, shape: BatchShape = ()) -> TripleLike:
    """An array (..., 3, 3) in the same way, else the tuple of rows."""
    entries = [x for row in matrix for x in row]
    return stacked(entries, (3, 3), shape) if all(is_number(x) for x in entries) else matrix


def stacked(entries: Sequence[Scalar], last: BatchShape, shape: BatchShape = ()) -> FloatArray:
    """Numbers as one array, the last axes those of a vector or matrix."""
    flat = np.stack(np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in entries)), axis=-1)
    whole = flat.reshape(*flat.shape[:-1], *last)
    # What is the same at all times is so for each of them: nobody's indices depend on where an axis happens to lie.
    whole = np.broadcast_to(whole, np.broadcast_shapes(whole.shape, (*shape, *last)))
    whole.setflags(write=False)
    return whole


def batch_shape(what: str, *vectors: Iterable[Scalar], also: Iterable[BatchShape] = ()) -> BatchShape:
    """The common shape of the batches that vectors hold, and of others whose shapes are given."""
    shapes = [*(np.shape(x) for vector in vectors for x in vector if isinstance(x, np.ndarray)), *also]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        counts = " and ".join(str(shape[0]) for shape in dict.fromkeys(shapes) if shape)
        hint = "all arrays of a motion are over the same times"
        raise InputError(f"{what}: arrays of {counts} samples don't go together", hint=hint) from None


def settle_vectors(noun: object, what: str, words: Mapping[str, str], also: Iterable[BatchShape]) -> None:
    """Bring a noun's vectors, by name with what messages call them, to the shape of one batch."""
    parts = {name: as_vector(getattr(noun, name), f"{what}: its {word}") for name, word in words.items()}
    shape = batch_shape(what, *parts.values(), also=also)
    for name, vector in parts.items():
        object.__setattr__(noun, name, array(vector, shape))


def check_rotation(rotation: Matrix, what: str) -> None:
    """Refuse what turns nothing rigidly: RᵀR ≠ 1, or a mirror; expressions are looked at for random letters."""
    entries = [x for row in rotation for x in row]
    numbers = probe(entries)
    if numbers is None:
        return
    m = stacked(numbers, (3, 3))
    if np.isinf(m).any():
        raise InputError(f"{what} holds infinite numbers", hint="a gap is NaN")
    # Gaps stay gaps: NaN passes, and hides no other sample.
    worst = float(np.fmax.reduce(np.abs(np.swapaxes(m, -1, -2) @ m - np.eye(3)), axis=None, initial=0.0))
    if worst > _ORTHONORMAL:
        hint = "scipy.spatial.transform.Rotation.from_matrix(R).as_matrix() gives the nearest rotation"
        raise InputError(
            f"{what} is not a rotation: an entry of RᵀR is {worst:.3g} off the unit matrix", hint=hint
        )
    if np.any(np.sum(m[..., 0] * np.cross(m[..., 1], m[..., 2]), axis=-1) < 0):
        raise InputError(f"{what} is a mirror: its determinant is −1", hint="rotations are right-handed")


def probe(entries: Sequence[Scalar]) -> list[np.ndarray] | None:
    """The entries as numbers, random ones for all letters and functions; None where they can't be evaluated."""
    if not all(is_number(x) or is_symbolic(x) for x in entries):
        return None
    symbolic = [x for x in entries if is_symbolic(x)]
    if not symbolic:
        return [np.asarray(x, dtype=np.float64) for x in entries]
    from trundle.wrenches.symbolic import evaluated_anywhere

    values = evaluated_anywhere(symbolic)
    if values is None:
        return None
    drawn = iter(values)
    numbers = [next(drawn) if is_symbolic(x) else x for x in entries]
    return [np.asarray(x, dtype=np.float64) for x in numbers]


def _scalar(x: Scalar, what: str) -> Scalar:
    """One component: a number, an array of a batch, or an expression."""
    if isinstance(x, (bool, complex, str, bytes, list, tuple, dict)) or x is None:
        hint = "a batch is an array (n, 3), or three arrays (n,)"
        raise InputError(
            f"{what} needs three numbers, arrays or expressions, got {x!r} among them", hint=hint
        )
    if isinstance(x, (np.ndarray, np.number)):
        return _plain(as_numbers(x, what))
    if isinstance(x, int) and abs(x) > sys.float_info.max:
        raise InputError(f"{what} holds a number beyond {sys.float_info.max:.3g}")
    return x


def _plain(x: FloatArray) -> Scalar:
    """A single number as Python's own, so that structural zeros and ones fold; a batch that nobody writes to."""
    if not x.ndim:
        return x.item()
    if x.flags.writeable:
        x = x.copy()
        x.setflags(write=False)
    return x
