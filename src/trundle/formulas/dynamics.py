"""The equations of motion in letters: M(q) u̇ + h(q, u) = B(q) τ + G(q) f, and each acceleration where that stays short.

The same algorithms on the same tree as in `model.derive`: ν = S u, SᵀMS by composite rigid bodies, the bias by
Newton-Euler at ν̇ = Ṡu. Torques of motors (τ) and all other forces (f: springs, friction, slipping contacts) stay
letters; what they are is said beside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from trundle.formulas.algebra import Book, Sum, TooLong
from trundle.formulas.lettered_mechanism import LetteredMechanism, parallel_hinges
from trundle.formulas.named_constants import by_parts, letters_of, newton_euler, with_wheels_named
from trundle.formulas.named_steps import name_steps
from trundle.formulas.names import rate_of
from trundle.formulas.writing import Writer
from trundle.mechanics.actuation import Actuator, Element
from trundle.mechanics.linear import apply, dot, product, transpose
from trundle.mechanics.rolling import Basis, Problem
from trundle.mechanics.wheels import WheelModel, contact_rows
from trundle.model.configuration import coordinate_rates, coupled_coordinates
from trundle.model.mass import extended_mass
from trundle.scalars import Scalar, is_zero

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class Push:
    """One force: its letter, the actuator, element or wheel's contact that it comes from, its row over all speeds."""

    letter: int
    source: Actuator | Element | WheelModel
    row: list[Scalar]


@dataclass(frozen=True)
class Dynamics:
    """M, h, B and G over the independent speeds `labels`; `nu` all speeds as S u."""

    labels: tuple[str, ...]
    basis: Basis
    problem: Problem
    nu: list[Scalar]
    mass: Rows
    bias: list[Scalar]
    motors: list[Push]
    others: list[Push]
    steps: bool = False

    @property
    def terms(self) -> int:
        """How many terms M and h have."""
        return sum(len(e.terms) for row in (*self.mass, self.bias) for e in row if isinstance(e, Sum))

    def matrix(self, pushes: Sequence[Push]) -> Rows:
        """Columns of B or G."""
        columns = [apply(transpose(self.basis.matrix), push.row) for push in pushes]
        return transpose(columns) if columns else []

    def drive(self, book: Book) -> list[Sum]:
        """B τ + G f − h."""
        total = [book.sum(-1 * entry) if not is_zero(entry) else book.number(0) for entry in self.bias]
        for push in (*self.motors, *self.others):
            column = apply(transpose(self.basis.matrix), push.row)
            total = [t + c * book.letter(push.letter) for t, c in zip(total, column, strict=True)]
        return total


# M and h of more terms in all fill pages: then the recursions are written out, link by link.
MOST_TERMS = 800
# Terms a factor, definitions, and pairs of terms multiplied, for the one and for the other; robots that read well need
# a third of this.
WHOLE = (200, 150, 12_000)
STEPS = (2, 300, 12_000)
# Links that turn on links: with more, even the steps fill pages.
MOST_SPEEDS = 12


def derive_dynamics(mechanism: LetteredMechanism) -> Dynamics:
    """The equations of motion: M and h multiplied out, or where that is too long, in steps from link to link.

    Raises TooLong where the steps are more than a person would read, too.
    """
    problem, basis = mechanism.solve()
    mechanism.book.allow(*WHOLE)
    with suppress(TooLong):
        found = _derived(mechanism, problem, basis, steps=False)
        if found.terms <= MOST_TERMS:
            return found
    if len(basis.labels) > MOST_SPEEDS:
        raise TooLong
    mechanism.book.allow(*STEPS)
    found = _derived(mechanism, problem, basis, steps=True)
    if found.terms > MOST_TERMS:
        raise TooLong
    return found


