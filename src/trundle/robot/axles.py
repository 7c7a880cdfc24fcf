"""Axles: wheels on one line but for rounding, made to stand on it, before anything else reads a robot.

Files round: a quarter turn is 1.57 there, a place one of CAD to 0.1 mm. Two wheels that can't slip and miss one line by
that much would let a base go straight ahead only. So the wheels of an axle share a direction θ and a line,

    h_i = θ − ψ_i + k π,    p_i ← p_i + (s − e·p_i) e,    e = (cos θ, sin θ),

h_i the heading, ψ_i the yaw of what carries the wheel, p_i its centre. Places across and radii stay. A value keeps what
was written (`source`, `expression`); its number is the axle's, and a parameter of its own under its key.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import warn
from trundle.frozen import Frozen
from trundle.robot.component import EDITING
from trundle.robot.couplings import linkages
from trundle.robot.parameters import Resolver, numbers
from trundle.robot.parts import Parts
from trundle.robot.problems import Mistake, Path
from trundle.robot.structure import chain, is_vertical_axis, moves_with, pose_of, shifted
from trundle.robot.values import Value
from trundle.scalars import Scalar

R = TypeVar("R", bound=Parts)

# Wheels are one axle up to this angle between them (rad), and up to this share of their distance off its line; toe and
# offsets that are meant are larger. Up to `_NEARLY` times as much is told.
_ANGLE, _SHARE, _NEARLY = math.radians(1.0), 0.01, 1.5
# Nearer to one of the base's own axes they are on it (rad).
_ON_AXIS = math.radians(0.5)
# The wheels of a linkage stand side by side up to this distance (m): its angles hang on that place.
_SIDE_BY_SIDE = 1e-3
# Sums of a few numbers round by less (m, rad); changes that are smaller than `_SAID` are made without a word.
_EXACT, _SAID = 1e-12, 1e-9
# By how much parameters are changed to see whether formulas keep an axle one by themselves.
_NUDGE = 1e-6


class _AxlePart(NamedTuple):
    """What lies on an axle's line: a wheel, or a place that a linkage says, which can't turn (`heading` is None)."""

    path: Path
    parent: str
    x: Value
    y: Value
    heading: Value | None = None

    @property
    def values(self) -> list[Value]:
        return [self.x, self.y, *([] if self.heading is None else [self.heading])]


class WheelAxle(NamedTuple):
    """The parts of an axle: wheels that keep their direction, with the place that linkages turn about; or the wheels of
    a linkage, which may be `apart` (m).
    """

    parts: Sequence[_AxlePart]
    apart: float | None = None

    def __str__(self) -> str:
        return " and ".join(
            dict.fromkeys(str(part.path[1]) for part in self.parts if part.path[0] == "wheels")
        )


class _AxleLine(NamedTuple):
    """An axle in numbers: by key what was written and what its line asks; whether that is by rounding, and exactly."""

    asked: Mapping[str, tuple[FloatArray, FloatArray]]
    rounded: npt.NDArray[np.bool_]
    exact: npt.NDArray[np.bool_]


class _Written:
    """Reads what was written, at some values of the parameters; numbers that are `given` anew are what they are."""

    def __init__(self, robot: Parts, scope: Mapping[str, Scalar], given: Collection[str] = ()) -> None:
        self.robot, self._given, self._resolve = robot, given, Resolver(robot, scope)

    def __call__(self, value: Value) -> Scalar:
        return self._resolve(value) if value.key in self._given else self._resolve.written(value)

    def places(self, parts: Sequence[_AxlePart]) -> FloatArray:
        """x, y, yaw of the parent and heading of parts, (4, parts) or (4, parts, robots)."""
        flat: list[Scalar] = []
        for part in parts:
            x, y, yaw = pose_of(self.robot, part.parent, self)
            heading = 0.0 if part.heading is None else self(part.heading)
            flat += [*shifted(x, y, yaw, self(part.x), self(part.y)), yaw, heading]
        alike = np.array(np.broadcast_arrays(*flat), dtype=float)
        return alike.reshape(len(parts), 4, *alike.shape[1:]).swapaxes(0, 1)


def _direction(angle: FloatArray) -> list[FloatArray]:
    """Cosine and sine, 0 where they are that but for rounding."""
    return [np.where(np.abs(each) < 1e-15, 0.0, each) for each in (np.cos(angle), np.sin(angle))]


def _along(x: FloatArray, y: FloatArray, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Places along a direction, and to the left of it."""
    cosine, sine = _direction(direction)
    return x * cosine + y * sine, y * cosine - x * sine


