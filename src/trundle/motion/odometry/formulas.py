"""Odometry as formulas: SymPy expressions over the description's own parameters, checked against the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from trundle.errors import TrundleError
from trundle.formulas import Equation, Equations, Expression, Section
from trundle.formulas.algebra.writing import exactly
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import Linkage
from trundle.model.mechanism import mechanism
from trundle.motion.odometry.displacement import POSE, at_origin, displacement, plan_odometry

if TYPE_CHECKING:
    from trundle.motion.odometry.odometry import Odometry

# Entries of the normal equations with more operations than this get a name of their own: first only those that would
# not stand in a line, and where the solution is then longer than _LONG operations, all but the shortest. Longer
# ones aren't factored, either: SymPy takes long over them, and nobody reads them as one expression.
_LINES = (60, 4)
_LONG = 500
# Formulas and program are compared at this many random points, to this relative error: above the rounding of some
# thousand operations, below what any wrong term leaves.
_POINTS, _SAME = 20, 1e-10

# Slopes with more operations get a letter: a sum of two products still reads at once.
_SHORT = 4

DETERMINANT = sp.Symbol("D")
STEPS = sp.symbols("Δs Δn Δθ")
X, Y, HEADING = sp.symbols("x y theta")


@dataclass(frozen=True, repr=False)
class OdometryFormulas:
    """The pose after an increment, and its Jacobians, as SymPy expressions.

    definitions: symbol -> expression, in terms of the parameters, the increments (`Δleft.angle`), the angles, the
    old pose (x, y, theta) and the symbols before it: angles in the middle of the increment and of coupled wheels where
    they matter, N1, N2, … entries of the normal equations too long to stand in a line and D their determinant, the
    displacement Δs forward, Δn sideways (m; left out where it is 0) and Δθ, N1′, D′, … slopes along an increment that
    turns wheels (′1, ′2, … of several), then ψ = θ + Δθ/2, k = sin(Δθ/2)/(Δθ/2) and its slope k′ = dk/dΔθ.
    pose: x, y, theta after. F = ∂pose'/∂pose (3, 3), E = ∂pose'/∂(Δs, Δn, Δθ) (3, 3), J = ∂(Δs, Δn, Δθ)/∂increments
    (3, n), so that ∂pose'/∂increments is G = E J.
    """

    name: str
    definitions: Mapping[sp.Symbol, sp.Expr]
    pose: Mapping[str, sp.Expr]
    F: sp.ImmutableMatrix
    E: sp.ImmutableMatrix
    J: sp.ImmutableMatrix

    @property
    def G(self) -> sp.ImmutableMatrix:
        """∂pose'/∂increments, (3, n)."""
        return sp.ImmutableMatrix(self.E * self.J)

    @cached_property
    def equations(self) -> Equations:
        """The same as equations that are written like a robot's: `text()`, `latex()`, `tex()`, `markdown()`."""
        steps = [Equation(str(symbol), symbol, value) for symbol, value in self.definitions.items()]
        pose = [Equation(f"pose.{name}", sp.Symbol(f"{name}′"), value) for name, value in self.pose.items()]
        slopes = [
            Equation(letter, sp.Symbol(letter), getattr(self, letter), meaning=f"change of {words}")
            for letter, words in _SLOPES.items()
        ]
        product = sp.MatMul(sp.MatrixSymbol("E", 3, 3), sp.MatrixSymbol("J", 3, self.J.cols))
        words = "change of the new pose with the increments"
        sections = (
            Section("odometry", "Displacement from the increments", tuple(steps)),
            Section("odometry", "Pose after it", tuple(pose)),
            Section(
                "odometry", "Jacobians", (*slopes, Equation("G", sp.Symbol("G"), product, meaning=words))
            ),
        )
        return Equations(f"Odometry of {self.name}", "odometry", sections, (), (), _POINTS, _SAME)

    def latex(self) -> str:
        """For a paper: numbered equations with labels that fit an A4 page; needs amsmath, array and longtable."""
        return self.equations.latex()

    def __repr__(self) -> str:
        return self.equations.text()

    def _repr_markdown_(self) -> str:
        return self.equations.markdown()

    def _repr_html_(self) -> str:
        return self.equations.html()


_SLOPES = {
    "F": "the new pose with the old one",
    "E": "the new pose with Δs, Δn and Δθ",
    "J": "Δs, Δn and Δθ with the increments",
}


