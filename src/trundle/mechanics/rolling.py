"""Rolling without slip: the independent speeds of a robot on ideal wheels, ν = S(q) u (Campion, Bastin &
d'Andréa-Novel 1996).

What gears and linkages move, spins and casters always follow by constant pivots. What is left are lateral
constraints on the base's twist (v_x, v_y, ω). Fixed wheels give constant ones; steered wheels give rows (−sin β, cos
β, x cos β + y sin β), for which no fixed pivot exists: then the independent speed is a multiple of the null vector,
which never divides by zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from trundle.errors import InputError, suggest
from trundle.mechanics.elimination import (
    ZERO,
    Elimination,
    back_substitute,
    eliminate,
    generic_rank,
    plan_constant_pivots,
    plan_pivots,
)
from trundle.mechanics.linear import apply, dot, product, transpose
from trundle.mechanics.quantities import Quantity, sliding
from trundle.mechanics.steering import velocity_at
from trundle.scalars import Scalar, sqrt


class Locked(Exception):
    """The constraints leave the base no motion: its rank and the rows that do it."""

    def __init__(self, rows: Sequence[int], rank: int, freedoms: int) -> None:
        super().__init__(rank)
        self.rows = tuple(rows)
        self.rank = rank
        self.freedoms = freedoms


@dataclass(frozen=True)
class ConstraintRow:
    """One velocity constraint: the wheel or coupling it comes from, and for a wheel its place (x, y) on the base and
    its partner.

    `along` is the index of the same wheel's rolling row, by which the speed of a steered wheel is measured.
    """

    owner: str
    what: str
    position: tuple[Scalar, Scalar] | None = None
    along: int | None = None


@dataclass(frozen=True)
class SpeedBasis:
    """ν = S(q) u: a row of S a speed, labels of u, and the elimination behind it.

    `made` are those of u that are no part's speeds: of steered wheels along their headings.
    """

    matrix: list[list[Scalar]]
    labels: tuple[str, ...]
    elimination: Elimination
    made: tuple[Quantity, ...] = ()


@dataclass(frozen=True)
class RollingProblem:
    """Constraint rows A(q) as scalars, at the reference configuration (steering straight), and as samples (s, m, n),
    the last of them at the reference configuration too.

    `speeds` names the columns; `base` are the columns of the base's twist; `order` says which columns become
    dependent first.
    """

    rows: list[list[Scalar]]
    reference: list[list[Scalar]]
    samples: np.ndarray
    about: tuple[ConstraintRow, ...]
    speeds: tuple[str, ...]
    base: tuple[int, ...]
    order: tuple[int, ...]


def independent_speeds(problem: RollingProblem, chosen: Sequence[str] | None = None) -> SpeedBasis:
    """S(q) and the labels of u: the user's choice of speeds, or the best ones in the base's own frame.

    Raises `Locked` where the base cannot move at all, InputError where the chosen speeds don't determine the motion.
    """
    if not problem.rows:
        return _unit_basis(problem, chosen)
    if chosen is not None:
        return _chosen_basis(problem, chosen)
    pivots, reduced = plan_constant_pivots(problem.samples, problem.order)
    left = _without(range(len(problem.rows)), (row for row, _ in pivots))
    rest = reduced[:, left, :]
    rank = generic_rank(rest)
    free = _without(range(len(problem.speeds)), (column for _, column in pivots))
    acting = [row for row in left if np.abs(reduced[:, row, :]).max() > 0]
    touched = [j for j in free if rank and np.abs(rest[:, :, j]).max() > 0]
    if set(touched) <= set(problem.base):
        _refuse_lock(problem, free, pivots, acting if rank else (), rank)
        if rank and any(problem.about[row].along is not None for row in acting):
            return _steered_basis(problem, pivots, acting, rank, reduced, free)
    more = plan_pivots(rest, touched)
    pivots += [(left[row], column) for row, column in more]
    free = _without(free, (column for _, column in more))
    return _assemble(problem, pivots, free, _unit(free), tuple(problem.speeds[j] for j in free))


def _without(places: Sequence[int], taken: Iterable[int]) -> list[int]:
    left_out = set(taken)
    return [k for k in places if k not in left_out]


def _unit(places: Sequence[int]) -> list[list[Scalar]]:
    return [[1 if i == j else 0 for j in places] for i in places]


def _assemble(
    problem: RollingProblem,
    pivots: Sequence[tuple[int, int]],
    free: Sequence[int],
    basis: Sequence[Sequence[Scalar]],
    labels: tuple[str, ...],
    *,
    rest: Sequence[int] = (),
    rank: int = 0,
) -> SpeedBasis:
    """S from the pivots and a `basis` over the free columns; `rest` are the rows that it is the null space of, or where
    no fixed ones will do, `rank` how many.
    """
    reduced = eliminate(problem.rows, pivots)
    matrix = back_substitute(reduced, pivots, free, basis)
    return SpeedBasis(
        matrix, labels, Elimination(tuple(pivots), tuple(rest), len(pivots) + (rank or len(rest)))
    )


def _unit_basis(problem: RollingProblem, chosen: Sequence[str] | None) -> SpeedBasis:
    if chosen is not None and set(chosen) != set(problem.speeds):
        raise InputError(
            f"the chosen speeds {', '.join(chosen)} are not all the independent ones",
            key="robot.speeds",
            hint=f"nothing constrains this robot: its speeds are {', '.join(problem.speeds)}; leave 'speeds' out",
        )
    return SpeedBasis(_unit(range(len(problem.speeds))), problem.speeds, Elimination((), (), 0))


def _refuse_lock(
    problem: RollingProblem,
    free: Sequence[int],
    pivots: Sequence[tuple[int, int]],
    acting: Sequence[int],
    rank: int,
) -> None:
    """Raise `Locked` where rows of that rank take what the pivots leave of the base's motion."""
    if problem.base and rank >= len(set(free) & set(problem.base)):
        held = [row for row, column in pivots if column in problem.base]
        raise Locked([*held, *acting], len(held) + rank, len(problem.base))


