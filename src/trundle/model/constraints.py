"""Which numbers describe a robot's state, the rows that ideal wheels and couplings put on its speeds, and the
independent speeds that are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import TIES
from trundle.mechanics.joints import Turn
from trundle.mechanics.linear import dot
from trundle.mechanics.rolling import ConstraintRow, Locked, RollingProblem, SpeedBasis, independent_speeds
from trundle.mechanics.wheels import WheelModel, contact_rows, describe_rows
from trundle.scalars import Rows, Scalar, is_zero, minus, times
from trundle.spatial.motions import Pose


@dataclass(frozen=True)
class Configuration:
    """An assembly at a configuration: joint poses, and the value of every coordinate that an element or motor may
    ask for.
    """

    q: tuple[Scalar | Turn, ...]
    poses: list[Pose]
    values: Mapping[str, Scalar]


def coupled_coordinates(assembly: Assembly) -> list[str]:
    """The coordinates that follow others by a coupling, each after what it follows."""
    return [axis.coordinate for coupling in assembly.couplings for axis in coupling.followers]


def independent_coordinates(assembly: Assembly) -> tuple[str, ...]:
    """The coordinates that are states: all of the tree's and the linkages', less the coupled ones."""
    coupled = set(coupled_coordinates(assembly))
    return tuple(name for name in assembly.coordinates if name not in coupled)


def configure(assembly: Assembly, names: Sequence[str], q: Sequence[Scalar]) -> Configuration:
    """Joint poses at independent coordinates `q` named `names`; coupled coordinates follow by their couplings."""
    values = dict(zip(names, q, strict=True))
    posed: dict[str, Scalar | Turn] = dict(values)
    for coupling in assembly.couplings:
        followed = coupling.follow([values[axis.coordinate] for axis in coupling.leaders])
        for axis, (value, posed_by) in zip(coupling.followers, followed, strict=True):
            values[axis.coordinate], posed[axis.coordinate] = value, posed_by
    count = sum(len(link.joint.coordinates) for link in assembly.tree.links)
    tree_q = [posed[name] for name in assembly.coordinates[:count]]
    return Configuration(tuple(tree_q), assembly.tree.joint_poses(tree_q), values)


def coordinate_rates(
    assembly: Assembly, names: Sequence[str], configuration: Configuration, nu: Sequence[Scalar]
) -> list[Scalar]:
    """q̇ = N(q) ν of the independent coordinates."""
    count = assembly.tree.speed_count
    rates = assembly.tree.coordinate_rates(configuration.q, nu[:count])
    by_name = dict(zip(assembly.coordinates, [*rates, *nu[count:]], strict=True))
    return [by_name[name] for name in names]


# Configurations at which ranks are found. Generic rank fails at a random one with probability zero; five guard
# against bad luck.
SAMPLES = 5
# Steering and joint angles are drawn within ±1.2 rad: wide enough to be generic, short of the ±90° where linkages
# are singular.
SPREAD = 1.2
SEED = 20260


def constraint_rows(
    assembly: Assembly, at: Configuration, wheels: Sequence[WheelModel]
) -> tuple[Rows, list[ConstraintRow]]:
    """A(q) over all speeds (the tree's, then the linkages'), and what each row is."""
    rolling, what = rolling_rows(assembly, at, wheels)
    coupled, who = coupling_rows(assembly, at)
    return [*rolling, *coupled], [*what, *who]


def coupling_rows(assembly: Assembly, at: Configuration) -> tuple[Rows, list[ConstraintRow]]:
    """The rows of the couplings alone, ν_f − Σ ∂q_f/∂q_k ν_k; no row's follower stands in a row before it."""
    rows: Rows = []
    about: list[ConstraintRow] = []
    for coupling in assembly.couplings:
        slopes = coupling.slopes([at.values[axis.coordinate] for axis in coupling.leaders])
        for follower, partials in zip(coupling.followers, slopes, strict=True):
            row: list[Scalar] = [0] * len(assembly.speeds)
            row[follower.column] = 1
            for leader, slope in zip(coupling.leaders, partials, strict=True):
                row[leader.column] = -slope
            about.append(ConstraintRow(coupling.name, coupling.what))
            rows.append(row)
    return rows, about


def follower_columns(assembly: Assembly) -> list[int]:
    """The columns of the rates that follow others, in the order of the couplings' rows."""
    return [axis.column for coupling in assembly.couplings for axis in coupling.followers]


def with_followers(assembly: Assembly, nu: Sequence[Scalar], coupled: Rows) -> list[Scalar]:
    """ν with the rates of what follows others by couplings, which the rows `coupled` give."""
    result = list(nu)
    for place, row in zip(follower_columns(assembly), coupled, strict=True):
        result[place] = -dot([0 if j == place else entry for j, entry in enumerate(row)], result)
    return result


def without_followers(assembly: Assembly, rows: Rows, coupled: Rows) -> Rows:
    """The rows over what is independent of couplings: each follower's rate written in those it follows."""
    for column, relation in reversed(list(zip(follower_columns(assembly), coupled, strict=True))):
        rows = [row if is_zero(row[column]) else _led(row, column, relation) for row in rows]
    return rows


