"""Equations as LaTeX, Markdown and HTML: alignments that fit a page, set by one layout, between each format's marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import NamedTuple

from trundle.formulas.names import numbered
from trundle.formulas.sections import Equation, Equations
from trundle.html import MOST_FOLDED, folded, table
from trundle.typeset.layout import Layout, Line, Statement, alone
from trundle.typeset.printers import COLUMN, GREEK_NAMES, Latex, prose
from trundle.typeset.tex_width import tex_width

# Columns of an A4 page with margins of 2 cm (483 pt), without what an equation's number takes.
_PAGE = 80
# Columns between a formula and what it means; of a letter in a text.
_GAP = 4
_TEXT = 4.8 / COLUMN
# Signs of LaTeX in HTML: longer sections are folded; when more than so many are on the page, the rest is left out. A
# browser sets some 100,000 signs a second.
_MOST_OPEN = 5_000
_MOST_PAGE = 60_000
_HEAD = ("symbol", "value", "meaning")
_SIGNS = {"(": r"\bigl(", ")": r"\bigr)", "·": "", "−": "-", "/": r"\big/"}
_PACKAGES = r"\usepackage{amsmath, array, longtable}"
_DOCUMENT = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
%s
\begin{document}
%s\end{document}
"""


class Row(NamedTuple):
    """One row of an alignment; the last one of a statement has its `name`."""

    left: str
    right: str
    name: str = ""
    behind: str = ""

    def __str__(self) -> str:
        shown = f"{self.left} &= {self.right}" if self.left else f"&{self.right}"
        # MathJax reads \_ among formulas only, not in texts.
        behind = self.behind.replace(r"\_\allowbreak{}", r"}\_\text{")
        return rf"{shown} && \text{{{behind}}}" if behind else shown


class Page:
    """Writes the equations of one report as sentences and alignments."""

    def __init__(self, equations: Equations) -> None:
        named = {info.symbol for info in equations.symbols if info.keys == (info.symbol.name,)}
        self.layout = Layout(equations, _PAGE, lambda order: Latex(order, named))
        self.tex = self.layout.printer.doprint

    def pieces(self, statements: Sequence[Statement]) -> Iterator[str | list[Row]]:
        """What statements mean stands behind them where there is room, else in a sentence before them. Rows that have
        room beside each other make one alignment.
        """
        group: list[Row] = []
        most = (0.0, 0.0, 0.0)
        for statement in statements:
            rows, words = self.rows(statement), statement.meaning
            left, right = (max(tex_width(row[k]) / COLUMN for row in rows) for k in (0, 1))
            own = (left, right, _GAP + _TEXT * len(words) if words and len(rows) == 1 else 0.0)
            ahead = bool(words) and (len(rows) > 1 or sum(own) > _PAGE)
            merged = tuple(map(max, most, own))
            if group and (ahead or sum(merged) > _PAGE):
                yield group
                group, most = [], (0.0, 0.0, 0.0)
            if ahead:
                yield f"{words}:"
                own = (left, right, 0.0)
            most = (max(most[0], own[0]), max(most[1], own[1]), max(most[2], own[2]))
            group += [rows[0]._replace(behind=self.prose(words))] if words and not ahead else rows
        if group:
            yield group

    def rows(self, statement: Statement) -> list[Row]:
        """The rows of one statement."""
        lines = [self._line(line) for line in self.layout.rows(statement)]
        if len(lines) == 1 and not self.layout.by_symbol(statement):
            return [Row(self.tex(statement.lefts[0]), self.tex(statement.right), statement.name)]
        head = " = ".join(map(self.tex, statement.lefts)) if self.layout.by_symbol(statement) else ""
        rows = [Row("" if k else head, line) for k, line in enumerate(lines)]
        return [*rows[:-1], rows[-1]._replace(name=statement.name)]

    def _line(self, line: Line) -> str:
        shown = [_SIGNS.get(each, each) if isinstance(each, str) else self.tex(each) for each in line.tokens]
        return r"\quad " * line.depth + ("{} " if line.tokens[0] in ("+", "−") else "") + " ".join(shown)

    def prose(self, text: str) -> str:
        """A sentence as TeX's text, its formulas and the symbols that it names as formulas."""
        return self._said(text, prose)

    def marked(self, text: str, escaped: str = r"\\|*_") -> str:
        """The same for Markdown, or for what means nothing by other signs than the escaped ones."""
        return self._said(text, lambda part: re.sub(f"[{escaped}$]", r"\\\g<0>", part))

    def _said(self, text: str, plain: Callable[[str], str]) -> str:
        parts = self.layout.parts(text)
        return "".join(plain(part) if isinstance(part, str) else f"${self.tex(part)}$" for part in parts)


@lru_cache(maxsize=4)
def _page(equations: Equations) -> Page:
    """The page of a report, whose formulas all formats share."""
    return Page(equations)


def tex(equations: Equations) -> str:
    """A document of these equations, as it goes through LaTeX."""
    return _DOCUMENT % (_PACKAGES, latex(equations))