def _steered_basis(
    problem: RollingProblem,
    pivots: list[tuple[int, int]],
    acting: list[int],
    rank: int,
    reduced: np.ndarray,
    free: list[int],
) -> SpeedBasis:
    """The rows left concern only the base: their null vectors, by the number of freedoms and the rank."""
    base_free = [j for j in free if j in problem.base]
    lateral = [row for row in acting if problem.about[row].along is not None]
    symbolic = eliminate(problem.rows, pivots)
    many = rank == 2 and (len(acting) > 2 or len(lateral) < 2)
    rows = acting if many else _most_independent(reduced, lateral, rank)
    vectors = [[symbolic[row][j] for j in base_free] for row in rows]
    about = [problem.about[row] for row in rows]
    made = sliding("speed")
    turn = _only_turn(problem, reduced, pivots, rows) if len(base_free) - rank == 1 else None
    if turn is not None and (rank == 2 or _rests(problem, turn, rows[0], reduced[-1])):
        _refuse_turning([problem.about[row].owner for row in sorted(rows) if row in lateral])
    if many:
        basis = _about_many_wheels(problem, vectors, lateral[0], base_free)
    elif len(base_free) == 3 and rank == 1:
        basis, made = _about_one_wheel(vectors[0], about[0]), made.of(about[0].owner)
    elif len(base_free) == 3:
        basis = _about_two_wheels(vectors, about)
    else:
        beside = _beside_fixed_wheels if turn is None else _on_the_axle
        basis = beside(problem, pivots, rows[0], base_free)
        made = made.of(about[0].owner)
    others = [j for j in free if j not in base_free]
    width = len(basis[0])
    yaw = [problem.speeds[base_free[2]]] if width == 2 else []  # beside one wheel's own speed
    full = [[*row, *([0] * len(others))] for row in basis]
    full += [[*([0] * width), *row] for row in _unit(others)]
    names = (made.name, *yaw, *(problem.speeds[j] for j in others))
    whole = _assemble(
        problem, pivots, [*base_free, *others], full, names, rest=() if many else rows, rank=rank
    )
    return replace(whole, made=(made,))


