"""How a sum is best written: what to factor out, sines of sums or products of sines, one fraction line or several.

A sum becomes a small tree (`SumNode`); of several forms the one with the fewest operations is taken. No form changes
the value: they are the same terms in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import comb

from trundle.formulas.algebra.polynomials import SymbolTable, TrigPolynomial
from trundle.formulas.algebra.terms import (
    AngleSum,
    Atom,
    Exact,
    Powers,
    SumNode,
    Trig,
    add,
    content,
    divided,
    ordered,
    tidy,
)

# Terms with sines and cosines among the factors.
Flat = dict[Powers, Exact]

# Sines of sums are multiplied out, to see whether that is shorter, where it gives no more terms than this for an angle.
_MOST_TRIED = 90
_FORMS = ("sum", "both", "cos", "sin")


def best(value: TrigPolynomial) -> SumNode:
    """The tree with the fewest operations among the forms tried."""
    trees = value.table.trees
    if value.key not in trees:
        trees[value.key] = _best(value)
    return trees[value.key]


def _best(value: TrigPolynomial) -> SumNode:
    """The shortest tree that is tried: a sum, or sines of sums multiplied out for one angle after the other.

    Angles are decided on greedily, as all choices together would be 4^angles trees.
    """
    angles = sorted({symbol for _, _, angle in value.terms for symbol, _ in angle})
    forms = dict.fromkeys(angles, "sum")
    chosen = shortest(flat(value, forms))
    if len(angles) * sum(2 ** len(angle) for _, _, angle in value.terms) // 2 > _MOST_TRIED:
        return chosen
    for angle in angles:
        for form in _FORMS[1:]:
            tried = shortest(flat(value, {**forms, angle: form}))
            if cost(tried) < cost(chosen):
                chosen, forms = tried, {**forms, angle: form}
    if any(form != "sum" for form in forms.values()):
        chosen = folded(value.table, chosen)
    apart = shortest(_by_factors(value)) if angles else chosen
    return apart if cost(apart) < cost(chosen) else chosen


def _by_factors(value: TrigPolynomial) -> Flat:
    """Terms with the sines of each product of symbols in their own best form."""
    groups: dict[Powers, TrigPolynomial] = {}
    for (powers, function, angle), factor in value.terms.items():
        groups.setdefault(powers, value.table.zero).terms[(), function, angle] = factor
    result: Flat = {}
    # One group at a time: a form that is short for one factor's terms may be long for another's.
    for powers, group in groups.items():
        angles = {symbol for _, _, angle in group.terms for symbol, _ in angle}
        forms = [flat(group, dict.fromkeys(angles, form)) for form in _FORMS]
        for atoms, factor in min(forms, key=lambda terms: cost(shortest(terms))).items():
            add(result, _times(atoms, powers), factor)
    return result


def _times(a: Powers, b: Powers, power: int = 1) -> Powers:
    """The product of powers a · b^power."""
    if not b:
        return a
    own = dict(a)
    for atom, exponent in b:
        own[atom] = own.get(atom, 0) + power * exponent
    return ordered(own)


def folded(table: SymbolTable, node: SumNode) -> SumNode:
    """A tree whose brackets hold sines of sums again, where that is shorter: multiplying out found their factors."""
    number, powers, sums = node.coefficient, node.powers, []
    for inner, power in node.sums:
        parts = tuple(folded(table, part) for part in inner)
        total = _sum_of(table, parts) if power == 1 else None
        tried = None if total is None or not total.terms else shortest(flat(total, {}))
        if tried is None or cost(tried) >= cost(SumNode(1, (), ((parts, 1),))):
            sums.append((parts, power))
            continue
        number, powers = tidy(number * Fraction(tried.coefficient)), _times(powers, tried.powers)
        sums += tried.sums
    return SumNode(number, powers, tuple(sums))


def _sum_of(table: SymbolTable, nodes: Sequence[SumNode]) -> TrigPolynomial | None:
    """Nodes added up again; None where something stands below a fraction line."""
    total = table.zero
    for node in nodes:
        part = table.product((), node.coefficient)
        for atom, power in node.powers:
            if isinstance(atom, int):
                part = part * table.product(((atom, power),))
            elif power < 0:
                return None
            else:
                part = part * table.term(((), *atom)) ** power
        for inner, power in node.sums:
            below = _sum_of(table, inner)
            if below is None or power < 0:
                return None
            part = part * below**power
        total = total + part
    return total


def shortest(terms: Flat) -> SumNode:
    """Everything over one fraction line, or a sum of fractions: the shorter of the two; nothing where multiplying out
    finds that all cancels, as in sin 2α/cos α − 2 sin α.
    """
    if not terms:
        return SumNode(0, ())
    whole = collect(terms)
    below: dict[Powers, Flat] = {}
    for powers, factor in terms.items():
        below.setdefault(tuple(p for p in powers if p[1] < 0), {})[powers] = factor
    if len(below) < 2:
        return whole
    apart = SumNode(1, (), ((tuple(collect(part) for part in below.values()), 1),))
    return apart if cost(apart) < cost(whole) else whole


def collect(terms: Flat) -> SumNode:
    """Common factors before a bracket, and so on inside it: the factor that most terms share first."""
    if len(terms) == 1:
        ((powers, factor),) = terms.items()
        return SumNode(factor, powers)
    number, shared = content(terms.items())
    number = number if any(factor > 0 for factor in terms.values()) else -number
    before = ordered(shared)
    rest = {_times(powers, before, -1): divided(factor, number) for powers, factor in terms.items()}
    nodes = _together(_bracket(rest))
    if len(nodes) > 1:
        return SumNode(number, before, ((tuple(nodes), 1),))
    coefficient, powers, sums = nodes[0]
    return SumNode(tidy(Fraction(number) * coefficient), _times(before, powers), sums)


def _together(nodes: Sequence[SumNode]) -> list[SumNode]:
    """Nodes that have the same brackets as one: a (x + y) + b (x + y) is (a + b) (x + y)."""
    groups: dict[object, list[SumNode]] = {}
    for node in nodes:
        groups.setdefault(node.sums or node, []).append(node)
    gathered = []
    for group in groups.values():
        if len(group) == 1:
            gathered += group
            continue
        before: Flat = {}
        for node in group:
            add(before, node.powers, node.coefficient)
        head = collect(before)
        gathered.append(SumNode(head.coefficient, head.powers, (*head.sums, *group[0].sums)))
    return gathered


def _bracket(terms: Flat) -> list[SumNode]:
    """The terms between brackets."""
    if len(terms) < 3:
        return [SumNode(factor, powers) for powers, factor in terms.items()]
    counts = Counter(atom for powers in terms for atom, power in powers if power > 0)
    # Greedy, as trying all orders of factors would take exponentially long.
    atom, most = max(counts.items(), key=lambda item: (item[1], _rank(item[0])), default=(None, 0))
    if most < 2:
        return [SumNode(factor, powers) for powers, factor in terms.items()]
    having = {powers: factor for powers, factor in terms.items() if any(a == atom for a, _ in powers)}
    others = {powers: factor for powers, factor in terms.items() if powers not in having}
    return [collect(having), *(_bracket(others) if others else [])]


@cache
def _rank(atom: Atom) -> tuple[int, str]:
    """Among factors that as many terms share: sines and cosines first, then the symbols that came last (speeds, then
    coordinates, then parameters).
    """
    return (1, repr(atom)) if isinstance(atom, tuple) else (0, f"{atom:6d}")


def cost(node: SumNode) -> int:
    """Operations of a tree, about as `sympy.count_ops` counts them."""
    parts = [cost_of_atom(atom) + (abs(power) != 1) for atom, power in node.powers]
    parts += [sum(map(cost, inner)) + len(inner) - 1 + (abs(power) != 1) for inner, power in node.sums]
    number = Fraction(node.coefficient)
    marks = (abs(number.numerator) != 1) + (number.denominator != 1)
    return sum(parts) + max(len(parts) - 1, 0) + (marks if parts else 0)


def cost_of_atom(atom: Atom) -> int:
    """A symbol costs nothing; a sine itself, and what is inside."""
    if isinstance(atom, int):
        return 0
    return len(atom[1]) + sum(abs(multiple) != 1 for _, multiple in atom[1])


def flat(value: TrigPolynomial, forms: dict[int, str]) -> Flat:
    """Terms with sines and cosines as atoms; those of the angles whose form isn't "sum" multiplied out."""
    result: Flat = {}
    for (powers, function, angle), factor in value.terms.items():
        for atoms, unit in multiplied(function, angle, forms) if function else [((), 1)]:
            add(result, _times(atoms, powers), factor * unit)
    for symbol, form in forms.items():
        if form != "sum":
            result = _squares(result, symbol, form)
    return result


