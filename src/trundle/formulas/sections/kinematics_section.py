"""The kinematics of a robot as it rolls: from rates to the base's twist and back, and where that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy

from trundle.formulas.algebra.cofactors import MOST, inverse, least_squares
from trundle.formulas.algebra.forms import best, cost
from trundle.formulas.algebra.polynomials import TooLong, TrigPolynomial
from trundle.formulas.algebra.rates import vanishes
from trundle.formulas.algebra.terms import Terms
from trundle.formulas.equation import Equation, Section
from trundle.formulas.symbols.names import rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import Tie
from trundle.mechanics.elimination import eliminate, generic_rank
from trundle.mechanics.linear import dot, product, transpose
from trundle.mechanics.rolling import SpeedBasis
from trundle.mechanics.wheels import WheelModel
from trundle.model.constraints import constraint_rows, coordinate_rates
from trundle.scalars import Rows, is_zero

# A determinant of more terms gives matrices that fill pages; those of usual drives have up to ten.
MOST_TERMS = 100
# A motion is told by the sum of all rates up to so many terms: two wheels of one size on an axle have one to three.
_MOST_TOGETHER = 3

RATES = "Rates of the coordinates"
INVERSE = "Inverse kinematics: rates from the motion of the base"
FORWARD = "Forward kinematics: motion of the base from rates"


@dataclass(frozen=True)
class Forward:
    """Base twist = matrix · rates: columns of the rates, whether any rates fit, or only those that agree; whether it is
    solved from the wheels' rows, or goes by way of the independent speeds.
    """

    columns: tuple[int, ...]
    matrix: Rows
    how: str
    any_rates: bool
    by_rows: bool


def rolling_wheels(assembly: Assembly) -> list[WheelModel]:
    """The wheels that roll or should: all but those whose contact is free."""
    return [wheel for wheel in assembly.wheels if wheel.grips]


def pose_section(sheet: Sheet) -> Section | None:
    """q̇ = N(q) ν, for the coordinates whose rate is no speed."""
    nu = sheet.all_speeds()
    rates = coordinate_rates(sheet.assembly, tuple(sheet.coordinates), sheet.at, nu)
    equations = []
    for (name, symbol), rate in zip(sheet.coordinates.items(), rates, strict=True):
        left, right = sympy.Symbol(rate_of(sheet.table.symbols[symbol].name)), sheet.expression(rate)
        if left != right:
            equations.append(Equation(f"rate.{name}", left, right))
    if not equations:
        return None
    return Section("kinematics", RATES, tuple(equations))


def inverse_section(sheet: Sheet) -> Section | None:
    """Rates from the base's twist: every rolling row solved for the wheel's own rate, casters for their pivots' too."""
    wheels = [wheel for wheel in rolling_wheels(sheet.assembly) if wheel.spin is not None]
    rows, owners = _solved(sheet, wheels)
    if not rows:
        return None
    speeds, base = sheet.assembly.speeds, sheet.assembly.base_columns
    needed = {j for row in rows for j, entry in enumerate(row) if not is_zero(entry)} - {*owners}
    columns = sorted(needed | {*base})
    vector = sheet.column([speeds[j] for j in columns])
    left = sheet.column([speeds[j] for j in owners])
    rates = Equation("inverse", left, sheet.matrix([[row[j] for j in columns] for row in rows]), vector)
    angles = [
        equation for wheel in wheels if wheel.component.is_steered for equation in _steering(sheet, wheel)
    ]
    note = "A steered wheel points where its contact goes; half a turn further it does too, at the opposite rate."
    return Section("kinematics", INVERSE, (rates, *angles), (note,) if angles else ())


