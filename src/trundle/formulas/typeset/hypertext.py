"""Equations for browsers: sections of HTML whose formulas are MathML, without scripts, fonts or network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

import sympy
from sympy.core.function import AppliedUndef

from trundle.errors import counted
from trundle.files import signature
from trundle.formulas.equation import Equation, Expression, SymbolInfo
from trundle.formulas.robot_equations import Equations
from trundle.formulas.typeset.alignment import AlignedPage, AlignmentRow, set_on_page
from trundle.formulas.typeset.layout import Block, alone
from trundle.formulas.typeset.mathml import MathML, element, row, sign
from trundle.formulas.typeset.ordering import Order
from trundle.html import MOST_FOLDED, Markup

# Signs of MathML: longer sections are folded; when more than so many are on a page, the rest is left out. A browser
# sets some million signs a second.
_MOST_OPEN = 60_000
_MOST_PAGE = 600_000

# Notebooks have their own looks of tables, to the right and striped, which equations don't take.
# No attribute `style` stands in what is written, so that a page's policy may name this text alone.
STYLE = """\
.equations math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", math; font-size: 1.08em }
.equations mtd { padding: 0.5ex 0.45em }
.equations > :first-child > :first-child { margin-top: 0.6em }
.equations h3 { font-size: 1rem; font-weight: 600; margin: 1.6em 0 0.6em }
.equations summary { cursor: pointer; font-weight: 600; margin: 1.6em 0 0.6em }
.equations summary + * { margin-top: 0; scroll-margin-top: 4em }
.equations .holds { font-weight: 400; opacity: 0.7; margin-left: 0.6em }
.equations.folded { margin-top: 0.6em }
.equations.folded > details > summary { margin: 0; padding: 0.5em 0 }
@media print { .equations details::details-content { content-visibility: visible; block-size: auto } }
.equations p { margin: 0.9em 0 0.3em; max-width: 48em; line-height: 1.5; overflow-wrap: anywhere;
  overflow-x: auto; overflow-y: hidden }
.equations .wide { overflow-x: auto; overflow-y: hidden; padding: 1px 0 }
.equations table { border-collapse: collapse }
.equations table tbody tr:nth-child(n) { background: none }
.equations .aligned td { padding: 0.3em 0; vertical-align: baseline; text-align: left }
.equations .aligned td:first-child { text-align: right; padding-left: 1.6em }
.equations .aligned td.words { padding-left: 2.5em; opacity: 0.7; overflow-wrap: anywhere; min-width: 9em }
.equations .symbols { font-size: 0.94em }
.equations .symbols th { text-align: left; font-weight: 600; opacity: 0.7 }
.equations .symbols th, .equations .symbols td { padding: 0.2em 1.6em 0.2em 0; vertical-align: baseline;
  text-align: left }
