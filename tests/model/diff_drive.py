"""The reference differential drive: its description, and its closed form derived by hand in the base's frame."""

import numpy as np

MASS, ZZ, WHEEL, HALF, RADIUS, THICK = 50.0, 5.0, 2.0, 0.6, 0.15, 0.15
RESISTANCE, INDUCTANCE = 0.05, 1e-4


def description(**changes):
    wheel = {"radius": "r", "width": THICK, "mass": WHEEL}
    motor = {"torque_constant": 1.0, "resistance": RESISTANCE, "inductance": INDUCTANCE}
    return {
        "name": "diff_drive",
        "body": {"mass": MASS, "center_of_mass": ["d", 0, 0], "inertia": {"zz": ZZ}},
        "wheels": {"right": {"at": [0, -HALF, 0], **wheel}, "left": {"at": [0, HALF, 0], **wheel}},
        "motors": {"right_motor": {"drives": "right", **motor}, "left_motor": {"drives": "left", **motor}},
        "parameters": {"d": 0.0, "r": RADIUS},
        **changes,
    }


def accelerations(v, omega, right, left, d):
    """v̇ and ω̇ from the wheels' torques (N m)."""
    r, w = RADIUS, HALF
    axle, diameter = WHEEL * r**2 / 2, WHEEL * (3 * r**2 + THICK**2) / 12
    forward = r * (right + left + r * d * MASS * omega**2) / (2 * axle + MASS * r**2 + 2 * WHEEL * r**2)
    inertia = 2 * axle * w**2 + 2 * diameter * r**2 + ZZ * r**2 + d**2 * MASS * r**2 + 2 * WHEEL * r**2 * w**2
    return forward, r * ((right - left) * w - r * d * MASS * omega * v) / inertia


def final_state(volts, duration, d=0.0, constants=(1.0, 1.0)):
    """x, y, θ, φ̇_right, φ̇_left at the end, by another integrator on the closed form with its own states."""
    from scipy.integrate import odeint

    def rate(_, s):
        _, _, theta, v, omega, i1, i2 = (float(x) for x in s)
        right, left = (v + HALF * omega) / RADIUS, (v - HALF * omega) / RADIUS
        (k1, k2), (v1, v2) = constants, volts
        dv, dw = accelerations(v, omega, k1 * i1, k2 * i2, d)
        return [
            v * np.cos(theta),
            v * np.sin(theta),
            omega,
            dv,
            dw,
            (v1 - RESISTANCE * i1 - k1 * right) / INDUCTANCE,
            (v2 - RESISTANCE * i2 - k2 * left) / INDUCTANCE,
        ]

    end = odeint(rate, np.zeros(7), [0, duration], tfirst=True, rtol=1e-11, atol=1e-12, mxstep=1_000_000)[-1]
    x, y, theta, v, omega = end[:5]
    return x, y, theta, (v + HALF * omega) / RADIUS, (v - HALF * omega) / RADIUS
