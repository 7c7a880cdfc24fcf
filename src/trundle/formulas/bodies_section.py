"""Bodies at the ends of joints: where they are, how they move, and where their Jacobians lose rank.

A body on a moving base has its twist in its own axes, a robot on a fixed base the motion of its last bodies in the
world's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy

from trundle.algebra.sums import WRITING, Sum, TooLong
from trundle.formulas.cofactors import MOST, Rows, adjugate, determinant, inverse
from trundle.formulas.kinematics_section import Forward, Sheet, length
from trundle.formulas.lettered_mechanism import LetteredMechanism
from trundle.formulas.sections import Equation, Section
from trundle.formulas.singular_section import singularities
from trundle.mechanics.frames import frame_jacobian, frame_pose, world_jacobian
from trundle.mechanics.linear import product
from trundle.mechanics.tree import Tree
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Motion, Pose, motion_to_child
from trundle.spatial.vectors import IDENTITY, ZERO, Vector, scale

PARTS = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")
# A Jacobian with more terms, or an inverse with more above its fraction lines, fills pages.
MOST_TERMS = 200
MOST_INVERSE = 60
# Bodies on a base whose motion from the wheels' rates takes more operations are told in the base's own motion.
MOST_FORWARD = 40
_NO_INVERSE = "Its inverse would fill lines; solve the equations above for the rates instead."


@dataclass(frozen=True)
class Point:
    """A point on a link, in world axes or in the link's own: the frame's origin, the centre of mass, or the place of
    the joint of the link `holds`. `symbols` names the symbols of its place and velocity (p_x, v_x, omega_z …; omega
    for omega_z), `chain` the equations whose product is its pose.
    """

    link: int
    symbols: Mapping[str, str]
    world: bool
    center: bool = False
    holds: int | None = None
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class PointSection:
    """A section, and the point that it is about."""

    section: Section
    point: Point


@dataclass(frozen=True)
class _End:
    """A body that nothing hangs on: its link, the point whose motion is shown, and their names."""

    link: int
    name: str
    point: Vector = ZERO
    center: bool = False


@dataclass(frozen=True)
class _Twist:
    """A velocity for each unit of each speed, and whose it is."""

    name: str
    columns: Sequence[Motion]
    words: str


def body_sections(sheet: Sheet, forward: Forward | None) -> list[PointSection]:
    """Sections of the last body of every chain of joints; where a Jacobian would fill lines, the pose by joints."""
    sections: list[PointSection] = []
    for end in _ends(sheet.mechanism):
        try:
            if sheet.mechanism.assembly.base_columns:
                sections += _carried_sections(sheet, end, forward)
            else:
                sections.append(_fixed_section(sheet, end))
        except TooLong:
            sheet.mechanism.book.allow(*WRITING)  # what was tried in vain may have used up all work
            sections.append(_pose_section(sheet, end))
    return sections


def _ends(mechanism: LetteredMechanism) -> list[_End]:
    """The last body of each chain: its centre of mass where its frame's origin doesn't move with its own joint."""
    tree = mechanism.assembly.tree
    wheels = {wheel.link for wheel in mechanism.assembly.wheels}
    carried = {tree.links[k].parent for k in range(1, len(tree.links))}
    found = []
    for index, link in enumerate(tree.links):
        if index == 0 or index in wheels or index in carried or _follows(mechanism, index):
            continue
        if link.joint.slides and link.parent == 0 and not mechanism.assembly.base_columns:
            continue  # it is where its position says
        name = mechanism.robot.joints[link.name].body.name or link.name
        mass, moment = link.inertia.mass, link.inertia.first_moment
        if not tree.links[0].joint.speeds and link.moves and not is_zero(mass):
            found.append(_End(index, name, scale(1 / mass, moment), center=True))
        else:
            found.append(_End(index, name))
    return found


def _follows(mechanism: LetteredMechanism, link: int) -> bool:
    """Whether a joint on the way to the link follows others by a coupling, whose equations say where it is."""
    followers = {axis.column for each in mechanism.assembly.couplings for axis in each.followers}
    slices = mechanism.assembly.tree.speed_slices()
    chain = mechanism.assembly.tree.ancestors(link)
    return any(followers.intersection(range(slices[k].start, slices[k].stop)) for k in chain)


def _bounded(rows: Rows) -> Rows:
    """The rows, if they fit a page; raises TooLong."""
    if sum(len(entry.terms) for row in rows for entry in row if isinstance(entry, Sum)) > MOST_TERMS:
        raise TooLong
    return rows


def _moving(columns: Sequence[Motion]) -> tuple[list[list[Scalar]], list[int], list[int]]:
    """Jacobian columns as six numbers each; which of the six move at all, and by which speeds."""
    flat = [[*column.linear, *column.angular] for column in columns]
    shown = [k for k in range(6) if any(not is_zero(column[k]) for column in flat)]
    return flat, shown, [j for j, column in enumerate(flat) if any(not is_zero(column[k]) for k in shown)]


def _fixed_section(sheet: Sheet, end: _End) -> PointSection:
    """Position of the end's point in the world, and its velocity's Jacobian over the joint rates, or TooLong."""
    mechanism, writer = sheet.mechanism, sheet.writer
    tree, poses = mechanism.assembly.tree, mechanism.at.poses
    position = frame_pose(tree, poses, end.link, end.point).position
    flat, shown, used = _moving(world_jacobian(tree, poses, end.link, end.point))
    rows = _bounded([[flat[j][k] for j in used] for k in shown])
    moving = [k for k in shown if k < 3]
    where = f"centre of mass of {end.name}" if end.center else f"frame of {end.name}"
    names = sheet.names([*(f"p_{'xyz'[k]}" for k in moving), *(PARTS[k] for k in shown)], end.name)
    equations = []
    for k in moving:
        axis = "xyz"[k]
        name, words = (
            f"{end.name}.{'center_' if end.center else ''}{axis}",
            f"{axis} of the {where} in the world",
        )
        left = sympy.Symbol(names[f"p_{axis}"])
        equations.append(Equation(name, left, writer.expression(position[k]), meaning=words))
    symbols = [sympy.Symbol(names[PARTS[k]]) for k in shown]
    speeds = [mechanism.assembly.speeds[j] for j in used]
    left, words = sympy.ImmutableMatrix(symbols), f"velocity of the {where}, world axes"
    equations.append(Equation(f"jacobian.{end.name}", left, sheet.matrix(rows), sheet.column(speeds), words))
    notes: list[str] = []
    if moving and len(moving) == len(used) <= MOST:
        more, notes = _inverted(sheet, end.name, rows[: len(moving)], symbols[: len(moving)], speeds)
        equations += more
    section = Section("kinematics", f"Motion of the {where}", tuple(equations), tuple(notes))
    return PointSection(section, Point(end.link, names, world=True, center=end.center))


def _pose_section(sheet: Sheet, end: _End) -> PointSection:
    """The pose of an end as a product of the poses of the joints on the way, each a 4×4 matrix."""
    mechanism = sheet.mechanism
    tree, poses = mechanism.assembly.tree, mechanism.at.poses
    equations = []
    for k in [k for k in tree.ancestors(end.link) if k][::-1]:
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
    return PointSection(section, Point(end.link, {}, world=True, chain=tuple(e.name for e in equations)))


def _carried_sections(sheet: Sheet, end: _End, forward: Forward | None) -> list[PointSection]:
    """A body on a base that moves: its twist in its own axes, and on the way there that of its first joint's place,
    from the wheels' rates where these set the base's motion. TooLong where that would fill lines.
    """
    mechanism = sheet.mechanism
    tree, poses = mechanism.assembly.tree, mechanism.at.poses
    if forward is not None and length(forward) > MOST_FORWARD:
        forward = None
    first = [k for k in tree.ancestors(end.link) if k][-1]
    at = tree.links[first].placement.position
    found = []
    if forward is not None and any(not is_zero(p) for p in at):
        columns = [motion_to_child(Pose(IDENTITY, at), column) for column in _base(tree)]
        name = tree.links[first].name
        twist = _Twist(name, columns, f"the place of {name}, in the axes of the base")
        found.append(_twist_section(sheet, twist, forward, Point(0, {}, world=False, holds=first)))
    twist = _Twist(end.name, frame_jacobian(tree, poses, end.link), f"{end.name}, in its own axes")
    return [*found, _twist_section(sheet, twist, forward, Point(end.link, {}, world=False))]


def _base(tree: Tree) -> list[Motion]:
    """The base's own motions, and nothing for all other speeds."""
    own = tree.links[0].subspace(tree.links[0].placement)
    return [*own, *[Motion(ZERO, ZERO)] * (tree.speed_count - len(own))]


