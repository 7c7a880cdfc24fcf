"""What an analysis found: sentences, the essentials as facts, the rest as sections of their own, and plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trundle.errors import InputError
from trundle.mechanics.base_motion import centre_of_rotation
from trundle.mechanics.combinations import combination
from trundle.show.lines import Page, paragraph, table
from trundle.show.words.robot_words import Fact

if TYPE_CHECKING:
    from trundle.analysis.analyze import Analysis
    from trundle.analysis.manipulability import Manipulability
    from trundle.analysis.reach import Reach
    from trundle.analysis.redundancy import Relation
    from trundle.analysis.singular import Singularity
    from trundle.analysis.singular_symbolic import Determinant
    from trundle.analysis.singularity import SingularPoint
    from trundle.mechanics.base_motion import BaseMotion, Point

# Singular configurations beyond this many are counted in the sentence, not named; --full has all of them.
_MOST_SAID = 3


def base_motion(found: BaseMotion) -> str:
    """Which way the wheels let the base go."""
    if found.dimension == 3:
        return "any twist: it drives in every direction and turns about any point"
    if found.dimension == 2 and found.centre is None:
        return "it drives in every direction, but does not turn"
    if found.dimension == 2:
        return (
            f"it drives straight along {_degrees(found.heading)}, and turns about any point of {_line(found)}"
        )
    if found.dimension == 1:
        if found.centre is None:
            return f"it drives straight along {_degrees(found.heading)}, no other way"
        return f"it turns about {_point(found.centre)}, no other way"
    text = "nothing without slip: the wheels' axles do not meet in one point"
    if found.nearest is None:
        return text
    centre = centre_of_rotation(found.nearest)
    along = f"driving along {_degrees(math.atan2(found.nearest[1], found.nearest[0]))}"
    way = f"turning about {_point(centre)}" if centre else along
    return f"{text}; nearest is {way}, which slips by {found.slip:.2g} m/s at 1 m/s"


def manipulability(found: Manipulability) -> str:
    """How fast along each axis of the ellipsoid, and how unequal they are."""
    if not (found.radii or found.undriven):
        return "no motion at all"
    ways = [_axis(found, axis) for axis in (found.axes if found.fastest is None else found.fastest)]
    bound = f" for {found.rates}" if found.fastest is None else f", {found.limit}"
    text = f"up to {'; '.join(ways)}{bound}" if ways else ""
    if found.undriven:
        loose = "; ".join(_axis(found, axis, bare=True) for axis in found.undriven)
        return f"{text}, and freely along {loose}, which no motor holds".removeprefix(", and ")
    if len(found.radii) == 1:
        return text
    turning = f", turning counted at {found.length:.4g} m" if _turns(found) else ""
    return f"{text}; condition {found.condition:.3g}{turning}"


def reach(found: Reach) -> str:
    """Whether driving and steering lead everywhere, and what they can't change."""
    vector = f"growth vector {_vector(found.growth)} of {found.dimension}"
    if found.complete and found.degree == 1:
        return f"it moves in every direction at once, {vector}"
    steps = [f"{each.name} {each.effect}" for each in found.brackets if each.level > 1]
    text = ": ".join(filter(None, [vector, "; ".join(steps)]))
    if found.complete:
        return f"it gets everywhere, {text}"
    if found.cut:
        return f"not known, too many brackets: so far {text}"
    missing = found.dimension - found.growth[-1]
    left = f"{missing} {'direction is' if missing == 1 else 'directions are'} out of reach, {text}"
    fixed = [combination(terms) for terms in found.integrals]
    return f"{left}; never changes: {', '.join(fixed)}" if fixed else left


def relation(found: Relation) -> str:
    """'left.lateral = right.lateral', signs sorted to both sides; names alone where coefficients vary."""
    if not found.constant:
        return f"{found.names[0]} follows from {_and(found.names[1:])}"
    terms = [*found.terms[1:], found.terms[0]]  # the first depends on those before it: in their own order
    left = [(name, c) for name, c in terms if c > 0]
    right = [(name, -c) for name, c in terms if c < 0]
    return f"{combination(left)} = {combination(right) or '0'}"


