"""From poses that a start goes through to the nodes of a programme."""

from __future__ import annotations

import math

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.fastest.problem import Problem
from trundle.motion.fastest.programme import Nodes

# Steps of a guess below this share of its largest one have no direction of their own.
_STANDS = 1e-6
# What an interval of a guess takes at least, in the programme's units: nothing may move on it.
_TINY = 1e-6


def guess_of(problem: Problem, phases: tuple[int, ...], poses: FloatArray, backward: bool = False) -> Nodes:
    """Nodes on poses (n + 1, 3) at even times, m and rad; bases that steer begin forward or backward."""
    scaled = poses / [problem.size, problem.size, 1.0]
    twists = _by_interval(problem, phases, scaled)
    p, q = problem.degrees
    d = twists @ problem.basis.T
    h = _pace(problem, phases, twists)
    columns: list[FloatArray] = []
    controls: list[FloatArray] = []
    if problem.steered:
        d, rho = _split(problem, d, backward)
        speeds = _differences(rho, q)
        columns, controls = [row[:, None] for row in speeds[:-1]], [speeds[-1][:-1, None]]
    rates = _differences(d, p)
    states = np.concatenate([scaled, *rates[:-1], *columns], axis=1)
    lines = np.zeros((sum(phases), 2 * len(problem.obstacles)))
    for place, obstacle in enumerate(problem.obstacles):
        lines[:, 2 * place : 2 * place + 2] = obstacle.separating(poses, problem.outline) / [
            1.0,
            problem.size,
        ]
    return Nodes(states, np.concatenate([rates[-1][:-1], *controls], axis=1), lines, h)


def _by_interval(problem: Problem, phases: tuple[int, ...], poses: FloatArray) -> FloatArray:
    """The base's twist by interval at poses (n + 1, 3) at even times of the phases, in its axes."""
    ends = np.cumsum(phases)
    inner = ends[:-1] if problem.parts else []  # parts of a leg begin as they go on
    rates = np.concatenate([np.gradient(part, axis=0) for part in np.split(poses, inner)])
    if problem.quickens:
        rates[[0, -1]] = 0.0
    local = (rates[:, 0] + 1j * rates[:, 1]) * np.exp(-1j * poses[:, 2])
    return np.stack([local.real, local.imag, rates[:, 2]], axis=1)


def _split(problem: Problem, d: FloatArray, backward: bool) -> tuple[FloatArray, FloatArray]:
    """Directions of unit length, and signed sizes along them, of twists by interval (n + 1, k)."""
    sizes = np.linalg.norm(d, axis=1)
    moving = np.flatnonzero(sizes > _STANDS * sizes.max(initial=0.0))
    if not len(moving):
        return np.tile(np.eye(d.shape[1])[0], (len(d), 1)), sizes
    nearest = moving[np.abs(np.arange(len(d))[:, None] - moving).argmin(axis=1)]
    units = d[nearest] / sizes[nearest, None]
    signs = np.array([_forward(problem, unit) for unit in units])
    if not signs.all():  # no steering range says which way is forward: directions go on without a jump
        steps = np.sign((units[1:] * units[:-1]).sum(axis=1))
        signs = (-1.0 if backward else 1.0) * np.cumprod(
            np.concatenate([[1.0], np.where(steps < 0, -1.0, 1.0)])
        )
    return units * signs[:, None], sizes * signs


def _forward(problem: Problem, unit: FloatArray) -> float:
    """+1 or −1 as a direction or its opposite points the wheels into their ranges; 0 where nothing says so."""
    ranged = np.array([wheel.ranged for wheel in problem.shape((1,)).wheels])
    if not ranged.any():
        return 0.0
    w = problem.drive.velocities((unit @ problem.basis) * [1, 1, 1 / problem.size])[ranged]
    middle = np.exp(1j * problem.drive.ranges[:, ranged].mean(axis=0))
    return 1.0 if float((w * middle.conj()).real.sum()) >= 0 else -1.0


def _pace(problem: Problem, phases: tuple[int, ...], twists: FloatArray) -> FloatArray:
    """What intervals of the phases take, about, of twists by interval: as long in all where a leg is one."""
    u = problem.drive.velocities(twists * [1, 1, 1 / problem.size])
    powers = (problem.second ** np.arange(1.0, 4))[:, None]
    speed, acceleration, _ = problem.drive.rolling * powers / problem.size
    taken = (np.abs(u) / speed).max(axis=1)[:-1]
    owner = np.repeat(np.arange(len(phases)), phases) if problem.parts else np.zeros(len(taken), dtype=int)
    most = np.zeros(len(phases) if problem.parts else 1)
    np.maximum.at(most, owner, taken)
    changes = float((np.abs(np.diff(u, axis=0)) / acceleration).max(initial=0.0))
    return np.broadcast_to(np.maximum(most, max(math.sqrt(changes), _TINY)), len(phases))


def _differences(values: FloatArray, count: int) -> list[FloatArray]:
    """Values and so many of their differences, as long."""
    out = [values]
    for _ in range(count):
        step = np.diff(out[-1], axis=0)
        out.append(np.concatenate([step, step[-1:]]))
    return out
