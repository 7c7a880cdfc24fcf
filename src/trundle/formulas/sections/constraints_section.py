"""Sections on what wheels, couplings and loops demand of the speeds, and what that leaves."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from trundle.errors import counted
from trundle.formulas.derivation.following import TWIST, Following, trailer
from trundle.formulas.equation import Equation, Section
from trundle.formulas.symbols.names import listed, numbered
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.linear import dot
from trundle.mechanics.loop_joints import close
from trundle.mechanics.rolling import SpeedBasis
from trundle.model.constraints import constraint_rows
from trundle.scalars import Scalar, is_zero

ROLLING = "Constraints of rolling"
FOLLOWING = "Speeds that follow from the independent ones"
LOOPS = "Constraints of loops"
_WORDS = {
    "rolling": "{0} rolls without slipping",
    "lateral": "{0} does not slide sideways",
    "linkage": "{0} turns its wheels together",
    "cam": "{0} makes one follow the other",
    "gear": "{0} makes one follow the others",
}


def constraint_section(sheet: Sheet, lock: str) -> Section | None:
    """A(q) ν = 0 row by row; for a robot that its wheels would `lock`, the rows and why."""
    if lock:
        wheels = [wheel for wheel in sheet.assembly.wheels if wheel.law.rolls]
        rows, about = constraint_rows(sheet.assembly, sheet.at, wheels)
    else:
        rows, about = sheet.here.rolling.rows, sheet.here.rolling.about
    if not rows:
        return None
    nu, zero = sheet.all_speeds(), sympy.Integer(0)
    equations = []
    names = numbered(f"constraint.{what.owner}.{what.what}" for what in about)
    for row, what, name in zip(rows, about, names, strict=True):
        words = _WORDS.get(what.what, "{0}: " + what.what).format(what.owner)
        equations.append(Equation(name, sheet.expression(dot(row, nu)), zero, meaning=words))
    note = lock
    if not lock:
        rank, labels = sheet.here.basis.elimination.rank, sheet.here.basis.labels
        more = len(rows) - rank
        again = f"{more} {'is' if more == 1 else 'are'} redundant" if more else "they are independent"
        speeds = listed([str(sheet.symbol(label)) for label in labels])
        free = f"independent speed{' is' if len(labels) == 1 else 's are'} {speeds}"
        note = f"The {counted(len(rows), 'constraint')} have rank {rank}: {again}. The {free}."
        if len(rows) == 1:
            note = f"There is one constraint. The {free}."
    return Section("constraints", ROLLING, tuple(equations), (note,))


def speed_section(sheet: Sheet, follows: Following) -> Section | None:
    """The dependent speeds as those before them set them, and the twists of trailers on the way."""
    speeds, labels = sheet.assembly.speeds, follows.basis.labels
    u = [sheet.speed(name) for name in labels]
    known: dict[int, Scalar] = {}
    equations = []
    for column, before, over_u in follows.steps:
        value = dot(over_u, u) if over_u else dot([*before.values()], [known[j] for j in before])
        if column >= len(speeds):
            equations.append(_trailer_speed(sheet, follows, column, known, value))
            continue
        name = speeds[column]
        known[column] = sheet.speed(name)
        if name not in labels:
            equations.append(Equation(f"speed.{name}", sheet.symbol(name), sheet.expression(value)))
    order = {f"speed.{speeds[j]}": j for j in sheet.assembly.base_columns}
    equations.sort(key=lambda equation: order.get(equation.name, len(order)))
    return Section("constraints", FOLLOWING, tuple(equations)) if equations else None


def _trailer_speed(
    sheet: Sheet, follows: Following, column: int, known: dict[int, Scalar], value: Scalar
) -> Equation:
    """A part of a trailer's twist, which gets a symbol."""
    part, k = trailer(follows, column)
    label, unit = sheet.names.label(part.owner), "m/s" if k < 2 else "rad/s"
    words = f"{TWIST[k]} of {part.owner}" + (" at its hitch, in its own axes" if k < 2 else "")
    name = ("v_x", "v_y", "omega")[k]
    known[column] = symbol = sheet.named(value, words, unit, f"{name}_{label}")
    right = sheet.expression(value)
    return Equation(f"speed.{part.owner}.{name}", sheet.expression(symbol), right, meaning=words)


def loop_rows(sheet: Sheet, basis: SpeedBasis) -> tuple[list[list[Scalar]], list[tuple[str, Scalar]]]:
    """Rows A S of all loops over the independent speeds, and the gaps φ(q), those that vanish by structure left out."""
    rows, gaps = [], []
    for loop in sheet.assembly.loops:
        closure = close(sheet.assembly.tree, sheet.at.poses, loop, len(sheet.assembly.speeds))
        for gap, row in zip(closure.gaps, closure.rows, strict=True):
            over = [dot(row, column) for column in zip(*basis.matrix, strict=True)]
            if any(not is_zero(entry) for entry in over):
                rows.append(over)
                gaps.append((loop.name, gap))
    return rows, gaps


def loop_section(
    sheet: Sheet, basis: SpeedBasis, rows: Sequence[Sequence[Scalar]], gaps: Sequence[tuple[str, Scalar]]
) -> Section:
    """What closed loops demand: φ(q) = 0, and A u = 0 for the speeds."""
    u, zero = [sheet.speed(name) for name in basis.labels], sympy.Integer(0)
    equations = []
    for k, ((name, gap), row) in enumerate(zip(gaps, rows, strict=True), start=1):
        words = f"the loop {name} is closed"
        place, rate = sheet.expression(gap), sheet.expression(dot(row, u))
        equations += [
            Equation(f"loop.{k}.{name}", place, zero, meaning=words, given=True),
            Equation(f"loop_rate.{k}.{name}", rate, zero, meaning=f"{words} while it moves", given=True),
        ]
    note = "No speed is solved for: which could follow from the others changes as the mechanism moves."
    return Section("constraints", LOOPS, tuple(equations), (note,))
