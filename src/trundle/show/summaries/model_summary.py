"""What a model and a program are: names with units, the facts of the derivation, equations, operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trundle.errors import counted
from trundle.html import MOST_FOLDED, block, facts, folded, paragraph, picture, side_by_side, table
from trundle.mechanics.quantities import UNSEEN
from trundle.model.classification import mobility_class
from trundle.model.health import standing
from trundle.model.model import ConstraintSummary, Model
from trundle.model.plant import Plant, Steps
from trundle.show.summaries.robot_summary import (
    Fact,
    body_facts,
    kind_of,
    mobility_facts,
    names_with_units,
    parameter_table,
    robot_data,
    standing_facts,
)
from trundle.show.summaries.verbs import html, sentence, text

if TYPE_CHECKING:
    from trundle.robot import Robot

# Deriving and checking the equations of a model with more operations takes more than a second.
_MOST_OPERATIONS = 1000
_WHERE = (
    "model.equations(), with text(), latex() and markdown(), or one kind of them: model.equations('dynamics')"
)


@text.register
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
    parts.append(counted(model.operations, "operation"))
    return f"Model {model.name!r}: {'; '.join(parts)}"


@html.register
def model_html(model: Model) -> str:
    """Diagram, states and inputs with their units, the facts of the derivation, equations; the rest to unfold."""
    groups, units = _groups(model), model.units
    states = [
        (name, what.removesuffix("s"), units.get(name, ""))
        for what in groups
        if what != "inputs"
        for name in groups[what]
    ]
    inputs = [(name, units.get(name, "")) for name in model.inputs]
    outputs = [(name, units.get(name, "")) for name in model.outputs]
    diagram = "" if model.robot is None else picture(model.robot._repr_svg_(), f"diagram of {model.name}")
    known = {} if model.robot is None else model.robot.parameter_units()
    return block(
        model.name,
        _about(model),
        side_by_side(diagram, table(("state", "is a", "unit"), states), table(("input", "unit"), inputs)),
        facts(derivation_facts(model)),
        _equations(model),
        parameter_table([(name, value, known.get(name, "")) for name, value in model.parameters.items()]),
        folded(f"{len(outputs)} outputs", table(("output", "unit"), outputs, most=MOST_FOLDED)),
    )


def system_facts(system: Plant) -> list[Fact]:
    """Label and text of everything that is known of what moves a described robot, by forces or without."""
    robot = system.robot
    bodies = [] if robot is None else body_facts(robot)
    if isinstance(system, Model):
        groups = {what: names for what, names in _groups(system).items() if names or what != "currents"}
        return [
            *bodies,
            *((what, _names(system, names)) for what, names in groups.items()),
            *derivation_facts(system),
        ]
    stepped = isinstance(system.motion, Steps)
    named = {"coordinates": system.coordinates, "speeds": system.speeds}
    named["inputs" if stepped else "given"] = system.inputs
    what = "the base's motion from the wheels', without forces"
    what = f" a step: {system.motion.law}" if isinstance(system.motion, Steps) else f": {what}"
    return [
        *bodies,
        *((what, names_with_units(names, system.units)) for what, names in named.items() if names),
        *([] if stepped or robot is None else mobility_facts(mobility_class(robot))),
        *system.about.items(),
        ("equations", f"{system.motion.operations} operations{what}"),
    ]


def _names(model: Model, names: Sequence[str]) -> str:
    """Those that people look at by name, the others by how many they are."""
    kinds = {name: model.quantities[name].kind for name in names}
    text = names_with_units([name for name in names if kinds[name] not in UNSEEN], model.units)
    for kind, told in (("memory", "that controllers keep for themselves"), ("noise", "of sensors' noise")):
        if count := list(kinds.values()).count(kind):
            text += f", and {count} {told}"
    return text


def derivation_facts(model: Model) -> list[Fact]:
    """Facts of the derivation: constraints, freedom, mobility, the size of the equations, and notes."""
    facts = [("constraints", model.constraints.explain())]
    if model.dependent:
        depend = names_with_units(model.dependent, model.units)
        what = "the constraints bind" if model.robot is None else "the loops bind"
        facts.append(("freedom", f"{counted(model.freedoms, 'degree')}; {what} {depend}"))
    left = f"{_per_evaluation(model)} of them at every evaluation, the others once for a set of parameters"
    facts += [
        *mobility_facts(model.mobility),
        *standing_facts(model.robot),
        ("equations", f"{model.operations} operations, {left}"),
    ]
    return facts + [("note", note) for note in model.notes]


@sentence.register
def constraints_sentence(summary: ConstraintSummary) -> str:
    """How many rows, their rank, and what redundancy leaves open."""
    if summary.rows == 0:
        return "none"
    text = f"{summary.rows}, rank {summary.rank}"
    if summary.undetermined:
        names = ", ".join(summary.undetermined)
        text += f" (redundant: the motion leaves {names} open, or only their sums; split by least norm)"
    return text


def system_data(system: Plant) -> dict[str, object]:
    """What is known of what moves a described robot, as plain data."""
    robot = system.robot
    if not isinstance(system, Model):
        stepped = isinstance(system.motion, Steps)
        known = ("coordinates", "speeds", "inputs") if stepped else ("coordinates", "inputs")
        return {
            **({} if robot is None else robot_data(robot, None if stepped else mobility_class(robot))),
            **{name: getattr(system, name) for name in known},
            **system.about,
            "operations": system.motion.operations,
        }
    own = "coordinates speeds currents inputs dependent freedoms operations derive_seconds notes"
    rows = {name: getattr(system.constraints, name) for name in ("rows", "rank", "undetermined")}
    return {
        **({} if system.robot is None else robot_data(system.robot, system.mobility)),
        **{name: getattr(system, name) for name in own.split()},
        "constraints": rows,
        **_tips(system.robot),
        "operations_per_evaluation": _per_evaluation(system),
    }


def _tips(robot: Robot | None) -> dict[str, object]:
    """`tips`: on which slope (rad) a robot tips over, over which wheels, and how high its centre of mass is (m)."""
    found = None if robot is None else standing(robot)
    return {"tips": {**vars(found)}} if found else {}


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
        _called(model): model.currents,
        "inputs": model.inputs,
    }


def _called(model: Model) -> str:
    """What the states behind coordinates and speeds are: motors bring currents, kinds of one's own anything."""
    measured = {model.units.get(name) for name in model.currents}
    return "currents" if model.robot is not None and measured <= {"A"} else "further states"


def _about(model: Model) -> str:
    if model.robot is not None:
        return kind_of(model.robot)
    return f"from SymPy's {model.origin['sympy']}" if "sympy" in model.origin else ""


def _per_evaluation(model: Model) -> int:
    """Operations of one evaluation when what the parameters alone decide is computed once before."""
    return model.dynamics.operations_excluding("parameter")
