"""The results of an analysis, a sentence or two for a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trundle.analysis.manipulability import Manipulability
from trundle.analysis.reach import Reach
from trundle.analysis.redundancy import Relation
from trundle.analysis.singular import Singularity
from trundle.analysis.top_speed import TopSpeed
from trundle.mechanics.combinations import combination
from trundle.show.summaries.verbs import sentence

if TYPE_CHECKING:
    from trundle.analysis.singularity import SingularPoint

# Singular configurations beyond this many are counted in the sentence, not named; `trundle check --full` has them all.
_MOST_SAID = 3


@sentence.register
def manipulability_sentence(ellipsoid: Manipulability) -> str:
    """How fast the point moves along the axes of the ellipsoid, and how unequal those speeds are."""
    if not (ellipsoid.radii or ellipsoid.undriven):
        return "no motion at all"
    ways = [
        axis_text(ellipsoid, axis)
        for axis in (ellipsoid.axes if ellipsoid.fastest is None else ellipsoid.fastest)
    ]
    bound = f" for {ellipsoid.rates}" if ellipsoid.fastest is None else f", {ellipsoid.limit}"
    text = f"up to {'; '.join(ways)}{bound}" if ways else ""
    if ellipsoid.undriven:
        loose = "; ".join(axis_text(ellipsoid, axis, bare=True) for axis in ellipsoid.undriven)
        return f"{text}, and freely along {loose}, which no motor holds".removeprefix(", and ")
    if len(ellipsoid.radii) == 1:
        return text
    turning = f", turning counted at {ellipsoid.length:.4g} m" if "rad/s" in ellipsoid.units else ""
    return f"{text}; {condition_text(ellipsoid, 3)}{turning}"


def condition_text(ellipsoid: Manipulability, digits: int) -> str:
    """The longest axis over the shortest, also where that one is zero."""
    number = ellipsoid.condition
    return f"condition {number:.{digits}g}" if math.isfinite(number) else "condition infinite: it is flat"


@sentence.register
def top_speed_sentence(top: TopSpeed) -> str:
    """How fast straight ahead, and what allows no more."""
    return f"{top.speed:.4g} m/s straight ahead on level ground, limited by the {top.limit}"


@sentence.register
def reach_sentence(reach: Reach) -> str:
    """Whether driving and steering lead everywhere, and what they can't change."""
    if reach.complete and reach.degree == 1:
        where = "" if reach.here == reach.growth else "away from this configuration "
        return f"{where}it moves in every direction at once, {growth_text(reach)}"
    steps = [f"{bracket.name} {bracket.effect}" for bracket in reach.brackets if bracket.level > 1]
    text = ": ".join(filter(None, [growth_text(reach), "; ".join(steps)]))
    if reach.complete:
        return f"it gets everywhere, {text}"
    if reach.cut:
        return f"not known, too many brackets: so far {text}"
    missing = reach.dimension - reach.growth[-1]
    left = f"{missing} {'direction is' if missing == 1 else 'directions are'} out of reach, {text}"
    fixed = [combination(terms) for terms in reach.integrals]
    return f"{left}; never changes: {', '.join(fixed)}" if fixed else left


@sentence.register
def relation_sentence(relation: Relation) -> str:
    """'left.lateral = right.lateral', signs sorted to both sides; names alone where coefficients vary."""
    if not relation.constant:
        return f"{relation.names[0]} follows from {_and(relation.names[1:])}"
    # The first depends on the others: in their own order it is the last.
    terms = [*relation.terms[1:], relation.terms[0]]
    left = [(name, c) for name, c in terms if c > 0]
    right = [(name, -c) for name, c in terms if c < 0]
    return f"{combination(left)} = {combination(right) or '0'}"


def relations_sentence(relations: Sequence[Relation]) -> str:
    """All relations in one line. Rates that are equal, or that follow from the same others, are said together."""
    following: dict[tuple[str, ...], list[str]] = {}
    equal: dict[str, list[str]] = {}
    others: list[str] = []
    for relation in relations:
        if len(relation.terms) == 1:
            equal.setdefault("0", []).append(relation.names[0])
        elif relation.constant and len(relation.terms) == 2 and abs(relation.terms[1][1] + 1) < 1e-9:
            equal.setdefault(relation.names[1], []).append(relation.names[0])
        elif relation.constant:
            others.append(relation.explain())
        else:
            following.setdefault(relation.names[1:], []).append(relation.names[0])
    parts = [" = ".join((*same, to) if to == "0" else (to, *same)) for to, same in equal.items()]
    parts += others
    for leaders, names in following.items():
        parts.append(f"{_and(names)} follow{'s' if len(names) == 1 else ''} from {_and(leaders)}")
    return "; ".join(parts)


@sentence.register
def singularity_sentence(singularity: Singularity) -> str:
    """Where a velocity map loses rank, and what that means."""
    where = [place_text(point, singularity.units) for point in singularity.points[:_MOST_SAID]]
    if len(singularity.points) > _MOST_SAID:
        where[-1] += f", and {len(singularity.points) - _MOST_SAID} more"
    if singularity.parameters:
        where.append(f"{'everywhere' if where else 'only'} with {' or '.join(singularity.parameters)} = 0")
    if where:
        return f"{'; '.join(where)}: {singularity.effect}"
    return singularity.note or f"{singularity.what} nowhere"


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


def axis_text(ellipsoid: Manipulability, axis: Sequence[float], bare: bool = False) -> str:
    """'v_x 1.7 m/s with omega 0.3 rad/s'; parts that don't count are left out, `bare` leaves out the sizes."""
    sizes = [abs(value) * weight for value, weight in zip(axis, ellipsoid.weights, strict=True)]
    kept = [k for k, size in enumerate(sizes) if size > 1e-6 * max(sizes)]
    words = [
        ellipsoid.parts[k] if bare else f"{ellipsoid.parts[k]} {axis[k]:.3g} {ellipsoid.units[k]}"
        for k in sorted(kept, key=lambda k: -sizes[k])
    ]
    return " with ".join(words)


def growth_text(reach: Reach) -> str:
    """'growth vector (2, 3) of 3', and at this configuration, where it isn't regular, (2, 2, 3)."""
    general, here = (", ".join(map(str, dimensions)) for dimensions in (reach.growth, reach.here))
    special = "" if here == general else f", at this configuration ({here})"
    return f"growth vector ({general}) of {reach.dimension}{special}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
