"""What an estimator is given, checked: noise, starts, readings of one robot or of many."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, require_known
from trundle.estimation.readings import FixReading, Kept, Lanes
from trundle.expected import by_name, came, check_float
from trundle.model.arguments import number
from trundle.motion.odometry.counts import Counts
from trundle.motion.odometry.odometry import Numbers, group_of, square_covariance
from trundle.robot import FixSensor
from trundle.robot.values import Value

_SENSORS = ("encoders", "gyro", "wander", "slip")
_UNITS = ("m", "m", "rad")
# Numbers by name of one robot, or of many.
ReadingRows: TypeAlias = Sequence[float] | FloatArray
_REAL, _FLOATS = np.dtype(np.float64), {float}


def known_noise(given: Mapping[str, float]) -> dict[str, float]:
    """Noise by sensor, above 0; the encoders', too."""
    for name in by_name(given, "noise"):
        require_known(name, _SENSORS, f"'{name}' is not a sensor of an estimator", key=f"noise.{name}")
    if "encoders" not in given:
        raise InputError("an estimator needs the noise of its encoders", key="noise.encoders")
    if "wander" in given and "gyro" not in given:
        raise InputError("what wanders is a gyro's bias, whose noise is missing", key="noise.gyro")
    known = {name: finite(value, f"noise.{name}") for name, value in given.items()}
    for name, value in known.items():
        if value < 0 or (value == 0 and name != "wander"):
            raise InputError(f"expected a number above 0, got {value:g}", key=f"noise.{name}")
    return known


def finite(given: object, key: str) -> float:
    """A finite number."""
    value = given if type(given) is float else check_float(given, key)
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {value}", key=key)
    return value


def spread_of(given: npt.ArrayLike | None, size: int) -> FloatArray:
    """A covariance of the pose, or of all that is estimated; by default of the pose, 0."""
    if given is None:
        return np.zeros((3, 3))
    matrix = as_numbers(given, "covariance")
    return square_covariance(matrix, "covariance", size if len(matrix.shape) and len(matrix) == size else 3)


def lanes_of(*groups: FloatArray) -> int | None:
    """How many robots a pose (3, …) and a covariance (n, n, …) are of; None for one alone."""
    counts = {group.shape[-1] for group, one in zip(groups, (1, 2), strict=True) if group.ndim > one}
    if len(counts) > 1 or 0 in counts:
        raise InputError(
            f"the pose and the covariance are of {' and '.join(map(str, sorted(counts)))} robots"
        )
    return counts.pop() if counts else None


def turned_by(heading: FloatArray, covariance: FloatArray) -> FloatArray:
    """R C Rᵀ with R turning the first two axes by θ."""
    if covariance.ndim == 2:
        turn = np.eye(len(covariance))
        turn[1, 1] = turn[0, 0] = math.cos(heading)
        turn[1, 0] = math.sin(heading)
        turn[0, 1] = -turn[1, 0]
        return turn @ covariance @ turn.T
    c, s, zero, one = (
        np.cos(heading),
        np.sin(heading),
        np.zeros(np.shape(heading)),
        np.ones(np.shape(heading)),
    )
    size = len(covariance)
    turn = np.array([[one if i == j else zero for j in range(size)] for i in range(size)])
    turn[:2, :2] = [[c, -s], [s, c]]
    return np.einsum("ij...,jk...,lk...->il...", turn, covariance, turn)


def counted(
    given: Numbers, names: tuple[str, ...], key: str, count: int | None
) -> Sequence[float] | FloatArray:
    """Numbers in the order of the names, (n,) or (n, count); floats of one robot cost no more than a look."""
    if count is None:
        plain = _floats(given)
        if len(plain) == len(names) and math.isfinite(sum(plain)):
            return plain
    elif _are_rows(given, len(names), count):
        return given
    values = group_of(key, names, given)
    if values.shape[1:] not in ((), (count,)):
        raise InputError(f"this estimator is of {robots(count)}, got the shape {values.shape}", key=key)
    return values.tolist() if count is None else _lane_rows(values, count)


def _floats(given: Numbers) -> list[float]:
    """The floats of an array (n,) or a list; none where it holds something else."""
    if isinstance(given, np.ndarray):
        return given.tolist() if given.dtype == _REAL and given.ndim == 1 else []
    return given if isinstance(given, list) and set(map(type, given)) == _FLOATS else []


def _are_rows(given: Numbers, size: int, count: int) -> TypeGuard[FloatArray]:
    """Whether this is an array (n, count) of finite floats."""
    if not isinstance(given, np.ndarray) or given.dtype != _REAL or given.shape != (size, count):
        return False
    return math.isfinite(given.sum())


def robots(count: int | None) -> str:
    """How many an estimator is of, in words."""
    return "one robot" if count is None else f"{count} robots"


