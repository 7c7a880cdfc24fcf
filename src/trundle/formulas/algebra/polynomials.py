"""Trigonometric polynomials: the scalars that equations are derived with. Exact, in a normal form, quick.

One is Σ c · a^i b^j … · cos(k α + l β …), or with a sine, or without: whole powers (negative ones too) of symbols,
at most one sine or cosine of whole multiples of angles, c rational. Products of sines and cosines become sums of these
at once, so cos² + sin² is 1, cos α cos β − sin α sin β is cos(α + β), and what is zero has no terms: no `simplify` has
to find that out. What is no such sum (a quotient by a sum, a root) gets a symbol of its own, and the table keeps its
definition. `writing` turns polynomials into SymPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeVar

from trundle.formulas.algebra.terms import (
    ONE,
    PRODUCTS,
    AngleSum,
    Atom,
    Exact,
    Powers,
    SumNode,
    Term,
    Terms,
    Trig,
    add,
    add_angles,
    content,
    exact,
    half,
    ordered,
    tidy,
    trig_factors,
    trig_terms,
)
from trundle.scalars import Scalar

_Made = TypeVar("_Made")
# Bounds (see `SymbolTable`) for writing what was derived, which is bounded itself.
WRITING = (200, 400, 60_000)


class TooLong(Exception):
    """The equations need more definitions than a person would read."""


class SymbolDefinition(NamedTuple):
    """What a symbol stands for: `function` of sums; the empty function is the sum itself."""

    function: str
    arguments: tuple[TrigPolynomial, ...]


@dataclass
class Symbol:
    """One symbol: its name as SymPy writes it, what it means, its unit, its number in the description.

    `kind` is parameter, coordinate, speed, rate (of a speed), force, input, root or definition; `source` what the
    model's programs call the quantity; `square` makes it the root of a whole number. Definitions get a name when they
    are first shown.
    """

    name: str
    kind: str
    meaning: str = ""
    unit: str = ""
    number: float | None = None
    source: str = ""
    square: int = 0
    definition: SymbolDefinition | None = None


# A sum, or a number that becomes one.


class NamedFunction(NamedTuple):
    """A function that equations call by a name, f_knee say: its numbers, and what it is called and means.

    Its derivative has the same name with a d in front, df_knee.
    """

    at: Callable[[Scalar], Scalar]
    meaning: str
    unit: str


@dataclass
class SymbolTable:
    """All symbols of one derivation, by number; and how many definitions it may make on its own.

    `functions` are the description's own, by name, with their derivatives.
    """

    symbols: list[Symbol] = field(default_factory=list)
    functions: dict[str, NamedFunction] = field(default_factory=dict)
    # Factors with more terms than `most_terms` get a symbol, unless the other factor is a number; `most_work` pairs of
    # terms may be multiplied out in all (a thousand take some 10 ms).
    most_terms: int = 200
    most_definitions: int = 150
    most_work: int = 12_000
    # How sums are best written, as far as that has been found out (see `forms`).
    trees: dict[frozenset[tuple[Term, Exact]], SumNode] = field(default_factory=dict)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)
    _made: int = 0
    _work: int = 0

    def add(self, symbol: Symbol) -> TrigPolynomial:
        """A new symbol, as a sum."""
        self.symbols.append(symbol)
        return self.symbol(len(self.symbols) - 1)

    def symbol(self, index: int) -> TrigPolynomial:
        """A symbol by its number, as a sum."""
        return self.product(((index, 1),))

    @property
    def zero(self) -> TrigPolynomial:
        """A polynomial without terms."""
        return TrigPolynomial(self, {})

    def product(self, powers: Powers, factor: Exact = 1) -> TrigPolynomial:
        """factor · Π powers."""
        return self.term((powers, "", ()), factor)

    def term(self, term: Term, factor: Exact = 1) -> TrigPolynomial:
        """A polynomial of one term."""
        return TrigPolynomial(self, {term: factor})

    def number(self, value: Exact | float) -> TrigPolynomial:
        """A number, exact."""
        if isinstance(value, Fraction):
            return TrigPolynomial(self, {ONE: tidy(value)} if value else {})
        factor, root = exact(value)
        if not factor:
            return self.zero
        return TrigPolynomial(self, {ONE if root == 1 else (((self.root(root), 1),), "", ()): factor})

    def root(self, square: int) -> int:
        """The symbol √square."""
        key = ("root", square)
        if key not in self._known:
            self.add(Symbol(f"sqrt({square})", "root", number=square**0.5, square=square))
            self._known[key] = len(self.symbols) - 1
        return self._known[key]

    def polynomial(self, value: Scalar) -> TrigPolynomial:
        """A scalar as a sum of this table."""
        return value if isinstance(value, TrigPolynomial) else self.number(value)

    def define(self, definition: SymbolDefinition, symbol: Symbol | None = None) -> int:
        """The symbol for a definition: the one it has, or `symbol`, or a new one without a name."""
        key = (definition.function, *(argument.key for argument in definition.arguments))
        if key not in self._known:
            if symbol is None:
                self._made += 1
                symbol = Symbol("", "definition")
            if self._made > self.most_definitions:
                raise TooLong
            symbol.definition = definition
            self.symbols.append(symbol)
            self._known[key] = len(self.symbols) - 1
        return self._known[key]

    def call(self, function: str, *arguments: Scalar) -> TrigPolynomial:
        """A function that no sum can hold, as a symbol."""
        return self.symbol(
            self.define(SymbolDefinition(function, tuple(self.polynomial(a) for a in arguments)))
        )

    def named(
        self, value: TrigPolynomial, name: str | Callable[[], str] = "", meaning: str = "", unit: str = ""
    ) -> TrigPolynomial:
        """The symbol for a sum, unless that is a symbol or a number already; `name` is asked for if it is new."""
        if value.is_plain:
            return value
        definition = SymbolDefinition("", (value,))
        if ("", value.key) in self._known or not name:
            return self.symbol(self.define(definition))
        name = name if isinstance(name, str) else name()
        return self.symbol(self.define(definition, Symbol(name, "definition", meaning, unit)))

    def defined_symbol(self, value: Scalar) -> Symbol | None:
        """What is known of the symbol that a polynomial has got by its definition, if it has one."""
        symbol = self._known.get(("", value.key)) if isinstance(value, TrigPolynomial) else None
        return None if symbol is None else self.symbols[symbol]

    def allow(self, most_terms: int, most_definitions: int, most_work: int) -> None:
        """Set the bounds anew, what was done so far forgotten."""
        self.most_terms, self.most_definitions, self.most_work = most_terms, most_definitions, most_work
        self._made = self._work = 0

    def within(self, most_work: int, make: Callable[[], _Made]) -> _Made | None:
        """What `make` gives with so much work at most; None where it takes more, and what it took then is forgotten."""
        before, bound = self._work, self.most_work
        self.most_work = min(bound, before + most_work)
        try:
            return make()
        except TooLong:
            self._work = before
            return None
        finally:
            self.most_work = bound

    def factors(self, a: TrigPolynomial, b: TrigPolynomial) -> tuple[TrigPolynomial, TrigPolynomial]:
        """Two factors, long ones by their symbols; TooLong where all products together have become too many."""
        if a.number is None and b.number is None:
            a, b = (self.named(each) if len(each.terms) > self.most_terms else each for each in (a, b))
        self._work += len(a.terms) * len(b.terms)
        if self._work > self.most_work:
            raise TooLong
        return a, b

    def divisor(self, atom: Atom) -> TrigPolynomial | None:
        """The sum that a symbol stands for which has no name and no other use than to stand below a fraction line."""
        if not isinstance(atom, int):
            return None
        entry = self.symbols[atom]
        plain = not entry.name and entry.definition is not None and not entry.definition.function
        return entry.definition.arguments[0] if plain and entry.definition is not None else None


class TrigPolynomial:
    """One scalar; Python's arithmetic on it gives the next."""

    __slots__ = ("table", "terms")

    def __init__(self, table: SymbolTable, terms: Terms) -> None:
        self.table = table
        self.terms = terms

    @property
    def key(self) -> frozenset[tuple[Term, Exact]]:
        """Equal for equal sums."""
        return frozenset(self.terms.items())

    @property
    def symbol(self) -> int | None:
        """The symbol that it or its negative is, if it is one."""
        if len(self.terms) != 1:
            return None
        ((powers, function, _), factor), *_ = self.terms.items()
        alone = not function and abs(factor) == 1 and len(powers) == 1 and powers[0][1] == 1
        return powers[0][0] if alone and isinstance(powers[0][0], int) else None

    @property
    def is_plain(self) -> bool:
        """Whether it is one symbol or its negative, or a number."""
        return self.number is not None or self.symbol is not None

    @property
    def number(self) -> Exact | None:
        """The rational number it is, if it is one."""
        if not self.terms:
            return 0
        return self.terms.get(ONE) if len(self.terms) == 1 else None

    def is_zero(self) -> bool:
        """Whether it has no terms."""
        return not self.terms

    def __add__(self, other: Scalar) -> TrigPolynomial:
        terms = dict(self.terms)
        for term, factor in self.table.polynomial(other).terms.items():
            add(terms, term, factor)
        return TrigPolynomial(self.table, terms)

    __radd__ = __add__

    def __neg__(self) -> TrigPolynomial:
        return TrigPolynomial(self.table, {term: -factor for term, factor in self.terms.items()})

    def __pos__(self) -> TrigPolynomial:
        return self

    def __sub__(self, other: Scalar) -> TrigPolynomial:
        return self + (-self.table.polynomial(other))

    def __rsub__(self, other: Scalar) -> TrigPolynomial:
        return self.table.polynomial(other) + (-self)

    def __mul__(self, other: Scalar) -> TrigPolynomial:
        a, b = self.table.factors(self, self.table.polynomial(other))
        return TrigPolynomial(self.table, _product(self.table, a.terms, b.terms))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> TrigPolynomial:
        return _quotient(self, self.table.polynomial(other))

    def __rtruediv__(self, other: Scalar) -> TrigPolynomial:
        return _quotient(self.table.polynomial(other), self)

    def __pow__(self, power: Scalar) -> TrigPolynomial:
        """Whole powers are multiplied out, a half is a root, and others become a symbol with a definition."""
        number = power.number if isinstance(power, TrigPolynomial) else exact(power)[0]
        if number == Fraction(1, 2):
            return _sqrt(self)
        if number is None or number != int(number):
            return self.table.call("pow", self, power)
        result = self.table.number(1)
        for _ in range(abs(int(number))):
            result = result * self
        return 1 / result if number < 0 else result

    def __rpow__(self, base: Scalar) -> TrigPolynomial:
        return self.table.polynomial(base) ** self

    def __bool__(self) -> bool:
        raise TypeError("a sum of symbols has no truth: ask is_zero()")

    def __repr__(self) -> str:
        return f"<Sum of {len(self.terms)} terms>"

    @staticmethod
    def scalar_function(name: str, *arguments: Scalar) -> TrigPolynomial:
        """A function of `trundle.scalars` by its name there."""
        table = next(a.table for a in arguments if isinstance(a, TrigPolynomial))
        values = [table.polynomial(a) for a in arguments]
        if name in ("sin", "cos"):
            return turned(values[0], name)
        if name == "tan":
            return turned(values[0], "sin") / turned(values[0], "cos")
        return _sqrt(values[0]) if name == "sqrt" else table.call(name, *values)


