"""The terms of a sum: powers of letters times at most one sine or cosine, and what can be done to them alone."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from trundle.formulas.numbers import Exact, tidy

Powers = tuple[tuple[int, int], ...]  # (letter, exponent), by letter
Angle = tuple[tuple[int, Exact], ...]  # (letter, multiple), by letter
Term = tuple[Powers, str, Angle]  # "", "cos" or "sin" of the angle
Terms = dict[Term, Exact]

ONE: Term = ((), "", ())
# sin α cos β = ½ sin(α + β) + ½ sin(α − β) and its like: function, sign of β, sign of the half.
PRODUCTS: dict[tuple[str, str], tuple[tuple[str, int, int], ...]] = {
    ("cos", "cos"): (("cos", 1, 1), ("cos", -1, 1)),
    ("sin", "sin"): (("cos", -1, 1), ("cos", 1, -1)),
    ("sin", "cos"): (("sin", 1, 1), ("sin", -1, 1)),
    ("cos", "sin"): (("sin", 1, 1), ("sin", -1, -1)),
}


def collect(terms: Terms, term: Term, factor: Exact) -> None:
    """Add one term."""
    total = terms.get(term, 0) + factor
    if total:
        terms[term] = tidy(total)
    else:
        terms.pop(term, None)


def with_power(powers: Powers, place: int, power: int) -> Powers:
    """Powers with another exponent at one place."""
    letter = powers[place][0]
    middle = ((letter, power),) if power else ()
    return (*powers[:place], *middle, *powers[place + 1 :])


def trig_terms(function: str, angle: Angle) -> Terms:
    """The terms of a sine or cosine, the first multiple made positive."""
    kept = tuple((letter, tidy(multiple)) for letter, multiple in angle if multiple)
    if not kept:
        return {ONE: 1} if function == "cos" else {}
    if kept[0][1] > 0:
        return {((), function, kept): 1}
    flipped = tuple((letter, -multiple) for letter, multiple in kept)
    return {((), function, flipped): 1 if function == "cos" else -1}


def add_angles(a: Angle, b: Angle, sign: int) -> Angle:
    """a + sign · b."""
    total = dict(a)
    for letter, multiple in b:
        total[letter] = total.get(letter, 0) + sign * multiple
    return tuple(sorted((letter, multiple) for letter, multiple in total.items() if multiple))


def content(terms: Terms) -> tuple[Exact, Powers]:
    """The greatest number and powers (the least exponents) that all terms share; the number has the first term's
    sign.
    """
    numerator, denominator = 0, 1
    shared: dict[int, int] | None = None
    for (powers, _, _), factor in terms.items():
        numerator, denominator = gcd(numerator, factor.numerator), lcm(denominator, factor.denominator)
        own = dict(powers)
        if shared is None:
            shared = own
            continue
        for letter in {*shared, *own}:
            shared[letter] = min(shared.get(letter, 0), own.get(letter, 0))
    first = next(iter(terms.values()))
    number = tidy(Fraction(numerator if first > 0 else -numerator, denominator))
    return number, tuple(sorted((letter, power) for letter, power in (shared or {}).items() if power))


def trig_factors(terms: Terms) -> list[tuple[str, Angle, int]]:
    """A sum as a product of sines and cosines, where it is: sin α, sin 2α = 2 sin α cos α, 1 ∓ cos 2α = 2 sin² α or
    2 cos² α; else nothing.
    """
    items = list(terms.items())
    if len(items) == 1:
        (_, function, angle), _ = items[0]
        if not function:
            return []
        once = halved(angle)
        if function == "sin" and once is not None:
            return [("sin", once, 1), ("cos", once, 1)]
        return [(function, angle, 1)]
    if len(items) == 2 and ONE in terms:
        (_, function, angle), factor = next(item for item in items if item[0] != ONE)
        powers = next(term[0] for term, _ in items if term != ONE)
        once = halved(angle)
        if function == "cos" and not powers and once is not None and abs(factor) == abs(terms[ONE]):
            return [("cos" if factor == terms[ONE] else "sin", once, 2)]
    return []


def trig_number(terms: Terms) -> Exact:
    """What stands before the product of `trig_factors`: the sum is number · product."""
    factors = trig_factors(terms)
    if not factors:
        return 1
    if len(terms) == 1:
        factor = next(iter(terms.values()))
        return 2 * factor if len(factors) == 2 else factor
    return 2 * terms[ONE]


def halved(angle: Angle) -> Angle | None:
    """Half of an angle whose multiples are all even."""
    if all(isinstance(multiple, int) and multiple % 2 == 0 for _, multiple in angle):
        return tuple((letter, multiple // 2) for letter, multiple in angle)
    return None
