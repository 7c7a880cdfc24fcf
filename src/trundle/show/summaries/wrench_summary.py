"""What wrenches, twists, inertias and breakdowns are: of which body, at which point, in whose axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

import numpy as np

from trundle.html import MOST_FOLDED, Markup, block
from trundle.html import table as html_table
from trundle.show.summaries.lines import TextRows, quantity, table
from trundle.show.summaries.verbs import html, text
from trundle.wrenches import Breakdown, Inertia, Twist, Wrench
from trundle.wrenches.components import is_symbolic

# Characters of an expression in a column of a table.
_LONGEST = 24


@text.register
def vectors_text(noun: Wrench | Twist) -> str:
    """Wrench on 'shank' by 'thigh', about knee, in the axes of shank: a line a component."""
    return "\n".join([_heading(noun), *table(_component_rows(noun, _value))])


@html.register
def vectors_html(noun: Wrench | Twist) -> str:
    """The same for a notebook, expressions as MathML."""
    return block(_heading(noun), "", html_table(("", ""), _component_rows(noun, _formula), (), MOST_FOLDED))


@text.register
def inertia_text(inertia: Inertia) -> str:
    """Inertia of 'shank' about G, in the axes of shank: its mass, then a line a row."""
    return "\n".join([_inertia_heading(inertia), *table(_inertia_rows(inertia))])


@html.register
def inertia_html(inertia: Inertia) -> str:
    """The same for a notebook."""
    return block(_inertia_heading(inertia), "", html_table(("", ""), _inertia_rows(inertia)))


@text.register
def breakdown_text(breakdown: Breakdown) -> str:
    """A term a line: single moments in components, many samples by their largest force and moment."""
    head, *rows = _breakdown_rows(breakdown)
    return "\n".join([_breakdown_heading(breakdown), *table([head, *rows], right=range(1, len(head)))])


@html.register
def breakdown_html(breakdown: Breakdown) -> str:
    """The same for a notebook."""
    head, *rows = _breakdown_rows(breakdown)
    return block(_breakdown_heading(breakdown), "", html_table(head, rows, range(1, len(head)), MOST_FOLDED))


def _component_rows(noun: Wrench | Twist, written: Callable[[object, str], str]) -> TextRows:
    """A component a row: its value as it is `written` with its unit."""
    return [
        (f"{letter}_{axis}", written(value, unit))
        for letter, vector, unit in _vectors(noun)
        for axis, value in zip("xyz", _components(vector), strict=True)
    ]


def _vectors(noun: Wrench | Twist) -> list[tuple[str, object, str]]:
    """The letter, the vector and the unit of both parts."""
    if isinstance(noun, Wrench):
        return [("F", noun.force, "N"), ("M", noun.moment, "N m")]
    return [("v", noun.linear, "m/s"), ("omega", noun.angular, "rad/s")]


def _heading(noun: Wrench | Twist) -> str:
    """The title of a wrench, or of a twist: of which body, seen from where, at which point, in whose axes."""
    if isinstance(noun, Wrench):
        about, axes = noun.point.name, noun.frame.name
        return f"Wrench on '{noun.on}' by '{noun.by}', about {about}, in the axes of {axes}"
    seen = f"seen from '{noun.seen_from.name}', at {noun.point.name}"
    return f"Twist of '{noun.body}' {seen}, in the axes of {noun.frame.name}"


def _inertia_heading(inertia: Inertia) -> str:
    about, axes = inertia.point.name, inertia.frame.name
    return f"Inertia of '{inertia.body}', about {about}, in the axes of {axes}"


def _inertia_rows(inertia: Inertia) -> TextRows:
    """The mass, then the six numbers of the upper triangle, as the matrix is symmetric."""
    matrix = inertia.matrix
    rows = np.moveaxis(matrix, -2, 0) if isinstance(matrix, np.ndarray) else matrix
    named = (
        (f"I_{axis}{other}", _value(value, "kg m²"))
        for axis, row in zip("xyz", rows, strict=True)
        for other, value in zip("xyz", _components(row), strict=True)
        if other >= axis
    )
    return [("m", _value(inertia.mass, "kg")), *named]


def _breakdown_heading(breakdown: Breakdown) -> str:
    seen = breakdown.seen
    return (
        f"Motion of '{seen.on}' as '{breakdown.observer.name}' sees it from {breakdown.origin.name}: wrenches about"
        f" {seen.point.name}, in the axes of {seen.frame.name}"
    )


def _breakdown_rows(breakdown: Breakdown) -> TextRows:
    """A header, then a row a term: of many samples the largest force and moment, else all six components."""
    terms = {**{name: breakdown[name] for name in breakdown}, "residual": breakdown.residual}
    parts = {name: (term.force, term.moment) for name, term in terms.items()}
    vectors = [vector for both in parts.values() for vector in both]
    if all(isinstance(x, np.ndarray) for x in vectors) and any(np.ndim(x) > 1 for x in vectors):
        largest = ((name, *(f"{_largest(x):.6g}" for x in both)) for name, both in parts.items())
        return [("largest of all samples", "force (N)", "moment (N m)"), *largest]
    components = (
        (name, *(_short(x) for part in both for x in _components(part))) for name, both in parts.items()
    )
    return [
        ("", *(f"{part}_{axis} ({unit})" for part, unit in (("F", "N"), ("M", "N m")) for axis in "xyz")),
        *components,
    ]


def _largest(vectors: np.ndarray) -> float:
    return float(np.nanmax(np.linalg.norm(vectors, axis=-1), initial=0.0))


def _short(value: object) -> str:
    """A number; of an expression no more than fits a column."""
    if isinstance(value, (int, float, np.ndarray)):
        return f"{float(value):.6g}"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _components(vector: object) -> Iterable[object]:
    return np.moveaxis(vector, -1, 0) if isinstance(vector, np.ndarray) else vector  # type: ignore[return-value]


def _formula(value: object, unit: str) -> str:
    """An expression as browsers set it, dots for rates; numbers as in a text."""
    if not is_symbolic(value):
        return _value(value, unit)
    from trundle.formulas.typeset.hypertext import formula

    return Markup(f"{formula(value)} {escape(unit)}")


def _value(value: object, unit: str) -> str:
    """A number with its unit; of samples over time the smallest and the largest, as far as they are known."""
    if not isinstance(value, (float, np.ndarray)):
        return f"{value} {unit}"
    if isinstance(value, float) or not value.ndim:
        return quantity(float(value), unit, 6)
    if np.all(np.isnan(value)):
        return f"not known in any of {value.size} samples"
    span = f"{np.nanmin(value):.6g} to {np.nanmax(value):.6g} {unit}"
    return f"{span} over {value.size} samples"
