"""One robot's mechanics in letters: the same tree, rows and elimination that its programs are made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trundle.formulas.algebra import Book, Definition, Letter, Sum
from trundle.formulas.evaluation import Values
from trundle.formulas.names import Names, StateNames, common, plain, words_of
from trundle.formulas.parameters import Parameters, read_parameters
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.coupling import Followed, Linkage
from trundle.mechanics.joints import Turn
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.rolling import Basis, Problem
from trundle.mechanics.tree import Link, Tree
from trundle.model.configuration import Configuration, configure, independent_coordinates
from trundle.model.constraints import SAMPLES, SEED, SPREAD, rolling_problem, solve_rolling
from trundle.scalars import Scalar, cos, sin
from trundle.spatial.motions import Inertia, Pose
from trundle.spatial.vectors import IDENTITY, Matrix

# Sums of as many angles and more get letters.
_LONG_CHAIN = 4


@dataclass
class Mechanism:
    """A robot's assembly in letters, at a configuration in letters.

    `coordinates` and `speeds` map the description's names to letters: independent coordinates, all speeds. `made` are
    the independent speeds that no part has, from `solve` on.
    """

    robot: Any
    book: Book
    parameters: Parameters
    names: StateNames
    assembly: Assembly
    at: Configuration
    coordinates: dict[str, int]
    speeds: dict[str, int] = field(default_factory=dict)
    made: dict[str, Quantity] = field(default_factory=dict)

    def speed(self, name: str) -> Sum:
        """The letter of a speed, by its name."""
        if name not in self.speeds:
            self.speeds[name] = _new(
                self.book, self.names.of(name), "speed", self._quantity(name), self.robot
            )
        return self.book.letter(self.speeds[name])

    def unit(self, name: str) -> str:
        """The unit of a coordinate or speed."""
        return self._quantity(name).unit

    def _quantity(self, name: str) -> Quantity:
        return self.made[name] if name in self.made else self.assembly.quantities[name]

    def all_speeds(self) -> list[Sum]:
        """ν: the letters of all speeds, in the assembly's order."""
        return [self.speed(name) for name in self.assembly.speeds]

    def samples(self, rows: Sequence[Sequence[Scalar]]) -> np.ndarray:
        """Values of rows where ranks are decided for programs, too, of shape (samples, rows, columns)."""
        rng = np.random.default_rng(SEED)
        width = len(self.assembly.speeds)
        drawn = [rng.uniform(-SPREAD, SPREAD, len(self.coordinates)) for _ in range(SAMPLES)]
        drawn.append(np.zeros(len(self.coordinates)))
        at = np.array(drawn)
        values = Values(self.book, dict(zip(self.coordinates.values(), at.T, strict=True)))
        result = np.zeros((len(drawn), len(rows), width))
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                result[:, i, j] = values.sum(entry)
        return result

    def solve(self) -> tuple[Problem, Basis]:
        """The constraints of ideal wheels and couplings, and ν = S(q) u; InputError where they lock the robot."""
        problem = rolling_problem(self.assembly, tuple(self.coordinates), self.at, self.samples)
        basis = solve_rolling(problem, self.robot.name, self.robot.speeds)
        self.made.update({each.name: each for each in basis.made})
        return problem, basis


def build(robot: Any) -> Mechanism:
    """The mechanism of a described robot."""
    book = Book()
    names = Names(robot.parameters)
    parameters = read_parameters(robot, book, names)
    states = StateNames(robot, names)
    assembly = assemble(robot, robot.resolver(parameters.scope))
    assembly = _with_named_placements(_with_wheel_inertias(assembly, book, names, states), states)
    independent = independent_coordinates(assembly)
    coordinates = {
        name: _new(book, states.of(name), "coordinate", assembly.quantities[name], robot)
        for name in independent
    }
    assembly = _with_named_couplings(assembly, book, coordinates, states)
    letters = {name: book.letter(letter) for name, letter in coordinates.items()}
    at = configure(assembly, independent, list(letters.values()))
    posed = configure(assembly, independent, list((letters | _added(assembly, letters, states)).values()))
    poses = [
        _named_pose(link, pose, states) for link, pose in zip(assembly.tree.links, posed.poses, strict=True)
    ]
    at = dataclasses.replace(at, q=posed.q, poses=poses)
    return Mechanism(robot, book, parameters, states, assembly, at, coordinates)


