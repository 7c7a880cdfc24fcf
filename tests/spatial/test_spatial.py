"""Laws of rotations, poses, twists, wrenches and inertias, for every kind of scalar."""

import casadi as ca
import numpy as np
import pytest
import sympy

from trundle import scalars
from trundle.spatial.motions import (
    Force,
    Motion,
    Pose,
    compose,
    cross_force,
    cross_motion,
    force_to_parent,
    inertia_about_origin,
    inertia_to_parent,
    inverse,
    momentum,
    motion_to_child,
    pair,
    transform_point,
)
from trundle.spatial.vectors import axis_rotation, cross, euler_rotation, multiply, subtract, transpose

# Each kind of scalar: from an array of numbers (a batch of 4) to one scalar, and back to a list of floats.
SYMBOL = {"sympy": sympy.Symbol("k"), "casadi": ca.SX.sym("k")}


def lift(kind, numbers):
    if kind == "float":
        return float(numbers[0])
    if kind == "numpy":
        return np.array(numbers)
    return SYMBOL[kind] * 0 + float(numbers[0]) if kind == "casadi" else sympy.Float(float(numbers[0]), 20)


def lower(kind, value):
    if kind == "numpy":
        return np.broadcast_to(np.asarray(value, float), (4,))
    if kind == "casadi":
        return np.array([float(ca.evalf(ca.SX(value)))])
    return np.array([float(value)])


@pytest.fixture(params=["float", "numpy", "sympy", "casadi"])
def kind(request):
    return request.param


def vector(kind, rng):
    return tuple(lift(kind, rng.normal(size=4)) for _ in range(3))


def pose(kind, rng):
    return Pose(euler_rotation(*vector(kind, rng)), vector(kind, rng))


def inertia(kind, rng):
    a = rng.normal(size=(3, 3))
    matrix = a @ a.T
    return inertia_about_origin(
        lift(kind, rng.uniform(1, 2, size=4)),
        vector(kind, rng),
        tuple(tuple(float(x) for x in row) for row in matrix),
    )


def flat(kind, nested):
    if isinstance(nested, tuple):
        return np.concatenate([flat(kind, entry) for entry in nested])
    return lower(kind, nested)


def close(kind, a, b, tolerance=1e-13):
    np.testing.assert_allclose(
        flat(kind, a), flat(kind, b), rtol=0, atol=tolerance * max(1, np.abs(flat(kind, b)).max())
    )


