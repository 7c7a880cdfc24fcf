"""A swerve robot from nothing to a file that it follows: describe it, look at it, drive it, write `.traj` for Choreo.

python examples/python/swerve_to_robot.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import trundle
from trundle.cli import main as command

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/swerve_to_robot")
folder.mkdir(parents=True, exist_ok=True)

# As in a shell: trundle new swerve robot.yaml --modules 4. The file is text, to be changed as one likes.
file = folder / "robot.yaml"
command(["new", "swerve", str(file), "--modules", "4", "--force", "--quiet"])
robot = trundle.load(file)
print(trundle.to_text(robot))
(folder / "robot.svg").write_text(trundle.to_svg(robot), encoding="utf-8")

# What its modules can do stands in the description too; here it is laid over it.
limits = trundle.Limits(steering_rate=12, drive_speed=4, drive_acceleration=6, drive_jerk=60)

# Poses (x, y, heading) to go through: as fast as the modules can, without slip, from rest to rest.
way = trundle.pose_path([(0, 0, 0), (1.5, 1.0, 0.8), (3.0, 0.0, 1.6), (1.5, -1.0, 3.1)], name="loop")
driven = trundle.follow(way, robot, limits=limits)
times = np.linspace(0, driven.motion.duration, 2001)
samples = driven.motion.samples(times)
print(f"{way.length:.2f} m in {driven.motion.duration:.2f} s, slip at most {samples.slip.max():.0e} m/s")
print(f"wheels at most {np.abs(samples.drive_speed).max():.2f} m/s, held: {not driven.summary()['exceeded']}")

# For the robot: what choreolib and PathPlanner load, and a table; for people: figures.
trundle.write_trajectory(driven, folder / "loop.traj")
trundle.write_trajectory(driven, folder / "loop.csv")
driven.motion.run().plot.save(folder)
again = trundle.read_path(folder / "loop.traj")
print(f"read back: {again.duration:.2f} s, ends at {again.poses([again.length])[0].round(3).tolist()}")
print("in", folder, "are", ", ".join(sorted(each.name for each in folder.iterdir())))
