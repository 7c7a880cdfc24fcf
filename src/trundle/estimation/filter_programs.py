"""The steps of an error-state filter on SE(2) as programs: by increments and a gyro, and by a fix.

The error e = (ξ, β) is ξ = (forward, left, turned) in the base's own axes, X_true = X exp(ξ), and that of the gyro's
bias, where it is estimated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, reduce

import casadi as ca

from trundle.estimation.known import Estimate, StateLayout
from trundle.estimation.plane_group import adjoint, left_out, logarithm, right_jacobian, turned
from trundle.estimation.slip import moved_with_slip, rolling
from trundle.model.symbols import Groups, Symbols, column, entries
from trundle.motion.odometry.counts import Counts
from trundle.motion.odometry.displacement import POSE, advance
from trundle.program import Program
from trundle.robot import FixSensor, Read
from trundle.scalars import Scalar, atan2, cos, less, minimum, sin, where

# What a step is computed from after increments and angles: a gyro's mean rate, its density squared (infinite without
# one), and how long it took. And the squares of the noise of encoders, of the bias'
# wander, and of contacts.
READING, NOISE = ("rate", "gyro", "dt"), ("encoders", "wander", "slip")


@dataclass(frozen=True)
class FilterStep:
    """A step in symbols: the state `seen` before it as its gyro has corrected it, the state `after` it, and the
    covariance `across` of both's errors (before, after).
    """

    seen: Estimate
    after: Estimate
    across: ca.SX
    inputs: Groups


def passed(counts: Counts, layout: StateLayout) -> FilterStep:
    """A step X' = X exp(d), d the displacement that wheels tell, with the gyro's turn taken in before the pose moves.

    The gyro tells d_θ + b dt + noise. Its innovation corrects d, and through the bias what was known before, too.
    e' = diag(A, 1) e + (B, 0) δ with A the adjoint of exp(−d), B the right Jacobian at d, δ the error of d.
    """
    symbols, size = counts.symbols, layout.size
    before, rows = Estimate.of(layout, symbols)
    rate, gyro, dt = symbols.make("reading", 3)
    encoders, wander, slip = symbols.make("noise", 3)
    drift = ca.SX.zeros(size, 1)
    bias = before.values[3] if layout.bias else 0
    if layout.bias:
        drift[3] = dt
    turn, spread, leads = (rate - bias) * dt, gyro * dt, before.covariance @ drift
    unsure = drift.T @ leads
    d, noise, off = _as_rolled(counts, encoders)
    if layout.wheels:
        d, noise, off = moved_with_slip(counts, rolling(counts), turn, spread + unsure, dt, (encoders, slip))
    missed, side = turn - d[2], noise[:, 2]
    total = noise[2, 2] + unsure + spread
    told = [where(less(spread, math.inf), missed**2 / total, before.told[0])]
    known = replace(before, covariance=before.covariance - leads @ leads.T / total)
    known, slope = corrected(known, leads * (missed / total)) if layout.bias else (before, ca.SX.eye(size))
    left, crossed = noise - side @ side.T / total, -slope @ leads @ side.T / total
    after, across = _moved_by(known, crossed, d + side * (missed / total), left)
    if layout.bias:
        after.covariance[3, 3] += wander * dt
    turns, angles, parameters = counts.groups().values()
    inputs: Groups = {
        "state": (layout.labels, rows),
        "reading": (
            (*(f"{name} turned" for name in turns[0]), *angles[0], *READING),
            [*turns[1], *angles[1], rate, gyro, dt],
        ),
        "noise": (NOISE, [encoders, wander, slip]),
        "parameter": parameters,
    }
    return FilterStep(known, after.telling(0, told).telling(2, off), across, inputs)


def predict_program(counts: Counts, layout: StateLayout) -> Program:
    """`predict`: the state after a step (see `passed`)."""
    step = passed(counts, layout)
    outputs: Groups = {"state": (layout.labels, step.after.rows(layout))}
    return counts.symbols.program("predict", step.inputs, outputs)


def recall_program(counts: Counts, layout: StateLayout) -> Program:
    """`recall`: what a step's gyro tells of the state before it, and the covariance of both's errors, row by row."""
    step, size = passed(counts, layout), layout.size
    labels = tuple(f"C{i + 1}{j + 1}" for i in range(size) for j in range(size))
    outputs: Groups = {
        "state": (layout.labels, step.seen.rows(layout)),
        "across": (labels, entries(ca.vec(step.across.T))),
    }
    return counts.symbols.program("recall", step.inputs, outputs)


@cache
def smooth_program(layout: StateLayout) -> Program:
    """`smooth`: the state before a step with all that came after it, by Rauch, Tung and Striebel's step on the group.

    X_s = X exp(G e), e = log(X'⁻¹ X'_s) with the state X' that was predicted and X'_s that is smoothed, and
    P_s = P + G (B⁻¹ P'_s B⁻ᵀ − P') Gᵀ, B the right Jacobian at e: before the error counts from X_s.
    """
    symbols, size = Symbols(), layout.size
    (seen, given), (after, predicted), (later, smoothed) = (
        Estimate.of(layout, symbols, name) for name in ("seen", "after", "later")
    )
    gains = symbols.make("gain", size**2)
    gain = ca.reshape(column(gains), size, size).T
    error, slope = ca.SX.zeros(size), ca.SX.eye(size)
    error[:3] = logarithm(after.values[:3], later.values[:3])
    slope[:3, :3] = left_out(error[:3])
    if layout.bias:
        error[3] = later.values[3] - after.values[3]
    learnt = slope @ later.covariance @ slope.T - after.covariance
    known = replace(seen, covariance=seen.covariance + gain @ learnt @ gain.T)
    inputs: Groups = {
        "seen": (layout.labels, given),
        "after": (layout.labels, predicted),
        "gain": (tuple(f"G{i + 1}{j + 1}" for i in range(size) for j in range(size)), gains),
        "later": (layout.labels, smoothed),
    }
    rows = corrected(known, gain @ error)[0].rows(layout)
    return symbols.program("smooth", inputs, {"state": (layout.labels, rows)})


@cache
def fix_program(layout: StateLayout) -> Program:
    """`fix`: the state after x, y, θ were measured in the world with some variances, unless it is beyond the gate."""
    units = ("m", "m", "rad")
    return _fix("fix", layout, POSE, units, lambda known: (list(known.values[:3]), turned(known.values[2])))


def look_program(layout: StateLayout, sensor: FixSensor, read: Read) -> Program:
    """`look`: the same after a sensor saw what hangs on the pose, by channel; `read` turns its fields into numbers.

    What is expected is h(X), and its slope by the error that of h(X exp(ξ)) at ξ = 0.
    """
    names, units = tuple(sensor.seen()), tuple(unit for unit, _ in sensor.seen().values())

    def expected(before: Estimate) -> tuple[list[Scalar], ca.SX]:
        error, none = ca.SX.sym("error", 3), ca.SX.zeros(3)
        x, y, heading = advance(before.values[:3], entries(error))
        moved = column([sensor.look((x, y, heading), read)[name] for name in names])
        return entries(ca.substitute(moved, error, none)), ca.substitute(
            ca.jacobian(moved, error), error, none
        )

    return _fix("look", layout, names, units, expected)


def _fix(
    name: str,
    layout: StateLayout,
    channels: tuple[str, ...],
    units: tuple[str, ...],
    expected: Callable[[Estimate], tuple[list[Scalar], ca.SX]],
) -> Program:
    """The program of a fix by channels, of what a state leads one to expect there and its slope by the pose's error."""
    symbols, size = Symbols(), len(channels)
    before, rows = Estimate.of(layout, symbols)
    measured, variances = symbols.make("measured", size), symbols.make("variance", size)
    (gate,) = symbols.make("gate", 1)
    wanted, by_pose = expected(before)
    slopes = ca.SX.zeros(size, layout.size)
    slopes[:, :3] = by_pose
    off = [seen - value for seen, value in zip(measured, wanted, strict=True)]
    missed = [atan2(sin(x), cos(x)) if unit == "rad" else x for x, unit in zip(off, units, strict=True)]
    inputs: Groups = {
        "state": (layout.labels, rows),
        "measured": (channels, measured),
        "variance": (channels, variances),
        "gate": (("gate",), [gate]),
    }
    outputs: Groups = {"state": (layout.labels, _gated(layout, before, missed, slopes, variances, gate))}
    return symbols.program(name, inputs, outputs)


