"""One 30 s run, beside SymPy's lambdify under SciPy's odeint at its own tolerances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.drive import VOLTAGES, diff_drive
from benchmarks.measure import Row, best_seconds, seconds_text

RATIO = 50.0
DURATION, SAMPLES = 30.0, 3000


def single_run(quick: bool) -> list[Row]:
    """Seconds of a run with its model at hand: ours with every output and check, the peer's with its states only."""
    from trundle.simulation import simulate

    model = diff_drive()

    def ours() -> Any:
        return simulate(model, DURATION, VOLTAGES, samples=SAMPLES)

    peer = lambdified_run()
    mine, other = best_seconds(ours), best_seconds(peer, tries=3)
    apart = abs(ours().final["x"] - peer()[-1][0])
    ratio = other / mine
    return [
        Row(
            "one 30 s run of the diff drive, against SymPy lambdify + odeint",
            seconds_text(mine),
            seconds_text(other),
            ratio,
            "≥ 50 ×",
            ratio >= RATIO,
            f"both at {SAMPLES} samples; final x apart by {apart:.1e} m",
        )
    ]


def lambdified_run() -> Callable[[], np.ndarray]:
    """The way of a 2014 tutorial: Lagrange's equations with multipliers, lambdified, inputs interpolated from
    arrays, odeint.

    Five coordinates, three rolling constraints, wheel torques on the wheels; states q, q̇, λ's place holders and two
    currents.
    """
    import sympy as sp
    from scipy.integrate import odeint

    rhs, state, torque_symbols, constants = _lagrange()
    currents, volts = sp.symbols("i1 i2"), sp.symbols("V1 V2")
    resistance, inductance, gain = sp.symbols("R L K")
    motors = [
        (v - gain * rate - resistance * i) / inductance
        for v, rate, i in zip(volts, state[8:10], currents, strict=True)
    ]
    driven = rhs.subs(dict(zip(torque_symbols, [gain * i for i in currents], strict=True)))
    full = sp.Matrix([*driven, *motors])
    arguments = [*state, *currents, *volts, *constants, resistance, inductance, gain]
    call = sp.lambdify(arguments, full)
    numbers = [5.0, 0.15, 2.0, 0.15, 50.0, 0.6, 0.05, 1e-4, 1.0]
    times = np.linspace(0, DURATION, SAMPLES)
    commands = np.tile(list(VOLTAGES.values()), (SAMPLES, 1))

    def rate(x: np.ndarray, t: float) -> np.ndarray:
        u1 = np.interp(t, times, commands[:, 0])
        u2 = np.interp(t, times, commands[:, 1])
        return np.asarray(call(*np.hstack((x, u1, u2, numbers)))).reshape(-1)

    return lambda: odeint(rate, np.zeros(len(state) + 2), times)


def _lagrange() -> tuple[Any, list[Any], list[Any], list[Any]]:
    """Right-hand side, its symbols for (q, q̇, λ), the wheel torques and the constants, by SymPy's LagrangesMethod."""
    import sympy as sp
    from sympy.physics.mechanics import LagrangesMethod, ReferenceFrame, dynamicsymbols

    q = dynamicsymbols("x y theta p1 p2")
    theta = q[2]
    izz, thickness, m_w, r, m_b, w = constants = sp.symbols("I_zz t_w m_w r m_b w")
    t1, t2 = dynamicsymbols("T1 T2")
    dot = [each.diff() for each in q]
    axle, diameter = m_w * r**2 / 2, m_w * (3 * r**2 + thickness**2) / 12
    square = dot[0] ** 2 + dot[1] ** 2
    yaw = izz + 2 * (diameter + m_w * w**2)
    kinetic = ((m_b + 2 * m_w) * square + yaw * dot[2] ** 2 + axle * (dot[3] ** 2 + dot[4] ** 2)) / 2
    forward, sideways = (
        sp.cos(theta) * dot[0] + sp.sin(theta) * dot[1],
        -sp.sin(theta) * dot[0] + sp.cos(theta) * dot[1],
    )
    rolling = [forward + w * dot[2] - r * dot[3], forward - w * dot[2] - r * dot[4], sideways]
    frame = ReferenceFrame("N")
    spinning = [ReferenceFrame(name) for name in ("A", "B")]
    for spin, each in zip(spinning, dot[3:], strict=True):
        spin.set_ang_vel(frame, each * frame.y)
    torques = [(spin, torque * frame.y) for spin, torque in zip(spinning, (t1, t2), strict=True)]
    method = LagrangesMethod(kinetic, q, nonhol_coneqs=rolling, forcelist=torques, frame=frame)
    method.form_lagranges_equations()
    rhs = method.rhs()
    old = [*q, *dot, *method.lam_vec]
    new = [sp.Dummy() for _ in old]
    torque_symbols = [sp.Dummy(), sp.Dummy()]
    exchange = dict(
        zip(
            [*dot, *q, *method.lam_vec, t1, t2],
            [*new[5:10], *new[:5], *new[10:], *torque_symbols],
            strict=True,
        )
    )
    return rhs.xreplace(exchange), new, torque_symbols, list(constants)
