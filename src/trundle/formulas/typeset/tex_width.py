"""How wide a formula is that TeX sets: what breaks lines before a real TeX sees them.

Sums of the widths that Computer Modern has at 10 pt, in pt, with TeX's spaces around signs; good to some 5 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Commands, braces, the ends of cells and rows, single signs; spaces mean nothing.
_TOKENS = re.compile(r"\\begin\{\w+\}(?:\{\w+\})?|\\end\{\w+\}|\\[a-zA-Z]+|\\\\\[\w+\]|\\.|[^\s]")
_WIDE = {
    "=": 13.3, "+": 12.2, "-": 12.2, ",": 4.5, "'": 2.8, ".": 2.8, "m": 8.8, "w": 7.2, "M": 11.2, "W": 10.5,
    "(": 3.9, ")": 3.9, "[": 2.8, "]": 2.8, ":": 2.8, "/": 5.0, "|": 2.8,
    "i": 3.5, "j": 4.2, "l": 3.0, "t": 3.6, "r": 4.6, "s": 4.7, "f": 6.0,
    "\\quad": 10.0, "\\,": 1.7, "\\ ": 3.3, "\\bigl": 0.6, "\\bigr": 0.6, "\\big": 0.8, "\\left": 2.2, "\\right": 2.2,
    "\\sin": 15.6, "\\cos": 16.6, "\\tan": 18.0, "\\min": 19.0, "\\max": 21.2, "\\cdot": 7.2, "\\dots": 13.0,
    "\\arcsin": 28.0, "\\arctan": 30.0, "\\ln": 8.4, "\\tanh": 23.0, "\\omega": 6.6, "\\phi": 6.0, "\\_": 3.3,
    **dict.fromkeys("0123456789", 5.0), **dict.fromkeys("ABCDEFGHIJKLNOPQRSTUVXYZ", 7.6),
}  # fmt: skip
_NOTHING = frozenset(["\\displaystyle", "\\tfrac", "\\limits", "\\boldsymbol", "\\notag"])
# Accents are as wide as what is below them.
_ACCENTS = frozenset(["\\dot", "\\ddot", "\\dddot", "\\mathrm", "\\text", "\\operatorname", "\\mathbf"])
_SCRIPT = 0.72
# Fractions within fractions and matrices, whose signs have no space around them either.
_SMALL = 0.7
_BETWEEN_COLUMNS = 10.0
# What the brackets of a matrix have beyond those of a line.
_BRACKETS = 4.0


def tex_width(formula: str) -> float:
    """The width of a formula in display style, in pt at a font of 10 pt."""
    return max(_FormulaReader(formula).rows(), default=0.0)


class _FormulaReader:
    """Reads a formula once, from left to right."""

    def __init__(self, formula: str) -> None:
        self._tokens: Iterator[str] = iter(_TOKENS.findall(formula))
        self._display = True  # else a fraction's parts are set in the small size of indices

    def rows(self) -> list[float]:
        """Widths of rows, their cells' widest ones added up, until the tokens or an environment end."""
        rows: list[list[float]] = [[0.0]]
        for token in self._tokens:
            if token in ("}", "") or token.startswith("\\end"):
                break
            if token == "&":
                rows[-1].append(0.0)
            elif token.startswith("\\\\"):
                rows.append([0.0])
            else:
                rows[-1][-1] += self._width(token)
        count = max(map(len, rows))
        columns = [max((row[k] for row in rows if k < len(row)), default=0.0) for k in range(count)]
        return [sum(columns) + _BETWEEN_COLUMNS * (count - 1)]

    def _width(self, token: str) -> float:
        """The width of a token with its arguments."""
        if token == "{":
            return self.rows()[0]
        if token in ("_", "^"):
            return _SCRIPT * self._argument()
        if token == "\\frac" or token.startswith("\\begin"):
            display, self._display = self._display, False
            if token == "\\frac":
                width = max(self._argument(), self._argument()) * (1.0 if display else _SMALL) + 2.4
            else:
                width = self.rows()[0] + _BRACKETS
            self._display = display
            return width
        if token == "\\sqrt":
            return self._argument() + 8.4
        if token in _ACCENTS:
            return self._argument() + (1.7 if token == "\\operatorname" else 0.0)
        return 0.0 if token in _NOTHING else _WIDE.get(token, 5.3)

    def _argument(self) -> float:
        token = next(self._tokens, "")
        return self._width(token) if token else 0.0
