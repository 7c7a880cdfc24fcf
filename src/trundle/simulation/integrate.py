"""Integration of ẋ = f(t, x) by SciPy's methods, in pieces between the jumps of the inputs, with dense output at
asked times.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.simulation.extremes import MOST_NOTES, Extremes, Recorder

if TYPE_CHECKING:
    from scipy.integrate import DenseOutput, OdeSolver

# Methods that ask for ∂f/∂x.
IMPLICIT = ("lsoda", "radau", "bdf")
_SCIPY_NAMES = {"radau": "Radau", "bdf": "BDF", "dop853": "DOP853", "rk45": "RK45", "rk23": "RK23"}
# Times closer than this share of the run are one: a table's 0.3 s and an output's 3 · 0.1 s differ by rounding.
SAME_TIME = 1e-12
# Steps that LSODA may take in one of `PARTS` equal parts of a run before it gives up, which takes it a second.
MOST_STEPS = 20_000
PARTS = 1000
# Jumps that are looked for where LSODA gets stuck, before a run fails.
MOST_REPAIRS = 20
# Explicit methods are limited to steps of a few times a motion's shortest time constant. Up to this many time constants
# in a run Dormand-Prince 8(5,3), stable to |λ|h = 6, takes fewer steps than its accuracy asks for anyway.
MOST_DECAY = 1000.0
# Polynomials of the fifth degree through steps are off by 1e-6 at Dormand-Prince's own tolerance, and at 1e-7, where
# its steps are three times as long, by 2e-3: beyond this relative tolerance steps are cut into so many parts.
_CLOSE, _INSIDE = 1e-10, 6

RateFunction = Callable[[float, FloatArray], FloatArray]


@dataclass(frozen=True)
class Settings:
    """How to integrate: method, relative and absolute tolerance of a step's error, and the longest step (s).

    Without a longest step a robot at rest is stepped over in seconds, and a short pulse of an input with it.
    """

    method: str = "lsoda"
    rtol: float = 1e-9
    atol: float | FloatArray = 1e-10
    longest_step: float = math.inf


_ADVICE = """
  the motion may diverge there, or an input given as a function may jump too often: give that as a table with
  interpolation 'previous', or take method 'dop853'"""


def tolerances(method: str, rtol: float | None, atol: float | None) -> tuple[float, float]:
    """Relative and absolute tolerance of a method, by default those that keep its drift out of sight.

    Dormand-Prince 8(5,3) runs conservative models: at 1e-9 the energy of a double pendulum drifts by 1e-8 of what turns
    over in 10 s, at 1e-11 by 1e-10, for a quarter more time than at 1e-10. The others' default is 1e-9.
    """
    if rtol is None:
        rtol = 1e-11 if method == "dop853" else 1e-9
    return rtol, rtol / 10 if atol is None else atol


class StuckError(NumericsError):
    """A method that took no more steps, and the time (s) it had come to."""

    def __init__(self, message: str, time: float) -> None:
        super().__init__(message)
        self.time = time


class LongError(NumericsError):
    """A run that goes on steadily, and is far too long for the steps that it takes."""


def integrate(
    make: Callable[[float, float], tuple[RateFunction, RateFunction | None]],
    start: Sequence[float] | FloatArray,
    times: FloatArray,
    *,
    breaks: Sequence[float],
    settings: Settings,
    names: Sequence[str],
    find: Callable[[float, float], Sequence[float]] | None = None,
    watch: Callable[[], Extremes] | None = None,
    jump: Callable[[float, float, FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """States (n, T) at increasing `times`, from `start` at the first.

    `make(a, b)` gives rate and Jacobian for the piece [a, b], on which inputs are smooth; `breaks` are the ends of
    pieces. A method is started anew at every break, so no step ever straddles a jump. Where LSODA gets stuck,
    `find(from, to)` may name more breaks. `jump(a, b, x)` is where the state goes at the beginning of a piece [a, b],
    and at the last time; what is stored there comes after it. What `watch` gives anew sees all steps of the run. Raises
    NumericsError where the states stop being finite.
    """
    breaks = list(breaks)
    for _ in range(MOST_REPAIRS):
        take = watch().take if watch is not None else None
        edges = edges_of(times, breaks)
        at, state = snapped(times, np.array(edges)), np.array(start, dtype=float)
        result = np.empty((state.size, times.size))
        try:
            for a, b in pairwise(edges):
                state = state if jump is None else jump(a, b, state)
                inside = (at >= a) & ((at < b) | (b == at[-1]))
                wanted = np.unique(np.concatenate([[a], at[inside], [b]]))
                recorder = Recorder(a, b, take)
                part = float(times[-1] - times[0]) / PARTS
                piece = _piece(*make(a, b), state, wanted, settings, part=part, recorder=recorder)
                _check(piece, wanted, names)
                recorder.done(piece[:, -1])
                result[:, inside] = piece[:, np.searchsorted(wanted, at[inside])]
                state = piece[:, -1]
            if jump is not None:
                result[:, -1] = jump(edges[-1], edges[-1], state)
            return result
        except StuckError as error:
            more = [] if find is None else _near(error.time, [*breaks, times[0], times[-1]], find)
            if not more:
                raise NumericsError(f"{error}{_ADVICE if find is not None else ''}") from None
            # The run starts over with the pieces cut anew: the one that got stuck has a jump inside.
            breaks += more
    raise NumericsError(
        f"the inputs jump too often to be found one by one: {MOST_REPAIRS} jumps stopped the integration{_ADVICE}"
    )


def _near(t: float, known: Sequence[float], find: Callable[[float, float], Sequence[float]]) -> list[float]:
    """New breaks near t, which windows that grow look for; the last two of the `known` ones are the run's ends."""
    first, last = float(known[-2]), float(known[-1])
    for width in (share * (last - first) for share in (1e-6, 1e-4, 1e-2)):
        jumps = find(max(t - width, first), min(t + width, last))
        more = [b for b in jumps if np.abs(np.array(known) - b).min() > SAME_TIME * (last - first)]
        if more:
            return more
    return []