.equations .symbols .value { white-space: nowrap; font-variant-numeric: tabular-nums }
@media (max-width: 640px) {
  .equations .aligned td:first-child { padding-left: 0 }
  .equations .aligned tr { display: block; padding: 0.3em 0; white-space: nowrap }
  .equations .aligned td { display: inline; padding: 0 }
  .equations .aligned td.words { display: block; padding: 0.2em 0 0.5em; font-size: 0.9em; white-space: normal }
  .equations .symbols tr { display: grid; grid-template-columns: 5em 1fr; padding: 0.3em 0 }
  .equations .symbols th:last-child { display: none }
  .equations .symbols td:last-child { grid-column: 1 / -1; opacity: 0.7 }
}
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<!-- {signature} -->
<style>
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif }}
body {{ max-width: 60em; margin: 2em auto; padding: 0 1.2em }}
{style}</style>
</head>
<body>
<h1><bdi>{title}</bdi></h1>
{body}
</body>
</html>
"""


def page(equations: Equations) -> str:
    """A page by itself, as it opens in a browser."""
    style, body = STYLE, fragment(equations)
    return _PAGE.format(title=escape(equations.name), signature=escape(signature()), style=style, body=body)


def notebook(equations: Equations | Equation) -> str:
    """What a notebook shows: MathML with its styles, which needs neither network nor scripts once it is saved."""
    if isinstance(equations, Equations):
        shown = fragment(equations, linked=False)
    else:
        setting = AlignedPage(alone(replace(equations, meaning="")))
        writer = MathML(setting.layout.order, setting.named)
        blocks = (_block(block, setting, writer) for block in setting.layout.blocks)
        shown = element("div", *blocks, **{"class": "equations"})
    return element("style", STYLE) + shown


def formula(expression: Expression) -> Markup:
    """A SymPy expression by itself; functions of time are symbols, with dots for their rates."""
    return Markup(_math(MathML(Order()).write(_timeless(expression))))


def _timeless(expression: Expression) -> Expression:
    rates = {
        each: _symbol_at(each.expr, each.derivative_count) for each in expression.atoms(sympy.Derivative)
    }
    functions = {each: _symbol_at(each, 0) for each in expression.atoms(AppliedUndef)}
    return expression.xreplace(rates).xreplace(functions)


def _symbol_at(function: Expression, rates: int) -> sympy.Symbol:
    """The symbol of a function of time, or of one of its rates, as `symbol_mathml` reads it: phidot_right."""
    head, *indices = function.func.__name__.split("_")
    dots = f"{'d' * (rates - 1)}dot" if rates else ""
    return sympy.Symbol("_".join([f"{head}{dots}", *indices]))


def fragment(equations: Equations, *, folded: bool = False, linked: bool = True) -> str:
    """A part of a page that has `STYLE` among its styles: the sections, then what the symbols mean. Long sections are
    folded, or all that hold equations; a link to a section, #equations-accelerations say, opens it, where they are
    `linked`: the parts of a notebook would share their places.
    """
    setting = set_on_page(equations)
    writer = MathML(setting.layout.order, setting.named)
    parts, left, places = [], [], _Places(linked)
    room = _MOST_PAGE
    for block in setting.layout.blocks:
        shown = _block(block, setting, writer)
        if len(shown) > room:
            left.append(block.title)
            continue
        room -= len(shown)
        count = len(block.statements)
        holds = counted(count, "equation") if count else ""
        folds = len(shown) > _MOST_OPEN or (folded and count > 0)
        parts.append(_titled(block.title, shown, places.of(block.title), holds if folds else None))
    if left:
        parts.append(element("p", escape(f"Too long for this page: {', '.join(left)}.")))
    parts.append(_symbols(setting, writer, places, folded))
    return element("div", *parts, **{"class": "equations folded" if folded else "equations"})


class _Places:
    """Where sections are linked to: words of their titles, numbered where two have the same."""

    def __init__(self, linked: bool) -> None:
        self._linked, self._met = linked, Counter[str]()

    def of(self, title: str) -> dict[str, str]:
        if not self._linked:
            return {}
        place = "-".join(["equations", *re.findall(r"\w+", title.lower())])
        self._met[place] += 1
        return {"id": place if self._met[place] == 1 else f"{place}-{self._met[place]}"}


def _titled(title: str, shown: str, place: Mapping[str, str], holds: str | None = None) -> str:
    """A section; folded where it is told what it `holds`. A link to its content, unlike one to it, unfolds it."""
    if holds is None:
        return element("section", element("h3", escape(title)), shown, **place)
    summary = element("summary", escape(title), element("span", escape(holds), **{"class": "holds"}))
    return element("details", summary, element("div", shown, **place))


def _block(block: Block, setting: AlignedPage, writer: MathML) -> str:
    shown = [
        element("p", _said(piece, setting, writer)) if isinstance(piece, str) else _aligned(piece, setting, writer)
        for piece in setting.pieces(block.statements)
    ]  # fmt: skip
    return "".join([*shown, *(element("p", _said(note, setting, writer)) for note in block.notes)])


def _aligned(rows: Sequence[AlignmentRow], setting: AlignedPage, writer: MathML) -> str:
    """Statements below one another, their signs of equality in a column."""
    lines = "".join(_row(statement, setting, writer) for statement in rows)
    table = element("table", element("tbody", lines), **{"class": "aligned", "role": "presentation"})
    return element("div", table, **{"class": "wide"})


def _row(shown: AlignmentRow, setting: AlignedPage, writer: MathML) -> str:
    left = [part for side in shown.lefts for part in (sign("=", form="infix"), writer.write(side))][1:]
    head = element("td", _math(row(*left)) if left else "")
    right = element("td", _math(writer.line(shown.line, "=" if left else "")))
    words = element("td", _said(shown.words, setting, writer), **{"class": "words"}) if shown.words else ""
    return element("tr", head, right, words)


def _math(shown: str) -> str:
    return element("math", shown, displaystyle="true")


def _said(text: str, setting: AlignedPage, writer: MathML) -> str:
    """A sentence with its formulas and the symbols that it names."""
    return setting.layout.said(text, escape, lambda part: element("math", writer.write(part)))


def _symbols(setting: AlignedPage, writer: MathML, places: _Places, folded: bool) -> str:
    """What the symbols stand for; many to unfold."""
    listed = setting.layout.symbols()
    if not listed:
        return ""
    head = "".join(element("th", title, scope="col") for title in ("symbol", "value", "meaning"))
    rows = (
        _symbol(info, shown, number, meaning, setting, writer)
        for info, (shown, number, meaning) in zip(setting.equations.symbols, listed, strict=True)
    )
    body = element(
        "table", element("thead", element("tr", head)), element("tbody", *rows), **{"class": "symbols"}
    )
    title = counted(len(listed), "symbol")
    return _titled(
        title[0].upper() + title[1:],
        element("div", body, **{"class": "wide"}),
        places.of("symbols"),
        "what they stand for" if folded or len(listed) > MOST_FOLDED else None,
    )


def _symbol(
    info: SymbolInfo, called: Expression, number: str, meaning: str, setting: AlignedPage, writer: MathML
) -> str:
    """A row; the value of a parameter names its keys, so that a page that changes them can follow."""
    value, unit = "", number
    if info.kind == "parameter" and info.number is not None:
        value, _, unit = number.partition(" ")
    given = element("span", escape(value), **{"data-keys": " ".join(info.keys)}) if value else ""
    symbol = element("td", _math(writer.write(called)))
    shown = element("td", f"{given} {escape(unit)}".strip(), **{"class": "value"})
    return element("tr", symbol, shown, element("td", _said(meaning, setting, writer)))