def relations(found: Sequence[Relation]) -> str:
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


def singularity(found: Singularity) -> str:
    """Where a velocity map loses rank, and what that means."""
    where = [_place(point) for point in found.points[:_MOST_SAID]]
    if len(found.points) > _MOST_SAID:
        where[-1] += f", and {len(found.points) - _MOST_SAID} more"
    if found.parameters:
        where.append(f"{'everywhere' if where else 'only'} with {' or '.join(found.parameters)} = 0")
    if where:
        return f"{'; '.join(where)}: {found.effect}"
    return found.note or f"{found.what} nowhere"


def determinant(found: Determinant) -> str:
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


def essential_facts(analysis: Analysis) -> list[Fact]:
    """Label and text: what moves now, how fast, where driving leads, and where the robot is singular."""
    facts = _linkage_facts(analysis)
    if analysis.base_motion is not None:
        place = f"at {_listed(analysis.at, analysis)}: " if analysis.at else ""
        facts.append(("now", place + analysis.base_motion.explain()))
    if analysis.manipulability is not None:
        facts.append(("velocities", analysis.manipulability.explain()))
    if analysis.frame is not None and analysis.frame_manipulability is not None:
        point = analysis.frame.point
        where = f"its point ({', '.join(f'{c:.4g}' for c in point)}) m: " if any(point) else ""
        facts.append((analysis.frame.name, where + analysis.frame_manipulability.explain()))
    found = _reach(analysis)
    if found is not None and (analysis.maps.base or found.degree > 1):
        slips = any(wheel.contact == "slip" for wheel in analysis.robot.wheels.values())
        facts.append(("reach", f"{'without slip ' if slips else ''}{found.explain()}"))
    telling = _telling(analysis)
    facts += [("singular", each.explain()) for each in telling]
    if analysis.singularities and not telling:
        facts.append(("singular", "nowhere"))
    if analysis.rate_relations:
        facts.append(("rates", relations(analysis.rate_relations)))
    return facts


def sections(analysis: Analysis, page: Page) -> list[str]:
    """Everything else, for --full."""
    lines: list[str] = []
    motion = analysis.base_motion
    if motion is not None:
        twists = motion.basis or ((motion.nearest,) if motion.nearest else ())
        title = "twists of the base now" if motion.basis else "the twist that slips least"
        lines += [page.heading(title), *_block(("v_x (m/s)", "v_y (m/s)", "omega (rad/s)"), twists)]
    if analysis.manipulability is not None:
        lines += _ellipsoid(page, "velocities of the base", analysis.manipulability)
    if analysis.frame is not None and analysis.frame_manipulability is not None:
        lines += _ellipsoid(page, f"velocities of {analysis.frame.name}", analysis.frame_manipulability)
    if analysis.repeated:
        lines.append(page.heading("rolling rows that repeat others"))
        lines += [line for each in analysis.repeated for line in paragraph(each.explain())]
    found, of_all = _reach(analysis), _reach(analysis, whole=True)
    if found is not None and found.brackets:
        lines += _brackets(page, "reach", found)
    if of_all is not None and of_all.brackets and (found is None or of_all.coordinates != found.coordinates):
        lines += _brackets(page, "reach of all coordinates", of_all)
    lines += [page.heading("singular configurations"), *_searched(analysis.singularities)]
    return lines + [
        line for each in analysis.determinants for line in paragraph(f"{each.what}: {each.explain()}")
    ]


