"""Robots put onto a terrain: their height, roll, pitch and loose joints so that all contacts bear them alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, warn
from trundle.mechanics.frames import world_poses
from trundle.model.base_pose import ANGLES, QUATERNION, is_posed, turned
from trundle.model.beyond_maps import beyond, is_off, metres, place_of
from trundle.model.ground_checks import require_carried
from trundle.model.lanes import lane_numbers
from trundle.model.least_gaps import GaussNewtonStep, least_gaps
from trundle.model.mechanism import mechanism
from trundle.program import compile_program
from trundle.terrain.advance import quaternion_of

if TYPE_CHECKING:
    from trundle.model.ground_model import GroundModel

# Half the width of central differences near the origin: what they lose moves no zero of the gaps. Farther away it
# grows as the root of the distance (m): so do what rounding and what curvature do to slopes.
_WIDTH = 1e-6
# What rounding leaves of gaps, in units of the last digits of coordinates.
_DIGITS = 64
# Directions that change no gap by more than this share of what others do, or than rounding does, are left alone.
_FLAT = 1e-9
# How often a robot is put where its gaps say that the ground is; then it is nearer than this (m).
_LANDINGS, _NEAR = 30, 0.1
# A robot all of whose wheels are higher than this (m) above their places stands on nothing: beside a riser that has no
# floor before it, gaps are least far down, where sinking changes none.
_APART = 1e-4
# Where else to look for ground that carries where a wall is nearest (m above).
_ELSEWHERE = tuple(sign * 10.0**power for power in range(6) for sign in (-1, 1))
# Ground steeper than arccos of this carries no wheel.
_CARRIES = 1e-3
# A robot that would have to stand steeper than this (rad) doesn't stand on its wheels.
_STEEPEST = 1.5
# A wheel that is more times as deep as at rest bears as many times its weight: loads of a hard landing.
_THROWN = 4.0


def start_on_ground(
    model: GroundModel, given: Mapping[str, Floats], parameters: Mapping[str, Floats], count: int,
    lost: np.ndarray | None = None,
) -> FloatArray:  # fmt: skip
    """The states (states, count) of robots that begin as is given: settled, unless that says how high a base is or how
    it is turned. Raises InputError for soil that can't carry a robot and ground on which it can't stand; see
    `settled_lanes` for `lost`.
    """
    angles = {name: given.get(name, 0.0) for name in ANGLES}
    own = {name: value for name, value in given.items() if name not in ANGLES} | turned(given, angles)
    x = {name: own.get(name, value) for name, value in model.initial.items()}
    model.quantities.check_start(x)
    states = np.array([np.broadcast_to(x[name], (count,)) for name in model.states], dtype=np.float64)
    if model.mode == "dynamic":
        require_carried(model.robot, parameters, lost)
    if is_posed(given):
        return states
    yaw = np.array(np.broadcast_to(angles["yaw"], (count,)), dtype=np.float64)
    rows = lane_numbers(parameters, 0, slice(0, count))
    return settled_lanes(model, states, yaw, np.zeros(len(model.inputs)), rows, lost)


def settled_lanes(
    model: GroundModel, states: FloatArray, yaw: FloatArray, inputs: FloatArray, parameters: FloatArray,
    lost: np.ndarray | None = None,
) -> FloatArray:  # fmt: skip
    """States (states, robots) with the bases' height, roll and pitch and the loose joints changed so that the gaps
    vanish, or are least in the sum of squares; place and yaw (robots,) stay. parameters : (n,) or (n, robots)

    Raises InputError where there is no such pose. With truths `lost` (robots,) nothing is raised: it becomes true for
    those without such a pose, whose states are NaN. Then bits don't hang on what was settled before, either.
    """
    search = _Search(model, states, yaw, inputs, parameters, often=lost is not None)
    unknown = search.start(lost)
    lanes = np.arange(states.shape[1]) if lost is None else np.flatnonzero(~lost)
    every = np.arange(states.shape[1])
    measures = search.finest(unknown[0], every), search.width(unknown[0], every)
    unknown, found = least_gaps(search.step, unknown, lanes, *measures)
    bare = (search.gaps(unknown, every) > _APART).all(axis=0)
    if lost is not None:
        lost |= ~found | bare
        unknown[:, lost] = np.nan
    elif not found.all():
        raise search.unsettled(int(np.argmin(found)), unknown)
    elif bare.any():
        raise search.bare(int(np.argmax(bare)))
    return search.states(unknown, every)


class _Search:
    """The search of many robots for their poses on the ground."""

    def __init__(
        self,
        model: GroundModel,
        states: FloatArray,
        yaw: FloatArray,
        inputs: FloatArray,
        parameters: FloatArray,
        often: bool,
    ) -> None:
        self.model, self.given, self.yaw = model, states, yaw
        self.inputs, self.parameters = inputs, parameters
        self.kernel = compile_program(model.gaps)
        self.often = True if often else False if states.shape[1] == 1 else None
        self.rows = {name: row for row, name in enumerate(model.states)}
        self.moved = [self.rows[name] for name in model.loose]

    def start(self, lost: np.ndarray | None = None) -> FloatArray:
        """Height, roll, pitch and loose joints (unknowns, robots) at first: level, at the ground's own height.

        InputError for who has no ground, or `lost` where that is asked for.
        """
        count = self.given.shape[1]
        level = np.zeros((2, count))
        unknown = np.vstack([self.given[self.rows["z"]][None], level, self.given[self.moved]])
        gaps = self.gaps(unknown, np.arange(count))
        if lost is not None:
            lost |= is_off(self.model.terrain, gaps).any(axis=0)
        else:
            self._check_there(gaps)
        unknown[0] = self._landed(unknown, np.arange(count) if lost is None else np.flatnonzero(~lost))
        bare = ~np.isfinite(unknown[0])
        if lost is not None:
            lost |= bare
        elif bare.any():
            raise self.bare(int(np.argmax(bare)))
        return unknown

    def _landed(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """The heights (robots,) at which these level robots touch the ground, NaN where none carries a wheel.

        A gap grows by N_z with the height: gap over N_z, repeated, as N_z is another one where it leads.
        """
        unknown = unknown.copy()
        for _ in range(_LANDINGS):
            fall = self._fall(unknown[:, lanes], lanes)
            for lane in np.flatnonzero(np.isnan(fall)):
                fall[lane] = self._fall_elsewhere(unknown[:, lanes[lane]], lanes[lane])
            unknown[0, lanes] += fall
            lanes = lanes[np.abs(fall) > _NEAR]
            if not lanes.size:
                break
        return np.asarray(unknown[0])

    def _fall(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """By how much to change the heights (robots,); NaN where no wheel comes nearer to the ground by sinking."""
        width = self.width(unknown[0], lanes)
        tried = np.repeat(unknown[:, None], 3, axis=1)
        tried[0] += np.array([[-1], [0], [1]]) * width
        lower, here, upper = np.moveaxis(
            self.gaps(tried.reshape(len(unknown), -1), np.tile(lanes, 3)).reshape(-1, 3, lanes.size), 1, 0
        )
        slopes = (upper - lower) / (tried[0, 2] - tried[0, 0])
        slopes = np.where(slopes > _CARRIES, slopes, 0.0)
        carries = (slopes**2).sum(axis=0)
        fall = -(here * slopes).sum(axis=0)
        return np.where(carries > 0, fall / np.where(carries > 0, carries, 1.0), np.nan)

    def _fall_elsewhere(self, unknown: FloatArray, lane: int) -> float:
        """The same of one robot by the nearest other height at which something carries, as beside a wall."""
        away = np.array(_ELSEWHERE)
        tried = np.repeat(unknown[:, None], away.size, axis=1)
        tried[0] += away
        found = away + self._fall(tried, np.full(away.size, lane))
        return float(found[np.argmax(np.isfinite(found))])

    def width(self, height: FloatArray, lanes: np.ndarray) -> FloatArray:
        """Half the width of differences of robots (rad or m)."""
        return np.asarray(_WIDTH * np.sqrt(self.scale(height, lanes)))

    def finest(self, height: FloatArray, lanes: np.ndarray) -> FloatArray:
        """What rounding leaves of robots' gaps (m)."""
        return np.asarray(_DIGITS * np.finfo(float).eps * self.scale(height, lanes))

    def scale(self, height: FloatArray, lanes: np.ndarray) -> FloatArray:
        """The largest coordinate of robots (m), at least 1: numbers are rounded by shares of it."""
        x, y = (np.abs(self.given[self.rows[name], lanes]) for name in "xy")
        return np.maximum(np.maximum(x, y), np.maximum(np.abs(height), 1.0))

    def _check_there(self, gaps: FloatArray) -> None:
        """Raise InputError for a robot that begins beyond a map."""
        off = is_off(self.model.terrain, gaps)
        if off.any():
            wheel, lane = (int(place) for place in np.argwhere(off)[0])
            x, y = self._place(lane)
            name = self.model.gaps.outputs[0].labels[wheel]
            raise beyond(self.model.terrain, name, "at the start", x, y, _reach(self.model))

    def _place(self, lane: int) -> tuple[float, float]:
        """x and y of a robot (m)."""
        x, y = (float(self.given[self.rows[name], lane]) for name in "xy")
        return x, y

    def bare(self, lane: int) -> InputError:
        """What to say of a robot over ground that bears nothing."""
        return InputError(
            f"'{self.model.robot.name}' can't touch the ground at {place_of(*self._place(lane))}: nothing lies under "
            "it that carries a wheel",
            key="terrain.surfaces",
            hint="a wall alone, or a step before its riser, carries nothing: add a floor, ground: {type: plane}",
        )

    def states(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """The states of candidates (unknowns, candidates) for these robots."""
        states = self.given[:, lanes].copy()
        height, roll, pitch = unknown[:3]
        states[self.rows["z"]] = height
        quaternion = quaternion_of(roll, pitch, self.yaw[lanes])
        for name, part in zip(QUATERNION, quaternion, strict=True):
            states[self.rows[name]] = part
        states[self.moved] = unknown[3:]
        return states

    def gaps(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """Of candidates for these robots (gaps, candidates)."""
        parameters = self.parameters if self.parameters.ndim == 1 else self.parameters[:, lanes]
        states, step = self.states(unknown, lanes), np.zeros(1)
        (found,) = self.kernel(states, self.inputs, parameters, step, often=self.often)
        return found

    def step(self, unknown: FloatArray, lanes: np.ndarray) -> GaussNewtonStep:
        """What these robots (unknowns, robots) see where they are."""
        count = unknown.shape[1]
        size = len(unknown)
        width = self.width(unknown[0], lanes)
        steps = np.hstack([np.zeros((size, 1)), np.eye(size), -np.eye(size)])
        every = (unknown[:, None, :] + steps[:, :, None] * width).reshape(size, -1)
        found = self.gaps(every, np.tile(lanes, 2 * size + 1)).reshape(-1, 2 * size + 1, count)
        slopes = (found[:, 1 : size + 1] - found[:, size + 1 :]) / (2 * width)
        off = is_off(self.model.terrain, found).any(axis=(0, 1))
        off |= np.abs(unknown[1:3]).max(axis=0) > _STEEPEST
        wrong = off | ~np.isfinite(slopes).all(axis=(0, 1))
        slopes = np.moveaxis(np.where(wrong, 0.0, slopes), 2, 0)
        flat = np.maximum(_FLAT, self.finest(unknown[0], lanes) / width)
        inverse = np.linalg.pinv(slopes, rcond=flat)
        change = np.where(wrong, np.nan, -np.einsum("lug,gl->ul", inverse, found[:, 0]))
        left = np.abs(np.einsum("lgu,ul->gl", slopes, change)).max(axis=0)
        lower = (found[:, :1] ** 2 - found[:, 1:] ** 2).sum(axis=0)
        best = lower.argmax(axis=0)
        down = np.where(lower.max(axis=0) > 0, steps[:, 1 + best], 0.0)
        return GaussNewtonStep(found[:, 0], change, left, down, off)

    def unsettled(self, lane: int, unknown: FloatArray) -> InputError:
        """What to say of a robot that finds no place, `unknown` being where its search has ended."""
        who = f"robot {lane} of " if self.given.shape[1] > 1 else ""
        gaps = self.gaps(unknown[:, [lane]], np.array([lane]))[:, 0]
        wheel = int(np.argmax(np.abs(gaps)))
        name, side = self.model.gaps.outputs[0].labels[wheel], "above" if gaps[wheel] > 0 else "below"
        return InputError(
            f"{who}'{self.model.robot.name}' doesn't settle on its wheels at {place_of(*self._place(lane))}: "
            f"{name!r} stays {metres(abs(gaps[wheel]))} m {side} its place on the ground, which is too steep, too "
            "rough or too near a map's end there",
            key="run.initial",
            hint="start elsewhere (initial: {x: …, y: …}), or give z and the quaternion yourself",
        )


def _reach(model: GroundModel) -> float:
    """How far from the robot's place wheels may touch the ground (m)."""
    here = mechanism(model.robot, terrain=True)
    poses, reach = world_poses(here.assembly.tree, here.at.poses), 0.0
    for wheel in here.assembly.wheels:
        x, y, _ = poses[wheel.link].position
        points = [math.hypot(*map(float, point)) for point in wheel.component.touches(wheel.read)]
        reach = max(reach, math.hypot(float(x), float(y)) + max(float(wheel.radius), *points, 0.0))
    return reach


def check_outside(
    model: GroundModel, start: Mapping[str, float], parameters: Mapping[str, float], *, posed: bool
) -> None:
    """Raise InputError where a wheel's centre lies inside the ground where a run begins; warn of one that is so deep
    that the ground throws the robot out. `posed`: whether the pose was given, and not settled.
    """
    states = np.array([[start[name]] for name in model.states])
    numbers = np.array([*parameters.values()])
    (gaps,) = compile_program(model.gaps)(
        states, np.zeros(len(model.inputs)), numbers, np.zeros(1), often=False
    )
    rest = model.terrain.sinkage.number
    wheels = mechanism(model.robot, terrain=True).assembly.wheels
    radii = {wheel.name: float(wheel.radius) for wheel in wheels}
    known = {
        place: radii.get(place, radii.get(place.rpartition(".")[0], 0.0))
        for place in model.gaps.outputs[0].labels
    }
    depths = {place: rest - gap for place, (gap,) in zip(known, gaps.tolist(), strict=True)}
    inside = [place for place, radius in known.items() if radius and depths[place] > radius + rest]
    place = inside[0] if inside else max(depths, key=lambda each: depths[each])
    about = (
        f"{depths[place]:.3g} m deep at t = 0 with a radius of {known[place]:g} m, the robot at "
        f"{place_of(start['x'], start['y'])}, z = {metres(start['z'])} m"
    )
    mend = (
        "it has settled so, as its wheels can't follow the ground there: start elsewhere, or give z yourself"
    )
    if posed:
        up = depths[place] - rest
        mend = f"raise it by {up:.3g} m, or leave z and the quaternion away: the robot settles then"
    if inside:
        message = f"the wheel {place!r} begins inside the ground, {about}"
        raise InputError(message, key="run.initial.z", hint=mend)
    if model.mode == "dynamic" and depths[place] > _THROWN * rest:
        times = f"{depths[place] / rest:.2g} times as deep as at rest"
        warn(f"the wheel {place!r} begins {about}, {times}: the ground throws it up; {mend}")
