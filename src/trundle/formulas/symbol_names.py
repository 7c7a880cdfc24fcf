"""How symbols look in LaTeX: words upright, Greek letters and dots as such, indices of words upright."""

from __future__ import annotations

from sympy.printing.latex import tex_greek_dictionary, translate
from sympy.printing.pretty.pretty_symbology import greek_letters

from trundle.formulas.sections import Expression

_GREEK = {*greek_letters, *tex_greek_dictionary, "lamda"}


def symbol_latex(symbol: Expression, named: bool = False) -> str:
    r"""\dot{\phi}_{\mathrm{right}} for phidot_right; a name from the description (`named`) is taken as it is."""
    if symbol.name.endswith("ᵀ"):
        return f"{symbol.name.removesuffix('ᵀ')}^{{T}}"
    head, *indices = symbol.name.split("_")
    if named and head not in _GREEK:
        text = head if len(head) == 1 else rf"\mathrm{{{head}}}"
    else:
        text = translate(head)
        if text == head and len(head) > 1:
            text = rf"\mathrm{{{head}}}"
    if not any(indices):
        return text
    between = ", " if all(part.isdigit() for part in indices) else " "
    return f"{text}_{{{between.join(_index(part) for part in indices if part)}}}"


def _index(part: str) -> str:
    if part in _GREEK:
        return translate(part)
    return part if len(part) == 1 or part.isdigit() else rf"\mathrm{{{part}}}"
