"""Rotations and places as people give them, with the rates that are given or follow from expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from trundle.errors import InputError
from trundle.scalars import Scalar, cos, is_zero, sin
from trundle.spatial.vectors import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    apply_transposed,
    axis_rotation,
    multiply,
    principal_rotation,
    scale,
    transpose,
)
from trundle.wrenches.components import (
    TripleLike,
    as_matrix,
    as_vector,
    check_rotation,
    is_number,
    is_symbolic,
    probe,
)
from trundle.wrenches.placement import AT_REST, Placement, composed, placed, turned

# x, y and z: rolls, pitches and yaws turn about them.
_AXES: tuple[Vector, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_KINDS = "a rotation is a matrix (..., 3, 3), (axis, angle), (axis, angle, rate, acceleration) or (roll, pitch, yaw)"

Time = Callable[[], Scalar]  # the letter of time, asked for only where an expression is met


def rotation_of(given: object, what: str, time: Time) -> Placement:
    """The rotation R_a_b with the turning that follows from it: expressions are differentiated, numbers stand still.

    A batch of numbers without rates turns in a way that is not known.
    """
    if given is None:
        return AT_REST
    if hasattr(given, "as_matrix"):  # SciPy's Rotation
        given = given.as_matrix()  # type: ignore[attr-defined]
    if not isinstance(given, (tuple, list)) or _is_rows(given):
        return _of_matrix(given, what, time)
    if len(given) in (2, 4):
        return _about_axis(given, what, time)
    if len(given) == 3:
        euler = AT_REST
        for axis, angle in zip(reversed(_AXES), reversed(given), strict=True):
            euler = composed(euler, _about_axis((axis, angle), what, time))
        return euler
    raise InputError(f"{what}: a sequence of {len(given)} is no rotation", hint=_KINDS)


def placement_given(
    what: str,
    rotation: object,
    place: tuple[TripleLike, TripleLike, TripleLike],
    turning: tuple[TripleLike, TripleLike],
    time: Time,
) -> Placement:
    """A turn with its origin; angular velocity and acceleration that are given, in the parent's axes, count more than
    those that follow from it.
    """
    turn = rotation_of(rotation, f"{what}: its rotation", time)
    matrix = turn.pose.rotation
    own: list[Vector | None] = [
        None if each is None else apply_transposed(matrix, as_vector(each, f"{what}: its angular {name}"))
        for each, name in zip(turning, ("velocity", "acceleration"), strict=True)
    ]
    if any(each is not None for each in own):
        known = turn.twist.angular if turn.twist else None
        turn = turned(matrix, known if own[0] is None else own[0], own[1])
    return placed(turn, *place_given(f"{what}: its origin", place, time))


def place_given(
    what: str, place: tuple[TripleLike, TripleLike, TripleLike], time: Time
) -> tuple[Vector, Vector | None, Vector | None]:
    """A position with its rates: those that are given count, else those that follow from its expressions."""
    position, velocity, acceleration = place
    coordinates = as_vector(position, what)
    first, second = rates_of(coordinates, time)
    if velocity is not None:
        first, second = as_vector(velocity, f"{what}, its velocity"), None
    if acceleration is not None:
        second = as_vector(acceleration, f"{what}, its acceleration")
    return coordinates, first, second


def rates_of(values: Sequence[Scalar], time: Time) -> tuple[Vector, Vector] | tuple[None, None]:
    """First and second derivatives by time; a number on its own is constant, of a batch nothing is known."""
    found = [_rates(x, time) for x in values]
    if any(each is None for each in found):
        return None, None
    first, second = zip(*(each for each in found if each is not None), strict=True)
    return first, second


def _rates(x: Scalar, time: Time) -> tuple[Scalar, Scalar] | None:
    if is_symbolic(x):
        from trundle.wrenches.symbolic import rates

        return rates(x, time())
    return (0, 0) if is_number(x) and not np.ndim(x) else None


def _of_matrix(given: object, what: str, time: Time) -> Placement:
    """The placement turned by R; of a symbolic one with its rates, [ω]× = Rᵀ Ṙ."""
    rotation = as_matrix(given, what, _KINDS)
    check_rotation(rotation, what)
    flat = [x for row in rotation for x in row]
    first, _ = rates_of(flat, time)
    if first is None:
        return turned(rotation, None, None)
    if all(not is_symbolic(x) for x in flat):
        return turned(rotation, ZERO, ZERO)
    turning = multiply(transpose(rotation), (first[0:3], first[3:6], first[6:9]))  # type: ignore[arg-type]  # Rᵀ Ṙ = [ω]×
    omega = (turning[2][1], turning[0][2], turning[1][0])
    alpha, _ = rates_of(omega, time)
    return turned(rotation, omega, alpha)


def _about_axis(given: Sequence[TripleLike], what: str, time: Time) -> Placement:
    """The placement turned about an axis by an angle, with its rates where they are known."""
    axis, angle = as_vector(given[0], f"{what}: its axis"), given[1]
    _check_axis(axis, what, time)
    checked, _, _ = as_vector((angle, 0, 0), f"{what}: its angle")
    rotation = _turn(axis, checked)
    if len(given) == 4:
        rate, acceleration, _ = as_vector((given[2], given[3], 0), f"{what}: its rates")
    else:
        found = _rates(checked, time)
        if found is None:
            return turned(rotation, None, None)
        rate, acceleration = found
    return turned(rotation, scale(rate, axis), scale(acceleration, axis))


def _check_axis(axis: Vector, what: str, time: Time) -> None:
    """Three numbers, or constant expressions, of length 1."""
    first, _ = rates_of(axis, time)
    if first is None or any(not is_zero(x) for x in first):
        hint = "an axis that moves needs a matrix, or a frame of its own before the turn"
        raise InputError(f"{what}: its axis must be three numbers or constant expressions", hint=hint)
    length = math.hypot(*(float(x) for x in probe(axis) or ()))
    if not abs(length - 1) <= 1e-9:
        raise InputError(
            f"{what}: its axis must have length 1, got {length:.9g}", hint="divide by its length"
        )


def _turn(axis: Vector, angle: Scalar) -> Matrix:
    """Rodrigues' rotation; about a coordinate axis with its exact zeros and ones."""
    if is_number(angle) and not np.ndim(angle) and angle == 0:
        return IDENTITY
    for index, unit in enumerate(_AXES):
        for sign in (1, -1):
            if axis == scale(sign, unit):
                return principal_rotation(index, cos(angle), sign * sin(angle))
    return axis_rotation(axis, cos(angle), sin(angle))


def _is_rows(given: Sequence[object]) -> bool:
    """Whether it is a matrix written out; three arrays are angles over time."""
    return len(given) == 3 and all(isinstance(row, (tuple, list)) for row in given)
