"""Programs that several tests share: a robot's equations, and random ones with every operation."""

from __future__ import annotations

import casadi as ca
import numpy as np

from trundle.program import Program, trace

STATES = ["x", "y", "theta", "phi1", "phi2", "v", "w", "i1", "i2"]
PARAMETERS = [
    "body_mass", "body_inertia", "d", "m", "r", "t", "half", "K1", "K2", "R1", "R2", "L1", "L2", "c1", "c2",
]  # fmt: skip
DEFAULTS = np.array([50, 5, 0.1, 2, 0.15, 0.15, 0.6, 1, 1, 0.05, 0.05, 1e-4, 1e-4, 0.01, 0.01])


def differential_drive() -> Program:
    """A differential drive with two motors in its base's frame: 9 states, 2 inputs, 15 parameters."""
    state, voltage, p = ca.SX.sym("x", 9), ca.SX.sym("u", 2), ca.SX.sym("p", len(PARAMETERS))
    mb, izz, d, m, r, t, half, k1, k2, r1, r2, l1, l2, c1, c2 = ca.vertsplit(p)
    theta, v, w, i1, i2 = state[2], state[5], state[6], state[7], state[8]
    axle, diameter = m * r**2 / 2, m * (3 * r**2 + t**2) / 12
    w1, w2 = (v + half * w) / r, (v - half * w) / r
    t1, t2 = k1 * i1 - c1 * w1, k2 * i2 - c2 * w2
    dv = r * (t1 + t2 + r * d * mb * w**2) / (2 * axle + mb * r**2 + 2 * m * r**2)
    inertia = (
        2 * axle * half**2 + 2 * diameter * r**2 + izz * r**2 + d**2 * mb * r**2 + 2 * m * r**2 * half**2
    )
    dw = r * ((t1 - t2) * half - r * d * mb * w * v) / inertia
    di1, di2 = (voltage[0] - r1 * i1 - k1 * w1) / l1, (voltage[1] - r2 * i2 - k2 * w2) / l2
    rate = ca.vertcat(v * ca.cos(theta), v * ca.sin(theta), w, w1, w2, dv, dw, di1, di2)
    return trace(
        "differential drive",
        {"state": (STATES, state), "input": (["u1", "u2"], voltage), "parameter": (PARAMETERS, p)},
        {"rate": ([f"d {s}/dt" for s in STATES], rate)},
    )


def _safe(x: ca.SX) -> ca.SX:
    """Into [0.1, 0.9], the common domain of all functions below, without flattening the slope."""
    return 0.5 + 0.4 * ca.sin(x)


UNARY = [
    ca.sin, ca.cos, ca.tan, ca.asin, ca.acos, ca.atan, ca.exp, ca.log, ca.sqrt, ca.sinh, ca.cosh, ca.tanh, ca.asinh,
    lambda x: ca.acosh(1 + x), ca.atanh, ca.erf, ca.log1p, ca.expm1, ca.floor, ca.ceil, ca.fabs, ca.sign,
    lambda x: -x, lambda x: x * x, lambda x: 1 / x, lambda x: x**2.5, lambda x: x**-3, lambda x: x**0.3,
]  # fmt: skip
BINARY = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, lambda x, y: x**y, ca.atan2,
    ca.fmin, ca.fmax, ca.fmod, ca.hypot, ca.copysign, ca.remainder,
    lambda x, y: ca.if_else(x < y, x, y * y), lambda x, y: ca.if_else(x <= y, 2 * x, y),
    lambda x, y: ca.logic_and(x > 0.5, y > 0.5) + x, lambda x, y: ca.logic_or(x > 0.5, y > 0.5) * y,
    lambda x, y: ca.if_else(ca.logic_not(x > y), x, y), lambda x, y: x * (x == y) + y * (x != y),
]  # fmt: skip


def random_program(seed: int, size: int = 60) -> Program:
    """A random graph that uses every operation at least once (two groups in, two groups out)."""
    rng = np.random.default_rng(seed)
    a, b = ca.SX.sym("a", 4), ca.SX.sym("b", 3)
    pool = [*ca.vertsplit(a), *ca.vertsplit(b)]
    functions = [(f, 1) for f in UNARY] + [(f, 2) for f in BINARY]
    order = [*rng.permutation(len(functions)), *rng.integers(len(functions), size=size)]
    made = []
    for k in order:
        function, arity = functions[k]
        args = [_safe(pool[j]) for j in rng.integers(len(pool), size=arity)]
        made.append(function(*args))
        pool.append(made[-1])
    first, second = ca.vertcat(*made[::2]), ca.vertcat(*made[1::2], 2.5, a[0])
    return trace(
        f"random {seed}",
        {"a": (list("pqrs"), a), "b": (list("xyz"), b)},
        {
            "f": ([f"f{k}" for k in range(first.numel())], first),
            "g": ([f"g{k}" for k in range(second.numel())], second),
        },
    )