def parallel_hinges(tree: Tree) -> dict[int, int]:
    """Links on hinges, and how many with parallel axes follow each other up to there."""
    depth: dict[int, int] = {}
    for index, link in enumerate(tree.links):
        if link.kind == "revolute":
            parent = link.parent
            same = parent in depth and tree.links[parent].axis == link.axis
            depth[index] = depth[parent] + 1 if same and link.placement.rotation == IDENTITY else 1
    return depth


def _added(assembly: Assembly, letters: Mapping[str, Sum], states: StateNames) -> dict[str, Sum]:
    """Angles of long chains of parallel hinges as differences of letters for the sums, θ_k = θ_(k−1) + q_k: what such
    a link's direction depends on is one letter, then.
    """
    if assembly.loops or assembly.couplings:
        return {}  # what closes them is told in the joints' own angles
    tree = assembly.tree
    depth = parallel_hinges(tree)
    if max(depth.values(), default=0) < _LONG_CHAIN:
        return {}
    total: dict[int, Sum] = {}
    found = {}
    for index, count in depth.items():
        link = tree.links[index]
        total[index] = own = letters[f"{link.name}.angle"]
        if count > 1:
            name = states.force("theta", states.label(link.name))
            before = total[link.parent]
            meaning = f"angle by which {link.name} is turned in all"
            total[index] = own.book.named(before + own, name, meaning, "rad")
            found[f"{link.name}.angle"] = total[index] - before
    return found


def _new(book: Book, symbol: str, kind: str, quantity: Quantity, robot: Any) -> int:
    words = words_of(quantity.name, robot)
    book.add(Letter(symbol, kind, words, quantity.unit, source=quantity.name))
    return len(book.letters) - 1