def _line(axle: WheelAxle, read: _Written) -> _AxleLine:
    """What an axle asks of its parts' values. Its direction is a base's axis or the mean; the line passes through the
    origin where a part does, as a plain 0 says, else it is the mean.
    """
    x, y, yaw, heading = read.places(axle.parts)
    angles = yaw + heading
    turned = angles - angles[0]
    turned = turned - math.pi * np.round(turned / math.pi)  # a wheel the other way round is on the same axle
    mean = angles[0] + turned.mean(axis=0)
    quarter = math.pi / 2 * np.round(mean / (math.pi / 2))
    direction = np.where(np.abs(angles[0] + turned - quarter).max(axis=0) <= _ON_AXIS, quarter, mean)
    (ahead, across), (before, _) = (_along(x, y, each) for each in (direction, mean))
    line = np.where((np.abs(ahead) < _EXACT).any(axis=0), 0.0, ahead.mean(axis=0))
    limit = _SHARE * np.ptp(across, axis=0) if axle.apart is None else axle.apart
    rounded = (np.ptp(turned, axis=0) <= _ANGLE + _EXACT) & (np.ptp(ahead, axis=0) <= limit + _EXACT)
    asked: dict[str, tuple[FloatArray, FloatArray]] = {}
    for k, part in enumerate(axle.parts):
        local = direction - yaw[k]
        for value, share in zip((part.x, part.y), _direction(local), strict=True):
            if np.any(share):
                given = np.asarray(read(value), dtype=float)
                asked[value.key] = given, given + (line - ahead[k]) * share
        if part.heading is None:
            rounded = rounded & (np.abs(np.sin(local)) <= _EXACT)
        else:
            whole = math.pi * np.round((heading[k] - local) / math.pi)
            asked[part.heading.key] = heading[k], local + whole + 0.0  # and no -0
    return _AxleLine(asked, rounded, (np.ptp(turned, axis=0) <= _EXACT) & (np.ptp(before, axis=0) <= _EXACT))


def _parts(robot: Parts, values: Mapping[str, float]) -> Iterator[list[_AxlePart]]:
    """What may lie on axles, for each joint that moves some: ideal wheels that keep their direction, and for linkages
    where their axle is, left and right.
    """
    parts = [
        _AxlePart(("wheels", name), wheel.parent, *wheel.at[:2], wheel.heading)
        for name, wheel in robot.rolling.items()
        if wheel.binds and not wheel.is_steered and wheel.law.rolls
    ]
    for name, linkage in linkages(robot.couplings).items():
        pair = (robot.wheels[each] for each in linkage.wheels)
        parts += [_AxlePart(("couplings", name), wheel.parent, linkage.axle, wheel.at[1]) for wheel in pair]
    found: dict[str, list[_AxlePart]] = {}
    for part in parts:
        if all(is_vertical_axis(robot, joint, values) for joint in chain(robot, part.parent)):
            found.setdefault(moves_with(robot, part.parent), []).append(part)
    yield from found.values()


