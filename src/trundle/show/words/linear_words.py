"""What a linearisation is: matrices with names, poles with their meaning, what inputs can't move and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from trundle.control.linear_control import Controllability
from trundle.control.linearization import Linearization
from trundle.control.trim import Trim
from trundle.html import MOST_FOLDED, block, listing, paragraph
from trundle.html import table as html_table
from trundle.mechanics.combinations import combination
from trundle.show.words.lines import TextRows, quantity, table
from trundle.show.words.verbs import html, sentence, text

# Larger matrices are not printed; wider tables than this have numbers in place of names above their columns.
_MOST_COLUMNS, _WIDTH = 16, 120
# Poles this close (relative to 1 + |λ|) are shown as one; multiple ones at 0 are found only to the root of rounding.
_SAME = 1e-6
_NONHOLONOMIC = (
    "the constraints (wheels that roll and don't slide) allow no velocity along these, so no feedback that is",
    "linear in the state corrects them; manoeuvres do: the Lie brackets of the allowed velocities reach them",
)

_INTEGRALS = ("the constraints keep these constant, whatever the inputs do: one follows from the others",)

# States of a steady motion below this are Newton's rounding.
_SMALL = 1e-12


@text.register
def linearization_text(about: Linearization) -> str:
    """The whole of it for a terminal."""
    lines = [_heading(about), *_standing(about)]
    for title, rows in (*_matrices(about), ("poles", _pole_table(about.poles))):
        lines += ["", title, *table(rows, right=range(1, len(rows[0]) if rows else 1))]
    return "\n".join([*lines, "", about.controllability.explain()])


@html.register
def linearization_html(about: Linearization) -> str:
    """The same for a notebook."""
    tables = [
        paragraph(title)
        + (html_table(rows[0], rows[1:], range(1, len(rows[0])), MOST_FOLDED) if rows else "")
        for title, rows in (*_matrices(about), ("poles", _pole_table(about.poles)))
    ]
    standing = (paragraph(line) for line in _standing(about))
    return block(_heading(about), "", *standing, *tables, listing(about.controllability.explain()))


@sentence.register
def controllability_sentence(found: Controllability) -> str:
    """How many directions inputs control, then a line for each that they don't, and why."""
    if not found.has_inputs:
        return "no inputs, so nothing to control"
    if found.is_controllable:
        return f"inputs control all {found.size} directions"
    dies = "; they die out on their own" if found.is_stabilizable else ", directly or through others"
    lines = [f"inputs control {found.rank} of {found.size} directions; they don't move"]
    for directions, why in (
        (found.nonholonomic, _NONHOLONOMIC),
        (found.integrals, _INTEGRALS),
        (found.unreached, (f"no input acts on these{dies}",)),
    ):
        if directions:
            # The last state, whose coefficient is 1, first: 'left.angle - 6.562 x + 3.937 theta'.
            ends = [list(each.items()) for each in directions]
            lines += [f"  {combination([terms[-1], *terms[:-1]])}" for terms in ends]
            lines += [f"    {line}" for line in why]
    return "\n".join(lines)


@sentence.register
def trim_sentence(found: Trim) -> str:
    """A steady motion: what was asked for, what it takes, what moves on, what else could be asked for."""
    units, words = found.model.units, found.targets or {"nothing asked for": 0.0}

    def listed(values: Mapping[str, float]) -> str:
        return ", ".join(
            f"{name} = {quantity(value if abs(value) > _SMALL else 0.0, units.get(name, ''), 6)}"
            for name, value in values.items()
        )

    lines = [f"{found.model.name} in a steady motion with {listed(found.targets) or next(iter(words))}"]
    others = {name: value for name, value in found.state.items() if abs(value) > _SMALL and name not in words}
    for what, values in (("states", others), ("inputs", found.input), ("moving on, per second", found.rate)):
        if values:
            lines.append(f"  {what}: {listed(values)}")
    for each in found.free:
        terms = list(each.items())
        lines.append(f"  left free: {combination([terms[-1], *terms[:-1]])}")
    return "\n".join(lines)


def _heading(about: Linearization) -> str:
    """One line: whose, how large, about which state."""
    moved = chain(about.state.items(), about.input.items())
    where = ", ".join(f"{name} = {value:.6g}" for name, value in moved if value) or "all zeros"
    size = f"{len(about.states)} states, {len(about.inputs)} inputs, {len(about.outputs)} outputs"
    return f"{about.name} linearised about {where} ({size})"


def _standing(about: Linearization) -> list[str]:
    """Lines on whether it is an equilibrium, and on the states that the constraints leave."""

    def rate(name: str) -> str:
        unit = about.units.get(name, "")
        per_second = f"{unit}/s".replace("/s/s", "/s^2") if unit else ""
        return f"{name} at {quantity(about.rate[name], per_second, 4)}"

    rates = ", ".join(rate(name) for name in about.drifting)
    if about.is_equilibrium:
        lines = ["an equilibrium"]
    elif about.is_steady:
        lines = [f"a steady motion: drifting are {rates}"]
    else:
        lines = [
            f"not an equilibrium: drifting are {rates}",
            "no steady motion, so A and B hold at this moment only: model.linearize_along(run) has A(t), B(t)",
        ]
    if about.dependent:
        lines.append(f"dependent by the constraints: {', '.join(about.dependent)}")
    return lines


def _pole_table(poles: Sequence[complex] | np.ndarray) -> TextRows:
    """Each pole once: its value (1/s), how often, time constant or doubling time, frequency, damping ratio."""
    found: TextRows = [("pole (1/s)", "times", "time constant", "frequency", "damping")]
    left = [complex(each) for each in poles if each.imag >= 0]
    while left:
        pole = left[0]
        same = [each for each in left if abs(each - pole) <= _SAME * (1 + abs(pole))]
        left = [each for each in left if each not in same]
        found.append((_pole(pole), str(len(same)), *_meaning(pole)))
    return found


def _pole(pole: complex) -> str:
    if abs(pole) <= _SAME:
        return "0"
    real = "0" if abs(pole.real) <= 1e-12 * abs(pole) else f"{pole.real:.6g}"
    return real if not pole.imag else f"{real} ± {pole.imag:.6g}i"


def _meaning(pole: complex) -> tuple[str, str, str]:
    """1/|Re λ|, growing where Re λ > 0; |Im λ|/2π; ζ = −Re λ/|λ|."""
    if abs(pole) <= _SAME:
        return "holds", "", ""
    constant = ""
    if abs(pole.real) > 1e-12 * abs(pole):
        time = 1 / abs(pole.real)
        shown = f"{time:.4g} s" if time >= 0.1 else f"{1e3 * time:.4g} ms"
        constant = f"{shown}{', grows' if pole.real > 0 else ''}"
    if not pole.imag:
        return constant, "", ""
    damping = f"{-pole.real / abs(pole):.4g}" if constant else "0"
    return constant, f"{pole.imag / (2 * math.pi):.4g} Hz", damping


def _matrices(about: Linearization) -> list[tuple[str, TextRows]]:
    """A, B, C and D with the names of their rows and columns; large ones by their size alone."""
    found: list[tuple[str, TextRows]] = []
    for name, matrix, rows, columns in (
        ("A", about.A, about.states, about.states),
        ("B", about.B, about.states, about.inputs),
        ("C", about.C, about.outputs, about.states),
        ("D", about.D, about.outputs, about.inputs),
    ):
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
