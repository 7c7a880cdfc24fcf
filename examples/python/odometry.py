"""Where is the robot? Its wheels' encoders say so, and how sure one may be of it.

A differential drive follows given wheel rates for a minute; its encoders are read every 20 ms. The wheels creep a
little on the ground, so that a turn of theirs is worth more or less than a turn. The pose is updated on the exact arc
of each increment, and its covariance with it.
"""

import numpy as np

import trundle

robot = trundle.catalog.differential_drive()
odometry = trundle.derive(robot).odometry()
print(odometry.formulas())

seconds, period = 60.0, 0.02
run = trundle.roll(
    robot,
    seconds,
    {"left.rate": lambda t: 5 + np.sin(0.7 * t), "right.rate": lambda t: 5 + np.sin(0.4 * t)},
    samples=round(seconds / period) + 1,
)

# What the encoders count beside the true increment: variance in proportion to it (rad² for each rad).
creep = 1e-5
rng = np.random.default_rng(5)
true = np.diff([run[name] for name in odometry.increments])
counted = true + np.sqrt(creep * np.abs(true)) * rng.normal(size=true.shape)
pose, covariance = np.zeros(3), np.zeros((3, 3))
for increments in counted.T:
    noise = np.diag(creep * np.abs(increments))
    pose, covariance = odometry.propagate(pose, covariance, increments, noise)

length = run["left.angle"][-1] * odometry.parameters["r"]
print(f"\nafter {seconds:g} s and {length:.0f} m:")
print(f"{'':>8} {'true':>10} {'odometry':>10} {'deviation':>10}")
for k, name in enumerate(("x", "y", "theta")):
    print(f"{name:>8} {run.final[name]:10.5f} {pose[k]:10.5f} {covariance[k, k] ** 0.5:10.5f}")
