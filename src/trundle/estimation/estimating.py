"""A log of sensors to poses: the estimator is told its readings as they came, and what it says is kept as a run."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, require_known, warn
from trundle.estimation.estimated import estimated_run, surprise
from trundle.estimation.estimator import LATEST, Estimator
from trundle.estimation.logs import Log, LogFix, read_log
from trundle.estimation.readings import Fix, slack, slacks
from trundle.estimation.smoothing import SmoothedPoses
from trundle.expected import by_name, check_bool, check_float
from trundle.model.arguments import Given, robot_of
from trundle.motion.odometry.odometry import Numbers
from trundle.results import Run
from trundle.robot import Encoders, FixSensor, Gyro, Robot, Sensor

# Why a fix was never looked at.
EARLY, LATE, AHEAD = "before the log begins", f"over {LATEST:g} s late", "after the encoders' last reading"


def estimate(
    model: Given,
    log: Run | str | os.PathLike[str],
    sensors: Mapping[str, Sensor | Mapping[str, object]] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    noise: Mapping[str, float] | None = None,
    pose: Numbers = (0.0, 0.0, 0.0),
    covariance: npt.ArrayLike | None = None,
    gate: float | Mapping[str, float] | None = None,
    smooth: bool = False,
) -> Run:
    """Where a robot was, by a log of its sensors.

    An `Estimator` is told the readings as they arrived. A row says what was known when the encoders' reading of its
    time had come; the last one what all readings together say. Fixes may come up to 1.5 s late and in any order.

    Parameters
    ----------
    model : Robot, Model, Document, path or mapping
        The robot, with its `sensors`: encoders, a gyro where there is one, and what fixes the pose.
    log : Run or path
        Its readings, as `measure` gives them, or a file (.nc, .csv, .mcap, .wpilog): `time`, `arrival` (s) and columns
        such as `fixes.x`, NaN in rows of other sensors. A CSV file's header may name units, as "fixes.x [mm]". Rates
        such as `encoders.left.rate` (rad/s) may be there, too: where readings begin anew they say by how much.
    sensors : mapping of str to Sensor or mapping, optional
        Sensors by name, beside those that the robot has, or in their place.
    columns : mapping of str to str, optional
        What the log calls its columns, by Trundle's names or their ends: {"time": "t [ms]", "left.angle": "enc_l"}.
        Others that Trundle has no name for are left out then. `NAME.distance` (m) may stand for a wheel's angle, and
        `gyro.angle` for the rate. Without `arrival` readings come at once. Of messages a column is a topic and a path:
        {"left.angle": "/joint_states.position[left_wheel]"}, "/drive/positions[0].angle".
    noise : mapping of str to float, optional
        What the estimator counts on, in place of the sensors' own: `encoders` (rad, over a turn of 1 rad), `gyro`
        (rad/s/√Hz), and `wander` (rad/s/√s) of the gyro's bias, which is estimated where the gyro has one. With `slip`
        (m/√m) wheels that slip are looked for.
    pose : array (3,) or mapping, optional
        x, y (m), θ (rad) at the encoders' first reading.
    covariance : array (3, 3), optional
        Of that pose, in the world's axes; by default 0. (4, 4) with the bias, which else is the gyro's own.
    gate : float or mapping of str to float, optional
        The largest Mahalanobis distance at which a fix is used, of all sensors or by name.
    smooth : bool, optional
        Whether poses, covariances and the bias are by all readings, also those that came later (`Estimator.smooth`).

    Returns
    -------
    Run
        At the encoders' times `x`, `y` (m), `theta` (rad), their `covariance.x.x`, … and the gyro's `NAME.nis`. Of
        every fix, in the row that follows it, what was told, `NAME.nis`, and `NAME.used`, which is 0 where the gate
        left it out. The summary counts them. A mean NIS ten times beyond the 99.99 % of its distribution is said, as a
        warning and in the summary's `notes`. An estimated bias is `NAME.bias` (rad/s), its variance
        `covariance.NAME.bias`.

    Raises
    ------
    InputError
        A sensor or a column is missing or unknown, in a unit of something else, or noise is 0. A reading came before
        its time. Encoders' readings don't fit their `wraps`, or it is doubtful by how much they began anew.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.differential_drive().with_sensors({
    ...     "encoders": {"noise": 0.02, "ticks": 1024},
    ...     "fixes": {"type": "pose", "position": "1 cm", "heading": "0.5 deg", "latency": [0, "300 ms"]},
    ... })
    >>> run = trundle.roll(robot, 5.0, {"v_x": 0.5, "omega": 0.2})
    >>> found = trundle.estimate(robot, trundle.measure(robot, run, seed=1))
    >>> bool(abs(found["x"][-1] - run["x"][-1]) < 0.03)
    True
    """
    robot = robot_of(model, "estimate", "sensors are parts of described robots")
    robot = robot if sensors is None else robot.with_sensors(sensors)
    read = read_log(robot, log, columns)
    counted_on, gates = _noise(robot, read, noise), _gates(robot, gate)
    spread = _spread(robot, read, counted_on, covariance)

    def replay(turned: str = "") -> tuple[_Telling, FloatArray]:
        estimator = Estimator(robot, counted_on, pose=pose, covariance=spread, time=read.start, keep=math.inf)
        if estimator.pose.ndim != 1:
            raise InputError(
                f"a log is of one robot, got poses {estimator.pose.shape}", key="pose", hint="(x, y, θ)"
            )
        telling = _Telling(robot, estimator, gates)
        return telling, telling.tell(read, turned)

    telling, known = replay()
    stands, estimator = telling.stands(read), telling.estimator
    summary = {"noise": counted_on, "smoothed": smooth, **telling.missed(read)}
    share, said = surprise(read, known, stands)
    if share > 1:
        wheels = {name: replay(name) for name in estimator.increments if name not in estimator.angles}
        others = {name: surprise(read, of, other.stands(read))[0] for name, (other, of) in wheels.items()}
        best = min(others, key=lambda name: others[name])
        named = (
            f"With the sign of '{read.encoders}.{best}' turned all sensors agree: is that encoder reversed?"
        )
        other = "It doesn't agree with the encoders, the start is off, or a noise is too small."
        summary["notes"] = [f"{said}. {named if others[best] <= 1 else other}"]
        warn(summary["notes"][0])
    if check_bool(smooth, "smooth"):
        known = _smoothed(known, estimator.smooth(), [read.start, *(step.end for step in read.steps)])
    return estimated_run(robot, read, known, stands, summary)


def _smoothed(known: FloatArray, smooth: SmoothedPoses, times: Sequence[float]) -> FloatArray:
    """What is known at these times with what came later; the gyro's innovations stay."""
    ends = np.array(times)
    places = np.searchsorted(smooth.time, ends - slacks(ends))
    covariance = smooth.covariance[places]
    upper = [covariance[:, i, j] for i, j in combinations_with_replacement(range(3), 2)]
    bias = [smooth.bias[places], covariance[:, 3, 3]] if covariance.shape[1] > 3 else [known[-2], known[-1]]
    return np.array([*smooth.pose[places].T, *upper, known[-3], *bias])


