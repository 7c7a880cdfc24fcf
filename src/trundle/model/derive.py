"""derive_robot(robot) -> Model: the one place where mechanics meets program.

The path of the data: the robot is assembled in numbers, on which everything is decided (`mechanism`); its values become
symbols, and ideal wheels give A(q) ν = 0, solved as ν = S(q) u (`moving_mechanism`); Newton-Euler and the
composite-rigid-body algorithm give SᵀMS u̇ = Sᵀ(τ − M Ṡu − c) (`_motion`); the result is traced to programs (`_model`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.elimination import undetermined_rows
from trundle.mechanics.linear import apply, transpose
from trundle.mechanics.quantities import TIME, Quantities, Quantity
from trundle.model.classification import mobility_of
from trundle.model.closed_loop import closed_model
from trundle.model.closures import held_programs
from trundle.model.forces import applied_forces, contact_span
from trundle.model.health import check_inertia, check_loads, check_mass, check_own_kinds
from trundle.model.load_shift import moving_loads
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.model import ConstraintSummary, Model
from trundle.model.moving import (
    MovingMechanism,
    balance,
    bound_accelerations,
    free_accelerations,
    holding,
    holding_motors,
    moving_mechanism,
)
from trundle.model.observe import ForcedMotion, force_of, observed
from trundle.model.symbols import INPUT, PARAMETER, STATE, Groups, Symbols, parameter_group, symbols_for
from trundle.program import Program
from trundle.program.ir import Group
from trundle.program.simplify import only_elements, only_output
from trundle.progress import Doing
from trundle.robot import Robot
from trundle.robot.mounts import unbacked
from trundle.robot.structure import falls_freely
from trundle.scalars import Scalar

# Audit states: names that a run's energy balance is made of.
WORK = Quantity("energy.work", "J", "energy")
LOST = Quantity("energy.losses", "J", "energy")


@dataclass(frozen=True)
class _Drives:
    """The inputs, and the states that motors and contacts have of their own (currents, say), by name."""

    commands: Mapping[str, Scalar]
    own: Mapping[str, Scalar]


def derive_robot(robot: Robot) -> Model:
    """The model of a robot; its inertia, masses and loads are checked on numbers, before and after."""
    with Doing(True, f"deriving {robot.name}"):
        plant = _derived(robot)
        return closed_model(plant, robot) if robot.controllers else plant


def _derived(robot: Robot) -> Model:
    """The model of a robot as if it had no controllers."""
    start = time.perf_counter()
    numbers = mechanism(robot)
    check_own_kinds(numbers.assembly)
    settled = check_inertia(numbers)
    moving = moving_mechanism(numbers, symbols_for(numbers))
    drives = _drives(moving)
    motion = _motion(moving, drives)
    model = _model(moving, drives, motion, start)
    if not settled:
        check_mass(numbers, model.dynamics, model.quantities)
    check_loads(numbers)
    return model


def caveats(robot: Robot) -> Iterator[str]:
    """What is right and yet seldom meant: a base that nothing holds, motors that push off from one without mass."""
    if falls_freely(robot):
        yield (
            f"nothing holds the {robot.base} base of {robot.name}: under gravity it falls freely, whatever its motors "
            'do; base: fixed holds it to the ground (--base fixed, or base="fixed" in Python)'
        )
    for motor, joint in unbacked(robot, robot.number):
        yield (
            f"the torque of {motor} acts back on a base without mass, and {joint} turns about the same axis: "
            f"where its body holds the motor, write mounted_on: {joint}"
        )


def _drives(moving: MovingMechanism) -> _Drives:
    """Symbols for the inputs and, behind q and u in the state, for the states of motors and contacts."""
    assembly, make = moving.mechanism.assembly, moving.symbols.make
    inputs = [actuator.command.name for actuator in assembly.actuators]
    states = [state.name for state in assembly.own_states]
    own = make(STATE, len(states), len(moving.q) + len(moving.u))
    commands = make(INPUT, len(inputs))
    return _Drives(dict(zip(inputs, commands, strict=True)), dict(zip(states, own, strict=True)))


def _motion(moving: MovingMechanism, drives: _Drives) -> ForcedMotion:
    """The forces, and the accelerations that they give under all constraints."""
    moving = holding(moving, drives.commands, drives.own)
    mechanism = moving.mechanism
    loads = moving_loads(moving, contact_span(mechanism.numbers.assembly))
    forces = applied_forces(mechanism.assembly, mechanism.at, moving.nu, drives.commands, drives.own, loads)
    if not mechanism.constrained and moving.bound is None:
        rates = free_accelerations(moving, forces.tau)
        return ForcedMotion(rates, rates, forces)
    basis = mechanism.basis.matrix
    # Newton-Euler at ν̇ = Ṡu gives M Ṡu + c at once.
    left = [force - need for force, need in zip(forces.tau, balance(moving, moving.drift), strict=True)]
    solution = bound_accelerations(moving, apply(transpose(basis), left))
    nu_dot = [a + b for a, b in zip(apply(basis, solution.rates), moving.drift, strict=True)]
    held = holding_motors(mechanism.assembly)
    torques = solution.multipliers[len(solution.multipliers) - len(held) :]
    for motor, torque in zip(held, torques, strict=True):
        forces.hold(motor, torque, moving.nu[motor.shaft])
    motion = ForcedMotion(nu_dot, solution.rates, forces)
    return motion if moving.loops is None else motion.held_by(moving.loops, mechanism.assembly, solution)


def _model(moving: MovingMechanism, drives: _Drives, motion: ForcedMotion, start: float) -> Model:
    """The programs, traced, and the names of everything in them."""
    mechanism, symbols = moving.mechanism, moving.symbols
    robot, numbers = mechanism.robot, mechanism.numbers
    groups = _groups(moving, drives)
    rates = [*moving.q_dot, *motion.u_dot, *(motion.forces.rates[name] for name in drives.own)]
    outputs = observed(moving, motion)
    labels = tuple(quantity.name for quantity in outputs)
    driven = _driven(mechanism.assembly)
    held = held_programs(moving.loops, symbols, groups, (len(moving.q), len(moving.u)), driven)
    return Model(
        robot=robot,
        name=robot.name,
        coordinates=mechanism.names,
        speeds=moving.labels,
        currents=tuple(drives.own),
        inputs=tuple(drives.commands),
        outputs=labels,
        parameters=dict(numbers.parameters),
        quantities=_quantities(mechanism, outputs),
        mobility=mobility_of(numbers.assembly),
        constraints=_summary(moving, motion),
        stiff=_is_stiff(numbers.assembly),
        notes=tuple(caveats(robot)),
        derive_seconds=time.perf_counter() - start,
        **_programs(symbols, groups, rates, motion, outputs),
        **vars(held),
    )


def _groups(moving: MovingMechanism, drives: _Drives) -> Groups:
    """The inputs of a model's programs: state, input, parameter."""
    states = (*moving.mechanism.names, *moving.labels, *drives.own)
    return {
        STATE: (states, [*moving.q, *moving.u, *drives.own.values()]),
        INPUT: (tuple(drives.commands), list(drives.commands.values())),
        PARAMETER: parameter_group(moving.mechanism),
    }


