"""Three-vectors and 3×3 matrices as tuples of scalars; a matrix is a tuple of its rows.

Zeros and ones of the constants are the integers 0 and 1, so that they vanish from symbolic expressions.
"""

from __future__ import annotations

from trundle.scalars import Scalar, cos, minus, plus, sin, times

Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]

# Of whole numbers: algorithms leave out what is an exact 0 or 1, so that programs and equations lack it.
ZERO: Vector = (0, 0, 0)
IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def add(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return (plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2]))


def subtract(a: Vector, b: Vector) -> Vector:
    """a − b."""
    return (minus(a[0], b[0]), minus(a[1], b[1]), minus(a[2], b[2]))


def scale(k: Scalar, a: Vector) -> Vector:
    """k a."""
    return (times(k, a[0]), times(k, a[1]), times(k, a[2]))


def dot(a: Vector, b: Vector) -> Scalar:
    """a · b."""
    return plus(plus(times(a[0], b[0]), times(a[1], b[1])), times(a[2], b[2]))


def cross(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return (
        minus(times(a[1], b[2]), times(a[2], b[1])),
        minus(times(a[2], b[0]), times(a[0], b[2])),
        minus(times(a[0], b[1]), times(a[1], b[0])),
    )


def apply(m: Matrix, a: Vector) -> Vector:
    """M a."""
    if m is IDENTITY:  # most frames stand along their parents'
        return a
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def transpose(m: Matrix) -> Matrix:
    """Mᵀ."""
    if m is IDENTITY:
        return m
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def apply_transposed(m: Matrix, a: Vector) -> Vector:
    """Mᵀ a."""
    return apply(transpose(m), a)


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """A B."""
    if a is IDENTITY or b is IDENTITY:
        return b if a is IDENTITY else a
    columns = transpose(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)  # type: ignore[return-value]


def add_matrices(a: Matrix, b: Matrix) -> Matrix:
    """A + B."""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def axis_rotation(axis: Vector, c: Scalar, s: Scalar) -> Matrix:
    """Rodrigues' rotation about a unit axis by the angle with cosine c and sine s: cos·1 + sin·[a]× + (1 − cos)·a aᵀ.

    An axis along a coordinate direction gives exact structural zeros and ones.
    """
    x, y, z = axis
    k = 1 - c
    return (
        (c + k * x * x, k * x * y - s * z, k * x * z + s * y),
        (k * y * x + s * z, c + k * y * y, k * y * z - s * x),
        (k * z * x - s * y, k * z * y + s * x, c + k * z * z),
    )


def principal_rotation(index: int, c: Scalar, s: Scalar) -> Matrix:
    """Rotation about the coordinate axis `index` (0 x, 1 y, 2 z), given cosine and sine of its angle."""
    rows = {
        0: ((1, 0, 0), (0, c, -s), (0, s, c)),
        1: ((c, 0, s), (0, 1, 0), (-s, 0, c)),
        2: ((c, -s, 0), (s, c, 0), (0, 0, 1)),
    }
    return rows[index]


def euler_rotation(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Matrix:
    """R = Rz(yaw) Ry(pitch) Rx(roll), angles in radians; structural zeros leave their factor out."""
    result = IDENTITY
    for index, angle in ((2, yaw), (1, pitch), (0, roll)):
        if not (isinstance(angle, (int, float)) and angle == 0):
            result = multiply(result, principal_rotation(index, cos(angle), sin(angle)))
    return result


def transform_sum(rotation: Matrix, moment: Vector, mass: Scalar, position: Vector) -> Vector:
    """R h + m p: a first moment carried into another frame."""
    return add(apply(rotation, moment), scale(mass, position))
