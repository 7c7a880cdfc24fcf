"""The largest values of a motion's quantities, also between samples, and its jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.motion.drive.drive import LimitedQuantity
from trundle.motion.pieces.motion import Motion, Piece, Samples

_NAMES: tuple[LimitedQuantity, ...] = get_args(LimitedQuantity)
# Looks at a stretch between breaks: evenly, and ever nearer to its ends, as a wheel near the centre of rotation turns
# in a moment.
_EVEN = np.linspace(0, 1, 41)
_NEAR = 2.0 ** -np.arange(6, 44, 1.0)
_LOOKS = np.unique(np.concatenate([_EVEN, _NEAR, 1 - _NEAR]))
# Largest values are narrowed down so many times by so many looks: to a square of 1/8⁵ of the first look's distance.
_ROUNDS, _FINER = 5, 17
# A stretch whose largest look is less than this share of the largest value has none that is larger between its looks.
_ALMOST = 0.97
# Other stretches that are looked into: what is as large on many (a steady speed) has no peak to be missed.
_OTHERS = 3
# A quantity that changes by more than this share of its largest value (or of 1 in its unit) at one moment jumps.
_JUMP = 1e-6
# Angles in files are rounded: a turn below this, to where a wheel's velocity points, is no jump (rad).
_ROUNDED_ANGLE = 1e-4
# What jumps, and what is an impulse then.
_ABOVE: dict[str, tuple[LimitedQuantity, ...]] = {
    "angle": ("steering_rate", "steering_acceleration", "steering_jerk"),
    "steering_rate": ("steering_acceleration", "steering_jerk"),
    "steering_acceleration": ("steering_jerk",),
    "drive_speed": ("drive_acceleration", "drive_jerk"),
    "drive_acceleration": ("drive_jerk",),
}


@dataclass(frozen=True)
class ModulePeak:
    """The largest magnitude of a quantity of a module, and when; `value` is inf where it is an impulse."""

    quantity: LimitedQuantity
    module: int
    value: float
    time: float


def peaks(motion: Motion | Piece, *, impulses: bool = True, steady: bool = True) -> list[ModulePeak]:
    """The largest magnitudes of all quantities of all modules, between samples too.

    The search looks at every stretch between breaks, where all is analytic, and narrows the largest look down; then
    those of other stretches where any is almost as large.
    """
    breaks = motion.breaks
    times = (breaks[:-1, None] + np.diff(breaks)[:, None] * _LOOKS).ravel()
    # at a break what follows it counts: a stretch ends one double before
    times = np.minimum(times, np.nextafter(np.repeat(breaks[1:], len(_LOOKS)), 0))
    sizes = _sizes(motion.samples(times))
    best = sizes.argmax(axis=0)
    value, time = _narrowed_about(motion, times, sizes, best)
    stretch = np.arange(len(times))[:, None, None] // len(_LOOKS)
    for _ in range(_OTHERS):
        sizes = np.where(stretch != best // len(_LOOKS), sizes, 0.0)
        best = sizes.argmax(axis=0)
        if not (np.take_along_axis(sizes, best[None], 0)[0] > _ALMOST * value).any():
            break
        other, at = _narrowed_about(motion, times, sizes, best)
        value, time = np.where(other > value, other, value), np.where(other > value, at, time)
    highest = [
        ModulePeak(name, module, float(value[k, module]), float(time[k, module]))
        for k, name in enumerate(_NAMES)
        for module in range(value.shape[1])
    ]
    return _with_impulses(highest, motion, steady) if impulses else highest


def _narrowed_about(
    motion: Motion | Piece, times: FloatArray, sizes: FloatArray, best: npt.NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """The largest values about looks (6, m), and when (6, m)."""
    value, time = np.take_along_axis(sizes, best[None], 0)[0], times[best]
    low, high = times[np.maximum(best - 1, 0)], times[np.minimum(best + 1, len(times) - 1)]
    low, high = _between(motion.breaks, time, low, high)
    for _ in range(_ROUNDS):
        value, time, low, high = _narrowed(motion, value, time, low, high)
    return value, time


def _sizes(samples: Samples) -> FloatArray:
    """The magnitudes of all six quantities, (n, 6, m)."""
    return np.abs(np.stack([getattr(samples, name) for name in _NAMES], axis=1))


def _between(
    breaks: FloatArray, time: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Neighbours of a time in the stretch that it lies in."""
    stretch = np.clip(np.searchsorted(breaks, time, "right") - 1, 0, len(breaks) - 2)
    return np.maximum(low, breaks[stretch]), np.minimum(high, np.nextafter(breaks[stretch + 1], 0))


def _narrowed(
    motion: Motion | Piece, value: FloatArray, time: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """A finer look between two times about the largest values so far, (6, m)."""
    looks = np.linspace(low, high, _FINER)
    order = np.argsort(looks.ravel(), kind="stable")
    sizes = np.empty((looks.size, *value.shape))
    sizes[order] = _sizes(motion.samples(looks.ravel()[order]))
    sizes = sizes.reshape(_FINER, *value.shape, *value.shape)
    k, m = np.indices(value.shape)
    heights = sizes[:, k, m, k, m]
    best = heights.argmax(axis=0)
    peak = np.take_along_axis(heights, best[None], 0)[0]
    at = np.take_along_axis(looks, best[None], 0)[0]
    before = np.take_along_axis(looks, np.maximum(best - 1, 0)[None], 0)[0]
    behind = np.take_along_axis(looks, np.minimum(best + 1, _FINER - 1)[None], 0)[0]
    better = peak > value
    return np.where(better, peak, value), np.where(better, at, time), before, behind


def _with_impulses(highest: list[ModulePeak], motion: Motion | Piece, steady: bool) -> list[ModulePeak]:
    """Values are inf where what is below them jumps.

    Before the start and behind the end rates are zero, where the motion is `steady` there.
    """
    breaks = motion.breaks
    left = motion.samples(np.nextafter(breaks[1:], 0))
    right = motion.samples(breaks[:-1])
    largest = {(peak.quantity, peak.module): peak.value for peak in highest}
    jumps: dict[tuple[LimitedQuantity, int], float] = {}
    for name, above in _ABOVE.items():
        before, behind = getattr(left, name), getattr(right, name)
        zero = steady and name not in ("angle", "drive_speed")
        ends = (np.zeros_like(before[:1]),) * 2 if zero else (behind[:1], before[-1:])
        if name == "angle" and isinstance(motion, Motion) and motion.angles is not None:
            ends = (motion.angles[None], ends[1])
        before, behind = np.concatenate([ends[0], before]), np.concatenate([behind, ends[1]])
        size = np.array([max(1.0, largest.get((name, module), 1.0)) for module in range(before.shape[1])])
        tolerance = _ROUNDED_ANGLE if name == "angle" else _JUMP * size
        for step, module in np.argwhere(np.abs(behind - before) > tolerance):
            for quantity in above:
                jumps.setdefault((quantity, int(module)), float(breaks[step]))
    return [
        ModulePeak(peak.quantity, peak.module, np.inf, jumps[peak.quantity, peak.module])
        if (peak.quantity, peak.module) in jumps
        else peak
        for peak in highest
    ]
