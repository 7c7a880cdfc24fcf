"""Sentences with formulas in them, and symbols' names as they are read on a line."""

from __future__ import annotations

from sympy.printing.pretty.pretty_symbology import greek_unicode, pretty_symbol, sub
from sympy.printing.str import StrPrinter

from trundle.formulas.sections import Expression


def sign(name: str) -> str:
    """A symbol's name in Unicode: φ̇_right for phidot_right, q₁ for q_1; letters stay on the line, so that v_x and v_y
    look alike (there is no small y below the line).
    """
    if name.endswith(("ᵀ", "′")):
        return f"{sign(name[:-1])}{name[-1]}"
    head, *indices = name.split("_")
    shown: str = pretty_symbol(head) or head
    if indices and all(part.isdigit() for part in indices):
        if len(indices) > 1:
            return f"{shown}[{', '.join(indices)}]"
        return shown + "".join(sub[digit] for digit in indices[0])
    return "_".join([shown, *(greek_unicode.get(part) or part for part in indices)])


class _NoteLine(StrPrinter):
    def _print_Symbol(self, expr: Expression) -> str:
        return sign(expr.name)


def inline(expression: Expression) -> str:
    """An expression within a sentence."""
    text = _NoteLine().doprint(expression)
    for power, raised in (("**2", "²"), ("**3", "³"), ("*", "⋅")):
        text = text.replace(power, raised)
    return text


class Note(str):
    """A sentence with formulas in it: `parts` are text and SymPy's expressions. As a text it has them on the line."""

    parts: tuple[str | Expression, ...]

    def __new__(cls, *parts: str | Expression) -> Note:
        note = super().__new__(
            cls, "".join(part if isinstance(part, str) else inline(part) for part in parts)
        )
        note.parts = parts
        return note
