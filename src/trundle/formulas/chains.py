"""Bodies at the ends of joints: where they are, how they move, and where their Jacobians lose rank.

A body on a moving base has its twist in its own axes, a robot on a fixed base the motion of its last bodies in the
world's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from trundle.formulas.algebra import WRITING, Sum, TooLong
from trundle.formulas.equations import Equation, Section
from trundle.formulas.kinematics_section import Forward, Sheet, length
from trundle.formulas.linear_sums import MOST, adjugate, determinant, inverse
from trundle.formulas.mechanism import Mechanism
from trundle.formulas.singular_section import singularities
from trundle.formulas.spots import PARTS, Spot, Spots, Spotted
from trundle.mechanics.frames import frame_pose, world_jacobian
from trundle.mechanics.kinematics import frame_jacobian
from trundle.mechanics.linear import product
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Motion, Pose, motion_to_child
from trundle.spatial.vectors import IDENTITY, ZERO, Vector, scale

# A Jacobian with more terms, or an inverse with more above its fraction lines, fills pages.
MOST_TERMS = 200
MOST_INVERSE = 60
# Bodies on a base whose motion from the wheels' rates takes more operations are told in the base's own motion.
MOST_FORWARD = 40
_NO_INVERSE = "Its inverse would fill lines; solve the equations above for the rates instead."

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class End:
    """A body that nothing hangs on: its link, the point that is told of, and their names."""

    link: int
    name: str
    point: Vector = ZERO
    center: bool = False


def ends(mechanism: Mechanism) -> list[End]:
    """The last body of every chain of joints: at its centre of mass where its frame's origin doesn't move with its
    own joint.
    """
    tree = mechanism.assembly.tree
    wheels = {wheel.link for wheel in mechanism.assembly.wheels}
    carried = {tree.links[k].parent for k in range(1, len(tree.links))}
    found = []
    for index, link in enumerate(tree.links):
        if index == 0 or index in wheels or index in carried or _follows(mechanism, index):
            continue
        if link.kind == "prismatic" and link.parent == 0 and not mechanism.assembly.base_columns:
            continue  # it is where its position says
        joint = mechanism.robot.joints[link.name]
        name = joint.body.name or link.name
        if len(tree.links[0].joint.speeds) == 0 and link.kind != "fixed" and not is_zero(link.inertia.mass):
            found.append(
                End(index, name, scale(1 / link.inertia.mass, link.inertia.first_moment), center=True)
            )
        else:
            found.append(End(index, name))
    return found


def _follows(mechanism: Mechanism, link: int) -> bool:
    """Whether a joint on the way to the link follows others by a coupling, whose equations say where it is."""
    followers = {axis.column for each in mechanism.assembly.couplings for axis in each.followers}
    slices = mechanism.assembly.tree.speed_slices()
    chain = mechanism.assembly.tree.ancestors(link)
    return any(followers.intersection(range(slices[k].start, slices[k].stop)) for k in chain)


def end_sections(sheet: Sheet, spots: Spots) -> list[Section]:
    """Sections of all ends, checked; where a Jacobian would fill lines, the pose joint by joint."""
    sections: list[Section] = []
    for end in ends(sheet.mechanism):
        if sheet.mechanism.assembly.base_columns:
            found = carried_sections(sheet, end, spots.forward)
        else:
            found = [fixed_section(sheet, end)]
        if any(spotted is None for spotted in found):
            sheet.mechanism.book.allow(*WRITING)  # what was tried in vain may have used up all work
            found = [pose_steps(sheet, end)]
        for spotted in filter(None, found):
            spots.check(spotted)
            sections.append(spotted.section)
    return sections


def _terms(rows: Sequence[Sequence[Scalar]]) -> int:
    return sum(len(entry.terms) for row in rows for entry in row if isinstance(entry, Sum))


def _seen(sheet: Sheet, parts: Sequence[str], label: str) -> dict[str, str]:
    """Names of the symbols for parts of a point's place and velocity."""
    return {part: sheet.mechanism.names.names.unique(f"{part}_{label}") for part in parts}