def analysis_data(analysis: Analysis) -> dict[str, object]:
    """All of it but the formulas, as plain data."""
    motion, frame = analysis.base_motion, analysis.frame
    parts = "dimension basis centre heading nearest slip"
    relations = [{**dict(each.terms), "constant": each.constant} for each in analysis.rate_relations]
    return {
        **_fields(analysis, "at configuration motions length"),
        "base_motion": None if motion is None else _fields(motion, parts) | {"text": motion.explain()},
        "manipulability": _ellipsoid_data(analysis.manipulability),
        "frame": None
        if frame is None
        else {
            **_fields(frame, "name point parts"),
            "manipulability": _ellipsoid_data(analysis.frame_manipulability),
        },
        "repeated_rows": [dict(each.terms) for each in analysis.repeated],
        "rate_relations": relations,
        "reach": _reach_data(_reach(analysis)),
        "reach_of_all_coordinates": _reach_data(_reach(analysis, whole=True)),
        "singularities": [_singularity_data(each) for each in analysis.singularities],
    }


def formulas_data(analysis: Analysis) -> list[dict[str, object]]:
    """The determinants as text that SymPy reads."""
    return [
        {
            "what": each.what,
            "expressions": [str(e) for e in each.expressions],
            "zeros": [{name: str(value) for name, value in zero.items()} for zero in each.zeros],
            "all_zeros_found": each.solved,
        }
        for each in analysis.determinants
    ]


def _reach(analysis: Analysis, whole: bool = False) -> Reach | None:
    """None where the wheels lock the robot, which is said elsewhere."""
    try:
        return analysis.full_controllability if whole else analysis.controllability
    except InputError:
        return None


def _telling(analysis: Analysis) -> list[Singularity]:
    """Singularities with something to say, of the parameters only those that the description names."""
    named = analysis.robot.parameters
    found = [
        replace(each, parameters=tuple(name for name in each.parameters if name in named))
        for each in analysis.singularities
    ]
    return [each for each in found if each.points or each.parameters or each.note]


def _linkage_facts(analysis: Analysis) -> list[Fact]:
    """For a robot with loops where they put it, and how it can move there, where that is out of the ordinary."""
    if not analysis.maps.assembly.loops or not (analysis.at or analysis.frame):
        return []
    facts = [("at", _listed([analysis.maps.names[k] for k in analysis.maps.configurable()], analysis))]
    if analysis.motions > analysis.freedoms:
        many = f"{analysis.motions} motions are free here, elsewhere {analysis.freedoms}"
        facts.append(("now", f"ways of assembly meet: {many}"))
    elif analysis.maps.motors() and not analysis.held:
        facts.append(("now", "a dead point: it can move while its motors stand still"))
    return facts


def _listed(names: Iterable[str], analysis: Analysis) -> str:
    return ", ".join(f"{name} = {_value(name, analysis.configuration[name], 4)}" for name in names)


def _block(names: Sequence[str], rows: Sequence[Sequence[float]], more: Sequence[str] = ()) -> list[str]:
    cells = [tuple(f"{value:.6g}" for value in row) for row in rows]
    shown = [tuple(names), *cells]
    if more:
        shown = [(*row, extra) for row, extra in zip(shown, ("length (m/s)", *more), strict=True)]
    return table(shown, right=range(len(shown[0])))


def _ellipsoid(page: Page, title: str, found: Manipulability) -> list[str]:
    names = [f"{part} ({_unit(part)})" for part in found.parts]
    counted = f"; omega counted at {found.length:.4g} m" if _turns(found) else ""
    lines = [page.heading(title), *paragraph(f"axes of the ellipsoid for {found.rates}{counted}")]
    lines += _block(names, found.axes, [f"{radius:.6g}" for radius in found.radii])
    lines.append(f"  condition {found.condition:.4g}, measure {found.measure:.4g}")
    if found.undriven:
        lines += [page.heading("held by no motor"), *_block(names, found.undriven)]
    return lines


def _brackets(page: Page, title: str, found: Reach) -> list[str]:
    text = f"growth vector {_vector(found.growth)} of {found.dimension}"
    if found.here != found.growth:
        text += f"; at this configuration {_vector(found.here)}"
    rows = [(str(each.level), each.effect, each.name) for each in found.brackets]
    lines = [page.heading(title), *paragraph(text), *table(rows)]
    if found.integrals:
        lines += paragraph("never changes: " + ", ".join(combination(terms) for terms in found.integrals))
    return lines


