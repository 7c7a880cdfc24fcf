"""How linearisations show themselves: matrices with names, poles with their meaning, what can't be controlled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from trundle.control.linearization import Linearization

# Larger matrices are not printed; wider tables than this have numbers in place of names above their columns.
_MOST_COLUMNS, _WIDTH = 16, 120
# Poles this close (relative to 1 + |λ|) are shown as one; multiple ones at 0 are found only to the root of rounding.
_SAME = 1e-6

Table = list[tuple[str, ...]]


def linearization_text(about: Linearization) -> str:
    """The whole of it for a terminal."""
    lines = [heading(about), *standing(about)]
    for title, table in _matrices(about):
        lines += ["", *_lines(title, table)]
    lines += ["", *_lines("poles", pole_table(about.poles)), "", about.controllability.explain()]
    return "\n".join(lines)


def linearization_html(about: Linearization) -> str:
    """The same for a notebook."""
    parts = [
        f"<p><b>{escape(heading(about))}</b></p>",
        *(f"<p>{escape(each)}</p>" for each in standing(about)),
    ]
    parts += [_html(title, table) for title, table in (*_matrices(about), ("poles", pole_table(about.poles)))]
    parts.append(f"<pre>{escape(about.controllability.explain())}</pre>")
    return f"<div>{''.join(parts)}</div>"


def heading(about: Linearization) -> str:
    """One line: whose, how large, about which state."""
    moved = {**about.state, **about.input}
    where = ", ".join(f"{name} = {value:.6g}" for name, value in moved.items() if value) or "all zeros"
    size = f"{len(about.states)} states, {len(about.inputs)} inputs, {len(about.outputs)} outputs"
    return f"{about.name} linearised about {where} ({size})"


def standing(about: Linearization) -> list[str]:
    """Lines on whether it is an equilibrium, and on the states that the constraints leave."""
    rates = ", ".join(
        f"{name} at {_quantity(about.rate[name], _rate_unit(about, name))}" for name in about.drifting
    )
    if about.is_equilibrium:
        lines = ["an equilibrium"]
    elif about.is_steady:
        lines = [f"a steady motion: drifting are {rates}"]
    else:
        lines = [f"not an equilibrium: drifting are {rates}"]
    if about.dependent:
        lines.append(f"dependent by the constraints: {', '.join(about.dependent)}")
    return lines


def pole_table(poles: Sequence[complex] | np.ndarray) -> Table:
    """Each pole once: its value (1/s), how often, time constant or doubling time, frequency, damping ratio."""
    table: Table = [("pole (1/s)", "times", "time constant", "frequency", "damping")]
    left = [complex(each) for each in poles if each.imag >= 0]
    while left:
        pole = left[0]
        same = [each for each in left if abs(each - pole) <= _SAME * (1 + abs(pole))]
        left = [each for each in left if each not in same]
        table.append((_pole(pole), str(len(same)), *_meaning(pole)))
    return table


def _pole(pole: complex) -> str:
    if abs(pole) <= _SAME:
        return "0"
    real = "0" if abs(pole.real) <= 1e-12 * abs(pole) else f"{pole.real:.6g}"
    return real if not pole.imag else f"{real} ± {pole.imag:.6g}i"


def _meaning(pole: complex) -> tuple[str, str, str]:
    """1/|Re λ|, growing where Re λ > 0; |Im λ|/2π; ζ = −Re λ/|λ|."""
    if abs(pole) <= _SAME:
        return "holds", "", ""
    time = ""
    if abs(pole.real) > 1e-12 * abs(pole):
        time = f"{_seconds(1 / abs(pole.real))}{', grows' if pole.real > 0 else ''}"
    if not pole.imag:
        return time, "", ""
    damping = f"{-pole.real / abs(pole):.4g}" if time else "0"
    return time, f"{pole.imag / (2 * math.pi):.4g} Hz", damping


def _seconds(time: float) -> str:
    return f"{time:.4g} s" if time >= 0.1 else f"{1e3 * time:.4g} ms"


def _matrices(about: Linearization) -> list[tuple[str, Table]]:
    found = []
    for name, rows, columns in (
        ("A", about.states, about.states),
        ("B", about.states, about.inputs),
        ("C", about.outputs, about.states),
        ("D", about.outputs, about.inputs),
    ):
        matrix: Any = getattr(about, name)
        if not matrix.size:
            continue
        if len(columns) > _MOST_COLUMNS or len(rows) > 2 * _MOST_COLUMNS:
            found.append((f"{name}: {len(rows)} by {len(columns)}, not shown", []))
            continue
        body = [
            (row, *(_entry(value, np.abs(line).max()) for value in line))
            for row, line in zip(rows, matrix, strict=True)
        ]
        wide = max(map(len, rows)) + sum(max(len(each), 8) + 2 for each in columns) > _WIDTH
        if wide and columns == about.states:  # states are numbered in the rows of A
            columns = tuple(str(k + 1) for k in range(len(columns)))
            body = [(f"{k} {row[0]}", *row[1:]) for k, row in enumerate(body, 1)] if name == "A" else body
        found.append((name, [("", *columns), *body]))
    return found


def _entry(value: float, largest: float) -> str:
    """A dot for what is structurally zero, 0 for rounding beside the row's largest."""
    if not value:
        return "."
    return "0" if abs(value) <= 1e-13 * largest else f"{value:.5g}"


def _lines(title: str, table: Table) -> list[str]:
    if not table:
        return [title]
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    rows = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in table
    ]
    return [title, *(f"  {row}".rstrip() for row in rows)]


def _html(title: str, table: Table) -> str:
    if not table:
        return f"<p>{escape(title)}</p>"
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table[0])
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in table[1:]
    )
    return f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _rate_unit(about: Linearization, name: str) -> str:
    unit = about.units.get(name, "")
    return f"{unit}/s".replace("/s/s", "/s^2") if unit else ""


def _quantity(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".rstrip()
