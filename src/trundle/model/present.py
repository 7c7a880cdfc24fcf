"""How a model shows itself: one line in a terminal; its diagram, names with units and equations in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trundle.html import MOST_FOLDED, beside, block, facts, folded, paragraph, picture, table
from trundle.robot.present import kind_of

if TYPE_CHECKING:
    from trundle.model.model import Model

# Deriving and checking the equations of a model with more operations takes more than a second.
_MOST_OPERATIONS = 1000
_WHERE = (
    "model.equations(), with text(), latex() and markdown(), or one kind of them: model.equations('dynamics')"
)


def model_text(model: Model) -> str:
    """Model 'diff_drive': 5 coordinates, 2 speeds, 2 currents, 2 inputs; mobility (2, 0); 90 operations."""
    counts = [
        f"{len(names)} {what if len(names) != 1 else what[:-1]}"
        for what, names in _groups(model).items()
        if names
    ]
    parts = [", ".join(counts)]
    if model.mobility is not None:
        parts.append(f"mobility ({model.mobility.mobility}, {model.mobility.steerability})")
    parts.append(f"{model.operations} operations")
    return f"Model {model.name!r}: {'; '.join(parts)}"


def model_html(model: Model) -> str:
    """Diagram, states and inputs with their units, what derivation found out, equations; the rest to unfold."""
    groups = _groups(model)
    states = [
        (name, _kind(what), model.units.get(name, ""))
        for what in groups
        if what != "inputs"
        for name in groups[what]
    ]
    inputs = [(name, model.units.get(name, "")) for name in model.inputs]
    outputs = [(name, model.units.get(name, "")) for name in model.outputs]
    parameters = [(name, f"{value:.6g}") for name, value in model.parameters.items()]
    diagram = "" if model.robot is None else picture(model.robot._repr_svg_(), f"diagram of {model.name}")
    return block(
        model.name,
        _about(model),
        beside(diagram, table(("state", "is a", "unit"), states), table(("input", "unit"), inputs)),
        facts(_facts(model)),
        _equations(model),
        folded(
            f"{len(parameters)} parameters",
            table(("parameter", "value"), parameters, numbers=(1,), most=MOST_FOLDED),
        ),
        folded(f"{len(outputs)} outputs", table(("output", "unit"), outputs, most=MOST_FOLDED)),
    )


def _equations(model: Model) -> str:
    """The equations where they are for reading; where to find them otherwise."""
    if model.robot is None:
        return ""
    if model.operations > _MOST_OPERATIONS:
        return paragraph(f"Its equations are long: {_WHERE}.")
    try:
        shown = model.equations().html()
    except Exception as error:  # whatever is wrong with them, everything else can still be shown
        return paragraph(f"Its equations can't be shown here: {error}")
    return shown + paragraph(f"These are {_WHERE}.")


def _groups(model: Model) -> dict[str, tuple[str, ...]]:
    return {
        "coordinates": model.coordinates,
        "speeds": model.speeds,
        "currents" if model.robot is not None else "further states": model.currents,
        "inputs": model.inputs,
    }


def _kind(what: str) -> str:
    return what.removesuffix("s")


def _about(model: Model) -> str:
    if model.robot is not None:
        return kind_of(model.robot)
    return f"from SymPy's {model.origin['sympy']}" if "sympy" in model.origin else ""


def _facts(model: Model) -> list[tuple[str, str]]:
    found = [("constraints", model.constraints.explain())]
    if model.mobility is not None:
        mobility = model.mobility
        found.append(("mobility", f"({mobility.mobility}, {mobility.steerability}): {mobility.explain()}"))
    if model.dependent:
        found.append(("dependent", f"{', '.join(model.dependent)}: they follow from the other states"))
    left = model.dynamics.operations_excluding("parameter")
    found.append(
        (
            "equations",
            f"{model.operations} operations, {left} of them at each evaluation with the same parameters",
        )
    )
    return found + [("note", note) for note in model.notes]
