"""What a base moves by increments of its wheels' angles: decided on numbers, computed in scalars of any kind; its pose
after one such step, and after many with their uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.linear import apply
from trundle.model.mechanism import Mechanism
from trundle.model.rolling_motion import (
    WheelRows,
    check_rates,
    contact_velocities,
    rate_names,
    solve_speeds,
    wheel_rows,
)
from trundle.scalars import Scalar, cos, is_zero, sin, sinc

POSE = ("x", "y", "theta")


@dataclass(frozen=True)
class RateLayout:
    """What is decided on numbers once, for every kind of scalar.

    given: the rates; increments: the coordinates whose rates they are; kept: the wheels' rows that say something about
    the base; numbers: the values of those.
    """

    given: tuple[str, ...]
    increments: tuple[str, ...]
    kept: tuple[int, ...]
    numbers: np.ndarray


def plan_odometry(numbers: Mechanism, given: Sequence[str] | None) -> RateLayout:
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
    return RateLayout(chosen, increments, kept, samples[:, kept, :])


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
    plan: RateLayout,
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


@dataclass(frozen=True)
class Contacts:
    """The wheels' contacts over an increment: the rows of their residuals A z + A_k Δ − s (m), and of a turn's (rad).

    roots: of the weights of their squares, and of the turn's, last. slips: s. turn: as something else tells it.
    """

    roots: Sequence[Scalar]
    slips: Sequence[Scalar]
    turn: Scalar


def weighed(
    plan: RateLayout, here: Mechanism, delta: Sequence[Scalar], contacts: Contacts
) -> tuple[list[Scalar], list[Scalar], list[list[Scalar]]]:
    """The twist's integral z by weighed least squares over contacts and a turn, the contacts' velocities times time
    (m), and the rows of what increments and the base's turn add to those, (rows, increments + 1).
    """
    rows, speeds = wheel_rows(here), here.assembly.speeds
    kept = [[0 if is_zero(entry) else entry for entry in rows[row]] for row in plan.kept]
    base = here.assembly.base_columns
    turning: list[Scalar] = [1 if column == base[2] else 0 for column in range(len(speeds))]
    scaled = [
        [0 if is_zero(entry) else root * entry for entry in row]
        for row, root in zip([*kept, turning], contacts.roots, strict=True)
    ]
    off = [root * slip for root, slip in zip(contacts.roots, [*contacts.slips, contacts.turn], strict=True)]
    wheels = WheelRows(here, scaled, plan.numbers, slips=off)
    nu = solve_speeds(wheels, dict(zip(plan.given, delta, strict=True)))
    columns = [*(speeds.index(name) for name in plan.given), base[2]]
    leads = [[row[column] for column in columns] for row in kept]
    return [nu[place] for place in base], apply(kept, nu), leads


def middle(
    plan: RateLayout, names: Sequence[str], q: Sequence[Scalar], delta: Sequence[Scalar]
) -> list[Scalar]:
    """The coordinates in the middle of an increment: q + Δ/2 of those that are incremented."""
    halves = {name: turn / 2 for name, turn in zip(plan.increments, delta, strict=True)}
    return [value + halves.get(name, 0) for name, value in zip(names, q, strict=True)]


def _telling(samples: np.ndarray, owners: Sequence[str], known: set[int]) -> tuple[int, ...]:
    """Rows that say something about the base, not only what a free wheel does of its own.

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
    """The rates of what motors drive, without doubles; of a robot without any those of linkages, and of all wheels but
    casters.
    """
    known = rate_names(assembly)
    columns = [actuator.column for actuator in assembly.actuators]
    if not columns:
        measured = (wheel.columns for wheel in assembly.wheels if not wheel.component.is_caster)
        columns = [*(linkage.column for linkage in assembly.linkages), *chain.from_iterable(measured)]
    return [name for name in dict.fromkeys(assembly.speeds[column] for column in columns) if name in known]


def advance(pose: Sequence[Scalar], displacement: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """The pose (x, y, θ) (m, m, rad) after a twist held constant in the base's own axes.

    T' = T exp(ξ̂): with the twist's integral ξ = (a, b, φ), forward and sideways (m) and turned (rad), half of the turn
    comes before the chord and half behind it:

        (x', y') = (x, y) + sinc(φ/2) R(θ + φ/2) (a, b),  θ' = θ + φ

    (the exponential of SE(2): Lynch & Park 2017, eq. 13.35, in half angles; nothing to divide by where φ = 0).
    """
    x, y, heading = pose
    a, b, turn = displacement
    half = turn / 2
    chord, c, s = sinc(half), cos(heading + half), sin(heading + half)
    return x + chord * (a * c - b * s), y + chord * (a * s + b * c), heading + turn


def chained(
    steps: FloatArray, slopes: FloatArray, noise: FloatArray, pose: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Poses (n + 1, 3) and covariances (n + 1, 3, 3) along n steps that are known of a base at the origin.

    With T = diag(R(θ), 1) of the pose before it, a step's displacement d moves by T d, F = T F₀ Tᵀ, and the covariance
    becomes F Σ Fᵀ + T N₀ Tᵀ. `steps`: the displacements (3, n); `slopes`: F₀ (3, 3, n); `noise`: N₀ (3, 3, n).
    """
    # Headings add up without regard to places, so that they come first, and places by sums of turned steps.
    heading = pose[2] + np.concatenate([[0.0], np.cumsum(steps[2])])
    c, s = np.cos(heading[:-1]), np.sin(heading[:-1])
    moved = np.stack([c * steps[0] - s * steps[1], s * steps[0] + c * steps[1]], axis=1)
    places = pose[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(moved, axis=0)])
    zero, one = np.zeros(c.size), np.ones(c.size)
    turns = np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]])
    forward = np.einsum("ijn,jkn,lkn->nil", turns, slopes, turns)
    added = np.einsum("ijn,jkn,lkn->nil", turns, noise, turns)
    covariances = [np.array(covariance, dtype=float)]
    for slope, more in zip(forward, added, strict=True):
        covariances.append(slope @ covariances[-1] @ slope.T + more)
    return np.column_stack([places, heading]), np.array(covariances)