@dataclass(frozen=True)
class NamedLinkage(Linkage):
    """A linkage whose angles δ_i and slopes dδ_i/dδ are letters that stand for the linkage's own formulas."""

    letters: tuple[Sum, ...] = ()
    slope_letters: tuple[Sum, ...] = ()

    def follow(self, q: Sequence[Scalar]) -> list[Followed]:
        """Each wheel's letter, and its cosine and sine."""
        return [Followed(letter, Turn(cos(letter), sin(letter))) for letter in self.letters]

    def slopes(self, q: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
        """The slopes' letters."""
        return [(slope,) for slope in self.slope_letters]


def _named_linkage(
    coupling: Linkage, book: Book, delta: Sum, steered: Sequence[str], states: StateNames
) -> NamedLinkage:
    """Ackermann steering in letters: a_i = cos δ − (y_i/L) sin δ, δ_i = atan2(sin δ, a_i), k_i = 1/(a_i² + sin² δ)."""
    angles, slopes = [], []
    for name, offset in zip(steered, coupling.offsets, strict=True):
        wheel = name.rpartition(".")[0]
        label = states.label(wheel)
        ahead = book.named(
            cos(delta) - offset / coupling.wheelbase * sin(delta),
            states.names.unique(f"a_{label}"),
            f"with sin δ, the direction in which {wheel} points",
        )
        direction = book.call("atan2", sin(delta), ahead)
        slope = book.named(
            1 / (ahead * ahead + sin(delta) * sin(delta)),
            states.names.unique(f"k_{label}"),
            f"how fast {wheel} is steered for each rad/s of the coupling",
        )
        ((powers, _, _),) = direction.terms
        letter = book.letters[powers[0][0]]
        letter.name, letter.unit, letter.source = states.of(name), "rad", name
        letter.meaning = f"steering angle of {wheel}, set by the coupling {coupling.name}"
        angles.append(direction)
        slopes.append(slope)
    own = {field.name: getattr(coupling, field.name) for field in dataclasses.fields(coupling)}
    return NamedLinkage(**own, letters=tuple(angles), slope_letters=tuple(slopes))


def _with_named_couplings(
    assembly: Assembly, book: Book, coordinates: Mapping[str, int], states: StateNames
) -> Assembly:
    """Coupled steering angles as letters of their own, defined by their coupling."""
    values = {name: book.letter(place) for name, place in coordinates.items()}
    couplings = []
    for coupling in assembly.couplings:  # each comes after what moves its leaders
        made = coupling
        if type(coupling) is Linkage:
            steered = [axis.coordinate for axis in coupling.followers]
            made = _named_linkage(coupling, book, values[coupling.axis.coordinate], steered, states)
        followed = made.follow([values[axis.coordinate] for axis in made.leaders])
        pairs = zip(made.followers, followed, strict=True)
        values |= {axis.coordinate: each.value for axis, each in pairs}
        couplings.append(made)
    return dataclasses.replace(assembly, couplings=tuple(couplings))


def _with_named_placements(assembly: Assembly, states: StateNames) -> Assembly:
    """Letters for how joints are mounted, where that takes more than a sine or cosine."""
    links = []
    for link in assembly.tree.links:
        meaning = f"of the orientation in which {link.name} is mounted"
        rotation = _named_rotation(link, link.placement.rotation, "P", 1, meaning, states)
        links.append(dataclasses.replace(link, placement=link.placement._replace(rotation=rotation)))
    return dataclasses.replace(assembly, tree=dataclasses.replace(assembly.tree, links=tuple(links)))


def _named_pose(link: Link, pose: Pose, states: StateNames) -> Pose:
    """Letters for the rotation across a joint, where an entry takes more than two terms."""
    meaning = f"of the rotation from the axes of {link.name} to those of what carries it"
    return pose._replace(rotation=_named_rotation(link, pose.rotation, "R", 2, meaning, states))


def _named_rotation(
    link: Link, rotation: Matrix, stem: str, most: int, meaning: str, states: StateNames
) -> Matrix:
    """A rotation matrix with letters for entries of more than `most` terms."""

    def entry(i: int, j: int) -> Scalar:
        value = rotation[i][j]
        if not isinstance(value, Sum) or len(value.terms) <= most:
            return value
        known = value.book.known(value)
        if known is not None:
            return known
        axes = f"{'xyz'[i]}{'xyz'[j]}"
        name = states.force(stem, f"{axes}_{states.label(link.name)}")
        return value.book.named(value, name, f"entry {axes} {meaning}", "1")

    return tuple(tuple(entry(i, j) for j in range(3)) for i in range(3))  # type: ignore[return-value]


def _with_wheel_inertias(assembly: Assembly, book: Book, names: Names, states: StateNames) -> Assembly:
    """The wheels' moments of inertia as letters, I_a about the axle and I_t about a diameter, where they follow from
    mass and size.
    """
    spinning = [wheel for wheel in assembly.wheels if wheel.spin is not None]
    links = list(assembly.tree.links)
    for row, stem, words in ((1, "I_a", "its axle"), (2, "I_t", "a diameter")):
        groups: dict[Any, list[Any]] = {}
        for wheel in spinning:
            value = links[wheel.link].inertia.rotational[row][row]
            if isinstance(value, Sum) and value.terms and not value.is_letter:
                groups.setdefault(value.key, []).append(wheel)
        for group in groups.values():
            owners = [wheel.name for wheel in group]
            label = common(owners, {owner: states.label(owner) for owner in owners})
            whole = len(group) == len(spinning)
            name = names.unique(stem if whole else f"{stem}_{label}", f"{stem}_{plain(owners[0])}")
            value = links[group[0].link].inertia.rotational[row][row]
            meaning = f"moment of inertia of a wheel about {words}" + (
                "" if whole else f": {', '.join(owners)}"
            )
            letter = book.define(Definition("", (value,)), name, meaning, "kg m^2")
            for wheel in group:
                links[wheel.link] = _with_moment(links[wheel.link], row, book.letter(letter))
    return dataclasses.replace(assembly, tree=dataclasses.replace(assembly.tree, links=tuple(links)))


def _with_moment(link: Link, row: int, moment: Sum) -> Link:
    old = link.inertia
    entries = [[old.rotational[i][j] for j in range(3)] for i in range(3)]
    for k in (1,) if row == 1 else (0, 2):
        entries[k][k] = moment
    rotational = tuple(tuple(line) for line in entries)
    return dataclasses.replace(link, inertia=Inertia(old.mass, old.first_moment, rotational))  # type: ignore[arg-type]