def _led(row: list[Scalar], column: int, relation: list[Scalar]) -> list[Scalar]:
    made = [minus(entry, times(row[column], part)) for entry, part in zip(row, relation, strict=True)]
    made[column] = 0
    return made


def rolling_rows(
    assembly: Assembly, at: Configuration, wheels: Sequence[WheelModel]
) -> tuple[Rows, list[ConstraintRow]]:
    """The rows of the wheels alone: velocities of their contacts."""
    rows: Rows = []
    about: list[ConstraintRow] = []
    for wheel in wheels:
        about += describe_rows(wheel, len(rows))
        rows += contact_rows(assembly.tree, at.poses, wheel, len(assembly.speeds))
    return rows, about


def ideal_wheels(assembly: Assembly) -> list[WheelModel]:
    """The wheels whose rolling is a constraint."""
    return [wheel for wheel in assembly.wheels if wheel.law.rolls]


def elimination_order(assembly: Assembly) -> tuple[int, ...]:
    """Which speeds become dependent first: what couplings move (the last of a chain before those it follows), spins,
    casters, joints, and of the base's own v_y, v_x, ω.
    """
    coupled = [axis.column for coupling in reversed(assembly.couplings) for axis in coupling.followers]
    spins = [w.spin for w in assembly.wheels if w.spin is not None and w.spin not in coupled]
    casters = [w.steering for w in assembly.wheels if w.component.is_caster and w.steering is not None]
    casters = [column for column in casters if column not in coupled]
    base = list(assembly.base_columns)
    preferred = [base[1], base[0], *base[2:]] if len(base) == 3 else base
    first = [*coupled, *spins, *casters]
    others = [j for j in range(len(assembly.speeds)) if j not in first and j not in base]
    return (*first, *others, *preferred)


def rolling_problem(
    assembly: Assembly, names: Sequence[str], at: Configuration, samples: np.ndarray
) -> RollingProblem:
    """The rolling constraints of the ideal wheels, ready for `independent_speeds`; `samples` are the rows' numbers."""
    wheels = ideal_wheels(assembly)
    rows, about = constraint_rows(assembly, at, wheels)
    straight = at
    if rows and assembly.base_columns:
        straight = configure(assembly, names, assembly.quantities.starts(names))
    reference, _ = constraint_rows(assembly, straight, wheels)
    base = assembly.base_columns if len(assembly.base_columns) == 3 else ()
    return RollingProblem(
        rows, reference, samples, tuple(about), assembly.speeds, base, elimination_order(assembly)
    )


def solve_rolling(problem: RollingProblem, name: str, chosen: Sequence[str] | None) -> SpeedBasis:
    """S(q) and the independent speeds, or an explanation of what locks the robot."""
    try:
        return independent_speeds(problem, chosen)
    except Locked as locked:
        if locked_by_gears(problem):
            raise _geared(problem, name) from None
        raise _locked(problem, name, locked) from None


def locked_by_gears(problem: RollingProblem) -> bool:
    """Whether a locked robot would move without its gears and cams."""
    kept = [row for row, about in enumerate(problem.about) if about.what not in TIES]
    if len(kept) == len(problem.about):
        return False
    fewer = replace(  # couplings' rows stand last, so the rows that others name keep their places
        problem,
        rows=[problem.rows[row] for row in kept],
        reference=[problem.reference[row] for row in kept],
        samples=problem.samples[:, kept],
        about=tuple(problem.about[row] for row in kept),
    )
    try:
        independent_speeds(fewer)
    except Locked:
        return False
    return True


def _geared(problem: RollingProblem, name: str) -> InputError:
    ties = {about.owner: about.what for about in problem.about if about.what in TIES}
    kinds = " and ".join(f"{what}s" for what in dict.fromkeys(ties.values()))
    return InputError(
        f"the {kinds} of '{name}' ({', '.join(ties)}) lock it: without them its ideal wheels would let it move",
        key="robot.couplings",
        hint="wheels that roll together turn by the inverse ratio of their radii; choose such ratios, take a gear "
        "away, or give the wheels another contact law (contact: slip)",
    )


def _locked(problem: RollingProblem, name: str, locked: Locked) -> InputError:
    """An error that says which wheels lock the base, and what would free it."""
    about = [problem.about[row] for row in locked.rows]
    owners = list(dict.fromkeys(row.owner for row in about if row.position is not None))
    wheels = ", ".join(owners)
    keep = " and ".join(dict.fromkeys([owners[0], owners[len(owners) // 2]]))
    steered = np.ptp(problem.samples[:, list(locked.rows), :], axis=0).max(initial=0.0) > 0
    where = " at general steering angles" if steered else ""
    chance = "; only where all their axles meet in one point (rank 2) could it move" if steered else ""
    couple = "; or couple their steering" if steered else ""
    return InputError(
        f"the ideal wheels of '{name}' lock it: the lateral constraints of {wheels} have rank {locked.rank}{where}, "
        f"and the base has {locked.freedoms} velocities, so none is left{chance}",
        key="robot.wheels",
        hint=f"give the wheels another contact law (contact: slip) to let them scrub as real ones do; or keep fewer "
        f"ideal wheels, such as {keep}, and set the others to slip or free{couple}",
    )
