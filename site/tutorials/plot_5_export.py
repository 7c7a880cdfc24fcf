"""
A model on the robot: C, FMU, microcontroller, ROS 2
====================================================

You program the robot itself. You want its kinematics, odometry and dynamics as code that you can trust.

What you need: :doc:`Trundle </index>`, ten minutes, and a C compiler (``cc``) for one step.
"""

# %%
# One robot
# ---------
#
# A mecanum base with your measures: :doc:`the catalogue </docs/catalogue>` has others. As a file, for the commands
# below, ``trundle new mecanum robot.yaml --radius "5 cm"`` writes it.

import shutil
import subprocess

import numpy as np

import trundle

robot = trundle.catalog.mecanum(radius="5 cm")
model = trundle.derive(robot)
print(trundle.to_text(robot))

# %%
# C code
# ------
#
# C99 that needs ``math.h`` alone and allocates nothing. On the command line: ``trundle export robot.yaml --to c
# --output robot_c``. Its README says how each function is called.

package = model.export("c", output="robot_c")
for name, text in package.files.items():
    print(f"{len(text):7,} bytes  {name}")

# %%
# Does the C code do what the model does? Build its example, and compare a run of two seconds with Python's
# kernels. Both take the classical Runge-Kutta method at 1 ms.

volts = {"front_left_motor": 6.0, "front_right_motor": 8.0, "rear_left_motor": 6.0, "rear_right_motor": 7.0}
batch = trundle.rollout(model, inputs={f"{name}.voltage": value for name, value in volts.items()}, steps=2000)
ours = np.array([batch.final(name)[0] for name in model.states])
compiler = shutil.which("cc")
if compiler:
    subprocess.run(["make", "-s", "-C", "robot_c", f"CC={compiler}"], check=True)
    words = ["robot_c/main", "2", "0.001", *map(str, volts.values())]
    table = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    theirs = np.array([float(number) for number in table.splitlines()[-1].split(",")[1:]])
    print(f"largest difference between C and Python: {abs(theirs - ours).max():.1e}")
else:
    print("no C compiler here: left out")

# %%
# In your program:
#
# .. code-block:: c
#
#    #include "mecanum.h"
#
#    mecanum_parameter p = mecanum_parameter_defaults;
#    p.r = 0.0497;                                        /* as you measured it */
#    double twist[3] = {0.5, 0, 0.2}, angle[4], speed[4];
#    mecanum_wheel_states(twist, &p, angle, speed);
#
# A twist is v_x, v_y (m/s) and omega (rad/s). Out come the angles at which wheels point, and how fast they roll (m/s).
#
# Odometry
# --------
#
# ``mecanum_odometry_step`` takes increments of the wheels' angles to the pose, exactly on arcs, with its Jacobians
# for your filter. The formulas, to read:

trundle.odometry(robot)

# %%
# A microcontroller
# -----------------
#
# C in single precision, with start-up code and a control loop for a Cortex-M4F. On the command line:
#
# .. code-block:: sh
#
#    trundle export robot.yaml --to microcontroller --output robot_m4
#
# Where Debian's packages ``gcc-arm-none-eabi`` and ``qemu-system-arm`` are installed, this builds it, too. It then
# tells flash, and each function's instructions and stack. ``make run`` in the folder drives it in QEMU, an emulator.
# For your board write your encoders and motors into ``main.c``, and its memory into ``board.ld``: the README says how.

package = model.export("microcontroller")
print(", ".join(package.files))

# %%
# FMUs
# ----
#
# A functional mock-up unit is a model in a file that other simulators take. Here are two, FMI 2.0 and 3.0, for
# Simulink, OpenModelica, Dymola and FMPy. On the command line: ``--to fmu``.

package = model.export("fmu", output="robot_fmu")
print(", ".join(package.files))

# %%
# ROS 2
# -----
#
# A package with a controller of ``ros2_control``: a twist in, wheels out, odometry with its covariance. On the
# command line: ``--to ros2``. Put the folder into a workspace's ``src`` and run ``colcon build``.

package = model.export("ros2", output="robot_ros2")
print("\n".join(package.files))

# %%
# Java, C++, Fortran, Octave, JavaScript and CUDA work likewise: :doc:`/docs/export` lists all targets.
#
# The robot, live
# ---------------
#
# It drives at the voltages from above. Move a slider: the page simulates anew.

inputs = {f"{name}.voltage": value for name, value in volts.items()}
trundle.animate({"trundle": 1, "robot": robot, "run": {"duration": 2, "inputs": inputs}}, "mecanum.html")

# %%
# What comes next
# ---------------
#
# - :doc:`/docs/export` has all functions and what was tested of them.
# - :doc:`/docs/fmu` has the variables of FMUs.
# - :doc:`/docs/extending` adds a language of your own.