def edges_of(times: FloatArray, breaks: Sequence[float]) -> list[float]:
    """Ends of the pieces: first and last time and the breaks between; of those that only rounding parts, the later."""
    least = SAME_TIME * (times[-1] - times[0])
    edges = [float(times[0])]
    for b in sorted(float(b) for b in breaks if times[0] + least < b < times[-1] - least):
        if len(edges) > 1 and b - edges[-1] <= least:
            edges[-1] = b
        else:
            edges.append(b)
    return [*edges, float(times[-1])]


def snapped(times: FloatArray, edges: FloatArray) -> FloatArray:
    """`times` with those that only rounding keeps from an edge put on it: no method can step over 10⁻¹⁷ s."""
    after = np.clip(np.searchsorted(edges, times), 1, edges.size - 1)
    before = edges[after - 1]
    near = np.where(times - before < edges[after] - times, before, edges[after])
    return np.where(np.abs(times - near) <= SAME_TIME * (times[-1] - times[0]), near, times)


def _piece(
    rate: RateFunction,
    jacobian: RateFunction | None,
    state: FloatArray,
    times: FloatArray,
    settings: Settings,
    *,
    part: float,
    recorder: Recorder,
) -> FloatArray:
    """States (n, times) over one piece without a break, by LSODA or a method of SciPy's.

    Raises NumericsError where the method gives up before the last time.
    """
    if settings.method == "lsoda":
        # The bound on steps holds between output times: more of them, so that it doesn't hang on what is stored.
        inner = np.linspace(times[0], times[-1], math.ceil((times[-1] - times[0]) / part) + 1)
        dense = np.union1d(times, inner[(inner > times[0]) & (inner < times[-1])])
        states = _lsoda(rate, jacobian, state, dense, settings, recorder)
        return states[:, np.searchsorted(dense, times)]
    from scipy.integrate import solve_ivp

    solve = solve_ivp if jacobian is None else partial(solve_ivp, jac=jacobian)
    with np.errstate(all="ignore"):
        solution = solve(
            rate,
            (times[0], times[-1]),
            state,
            method=cast(str, _noting(settings, recorder)),  # SciPy's stubs know methods by name alone
            t_eval=times,
            rtol=max(settings.rtol, 3e-14),  # SciPy's own least value, 100 epsilons, rounded up
            atol=settings.atol,
            max_step=settings.longest_step,
        )
    if solution.status < 0:
        reached = solution.t[-1] if len(solution.t) else times[0]
        raise NumericsError(f"the integration failed at t = {reached:g} s: {solution.message}")
    return solution.y


