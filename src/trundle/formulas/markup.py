"""Equations as LaTeX, Markdown and HTML: rows of TeX, set by the same layout, between each format's own marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

from sympy.printing.latex import greek_letters_set as tex_greek
from sympy.printing.pretty.pretty_symbology import greek_unicode

from trundle.formulas.printers import Latex
from trundle.formulas.sections import Equation, Equations
from trundle.formulas.typesetting import Layout, Line, Statement, alone
from trundle.html import MOST_FOLDED, folded, table

# A page is as wide as a formula of some 90 columns in a terminal.
_PAGE = 90
# Formula and meaning stand in one row up to this many columns.
_MOST_BEHIND = 100
# Signs of LaTeX in HTML: longer sections are folded; when more than so many are on the page, the rest is left out. A
# browser sets some 100,000 signs a second.
_MOST_OPEN = 5_000
_MOST_PAGE = 60_000
_HEAD = ("symbol", "value", "meaning")
# What texts have of formulas, and signs that mean something to TeX.
_TEX = {
    "u̇": r"$\dot u$", "ᵀ": "$^T$", "−": "$-$", "⋅": r"$\cdot$", "…": r"$\dots$", "°": r"$^\circ$", "±": r"$\pm$",
    "²": "$^2$", "³": "$^3$", "\\": r"\textbackslash{}", "^": r"\^{}",
    **{sign: rf"\{sign}" for sign in "${}_%&#"},
    **{digit: f"$_{k}$" for k, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{sign: rf"$\{name}$" for name, sign in greek_unicode.items() if sign and name in tex_greek},
}  # fmt: skip
_TEX_SIGNS = re.compile("|".join(map(re.escape, sorted(_TEX, key=len, reverse=True))))
_SIGNS = {"(": r"\bigl(", ")": r"\bigr)", "·": "", "−": "-", "/": r"\big/"}


class Page:
    """Writes the equations of one report as rows of an alignment."""

    def __init__(self, equations: Equations) -> None:
        self.layout = Layout(equations, _PAGE)
        named = {info.symbol for info in equations.symbols if info.keys == (info.symbol.name,)}
        self.tex = Latex(self.layout.order, named).doprint

    def sections(self) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
        """Title, rows and notes of each section, of the intermediate quantities last."""
        for block in self.layout.blocks():
            yield block.title, [row for each in block.statements for row in self.statement(each)], block.notes

    def statement(self, statement: Statement) -> list[str]:
        """One statement with what it means, over several rows where it is long."""
        first, *rest = (self._line(line) for line in self.layout.rows(statement))
        head = " = ".join(map(self.tex, statement.lefts)) if self.layout.by_symbol(statement) else ""
        rows = [f"{head} &= {first}" if head else f"&{first}", *(f"&{row}" for row in rest)]
        meaning = prose(statement.meaning)
        width = sum(map(self.layout.columns, (*statement.lefts, statement.right)))
        if meaning and width + len(statement.meaning) <= _MOST_BEHIND and not rest:
            return [rf"{rows[0]} && \text{{{meaning}}}"]
        return [*([rf"& \text{{{meaning}:}}"] if meaning else []), *rows]

    def _line(self, line: Line) -> str:
        shown = [_SIGNS.get(each, each) if isinstance(each, str) else self.tex(each) for each in line.tokens]
        return r"\quad " * line.depth + ("{} " if line.tokens[0] in ("+", "−") else "") + " ".join(shown)


def latex(equations: Equations) -> str:
    """Sections with aligned equations, then what the symbols mean; a part of a document that uses amsmath."""
    page = Page(equations)
    parts = [rf"\section*{{{prose(equations.name)}}}"]
    for title, rows, notes in page.sections():
        parts.append(rf"\subsection*{{{prose(title)}}}")
        parts += [_within("align*", rows)] if rows else []
        parts += map(prose, notes)
    symbols = (
        f"${page.tex(symbol)}$ & {prose(number)} & {prose(meaning)}"
        for symbol, number, meaning in page.layout.symbols()
    )
    listed = " \\\\\n".join(symbols)
    parts += [
        r"\subsection*{Symbols}" + "\n\\begin{tabular}{llp{0.6\\linewidth}}\n" + listed + "\n\\end{tabular}"
    ]
    return "\n\n".join(parts) + "\n"


def markdown(equations: Equations) -> str:
    """Headings, displayed formulas, and a table of the symbols."""
    page = Page(equations)
    parts = [f"# {equations.name}"]
    for title, rows, notes in page.sections():
        parts += [f"## {title}", *displayed(rows), *(f"- {_cell(note)}" for note in notes)]
    rows = [
        f"| ${page.tex(symbol)}$ | {number} | {_cell(meaning)} |"
        for symbol, number, meaning in page.layout.symbols()
    ]
    parts += ["## Symbols", "\n".join([f"| {' | '.join(_HEAD)} |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def html(equations: Equations) -> str:
    """Sections with displayed formulas, the intermediate quantities, and a table of the symbols to unfold."""
    page = Page(equations)
    parts, used, left = [], 0, []
    for title, rows, notes in page.sections():
        size = sum(map(len, rows))
        if used + size > _MOST_PAGE:
            left.append(title)
            continue
        used += size
        shown = "".join(map(escape, displayed(rows))) + "".join(f"<p>{escape(note)}</p>" for note in notes)
        parts.append(folded(title, shown) if size > _MOST_OPEN else f"<p><b>{escape(title)}</b></p>{shown}")
    if left:
        parts.append(f"<p>Too long for this page: {escape(', '.join(left))}.</p>")
    symbols = [(f"${page.tex(symbol)}$", *others) for symbol, *others in page.layout.symbols()]
    return "".join([*parts, folded(f"{len(symbols)} symbols", table(_HEAD, symbols, most=MOST_FOLDED))])


def one(equation: Equation) -> str:
    """One equation, without what it means, for a notebook."""
    page = Page(alone(replace(equation, meaning="")))
    ((_, rows, _),) = page.sections()
    whole = (
        rows[0].removeprefix("&").replace(" &= ", " = ", 1) if len(rows) == 1 else _within("aligned", rows)
    )
    return f"$\\displaystyle {whole}$"


def displayed(rows: Sequence[str]) -> list[str]:
    """Aligned rows as one formula; none of none."""
    return [f"$$\n{_within('aligned', rows)}\n$$"] if rows else []


def prose(text: str) -> str:
    """A sentence as LaTeX's text."""
    return _TEX_SIGNS.sub(lambda found: _TEX[found[0]], text)


def _within(environment: str, rows: Sequence[str]) -> str:
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(rows) + f"\n\\end{{{environment}}}"


def _cell(text: str) -> str:
    """Text in which Markdown sees nothing else."""
    return re.sub(r"[\\|*_]", r"\\\g<0>", text)
