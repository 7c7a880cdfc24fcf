"""What a wrench or a twist is: on which body, at which point, in whose axes, and its six components."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trundle.html import MOST_FOLDED, block
from trundle.html import table as html_table
from trundle.show.lines import quantity, table
from trundle.wrenches import Twist, Wrench

Rows = list[tuple[str, ...]]


def wrench_text(wrench: Wrench) -> str:
    """Wrench on 'shank' by 'thigh', about knee, in the axes of shank: a line a component."""
    return "\n".join([wrench_heading(wrench), *table(component_rows(_of_wrench(wrench)))])


def wrench_html(wrench: Wrench) -> str:
    """The same for a notebook."""
    return _html(wrench_heading(wrench), _of_wrench(wrench))


def twist_text(twist: Twist) -> str:
    """Twist of 'shank' seen from 'world', at knee, in the axes of shank: a line a component."""
    return "\n".join([_twist_heading(twist), *table(component_rows(_of_twist(twist)))])


def twist_html(twist: Twist) -> str:
    """The same for a notebook."""
    return _html(_twist_heading(twist), _of_twist(twist))


def wrench_heading(wrench: Wrench) -> str:
    """On which body, by what, about which point, in whose axes."""
    return (
        f"Wrench on '{wrench.on}' by '{wrench.by}', about {wrench.point.name}, in the axes of"
        f" {wrench.frame.name}"
    )


def component_rows(parts: Iterable[tuple[str, object, str]]) -> Rows:
    """A component a row: its value, or over many samples its range."""
    return [
        (f"{letter}_{axis}", _value(value, unit))
        for letter, vector, unit in parts
        for axis, value in zip("xyz", _components(vector), strict=True)
    ]


def _of_wrench(wrench: Wrench) -> list[tuple[str, object, str]]:
    return [("F", wrench.force, "N"), ("M", wrench.moment, "N m")]


def _of_twist(twist: Twist) -> list[tuple[str, object, str]]:
    return [("v", twist.linear, "m/s"), ("omega", twist.angular, "rad/s")]


def _twist_heading(twist: Twist) -> str:
    return (
        f"Twist of '{twist.body}' seen from '{twist.seen_from.name}', at {twist.point.name}, in the axes of"
        f" {twist.frame.name}"
    )


def _html(heading: str, parts: list[tuple[str, object, str]]) -> str:
    return block(heading, "", html_table(("", ""), component_rows(parts), (), MOST_FOLDED))


def _components(vector: object) -> Iterable[object]:
    return np.moveaxis(vector, -1, 0) if isinstance(vector, np.ndarray) else vector  # type: ignore[return-value]


def _value(value: object, unit: str) -> str:
    if not isinstance(value, np.ndarray) or not value.ndim:
        return (
            quantity(float(value), unit, 6) if isinstance(value, (float, np.ndarray)) else f"{value} {unit}"
        )
    if np.all(np.isnan(value)):
        return f"not known in any of {value.size} samples"
    span = f"{np.nanmin(value):.6g} to {np.nanmax(value):.6g} {unit}"
    return f"{span} over {value.size} samples"