def fixed_section(sheet: Sheet, end: End) -> Spotted | None:
    """Position of the end's point in the world, and its velocity's Jacobian over the joint rates; None where long."""
    mechanism = sheet.mechanism
    tree, poses = mechanism.assembly.tree, mechanism.at.poses
    try:
        position = frame_pose(tree, poses, end.link, end.point).position
        columns = world_jacobian(tree, poses, end.link, end.point)
    except TooLong:
        return None
    flat = [[*column.linear, *column.angular] for column in columns]
    shown = [k for k in range(6) if any(not is_zero(column[k]) for column in flat)]
    used = [j for j in range(len(flat)) if any(not is_zero(flat[j][k]) for k in shown)]
    rows = [[flat[j][k] for j in used] for k in shown]
    if _terms(rows) > MOST_TERMS:
        return None
    moving = [k for k in shown if k < 3]
    label = mechanism.names.label(end.name)
    where = f"centre of mass of {end.name}" if end.center else f"frame of {end.name}"
    names = _seen(sheet, [*(f"p_{'xyz'[k]}" for k in moving), *(PARTS[k] for k in shown)], label)
    equations = [_place(sheet, end, "xyz"[k], names[f"p_{'xyz'[k]}"], position[k], where) for k in moving]
    symbols = [sympy.Symbol(names[PARTS[k]]) for k in shown]
    speeds = [mechanism.assembly.speeds[j] for j in used]
    left, words = sympy.ImmutableMatrix(symbols), f"velocity of the {where}, world axes"
    equations.append(Equation(f"jacobian.{end.name}", left, sheet.matrix(rows), sheet.column(speeds), words))
    notes: list[str] = []
    if moving and len(moving) == len(used) <= MOST:
        more, notes = _inverse_or_note(sheet, end.name, rows[: len(moving)], symbols[: len(moving)], speeds)
        equations += more
    section = Section("kinematics", f"Motion of the {where}", tuple(equations), tuple(notes))
    return Spotted(section, Spot(end.link, names, world=True, center=end.center))


def pose_steps(sheet: Sheet, end: End) -> Spotted:
    """The pose of an end as a product of the poses of the joints on the way, each a 4×4 matrix."""
    mechanism = sheet.mechanism
    tree, poses = mechanism.assembly.tree, mechanism.at.poses
    chain = [k for k in tree.ancestors(end.link) if k][::-1]
    equations = []
    for k in chain:
        rows = [[*row, p] for row, p in zip(poses[k].rotation, poses[k].position, strict=True)]
        symbol = sympy.Symbol(mechanism.names.names.unique(f"T_{mechanism.names.label(tree.links[k].name)}"))
        words = f"pose of {tree.links[k].name} in the axes of what carries it"
        matrix = sheet.matrix([*rows, [0, 0, 0, 1]])
        equations.append(Equation(f"pose.{tree.links[k].name}", symbol, matrix, meaning=words, given=True))
    product_text = " ".join(str(equation.left) for equation in equations)
    note = (
        f"The pose of {end.name} on the base is {product_text}. Its Jacobian would fill lines: the program "
        f"model.frame('{end.name}') has it."
    )
    section = Section("kinematics", f"Pose of {end.name}", tuple(equations), (note,))
    return Spotted(section, Spot(end.link, {}, world=True, chain=tuple(e.name for e in equations)))


def _place(sheet: Sheet, end: End, axis: str, symbol: str, value: Scalar, where: str) -> Equation:
    """One coordinate of the end's point in the world."""
    name = f"{end.name}.{'center_' if end.center else ''}{axis}"
    left = sympy.Symbol(symbol)
    return Equation(name, left, sheet.writer.expression(value), meaning=f"{axis} of the {where} in the world")


def carried_sections(sheet: Sheet, end: End, forward: Forward | None) -> list[Spotted | None]:
    """A body on a base that moves: its twist in its own axes, and on the way there that of its first joint's place,
    from the wheels' rates where these set the base's motion.
    """
    mechanism = sheet.mechanism
    tree, poses = mechanism.assembly.tree, mechanism.at.poses
    if forward is not None and length(forward) > MOST_FORWARD:
        forward = None
    first = [k for k in tree.ancestors(end.link) if k][-1]
    at = tree.links[first].placement.position
    found: list[Spotted | None] = []
    if forward is not None and any(not is_zero(p) for p in at):
        columns = [motion_to_child(Pose(IDENTITY, at), column) for column in _base(tree)]
        name = tree.links[first].name
        twist = _Twist(name, columns, f"the place of {name}, in the axes of the base")
        found.append(_twist_section(sheet, twist, forward, Spot(0, {}, world=False, holds=first)))
    try:
        columns = frame_jacobian(tree, poses, end.link)
    except TooLong:
        return [None]
    twist = _Twist(end.name, columns, f"{end.name}, in its own axes")
    return [*found, _twist_section(sheet, twist, forward, Spot(end.link, {}, world=False))]


