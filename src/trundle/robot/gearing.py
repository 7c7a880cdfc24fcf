"""What gear couplings tie together: the dimension of their ratios, and checks on who follows whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from trundle.errors import suggest
from trundle.robot import units
from trundle.robot.bodies import drive_axes
from trundle.robot.couplings import GearCoupling, gears, held
from trundle.robot.parts import Parts
from trundle.robot.problems import CircleError, Mistake, Path, in_order
from trundle.robot.structure import drivable, no_axis

T = TypeVar("T", bound=Parts)

# What a ratio measures, by whether the follower slides and whether what it follows does.
_RATIOS = {
    (False, False): units.RATIO,
    (True, True): units.RATIO,
    (True, False): units.Measure("length per angle", "m/rad", units.LENGTH.dimension),
    (False, True): units.Measure("angle per length", "rad/m", (-1, 0, 0, 0)),
}


def _sliding(robot: Parts) -> frozenset[str]:
    """The names that a motor can drive along, not about, an axis."""
    return frozenset(
        name + ending
        for name, joint in robot.joints.items()
        for ending, (axis, _) in drive_axes(joint).items()
        if axis.sliding
    )


def measured(robot: T) -> T:
    """The robot with each ratio and offset of its gears told what it measures: m/rad for a rack, and so on."""
    slide = _sliding(robot)
    told = {
        name: _measured(coupling, slide) if isinstance(coupling, GearCoupling) else coupling
        for name, coupling in robot.couplings.items()
    }
    return robot.model_copy(update={"couplings": told}) if told else robot


def _measured(gear: GearCoupling, slide: frozenset[str]) -> GearCoupling:
    """The gear with what its ratios and its offset measure: metres where a joint slides, radians elsewhere."""
    changed: dict[str, object] = {
        "follows": {
            name: replace(ratio, quantity=_RATIOS[gear.joint in slide, name in slide])
            for name, ratio in gear.follows.items()
        }
    }
    if "offset" in gear.model_fields_set:
        quantity = units.LENGTH if gear.joint in slide else units.ANGLE
        changed["offset"] = replace(gear.offset, quantity=quantity)
    return gear.model_copy(update=changed)


def leaders(robot: Parts) -> dict[str, tuple[str, ...]]:
    """What each coordinate that follows depends on directly, gears and linkages alike."""
    depends = {steering: (linkage,) for steering, linkage in held(robot.couplings).items()}
    return depends | {gear.joint: tuple(gear.follows) for gear in gears(robot.couplings).values()}


def check_gears(robot: Parts) -> Iterator[Mistake]:
    """What is wrong with gears, before a number is looked at."""
    known = drivable(robot)
    holder = held(robot.couplings)
    problems: list[Mistake] = []
    for name, gear in gears(robot.couplings).items():
        path: Path = ("couplings", name)
        wanted: list[tuple[Path, str]] = [((*path, "joint"), gear.joint)]
        wanted += [((*path, "follows", leader), leader) for leader in gear.follows]
        problems += [
            Mistake(place, no_axis(robot, target, "couple"), suggest(target, known))
            for place, target in wanted
            if target not in known
        ]
        if other := holder.get(gear.joint):
            message = f"{gear.joint!r} is held by the coupling {other!r} already"
            problems.append(Mistake((*path, "joint"), message, _one_coupling(robot, other)))
        holder.setdefault(gear.joint, name)
    yield from problems or _circles(robot)


def _one_coupling(robot: Parts, name: str) -> str:
    if name in gears(robot.couplings):
        return f"let {name} alone follow all of them: follows: {{a: ..., b: ...}}; or turn this one round"
    return f"let the coupling follow: joint: {name}"


def _circles(robot: Parts) -> Iterator[Mistake]:
    """Joints that follow each other in a circle."""
    owners = {gear.joint: name for name, gear in gears(robot.couplings).items()}
    follows = leaders(robot)
    try:
        in_order({name: follows[name] for name in sorted(follows, key=lambda name: name not in owners)})
    except CircleError as error:
        first = error.circle[0]
        message = f"they follow each other in a circle: {error}"
        if len(error.circle) == 1:
            message = f"{first!r} follows itself"
        yield Mistake(("couplings", owners[first], "follows"), message, "one of them must be free")


def check_ratios(robot: Parts, values: Mapping[str, float]) -> Iterator[Mistake]:
    """Ratios that are zero: such a gear holds its follower and moves nothing."""
    for name, gear in gears(robot.couplings).items():
        for leader, ratio in gear.follows.items():
            if values[ratio.key] == 0.0:
                written = "0" if isinstance(ratio.source, float) else f"{ratio.source} = 0"
                message = f"a ratio must not be zero, got {written}"
                yield Mistake(("couplings", name, "follows", leader), message, "take it out of 'follows'")


def tied(robot: Parts) -> dict[str, frozenset[str]]:
    """The names that move together with each name that some gear ties to others."""
    groups: dict[str, frozenset[str]] = {}
    for follower, others in leaders(robot).items():
        together = frozenset({follower, *others}).union(*(groups.get(n, ()) for n in (follower, *others)))
        groups |= dict.fromkeys(together, together)
    return groups
