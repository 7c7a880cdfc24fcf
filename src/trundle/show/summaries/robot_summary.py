"""What a robot is: its parts in a line, in tables, as plain data; what its wheels let it do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trundle.errors import counted
from trundle.html import MOST_FOLDED, block, folded, picture, side_by_side, table
from trundle.model.placed import placed
from trundle.robot import Robot
from trundle.robot.kinds import ask
from trundle.show.summaries import lines
from trundle.show.summaries.verbs import html, text

if TYPE_CHECKING:
    from trundle.mechanics.mobility import Mobility
    from trundle.robot.parameters import Resolver
    from trundle.robot.values import Value
    from trundle.robot.wheels import Wheel

Fact = tuple[str, str]
_BASES = {"planar": "on a planar base", "floating": "on a floating base", "fixed": "on a fixed base"}
# Names beyond this many are counted, not listed.
_MOST_NAMES = 16


def kind_of(robot: Robot) -> str:
    """One line: the base and how many of what it carries."""
    parts = []
    families = ("wheel", robot.wheels), ("joint", robot.joints), ("motor", robot.motors)
    families += ("coupling", robot.couplings), ("loop", robot.loops), ("controller", robot.controllers)
    for word, members in families:
        kinds = Counter(member.type for member in members.values())
        if kinds:
            listed = ", ".join(kinds if len(kinds) == 1 else (f"{n} {kind}" for kind, n in kinds.items()))
            parts.append(f"{counted(len(members), word)} ({listed})")
    if robot.batteries:
        parts.append("1 battery" if len(robot.batteries) == 1 else f"{len(robot.batteries)} batteries")
    return f"{_BASES[robot.base]}: {', '.join(parts) or 'no joints and no wheels'}"


@text.register
def robot_text(robot: Robot) -> str:
    """Robot 'diff_drive' on a planar base: 2 wheels (fixed), 2 motors (dc); 16 parameters."""
    count = len(robot.parameter_values())
    return f"Robot {robot.name!r} {kind_of(robot)}; {counted(count, 'parameter')}"


@html.register
def robot_html(robot: Robot) -> str:
    """The diagram, tables of wheels, joints, loops and motors, and the parameters."""
    number = robot.resolver()
    joints = [
        (name, joint.type, joint.parent, _place(number, joint.at), f"{float(number(joint.body.mass)):.4g}")
        for name, joint in robot.joints.items()
    ]
    loops = [(name, loop.type, loop.first.body, loop.second.body) for name, loop in robot.loops.items()]
    motors = [(name, motor.type, motor.drives) for name, motor in robot.motors.items()]
    controllers = [
        (each.name, each.controller.type, ", ".join(each.reads), ", ".join(each.drives))
        for each in placed(robot)
    ]
    parts = (
        table(("wheel", "type", "radius (m)", "at (m)", "contact"), wheel_rows(robot), numbers=(2,)),
        table(("joint", "type", "on", "at (m)", "carries (kg)"), joints, numbers=(4,)),
        table(("loop", "type", "holds", "to"), loops),
        table(("motor", "type", "drives"), motors),
        table(("controller", "type", "reads", "drives"), controllers),
    )
    diagram = picture(robot._repr_svg_(), f"diagram of {robot.name}")
    units = robot.parameter_units()
    values = [(name, value, units.get(name, "")) for name, value in robot.parameter_values().items()]
    return block(robot.name, kind_of(robot), side_by_side(diagram, "".join(parts)), parameter_table(values))


def parameter_table(values: Sequence[tuple[str, float, str]]) -> str:
    """Parameters with numbers and units, behind their count."""
    rows = [(name, f"{value:.6g}", unit) for name, value, unit in values]
    header = ("parameter", "value", "unit")
    return folded(f"{len(rows)} parameters", table(header, rows, numbers=(1,), most=MOST_FOLDED))


def robot_data(robot: Robot, about: Mobility | None) -> dict[str, object]:
    """What is known without equations of motion, as plain data."""
    return {
        "name": robot.name,
        "base": robot.base,
        "bodies": _bodies(robot),
        "mobility": None if about is None else [about.mobility, about.steerability],
        "mobility_text": None if about is None else about.explain(),
    }


def body_facts(robot: Robot) -> list[Fact]:
    """How many bodies there are, and their names."""
    return [("bodies", names_with_units(_bodies(robot), {}))]


def mobility_facts(about: Mobility | None) -> list[Fact]:
    """The class after Campion and what it means."""
    if about is None:
        return []
    return [("mobility", f"({about.mobility}, {about.steerability}): {about.explain()}")]


def standing_facts(robot: Robot | None) -> list[Fact]:
    """The slope on which a robot tips over while it stands, where the heights of its masses are known."""
    from trundle.model.health import standing

    found = None if robot is None else standing(robot)
    if found is None:
        return []
    over = f"over {' and '.join(found.over)}"
    slope = f"on slopes beyond {math.degrees(found.slope):.3g} deg, {over}"
    words = slope if found.slope > 0 else f"on level ground, {over}"
    return [("tips", f"{words}: its centre of mass is {found.height:.3g} m above the ground")]


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


def wheels_data(robot: Robot) -> list[dict[str, object]]:
    """Each wheel: kind, contact law, place and radius in SI."""
    number = robot.resolver()
    return [
        {
            "name": name,
            "type": wheel.type,
            "contact": wheel.law.type,
            "law": _law(number, wheel, robot.base),
            "parent": wheel.parent,
            "at": [float(number(coordinate)) for coordinate in wheel.at],
            "radius": float(number(wheel.radius)),
        }
        for name, wheel in robot.wheels.items()
    ]


def wheel_rows(robot: Robot) -> list[tuple[str, str, str, str, str]]:
    """Each wheel's name, kind, radius (m), place (m) and contact law."""
    number = robot.resolver()
    return [
        (
            name,
            wheel.type,
            f"{float(number(wheel.radius)):.4g}",
            _place(number, wheel.at),
            f"{wheel.law.type}: {_law(number, wheel, robot.base)}",
        )
        for name, wheel in robot.wheels.items()
    ]


def wheel_lines(robot: Robot, page: lines.Page) -> list[str]:
    """A table of the wheels."""
    rows = [
        (name, kind, f"r = {radius} m", f"at {at} m", law)
        for name, kind, radius, at, law in wheel_rows(robot)
    ]
    return [page.heading("wheels"), *lines.table(rows)] if rows else []


def _bodies(robot: Robot) -> list[str]:
    """Everything with a mass of its own: the base, joints' bodies, wheels."""
    base = [] if robot.body is None else [robot.body.name or "base"]
    return [*base, *(joint.body.name or name for name, joint in robot.joints.items()), *robot.wheels]


def _place(number: Resolver, at: Iterable[Value]) -> str:
    """Where something stands, in m; at the base's own height two numbers say it."""
    x, y, z = (float(number(coordinate)) for coordinate in at)
    return f"({x:.4g}, {y:.4g})" if z == 0 else f"({x:.4g}, {y:.4g}, {z:.4g})"


def _law(number: Resolver, wheel: Wheel, base: str) -> str:
    words = ask(wheel.law, "wheels", wheel.law.words, number)
    if wheel.law.pushes:
        fixed = wheel.fixed_load
        share = "by how deep it is" if base == "floating" else "its share of the weight"
        load = share if fixed is None else f"{float(number(fixed)):.4g} N"
        return f"{words}, load {load}"
    return f"its roller {words}" if wheel.law.rolls and len(wheel.directions(number)) == 1 else words
