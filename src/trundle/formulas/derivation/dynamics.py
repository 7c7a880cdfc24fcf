"""The equations of motion in symbols: M(q) u̇ + h(q, u) = B(q) τ + G(q) f, and each acceleration where that stays short.

The same algorithms on the same tree as in `model.derive`: ν = S u, SᵀMS by composite rigid bodies, the bias by
Newton-Euler at ν̇ = Ṡu. Torques of motors (τ) and all other forces (f: springs, friction, slipping contacts) stay
symbols; what they are is said beside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import numpy as np

from trundle.formulas.algebra.polynomials import SymbolTable, TooLong, TrigPolynomial, term_count
from trundle.formulas.derivation.following import Following, drift, in_symbols, row_rates
from trundle.formulas.derivation.named_constants import (
    by_parts,
    newton_euler,
    rotors_between,
    symbols_of,
    with_wheels_named,
)
from trundle.formulas.symbols.mechanism_in_symbols import parallel_hinges
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.actuation import Actuator, Element
from trundle.mechanics.inverse_dynamics import joint_wrenches, link_accelerations, link_forces
from trundle.mechanics.linear import apply, dot, product, transpose
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.rolling import RollingProblem, SpeedBasis
from trundle.mechanics.tree import WORLD
from trundle.mechanics.wheels import WheelModel, contact_rows
from trundle.model.moving import extended_mass
from trundle.scalars import Rows, Scalar, is_zero, plus
from trundle.spatial.motions import add_inertias, inertia_to_parent, momentum

ForceSource = Actuator | Element | WheelModel


@dataclass(frozen=True)
class NamedForce:
    """One force: its symbol, the actuator, element or wheel's contact that it comes from, its row over all speeds."""

    symbol: int
    source: ForceSource
    row: list[Scalar]


@dataclass(frozen=True)
class Dynamics:
    """M, h, B and G over the independent speeds `labels`; `nu` all speeds as S u."""

    labels: tuple[str, ...]
    basis: SpeedBasis
    problem: RollingProblem
    nu: list[Scalar]
    mass: Rows
    bias: list[Scalar]
    motors: list[NamedForce]
    others: list[NamedForce]
    steps: bool = False

    @property
    def terms(self) -> int:
        """How many terms M and h have."""
        return term_count(chain(*self.mass, self.bias))

    def matrix(self, pushes: Sequence[NamedForce]) -> Rows:
        """Columns of B or G."""
        columns = [apply(transpose(self.basis.matrix), push.row) for push in pushes]
        return transpose(columns) if columns else []

    def drive(self, table: SymbolTable) -> list[TrigPolynomial]:
        """B τ + G f − h."""
        total = [-table.polynomial(0 if is_zero(entry) else entry) for entry in self.bias]
        for push in (*self.motors, *self.others):
            column = apply(transpose(self.basis.matrix), push.row)
            total = [t + c * table.symbol(push.symbol) for t, c in zip(total, column, strict=True)]
        return total


# M and h of more terms in all fill pages: then the recursions are written out, link by link.
MOST_TERMS = 800
# Terms a factor, definitions, and pairs of terms multiplied, for the one and for the other; robots that read well need
# a third of this.
WHOLE = (200, 150, 12_000)
STEPS = (2, 300, 12_000)
# Links that turn on links: with more, even the steps fill pages.
MOST_SPEEDS = 12


def derive_dynamics(sheet: Sheet, follows: Following) -> Dynamics:
    """The equations of motion: M and h multiplied out, or where that is too long, in steps from link to link.

    Raises TooLong where the steps are more than a person would read, too.
    """
    sheet.table.allow(*WHOLE)
    with suppress(TooLong):
        dynamics = _derived(sheet, follows, steps=False)
        if dynamics.terms <= MOST_TERMS:
            return dynamics
    if len(follows.basis.labels) > MOST_SPEEDS:
        raise TooLong
    sheet.table.allow(*STEPS)
    dynamics = _derived(sheet, follows, steps=True)
    if dynamics.terms > MOST_TERMS:
        raise TooLong
    return dynamics


