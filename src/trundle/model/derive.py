"""derive(robot) -> Model: the one place where mechanics meets program.

The path of the data: the robot's values become symbols; `mechanics.assembly` makes a tree of them; ideal wheels give
A(q) ν = 0, solved as ν = S(q) u; Newton-Euler and the composite-rigid-body algorithm give SᵀMS u̇ = Sᵀ(τ − M Ṡu −
c); the result is traced to programs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import apply, dot, solve_positive, transpose
from trundle.mechanics.quantities import TIME, Quantities, Quantity
from trundle.mechanics.reactions import undetermined_rows
from trundle.mechanics.recast import recast
from trundle.mechanics.rolling import Basis, Problem
from trundle.model.classification import mobility_of
from trundle.model.closures import Closures, close_loops
from trundle.model.configuration import Configuration, configure, coordinate_rates, independent_coordinates
from trundle.model.constraints import ideal_wheels, rolling_problem, sample, solve_rolling
from trundle.model.forces import Forces, applied_forces, contact_span
from trundle.model.health import check_inertia, check_loads, check_mass
from trundle.model.mass import mass_inverse, reduced_mass
from trundle.model.model import ConstraintSummary, Model
from trundle.model.multipliers import Inverse, solve_with_multipliers
from trundle.model.observe import Motion, force_of, observed
from trundle.model.projection import projected
from trundle.model.sketch import sketch
from trundle.program import Program, Tracer, trace
from trundle.scalars import Scalar

# Audit states: names that a run's energy balance is made of.
WORK = Quantity("energy.work", "J", "energy")
LOST = Quantity("energy.losses", "J", "energy")


@dataclass(frozen=True)
class Symbols:
    """The symbols of one derivation: independent coordinates, independent speeds, currents, commands, parameters.

    CasADi's columns where constraints need its derivatives; else lists of a tracer's nodes, ten times as fast.
    """

    q: Any
    u: Any
    currents: Any
    commands: Any
    parameters: Any
    tracer: Tracer | None

    @property
    def groups(self) -> tuple[Any, Any, Any]:
        """CasADi's columns of the state, the inputs and the parameters."""
        return ca.vertcat(self.q, self.u, self.currents), self.commands, self.parameters

    def columns(self, states: int) -> dict[str, Any]:
        """CasADi's columns by group; x of `states` entries, those beyond q, u and currents being audit states."""
        state = ca.vertcat(self.q, self.u, self.currents)
        audit = ca.SX.sym("audit", states - state.numel())
        return {"state": ca.vertcat(state, audit), "input": self.commands, "parameter": self.parameters}


def derive(robot: Any) -> Model:
    """The equations of motion of a described robot, as a `Model`.

    M(q) ν̇ + c(q, ν) = τ + A(q)ᵀ λ with A ν = 0, reduced to ν = S(q) u:  SᵀMS u̇ = Sᵀ(τ − c − M Ṡ u)  (Featherstone
    2008, eq. 8.9 by projection; Campion et al. 1996 for the choice of u). Without constraints ν̇ comes from the
    articulated-body algorithm. Raises InputError where ideal wheels lock the robot, where a speed has no inertia, or
    where chosen speeds don't fit.
    """
    if not hasattr(robot, "resolver"):
        hint = "load it first: trundle.load(path)" if isinstance(robot, str) else "is it derived already?"
        raise InputError(f"derive takes a robot, not {type(robot).__name__}", hint=hint)
    start = time.perf_counter()
    defaults = robot.parameter_values()
    numeric = assemble(robot, robot.resolver(defaults))
    check_inertia(robot, numeric)
    names = independent_coordinates(numeric)
    tracer = None if _constrained(numeric) else Tracer("state", "input", "parameter")
    parameters = _symbol(tracer, "parameter", len(defaults))
    scope = dict(zip(defaults, _entries(parameters), strict=True))
    assembly = assemble(robot, robot.resolver(scope))
    q = _symbol(tracer, "state", len(names))
    at = configure(assembly, names, _entries(q))
    problem, basis = solve_basis(assembly, names, at, robot, q, parameters, list(defaults.values()))
    symbols = _symbols(assembly, basis, q, parameters, tracer)
    loops = None
    if assembly.loops:
        loops = close_loops(assembly, numeric, names, at, basis.matrix, symbols.groups, defaults, robot.name)
    inverse = mass_inverse(assembly, numeric, at)
    motion = _move(assembly, names, at, basis, symbols, contact_span(numeric), loops, inverse)
    model = _package(robot, assembly, numeric, names, problem, basis, symbols, motion, loops, defaults, start)
    check_mass(robot, model, numeric)
    check_loads(robot, numeric, contact_span(numeric))
    return model


