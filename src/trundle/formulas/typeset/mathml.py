"""Formulas as MathML Core: what browsers set by themselves, with the order of `Order` and names as they are read.

Source: MathML Core (W3C, https://www.w3.org/TR/mathml-core/); only its elements and attributes are written, each text
is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from html import escape

import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.pretty.pretty_symbology import greek_unicode
from sympy.printing.str import StrPrinter

from trundle.formulas.equation import Expression
from trundle.formulas.symbols.names import primed
from trundle.formulas.typeset.layout import Line
from trundle.formulas.typeset.ordering import Order
from trundle.formulas.typeset.printers import one_name

_DOTS = {"dot": "˙", "ddot": "¨", "dddot": "⃛"}
_DOTTED = re.compile(r"(.+?)(d{0,2}dot)")
_RELATIONS = {"==": "=", "!=": "≠", "<": "<", ">": ">", "<=": "≤", ">=": "≥"}
_FUNCTIONS = {"Abs": "abs", "Min": "min", "Max": "max", "asin": "arcsin", "atan": "arctan", "log": "ln"}
# Between factors, and between a function's name and what it is taken of: signs that are read but not seen.
_TIMES = '<mo lspace="0.06em" rspace="0.06em">&#x2062;</mo>'
_TIMES_WIDE = _TIMES.replace("0.06", "0.1")
_OF = "<mo>&#x2061;</mo>"
_OF_ALONE = '<mo rspace="0.17em">&#x2061;</mo>'
# The quad of a broken line's step.
_STEP = 1.5
_WORD = re.compile(r"<mi>\w{2,}</mi>( |$)|(^| )<mi>\w{2,}</mi>")


def element(name: str, *inner: str, **attributes: str) -> str:
    """An element around what is written already."""
    given = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>{''.join(inner)}</{name}>"


def row(*inner: str) -> str:
    """Parts side by side, as one."""
    return inner[0] if len(inner) == 1 else element("mrow", *inner)


def sign(text: str, **attributes: str) -> str:
    """An operator, a relation or a bracket."""
    return element("mo", escape(text), **attributes)


def word(text: str) -> str:
    """A name: one letter slanted, words and capital Greek letters upright."""
    upright = {"mathvariant": "normal"} if len(text) == 1 and "Α" <= text <= "Ω" else {}
    return element("mi", escape(text), **upright)


def symbol_mathml(name: str, named: bool = False) -> str:
    """φ̇ with the index right for phidot_right; a description's own name (`named`) has no dots."""
    if name.endswith("ᵀ"):
        return element("msup", symbol_mathml(name[:-1]), element("mi", "T", mathvariant="normal"))
    if "′" in name:
        base, _, number = name.partition("′")
        primes = sign("′" * (1 + number.count("′")))
        number = number.strip("′")
        raised = row(primes, element("mn", escape(number))) if number else primes
        return element("msup", symbol_mathml(base), raised)
    if name.startswith("Δ") and len(name) > 1:
        return element("mrow", word("Δ"), symbol_mathml(name[1:]))
    if "." in name:
        return word(name)
    head, *indices = name.split("_")
    parts = [part for part in indices if part]
    letter = _letter(head, named)
    if not parts:
        return letter
    inner = [_index(parts[0])]
    for one, part in zip(one_name(parts), parts[1:], strict=True):
        inner += ['<mspace width="0.25em"/>' if one else sign(","), _index(part)]
    return element("msub", letter, row(*inner))


def _letter(head: str, named: bool) -> str:
    dotted = None if named else _DOTTED.fullmatch(head)
    if dotted is None:
        return word(greek_unicode.get(head) or head)
    over = sign(_DOTS[dotted[2]], stretchy="false")
    return element("mover", _letter(dotted[1], named=True), over, accent="true")


def _index(part: str) -> str:
    return element("mn", part) if part.isdecimal() else word(greek_unicode.get(part) or part)


