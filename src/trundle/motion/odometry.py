"""Odometry: a robot's pose from the increments of its wheels' encoders, exact on the arc, with its Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.quantities import Quantities
from trundle.model import Model
from trundle.model.arguments import kind_of, robot_of
from trundle.model.kinematics import (
    WheelRows,
    check_rates,
    contact_velocities,
    free_rates,
    solve_speeds,
    wheel_rows,
)
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.symbols import Groups, Symbols, column, entries
from trundle.motion.arc import advance
from trundle.program import Program, compile_program
from trundle.robot import Robot
from trundle.scalars import Scalar, is_zero

if TYPE_CHECKING:
    from trundle.motion.odometry_formulas import OdometryFormulas

Array = np.ndarray[Any, np.dtype[np.float64]]

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
    robot: Robot
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
    numbers, symbols = mechanism(robot), Symbols()
    plan = plan_odometry(numbers, given)
    p = symbols.make("parameter", len(numbers.parameters))
    q = symbols.make("angle", len(numbers.names))
    delta = symbols.make("increment", len(plan.given))
    here = at_origin(numbers.in_scalars(dict(zip(numbers.parameters, p, strict=True)), q))
    moved = column(displacement(plan, here, delta))
    angles = {name: each for name, each in zip(here.names, q, strict=True) if ca.depends_on(moved, each)}
    moved = ca.substitute(moved, column(q), column(_middle(plan, here.names, q, delta)))
    counted = [name for name, each in zip(plan.given, delta, strict=True) if ca.depends_on(moved, each)]
    if given is None and len(counted) < len(plan.given):
        return derive_odometry(robot, counted)  # a platform's turntable, say, doesn't move the base below it
    pose = symbols.make("pose", 3)
    inputs: Groups = {
        "pose": (POSE, pose),
        "increment": (plan.increments, delta),
        "angle": (tuple(angles), list(angles.values())),
        "parameter": (tuple(numbers.parameters), p),
    }
    program = symbols.program("odometry", inputs, {"pose": (POSE, advance(pose, entries(moved)))})
    return Odometry(
        robot.name,
        plan.increments,
        tuple(angles),
        numbers.parameters,
        numbers.assembly.quantities.only((*POSE, *plan.increments, *angles)),
        program.with_jacobians("pose", "pose", "increment", "angle"),
        robot,
        plan.given,
    )


@dataclass(frozen=True)
class Plan:
    """What is decided on numbers once, for every kind of scalar.

    given: the rates; increments: the coordinates whose rates they are; kept: the wheels' rows that say something about
    the base; numbers: the values of those.
    """

    given: tuple[str, ...]
    increments: tuple[str, ...]
    kept: tuple[int, ...]
    numbers: Array


def plan_odometry(numbers: Mechanism, given: Sequence[str] | None) -> Plan:
    """Which rows of the wheels determine the base's motion (see `derive_odometry`); `numbers` is the robot's mechanism
    in floats.
    """
    robot, assembly = numbers.robot, numbers.assembly
    if len(assembly.base_columns) != 3:
        raise InputError(
            f"odometry needs a planar base, and '{robot.name}' has a {robot.base} one", key="robot.base"
        )
    if assembly.loops and not all(wheel.on_base for wheel in assembly.wheels):
        raise InputError(
            f"wheels of '{robot.name}' hang on closed loops, for which there is no odometry",
            key="robot.loops",
            hint="trundle.roll integrates their motion",
        )
    chosen = tuple(_driven(assembly) if given is None else given)
    check_rates(numbers, chosen)
    samples = numbers.sampled(lambda here: wheel_rows(at_origin(here)))
    prescribed = [assembly.speeds.index(name) for name in chosen]
    owners = [about.owner for about in contact_velocities(numbers)[1]]
    kept = _telling(samples, owners, {*prescribed, *assembly.base_columns})
    increments = tuple(assembly.quantities.coordinate_of(name) for name in chosen)
    return Plan(chosen, increments, kept, samples[:, kept, :])


def at_origin(here: Mechanism) -> Mechanism:
    """The same with the base at the origin of the plane, so that its axes are the world's."""
    return here.configured(
        [0 if name in POSE else value for name, value in zip(here.names, here.q, strict=True)]
    )


def displacement(
    plan: Plan,
    here: Mechanism,
    delta: Sequence[Scalar],
    tidy: Callable[[Scalar], Scalar] = lambda entry: entry,
) -> list[Scalar]:
    """The twist's integral (a, b, φ) for increments `delta`, the base at the origin, in scalars of any kind."""
    rows = wheel_rows(here)
    kept = [[0 if is_zero(entry) else entry for entry in rows[row]] for row in plan.kept]
    nu = solve_speeds(WheelRows(here, kept, plan.numbers), plan.given, delta, tidy)
    return [nu[place] for place in here.assembly.base_columns]


def _middle(plan: Plan, names: Sequence[str], q: Sequence[Scalar], delta: Sequence[Scalar]) -> list[Scalar]:
    """The coordinates in the middle of an increment: q + Δ/2 of those that are incremented."""
    halves = {name: each / 2 for name, each in zip(plan.increments, delta, strict=True)}
    return [value + halves.get(name, 0) for name, value in zip(names, q, strict=True)]


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


def _driven(assembly: Assembly) -> list[str]:
    """The rates of what motors drive, each once."""
    known = free_rates(assembly)
    driven = [assembly.speeds[actuator.column] for actuator in assembly.actuators]
    return [name for name in dict.fromkeys(driven) if name in known]


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