def term_count(scalars: Iterable[Scalar]) -> int:
    """How many terms the polynomials among scalars have."""
    return sum(len(each.terms) for each in scalars if isinstance(each, TrigPolynomial))


def turned(angle: TrigPolynomial, function: str) -> TrigPolynomial:
    """sin or cos of a sum of multiples of symbols and a number."""
    table = angle.table
    multiples: dict[int, Exact] = {}
    constant = 0.0
    for (powers, trig, _), factor in angle.terms.items():
        symbols = [(symbol, power) for symbol, power in powers if isinstance(symbol, int)]
        # An angle that holds sines or quotients itself becomes one symbol: sines of such sums have no short form.
        if trig or len(symbols) < len(powers):
            return turned(table.named(angle), function)
        if all(table.symbols[symbol].square for symbol, _ in symbols):
            roots = ((table.symbols[symbol].number or 0.0) ** power for symbol, power in symbols)
            constant += float(factor) * math.prod(roots)
        elif len(symbols) == 1 and symbols[0][1] == 1:
            multiples[symbols[0][0]] = factor
        else:
            return turned(table.named(angle), function)
    own: AngleSum = tuple(sorted(multiples.items()))
    c, s = TrigPolynomial(table, trig_terms("cos", own)), TrigPolynomial(table, trig_terms("sin", own))
    if not constant:
        return c if function == "cos" else s
    # The cosine of a right angle is not quite 0 as floats have it.
    numbers = (number if abs(number) >= 1e-15 else 0.0 for number in (math.cos(constant), math.sin(constant)))
    c0, s0 = map(table.number, numbers)
    return c * c0 - s * s0 if function == "cos" else s * c0 + c * s0


