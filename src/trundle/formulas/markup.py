"""Equations as LaTeX, Markdown and plain data."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy.printing.latex import greek_letters_set as tex_greek
from sympy.printing.pretty.pretty_symbology import greek_unicode

from trundle.formulas.printers import Latex
from trundle.formulas.sections import Equation, Equations, Expression
from trundle.formulas.symbol_names import symbol_latex
from trundle.formulas.typesetting import Layout, Line, Statement

# A page is as wide as a formula of some 90 columns in a terminal.
_PAGE = 90
# Formula and meaning stand in one row up to this many columns.
_MOST_BEHIND = 100
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "$": r"\$",
        "{": r"\{",
        "}": r"\}",
        "_": r"\_",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "^": r"\^{}",
        "°": r"$^\circ$",
        "±": r"$\pm$",
        "²": r"$^2$",
        "³": r"$^3$",
        **{digit: f"$_{k}$" for k, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    }
)
# What texts have of formulas.
_SYMBOLS: list[tuple[str, str]] = [
    ("u̇", r"\dot u"),
    ("ᵀ", "^T"),
    ("−", "-"),
    ("⋅", r"\cdot"),
    ("…", r"\dots"),
]
_SYMBOLS += [(sign, rf"\{name}") for name, sign in greek_unicode.items() if sign and name in tex_greek]


def names(equations: Equations) -> dict[Expression, str]:
    """The LaTeX of every symbol."""
    named = {
        info.symbol
        for info in equations.symbols
        if info.kind == "parameter" and info.keys == (info.symbol.name,)
    }
    symbols = {info.symbol for info in equations.symbols}
    for section in equations.sections:
        for equation in section.equations:
            for side in (equation.left, equation.right, equation.vector):
                symbols |= set() if side is None else side.free_symbols
    symbols |= {each.symbol for each in equations.definitions}
    return {symbol: symbol_latex(symbol, symbol in named) for symbol in symbols}


class Page:
    """Writes the equations of one report as rows of an alignment."""

    def __init__(self, equations: Equations) -> None:
        self.layout = Layout(equations, _PAGE)
        self.names = names(equations)

    def tex(self, expression: Expression) -> str:
        """An expression, with the symbols' own LaTeX."""
        new = {symbol: symbol_latex(symbol) for symbol in expression.free_symbols if symbol not in self.names}
        self.names |= new
        return Latex(self.layout.order, self.names).doprint(expression)

    def rows(self, equations: Sequence[Equation]) -> list[str]:
        """Aligned rows of some equations, with what they mean."""
        return [row for each in self.layout.statements(equations) for row in self.statement(each)]

    def statement(self, statement: Statement) -> list[str]:
        """One statement, over several rows where it is long."""
        first, *rest = (self._line(line) for line in self.layout.rows(statement))
        head = " = ".join(map(self.tex, statement.lefts)) if self.layout.by_symbol(statement) else ""
        rows = [f"{head} &= {first}" if head else f"&{first}", *(f"&{row}" for row in rest)]
        meaning = prose(statement.meaning)
        width = sum(map(self.layout.columns, (*statement.lefts, statement.right)))
        if meaning and width + len(statement.meaning) <= _MOST_BEHIND and not rest:
            return [rf"{rows[0]} && \text{{{meaning}}}"]
        return [*([rf"& \text{{{part}:}}" for part in [meaning] if part]), *rows]

    def _line(self, line: Line) -> str:
        shown = [_SIGNS.get(each, each) if isinstance(each, str) else self.tex(each) for each in line.tokens]
        return r"\quad " * line.depth + ("{} " if line.tokens[0] in ("+", "−") else "") + " ".join(shown)


_SIGNS = {"(": r"\bigl(", ")": r"\bigr)", "·": "", "−": "-", "/": r"\big/"}


