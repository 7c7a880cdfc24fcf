"""What users pass to a run: numbers, text with units, names; each checked once, with an error that says what fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.arguments import kind_of, named, number
from trundle.robot import require_base_mass
from trundle.robot.values import describe

# Stored samples of one run, as in a run section; 10 million of them with 20 states are already 1.6 GB.
MOST_SAMPLES = 10_000_000


def require_model(given: Any, call: str) -> None:
    """Raise InputError for what is no model, saying how to make one, or whose base has no mass to accelerate."""
    if isinstance(given, Model):
        if given.robot is not None:
            require_base_mass(given.robot)
        return
    hint = "a robot is derived first: model = trundle.derive(robot)"
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        hint = "a file is loaded and derived first: model = trundle.derive(trundle.load(path))"
    raise InputError(f"{call} takes a model, not {kind_of(given)}", hint=hint)


def require_robot(given: Any, call: str) -> None:
    """Raise InputError for what is no described robot, saying where to find one."""
    if hasattr(given, "parameter_values") and hasattr(given, "wheels"):
        return
    hint = "load one: robot = trundle.load(path), or take one of trundle.catalog"
    if isinstance(given, Model):
        hint = "give the robot that it was derived from: model.robot"
        if given.robot is None:
            hint = "this model was not made from a description: it has no wheels to roll on"
    raise InputError(f"{call} takes a robot, not {kind_of(given)}", hint=hint)


def whole(given: Any, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    right = isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.bool_))
    if not right or given < least:
        raise InputError(
            f"{name.rpartition('.')[2]} must be a whole number of at least {least}, not {describe(given)}",
            key=name,
        )
    return int(given)


def duration_of(given: Any) -> float:
    """A positive number of seconds, from a number or text such as "2 min"."""
    seconds = number(given, "run.duration", "s")
    if not seconds > 0:
        raise InputError(
            f"the duration must be a positive number of seconds, not {seconds:g}", key="run.duration"
        )
    return seconds


def sample_times(duration: Any, samples: Any, times: Any) -> np.ndarray:
    """The times to store: as given (s, increasing, none before 0), or `samples` equal ones from 0 to `duration`."""
    if times is None:
        end = duration_of(duration)
        if isinstance(samples, (int, np.integer)) and samples < 2:
            raise InputError(f"a run needs at least 2 samples, not {samples}", key="run.samples")
        size = whole(samples, "run.samples", 2)
        if size > MOST_SAMPLES:
            raise InputError(
                f"{size:,} samples are too many to store; at most {MOST_SAMPLES:,}",
                key="run.samples",
                hint=f"with 20 states and outputs they would take {160e-9 * size:,.1f} GB",
            )
        return np.linspace(0.0, end, size)
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


def initial_numbers(
    given: Any, known: Mapping[str, Any] | Any, units: Mapping[str, str], name: str, *, kind: str = "state",
    dependent: Mapping[str, str] | None = None,
) -> dict[str, float]:  # fmt: skip
    """Initial values in SI by name; InputError for names that aren't `known`, with a word on `dependent` ones."""
    result = {}
    for each, value in named(given, "initial").items():
        if each not in known:
            raise unknown_start(each, known, name, kind, dependent or {})
        result[each] = number(value, f"run.initial.{each}", units.get(each, ""))
    return result


def unknown_start(each: Any, known: Any, name: str, kind: str, dependent: Mapping[str, str]) -> InputError:
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


def check_tolerances(rtol: Any, atol: Any) -> None:
    """Raise InputError for tolerances that no method can meet; None stands for the method's own."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is None:
            continue
        right = isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, complex))
        if not (right and math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a positive number, not {describe(value)}", key=f"run.{name}")


def step_limit(given: Any) -> float | None:
    """The longest step (s) that a user asks for, if any."""
    if given is None:
        return None
    seconds = number(given, "max_step", "s")
    if not seconds > 0:
        raise InputError(f"max_step must be a positive number of seconds, not {seconds:g}", key="max_step")
    return seconds
