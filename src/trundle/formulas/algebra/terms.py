"""The parts of a sum, and what can be done to them alone: exact numbers, powers of symbols, sines and cosines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple, TypeVar

Exact = int | Fraction
AngleSum = tuple[tuple[int, Exact], ...]  # (symbol, multiple), by symbol
Trig = tuple[str, AngleSum]  # "sin" or "cos" of an angle
Atom = int | Trig  # a symbol by its number; a sine or cosine, which a sum has below fraction lines only
Powers = tuple[tuple[Atom, int], ...]  # (atom, exponent), as `ordered` has them
Term = tuple[Powers, str, AngleSum]  # "", "cos" or "sin" of the angle
Terms = dict[Term, Exact]
_Key = TypeVar("_Key")

ONE: Term = ((), "", ())
# sin α cos β = ½ sin(α + β) + ½ sin(α − β) and its like: function, sign of β, sign of the half.
PRODUCTS: dict[tuple[str, str], tuple[tuple[str, int, int], ...]] = {
    ("cos", "cos"): (("cos", 1, 1), ("cos", -1, 1)),
    ("sin", "sin"): (("cos", -1, 1), ("cos", 1, -1)),
    ("sin", "cos"): (("sin", 1, 1), ("sin", -1, 1)),
    ("cos", "sin"): (("sin", 1, 1), ("sin", -1, -1)),
}
# Floats this near a short fraction (relatively) are that fraction: rounding of a few operations, far below any figure
# that a person writes.
_NEAR = 1e-14
_LONGEST = 1000


class SumNode(NamedTuple):
    """coefficient · Π atoms^powers · Π (sums of nodes)^powers."""

    coefficient: Exact
    powers: Powers
    sums: tuple[tuple[tuple[SumNode, ...], int], ...] = ()


def tidy(value: Exact) -> Exact:
    """A whole number as an int: arithmetic on ints is ten times as fast."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def divided(value: Exact, by: Exact) -> Exact:
    """value / by."""
    if isinstance(value, int) and isinstance(by, int) and value % by == 0:
        return value // by
    return tidy(Fraction(value) / by)


def half(value: Exact) -> Exact:
    """value / 2."""
    return value // 2 if isinstance(value, int) and value % 2 == 0 else Fraction(value) / 2


def exact(number: float) -> tuple[Exact, int]:
    """(a, n) with number = a √n: n = 1 for what is a short fraction or a decimal, else a square-free whole number.

    0.5000000000000001 is 1/2 and 0.8660254037844386 is √3/2; 0.1234 stays what was written.
    """
    if isinstance(number, int) or float(number).is_integer():
        return int(number), 1
    near = _short(number)
    if near is not None:
        return near, 1
    square = _short(number * number)
    if square is None or square == 0:
        return Fraction(repr(float(number))), 1
    root, rest = _root(square.numerator * square.denominator)
    return tidy(Fraction(int(math.copysign(root, number)), square.denominator)), rest


def _short(number: float) -> Fraction | None:
    near = Fraction(number).limit_denominator(_LONGEST)
    return near if near and abs(float(near) - number) <= _NEAR * abs(number) else None


def _root(number: int) -> tuple[int, int]:
    """(a, n) with √number = a √n and n square-free."""
    outside, inside, factor = 1, number, 2
    while factor * factor <= inside:
        while inside % (factor * factor) == 0:
            inside //= factor * factor
            outside *= factor
        factor += 1
    return outside, inside


def ordered(powers: Mapping[Atom, int]) -> Powers:
    """Powers in their order, those of nothing left out: symbols by number, then sines and cosines by angle."""
    kept = [item for item in powers.items() if item[1]]
    return tuple(sorted(kept, key=_place) if len(kept) > 1 else kept)


def _place(item: tuple[Atom, int]) -> tuple[bool, int, AngleSum, str]:
    atom = item[0]
    return (False, atom, (), "") if isinstance(atom, int) else (True, 0, atom[1], atom[0])


def add(terms: dict[_Key, Exact], term: _Key, factor: Exact) -> None:
    """Add one term; what cancels is no term."""
    total = terms.get(term, 0) + factor
    if total:
        terms[term] = tidy(total)
    else:
        terms.pop(term, None)


def trig_terms(function: str, angle: AngleSum) -> Terms:
    """The terms of a sine or cosine, the first multiple made positive."""
    kept = tuple((symbol, tidy(multiple)) for symbol, multiple in angle if multiple)
    if not kept:
        return {ONE: 1} if function == "cos" else {}
    if kept[0][1] > 0:
        return {((), function, kept): 1}
    flipped = tuple((symbol, -multiple) for symbol, multiple in kept)
    return {((), function, flipped): 1 if function == "cos" else -1}


def add_angles(a: AngleSum, b: AngleSum, sign: int) -> AngleSum:
    """a + sign · b."""
    total = dict(a)
    for symbol, multiple in b:
        total[symbol] = total.get(symbol, 0) + sign * multiple
    return tuple(sorted((symbol, multiple) for symbol, multiple in total.items() if multiple))


def content(terms: Iterable[tuple[Powers, Exact]]) -> tuple[Exact, dict[Atom, int]]:
    """The greatest positive number and powers (the least exponents) that all terms share."""
    numerator, denominator = 0, 1
    shared: dict[Atom, int] | None = None
    for powers, factor in terms:
        numerator, denominator = gcd(numerator, factor.numerator), lcm(denominator, factor.denominator)
        if shared is None:
            shared = dict(powers)
            continue
        own = dict(powers)
        below = {atom: power for atom, power in powers if power < min(shared.get(atom, 0), 0)}
        shared = {a: least for a, power in shared.items() if (least := min(power, own.get(a, 0)))} | below
    return tidy(Fraction(numerator, denominator)), shared or {}


def trig_factors(terms: Terms) -> tuple[Exact, list[tuple[Trig, int]]]:
    """A sum as a number times a product of sines and cosines, where it is one: sin α, sin 2α = 2 sin α cos α,
    1 ∓ cos 2α = 2 sin² α or 2 cos² α; else no factors.
    """
    items = list(terms.items())
    if len(items) == 1:
        ((_, function, angle), factor), once = items[0], halved(items[0][0][2])
        if not function:
            return 1, []
        if function == "sin" and once is not None:
            return 2 * factor, [(("sin", once), 1), (("cos", once), 1)]
        return factor, [((function, angle), 1)]
    if len(items) == 2 and ONE in terms:
        (powers, function, angle), factor = next(item for item in items if item[0] != ONE)
        once = halved(angle)
        if function == "cos" and not powers and once is not None and abs(factor) == abs(terms[ONE]):
            return 2 * terms[ONE], [(("cos" if factor == terms[ONE] else "sin", once), 2)]
    return 1, []


def halved(angle: AngleSum) -> AngleSum | None:
    """Half of an angle whose multiples are all even."""
    if all(isinstance(multiple, int) and multiple % 2 == 0 for _, multiple in angle):
        return tuple((symbol, multiple // 2) for symbol, multiple in angle)
    return None
