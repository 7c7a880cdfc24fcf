"""Sums: the scalars that equations are derived with. Exact, in a normal form, quick.

A sum is Σ c · a^i b^j … · cos(k α + l β …), or with a sine, or without: whole powers (negative ones too) of letters, at
most one sine or cosine of whole multiples of angles, c rational. Products of sines and cosines become sums of sines and
cosines at once, so cos² + sin² is 1, cos α cos β − sin α sin β is cos(α + β), and what is zero has no terms: no
`simplify` has to find that out. What is no such sum (a quotient by a sum, a root) gets a letter of its own, and the
book keeps its definition. `readable` turns sums into SymPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from trundle.formulas.numbers import Exact, exact, half, tidy
from trundle.formulas.terms import (
    ONE,
    PRODUCTS,
    Angle,
    Powers,
    Term,
    Terms,
    add_angles,
    collect,
    content,
    trig_factors,
    trig_number,
    trig_terms,
    with_power,
)

# Bounds (see `Book`) for writing what was derived, which is bounded itself.
WRITING = (200, 400, 60_000)


class TooLong(Exception):
    """The equations need more definitions than a person would read."""


class Definition(NamedTuple):
    """What a letter stands for: `function` of sums; the empty function is the sum itself."""

    function: str
    arguments: tuple[Sum, ...]


@dataclass
class Letter:
    """One symbol: its name as SymPy writes it, what it means, its unit, its number in the description.

    `kind` is parameter, coordinate, speed, force, input, root or definition; `source` what the model's programs call
    the quantity; `square` makes it the root of a whole number.
    """

    name: str
    kind: str
    meaning: str = ""
    unit: str = ""
    number: float | None = None
    source: str = ""
    square: int = 0
    definition: Definition | None = None


@dataclass
class Book:
    """All letters of one derivation, by number; and how many definitions it may make on its own."""

    letters: list[Letter] = field(default_factory=list)
    # Factors with more terms than `most_terms` get a letter, unless the other factor is a number; `most_work` pairs of
    # terms may be multiplied out in all (a thousand take some 10 ms).
    most_terms: int = 200
    most_definitions: int = 150
    most_work: int = 12_000
    # How sums are best written, as far as that has been found out (see `shape`).
    trees: dict[Any, Any] = field(default_factory=dict)
    _known: dict[Any, int] = field(default_factory=dict)
    _trig: dict[tuple[str, Angle], int] = field(default_factory=dict)
    _made: int = 0
    _work: int = 0

    def add(self, letter: Letter) -> Sum:
        """A new letter, as a sum."""
        self.letters.append(letter)
        return self.letter(len(self.letters) - 1)

    def letter(self, index: int) -> Sum:
        """A letter by its number, as a sum."""
        return Sum(self, {(((index, 1),), "", ()): 1})

    def number(self, value: Any) -> Sum:
        """A number, exact."""
        if isinstance(value, Fraction):
            return Sum(self, {ONE: tidy(value)} if value else {})
        factor, root = exact(value)
        if not factor:
            return Sum(self, {})
        if root == 1:
            return Sum(self, {ONE: factor})
        return Sum(self, {(((self.root(root), 1),), "", ()): factor})

    def root(self, square: int) -> int:
        """The letter √square."""
        if ("root", square) not in self._known:
            number = square**0.5
            self.letters.append(Letter(f"sqrt({square})", "root", number=number, square=square))
            self._known["root", square] = len(self.letters) - 1
        return self._known["root", square]

    def define(self, definition: Definition, name: str = "", meaning: str = "", unit: str = "") -> int:
        """The letter for a definition: the one it has, or a new one (which gets a name when it is first shown)."""
        key = (definition.function, *(argument.key for argument in definition.arguments))
        if key not in self._known:
            self._made += not name
            if self._made > self.most_definitions:
                raise TooLong
            self.letters.append(Letter(name, "definition", meaning, unit, definition=definition))
            self._known[key] = len(self.letters) - 1
            trig = _single_trig(definition)
            if trig is not None:
                self._trig[trig] = len(self.letters) - 1
        return self._known[key]

    def named(self, value: Sum, name: str = "", meaning: str = "", unit: str = "") -> Sum:
        """The letter for a sum, unless that is one term with a plain coefficient already."""
        if value.is_letter or not value.terms:
            return value
        return self.letter(self.define(Definition("", (value,)), name, meaning, unit))

    def known(self, value: Sum) -> Sum | None:
        """What `named` gives for a sum without a new letter, or None."""
        if value.is_letter or not value.terms:
            return value
        letter = self._known.get(("", value.key))
        return None if letter is None else self.letter(letter)

    def divisor(self, terms: Terms) -> list[tuple[int, int]]:
        """Letters and exponents whose product is a sum without common factors: sines and cosines singly, where it is
        a product of such.
        """
        factors = trig_factors(terms) or [("", (), 1)]
        result = []
        for function, angle, power in factors:
            core = Sum(self, {((), function, angle): 1}) if function else Sum(self, terms)
            result.append((self.define(Definition("", (core,))), power))
        return result

    def allow(self, most_terms: int, most_definitions: int, most_work: int) -> None:
        """Set the bounds anew, what was done so far forgotten."""
        self.most_terms, self.most_definitions, self.most_work = most_terms, most_definitions, most_work
        self._made = self._work = 0

    def factors(self, a: Sum, b: Sum) -> tuple[Sum, Sum]:
        """Two factors, long ones by their letters; TooLong where all products together have become too many."""
        if a.number is None and b.number is None:
            a, b = (self.named(each) if len(each.terms) > self.most_terms else each for each in (a, b))
        self._work += len(a.terms) * len(b.terms)
        if self._work > self.most_work:
            raise TooLong
        return a, b

    def is_divisor(self, letter: int) -> bool:
        """Whether a letter only stands for a sum below a fraction line, and for more than a sine or cosine."""
        entry = self.letters[letter]
        if entry.name or entry.definition is None or entry.definition.function:
            return False
        return self.trig_of(letter) is None

    def written_out(self, letter: int) -> Sum:
        """The sum that a letter stands for."""
        definition = self.letters[letter].definition
        if definition is None or definition.function:
            return self.letter(letter)
        return definition.arguments[0]

    def trig_of(self, letter: int) -> tuple[str, Angle] | None:
        """The sine or cosine that a letter without a name stands for."""
        entry = self.letters[letter]
        return None if entry.name or entry.definition is None else _single_trig(entry.definition)

    def trig_letter(self, function: str, angle: Angle) -> int | None:
        """The letter that stands for one sine or cosine below a fraction line, if there is one."""
        return self._trig.get((function, angle))

    def rate(self, value: Any, rates: Mapping[int, Any]) -> Sum:
        """dv/dt, by the rates of the letters; those that are defined follow their definitions."""
        value = self.sum(value)
        total = Sum(self, {})
        for (powers, function, angle), factor in value.terms.items():
            for place, (letter, power) in enumerate(powers):
                change = self.letter_rate(letter, rates)
                if change.terms:
                    left = with_power(powers, place, power - 1)
                    total = total + Sum(self, {(left, function, angle): factor * power}) * change
            for letter, multiple in angle:
                change = self.letter_rate(letter, rates)
                if change.terms:
                    turned, sign = ("cos", 1) if function == "sin" else ("sin", -1)
                    total = (
                        total + Sum(self, {(powers, turned, angle): tidy(factor * multiple * sign)}) * change
                    )
        return total

    def letter_rate(self, letter: int, rates: Mapping[int, Any]) -> Sum:
        """The rate of a letter: as given, or by its definition."""
        if letter in rates:
            return self.sum(rates[letter])
        definition = self.letters[letter].definition
        if definition is None:
            return Sum(self, {})
        below = self._reciprocal(definition)
        if below is not None:
            number, divisor = below
            return -(self.letter(letter) ** 2) * self.rate(divisor, rates) / number
        changes = [self.rate(argument, rates) for argument in definition.arguments]
        if not any(change.terms for change in changes):
            return Sum(self, {})
        return _function_rate(self.letter(letter), definition, changes)

    def _reciprocal(self, definition: Definition) -> tuple[Exact, Sum] | None:
        """(c, D) of a definition that is c/D with D a divisor's sum: its rate is −(c/D)² Ḋ/c, in the letter itself."""
        terms = definition.arguments[0].terms
        if definition.function or len(terms) != 1:
            return None
        ((powers, function, _), factor), *_ = terms.items()
        if function or len(powers) != 1 or powers[0][1] != -1 or not self.is_divisor(powers[0][0]):
            return None
        return factor, self.written_out(powers[0][0])

    def put(self, value: Any, chosen: Mapping[int, Any]) -> Sum:
        """A sum with some letters (in whole powers, in no sine) replaced by sums."""
        value = self.sum(value)
        total = Sum(self, {})
        for (powers, function, angle), factor in value.terms.items():
            kept = tuple((letter, power) for letter, power in powers if letter not in chosen)
            part = Sum(self, {(kept, function, angle): factor})
            for letter, power in powers:
                if letter in chosen:
                    part = part * self.sum(chosen[letter]) ** power
            total = total + part
        return total

    def sum(self, value: Any) -> Sum:
        """A scalar as a sum of this book."""
        return value if isinstance(value, Sum) else self.number(value)

    def call(self, function: str, *arguments: Any) -> Sum:
        """A function that no sum can hold, as a letter."""
        return self.letter(self.define(Definition(function, tuple(self.sum(a) for a in arguments))))


