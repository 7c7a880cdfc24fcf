"""The same model, used kinematically: the base's motion from wheel and steering rates, by least squares where
over-determined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca

from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.elimination import ZERO, generic_rank
from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.mechanics.quantities import TIME, Quantities, Quantity
from trundle.model.arguments import robot_of
from trundle.model.closures import Closures, close_loops
from trundle.model.configuration import (
    Configuration,
    configure,
    coordinate_rates,
    coupled_coordinates,
    independent_coordinates,
)
from trundle.model.constraints import coupling_rows, follower_columns, rolling_rows, sample, without_followers
from trundle.model.model import Model
from trundle.model.multipliers import solve_with_multipliers
from trundle.model.projection import projected
from trundle.model.sketch import sketch
from trundle.program import Program, trace
from trundle.robot import Robot
from trundle.scalars import Scalar, absolute, is_zero, maximum

_SLIP_RESIDUAL = Quantity("slip_residual", "m/s", "residual")


@dataclass(frozen=True)
class Kinematics:
    """q̇ = g(q, k, p) with k the given rates; outputs: the speeds that were found and the slip residual (m/s).

    The least-squares solution of A_z z = −A_k k over all wheels' contact velocities, with z the base's twist and the
    rates of free wheels and casters (Muir & Neuman 1987, eq. 4.21). Rows that a robot can't satisfy show as
    `slip_residual`, the largest contact velocity that is left. Loops stay closed exactly, whatever wheels must slip for
    it: `manifold`, `projection` and `dependent` are those of a `Model`.
    """

    name: str
    coordinates: tuple[str, ...]
    given: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, float]
    quantities: Quantities
    program: Program
    robot: Any
    sketch: Mapping[str, Any] = field(default_factory=dict)
    manifold: Program | None = None
    projection: Program | None = None
    dependent: tuple[str, ...] = ()

    @property
    def units(self) -> Mapping[str, str]:
        """The SI unit of each name."""
        return self.quantities.units

    @property
    def states(self) -> tuple[str, ...]:
        """The coordinates, under the name that they have in a model; `speeds` and `inputs` likewise."""
        return self.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        """None: they are given."""
        return ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The given rates."""
        return self.given

    @cached_property
    def state_index(self) -> Mapping[str, int]:
        """Place of each coordinate in q."""
        return {name: place for place, name in enumerate(self.coordinates)}

    @cached_property
    def manifold_jacobian(self) -> Program | None:
        """∂(residual)/∂q of `manifold`; row-major."""
        return None if self.manifold is None else self.manifold.jacobian("residual", "state")


def rate_names(robot: Any) -> tuple[str, ...]:
    """The rates that a kinematic run can be given: of coordinates of wheels, steering, couplings and joints."""
    numeric = assemble(robot, robot.resolver())
    follow = {*numeric.base_columns, *follower_columns(numeric)}
    moving = [name for j, name in enumerate(numeric.speeds) if j not in follow]
    return tuple(name for name in moving if numeric.quantities.coordinate_of(name))