def _product(table: SymbolTable, a: Terms, b: Terms) -> Terms:
    """The terms of a product of sums, products of sines written as sums so that equal values have equal terms."""
    result: Terms = {}
    for (powers_a, trig_a, angle_a), factor_a in a.items():
        for (powers_b, trig_b, angle_b), factor_b in b.items():
            # Atoms are ordered with sines and cosines last: the last one tells whether there are any.
            powers, factor = _merge(table, powers_a, powers_b)
            factor = factor * factor_a * factor_b
            if powers and isinstance(powers[-1][0], tuple):
                trigs = [each for each in ((trig_a, angle_a), (trig_b, angle_b)) if each[0]]
                for term, part in _cancelled(powers, trigs, factor):
                    add(result, term, part)
            elif not trig_a or not trig_b:
                add(result, (powers, trig_a or trig_b, angle_a or angle_b), factor)
            else:
                for _, trig, angle, unit in _trig_product((trig_a, angle_a), (trig_b, angle_b)):
                    add(result, (powers, trig, angle), half(factor) * unit)
    return result


def _trig_product(a: Trig, b: Trig) -> Iterator[tuple[Powers, str, AngleSum, Exact]]:
    """Twice the product of two sines or cosines, as terms with their factors."""
    for function, sign, end in PRODUCTS[a[0], b[0]]:
        for (powers, trig, angle), unit in trig_terms(function, add_angles(a[1], b[1], sign)).items():
            yield powers, trig, angle, unit * end


