"""Sections on what wheels, couplings and loops demand of the speeds, and what that leaves."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from trundle.errors import counted
from trundle.formulas.letters.names import listed, numbered
from trundle.formulas.letters.sheet import Sheet
from trundle.formulas.sections import Equation, Section
from trundle.mechanics.linear import dot
from trundle.mechanics.loop_joints import close
from trundle.mechanics.rolling import Basis
from trundle.model.constraints import constraint_rows
from trundle.scalars import Scalar, is_zero

ROLLING = "Constraints of rolling"
FOLLOWING = "Speeds that follow from the independent ones"
LOOPS = "Constraints of loops"
_WORDS = {
    "rolling": "{0} rolls without slipping",
    "lateral": "{0} does not slide sideways",
    "linkage": "{0} turns its wheels together",
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
        free = f"independent speed{' is' if len(labels) == 1 else 's are'} {listed(labels)}"
        note = f"The {counted(len(rows), 'constraint')} have rank {rank}: {again}. The {free}."
        if len(rows) == 1:
            note = f"There is one constraint. The {free}."
    return Section("constraints", ROLLING, tuple(equations), (note,))


def speed_section(sheet: Sheet, basis: Basis) -> Section | None:
    """The dependent speeds as the independent ones set them, ν = S(q) u."""
    u = [sheet.speed(name) for name in basis.labels]
    rows = zip(sheet.assembly.speeds, basis.matrix, strict=True)
    equations = tuple(
        Equation(f"speed.{name}", sheet.symbol(name), sheet.expression(dot(row, u)))
        for name, row in rows
        if name not in basis.labels
    )
    return Section("constraints", FOLLOWING, equations) if equations else None


def loop_rows(sheet: Sheet, basis: Basis) -> tuple[list[list[Scalar]], list[tuple[str, Scalar]]]:
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
    sheet: Sheet, basis: Basis, rows: Sequence[Sequence[Scalar]], gaps: Sequence[tuple[str, Scalar]]
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
