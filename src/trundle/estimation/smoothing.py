"""Poses with all that was read before and after them: Rauch, Tung and Striebel's smoother over a history.

steps, all at once ──► what gyros told of the states before, gains ──► back from the last state, step by step
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.estimation.arguments import turned_by
from trundle.estimation.filter_programs import recall_program, smooth_program
from trundle.estimation.history import FilterSteps, History
from trundle.estimation.known import StateLayout
from trundle.estimation.readings import StepReading
from trundle.program import compile_program

# Directions of a prediction's correlations below this count as known: rounding is 1e-16, and tells nothing there.
_KNOWN = 1e-12


@dataclass(frozen=True)
class SmoothedPoses:
    """Poses at n times by all readings, also those that came later.

    time: (n,), s. pose: x, y (m), θ (rad), (n, 3). covariance: of the pose, or the pose and the bias, in the world's
    axes, (n, m, m). bias: of the gyro (rad/s), (n,). Of many robots all but the times have them last, (…, count).
    """

    time: FloatArray
    pose: FloatArray
    covariance: FloatArray
    bias: FloatArray


def smoothed(steps: FilterSteps, history: History) -> SmoothedPoses:
    """The poses at the ends of all steps that a history keeps, and at its start."""
    taken = [(place, each) for place, each in enumerate(history.readings) if isinstance(each, StepReading)]
    states = [steps.array(state) for state in history.states]
    times, known = [history.time], [states[-1]]
    if taken:
        seen, gains = _recalled(steps, taken, states)
        kernel = compile_program(smooth_program(steps.layout))
        back = kernel.single() if states[0].ndim == 1 else kernel
        for (place, step), before, gain in reversed(list(zip(taken, seen, gains, strict=True))):
            known.append(back(before, states[place + 1], gain, known[-1])[0])
            times.append(step.start)
    return _smoothed_poses(steps.layout, np.array(times[::-1]), np.array(known[::-1]))


def _recalled(
    steps: FilterSteps, taken: list[tuple[int, StepReading]], states: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Of all steps the states before them with what their gyros told, and the gains G = C P'⁻¹, row by row."""
    before, after, read = (
        np.moveaxis(np.array(rows), 0, 1)
        for rows in (
            [states[place] for place, _ in taken],
            [states[place + 1] for place, _ in taken],
            [steps.array(step.values) for _, step in taken],
        )
    )
    lanes, size = before.shape[1:], steps.layout.size
    flat = (rows.reshape(len(rows), -1) for rows in (before, read))
    seen, across = compile_program(recall_program(steps.counts, steps.layout))(
        *flat, steps.noise, steps.parameters
    )
    predicted = np.moveaxis(steps.layout.covariance(after), (0, 1), (-2, -1))
    scale = np.sqrt(np.einsum("...ii->...i", predicted))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = predicted / (scale[..., :, None] * scale[..., None, :])
    inverse = np.linalg.pinv(scaled, rcond=_KNOWN, hermitian=True)
    crossed = np.moveaxis(across.reshape(size, size, *lanes), (0, 1), (-2, -1))
    gains = (crossed / scale[..., None, :]) @ inverse / scale[..., None, :]
    rows = np.moveaxis(gains.reshape(*lanes, size**2), -1, 1)
    return np.moveaxis(seen.reshape(len(seen), *lanes), 1, 0), np.ascontiguousarray(rows)


def _smoothed_poses(layout: StateLayout, times: FloatArray, known: FloatArray) -> SmoothedPoses:
    """States (n, rows, …) in words."""
    states = np.moveaxis(known, 0, -1)
    covariance = turned_by(states[2], layout.covariance(states))
    bias = states[3] if layout.bias else np.zeros(states.shape[1:])
    pose, covariance, bias = (np.moveaxis(values, -1, 0) for values in (states[:3], covariance, bias))
    return SmoothedPoses(times, pose, covariance, bias)
