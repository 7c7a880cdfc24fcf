"""When feet meet the ground and leave it: told by the recording, by force plates, or by markers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, choose, require_known
from trundle.frozen import Brief, Rebuilt
from trundle.limbs.capture.assigned_plates import PlateContact, PlateForces
from trundle.limbs.capture.cycles import stretches
from trundle.limbs.clinical import axes_of
from trundle.limbs.loads import Loads
from trundle.robot import Robot
from trundle.robot.anatomy import SIDES, Movement
from trundle.robot.structure import body_names

SOURCES = ("recording", "plates", "markers")
# The joints that carry feet, in words of movements.
_FEET = ("ankle", "subtalar", "toe")
# Below this share of the threshold a foot has left the plate: between the two nothing changes (a Schmitt trigger).
_RELEASE = 0.5
# Feet are on the ground, and off it, for longer than this (s); shorter is noise, as in `trundle.contacts`.
_SHORTEST = 0.05
# A foot has changed its way when it has come back by this share of a step.
_TURN = 0.1
_STRIKE = re.compile(r"(foot|heel)[ _]?(strike|contact|down)|initial[ _]contact", re.IGNORECASE)
_OFF = re.compile(r"(foot|toe)[ _]?off", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class FootEvents(Brief, Rebuilt):
    """When a foot meets the ground and leaves it.

    Parameters
    ----------
    strikes, offs : array, shape (k,), s
        Increasing.
    """

    strikes: FloatArray
    offs: FloatArray


@dataclass(frozen=True, eq=False)
class Feet:
    """Where the feet are: heels, toes (n, 3), m, in the world by side, the pelvis (n, 3), and which ways are what.

    `forward` is the way that the feet point, level, and `up` is against gravity: both of length 1.
    """

    heels: Mapping[str, FloatArray]
    toes: Mapping[str, FloatArray]
    pelvis: FloatArray
    forward: FloatArray
    up: FloatArray

    def ahead(self, places: FloatArray) -> FloatArray:
        """How far places (n, 3) are along the way forward, (n,) m."""
        return places @ self.forward


def recorded_steps(events: Mapping[str, tuple[float, ...]]) -> dict[str, FootEvents]:
    """The steps that a recording's own events tell, by side: such as "Right Foot Strike" and "Left Foot Off" of C3D."""
    found: dict[str, FootEvents] = {}
    for side in SIDES:
        own = [name for name in events if side in re.split(r"[ _.]", name.lower())]
        strikes, offs = (
            np.array(sorted({time for name in own if kind.search(name) for time in events[name]}))
            for kind in (_STRIKE, _OFF)
        )
        if strikes.size:
            found[side] = FootEvents(strikes, offs)
    return found


def plate_steps(
    contacts: Iterable[PlateContact],
    plates: Mapping[str, PlateForces],
    sides: Mapping[str, str],
    time: FloatArray,
    threshold: float,
) -> dict[str, FootEvents]:
    """The steps by side that plates tell at their own rate: from where a force rises over a threshold to where it falls
    below half of it. Who goes on from one plate to the next makes one step; what the motion's ends cut off is left out.
    """
    spans: dict[str, list[tuple[float, float]]] = {}
    for contact in sorted(contacts, key=lambda contact: contact.start):
        start, end = _edges(contact, plates[contact.plate], time, threshold)
        on = spans.setdefault(sides.get(contact.body, ""), [])
        if on and start - on[-1][1] < _SHORTEST:
            on[-1] = on[-1][0], max(on[-1][1], end)
        else:
            on.append((start, end))
    found = {}
    for side, on in spans.items():
        starts, ends = np.array(on).T
        found[side] = FootEvents(starts[starts > time[0]], ends[ends < time[-1]])
    return {side: steps for side, steps in found.items() if steps.strikes.size}


def _edges(
    contact: PlateContact, plate: PlateForces, time: FloatArray, threshold: float
) -> tuple[float, float]:
    """When a contact, known at the motion's times, begins and ends at its plate's."""
    slack = 2 * float(np.median(np.diff(time)))
    near = (plate.time >= contact.start - slack) & (plate.time <= contact.end + slack)
    spans = stretches(plate.time[near], plate.pressing[near], threshold, _SHORTEST, _RELEASE * threshold)
    if not len(spans):
        return contact.start, contact.end
    first, last = spans[0, 0], spans[-1, 1]
    return (
        float(time[0] if np.isnan(first) else first),
        float(time[-1] if np.isnan(last) else last),
    )


def foot_forces(loads: Loads, sides: Mapping[str, str]) -> dict[str, FloatArray]:
    """What pushes the bodies of a side upward from outside, (n,) N, by side."""
    up, found = up_of(loads), {}
    for wrench in loads.outside.given:
        side = sides.get(wrench.on, "")
        pushed = np.broadcast_to(wrench.in_frame(wrench.frame.root).force @ up, loads.time.shape)
        found[side] = found.get(side, 0.0) + pushed
    return found


def marker_steps(time: FloatArray, feet: Feet) -> dict[str, FootEvents]:
    """The steps by side of Zeni, Richards & Higginson (2008, Gait & Posture 27:710): a foot meets the ground where its
    heel is furthest ahead of the pelvis, and leaves it where its toe is furthest behind.
    """
    found: dict[str, FootEvents] = {}
    for side in feet.heels:
        heel, toe = (feet.ahead(part[side] - feet.pelvis) for part in (feet.heels, feet.toes))
        found[side] = FootEvents(_tops(time, heel), _tops(time, -toe))
    return found