def solve_basis(
    assembly: Assembly,
    names: Sequence[str],
    at: Configuration,
    robot: Any,
    q: Any,
    parameters: Any,
    defaults: Sequence[float],
) -> tuple[Problem, Basis]:
    """The rolling constraints and ν = S(q) u, ranks decided at the parameters' `defaults`."""
    width = len(assembly.speeds)
    problem = rolling_problem(assembly, names, at, lambda rows: sample(rows, q, parameters, defaults, width))
    return problem, solve_rolling(problem, robot.name, robot.speeds)


def _constrained(assembly: Assembly) -> bool:
    return bool(ideal_wheels(assembly) or assembly.couplings or assembly.loops)


def _symbol(tracer: Tracer | None, group: str, count: int, start: int = 0) -> Any:
    return ca.SX.sym(group, count) if tracer is None else tracer.inputs(group, count, start)


def _symbols(assembly: Assembly, basis: Basis, q: Any, parameters: Any, tracer: Tracer | None) -> Symbols:
    first, speeds = len(_entries(q)), len(basis.labels)
    return Symbols(
        q,
        _symbol(tracer, "state", speeds, first),
        _symbol(tracer, "state", len(assembly.own_states), first + speeds),
        _symbol(tracer, "input", len(assembly.actuators)),
        parameters,
        tracer,
    )


def _move(
    assembly: Assembly,
    names: Sequence[str],
    at: Configuration,
    basis: Basis,
    symbols: Symbols,
    span: Sequence[int],
    loops: Closures | None,
    inverse: Inverse | None,
) -> Motion:
    """All speeds, their rates, and the forces, from the state."""
    u = _entries(symbols.u)
    nu = apply(basis.matrix, u)
    q_dot = coordinate_rates(assembly, names, at, nu)
    forces = applied_forces(
        assembly,
        at,
        nu,
        dict(zip((a.command.name for a in assembly.actuators), _entries(symbols.commands), strict=True)),
        dict(zip((each.name for each in assembly.own_states), _entries(symbols.currents), strict=True)),
        span,
    )
    if not _constrained(assembly):
        fast = recast(assembly.tree, at.q)
        u_dot = forward_dynamics(fast.tree, fast.poses, nu, forces.tau)
        nu_dot, bias_rate = u_dot, [0] * len(nu)
    else:
        bias_rate = directional(nu, symbols.q, q_dot)
        drive = _drive(assembly, at, basis, nu, bias_rate, forces)
        if loops is not None:
            mass = inverse or reduced_mass(assembly, at, basis.matrix)
            free = Motion(nu, bias_rate, q_dot, [], forces)
            return _held(assembly, basis, loops, symbols, mass, drive, free)
        reduced = reduced_mass(assembly, at, basis.matrix)
        u_dot = [row[0] for row in solve_positive(reduced, [[d] for d in drive])]
        nu_dot = [a + b for a, b in zip(apply(basis.matrix, u_dot), bias_rate, strict=True)]
    return Motion(nu, nu_dot, q_dot, u_dot, forces)


