"""The results of an analysis in words: the essentials as facts, the rest as sections, and all of it as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trundle.errors import InputError
from trundle.mechanics.combinations import combination
from trundle.show.summaries.analysis_sentences import (
    condition_text,
    growth_text,
    place_text,
    relations_sentence,
    value_text,
)
from trundle.show.summaries.lines import Page, paragraph, table
from trundle.show.summaries.robot_summary import Fact
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
    if analysis.top_speed is not None:
        facts.append(("top speed", analysis.top_speed.explain()))
    elif analysis.base_motion is not None:
        facts.append(("top speed", f"none: {analysis.no_top_speed}"))
    if analysis.manipulability is not None:
        facts.append(("velocities", analysis.manipulability.explain()))
    if analysis.frame is not None and analysis.frame_manipulability is not None:
        point = analysis.frame.point
        where = f"its point ({', '.join(f'{c:.4g}' for c in point)}) m: " if any(point) else ""
        facts.append((analysis.frame.name, where + analysis.frame_manipulability.explain()))
    reach = _reach(analysis)
    if reach is not None and (analysis.maps.base or reach.degree > 1):
        slips = any(wheel.law.pushes for wheel in analysis.robot.wheels.values())
        facts.append(("reach", f"{'without slip ' if slips else ''}{reach.explain()}"))
    telling = _telling(analysis)
    facts += [("singular", singularity.explain()) for singularity in telling]
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
        lines += [line for row in analysis.repeated for line in paragraph(row.explain())]
    reach, of_all = _reach(analysis), _reach(analysis, whole=True)
    if reach is not None and reach.brackets:
        lines += _brackets(page, "reach", reach)
    # If both count the same coordinates, the second table would repeat the first.
    if of_all is not None and of_all.brackets and (reach is None or of_all.coordinates != reach.coordinates):
        lines += _brackets(page, "reach of all coordinates", of_all)
    if analysis.singularities:
        lines += [page.heading("singular configurations"), *_searched(analysis.singularities)]
    return lines


def analysis_data(analysis: Analysis) -> dict[str, object]:
    """All results of an analysis, as plain data for --json."""
    frame = analysis.frame
    hand = {"manipulability": _finding_data(analysis.frame_manipulability, _ELLIPSOID)}
    return {
        **_fields(analysis, "at configuration motions length"),
        "base_motion": _finding_data(analysis.base_motion, "dimension basis centre heading nearest slip"),
        "top_speed": _finding_data(analysis.top_speed, "speed limit"),
        "manipulability": _finding_data(analysis.manipulability, _ELLIPSOID),
        "frame": frame and _fields(frame, "name point parts") | hand,
        "repeated_rows": [dict(row.terms) for row in analysis.repeated],
        "rate_relations": [
            {**dict(relation.terms), "constant": relation.constant} for relation in analysis.rate_relations
        ],
        "reach": _reach_data(_reach(analysis)),
        "reach_of_all_coordinates": _reach_data(_reach(analysis, whole=True)),
        "singularities": [_singularity_data(singularity) for singularity in analysis.singularities],
    }


def _reach(analysis: Analysis, whole: bool = False) -> Reach | None:
    """Where the robot can get; None where the wheels lock it, which the fact "now" says already."""
    try:
        return analysis.full_controllability if whole else analysis.controllability
    except InputError:
        return None


def _telling(analysis: Analysis) -> list[Singularity]:
    """The singularities that have something to say. Of their parameters those stay that the description names."""
    named = analysis.robot.parameters
    singularities = [
        replace(whole, parameters=tuple(name for name in whole.parameters if name in named))
        for whole in analysis.singularities
    ]
    return [shown for shown in singularities if shown.points or shown.parameters or shown.note]


def _linkage_facts(analysis: Analysis) -> list[Fact]:
    """Where its loops put a robot, and how it moves there if that is out of the ordinary. No facts without loops."""
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


def _ellipsoid(page: Page, title: str, ellipsoid: Manipulability) -> list[str]:
    """A section on an ellipsoid of velocities: its axes and their lengths, its shape, and what no motor holds."""
    names = [f"{part} ({unit})" for part, unit in zip(ellipsoid.parts, ellipsoid.units, strict=True)]
    counted = f"; omega counted at {ellipsoid.length:.4g} m" if "rad/s" in ellipsoid.units else ""
    lines = [page.heading(title), *paragraph(f"axes of the ellipsoid for {ellipsoid.rates}{counted}")]
    lines += _block(names, ellipsoid.axes, [f"{radius:.6g}" for radius in ellipsoid.radii])
    lines.append(f"  {condition_text(ellipsoid, 4)}, measure {ellipsoid.measure:.4g}")
    if ellipsoid.undriven:
        lines += [page.heading("held by no motor"), *_block(names, ellipsoid.undriven)]
    return lines


def _brackets(page: Page, title: str, reach: Reach) -> list[str]:
    rows = [(str(bracket.level), bracket.effect, bracket.name) for bracket in reach.brackets]
    lines = [page.heading(title), *paragraph(growth_text(reach)), *table(rows)]
    if reach.integrals:
        lines += paragraph("never changes: " + ", ".join(combination(terms) for terms in reach.integrals))
    return lines


def _searched(singularities: Sequence[Singularity]) -> list[str]:
    """Lines that say where maps of velocity lose rank. A search without a hit says how near it came."""
    lines = []
    for singularity in singularities:
        lines += paragraph(
            f"{singularity.what}: {singularity.explain().removeprefix(singularity.what + ' ')}"
        )
        for point in singularity.points:
            lines += paragraph(f"{place_text(point, singularity.units)}  (σ/σ₁ = {point.value:.1e})", 4)
        if singularity.search is not None and not singularity.points:
            worst = singularity.search.worst
            where = f" at {place_text(worst, singularity.units)}" if worst.at else " everywhere"
            lines += paragraph(f"least σ/σ₁ = {worst.value:.3g}{where}, rank {singularity.search.rank}", 4)
    return lines


def _fields(noun: object, names: str) -> dict[str, object]:
    return {name: getattr(noun, name) for name in names.split()}


def _finding_data(finding: Explained | None, names: str) -> dict[str, object] | None:
    """The named fields of a finding and its sentence as `text`; None where there is no finding."""
    return None if finding is None else _fields(finding, names) | {"text": finding.explain()}


def _reach_data(reach: Reach | None) -> dict[str, object] | None:
    """Where driving and steering lead, as plain data."""
    if reach is None:
        return None
    return {
        **_fields(reach, "coordinates dimension growth complete degree"),
        "growth_here": reach.here,
        "brackets": [_fields(bracket, "name level moves") for bracket in reach.brackets],
        "never_changes": [dict(terms) for terms in reach.integrals],
        "text": reach.explain(),
    }


def _singularity_data(singularity: Singularity) -> dict[str, object]:
    """Where a map of velocities loses rank, as plain data; `rank` and `least` are null where nothing was searched."""
    search = singularity.search
    points = [{**_fields(p, "family value"), "at": dict(p.at), "any": p.free} for p in singularity.points]
    return {
        **_fields(singularity, "what parameters"),
        "configurations": points,
        "rank": search and search.rank,
        "least": search and {"at": dict(search.worst.at), "value": search.worst.value},
        "searched": [] if search is None else list(search.box.names),
        "text": singularity.explain(),
    }