def test_rotations_are_orthonormal(kind, rng):
    rotation = euler_rotation(*vector(kind, rng))
    close(kind, multiply(rotation, transpose(rotation)), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    close(kind, cross(rotation[0], rotation[1]), rotation[2])


def test_axis_rotation_keeps_its_axis(kind, rng):
    axis = rng.normal(size=3)
    axis = tuple(float(x) for x in axis / np.linalg.norm(axis))
    angle = lift(kind, rng.normal(size=4))
    rotation = axis_rotation(axis, scalars.cos(angle), scalars.sin(angle))
    close(kind, tuple(sum(r * a for r, a in zip(row, axis, strict=True)) for row in rotation), axis)
    close(kind, rotation[0][0] + rotation[1][1] + rotation[2][2], 1 + 2 * scalars.cos(angle))


def test_euler_rotation_is_yaw_pitch_roll(rng):
    from scipy.spatial.transform import Rotation

    angles = rng.normal(size=3)
    expected = Rotation.from_euler("ZYX", angles[::-1]).as_matrix()
    np.testing.assert_allclose(np.array(euler_rotation(*angles.tolist()), float), expected, atol=1e-14)


def test_compose_and_inverse(kind, rng):
    a, b, c, point = pose(kind, rng), pose(kind, rng), pose(kind, rng), vector(kind, rng)
    close(kind, compose(compose(a, b), c), compose(a, compose(b, c)))
    close(kind, compose(a, inverse(a)), Pose(((1, 0, 0), (0, 1, 0), (0, 0, 1)), (0, 0, 0)))
    close(kind, transform_point(compose(a, b), point), transform_point(a, transform_point(b, point)))


def test_power_does_not_depend_on_the_frame(kind, rng):
    place, twist, wrench = (
        pose(kind, rng),
        Motion(vector(kind, rng), vector(kind, rng)),
        Force(vector(kind, rng), vector(kind, rng)),
    )
    close(kind, pair(force_to_parent(place, wrench), twist), pair(wrench, motion_to_child(place, twist)))


def test_transforms_compose(kind, rng):
    a, b, twist, wrench = (
        pose(kind, rng),
        pose(kind, rng),
        Motion(vector(kind, rng), vector(kind, rng)),
        Force(vector(kind, rng), vector(kind, rng)),
    )
    close(kind, motion_to_child(compose(a, b), twist), motion_to_child(b, motion_to_child(a, twist)))
    close(kind, force_to_parent(compose(a, b), wrench), force_to_parent(a, force_to_parent(b, wrench)))


def test_cross_products_are_dual(kind, rng):
    """(a ×* f) · m = −f · (a × m): no power is made by turning."""
    a, m, f = (cls(vector(kind, rng), vector(kind, rng)) for cls in (Motion, Motion, Force))
    close(kind, pair(cross_force(a, f), m), -1 * pair(f, cross_motion(a, m)))


def test_a_points_velocity(kind, rng):
    """The twist of a frame at a point p of a body: v + ω × p."""
    twist, p = Motion(vector(kind, rng), vector(kind, rng)), vector(kind, rng)
    seen = motion_to_child(Pose(((1, 0, 0), (0, 1, 0), (0, 0, 1)), p), twist)
    close(kind, subtract(seen.linear, twist.linear), cross(twist.angular, p))


def test_inertia_moves_by_the_parallel_axis_theorem(kind, rng):
    body, place, twist = inertia(kind, rng), pose(kind, rng), Motion(vector(kind, rng), vector(kind, rng))
    moved = inertia_to_parent(place, body)
    # I_a X⁻¹ v = X* I_b v: the same momentum, whichever frame it is reckoned in
    close(kind, momentum(moved, twist), force_to_parent(place, momentum(body, motion_to_child(place, twist))))
    close(kind, moved.rotational, transpose(moved.rotational))


def test_parallel_axis_numbers():
    mass, (x, y, z) = 2.0, (0.3, -0.2, 0.5)
    about = inertia_about_origin(mass, (x, y, z), ((1, 0, 0), (0, 2, 0), (0, 0, 2.5))).rotational
    expected = np.diag([1, 2, 2.5]) + mass * np.array(
        [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
    )
    np.testing.assert_allclose(np.array(about, float), expected, atol=1e-15)


def test_scalar_functions_agree(kind, rng):
    """One text, four kinds of scalar: each function gives what NumPy gives."""
    a, b = rng.uniform(0.1, 1, size=4), rng.uniform(-1, 1, size=4)
    x, y = lift(kind, a), lift(kind, b)
    n = 4 if kind == "numpy" else 1
    cases = {
        "sqrt": (scalars.sqrt(x), np.sqrt(a)),
        "tan": (scalars.tan(y), np.tan(b)),
        "atan2": (scalars.atan2(y, x), np.arctan2(b, a)),
        "abs": (scalars.absolute(y), np.abs(b)),
        "min": (scalars.minimum(x, y), np.minimum(a, b)),
        "max": (scalars.maximum(x, y), np.maximum(a, b)),
        "clamp": (scalars.clamp(y, 0.3), np.clip(b, -0.3, 0.3)),
        "sign": (scalars.smooth_sign(y, 0.1), b / np.sqrt(b * b + 0.01)),
    }
    for name, (got, expected) in cases.items():
        np.testing.assert_allclose(lower(kind, got), expected[:n], atol=1e-15, err_msg=name)


def test_structural_zeros():
    assert scalars.is_zero(0)
    assert scalars.is_zero(0.0)
    assert scalars.is_zero(sympy.Integer(0))
    assert scalars.is_zero(ca.SX(0))
    assert not scalars.is_zero(sympy.Symbol("x"))
    assert not scalars.is_zero(ca.SX.sym("x"))
    assert not scalars.is_zero(np.zeros(3))  # a batch's value is no structure
    assert scalars.is_zero(euler_rotation(0.0, 0.0, sympy.Symbol("t"))[0][2])