def _cancelled(powers: Powers, trigs: Sequence[Trig], factor: Exact) -> Iterator[tuple[Term, Exact]]:
    """factor · powers · Π trigs where powers hold sines or cosines: those above the line go into the sum, and with
    the same ones below it to 1.
    """
    own = dict(powers)
    left: list[Trig] = []
    for atom, power in powers:
        if isinstance(atom, tuple) and power > 0:
            left += [atom] * power
            own[atom] = 0
    for trig in trigs:
        if own.get(trig, 0) < 0:
            own[trig] += 1
        else:
            left.append(trig)
    if len(left) < 2:
        function, angle = left[0] if left else ("", ())
        yield (ordered(own), function, angle), factor
        return
    # The product of the first two is a sum of single sines or cosines: one fewer is left to multiply.
    first, second, *rest = left
    for _, trig, angle, unit in _trig_product(first, second):
        yield from _cancelled(ordered(own), [*rest, *([(trig, angle)] if trig else [])], half(factor) * unit)


def _merge(table: SymbolTable, a: Powers, b: Powers) -> tuple[Powers, Exact]:
    """The product of powers, and what roots leave outside."""
    if not a or not b:
        return a or b, 1
    total = dict(a)
    for atom, power in b:
        total[atom] = total.get(atom, 0) + power
    return _reduced(table, total)


