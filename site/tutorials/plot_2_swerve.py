"""
A competition swerve: motors, paths, setpoints, Java
====================================================

You build a swerve robot. You want to know what it can do, a path that it really can follow, and numbers for its code.

What you need: Python, ``pip install`` of Trundle, and ten minutes. At the end of this page is all of the code as a
Jupyter notebook (``pip install notebook``), which shows figures and equations. In a script save them, as
``figures["binding"].savefig("binding.png")`` does.
"""

# %%
# Describe the robot
# ------------------
#
# The catalogue has swerve bases. Measures are numbers in SI units, or text with a unit. Motors are real
# ones with their published torque, current and speed. ``current_limit`` is the limit of a motor's winding
# (stator), ``supply_current_limit`` that of what it draws from the battery.

# sphinx_gallery_thumbnail_number = 3
import numpy as np

import trundle

print(", ".join(trundle.catalog.motors()))
robot = trundle.catalog.swerve(
    track="22 in",
    wheelbase="22 in",
    radius="2 in",
    robot_mass="115 lb",
    center_height="6 in",
    friction=1.1,
    motor="kraken_x60",
    gear_ratio=6.75,
    current_limit="120 A",
    supply_current_limit="60 A",
    battery="12.6 V",
    battery_resistance="18 mohm",
)

# %%
# The command ``trundle new`` writes a robot to a file, with the same measures:
#
# .. code-block:: sh
#
#     trundle new swerve robot.yaml --motor kraken_x60 --gear-ratio 6.75 --track "22 in" --wheelbase "22 in"
#
# ``trundle new swerve --help`` lists all measures. Change the file as you like: functions take
# ``"robot.yaml"`` in place of ``robot``.
#
# A launch
# --------
#
# All four drives get 12 V at once. What does the battery do?

model = trundle.derive(robot)
drives = [name for name in model.inputs if name.endswith("_drive.voltage")]
launch = trundle.simulate(model, "1.5 s", dict.fromkeys(drives, 12.0))
print(f"{launch.final['x']:.2f} m in 1.5 s, at the end {launch.final['v_x']:.2f} m/s")
print(f"battery: down to {launch.peaks['battery.voltage'].lowest:.1f} V")
launch.plot.states("v_x", "battery.voltage")

# %%
# The wheels may slip: each has a friction coefficient and the load of that moment. The figure shows how
# much of the friction they use. A slip below 0 is a wheel that spins: its tread is faster than the robot.

launch.plot.contacts()

# %%
# A path within all limits
# ------------------------
#
# Give poses: x, y in metres and the heading in radians. ``follow`` finds the fastest motion along the
# smooth path through them. It keeps to motors, battery, friction, and the limits that you declare for your
# modules. Those are plain numbers in SI units: rad/s, rad/s², m/s, m/s², m/s³.

path = trundle.pose_path([(0, 0, 0), (1.5, 1.0, 0.8), (3.0, 0.0, 1.6), (1.5, -1.0, 3.1)], name="loop")
limits = trundle.Limits(
    steering_rate=12, steering_acceleration=200, drive_speed=4, drive_acceleration=6, drive_jerk=60
)
driven = trundle.follow(path, robot, limits=limits)
print(f"{driven.motion.duration:.2f} s for the whole path")
print("limits that it breaks:", driven.summary()["exceeded"] or "none")

# %%
# "None" holds at every instant, not only at samples (:doc:`/docs/limits` says how).
#
# The limits that hold the robot back, and for how long: the first one is what you would improve first.

for limit, seconds in driven.summary()["binding"].items():
    print(f"{seconds:.2f} s  {limit}")

# %%
figures = trundle.drive_figures(driven)
figures["binding"]

# %%
# ``follow`` takes a path of PathPlanner or a trajectory of Choreo, too: ``trundle.read_path("score.path")``
# reads your file.
#
# Setpoints
# ---------
#
# The motion is a function of time. Ask it at your controller's rate: 50 times a second.

times = np.arange(0.0, driven.motion.duration, 0.02)
samples = driven.motion.samples(times)
print("order of the modules:", ", ".join(robot.wheels))
print("time   angles of the modules (rad)           speeds (m/s)")
for k in range(0, len(times), 20):
    print(f"{times[k]:4.2f} s", samples.angle[k].round(3), samples.drive_speed[k].round(3))

# %%
# Mind the order of the modules: WPILib's examples have front right second. Angles go on beyond half a turn,
# so that no module jumps.
#
# Files for the robot: Choreo's format, which ChoreoLib and PathPlanner load from
# ``src/main/deploy/choreo``, and a table. A column of the table has its module's name.

trundle.write_trajectory(driven, "loop.traj")
trundle.write_trajectory(driven, "loop.csv")

# %%
# Does the real robot follow?
# ---------------------------
#
# ``track`` drives the dynamic model along the motion, with slipping wheels and with motors within their
# limits.

tracking = trundle.track(robot, driven.motion)
print(f"largest error of position: {100 * tracking.largest['position']:.2f} cm")

# %%
# Java for the robot
# ------------------
#
# Kinematics and odometry of exactly this robot, as Java classes without any library. WPILib's users call
# them beside their own. ``loop_java/README.md`` says where the folder goes, and has the lines that call it.

package = model.export("java", output="loop_java", what="kinematics,odometry")
print("\n".join(sorted(map(str, package.files))))

# %%
# The motion, live
# ----------------
#
# The page has the path, the friction circles and the motors. Move the time.

driven.run().animate("loop.html")

# %%
# What comes next
# ---------------
#
# - :doc:`/docs/catalogue` has motors and measures for a robot of your own.
# - :doc:`/docs/swerve` has commands, levels, profiles and files.
# - :doc:`/docs/limits` says what the certificate of a motion covers.
# - :doc:`/docs/fastest` finds the fastest motion where no path is given.
