"""How a sum is best written: what to factor out, sines of sums or products of sines, one fraction line or several.

A sum becomes a small tree (`Node`); of several forms the one with the fewest operations is taken. No form changes the
value: they are the same terms in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

from trundle.formulas.algebra import Angle, Book, Sum
from trundle.formulas.numbers import Exact, tidy

Atom = int | tuple[str, Angle]  # a letter, or a sine or cosine
Flat = dict[tuple[tuple[Atom, int], ...], Exact]

# Sines of sums are multiplied out, to see whether that is shorter, where it gives no more terms than this for an angle.
_MOST_TRIED = 90
_FORMS = ("sum", "both", "cos", "sin")


class Node(NamedTuple):
    """coefficient · Π atoms^powers · Π (sums of nodes)^powers."""

    coefficient: Exact
    powers: tuple[tuple[Atom, int], ...]
    sums: tuple[tuple[tuple[Node, ...], int], ...] = ()


def best(value: Sum) -> Node:
    """The tree with the fewest operations among the forms tried."""
    trees = value.book.trees
    if value.key not in trees:
        trees[value.key] = _best(value)
    return trees[value.key]


def _best(value: Sum) -> Node:
    angles = sorted({letter for _, _, angle in value.terms for letter, _ in angle})
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
        chosen = folded(value.book, chosen)
    apart = shortest(_by_factors(value)) if angles else chosen
    return apart if cost(apart) < cost(chosen) else chosen


def _by_factors(value: Sum) -> Flat:
    """Terms with the sines of each product of letters in their own best form."""
    groups: dict[tuple[tuple[int, int], ...], Sum] = {}
    for (powers, function, angle), factor in value.terms.items():
        group = groups.setdefault(powers, Sum(value.book, {}))
        group.terms[(), function, angle] = factor
    result: Flat = {}
    for powers, group in groups.items():
        angles = {letter for _, _, angle in group.terms for letter, _ in angle}
        forms = [flat(group, dict.fromkeys(angles, form)) for form in _FORMS]
        for atoms, factor in min(forms, key=lambda terms: cost(shortest(terms))).items():
            own = dict(atoms)
            for letter, power in powers:
                atom: Atom = value.book.trig_of(letter) or letter
                own[atom] = own.get(atom, 0) + power
            _add(result, _ordered(own), factor)
    return result


def folded(book: Book, node: Node) -> Node:
    """A tree whose brackets hold sines of sums again, where that is shorter: multiplying out found their factors."""
    number, powers, sums = node.coefficient, dict(node.powers), []
    for inner, power in node.sums:
        parts = tuple(folded(book, part) for part in inner)
        total = _sum_of(book, parts) if power == 1 else None
        tried = None if total is None or not total.terms else shortest(flat(total, {}))
        if tried is None or cost(tried) >= cost(Node(1, (), ((parts, 1),))):
            sums.append((parts, power))
            continue
        number = tidy(number * Fraction(tried.coefficient))
        for atom, own in tried.powers:
            powers[atom] = powers.get(atom, 0) + own
        sums += tried.sums
    return Node(number, _ordered(powers), tuple(sums))


def _sum_of(book: Book, nodes: Sequence[Node]) -> Sum | None:
    """Nodes added up again; None where something stands below a fraction line."""
    total = Sum(book, {})
    for node in nodes:
        part = Sum(book, {((), "", ()): node.coefficient})
        for atom, power in node.powers:
            if isinstance(atom, int):
                part = part * Sum(book, {(((atom, power),), "", ()): 1})
            elif power < 0:
                return None
            else:
                part = part * Sum(book, {((), *atom): 1}) ** power
        for inner, power in node.sums:
            below = _sum_of(book, inner)
            if below is None or power < 0:
                return None
            part = part * below**power
        total = total + part
    return total


def shortest(terms: Flat) -> Node:
    """Everything over one fraction line, or a sum of fractions: the shorter of the two."""
    whole = collect(terms)
    below: dict[tuple[tuple[Atom, int], ...], Flat] = {}
    for powers, factor in terms.items():
        below.setdefault(tuple(p for p in powers if p[1] < 0), {})[powers] = factor
    if len(below) < 2:
        return whole
    apart = Node(1, (), ((tuple(collect(part) for part in below.values()), 1),))
    return apart if cost(apart) < cost(whole) else whole


def collect(terms: Flat) -> Node:
    """Common factors before a bracket, and so on inside it: the factor that most terms share first."""
    if len(terms) == 1:
        ((powers, factor),) = terms.items()
        return Node(factor, powers)
    number, shared, rest = _content(terms)
    nodes = _together(_bracket(rest))
    if len(nodes) > 1:
        return Node(number, shared, ((tuple(nodes), 1),))
    powers = dict(shared)
    for atom, power in nodes[0].powers:
        powers[atom] = powers.get(atom, 0) + power
    return Node(tidy(Fraction(number) * nodes[0].coefficient), _ordered(powers), nodes[0].sums)


def _together(nodes: Sequence[Node]) -> list[Node]:
    """Nodes that have the same brackets as one: a (x + y) + b (x + y) is (a + b) (x + y)."""
    groups: dict[Any, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.sums or node, []).append(node)
    found = []
    for group in groups.values():
        if len(group) == 1:
            found += group
            continue
        before: Flat = {}
        for node in group:
            _add(before, node.powers, node.coefficient)
        head = collect(before)
        found.append(Node(head.coefficient, head.powers, (*head.sums, *group[0].sums)))
    return found


def _bracket(terms: Flat) -> list[Node]:
    """The terms between brackets."""
    if len(terms) < 3:
        return [Node(factor, powers) for powers, factor in terms.items()]
    counts = Counter(atom for powers in terms for atom, power in powers if power > 0)
    atom, most = max(counts.items(), key=lambda item: (item[1], _rank(item[0])), default=(None, 0))
    if most < 2:
        return [Node(factor, powers) for powers, factor in terms.items()]
    having = {powers: factor for powers, factor in terms.items() if any(a == atom for a, _ in powers)}
    others = {powers: factor for powers, factor in terms.items() if powers not in having}
    return [collect(having), *(_bracket(others) if others else [])]


def _rank(atom: Atom) -> tuple[int, str]:
    """Among factors that as many terms share: sines and cosines first, then the letters that came last (speeds, then
    coordinates, then parameters).
    """
    return (1, repr(atom)) if isinstance(atom, tuple) else (0, f"{atom:6d}")


def _content(terms: Flat) -> tuple[Exact, tuple[tuple[Atom, int], ...], Flat]:
    numerator, denominator = 0, 1
    shared: dict[Atom, int] | None = None
    for powers, factor in terms.items():
        numerator, denominator = gcd(numerator, factor.numerator), lcm(denominator, factor.denominator)
        own = dict(powers)
        if shared is None:
            shared = own
        else:
            shared = {a: min(shared.get(a, 0), own.get(a, 0)) for a in {**shared, **own}}
    positive = any(factor > 0 for factor in terms.values())
    number = tidy(Fraction(numerator if positive else -numerator, denominator))
    kept = {atom: power for atom, power in (shared or {}).items() if power}
    rest: Flat = {}
    for powers, factor in terms.items():
        left = dict(powers)
        for atom, power in kept.items():
            left[atom] = left.get(atom, 0) - power
        rest[_ordered(left)] = tidy(Fraction(factor) / number)
    return number, _ordered(kept), rest


def _ordered(powers: dict[Atom, int]) -> tuple[tuple[Atom, int], ...]:
    return tuple(sorted(((a, p) for a, p in powers.items() if p), key=_place))


def _place(item: tuple[Atom, int]) -> tuple[int, Any, str]:
    """Letters by number, then sines and cosines by angle."""
    atom = item[0]
    return (0, atom, "") if isinstance(atom, int) else (1, atom[1], atom[0])


def cost(node: Node) -> int:
    """Operations of a tree, about as `sympy.count_ops` counts them."""
    parts = [cost_of_atom(atom) + (abs(power) != 1) for atom, power in node.powers]
    parts += [sum(map(cost, inner)) + len(inner) - 1 + (abs(power) != 1) for inner, power in node.sums]
    number = Fraction(node.coefficient)
    marks = (abs(number.numerator) != 1) + (number.denominator != 1)
    return sum(parts) + max(len(parts) - 1, 0) + (marks if parts else 0)


def cost_of_atom(atom: Atom) -> int:
    """A letter costs nothing; a sine itself, and what is inside."""
    if isinstance(atom, int):
        return 0
    return len(atom[1]) + sum(abs(multiple) != 1 for _, multiple in atom[1])


def flat(value: Sum, forms: dict[int, str]) -> Flat:
    """Terms with sines and cosines as atoms; those of the angles whose form isn't "sum" multiplied out."""
    result: Flat = {}
    for (powers, function, angle), factor in value.terms.items():
        parts: list[tuple[dict[Atom, int], Exact]] = [({}, factor)]
        if function:
            parts = [(atoms, factor * unit) for atoms, unit in multiplied(function, angle, forms)]
        for atoms, unit in parts:
            for letter, power in powers:
                atom: Atom = value.book.trig_of(letter) or letter
                atoms[atom] = atoms.get(atom, 0) + power
            _add(result, _ordered(atoms), unit)
    for letter, form in forms.items():
        if form != "sum":
            result = _squares(result, letter, form)
    return result


