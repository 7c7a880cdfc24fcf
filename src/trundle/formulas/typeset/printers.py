"""SymPy's printers with the order of `Order`, names as they are read, and matrices set close."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

from sympy import Basic
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter, tex_greek_dictionary, translate
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import greek_letters, greek_unicode
from sympy.printing.pretty.stringpict import prettyForm, stringPict

from trundle.formulas.equation import Expression
from trundle.formulas.symbols.names import primed, sign
from trundle.formulas.typeset.ordering import Order, Split
from trundle.formulas.typeset.tex_width import tex_width

# A terminal's column on a page, in pt: what a digit or a letter takes there.
COLUMN = 5.5

_GREEK = {*greek_letters, *tex_greek_dictionary, "lamda"}
# The names of Greek letters, by their signs.
GREEK_NAMES = {sign: name for name, sign in greek_unicode.items() if sign and name != "lambda"}


# What texts have of formulas, and signs that mean something to TeX.
_TEX = {
    "u̇": r"$\dot u$", "ẋ": r"$\dot x$",
    "ᵀ": "$^T$", "−": "$-$", "⋅": r"$\cdot$", "…": r"$\dots$", "°": r"$^\circ$", "±": r"$\pm$",
    "²": "$^2$", "³": "$^3$", "\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\textasciitilde{}", '"': "''",
    **{sign: f"${sign}$" for sign in "<>|"},
    **{sign: rf"\{sign}" for sign in "${}%&#"}, "_": r"\_\allowbreak{}",
    **{digit: f"$_{k}$" for k, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{sign: f"${translate(name)}$" for name, sign in greek_unicode.items() if sign},
}  # fmt: skip
_TEX_SIGNS = re.compile("|".join(map(re.escape, sorted(_TEX, key=len, reverse=True))))


def prose(text: str) -> str:
    """Text as TeX has it."""
    return _TEX_SIGNS.sub(lambda match: _TEX[match[0]], text)


def symbol_latex(name: str, named: bool = False) -> str:
    r"""\dot{\phi}_{\mathrm{right}} for phidot_right: words upright; a description's own name (`named`) has no dots."""
    if name.endswith("ᵀ"):
        return f"{symbol_latex(name.removesuffix('ᵀ'))}^{{T}}"
    if "′" in name:
        base, _, number = name.partition("′")
        return rf"{symbol_latex(base)}^{{\prime {number.replace('′', chr(92) + 'prime ')}}}"
    if name.startswith("Δ"):
        return rf"\Delta {symbol_latex(name[1:])}"
    if "." in name:
        return rf"\mathrm{{{prose(name)}}}"
    head, *indices = name.split("_")
    head = GREEK_NAMES.get(head, head)
    text = head if named and head not in _GREEK else translate(head)
    if text == head and len(head) > 1:
        text = rf"\mathrm{{{head}}}"
    if not any(indices):
        return text
    parts = [*filter(None, indices)]
    between = ["", *(r"\ " if one else ", " for one in one_name(parts))]
    index = "".join(mark + _index(part) for mark, part in zip(between, parts, strict=True))
    return f"{text}_{{{index}}}"


def one_name(parts: Sequence[str]) -> list[bool]:
    """Between which parts of an index a name of several words goes on: trailer 0 left, but x, hitch 0 and phi, left."""
    words = [len(part) > 2 and part not in {*_GREEK, "min", "max"} for part in parts]
    goes_on = []
    inside = False
    for k in range(1, len(parts)):
        inside = words[k - 1] or (inside and parts[k - 1].isdigit())
        goes_on.append(inside and (words[k] or parts[k].isdigit()))
        inside = goes_on[-1]
    return goes_on


def _index(part: str) -> str:
    if part in _GREEK:
        return translate(part)
    return part if len(part) == 1 or part.isdigit() else rf"\mathrm{{{part}}}"


