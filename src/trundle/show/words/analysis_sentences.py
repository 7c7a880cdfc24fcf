"""What an analysis found, each finding in a sentence or two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trundle.analysis.manipulability import Manipulability
from trundle.analysis.reach import Reach
from trundle.analysis.redundancy import Relation
from trundle.analysis.singular import Singularity
from trundle.analysis.singular_symbolic import Determinant
from trundle.mechanics.combinations import combination
from trundle.show.words.verbs import sentence

if TYPE_CHECKING:
    from trundle.analysis.singularity import SingularPoint

# Singular configurations beyond this many are counted in the sentence, not named; `trundle check --full` has them all.
_MOST_SAID = 3


@sentence.register
def manipulability_sentence(found: Manipulability) -> str:
    """How fast along each axis of the ellipsoid, and how unequal they are."""
    if not (found.radii or found.undriven):
        return "no motion at all"
    ways = [axis_text(found, axis) for axis in (found.axes if found.fastest is None else found.fastest)]
    bound = f" for {found.rates}" if found.fastest is None else f", {found.limit}"
    text = f"up to {'; '.join(ways)}{bound}" if ways else ""
    if found.undriven:
        loose = "; ".join(axis_text(found, axis, bare=True) for axis in found.undriven)
        return f"{text}, and freely along {loose}, which no motor holds".removeprefix(", and ")
    if len(found.radii) == 1:
        return text
    turning = f", turning counted at {found.length:.4g} m" if "rad/s" in found.units else ""
    return f"{text}; condition {found.condition:.3g}{turning}"


@sentence.register
def reach_sentence(found: Reach) -> str:
    """Whether driving and steering lead everywhere, and what they can't change."""
    if found.complete and found.degree == 1:
        where = "" if found.here == found.growth else "away from this configuration "
        return f"{where}it moves in every direction at once, {growth_text(found)}"
    steps = [f"{each.name} {each.effect}" for each in found.brackets if each.level > 1]
    text = ": ".join(filter(None, [growth_text(found), "; ".join(steps)]))
    if found.complete:
        return f"it gets everywhere, {text}"
    if found.cut:
        return f"not known, too many brackets: so far {text}"
    missing = found.dimension - found.growth[-1]
    left = f"{missing} {'direction is' if missing == 1 else 'directions are'} out of reach, {text}"
    fixed = [combination(terms) for terms in found.integrals]
    return f"{left}; never changes: {', '.join(fixed)}" if fixed else left


@sentence.register
def relation_sentence(found: Relation) -> str:
    """'left.lateral = right.lateral', signs sorted to both sides; names alone where coefficients vary."""
    if not found.constant:
        return f"{found.names[0]} follows from {_and(found.names[1:])}"
    terms = [*found.terms[1:], found.terms[0]]  # the first depends on those before it: in their own order
    left = [(name, c) for name, c in terms if c > 0]
    right = [(name, -c) for name, c in terms if c < 0]
    return f"{combination(left)} = {combination(right) or '0'}"


def relations_sentence(found: Sequence[Relation]) -> str:
    """All relations in one line; those that follow from the same rows together."""
    following: dict[tuple[str, ...], list[str]] = {}
    equal: dict[str, list[str]] = {}
    others: list[str] = []
    for each in found:
        if len(each.terms) == 1:
            equal.setdefault("0", []).append(each.names[0])
        elif each.constant and len(each.terms) == 2 and abs(each.terms[1][1] + 1) < 1e-9:
            equal.setdefault(each.names[1], []).append(each.names[0])
        elif each.constant:
            others.append(each.explain())
        else:
            following.setdefault(each.names[1:], []).append(each.names[0])
    parts = [" = ".join((*same, to) if to == "0" else (to, *same)) for to, same in equal.items()]
    parts += others
    for leaders, names in following.items():
        parts.append(f"{_and(names)} follow{'s' if len(names) == 1 else ''} from {_and(leaders)}")
    return "; ".join(parts)


@sentence.register
def singularity_sentence(found: Singularity) -> str:
    """Where a velocity map loses rank, and what that means."""
    where = [place_text(point, found.units) for point in found.points[:_MOST_SAID]]
    if len(found.points) > _MOST_SAID:
        where[-1] += f", and {len(found.points) - _MOST_SAID} more"
    if found.parameters:
        where.append(f"{'everywhere' if where else 'only'} with {' or '.join(found.parameters)} = 0")
    if where:
        return f"{'; '.join(where)}: {found.effect}"
    return found.note or f"{found.what} nowhere"


@sentence.register
def determinant_sentence(found: Determinant) -> str:
    """'det = r**2*s/track', and where it is zero; minors and what is known but for a factor stand behind 'singular
    where'.
    """
    if any(each.is_number for each in found.expressions):
        return "singular nowhere"
    shown = " = ".join(str(each) for each in found.expressions)
    known_but_for_a_factor = found.what in ("wheels", "motors") or len(found.expressions) > 1
    head = f"singular where {shown} = 0" if known_but_for_a_factor else f"det = {shown}"
    if not any("." in str(symbol) for each in found.expressions for symbol in each.free_symbols):
        return head  # parameters alone: no coordinate (their names have dots) makes it vanish
    places = [", ".join(f"{name} = {value}" for name, value in zero.items()) for zero in found.zeros]
    if not any(places):
        return f"{head}: {'nowhere' if found.solved else 'not solved'}"
    return f"{head}: at {'; '.join(places)}{'' if found.solved else ', and where its other factors vanish'}"


def place_text(point: SingularPoint, units: Mapping[str, str]) -> str:
    """'front.steering = 90°, any rear.steering'."""
    parts = [f"{name} = {value_text(value, units[name], 6)}" for name, value in point.at]
    parts += [f"any {name}" for name in point.free]
    if point.family:
        parts.append(f"one of {'a line' if point.family == 1 else 'a family'} of such")
    return ", ".join(parts)


def value_text(value: float, unit: str, digits: int) -> str:
    """'30°' or '0.2 m'."""
    if unit != "rad":
        return f"{value:.4g} {unit}".rstrip()
    degrees = math.degrees(value)
    return f"{0.0 if abs(degrees) < 5e-6 else degrees:.{digits}g}°"


def axis_text(found: Manipulability, axis: Sequence[float], bare: bool = False) -> str:
    """'v_x 1.7 m/s with omega 0.3 rad/s'; parts that don't count are left out, `bare` leaves out the sizes."""
    sizes = [abs(value) * weight for value, weight in zip(axis, found.weights, strict=True)]
    kept = [k for k, size in enumerate(sizes) if size > 1e-6 * max(sizes)]
    words = [
        found.parts[k] if bare else f"{found.parts[k]} {axis[k]:.3g} {found.units[k]}"
        for k in sorted(kept, key=lambda k: -sizes[k])
    ]
    return " with ".join(words)


def growth_text(found: Reach) -> str:
    """'growth vector (2, 3) of 3', and at this configuration, where it isn't regular, (2, 2, 3)."""
    general, here = (", ".join(map(str, each)) for each in (found.growth, found.here))
    special = "" if here == general else f", at this configuration ({here})"
    return f"growth vector ({general}) of {found.dimension}{special}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