def axles_of(robot: Parts) -> tuple[WheelAxle, ...]:
    """The axles that wheels of a robot form, exactly or but for rounding; see `_ANGLE` and `_SHARE`."""
    values, problems = numbers(robot, robot.own_numbers)
    if problems or len(robot.rolling) < 2:
        return ()
    read = _Written(robot, robot.own_numbers)
    axles: list[WheelAxle] = []
    for parts in _parts(robot, values):
        near = (_misses(*read.places(parts))[0] <= 1).astype(float)
        while (wider := np.minimum(near @ near, 1)).sum() > near.sum():  # what is near to what is near
            near = wider
        groups = {tuple(np.flatnonzero(row).tolist()) for row in near}
        axles += [WheelAxle([parts[k] for k in group]) for group in sorted(groups)]
    for linkage in linkages(robot.couplings).values():
        pair = [(name, robot.wheels[name]) for name in linkage.wheels]
        sides = [_AxlePart(("wheels", name), wheel.parent, *wheel.at[:2]) for name, wheel in pair]
        axles.append(WheelAxle(sides, _SIDE_BY_SIDE))
    several = (axle for axle in axles if len({part.path for part in axle.parts}) > 1)
    return tuple(axle for axle in several if _line(axle, read).rounded)


def _misses(x: FloatArray, y: FloatArray, yaw: FloatArray, heading: FloatArray) -> tuple[FloatArray, ...]:
    """By how many tolerances pairs of parts miss one axle, their angles (rad), and how far they are off a line (m)."""
    dx, dy, bend = (each[:, None] - each for each in (x, y, yaw + heading))
    bend = bend - math.pi * np.round(bend / math.pi)
    off = np.abs(_along(dx, dy, yaw + heading + bend / 2)[0])
    miss = np.maximum(np.abs(bend) / _ANGLE, off / np.maximum(_SHARE * np.hypot(dx, dy), _EXACT))
    return miss - 1e-9, np.abs(bend), off


def with_axles(robot: R) -> tuple[R, list[Mistake]]:
    """The robot with one direction and one line for each axle, and what was changed; itself where nothing is rounded.

    Formulas that can part an axle become parameters of their own, so that the axle is kept at other numbers, too. What
    has a hint is what a strict reader refuses.
    """
    values, problems = numbers(robot, robot.own_numbers)
    if problems or len(robot.rolling) < 2:
        return robot, []
    new: dict[str, float] = {}
    said: list[Mistake] = []
    read = _Written(robot, robot.own_numbers)
    for axle in robot.axles:
        line = _line(axle, read)
        new |= {key: float(line.asked[key][0]) for key in _freed(robot, axle) & line.asked.keys()}
        if not line.exact:
            new |= {key: float(to) for key, (at, to) in line.asked.items() if at != to}
            said += _axle_notes(axle, line)
    return (_with_numbers(robot, new) if new else robot), [*said, *_nearly(robot, values, read)]


def _freed(robot: Parts, axle: WheelAxle) -> set[str]:
    """The keys of an axle's formulas that some named parameter, changed a little, would lead off its line."""
    formulas = {value.key for part in axle.parts for value in part.values if value.names}
    names = sorted(_reached(robot, axle) & robot.parameters.keys()) if formulas else []
    scope: dict[str, Scalar] = dict(robot.own_numbers)
    for k, name in enumerate(names):
        scope[name] = scope[name] + _NUDGE * (1 + abs(scope[name])) * (np.arange(len(names)) == k)
    line = _line(axle, _Written(robot, scope, names))
    parts = {key for key, (at, to) in line.asked.items() if np.any(~line.exact & (at != to))}
    return formulas & parts if names else set()


def _reached(robot: Parts, axle: WheelAxle) -> set[str]:
    """The parameters that an axle's places and directions follow from."""
    values = [value for part in axle.parts for value in part.values]
    for joint in (robot.joints[name] for part in axle.parts for name in chain(robot, part.parent)):
        values += [*joint.at[:2], joint.rpy[2]]
    for value in values:  # grows by what formulas use
        values += [robot.parameters[name] for name in value.names]
    return {value.key for value in values} & robot.own_numbers.keys()


