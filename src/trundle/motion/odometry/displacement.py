"""What a base moves by increments of its wheels' angles: decided on numbers, computed in scalars of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.model.mechanism import Mechanism
from trundle.model.rolling_motion import (
    WheelRows,
    check_rates,
    contact_velocities,
    rate_names,
    solve_speeds,
    wheel_rows,
)
from trundle.scalars import Scalar, is_zero

POSE = ("x", "y", "theta")


@dataclass(frozen=True)
class Plan:
    """What is decided on numbers once, for every kind of scalar.

    given: the rates; increments: the coordinates whose rates they are; kept: the wheels' rows that say something about
    the base; numbers: the values of those.
    """

    given: tuple[str, ...]
    increments: tuple[str, ...]
    kept: tuple[int, ...]
    numbers: np.ndarray


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
    if given is not None:
        _require_names(given)
    chosen = tuple(_driven(assembly) if given is None else given)
    check_rates(numbers, chosen)
    # What is decided holds at random configurations: a row that is zero there is zero everywhere.
    samples = numbers.sampled(lambda here: wheel_rows(at_origin(here)))
    prescribed = [assembly.speeds.index(name) for name in chosen]
    owners = [about.owner for about in contact_velocities(numbers)[1]]
    kept = _telling(samples, owners, {*prescribed, *assembly.base_columns})
    increments = tuple(assembly.quantities.coordinate_of(name) for name in chosen)
    return Plan(chosen, increments, kept, samples[:, kept, :])


def _require_names(given: object) -> None:
    """Raise InputError for what is no list of names."""
    listed = (
        isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(n, str) for n in given)
    )
    if not listed:
        raise InputError(f"expected a list of rates' names, got {given!r}", key="given")


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
    # A plain 0 keeps products with it out of programs and formulas.
    kept = [[0 if is_zero(entry) else entry for entry in rows[row]] for row in plan.kept]
    nu = solve_speeds(WheelRows(here, kept, plan.numbers), dict(zip(plan.given, delta, strict=True)), tidy)
    return [nu[place] for place in here.assembly.base_columns]


def middle(plan: Plan, names: Sequence[str], q: Sequence[Scalar], delta: Sequence[Scalar]) -> list[Scalar]:
    """The coordinates in the middle of an increment: q + Δ/2 of those that are incremented."""
    halves = {name: turn / 2 for name, turn in zip(plan.increments, delta, strict=True)}
    return [value + halves.get(name, 0) for name, value in zip(names, q, strict=True)]


def _telling(samples: np.ndarray, owners: Sequence[str], known: set[int]) -> tuple[int, ...]:
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
    """The rates of what motors drive, without doubles."""
    known = rate_names(assembly)
    driven = [assembly.speeds[actuator.column] for actuator in assembly.actuators]
    return [name for name in dict.fromkeys(driven) if name in known]