def _gated(
    layout: StateLayout,
    before: Estimate,
    missed: list[Scalar],
    slopes: ca.SX,
    variances: list[Scalar],
    gate: Scalar,
) -> list[Scalar]:
    """The rows of the state after Kalman's update, or as they were beyond the gate, with what is told of the fix."""
    after, nis = updated(before, missed, slopes, variances)
    taken = [
        where(less(gate, nis), old, new)
        for old, new in zip(before.rows(layout), after.rows(layout), strict=True)
    ]
    seen = less(reduce(minimum, variances), math.inf)
    taken[layout.nis + 1] = where(seen, nis, before.told[1])
    return taken


def updated(
    before: Estimate, missed: list[Scalar], slopes: ca.SX, variances: list[Scalar]
) -> tuple[Estimate, Scalar]:
    """Kalman's update by independent measurements, one at a time, and their normalised innovation squared.

    missed: measured less expected; slopes: of what is expected, by the error (rows, n).
    """
    covariance, error, nis = before.covariance, ca.SX.zeros(slopes.shape[1]), ca.SX(0)
    for place, variance in enumerate(variances):
        row = slopes[place, :]
        leads = covariance @ row.T
        spread = row @ leads + variance
        left = missed[place] - row @ error
        nis += left**2 / spread
        error += leads / spread * left
        covariance = covariance - leads @ leads.T / spread
    return corrected(replace(before, covariance=covariance), error)[0], nis


