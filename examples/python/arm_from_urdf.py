"""An arm described in URDF: loaded, given servos, derived, swung to a pose, made heavier, and written back."""

from pathlib import Path

import trundle
from trundle.documents import dump_urdf, urdf_extras

file = Path(__file__).parents[1] / "urdf" / "arm.urdf"
bare = trundle.load(file)

# URDF knows no motors with equations; Trundle's are added here.
servos = {
    f"{joint}_servo": {"type": "servo", "drives": joint, "stiffness": 200.0, "damping": 10.0}
    for joint in ("turret", "shoulder", "elbow")
}
arm = trundle.Robot(**{**dict(bare), "motors": servos})

model = trundle.derive(arm)
targets = {"turret_servo.angle": 1.0, "shoulder_servo.angle": 0.6, "elbow_servo.angle": 0.8}
run = trundle.simulate(model, duration=3.0, inputs=targets)

print(f"{model.name}: {model.operations} operations a right-hand side")
limits = urdf_extras(bare).limits
for joint in ("turret", "shoulder", "elbow"):
    angle, limit = run.final[f"{joint}.angle"], limits[joint]
    print(f"{joint:9} {angle:7.4f} rad, within [{limit.lower:g}, {limit.upper:g}]")
print("tool at", ", ".join(f"{run[f'flange.{axis}'][-1]:.4f}" for axis in "xyz"), "m")
print(f"energy out of balance by {run.summary['energy_imbalance']:.1e} J")

# A heavier forearm, written back: one number is new, everything else stands as it did.
heavier = bare.with_parameters({"joints.elbow.body.mass": 0.9})
before, after = dump_urdf(bare).splitlines(), dump_urdf(heavier).splitlines()
print("changed in the file:", *(new.strip() for old, new in zip(before, after, strict=True) if old != new))
