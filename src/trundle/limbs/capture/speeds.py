"""From measured coordinates to speeds: continuous, smoothed and differentiated, and q̇ = N(q) S(q) u solved for u."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.smoothing import Smoothed, Smoothing
from trundle.mechanics.quantities import Quantities
from trundle.model.moving import MovingMechanism
from trundle.model.symbols import derivative_along, evaluated, jacobian
from trundle.scalars import Scalar, is_zero

# How far a measured quaternion's length may be from 1: files with four decimals leave 1e-4.
_LENGTH = 1e-3
# Of the greatest rate, what may break constraints: a spline through exact samples of what rolls breaks them by less.
_SLIP = 1e-4
# Samples whose speeds are solved for at once; more would fill memory with their matrices.
_CHUNK = 4096


def unwrap(
    coordinates: Mapping[str, FloatArray], quantities: Quantities, times: FloatArray
) -> tuple[dict[str, FloatArray], list[str]]:
    """The same coordinates (n,) without jumps of whole turns or of quaternions' signs, and the angles that had some.

    Missing samples stay missing. Raises InputError for a quaternion that isn't a rotation's.
    """
    values, turned = dict(coordinates), []
    names = tuple(coordinates)
    for columns in blocks_of(names, quantities):
        block = np.array([coordinates[names[k]] for k in columns]).T
        there = ~np.isnan(block).any(axis=1)
        if len(columns) == 4:
            block[there] = _one_sided(block[there], names[columns[0]], times[there])
        elif quantities[names[columns[0]]].unit == "rad":
            smooth = np.unwrap(block[there], axis=0)
            turned += [names[columns[0]]] if np.abs(smooth - block[there]).max(initial=0.0) > 1 else []
            block[there] = smooth
        values |= {names[k]: block[:, j] for j, k in enumerate(columns)}
    return values, turned


def differentiated(
    moving: MovingMechanism,
    times: FloatArray,
    coordinates: Mapping[str, FloatArray],
    chosen: Smoothing,
    apart: Collection[str],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Positions (n, c) of the mechanism's coordinates, its speeds u (n, s) and u̇, from continuous coordinates (n,).

    Those `apart` were measured by themselves, the others come from markers.
    """
    names = moving.mechanism.names
    table = np.array([coordinates[name] for name in names]).reshape(len(names), times.size).T
    positions, rates, second = (np.empty(table.shape) for _ in range(3))
    for group in groups_of(names, moving.mechanism.assembly.quantities, apart):
        parts = chosen.together(times, [table[:, columns] for columns in group])
        for columns, part in zip(group, parts, strict=True):
            smoothed = normalised(part) if len(columns) == 4 else part
            positions[:, columns], rates[:, columns], second[:, columns] = smoothed
    return positions, *_speeds(moving, times, positions, rates, second)


def groups_of(names: Sequence[str], quantities: Quantities, apart: Collection[str]) -> list[list[list[int]]]:
    """The blocks whose smoothing is chosen together: all that come from markers, and of those `apart` every one.

    A marker's noise moves all joints of its chain, and most of it comes and goes between them: a pelvis that seems
    tilted has hips that seem bent. It cancels in the poses of segments only where all are smoothed alike.
    """
    blocks = list(blocks_of(names, quantities))
    together = [columns for columns in blocks if names[columns[0]] not in apart]
    alone = [[columns] for columns in blocks if names[columns[0]] in apart]
    return [together, *alone] if together else alone


def blocks_of(names: Sequence[str], quantities: Quantities) -> Iterator[list[int]]:
    """The places of what is smoothed as one: four for a quaternion, else one."""
    turning = {k: list(range(k, k + 4)) for k in quantities.quaternions(names)}
    inside = {k for four in turning.values() for k in four}
    yield from turning.values()
    yield from ([k] for k in range(len(names)) if k not in inside)


