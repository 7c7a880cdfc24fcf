"""Where a robot can get to by driving: the Lie brackets of its speeds' vector fields, by automatic differentiation.

The kinematics are q̇ = N(q) S(q) u without drift, every wheel but free ones rolling without slip (Campion, Bastin &
d'Andréa-Novel 1996, sec. IV); brackets of the columns say whether the robot gets everywhere
(`analysis.lie_filtration`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from trundle.analysis.lie_brackets_casadi import growth
from trundle.analysis.lie_filtration import Filtration, NamedField, constant_integrals
from trundle.analysis.velocity_maps import VelocityMaps
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.closing import CLOSED_ZERO
from trundle.mechanics.elimination import SEED, ZERO, back_substitute, eliminate, generic_rank, plan_pivots
from trundle.mechanics.linear import product, transpose
from trundle.mechanics.loop_joints import close
from trundle.mechanics.rolling import SpeedBasis
from trundle.mechanics.wheels import WheelModel
from trundle.model.classification import rolling
from trundle.model.constraints import solve_rolling
from trundle.model.mechanism import Mechanism
from trundle.model.symbols import SymbolSamples, column, entries
from trundle.robot.contact import ContactLaw, Free, Ideal
from trundle.scalars import Scalar
from trundle.shown import Explained

# General configurations at which brackets are ranked: one would do, the others are there against unlucky ones.
_SAMPLES = 4
_WORDS = {"x": "forward", "y": "sideways", "theta": "turning"}
# Which coordinate a planar base's speed changes, where its axes stand along the world's.
_BASE = {"v_x": "x", "v_y": "y", "omega": "theta"}
_EFFECTS = {"forward": "moves it forward", "sideways": "moves it sideways", "turning": "turns it"}


@dataclass(frozen=True)
class Bracket:
    """One independent direction of motion: the bracket's name, its level (1: a speed itself), and the coordinate that
    it newly moves.
    """

    name: str
    level: int
    moves: str

    @property
    def effect(self) -> str:
        """'moves it sideways'."""
        return _EFFECTS.get(self.moves, f"moves {self.moves}")


@dataclass(frozen=True)
class Reach(Explained):
    """The growth vector of the kinematics over `coordinates`, whose configurations have dimension `dimension`.

    `growth` at general configurations, `here` at the one asked for (smaller where that one is not regular).
    `brackets` name an independent direction each; `integrals` are combinations of the coordinates that no motion
    changes, as (coordinate, coefficient) pairs; there may be more, that are no such combinations. `cut`: there are too
    many brackets to form all, so that it may get farther than `growth` says.
    """

    coordinates: tuple[str, ...]
    dimension: int
    growth: tuple[int, ...]
    here: tuple[int, ...]
    brackets: tuple[Bracket, ...]
    integrals: tuple[tuple[tuple[str, float], ...], ...] = ()
    cut: bool = False

    @property
    def complete(self) -> bool:
        """Whether the robot gets from everywhere to everywhere (Chow's theorem)."""
        return self.growth[-1] == self.dimension

    @property
    def degree(self) -> int:
        """Degree of nonholonomy: how deep brackets must be nested; 1 where every direction is a speed itself."""
        return len(self.growth)


def reach(maps: VelocityMaps, q: np.ndarray, *, whole: bool = False) -> Reach:
    """The growth vector at general configurations and at q (coordinates,).

    Over the base's pose, steering and joints, which alone decide where the robot can go; `whole` takes all
    coordinates, wheels' and casters' angles too. Raises InputError where
    wheels lock the robot.
    """
    if not maps.constraints(q[None]).shape[1]:
        return _unconstrained(maps)
    general = maps.general(_SAMPLES, np.random.default_rng(SEED))
    if maps.assembly.loops and not maps.assembly.base_columns and not rolling(maps.assembly):
        return _linkage(maps, general, q)
    system = _system(maps, [*general, q])
    places = _everything(maps) if whole else _posture(maps, system)
    dimension = _dimension(maps, places)
    symbols = [system.q[k] for k in places]
    columns = ca.vertcat(*symbols) if symbols else ca.SX(0, 1)
    fields = [
        NamedField(label, field[places]) for label, field in zip(system.labels, system.fields, strict=True)
    ]

    # At dead points of its motors a linkage's speeds are no functions of theirs: then only the general ones are told.
    generic, here = growth(fields, columns, general[:, places], q[places], dimension)
    here = generic if here.cut else here
    names = tuple(maps.names[k] for k in places)
    integrals: tuple[tuple[tuple[str, float], ...], ...] = ()
    if generic.dimension < dimension and not generic.cut:
        rows = constant_integrals(generic.span)
        integrals = tuple(
            tuple((n, float(f"{c:.9g}")) for n, c in zip(names, _leading(row), strict=True) if c)
            for row in rows
        )
    told, at = (here, q) if here.growth == generic.growth and here is not generic else (generic, general[0])
    brackets = _brackets(told, names, float(at[maps.names.index("theta")]) if maps.base else 0.0, maps)
    return Reach(names, dimension, generic.growth, here.growth, brackets, integrals, generic.cut)


def _unconstrained(maps: VelocityMaps) -> Reach:
    """Every speed is free: nothing to bracket, however many joints there are."""
    speeds, count = maps.assembly.speeds, len(maps.assembly.speeds)
    moved = [_own_coordinate(maps, name) or name for name in speeds]
    brackets = [
        Bracket(name, 1, _WORDS.get(place, place) if maps.base else place)
        for name, place in zip(speeds, moved, strict=True)
    ]
    return Reach(maps.names, count, (count,), (count,), tuple(brackets))


def _linkage(maps: VelocityMaps, general: np.ndarray, q: np.ndarray) -> Reach:
    """Loops and couplings bind configurations, not only speeds: each freedom that they leave is a speed itself."""
    freedoms = len(maps.scale) - generic_rank(maps.constraints(general), maps.zero)
    here = len(maps.scale) - generic_rank(maps.constraints(q[None]), maps.zero)
    moved = {
        axis.column for coupling in maps.assembly.couplings for axis in coupling.followers
    } | maps.loops.following
    names = [name for k, name in enumerate(maps.assembly.speeds) if k not in moved]
    brackets = tuple(Bracket(name, 1, _own_coordinate(maps, name) or name) for name in names)
    return Reach(maps.names, freedoms, (freedoms,), (here,), brackets)


@dataclass(frozen=True)
class _System:
    """q̇ = Σ fields_i u_i in symbols q."""

    q: ca.SX
    labels: tuple[str, ...]
    fields: tuple[ca.SX, ...]


def _system(maps: VelocityMaps, closed: Sequence[np.ndarray]) -> _System:
    """The fields; with loops, ranks and pivots are decided at `closed` configurations, the last of them the one asked
    for.
    """
    ideal = replace(maps.mechanism, assembly=_ideal(maps))
    q = ca.SX.sym("q", len(maps.names))
    mechanism = ideal.configured(entries(q))
    same = ideal.assembly.wheels == maps.assembly.wheels
    basis = solve_rolling(mechanism.rolling, maps.name, mechanism.robot.speeds if same else None)
    matrix, labels = basis.matrix, basis.labels
    if ideal.assembly.loops:
        matrix, labels = _closed_basis(mechanism, basis, closed)
    fields = tuple(column(mechanism.coordinate_rates(speeds)) for speeds in transpose(matrix))
    return _System(q, labels, fields)


def _closed_basis(
    mechanism: Mechanism, basis: SpeedBasis, closed: Sequence[np.ndarray]
) -> tuple[list[list[Scalar]], tuple[str, ...]]:
    """S(q) and its labels where loops hold ν = S u further, A S u = 0: those speeds follow that nothing drives.

    A ν is φ's rate off the closed configurations, too: along the fields that are left φ stays what it is, so that
    their brackets say nothing beyond the closed configurations.
    """
    assembly, poses = mechanism.assembly, mechanism.at.poses
    rows = [
        row for loop in assembly.loops for row in close(assembly.tree, poses, loop, len(assembly.speeds)).rows
    ]
    held = product(rows, basis.matrix)
    zeros = np.zeros((0, len(closed)))
    samples = SymbolSamples((mechanism.q, (), ()), (np.array(closed).T, zeros, zeros), CLOSED_ZERO)
    numbers = samples.of(held)
    numbers[np.abs(numbers) < ZERO] = 0.0
    driven = {assembly.speeds[actuator.column] for actuator in assembly.actuators}
    rank = generic_rank(numbers, CLOSED_ZERO)
    passive = [k for k, label in enumerate(basis.labels) if label not in driven]
    pivots: list[tuple[int, int]] = []
    for columns in (passive, range(len(basis.labels))):
        for looked_at in (numbers, numbers[:-1]):  # no pivots may serve at the last one, where it is singular
            if len(pivots) < rank:
                with np.errstate(all="ignore"):
                    pivots = plan_pivots(looked_at, columns, CLOSED_ZERO)
    free = [k for k in range(len(basis.labels)) if k not in {column for _, column in pivots}]
    identity = [[1 if i == j else 0 for j in free] for i in free]
    left = back_substitute(eliminate(held, pivots), pivots, free, identity)
    return product(basis.matrix, left), tuple(basis.labels[k] for k in free)


def _ideal(maps: VelocityMaps) -> Assembly:
    """Every wheel on the ground rolls ideally, but for those that only follow."""

    def law(wheel: WheelModel) -> ContactLaw:
        return Ideal() if wheel.grips and wheel.name not in maps.coordinated else Free()

    wheels = tuple(replace(wheel, law=law(wheel)) for wheel in maps.assembly.wheels)
    return replace(maps.assembly, wheels=wheels)


def _everything(maps: VelocityMaps) -> list[int]:
    """All coordinates but those of wheels that only follow: their rates are no choice."""
    left_out = {f"{name}.{what}" for name in maps.coordinated for what in ("steering", "angle")}
    return [k for k, name in enumerate(maps.names) if name not in left_out]


def _posture(maps: VelocityMaps, system: _System) -> list[int]:
    """Base pose, steering, joints, and whatever else their rates depend on; not the steering that only follows."""
    followers = {f"{name}.steering" for name in maps.coordinated}
    base = maps.assembly.tree.links[0].joint.coordinates
    places = {maps.names.index(quantity.name) for quantity in base}
    places |= {k for k in maps.configurable() if maps.names[k] not in followers}
    while True:
        rates = ca.vertcat(*(field[k] for field in system.fields for k in sorted(places)))
        needed = {k for k in range(len(maps.names)) if ca.depends_on(rates, system.q[k])}
        if needed <= places:
            return sorted(places)
        places |= needed


def _dimension(maps: VelocityMaps, places: Sequence[int]) -> int:
    """Dimension of the configurations: a quaternion's four coordinates have three, and loops bind some."""
    chosen = {maps.names[k] for k in places}
    tree, count = maps.assembly.tree, 0
    for link, at in zip(tree.links, tree.coordinate_slices(), strict=True):
        own = [name for name in maps.assembly.coordinates[at] if name in chosen]
        count += len(own) - (len(link.joint.coordinates) - len(link.joint.speeds) if own else 0)
    count += sum(linkage.axis.coordinate in chosen for linkage in maps.assembly.linkages)
    return count - len(maps.loops.following)


def _brackets(
    spanned: Filtration, names: Sequence[str], theta: float, maps: VelocityMaps
) -> tuple[Bracket, ...]:
    """Each independent field with a coordinate of its own: a speed's, or the one that it moves most beyond what those
    before it do (Gaussian elimination, in the base's own axes).
    """
    span = np.array(spanned.span[0]) if len(spanned.span) else np.zeros((0, len(names)))
    weights = np.array([1.0 if name in ("x", "y") else maps.length for name in names])
    if maps.base:
        x, y = names.index("x"), names.index("y")
        turn = np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]])
        span[:, [x, y]] = span[:, [x, y]] @ turn.T
    work, brackets = span * weights, []
    for k, (name, level) in enumerate(spanned.basis):
        size = np.abs(work[k])
        own = _own_coordinate(maps, name)
        # Rounded, so that of coordinates that move alike the first is named.
        place = names.index(own) if own in names else int(np.argmax(np.round(size / size.max(), 6)))
        if size[place] <= 1e-6 * size.max():
            place = int(np.argmax(size))
        work[k + 1 :] -= np.outer(work[k + 1 :, place] / work[k, place], work[k])
        moved = names[place]
        brackets.append(Bracket(name, level, _WORDS.get(moved, moved) if maps.base else moved))
    return tuple(brackets)


def _own_coordinate(maps: VelocityMaps, speed: str) -> str:
    """The coordinate that goes with a speed, of a planar base where its axes stand along the world's; "" for brackets
    and for others.
    """
    if speed in _BASE and maps.base:
        return _BASE[speed]
    own = maps.assembly.quantities.coordinate_of(speed)
    return own if own in maps.names else ""


def _leading(row: np.ndarray) -> np.ndarray:
    """The row with a positive first coefficient."""
    return row * np.sign(row[np.flatnonzero(row)[0]])
