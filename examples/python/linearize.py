"""What a controller needs to know of a differential drive: at rest no motor moves it sideways, on a circle they do.

A regulator by python-control's `lqr` would take the same matrices: about.to_control().
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import trundle

model = trundle.derive(trundle.catalog.differential_drive())
print(model.linearize(outputs=["x", "y", "theta"]))

# On a circle at 1 m/s: the voltages that hold it, and A and B, which are the same all along.
circle = model.trim(v_x=1.0, omega=0.5)
print(f"\n{circle.explain()}")
beside = circle.linearize()
print(beside.controllability.explain())

# What inputs move, without the wheels' angles, which don't matter: a linear-quadratic regulator u = u0 - K z.
part = beside.reduced(without=["left.angle", "right.angle"])
weights = np.diag([{"x": 4.0, "y": 4.0, "theta": 1.0}.get(name, 1e-3) for name in part.states])
gain = part.B.T @ solve_continuous_are(part.A, part.B, weights, np.eye(2))
for name, row in zip(part.inputs, gain, strict=True):
    terms = zip(part.states, row, strict=True)
    print(
        f"{name} = {circle.input[name]:.3f}", *(f"{-k:+.3f} Δ{state}" for state, k in terms if abs(k) > 1e-3)
    )
print(f"slowest pole of the loop: {np.linalg.eigvals(part.A - part.B @ gain).real.max():.3f} 1/s")
beside_by_a_hand = {**circle.state, "y": 0.1}
print(f"voltages 0.1 m beside it: {circle.u - gain @ part.deviation(beside_by_a_hand)} V")

# Along any other run the matrices change with time.
run = trundle.simulate(model, 5.0, {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}, samples=101)
along = model.linearize_along(run)
print(f"\n{along}\nd(y rate)/d(theta) from {along.A[0, 1, 2]:.3f} to {along.A[-1, 1, 2]:.3f} m/s")