def _searched(found: Sequence[Singularity]) -> list[str]:
    lines = []
    for each in found:
        lines += paragraph(f"{each.what}: {each.explain().removeprefix(each.what + ' ')}")
        for point in each.points:
            lines += paragraph(f"{_place(point)}  (σ/σ₁ = {point.value:.1e})", 4)
        if each.search is not None and not each.points:
            worst = each.search.worst
            where = f" at {_place(worst)}" if worst.at else " everywhere"
            lines += paragraph(f"least σ/σ₁ = {worst.value:.3g}{where}, rank {each.search.rank}", 4)
    return lines


def _place(point: SingularPoint) -> str:
    """'front.steering = 90°, any rear.steering'."""
    parts = [f"{name} = {_value(name, value, 6)}" for name, value in point.at]
    parts += [f"any {name}" for name in point.free]
    if point.family:
        parts.append(f"one of {'a line' if point.family == 1 else 'a family'} of such")
    return ", ".join(parts)


def _value(name: str, value: float, digits: int) -> str:
    if name.rpartition(".")[2] in ("position", "x", "y", "z"):
        return f"{value:.4g} m"
    degrees = math.degrees(value)
    return f"{0.0 if abs(degrees) < 5e-6 else degrees:.{digits}g}°"


def _axis(found: Manipulability, axis: Sequence[float], bare: bool = False) -> str:
    """'v_x 1.7 m/s with omega 0.3 rad/s'; parts that don't count are left out, `bare` leaves out the sizes."""
    weights = [found.length if part.startswith("omega") else 1.0 for part in found.parts]
    sizes = [abs(value) * weight for value, weight in zip(axis, weights, strict=True)]
    kept = [k for k, size in enumerate(sizes) if size > 1e-6 * max(sizes)]
    words = [
        found.parts[k] if bare else f"{found.parts[k]} {axis[k]:.3g} {_unit(found.parts[k])}"
        for k in sorted(kept, key=lambda k: -sizes[k])
    ]
    return " with ".join(words)


def _turns(found: Manipulability) -> bool:
    return any(part.startswith("omega") for part in found.parts)


def _unit(part: str) -> str:
    return "rad/s" if part.startswith("omega") else "m/s"


def _line(found: BaseMotion) -> str:
    """The line of centres that a motion with two freedoms leaves."""
    x, y = found.centre or (0.0, 0.0)
    across = abs(math.remainder(found.heading or 0.0, math.pi))
    if across < 1e-9:
        return f"the line x = {x:.4g} m"
    if abs(across - math.pi / 2) < 1e-9:
        return f"the line y = {y:.4g} m"
    return f"the line through {_point((x, y))} across it"


def _point(point: Point) -> str:
    return f"({point[0]:.4g}, {point[1]:.4g}) m"


def _degrees(angle: float | None) -> str:
    return f"{math.degrees(angle or 0.0):.4g}°"


def _vector(numbers: Sequence[int]) -> str:
    return f"({', '.join(map(str, numbers))})"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _fields(noun: object, names: str) -> dict[str, object]:
    return {name: getattr(noun, name) for name in names.split()}


def _ellipsoid_data(found: Manipulability | None) -> dict[str, object] | None:
    names = "parts axes radii undriven length rates fastest limit condition measure"
    return None if found is None else _fields(found, names) | {"text": found.explain()}


def _reach_data(found: Reach | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        **_fields(found, "coordinates dimension growth complete degree"),
        "growth_here": found.here,
        "brackets": [_fields(each, "name level moves") for each in found.brackets],
        "never_changes": [dict(terms) for terms in found.integrals],
        "text": found.explain(),
    }


def _singularity_data(found: Singularity) -> dict[str, object]:
    search = found.search
    points = [{**_fields(p, "family value"), "at": dict(p.at), "any": p.free} for p in found.points]
    return {
        **_fields(found, "what parameters"),
        "configurations": points,
        "rank": None if search is None else search.rank,
        "least": None if search is None else {"at": dict(search.worst.at), "value": search.worst.value},
        "searched": [] if search is None else list(search.box.names),
        "text": found.explain(),
    }