def _derived(sheet: Sheet, follows: Following, steps: bool) -> Dynamics:
    """M, h and the forces over the independent speeds: SᵀM S u̇ + Sᵀ(h + M Ṡ u) = Sᵀ τ.

    `steps` gives every twist, wrench and inertia on the way a symbol, which keeps long chains short.
    """
    problem, basis = sheet.here.rolling, follows.basis
    u = [sheet.speed(name) for name in basis.labels]
    moving = set(sheet.coordinates.values())
    if any(isinstance(e, TrigPolynomial) and moving & symbols_of(e) for row in basis.matrix for e in row):
        # Products of S's entries would fill pages: symbols J stand for them, and their rates follow by the chain rule.
        matrix = in_symbols(sheet, follows)
        basis = dataclasses.replace(basis, matrix=[matrix[j] for j in range(len(sheet.assembly.speeds))])
        nu = apply(basis.matrix, u)
        reduced, bias = _of_carriages(sheet, follows, matrix, u)
    else:
        lowest = [
            [sheet.writer.lowest(e) if isinstance(e, TrigPolynomial) and e.terms else e for e in row]
            for row in basis.matrix
        ]
        basis = dataclasses.replace(basis, matrix=lowest)
        nu = apply(basis.matrix, u) if problem.rows or steps else _turning_together(sheet, u)
        if steps:
            name_steps(sheet, nu)
        mass = with_wheels_named(sheet, extended_mass(sheet.assembly, sheet.at))
        turned = transpose(basis.matrix)
        reduced = product(turned, product(mass, basis.matrix))
        needed = newton_euler(sheet, nu)
        bias = [dot(column, needed) for column in turned]
    motors, others = [*_motors(sheet)], [*_elements(sheet), *_contacts(sheet)]
    return Dynamics(basis.labels, basis, problem, nu, reduced, bias, motors, others, steps)


def _of_carriages(
    sheet: Sheet, follows: Following, matrix: Mapping[int, Sequence[Scalar]], u: Sequence[TrigPolynomial]
) -> tuple[Rows, list[Scalar]]:
    """SᵀMS and Sᵀ(M Ṡu + c), the sum of what every carriage adds, and of the rotors that turn between carriages."""
    size = len(u)
    reduced: Rows = [[0] * size for _ in range(size)]
    bias: list[Scalar] = [0] * size
    nu = {j: dot(row, u) for j, row in matrix.items()}
    rates = drift(sheet, matrix, [nu[j] for j in range(len(sheet.assembly.speeds))])
    parts: list[tuple[Rows, Rows, list[Scalar]]] = []
    for part in follows.carriages:
        rows = [list(matrix[j]) for j in part.columns]
        moved = [nu[j] for j in part.columns]
        mass, needed = by_parts(
            sheet, part, len(follows.carriages) == 1, moved, row_rates(sheet, moved, rates)
        )
        parts.append((rows, mass, needed))
    for column, armature in rotors_between(sheet, follows.carriages):
        needed = [armature * each for each in row_rates(sheet, [nu[column]], rates)]
        parts.append(([list(matrix[column])], [[armature]], needed))
    for rows, mass, needed in parts:
        turned = transpose(rows)
        own = product(turned, product(mass, rows))
        reduced = [list(map(plus, a, b)) for a, b in zip(reduced, own, strict=True)]
        bias = [plus(a, dot(column, needed)) for a, column in zip(bias, turned, strict=True)]
    return reduced, bias


