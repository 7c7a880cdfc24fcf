"""From sums to SymPy expressions that a person can read; which definitions they use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

import sympy

from trundle.formulas.algebra.forms import best, cost
from trundle.formulas.algebra.polynomials import SymbolTable, TrigPolynomial, without_content
from trundle.formulas.algebra.reduction import reduced
from trundle.formulas.algebra.terms import AngleSum, Atom, SumNode, exact, ordered
from trundle.scalars import Scalar

# A divisor of at most this many operations is written where it stands; a longer one keeps its symbol.
_INLINE = 30
# Fractions of sums with at most this many terms are reduced.
_REDUCE = 24
# Pairs of terms that may be multiplied to reduce one fraction: one that takes more stays as it is.
_MOST_REDUCING = 4_000
_FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    **{name: getattr(sympy, name) for name in ("sqrt", "asin", "atan", "atan2", "exp", "log", "tanh")},
    "absolute": sympy.Abs,
    # Unevaluated: SymPy would factor long arguments to find out which is the larger one.
    "minimum": partial(sympy.Min, evaluate=False),
    "maximum": partial(sympy.Max, evaluate=False),
    "pow": sympy.Pow,
}


class Writer:
    """Writes the sums of one table, and remembers which defined symbols were shown."""

    def __init__(self, table: SymbolTable) -> None:
        self.table = table
        self.shown: dict[int, sympy.Expr] = {}
        self._symbols: dict[int, sympy.Expr] = {}
        self._written: dict[object, sympy.Expr] = {}
        self._numbered = 0

    def expression(self, value: Scalar) -> sympy.Expr:
        """A sum as SymPy has it; definitions that it shows are in `shown`, after those that they use themselves."""
        value = self.table.polynomial(value)
        if not value.terms:
            return sympy.Integer(0)
        if value.key not in self._written:
            opposite = self._written.get((-value).key)
            self._written[value.key] = self._write(value) if opposite is None else -opposite
        return self._written[value.key]

    def used(self, expressions: Iterable[sympy.Basic]) -> dict[int, sympy.Expr]:
        """The shown definitions that expressions use, and those that these use, each after its own parts."""
        by_name = {self.table.symbols[index].name: index for index in self.shown}
        found: set[int] = set()
        waiting = [*expressions]
        while waiting:
            names = {symbol.name for symbol in waiting.pop().free_symbols if isinstance(symbol, sympy.Symbol)}
            new = {by_name[name] for name in names & by_name.keys()} - found
            found |= new
            waiting += [self.shown[index] for index in new]
        return {index: value for index, value in self.shown.items() if index in found}

    def plainly(self, value: TrigPolynomial) -> sympy.Expr:
        """A sum term by term, Σ factor · Π atomᵖ · sin or cos(angle), nothing before brackets."""
        terms: list[sympy.Expr] = []
        for (powers, function, angle), factor in value.terms.items():
            atoms = [*powers, *([((function, angle), 1)] if function else [])]
            terms.append(
                sympy.Mul(sympy.Rational(factor), *(self._atom(atom) ** power for atom, power in atoms))
            )
        return sympy.Add(*terms)

    def _write(self, value: TrigPolynomial) -> sympy.Expr:
        fraction = self._written_out(value)
        return self._tree(best(value)) if fraction is None else self.fraction(*fraction)

    def fraction(self, above: TrigPolynomial, below: TrigPolynomial) -> sympy.Expr:
        """above/below, reduced where both are short."""
        if not above.terms:
            return sympy.Integer(0)
        number, powers, core = without_content(self.table, below.terms)
        above = above / self.table.product(powers, number)
        below = TrigPolynomial(self.table, core)
        if max(len(above.terms), len(core)) <= _REDUCE:
            above, below = self._reduced(above, below)
        if all(factor < 0 for factor in above.terms.values()) and min(below.terms.values()) < 0:
            above, below = -above, -below
        return self._over(best(above), best(below))

    def lowest(self, value: TrigPolynomial) -> TrigPolynomial:
        """A fraction whose line goes away in lowest terms without it; everything else as it is."""
        fraction = self._written_out(value) if len(value.terms) <= _REDUCE else None
        if fraction is None:
            return value
        above, left = self._reduced(*fraction)
        ((_, function, _), *others) = left.terms
        return value if function or others else above / left

    def _reduced(self, above: TrigPolynomial, below: TrigPolynomial) -> tuple[TrigPolynomial, TrigPolynomial]:
        """In lowest terms; powers of symbols that stand below a line in `above` wait outside."""
        outside = {atom: 0 for powers, _, _ in above.terms for atom, _ in powers}
        for powers, _, _ in above.terms:
            for atom, power in powers:
                outside[atom] = min(outside[atom], power)
        lifted = ordered({atom: -power for atom, power in outside.items()})
        found = self.table.within(_MOST_REDUCING, lambda: reduced(above * self.table.product(lifted), below))
        if found is None:
            return above, below
        first, second = found
        number, powers, core = without_content(self.table, second.terms)
        back = self.table.product(ordered(outside)) / self.table.product(powers, number)
        return first * back, TrigPolynomial(self.table, core)

    def _over(self, above: SumNode, below: SumNode) -> sympy.Expr:
        """One fraction; numbers and powers of both stand together."""
        number = Fraction(above.coefficient) / below.coefficient
        powers = dict(above.powers)
        for atom, power in below.powers:
            powers[atom] = powers.get(atom, 0) - power
        factors = self._factors(powers)
        factors += [self._sum(inner) ** power for inner, power in above.sums]
        factors += [self._sum(inner) ** -power for inner, power in below.sums]
        return sympy.Mul(sympy.Rational(number), *factors)

    def _below(self, value: TrigPolynomial) -> dict[int, int]:
        """Defined symbols below a fraction line, and their greatest power there."""
        deepest: dict[int, int] = {}
        for powers, _, _ in value.terms:
            for atom, power in powers:
                if power < 0 and isinstance(atom, int):
                    definition = self.table.symbols[atom].definition
                    if definition is not None and not definition.function:
                        deepest[atom] = max(deepest.get(atom, 0), -power)
        return deepest

    def _written_out(self, value: TrigPolynomial) -> tuple[TrigPolynomial, TrigPolynomial] | None:
        """Numerator and denominator, where something short stands below a fraction line that has no name."""
        below = {symbol: power for symbol, power in self._below(value).items() if self._short(symbol)}
        if not below:
            return None
        above, product = value, self.table.number(1)
        for symbol, power in below.items():
            divisor = self.table.divisor(symbol)
            assert divisor is not None
            above, product = self._raised(above, symbol, power, divisor), product * divisor**power
        return above, product

    def _short(self, symbol: int) -> bool:
        """Whether a divisor has no name of its own and is short enough to stand where it is used."""
        divisor = self.table.divisor(symbol)
        if divisor is None or self._below(divisor):
            return False
        return len(divisor.terms) <= _INLINE and cost(best(divisor)) <= _INLINE

    def _raised(
        self, value: TrigPolynomial, symbol: int, power: int, divisor: TrigPolynomial
    ) -> TrigPolynomial:
        """value · symbol^power, with what is then left of the symbol written out."""
        total = self.table.zero
        for (powers, function, angle), factor in value.terms.items():
            own = dict(powers)
            left = own.pop(symbol, 0) + power
            total = total + self.table.term((ordered(own), function, angle), factor) * divisor**left
        return total

    def _factors(self, powers: dict[Atom, int]) -> list[sympy.Expr]:
        """Powers of atoms; a sine over its cosine is a tangent."""
        left = {atom: power for atom, power in powers.items() if power}
        factors = []
        for atom in list(left):
            if isinstance(atom, tuple) and atom[0] == "sin":
                other = ("cos", atom[1])
                shared = min(abs(left[atom]), abs(left.get(other, 0)))
                if shared and left[atom] * left[other] < 0:
                    sign = 1 if left[atom] > 0 else -1
                    factors.append(sympy.tan(self._angle(atom[1])) ** (sign * shared))
                    left[atom] -= sign * shared
                    left[other] += sign * shared
        return factors + [self._atom(atom) ** power for atom, power in left.items() if power]

    def _tree(self, node: SumNode) -> sympy.Expr:
        factors = self._factors(dict(node.powers))
        factors += [self._sum(inner) ** power for inner, power in node.sums]
        return sympy.Mul(sympy.Rational(node.coefficient), *factors)

    def _sum(self, inner: tuple[SumNode, ...]) -> sympy.Expr:
        return sympy.Add(*(self._tree(node) for node in inner))

    def _atom(self, atom: Atom) -> sympy.Expr:
        if isinstance(atom, int):
            return self.symbol(atom)
        function, angle = atom
        return sympy.cos(self._angle(angle)) if function == "cos" else sympy.sin(self._angle(angle))

    def _angle(self, angle: AngleSum) -> sympy.Expr:
        return sympy.Add(*(sympy.Rational(multiple) * self.symbol(symbol) for symbol, multiple in angle))

    def symbol(self, symbol: int) -> sympy.Expr:
        """The symbol of a symbol; that of a definition is noted with what it stands for."""
        if symbol in self._symbols:
            return self._symbols[symbol]
        entry = self.table.symbols[symbol]
        if entry.square:
            self._symbols[symbol] = sympy.sqrt(entry.square)
            return self._symbols[symbol]
        if entry.definition is not None:
            arguments = [self.expression(argument) for argument in entry.definition.arguments]
            function = entry.definition.function
            value = _called(function)(*arguments) if function else arguments[0]
            if not entry.name:
                entry.name = self._unnamed()
            self.shown[symbol] = value
        self._symbols[symbol] = sympy.Symbol(entry.name)
        return self._symbols[symbol]

    def _unnamed(self) -> str:
        """The next free name for a quantity that has none: z_1, z_2, …"""
        taken = {entry.name for entry in self.table.symbols}
        self._numbered += 1
        while f"z_{self._numbered}" in taken:
            self._numbered += 1
        return f"z_{self._numbered}"


def _called(function: str) -> Callable[..., sympy.Expr]:
    """SymPy's function of a name; of the description's own one without a rule."""
    return _FUNCTIONS.get(function) or sympy.Function(function)


def exactly(value: float) -> sympy.Expr:
    """The decimal, fraction or root of one that a float was written as."""
    factor, square = exact(value)
    return sympy.Rational(factor) * sympy.sqrt(square)
