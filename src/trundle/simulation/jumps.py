"""Where inputs that are Python functions jump, by their values alone: a method that steps over one goes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from trundle.simulation.signals import Signal

# Jumps of one function that a run restarts at; beyond it the function is noise, which no method integrates.
MOST_JUMPS = 5000
# Without a longest step of the user's, functions of time are looked at this often over a run. Pulses shorter than
# the step may be missed.
LOOKS = 1000
# Values of a function looked at to find its jumps, at most: a second's work.
MOST_LOOKS = 1_000_000

# Both sides of a step in a function: times, and the values there.
Interval = tuple[float, float, float, float]


def with_jumps(signals: Mapping[str, Signal], end: float, max_step: float | None) -> dict[str, Signal]:
    """The same signals with the jumps of Python functions, as far as values over [0, end] show them.

    Values are looked at twice as often as the longest step, so that what a step can see is seen.
    """
    step = max((max_step or end / LOOKS) / 2, end / MOST_LOOKS)
    nodes = np.linspace(0.0, end, max(math.ceil(end / step), 1) + 1).tolist()
    return {
        name: replace(signal, jumps=tuple(find_jumps(signal.value, nodes))) if signal.is_function else signal
        for name, signal in signals.items()
    }


def longest_step(signals: Iterable[Signal], end: float, max_step: float | None) -> float:
    """The longest step (s): as asked, else one that sees what the signals do: long tables node by node, functions
    `LOOKS` times over the run. It doesn't depend on which times are stored.
    """
    if max_step is not None:
        return max_step
    limits = [min(s.resolution, end / LOOKS) for s in signals if s.resolution is not None]
    return min(limits, default=math.inf)


def closer_look(signals: Iterable[Signal]) -> Callable[[float, float], list[float]] | None:
    """What finds jumps of functions between two times more closely, where there are functions."""
    functions = [signal.value for signal in signals if signal.is_function]

    def find(a: float, b: float) -> list[float]:
        nodes = np.linspace(a, b, 2 * LOOKS).tolist()
        return [t for value in functions for t in find_jumps(value, nodes)]

    return find if functions else None


def find_jumps(value: Callable[[float], float], nodes: Sequence[float]) -> list[float]:
    """Times at which a function jumps between increasing `nodes`: the first float after its jump.

    An interval is halved toward the half with the greater change. In a smooth function the change shrinks with the
    interval; across a jump it stays, down to two neighbouring floats.
    """
    values = [value(t) for t in nodes]
    # Changes this small beside the function's own are rounding.
    noise = 1e-9 * (max(values) - min(values)) if values else 0.0
    jumps: list[float] = []
    steps = [(a, b, va, vb) for (a, va), (b, vb) in pairwise(zip(nodes, values, strict=True)) if va != vb]
    while steps and len(jumps) < MOST_JUMPS:
        whole = steps.pop()
        jump = _bisected(value, whole, noise)
        if jump is None:
            continue
        (a, b, va, vb), (before, after, v_before, v_after) = whole, jump
        jumps.append(after)
        # There may be a second jump in the same interval.
        rest = ((a, before, va, v_before), (after, b, v_after, vb))
        steps += [step for step in rest if step[2] != step[3]]
    return sorted(jumps)


def _bisected(value: Callable[[float], float], interval: Interval, noise: float) -> Interval | None:
    """The floats on both sides of a jump in an interval and the values there, or None where the change is smooth."""
    a, b, va, vb = interval
    width, slow = b - a, 0
    while b - a > 4e-16 * max(abs(b), width):  # until only neighbouring floats are left
        middle = (a + b) / 2
        if not a < middle < b:
            break
        vm = value(middle)
        change, left, right = abs(vb - va), abs(vm - va), abs(vb - vm)
        if max(left, right) <= noise:
            return None
        # A smooth change halves with its interval; it may seem to stay once, where a steep slope fills one half.
        slow = slow + 1 if max(left, right) < 0.8 * change else 0
        if slow == 2:
            return None
        if left >= right:
            b, vb = middle, vm
        else:
            a, va = middle, vm
    return (a, b, va, vb) if abs(vb - va) > noise else None