def _solved(sheet: Sheet, wheels: Sequence[WheelModel]) -> tuple[Rows, list[int]]:
    """Rows of the wheels' own rates over all speeds, and these rates' columns.

    A rolling row gives the spin. The lateral row of a wheel that trails gives its pivot's rate, which the rolling row
    holds too where the wheel stands beside its pivot: so both are solved together.
    """
    rows, owners = [], []
    for wheel in wheels:
        held, about = constraint_rows(sheet.assembly, sheet.at, [wheel])
        place = {row.what: k for k, row in enumerate(about) if row.owner == wheel.name}
        own = {"lateral": wheel.steering if wheel.component.is_caster else None, "rolling": wheel.spin}
        pivots = [
            (place[what], column) for what, column in own.items() if what in place and column is not None
        ]
        pivots = [(row, column) for row, column in pivots if not is_zero(held[row][column])]
        solved = eliminate(held, pivots)
        for row, column in reversed(pivots):
            rows.append([0 if is_zero(e) or j == column else -e for j, e in enumerate(solved[row])])
            owners.append(column)
    return rows, owners


def _steering(sheet: Sheet, wheel: WheelModel) -> list[Equation]:
    """The angle at which a wheel follows its contact's velocity, from its lateral row: −a sin δ + b cos δ = 0."""
    coordinate = f"{wheel.name}.steering"
    if wheel.steering is None or coordinate not in sheet.coordinates:
        return []
    rows = zip(*constraint_rows(sheet.assembly, sheet.at, [wheel]), strict=False)
    lateral = next(row for row, about in rows if about.what == "lateral")
    across = sheet.table.polynomial(dot(lateral, sheet.all_speeds()))
    angle = sheet.coordinates[coordinate]
    parts: dict[str, Terms] = {"sin": {}, "cos": {}}
    for (powers, function, of), factor in across.terms.items():
        if of != ((angle, 1),):
            return []
        parts[function][powers, "", ()] = factor if function == "cos" else -factor
    ahead, aside = (
        sheet.expression(TrigPolynomial(sheet.table, parts[function])) for function in ("sin", "cos")
    )
    words, right = f"where {wheel.name} must point", sympy.atan2(aside, ahead)
    return [Equation(f"inverse.{coordinate}", sheet.writer.symbol(angle), right, meaning=words)]


def forward(sheet: Sheet, basis: SpeedBasis | None) -> Forward | None:
    """The base's twist from the rates of the driven wheels (of all, where none is driven).

    Over all rows by least squares where every wheel is driven (Muir & Neuman 1987, eq. 4.21), exact where the rates
    agree; otherwise by the independent speeds that the constraints leave. So, too, where gears and cams tie rates to
    one another: these can't be given one by one.
    """
    tied = any(isinstance(coupling, Tie) for coupling in sheet.assembly.couplings)
    wheels = rolling_wheels(sheet.assembly)
    driven = {actuator.column for actuator in sheet.assembly.actuators}
    spins = [wheel.spin for wheel in wheels if wheel.spin is not None]
    given = tuple(c for c in spins if c in driven) or tuple(spins)
    if len(sheet.assembly.base_columns) != 3 or not given:
        return None
    found = other = None
    long = False
    if not tied and all(wheel.spin in given and not wheel.component.is_caster for wheel in wheels):
        try:
            found = _by_rows(sheet, wheels, given)
        except TooLong:
            long = True
    if basis is not None:
        try:
            other = _by_speeds(sheet, basis, given, only_square=found is not None)
        except TooLong:
            long = True
    if found is None and other is None and long:
        raise TooLong
    if found is None or other is None:
        return replace(other, any_rates=False) if tied and other is not None else found or other
    return other if length(other) < length(found) else found


def length(candidate: Forward) -> int:
    """Operations of its entries."""
    return sum(
        cost(best(e)) for row in candidate.matrix for e in row if isinstance(e, TrigPolynomial) and e.terms
    )


