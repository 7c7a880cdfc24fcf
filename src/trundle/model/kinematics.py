"""The same model, used kinematically: the base's motion from wheel and steering rates, by least squares where
over-determined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.elimination import generic_rank
from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.model.constraints import coupling_rows, rolling_rows, sample
from trundle.model.layout import configure, coordinate_rates, coupled_coordinates, independent_coordinates
from trundle.model.sketch import sketch
from trundle.model.units import units_of
from trundle.program import Program, trace
from trundle.scalars import Scalar, absolute, maximum, minus, times


@dataclass(frozen=True)
class Kinematics:
    """q̇ = g(q, k, p) with k the given rates; outputs: the speeds that were found and the slip residual (m/s).

    The least-squares solution of A_z z = −A_k k over all wheels' contact velocities, with z the base's twist and the
    rates of free wheels and casters (Muir & Neuman 1987, eq. 4.21). Rows that a robot can't satisfy show as
    `slip_residual`, the largest contact velocity that is left.
    """

    name: str
    coordinates: tuple[str, ...]
    given: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, float]
    units: Mapping[str, str]
    program: Program
    robot: Any
    sketch: Mapping[str, Any] = field(default_factory=dict)


def rate_names(robot: Any) -> tuple[str, ...]:
    """The rates that a kinematic run can be given: of wheels, steering, couplings, and joints with one rate."""
    numeric = assemble(robot, robot.resolver())
    follow = {*numeric.base_columns, *_followers(numeric)}
    moving = [name for j, name in enumerate(numeric.speeds) if j not in follow]
    return tuple(name for name in moving if name.endswith("rate"))


def derive_kinematics(robot: Any, given: Sequence[str]) -> Kinematics:
    """The kinematic program of a robot for given rates (names as in `rate_names`).

    Steering, joints and couplings whose rates aren't given are held; wheels and casters whose rates aren't given
    roll freely. Raises InputError where the given rates don't determine the base's motion.
    """
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
    wheels = [wheel for wheel in assembly.wheels if wheel.contact != "free"]
    rows, _ = rolling_rows(assembly, at, wheels)
    coupled, _ = coupling_rows(assembly, at)
    nu = _solve(
        robot,
        assembly,
        rows,
        coupled,
        given,
        rates,
        lambda r: sample(r, q, parameters, list(defaults.values()), len(assembly.speeds)),
    )
    residual: Scalar = 0
    for row in rows:
        residual = maximum(residual, absolute(dot(row, nu)))
    outputs: dict[str, Scalar] = {name: at.values[name] for name in coupled_coordinates(assembly)}
    outputs |= {name: value for name, value in zip(assembly.speeds, nu, strict=True) if name not in given}
    outputs["slip_residual"] = residual
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
        units_of(robot, assembly, names, given, tuple(outputs)),
        trace("kinematics", groups, columns),
        robot,
        sketch(robot, assemble(robot, robot.resolver())),
    )


def _solve(
    robot: Any,
    assembly: Assembly,
    rolling: list[list[Scalar]],
    coupled: list[list[Scalar]],
    given: Sequence[str],
    rates: Any,
    samples: Any,
) -> list[Scalar]:
    """ν: the given rates, zeros for what is held, the least-squares solution for the base and what rolls freely, and
    what follows them by couplings.
    """
    solution: dict[int, Scalar] = {assembly.speeds.index(name): rates[i] for i, name in enumerate(given)}
    rows = _without_followers(rolling, _followers(assembly), coupled)
    free = _free_columns(assembly, solution)
    if free:
        free = [j for j in free if j in assembly.base_columns or any(_present(row[j]) for row in rows)]
        numbers = samples(rows)[:, :, free]
        if not rows or generic_rank(numbers) < len(free):
            raise _undetermined(robot, assembly, given, generic_rank(numbers) if rows else 0, len(free))
        known = [solution.get(j, 0) for j in range(len(assembly.speeds))]
        right = [-value for value in apply(rows, known)]
        left = [[row[j] for j in free] for row in rows]
        turned = transpose(left)
        found = solve_positive(product(turned, left), [[value] for value in apply(turned, right)])
        solution.update(zip(free, (value for (value,) in found), strict=True))
    nu = [solution.get(j, 0) for j in range(len(assembly.speeds))]
    for column, row in zip(_followers(assembly), coupled, strict=True):
        nu[column] = -dot([0 if j == column else entry for j, entry in enumerate(row)], nu)
    return nu


def _followers(assembly: Assembly) -> list[int]:
    """The columns of the rates that follow others, in the order of the couplings' rows."""
    return [axis.column for coupling in assembly.couplings for axis in coupling.followers]


def _without_followers(
    rows: list[list[Scalar]], followers: Sequence[int], coupled: list[list[Scalar]]
) -> list[list[Scalar]]:
    """The rows over what is independent of couplings: each follower's rate written in those it follows."""
    for column, relation in reversed(list(zip(followers, coupled, strict=True))):
        rows = [_replaced(row, row[column], relation, column) for row in rows]
    return rows


def _replaced(row: list[Scalar], factor: Scalar, relation: list[Scalar], column: int) -> list[Scalar]:
    if not _present(factor):
        return row
    made = [minus(entry, times(factor, part)) for entry, part in zip(row, relation, strict=True)]
    made[column] = 0
    return made


def _free_columns(assembly: Assembly, prescribed: Mapping[int, Scalar]) -> list[int]:
    """Columns to solve for: the base, the wheels' and casters' rates that weren't given, and the joints without a
    motor that carry wheels (a trailer's hitch), but for those that follow others.
    """
    rolling = {w.spin for w in assembly.wheels}
    rolling |= {w.steering for w in assembly.wheels if w.kind == "caster"}
    driven = {actuator.column for actuator in assembly.actuators}
    slices = assembly.tree.speed_slices()
    for wheel in assembly.wheels:
        for link in assembly.tree.ancestors(wheel.link):
            columns = range(slices[link].start, slices[link].stop)
            rolling |= set(columns) - driven - {wheel.steering}
    columns = [
        *assembly.base_columns,
        *sorted({c for c in rolling if c is not None} - set(assembly.base_columns)),
    ]
    follow = {*prescribed, *_followers(assembly)}
    return [c for c in columns if c not in follow]


def _present(entry: Scalar) -> bool:
    return not (isinstance(entry, (int, float)) and entry == 0)


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
