"""How a frame stands and moves in another: pose, twist and acceleration, as people give them and composed in chains.

Twists and spatial accelerations (Featherstone 2008, sections 2.9 and 2.11) are in the moved frame's axes, at its
origin. A motion that is not known is None: positions are there without it, and nobody takes it for rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from trundle.errors import InputError
from trundle.scalars import Scalar, cos, is_zero, sin
from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_MOTION,
    Motion,
    Pose,
    add_motions,
    compose,
    cross_motion,
    inverse,
    motion_to_child,
    scale_motion,
)
from trundle.spatial.vectors import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    apply_transposed,
    axis_rotation,
    cross,
    multiply,
    principal_rotation,
    scale,
    subtract,
    transpose,
)
from trundle.wrenches.components import (
    BatchShape,
    TripleLike,
    as_matrix,
    as_vector,
    batch_shape,
    check_rotation,
    is_number,
    is_symbolic,
    probe,
)


class Placement(NamedTuple):
    """T_a_b with the twist and the acceleration of b in a, both in b's axes at b's origin; None: not known."""

    pose: Pose
    twist: Motion | None
    acceleration: Motion | None


AT_REST = Placement(IDENTITY_POSE, ZERO_MOTION, ZERO_MOTION)


def composed(a: Placement, b: Placement) -> Placement:
    """c in a, from b in a and c in b: V = X V_a + V_b, A = X A_a + A_b + V × V_b."""
    twist = acceleration = None
    if a.twist is not None and b.twist is not None:
        twist = add_motions(motion_to_child(b.pose, a.twist), b.twist)
        if a.acceleration is not None and b.acceleration is not None:
            carried = add_motions(motion_to_child(b.pose, a.acceleration), b.acceleration)
            acceleration = add_motions(carried, cross_motion(twist, b.twist))
    return Placement(compose(a.pose, b.pose), twist, acceleration)


def inverted(a: Placement) -> Placement:
    """a in b, from b in a: composed with it, it is rest."""
    back = inverse(a.pose)
    twist, acceleration = (
        None if m is None else scale_motion(-1, motion_to_child(back, m)) for m in (a.twist, a.acceleration)
    )
    return Placement(back, twist, acceleration)


def placed(
    rotation: Placement, origin: Vector, velocity: Vector | None, acceleration: Vector | None
) -> Placement:
    """A turning frame with its origin, whose velocity and acceleration are in the axes of a."""
    pose = Pose(rotation.pose.rotation, origin)
    if rotation.twist is None or velocity is None:
        return Placement(pose, None, None)
    omega = rotation.twist.angular
    own = apply_transposed(pose.rotation, velocity)
    twist = Motion(own, omega)
    if rotation.acceleration is None or acceleration is None:
        return Placement(pose, twist, None)
    # The spatial acceleration is the rate of the twist's components in b's own axes, which turn.
    linear = subtract(apply_transposed(pose.rotation, acceleration), cross(omega, own))
    return Placement(pose, twist, Motion(linear, rotation.acceleration.angular))


def turned(rotation: Matrix, omega: Vector | None, alpha: Vector | None) -> Placement:
    """A frame that turns on the spot: angular velocity and acceleration in its own axes."""
    twist = None if omega is None else Motion(ZERO, omega)
    return Placement(
        Pose(rotation, ZERO), twist, None if twist is None or alpha is None else Motion(ZERO, alpha)
    )


def shape_of(what: str, placement: Placement) -> BatchShape:
    """The shape of the batch that it holds."""
    pose, twist, acceleration = placement
    motions = [vector for motion in (twist, acceleration) if motion is not None for vector in motion]
    return batch_shape(what, *pose.rotation, pose.position, *motions)


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
    raise InputError(f"{what}: a sequence of {len(given)} is not a rotation", hint=_KINDS)


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
        None if vector is None else apply_transposed(matrix, as_vector(vector, f"{what}: its angular {name}"))
        for vector, name in zip(turning, ("velocity", "acceleration"), strict=True)
    ]
    if any(vector is not None for vector in own):
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
    pairs = [_rates(x, time) for x in values]
    if any(pair is None for pair in pairs):
        return None, None
    first, second = zip(*(pair for pair in pairs if pair is not None), strict=True)
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
        rates = _rates(checked, time)
        if rates is None:
            return turned(rotation, None, None)
        rate, acceleration = rates
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