def derive_kinematics(robot: Robot | Model, given: Sequence[str]) -> Kinematics:
    """The kinematic program of a robot, or of the one a model was derived from, for given rates (see `rate_names`).

    Steering, joints and couplings whose rates aren't given are held; wheels and casters whose rates aren't given
    roll freely. Raises InputError where the given rates don't determine the base's motion.
    """
    robot = robot_of(robot, "kinematics", "it has no wheels to be driven by")
    given = tuple(given)
    defaults = robot.parameter_values()
    parameters = ca.SX.sym("p", len(defaults))
    scope = {name: parameters[i] for i, name in enumerate(defaults)}
    assembly = assemble(robot, robot.resolver(scope))
    known = rate_names(robot)
    for name in given:
        if name not in known:
            raise InputError(
                f"'{name}' is not a rate of '{robot.name}'",
                key=f"run.inputs.{name}",
                hint=suggest(name, known),
            )
    names = independent_coordinates(assembly)
    q, rates = ca.SX.sym("q", len(names)), ca.SX.sym("k", len(given))
    entries = [q[i] for i in range(len(names))]
    at = configure(assembly, names, entries)
    wheels = [wheel for wheel in assembly.wheels if wheel.grips]
    rows, _ = rolling_rows(assembly, at, wheels)
    coupled, _ = coupling_rows(assembly, at)
    loops = _loops(robot, assembly, names, at, (q, rates, parameters), defaults)
    nu = _solve(
        robot,
        assembly,
        rows,
        coupled,
        given,
        rates,
        lambda r: sample(r, q, parameters, list(defaults.values()), len(assembly.speeds)),
        loops,
    )
    residual: Scalar = 0
    for row in rows:
        residual = maximum(residual, absolute(dot(row, nu)))
    outputs: dict[str, Scalar] = {name: at.values[name] for name in coupled_coordinates(assembly)}
    outputs |= {name: value for name, value in zip(assembly.speeds, nu, strict=True) if name not in given}
    outputs[_SLIP_RESIDUAL.name] = residual
    groups = {
        "state": (names, q),
        "input": (tuple(given), rates),
        "parameter": (tuple(defaults), parameters),
    }
    columns = {
        "rate": (names, ca.vertcat(*(ca.SX(v) for v in coordinate_rates(assembly, names, at, nu)))),
        "output": (tuple(outputs), ca.vertcat(*(ca.SX(v) for v in outputs.values()))),
    }
    return Kinematics(
        robot.name,
        names,
        tuple(given),
        tuple(outputs),
        defaults,
        Quantities.gather((TIME,), assembly.quantities.values(), (_SLIP_RESIDUAL,)),
        trace("kinematics", groups, columns),
        robot,
        sketch(robot, assemble(robot, robot.resolver())),
        **_bound(names, groups, {assembly.quantities.coordinate_of(name) for name in given}, loops),
    )


def _loops(
    robot: Any,
    assembly: Assembly,
    names: Sequence[str],
    at: Configuration,
    symbols: tuple[Any, Any, Any],
    defaults: Mapping[str, float],
) -> Closures | None:
    """The loops over all speeds; None where there are none."""
    if not assembly.loops:
        return None
    everything = range(len(assembly.speeds))
    identity = [[1 if i == j else 0 for j in everything] for i in everything]
    numeric = assemble(robot, robot.resolver(defaults))
    q, rates, parameters = symbols
    state = ca.vertcat(q, ca.SX.sym("nu", len(assembly.speeds)))
    return close_loops(
        assembly, numeric, names, at, identity, (state, rates, parameters), defaults, robot.name
    )


def _bound(
    names: Sequence[str], groups: Mapping[str, Any], driven: set[str], loops: Closures | None
) -> dict[str, Any]:
    """The manifold of closed configurations, the way back to it, and what follows from the coordinates `driven`."""
    if loops is None:
        return {}
    q = groups["state"][1]
    held = loops.configuration(names, [q[i] for i in range(len(names))])
    moved = projected(loops.samples.symbols, (len(names), 0), held, ca.SX(0, 1), loops.samples)
    labels = [f"configuration {k + 1}" for k in range(held.numel())]
    slope = ca.jacobian(held, q)
    rows = [[slope[i, j] for j in range(len(names))] for i in range(held.numel())]
    return {
        "manifold": trace("manifold", groups, {"residual": (labels, held)}),
        "projection": trace("projection", groups, {"state": (names, moved[: len(names)])}),
        "dependent": loops.dependent(names, rows, driven),
    }


def _solve(
    robot: Any,
    assembly: Assembly,
    rolling: list[list[Scalar]],
    coupled: list[list[Scalar]],
    given: Sequence[str],
    rates: Any,
    samples: Any,
    loops: Closures | None,
) -> list[Scalar]:
    """ν with what follows others by couplings put in its place, and worked out at last."""
    followers = follower_columns(assembly)
    rows = without_followers(assembly, rolling, coupled)
    held = without_followers(assembly, loops.rows, coupled) if loops is not None else []
    nu = solve_speeds(robot, assembly, rows, given, rates, samples, held=held, loops=loops)
    for column, row in zip(followers, coupled, strict=True):
        nu[column] = -dot([0 if j == column else entry for j, entry in enumerate(row)], nu)
    return nu


