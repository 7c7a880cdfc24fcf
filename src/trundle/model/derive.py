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
from trundle.mechanics.assembly import Assembly, assemble, mounting
from trundle.mechanics.coupling import Gear
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.mechanics.mobility import Mobility, WheelPlace, classify
from trundle.mechanics.reactions import undetermined_rows
from trundle.mechanics.rolling import Basis, Problem
from trundle.model.constraints import ideal_wheels, rolling_problem, sample, solve_rolling
from trundle.model.forces import Forces, applied_forces, contact_span
from trundle.model.health import check_loads, check_mass
from trundle.model.layout import Configuration, configure, coordinate_rates, independent_coordinates
from trundle.model.model import ConstraintSummary, Model
from trundle.model.observe import Motion, observed
from trundle.model.sketch import sketch, yaw
from trundle.model.units import units_of
from trundle.program import Program, Tracer, trace
from trundle.scalars import Scalar

# Audit states: names that a run's energy balance is made of.
WORK, LOST = "energy.work", "energy.losses"


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
    names = independent_coordinates(numeric)
    tracer = None if _constrained(numeric) else Tracer("state", "input", "parameter")
    parameters = _symbol(tracer, "parameter", len(defaults))
    scope = dict(zip(defaults, _entries(parameters), strict=True))
    assembly = assemble(robot, robot.resolver(scope))
    q = _symbol(tracer, "state", len(names))
    at = configure(assembly, names, _entries(q))
    problem, basis = solve_basis(assembly, names, at, robot, q, parameters, list(defaults.values()))
    symbols = _symbols(assembly, basis, q, parameters, tracer)
    motion = _move(assembly, names, at, basis, symbols, contact_span(numeric))
    model = _package(robot, assembly, numeric, names, problem, basis, symbols, motion, defaults, start)
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
    return bool(ideal_wheels(assembly) or assembly.couplings)


def _symbol(tracer: Tracer | None, group: str, count: int, start: int = 0) -> Any:
    return ca.SX.sym(group, count) if tracer is None else tracer.inputs(group, count, start)


def _symbols(assembly: Assembly, basis: Basis, q: Any, parameters: Any, tracer: Tracer | None) -> Symbols:
    electrical = [a for a in assembly.actuators if a.electrical]
    first, speeds = len(_entries(q)), len(basis.labels)
    return Symbols(
        q,
        _symbol(tracer, "state", speeds, first),
        _symbol(tracer, "state", len(electrical), first + speeds),
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
) -> Motion:
    """All speeds, their rates, and the forces, from the state."""
    u = _entries(symbols.u)
    nu = apply(basis.matrix, u)
    q_dot = coordinate_rates(assembly, names, at, nu)
    electrical = [a.name for a in assembly.actuators if a.electrical]
    forces = applied_forces(
        assembly,
        at,
        nu,
        dict(zip((a.name for a in assembly.actuators), _entries(symbols.commands), strict=True)),
        dict(zip(electrical, _entries(symbols.currents), strict=True)),
        span,
    )
    if not _constrained(assembly):
        u_dot = forward_dynamics(assembly.tree, at.poses, nu, forces.tau)
        nu_dot, bias_rate = u_dot, [0] * len(nu)
    else:
        bias_rate = directional(nu, symbols.q, q_dot)
        u_dot = _reduced(assembly, at, basis, nu, bias_rate, forces)
        nu_dot = [a + b for a, b in zip(apply(basis.matrix, u_dot), bias_rate, strict=True)]
    return Motion(nu, nu_dot, q_dot, u_dot, forces)


def _reduced(
    assembly: Assembly,
    at: Configuration,
    basis: Basis,
    nu: Sequence[Scalar],
    bias_rate: Sequence[Scalar],
    forces: Forces,
) -> list[Scalar]:
    """u̇ from SᵀMS u̇ = Sᵀ(τ − (M Ṡu + c)); Newton-Euler at ν̇ = Ṡu gives the bracket at once."""
    count = assembly.tree.speed_count
    bias = inverse_dynamics(assembly.tree, at.poses, nu[:count], bias_rate[:count])
    bias += [c.armature * bias_rate[c.column] for c in assembly.linkages]
    mass = extended_mass(assembly, at)
    s = basis.matrix
    reduced = product(transpose(s), product(mass, s))
    drive = [t - b for t, b in zip(forces.tau, bias, strict=True)]
    right = [[dot(column, drive)] for column in transpose(s)]
    return [row[0] for row in solve_positive(reduced, right)]


