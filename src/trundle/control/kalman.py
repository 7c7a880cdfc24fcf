"""Kalman gains by noise in physical names, continuous and sampled: the regulator's dual.

The path of the data: a steady motion is linearised with the measurements as outputs; of its states those stay that
lead to a measurement; noise becomes densities, and Riccati's equation of (Aᵀ, Cᵀ) gives the gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.closing import LinearSystem
from trundle.control.linear_control import uncontrollable, without_rounding
from trundle.control.linearization import Linearization
from trundle.control.regulator import Complexes, Regulator, between_samples, slowest_first
from trundle.control.riccati import continuous, stepped, symmetric, zero_order_hold
from trundle.control.tolerances import in_si
from trundle.control.trim import Trim, linearized_motion
from trundle.errors import InputError, NumericsError, require_known
from trundle.expected import by_name
from trundle.frozen import frozen
from trundle.model.arguments import Given, model_of
from trundle.shown import Displayable

if TYPE_CHECKING:
    from trundle.robot import Controller


@dataclass(frozen=True, repr=False, eq=False)
class Kalman(Displayable):
    """ẑ' = A ẑ + B δu + L (y − C ẑ − D δu): the estimate of z that is off the least, in the mean of squares.

    L (n, r) by the states and outputs of `about`, the part of the linearisation that it was designed on. With a period
    L takes a sample in, ẑ⁺ = ẑ⁻ + L (y − C ẑ⁻ − D δu), and between samples ẑ' = A ẑ + B δu. covariance (n, n): of what
    the estimate is off by, after a sample. noise: by state, input and measurement, in SI.
    """

    about: Linearization
    L: FloatArray
    covariance: FloatArray
    noise: Mapping[str, float]
    measured: Mapping[str, float]
    period: float | None = None

    @property
    def name(self) -> str:
        """The model's."""
        return self.about.name

    @cached_property
    def poles(self) -> Complexes:
        """Eigenvalues of the estimate's error, the slowest first, (n,): 1/s, or those of one sample to the next."""
        about = self.about
        if self.period is None:
            return slowest_first(about.A - self.L @ about.C, None)
        moved, _ = stepped(about.A, about.B, self.period)
        return slowest_first(moved @ (np.eye(len(moved)) - self.L @ about.C), self.period)

    @property
    def deviations(self) -> dict[str, float]:
        """What the estimate of each state is off by, a standard deviation, in SI."""
        return dict(zip(self.about.states, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    def controller(self, regulator: Regulator) -> Controller:
        """The regulator on the estimate, as a part of the robot: δu = −K ẑ of the measurements alone.

        Parameters
        ----------
        regulator : Regulator
            About the same motion, on states that are estimated here.

        Returns
        -------
        Controller
            A linear system that reads the measurements, ẑ' = (A − B K − L (C − D K)) ẑ + L δy; or one that samples.

        Raises
        ------
        InputError
            Where the regulator holds another motion or states that aren't estimated, or samples otherwise, and where a
            measurement moves on in this motion.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": 1.0, "right_motor.voltage": 1.0}
        >>> seen = model.kalman({"v_x": 1.0}, volts, {"left.rate": 0.01, "right.rate": 0.01})
        >>> hold = model.lqr({"v_x": 1.0}, {"v_x": 0.05, "omega": 0.1, **volts})
        >>> closed = trundle.derive(model.robot, controllers={"hold": seen.controller(hold)})
        """
        about, of = self.about, regulator.about
        if self.period != regulator.period:
            message = (
                f"the estimate samples every {self.period} s and the regulator every {regulator.period} s"
            )
            raise InputError(message, key="period", hint="give both the same")
        apart = [name for name, value in of.state.items() if name in of.states and about.state[name] != value]
        if apart or about.input != of.input:
            came = f"{apart[0]} = {of.state[apart[0]]:g}" if apart else "other inputs"
            raise InputError(f"the regulator holds another motion: {came}", key="regulator")
        missing = [name for name in of.states if name not in about.states]
        if missing:
            raise InputError(
                f"the regulator's {', '.join(missing)} isn't estimated from {', '.join(about.outputs)}",
                key="regulator",
                hint="measure more, or give no tolerance for it",
            )
        gain = np.zeros((len(about.inputs), len(about.states)))
        gain[:, [about.states.index(name) for name in of.states]] = regulator.K
        return about.controller(self._closed(gain))

    def _closed(self, gain: FloatArray) -> LinearSystem:
        """The filter with δu = −K ẑ put in: from measurements to inputs."""
        about = self.about
        if self.period is not None:
            if about.D.any():
                raise InputError("what is measured hangs at once on inputs", hint="measure states")
            moved, driven = stepped(about.A, about.B, self.period)
            kept, closed = np.eye(len(moved)) - self.L @ about.C, moved - driven @ gain
            return LinearSystem(closed @ kept, closed @ self.L, gain @ kept, gain @ self.L, self.period)
        inner = about.A - about.B @ gain - self.L @ (about.C - about.D @ gain)
        return LinearSystem(inner, self.L, gain, np.zeros((len(gain), self.L.shape[1])))


def kalman(
    model: Given,
    at: Mapping[str, float | str] | Trim | Linearization | None = None,
    noise: Mapping[str, float | str] | None = None,
    measured: Mapping[str, float | str] | None = None,
    *,
    period: float | str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    base: str | None = None,
) -> Kalman:
    """The Kalman gain about a steady motion, from noise by name.

    ż = A z + B (δu + w) + v, y = C z + D δu + e with white noise w, v, e: 0 = AP + PAᵀ − PCᵀR⁻¹CP + Q and
    L = PCᵀR⁻¹, Q of v and of w through B. With a period R is that of a sample and Q is integrated exactly.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        A model, or what one is derived from here.
    at : mapping, Trim or Linearization, optional
        What is asked of the steady motion, as of `model.trim`, or that motion; by default standing still.
    noise : mapping of str to number or str
        By input or state what disturbs it: the standard deviation of its mean over one second, and of what a state
        wanders in one second (SI, or text with units). {"left_motor.voltage": "0.5 V", "v_x": "1 cm/s"}
    measured : mapping of str to number or str
        By state or output that is measured: the standard deviation of a sample's error, or without a period that of
        its mean over one second. A position is measured along the base's axes in the motion. States that lead to no
        measurement, such as a pose seen by none, are left out.
    period : number or str, s, optional
        The time between samples. By default measurements are continuous.
    parameters : mapping of str to number or str, optional
        Changed values by name.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Kalman
        The gain with its names, poles and covariance; `.controller(regulator)` is a part of the robot.

    Raises
    ------
    InputError
        For names and values that don't fit, for a motion that isn't steady, and for states that no measurement sees or
        that no noise moves, where they don't die out: named.
    NumericsError
        Where no steady motion is found, or the Riccati equation has no stabilising solution.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> volts = {"left_motor.voltage": "1 V", "right_motor.voltage": "1 V"}
    >>> seen = model.kalman({"v_x": 1.0}, volts, {"left.rate": 0.01, "right.rate": 0.01}, period="10 ms")
    >>> seen.about.states
    ('v_x', 'omega', 'right_motor.current', 'left_motor.current')

    References
    ----------
    Kalman & Bucy 1961, Journal of Basic Engineering 83(1); Bryson & Ho 1975, sec. 12.4.
    """
    sample = between_samples(period)
    seen = by_name({} if measured is None else measured, "measured")
    if not seen:
        raise InputError("nothing is measured", key="measured", hint='measured={"v_x": "1 cm/s"}')
    model = at.model if isinstance(at, Linearization | Trim) else model_of(model, "kalman", base)
    for name in seen:
        message = f"there is no state or output {name!r}"
        require_known(name, (*model.states, *model.outputs), message, key=f"measured.{name}")
    about = linearized_motion(model, at, parameters, list(seen))
    if not about.is_steady:
        raise InputError(
            f"the gain is of a steady motion, and at this state {', '.join(about.drifting)} change",
            key="at",
            hint="model.trim finds a steady motion: give kalman what it gives",
        )
    by_noise = by_name({} if noise is None else noise, "noise")
    shaken = in_si(by_noise, (*about.inputs, *about.states), about, "noise")
    return _designed(_seen(_along_axes(about)), shaken, in_si(seen, about.outputs, about, "measured"), sample)


def _designed(
    part: Linearization, noise: Mapping[str, float], measured: Mapping[str, float], period: float | None
) -> Kalman:
    """The gain on what measurements see; raises InputError for what doesn't die out and isn't seen, or moved."""
    for key, sizes in (("noise", noise), ("measured", measured)):
        if few := [name for name, size in sizes.items() if not size > 0]:
            raise InputError(f"a deviation is greater than 0, got {sizes[few[0]]:g}", key=f"{key}.{few[0]}")
    wanders = np.array([noise.get(name, 0.0) for name in part.states])
    pushed = part.B * np.array([noise.get(name, 0.0) for name in part.inputs])
    disturbance = np.hstack([pushed, np.diag(wanders)])
    _require_lasting(part, part.A.T, part.C.T, "no measurement sees", "measure it, too")
    _require_lasting(part, part.A, disturbance, "no noise moves", "give it or an input that moves it noise")
    r = np.diag([measured[name] ** 2 for name in part.outputs])
    gain, covariance = _solved(part, disturbance, r, period)
    return Kalman(part, frozen(gain), frozen(covariance), noise, measured, period)


def _along_axes(about: Linearization) -> Linearization:
    """The same where a position is measured along the axes of z: along the world's, C would turn with the heading."""
    c = about.C.copy()
    for row, name in enumerate(about.outputs):
        if name in about.states:
            c[row] = [name == other for other in about.states]
    return replace(about, C=frozen(c))


def _seen(about: Linearization) -> Linearization:
    """The part of the states that lead to a measurement."""
    slopes, _ = without_rounding(about)
    leads = np.any(about.C != 0, axis=0)
    if blind := [name for name, row in zip(about.outputs, about.C, strict=True) if not row.any()]:
        raise InputError(f"{blind[0]} shows no state at this motion", key=f"measured.{blind[0]}")
    for _ in about.states:
        leads = leads | np.any(slopes[leads] != 0, axis=0)
    kept = np.flatnonzero(leads).tolist()
    return about.with_states([about.states[k] for k in kept])


def _require_lasting(part: Linearization, a: FloatArray, b: FloatArray, what: str, hint: str) -> None:
    """Raise InputError where something that doesn't die out is beyond (a, b)."""
    if names := uncontrollable(a, b).lasting(part.states):
        message = f"{what} {', '.join(names)}, which doesn't die out by itself"
        raise InputError(message, key="measured" if "measure" in what else "noise", hint=hint)


def _solved(
    part: Linearization, disturbance: FloatArray, r: FloatArray, period: float | None
) -> tuple[FloatArray, FloatArray]:
    """L and P: the regulator's equation of (Aᵀ, Cᵀ)."""
    from scipy.linalg import LinAlgError, solve_discrete_are

    try:
        if period is None:
            gain, covariance = continuous(part.A.T, part.C.T, disturbance @ disturbance.T, r)
            return gain.T, covariance
        moved, _ = stepped(part.A, part.B, period)
        spread = _integrated(part.A, disturbance, period)
        size = 1 / np.sqrt(np.diag(r))
        seen = part.C * size[:, None]
        before: FloatArray = solve_discrete_are(moved.T, seen.T, spread, np.eye(len(r)))
        gain = np.linalg.solve(seen @ before @ seen.T + np.eye(len(r)), seen @ before).T
        kept = np.eye(len(moved)) - gain @ seen
        return gain * size, symmetric(kept @ before @ kept.T + gain @ gain.T)
    except (LinAlgError, ValueError, NumericsError) as error:
        raise NumericsError(f"{part.name}: the Riccati equation can't be solved: {error}") from None


def _integrated(a: FloatArray, disturbance: FloatArray, period: float) -> FloatArray:
    """∫ exp(A t) Q exp(Aᵀ t) dt over a period."""
    nothing = np.zeros((len(a), 0))
    return zero_order_hold(a.T, nothing, disturbance @ disturbance.T, np.zeros((0, 0)), period).weight