def _noise(robot: Robot, log: Log, given: Mapping[str, float] | None) -> dict[str, float]:
    """What the estimator counts on: as given, else the sensors' own; InputError where that is 0.

    The bias of a gyro is estimated where it has one.
    """
    found, read = dict({} if given is None else by_name(given, "noise")), robot.resolver()
    for key, name in (("encoders", log.encoders), ("gyro", log.gyro)):
        if name is None or key in found:
            continue
        sensor = robot.sensors[name]
        assert isinstance(sensor, (Encoders, Gyro))
        found[key] = float(read(sensor.noise))
        if not found[key]:
            message = f"the sensor '{name}' has no noise, and an estimator has to count on some"
            raise InputError(message, key=f"noise.{key}", hint=f"noise={{'{key}': …}}, more than 0")
    gyro = None if log.gyro is None else robot.sensors[log.gyro]
    if isinstance(gyro, Gyro) and "wander" not in found and (read(gyro.bias) or read(gyro.wander)):
        found["wander"] = float(read(gyro.wander))
    return found


def _spread(
    robot: Robot, log: Log, noise: Mapping[str, float], given: npt.ArrayLike | None
) -> npt.ArrayLike | None:
    """The covariance at the start, with the bias's variance as the gyro says it."""
    gyro = robot.sensors[log.gyro] if log.gyro is not None and "wander" in noise else None
    matrix = np.zeros((3, 3)) if given is None else as_numbers(given, "covariance")
    if not isinstance(gyro, Gyro) or matrix.shape != (3, 3):
        return given
    whole = np.zeros((4, 4))
    whole[:3, :3], whole[3, 3] = matrix, float(robot.resolver()(gyro.bias)) ** 2
    return whole