def latex(equations: Equations) -> str:
    """Sections with numbered equations, each with a label, then what the symbols mean; a part of a document."""
    page = _page(equations)
    head = _label(equations.name)
    blocks = [(block, [*page.pieces(block.statements)]) for block in page.layout.blocks]
    names = (
        row.name for _, pieces in blocks for piece in pieces if not isinstance(piece, str) for row in piece
    )
    labels = iter(numbered(_label(name) for name in names if name))
    parts = [
        f"% {_PACKAGES}\n% Equations have labels: \\eqref{{eq:{head}:NAME}}. They may go over from page to page.",
        f"\\begingroup\\allowdisplaybreaks\\emergencystretch=3em\n\\section*{{{prose(equations.name)}}}",
    ]
    for block, pieces in blocks:
        parts.append(rf"\subsection*{{{prose(block.title)}}}")
        for piece in pieces:
            if isinstance(piece, str):
                parts.append(rf"\noindent {page.prose(piece)}")
                continue
            marks = (rf"\label{{eq:{head}:{next(labels)}}}" if row.name else r"\notag" for row in piece)
            rows = [f"{row} {mark}" for row, mark in zip(piece, marks, strict=True)]
            parts[-1] += ("\n" if parts[-1].startswith(r"\noindent") else "\n\n") + _within("align", rows)
        parts += (rf"\noindent {page.prose(note)}" for note in block.notes)
    symbols = [r"\subsection*{Symbols}", _symbols(page)] if equations.symbols else []
    return "\n\n".join([*parts, *symbols, r"\endgroup"]) + "\n"


def _label(name: str) -> str:
    """A name in letters that labels may have."""
    spelled = "".join(GREEK_NAMES.get(sign, sign) for sign in name.replace("′", "_prime"))
    return re.sub(r"[^\w.:-]", "-", spelled, flags=re.ASCII)


def _symbols(page: Page) -> str:
    """A table of the symbols that goes over pages."""
    rows = [
        (f"${page.tex(s)}$", _number(number), page.prose(words)) for s, number, words in page.layout.symbols()
    ]
    used = sum(max((tex_width(row[k]) for row in rows), default=0.0) for k in (0, 1))
    text = rf"p{{\dimexpr\linewidth-{used + 6 * COLUMN:.0f}pt\relax}}"
    body = " \\\\\n".join(map(" & ".join, rows))
    return (
        rf"\setlength{{\LTleft}}{{0pt}}\begin{{longtable}}{{@{{}}ll>{{\raggedright\arraybackslash}}{text}@{{}}}}"
        f"\n{' & '.join(_HEAD)} \\\\ \\hline \\endhead\n{body}\n\\end{{longtable}}"
    )


def _number(text: str) -> str:
    """A number with its unit, 1.5e-05 kg as 1.5 · 10⁻⁵ kg."""
    number, _, unit = text.partition(" ")
    if not number[-1:].isdigit():
        return prose(text)
    number = re.sub(r"e([+-]\d+)", lambda found: rf"\cdot 10^{{{int(found[1])}}}", number)
    return f"${number}$ {prose(unit)}".rstrip()


def markdown(equations: Equations) -> str:
    """Headings, displayed formulas, and a table of the symbols."""
    page = _page(equations)
    parts = [f"# {equations.name}"]
    for block in page.layout.blocks:
        pieces = page.pieces(block.statements)
        shown = (page.marked(each) if isinstance(each, str) else displayed(each) for each in pieces)
        parts += [f"## {block.title}", *shown, *(f"- {page.marked(note)}" for note in block.notes)]
    rows = [
        f"| ${page.tex(symbol)}$ | {number} | {page.marked(meaning)} |"
        for symbol, number, meaning in page.layout.symbols()
    ]
    listed = "\n".join([f"| {' | '.join(_HEAD)} |", "| --- | --- | --- |", *rows])
    parts += ["## Symbols", listed] if rows else []
    return "\n\n".join(parts) + "\n"


def html(equations: Equations) -> str:
    """Sections with displayed formulas, the intermediate quantities, and a table of the symbols to unfold."""
    page = _page(equations)
    parts, used, left = [], 0, []
    for block in page.layout.blocks:
        pieces = [*page.pieces(block.statements)]
        size = sum(len(str(row)) for piece in pieces if not isinstance(piece, str) for row in piece)
        if used + size > _MOST_PAGE:
            left.append(block.title)
            continue
        used += size
        shown = "".join(
            f"<p>{escape(page.marked(each, escaped=''))}</p>"
            if isinstance(each, str)
            else escape(displayed(each))
            for each in (*pieces, *block.notes)
        )
        whole = f"<p><b>{escape(block.title)}</b></p>{shown}"
        parts.append(folded(block.title, shown) if size > _MOST_OPEN else whole)
    if left:
        parts.append(f"<p>Too long for this page: {escape(', '.join(left))}.</p>")
    symbols = [(f"${page.tex(symbol)}$", *others) for symbol, *others in page.layout.symbols()]
    return "".join([*parts, folded(f"{len(symbols)} symbols", table(_HEAD, symbols, most=MOST_FOLDED))])


def equation_latex(equation: Equation) -> str:
    """One equation, without what it means, for a notebook."""
    page = Page(alone(replace(equation, meaning="")))
    rows = [row for block in page.layout.blocks for each in block.statements for row in page.rows(each)]
    whole = f"{rows[0].left} = {rows[0].right}" if len(rows) == 1 else _within("aligned", rows)
    return f"$\\displaystyle {whole}$"


def displayed(rows: Sequence[Row]) -> str:
    """Aligned rows as one formula."""
    return f"$$\n{_within('aligned', rows)}\n$$"


def _within(environment: str, rows: Sequence[Row | str]) -> str:
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(map(str, rows)) + f"\n\\end{{{environment}}}"
