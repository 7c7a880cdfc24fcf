"""
A rover on rough ground, and a sweep over many
==============================================

You build a rover. You want to know what it climbs, and which design climbs more.

What you need: :doc:`Trundle </index>` with its extra for sweeps (``pip install '.[sweep]'``), and ten minutes.
"""

# %%
# A rover and a step
# ------------------
#
# The :doc:`catalogue </docs/catalogue>` has six rovers. This one has rockers and bogies: six wheels that stay on
# the ground. It drives at 0.3 m/s.

import matplotlib.pyplot as plt
import numpy as np

import trundle

rover = trundle.catalog.rocker_bogie(speed=0.3)
print(trundle.to_text(rover))

# %%
# The ground has surfaces. Here a plane, and a step of 20 cm, 1.2 m ahead. The wheels have a radius of 15 cm.
# ``sinkage`` says how stiff the ground is: so deep the wheels stand in it. ``simulate`` drives the rover for ten
# seconds, in steps of 0.02 s.

terrain = {
    "surfaces": {"ground": {"type": "plane"}, "step": {"type": "step", "height": 0.2, "at": [1.2, 0]}},
    "sinkage": "5 mm",
}
run = trundle.simulate(rover, "10 s", terrain=terrain, step=0.02)
print(f"it stands {run['z'][-1] - run['z'][0]:.3f} m higher than at its start")

# %%
# Every wheel's load and slip are columns of the run, such as ``run["front_left.step.load"]``. The bogie
# carries the middle and the rear wheel. Its angle rises as the front wheel climbs, falls as the middle one does, and
# is 0 again when the rear one is up.

run.plot.states("x", "z", "bogie_left.angle")

# %%
# Which friction does it need?
# ----------------------------
#
# ``rollout`` simulates many rovers at once. Here are ten heights and ten coefficients of friction: a hundred
# rovers for eight seconds.

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
# Higher steps need more friction. :doc:`/docs/terrain` has the same by statics: the rear wheels need most.
#
# Random ground: a sweep
# ----------------------
#
# A seed is one ground, the same on every machine. ``slope`` is its root mean square, ``shortest`` and ``longest``
# are its wavelengths (m), ``scale`` multiplies its heights. A sweep rolls every rover over every ground, and keeps
# a few numbers of each. Here are twenty seeds and five scales: a hundred trips of eight seconds.

rough = {"surfaces": {"rubble": {"type": "fractal", "slope": 0.25, "shortest": 0.5, "longest": 2}}}
trips = trundle.sweep(
    rover,
    terrain=rough,
    over={"terrain.seed": "0:19:20", "terrain.scale": "0.5:1.5:5"},
    measures=["final.x", "max(tilt)"],
    steps=400,
    dt="20 ms",
)
print("in 8 s: {:.2f} m (5 %), {:.2f} m (median), {:.2f} m (95 %)".format(*trips.quantiles("final.x")))
print(trips.outcomes)

# %%
# ``outcomes`` counts trips that went wrong. A dot is a trip: on rougher ground it tilts more, and comes less far.

trips.figure()

# %%
# The trip that tilts most, as a whole run:

worst = trips.run(trips.extremes("max(tilt)", 1)[0])
print(worst)

# %%
# A thousand such trips take ten times as long. With ``store="trips.zarr"`` they are kept: a sweep that was
# stopped goes on with ``resume=True``.
#
# The same on the command line, over the height of the step (``trundle new`` writes it into the file):
#
# .. code-block:: sh
#
#    trundle new rocker_bogie rover.yaml --speed 0.3
#    trundle sweep rover.yaml --vary terrain.height=0.05:0.4:8 --measure final.z --store steps.zarr --figure steps.png
#    trundle run rover.yaml --like steps.zarr:7
#
# The last line drives robot 7 of the sweep alone.
#
# Many robots on flat ground
# --------------------------
#
# On flat ground a robot's step takes some nanoseconds. So 2,000 robots of 2,500 steps take a second.
# Which tolerance of a differential drive turns it away most? The load's place ahead (``d``), and the left
# motor's torque constant and resistance are drawn anew for each robot.

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
# A dot is a robot. Grey above: what was drawn. Blue on the left: what came of it, with the median (black), 5 % and
# 95 % (grey). Only the torque constant puts the dots on a line: it is what turns the drive away.
#
# ``found.animate("sweep.html")`` makes a page with these dots: a click drives the robot. A sweep of 10⁸
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