class Sum:
    """One scalar; Python's arithmetic on it gives the next."""

    __slots__ = ("book", "terms")

    def __init__(self, book: Book, terms: Terms) -> None:
        self.book = book
        self.terms = terms

    @property
    def key(self) -> frozenset[tuple[Term, Exact]]:
        """Equal for equal sums."""
        return frozenset(self.terms.items())

    @property
    def is_letter(self) -> bool:
        """Whether it is one letter or its negative, or a plain number."""
        if len(self.terms) != 1:
            return False
        ((powers, function, _), factor), *_ = self.terms.items()
        if not powers and not function:
            return True
        return abs(factor) == 1 and not function and len(powers) == 1 and powers[0][1] == 1

    @property
    def number(self) -> Exact | None:
        """The rational number it is, if it is one."""
        if not self.terms:
            return 0
        return self.terms.get(ONE) if len(self.terms) == 1 else None

    def is_zero(self) -> bool:
        """Whether it has no terms."""
        return not self.terms

    def __add__(self, other: Any) -> Sum:
        terms = dict(self.terms)
        for term, factor in self.book.sum(other).terms.items():
            collect(terms, term, factor)
        return Sum(self.book, terms)

    __radd__ = __add__

    def __neg__(self) -> Sum:
        return Sum(self.book, {term: -factor for term, factor in self.terms.items()})

    def __pos__(self) -> Sum:
        return self

    def __sub__(self, other: Any) -> Sum:
        return self + (-self.book.sum(other))

    def __rsub__(self, other: Any) -> Sum:
        return self.book.sum(other) + (-self)

    def __mul__(self, other: Any) -> Sum:
        a, b = self.book.factors(self, self.book.sum(other))
        return Sum(self.book, _product(self.book, a.terms, b.terms))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Sum:
        return _quotient(self, self.book.sum(other))

    def __rtruediv__(self, other: Any) -> Sum:
        return _quotient(self.book.sum(other), self)

    def __pow__(self, power: Any) -> Sum:
        number = power.number if isinstance(power, Sum) else exact(power)[0]
        if number == Fraction(1, 2):
            return _sqrt(self)
        if number is None or number != int(number):
            return self.book.call("pow", self, power)
        result = self.book.number(1)
        for _ in range(abs(int(number))):
            result = result * self
        return 1 / result if number < 0 else result

    def __rpow__(self, base: Any) -> Sum:
        return self.book.sum(base) ** self

    def __bool__(self) -> bool:
        raise TypeError("a sum of symbols has no truth: ask is_zero()")

    def __repr__(self) -> str:
        return f"<Sum of {len(self.terms)} terms>"

    @staticmethod
    def scalar_function(name: str, *arguments: Any) -> Sum:
        """A function of `trundle.scalars` by its name there."""
        book = next(a.book for a in arguments if isinstance(a, Sum))
        values = [book.sum(a) for a in arguments]
        if name in ("sin", "cos"):
            return turned(values[0], name)
        if name == "tan":
            return turned(values[0], "sin") / turned(values[0], "cos")
        if name == "sqrt":
            return _sqrt(values[0])
        return book.call(name, *values)