def _derived(mechanism: LetteredMechanism, problem: Problem, basis: Basis, steps: bool) -> Dynamics:
    u = [mechanism.speed(name) for name in basis.labels]
    writer = Writer(mechanism.book)
    lowest = [
        [writer.lowest(e) if isinstance(e, Sum) and e.terms else e for e in row] for row in basis.matrix
    ]
    basis = dataclasses.replace(basis, matrix=lowest)
    moving = set(mechanism.coordinates.values())
    if any(isinstance(e, Sum) and moving & letters_of(e) for row in basis.matrix for e in row):
        basis = dataclasses.replace(basis, matrix=_named_entries(mechanism, basis))
        nu = apply(basis.matrix, u)
        drift = _drift(mechanism, basis, nu, u)
        mass, needed = by_parts(mechanism, extended_mass(mechanism.assembly, mechanism.at), nu, drift)
    else:
        nu = apply(basis.matrix, u) if problem.rows or steps else _turning_together(mechanism, u)
        if steps:
            name_steps(mechanism, nu)
        mass = with_wheels_named(mechanism, extended_mass(mechanism.assembly, mechanism.at))
        needed = newton_euler(mechanism, nu)
    turned = transpose(basis.matrix)
    reduced = product(turned, product(mass, basis.matrix))
    bias = [dot(column, needed) for column in turned]
    motors = _motors(mechanism)
    others = [*_elements(mechanism), *_contacts(mechanism)]
    return Dynamics(basis.labels, basis, problem, nu, reduced, bias, motors, others, steps)


def _named_entries(mechanism: LetteredMechanism, basis: Basis) -> Rows:
    """S with letters J for entries of several terms that change with the configuration: speeds for one unit of u."""
    matrix: Rows = []
    moving = set(mechanism.coordinates.values())
    for name, row in zip(mechanism.assembly.speeds, basis.matrix, strict=True):
        own: list[Scalar] = []
        for k, entry in enumerate(row):
            if isinstance(entry, Sum) and len(entry.terms) > 1 and moving & letters_of(entry):
                several = sum(not is_zero(e) for e in row) > 1
                index = mechanism.names.index(name) + (f"_{k + 1}" if several else "")
                meaning = f"{name} for each {mechanism.unit(basis.labels[k])} of {basis.labels[k]}"
                entry = mechanism.book.named(entry, mechanism.names.force("J", index), meaning)
            own.append(entry)
        matrix.append(own)
    return matrix


def _drift(
    mechanism: LetteredMechanism, basis: Basis, nu: Sequence[Scalar], u: Sequence[Sum]
) -> list[Scalar]:
    """Ṡ u, with letters for the rates of the entries that have letters."""
    book = mechanism.book
    q_dot = coordinate_rates(mechanism.assembly, tuple(mechanism.coordinates), mechanism.at, nu)
    rates: dict[int, Scalar] = dict(zip(mechanism.coordinates.values(), q_dot, strict=True))
    columns = {axis.coordinate: axis.column for axis in mechanism.assembly.axes.values()}
    for name in coupled_coordinates(mechanism.assembly):
        letter = _named_letter(mechanism.at.values[name])
        if letter is not None:
            rates[letter] = nu[columns[name]]
    for row in basis.matrix:
        for entry in row:
            letter = _named_letter(entry)
            if letter is not None and letter not in rates:
                known = book.letters[letter]
                change = book.letter_rate(letter, rates)
                name = mechanism.names.names.unique(rate_of(known.name))
                rates[letter] = book.named(change, name, f"rate of {known.name}: {known.meaning}")
    drift = [book.rate(value, rates) for value in nu]
    return [0 if is_zero(value) else value for value in drift]


def _named_letter(entry: Scalar) -> int | None:
    """The letter that an entry is, if it has a definition."""
    letter = entry.letter if isinstance(entry, Sum) else None
    return letter if letter is not None and entry.book.letters[letter].definition is not None else None


def _turning_together(mechanism: LetteredMechanism, u: Sequence[Sum]) -> list[Scalar]:
    """ν without constraints. In a chain of three or more hinges with parallel axes, what counts is how fast each link
    turns in all: these rates become letters, and products of different ones drop out of the bias.
    """
    tree, book = mechanism.assembly.tree, mechanism.book
    nu: list[Scalar] = list(u)
    slices = tree.speed_slices()
    depth = parallel_hinges(tree)
    if max(depth.values(), default=0) < 3:
        return nu
    total: dict[int, Sum] = {}
    for index, count in depth.items():
        own = u[slices[index].start]
        total[index] = total[tree.links[index].parent] + own if count > 1 else own
    named = {}
    for index, value in total.items():
        name = mechanism.names.force("omega", mechanism.names.label(tree.links[index].name))
        named[index] = book.named(value, name, f"how fast {tree.links[index].name} turns in all", "rad/s")
        if depth[index] > 1:
            nu[slices[index].start] = named[index] - named[tree.links[index].parent]
    return nu