def _most_independent(reduced: np.ndarray, left: Sequence[int], rank: int) -> list[int]:
    """`rank` of the rows left, picked greedily by the smallest singular value that they keep over the samples."""
    chosen: list[int] = []
    for _ in range(rank):

        def spread(row: int) -> float:
            values = np.linalg.svd(reduced[:, [*chosen, row], :], compute_uv=False)
            return float(np.median(values[:, len(chosen)]))

        # Rounded, so that of wheels that are equally good the first named is taken.
        chosen.append(max((row for row in left if row not in chosen), key=lambda row: round(spread(row), 9)))
    return chosen


def _about_one_wheel(vector: Sequence[Scalar], about: ConstraintRow) -> list[list[Scalar]]:
    """One steered wheel at (x, y): its own speed along its heading, and yaw about its contact, twist (y, −x, 1)."""
    a, b, _ = vector
    x, y = about.position or (0, 0)
    return [[b, y], [-a, -x], [0, 1]]


def _about_two_wheels(
    vectors: Sequence[Sequence[Scalar]], about: Sequence[ConstraintRow]
) -> list[list[Scalar]]:
    """Two steered wheels: the one twist both allow is c₁ × c₂, scaled by their distance so that u is a speed in m/s.

    It vanishes where both axles lie on one line: there the robot gains a freedom that no fixed set of speeds describes.
    """
    (a1, b1, e1), (a2, b2, e2) = vectors
    (x1, y1), (x2, y2) = ((row.position or (0, 0)) for row in about)
    dx, dy = x1 - x2, y1 - y2
    length = sqrt(dx * dx + dy * dy)
    twist = [b2 * e1 - e2 * b1, e2 * a1 - a2 * e1, a2 * b1 - b2 * a1]
    return [[component / length] for component in twist]


def _only_turn(
    problem: RollingProblem, reduced: np.ndarray, pivots: Sequence[tuple[int, int]], rows: Sequence[int]
) -> np.ndarray | None:
    """The one twist that steered wheels leave a base, as numbers, if it is the same wherever they are turned to: about
    a place that all axles pass through. Else None. (At the reference, left out here, they may leave more.)
    """
    held = [row for row, column in pivots if column in problem.base]
    twists = np.linalg.svd(reduced[:-1, [*held, *rows]][:, :, list(problem.base)])[2][:, -1]
    return twists[0] if generic_rank(twists[None]) == 1 else None


def _rests(problem: RollingProblem, turn: np.ndarray, row: int, at_rest: np.ndarray) -> bool:
    """Whether a steered wheel has no speed of its own as the base turns, or starts as one more fixed wheel."""
    base = list(problem.base)
    speed = problem.samples[-1][problem.about[row].along][base] @ turn
    return abs(speed) <= ZERO or np.abs(at_rest[row, base]).max() <= ZERO


def _refuse_turning(owners: Sequence[str]) -> NoReturn:
    """Raise InputError for steered wheels whose axles all pass through one pivot, or one beside fixed wheels."""
    *most, last = owners
    if most:
        what = f"the steered wheels {', '.join(map(repr, most))} and '{last}' stand at one place: steered apart they "
        what += "only let the robot turn about it"
        hint = "move one of them, tie their steering by a gear, or give one contact: slip"
    else:
        what = f"the steered wheel '{last}' stands on the line of the fixed wheels' axle: straight ahead it repeats "
        what += "their constraint, and turned it only lets the robot turn about it"
        hint = "move it off that line, make it a caster or a ball, or give it contact: slip"
    raise InputError(what, key=f"robot.wheels.{last}", hint=hint)


