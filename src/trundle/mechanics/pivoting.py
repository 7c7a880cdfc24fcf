"""Wheels on joints that turn about the vertical, seen as wheels that steer: their pivot is the joint.

A steering knuckle with a wheel is such a joint, and an axle that its two wheels turn by the difference of their rates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from trundle.mechanics.assembly import UP, Assembly, mounting
from trundle.mechanics.wheels import WheelModel
from trundle.spatial.motions import Pose, compose
from trundle.spatial.vectors import apply, apply_transposed, subtract


def pivoting(assembly: Assembly) -> set[str]:
    """The wheels, of an assembly in numbers, that one joint about the base's z axis carries, which a motor turns, or
    they themselves: then several driven ones share it.
    """
    frames = mounting(assembly)
    found = {wheel.name for wheel in assembly.wheels if _pivots(assembly, frames, wheel)}
    seen = with_pivots(assembly, found)
    moved, pairs = reached_by(assembly, (motor.column for motor in assembly.actuators)), sharing(seen)
    return {
        wheel.name
        for wheel in seen.wheels
        if wheel.name in found and (wheel.steering in moved or wheel.name in pairs)
    }


def sharing(assembly: Assembly) -> set[str]:
    """The driven wheels, in numbers, that share a pivot which no motor turns, on different sides beside it: they turn
    it by the difference of their rates.
    """
    moved = reached_by(assembly, (motor.column for motor in assembly.actuators))
    sides: dict[int, dict[str, float]] = {}
    for wheel in assembly.wheels:
        ahead, left = map(float, wheel.offset)
        if wheel.steering is not None and wheel.steering not in moved and wheel.spin in moved and not ahead:
            sides.setdefault(wheel.steering, {})[wheel.name] = left
    return {name for named in sides.values() for name in named if len({*named.values()}) > 1}


def with_pivots(assembly: Assembly, names: Collection[str]) -> Assembly:
    """The assembly with wheels of these names, which a joint about z carries, as steered ones."""
    wheels = (_pivoted(assembly, wheel) if wheel.name in names else wheel for wheel in assembly.wheels)
    return replace(assembly, wheels=tuple(wheels))


def reached_by(assembly: Assembly, driven: Iterable[int]) -> set[int]:
    """The columns of what motors move, with what couplings lead on to."""
    found = {*driven}
    for coupling in assembly.couplings:
        leaders, followers = (
            [axis.column for axis in axes] for axes in (coupling.leaders, coupling.followers)
        )
        if found.intersection(leaders):
            found.update(followers)
    for coupling in reversed(assembly.couplings):
        if len(coupling.leaders) == 1 and found.intersection(axis.column for axis in coupling.followers):
            found.add(coupling.leaders[0].column)
    return found


def _carriers(assembly: Assembly, wheel: WheelModel) -> list[int]:
    """The links from a wheel's carrier up to the base, but the base."""
    links, index = list[int](), assembly.tree.links[wheel.link].parent
    while index != 0:
        links.append(index)
        index = assembly.tree.links[index].parent
    return links


def _pivots(assembly: Assembly, frames: Sequence[Pose], wheel: WheelModel) -> bool:
    """Whether a wheel that has no steering of its own stands on one joint alone, which turns it about the base's z."""
    moving = [index for index in _carriers(assembly, wheel) if assembly.tree.links[index].moves]
    if len(moving) != 1 or wheel.steering is not None or not wheel.grips:
        return False
    link, up = assembly.tree.links[moving[0]], apply(frames[moving[0]].rotation, UP)
    return (
        link.kind == "revolute" and max(map(abs, subtract(up, UP)), default=0) < _ALIGNED and link.axis == UP
    )


def _pivoted(assembly: Assembly, wheel: WheelModel) -> WheelModel:
    """A wheel as a steered one: its pivot is the joint that carries it."""
    links = assembly.tree.links
    pose = links[wheel.link].placement
    for index in _carriers(assembly, wheel):
        if links[index].moves:
            ahead, left, _ = apply_transposed(pose.rotation, pose.position)
            column = assembly.tree.speed_slices()[index].start
            return replace(wheel, steering=column, on_base=True, offset=(ahead, left))
        pose = compose(links[index].placement, pose)
    return wheel


# An axis is vertical where it is so to rounding; angles of a description are written in degrees.
_ALIGNED = 1e-9
