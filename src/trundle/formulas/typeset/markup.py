"""Equations as LaTeX, Markdown and HTML: alignments that fit a page, set by one layout, between each format's marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from trundle.formulas.equation import Equation
from trundle.formulas.robot_equations import Equations
from trundle.formulas.symbols.names import numbered
from trundle.formulas.typeset.alignment import AlignedPage, AlignmentRow, set_on_page
from trundle.formulas.typeset.layout import alone
from trundle.formulas.typeset.printers import COLUMN, GREEK_NAMES, prose
from trundle.formulas.typeset.tex_width import tex_width

_HEAD = ("symbol", "value", "meaning")
_PACKAGES = r"\usepackage{amsmath, array, longtable}"
_DOCUMENT = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
%s
\begin{document}
%s\end{document}
"""


def tex(equations: Equations) -> str:
    """A document of these equations, as it goes through LaTeX."""
    return _DOCUMENT % (_PACKAGES, latex(equations))


def latex(equations: Equations) -> str:
    """Sections with numbered equations, each with a label, then what the symbols mean; a part of a document."""
    page = set_on_page(equations)
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
                parts.append(rf"\noindent {_prose(page, piece)}")
                continue
            marks = (rf"\label{{eq:{head}:{next(labels)}}}" if row.name else r"\notag" for row in piece)
            rows = [f"{_row(page, row)} {mark}" for row, mark in zip(piece, marks, strict=True)]
            parts[-1] += ("\n" if parts[-1].startswith(r"\noindent") else "\n\n") + _within("align", rows)
        parts += (rf"\noindent {_prose(page, note)}" for note in block.notes)
    symbols = [r"\subsection*{Symbols}", _symbols(page)] if equations.symbols else []
    return "\n\n".join([*parts, *symbols, r"\endgroup"]) + "\n"


def _row(page: AlignedPage, row: AlignmentRow) -> str:
    """One row of an alignment."""
    right = page.right_side(row)
    shown = f"{page.left_side(row)} &= {right}" if row.lefts else f"&{right}"
    # MathJax reads \_ among formulas only, not in texts.
    behind = _prose(page, row.words).replace(r"\_\allowbreak{}", r"}\_\text{")
    return rf"{shown} && \text{{{behind}}}" if behind else shown


def _prose(page: AlignedPage, text: str) -> str:
    """A sentence as TeX's text, its formulas and the symbols that it names as formulas."""
    return page.layout.said(text, prose, lambda part: f"${page.tex(part)}$")


def _marked(page: AlignedPage, text: str, escaped: str = r"\\|*_") -> str:
    """The same for Markdown, or for what means nothing by other signs than the escaped ones."""
    plain = partial(re.sub, f"[{escaped}$]", r"\\\g<0>")
    return page.layout.said(text, plain, lambda part: f"${page.tex(part)}$")


def _label(name: str) -> str:
    """A name in letters that labels may have."""
    spelled = "".join(GREEK_NAMES.get(sign, sign) for sign in name.replace("′", "_prime"))
    return re.sub(r"[^\w.:-]", "-", spelled, flags=re.ASCII)


def _symbols(page: AlignedPage) -> str:
    """A table of the symbols that goes over pages."""
    rows = [
        (f"${page.tex(s)}$", _number(number), _prose(page, words))
        for s, number, words in page.layout.symbols()
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
    if not number[-1:].isdecimal():  # a unit alone may end in ²
        return prose(text)
    number = re.sub(r"e([+-]\d+)", lambda match: rf"\cdot 10^{{{int(match[1])}}}", number)
    return f"${number}$ {prose(unit)}".rstrip()


def markdown(equations: Equations) -> str:
    """Headings, displayed formulas, and a table of the symbols."""
    page = set_on_page(equations)
    parts = [f"# {equations.name}"]
    for block in page.layout.blocks:
        pieces = page.pieces(block.statements)
        shown = (
            _marked(page, piece) if isinstance(piece, str) else displayed(page, piece) for piece in pieces
        )
        parts += [f"## {block.title}", *shown, *(f"- {_marked(page, note)}" for note in block.notes)]
    rows = [
        f"| ${page.tex(symbol)}$ | {number} | {_marked(page, meaning)} |"
        for symbol, number, meaning in page.layout.symbols()
    ]
    listed = "\n".join([f"| {' | '.join(_HEAD)} |", "| --- | --- | --- |", *rows])
    parts += ["## Symbols", listed] if rows else []
    return "\n\n".join(parts) + "\n"


def equation_latex(equation: Equation) -> str:
    """One equation, without what it means, for a notebook."""
    page = AlignedPage(alone(replace(equation, meaning="")))
    rows = [
        row for block in page.layout.blocks for statement in block.statements for row in page.rows(statement)
    ]
    shown = [_row(page, row) for row in rows]
    whole = shown[0].replace(" &= ", " = ", 1) if len(rows) == 1 else _within("aligned", shown)
    return f"$\\displaystyle {whole}$"


def displayed(page: AlignedPage, rows: Sequence[AlignmentRow]) -> str:
    """Aligned rows as one formula."""
    return f"$$\n{_within('aligned', [_row(page, row) for row in rows])}\n$$"


def _within(environment: str, rows: Sequence[str]) -> str:
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(rows) + f"\n\\end{{{environment}}}"
