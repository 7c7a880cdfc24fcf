"""What an estimator is given, checked: noise, starts, readings."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, require_known
from trundle.estimation.readings import Look
from trundle.expected import a_real, by_name, came
from trundle.model.arguments import number
from trundle.motion.odometry.counts import Counts
from trundle.motion.odometry.displacement import POSE
from trundle.motion.odometry.odometry import Numbers, group_of, square_covariance
from trundle.robot import FixSensor
from trundle.robot.values import Value

_SENSORS = ("encoders", "gyro", "wander", "slip")
_UNITS = ("m", "m", "rad")
_REAL, _FLOATS = np.dtype(np.float64), {float}


def known_noise(given: Mapping[str, float]) -> dict[str, float]:
    """Noise by sensor, above 0; the encoders', too."""
    for name in by_name(given, "noise"):
        require_known(name, _SENSORS, f"'{name}' is no sensor of an estimator", key=f"noise.{name}")
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
    value = given if type(given) is float else a_real(given, key)
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {value}", key=key)
    return value


def spread_of(given: npt.ArrayLike | None, size: int) -> FloatArray:
    """A covariance of the pose, or of all that is estimated; by default of the pose, 0."""
    if given is None:
        return np.zeros((3, 3))
    matrix = as_numbers(given, "covariance")
    size = size if len(matrix.shape) and len(matrix) == size else 3
    return _of_one(square_covariance(matrix, "covariance", size), 2, "covariance")


def pose_of(given: Numbers) -> FloatArray:
    """A pose (3,)."""
    return _of_one(group_of("pose", POSE, given), 1, "pose")


def _of_one(values: FloatArray, dimensions: int, key: str) -> FloatArray:
    if values.ndim != dimensions:
        hint = "of many robots each has an estimator of its own"
        raise InputError(f"an estimator is of one robot, got the shape {values.shape}", key=key, hint=hint)
    return values


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


def counted(given: Numbers, names: tuple[str, ...], key: str) -> Sequence[float]:
    """Numbers in the order of the names, (n,); floats cost no more than a look."""
    plain = _floats(given)
    if len(plain) == len(names) and math.isfinite(sum(plain)):
        return plain
    return _of_one(group_of(key, names, given), 1, key).tolist()


def _floats(given: Numbers) -> list[float]:
    """The floats of an array (n,) or a list; none where it holds something else."""
    if isinstance(given, np.ndarray):
        return given.tolist() if given.dtype == _REAL and given.ndim == 1 else []
    return given if isinstance(given, list) and set(map(type, given)) == _FLOATS else []


def one_gyro(rate: npt.ArrayLike | None, density: float | None) -> tuple[float, float]:
    """A gyro's rate, and its density squared, infinite where it tells nothing."""
    if rate is None:
        return 0.0, math.inf
    if density is None:
        hint = 'give its noise: {"encoders": …, "gyro": …}'
        raise InputError("this estimator has no gyro", key="gyro", hint=hint)
    return finite(rate, "gyro"), density


def packed(*parts: Sequence[float]) -> bytes:
    """The rows of a step as they are kept."""
    numbers = [number for part in parts for number in part]
    return struct.pack(f"{len(numbers)}d", *numbers)


def looked(
    measured: Sequence[float | str], noise: Sequence[float | str], time: float, gate: float | None
) -> Look:
    """A fix of a pose or of a position, with infinite variances where nothing was measured."""
    values, deviations = _entries(measured, "measured"), _entries(noise, "noise")
    if len(values) != len(deviations):
        raise InputError(f"expected {len(values)} standard deviations, got {len(deviations)}", key="noise")
    if min(deviations) <= 0:
        raise InputError(f"a standard deviation is above 0, got {min(deviations):g}", key="noise")
    bound = math.inf if gate is None else a_real(gate, "gate", above=0.0) ** 2
    lacking, squares = 3 - len(values), [deviation * deviation for deviation in deviations]
    return Look(
        time, np.array([*values, *[0.0] * lacking]), np.array([*squares, *[math.inf] * lacking]), bound
    )


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


def _entries(given: Sequence[float | str], key: str) -> list[float]:
    """Two or three numbers in SI: a position or a pose."""
    size = len(given) if hasattr(given, "__len__") and not isinstance(given, (str, Mapping)) else None
    if size not in (2, 3):
        what = "standard deviations of " if key == "noise" else ""
        said = came(given) if size is None else f"{size} numbers" if size != 1 else "one number"
        raise InputError(f"expected {what}x, y or x, y, theta, got {said}", key=key)
    return [
        value if type(value) is float and math.isfinite(value) else number(value, key, unit)
        for value, unit in zip(given, _UNITS, strict=False)
    ]