class Measuring:
    """Widths of formulas, in columns: of sums and products by those of their parts, so that what is long is drawn only
    where it is shown. The widths of signs, of brackets, and of what stands between factors are the printer's.
    """

    plus = 3.0
    brackets = 2.0
    dot = 1.0

    def __init__(self, order: Order) -> None:
        self.by = order
        self.width = cache(self._measured)  # a formula's parts are asked for again and again

    def drawn(self, expression: Expression) -> float:
        """The width of what is neither a sum nor a product."""
        raise NotImplementedError

    def _measured(self, expression: Expression) -> float:
        """Columns that a formula takes, at most."""
        if expression.is_Add:
            terms = [self.by.split(term) for term in self.by.terms(expression)]
            signs = self.plus * (len(terms) - 1 + terms[0].negative)
            return signs + sum(self._fraction(term) for term in terms)
        if expression.is_Mul:
            split = self.by.split(expression)
            return self.plus * split.negative + self._fraction(split)
        return self.drawn(expression)

    def _fraction(self, split: Split) -> float:
        return max(self._factors(split.above), self._factors(split.below) if split.below else 0.0)

    def _factors(self, factors: Sequence[Expression]) -> float:
        if len(factors) < 2:
            return self.width(factors[0]) if factors else 1.0
        inside = sum(self.width(factor) + self.brackets * bool(factor.is_Add) for factor in factors)
        return inside + self.dot * (len(factors) - 1)


class Pretty(Measuring, PrettyPrinter):
    """Formulas in two dimensions."""

    def __init__(self, order: Order) -> None:
        Measuring.__init__(self, order)
        PrettyPrinter.__init__(self, {"use_unicode": True, "wrap_line": False, "full_prec": False})
        self._unsigned = cache(self._without_sign)

    if TYPE_CHECKING:  # SymPy's own says that this is text

        def _print(self, expr: Expression, **kwargs: object) -> Expression: ...

    def form(self, expression: Expression) -> prettyForm:
        """An expression as a picture."""
        return self._print(expression)

    def drawn(self, expression: Expression) -> float:
        """Columns of its picture."""
        return self.form(expression).width()

    def _print_Symbol(self, e: Expression, bold_name: bool = False) -> prettyForm:
        return prettyForm(sign(e.name))

    def _print_Function(
        self,
        e: Expression,
        sort: bool = False,
        func_name: str | None = None,
        left: str = "(",
        right: str = ")",
    ) -> prettyForm:
        if isinstance(e, AppliedUndef):
            func_name = sign(primed(type(e).__name__))
        return super()._print_Function(e, sort, func_name, left, right)

    def _print_Mul(self, product: Expression) -> prettyForm:
        form = self._unsigned(product)
        return self._negative(form) if self.by.split(product).negative else form

    def _without_sign(self, product: Expression) -> prettyForm:
        _, above, below = self.by.split(product)
        form = prettyForm.__mul__(*map(self._print, above)) if above else prettyForm("1")
        return form / prettyForm.__mul__(*map(self._print, below)) if below else form

    @staticmethod
    def _negative(form: prettyForm) -> prettyForm:
        inside = stringPict(*form.parens()) if form.binding == prettyForm.ADD else form
        return prettyForm(
            *stringPict.next("- " if form.height() > 1 else "-", inside), binding=prettyForm.NEG
        )

    def _print_Add(self, expr: Expression, order: object = None) -> prettyForm:
        """A sum in the order of the ordering; before what is higher than a line the sign stands apart."""
        parts: list[stringPict | str] = []
        for term in self.by.terms(expr):
            form = self._unsigned(term)
            negative = self.by.split(term).negative
            if parts:
                parts.append(" - " if negative else " + ")
            elif negative:
                parts.append("- " if form.height() > 1 else "-")
            parts.append(form)
        return prettyForm(*stringPict.next(*parts), binding=prettyForm.ADD)

    def _print_Min(self, expr: Expression) -> prettyForm:
        arguments = self._print_seq(self.by.arguments(expr), "(", ")", ", ")
        name = prettyForm(type(expr).__name__.lower())
        form = prettyForm(*stringPict.next(name, arguments), binding=prettyForm.FUNC)
        vars(form).update(prettyFunc=name, prettyArgs=arguments)  # what SymPy sets a function's power from
        return form

    _print_Max = _print_Min

    def _print_matrix_contents(self, e: Expression) -> prettyForm:
        """Columns two signs apart; an empty line between rows only where some entry is higher than a line."""
        cells = [[self._print(e[i, j]) for j in range(e.cols)] for i in range(e.rows)]
        widths = [max(row[j].width() for row in cells) for j in range(e.cols)]
        high = any(cell.height() > 1 for row in cells for cell in row)
        lines: list[stringPict | str] = []
        for row in cells:
            parts: list[stringPict | str] = []
            for cell, width in zip(row, widths, strict=True):
                before = (width - cell.width() + 1) // 2
                parts += [" " * (before + 2 * bool(parts)), cell, " " * (width - cell.width() - before)]
            lines += [" "] if high and lines else []
            lines.append(stringPict(*stringPict.next(*parts)))
        return (
            prettyForm(*stringPict.stack(*lines))
            if len(lines) > 1
            else prettyForm(*stringPict.next(lines[0]))
        )


