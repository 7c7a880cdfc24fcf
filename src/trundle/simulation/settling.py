"""A robot put onto a terrain: its height, roll, pitch and loose joints so that all contacts bear it alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model.ground_model import GroundModel
from trundle.program import compile_program
from trundle.simulation.beyond_maps import check_start
from trundle.terrain.advance import quaternion_of

# Gauss and Newton's steps at most, the longest one (rad or m), and the change at which they end.
_STEPS, _LONGEST, _DONE = 100, 0.3, 1e-13
# Half the width of central differences: what they lose moves no zero of the gaps.
_WIDTH = 1e-6
# A robot that would have to stand steeper than this (rad) doesn't stand on its wheels.
_STEEPEST = 1.5
_QUATERNION = ("q_w", "q_x", "q_y", "q_z")


def settled(
    model: GroundModel, start: Mapping[str, float], yaw: float, inputs: FloatArray, parameters: FloatArray
) -> dict[str, float]:
    """The start with the base's height, roll and pitch and the loose joints changed so that the gaps vanish, or are
    least in the sum of squares; place and yaw stay.

    Raises InputError where there is no such pose.
    """
    kernel = compile_program(model.gaps)
    names = ("z", "roll", "pitch", *model.loose)

    def gaps(columns: FloatArray) -> FloatArray:
        """Of many candidates (unknowns, count)."""
        states = np.array([_states(model, start, yaw, dict(zip(names, c, strict=True))) for c in columns.T])
        (found,) = kernel(np.ascontiguousarray(states.T), inputs, parameters, np.zeros(1), often=False)
        return found

    unknown = np.array([start["z"], 0.0, 0.0, *(start[name] for name in model.loose)])
    first = gaps(unknown[:, None])[:, 0]
    check_start(
        model.terrain, dict(zip(model.gaps.outputs[0].labels, first, strict=True)), start["x"], start["y"]
    )
    unknown[0] -= first.mean()
    for _ in range(_STEPS):
        change = _change(gaps, unknown)
        unknown += change * min(1.0, _LONGEST / max(np.abs(change).max(), 1e-300))
        if not np.isfinite(unknown).all() or np.abs(unknown[1:3]).max() > _STEEPEST:
            raise _unsettled(model, start)
        if np.abs(change).max() < _DONE:
            break
    return dict(
        zip(model.states, _states(model, start, yaw, dict(zip(names, unknown, strict=True))), strict=True)
    )


def _change(gaps: Callable[[FloatArray], FloatArray], unknown: FloatArray) -> FloatArray:
    """A step of Gauss and Newton."""
    steps = _WIDTH * np.eye(len(unknown))
    here = gaps(np.hstack([unknown[:, None], unknown[:, None] + steps, unknown[:, None] - steps]))
    count = len(unknown)
    slopes = (here[:, 1 : count + 1] - here[:, count + 1 :]) / (2 * _WIDTH)
    return np.asarray(-np.linalg.lstsq(slopes, here[:, 0], rcond=1e-9)[0], dtype=np.float64)


def _states(
    model: GroundModel, start: Mapping[str, float], yaw: float, found: Mapping[str, float]
) -> list[float]:
    """A state in order, with the base's attitude by its angles."""
    attitude = dict(zip(_QUATERNION, quaternion_of(found["roll"], found["pitch"], yaw), strict=True))
    known = {**start, **attitude, **{name: value for name, value in found.items() if name in start}}
    return [known[name] for name in model.states]


def _unsettled(model: GroundModel, start: Mapping[str, float]) -> InputError:
    return InputError(
        f"'{model.robot.name}' doesn't settle on its wheels at x = {start['x']:g} m, y = {start['y']:g} m: the ground "
        "is too steep or too rough there",
        key="run.initial",
        hint="start elsewhere (initial: {x: …, y: …}), or give z and the quaternion yourself",
    )
