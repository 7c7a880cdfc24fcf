"""One robot's mechanics in symbols: the same tree, rows and elimination that its programs are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from trundle.formulas.algebra.polynomials import (
    NamedFunction,
    Symbol,
    SymbolDefinition,
    SymbolTable,
    TrigPolynomial,
)
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.symbols.names import SymbolNames, common, plain, words_of
from trundle.formulas.symbols.parameter_symbols import read_parameters
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import Cam, Linkage
from trundle.mechanics.tree import Link, Tree
from trundle.mechanics.wheels import WheelModel
from trundle.model.mechanism import mechanism
from trundle.robot import Robot
from trundle.scalars import Scalar, sin
from trundle.spatial.vectors import IDENTITY, Matrix

# Sums of as many angles and more get symbols.
_LONG_CHAIN = 4


def build(robot: Robot) -> Sheet:
    """The mechanism of a described robot."""
    table, names, numbers = SymbolTable(), SymbolNames(robot), mechanism(robot)
    parameters = read_parameters(robot, table, names)
    quantities = numbers.assembly.quantities
    # Not all zeros: a quaternion of zeros is no rotation.
    upright = [int(start) for start in quantities.starts(numbers.names)]
    here = numbers.in_scalars(parameters.scope, upright)
    assembly = _with_named_placements(_with_wheel_inertias(here.assembly, names), names)
    coordinates, q = {}, {}
    for name in numbers.names:
        coordinates[name] = len(table.symbols)
        words, unit = words_of(name, robot), quantities[name].unit
        q[name] = table.add(Symbol(names.of(name), "coordinate", words, unit, source=name))
    assembly = _with_named_couplings(assembly, q, names)
    here = replace(here, assembly=assembly)
    at = here.configured(list(q.values())).at
    posed = here.configured(list((q | _added(assembly, q, names)).values())).at
    poses = [
        pose._replace(rotation=_named_rotation(pose.rotation, "R", 2, _ROTATION, link, names))
        for link, pose in zip(assembly.tree.links, posed.poses, strict=True)
    ]
    here = replace(here, q=list(q.values()), posed=replace(at, q=posed.q, poses=poses))
    return Sheet(here, Writer(table), parameters, names, coordinates)


def parallel_hinges(tree: Tree) -> dict[int, int]:
    """Links on hinges, and how many with parallel axes follow one another up to there."""
    depth: dict[int, int] = {}
    for index, link in enumerate(tree.links):
        if link.joint.hinge:
            parent = link.parent
            same = parent in depth and tree.links[parent].axis == link.axis
            depth[index] = depth[parent] + 1 if same and link.placement.rotation == IDENTITY else 1
    return depth


def _added(
    assembly: Assembly, symbols: Mapping[str, TrigPolynomial], names: SymbolNames
) -> dict[str, TrigPolynomial]:
    """Angles of long chains of parallel hinges as differences of symbols for the sums, θ_k = θ_(k−1) + q_k: what such
    a link's direction depends on is one symbol, then.
    """
    if assembly.loops or assembly.couplings:
        return {}  # what closes them is told in the joints' own angles
    tree = assembly.tree
    depth = parallel_hinges(tree)
    if max(depth.values(), default=0) < _LONG_CHAIN:
        return {}
    total: dict[int, TrigPolynomial] = {}
    states = {}
    for index, count in depth.items():
        link = tree.links[index]
        total[index] = own = symbols[f"{link.name}.angle"]
        if count > 1:
            name = names.indexed("theta", names.label(link.name))
            before = total[link.parent]
            meaning = f"angle by which {link.name} is turned in all"
            total[index] = own.table.named(before + own, name, meaning, "rad")
            states[f"{link.name}.angle"] = total[index] - before
    return states


def _with_named_couplings(
    assembly: Assembly, q: Mapping[str, TrigPolynomial], names: SymbolNames
) -> Assembly:
    """What linkages and cams move as symbols of their own, defined by their coupling."""
    values = dict(q)
    couplings = []
    for coupling in assembly.couplings:  # each comes after what moves its leaders
        made = coupling
        if isinstance(coupling, Linkage):
            made = _named_linkage(coupling, values[coupling.axis.coordinate], names)
        if isinstance(coupling, Cam):
            made = _named_cam(coupling, values[coupling.leaders[0].coordinate], assembly, names)
        followed = made.follow([values[axis.coordinate] for axis in made.leaders])
        values |= {axis.coordinate: each.value for axis, each in zip(made.followers, followed, strict=True)}
        couplings.append(made)
    return replace(assembly, couplings=tuple(couplings))


def _named_linkage(coupling: Linkage, delta: TrigPolynomial, names: SymbolNames) -> Linkage:
    """Ackermann steering in symbols: a_i = cos δ − (y_i/L) sin δ, δ_i = atan2(sin δ, a_i), k_i = 1/(a_i² + sin² δ)."""
    table, angles, rates = delta.table, [], []
    for axis, value in zip(coupling.followers, coupling.ahead(delta), strict=True):
        wheel = axis.coordinate.rpartition(".")[0]
        label, unique = names.label(wheel), names.unique
        ahead = table.named(value, unique(f"a_{label}"), f"{wheel} points along (this, sin δ)")
        words = f"steering angle of {wheel}, set by the coupling {coupling.name}"
        turned = SymbolDefinition("atan2", (sin(delta), ahead))
        rate = 1 / (ahead * ahead + sin(delta) * sin(delta))
        name, meaning = unique(f"k_{label}"), f"how fast {wheel} is steered for each rad/s of the coupling"
        rates.append(table.named(rate, name, meaning))
        symbol = Symbol(names.of(axis.coordinate), "definition", words, "rad", source=axis.coordinate)
        angles.append(table.symbol(table.define(turned, symbol)))
    return replace(coupling, angles=tuple(angles), rates=tuple(rates))


def _named_cam(cam: Cam, leader: TrigPolynomial, assembly: Assembly, names: SymbolNames) -> Cam:
    """A cam in symbols: the follower's coordinate f(q), its slope f'(q), and f''(q), which rates of the slope bring in.

    The function has a name of its own, and its derivatives have it with d in front.
    """
    table, axis, on = leader.table, cam.follower, cam.leaders[0].coordinate
    called = axis.coordinate.rpartition(".")[0]
    label, units = names.label(called), [assembly.quantities[each].unit for each in (axis.coordinate, on)]
    name = names.unique(f"f_{label}")
    words = f"{cam.curve.called} of the cam {cam.name}, by which {called} follows {on}"
    symbols = [Symbol(names.of(axis.coordinate), "definition", f"where {called} is", source=axis.coordinate)]
    symbols += [Symbol(names.unique(f"{stem}_{label}"), "definition") for stem in "kc"]
    for order, which in enumerate(("", "derivative", "second derivative", "third derivative")):
        own, unit = "d" * order + name, _per(units[0], units[1], order)
        meaning = f"{which} of {name}" if order else words
        table.functions[own] = NamedFunction(partial(cam.curve.at, order=order), meaning, unit)
        if order < len(symbols):
            symbols[order].unit, symbols[order].meaning = unit, symbols[order].meaning or meaning
            table.define(SymbolDefinition(own, (leader,)), symbols[order])
    value, slope, _ = (table.call("d" * order + name, leader) for order in range(len(symbols)))
    return replace(cam, letters=(value, slope))


def _per(unit: str, other: str, order: int) -> str:
    """The unit of a derivative: m/rad^2 of a second one, and 1/rad where both are angles."""
    if not order:
        return unit
    above, below = ("1", order - 1) if unit == other else (unit, order)
    return above if not below else f"{above}/{other}" + (f"^{below}" if below > 1 else "")


_PLACEMENT = "of the orientation in which {} is mounted"
_ROTATION = "of the rotation from the axes of {} to those of what carries it"


def _with_named_placements(assembly: Assembly, names: SymbolNames) -> Assembly:
    """Symbols for how joints are mounted, where that takes more than a sine or cosine."""
    links = []
    for link in assembly.tree.links:
        rotation = _named_rotation(link.placement.rotation, "P", 1, _PLACEMENT, link, names)
        links.append(replace(link, placement=link.placement._replace(rotation=rotation)))
    return replace(assembly, tree=replace(assembly.tree, links=tuple(links)))


def _named_rotation(
    rotation: Matrix, stem: str, most: int, meaning: str, link: Link, names: SymbolNames
) -> Matrix:
    """A rotation matrix with symbols for entries of more than `most` terms."""

    def entry(i: int, j: int) -> Scalar:
        value = rotation[i][j]
        if not isinstance(value, TrigPolynomial) or len(value.terms) <= most:
            return value
        axes = f"{'xyz'[i]}{'xyz'[j]}"
        index = f"{axes}_{names.label(link.name)}"
        words = f"entry {axes} {meaning.format(link.name)}"
        return value.table.named(value, lambda: names.indexed(stem, index), words, "1")

    return tuple(tuple(entry(i, j) for j in range(3)) for i in range(3))  # type: ignore[return-value]


def _with_wheel_inertias(assembly: Assembly, names: SymbolNames) -> Assembly:
    """The wheels' moments of inertia as symbols, I_a about the axle and I_t about a diameter, where they follow from
    mass and size.
    """
    spinning = [wheel for wheel in assembly.wheels if wheel.spin is not None]
    links = list(assembly.tree.links)
    for row, stem, words in ((1, "I_a", "its axle"), (2, "I_t", "a diameter")):
        groups: dict[object, tuple[TrigPolynomial, list[WheelModel]]] = {}
        for wheel in spinning:
            value = links[wheel.link].inertia.rotational[row][row]
            if isinstance(value, TrigPolynomial) and not value.is_plain:
                groups.setdefault(value.key, (value, []))[1].append(wheel)
        for value, group in groups.values():
            owners = [wheel.name for wheel in group]
            whole = len(group) == len(spinning)
            label = common(owners, {owner: names.label(owner) for owner in owners})
            name = names.unique(stem if whole else f"{stem}_{label}", f"{stem}_{plain(owners[0])}")
            of = "" if whole else f": {', '.join(owners)}"
            meaning = f"moment of inertia of a wheel about {words}{of}"
            moment = value.table.named(value, name, meaning, "kg m^2")
            for wheel in group:
                links[wheel.link] = _with_moment(links[wheel.link], row, moment)
    return replace(assembly, tree=replace(assembly.tree, links=tuple(links)))


def _with_moment(link: Link, row: int, moment: TrigPolynomial) -> Link:
    """A wheel's link with a moment of inertia about its axle (1) or a diameter (2) in its place."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = link.inertia.rotational
    xx, yy, zz = (xx, moment, zz) if row == 1 else (moment, yy, moment)
    rotational = ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz))
    return replace(link, inertia=link.inertia._replace(rotational=rotational))