class Latex(Measuring, LatexPrinter):
    """LaTeX; symbols that the description has `named` are taken as they are."""

    plus, brackets, dot = 12.2 / COLUMN, 12.2 / COLUMN, 1.0 / COLUMN

    def __init__(self, order: Order, named: Collection[Expression] = ()) -> None:
        Measuring.__init__(self, order)
        LatexPrinter.__init__(
            self,
            {"mat_delim": "[", "fold_func_brackets": True, "ln_notation": True, "inv_trig_style": "full"},
        )
        self.named = named
        self._texts: dict[Expression, str] = {}

    def drawn(self, expression: Expression) -> float:
        """Columns that it takes on a page."""
        return tex_width(self.doprint(expression)) / COLUMN

    def _print(self, expr: Expression, **kwargs: object) -> str:
        """Each part is printed once, however often it is measured."""
        if kwargs or not isinstance(expr, Basic):
            return super()._print(expr, **kwargs)
        if expr not in self._texts:
            self._texts[expr] = super()._print(expr)
        return self._texts[expr]

    def _print_Symbol(self, expr: Expression, style: str = "plain") -> str:
        return symbol_latex(expr.name, expr in self.named)

    def _print_MatAdd(self, expr: Expression) -> str:
        return " + ".join(map(self._print, expr.args))

    def _print_MatrixBase(self, expr: Expression) -> str:
        """Rows with fractions further apart."""
        shown = super()._print_MatrixBase(expr)
        return shown.replace(r"\\", r"\\[3pt]") if r"\frac" in shown else shown

    def _print_MatrixSymbol(self, expr: Expression, style: str = "plain") -> str:
        return symbol_latex(expr.name)

    def _print_Mul(self, expr: Expression) -> str:
        return ("- " if self.by.split(expr).negative else "") + self.unsigned(expr)

    def unsigned(self, expr: Expression) -> str:
        """A product without its sign."""
        _, above, below = self.by.split(expr)
        top = self._row(above) or "1"
        if not below:
            return top
        # A bracket alone in a fraction needs none.
        lone = self._print(above[0]) if len(above) == 1 else top
        return rf"\frac{{{lone}}}{{{self._print(below[0]) if len(below) == 1 else self._row(below)}}}"

    def _row(self, factors: list[Expression]) -> str:
        shown = [
            rf"\left({self._print(factor)}\right)" if factor.is_Add else self._print(factor)
            for factor in factors
        ]
        # Words need a space between them and what is beside them.
        return "".join(
            text if not k else rf"\, {text}" if "mathrm" in (text[1:7], shown[k - 1][1:7]) else f" {text}"
            for k, text in enumerate(shown)
        )

    def _print_Add(self, expr: Expression, order: object = None) -> str:
        text = ""
        for term in self.by.terms(expr):
            negative = self.by.split(term).negative
            text += (" - " if negative else " + ") if text else "- " if negative else ""
            text += self.unsigned(term)
        return text

    def _print_Min(self, expr: Expression, exp: object = None) -> str:
        arguments = ", ".join(self._print(argument) for argument in self.by.arguments(expr))
        shown = rf"\{type(expr).__name__.lower()}\left({arguments}\right)"
        return shown if exp is None else rf"{shown}^{{{exp}}}"

    _print_Max = _print_Min

    def _print_Function(self, expr: Expression, exp: object = None) -> str:
        """A description's own function by its name, others as SymPy has them."""
        if not isinstance(expr, AppliedUndef):
            return super()._print_Function(expr, exp)
        arguments = ", ".join(self._print(argument) for argument in expr.args)
        shown = rf"{symbol_latex(primed(type(expr).__name__))}\left({arguments}\right)"
        return shown if exp is None else rf"{shown}^{{{exp}}}"

    def _print_atan2(self, expr: Expression, exp: object = None) -> str:
        return rf"\operatorname{{atan2}}\left({', '.join(self._print(argument) for argument in expr.args)}\right)"
