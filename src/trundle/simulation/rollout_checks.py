"""What every rollout is asked, on a plane or over terrain: counts that fit, memory that is there, who diverged."""

from __future__ import annotations

import math
import os
from contextlib import suppress

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError
from trundle.simulation.options import whole


def check_whole_numbers(steps: int, every: int, count: int | None, threads: int | None) -> None:
    """Refuse counts that aren't whole or positive, and an `every` that would not store the last state."""
    whole(steps, "steps", 0)
    whole(every, "every", 1)
    for name, given in {"count": count, "threads": threads}.items():
        if given is not None:
            whole(given, name, 1)
    if steps % every:
        below = next(n for n in range(min(every, steps), 0, -1) if steps % n == 0)
        above = next(n for n in range(min(every, steps), steps + 1) if steps % n == 0)
        message = f"every = {every} doesn't divide steps = {steps}: the last state would not be stored"
        near = f"that do are {below} and {above}" if above != below else f"is {below}"
        raise InputError(message, key="every", hint=f"the nearest {near}")


def require_memory(saved: int, states: int, count: int) -> None:
    """Refuse what can't fit before the machine starts to swap."""
    need, there = 8 * saved * states * count, math.inf
    with suppress(AttributeError, OSError, ValueError):  # not every system tells
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > there:
        raise InputError(
            f"{saved:,} stored states of {count:,} robots take {need / 1e9:,.1f} GB; "
            f"this machine has {there / 1e9:,.1f} GB",
            key="count",
            hint="store fewer states with every=, or roll out fewer robots at a time",
        )


def diverged(states: FloatArray, time: FloatArray, name: str) -> int:
    """How many robots' last states aren't finite; NumericsError where no robot's is."""
    lost = ~np.isfinite(states[-1]).all(axis=0)
    if lost.all():
        row = next(k for k, robots in enumerate(states) if not np.isfinite(robots).all(axis=0).any())
        raise NumericsError(
            f"all robots of the rollout of '{name}' diverged by t = {time[row]:g} s: "
            "the motion is unstable or singular, or dt is too long for it"
        )
    return int(lost.sum())