def _by_rows(sheet: Sheet, wheels: Sequence[WheelModel], given: tuple[int, ...]) -> Forward | None:
    """The base's motion from wheels' rates by their rolling constraints, in least squares where there are more rows."""
    base = sheet.assembly.base_columns
    rows, _ = constraint_rows(sheet.assembly, sheet.at, wheels)
    kept = [k for k, row in enumerate(rows) if any(not is_zero(row[j]) for j in base)]
    rows, samples = [rows[k] for k in kept], sheet.samples(rolling_wheels)[:, kept]
    left = [[row[j] for j in base] for row in rows]
    others = [j for j in range(len(sheet.assembly.speeds)) if j not in base and j not in given]
    if any(not is_zero(row[j]) for row in rows for j in others):
        return None
    if generic_rank(samples[:, :, list(base)]) < len(base):
        return None
    right = [[-row[j] for j in given] for row in rows]
    fits = generic_rank(samples[:, :, [*base, *given]]) == len(base)
    how = "exact" if fits else "the rates are met in least squares over the contacts of all wheels"
    return Forward(given, least_squares(left, right, MOST_TERMS), how, any_rates=True, by_rows=True)


def _by_speeds(
    sheet: Sheet, basis: SpeedBasis, given: tuple[int, ...], *, only_square: bool
) -> Forward | None:
    """The base's motion from wheels' rates by way of the independent speeds, which these rates tell."""
    base = sheet.assembly.base_columns
    needed = [k for k in range(len(basis.labels)) if any(not is_zero(basis.matrix[j][k]) for j in base)]
    rates = [[basis.matrix[j][k] for k in needed] for j in given]
    others = [k for k in range(len(basis.labels)) if k not in needed]
    if any(not is_zero(basis.matrix[j][k]) for j in given for k in others) or len(given) < len(needed):
        return None
    if not needed or len(needed) > MOST:
        return None
    square = len(given) == len(needed)
    if only_square and not square:  # holds for fewer rates than what is found already
        return None
    if not square and len(needed) == 1:
        given, rates = _rates_of_one_motion(given, rates)
        square = len(given) == 1
    try:
        solved = _solution(sheet, rates)
    except ZeroDivisionError:  # the rates don't tell the whole motion: two wheels in one place, say
        return None
    matrix = product([[basis.matrix[j][k] for k in needed] for j in base], solved)
    how = "exact" if square else "it holds for rates that satisfy the constraints"
    return Forward(given, matrix, how, any_rates=square, by_rows=False)


def _rates_of_one_motion(given: tuple[int, ...], rates: Rows) -> tuple[tuple[int, ...], Rows]:
    """The rates that tell a single motion: all together, or where their sum is long, the one of the fewest terms."""
    total = sum(row[0] for row in rates)
    sizes = {
        k: len(row[0].terms)
        for k, row in enumerate(rates)
        if isinstance(row[0], TrigPolynomial) and row[0].terms
    }
    if not isinstance(total, TrigPolynomial) or len(total.terms) <= _MOST_TOGETHER or not sizes:
        return given, rates
    k = min(sizes, key=sizes.__getitem__)
    return (given[k],), [rates[k]]


def _solution(sheet: Sheet, rates: Rows) -> Rows:
    """Independent speeds u from the rates R u. One motion by the sum of all rates, which is shorter than least squares
    and the same where they agree, unless it is zero.
    """
    if len(rates[0]) == 1:
        total = sum((row[0] for row in rates), sheet.table.number(0))
        if not vanishes(total):
            return [[1 / total for _ in rates]]
    turned = transpose(rates)
    if len(rates) == len(turned):
        return inverse(rates, MOST_TERMS)
    return product(inverse(product(turned, rates), MOST_TERMS), turned)


def forward_section(sheet: Sheet, solution: Forward) -> Section:
    """The base's twist from the wheels' rates, and which of its motions they don't reach."""
    speeds, base = sheet.assembly.speeds, sheet.assembly.base_columns
    left = sheet.column([speeds[j] for j in base])
    given = sheet.column([speeds[j] for j in solution.columns])
    notes = [] if solution.how == "exact" else [f"{solution.how[0].upper()}{solution.how[1:]}."]
    still = [
        str(sheet.symbol(speeds[j]))
        for j, row in zip(base, solution.matrix, strict=True)
        if all(is_zero(e) for e in row)
    ]
    if still:
        notes.append(f"No rates of the wheels give {' or '.join(still)}: that motion is out of reach.")
    equation = Equation("forward", left, sheet.matrix(solution.matrix), given)
    return Section("kinematics", FORWARD, (equation,), tuple(notes))