def _tops(time: FloatArray, values: FloatArray) -> FloatArray:
    """When values are largest between two crossings of their middle, to a part of a sample by a parabola."""
    low, high = values.min(), values.max()
    middle, turn = (low + high) / 2, _TURN * (high - low)
    found = []
    for start, end in stretches(time, values, middle + turn, _SHORTEST, middle - turn):
        first = 0 if np.isnan(start) else int(np.searchsorted(time, start))
        last = time.size if np.isnan(end) else int(np.searchsorted(time, end))
        top = first + int(values[first:last].argmax())
        if 0 < top < time.size - 1:
            before, here, after = values[top - 1 : top + 2]
            bend = before - 2 * here + after
            shift = 0.5 * (before - after) / bend if bend < 0 else 0.0
            found.append(np.interp(top + shift, np.arange(time.size), time))
    return np.array(found)


def up_of(loads: Loads) -> FloatArray:
    """The way against gravity, (3,); z without one."""
    gravity = np.array([float(part) for part in loads.recursion.tree.gravity])
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size else np.array([0.0, 0.0, 1.0])


def feet_of(
    loads: Loads, robot: Robot, markers: Mapping[str, Sequence[FloatArray]], given: Mapping[str, Movement]
) -> Feet | None:
    """Heels, toes and the pelvis by a robot's feet; `markers` are places (n, 3) on bodies.

    A toe is the marker of a foot that is furthest from its ankle on average, the heel the one that is furthest from
    that toe. None where no foot has two markers.
    """
    heels, toes = {}, {}
    for side, (ankle, bodies) in _foot_bodies(robot, given).items():
        on = [places for body, several in markers.items() if body in bodies for places in several]
        if len(on) > 1:
            joint = loads.frames[ankle].origin.position(frame=loads.world)
            toes[side] = max(on, key=lambda places: _apart(places, joint))
            heels[side] = max(on, key=lambda places: _apart(places, toes[side]))
    if not heels:
        return None
    up = up_of(loads)
    along = np.mean([np.nanmean(toes[side] - heels[side], axis=0) for side in heels], axis=0)
    level = along - up * (along @ up)
    pelvis = loads.frames[pelvis_of(robot, given)].origin.position(frame=loads.world)
    shape = (loads.time.size, 3)
    return Feet(heels, toes, np.broadcast_to(pelvis, shape), level / np.linalg.norm(level), up)


def _apart(places: FloatArray, others: FloatArray) -> float:
    return float(np.nanmean(np.linalg.norm(places - others, axis=1)))


def _foot_bodies(robot: Robot, given: Mapping[str, Movement]) -> dict[str, tuple[str, set[str]]]:
    """By side the joint of the ankle that is nearest to the shank, and the names of the bodies that hang on it."""
    bodies, found = body_names(robot), {}
    for _, axis in axes_of(robot, given):
        if axis.movement.joint in _FEET and axis.movement.side not in found:
            found[axis.movement.side] = (
                axis.joint,
                {body for body, joint in bodies.items() if axis.joint in _above(robot, joint)},
            )
    return found


def _above(robot: Robot, joint: str) -> Iterator[str]:
    """A joint and those that it hangs on."""
    bodies = body_names(robot)
    while joint != "base":
        yield joint
        joint = bodies[robot.joints[joint].parent]


def pelvis_of(robot: Robot, given: Mapping[str, Movement]) -> str:
    """What the hips hang on."""
    hips = (axis.joint for _, axis in axes_of(robot, given) if axis.movement.joint == "hip")
    joint = next(hips, None)
    return "base" if joint is None else robot.joints[joint].parent


def chosen_steps(
    by: str, found: Mapping[str, Mapping[str, FootEvents]]
) -> tuple[str, Mapping[str, FootEvents]]:
    """The steps of a source, or of the first one that has whole cycles; where it saw no foot leave the ground, others
    tell that. InputError where nothing tells two strikes of a foot.
    """
    require_known(by, ("auto", *SOURCES), f"there is no source of events {by!r}", key="events", hint=choose)
    asked = SOURCES if by == "auto" else (by,)
    for source in asked:
        steps = {side: each for side, each in found[source].items() if each.strikes.size > 1}
        if steps:
            return source, {side: _with_offs(side, each, found) for side, each in steps.items()}
    counts = (
        f"{source}: {', '.join(f'{each.strikes.size} {side}' for side, each in found[source].items()) or 'none'}"
        for source in asked
    )
    hint = (
        "plates tell them by --external foot_r=plate1, markers by two on each foot; a recording by its events"
    )
    raise InputError(f"a cycle takes two strikes of one foot; {'; '.join(counts)}", key="events", hint=hint)


def _with_offs(side: str, steps: FootEvents, found: Mapping[str, Mapping[str, FootEvents]]) -> FootEvents:
    """The steps, their offs those of another source where they have none."""
    others = (found[source].get(side) for source in SOURCES)
    told = (each.offs for each in (steps, *others) if each is not None and each.offs.size)
    return FootEvents(steps.strikes, next(told, steps.offs))
