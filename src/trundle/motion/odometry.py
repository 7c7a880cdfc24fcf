"""Odometry: a robot's pose from the increments of its wheels' encoders, exact on the arc, with its Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.quantities import Quantities
from trundle.model import Model
from trundle.model.arguments import kind_of, robot_of
from trundle.model.configuration import configure, independent_coordinates
from trundle.model.constraints import coupling_rows, rolling_rows, sample, without_followers
from trundle.model.kinematics import rate_names, solve_speeds
from trundle.motion.arc import advance
from trundle.program import Program, compile_program, trace
from trundle.robot import Robot
from trundle.scalars import Scalar, is_zero

if TYPE_CHECKING:
    from trundle.motion.odometry_formulas import OdometryFormulas

Array = np.ndarray[Any, np.dtype[np.float64]]
Rows = list[list[Scalar]]

POSE = ("x", "y", "theta")


@dataclass(frozen=True, repr=False)
class Odometry:
    """pose' = pose · exp(J(α) Δ): the base's pose (x, y, θ) after the increments Δ of its wheels' angles.

    The twist that the increments stand for is held constant in the base's own axes, so the base moves on an arc,
    exactly (`trundle.motion.arc`). J is the least-squares solution over all wheels (`trundle.model.kinematics`).
    `angles` are the steering and joint angles α that J depends on, as they are before the increment; those that are
    among the increments are taken in the middle of it, α + Δα/2, the others are held.

    `program` maps the groups pose, increment, angle, parameter to `pose` and its Jacobians "d pose/d pose" (F),
    "d pose/d increment" (G) and "d pose/d angle" (H), row-major, by automatic differentiation.
    """

    name: str
    increments: tuple[str, ...]
    angles: tuple[str, ...]
    parameters: Mapping[str, float]
    quantities: Quantities
    program: Program
    robot: Any
    given: tuple[str, ...]

    @property
    def units(self) -> Mapping[str, str]:
        """The SI unit of each name."""
        return self.quantities.units

    @cached_property
    def _kernel(self) -> Any:
        return compile_program(self.program)

    def update(
        self, pose: Any, increments: Any, angles: Any = (), *, parameters: Mapping[str, Any] | None = None
    ) -> Array:
        """The pose (3,), or (3, count) for a batch, after increments (rad, or m of sliding joints).

        pose: x, y (m), θ (rad). increments, angles: by name, or arrays in the order of `increments` and `angles`; each
        number may be an array (count,), one for each robot. Raises InputError for names and shapes that don't fit.
        """
        return self._evaluate(pose, increments, angles, parameters)[0]

    def propagate(
        self,
        pose: Any,
        covariance: Any,
        increments: Any,
        increment_covariance: Any,
        angles: Any = (),
        angle_covariance: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[Array, Array]:
        """The pose and its covariance F Σ Fᵀ + G Q Gᵀ (+ H R Hᵀ) after increments with covariance Q.

        covariance Σ (3, 3), increment_covariance Q (n, n), angle_covariance R; for a batch each may have its own, (…,
        count). First order in the noise (Thrun, Burgard & Fox 2005, sec. 7.3).
        """
        after, f, g, h = self._evaluate(pose, increments, angles, parameters)
        noise = [
            (f, covariance, "covariance", 3),
            (g, increment_covariance, "increment_covariance", len(self.increments)),
        ]
        if angle_covariance is not None:
            noise.append((h, angle_covariance, "angle_covariance", len(self.angles)))
        total: Any = 0
        for flat, given, name, size in noise:
            slope = flat.reshape(3, size, *flat.shape[1:])
            total = total + _carried(slope, _square(given, name, size))
        return after, total

    def formulas(self) -> OdometryFormulas:
        """The same in SymPy, with the description's own parameters as symbols, checked against the program."""
        from trundle.motion.odometry_formulas import derive_formulas

        return derive_formulas(self)

    def __repr__(self) -> str:
        angles = f" at {', '.join(self.angles)}" if self.angles else ""
        return (
            f"<Odometry of {self.name}: x, y, theta from {', '.join(self.increments)}{angles}; "
            f"{self.program.operations} operations with Jacobians>"
        )

    def _repr_latex_(self) -> str:
        return self.formulas()._repr_latex_()

    def _evaluate(
        self, pose: Any, increments: Any, angles: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[Array, ...]:
        values = self.robot.parameter_values(parameters)
        groups = [
            _group("pose", POSE, pose),
            _group("increments", self.increments, increments),
            _group("angles", self.angles, angles),
        ]
        return self._kernel(*_alike(groups), np.array(list(values.values())))


def derive_odometry(robot: Robot | Model, given: Sequence[str] | None = None) -> Odometry:
    """The odometry of a robot on a planar base from the increments of the angles whose rates are `given`.

    robot: the robot, or a model derived from it. given: names as in `rate_names`; by default the rates of all that
    motors drive. Raises InputError for unknown names and where they don't determine the base's motion.
    """
    robot = robot_of(robot, "odometry", "it has no wheels to count the turns of")
    defaults = robot.parameter_values()
    p = ca.SX.sym("p", len(defaults))
    assembly = assemble(robot, robot.resolver({name: p[i] for i, name in enumerate(defaults)}))
    plan = plan_odometry(robot, given)
    q, delta = ca.SX.sym("q", len(plan.names)), ca.SX.sym("d", len(plan.given))
    moved = displacement(robot, plan, assembly, _entries(q), _entries(delta))
    column = ca.vertcat(*(ca.SX(each) for each in moved))
    used = [k for k in range(len(plan.names)) if ca.depends_on(column, q[k])]
    column = ca.substitute(column, q, _middle(plan, q, delta))
    counted = [name for k, name in enumerate(plan.given) if ca.depends_on(column, delta[k])]
    if given is None and len(counted) < len(plan.given):
        return derive_odometry(robot, counted)  # a platform's turntable, say, doesn't move the base below it
    pose = ca.SX.sym("pose", 3)
    after = advance(_entries(pose), _entries(column))
    angles = tuple(plan.names[k] for k in used)
    inputs = {
        "pose": (POSE, pose),
        "increment": (plan.increments, delta),
        "angle": (angles, q[used]),
        "parameter": (tuple(defaults), p),
    }
    program = trace("odometry", inputs, {"pose": (POSE, ca.vertcat(*after))})
    return Odometry(
        robot.name,
        plan.increments,
        angles,
        defaults,
        assembly.quantities.only((*POSE, *plan.increments, *angles)),
        program.with_jacobians("pose", "pose", "increment", "angle"),
        robot,
        plan.given,
    )


@dataclass(frozen=True)
class Plan:
    """What is decided on numbers once, for every kind of scalar.

    given: the rates; increments: the coordinates whose rates they are; names: all coordinates but those of the base;
    kept: the wheels' rows that say something about the base; samples: the numbers of those.
    """

    given: tuple[str, ...]
    increments: tuple[str, ...]
    names: tuple[str, ...]
    kept: tuple[int, ...]
    samples: Array


def plan_odometry(robot: Any, given: Sequence[str] | None) -> Plan:
    """Which rows of the wheels determine the base's motion (see `derive_odometry`)."""
    numeric = assemble(robot, robot.resolver())
    if len(numeric.base_columns) != 3:
        raise InputError(
            f"odometry needs a planar base, and '{robot.name}' has a {robot.base} one", key="robot.base"
        )
    if numeric.loops and not all(wheel.on_base for wheel in numeric.wheels):
        raise InputError(
            f"wheels of '{robot.name}' hang on closed loops, for which there is no odometry",
            key="robot.loops",
            hint="trundle.roll integrates their motion",
        )
    known = rate_names(robot)
    chosen = tuple(_driven(numeric, known) if given is None else given)
    for name in chosen:
        if name not in known:
            raise InputError(f"'{name}' is not a rate of '{robot.name}'", key=name, hint=suggest(name, known))
    names = tuple(name for name in independent_coordinates(numeric) if name not in POSE)
    defaults = robot.parameter_values()
    q, p = ca.SX.sym("q", len(names)), ca.SX.sym("p", len(defaults))
    assembly = assemble(robot, robot.resolver(dict(zip(defaults, _entries(p), strict=True))))
    rows, owners = _all_rows(assembly, names, _entries(q))
    samples = sample(rows, q, p, list(defaults.values()), len(numeric.speeds))
    prescribed = [numeric.speeds.index(name) for name in chosen]
    kept = _telling(samples, owners, {*prescribed, *numeric.base_columns})
    return Plan(
        chosen,
        tuple(numeric.quantities.coordinate_of(name) for name in chosen),
        names,
        kept,
        samples[:, kept, :],
    )


def displacement(
    robot: Any,
    plan: Plan,
    assembly: Assembly,
    q: Sequence[Scalar],
    delta: Sequence[Scalar],
    tidy: Callable[[Scalar], Scalar] = lambda entry: entry,
) -> list[Scalar]:
    """The twist's integral (a, b, φ) for increments `delta` at the coordinates `q`, in scalars of any kind."""
    rows, _ = _all_rows(assembly, plan.names, q)
    kept = [[0 if is_zero(entry) else entry for entry in rows[row]] for row in plan.kept]
    nu = solve_speeds(robot, assembly, kept, plan.given, delta, lambda _: plan.samples, tidy)
    return [nu[column] for column in assembly.base_columns]


def _middle(plan: Plan, q: Any, delta: Any) -> Any:
    """The coordinates in the middle of an increment: q + Δ/2 of those that are incremented, (n,) of CasADi."""
    entries = _entries(q)
    for k, name in enumerate(plan.increments):
        entries[plan.names.index(name)] += delta[k] / 2
    return ca.vertcat(*entries)


def _all_rows(assembly: Assembly, names: Sequence[str], q: Sequence[Scalar]) -> tuple[Rows, list[str]]:
    """A(q) with the base at the origin, over all speeds that don't follow others, and each row's wheel."""
    every = independent_coordinates(assembly)
    values = dict(zip(names, q, strict=True))
    at = configure(assembly, every, [values.get(name, 0) for name in every])
    wheels = [wheel for wheel in assembly.wheels if wheel.grips]
    rows, about = rolling_rows(assembly, at, wheels)
    coupled, _ = coupling_rows(assembly, at)
    return without_followers(assembly, rows, coupled), [row.owner for row in about]


def _telling(samples: Array, owners: Sequence[str], known: set[int]) -> tuple[int, ...]:
    """Rows that say something about the base, not only what a free wheel or a caster does of its own.

    Where the rows of one wheel have as many unknowns of their own as there are rows with them, those adapt to any
    motion of the base: leaving both out changes no least-squares solution.
    """
    present = np.abs(samples).max(axis=0) > 0
    kept = list(range(len(owners)))
    for owner in dict.fromkeys(owners):
        own = [row for row in kept if owners[row] == owner]
        others = [row for row in kept if owners[row] != owner]
        private = [
            column
            for column in range(present.shape[1])
            if column not in known and present[own, column].any() and not present[others, column].any()
        ]
        touched = [row for row in own if present[row, private].any()]
        block = samples[:, touched][:, :, private]
        if touched and (np.linalg.matrix_rank(block) == len(touched)).all():
            kept = [row for row in kept if row not in touched]
    return tuple(kept)


def _driven(assembly: Assembly, known: Sequence[str]) -> list[str]:
    """The rates of what motors drive, each once."""
    driven = [assembly.speeds[actuator.column] for actuator in assembly.actuators]
    return [name for name in dict.fromkeys(driven) if name in known]


def _entries(column: Any) -> list[Any]:
    return [column[i] for i in range(column.shape[0])]


def _group(what: str, names: Sequence[str], given: Any) -> Array:
    """An array (n,) or (n, count) of numbers given by name or in order; raises InputError."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise InputError(
                    f"'{name}' is not one of the {what}", key=str(name), hint=suggest(str(name), names)
                )
        missing = [name for name in names if name not in given]
        if missing:
            raise InputError(
                f"{what} lack '{missing[0]}'", key=missing[0], hint=f"give all of: {', '.join(names)}"
            )
        given = np.broadcast_arrays(*(given[name] for name in names)) if names else ()
    try:
        values = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"expected numbers for the {what}, got {kind_of(given)}", key=what) from None
    if values.ndim not in (1, 2) or len(values) != len(names):
        needed = f"{len(names)} ({', '.join(names)})" if names else "none"
        raise InputError(f"{what} of shape {values.shape} don't fit: expected {needed}, first axis", key=what)
    return values


def _alike(groups: list[Array]) -> list[Array]:
    counts = {each.shape[1] for each in groups if each.ndim == 2}
    if len(counts) > 1:
        raise InputError(
            f"pose, increments and angles are of {' and '.join(map(str, sorted(counts)))} robots"
        )
    return groups


def _square(given: Any, name: str, size: int) -> Array:
    matrix = np.array(given, dtype=float)
    if matrix.shape[:2] != (size, size) or matrix.ndim not in (2, 3):
        raise InputError(f"{name} has the shape {matrix.shape}; expected ({size}, {size})", key=name)
    return matrix


def _carried(slope: Array, covariance: Array) -> Array:
    """J Σ Jᵀ, over the last axis where there is one."""
    return np.einsum("ij...,jk...,lk...->il...", slope, covariance, slope)
