"""What SymPy's equations hold beside the motion, as programs: the mass matrix, the bias, frames of named points."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from sympy.physics.mechanics import Point, ReferenceFrame

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import came
from trundle.frozen import Deferred
from trundle.model.symbols import column, entries
from trundle.program import Program, trace
from trundle.scalars import Scalar, minus, times
from trundle.sympy_models.sympy_method import FormedEquations, SympyExpression, next_to

if TYPE_CHECKING:
    from trundle.sympy_models.from_sympy import SolvedMethod

# A Point, a Point with the ReferenceFrame that turns with it, a Particle or a RigidBody: SymPy doesn't type them.
PointOrBody = Any
Convert = Callable[[SympyExpression], Scalar]
# Distances that differ by less, as a share of themselves, are the same.
_ROUNDING = 1e-9
_TWIST = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")


def formed_programs(solved: SolvedMethod) -> Mapping[str, Program]:
    """`mass_matrix` and `bias` of (coordinate, speed, parameter), where inputs and further states are 0; `frame_NAME`.

    Without what depends on time itself: these programs have no time. Where nothing does they are traced when somebody
    asks for them.
    """
    if solved.names.clock:
        return _programs(solved)
    names = ["mass_matrix", "bias", *(f"frame_{name}" for name in solved.places.at)]
    return Deferred(names, lambda: _programs(solved))


def _programs(solved: SolvedMethod) -> dict[str, Program]:
    """All of them, without those that need the time."""
    speeds = solved.names.speeds[: len(solved.motion.force)]
    square = [f"{a}, {b}" for a in speeds for b in speeds]
    parts = {
        "mass_matrix": {"mass_matrix": (square, [value for row in solved.motion.mass for value in row])},
        "bias": {"bias": (speeds, [minus(0, value) for value in solved.motion.force])},
        **{f"frame_{name}": _frame(solved, *place) for name, place in solved.places.at.items()},
    }
    programs = {name: _program(solved, name, outputs) for name, outputs in parts.items()}
    return {name: program for name, program in programs.items() if program is not None}


@dataclass(frozen=True)
class Places:
    """Named points: position (3) and rotation (3×3, row-major) in the axes of the inertial frame, and which of them, or
    of them and the origin (""), keep their distance: bars in pictures.
    """

    at: Mapping[str, tuple[list[Scalar], list[Scalar]]]
    bars: Sequence[tuple[str, str]] = ()

    @property
    def outputs(self) -> dict[str, Scalar]:
        """Positions as outputs of the model: "tip.x"."""
        return {
            f"{name}.{axis}": value
            for name, (position, _) in self.at.items()
            for axis, value in zip("xyz", position, strict=True)
        }

    @property
    def record(self) -> dict[str, str]:
        """What a model, and its runs, keep of it for pictures."""
        return {"points": json.dumps({"names": [*self.at], "bars": self.bars})} if self.at else {}


def places(
    points: Mapping[str, PointOrBody],
    equations: FormedEquations,
    origin: PointOrBody,
    convert: Convert,
    numbers: Callable[[Sequence[Scalar]], FloatArray],
) -> Places:
    """The points of `from_sympy`; `numbers` gives expressions' values at several states, (values, states)."""
    if not isinstance(points, Mapping):
        raise InputError(
            f"expected points by name, got {came(points)}", key="points", hint='points={"tip": point}'
        )
    if not points:
        return Places({})
    if origin is not None and not isinstance(origin, Point):
        raise InputError(f"expected a SymPy Point, got {came(origin)}", key="origin", hint="origin=O")
    inertial, start = equations.inertial, origin or equations.origin
    if inertial is None:
        message = "this method doesn't say which frame is at rest"
        raise InputError(message, key="points", hint="LagrangesMethod(…, frame=N) does")
    if start is None:
        raise InputError(
            "points are measured from a point at rest", key="origin", hint="origin=O, a SymPy Point"
        )
    at = {name: _place(name, point, start, inertial, convert) for name, point in points.items()}
    named = {_point(point): name for name, point in points.items()} | {start: ""}
    pairs = [(other, name) for point, name in named.items() if name for other in next_to(point, named)]
    pairs = [pair for k, pair in enumerate(pairs) if pair[::-1] not in pairs[:k]]
    return Places(at, [pair for pair in pairs if _keeps_distance(pair, at, numbers)])


