"""Bodies at the ends of joints: where they are, how they move, and where their Jacobians lose rank.

A body on a moving base has its twist in its own axes, a robot on a fixed base the motion of its last bodies in the
world's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import sympy

from trundle.formulas.algebra.cofactors import MOST, inverse
from trundle.formulas.algebra.polynomials import WRITING, TooLong, TrigPolynomial, term_count
from trundle.formulas.equation import Equation, Section, SymbolicMatrix
from trundle.formulas.sections.kinematics_section import Forward, length
from trundle.formulas.symbols.names import Note, inline
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.frames import frame_jacobian, frame_pose, world_jacobian
from trundle.mechanics.linear import adjugate, determinant, product
from trundle.mechanics.tree import Tree
from trundle.scalars import AnyRows, Scalar, is_zero
from trundle.spatial.motions import Motion, Pose, motion_to_child
from trundle.spatial.vectors import IDENTITY, ZERO, Vector, scale

PARTS = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")
# A Jacobian with more terms, or an inverse with more above its fraction lines, fills pages.
MOST_TERMS = 200
MOST_INVERSE = 60
# Bodies on a base whose motion from the wheels' rates takes more operations are told in the base's own motion.
MOST_FORWARD = 40
_NO_INVERSE = "Its inverse would fill lines; solve the equations above for the rates instead."

# A point on a link, in the scalars of the tree that is given.
PointOf = Callable[[Tree], Vector]


@dataclass(frozen=True)
class PointSection:
    """A section about a point on a link: `symbols` of its place and velocity (p_x, v_x, omega_z …; omega for omega_z),
    in world axes or in the link's own; `chain` names the equations whose product is its pose.
    """

    section: Section
    link: int
    symbols: Mapping[str, sympy.Symbol] = field(default_factory=dict)
    world: bool = True
    place: PointOf = lambda tree: ZERO
    chain: tuple[str, ...] = ()


def body_sections(sheet: Sheet, forward: Forward | None) -> list[PointSection]:
    """Sections of the last body of every chain of joints; where a Jacobian would fill lines, the pose by joints."""
    sections: list[PointSection] = []
    for link, name, center in _ends(sheet):
        try:
            if sheet.assembly.base_columns:
                sections += _carried_sections(sheet, link, name, forward)
            else:
                sections.append(_fixed_section(sheet, link, name, center))
        except TooLong:
            sheet.table.allow(*WRITING)  # what was tried in vain may have used up all work
            sections.append(_pose_section(sheet, link, name))
    return sections


def _ends(sheet: Sheet) -> Iterator[tuple[int, str, bool]]:
    """The last body of each chain: its link, its name, and whether its centre of mass is shown, as where its frame's
    origin doesn't move with its own joint.
    """
    tree = sheet.assembly.tree
    wheels = {wheel.link for wheel in sheet.assembly.wheels}
    carried = {link.parent for link in tree.links[1:]}
    for index, link in enumerate(tree.links):
        if index == 0 or index in wheels or index in carried or _follows(sheet, index):
            continue
        if link.joint.slides and link.parent == 0 and not sheet.assembly.base_columns:
            continue  # it is where its position says
        name = sheet.robot.joints[link.name].body.name or link.name
        fixed = not tree.links[0].joint.speeds
        yield index, name, fixed and link.moves and not is_zero(link.inertia.mass)


def _center(link: int) -> PointOf:
    """The centre of mass of a link."""

    def place(tree: Tree) -> Vector:
        inertia = tree.links[link].inertia
        return scale(1 / inertia.mass, inertia.first_moment)

    return place


def _follows(sheet: Sheet, link: int) -> bool:
    """Whether a joint on the way to the link follows others by a coupling, whose equations say where it is."""
    followers = {axis.column for coupling in sheet.assembly.couplings for axis in coupling.followers}
    slices = sheet.assembly.tree.speed_slices()
    chain = sheet.assembly.tree.ancestors(link)
    return any(followers.intersection(range(slices[k].start, slices[k].stop)) for k in chain)


def _bounded(rows: AnyRows) -> AnyRows:
    """The rows, if they fit a page; raises TooLong."""
    if term_count(chain(*rows)) > MOST_TERMS:
        raise TooLong
    return rows


def _moving(columns: Sequence[Motion]) -> tuple[list[list[Scalar]], list[int], list[int]]:
    """Jacobian columns as six numbers each; which of the six move at all, and by which speeds."""
    flat = [[*column.linear, *column.angular] for column in columns]
    shown = [k for k in range(6) if any(not is_zero(column[k]) for column in flat)]
    return flat, shown, [j for j, column in enumerate(flat) if any(not is_zero(column[k]) for k in shown)]


def _symbols(sheet: Sheet, parts: Sequence[str], owner: str) -> dict[str, sympy.Symbol]:
    """Symbols for parts of a point's place and velocity."""
    label = sheet.names.label(owner)
    return {part: sympy.Symbol(sheet.names.unique(f"{part}_{label}")) for part in parts}