def _gates(robot: Robot, given: float | Mapping[str, float] | None) -> dict[str, float | None]:
    """The gate of every sensor that fixes the pose."""
    names = [name for name, sensor in robot.sensors.items() if isinstance(sensor, FixSensor)]
    if not isinstance(given, Mapping):
        gate = None if given is None else check_float(given, "gate", above=0.0)
        return dict.fromkeys(names, gate)
    for name in by_name(given, "gate"):
        require_known(name, names, f"'{name}' is not a sensor that fixes the pose", key=f"gate.{name}")
    return {
        name: check_float(given[name], f"gate.{name}", above=0.0) if name in given else None for name in names
    }


class _Telling:
    """An estimator while it is told a log, and what it said of it."""

    def __init__(self, robot: Robot, estimator: Estimator, gates: Mapping[str, float | None]) -> None:
        """With the gates of the sensors that fix the pose."""
        self.estimator, self._gates, self._began = estimator, gates, estimator.time
        read = robot.resolver()
        self._sensors = {name: each for name, each in robot.sensors.items() if isinstance(each, FixSensor)}
        self._spread = {
            name: [float(read(deviation)) for _, deviation in sensor.seen().values()]
            for name, sensor in self._sensors.items()
        }
        self._of_pose = {name for name, each in self._sensors.items() if each.tells_pose(read)}
        self._looked: dict[int, tuple[float, ...]] = {}
        self._missed: dict[int, str] = {}

    def tell(self, log: Log, turned: str = "") -> FloatArray:
        """Readings as they arrived: a step, then all fixes that had come by then and aren't of a later time.

        What was known at the start and after every step, (numbers, steps + 1); with the sign of an increment turned.
        """
        signs = np.array([-1.0 if name == turned else 1.0 for name in self.estimator.increments])
        waiting, rows = list(enumerate(log.fixes)), [self._row()]
        for step in log.steps:
            for part in step.parts:
                self.estimator.predict(signs * part.increments, part.end - part.start, part.rate, part.angles)
            waiting = self._fixed(waiting, math.inf if step is log.steps[-1] else step.arrival)
            rows.append(self._row())
        self._missed |= dict.fromkeys((place for place, _ in waiting), AHEAD)
        return np.array(rows).T

    def stands(self, log: Log) -> list[Fix | None]:
        """How the log's fixes stand after all that came late; None where one was never looked at."""
        known = {_key(fix): fix for fix in self.estimator.fixes}
        looked = self._looked
        return [known[looked[place]] if place in looked else None for place in range(len(log.fixes))]

    def missed(self, log: Log) -> dict[str, object]:
        """`missed`, where there are any: how many fixes of a sensor were never looked at, by the reason."""
        counts = Counter((log.fixes[place].sensor, why) for place, why in self._missed.items())
        return (
            {"missed": {f"{name}, {why}": count for (name, why), count in counts.items()}} if counts else {}
        )

    def _row(self) -> list[float]:
        estimator = self.estimator
        matrix = estimator.covariance
        upper = [matrix[pair] for pair in combinations_with_replacement(range(3), 2)]
        bias = [estimator.bias, matrix[3, 3]] if len(matrix) > 3 else [0.0, 0.0]
        return [*estimator.pose, *upper, float(estimator.nis["gyro"]), *bias]

    def _fixed(self, waiting: list[tuple[int, LogFix]], until: float) -> list[tuple[int, LogFix]]:
        """Take in what has come until then (s); what is left."""
        left = list[tuple[int, LogFix]]()
        for number, (place, fix) in enumerate(waiting):
            if fix.arrival > until + slack(until):
                return left + waiting[number:]
            if fix.time > self.estimator.time + self._slack:
                left.append((place, fix))
            elif fix.time < self._began - self._slack:
                self._missed[place] = EARLY
            elif fix.time < self.estimator.time - LATEST - self._slack:
                self._missed[place] = LATE
            else:
                self._look(place, fix)
        return left

    @property
    def _slack(self) -> float:
        return slack(self.estimator.time)

    def _look(self, place: int, fix: LogFix) -> None:
        sensor, gate = self._sensors[fix.sensor], self._gates[fix.sensor]
        if fix.sensor in self._of_pose:
            told, spread = list(fix.values.values()), self._spread[fix.sensor]
            taken = self.estimator.fix(told, spread, fix.time, gate=gate)
        else:
            taken = self.estimator.see(sensor, fix.values, fix.time, gate=gate)
        self._looked[place] = _key(taken)


def _key(fix: Fix) -> tuple[float, ...]:
    return (fix.time, *(float(value) for value in fix.measured if value == value))
