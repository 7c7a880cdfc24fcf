"""An estimator of a base's pose: a filter over a short history, so that fixes may come late and out of order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.estimation.arguments import (
    all_turning,
    counted,
    finite,
    known_noise,
    lanes_of,
    looked,
    one_gyro,
    packed,
    robots,
    seen_by,
    spread_of,
    turned_by,
)
from trundle.estimation.filter_programs import NOISE
from trundle.estimation.history import FilterSteps, History
from trundle.estimation.known import StateLayout
from trundle.estimation.readings import Fix, FixReading, Lanes, StepReading
from trundle.estimation.slip import owners_of
from trundle.expected import check_float, check_type
from trundle.frozen import frozen
from trundle.model.arguments import Given, robot_of
from trundle.motion.odometry.counts import derive_counts
from trundle.motion.odometry.displacement import POSE
from trundle.motion.odometry.odometry import Numbers, group_of
from trundle.robot import FixSensor

if TYPE_CHECKING:
    from trundle.estimation.smoothing import SmoothedPoses

# So long fixes may be late (s).
LATEST = 1.5
_NONE: Numbers = ()


class Estimator:
    """The pose of a base on wheels from its encoders, a gyro and fixes of its pose, and its covariance.

    An extended Kalman filter whose error is ξ in X_true = X exp(ξ), in the base's own axes. Steps take the same
    displacement as `trundle.odometry`. Fixes may come late and out of order: the last 1.5 s are kept, and what comes
    after a late fix is worked out again.

    Parameters
    ----------
    robot : Robot or Model
        A robot on a planar base, or what leads to one.
    noise : mapping of str to float
        Of `encoders` the standard deviation of an increment over a turn of 1 rad (rad), which grows by the root of the
        angle that is counted, on average over all. Of a `gyro` its rate's density (rad/s/√Hz), where there is one;
        `wander` (rad/s/√s) is by how much its bias wanders over 1 s, and has the bias estimated. `slip` (m/√m) is
        how far a contact creeps over 1 m, and has wheels that slip more count for less.
    pose : array (3,) or (3, count), or mapping, optional
        x, y (m), θ (rad) at the start, of one robot or of many alike, which then share their times.
    covariance : array (3, 3), or (4, 4) with the bias, or (…, count), optional
        Of that pose, in the world's axes, and of the bias (rad²/s²); by default 0.
    time : float, optional
        At the start (s).
    bias : float, optional
        Of the gyro at the start (rad/s).
    keep : float, optional
        So long readings are kept (s): no fix may be later; `math.inf` keeps all, as `smooth` needs it.

    Raises
    ------
    InputError
        The robot has no odometry, noise is of no sensor or not above 0, or the start is none.

    References
    ----------
    Solà, Deray & Atchuthan 2018, "A micro Lie theory for state estimation in robotics".

    Examples
    --------
    >>> import numpy as np
    >>> import trundle
    >>> robot = trundle.catalog.differential_drive(radius=0.1, track=0.5)
    >>> estimator = trundle.Estimator(robot, {"encoders": 0.02}, covariance=np.diag([0.01, 0.01, 0.001]))
    >>> estimator.predict({"left.angle": 1.0, "right.angle": 1.0}, dt=0.1)
    >>> estimator.pose.round(6).tolist()
    [0.1, 0.0, 0.0]
    >>> estimator.fix([0.11, 0.01], ["2 cm", "2 cm"]).used
    True
    """

    def __init__(
        self,
        robot: Given,
        noise: Mapping[str, float],
        *,
        pose: Numbers = (0.0, 0.0, 0.0),
        covariance: npt.ArrayLike | None = None,
        time: float = 0.0,
        bias: float = 0.0,
        keep: float = LATEST,
    ) -> None:
        """See the class."""
        robot = robot_of(robot, "an estimator", "it has no wheels to count the turns of")
        noise = known_noise(noise)
        counts = all_turning(derive_counts(robot))
        self.name, self._value = robot.name, robot.resolver()
        self.increments, self.angles = tuple(counts.increments), tuple(counts.angles)
        wheels = tuple(dict.fromkeys(owners_of(counts))) if "slip" in noise else ()
        self._layout = StateLayout("wander" in noise, wheels)
        self._gyro = noise["gyro"] ** 2 if "gyro" in noise else None
        start, spread = group_of("pose", POSE, pose), spread_of(covariance, self._layout.size)
        self._count = lanes_of(start, spread)
        squares = np.array([noise.get(name, 0.0) ** 2 for name in NOISE])
        self._steps = FilterSteps(counts, self._layout, squares, self._count is not None)
        endless = isinstance(keep, float) and keep == math.inf
        self._keep = math.inf if endless else check_float(keep, "keep", above=0.0, unit="s")
        bias = finite(bias, "bias")
        if bias and not self._layout.bias:
            raise InputError("a bias is estimated where it is known how it wanders", key="noise.wander")
        state = self._began(start, spread, bias, 0.0)
        self._history = History(self._steps, state, finite(time, "time"), self._keep)

    @property
    def time(self) -> float:
        """Up to when the encoders have told (s)."""
        return self._history.time

    @property
    def pose(self) -> FloatArray:
        """x, y (m), θ (rad)."""
        return frozen(self._state[:3])

    @property
    def bias(self) -> Lanes:
        """Of the gyro (rad/s); 0 where it isn't estimated."""
        return self._lane(self._state[3] if self._layout.bias else 0.0 * self._state[0])

    @property
    def covariance(self) -> FloatArray:
        """Of the pose (3, 3), in the world's axes, or of the pose and the bias (4, 4)."""
        return frozen(turned_by(self._state[2], self._layout.covariance(self._state)))

    @property
    def nis(self) -> Mapping[str, Lanes]:
        """Normalised innovations squared of the last `gyro` rate and the last `fix` (NaN before the first)."""
        gyro, fix = self._state[self._layout.nis :][:2]
        return {"gyro": self._lane(gyro), "fix": self._lane(fix)}

    @property
    def slip(self) -> Mapping[str, Lanes]:
        """How far the wheels' contacts were off in the last step, in standard deviations: from 3 on they slipped.

        Empty where noise has no `slip`.
        """
        off = self._state[self._layout.nis + 2 :]
        return {wheel: self._lane(row) for wheel, row in zip(self._layout.wheels, off, strict=True)}

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Fixes of the last 1.5 s by time, as they stand after all that came late."""
        readings = enumerate(self._history.readings)
        return tuple(self._fix_of(place) for place, reading in readings if isinstance(reading, FixReading))

    def predict(
        self, increments: Numbers, dt: float, gyro: npt.ArrayLike | None = None, angles: Numbers = _NONE
    ) -> None:
        """Go on by what the encoders counted, and a gyro measured, during `dt`.

        Parameters
        ----------
        increments : array (n,) or (n, count), or mapping
            In the order of `increments`, or by name (rad).
        dt : float
            How long they took (s).
        gyro : float or array (count,), optional
            The mean turning rate meanwhile (rad/s); of many robots NaN where one has none.
        angles : array or mapping, optional
            Steering and joint angles before the increments, in the order of `angles`, or by name (rad).

        Raises
        ------
        InputError
            Names or shapes don't fit, a number isn't finite, `dt` isn't above 0, or a gyro has no noise.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive(radius=0.1, track=0.5)
        >>> estimator = trundle.Estimator(robot, {"encoders": 0.02, "gyro": 0.002})
        >>> estimator.predict([2.0, 2.0], dt=0.1, gyro=0.0)
        >>> estimator.pose.round(6).tolist()
        [0.2, 0.0, 0.0]
        """
        start = self._history.time
        step = dt if type(dt) is float and dt > 0.0 else check_float(dt, "dt", above=0.0, unit="s")
        end = finite(start + step, "dt")
        turns = counted(increments, self.increments, "increments", self._count)
        before = (
            () if not self.angles and angles is _NONE else counted(angles, self.angles, "angles", self._count)
        )
        read = one_gyro(gyro, self._gyro, self._count)
        self._history.go_on(StepReading(start, end, packed(turns, before, *read, step, count=self._count)))

    def fix(
        self,
        measured: Sequence[float | str | FloatArray],
        noise: Sequence[float | str],
        time: float | None = None,
        *,
        gate: float | None = None,
    ) -> Fix:
        """Take a measured pose or position, of now or of the last 1.5 s, in any order.

        Parameters
        ----------
        measured : sequence of 2 or 3 numbers or texts, or of arrays (count,)
            x, y (m), and θ (rad) of a pose, in the world; of many robots NaN where one has no fix.
        noise : sequence of as many numbers or texts
            Their standard deviations.
        time : float, optional
            When it was measured (s); by default now.
        gate : float, optional
            The largest Mahalanobis distance at which it is used: 3.4 keeps 99 % of good poses.

        Returns
        -------
        Fix
            How far it was off, and whether the gate let it through; `fixes` has it after later ones, too.

        Raises
        ------
        InputError
            It is of the future, older than what is kept, or no fix. The estimate stays as it was then.

        Examples
        --------
        >>> import numpy as np
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive()
        >>> estimator = trundle.Estimator(robot, {"encoders": 0.02}, covariance=np.diag([0.01, 0.01, 0.001]))
        >>> estimator.predict([1.0, 1.0], dt=0.1)
        >>> estimator.fix([5.0, 0.0, 0.0], ["2 cm", "2 cm", "1 deg"], time=0.05, gate=3).used
        False
        """
        moment = self.time if time is None else finite(time, "time")
        look = looked(measured, noise, moment, gate, self._count)
        self._history.require_kept(moment)
        return self._fix_of(self._history.put(look))

    def see(
        self,
        sensor: FixSensor,
        measured: Mapping[str, float],
        time: float | None = None,
        *,
        gate: float | None = None,
    ) -> Fix:
        """Take what a sensor saw of the pose, of now or of the last 1.5 s: distances and directions of marks, say.

        Parameters
        ----------
        sensor : FixSensor
            Of `trundle.sensors`, with what it sees and its noise; or one of your own.
        measured : mapping of str to float
            In SI by what it tells, such as "door.range"; what isn't there, or NaN, wasn't seen.
        time, gate : float, optional
            As in `fix`.

        Returns
        -------
        Fix
            As `fix` gives it, with what was measured in the order of the sensor.

        Raises
        ------
        InputError
            As in `fix`, and for what the sensor doesn't tell, or an estimator of many robots.

        Examples
        --------
        >>> import numpy as np
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive()
        >>> estimator = trundle.Estimator(robot, {"encoders": 0.02}, covariance=np.diag([0.01, 0.01, 0.001]))
        >>> marks = trundle.sensors.MarkFix(marks={"door": [2, 0]}, range="1 cm")
        >>> estimator.see(marks, {"door.range": 1.9}).used
        True
        >>> round(float(estimator.pose[0]), 3)
        0.099
        """
        check_type(sensor, FixSensor, "sensor", "such as trundle.sensors.MarkFix(…)")
        if self._count is not None:
            raise InputError(
                f"this estimator is of {robots(self._count)}, and a sensor sees for one", key="sensor"
            )
        values, variances = seen_by(sensor, measured, self._value)
        moment = self.time if time is None else finite(time, "time")
        bound = math.inf if gate is None else check_float(gate, "gate", above=0.0) ** 2
        self._history.require_kept(moment)
        by = self._steps.sees(sensor, self._value)
        return self._fix_of(self._history.put(FixReading(moment, values, variances, bound, by)))

    def smooth(self) -> SmoothedPoses:
        """The poses along what is kept, by all readings before and after them (Rauch, Tung & Striebel 1965).

        Keep all with `keep=math.inf`, else it goes back 1.5 s. Where the gate left fixes out they stay out.

        Returns
        -------
        Smoothed
            At the start of what is kept and after every step, with steps split where fixes lay within them.

        Examples
        --------
        >>> import math
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive(radius=0.1, track=0.5)
        >>> estimator = trundle.Estimator(robot, {"encoders": 0.02}, keep=math.inf)
        >>> for _ in range(10):
        ...     estimator.predict([1.0, 1.0], dt=0.1)
        >>> before = estimator.smooth().covariance[5]
        >>> fixed = estimator.fix([1.0, 0.0, 0.0], ["1 cm", "1 cm", "1 deg"])
        >>> bool(estimator.smooth().covariance[5][0, 0] < before[0, 0])
        True
        """
        from trundle.estimation.smoothing import smoothed

        return smoothed(self._steps, self._history)

    def reset(self, pose: Numbers, covariance: npt.ArrayLike | None = None) -> None:
        """Begin again at a pose, as after a robot was carried: what came before is forgotten, the bias is kept.

        Parameters
        ----------
        pose : array (3,) or (3, count), or mapping
            x, y (m), θ (rad) now.
        covariance : array (3, 3), or (4, 4) with the bias, or (…, count), optional
            Of that pose, in the world's axes; by default 0. The bias keeps its variance, unless this has it.

        Raises
        ------
        InputError
            They are none, or of another number of robots. The estimate stays as it was then.

        Examples
        --------
        >>> import trundle
        >>> estimator = trundle.Estimator(trundle.catalog.differential_drive(), {"encoders": 0.02})
        >>> estimator.predict([1.0, 1.0], dt=0.1)
        >>> estimator.reset([1.0, 2.0, 0.0])
        >>> estimator.pose.tolist(), estimator.time
        ([1.0, 2.0, 0.0], 0.1)
        """
        start, spread = group_of("pose", POSE, pose), spread_of(covariance, self._layout.size)
        if lanes_of(start, spread) not in (None, self._count):
            raise InputError(f"this estimator is of {robots(self._count)}", key="pose")
        known, bias = self._layout.covariance(self._state), self._layout.bias
        state = self._began(start, spread, self.bias, known[3, 3] if bias else 0.0)
        self._history = History(self._steps, state, self.time, self._keep)

    def __repr__(self) -> str:
        if self._count is not None:
            return f"<Estimator of {self._count} × {self.name} at {self.time:g} s>"
        x, y, heading = self.pose
        return f"<Estimator of {self.name} at {self.time:g} s: x {x:g} m, y {y:g} m, theta {heading:g} rad>"

    @property
    def _state(self) -> FloatArray:
        return self._history.last

    def _began(self, pose: FloatArray, spread: FloatArray, bias: Lanes, variance: Lanes) -> FloatArray:
        """The state that knows a pose and a bias with a covariance in the world's axes; `variance` where it lacks the
        bias'.
        """
        layout, lanes = self._layout, () if self._count is None else (self._count,)
        matrix = np.zeros((layout.size, layout.size, *lanes))
        if layout.bias:
            matrix[3, 3] = variance
        size = len(spread)
        matrix[:size, :size] = spread.reshape(size, size, -1) if lanes else spread
        state = np.full((len(layout.labels), *lanes), np.nan)
        state[:3] = pose.reshape(3, -1) if lanes else pose
        state[3 : layout.size] = bias
        state[layout.size : layout.nis] = layout.packed(turned_by(-state[2], matrix))
        return state

    def _fix_of(self, place: int) -> Fix:
        """A fix among the readings."""
        look, state = self._history.readings[place], self._steps.array(self._history.states[place + 1])
        assert isinstance(look, FixReading)
        if look.by:
            measured = np.where(np.isfinite(look.variances), look.measured, np.nan).tolist()
            nis = float(state[self._layout.nis + 1])
            return Fix(look.time, tuple(measured), nis, bool(nis <= look.gate))
        if self._count is None:
            x, y, heading = look.measured.tolist()
            heading, nis = heading if look.variances[2] < math.inf else math.nan, state[self._layout.nis + 1]
            return Fix(look.time, (x, y, heading), float(nis), bool(nis <= look.gate))
        there = np.isfinite(look.variances)
        x, y, heading = (self._lane(row) for row in np.where(there, look.measured, np.nan))
        nis = np.where(there.any(axis=0), state[self._layout.nis + 1], np.nan)
        used = nis <= look.gate
        return Fix(look.time, (x, y, heading), self._lane(nis), used)

    def _lane(self, row: FloatArray) -> Lanes:
        """A number of one robot, an array of many; one NaN, so that equal fixes are equal."""
        return frozen(row) if self._count is not None else np.nan if row != row else float(row)