def derive_formulas(odometry: Odometry) -> OdometryFormulas:
    """The formulas of an odometry. Raises TrundleError where they don't agree with its program: a bug, then."""
    definitions, moved = _displacement(odometry)
    steps = dict(zip(STEPS, moved, strict=True))
    deltas = [sp.Symbol(f"Δ{name}") for name in odometry.increments]
    rates, slopes = _jacobian(steps, deltas, definitions)
    definitions |= {symbol: value for symbol, value in steps.items() if value != 0} | slopes
    a, b, turn = (symbol if steps[symbol] != 0 else sp.S.Zero for symbol in STEPS)
    turns = turn != 0
    psi, k, slope = sp.symbols("ψ k k′") if turns else (HEADING, sp.S.One, sp.S.Zero)
    c, s = sp.cos(psi), sp.sin(psi)
    forward, aside = a * c - b * s, a * s + b * c  # as `steps.advance` has them
    pose = {"x": X + k * forward, "y": Y + k * aside, "theta": HEADING + turn}
    f = sp.ImmutableMatrix([[1, 0, -k * aside], [0, 1, k * forward], [0, 0, 1]])
    by_turn = (slope * forward - k * aside / 2, slope * aside + k * forward / 2)
    by_step = sp.ImmutableMatrix([[k * c, -k * s, by_turn[0]], [k * s, k * c, by_turn[1]], [0, 0, 1]])
    if turns:
        # d sinc(Δθ/2)/dΔθ = (cos(Δθ/2) − sinc(Δθ/2))/Δθ, and 0 at Δθ = 0.
        change = sp.Piecewise(((sp.cos(turn / 2) - sp.sinc(turn / 2)) / turn, sp.Ne(turn, 0)), (0, True))
        definitions |= {psi: HEADING + turn / 2, k: sp.sinc(turn / 2), slope: change}
    result = OdometryFormulas(odometry.name, definitions, pose, f, by_step, sp.ImmutableMatrix(rates))
    _check(odometry, result)
    return result


def _displacement(odometry: Odometry) -> tuple[dict[Expression, Expression], list[Expression]]:
    """Definitions of angles in the middle and of long entries, and the twist's integral in them."""
    numbers = mechanism(odometry.robot)
    plan = plan_odometry(numbers, odometry.given)
    parameters = {name: sp.Symbol(name) for name in odometry.parameters}
    deltas = [sp.Symbol(f"Δ{name}") for name in odometry.increments]
    definitions: dict[Expression, Expression] = {}
    q = []
    for name in numbers.names:
        symbol = sp.Symbol(name)
        if name in odometry.angles and name in odometry.increments:
            symbol = sp.Symbol(f"{name}_mid")
            definitions[symbol] = sp.Symbol(name) + sp.Symbol(f"Δ{name}") / 2
        q.append(symbol)
    symbolic = numbers.in_scalars(parameters, q)
    here = at_origin(replace(symbolic, assembly=_with_named_angles(symbolic.assembly)))
    for linkage in here.assembly.linkages:
        definitions |= _angles(linkage, _rational(here.at.values[linkage.axis.coordinate]))
    named: dict[Expression, Expression] = {}
    moved: list[Expression] = []
    for line in _LINES:
        named = {}
        tidy = partial(_entry, named=named, line=line)
        moved = [sp.sympify(part) for part in displacement(plan, here, deltas, tidy)]
        if max(map(sp.count_ops, moved)) <= _LONG:
            break
    used = sp.Tuple(*named.values(), *moved).free_symbols
    definitions = {symbol: value for symbol, value in definitions.items() if symbol in used or symbol in q}
    readable = [_readable(part, deltas) for part in moved]
    if named:
        readable = _over_determinant(readable, named)
    return definitions | named, readable


def _entry(entry: Expression, named: dict[Expression, Expression], line: int) -> Expression:
    """An entry of the normal equations, tidied; one with more operations than `line` by a symbol in `named`."""
    value = _tidy(sp.sympify(entry))
    if sp.count_ops(value) <= line:
        return value
    symbol = next(
        (letter for letter, other in named.items() if other == value), sp.Symbol(f"N{len(named) + 1}")
    )
    named[symbol] = value
    return symbol


def _with_named_angles(assembly: Assembly) -> Assembly:
    """Coupled wheels' angles as symbols of their own."""
    couplings = [
        replace(coupling, angles=tuple(sp.Symbol(axis.coordinate) for axis in coupling.followers))
        if isinstance(coupling, Linkage)
        else coupling
        for coupling in assembly.couplings
    ]
    return replace(assembly, couplings=tuple(couplings))


