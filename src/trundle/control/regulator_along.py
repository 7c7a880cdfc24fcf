"""Linear-quadratic regulators along runs: gains that change, to the run's end.

The path of the data: a run is linearised at all its times, in the moving frame of its base; of the states those stay
that lead to what has a tolerance; Riccati's equation, backwards from the end, gives a table of gains. The run fills it
into a controller's inputs, as the closed loop's program knows no time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.deviation import DeviationMap, lacking
from trundle.control.linear_control import Indices
from trundle.control.linear_trajectory import LinearTrajectory
from trundle.control.tolerances import in_si
from trundle.errors import InputError
from trundle.expected import by_name
from trundle.robot.linear_feedback import FeedbackAlong, gain_name
from trundle.shown import Displayable

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

# Times (s), values and what joins them, as a run takes them.
InputTable = tuple[list[float], list[float], str]


@dataclass(frozen=True, repr=False, eq=False)
class RegulatorAlong(Displayable):
    """δu = −K(t) z beside a run, which makes ∫ Σ (z_i/tolerance_i)² + Σ (δu_k/tolerance_k)² dt, to its end, least.

    time (J,): the run's, or the samples'. K (J, m, n) by `inputs` and `states`; z is the deviation from the run, the
    base's position along the axes that it has in the run. riccati (J, n, n): zᵀ S z is what a deviation costs from then
    on. period: the seconds between samples, None where it acts at every instant. tolerances, final: in SI by name.
    """

    about: LinearTrajectory
    states: tuple[str, ...]
    time: FloatArray
    K: FloatArray
    riccati: FloatArray
    tolerances: Mapping[str, float]
    final: Mapping[str, float]
    period: float | None = None

    @property
    def name(self) -> str:
        """The model's."""
        return self.about.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """The rows of K."""
        return self.about.inputs

    def at(self, time: float) -> FloatArray:
        """K at a time, (m, n): between the table's times by its spline, or of the last sample.

        Parameters
        ----------
        time : float, s
            Before the start and after the end the gains there hold.

        Returns
        -------
        ndarray (m, n)
            By `inputs` and `states`.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 5.0, "right_motor.voltage": 6.0}
        >>> run = trundle.simulate(model, 1.0, volts, samples=101)
        >>> held = model.lqr(along=run, tolerances={"x": "5 cm", "y": "5 cm", **volts})
        >>> held.at(0.5).shape
        (2, 7)
        """
        if self.period is None:
            return self._splines[0](min(max(time, self.time[0]), self.time[-1]))
        return self.K[max(int(np.searchsorted(self.time, time + 1e-9 * self.period, side="right")) - 1, 0)]

    def cost(self, deviation: Mapping[str, float | str]) -> float:
        """What a small deviation at the start costs to the run's end.

        Parameters
        ----------
        deviation : mapping of str to number or str
            z by name (SI, or text with units); what isn't given is 0.

        Returns
        -------
        float
            zᵀ S z (s).

        Raises
        ------
        InputError
            A name is none of `states`, or a value no finite number in its unit.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 5.0, "right_motor.voltage": 6.0}
        >>> run = trundle.simulate(model, 1.0, volts, samples=101)
        >>> held = model.lqr(along=run, tolerances={"x": "5 cm", "y": "5 cm", **volts})
        >>> held.cost({"y": "1 cm"}) < held.cost({"y": "2 cm"})
        True
        """
        sizes = in_si(by_name(deviation, "deviation"), self.states, self.about, "deviation")
        z = np.array([sizes.get(name, 0.0) for name in self.states])
        return float(z @ self.riccati[0] @ z)

    def deviation(self, state: Mapping[str, float], time: float) -> FloatArray:
        """z, (n,), of a state beside the run at a time.

        Parameters
        ----------
        state : mapping of str to float
            The model's states by name, in SI.
        time : float, s
            The run's.

        Returns
        -------
        ndarray (n,)
            By `states`; the pose along the axes of the run's base, its heading within half a turn.

        Raises
        ------
        InputError
            A state is missing.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 5.0, "right_motor.voltage": 6.0}
        >>> run = trundle.simulate(model, 1.0, volts, samples=101)
        >>> held = model.lqr(along=run, tolerances={"x": "5 cm", "y": "5 cm", **volts})
        >>> float(abs(held.deviation(run.final, 1.0)).max()) < 1e-9
        True
        """
        wanted = self._splines[1](min(max(time, self.about.time[0]), self.about.time[-1])).tolist()
        names, model = self._names, self.about[0].model
        base = model.robot.base if model.robot is not None else ""
        if base == "floating" or model.quantities.quaternions(names):
            first = self.about[0]
            around = replace(first, state=dict(zip(names, wanted[: len(names)], strict=True)))
            places = [first.states.index(name) for name in self.states]
            return DeviationMap(around).deviation(state, 0.0)[places]
        try:
            off = {name: state[name] - value for name, value in zip(names, wanted, strict=False)}
        except KeyError as missing:
            raise lacking(missing) from None
        if base == "planar":
            off["theta"] = math.remainder(off["theta"], math.tau)
            (x, y), heading = (off["x"], off["y"]), wanted[names.index("theta")]
            cos, sin = math.cos(heading), math.sin(heading)
            off |= {"x": cos * x + sin * y, "y": cos * y - sin * x}
        return np.array([off[name] for name in self.states])

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The model's states."""
        return tuple(self.about[0].state)

    def law(self, time: float, state: Mapping[str, float]) -> dict[str, float]:
        """Inputs at a time and a state: the run's, less K z. A run takes the function itself as its inputs.

        Parameters
        ----------
        time : float, s
            The run's.
        state : mapping of str to float
            The model's states by name, in SI.

        Returns
        -------
        dict of str to float
            By input, in SI.

        Raises
        ------
        InputError
            A state is missing, or the regulator samples: then a law hangs on the last sample, too.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 5.0, "right_motor.voltage": 6.0}
        >>> run = trundle.simulate(model, 1.0, volts, samples=101)
        >>> held = model.lqr(along=run, tolerances={"x": "5 cm", "y": "5 cm", **volts})
        >>> beside = trundle.simulate(model, 1.0, held.law, initial={"y": "1 cm"})
        """
        if self.period is not None:
            raise InputError("a law of t and x holds no sample", hint="use .at(time) and .deviation(…)")
        count = len(self.about[0].state)
        given = self._splines[1](min(max(time, self.about.time[0]), self.about.time[-1]))[count:]
        command = given - self.at(time) @ self.deviation(state, time)
        return dict(zip(self.inputs, command.tolist(), strict=True))

    def controller(self) -> FeedbackAlong:
        """The same as a part of the robot, whose references and gains a run takes from `references`.

        Returns
        -------
        FeedbackAlong
            It reads `states` (of a pose all three) and drives `inputs`.

        Raises
        ------
        InputError
            Where z holds a rotation in space.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 5.0, "right_motor.voltage": 6.0}
        >>> run = trundle.simulate(model, 1.0, volts, samples=101)
        >>> held = model.lqr(along=run, tolerances={"x": "5 cm", "y": "5 cm", **volts})
        >>> closed = trundle.derive(model.robot, controllers={"hold": held.controller()})
        >>> beside = trundle.simulate(closed, 1.0, held.references("hold"), initial={"y": "1 cm"})
        """
        if turned := [name for name in self.states if name not in self.about[0].state]:
            message = f"{turned[0]} is of a rotation in space, which no row of gains over states compares"
            raise InputError(message, key="tolerances", hint="use .law as the run's inputs")
        described = {"reads": self._read, "drives": self.inputs, "period": self.period}
        return FeedbackAlong.model_validate(described)

    def references(self, name: str) -> dict[str, InputTable]:
        """What a run gives the controller of this name: the motion's states and inputs, and the gains, over time.

        Parameters
        ----------
        name : str
            That of the controller in the robot.

        Returns
        -------
        dict of str to (list, list, str)
            Times (s), values (SI) and what joins them, by input of the closed loop: `hold.v_x`,
            `hold.left_motor.voltage`, `hold.K.left_motor.voltage.v_x`, ….

        Examples
        --------
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 5.0, "right_motor.voltage": 6.0}
        >>> run = trundle.simulate(model, 1.0, volts, samples=101)
        >>> held = model.lqr(along=run, tolerances={"x": "5 cm", "y": "5 cm", **volts})
        >>> list(held.references("hold"))[:2]
        ['hold.x', 'hold.y']
        """
        # a sample's own gains whether they are looked at just before it or just after
        joined = "cubic" if self.period is None else "linear"
        first, (times, motion) = self.about[0], self._motion
        columns = dict(zip((*first.state, *self.inputs), motion.T, strict=True))
        tables: dict[str, InputTable] = {
            f"{name}.{of}": (times.tolist(), columns[of].tolist(), "cubic")
            for of in (*self._read, *self.inputs)
        }
        now, kept = _once(self.time)
        for row, of in enumerate(self.inputs):
            for by in self._read:
                place = self.states.index(by) if by in self.states else None
                gains = np.zeros(len(now)) if place is None else self.K[kept, row, place]
                tables[f"{name}.{gain_name(of, by)}"] = (now.tolist(), gains.tolist(), joined)
        return tables

    @property
    def _read(self) -> tuple[str, ...]:
        """The states that a controller reads: of a pose on the plane all three, as its position's axes turn."""
        model = self.about[0].model
        planar = model.robot is not None and model.robot.base == "planar"
        if not planar or not {"x", "y"} & {*self.states}:
            return self.states
        return tuple(dict.fromkeys(("x", "y", "theta", *self.states)))

    @cached_property
    def _motion(self) -> tuple[FloatArray, FloatArray]:
        """Times and the run's states and inputs there."""
        times, kept = _once(self.about.time)
        rows = [(*point.state.values(), *point.input.values()) for point in self.about.points]
        return times, np.array(rows)[kept]

    @cached_property
    def _splines(self) -> tuple[CubicSpline, CubicSpline]:
        """K, and the run's states and inputs, over time."""
        from scipy.interpolate import CubicSpline

        now, kept = _once(self.time)
        return CubicSpline(now, self.K[kept]), CubicSpline(*self._motion)


def _once(times: FloatArray) -> tuple[FloatArray, Indices]:
    """Times without those that stand twice (of a jump the later), and their places."""
    kept = np.flatnonzero(np.append(np.diff(times) > 0, True))
    return times[kept], kept
