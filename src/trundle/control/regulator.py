"""Linear-quadratic regulators by tolerances, continuous and sampled, on what inputs can move.

The path of the data: a steady motion is linearised; of its states those stay that matter to what has a tolerance and
that inputs move (`parts`); tolerances become weights (Bryson's rule), and the Riccati equation gives the gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.control.design_along import design_along
from trundle.control.linear_control import uncontrollable, without_rounding
from trundle.control.linear_trajectory import LinearTrajectory, linearize_along
from trundle.control.linearization import Linearization
from trundle.control.margins import Margin, margin
from trundle.control.regulator_along import RegulatorAlong
from trundle.control.riccati import continuous, sampled, stepped
from trundle.control.tolerances import in_si, require_inputs, tolerances_of
from trundle.control.trim import Trim, linearized_motion
from trundle.errors import InputError, NumericsError
from trundle.expected import by_name
from trundle.frozen import frozen
from trundle.model.arguments import Given, model_of, number
from trundle.progress import Doing
from trundle.shown import Displayable

if TYPE_CHECKING:
    from trundle.results import Run
    from trundle.robot import Controller

Complexes = npt.NDArray[np.complex128]


@dataclass(frozen=True, repr=False, eq=False)
class Regulator(Displayable):
    """δu = −K z, which makes Σ (z_i/tolerance_i)² + Σ (δu_k/tolerance_k)², integrated from now on, least.

    K (m, n) by the inputs and states of `about`, the part of the linearisation that it was designed on. riccati (n, n):
    zᵀ S z is what a deviation z costs. period: the seconds between samples, None where it acts at every instant.
    tolerances: by state and input, in SI.
    """

    about: Linearization
    K: FloatArray
    riccati: FloatArray
    tolerances: Mapping[str, float]
    period: float | None = None

    @property
    def name(self) -> str:
        """The model's."""
        return self.about.name

    @cached_property
    def _system(self) -> tuple[FloatArray, FloatArray]:
        """A and B, or those from sample to sample."""
        about = self.about
        return (about.A, about.B) if self.period is None else stepped(about.A, about.B, self.period)

    @cached_property
    def poles(self) -> Complexes:
        """Eigenvalues of the closed loop, the slowest first, (n,): 1/s, or those of one sample to the next."""
        a, b = self._system
        return slowest_first(a - b @ self.K, self.period)

    def cost(self, deviation: Mapping[str, float | str]) -> float:
        """What it costs to bring a small deviation back.

        Parameters
        ----------
        deviation : mapping of str to number or str
            z by state of `about` (SI, or text with units); those not given are 0.

        Returns
        -------
        float
            zᵀ S z (s): the integral of what is made least.

        Raises
        ------
        InputError
            A name is no state of `about`, or a value no finite number in its unit.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
        >>> hold.cost({"v_x": 0.01}) < hold.cost({"v_x": 0.02})
        True
        """
        sizes = in_si(by_name(deviation, "deviation"), self.about.states, self.about, "deviation")
        z = np.array([sizes.get(name, 0.0) for name in self.about.states])
        return float(z @ self.riccati @ z)

    @cached_property
    def margins(self) -> Mapping[str, Margin]:
        """What each input's loop bears, the other loops closed."""
        a, b = self._system
        return {
            name: margin(a, b, self.K, place, self.poles, self.period)
            for place, name in enumerate(self.about.inputs)
        }

    def controller(self) -> Controller:
        """The same as a part of the robot: `trundle.derive(robot, controllers={"hold": regulator.controller()})`.

        Returns
        -------
        Controller
            A state feedback: it reads the states that z is made of, and adds −K z to the inputs of the steady motion.

        Raises
        ------
        InputError
            Where z holds the pose of a motion that goes on, or a rotation in space, which no constant row gives.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
        >>> closed = trundle.derive(model.robot, controllers={"hold": hold.controller()})
        >>> closed.inputs
        ()
        """
        return self.about.controller(self.K, period=self.period)


def slowest_first(matrix: FloatArray, period: float | None) -> Complexes:
    """Eigenvalues of what goes on by itself, or from sample to sample, the slowest first."""
    found: Complexes = np.linalg.eigvals(matrix).astype(complex)
    return found[np.lexsort((-found.imag, -found.real if period is None else -np.abs(found)))]


def between_samples(period: float | str | None) -> float | None:
    """The time between samples (s), None where there are none; raises InputError where it isn't above 0."""
    sample = None if period is None else number(period, "period", "s")
    if sample is not None and not sample > 0:
        raise InputError(f"expected a time between samples greater than 0, got {sample:g} s", key="period")
    return sample


@overload
def lqr(
    model: Given,
    at: Mapping[str, float | str] | Trim | Linearization | None = None,
    tolerances: Mapping[str, float | str] | None = None,
    *,
    period: float | str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    base: str | None = None,
) -> Regulator: ...


@overload
def lqr(
    model: Given,
    *,
    along: Run | LinearTrajectory,
    tolerances: Mapping[str, float | str] | None = None,
    final: Mapping[str, float | str] | None = None,
    period: float | str | None = None,
    base: str | None = None,
) -> RegulatorAlong: ...