def turned(angle: Sum, function: str) -> Sum:
    """sin or cos of a sum of multiples of letters and a number."""
    book = angle.book
    multiples: dict[int, Exact] = {}
    constant = 0.0
    for (powers, trig, _), factor in angle.terms.items():
        if not trig and len(powers) == 1 and powers[0][1] == 1 and not book.letters[powers[0][0]].square:
            multiples[powers[0][0]] = factor
        elif not trig and all(book.letters[letter].square for letter, _ in powers):
            constant += float(factor) * _root_value(book, powers)
        else:
            return turned(book.named(angle), function)
    cos, sin = _turn(book, multiples, constant)
    return cos if function == "cos" else sin


def _turn(book: Book, multiples: Mapping[int, Exact], constant: float) -> tuple[Sum, Sum]:
    """Cosine and sine of Σ multiples + constant."""
    from math import cos, sin

    angle = tuple(sorted(multiples.items()))
    c, s = (Sum(book, terms) for terms in (trig_terms("cos", angle), trig_terms("sin", angle)))
    if not constant:
        return c, s
    c0, s0 = book.number(_clean(cos(constant))), book.number(_clean(sin(constant)))
    return c * c0 - s * s0, s * c0 + c * s0


def _clean(number: float) -> float:
    """Zero for the cosine of a right angle as floats have it."""
    return 0.0 if abs(number) < 1e-15 else number


