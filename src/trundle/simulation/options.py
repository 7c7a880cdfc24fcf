"""What users say about a run beside its inputs: times, method, tolerances, initial values, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray, as_numbers
from trundle.choices import METHODS, MOST_SAMPLES
from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.arguments import named, number
from trundle.model.plant import Plant
from trundle.robot.values import describe

# The least that can be told from 0: a thousandth of it, squared, is still a float.
LEAST = 1e-50

Times = Sequence[float] | FloatArray


@dataclass(frozen=True)
class RunOptions:
    """When a run is stored and how it is integrated.

    stored: the times to store (s), increasing. method: one of METHODS. rtol, atol: bounds on a step's error; None
    for the method's own. max_step: the longest step (s) that a user asks for, if any. seed: of noise.
    """

    stored: FloatArray
    method: str = "auto"
    rtol: float | None = None
    atol: float | None = None
    max_step: float | None = None
    seed: int = 0

    @property
    def times(self) -> FloatArray:
        """The stored times, and 0 before them, where every run starts."""
        return self.stored if self.stored[0] == 0 else np.concatenate([[0.0], self.stored])

    @property
    def end(self) -> float:
        """The last time (s)."""
        return float(self.stored[-1])


def options_of(
    duration: float | str | None,
    samples: int,
    *,
    times: Times | None = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | str | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> RunOptions:
    """The options of a run, checked; the arguments are those of `simulate`. Raises InputError.

    tolerance: rtol and atol where these aren't given; None leaves them to the method.
    """
    method = str(method).lower()  # SciPy writes some of its names in capitals
    if method not in METHODS:
        raise InputError(
            f"method '{method}' is not known", key="run.method", hint=f"known: {', '.join(METHODS)}"
        )
    stored = _sample_times(10.0 if duration is None else duration, samples)
    if times is not None:
        stored = _given_times(times, duration)
    bounds = {"run.rtol": rtol, "run.atol": atol}
    tight = [tolerance if bound is None else positive(bound, name) for name, bound in bounds.items()]
    if (tight[0] or 0.0) >= 1:
        raise InputError(
            f"rtol must be below 1, got {rtol:g}: nothing of the result would be known",
            key="run.rtol",
            hint="such as 1e-9",
        )
    longest = None if max_step is None else positive(max_step, "max_step", "s")
    return RunOptions(stored, method, tight[0], tight[1], longest, whole(seed, "run.seed", 0))


def _sample_times(duration: float | str, samples: int) -> FloatArray:
    """Times (s) in equal steps from 0 to the duration, both included."""
    end = positive(duration, "run.duration", "s")
    size = whole(samples, "run.samples", 2)
    if size > MOST_SAMPLES:
        raise InputError(
            f"{size:,} samples are too many to store; at most {MOST_SAMPLES:,}",
            key="run.samples",
            hint=f"with 20 states and outputs they would take {160e-9 * size:,.1f} GB",
        )
    return np.linspace(0.0, end, size)


def _given_times(times: Times, duration: float | str | None) -> FloatArray:
    """Check times (s) that the user chose: they increase from 0 or later, and a duration must be the last."""
    try:
        at = as_numbers(times, "times")
    except InputError:
        at = np.zeros(0)
    if at.ndim != 1 or at.size < 1 or not np.isfinite(at).all() or at[0] < 0 or (np.diff(at) <= 0).any():
        raise InputError(
            "times must be increasing finite numbers of seconds, from 0 on",
            key="times",
            hint="such as [0.5, 1, 2]",
        )
    if at[-1] == 0:
        raise InputError("times must have one after 0, where a run starts", key="times")
    positive(at[-1], "times", "s")
    if duration is not None and not math.isclose(positive(duration, "run.duration", "s"), at[-1]):
        message = f"both a duration of {duration} and times that end at {at[-1]:g} s are given"
        raise InputError(message, key="times", hint="keep one of them: a run ends at the last of its times")
    return at


_MOST_WHOLE = 10**15  # of steps and samples: what a float counts exactly, with years to spare


def whole(given: object, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= least:
        if given > _MOST_WHOLE:
            raise InputError(f"{name.rpartition('.')[2]} is out of bounds: at most {_MOST_WHOLE:g}", key=name)
        return int(given)
    raise InputError(
        f"{name.rpartition('.')[2]} must be a whole number of at least {least}, not {describe(given)}",
        key=name,
    )


def positive(given: object, name: str, unit: str = "") -> float:
    """A number above zero, in SI, from a number, or with a unit from text such as "2 min"."""
    value = math.nan if isinstance(given, str) and not unit else number(given, name, unit)
    if 0 < value < LEAST:
        raise InputError(f"{float(value):g} is out of bounds: at least {LEAST:g}", key=name)
    if not value > 0:
        raise InputError(f"expected a positive number, above zero, got {describe(given)}", key=name)
    return value


def initial_numbers(given: Mapping[str, float | str] | None, system: Plant) -> dict[str, float]:
    """Initial values of states in SI by name."""
    for state in named(given, "initial"):
        require_state(state, system)
    return {
        state: number(value, f"run.initial.{state}", system.units.get(state, "rad"))
        for state, value in (given or {}).items()
    }


def require_state(name: str, system: Plant) -> None:
    """Raise InputError for what can't be given at the start, with a word on what follows from the states."""
    key, states = f"run.initial.{name}", system.start_names
    if name in states:
        return
    if name not in system.outputs or not isinstance(system, Model):
        kind = "coordinate" if system.states == system.coordinates else "state"
        raise InputError(f"'{name}' is not a {kind} of '{system.name}'", key=key, hint=suggest(name, states))
    how = "is an output: it follows from the states"
    if system.quantities[name].kind == "speed":
        free = ", ".join(system.speeds) or "none"
        how = f"is a dependent speed: it follows from the independent ones ({free})"
    raise InputError(f"'{name}' {how}", key=key, hint=f"give some of: {', '.join(states)}")
