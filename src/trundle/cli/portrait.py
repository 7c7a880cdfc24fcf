"""What a robot is, in words and as plain data: names, constraints, mobility, wheels, equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trundle.cli.output import Output, table

if TYPE_CHECKING:
    from trundle.mechanics.mobility import Mobility
    from trundle.model import Model
    from trundle.robot import Robot

# Names beyond this many are counted, not listed.
_MOST_NAMES = 16


def mobility_class(robot: Robot) -> Mobility | None:
    """δ_m and δ_s by the wheels on the base, for robots that can't be derived, too; None without wheels."""
    from trundle.mechanics.assembly import assemble
    from trundle.model.classification import mobility_of

    return mobility_of(assemble(robot, robot.resolver()))


def bodies_of(robot: Robot) -> list[str]:
    """Everything with a mass of its own: the base, joints' bodies, wheels."""
    base = [] if robot.body is None else [robot.body.name or "base"]
    return [*base, *(joint.body.name or name for name, joint in robot.joints.items()), *robot.wheels]


def names_with_units(names: Sequence[str], units: Mapping[str, str]) -> str:
    """'3: x, y (m), theta (rad)': a unit stands behind the last of the names that share it."""
    shown = names[:_MOST_NAMES]
    words = []
    for place, name in enumerate(shown):
        unit = units.get(name, "")
        last = place + 1 == len(shown) or units.get(shown[place + 1], "") != unit
        words.append(f"{name} ({unit})" if unit and last else name)
    if len(names) > len(shown):
        words.append(f"and {len(names) - len(shown)} more")
    return f"{len(names)}: {', '.join(words)}" if names else "none"


def mobility_facts(mobility: Mobility | None) -> list[tuple[str, str]]:
    """The class after Campion and what it means."""
    if mobility is None:
        return []
    return [("mobility", f"({mobility.mobility}, {mobility.steerability}): {mobility.explain()}")]


def model_facts(model: Model) -> list[tuple[str, str]]:
    """Label and text of everything that derivation found out."""
    facts = [("bodies", listed(bodies_of(model.robot)))]
    groups = {
        "coordinates": model.coordinates,
        "speeds": model.speeds,
        "currents": model.currents,
        "inputs": model.inputs,
    }
    facts += [
        (label, names_with_units(names, model.units))
        for label, names in groups.items()
        if names or label != "currents"
    ]
    facts.append(("constraints", model.constraints.explain()))
    if model.robot.loops:
        plural = "s" if model.freedoms != 1 else ""
        depend = names_with_units(model.dependent, model.units)
        facts.append(("freedom", f"{model.freedoms} degree{plural}; the loops bind {depend}"))
    facts += mobility_facts(model.mobility)
    left = f"{per_evaluation(model)} of them at each evaluation, the others once for a set of parameters"
    facts.append(("equations", f"{model.operations} operations, {left}"))
    return facts + [("note", note) for note in model.notes]


def model_data(model: Model) -> dict[str, Any]:
    """The same as plain data."""
    return {
        **robot_data(model.robot, model.mobility),
        "coordinates": model.coordinates,
        "speeds": model.speeds,
        "currents": model.currents,
        "inputs": model.inputs,
        "constraints": {
            "rows": model.constraints.rows,
            "rank": model.constraints.rank,
            "undetermined": model.constraints.undetermined,
        },
        "dependent": model.dependent,
        "freedoms": model.freedoms,
        "operations": model.operations,
        "operations_per_evaluation": per_evaluation(model),
        "derive_seconds": model.derive_seconds,
        "notes": model.notes,
    }


def robot_data(robot: Robot, mobility: Mobility | None) -> dict[str, Any]:
    """What is known without equations of motion."""
    return {
        "name": robot.name,
        "base": robot.base,
        "bodies": bodies_of(robot),
        "mobility": None if mobility is None else [mobility.mobility, mobility.steerability],
        "mobility_text": None if mobility is None else mobility.explain(),
    }


def per_evaluation(model: Model) -> int:
    """Operations of one evaluation when what the parameters alone decide is computed once before."""
    return model.dynamics.operations_excluding("parameter")


def wheels_data(robot: Robot) -> list[dict[str, Any]]:
    """Each wheel: kind, contact law, place and radius in SI."""
    number = robot.resolver()
    return [
        {
            "name": name,
            "type": wheel.type,
            "contact": wheel.contact,
            "law": _law(robot, wheel),
            "parent": wheel.parent,
            "at": [float(number(each)) for each in wheel.at],
            "radius": float(number(wheel.radius)),
        }
        for name, wheel in robot.wheels.items()
    ]


def wheel_lines(robot: Robot, out: Output) -> list[str]:
    """A table of the wheels."""
    if not robot.wheels:
        return []
    rows = [
        (
            wheel["name"],
            wheel["type"],
            f"r = {wheel['radius']:.4g} m",
            f"at ({wheel['at'][0]:.4g}, {wheel['at'][1]:.4g}) m",
            f"{wheel['contact']}: {wheel['law']}",
        )
        for wheel in wheels_data(robot)
    ]
    return [out.heading("wheels"), *table(rows)]


def _law(robot: Robot, wheel: Any) -> str:
    if wheel.type == "ball" or wheel.contact == "free":
        return "carries weight, no other force"
    if wheel.contact == "ideal":
        return (
            "rolls without slipping"
            if wheel.type not in ("mecanum", "omni")
            else "its roller rolls without slipping"
        )
    number = robot.resolver()
    friction, smoothed = float(number(wheel.friction)), float(number(wheel.slip_speed))
    load = "its share of the weight" if wheel.load is None else f"{float(number(wheel.load)):.4g} N"
    return f"friction {friction:.3g}, smoothed below {smoothed:.3g} m/s, load {load}"


def listed(names: Sequence[str]) -> str:
    """'3: base, right, left'."""
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{len(names)}: {', '.join(names[:_MOST_NAMES])}{more}" if names else "none"
