"""What an analysis found: the essentials as facts, the rest as sections of their own, and plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trundle.errors import InputError
from trundle.mechanics.combinations import combination
from trundle.show.words.analysis_sentences import (
    growth_text,
    place_text,
    relations_sentence,
    value_text,
)
from trundle.show.words.lines import Page, paragraph, table
from trundle.show.words.robot_words import Fact
from trundle.shown import Explained

if TYPE_CHECKING:
    from trundle.analysis.analyze import Analysis
    from trundle.analysis.manipulability import Manipulability
    from trundle.analysis.reach import Reach
    from trundle.analysis.singular import Singularity


_ELLIPSOID = "parts axes radii undriven length rates fastest limit condition measure"


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
        slips = any(wheel.law.pushes for wheel in analysis.robot.wheels.values())
        facts.append(("reach", f"{'without slip ' if slips else ''}{found.explain()}"))
    telling = _telling(analysis)
    facts += [("singular", each.explain()) for each in telling]
    if analysis.singularities and not telling:
        facts.append(("singular", "nowhere"))
    if analysis.rate_relations:
        facts.append(("rates", relations_sentence(analysis.rate_relations)))
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
    frame = analysis.frame
    hand = {"manipulability": _told(analysis.frame_manipulability, _ELLIPSOID)}
    return {
        **_fields(analysis, "at configuration motions length"),
        "base_motion": _told(analysis.base_motion, "dimension basis centre heading nearest slip"),
        "manipulability": _told(analysis.manipulability, _ELLIPSOID),
        "frame": frame and _fields(frame, "name point parts") | hand,
        "repeated_rows": [dict(each.terms) for each in analysis.repeated],
        "rate_relations": [
            {**dict(each.terms), "constant": each.constant} for each in analysis.rate_relations
        ],
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
    values, units = analysis.configuration, analysis.maps.assembly.quantities.units
    return ", ".join(f"{name} = {value_text(values[name], units[name], 4)}" for name in names)


def _block(names: Sequence[str], rows: Sequence[Sequence[float]], more: Sequence[str] = ()) -> list[str]:
    cells = [tuple(f"{value:.6g}" for value in row) for row in rows]
    shown = [tuple(names), *cells]
    if more:
        shown = [(*row, extra) for row, extra in zip(shown, ("length (m/s)", *more), strict=True)]
    return table(shown, right=range(len(shown[0])))


def _ellipsoid(page: Page, title: str, found: Manipulability) -> list[str]:
    names = [f"{part} ({unit})" for part, unit in zip(found.parts, found.units, strict=True)]
    counted = f"; omega counted at {found.length:.4g} m" if "rad/s" in found.units else ""
    lines = [page.heading(title), *paragraph(f"axes of the ellipsoid for {found.rates}{counted}")]
    lines += _block(names, found.axes, [f"{radius:.6g}" for radius in found.radii])
    lines.append(f"  condition {found.condition:.4g}, measure {found.measure:.4g}")
    if found.undriven:
        lines += [page.heading("held by no motor"), *_block(names, found.undriven)]
    return lines


def _brackets(page: Page, title: str, found: Reach) -> list[str]:
    rows = [(str(each.level), each.effect, each.name) for each in found.brackets]
    lines = [page.heading(title), *paragraph(growth_text(found)), *table(rows)]
    if found.integrals:
        lines += paragraph("never changes: " + ", ".join(combination(terms) for terms in found.integrals))
    return lines


def _searched(found: Sequence[Singularity]) -> list[str]:
    """Where maps of velocity lose rank, and of a search without a hit how near it came."""
    lines = []
    for each in found:
        lines += paragraph(f"{each.what}: {each.explain().removeprefix(each.what + ' ')}")
        for point in each.points:
            lines += paragraph(f"{place_text(point, each.units)}  (σ/σ₁ = {point.value:.1e})", 4)
        if each.search is not None and not each.points:
            worst = each.search.worst
            where = f" at {place_text(worst, each.units)}" if worst.at else " everywhere"
            lines += paragraph(f"least σ/σ₁ = {worst.value:.3g}{where}, rank {each.search.rank}", 4)
    return lines


def _fields(noun: object, names: str) -> dict[str, object]:
    return {name: getattr(noun, name) for name in names.split()}


def _told(found: Explained | None, names: str) -> dict[str, object] | None:
    """A finding's fields with its sentence."""
    return None if found is None else _fields(found, names) | {"text": found.explain()}


def _reach_data(found: Reach | None) -> dict[str, object] | None:
    """Where driving and steering lead, as plain data."""
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
    """Where a map of velocities loses rank, as plain data; `rank` and `least` are null where nothing was searched."""
    search = found.search
    points = [{**_fields(p, "family value"), "at": dict(p.at), "any": p.free} for p in found.points]
    return {
        **_fields(found, "what parameters"),
        "configurations": points,
        "rank": search and search.rank,
        "least": search and {"at": dict(search.worst.at), "value": search.worst.value},
        "searched": [] if search is None else list(search.box.names),
        "text": found.explain(),
    }