def one_gyro(rate: npt.ArrayLike | None, density: float | None, count: int | None) -> tuple[Lanes, Lanes]:
    """A gyro's rate, and its density squared, infinite where it tells nothing."""
    if rate is None:
        return 0.0, math.inf
    if density is None:
        hint = 'give its noise: {"encoders": …, "gyro": …}'
        raise InputError("this estimator has no gyro", key="gyro", hint=hint)
    if count is None:
        return finite(rate, "gyro"), density
    rates = _lanes(rate, "gyro", count)
    if not math.isnan(rates.sum()):
        return rates, density
    there = rates == rates
    return np.where(there, rates, 0.0), np.where(there, density, np.inf)


def packed(
    turns: Sequence[float] | FloatArray,
    angles: Sequence[float] | FloatArray,
    *others: Lanes,
    count: int | None,
) -> Kept:
    """The rows of a step as they are kept."""
    if count is None:
        return struct.pack(f"{len(turns) + len(angles) + len(others)}d", *turns, *angles, *others)
    rows = np.empty((len(turns) + len(angles) + len(others), count))
    for row, values in zip(rows, (*turns, *angles, *others), strict=True):
        row[:] = values
    return rows


def _lane_rows(values: FloatArray, count: int) -> FloatArray:
    """Rows (n,) or (n, count) as (n, count)."""
    return np.broadcast_to(values.reshape(len(values), -1), (len(values), count))


def looked(
    measured: Sequence[float | str | FloatArray],
    noise: Sequence[float | str],
    time: float,
    gate: float | None,
    count: int | None,
) -> FixReading:
    """A fix of a pose or of a position, with infinite variances where nothing was measured."""
    values, deviations = _entries(measured, "measured", count), _entries(noise, "noise", None)
    if len(values) != len(deviations):
        raise InputError(f"expected {len(values)} standard deviations, got {len(deviations)}", key="noise")
    if min(deviations) <= 0:
        raise InputError(f"a standard deviation is above 0, got {min(deviations):g}", key="noise")
    bound = math.inf if gate is None else check_float(gate, "gate", above=0.0) ** 2
    lacking = 3 - len(values)
    if count is None:
        squares = [deviation * deviation for deviation in deviations]
        return FixReading(
            time, np.array([*values, *[0.0] * lacking]), np.array([*squares, *[math.inf] * lacking]), bound
        )
    rows, variances = np.full((3, count), np.nan), np.full((3, count), np.inf)
    for row, (value, deviation) in enumerate(zip(values, deviations, strict=True)):
        rows[row] = value
        variances[row] = np.where(np.isnan(value), np.inf, deviation**2)
    return FixReading(time, np.nan_to_num(rows, nan=0.0), variances, bound)


def seen_by(
    sensor: FixSensor, measured: Mapping[str, float], value: Callable[[Value], float]
) -> tuple[FloatArray, FloatArray]:
    """What a sensor saw, in its order, and variances, infinite where it saw nothing; `value` is of its fields."""
    seen = sensor.seen()
    for name in by_name(measured, "measured"):
        require_known(name, tuple(seen), f"the sensor tells no '{name}'", key=f"measured.{name}")
    told = {name: finite(each, f"measured.{name}") for name, each in measured.items() if each == each}
    if not told:
        raise InputError("nothing was seen", key="measured", hint=f"expected some of {', '.join(seen)}")
    spread = {name: float(value(deviation)) ** 2 for name, (_, deviation) in seen.items()}
    variances = np.array([spread[name] if name in told else math.inf for name in seen])
    return np.array([told.get(name, 0.0) for name in seen]), variances


def all_turning(counts: Counts) -> Counts:
    """The same, where all that is counted turns; else InputError."""
    quantities = counts.here.assembly.quantities.only(tuple(counts.increments))
    other = [each for each, unit in quantities.units.items() if unit != "rad"]
    if other:
        raise InputError(f"an estimator counts turns, and '{other[0]}' is in {quantities.units[other[0]]}")
    return counts


def _entries(given: Sequence[float | str | FloatArray], key: str, count: int | None) -> list[FloatArray]:
    """Two or three numbers in SI, or of many robots arrays of them: a position or a pose."""
    size = len(given) if hasattr(given, "__len__") and not isinstance(given, (str, Mapping)) else None
    if size not in (2, 3):
        what = "standard deviations of " if key == "noise" else ""
        said = came(given) if size is None else f"{size} numbers" if size != 1 else "one number"
        raise InputError(f"expected {what}x, y or x, y, theta, got {said}", key=key)
    rows = []
    for value, unit in zip(given, _UNITS, strict=False):
        if type(value) is float and math.isfinite(value):
            rows.append(value)
        elif count is None or np.ndim(value) == 0:
            rows.append(number(value, key, unit))
        else:
            rows.append(_lanes(value, key, count))
    return rows


def _lanes(given: npt.ArrayLike, key: str, count: int) -> FloatArray:
    """A number for all robots, or one a robot; NaN where there is none."""
    values = as_numbers(given, key)
    if values.shape not in ((), (count,)):
        raise InputError(f"this estimator is of {count} robots, got the shape {values.shape}", key=key)
    if not math.isfinite(values.sum()) and np.isinf(values).any():
        raise InputError(f"{key} holds something that is infinite", key=key)
    return np.broadcast_to(values, (count,))