def latex(equations: Equations) -> str:
    """Sections with aligned equations, then what the symbols mean; a part of a document that uses amsmath."""
    page = Page(equations)
    parts = [rf"\section*{{{prose(equations.name)}}}"]
    for section in equations.sections:
        parts += [rf"\subsection*{{{prose(section.title)}}}", *_align(page.rows(section.equations))]
        parts += [prose(note) for note in section.notes]
    if equations.definitions:
        parts += [r"\subsection*{Intermediate quantities}", *_align(definition_rows(page, equations))]
    rows = " \\\\\n".join(
        f"${page.names[s.symbol]}$ & {prose(number_text(s.number, s.unit))} & {prose(s.meaning)}"
        for s in equations.symbols
    )
    parts.append(
        f"\\subsection*{{Symbols}}\n\\begin{{tabular}}{{llp{{0.6\\linewidth}}}}\n{rows}\n\\end{{tabular}}"
    )
    return "\n\n".join(parts) + "\n"


def _align(rows: Sequence[str]) -> list[str]:
    lines = " \\\\\n".join(rows)
    return [f"\\begin{{align*}}\n{lines}\n\\end{{align*}}"] if rows else []


def definition_rows(page: Page, equations: Equations) -> list[str]:
    """Aligned rows of the intermediate quantities."""
    found = []
    for each in equations.definitions:
        found += page.statement(Statement((each.symbol,), each.expression, each.meaning))
    return found


def prose(text: str) -> str:
    """A sentence as LaTeX's text."""
    for sign, command in _SYMBOLS:
        text = text.replace(sign, f"\0${command}$\0")
    return "".join(part if k % 2 else part.translate(_ESCAPES) for k, part in enumerate(text.split("\0")))


def number_text(number: float | None, unit: str) -> str:
    """A number with its unit."""
    shown = "" if unit == "1" else unit.replace("^2", "²").replace("^3", "³")
    return shown if number is None else f"{number:.6g} {shown}".strip()


def markdown(equations: Equations) -> str:
    """Headings, displayed formulas, and a table of the symbols."""
    page = Page(equations)
    parts = [f"# {equations.name}"]
    for section in equations.sections:
        parts += [f"## {section.title}", *displayed(page.rows(section.equations))]
        parts += [f"- {_cell(note)}" for note in section.notes]
    if equations.definitions:
        parts += ["## Intermediate quantities", *displayed(definition_rows(page, equations))]
    rows = [
        f"| ${page.names[s.symbol]}$ | {number_text(s.number, s.unit)} | {_cell(s.meaning)} |"
        for s in equations.symbols
    ]
    parts += ["## Symbols", "\n".join(["| symbol | value | meaning |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def displayed(rows: Sequence[str]) -> list[str]:
    """Aligned rows as one formula; none of none."""
    return ["$$\n\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}\n$$"] if rows else []


def _cell(text: str) -> str:
    for sign in ("\\", "|", "*", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text


def data(equations: Equations) -> dict[str, object]:
    """Everything as plain data: expressions as text for `read_expression`, with the operations of each."""
    return {
        "name": equations.name,
        "what": equations.what,
        "operations": equations.operations,
        "checked": {"points": equations.points, "largest_relative_error": equations.error},
        "sections": [
            {
                "key": section.key,
                "title": section.title,
                "notes": list(section.notes),
                "equations": [_equation_data(equation) for equation in section.equations],
            }
            for section in equations.sections
        ],
        "definitions": [
            {
                "symbol": each.symbol.name,
                "expression": str(each.expression),
                "operations": int(sympy.count_ops(each.expression)),
                "meaning": each.meaning,
                "unit": each.unit,
            }
            for each in equations.definitions
        ],
        "symbols": [
            {
                "symbol": info.symbol.name,
                "kind": info.kind,
                "meaning": info.meaning,
                "unit": info.unit,
                "value": info.number,
                "keys": list(info.keys),
            }
            for info in equations.symbols
        ],
    }


def _equation_data(equation: Equation) -> dict[str, object]:
    found = {
        "name": equation.name,
        "meaning": equation.meaning,
        "left": _entries(equation.left),
        "right": _entries(equation.right),
        "operations": equation.operations,
    }
    if equation.vector is not None:
        found["vector"] = _entries(equation.vector)
    return found


def _entries(side: Expression) -> Expression:
    """Text of an expression, a list of a column, lists of rows of a matrix."""
    if not hasattr(side, "shape"):
        return str(side)
    if side.cols == 1:
        return [str(entry) for entry in side]
    return [[str(side[i, j]) for j in range(side.cols)] for i in range(side.rows)]