def _with_numbers(robot: R, new: Mapping[str, float]) -> R:
    """The robot with these numbers by their keys, in place of what was written there."""

    def put(value: Value) -> Value:
        return replace(value, constant=new[value.key], is_parameter=True) if value.key in new else value

    wheels, couplings = dict(robot.wheels), dict(robot.couplings)
    for name, wheel in robot.rolling.items():
        update = {"at": tuple(map(put, wheel.at)), "heading": put(wheel.heading)}
        wheels[name] = wheel.model_copy(update=update)
    for name, linkage in linkages(robot.couplings).items():
        couplings[name] = linkage.model_copy(update={"axle": put(linkage.axle)})
    frozen = {"wheels": Frozen(wheels, EDITING), "couplings": Frozen(couplings, EDITING)}
    return robot.model_copy(update=frozen)


def _axle_notes(axle: WheelAxle, line: _AxleLine) -> Iterator[Mistake]:
    """What was changed of an axle, part by part; nothing where that is the rounding of sums."""
    by = {key: float(to - at) for key, (at, to) in line.asked.items()}
    words: dict[Path, str] = {}
    for part in axle.parts:
        moved = math.hypot(*(by.get(value.key, 0.0) for value in (part.x, part.y)))
        turned = 0.0 if part.heading is None else by[part.heading.key]
        done = [f"turned by {math.degrees(turned):.2g}°"] if abs(turned) > _SAID else []
        done += [f"moved by {1e3 * moved:.2g} mm"] if moved > _SAID else []
        words |= {part.path: f"{part.path[1]} {' and '.join(done)}"} if done else {}
    where = "on one axle" if axle.apart is None else "side by side"
    message = f"{axle} stand {where} but for rounding: {', '.join(words.values())}"
    if words:
        yield Mistake(next(iter(words)), message, "write it exactly, or leave strict away")


def _nearly(robot: Parts, values: Mapping[str, float], read: _Written) -> Iterator[Mistake]:
    """Wheels that miss one axle by little more than rounding, and by how much."""
    for parts in _parts(robot, values):
        miss, bend, off = _misses(*read.places(parts))
        for k, j in np.argwhere(np.triu((miss > 1) & (miss <= _NEARLY))):
            pair = {parts[k].path, parts[j].path}
            if len(pair) > 1 and not any(pair <= {part.path for part in axle.parts} for axle in robot.axles):
                yield Mistake(
                    (*parts[j].path, "heading"),
                    f"{parts[k].path[1]} and {parts[j].path[1]} are not one axle: {math.degrees(bend[k, j]):.3g}° "
                    f"between their directions, {1e3 * off[k, j]:.3g} mm off one line; rounding is up to 1° and 1 % of "
                    "their distance",
                )


def aligned_axles(robot: Parts, scope: Mapping[str, Scalar], given: Collection[str]) -> dict[str, Scalar]:
    """The numbers of axles at other parameters, floats or arrays: of one line where they miss it by rounding, else as
    they are written or `given`. Says once that it does so.
    """
    found: dict[str, Scalar] = {}
    for axle in robot.axles:
        if _reached(robot, axle).isdisjoint(given):
            continue
        line = _line(axle, _Written(robot, scope, given))
        kept = line.rounded & ~line.exact
        for key, (at, to) in line.asked.items():
            kept = kept & ((key in scope) | (np.abs(to - at) <= _EXACT))  # a plain 0 stays
        for key in line.asked.keys() & scope.keys():
            found[key] = np.where(kept, line.asked[key][1], line.asked[key][0])[()]
        if np.any(kept) and robot.said.isdisjoint(part.path for part in axle.parts):
            note = f"{axle} are kept on one axle where parameters part them by rounding"
            say(robot, Mistake(axle.parts[0].path, note))
    return found


def say(robot: Parts, about: Mistake, *, aloud: bool = True) -> None:
    """Warn of something at a place of a robot, once; it was said of another robot where that isn't done `aloud`."""
    if about.path not in robot.said:
        robot.said.add(about.path)
        if aloud:
            warn(f"{robot.name}: {about.message}")
