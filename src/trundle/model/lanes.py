"""Parameters of many robots at once, checked as those of one are: a lane is one robot's place in the arrays."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import cast

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, Floats, as_numbers
from trundle.errors import InputError
from trundle.model.arguments import number
from trundle.model.plant import Plant
from trundle.robot import Robot
from trundle.robot.axles import aligned_axles
from trundle.scalars import Scalar

NumbersLike = float | str | npt.ArrayLike

# Lanes between the extremes that are looked at whole. Bounds of single numbers are looked at in all of them.
MOST_CHECKED = 8


def lane_parameters(
    model: Plant,
    given: Mapping[str, float | str | FloatArray],
    what: str,
    between: int = MOST_CHECKED,
) -> dict[str, Floats]:
    """All parameters by name, numbers and arrays (count,), after the robot's own checks.

    Every lane's numbers keep their bounds. What hangs on several of them (inertias, contact heights, constraints) is
    looked at in the lanes with the least and the greatest of an array, and in so many `between`.

    Raises
    ------
    InputError
        For unknown names, and with the lane, which `what` calls "robot" or "state".
    """
    for name in given:
        if name not in model.parameters:
            model.parameter_values({name: 0.0})  # raises, and says what there is
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    plain = cast("dict[str, float | str]", {name: v for name, v in given.items() if name not in arrays})
    if not arrays:
        return dict(model.parameter_values(plain))
    sizes = {array.size for array in arrays.values()} - {1}
    if len(sizes) > 1:  # told by whoever needs them alike
        return {**model.parameter_values(plain), **arrays}

    def looked_at(lane: int) -> dict[str, float]:
        own = {name: float(array[lane % array.size]) for name, array in arrays.items()}
        try:
            return model.parameter_values({**plain, **own})
        except InputError as error:
            raise InputError(f"{what} {lane}: {error.message}", key=error.key, hint=error.hint) from None

    whole = {**looked_at(0), **arrays}
    for lane in [*_out_of_bounds(model.robot, whole, arrays.keys()), *_picked(arrays, between)]:
        looked_at(lane)
    with np.errstate(all="ignore"):
        return whole | ({} if model.robot is None else aligned_axles(model.robot, whole, given.keys()))


def _out_of_bounds(robot: Robot | None, whole: Mapping[str, Floats], changed: Collection[str]) -> list[int]:
    """The first lane in which a number of the description isn't finite or out of its bounds, if there is one."""
    if robot is None:
        return []
    read, first = robot.resolver(cast("Mapping[str, Scalar]", whole)), math.inf
    for _, value in robot.every_value:
        if value.key not in changed and not value.names:
            continue
        with np.errstate(all="ignore"):
            number = np.atleast_1d(np.asarray(read(value), dtype=float))
        allowed = np.isfinite(number)
        if value.bound is not None:
            allowed &= value.bound.allows(cast("float", number))  # comparisons, of arrays too
        if not allowed.all():
            first = min(first, int(np.argmin(allowed)))
    return [] if math.isinf(first) else [int(first)]


def _picked(arrays: Mapping[str, FloatArray], between: int) -> list[int]:
    """The lanes with the least and the greatest of an array, and a few between."""
    size = max(array.size for array in arrays.values())
    varied = [array for array in arrays.values() if np.ptp(array)]
    picked = {int(end(array)) for array in varied for end in (np.argmin, np.argmax)}
    return sorted(picked | set(np.linspace(0, size - 1, min(size, between)).astype(int).tolist()))


def column(name: str, given: NumbersLike, unit: str, most: int) -> Floats:
    """A number, or an array of at most `most` dimensions."""
    if isinstance(given, str):
        return number(given, name, unit)
    if callable(given):
        raise InputError(
            "a rollout takes no functions, but numbers and arrays",
            key=name,
            hint="give its value at each step: np.array([f(k * dt) for k in range(steps)])[:, None]",
        )
    values = as_numbers(given, f"'{name}'")
    if values.ndim > most:
        shapes = "a number or (count,)" if most == 1 else "a number, (count,), (steps, 1) or (steps, count)"
        raise InputError(f"expected {shapes}, got an array of shape {values.shape}", key=name)
    if values.ndim and not values.shape[-1]:
        raise InputError("an array without entries", key=name, hint="give one entry a robot")
    if not np.isfinite(values).all():
        robot = int(np.argwhere(~np.isfinite(values))[0][-1]) if values.ndim else 0
        raise InputError(f"'{name}' holds something that is not a finite number, for robot {robot}", key=name)
    return values if values.ndim else float(values)


def lane_numbers(given: Mapping[str, Floats], step: int, lanes: slice) -> FloatArray:
    """Numbers in order, (n,) where they hold for all robots and (n, robots) else; inputs end with their last step."""
    rows: list[FloatArray] = []
    for value in given.values():
        array = np.asarray(value, dtype=float)
        if array.ndim == 2:
            array = array[min(step, array.shape[0] - 1)]
        rows.append(array[lanes] if array.size > 1 else array.reshape(-1))
    if all(row.size == 1 for row in rows):
        return np.array([row[0] for row in rows])
    return np.array([np.broadcast_to(row, (lanes.stop - lanes.start,)) for row in rows])