def _twist_section(sheet: Sheet, twist: _Twist, forward: Forward | None, point: Point) -> PointSection:
    """A twist from the rates that make it."""
    mechanism = sheet.mechanism
    base, speeds = mechanism.assembly.base_columns, mechanism.assembly.speeds
    flat, shown, given = _moving(twist.columns)
    rows = [[flat[j][k] for j in given] for k in shown]
    if forward is not None:
        others = [j for j in given if j not in base]
        through = product([[flat[j][k] for j in base] for k in shown], forward.matrix)
        rows = [[*row, *(flat[j][k] for j in others)] for row, k in zip(through, shown, strict=True)]
        given = [*forward.columns, *others]
    _bounded(rows)
    parts = ["omega" if len(base) == 3 and k == 5 else PARTS[k] for k in shown]
    names = sheet.names(parts, twist.name)
    symbols = [sympy.Symbol(name) for name in names.values()]
    rates = [speeds[j] for j in given]
    left, words = sympy.ImmutableMatrix(symbols), f"velocity of {twist.words}"
    equations = [Equation(f"forward.{twist.name}", left, sheet.matrix(rows), sheet.column(rates), words)]
    notes: list[str] = []
    for size in (len(rows), 2):
        if forward is not None and len(given) == size <= min(len(rows), MOST):
            more, notes = _inverted(sheet, twist.name, rows[:size], symbols[:size], rates)
            equations += more
            break
    section = Section("kinematics", f"Motion of {twist.words}", tuple(equations), tuple(notes))
    return PointSection(section, replace(point, symbols=names))