def _base(tree: Any) -> list[Motion]:
    """The base's own motions, and nothing for all other speeds."""
    columns = [Motion(ZERO, ZERO)] * tree.speed_count
    own = tree.links[0].subspace(None)
    columns[: len(own)] = own
    return columns


@dataclass(frozen=True)
class _Twist:
    name: str
    columns: Sequence[Motion]
    words: str


def _twist_section(sheet: Sheet, twist: _Twist, forward: Forward | None, spot: Spot) -> Spotted | None:
    """A twist from the rates that make it; None where that would fill lines."""
    mechanism = sheet.mechanism
    base, speeds = mechanism.assembly.base_columns, mechanism.assembly.speeds
    flat = [[*column.linear, *column.angular] for column in twist.columns]
    shown = [k for k in range(6) if any(not is_zero(column[k]) for column in flat)]
    given = [j for j in range(len(flat)) if any(not is_zero(flat[j][k]) for k in shown)]
    rows = [[flat[j][k] for j in given] for k in shown]
    if forward is not None:
        others = [j for j in given if j not in base]
        through = product([[flat[j][k] for j in base] for k in shown], forward.matrix)
        rows = [[*row, *(flat[j][k] for j in others)] for row, k in zip(through, shown, strict=True)]
        given = [*forward.columns, *others]
    if _terms(rows) > MOST_TERMS:
        return None
    parts = ["omega" if len(base) == 3 and k == 5 else PARTS[k] for k in shown]
    names = _seen(sheet, parts, mechanism.names.label(twist.name))
    symbols = [sympy.Symbol(name) for name in names.values()]
    rates = [speeds[j] for j in given]
    left, words = sympy.ImmutableMatrix(symbols), f"velocity of {twist.words}"
    equations = [Equation(f"forward.{twist.name}", left, sheet.matrix(rows), sheet.column(rates), words)]
    notes: list[str] = []
    size = next(
        (n for n in (len(rows), 2) if forward is not None and len(given) == n <= min(len(rows), MOST)), 0
    )
    if size:
        more, notes = _inverse_or_note(sheet, twist.name, rows[:size], symbols[:size], rates)
        equations += more
    section = Section("kinematics", f"Motion of {twist.words}", tuple(equations), tuple(notes))
    return Spotted(section, replace(spot, symbols=names))


def _inverse_or_note(
    sheet: Sheet, name: str, rows: Rows, left: Sequence[Any], rates: Sequence[str]
) -> tuple[list[Equation], list[str]]:
    """`_inverted`, or that it would be too long."""
    try:
        return _inverted(sheet, name, rows, left, rates)
    except TooLong:
        sheet.mechanism.book.allow(*WRITING)
        return [], [_NO_INVERSE]


def _inverted(
    sheet: Sheet, name: str, rows: Rows, left: Sequence[Any], rates: Sequence[str]
) -> tuple[list[Equation], list[str]]:
    """Determinant, inverse, and what is known of where it fails."""
    size = determinant(rows)
    if is_zero(size):
        return [], [
            f"Its determinant is 0 everywhere: the rates don't reach {', '.join(map(str, left))} one by one."
        ]
    book = sheet.mechanism.book
    label = sheet.mechanism.names.label(name)
    symbol = sympy.Symbol(sheet.mechanism.names.names.unique(f"det_{label}"))
    expression = sheet.writer.expression(size)
    equations = [Equation(f"determinant.{name}", symbol, expression, meaning="determinant of the Jacobian")]
    cofactors = [[book.sum(entry) for entry in line] for line in adjugate(rows)]
    notes = singularities(sheet, book.sum(size), cofactors, left)
    if sum(len(entry.terms) for line in cofactors for entry in line) > MOST_INVERSE:
        return equations, [
            *notes,
            _NO_INVERSE,
        ]
    words = f"rates from the velocity of {name}"
    right = sympy.ImmutableMatrix(list(left))
    equations.append(
        Equation(f"inverse.{name}", sheet.column(rates), sheet.matrix(inverse(rows)), right, words)
    )
    return equations, notes
