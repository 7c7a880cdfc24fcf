"""Equations as LaTeX, Markdown, plain data, and what a notebook shows."""

from __future__ import annotations

from typing import Any

import sympy

from trundle.equations.equations import Equation, Equations, Section
from trundle.equations.symbols import symbol_latex

# A matrix product whose LaTeX is longer is written row by row: a page has some 80 signs a line.
_MOST_LATEX = 900
_ESCAPES = str.maketrans(
    {
        "_": r"\_",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "^": r"\^{}",
        "°": r"$^\circ$",
        "±": r"$\pm$",
        "²": r"$^2$",
    }
)


def names(equations: Equations) -> dict[Any, str]:
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


def _tex(expression: Any, known: dict[Any, str]) -> str:
    return sympy.latex(expression, symbol_names=known, mat_str="matrix", mat_delim="[")


def _sides(equation: Equation, known: dict[Any, str]) -> list[tuple[str, str]]:
    """Left and right sides: one pair, or one a row where matrices are too wide for a page."""
    right = _tex(equation.right, known) + (
        "" if equation.vector is None else rf" {_tex(equation.vector, known)}"
    )
    if equation.vector is None or len(right) <= _MOST_LATEX:
        return [(_tex(equation.left, known), right)]
    return [(_tex(left, known), _tex(row, known)) for left, row in equation.lines()]


def _aligned(equations: tuple[Equation, ...], known: dict[Any, str]) -> list[str]:
    return [f"{left} &= {right}" for equation in equations for left, right in _sides(equation, known)]


def latex(equations: Equations) -> str:
    """Sections with aligned equations, then what the symbols mean; a part of a document that uses amsmath."""
    known = names(equations)
    parts = [rf"\section*{{{_text(equations.name)}}}"]
    for section in equations.sections:
        parts.append(rf"\subsection*{{{_text(section.title)}}}")
        if section.equations:
            lines = " \\\\\n".join(_aligned(section.equations, known))
            parts.append(f"\\begin{{align*}}\n{lines}\n\\end{{align*}}")
        parts += [_text(note) for note in section.notes]
    if equations.definitions:
        lines = " \\\\\n".join(
            rf"{known[d.symbol]} &= {_tex(d.expression, known)} && \text{{{_text(d.meaning)}}}"
            for d in equations.definitions
        )
        parts.append(f"\\subsection*{{Intermediate quantities}}\n\\begin{{align*}}\n{lines}\n\\end{{align*}}")
    rows = " \\\\\n".join(
        f"${known[s.symbol]}$ & {_text(_number(s.number, s.unit))} & {_text(s.meaning)}"
        for s in equations.symbols
    )
    parts.append(f"\\subsection*{{Symbols}}\n\\begin{{tabular}}{{lll}}\n{rows}\n\\end{{tabular}}")
    return "\n\n".join(parts) + "\n"


def _text(text: str) -> str:
    for sign, command in (("u̇", r"$\dot u$"), ("τ", r"$\tau$"), ("λ", r"$\lambda$"), ("ᵀ", r"$^T$")):
        text = text.replace(sign, f"\0{command}\0")
    return "".join(part if k % 2 else part.translate(_ESCAPES) for k, part in enumerate(text.split("\0")))


def _number(number: float | None, unit: str) -> str:
    shown = "" if unit == "1" else unit
    return shown if number is None else f"{number:.6g} {shown}".strip()


def markdown(equations: Equations) -> str:
    """Headings, displayed formulas, and tables of the symbols."""
    known = names(equations)
    parts = [f"# {equations.name}"]
    for section in equations.sections:
        parts += [
            f"## {section.title}",
            *_displayed(section, known),
            *(f"- {_cell(note)}" for note in section.notes),
        ]
    if equations.definitions:
        rows = [
            f"| ${known[d.symbol]} = {_tex(d.expression, known)}$ | {_cell(d.meaning)} |"
            for d in equations.definitions
        ]
        parts += [
            "## Intermediate quantities",
            "\n".join(["| definition | meaning |", "| --- | --- |", *rows]),
        ]
    rows = [
        f"| ${known[s.symbol]}$ | {_number(s.number, s.unit)} | {_cell(s.meaning)} |"
        for s in equations.symbols
    ]
    parts += ["## Symbols", "\n".join(["| symbol | value | meaning |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def _displayed(section: Section, known: dict[Any, str]) -> list[str]:
    lines = _aligned(section.equations, known)
    if not lines:
        return []
    return ["$$\n\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n$$"]


def _cell(text: str) -> str:
    for sign in ("\\", "|", "*", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text


def notebook(equations: Equations) -> str:
    """All equations as one displayed formula."""
    known = names(equations)
    lines = []
    for section in equations.sections:
        lines.append(rf"&\textbf{{{_text(section.title)}}}")
        lines += _aligned(section.equations, known)
    lines += [f"{known[d.symbol]} &= {_tex(d.expression, known)}" for d in equations.definitions]
    return "$\\displaystyle \\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}$"


def one(equation: Equation) -> str:
    """One equation for a notebook."""
    sides = (equation.left, equation.right, equation.vector)
    known = {
        symbol: symbol_latex(symbol) for side in sides if side is not None for symbol in side.free_symbols
    }
    return "$\\displaystyle " + " = ".join(_sides(equation, known)[0]) + "$"


def data(equations: Equations) -> dict[str, Any]:
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


def _equation_data(equation: Equation) -> dict[str, Any]:
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


def _entries(side: Any) -> Any:
    """Text of an expression, a list of a column, lists of rows of a matrix."""
    if not hasattr(side, "shape"):
        return str(side)
    if side.cols == 1:
        return [str(entry) for entry in side]
    return [[str(side[i, j]) for j in range(side.cols)] for i in range(side.rows)]