def _reduced(table: SymbolTable, powers: dict[Atom, int]) -> tuple[Powers, Exact]:
    """Powers in their order with roots at most once, and what these leave outside."""
    outside: Exact = 1
    for atom, power in powers.items():
        square = table.symbols[atom].square if isinstance(atom, int) else 0
        if square and power not in (0, 1):
            outside = outside * Fraction(square) ** (power // 2)
            powers[atom] = power % 2
    return ordered(powers), outside


def without_content(table: SymbolTable, terms: Terms) -> tuple[Exact, Powers, Terms]:
    """Number, powers and the rest, whose product is the sum; the rest's first term is positive."""
    number, shared = content((powers, factor) for (powers, _, _), factor in terms.items())
    number = number if next(iter(terms.values())) > 0 else -number
    inverse: Terms = {(ordered({a: -power for a, power in shared.items()}), "", ()): Fraction(1) / number}
    return number, ordered(shared), _product(table, terms, inverse)


def _quotient(a: TrigPolynomial, b: TrigPolynomial) -> TrigPolynomial:
    """a/b: the divisor's number and symbols go below the fraction line, its sum becomes a symbol.

    Where a is a multiple of b's sum, the sums cancel. Where b's sum is a product of sines and cosines, these stand
    below the line themselves.
    """
    if not b.terms:
        raise ZeroDivisionError("division by a sum that is zero")
    if not a.terms:
        return a
    table = a.table
    number, powers, core = without_content(table, b.terms)
    below = dict(powers)
    if core != {ONE: 1}:
        own_number, own_powers, own = without_content(table, a.terms)
        if own == core:
            a = table.product(own_powers, own_number)
        elif own == {term: -factor for term, factor in core.items()}:
            a = table.product(own_powers, -own_number)
        else:
            unit, factors = trig_factors(core)
            number = number * unit
            divisors = factors or [(table.define(SymbolDefinition("", (TrigPolynomial(table, core),))), 1)]
            for atom, power in divisors:
                below[atom] = below.get(atom, 0) + power
    for atom, power in list(below.items()):
        divisor = table.divisor(atom) if power < 0 else None
        if divisor is not None:
            a = a * divisor ** -below.pop(atom)
    above, outside = _reduced(table, {atom: -power for atom, power in below.items()})
    return TrigPolynomial(table, _product(table, a.terms, {(above, "", ()): outside * Fraction(1) / number}))


def _sqrt(value: TrigPolynomial) -> TrigPolynomial:
    """The positive root at the description's numbers: √(l²) is l where l is positive there."""
    table = value.table
    if not value.terms:
        return value
    number, powers, core = without_content(table, value.terms)
    outside = tuple((atom, power // 2) for atom, power in powers if power // 2)
    inside = tuple((atom, power % 2) for atom, power in powers if power % 2)
    sign = 1
    for atom, power in outside:
        if power % 2 and isinstance(atom, int) and (table.symbols[atom].number or 0) < 0:
            sign = -sign
    left = TrigPolynomial(table, _product(table, core, {(inside, "", ()): 1}))
    if number > 0:
        numerator, denominator = Fraction(number).as_integer_ratio()
        root = table.number(numerator**0.5) / table.number(denominator**0.5)
    else:
        root, left = table.number(1), left * number
    if left.number != 1:
        root = root * table.call("sqrt", left)
    return root * table.product(outside, sign)