def _turning_together(sheet: Sheet, u: Sequence[TrigPolynomial]) -> list[Scalar]:
    """ν without constraints. In a chain of three or more hinges with parallel axes, what counts is how fast each link
    turns in all: these rates become symbols, and products of different ones drop out of the bias.
    """
    tree, table = sheet.assembly.tree, sheet.table
    nu: list[Scalar] = list(u)
    slices = tree.speed_slices()
    depth = parallel_hinges(tree)
    if max(depth.values(), default=0) < 3:
        return nu
    total: dict[int, TrigPolynomial] = {}
    for index, count in depth.items():
        own = u[slices[index].start]
        total[index] = total[tree.links[index].parent] + own if count > 1 else own
    named = {}
    for index, value in total.items():
        name = sheet.names.indexed("omega", sheet.names.label(tree.links[index].name))
        named[index] = table.named(value, name, f"how fast {tree.links[index].name} turns in all", "rad/s")
        if depth[index] > 1:
            nu[slices[index].start] = named[index] - named[tree.links[index].parent]
    return nu


def _unit_row(sheet: Sheet, column: int) -> list[Scalar]:
    """The row of a force that works on one speed alone."""
    return [1 if j == column else 0 for j in range(len(sheet.assembly.speeds))]


def _push(
    sheet: Sheet,
    source: ForceSource,
    symbol: tuple[str, str],
    words: str,
    force: Quantity | str,
    row: list[Scalar],
) -> NamedForce:
    """A force with a symbol of its own, `symbol` with its index; `force` is what runs call it, or its unit alone."""
    unit, name = (force, "") if isinstance(force, str) else (force.unit, force.name)
    return NamedForce(sheet.new_symbol(sheet.names.indexed(*symbol), "force", words, unit, name), source, row)


def _motors(sheet: Sheet) -> Iterator[NamedForce]:
    for actuator in sheet.assembly.actuators:
        drives = actuator.motor.drives
        plain = sheet.table.polynomial(actuator.turns).number == 1
        geared, symbol = ("" if plain else ", behind its gear"), sheet.names.target(drives)
        words = f"torque of {actuator.name} on {drives}{geared}"
        row = _unit_row(sheet, actuator.shaft)
        yield _push(sheet, actuator, ("tau", symbol), words, actuator.torque, row)


def _elements(sheet: Sheet) -> Iterator[NamedForce]:
    for element in sheet.assembly.elements:
        speed = sheet.assembly.quantities[sheet.assembly.speeds[element.column]]
        owner = speed.owner
        target = sheet.names.target(f"{owner}.steering" if speed.label == "steering_rate" else owner)
        words, row = f"{_words(element)} at {owner}", _unit_row(sheet, element.column)
        yield _push(sheet, element, ("tau_p", target), words, speed.effort_unit, row)


def _words(element: Element) -> str:
    parts = {
        "spring": element.stiffness,
        "damping": element.damping,
        "dry friction": element.coulomb,
        "stops": len(element.stops),
    }
    return " and ".join(words for words, value in parts.items() if not is_zero(value))


def _contacts(sheet: Sheet) -> Iterator[NamedForce]:
    """The friction forces of slipping wheels."""
    assembly = sheet.assembly
    for wheel in assembly.wheels:
        label = sheet.names.label(wheel.name)
        rows = contact_rows(assembly.tree, sheet.at.poses, wheel, len(assembly.speeds))
        for row, direction in zip(rows, wheel.pushed, strict=False):
            symbol, force = (_FORCES[direction.force], label), wheel.force(direction)
            words = f"{direction.force.replace('_', ' ')} of {wheel.name}"
            yield _push(sheet, wheel, symbol, words, force, row)
        if wheel.acts and wheel.law.resists and wheel.spin is not None:
            words, row = f"moment of the ground on {wheel.name}", _unit_row(sheet, wheel.spin)
            yield _push(sheet, wheel, ("M_r", label), words, wheel.moment, row)


_FORCES = {"traction": "F_x", "side_force": "F_y", "roller_force": "F"}


def slip_symbols(sheet: Sheet, wheel: WheelModel) -> list[int]:
    """Symbols of a wheel's slip velocities."""
    symbols = []
    for direction in wheel.pushed:
        stem = "s_x" if direction.what == "rolling" else "s_y"
        symbol = sheet.names.indexed(stem, sheet.names.label(wheel.name))
        words, slip = f"{direction.what} slip of {wheel.name}", wheel.slip(direction)
        symbols.append(sheet.new_symbol(symbol, "force", words, slip.unit, slip.name))
    return symbols