def _angles(coupling: Linkage, delta: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """δ_i = atan2(sin δ, cos δ − (y_i/L) sin δ) of the coupled wheels."""
    directions = (_rational(ahead) for ahead in coupling.ahead(delta))
    return {
        angle: sp.atan2(sp.sin(delta), ahead)
        for angle, ahead in zip(coupling.angles, directions, strict=True)
    }


def _tidy(entry: Expression) -> Expression:
    """Expanded, plain fractions for floats, sin² + cos² added up where that makes it shorter."""
    value = sp.expand(_rational(entry))
    angles = {function.args[0] for function in value.atoms(sp.sin, sp.cos)}
    choices = [value]
    for kept, gone in ((sp.sin, sp.cos), (sp.cos, sp.sin)):
        choices.append(sp.expand(value.subs({gone(angle) ** 2: 1 - kept(angle) ** 2 for angle in angles})))
    return sp.factor_terms(min(choices, key=sp.count_ops))


def _rational(value: Expression) -> Expression:
    """Floats that are fractions of small numbers, as such, and √3/2 and its like: 0.5 is 1/2."""
    return value.xreplace({number: exactly(float(number)) for number in value.atoms(sp.Float)})


def _readable(value: Expression, deltas: Sequence[Expression]) -> Expression:
    """The increments' coefficients as fractions; all of it factored where it stays short."""
    value = _rational(value)
    if sp.count_ops(value) > _LONG:
        return value
    terms = [sp.factor(sp.diff(value, delta)) * delta for delta in deltas]
    rest = sp.factor(value.subs(dict.fromkeys(deltas, 0)))
    total = sp.Add(*terms, rest)
    tried = [total, sp.factor_terms(total)]
    if sp.count_ops(tried[1]) <= _LINES[0]:
        tried.append(sp.factor(total))
    return min(tried, key=sp.count_ops)


def _over_determinant(values: Sequence[Expression], named: dict[Expression, Expression]) -> list[Expression]:
    """Fractions over multiples of one long sum, the normal equations' determinant: over a name for it."""
    parts = [sp.fraction(value) for value in values]
    long = [factor for _, below in parts for factor in sp.Mul.make_args(below) if factor.is_Add]
    if not long or any(factor not in (long[0], -long[0]) for factor in long):
        return list(values)
    number, named[DETERMINANT] = long[0].primitive()
    known = {long[0]: number * DETERMINANT, -long[0]: -number * DETERMINANT}
    return [above / below.xreplace(known) for above, below in parts]


def _jacobian(
    steps: Mapping[Expression, Expression],
    deltas: Sequence[Expression],
    definitions: Mapping[Expression, Expression],
) -> tuple[Expression, dict[Expression, Expression]]:
    """∂(Δs, Δn, Δθ)/∂increments through the definitions, and letters for long slopes of these.

    Of n/D the slope is (n′ − (n/D) D′)/D, and n/D has a letter: nothing is differentiated that has been divided.
    """
    letters: dict[Expression, Expression] = {}
    columns = []
    turning = [delta for delta in deltas if any(value.has(delta) for value in definitions.values())]
    for delta in deltas:
        # A prime where one increment turns wheels; ′1, ′2, … of several.
        mark = "′" if len(turning) < 2 else f"′{turning.index(delta) + 1 if delta in turning else ''}"
        slopes: dict[Expression, Expression] = {delta: sp.S.One}
        for symbol, meaning in definitions.items():
            slope = _slope_of(meaning, slopes)
            if sp.count_ops(slope) > _SHORT:
                letter = sp.Symbol(f"{symbol}{mark}")
                letters[letter], slope = slope, letter
            if slope != 0:
                slopes[symbol] = slope
        columns.append([_quotient_slope(symbol, value, slopes) for symbol, value in steps.items()])
    return sp.Matrix(columns).T, letters


def _slope_of(value: Expression, slopes: Mapping[Expression, Expression]) -> Expression:
    """Σ ∂value/∂symbol · slope."""
    return sp.Add(*(sp.diff(value, symbol) * slope for symbol, slope in slopes.items() if value.has(symbol)))


def _quotient_slope(
    symbol: Expression, value: Expression, slopes: Mapping[Expression, Expression]
) -> Expression:
    """The slope of a value that has a letter, and may be a fraction."""
    above, below = sp.fraction(value)
    changing = _slope_of(below, slopes)
    if changing == 0:
        return _slope_of(value, slopes)
    return (_slope_of(above, slopes) - symbol * changing) / below


def _check(odometry: Odometry, formulas: OdometryFormulas) -> None:
    """Raise TrundleError where formulas and program differ at random points."""
    rng = np.random.default_rng(0)
    groups = [np.asarray(rng.uniform(-1, 1, (g.size, _POINTS))) for g in odometry.program.inputs[:3]]
    p = np.array(list(odometry.parameters.values()))
    pose, f, g, _ = odometry.program.evaluate(*groups, p)
    names = (*POSE, *(f"Δ{name}" for name in odometry.increments), *odometry.angles, *odometry.parameters)
    known: dict[Expression, Expression] = {
        sp.Symbol(name): row for name, row in zip(names, [*np.vstack(groups), *p], strict=True)
    }

    def values(expressions: Sequence[Expression]) -> np.ndarray:
        used = list(sp.Tuple(*expressions).free_symbols)
        function = sp.lambdify(used, list(expressions), "numpy")
        with np.errstate(invalid="ignore"):  # both sides of k′ are computed, also where only one counts
            rows = function(*(known[symbol] for symbol in used))
        return np.array([np.broadcast_to(row, _POINTS) for row in rows])

    for symbol, meaning in formulas.definitions.items():
        (known[symbol],) = values([meaning])
    for written, expected in ((formulas.pose.values(), pose), (formulas.F.flat(), f), (formulas.G.flat(), g)):
        if not np.allclose(values([*written]), expected, rtol=_SAME, atol=_SAME):
            raise TrundleError(f"the odometry formulas of '{odometry.name}' don't agree with its program")
