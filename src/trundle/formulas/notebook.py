"""Equations in a notebook: one formula, all of them, or a piece of a page."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from trundle.formulas.markup import Page, definition_rows, displayed, number_text, prose
from trundle.formulas.sections import Equation, Equations
from trundle.formulas.typesetting import alone
from trundle.html import MOST_FOLDED, folded, table

# Signs of LaTeX: longer sections are folded; when more than so many are on the page, the rest is left out. A browser
# sets some 100,000 signs a second.
_MOST_OPEN = 5_000
_MOST_PAGE = 60_000


def notebook(equations: Equations) -> str:
    """All equations as one displayed formula."""
    page = Page(equations)
    lines = []
    for section in equations.sections:
        lines += [rf"&\textbf{{{prose(section.title)}}}", *page.rows(section.equations)]
    lines += definition_rows(page, equations)
    return "$\\displaystyle \\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}$"


def one(equation: Equation) -> str:
    """One equation, without what it means."""
    rows = Page(alone(equation)).rows([replace(equation, meaning="")])
    if len(rows) == 1:
        return f"$\\displaystyle {rows[0].removeprefix('&').replace(' &= ', ' = ', 1)}$"
    return "$\\displaystyle \\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}$"


def html(equations: Equations) -> str:
    """Sections with displayed formulas, the intermediate quantities, and a table of the symbols to unfold."""
    page = Page(equations)
    sections = [(s.title, page.rows(s.equations), s.notes) for s in equations.sections]
    if equations.definitions:
        sections.append(("Intermediate quantities", definition_rows(page, equations), ()))
    parts, used, left = [], 0, []
    for title, rows, notes in sections:
        size = sum(map(len, rows))
        if used + size > _MOST_PAGE:
            left.append(title)
            continue
        used += size
        shown = "".join(escape(each) for each in displayed(rows)) + "".join(
            f"<p>{escape(n)}</p>" for n in notes
        )
        parts.append(folded(title, shown) if size > _MOST_OPEN else f"<p><b>{escape(title)}</b></p>{shown}")
    if left:
        parts.append(f"<p>Too long for this page: {escape(', '.join(left))}.</p>")
    symbols = [
        (f"${page.names[s.symbol]}$", number_text(s.number, s.unit), s.meaning) for s in equations.symbols
    ]
    listed = table(("symbol", "value", "meaning"), symbols, most=MOST_FOLDED)
    return "".join([*parts, folded(f"{len(symbols)} symbols", listed)])