def _add(terms: Flat, powers: tuple[tuple[Atom, int], ...], factor: Exact) -> None:
    total = terms.get(powers, 0) + factor
    if total:
        terms[powers] = tidy(total)
    else:
        terms.pop(powers, None)


def multiplied(function: str, angle: Angle, forms: dict[int, str]) -> list[tuple[dict[Atom, int], Exact]]:
    """cos(kα + β) = cos kα cos β − sin kα sin β for the first α to be multiplied out, and so on with β."""
    for place, (letter, multiple) in enumerate(angle):
        if forms.get(letter, "sum") == "sum" or not isinstance(multiple, int):
            continue
        rest = (*angle[:place], *angle[place + 1 :])
        sign = 1
        if rest and rest[0][1] < 0:
            rest, sign = tuple((a, -k) for a, k in rest), -1
        pairs = (
            [("cos", "cos", 1), ("sin", "sin", -sign)]
            if function == "cos"
            else [("sin", "cos", 1), ("cos", "sin", sign)]
        )
        result = []
        for first, second, unit in pairs:
            if not rest and second == "sin":
                continue
            others = multiplied(second, rest, forms) if rest else [({}, 1)]
            for power_c, power_s, number in _multiple(first, multiple):
                for atoms, factor in others:
                    own: dict[Atom, int] = {
                        ("cos", ((letter, 1),)): power_c,
                        ("sin", ((letter, 1),)): power_s,
                    }
                    result.append(({**atoms, **{a: p for a, p in own.items() if p}}, unit * number * factor))
        return result
    return [({(function, angle): 1}, 1)]


