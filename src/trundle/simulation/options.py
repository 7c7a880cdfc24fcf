"""What users say about a run beside its inputs: times, method, tolerances, initial values; each checked once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.choices import METHODS, MOST_SAMPLES
from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.arguments import named, number
from trundle.results.arrays import FloatArray
from trundle.robot.values import describe

Times = Sequence[float] | FloatArray


@dataclass(frozen=True)
class Options:
    """When a run is stored and how it is integrated.

    stored: the times to store (s), increasing. method: one of METHODS. rtol, atol: bounds on each step's error; None
    for the method's own. max_step: the longest step (s) that a user asks for, if any.
    """

    stored: FloatArray
    method: str = "auto"
    rtol: float | None = None
    atol: float | None = None
    max_step: float | None = None

    @property
    def times(self) -> FloatArray:
        """The stored times, and 0 before them, where every run starts."""
        return self.stored if self.stored[0] == 0 else np.concatenate([[0.0], self.stored])

    @property
    def end(self) -> float:
        """The last time (s)."""
        return float(self.stored[-1])


def options_of(
    duration: float | str,
    samples: int,
    times: Times | None,
    method: str,
    rtol: float | None,
    atol: float | None,
    max_step: float | str | None,
    tolerance: float | None = None,
) -> Options:
    """The options of a run, checked; the arguments are those of `simulate`. Raises InputError.

    tolerance: rtol and atol where these aren't given; None leaves them to the method.
    """
    if method not in METHODS:
        raise InputError(
            f"method '{method}' is not known", key="run.method", hint=f"known: {', '.join(METHODS)}"
        )
    stored = sample_times(duration, samples) if times is None else _given_times(times)
    longest = None if max_step is None else seconds(max_step, "max_step")
    bounds = (
        _tolerance(tolerance if rtol is None else rtol, "rtol"),
        _tolerance(tolerance if atol is None else atol, "atol"),
    )
    return Options(stored, method, *bounds, longest)


def sample_times(duration: float | str, samples: int) -> FloatArray:
    """`samples` equal times from 0 to `duration`."""
    end = seconds(duration, "run.duration")
    size = whole(samples, "run.samples", 2)
    if size > MOST_SAMPLES:
        raise InputError(
            f"{size:,} samples are too many to store; at most {MOST_SAMPLES:,}",
            key="run.samples",
            hint=f"with 20 states and outputs they would take {160e-9 * size:,.1f} GB",
        )
    return np.linspace(0.0, end, size)


def _given_times(times: Times) -> FloatArray:
    try:
        at = np.array(times, dtype=float)
    except (TypeError, ValueError):
        at = np.zeros(0)
    if at.ndim != 1 or at.size < 1 or not np.isfinite(at).all() or at[0] < 0 or (np.diff(at) <= 0).any():
        raise InputError(
            "times must be increasing finite numbers of seconds, from 0 on",
            key="times",
            hint="such as [0.5, 1, 2]",
        )
    if at[-1] == 0:
        raise InputError("times must have one after 0, where a run starts", key="times")
    return at


def whole(given: object, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= least:
        return int(given)
    raise InputError(
        f"{name.rpartition('.')[2]} must be a whole number of at least {least}, not {describe(given)}",
        key=name,
    )


def seconds(given: object, name: str) -> float:
    """A positive number of seconds, from a number or text such as "2 min"."""
    found = number(given, name, "s")
    if not found > 0:
        raise InputError(f"expected a positive number of seconds, above zero, got {found:g}", key=name)
    return found


def _tolerance(given: float | None, name: str) -> float | None:
    """A tolerance that a method can meet; None stands for the method's own."""
    if given is None:
        return None
    right = isinstance(given, (int, float, np.number)) and not isinstance(given, (bool, complex))
    if not (right and math.isfinite(given) and given > 0):
        raise InputError(f"{name} must be a positive number, not {describe(given)}", key=f"run.{name}")
    return float(given)


def initial_numbers(
    given: Mapping[str, float | str] | None,
    known: Iterable[str],
    units: Mapping[str, str],
    name: str,
    kind: str,
    dependent: Mapping[str, str],
) -> dict[str, float]:
    """Initial values in SI by name; InputError for names that aren't `known`, with a word on `dependent` ones."""
    result = {}
    for each, value in named(given, "initial").items():
        if each not in known:
            raise unknown_start(each, known, name, kind, dependent)
        result[each] = number(value, f"run.initial.{each}", units.get(each, ""))
    return result


def unknown_start(
    each: str, known: Iterable[str], name: str, kind: str, dependent: Mapping[str, str]
) -> InputError:
    """The error for a start that can't be given; `dependent` maps names that follow from others to how."""
    key = f"run.initial.{each}"
    if each in dependent:
        return InputError(f"'{each}' {dependent[each]}", key=key, hint=f"give some of: {', '.join(known)}")
    return InputError(f"'{each}' is not a {kind} of '{name}'", key=key, hint=suggest(str(each), known))


def dependents(model: Model) -> dict[str, str]:
    """Outputs of a model by name, each with why it can't be given at the start."""
    free = ", ".join(model.speeds) or "none"
    return {
        each: f"is a dependent speed: it follows from the independent ones ({free})"
        if model.quantities[each].kind == "speed"
        else "is an output: it follows from the states"
        for each in model.outputs
    }