def lqr(
    model: Given,
    at: Mapping[str, float | str] | Trim | Linearization | None = None,
    tolerances: Mapping[str, float | str] | None = None,
    *,
    along: Run | LinearTrajectory | None = None,
    final: Mapping[str, float | str] | None = None,
    period: float | str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    base: str | None = None,
) -> Regulator | RegulatorAlong:
    """The linear-quadratic regulator about a steady motion, or along a run, from what may be off by how much.

    δu = −K z makes ∫ Σ (z_i/Δz_i)² + Σ (δu_k/Δu_k)² dt least: weights by Bryson's rule. 0 = AᵀS + SA − SB R⁻¹BᵀS + Q
    and K = R⁻¹BᵀS; with a period the integral between samples is taken exactly (Van Loan), and the gain is that of the
    discrete equation. Along a run −Ṡ = AᵀS + SA − SB R⁻¹BᵀS + Q, backwards from its end.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        A model, or what one is derived from here.
    at : mapping, Trim or Linearization, optional
        What is asked of the steady motion, as of `model.trim`, or that motion; by default standing still.
    tolerances : mapping of str to number or str
        By state or input how far it may be off (SI, or text with units): {"y": "5 cm", "left_motor.voltage": "12 V"}.
        Every input needs one. States that lead to none with a tolerance, such as wheels' angles, are left out.
    along : Run or LinearTrajectory, optional
        A run of this model, or that linearised, in place of `at`: gains that change, to its end.
    final : mapping of str to number or str, optional
        How far states may be off at the end of the run: Σ (z_i/Δz_i)² there counts like a second. By default nothing.
    period : number or str, s, optional
        The time between samples, between which inputs are held. By default it acts at every instant.
    parameters : mapping of str to number or str, optional
        Changed values by name.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Regulator
        The gain with its names, poles, margins and cost; `.controller()` is a part of the robot.
    RegulatorAlong
        Of a run: gains over time, their cost; `.controller()` with `.references(…)`, or `.law` in Python.

    Raises
    ------
    InputError
        For names and values that don't fit, for a motion that isn't steady, and for states that no input moves: named,
        with the reason.
    NumericsError
        Where no steady motion is found, or the Riccati equation has no stabilising solution.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> tolerances = {"v_x": "5 cm/s", "omega": "5 deg/s", "left_motor.voltage": "6 V", "right_motor.voltage": "6 V"}
    >>> model.lqr({"v_x": 1.0}, tolerances).K.shape
    (2, 4)

    References
    ----------
    Bryson & Ho 1975, sec. 5.2; Van Loan 1978, IEEE Transactions on Automatic Control 23(3).
    """
    sample = between_samples(period)
    tolerated = {} if tolerances is None else by_name(tolerances, "tolerances")
    model = at.model if isinstance(at, Linearization | Trim) else model_of(model, "lqr", base)
    require_inputs(model)
    if along is not None:
        if at is not None or parameters is not None:
            given = "at" if at is not None else "parameters"
            raise InputError("a run has its own motion and parameters", key=given, hint=f"leave {given} away")
        with Doing(True, f"designing a regulator of {model.name} along a run"):
            run = along if isinstance(along, LinearTrajectory) else linearize_along(model, along, [])
            return design_along(run, tolerated, by_name({} if final is None else final, "final"), sample)
    if final is not None:
        raise InputError("only a run has an end", key="final", hint="give along=run, too")
    return _about_motion(linearized_motion(model, at, parameters), tolerated, sample)


def _about_motion(
    about: Linearization, tolerances: Mapping[str, float | str], sample: float | None
) -> Regulator:
    """The regulator about a steady motion."""
    if not about.is_steady:
        raise InputError(
            f"a regulator holds a steady motion, and at this state {', '.join(about.drifting)} change",
            key="at",
            hint="model.trim finds a steady motion: give lqr what it gives, or along=run",
        )
    tolerances = tolerances_of(about, tolerances)
    part = _part(about, tolerances)
    q = np.diag([tolerances[name] ** -2 if name in tolerances else 0.0 for name in part.states])
    r = np.diag([tolerances[name] ** -2 for name in part.inputs])
    _require_seen(part, q)
    try:
        gain, riccati = (
            continuous(part.A, part.B, q, r) if sample is None else sampled(part.A, part.B, q, r, sample)
        )
    except NumericsError as error:
        raise NumericsError(f"{part.name}: {error}") from None
    return Regulator(part, frozen(gain), frozen(riccati), tolerances, sample)


def _part(about: Linearization, tolerances: Mapping[str, float]) -> Linearization:
    """What inputs move of the states that lead to those with a tolerance; InputError for those that no input moves."""
    slopes, _ = without_rounding(about)
    wanted = np.array([name in tolerances for name in about.states])
    for _ in about.states:
        wanted |= (slopes[wanted] != 0).any(axis=0)
    idle = [
        name
        for name, leads in zip(about.states, wanted, strict=True)
        if not leads and name in about.free_moving
    ]
    part = about.reduced(without=idle)
    lost = [name for name in tolerances if name in about.states and name not in part.states]
    if lost:
        why = about.controllability.explain()
        raise InputError(
            f"no tolerance of {', '.join(lost)} can be kept at this motion\n  {why}",
            key="tolerances",
            hint="give a tolerance to one state of such a combination alone, or hold another motion",
        )
    return part


def _require_seen(part: Linearization, q: FloatArray) -> None:
    """Raise InputError where something that doesn't die out by itself has no part in what is made least."""
    if names := uncontrollable(part.A.T, np.sqrt(q)).lasting(part.states):
        raise InputError(
            f"nothing that is made least sees {', '.join(names)}, which doesn't die out by itself",
            key="tolerances",
            hint=f"give {names[0]} a tolerance",
        )