def _one_sided(block: FloatArray, name: str, times: FloatArray) -> FloatArray:
    """Unit quaternions (n, 4): of the two of a rotation, q and −q, the one nearer to the sample before."""
    length = np.linalg.norm(block, axis=1)
    wrong = np.flatnonzero(np.abs(length - 1) > _LENGTH)
    if wrong.size:
        when, size = times[wrong[0]], length[wrong[0]]
        message = f"the quaternion at t = {when:g} s has length {size:.6g}, and a rotation's has 1"
        raise InputError(message, key=name)
    unit = block / length[:, None]
    flips = np.where((unit[1:] * unit[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return unit * np.cumprod(np.concatenate([np.ones(min(len(unit), 1)), flips]))[:, None]


def normalised(smoothed: Smoothed) -> Smoothed:
    """q = s/|s| and its derivatives, of a curve s(t) in four dimensions."""
    s, rate, second = smoothed

    def dot(a: FloatArray, b: FloatArray) -> FloatArray:
        return (a * b).sum(axis=1, keepdims=True)

    length = np.sqrt(dot(s, s))
    growth = dot(s, rate) / length**2  # d ln |s| / dt
    change = (dot(rate, rate) + dot(s, second)) / length**2 - 2 * growth**2  # and its rate
    q, q_dot = s / length, (rate - growth * s) / length
    return Smoothed(q, q_dot, (second - 2 * growth * rate + (growth**2 - change) * s) / length)


def _speeds(
    moving: MovingMechanism, times: FloatArray, q: FloatArray, q_dot: FloatArray, q_ddot: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """u and u̇ with q̇ = P(q) u and q̈ = P u̇ + Ṗ u, by least squares where P has more rows than columns.

    A quaternion's four rates are met exactly by three speeds. Raises InputError where rates break rolling constraints.
    """
    count, speeds = len(q), len(moving.labels)
    matrix = [value for row in jacobian(moving.q_dot, moving.u) for value in row]
    drift = derivative_along(moving.q_dot, moving.q, moving.q_dot)
    u, u_dot = np.empty((count, speeds)), np.empty((count, speeds))
    for start in range(0, count, _CHUNK):
        at = slice(start, start + _CHUNK)
        flat = _numbers(moving, matrix, q[at], np.zeros_like(u[at]))
        p = np.moveaxis(flat.reshape(q.shape[1], speeds, -1), -1, 0)
        u[at] = _least_squares(p, q_dot[at])
        _require_possible(q_dot[at] - (p @ u[at][:, :, None])[:, :, 0], q_dot, times[at])
        u_dot[at] = _least_squares(p, q_ddot[at] - _numbers(moving, drift, q[at], u[at]).T)
    return u, u_dot


def _numbers(moving: MovingMechanism, values: Sequence[Scalar], q: FloatArray, u: FloatArray) -> FloatArray:
    """Values' numbers (values, n) at coordinates (n, c) and speeds (n, s).

    Most are zeros by structure. The others are few and asked for once: nothing is compiled for them.
    """
    table, filled = np.zeros((len(values), len(q))), [k for k, x in enumerate(values) if not is_zero(x)]
    parameters = moving.mechanism.parameters, moving.mechanism.numbers.parameters
    symbols, numbers = (list(each.values()) for each in parameters)
    if filled:
        groups = [q.T, u.T, np.array([[float(number)] for number in numbers]).reshape(-1, 1)]
        table[filled] = evaluated([values[k] for k in filled], [moving.q, moving.u, symbols], groups)
    return table


def _require_possible(left: FloatArray, rates: FloatArray, times: FloatArray) -> None:
    """InputError where rates are left that no speeds give: measured wheels that slip, where the description's can't."""
    size, most = np.abs(left).max(axis=1, initial=0.0), np.abs(rates).max(initial=0.0)
    if size.max(initial=0.0) > _SLIP * most:
        k = int(size.argmax())
        raise InputError(
            f"at t = {times[k]:g} s the coordinates' rates break the robot's constraints by {size[k]:.3g} a second",
            hint="let wheels slip in the description (contact: slip), or measure what rolls",
        )


def _least_squares(p: FloatArray, right: FloatArray) -> FloatArray:
    """(PᵀP)⁻¹Pᵀ r of many (n, c, s) and (n, c); P is orthogonal but for halves, so that this costs no digits."""
    transposed = np.swapaxes(p, 1, 2)
    return np.asarray(
        np.linalg.solve(transposed @ p, transposed @ right[:, :, None])[:, :, 0], dtype=np.float64
    )