def _programs(
    symbols: Symbols,
    groups: Groups,
    rates: Sequence[Scalar],
    motion: ForcedMotion,
    outputs: Mapping[Quantity, Scalar],
) -> dict[str, Program]:
    """`dynamics`, `audited` and `observe`, traced at once: nearly all that they compute is the same.

    `audited` are the rates with the powers put in and lost, so that work and losses are integrated beside the states.
    """
    states, values = groups[STATE]
    labels = (*states, WORK.name, LOST.name)
    inputs = {**groups, STATE: (labels, [*values, *symbols.make(STATE, 2, len(values))])}
    outgoing = {
        "rate": (labels, [*rates, motion.forces.power, motion.forces.loss]),
        "output": (tuple(quantity.name for quantity in outputs), list(outputs.values())),
    }
    whole = symbols.program("audited", inputs, outgoing)
    audited = only_output(whole, "rate")
    # nothing reads the account's own states
    short = (Group(STATE, tuple(states)), *whole.inputs[1:])
    return {
        "dynamics": only_elements(replace(audited, name="dynamics", inputs=short), states),
        "audited": audited,
        "observe": only_output(replace(whole, name="observe", inputs=short), "output"),
    }


def _is_stiff(numeric: Assembly) -> bool:
    """Whether some part reacts much faster than a robot moves: a winding, a gripping contact, a stop."""
    parts = (*(wheel.law for wheel in numeric.wheels), *numeric.elements)
    own = any(part.states for part in (*numeric.actuators, *numeric.wheels))
    return own or any(part.stiff for part in parts)


def _summary(moving: MovingMechanism, motion: ForcedMotion) -> ConstraintSummary:
    """Rows and rank of the wheels', the couplings' and the loops' constraints."""
    assembly, problem = moving.mechanism.assembly, moving.mechanism.rolling
    undetermined = undetermined_rows(problem.samples[:-1]) if problem.rows else []
    about = [problem.about[row] for row in undetermined]
    forces = [force.name for row in about if (force := force_of(assembly, row)) is not None]
    rows, rank = len(problem.rows), moving.mechanism.basis.elimination.rank
    if moving.loops is not None:
        rows, rank = rows + moving.loops.row_count, rank + moving.loops.rank
        forces += moving.loops.undetermined(assembly, motion.undetermined)
    return ConstraintSummary(rows, rank, tuple(forces))


def _quantities(mechanism: Mechanism, outputs: Iterable[Quantity]) -> Quantities:
    """What every name of a model stands for."""
    return Quantities.gather(
        (TIME,),
        mechanism.assembly.quantities.values(),
        mechanism.basis.made,
        (actuator.command for actuator in mechanism.assembly.actuators),
        mechanism.assembly.own_states,
        outputs,
        (WORK, LOST),
    )


def _driven(assembly: Assembly) -> set[str]:
    """Coordinates and speeds that a motor acts on."""
    speeds = {assembly.speeds[actuator.column] for actuator in assembly.actuators}
    return speeds | {assembly.quantities.coordinate_of(speed) for speed in speeds}