def _held(
    assembly: Assembly,
    basis: Basis,
    loops: Closures,
    symbols: Symbols,
    mass: list[list[Scalar]] | Inverse,
    drive: list[Scalar],
    free: Motion,
) -> Motion:
    """The motion with closed loops: SᵀMS u̇ = drive + (A S)ᵀλ, A S u̇ = −d(A S)/dt u; `free` has Ṡu for ν̇."""
    u = _entries(symbols.u)
    right = [-rate for rate in directional(apply(loops.rows, u), symbols.q, free.q_dot)]
    labels = [f"{owner} {k + 1}" for k, owner in enumerate(loops.owners)]
    solution = solve_with_multipliers(mass, drive, loops.rows, right, loops.samples, (basis.labels, labels))
    nu_dot = [a + b for a, b in zip(apply(basis.matrix, solution.rates), free.nu_dot, strict=True)]
    every = [row for closure in loops.closures.values() for row in closure.rows]
    wrenches, multipliers = loops.wrenches(assembly, solution.multipliers)
    return Motion(
        free.nu,
        nu_dot,
        free.q_dot,
        solution.rates,
        free.forces,
        wrenches,
        apply(transpose(every), multipliers),
        solution.undetermined,
    )


def _drive(
    assembly: Assembly,
    at: Configuration,
    basis: Basis,
    nu: Sequence[Scalar],
    bias_rate: Sequence[Scalar],
    forces: Forces,
) -> list[Scalar]:
    """Sᵀ(τ − (M Ṡu + c)), equal to SᵀMS u̇ without loops; Newton-Euler at ν̇ = Ṡu gives the bracket at once."""
    count = assembly.tree.speed_count
    bias = inverse_dynamics(assembly.tree, at.poses, nu[:count], bias_rate[:count])
    bias += [c.armature * bias_rate[c.column] for c in assembly.linkages]
    drive = [t - b for t, b in zip(forces.tau, bias, strict=True)]
    return [dot(column, drive) for column in transpose(basis.matrix)]


def directional(nu: Sequence[Scalar], q: Any, q_dot: Sequence[Scalar]) -> list[Scalar]:
    """d(S(q) u)/dt at constant u: the derivative of ν along q̇."""
    column = ca.vertcat(*(ca.SX(v) for v in nu))
    if not ca.depends_on(column, q):
        return [0] * len(nu)
    rate = ca.jtimes(column, q, ca.vertcat(*(ca.SX(v) for v in q_dot)))
    return [0 if entry.is_zero() else entry for entry in _entries(rate)]


def _package(
    robot: Any,
    assembly: Assembly,
    numeric: Assembly,
    names: tuple[str, ...],
    problem: Problem,
    basis: Basis,
    symbols: Symbols,
    motion: Motion,
    loops: Closures | None,
    defaults: Mapping[str, float],
    start: float,
) -> Model:
    """Trace the programs and name everything."""
    currents = assembly.own_states
    inputs = tuple(a.command.name for a in assembly.actuators)
    states = (*names, *basis.labels, *(each.name for each in currents))
    rates = [*motion.q_dot, *motion.u_dot, *(motion.forces.rates[each.name] for each in currents)]
    at = configure(assembly, names, _entries(symbols.q))
    outputs = observed(assembly, at, problem, basis, motion, _entries(symbols.u), loops)
    labels = tuple(each.name for each in outputs)
    groups = {"state": states, "input": inputs, "parameter": tuple(defaults)}
    accounted = (*states, WORK.name, LOST.name)
    audited = {**groups, "state": accounted}
    powers = [motion.forces.power, motion.forces.loss]
    bound = _loop_fields(robot, assembly, loops, symbols, states, names, basis)
    return Model(
        robot=robot,
        name=robot.name,
        coordinates=names,
        speeds=basis.labels,
        currents=tuple(each.name for each in currents),
        inputs=inputs,
        outputs=labels,
        parameters=dict(defaults),
        quantities=Quantities.gather(
            (TIME,),
            assembly.quantities.values(),
            basis.made,
            (a.command for a in assembly.actuators),
            currents,
            outputs,
            (WORK, LOST),
        ),
        mobility=mobility_of(numeric),
        constraints=_summary(assembly, problem, basis, loops, motion),
        dynamics=_traced(symbols, "dynamics", groups, "rate", states, rates),
        audited=_traced(symbols, "audited", audited, "rate", accounted, [*rates, *powers]),
        observe=_traced(symbols, "observe", groups, "output", labels, list(outputs.values())),
        stiff=bool(currents)
        or any(wheel.law.stiff for wheel in assembly.wheels)
        or any(element.stiff for element in numeric.elements),
        derive_seconds=time.perf_counter() - start,
        sketch=sketch(robot, numeric),
        **bound,
    )


