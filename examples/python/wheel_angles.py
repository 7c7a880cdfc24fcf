"""The path of a robot whose wheels' angles are given as functions of time: nothing is driven, wheels only roll."""

import math

import trundle

robot = trundle.catalog.differential_drive()
run = trundle.roll(
    robot,
    duration=10.0,
    inputs={
        "left.angle": lambda t: 6.0 * t + math.sin(t),
        "right.angle": lambda t: 6.0 * t - math.sin(t),
    },
)
print(f"x = {run.final['x']:.4f} m, y = {run.final['y']:.4f} m, theta = {run.final['theta']:.4f} rad")
print(f"slip residual: {run.summary['slip_residual']:.1e} m/s")
