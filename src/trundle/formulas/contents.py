"""What the sections of a report show: their definitions, and what their symbols stand for."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy.core.function import AppliedUndef

from trundle.formulas.algebra.writing import Writer
from trundle.formulas.equation import Definition, Expression, Section, SymbolInfo
from trundle.formulas.symbols.names import Note
from trundle.formulas.symbols.sheet import Sheet


def left_out(key: str, title: str, why: str) -> Section:
    """What stands in the place of a section that isn't shown."""
    return Section(key, title, (), (f"Not written out: {why}",))


def definitions_in(writer: Writer, sections: Sequence[Section]) -> tuple[Definition, ...]:
    """The intermediate quantities that were shown; one without a meaning of its own is a part of what uses it."""
    used = writer.used(_expressions(sections))
    shown = [(writer.table.symbols[index], value) for index, value in used.items()]
    uses: dict[Expression, Expression] = {}
    for name, value in [
        *((equation.name, equation.right) for section in sections for equation in section.equations),
        *((entry.name, value) for entry, value in shown),
    ]:
        uses = dict.fromkeys(value.free_symbols, name) | uses
    definitions = []
    told = {
        equation.left for section in sections for equation in section.equations if equation.left.is_Symbol
    }
    for entry, value in shown:
        symbol = sympy.Symbol(entry.name)
        if symbol in told:  # by an equation of a section
            continue
        meaning = entry.meaning or f"a part of {uses.get(symbol, 'the equations')}"
        definitions.append(Definition(symbol, value, meaning, entry.unit))
    return tuple(definitions)


def _expressions(sections: Sequence[Section]) -> list[Expression]:
    """Everything that sections show: sides of equations, and what notes say with them."""
    notes = (note for section in sections for note in section.notes if isinstance(note, Note))
    said = [part for note in notes for part in note.parts if not isinstance(part, str)]
    return said + [side for section in sections for equation in section.equations for side in equation.sides]


def symbols_in(sheet: Sheet, sections: Sequence[Section]) -> tuple[SymbolInfo, ...]:
    """What the symbols that are shown stand for."""
    expressions = _expressions(sections)
    written = [*expressions, *sheet.writer.used(expressions).values()]
    shown = set().union(*(each.free_symbols for each in written))
    symbols = []
    for index, entry in enumerate(sheet.table.symbols):
        symbol = sympy.Symbol(entry.name)
        if symbol in shown and entry.definition is None and not entry.square:
            signed = sheet.parameters.keys.get(index, ())
            own = tuple(f"{'-' if sign < 0 else ''}{key}" for key, sign in signed)
            source = own or tuple(filter(None, [entry.source]))
            symbols.append(SymbolInfo(symbol, entry.kind, entry.meaning, entry.unit, entry.number, source))
    called = {type(call).__name__ for each in written for call in each.atoms(AppliedUndef)}
    for name, function in sheet.table.functions.items():
        if name in called:
            symbols.append(SymbolInfo(sympy.Symbol(name), "function", function.meaning, function.unit))
    return tuple(symbols)
