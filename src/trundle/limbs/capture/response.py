"""How smoothing answers to its samples, as banded matrices, and speeds to coordinates and their rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from trundle.arrays import FloatArray, IntArray
from trundle.limbs.capture.joint_motion import JointMotion
from trundle.limbs.capture.smoothing import Smoothed
from trundle.limbs.capture.speeds import normalised
from trundle.model.moving import MovingMechanism
from trundle.model.programs import program_of
from trundle.model.symbols import derivative_along, jacobian
from trundle.program import compile_program

# Of the largest, what is left out: squares of what is smaller are below rounding.
_LEAST = 1e-9
# Columns that are answered to at once.
_CHUNK = 256
# Of complex steps, from which nothing is subtracted.
_STEP = 1e-30


@dataclass(frozen=True, eq=False)
class Response:
    """A smoothing's values, rates and accelerations (3, n, w) by the samples from `first` (n,) on, w of them."""

    first: IntArray
    weights: FloatArray

    @property
    def matrix(self) -> sparse.csr_array:
        """That of the values, (n, n)."""
        count, width = self.weights.shape[1:]
        rows = np.repeat(np.arange(count), width)
        columns = (self.first[:, None] + np.arange(width)).ravel()
        return sparse.csr_array((self.weights[0].ravel(), (rows, columns)), shape=(count, count))


def response_of(linear: Callable[[FloatArray], Smoothed], count: int) -> Response:
    """The matrices of what is linear in its samples; what is below rounding left out."""
    probes = np.unique(np.clip([0, 1, 2, count // 3, count // 2, count - 2, count - 1], 0, count - 1))
    answers = np.abs(np.array(linear(np.eye(count)[:, probes])))
    large = (answers > _LEAST * answers.max(axis=(1, 2), keepdims=True)).any(axis=0)
    far = np.abs(np.arange(count)[:, None] - probes)[large].max()
    width = min(count, 2 * int(far) + 1)
    first = np.clip(np.arange(count) - width // 2, 0, count - width)
    weights = np.zeros((3, count, width))
    for start in range(0, count, _CHUNK):
        columns = np.arange(start, min(start + _CHUNK, count))
        answers = np.array(linear(np.eye(count)[:, columns]))
        places = columns - first[:, None]
        rows, at = np.nonzero((places >= 0) & (places < width))
        weights[:, rows, places[rows, at]] = answers[:, rows, at]
    return Response(first, weights)


def normalised_slopes(smoothed: Smoothed) -> FloatArray:
    """How a unit quaternion and its rates (12) change with the curve that they come from, (n, 12, 12)."""
    given = np.concatenate(smoothed, axis=1).astype(complex)
    found = np.empty((len(given), 12, 12))
    for k in range(12):
        moved = given.copy()
        moved[:, k] += 1j * _STEP
        parts = normalised(Smoothed(*np.split(moved, 3, axis=1)))
        found[:, :, k] = np.concatenate(parts, axis=1).imag / _STEP
    return found


class SpeedSlopes(NamedTuple):
    """Of q̇ = P(q) u and q̈ = P u̇ + d(q, u): P⁺ (n, s, c), ∂(P u)/∂q, ∂(P u̇ + d)/∂q (n, c, c) and ∂d/∂u (n, c, s)."""

    back: FloatArray
    rates: FloatArray
    second: FloatArray
    drift: FloatArray


def speed_slopes(moving: MovingMechanism, motion: JointMotion) -> SpeedSlopes:
    """How speeds and their rates answer to coordinates and theirs, at every sample of a motion."""
    names, count = moving.mechanism.names, len(motion)
    drift = derivative_along(moving.q_dot, moving.q, moving.q_dot)
    tables = {
        "map": jacobian(moving.q_dot, moving.u),
        "rates": jacobian(moving.q_dot, moving.q),
        "drift": jacobian(drift, moving.q),
        "turns": jacobian(drift, moving.u),
    }
    outputs = {
        name: ([f"{name} {k}" for k in range(sum(map(len, rows)))], [value for row in rows for value in row])
        for name, rows in tables.items()
    }
    kernel = compile_program(program_of(moving, "speed_slopes", outputs))
    values = np.array([float(v) for v in moving.mechanism.numbers.parameters.values()])
    parameters = np.tile(values, (count, 1))

    def at(speeds: FloatArray) -> list[FloatArray]:
        found = kernel.over_samples(motion.positions, speeds, parameters)
        return [table.T.reshape(count, len(names), -1) for table in found]

    p, rates, drifting, turns = at(motion.velocities)
    _, second, _, _ = at(motion.accelerations)
    turned = np.swapaxes(p, 1, 2)
    back = np.asarray(np.linalg.solve(turned @ p, turned), dtype=np.float64)
    return SpeedSlopes(back, rates, second + drifting, turns)