def _multiple(function: str, multiple: int) -> list[tuple[int, int, int]]:
    """cos kα or sin kα as Σ number cos^i α sin^j α, from (cos α + i sin α)^k."""
    from math import comb

    size, sign = abs(multiple), 1 if multiple > 0 or function == "cos" else -1
    odd = function == "sin"
    return [(size - j, j, sign * comb(size, j) * (-1) ** (j // 2)) for j in range(size + 1) if j % 2 == odd]


def _squares(terms: Flat, letter: int, form: str) -> Flat:
    """cos² + sin² = 1, used to be rid of the squares of one of them, or of lone numbers beside both squares."""
    c: Atom = ("cos", ((letter, 1),))
    s: Atom = ("sin", ((letter, 1),))
    gone, kept = (s, c) if form != "sin" else (c, s)
    result: Flat = {}
    work = list(terms.items())
    while work:
        powers, factor = work.pop()
        own = dict(powers)
        if own.get(gone, 0) < 2:
            _add(result, _ordered(own), factor)
            continue
        own[gone] -= 2
        work.append((_ordered(own), factor))
        own[kept] = own.get(kept, 0) + 2
        work.append((_ordered(own), -factor))
    return _paired(result, c, s) if form == "both" else result


def _paired(terms: Flat, c: Atom, s: Atom) -> Flat:
    """a + b cos² becomes a sin² + (a + b) cos²."""
    result: Flat = {}
    for powers, factor in terms.items():
        own = dict(powers)
        raised = _ordered({**own, c: own.get(c, 0) + 2})
        if c not in own and s not in own and raised in terms:
            _add(result, raised, factor)
            _add(result, _ordered({**own, s: 2}), factor)
        else:
            _add(result, powers, factor)
    return result