class MathML:
    """Writes expressions; symbols that the description has `named` are taken as they are."""

    def __init__(self, order: Order, named: Collection[Expression] = ()) -> None:
        self.by, self.named = order, named
        self.write = cache(self._written)  # what stands in several places is written once

    def line(self, line: Line, start: str = "") -> str:
        """One line of a formula that may go over several, after a relation; its brackets may close in another one."""
        parts = [sign(start, form="infix")] if start else []
        for k, token in enumerate(line.tokens):
            before = line.tokens[k - 1] if k else start
            if not isinstance(token, str):
                parts.append(self.write(token))
            elif token in "()":
                parts.append(sign(token, stretchy="false", form="prefix" if token == "(" else "postfix"))
            elif token == "·":
                parts.append(_TIMES)
            else:
                parts.append(sign(token, form="prefix" if before in ("=", "(") else "infix"))
        indent = [f'<mspace width="{_STEP * line.depth:g}em"/>'] if line.depth else []
        return row(*indent, *parts)

    def _written(self, e: Expression) -> str:
        """An expression or a matrix, by what it is."""
        if isinstance(e, sympy.MatrixBase):
            return self._matrix(e)
        if e.is_Symbol or isinstance(e, sympy.MatrixSymbol):
            return symbol_mathml(e.name, e in self.named)
        if e.is_Add or e.is_MatAdd:
            return self._sum(e)
        if isinstance(e, sympy.Transpose):
            return element("msup", self._factor(e.arg), element("mi", "T", mathvariant="normal"))
        if e.is_MatMul:
            return row(*_times([self._factor(argument) for argument in e.args]))
        if e.is_Number or e.is_Mul or e.is_Pow:
            negative = self.by.split(e).negative
            return row(sign("−", form="prefix"), self.unsigned(e)) if negative else self.unsigned(e)
        return self._other(e)

    def _other(self, e: Expression) -> str:
        """What is no sum, product or matrix: cases, relations, functions, constants."""
        if isinstance(e, sympy.Piecewise):
            return self._cases(e)
        if e.is_Relational:
            return row(self.write(e.lhs), sign(_RELATIONS[str(e.rel_op)]), self.write(e.rhs))
        if e.args:
            return self._function(e)
        return word("π" if e is sympy.pi else str(e))

    def unsigned(self, e: Expression) -> str:
        """A product, power or number without its sign."""
        _, above, below = self.by.split(e)
        if above == [e] or (len(above) == 1 and above[0] == -e):
            return self._number(above[0]) if above[0].is_Number else self._power(above[0])
        top = self._factors(above)
        return element("mfrac", top, self._factors(below)) if below else top

    def _factors(self, factors: Sequence[Expression]) -> str:
        """A product of factors that all stand on one side of a fraction line."""
        if len(factors) < 2:
            return self.write(factors[0]) if factors else element("mn", "1")
        return row(*_times([self._factor(factor) for factor in factors]))

    def _factor(self, e: Expression) -> str:
        """A factor, in brackets where it is a sum."""
        return self._brackets(self.write(e)) if e.is_Add or e.is_MatAdd else self.write(e)

    @staticmethod
    def _brackets(inner: str) -> str:
        """Brackets grow with what is high only: larger ones stand further off."""
        fixed = {} if re.search("<mfrac|<msqrt|<mtable", inner) else {"stretchy": "false"}
        return element("mrow", sign("(", **fixed), inner, sign(")", **fixed))

    def _sum(self, total: Expression) -> str:
        """Terms in the order of the ordering, their signs between them."""
        parts: list[str] = []
        for term in total.args if total.is_MatAdd else self.by.terms(total):
            negative = not total.is_MatAdd and self.by.split(term).negative
            if parts:
                parts.append(sign("−" if negative else "+"))
            elif negative:
                parts.append(sign("−", form="prefix"))
            # A fraction or a product, whose sign stands before it; what else has none.
            signed = not total.is_MatAdd and (term.is_Mul or term.is_Number or term.is_Pow)
            parts.append(self.unsigned(term) if signed else self.write(term))
        return row(*parts)

    def _power(self, e: Expression) -> str:
        """A power; halves are roots, and a function's power stands behind its name, as in sin² x."""
        if not e.is_Pow:
            return self.write(e)
        base, power = e.base, e.exp
        if power == sympy.S.Half:
            return element("msqrt", self.write(base))
        if power.is_Rational and power.q == 2:
            return self._power(sympy.Pow(sympy.sqrt(base), power.p, evaluate=False))
        raised = self.write(power)
        if base.is_Function or isinstance(base, sympy.Min | sympy.Max):
            return self._function(base, raised)
        whole = base.is_Symbol or (base.is_Integer and base.is_positive)
        inside = self.write(base)
        if whole and inside.startswith("<msub>"):  # the power above the index, not behind it
            return element("msubsup", inside.removeprefix("<msub>").removesuffix("</msub>"), raised)
        return element("msup", inside if whole else self._brackets(inside), raised)

    def _function(self, e: Expression, power: str = "") -> str:
        """A function of its arguments, without brackets where sin, cos or tan takes one product."""
        called = type(e).__name__
        own = isinstance(e, AppliedUndef)
        name = symbol_mathml(primed(called)) if own else element("mi", escape(_FUNCTIONS.get(called, called)))
        head = element("msup", name, power) if power else name
        ordered = isinstance(e, sympy.Min | sympy.Max)
        arguments = [self.write(argument) for argument in (self.by.arguments(e) if ordered else e.args)]
        # sin x, sin 2x, but sin(x + y): a product of letters and numbers ends where the next function begins.
        plain = len(arguments) == 1 and all(
            argument.is_Symbol or argument.is_Rational for argument in sympy.Mul.make_args(e.args[0])
        )
        if (
            plain
            and isinstance(e, sympy.sin | sympy.cos | sympy.tan)
            and not self.by.split(e.args[0]).negative
        ):
            return row(head, _OF_ALONE, arguments[0])
        commas = [part for argument in arguments for part in (sign(","), argument)][1:]
        return row(head, _OF, self._brackets(row(*commas)))

    def _number(self, number: Expression) -> str:
        """A number in digits, with a power of ten where it is very large or small."""
        digits = StrPrinter({"full_prec": False}).doprint(number)
        mantissa, _, power = digits.partition("e")
        if not power:
            return element("mn", digits)
        tenth = element("mrow", sign("−", form="prefix"), element("mn", power.lstrip("-0")))
        exponent = tenth if power.startswith("-") else element("mn", power.lstrip("+0"))
        return row(element("mn", mantissa), sign("⋅"), element("msup", element("mn", "10"), exponent))

    def _matrix(self, matrix: Expression) -> str:
        """A matrix in square brackets."""
        rows = (
            element("mtr", *(element("mtd", self.write(entry)) for entry in line)) for line in matrix.tolist()
        )
        return element("mrow", sign("["), element("mtable", *rows), sign("]"))

    def _cases(self, e: Expression) -> str:
        """Cases below one another, the value first and then its condition."""
        rows = []
        for value, condition in e.args:
            always = condition is sympy.true
            when = [
                element("mtext", "else" if always else "if\u00a0"),
                *([] if always else [self.write(condition)]),
            ]
            rows.append(element("mtr", element("mtd", self.write(value)), element("mtd", row(*when))))
        return element("mrow", sign("{"), element("mtable", *rows))


def _times(factors: Sequence[str]) -> list[str]:
    """Factors with times between them; a dot before a number, as 2 3 would be 23."""
    parts = list(factors[:1])
    for factor in factors[1:]:
        number = factor.removeprefix("<mrow>").removeprefix("<msup>").startswith("<mn>")
        words = _WORD.search(f"{parts[-1]} {factor}")
        parts += [sign("⋅") if number else _TIMES_WIDE if words else _TIMES, factor]
    return parts