def _about_many_wheels(
    problem: RollingProblem, vectors: Sequence[Sequence[Scalar]], lateral: int, base_free: Sequence[int]
) -> list[list[Scalar]]:
    """More rows C than their rank of 2, as wheels have that are steered together: the one twist that all allow is the
    projection of a wheel's heading on their null space, P h = adj(CᵀC) h/tr(adj(CᵀC)).

    No two of the rows need be independent everywhere (two wheels steered alike on one line, say); all of them are
    wherever the robot is regular, and there the trace, the sum of squares of all 2×2 minors of C, is positive. Where
    the wheel's own speed isn't zero, P h isn't either. For wheels that stay parallel u is their speed.
    """
    (a, d, e), (_, b, f), (_, _, c) = product(transpose(vectors), vectors)
    xx, yy, zz = b * c - f * f, a * c - e * e, a * b - d * d
    xy, xz, yz = e * f - d * c, d * f - b * e, d * e - a * f
    heading = [problem.rows[problem.about[lateral].along or 0][j] for j in base_free]
    twist = apply([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], heading)
    trace = xx + yy + zz
    return [[component / trace] for component in twist]


def _beside_fixed_wheels(
    problem: RollingProblem, pivots: Sequence[tuple[int, int]], row: int, base_free: Sequence[int]
) -> list[list[Scalar]]:
    """Fixed wheels on one axle and a steered one: the null vector of the steered wheel's row, scaled to the speed of
    its pivot along its heading.

    The scale is the pivot's distance from the fixed axle, read at the reference configuration where it is free of
    sines. (The contact of a wheel with scrub may be still there.)
    """
    here, at_rest = (eliminate(rows, pivots) for rows in (problem.rows, problem.reference))
    null = [[at_rest[row][base_free[1]]], [-at_rest[row][base_free[0]]]]
    base_pivots = [(r, c) for r, c in pivots if c in problem.base]
    twist = [entry for (entry,) in back_substitute(at_rest, base_pivots, base_free, null)]
    about = problem.about[row]
    place, rolling = about.position or (0, 0), problem.reference[about.along or 0]
    velocity = velocity_at(place, [twist[j] for j in problem.base])
    speed = dot([rolling[j] for j in problem.base[:2]], velocity)
    return [[here[row][base_free[1]] / speed], [-here[row][base_free[0]] / speed]]


def _on_the_axle(
    problem: RollingProblem, pivots: Sequence[tuple[int, int]], row: int, base_free: Sequence[int]
) -> list[list[Scalar]]:
    """A steered wheel with scrub whose pivot is on the fixed wheels' axle: the twist about that pivot, (y, −x, 1),
    scaled to its contact's own speed.
    """
    about = problem.about[row]
    (x, y), rolling = about.position or (0, 0), problem.reference[about.along or 0]
    twist = dict(zip(problem.base, (y, -x, 1), strict=True))
    speed = dot([rolling[j] for j in problem.base], list(twist.values()))
    return [[twist[j] / speed] for j in base_free]


def _chosen_basis(problem: RollingProblem, chosen: Sequence[str]) -> SpeedBasis:
    """The basis of speeds that a description chooses; refuses those that leave the motion undetermined."""
    unknown = [name for name in chosen if name not in problem.speeds]
    if unknown:
        message = f"'{unknown[0]}' is not a speed of this robot"
        raise InputError(message, key="robot.speeds", hint=suggest(unknown[0], problem.speeds))
    kept = [problem.speeds.index(name) for name in chosen]
    others = _without(problem.order, kept)
    pivots, reduced = plan_constant_pivots(problem.samples, others)
    left = _without(range(len(problem.rows)), (row for row, _ in pivots))
    more = plan_pivots(reduced[:, left, :], _without(others, (column for _, column in pivots)))
    pivots += [(left[row], column) for row, column in more]
    rank = generic_rank(problem.samples)
    undetermined = [problem.speeds[j] for j in _without(others, (column for _, column in pivots))]
    if undetermined or len(pivots) < rank:
        free = len(problem.speeds) - rank
        what = (
            f"leave {', '.join(undetermined)} undetermined"
            if undetermined
            else "are not independent of each other"
        )
        message = f"the chosen speeds {', '.join(chosen)} {what}"
        hint = f"this robot has {free} independent speeds; choose that many, or leave 'speeds' out"
        raise InputError(message, key="robot.speeds", hint=hint)
    return _assemble(problem, pivots, kept, _unit(kept), tuple(chosen))
