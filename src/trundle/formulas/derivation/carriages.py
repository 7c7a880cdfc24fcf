"""A robot with trailers, carriage by carriage: what stands on wheels of its own is a tree of its own.

A trailer whose wheels set its hitch's rate moves like a base: by the velocity (v_x, v_y) of its hitch and its turning
rate ω, in its own axes. In these its mass matrix and its wheels' rows are constants. Seen from the base both are sums
of sines of all hitches between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.rolling import SpeedBasis
from trundle.mechanics.tree import WORLD, Tree
from trundle.mechanics.wheels import WheelModel, contact_rows
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import IDENTITY_POSE, Motion, Pose, compose, motion_to_child
from trundle.spatial.vectors import IDENTITY, ZERO

# A row of speeds, by their columns: those of the assembly, behind them the trailers' twists.
ColumnRow = dict[int, Scalar]
_TWIST = ("v_x", "v_y", "omega")


@dataclass(frozen=True)
class Carriage:
    """The base with all that it carries, or a trailer: a tree whose first joint is planar, its poses, the columns of
    its speeds (see `ColumnRow`) and what they are called.

    `owner` is the trailer's joint, "" where it is the base; `hitch` the column of the rate at which it turns on what
    tows it, `towing` the columns of that one's twist, `place` its pose there.
    """

    owner: str
    links: tuple[int, ...]
    tree: Tree
    poses: list[Pose]
    columns: tuple[int, ...]
    speeds: tuple[str, ...]
    hitch: int = WORLD
    towing: tuple[int, ...] = ()
    place: Pose = IDENTITY_POSE

    @property
    def twist(self) -> tuple[int, ...]:
        """The columns of v_x, v_y, ω."""
        return self.columns[:3]

    def of(self, what: str, alone: bool) -> str:
        """What something is of it, in words; the base is the whole robot where it is alone."""
        if not self.owner:
            return f"{what} of the whole robot" if alone else f"{what} of the base with its wheels"
        return f"{what} of {self.owner} with its wheels"


def carriages(sheet: Sheet, basis: SpeedBasis) -> list[Carriage]:
    """The base, then the trailers, each after what tows it; the base alone holds everything where there are none."""
    assembly = sheet.assembly
    roots = _roots(assembly, basis)
    whole = tuple(range(len(assembly.tree.links)))
    first = Carriage("", whole, assembly.tree, sheet.at.poses, (), assembly.speeds)
    if len(roots) == 1:
        return [replace(first, columns=tuple(range(assembly.tree.speed_count)))]
    made: dict[int, Carriage] = {}
    for root in roots:
        links = tuple(k for k in whole if _carrier(assembly.tree, k, roots)[0] == root)
        made[root] = _carriage(sheet, root, links, made)
    return [*made.values()]


def _roots(assembly: Assembly, basis: SpeedBasis) -> list[int]:
    """The base's link and the trailers', upright hinges on a base or trailer whose rates follow from other speeds."""
    tree, roots = assembly.tree, [0]
    if len(assembly.base_columns) != 3 or assembly.loops:
        return roots
    steering = {wheel.steering for wheel in assembly.wheels}
    slices = tree.speed_slices()
    for k, link in enumerate(tree.links):
        if k and link.joint.hinge and link.axis == (0, 0, 1) and link.placement.rotation == IDENTITY:
            column = slices[k].start
            rigid = _carrier(tree, link.parent, roots)[1]
            if rigid and column not in steering and assembly.speeds[column] not in basis.labels:
                roots.append(k)
    return roots


def _carrier(tree: Tree, link: int, roots: Sequence[int]) -> tuple[int, bool]:
    """The root that carries a link, and whether nothing between them moves."""
    rigid = True
    for k in tree.ancestors(link):
        if k in roots:
            return k, rigid
        rigid = rigid and not tree.links[k].moves
    return 0, rigid


def _carriage(sheet: Sheet, root: int, links: tuple[int, ...], made: Mapping[int, Carriage]) -> Carriage:
    """The tree of some links, the root on a planar joint."""
    tree, poses, speeds = sheet.assembly.tree, sheet.at.poses, sheet.assembly.speeds
    slices, new = tree.speed_slices(), {k: place for place, k in enumerate(links)}
    own = [replace(tree.links[k], parent=new.get(tree.links[k].parent, WORLD)) for k in links]
    columns = [column for k in links[1:] for column in range(slices[k].start, slices[k].stop)]
    names = [speeds[column] for column in columns]
    if not root:
        twist = sheet.assembly.base_columns
        kept = Tree(tuple(own), tree.gravity)
        at = [poses[k] for k in links]
        return Carriage("", links, kept, at, (*twist, *columns), (*(speeds[k] for k in twist), *names))
    base, name = tree.links[0], tree.links[root].name
    own[0] = replace(own[0], kind=base.kind, axis=base.axis, placement=IDENTITY_POSE, armature=0)
    towing = made[_carrier(tree, tree.links[root].parent, [*made])[0]]
    place, k = poses[root], tree.links[root].parent
    while k != towing.links[0]:
        place, k = compose(poses[k], place), tree.links[k].parent
    turned = Pose(compose(towing.poses[0], place).rotation, ZERO)
    start = len(speeds) + 3 * (len(made) - 1)
    return Carriage(
        name,
        links,
        Tree(tuple(own), tree.gravity),
        [turned, *(poses[k] for k in links[1:])],
        (*range(start, start + 3), *columns),
        (*_TWIST, *names),
        slices[root].start,
        towing.twist,
        place,
    )


def hitched(carriage: Carriage) -> Iterator[ColumnRow]:
    """The rows of a trailer's twist: its hitch moves with what tows it, and it turns by its hitch's rate besides."""
    units = [Motion((1, 0, 0), ZERO), Motion((0, 1, 0), ZERO), Motion(ZERO, (0, 0, 1))]
    seen = [motion_to_child(carriage.place, unit) for unit in units]
    for k in range(2):
        yield {carriage.twist[k]: -1} | _nonzero_entries(
            carriage.towing, [motion.linear[k] for motion in seen]
        )
    yield {carriage.twist[2]: -1, carriage.towing[2]: 1, carriage.hitch: 1}


def own_rows(carriage: Carriage, wheel: WheelModel) -> list[ColumnRow]:
    """The rows of a wheel's contact over the speeds of the carriage that it stands on."""
    placed = replace(wheel, link=carriage.links.index(wheel.link))
    rows = contact_rows(carriage.tree, carriage.poses, placed, len(carriage.columns))
    return [_nonzero_entries(carriage.columns, row) for row in rows]


def _nonzero_entries(columns: Sequence[int], row: Sequence[Scalar]) -> ColumnRow:
    return {column: entry for column, entry in zip(columns, row, strict=True) if not is_zero(entry)}