def corrected(known: Estimate, error: ca.SX) -> tuple[Estimate, ca.SX]:
    """The state moved by an error, and the slope of the error that is left by the error before: the right Jacobian."""
    size = error.numel()
    slope = ca.SX.eye(size)
    slope[:3, :3] = right_jacobian(error[:3])
    pose = advance(known.values[:3], entries(error[:3]))
    rest = (value + error[3 + k] for k, value in enumerate(known.values[3:]))
    return replace(known, values=(*pose, *rest), covariance=slope @ known.covariance @ slope.T), slope


def _moved_by(known: Estimate, crossed: ca.SX, d: ca.SX, noise: ca.SX) -> tuple[Estimate, ca.SX]:
    """The state after a displacement with its noise, and the covariance of the errors before and after.

    crossed: the covariance of the error before with that of d (n, 3).
    """
    size = known.covariance.shape[0]
    forward, entered = ca.SX.eye(size), ca.SX.zeros(size, 3)
    forward[:3, :3], entered[:3, :] = adjoint(d), right_jacobian(d)
    across = known.covariance @ forward.T + crossed @ entered.T
    after = forward @ across + entered @ (crossed.T @ forward.T + noise @ entered.T)
    pose = advance(known.values[:3], entries(d))
    return replace(known, values=(*pose, *known.values[3:]), covariance=after), across


def _as_rolled(counts: Counts, encoders: Scalar) -> tuple[ca.SX, ca.SX, list[Scalar]]:
    """d = J Δ by least squares over all wheels and its covariance J Q Jᵀ, Q = encoders² mean|Δ| for every increment."""
    slope = ca.jacobian(counts.moved, column(list(counts.increments.values())))
    return counts.moved, counts.walked(encoders) * slope @ slope.T, []