def _fixed_section(sheet: Sheet, link: int, name: str, center: bool) -> PointSection:
    """Position of a point in the world, and its velocity's Jacobian over the joint rates, or TooLong."""
    tree, poses = sheet.assembly.tree, sheet.at.poses
    place: PointOf = _center(link) if center else lambda tree: ZERO
    point = place(tree)
    position = frame_pose(tree, poses, link, point).position
    flat, shown, used = _moving(world_jacobian(tree, poses, link, point))
    rows = _bounded([[flat[j][k] for j in used] for k in shown])
    moving = [k for k in shown if k < 3]
    where, mark = (f"centre of mass of {name}", "center_") if center else (f"frame of {name}", "")
    symbols = _symbols(sheet, [*(f"p_{'xyz'[k]}" for k in moving), *(PARTS[k] for k in shown)], name)
    equations = []
    for k in moving:
        axis, right = "xyz"[k], sheet.expression(position[k])
        words = f"{axis} of the {where} in the world"
        equations.append(Equation(f"{name}.{mark}{axis}", symbols[f"p_{axis}"], right, meaning=words))
    velocity, speeds = [symbols[PARTS[k]] for k in shown], [sheet.assembly.speeds[j] for j in used]
    left, words = sympy.ImmutableMatrix(velocity), f"velocity of the {where}, world axes"
    equations.append(Equation(f"jacobian.{name}", left, sheet.matrix(rows), sheet.column(speeds), words))
    notes: Sequence[str] = ()
    if moving and len(moving) == len(used) <= MOST:
        count = len(moving)
        more, notes = _inverted(sheet, name, rows[:count], velocity[:count], speeds)
        equations += more
    section = Section("kinematics", f"Motion of the {where}", tuple(equations), tuple(notes))
    return PointSection(section, link, symbols, place=place)


def _pose_section(sheet: Sheet, link: int, name: str) -> PointSection:
    """The pose of an end as a product of the poses of the joints on the way, each a 4×4 matrix."""
    tree, poses = sheet.assembly.tree, sheet.at.poses
    equations = []
    for k in [k for k in tree.ancestors(link) if k][::-1]:
        rows = [[*row, p] for row, p in zip(poses[k].rotation, poses[k].position, strict=True)]
        joint = tree.links[k].name
        symbol = sympy.Symbol(sheet.names.unique(f"T_{sheet.names.label(joint)}"))
        words = f"pose of {joint} in the axes of what carries it"
        matrix = sheet.matrix([*rows, [0, 0, 0, 1]])
        equations.append(Equation(f"pose.{joint}", symbol, matrix, meaning=words, given=True))
    note = (
        f"The pose of {name} on the base is {' '.join(str(equation.left) for equation in equations)}. Its Jacobian "
        f"would fill lines: the program model.frame('{name}') has it."
    )
    section = Section("kinematics", f"Pose of {name}", tuple(equations), (note,))
    return PointSection(section, link, chain=tuple(equation.name for equation in equations))


def _carried_sections(sheet: Sheet, link: int, name: str, forward: Forward | None) -> list[PointSection]:
    """A body on a base that moves: its twist in its own axes, and on the way there that of its first joint's place,
    from the wheels' rates where these set the base's motion. TooLong where that would fill lines.
    """
    tree, poses = sheet.assembly.tree, sheet.at.poses
    if forward is not None and length(forward) > MOST_FORWARD:
        forward = None
    first = [k for k in tree.ancestors(link) if k][-1]
    points = []
    if forward is not None and any(not is_zero(p) for p in tree.links[first].placement.position):
        own, place = tree.links[first].name, lambda tree: tree.links[first].placement.position
        base = tree.links[0].subspace(tree.links[0].placement)
        columns = [*base, *[Motion(ZERO, ZERO)] * (tree.speed_count - len(base))]
        there = [motion_to_child(Pose(IDENTITY, place(tree)), column) for column in columns]
        words = f"the place of {own}, in the axes of the base"
        section, symbols = _twist_section(sheet, own, there, words, forward)
        points.append(PointSection(section, 0, symbols, world=False, place=place))
    twist = frame_jacobian(tree, poses, link)
    section, symbols = _twist_section(sheet, name, twist, f"{name}, in its own axes", forward)
    return [*points, PointSection(section, link, symbols, world=False)]


def _twist_section(
    sheet: Sheet, name: str, columns: Sequence[Motion], whose: str, forward: Forward | None
) -> tuple[Section, dict[str, sympy.Symbol]]:
    """A twist from the rates that make it, and the symbols of its parts."""
    base, speeds = sheet.assembly.base_columns, sheet.assembly.speeds
    flat, shown, given = _moving(columns)
    rows = [[flat[j][k] for j in given] for k in shown]
    if forward is not None:
        others = [j for j in given if j not in base]
        through = product([[flat[j][k] for j in base] for k in shown], forward.matrix)
        rows = [[*row, *(flat[j][k] for j in others)] for row, k in zip(through, shown, strict=True)]
        given = [*forward.columns, *others]
    _bounded(rows)
    parts = ["omega" if len(base) == 3 and k == 5 else PARTS[k] for k in shown]
    symbols = _symbols(sheet, parts, name)
    twist, rates = [*symbols.values()], [speeds[j] for j in given]
    left, words = sympy.ImmutableMatrix(twist), f"velocity of {whose}"
    equations = [Equation(f"forward.{name}", left, sheet.matrix(rows), sheet.column(rates), words)]
    notes: Sequence[str] = ()
    size = len(given)
    if forward is not None and size in (len(rows), 2) and size <= min(len(rows), MOST):
        more, notes = _inverted(sheet, name, rows[:size], twist[:size], rates)
        equations += more
    return Section("kinematics", f"Motion of {whose}", tuple(equations), tuple(notes)), symbols


