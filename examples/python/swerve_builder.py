"""For whoever builds a swerve robot: real motors, one battery, what it can do, a launch, and what the floor does to it.

python examples/python/swerve_builder.py
"""

from pathlib import Path

import numpy as np

import trundle

# Four modules with published motors and a battery: a file to copy and to put one's own numbers into.
file = Path(__file__).parents[1] / "battery" / "competition_swerve.yaml"
robot = trundle.load(file)
kraken = trundle.catalog.motor("kraken_x60")
print(f"each drive: {kraken.stall_torque} N m at {kraken.stall_current} A, {kraken.free_speed} rpm free")

# What it can do, before anything moves.
can = trundle.analyze(robot)
if can.manipulability:
    print(can.manipulability.explain())
angles = can.steering((2.0, 0.0, 3.0))
print("2 m/s at 3 rad/s:", ", ".join(f"{name} {np.degrees(angle):.1f} deg" for name, angle in angles.items()))

# Steady, with the battery full: what an arc of 2 m takes.
model = trundle.derive(robot)
arc = model.trim(v_x=2.0, omega=1.0, fixed=["battery.charge"])
drives = [name for name in model.inputs if name.endswith("_drive.voltage")]
print("2 m/s on an arc of 2 m:", ", ".join(f"{arc.input[name]:.2f} V" for name in drives))

# A launch at full voltage: how far the battery sags.
launch = trundle.simulate(model, "1.5 s", dict.fromkeys(drives, 12.0))
sag, current = launch["battery.voltage"].min(), launch["battery.current"].max()
print(f"launch: {launch.final['x']:.2f} m in 1.5 s, battery down to {sag:.1f} V at {current:.0f} A")
print(f"energy out of balance by {launch.summary['energy_imbalance']:.0e} J")
launch.plot.save("runs/swerve_launch")

# The same on forty floors at once, from ice to carpet, by native code on all cores.
friction = np.linspace(0.1, 1.3, 40)
batch = trundle.rollout(
    model,
    inputs=dict.fromkeys(drives, 12.0),
    parameters={f"wheels.{wheel}.friction": friction for wheel in robot.wheels},
    steps=30000,
    dt=5e-5,
    every=3000,
)
distance = batch.final("x")
for floor in (0.2, 0.5, 0.8, 1.1):
    print(f"friction {floor:.1f}: {np.interp(floor, friction, distance):.2f} m")