def multiplied(function: str, angle: AngleSum, forms: dict[int, str]) -> list[tuple[Powers, Exact]]:
    """cos(kα + β) = cos kα cos β − sin kα sin β for the first α to be multiplied out, and so on with β."""
    for place, (symbol, multiple) in enumerate(angle):
        if forms.get(symbol, "sum") == "sum" or not isinstance(multiple, int):
            continue
        # Angles in sums begin with a positive multiple, so that equal ones look alike: the sign goes in front.
        rest, sign = (*angle[:place], *angle[place + 1 :]), 1
        if rest and rest[0][1] < 0:
            rest, sign = tuple((a, -k) for a, k in rest), -1
        pairs = (
            [("cos", "cos", 1), ("sin", "sin", -sign)]
            if function == "cos"
            else [("sin", "cos", 1), ("cos", "sin", sign)]
        )
        return [
            (_times(atoms, own), unit * number * factor)
            for first, second, unit in pairs
            if rest or second == "cos"
            for own, number in _multiple(first, symbol, multiple)
            for atoms, factor in (multiplied(second, rest, forms) if rest else [((), 1)])
        ]
    return [((((function, angle), 1),), 1)]


def _multiple(function: str, symbol: int, multiple: int) -> Iterator[tuple[Powers, Exact]]:
    """cos kα or sin kα as Σ number cos^i α sin^j α, from (cos α + i sin α)^k."""
    size, sign = abs(multiple), 1 if multiple > 0 or function == "cos" else -1
    once = ((symbol, 1),)
    for j in range(function == "sin", size + 1, 2):
        powers: dict[Atom, int] = {("cos", once): size - j, ("sin", once): j}
        yield ordered(powers), sign * comb(size, j) * (-1) ** (j // 2)


def _squares(terms: Flat, symbol: int, form: str) -> Flat:
    """cos² + sin² = 1, used to be rid of the squares of one of them, or of lone numbers beside both squares."""
    c, s = ("cos", ((symbol, 1),)), ("sin", ((symbol, 1),))
    gone, kept = (s, c) if form != "sin" else (c, s)
    result: Flat = {}
    work = list(terms.items())
    while work:
        powers, factor = work.pop()
        if dict(powers).get(gone, 0) < 2:
            add(result, powers, factor)
            continue
        left = _times(powers, ((gone, -2),))
        work += [(left, factor), (_times(left, ((kept, 2),)), -factor)]
    return _paired(result, c, s) if form == "both" else result


def _paired(terms: Flat, c: Trig, s: Trig) -> Flat:
    """a + b cos² becomes a sin² + (a + b) cos²."""
    result: Flat = {}
    for powers, factor in terms.items():
        own = dict(powers)
        raised = _times(powers, ((c, 2),))
        if c not in own and s not in own and raised in terms:
            add(result, raised, factor)
            add(result, _times(powers, ((s, 2),)), factor)
        else:
            add(result, powers, factor)
    return result
