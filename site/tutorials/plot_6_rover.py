"""
A rover on rough ground, and a sweep over many
==============================================

You build a rover. You want to know what it climbs, and which design climbs more.

What you need: Python, ``pip install`` of Trundle with ``[sweep]``, and ten minutes.
"""

# %%
# A rover and a step
# ------------------
#
# The catalogue has six rovers. This one has rockers and bogies: six wheels that stay on the ground.

import matplotlib.pyplot as plt
import numpy as np

import trundle

rover = trundle.catalog.rocker_bogie(speed=0.3)
print(trundle.to_text(rover))

# %%
# The ground has surfaces. Here a plane, and a step of 20 cm. The wheels have a radius of 15 cm.

terrain = {
    "surfaces": {"ground": {"type": "plane"}, "step": {"type": "step", "height": 0.2, "at": [1.2, 0]}},
    "sinkage": "5 mm",
}
run = trundle.traverse(rover, terrain, "10 s", step=0.02)
print(f"it stands {run['z'][-1] - run['z'][0]:.3f} m higher than at its start")

# %%
# Every wheel's load, slip and friction are columns of the run.

run.plot.states("x", "z", "bogie_left.angle")

# %%
# Which friction does it need?
# ----------------------------
#
# ``rollout`` simulates many rovers at once. Here are ten steps and ten frictions: a hundred rovers for eight
# seconds.

heights, frictions = np.linspace(0.05, 0.5, 10), np.linspace(0.2, 1.1, 10)
every_height, every_friction = (each.ravel() for each in np.meshgrid(heights, frictions))
grid = {"terrain.surfaces.step.height": every_height}
grid |= {f"wheels.{wheel}.friction": every_friction for wheel in rover.wheels}
batch = trundle.rollout(rover, terrain=terrain, parameters=grid, steps=400, dt=0.02, every=400)
climbed = (batch.final("z") - batch.values[0, batch.states.index("z")] > 0.9 * every_height).reshape(10, 10)

figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
axes.pcolormesh(100 * heights, frictions, climbed, cmap="Blues", vmax=2)
_ = axes.set(
    xlabel="height of the step (cm)",
    ylabel="friction of the wheels",
    title="blue: stands on the step after 8 s",
)

# %%
# Random ground
# -------------
#
# A seed is one ground, the same on every machine. So a hundred seeds are a hundred trips.

rough = {"surfaces": {"rubble": {"type": "fractal", "slope": 0.25, "shortest": 0.5, "longest": 2}}}
seeds = {"terrain.surfaces.rubble.seed": np.arange(100)}
trips = trundle.rollout(rover, terrain=rough, parameters=seeds, steps=400, dt=0.02, every=400)
far = np.hypot(trips.final("x"), trips.final("y"))
print(
    f"in 8 s: {np.quantile(far, 0.05):.2f} m (5 %), {np.median(far):.2f} m (median), {np.quantile(far, 0.95):.2f} m"
)
print("overturned:", trips.summary["overturned"], "stuck:", trips.summary["stuck"])

# %%
# A sweep
# -------
#
# On flat ground a sweep takes many more robots and keeps a few numbers of every one. Which tolerance of a
# differential drive turns it away most? The load's place, and the left motor's torque constant and
# resistance, of 2,000 robots:

drive = trundle.catalog.differential_drive()
found = trundle.sweep(
    drive,
    over={
        "d": "normal(0, 5 mm)",
        "motors.left_motor.torque_constant": "normal(1, 0.01)",
        "motors.left_motor.resistance": "normal(0.05, 0.001)",
    },
    samples=2000,
    inputs={"left_motor.voltage": 12.0, "right_motor.voltage": 12.0},
    measures=["final.theta", "final.y"],
    steps=2500,
    dt="2 ms",
)
found.figure()

# %%
# ``found.animate("sweep.html")`` makes a page with a dot for every robot: a click drives it. A sweep of 10⁸
# robots runs on a cluster (:doc:`/docs/scale`).
#
# The rover, live
# ---------------

run.animate("rover.html")

# %%
# What comes next
# ---------------
#
# - :doc:`/docs/terrain` has all surfaces, modes and measured laws.
# - :doc:`/docs/sweeps` has distributions, measures and Sobol' indices.
# - :doc:`/docs/feet` has robots that walk.