def extended_mass(assembly: Assembly, at: Configuration) -> list[list[Scalar]]:
    """The tree's mass matrix with a row and column for each linkage's rate, which carries only its drive's armature."""
    mass = mass_matrix(assembly.tree, at.poses)
    size = len(assembly.speeds)
    for row in mass:
        row.extend([0] * (size - len(row)))
    mass += [[0] * size for _ in range(size - len(mass))]
    for linkage in assembly.linkages:
        mass[linkage.column][linkage.column] = linkage.armature
    return mass


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
    defaults: Mapping[str, float],
    start: float,
) -> Model:
    """Trace the programs and name everything."""
    electrical = tuple(a.name for a in assembly.actuators if a.electrical)
    currents = tuple(f"{name}.current" for name in electrical)
    inputs = tuple(f"{a.name}.{a.command}" for a in assembly.actuators)
    states = (*names, *basis.labels, *currents)
    rates = [*motion.q_dot, *motion.u_dot, *(motion.forces.efforts[n].current_rate for n in electrical)]
    at = configure(assembly, names, _entries(symbols.q))
    outputs = observed(assembly, at, problem, basis, motion, names, currents)
    groups = {"state": states, "input": inputs, "parameter": tuple(defaults)}
    audited = {**groups, "state": (*states, WORK, LOST)}
    powers = [motion.forces.power, motion.forces.loss]
    undetermined = undetermined_rows(problem.samples[:-1]) if problem.rows else []
    forces = [name for row in undetermined if (name := _force_name(assembly, problem, row))]
    return Model(
        robot=robot,
        name=robot.name,
        coordinates=names,
        speeds=basis.labels,
        currents=currents,
        inputs=inputs,
        outputs=tuple(outputs),
        parameters=dict(defaults),
        units=units_of(robot, assembly, names, basis.labels, tuple(outputs)),
        initial={name: 1.0 if name.rpartition(".")[2] == "q_w" else 0.0 for name in states},
        mobility=mobility_of(robot, numeric),
        constraints=ConstraintSummary(len(problem.rows), basis.elimination.rank, tuple(forces)),
        dynamics=_traced(symbols, "dynamics", groups, "rate", states, rates),
        audited=_traced(symbols, "audited", audited, "rate", (*states, WORK, LOST), [*rates, *powers]),
        observe=_traced(symbols, "observe", groups, "output", tuple(outputs), list(outputs.values())),
        stiff=bool(electrical)
        or any(w.contact == "slip" for w in assembly.wheels)
        or any(element.stiff for element in numeric.elements),
        derive_seconds=time.perf_counter() - start,
        sketch=sketch(robot, numeric),
    )


def _force_name(assembly: Assembly, problem: Problem, row: int) -> str:
    about = problem.about[row]
    if about.what == Gear.what:
        return f"{about.owner}.torque"
    for wheel in assembly.wheels:
        if wheel.name == about.owner:
            return next(f"{wheel.name}.{d.force}" for d in wheel.directions if d.what == about.what)
    return ""


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


def mobility_of(robot: Any, numeric: Assembly) -> Mobility | None:
    """The class of a planar robot by the wheels on its base, as if none of them slipped; None where there are none."""
    if len(numeric.base_columns) != 3 or not numeric.wheels:
        return None
    frames = mounting(numeric)
    places = [
        WheelPlace(
            wheel.name,
            float(wheel.position[0]),
            float(wheel.position[1]),
            yaw(frames[wheel.link]),
            wheel.kind == "steered",
        )
        for wheel in numeric.wheels
        if wheel.kind in ("fixed", "steered") and wheel.contact != "free" and wheel.on_base
    ]
    return classify(places)
