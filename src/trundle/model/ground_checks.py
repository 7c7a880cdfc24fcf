"""What a robot needs for a run over terrain: contacts, laws that give forces, heights, inertias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trundle.choices import Mode
from trundle.errors import InputError
from trundle.model.mechanism import Mechanism
from trundle.robot import Robot
from trundle.robot.bodies import MOMENTS, Inertia
from trundle.robot.problems import Mistake, report
from trundle.robot.structure import has_heights
from trundle.robot.terrain import Terrain

# Contacts that a base needs to stand on.
_STANDS = 3


def require_ground(described: Robot, numbers: Mechanism, terrain: Terrain, mode: Mode) -> None:
    """Raise InputError for what no run over terrain can do, and for all that a robot lacks for one."""
    if not numbers.assembly.wheels:
        raise InputError(
            f"'{described.name}' has no wheels and no feet: nothing of it touches the terrain",
            key="robot.wheels",
            hint="say what does: wheels: {toe: {type: foot, parent: LINK, at: [0, 0, -0.1], radius: 2 cm}}; "
            "a URDF file's collision spheres are feet by themselves",
        )
    if described.loops:
        raise InputError("loops are not closed on terrain", key="robot.loops", hint="use couplings")
    if mode == "kinematic":
        return
    if terrain.body_slip is not None:
        message = "body_slip stands in place of forces, and a dynamic run has forces"
        hint = "take it away, or write mode: kinematic under run"
        raise InputError(message, key="terrain.body_slip", hint=hint)
    lacks = [*_ideal(numbers), *_standing(described, numbers), *_heights(described), *_inertias(numbers)]
    if lacks:
        raise report([replace(mistake, path=("robot", *mistake.path)) for mistake in lacks])


def _ideal(numbers: Mechanism) -> Iterator[Mistake]:
    """Wheels that roll ideally."""
    names = [wheel.name for wheel in numbers.assembly.wheels if wheel.law.rolls and wheel.directions]
    if names:
        who = f"the wheel {names[0]!r} rolls" if len(names) == 1 else f"the wheels {', '.join(names)} roll"
        message = f"{who} ideally, and forces on terrain come from slip"
        hint = "write contact: linear (or pacejka, soil, slip, bristle) among their keys; or mode: kinematic"
        yield Mistake(("wheels", names[0], "contact"), message, hint)


def _standing(described: Robot, numbers: Mechanism) -> Iterator[Mistake]:
    """A planar robot on two contacts, which something that wasn't described keeps upright."""
    contacts = [len(wheel.noun.touches(wheel.read)) or 1 for wheel in numbers.assembly.wheels]
    if described.base == "planar" and sum(contacts) < _STANDS:
        message = f"it touches the ground at {sum(contacts)} points: nothing says what keeps it upright"
        hint = "describe what else it stands on: {caster: {type: ball, at: [0.3, 0, -0.1], radius: 0.05}}"
        yield Mistake(("wheels",), message, hint)


def _heights(described: Robot) -> Iterator[Mistake]:
    """A planar robot whose masses have no height: slopes load its wheels by it."""
    if described.base == "planar" and not has_heights(described):
        message = "the body's center_of_mass has no height, and how slopes load the wheels hangs on it"
        hint = "write its height above the base's frame, such as center_of_mass: [0, 0, 0.2]"
        yield Mistake(("body", "center_of_mass"), message, hint)


def _inertias(numbers: Mechanism) -> Iterator[Mistake]:
    """Bodies with a moment about one axis alone, which is all that a motion on a plane needs."""
    values = numbers.robot.parameter_values()
    read = numbers.robot.resolver(values)
    for path, noun in numbers.robot.every_noun:
        if not isinstance(noun, Inertia) or noun.as_given:
            continue
        moments = {axes: float(read(getattr(noun, axes))) for axes in MOMENTS}
        given = [axes for axes, moment in moments.items() if moment]
        if len(given) == 1:
            lacking = [axes for axes in MOMENTS[:3] if axes not in given]
            message = f"a body has an inertia {given[0]} alone, and over terrain it turns about all axes"
            yield Mistake(
                path, message, f"write {' and '.join(lacking)}, too: {given[0]} <= {' + '.join(lacking)}"
            )
