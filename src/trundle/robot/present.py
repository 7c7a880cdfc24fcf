"""How a robot shows itself: one line in a terminal, its diagram and what it is made of in a notebook."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from trundle.html import MOST_FOLDED, beside, block, folded, picture, table

if TYPE_CHECKING:
    from trundle.robot.description import Robot

_BASES = {"planar": "on a planar base", "floating": "on a floating base", "fixed": "on a fixed base"}


def kind_of(robot: Robot) -> str:
    """One line: the base and how many of what it carries."""
    parts = []
    families = ("wheel", robot.wheels), ("joint", robot.joints), ("motor", robot.motors)
    for word, members in (*families, ("coupling", robot.couplings), ("loop", robot.loops)):
        kinds = Counter(getattr(each, "type", None) or getattr(each, "kind", "") for each in members.values())
        if kinds:
            total = sum(kinds.values())
            listed = (
                ", ".join(kinds) if len(kinds) == 1 else ", ".join(f"{n} {kind}" for kind, n in kinds.items())
            )
            parts.append(f"{total} {word}{'s' if total > 1 else ''} ({listed})")
    return f"{_BASES[robot.base]}: {', '.join(parts) or 'no joints and no wheels'}"


def robot_text(robot: Robot) -> str:
    """Robot 'diff_drive' on a planar base: 2 wheels (fixed), 2 motors (dc); 16 parameters."""
    count = len(robot.parameter_values())
    return f"Robot {robot.name!r} {kind_of(robot)}; {count} parameter{'' if count == 1 else 's'}"


def robot_html(robot: Robot) -> str:
    """The diagram, tables of wheels, joints, loops and motors, and the parameters."""
    values, units = robot.parameter_values(), robot.parameter_units()
    parameters = [(name, f"{value:.6g}", units.get(name, "")) for name, value in values.items()]
    return block(
        robot.name,
        kind_of(robot),
        beside(
            picture(robot._repr_svg_(), f"diagram of {robot.name}"),
            _wheels(robot) + _joints(robot) + _loops(robot) + _motors(robot),
        ),
        folded(
            f"{len(parameters)} parameters",
            table(("parameter", "value", "unit"), parameters, numbers=(1,), most=MOST_FOLDED),
        ),
    )


def _wheels(robot: Robot) -> str:
    number = robot.resolver()
    rows = [
        (name, wheel.type, _place(number, wheel.at), f"{float(number(wheel.radius)):.4g}", wheel.contact)
        for name, wheel in robot.wheels.items()
    ]
    return table(("wheel", "type", "at (m)", "radius (m)", "contact"), rows, numbers=(3,))


def _joints(robot: Robot) -> str:
    number = robot.resolver()
    rows = [
        (name, joint.type, joint.parent, _place(number, joint.at), f"{float(number(joint.body.mass)):.4g}")
        for name, joint in robot.joints.items()
    ]
    return table(("joint", "type", "on", "at (m)", "carries (kg)"), rows, numbers=(4,))


def _loops(robot: Robot) -> str:
    rows = [(name, loop.type, loop.first.body, loop.second.body) for name, loop in robot.loops.items()]
    return table(("loop", "type", "holds", "to"), rows)


def _motors(robot: Robot) -> str:
    rows = [(name, motor.kind, motor.drives) for name, motor in robot.motors.items()]
    return table(("motor", "kind", "drives"), rows)


def _place(number: Any, at: Any) -> str:
    return f"({', '.join(f'{float(number(each)):.4g}' for each in at)})"
