"""What a linearisation is: matrices with names, poles with their meaning, what inputs can't move and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from trundle.control.kalman import Kalman
from trundle.control.linear_control import Controllability
from trundle.control.linearization import Linearization
from trundle.control.regulator import Regulator
from trundle.control.regulator_along import RegulatorAlong
from trundle.control.trim import Trim
from trundle.html import MOST_FOLDED, block, listing, paragraph
from trundle.html import table as html_table
from trundle.mechanics.combinations import combination
from trundle.show.summaries.lines import TextRows, quantity, table
from trundle.show.summaries.verbs import html, sentence, text

# Larger matrices are not printed; wider tables than this have numbers in place of names above their columns.
_MOST_COLUMNS, _WIDTH = 16, 120
# Poles this close (relative to 1 + |λ|) are shown as one; multiple ones at 0 are known only to the root of rounding.
_SAME = 1e-6
_NONHOLONOMIC = (
    "the constraints (wheels that roll and don't slide) allow no velocity along these, so no feedback that is",
    "linear in the state corrects them; manoeuvres do: the Lie brackets of the allowed velocities reach them",
)

_INTEGRALS = ("the constraints keep these constant, whatever the inputs do: one follows from the others",)

# Gains over time are printed at so many times.
_TIMES = 6
# States of a steady motion below this are Newton's rounding.
_SMALL = 1e-12


@text.register
def linearization_text(about: Linearization) -> str:
    """The whole of it for a terminal."""
    lines = [_heading(about), *_standing(about)]
    for title, rows in (*_matrices(about), ("poles", _pole_table(about.poles))):
        lines += _titled(title, rows)
    return "\n".join([*lines, "", about.controllability.explain()])


@text.register
def regulator_text(regulator: Regulator) -> str:
    """The gains with their names, the loop's poles, and what each input's loop bears."""
    about = regulator.about
    gains: TextRows = [("", *about.inputs)]
    for name, column in zip(about.states, regulator.K.T, strict=True):
        gains.append((name, *(f"{gain:.6g}" for gain in column)))
    margins: TextRows = [("input", "disk", "gain from", "to", "phase, deg", "at, rad/s")]
    for name, each in regulator.margins.items():
        numbers = each.disk, each.lowest, each.highest, math.degrees(each.phase), each.frequency
        margins.append((name, *(f"{number:.3g}" for number in numbers)))
    lines = [
        f"Regulator of {regulator.name}, {_acting(regulator.period)}",
        _sizes("tolerances", regulator.tolerances, about.units),
        *_titled("gains: command against what is off", gains),
        *_decay("loop", "slowest leaves {} of itself", regulator),
        *_titled("what each loop bears, the others closed", margins),
    ]
    return "\n".join([*lines, "", (about.whole or about).controllability.explain()])


@text.register
def kalman_text(kalman: Kalman) -> str:
    """The gains with their names, what estimates are off by, and the error's poles."""
    about = kalman.about
    when = "measured at every instant" if kalman.period is None else f"sampled every {kalman.period:g} s"
    gains: TextRows = [("", "off by", *about.outputs)]
    for (name, off), row in zip(kalman.deviations.items(), kalman.L, strict=True):
        gains.append((name, quantity(off, about.units.get(name, "")), *(f"{gain:.6g}" for gain in row)))
    lines = [
        f"Kalman gain of {kalman.name}, {when}",
        _sizes("noise", kalman.noise, about.units),
        _sizes("measured", kalman.measured, about.units),
        *_titled("gains: correction by what a measurement is off", gains),
        *_decay("error", "slowest error leaves {}", kalman),
    ]
    return "\n".join(lines)


@text.register
def regulator_along_text(regulator: RegulatorAlong) -> str:
    """The gains at a few times, with their names."""
    time, when = regulator.time, _acting(regulator.period)
    lines = [f"Regulator of {regulator.name} along a run from {time[0]:g} s to {time[-1]:g} s, {when}"]
    for title, sizes in (("tolerances", regulator.tolerances), ("at the end", regulator.final)):
        lines += [_sizes(title, sizes, regulator.about.units)] if sizes else []
    places = np.unique(np.linspace(0, len(time) - 1, _TIMES).astype(int))
    lines += ["", "gains: command against what is off, over time"]
    for row, name in enumerate(regulator.inputs):
        gains: TextRows = [(name, *(f"at {time[k]:.4g} s" for k in places))]
        for j, of in enumerate(regulator.states):
            gains.append((of, *(f"{regulator.K[k, row, j]:.5g}" for k in places)))
        lines += ["", *_numbers(gains)]
    return "\n".join(lines)


def regulator_record(regulator: Regulator) -> dict[str, object]:
    """The same as plain data, in SI: gains by input and state."""
    about = regulator.about
    parts = ("disk", "lowest", "highest", "phase", "frequency")
    return {
        "name": about.name,
        "period": regulator.period,
        "state": dict(about.state),
        "input": dict(about.input),
        "states": list(about.states),
        "gains": {name: row.tolist() for name, row in zip(about.inputs, regulator.K, strict=True)},
        "poles": [[pole.real, pole.imag] for pole in regulator.poles],
        "margins": {
            name: {part: getattr(each, part) for part in parts} for name, each in regulator.margins.items()
        },
        "not_moved": [dict(each) for each in _not_moved(about.whole or about)],
    }