def _inverted(
    sheet: Sheet, name: str, rows: Rows, left: Sequence[sympy.Symbol], rates: Sequence[str]
) -> tuple[list[Equation], list[str]]:
    """Determinant and inverse of a square Jacobian as equations, and sentences on where it fails."""
    equations: list[Equation] = []
    notes: list[str] = []
    try:
        size = determinant(rows)
        if is_zero(size):
            reached = ", ".join(map(str, left))
            return [], [f"Its determinant is 0 everywhere: the rates don't reach {reached} one by one."]
        book, names = sheet.mechanism.book, sheet.mechanism.names
        symbol, words = (
            sympy.Symbol(names.names.unique(f"det_{names.label(name)}")),
            "determinant of the Jacobian",
        )
        determined = Equation(f"determinant.{name}", symbol, sheet.writer.expression(size), meaning=words)
        cofactors = [[book.sum(entry) for entry in line] for line in adjugate(rows)]
        notes = singularities(sheet, book.sum(size), cofactors, left)
        equations = [determined]
        if sum(len(entry.terms) for line in cofactors for entry in line) > MOST_INVERSE:
            return equations, [*notes, _NO_INVERSE]
        right, words = sympy.ImmutableMatrix(list(left)), f"rates from the velocity of {name}"
        matrix = sheet.matrix(inverse(rows))
        return [*equations, Equation(f"inverse.{name}", sheet.column(rates), matrix, right, words)], notes
    except TooLong:
        sheet.mechanism.book.allow(*WRITING)
        return [], [_NO_INVERSE]