def _inverted(
    sheet: Sheet, name: str, rows: AnyRows, left: Sequence[sympy.Symbol], rates: Sequence[str]
) -> tuple[list[Equation], Sequence[str]]:
    """Determinant and inverse of a square Jacobian as equations, and sentences on where it fails."""
    try:
        size = determinant(rows)
        if is_zero(size):
            reached = ", ".join(map(str, left))
            return [], [f"Its determinant is 0 everywhere: the rates don't reach {reached} one by one."]
        symbol = sympy.Symbol(sheet.names.unique(f"det_{sheet.names.label(name)}"))
        words = "determinant of the Jacobian"
        equations = [Equation(f"determinant.{name}", symbol, sheet.expression(size), meaning=words)]
        cofactors = [[sheet.table.polynomial(entry) for entry in line] for line in adjugate(rows)]
        notes = singularities(sheet, sheet.table.polynomial(size), cofactors, left)
        if term_count(chain(*cofactors)) > MOST_INVERSE:
            return equations, [*notes, _NO_INVERSE]
        right, words = sympy.ImmutableMatrix(list(left)), f"rates from the velocity of {name}"
        matrix = sheet.matrix(inverse(rows))
        return [*equations, Equation(f"inverse.{name}", sheet.column(rates), matrix, right, words)], notes
    except TooLong:
        sheet.table.allow(*WRITING)
        return [], [_NO_INVERSE]


# A lost motion whose text is longer than this is no help.
_MOST_TEXT = 90


def singularities(
    sheet: Sheet,
    size: TrigPolynomial,
    adjugate: Sequence[Sequence[TrigPolynomial]],
    left: Sequence[sympy.Symbol],
) -> list[Note]:
    """Sentences about the zeros of a determinant, factor by factor.

    Where det J = 0, every row w of adj J has w J = adj J · J = det J · 1 = 0: what w stands for can't be moved.
    """
    coordinates = {sheet.writer.symbol(k) for k in sheet.coordinates.values()}
    factors = [factor.as_base_exp() for factor in sympy.Mul.make_args(sheet.expression(size))]
    above = [base for base, power in factors if power.is_positive]
    moving = [base for base in above if base.free_symbols & coordinates]
    parameters = [base for base in above if isinstance(base, sympy.Symbol) and base not in moving]
    motions = sheet.matrix(adjugate) * sympy.ImmutableMatrix(list(left))
    notes: list[Note] = []
    if not moving:
        zero = [part for base in parameters for part in (" or ", base, " = 0")][1:]
        only = (" and vanishes only where ", *zero, ": otherwise every motion above can be reached, always.")
        notes.append(Note("The determinant is the same in every configuration", *(only if zero else ".")))
    notes += [_factor_note(base, coordinates, motions, left) for base in moving]
    symbols = {entry.name: entry for entry in size.table.symbols if entry.kind == "parameter"}
    for base in parameters:
        lost, entry = _lost(motions.subs(base, 0), left), symbols[base.name]
        if lost is not None:
            here = f" = {entry.number:g} {entry.unit})."
            notes.append(Note("With ", base, " = 0 no rates change ", lost, " (here ", base, here))
    return notes


def _factor_note(
    base: sympy.Expr, coordinates: set[sympy.Expr], motions: SymbolicMatrix, left: Sequence[sympy.Symbol]
) -> Note:
    """Where one factor with coordinates in it vanishes; for a sine or cosine of one angle, what is lost there."""
    if not isinstance(base, sympy.sin | sympy.cos):
        return Note("The determinant vanishes where ", base, " = 0.")
    (inside,) = base.args
    quarter = 0 if isinstance(base, sympy.sin) else 1
    parts = [
        "The determinant vanishes where ",
        base,
        " = 0: ",
        inside,
        " = ±90°." if quarter else " = 0 or 180°.",
    ]
    lost = _lost(motions.subs(inside, sympy.pi * quarter / 2), left) if inside in coordinates else None
    if lost is not None:
        parts += [" At ", inside, f" = {90 * quarter}° no rates change ", lost, "."]
    return Note(*parts)


def _lost(motions: SymbolicMatrix, left: Sequence[sympy.Symbol]) -> sympy.Expr | None:
    """The first combination of velocities that a row of the adjugate makes, without the factors that its entries share;
    nothing where it is too long for a sentence.
    """
    for motion in motions:
        total = sympy.factor(motion).as_independent(*left, as_Add=False)[1]
        if total != 0 and total != 1:
            total = -total if total.could_extract_minus_sign() else total
            return total if len(inline(total)) <= _MOST_TEXT else None
    return None
