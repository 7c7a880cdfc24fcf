"""Fractions of sums in lowest terms.

With t = tan(α/2), cos α = (1 − t²)/(1 + t²) and sin α = 2t/(1 + t²) for every angle α, a sum is a polynomial over
powers of 1 + t². The greatest common divisor of two such polynomials knows all that sines and cosines have to do with
one another, which one in sin α and cos α doesn't.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sympy import QQ
from sympy.polys.rings import PolyElement, PolyRing, ring

from trundle.formulas.algebra.forms import multiplied
from trundle.formulas.algebra.polynomials import SymbolTable, TrigPolynomial
from trundle.formulas.algebra.terms import Atom, Powers

# Fractions beyond these are left as they are: a common factor is rare there, and looking for it is slow.
_MOST_TERMS = 40
# Symbols are variables of the polynomials whose greatest divisor is sought: its cost grows fastest with them.
_MOST_LETTERS = 14
# cos(n α) has degree 2 n in the half angle's tangent: larger multiples of an angle make polynomials too long.
_MOST_MULTIPLE = 6


def reduced(above: TrigPolynomial, below: TrigPolynomial) -> tuple[TrigPolynomial, TrigPolynomial]:
    """The same fraction in lowest terms; as it came where it is too long, or where that would need half angles."""
    angles, symbols = _symbols(above, below)
    if max(len(above.terms), len(below.terms)) > _MOST_TERMS or len(angles) + len(symbols) > _MOST_LETTERS:
        return above, below
    # Half an angle's multiple has no polynomial in t = tan(α/2).
    if any(
        not isinstance(k, int) or abs(k) > _MOST_MULTIPLE
        for s in (above, below)
        for *_, a in s.terms
        for _, k in a
    ):
        return above, below
    space = ring([f"x{k}" for k in range(len(symbols) + len(angles))], QQ)[0]
    frame = _Frame(above.table, space, symbols, angles)
    first, degrees_first = frame.polynomial(above)
    second, degrees_second = frame.polynomial(below)
    shared, first, second = first.cofactors(second)
    halves = []
    for k, (a, b) in enumerate(zip(degrees_first, degrees_second, strict=True)):
        place = len(symbols) + k
        own = shared.degree(place)
        # Roots at α = 180°, where t is infinite, show as degrees that are missing.
        far = min(2 * a - own - first.degree(place), 2 * b - own - second.degree(place))
        # An odd count would leave a single sine or cosine of α/2, which is no symbol of the fraction.
        if (own + far) % 2:
            return above, below
        halves.append((own + far) // 2)
    lowered = [
        [a - h for a, h in zip(degrees, halves, strict=True)] for degrees in (degrees_first, degrees_second)
    ]
    return frame.to_trig(first, lowered[0]), frame.to_trig(second, lowered[1])


def _symbols(*sums: TrigPolynomial) -> tuple[list[int], list[int]]:
    """The symbols that stand in angles, and those that are factors."""
    angles = {k for each in sums for _, _, angle in each.terms for k, _ in angle}
    plain = {
        atom for each in sums for powers, _, _ in each.terms for atom, _ in powers if isinstance(atom, int)
    }
    return sorted(angles), sorted(plain)


def _angle(trig: Atom) -> int:
    """The symbol of a sine or cosine of a single angle."""
    assert isinstance(trig, tuple)
    return trig[1][0][0]


class _Frame:
    """Polynomials in symbols and in t of each angle, and the way back."""

    def __init__(
        self, table: SymbolTable, space: PolyRing, symbols: Sequence[int], angles: Sequence[int]
    ) -> None:
        self.table, self.space = table, space
        self.symbols, self.angles = list(symbols), list(angles)
        self.gens: dict[Atom, PolyElement] = dict(zip(symbols, space.gens, strict=False))
        self.t = dict(zip(angles, space.gens[len(symbols) :], strict=True))

    def polynomial(self, value: TrigPolynomial) -> tuple[PolyElement, list[int]]:
        """The numerator over Π (1 + t²)^degree, and the degrees; negative powers are not expected."""
        parts: list[tuple[Powers, Powers, Fraction, dict[int, int]]] = []
        for (powers, function, angle), factor in value.terms.items():
            turns = multiplied(function, angle, dict.fromkeys(self.angles, "cos")) if function else [((), 1)]
            for trigs, unit in turns:
                counts = dict.fromkeys(self.angles, 0)
                for trig, power in trigs:
                    counts[_angle(trig)] += power
                parts.append((powers, trigs, Fraction(factor * unit), counts))
        degrees = [max((counts[k] for *_, counts in parts), default=0) for k in self.angles]
        total = self.space.zero
        for powers, trigs, factor, counts in parts:
            part = self.space.ground_new(QQ(factor.numerator, factor.denominator))
            for symbol, power in powers:
                part *= self.gens[symbol] ** power
            for trig, power in trigs:
                t = self.t[_angle(trig)]
                part *= (1 - t**2 if isinstance(trig, tuple) and trig[0] == "cos" else 2 * t) ** power
            for k, degree in zip(self.angles, degrees, strict=True):
                part *= (1 + self.t[k] ** 2) ** (degree - counts[k])
            total += part
        return total, degrees

    def to_trig(self, polynomial: PolyElement, degrees: Sequence[int]) -> TrigPolynomial:
        """Back: t^j/(1 + t²)^n = sin^j(α/2) cos^(2n − j)(α/2), by sin² = (1 − cos α)/2 and its like."""
        result = self.table.zero
        for powers, factor in polynomial.terms():
            part = self.table.number(Fraction(int(factor.numerator), int(factor.denominator)))
            for symbol, power in zip(self.symbols, powers, strict=False):
                part = part * self.table.symbol(symbol) ** power
            for k, j, n in zip(self.angles, powers[len(self.symbols) :], degrees, strict=True):
                part = part * self._half_powers(k, j, 2 * n - j)
            result = result + part
        return result

    def _half_powers(self, angle: int, sines: int, cosines: int) -> TrigPolynomial:
        c = self.table.term(((), "cos", ((angle, 1),)))
        s = self.table.term(((), "sin", ((angle, 1),)))
        result = ((1 - c) / 2) ** (sines // 2) * ((1 + c) / 2) ** (cosines // 2)
        return result * s / 2 if sines % 2 else result