def _root_value(book: Book, powers: Powers) -> float:
    value = 1.0
    for letter, power in powers:
        value *= float(book.letters[letter].number or 0) ** power
    return value


def _product(book: Book, a: Terms, b: Terms) -> Terms:
    result: Terms = {}
    for (powers_a, trig_a, angle_a), factor_a in a.items():
        for (powers_b, trig_b, angle_b), factor_b in b.items():
            powers, factor = _merge(book, powers_a, powers_b)
            factor = factor * factor_a * factor_b
            trig_left, angle_left, trig_right, angle_right = trig_a, angle_a, trig_b, angle_b
            powers, trig_left, angle_left = _cancel(book, powers, trig_left, angle_left)
            powers, trig_right, angle_right = _cancel(book, powers, trig_right, angle_right)
            if not trig_left or not trig_right:
                term = (powers, trig_left or trig_right, angle_left or angle_right)
                collect(result, term, factor)
                continue
            for function, sign, end in PRODUCTS[trig_left, trig_right]:
                both = add_angles(angle_left, angle_right, sign)
                for (_, trig, angle), unit in trig_terms(function, both).items():
                    cancelled = _cancel(book, powers, trig, angle)
                    collect(result, cancelled, half(factor) * unit * end)
    return result


def _merge(book: Book, a: Powers, b: Powers) -> tuple[Powers, Exact]:
    """The product of powers, and what roots leave outside."""
    if not a or not b:
        return a or b, 1
    total = dict(a)
    outside: Exact = 1
    for letter, power in b:
        power += total.pop(letter, 0)
        square = book.letters[letter].square
        if square:
            outside = outside * Fraction(square) ** (power // 2)
            power %= 2
        if power:
            total[letter] = power
    return tuple(sorted(total.items())), outside


def _cancel(book: Book, powers: Powers, trig: str, angle: Angle) -> Term:
    """A sine over the same sine is 1."""
    letter = book.trig_letter(trig, angle) if trig else None
    if letter is not None:
        for place, (each, power) in enumerate(powers):
            if each == letter and power < 0:
                return with_power(powers, place, power + 1), "", ()
    return powers, trig, angle


def without_content(book: Book, terms: Terms) -> tuple[Exact, Powers, Terms]:
    """Number, powers and the rest, whose product is the sum."""
    number, powers = content(terms)
    inverse: Terms = {(tuple((letter, -power) for letter, power in powers), "", ()): Fraction(1) / number}
    return number, powers, _product(book, terms, inverse)


def _quotient(a: Sum, b: Sum) -> Sum:
    if not b.terms:
        raise ZeroDivisionError("division by a sum that is zero")
    if not a.terms:
        return a
    book = a.book
    number, powers, core = without_content(book, b.terms)
    letters = list(powers)
    if core != {ONE: 1}:
        own_number, own_powers, own = without_content(book, a.terms)
        if own == core:
            a = Sum(book, {(own_powers, "", ()): own_number})
        elif own == {term: -factor for term, factor in core.items()}:
            a = Sum(book, {(own_powers, "", ()): -own_number})
        else:
            letters += book.divisor(core)
            number = number * trig_number(core)
    merged: dict[int, int] = {}
    for letter, power in letters:
        merged[letter] = merged.get(letter, 0) - power
    for letter, power in list(merged.items()):
        if power > 0 and book.is_divisor(letter):
            a = a * book.written_out(letter) ** merged.pop(letter)
    below, outside = _merge(book, tuple(sorted(merged.items())), ())
    factor: Terms = {(below, "", ()): outside * Fraction(1) / number}
    return Sum(book, _product(book, a.terms, factor))


def _single_trig(definition: Definition) -> tuple[str, Angle] | None:
    """Function and angle, where a definition is one sine or cosine."""
    if definition.function or len(definition.arguments[0].terms) != 1:
        return None
    ((powers, function, angle), factor), *_ = definition.arguments[0].terms.items()
    return (function, angle) if function and not powers and factor == 1 else None


def _sqrt(value: Sum) -> Sum:
    """The positive root at the description's numbers: √(l²) is l where l is positive there."""
    book = value.book
    if not value.terms:
        return value
    number, powers, core = without_content(book, value.terms)
    outside = tuple((letter, power // 2) for letter, power in powers if power // 2)
    inside = tuple((letter, power % 2) for letter, power in powers if power % 2)
    sign = 1
    for letter, power in outside:
        if power % 2 and (book.letters[letter].number or 0) < 0:
            sign = -sign
    left = Sum(book, _product(book, core, {(inside, "", ()): 1}))
    if number > 0:
        root = book.number(Fraction(number).numerator ** 0.5) / book.number(
            Fraction(number).denominator ** 0.5
        )
    else:
        root, left = book.number(1), left * number
    if left.number != 1:
        root = root * book.call("sqrt", left)
    return root * Sum(book, {(outside, "", ()): sign})


def _function_rate(value: Sum, definition: Definition, changes: Sequence[Sum]) -> Sum:
    """The rate of a defined letter from those of its arguments."""
    match definition.function:
        case "":
            return changes[0]
        case "sqrt":
            return changes[0] / (2 * value)
        case "atan2":
            (y, x), (dy, dx) = definition.arguments, changes
            return (x * dy - y * dx) / (x * x + y * y)
    raise TooLong  # no constraint has a rate through any other function