def _acting(period: float | None) -> str:
    """When a regulator acts."""
    return "acting at every instant" if period is None else f"acting every {period:g} s"


def _sizes(title: str, sizes: Mapping[str, float], units: Mapping[str, str]) -> str:
    """A line of sizes by name."""
    listed = (f"{name} {quantity(size, units.get(name, ''))}" for name, size in sizes.items())
    return f"  {title}  {', '.join(listed)}"


def _numbers(rows: TextRows) -> list[str]:
    """A table of names on the left and numbers behind them."""
    return table(rows, right=range(1, len(rows[0]) if rows else 1))


def _titled(title: str, rows: TextRows) -> list[str]:
    """The same below an empty line and a title."""
    return ["", title, *_numbers(rows)]


def _decay(what: str, sampled: str, design: Regulator | Kalman) -> list[str]:
    """The poles of a design that acts at every instant; of a sampled one, what its slowest part leaves."""
    if design.period is None:
        return ["", f"poles of the {what}", *table(_pole_table(design.poles), right=range(1, 4))]
    left = f"{np.abs(design.poles).max():.6g}"
    return ["", f"from a sample to the next the {sampled.format(left)}"]


def _not_moved(about: Linearization) -> tuple[Mapping[str, float], ...]:
    control = about.controllability
    return (*control.nonholonomic, *control.integrals, *control.unreached)


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
def controllability_sentence(control: Controllability) -> str:
    """How many directions inputs control, then the directions that they don't, a line for one, and why."""
    if not control.has_inputs:
        return "no inputs, so nothing to control"
    if control.is_controllable:
        return f"inputs control all {control.size} directions"
    dies = "; they die out on their own" if control.is_stabilizable else ", directly or through others"
    lines = [f"inputs control {control.rank} of {control.size} directions; they don't move"]
    for directions, why in (
        (control.nonholonomic, _NONHOLONOMIC),
        (control.integrals, _INTEGRALS),
        (control.unreached, (f"no input acts on these{dies}",)),
    ):
        if directions:
            # The last state, whose coefficient is 1, first: 'left.angle - 6.562 x + 3.937 theta'.
            ends = [list(direction.items()) for direction in directions]
            lines += [f"  {combination([terms[-1], *terms[:-1]])}" for terms in ends]
            lines += [f"    {line}" for line in why]
    return "\n".join(lines)


@sentence.register
def trim_sentence(trim: Trim) -> str:
    """A steady motion: what was asked for, what it takes, what moves on, what else could be asked for."""
    units, words = trim.model.units, trim.targets or {"nothing asked for": 0.0}

    def listed(values: Mapping[str, float]) -> str:
        return ", ".join(
            f"{name} = {quantity(value if abs(value) > _SMALL else 0.0, units.get(name, ''), 6)}"
            for name, value in values.items()
        )

    lines = [f"{trim.model.name} in a steady motion with {listed(trim.targets) or next(iter(words))}"]
    others = {name: value for name, value in trim.state.items() if abs(value) > _SMALL and name not in words}
    for what, values in (("states", others), ("inputs", trim.input), ("moving on, per second", trim.rate)):
        if values:
            lines.append(f"  {what}: {listed(values)}")
    for direction in trim.free:
        terms = list(direction.items())
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
    """A row for every pole: its value (1/s), how often it occurs, time constant, frequency and damping ratio.

    Conjugate poles share a row, so poles below the real axis are left out.
    """
    rows: TextRows = [("pole (1/s)", "times", "time constant", "frequency", "damping")]
    left = [complex(pole) for pole in poles if pole.imag >= 0]
    while left:
        pole = left[0]
        same = [other for other in left if abs(other - pole) <= _SAME * (1 + abs(pole))]
        left = [other for other in left if other not in same]
        rows.append((_pole(pole), str(len(same)), *_meaning(pole)))
    return rows


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
    tables: list[tuple[str, TextRows]] = []
    for name, matrix, rows, columns in (
        ("A", about.A, about.states, about.states),
        ("B", about.B, about.states, about.inputs),
        ("C", about.C, about.outputs, about.states),
        ("D", about.D, about.outputs, about.inputs),
    ):
        if not matrix.size:
            continue
        if len(columns) > _MOST_COLUMNS or len(rows) > 2 * _MOST_COLUMNS:
            tables.append((f"{name}: {len(rows)} by {len(columns)}, not shown", []))
            continue
        body = [
            (row, *(_entry(value, np.abs(line).max()) for value in line))
            for row, line in zip(rows, matrix, strict=True)
        ]
        wide = max(map(len, rows)) + sum(max(len(column), 8) + 2 for column in columns) > _WIDTH
        if wide and columns == about.states:  # states are numbered in the rows of A
            columns = tuple(str(k + 1) for k in range(len(columns)))
            body = [(f"{k} {row[0]}", *row[1:]) for k, row in enumerate(body, 1)] if name == "A" else body
        tables.append((name, [("", *columns), *body]))
    return tables


def _entry(value: float, largest: float) -> str:
    """A dot for what is structurally zero, 0 for rounding beside the row's largest."""
    if not value:
        return "."
    return "0" if abs(value) <= 1e-13 * largest else f"{value:.5g}"