def _unit_row(mechanism: LetteredMechanism, column: int) -> list[Scalar]:
    return [1 if j == column else 0 for j in range(len(mechanism.assembly.speeds))]


def _motors(mechanism: LetteredMechanism) -> list[Push]:
    found = []
    for actuator in mechanism.assembly.actuators:
        drives, torque = actuator.motor.drives, actuator.torque
        words = f"torque of {actuator.name} on {drives}, behind its gear"
        symbol = mechanism.names.force("tau", mechanism.names.target(drives))
        letter = mechanism.letter(symbol, "force", words, torque.unit, torque.name)
        found.append(Push(letter, actuator, _unit_row(mechanism, actuator.column)))
    return found


def _elements(mechanism: LetteredMechanism) -> list[Push]:
    found = []
    for element in mechanism.assembly.elements:
        speed = mechanism.assembly.quantities[mechanism.assembly.speeds[element.column]]
        owner = speed.owner
        target = mechanism.names.target(f"{owner}.steering" if speed.label == "steering_rate" else owner)
        symbol = mechanism.names.force("tau_p", target)
        letter = mechanism.letter(symbol, "force", f"{_words(element)} at {owner}", speed.effort_unit)
        found.append(Push(letter, element, _unit_row(mechanism, element.column)))
    return found


def _words(element: Element) -> str:
    parts = {
        "spring": element.stiffness,
        "damping": element.damping,
        "dry friction": element.coulomb,
        "stops": len(element.stops),
    }
    return " and ".join(words for words, value in parts.items() if not is_zero(value))


def _contacts(mechanism: LetteredMechanism) -> list[Push]:
    """The friction forces of slipping wheels."""
    found = []
    assembly = mechanism.assembly
    for wheel in assembly.wheels:
        label = mechanism.names.label(wheel.name)
        rows = contact_rows(assembly.tree, mechanism.at.poses, wheel, len(assembly.speeds))
        for row, direction in zip(rows, wheel.pushed, strict=False):
            symbol = mechanism.names.force(_FORCES[direction.force], label)
            words = f"{direction.force.replace('_', ' ')} of {wheel.name}"
            force = wheel.force(direction)
            letter = mechanism.letter(symbol, "force", words, force.unit, force.name)
            found.append(Push(letter, wheel, row))
        if wheel.acts and wheel.law.resists and wheel.spin is not None:
            words, symbol = f"moment of the ground on {wheel.name}", mechanism.names.force("M_r", label)
            letter = mechanism.letter(symbol, "force", words, wheel.moment.unit, wheel.moment.name)
            found.append(Push(letter, wheel, _unit_row(mechanism, wheel.spin)))
    return found


_FORCES = {"traction": "F_x", "side_force": "F_y", "roller_force": "F"}


def slip_letters(mechanism: LetteredMechanism, wheel: WheelModel) -> list[int]:
    """Letters of a wheel's slip velocities."""
    found = []
    for direction in wheel.pushed:
        stem = "s_x" if direction.what == "rolling" else "s_y"
        symbol = mechanism.names.force(stem, mechanism.names.label(wheel.name))
        words, slip = f"{direction.what} slip of {wheel.name}", wheel.slip(direction)
        found.append(mechanism.letter(symbol, "force", words, slip.unit, slip.name))
    return found


def blocks(mass: Rows) -> list[list[int]]:
    """Speeds whose accelerations go together: the connected parts of M's pattern."""
    left, found = set(range(len(mass))), []
    while left:
        group, waiting = set(), [min(left)]
        while waiting:
            k = waiting.pop()
            group.add(k)
            waiting += [j for j in left - group if not is_zero(mass[k][j])]
        left -= group
        found.append(sorted(group))
    return found
