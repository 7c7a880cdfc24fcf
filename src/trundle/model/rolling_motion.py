"""The same model, used kinematically: the base's motion from wheel and steering rates, by least squares where
over-determined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from trundle.documents import RunSpec, dump
from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.elimination import ZERO, generic_rank
from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.mechanics.quantities import TIME, Quantities, Quantity
from trundle.mechanics.rolling import ConstraintRow
from trundle.model.arguments import robot_of
from trundle.model.closures import Closures, close_loops, held_programs
from trundle.model.constraints import (
    coupled_coordinates,
    coupling_rows,
    follower_columns,
    rolling_rows,
    with_followers,
    without_followers,
)
from trundle.model.guided import solve_with_multipliers
from trundle.model.manifold import Constrained
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.model import Model
from trundle.model.observe import positions
from trundle.model.plant import Rates
from trundle.model.symbols import INPUT, PARAMETER, STATE, Groups, Symbols, entries, parameter_group
from trundle.program import Program
from trundle.robot import Robot
from trundle.scalars import Rows, Scalar, is_zero, largest

_SLIP_RESIDUAL = Quantity("slip_residual", "m/s", "residual")


@dataclass(frozen=True, kw_only=True)
class RollingMotion(Constrained):
    """q̇ = g(q, k, p) with k the given rates; outputs: the speeds that were found and the slip residual (m/s).

    The least-squares solution of A_z z = −A_k k over all wheels' contact velocities, with z the base's twist and the
    rates of free wheels and casters (Muir & Neuman 1987, eq. 4.21). Rows that a robot can't satisfy show as
    `slip_residual`, the largest contact velocity that is left. Loops stay closed exactly, whatever wheels must slip for
    it. The states are the coordinates, the inputs the given rates; speeds it has none.
    """

    robot: Robot

    @property
    def program(self) -> Program:
        """(state, input, parameter) -> rate, output."""
        return self.observe

    @cached_property
    def made_from(self) -> Mapping[str, object]:
        """What a run keeps: the description as YAML text, which may lack masses: what only moves needs none."""
        return {"yaml": dump(self.robot, RunSpec.model_validate({"mode": "kinematic"}))}

    @cached_property
    def motion(self) -> Rates:
        """q̇ = g(q, k, p)."""
        return Rates(self.program, self.program, self.projection, stiff=True)

    def parameter_values(self, changes: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """The robot's, some of them changed."""
        return self.robot.parameter_values(changes)


@dataclass(frozen=True)
class WheelRows:
    """What the wheels on the ground say of all speeds, and what loops hold: rows over the speeds that follow no others.

    The `rows` are met as well as can be, A z ≈ s − A_k k; those of loops, `held`, exactly. `numbers` are the rows'
    values at random configurations, (samples, rows, speeds), on which their rank is decided. The contacts' `slips` s
    are 0 where there are none.
    """

    mechanism: Mechanism
    rows: Rows
    numbers: np.ndarray
    held: Rows = field(default_factory=list)
    loops: Closures | None = None
    slips: Sequence[Scalar] = ()


def rate_names(assembly: Assembly) -> tuple[str, ...]:
    """The rates that a kinematic run can be given: of coordinates of wheels, steering, couplings and joints."""
    follow = {*assembly.base_columns, *follower_columns(assembly)}
    moving = [name for j, name in enumerate(assembly.speeds) if j not in follow]
    return tuple(name for name in moving if assembly.quantities.coordinate_of(name))


def twist_names(assembly: Assembly) -> tuple[str, ...]:
    """The speeds of a planar base, which a kinematic run can be given, too; none of other bases."""
    columns = assembly.base_columns
    return tuple(assembly.speeds[column] for column in columns) if len(columns) == 3 else ()


