"""How far off does a differential drive end when its motors aren't quite equal?

Rolls out 20,000 robots, each with its own pair of torque constants (1 % spread), for 10 s at 24 V on both motors.
"""

import numpy as np

import trundle

robot = trundle.catalog.differential_drive()
model = trundle.derive(robot)
rng = np.random.default_rng(7)
count, constant = 20_000, model.parameters["motors.left_motor.torque_constant"]

batch = trundle.rollout(
    model,
    inputs={"left_motor.voltage": 12.0, "right_motor.voltage": 12.0},
    parameters={
        "motors.left_motor.torque_constant": constant * rng.normal(1.0, 0.01, count),
        "motors.right_motor.torque_constant": constant * rng.normal(1.0, 0.01, count),
    },
    steps=20_000,
    dt=5e-4,
    every=2_000,
)

print(f"{model.name}: {count:,} robots, 10 s, {model.operations} operations a right-hand side")
print(f"{'t (s)':>8} {'mean x (m)':>12} {'spread of y (m)':>16} {'spread of heading (deg)':>24}")
for k in range(0, len(batch.time), 2):
    x, y, heading = (batch[name][k] for name in ("x", "y", "theta"))
    print(f"{batch.time[k]:8.1f} {x.mean():12.3f} {y.std():16.3f} {np.degrees(heading).std():24.2f}")
