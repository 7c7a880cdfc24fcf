"""The robot's outline on the floor: the convex polygon about its wheels and its base's own shapes."""

from __future__ import annotations

import cmath
import math
from itertools import product

import numpy as np
import numpy.typing as npt
import shapely

from trundle.arrays import ComplexArray, FloatArray, as_numbers
from trundle.documents.meshes import find_mesh, read_mesh
from trundle.errors import InputError
from trundle.motion.drive.kinematics import Kinematics
from trundle.robot import Robot
from trundle.robot.shapes import Box, Cylinder, Mesh, Shape, Sphere
from trundle.spatial.vectors import euler_rotation

# Corners of what is round, on the circle about it: eight stand out of it by 8 % of its radius.
_AROUND = np.array([cmath.rect(1 / math.cos(math.pi / 8), k * math.pi / 4) for k in range(8)])


def outline_of(who: Kinematics) -> FloatArray:
    """The corners (c, 2) of the convex polygon about all wheels on the base and its shapes, in its frame (m)."""
    return hull(np.concatenate([_wheels(who), _body(who.robot)]))


def given_outline(corners: npt.ArrayLike) -> FloatArray:
    """The convex polygon about corners that a user gives; InputError where they are none."""
    rows = as_numbers(corners, "outline")
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < 3 or not np.isfinite(rows).all():
        message = f"expected three or more corners (x, y), got an array {rows.shape}"
        raise InputError(message, key="outline", hint="in the robot's frame (m)")
    return hull(rows)


def hull(points: FloatArray) -> FloatArray:
    """The corners of the convex polygon about points (n, 2), counter-clockwise."""
    around = shapely.convex_hull(shapely.MultiPoint(np.round(points, 9))).normalize()
    return shapely.get_coordinates(shapely.extract_unique_points(around))[::-1]


def inscribed(outline: FloatArray) -> float:
    """The radius of the circle about the origin within a convex outline (m); 0 where that lies outside."""
    edges = np.roll(outline, -1, axis=0) - outline
    beyond = edges[:, 0] * outline[:, 1] - edges[:, 1] * outline[:, 0]
    return max(float((-beyond / np.linalg.norm(edges, axis=1)).min()), 0.0)


def _wheels(who: Kinematics) -> FloatArray:
    """Corners about the wheels: of one that turns about its pivot about all that it reaches."""
    corners: list[complex] = []
    read = who.robot.resolver()
    for module in who.modules:
        half = float(who.robot.wheels[module.name].look(read).width) / 2
        radius, place = float(module.radius), complex(*map(float, module.place))
        if module.pivots:
            reach = abs(complex(*map(float, module.offset))) + math.hypot(radius, half)
            corners += (place + reach * _AROUND).tolist()
        else:
            turn = complex(*map(float, module.direction))
            corners += [place + turn * complex(a * radius, b * half) for a, b in product((-1, 1), repeat=2)]
    at: ComplexArray = np.array(corners)
    return np.stack([at.real, at.imag], axis=1)


def _body(robot: Robot) -> FloatArray:
    """Corners of the base's own shapes, seen from above, (n, 2)."""
    shapes = robot.body.shapes.values() if robot.body is not None else ()
    parts = [_shape(robot, shape) for shape in shapes]
    return np.concatenate([part[:, :2] for part in parts]) if parts else np.zeros((0, 2))


def _shape(robot: Robot, shape: Shape) -> FloatArray:
    """Corners about a shape in the body's frame, (n, 3)."""
    number = robot.number
    around = np.array([[each.real, each.imag, 0.0] for each in _AROUND.tolist()])
    if isinstance(shape, Box):
        corners = np.array(list(product((-0.5, 0.5), repeat=3))) * [number(edge) for edge in shape.size]
    elif isinstance(shape, Cylinder):
        half = np.array([0.0, 0.0, number(shape.length) / 2])
        corners = np.concatenate([number(shape.radius) * around + side * half for side in (-1, 1)])
    elif isinstance(shape, Sphere):  # round from every side: only its place is turned
        return number(shape.radius) * around + [number(value) for value in shape.at]
    elif isinstance(shape, Mesh):
        corners = read_mesh(find_mesh(shape.file, robot.folder)).corners * [number(f) for f in shape.scale]
    else:
        return np.zeros((0, 3))
    turn = np.array(euler_rotation(*(number(angle) for angle in shape.rpy)), dtype=float)
    return corners @ turn.T + [number(value) for value in shape.at]
