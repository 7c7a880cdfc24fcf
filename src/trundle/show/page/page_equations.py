"""The equations that stand on a page, with the numbers that a run or a model has for their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape

from trundle.errors import InputError, TrundleError
from trundle.formulas import SymbolInfo, equations
from trundle.formulas.typeset.hypertext import fragment
from trundle.model import Model
from trundle.robot import Robot


def page_equations(given: Robot | Model, parameters: Mapping[str, float]) -> str:
    """HTML of the equations, without scripts; of a robot that has none, why."""
    try:
        shown = equations(given)
    except TrundleError as error:
        why = error.message if isinstance(error, InputError) else str(error)
        return f"<h2>Equations</h2><p>They are left out: {escape(why)}.</p>"
    symbols = tuple(_valued(info, parameters) for info in shown.symbols)
    return f"<h2>Equations</h2>{fragment(replace(shown, symbols=symbols), folded=True)}"


def _valued(info: SymbolInfo, parameters: Mapping[str, float]) -> SymbolInfo:
    """A symbol with the number that its parameter has here; keys of what is mirrored begin with a minus."""
    key = next(iter(info.keys), "") if info.kind == "parameter" else ""
    number = parameters.get(key.removeprefix("-"))
    if number is None:
        return info
    return replace(info, number=-number if key.startswith("-") else number)