def derive_rolling(robot: Robot | Model, given: Sequence[str]) -> RollingMotion:
    """The kinematic program of a robot, or of the one a model was derived from, for given rates (see `rate_names`), or
    for a given twist of its base.

    Steering, joints and couplings whose rates aren't given are held; wheels and casters whose rates aren't given
    roll freely. Raises InputError where the given rates don't determine the base's motion.
    """
    robot = robot_of(robot, "kinematics", "it has no wheels to be driven by")
    numbers, symbols, given = mechanism(robot), Symbols(), tuple(given)
    twist = twist_names(numbers.assembly)
    check_rates(numbers, [name for name in given if name not in twist], "run.inputs.")
    here, rates = symbols.mechanism(numbers), symbols.make(INPUT, len(given))
    groups: Groups = {STATE: (here.names, here.q), INPUT: (given, rates), PARAMETER: parameter_group(here)}
    loops = _loops(here)
    contacts, _ = contact_velocities(here)
    nu = _all_speeds(here, contacts, loops, dict(zip(given, rates, strict=True)))
    places = {} if here.assembly.base_columns else positions(here.assembly, here.at)
    outputs = _outputs(here, given, nu) | {place.name: value for place, value in places.items()}
    outputs[_SLIP_RESIDUAL.name] = largest(apply(contacts, nu))
    rates = here.names, here.coordinate_rates(nu)
    shown = {"rate": rates, "output": (tuple(outputs), list(outputs.values()))}
    quantities = here.assembly.quantities
    driven = {quantities.coordinate_of(name) for name in given}
    bound = held_programs(loops, symbols, groups, (len(here.names), 0), driven)
    return RollingMotion(
        name=robot.name,
        coordinates=here.names,
        inputs=given,
        outputs=tuple(outputs),
        parameters=numbers.parameters,
        quantities=Quantities.gather((TIME,), quantities.values(), places, (_SLIP_RESIDUAL,)),
        observe=symbols.program("kinematics", groups, shown),
        robot=robot,
        **vars(bound),
    )


def _all_speeds(
    here: Mechanism, contacts: Rows, loops: Closures | None, given: Mapping[str, Scalar]
) -> list[Scalar]:
    """ν for given rates by name, what follows by couplings with it; `contacts` are the wheels' rows."""
    assembly = here.assembly
    coupled, _ = coupling_rows(assembly, here.at)
    held = [] if loops is None else without_followers(assembly, loops.rows, coupled)
    free = without_followers(assembly, contacts, coupled)
    wheels = WheelRows(here, free, here.sampled(wheel_rows), held, loops)
    return with_followers(assembly, solve_speeds(wheels, given), coupled)


def check_rates(here: Mechanism, given: Sequence[str], key: str = "") -> None:
    """Raise InputError for a name that is no rate (see `rate_names`); `key` is what the file has before it."""
    known = rate_names(here.assembly)
    for name in given:
        if name not in known:
            message = f"'{name}' is not a rate of '{here.robot.name}'"
            raise InputError(message, key=key + name, hint=suggest(name, known))


def _outputs(here: Mechanism, given: Sequence[str], nu: Sequence[Scalar]) -> dict[str, Scalar]:
    """The coordinates and speeds that were found."""
    speeds = zip(here.assembly.speeds, nu, strict=True)
    followers = {name: here.at.values[name] for name in coupled_coordinates(here.assembly)}
    return followers | {name: value for name, value in speeds if name not in given}


def contact_velocities(here: Mechanism) -> tuple[Rows, list[ConstraintRow]]:
    """The rows of all wheels that grip the ground, whatever their contact law, and what each row is."""
    wheels = [wheel for wheel in here.assembly.wheels if wheel.grips]
    return rolling_rows(here.assembly, here.at, wheels)


def wheel_rows(here: Mechanism) -> Rows:
    """The same rows over what is independent of couplings."""
    coupled, _ = coupling_rows(here.assembly, here.at)
    return without_followers(here.assembly, contact_velocities(here)[0], coupled)


def _loops(here: Mechanism) -> Closures | None:
    """The loops over all speeds; None where there are none."""
    if not here.assembly.loops:
        return None
    everything = range(len(here.assembly.speeds))
    identity = [[1 if i == j else 0 for j in everything] for i in everything]
    state = [*here.q, *entries(ca.SX.sym("nu", len(everything)))]
    return close_loops(here, identity, (state, [], list(here.parameters.values())))