def _summary(
    assembly: Assembly, problem: Problem, basis: Basis, loops: Closures | None, motion: Motion
) -> ConstraintSummary:
    """Rows and rank of the wheels', the couplings' and the loops' constraints."""
    undetermined = undetermined_rows(problem.samples[:-1]) if problem.rows else []
    forces = [
        force.name for row in undetermined if (force := force_of(assembly, problem.about[row])) is not None
    ]
    rows, rank = len(problem.rows), basis.elimination.rank
    if loops is not None:
        rows, rank = rows + loops.row_count, rank + loops.rank
        forces += loops.undetermined(assembly, motion.undetermined)
    return ConstraintSummary(rows, rank, tuple(forces))


def _loop_fields(
    robot: Any,
    assembly: Assembly,
    loops: Closures | None,
    symbols: Symbols,
    states: Sequence[str],
    names: Sequence[str],
    basis: Basis,
) -> dict[str, Any]:
    """What a model with loops has beside the others: its manifold, the way back to it, what depends on what."""
    if loops is None:
        return {}
    groups = {"state": tuple(states), "input": tuple(a.command.name for a in assembly.actuators)}
    groups["parameter"] = tuple(robot.parameter_values())
    q = _entries(symbols.q)
    configuration = loops.configuration(names, q)
    rates = apply(loops.rows, _entries(symbols.u))
    velocity = ca.vertcat(*(ca.SX(value) for value in rates))
    held = _entries(configuration)
    labels = [f"configuration {k + 1}" for k in range(len(held))]
    labels += [f"velocity {k + 1}" for k in range(len(rates))]
    moved = projected(symbols.groups, (len(q), len(basis.labels)), configuration, velocity, loops.samples)
    slope = ca.jacobian(configuration, symbols.q)
    rows = [[slope[i, j] for j in range(len(q))] for i in range(len(held))]
    driven = _driven(assembly)
    return {
        "manifold": _traced(symbols, "manifold", groups, "residual", labels, [*held, *rates]),
        "projection": _traced(symbols, "projection", groups, "state", states, _entries(moved)),
        "dependent": loops.dependent(names, rows, driven) + loops.dependent(basis.labels, loops.rows, driven),
    }


def _driven(assembly: Assembly) -> set[str]:
    """Coordinates and speeds that a motor acts on."""
    speeds = {assembly.speeds[actuator.column] for actuator in assembly.actuators}
    return speeds | {assembly.quantities.coordinate_of(speed) for speed in speeds}


def _traced(
    symbols: Symbols,
    name: str,
    groups: Mapping[str, Sequence[str]],
    label: str,
    labels: Sequence[str],
    values: Sequence[Scalar],
) -> Program:
    if symbols.tracer is not None:
        return symbols.tracer.program(name, groups, {label: (labels, values)})
    columns = symbols.columns(len(groups["state"]))
    inputs = {group: (tuple(named), columns[group]) for group, named in groups.items()}
    return trace(name, inputs, {label: (tuple(labels), ca.vertcat(*(ca.SX(v) for v in values)))})


def _entries(column: Any) -> list[Any]:
    return column if isinstance(column, list) else [column[i] for i in range(column.shape[0])]