def _noting(settings: Settings, recorder: Recorder) -> type[OdeSolver]:
    """A method of SciPy's that also tells a recorder where its steps lead."""
    import scipy.integrate

    base: type[OdeSolver] = getattr(scipy.integrate, _SCIPY_NAMES[settings.method])
    inside = _INSIDE if settings.method == "dop853" and settings.rtol > _CLOSE else 0

    class Noting(base):
        """The method."""

        _latest: DenseOutput | None = None

        def step(self) -> str | None:
            """Take a step."""
            recorder.note([self.t], self.y[:, None])
            before = self.t
            self._latest, message = None, super().step()
            if inside and self.status != "failed":
                times = np.linspace(before, self.t, inside, endpoint=False)[1:]
                recorder.note(times.tolist(), self.dense_output()(times))
            return message

        def dense_output(self) -> DenseOutput:
            """The latest step's, which is computed once."""
            self._latest = self._latest or super().dense_output()
            return self._latest

    return Noting


def _lsoda(
    rate: RateFunction,
    jacobian: RateFunction | None,
    state: FloatArray,
    times: FloatArray,
    settings: Settings,
    recorder: Recorder,
) -> FloatArray:
    """LSODA through `odeint`, whose loop runs in compiled code (Hindmarsh 1983; Petzold 1983)."""
    from scipy.integrate import ODEintWarning, odeint

    asked, moment, state_of = recorder.times, recorder.times.append, recorder.states.append

    def watched(t: float, y: FloatArray) -> FloatArray:
        moment(t)
        state_of(y.tobytes())
        if len(asked) >= MOST_NOTES:
            recorder.shorten()
        return rate(t, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ODEintWarning)
        states, details = odeint(
            watched,
            state,
            times,
            Dfun=jacobian,
            tfirst=True,
            full_output=True,
            rtol=settings.rtol,
            atol=settings.atol,
            mxstep=MOST_STEPS + math.ceil(float(np.diff(times).max()) / settings.longest_step),
            hmax=0.0 if math.isinf(settings.longest_step) else settings.longest_step,
            tcrit=[times[-1]],
        )
    if details["message"] != "Integration successful.":
        # LSODA blames "wrong Dfun type" for whatever stops it
        if details["message"].startswith("Excess work") and _goes_on(asked):
            raise LongError(_too_long(asked, float(times[-1])))
        words = details["message"].partition(" (perhaps")[0].rstrip(".")
        said = f"the robot is singular there or the motion diverged (LSODA: {words})"
        latest = asked[-1]
        raise StuckError(f"the integration failed at t = {latest:g} s: {said}", latest)
    return states.T


def _goes_on(asked: Sequence[float]) -> bool:
    """Whether the later half of the steps came about as far as the earlier, and all are more than the time's rounding:
    nothing is singular there.
    """
    came = asked[-1] - asked[0]
    return came > len(asked) * np.spacing(asked[-1]) and asked[-1] - asked[len(asked) // 2] > came / 4


def _too_long(asked: Sequence[float], end: float) -> str:
    step = (asked[-1] - asked[0]) / len(asked)
    return (
        f"steps of some {step:.2g} s would have to lead to {end:g} s: LSODA takes {MOST_STEPS:,} between two "
        f"stored times, or in a {PARTS:,}th of a run, and came to t = {asked[-1]:g} s\n"
        "  is so quick a motion meant? then shorten the run, store more samples, or take method 'dop853', which has no "
        "such bound and may take very long"
    )


def _check(piece: FloatArray, times: FloatArray, names: Sequence[str]) -> None:
    for row, column in np.argwhere(~np.isfinite(piece))[:1]:
        raise NumericsError(
            f"'{names[row]}' stopped being finite at t = {times[column]:g} s: "
            "the robot is singular there or the motion diverged"
        )