def blocks(mass: Rows) -> list[list[int]]:
    """Speeds whose accelerations go together: the connected parts of M's pattern."""
    pattern = np.array([[float(not is_zero(entry)) for entry in row] for row in mass])
    reached = np.linalg.matrix_power(pattern, len(mass)) > 0
    return [list(group) for group in dict.fromkeys(tuple(map(int, np.flatnonzero(row))) for row in reached)]


_XYZ = "xyz"
# What passes from link to link, linear and angular in turns: symbol, words, unit.
_PASSED = (
    ("v", "velocity {}", "m/s"),
    ("omega", "angular velocity {}", "rad/s"),
    ("a", "acceleration {} at constant speeds, less gravity", "m/s^2"),
    ("alpha", "angular acceleration {} at constant speeds", "rad/s^2"),
    ("p", "momentum {}", "kg m/s"),
    ("L", "angular momentum {} about its origin", "kg m^2/s"),
    ("f", "force {} that it needs itself", "N"),
    ("n", "moment {} that it needs itself", "N m"),
    ("F", "force {} through its joint", "N"),
    ("T", "moment {} through its joint", "N m"),
)


def name_steps(sheet: Sheet, nu: Sequence[Scalar]) -> None:
    """Names for what the recursions from link to link pass on, where M and h are too long to be multiplied out.

    With short factors only, every sum that enters a product gets a symbol. The same steps run here once for their
    results: twists, accelerations, momenta, wrenches and composite inertias. A symbol that one of them has got is what
    it is.
    """
    tree, poses = sheet.assembly.tree, sheet.at.poses
    count = tree.speed_count
    twists, accelerations = link_accelerations(tree, poses, nu[:count], [0] * count)
    needed = link_forces(tree, twists, accelerations)
    wrenches = joint_wrenches(tree, poses, needed)
    for k, link in enumerate(tree.links):
        carried = momentum(link.inertia, twists[k])
        for (stem, words, unit), values in zip(
            _PASSED, (*twists[k], *accelerations[k], *carried, *needed[k], *wrenches[k]), strict=True
        ):
            _name(sheet, link.name, values, stem, words, unit)
    _name_composites(sheet)


def _name_composites(sheet: Sheet) -> None:
    """Mass, first moment and inertia of each link with everything that it carries."""
    tree, poses = sheet.assembly.tree, sheet.at.poses
    composite = [link.inertia for link in tree.links]
    for k in range(len(tree.links) - 1, -1, -1):
        link, own = tree.links[k], composite[k]
        _name(sheet, link.name, [own.mass], "M", "mass of {} and all that it carries", "kg")
        _name(sheet, link.name, own.first_moment, "S", "first moment {} and all that it carries", "kg m")
        for i in range(3):
            words = f"moment of inertia ({_XYZ[i]}) {{}} and all that it carries"
            _name(sheet, link.name, own.rotational[i], f"J_{_XYZ[i]}", words, "kg m^2")
        if link.parent != WORLD:
            lifted = inertia_to_parent(poses[k], own)
            composite[link.parent] = add_inertias(composite[link.parent], lifted)


def _name(sheet: Sheet, link: str, values: Sequence[Scalar], stem: str, words: str, unit: str) -> None:
    """Name the symbols that components have got, in the link's own axes."""
    for axis, value in zip(_XYZ, values, strict=False):
        entry = sheet.table.defined_symbol(value)
        if entry is None or entry.name:
            continue
        part = f"_{axis}" if len(values) > 1 else ""
        entry.name = sheet.names.unique(f"{stem}{part}_{sheet.names.label(link)}")
        of = f"of {link} along its {axis}" if part else f"of {link}"
        entry.meaning, entry.unit = words.format(of), unit