def _keeps_distance(
    pair: tuple[str, str],
    at: Mapping[str, tuple[list[Scalar], list[Scalar]]],
    numbers: Callable[[Sequence[Scalar]], FloatArray],
) -> bool:
    """Whether two points are as far apart at all states: a point that slides away from another has no bar to it."""
    one, other = (at[name][0] if name else [0, 0, 0] for name in pair)
    apart = np.linalg.norm(numbers([minus(a, b) for a, b in zip(one, other, strict=True)]), axis=0)
    return bool(np.ptp(apart) <= _ROUNDING * apart.max(initial=0.0))


def _point(given: PointOrBody) -> PointOrBody:
    point = given[0] if isinstance(given, tuple) and given else given
    return getattr(point, "masscenter", point)


def _place(
    name: str, given: PointOrBody, origin: PointOrBody, inertial: PointOrBody, convert: Convert
) -> tuple[list[Scalar], list[Scalar]]:
    """A point's position and rotation in the inertial frame; InputError where SymPy knows none."""
    pair = isinstance(given, tuple)
    frame = (given or (None,))[-1] if pair else getattr(given, "frame", None)
    right = isinstance(_point(given), Point) and isinstance(frame, ReferenceFrame | None)
    if not isinstance(name, str) or not right or (pair and len(given) != 2):
        expected = "a SymPy Point, (Point, ReferenceFrame) or a body by its name"
        raise InputError(f"expected {expected}, got {came(given)} as {name!r}", key="points")
    try:
        position = _point(given).pos_from(origin).to_matrix(inertial)
        turned = [] if frame is None else inertial.dcm(frame)
    except (ValueError, AttributeError) as error:
        message = f"the place of '{name}' from the origin isn't known: {error}"
        hint = "point.set_pos(origin, vector), or point.locatenew; a body is its centre of mass and its frame"
        raise InputError(message, key="points", hint=hint) from None
    unit = [int(i == j) for i in range(3) for j in range(3)]
    return [convert(value) for value in position], [convert(value) for value in turned] or unit


def _frame(
    solved: SolvedMethod, position: Sequence[Scalar], rotation: Sequence[Scalar]
) -> dict[str, tuple[Sequence[str], Sequence[Scalar]]]:
    """As `model.frame` has it: position, rotation, velocity = J u, J, and J̇ u, linear parts before angular ones."""
    n, k = len(solved.names.coordinates), len(solved.names.speeds)
    q, u = solved.symbols.state[:n], solved.symbols.state[n : n + k]
    q_dot = column(solved.motion.q_dot)

    def rates(values: Sequence[Scalar]) -> list[Scalar]:
        return entries(ca.jtimes(column(values), q, q_dot))

    turning, r = rates(rotation), rotation
    spin = [
        sum((times(turning[3 * a + c], r[3 * b + c]) for c in range(3)), start=ca.SX(0))
        for a, b in ((2, 1), (0, 2), (1, 0))
    ]
    velocity = [*rates(position), *spin]
    jacobian = ca.densify(ca.jacobian(column(velocity), u))
    return {
        "position": (("x", "y", "z"), position),
        "rotation": ([f"R_{a}{b}" for a in "xyz" for b in "xyz"], rotation),
        "velocity": (_TWIST, velocity),
        "jacobian": ([f"{a}, {b}" for a in _TWIST for b in solved.names.speeds], entries(ca.vec(jacobian.T))),
        "bias": (_TWIST, rates(velocity)),
    }


def _program(
    solved: SolvedMethod, name: str, outputs: Mapping[str, tuple[Sequence[str], Sequence[Scalar]]]
) -> Program | None:
    """The program of (coordinate, speed, parameter) with inputs and further states 0; None of what needs the time."""
    names, state = solved.names, solved.symbols.state
    n, both = len(names.coordinates), len(names.coordinates) + len(names.speeds)
    rest = ca.vertcat(state[both : len(names.states) - len(names.clock)], solved.symbols.commands)
    columns = {label: column(values) for label, (_, values) in outputs.items()}
    if names.clock and any(ca.depends_on(each, solved.symbols.clock) for each in columns.values()):
        return None
    if rest.numel():
        columns = {
            label: ca.substitute(each, rest, ca.SX.zeros(rest.numel())) for label, each in columns.items()
        }
    inputs = {
        "coordinate": (names.coordinates, state[:n]),
        "speed": (names.speeds, state[n:both]),
        "parameter": (tuple(names.parameters), solved.symbols.parameters),
    }
    return trace(
        name, inputs, {label: (tuple(labels), columns[label]) for label, (labels, _) in outputs.items()}
    )