def solve_speeds(
    robot: Any,
    assembly: Assembly,
    rows: Sequence[Sequence[Scalar]],
    given: Sequence[str],
    rates: Any,
    samples: Callable[[Any], Any],
    tidy: Callable[[Scalar], Scalar] = lambda entry: entry,
    held: Sequence[Sequence[Scalar]] = (),
    loops: Closures | None = None,
) -> list[Scalar]:
    """ν: the given rates, zeros for what is held, the least-squares solution for the base and what rolls freely; zeros
    for what follows others, of which the rows must be free.

    `samples` gives the rows' numbers (s, rows, speeds) at random configurations; `tidy` rewrites the entries of the
    normal equations before they are solved. The rows `held` are the loops': they aren't weighed against wheels, but
    hold, and |A z + A_k k|² is least under them.
    """
    solution: dict[int, Scalar] = {assembly.speeds.index(name): rates[i] for i, name in enumerate(given)}
    every = [*rows, *held]
    free = _free_columns(assembly, solution, held)
    free = [j for j in free if j in assembly.base_columns or any(_present(row[j]) for row in every)]
    if free:
        numbers = (
            samples(every)[:, :, free] if loops is None else loops.samples.of_constraints(every)[:, :, free]
        )
        rank = generic_rank(numbers, ZERO if loops is None else loops.samples.zero) if every else 0
        if rank < len(free):
            raise _undetermined(robot, assembly, given, rank, len(free))
        known = [solution.get(j, 0) for j in range(len(assembly.speeds))]
        found = _least_squares(rows, held, known, free, loops, assembly.speeds, tidy)
        solution.update(zip(free, found, strict=True))
    return [solution.get(j, 0) for j in range(len(assembly.speeds))]


def _least_squares(
    rows: Sequence[Sequence[Scalar]],
    held: Sequence[Sequence[Scalar]],
    known: Sequence[Scalar],
    free: Sequence[int],
    loops: Closures | None,
    speeds: Sequence[str],
    tidy: Callable[[Scalar], Scalar],
) -> list[Scalar]:
    """z of the `free` columns with |A z + A_k k|² least over the `rows`, and zero over the rows that are `held`."""
    left = [[row[j] for j in free] for row in rows]
    turned = transpose(left) if left else [[] for _ in free]
    gram = product(turned, left) if left else [[0] * len(free) for _ in free]
    gram = [[tidy(entry) for entry in row] for row in gram]
    right = [tidy(dot(column, [-value for value in apply(rows, known)])) for column in turned]
    if loops is None:
        return [value for (value,) in solve_positive(gram, [[value] for value in right])]
    chosen = [[row[j] for j in free] for row in held]
    rates = [-value for value in apply(held, known)]
    names = [speeds[j] for j in free], loops.owners
    return solve_with_multipliers(gram, right, chosen, rates, loops.samples, names).rates


def _free_columns(
    assembly: Assembly, prescribed: Mapping[int, Scalar], held: Sequence[Sequence[Scalar]]
) -> list[int]:
    """Columns to solve for: the base, the wheels' and casters' rates that weren't given, the joints without a motor
    that carry wheels (a trailer's hitch), and those of the loops' rows `held`, but for those that follow others.
    """
    rolling = {w.spin for w in assembly.wheels}
    rolling |= {w.steering for w in assembly.wheels if w.noun.trails}
    driven = {actuator.column for actuator in assembly.actuators}
    slices = assembly.tree.speed_slices()
    for wheel in assembly.wheels:
        for link in assembly.tree.ancestors(wheel.link):
            columns = range(slices[link].start, slices[link].stop)
            rolling |= set(columns) - driven - {wheel.steering}
    rolling |= {j for row in held for j, entry in enumerate(row) if _present(entry)} - driven
    columns = [
        *assembly.base_columns,
        *sorted({c for c in rolling if c is not None} - set(assembly.base_columns)),
    ]
    follow = {*prescribed, *follower_columns(assembly)}
    return [c for c in columns if c not in follow]


def _present(entry: Scalar) -> bool:
    return not is_zero(entry)


def _undetermined(robot: Any, assembly: Assembly, given: Sequence[str], rank: int, needed: int) -> InputError:
    possible = [w for w in rate_names(robot) if w not in given]
    came = ", ".join(given) or "none"
    return InputError(
        f"the given rates ({came}) don't determine the motion of '{robot.name}': rank {rank} of {needed}",
        key="run.inputs",
        hint=f"give more of: {', '.join(possible)}"
        if possible
        else "this robot's wheels leave a motion free",
    )
