"""What a controller needs to know of a differential drive: its linearisation at rest and while it drives.

At rest no motor moves it sideways, at a metre per second steering does: then SciPy's Riccati solver finds a feedback
that keeps it on a line.
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import trundle

model = trundle.derive(trundle.catalog.differential_drive())
print(model.linearize(outputs=["x", "y", "theta"]))

# Straight ahead at 1 m/s: these voltages hold the speed against the motors' back EMF, all else is zero.
speed = 1.0
volts = speed / model.parameters["r"] * model.parameters["motors.left_motor.torque_constant"]
steady = {"left_motor.voltage": volts, "right_motor.voltage": volts}
driving = model.linearize({"v_x": speed}, steady)
print(f"\nat {speed:g} m/s: {', '.join(driving.drifting)} drift, all else holds")
print(driving.controllability.explain())

# The line is y = 0: x and the wheels' angles don't matter, and the rest is controllable. A linear-quadratic regulator:
kept = [k for k, name in enumerate(driving.states) if name != "x" and not name.endswith(".angle")]
names = [driving.states[k] for k in kept]
a, b = driving.A[np.ix_(kept, kept)], driving.B[kept]
q = np.diag([{"y": 4.0, "theta": 1.0, "v_x": 1.0, "omega": 0.1}.get(name, 1e-6) for name in names])
feedback = b.T @ solve_continuous_are(a, b, q, np.eye(2))
for name, row in zip(driving.inputs, feedback, strict=True):
    terms = zip(names, row, strict=True)
    print(f"{name} = {volts:.3f}", *(f"{-gain:+.3f} Δ{state}" for state, gain in terms if abs(gain) > 1e-3))
print(f"slowest pole of the loop: {np.linalg.eigvals(a - b @ feedback).real.max():.3f} 1/s")

# Along a run the matrices change with time.
run = trundle.simulate(model, 5.0, {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}, samples=101)
along = model.linearize_along(run)
print(f"\n{along}\nd(y rate)/d(theta) from {along.A[0, 1, 2]:.3f} to {along.A[-1, 1, 2]:.3f} m/s")