def solve_speeds(
    wheels: WheelRows, given: Mapping[str, Scalar], tidy: Callable[[Scalar], Scalar] = lambda entry: entry
) -> list[Scalar]:
    """ν: the given rates, zeros for what is held, the least-squares solution for the base and what rolls freely; zeros
    for what follows others.

    `tidy` rewrites the entries of the normal equations before they are solved. Raises InputError where the given rates
    don't determine the motion.
    """
    assembly, loops = wheels.mechanism.assembly, wheels.loops
    solution: dict[int, Scalar] = {assembly.speeds.index(name): rate for name, rate in given.items()}
    every = [*wheels.rows, *wheels.held]
    free = _free_columns(assembly, solution, wheels.held)
    free = [j for j in free if j in assembly.base_columns or any(not is_zero(row[j]) for row in every)]
    if free:
        numbers, zero = wheels.numbers, ZERO
        if loops is not None:  # only where they are closed
            numbers, zero = loops.samples.of_constraints(every), loops.samples.zero
        rank = generic_rank(numbers[:, :, free], zero) if every else 0
        if rank < len(free):
            raise _undetermined(wheels.mechanism, tuple(given), rank, len(free))
        known = [solution.get(j, 0) for j in range(len(assembly.speeds))]
        solution.update(zip(free, _least_squares(wheels, known, free, tidy), strict=True))
    return [solution.get(j, 0) for j in range(len(assembly.speeds))]


def _least_squares(
    wheels: WheelRows, known: Sequence[Scalar], free: Sequence[int], tidy: Callable[[Scalar], Scalar]
) -> list[Scalar]:
    """z of the `free` columns with |A z + A_k k|² least over the wheels' rows, and zero over the loops'."""
    left = [[row[j] for j in free] for row in wheels.rows]
    turned = transpose(left) if left else [[] for _ in free]
    gram = product(turned, left) if left else [[0] * len(free) for _ in free]
    gram = [[tidy(entry) for entry in row] for row in gram]
    missed = [-value for value in apply(wheels.rows, known)]
    if wheels.slips:
        missed = [value + slip for value, slip in zip(missed, wheels.slips, strict=True)]
    right = [tidy(dot(each, missed)) for each in turned]
    loops = wheels.loops
    if loops is None:
        return [value for (value,) in solve_positive(gram, [[value] for value in right])]
    chosen = [[row[j] for j in free] for row in wheels.held]
    rates = [-value for value in apply(wheels.held, known)]
    names = [wheels.mechanism.assembly.speeds[j] for j in free], loops.owners
    return solve_with_multipliers(gram, right, chosen, rates, loops.samples, names).rates


def _free_columns(
    assembly: Assembly, prescribed: Mapping[int, Scalar], held: Sequence[Sequence[Scalar]]
) -> list[int]:
    """Columns to solve for: the base, the wheels' and casters' rates that weren't given, the joints without a motor
    that carry wheels (a trailer's hitch), and those of the loops' rows `held`, but for those that follow others.
    """
    rolling = {w.spin for w in assembly.wheels}
    rolling |= {w.steering for w in assembly.wheels if w.component.is_caster}
    driven = {actuator.column for actuator in assembly.actuators}
    slices = assembly.tree.speed_slices()
    for wheel in assembly.wheels:
        for link in assembly.tree.ancestors(wheel.link):
            columns = range(slices[link].start, slices[link].stop)
            rolling |= set(columns) - driven - {wheel.steering}
    rolling |= {j for row in held for j, entry in enumerate(row) if not is_zero(entry)} - driven
    columns = [
        *assembly.base_columns,
        *sorted({c for c in rolling if c is not None} - set(assembly.base_columns)),
    ]
    follow = {*prescribed, *follower_columns(assembly)}
    return [c for c in columns if c not in follow]


def _undetermined(here: Mechanism, given: Sequence[str], rank: int, needed: int) -> InputError:
    """An error that says which rates would determine the motion."""
    possible = [name for name in rate_names(here.assembly) if name not in given]
    came = ", ".join(given) or "none"
    return InputError(
        f"the given rates ({came}) don't determine the motion of '{here.robot.name}': rank {rank} of {needed}",
        key="run.inputs",
        hint=f"give more of: {', '.join(possible)}"
        if possible
        else "this robot's wheels leave a motion free",
    )
