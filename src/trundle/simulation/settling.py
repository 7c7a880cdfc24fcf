"""Robots put onto a terrain: their height, roll, pitch and loose joints so that all contacts bear them alike."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model.ground_model import GroundModel
from trundle.model.mechanism import mechanism
from trundle.program import compile_program
from trundle.simulation.beyond_maps import check_start, is_far
from trundle.terrain.advance import quaternion_of

# Gauss and Newton's steps at most, the longest one (rad or m), and the change at which they end.
_STEPS, _LONGEST, _DONE = 100, 0.3, 1e-13
# Half the width of central differences: what they lose moves no zero of the gaps.
_WIDTH = 1e-6
# Directions that change no gap by more than this share of what others do are left alone.
_FLAT = 1e-9
# Ground steeper than arccos of this carries no wheel.
_CARRIES = 1e-3
# A robot that would have to stand steeper than this (rad) doesn't stand on its wheels.
_STEEPEST = 1.5
# A wheel that is more times as deep as at rest bears as many times its weight: loads of a hard landing.
_THROWN = 4.0
_QUATERNION = ("q_w", "q_x", "q_y", "q_z")


def settled(
    model: GroundModel, start: Mapping[str, float], yaw: float, inputs: FloatArray, parameters: FloatArray
) -> dict[str, float]:
    """The start with the base's height, roll and pitch and the loose joints changed so that the gaps vanish, or are
    least in the sum of squares; place and yaw stay.

    Raises InputError where there is no such pose.
    """
    states = np.array([[start[name]] for name in model.states])
    found = settled_lanes(model, states, np.array([yaw]), inputs, parameters)
    return dict(zip(model.states, found[:, 0].tolist(), strict=True))


def settled_lanes(
    model: GroundModel, states: FloatArray, yaw: FloatArray, inputs: FloatArray, parameters: FloatArray,
    lost: np.ndarray | None = None,
) -> FloatArray:  # fmt: skip
    """The same of many robots: states (states, robots), yaw (robots,), parameters (n,) or (n, robots).

    With truths `lost` (robots,) nothing is raised: it becomes true for those without such a pose, whose states are NaN.
    Then bits don't hang on what was settled before, either.
    """
    search = _Search(model, states, yaw, inputs, parameters, often=lost is not None)
    unknown = search.start(lost)
    lanes = np.arange(states.shape[1]) if lost is None else np.flatnonzero(~lost)
    for _ in range(_STEPS):
        change = search.change(unknown[:, lanes], lanes)
        size = np.abs(change).max(axis=0)
        unknown[:, lanes] += change * np.minimum(1.0, _LONGEST / np.maximum(size, 1e-300))
        fails = ~np.isfinite(unknown).all(axis=0) | (np.abs(unknown[1:3]).max(axis=0) > _STEEPEST)
        if lost is None and fails.any():
            raise search.unsettled(int(np.argmax(fails)))
        if lost is not None:
            lost |= fails
            unknown[:, fails] = np.nan
        lanes = lanes[(size >= _DONE) & ~fails[lanes]]
        if not lanes.size:
            break
    return search.states(unknown, np.arange(states.shape[1]))


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
        """Height, roll, pitch and loose joints (unknowns, robots) at first; InputError for who has no ground, or
        `lost` where that is asked for.
        """
        count = self.given.shape[1]
        level = np.zeros((2, count))
        unknown = np.vstack([self.given[self.rows["z"]][None], level, self.given[self.moved]])
        gaps = self.gaps(unknown, np.arange(count))
        if lost is not None:
            lost |= is_far(gaps)
        else:
            self._check_there(gaps)
        unknown[0] -= gaps.mean(axis=0)
        bare = ~self._bears(unknown)
        if lost is not None:
            lost |= bare
            unknown[:, lost] = np.nan
        elif bare.any():
            raise self._bare(int(np.argmax(bare)))
        return unknown

    def _check_there(self, gaps: FloatArray) -> None:
        """Raise InputError for a robot that begins beyond a map."""
        names = self.model.gaps.outputs[0].labels
        for lane in range(gaps.shape[1]):
            x, y = (float(self.given[self.rows[name], lane]) for name in "xy")
            check_start(self.model.terrain, dict(zip(names, gaps[:, lane], strict=True)), x, y)

    def _bears(self, unknown: FloatArray) -> np.ndarray:
        """Whether a wheel comes nearer to the ground by sinking."""
        lanes, lower = np.arange(unknown.shape[1]), unknown.copy()
        lower[0] -= _WIDTH
        return (self.gaps(unknown, lanes) - self.gaps(lower, lanes)).max(axis=0) > _WIDTH * _CARRIES

    def _bare(self, lane: int) -> InputError:
        """What to say of a robot over ground that bears nothing."""
        x, y = (self.given[self.rows[name], lane] for name in "xy")
        return InputError(
            f"'{self.model.robot.name}' can't touch the ground at x = {x:g} m, y = {y:g} m: nothing lies under "
            "it that carries a wheel",
            key="terrain.surfaces",
            hint="a wall alone carries nothing: add a floor, ground: {type: plane}",
        )

    def states(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """The states of candidates (unknowns, candidates) for these robots."""
        states = self.given[:, lanes].copy()
        height, roll, pitch = unknown[:3]
        states[self.rows["z"]] = height
        quaternion = quaternion_of(roll, pitch, self.yaw[lanes])
        for name, part in zip(_QUATERNION, quaternion, strict=True):
            states[self.rows[name]] = part
        states[self.moved] = unknown[3:]
        return states

    def gaps(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """Of candidates for these robots (gaps, candidates)."""
        parameters = self.parameters if self.parameters.ndim == 1 else self.parameters[:, lanes]
        states, step = self.states(unknown, lanes), np.zeros(1)
        (found,) = self.kernel(states, self.inputs, parameters, step, often=self.often)
        return found

    def change(self, unknown: FloatArray, lanes: np.ndarray) -> FloatArray:
        """A step of Gauss and Newton of these robots (unknowns, robots)."""
        size, count = unknown.shape
        steps = _WIDTH * np.hstack([np.zeros((size, 1)), np.eye(size), -np.eye(size)])
        every = (unknown[:, None, :] + steps[:, :, None]).reshape(size, -1)
        found = self.gaps(every, np.tile(lanes, 2 * size + 1)).reshape(-1, 2 * size + 1, count)
        slopes = (found[:, 1 : size + 1] - found[:, size + 1 :]) / (2 * _WIDTH)
        wrong = ~np.isfinite(slopes).all(axis=(0, 1))
        inverse = np.linalg.pinv(np.moveaxis(np.where(wrong, 0.0, slopes), 2, 0), rcond=_FLAT)
        return np.where(wrong, np.nan, -np.einsum("lug,gl->ul", inverse, found[:, 0]))

    def unsettled(self, lane: int) -> InputError:
        """What to say of a robot that finds no place."""
        x, y = (self.given[self.rows[name], lane] for name in "xy")
        who = f"robot {lane} of " if self.given.shape[1] > 1 else ""
        return InputError(
            f"{who}'{self.model.robot.name}' doesn't settle on its wheels at x = {x:g} m, y = {y:g} m: the ground "
            "is too steep or too rough there",
            key="run.initial",
            hint="start elsewhere (initial: {x: …, y: …}), or give z and the quaternion yourself",
        )


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
        f"x = {start['x']:.4g} m, y = {start['y']:.4g} m, z = {start['z']:.4g} m"
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
        warnings.warn(
            f"the wheel {place!r} begins {about}, {times}: the ground throws it up; {mend}", stacklevel=2
        )
