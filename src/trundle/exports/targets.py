"""Where models can be taken: each target's name, what it is, and the module that makes its package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One target.

    module: of this room, loaded when it is asked for; its `package(model, entries, options)` returns a `Package`.
    summary: what a person gets. precisions: what numbers it can compute with, the default first. what: the parts that
    are exported where nothing is said; None for all that a model has. optional: more of them, where a model has them.
    """

    module: str
    summary: str
    precisions: tuple[str, ...] = ("double",)
    what: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()


TARGETS: Mapping[str, Target] = {
    "c": Target("c_package", "C99 functions that need math.h alone, with an example", ("double", "single")),
    "cpp": Target("cpp_package", "C++17 over C99 functions, with an example", ("double", "single")),
    "numpy": Target("python_package", "a Python module of functions of NumPy arrays, one state or many"),
    "jax": Target("python_package", "a Python module of functions for JAX: jit, vmap, grad"),
    "fmu": Target("fmu", "functional mock-up units, FMI 2.0 and 3.0", what=("dynamics", "outputs")),
    "fortran": Target(
        "fortran_package", "a module in Fortran 2008, with an example program and its makefile"
    ),
    "javascript": Target("javascript_package", "an ES module for browsers and Node, with an example"),
    "octave": Target("octave_package", "a package of functions for Octave and MATLAB, with an example"),
    "cuda": Target("cuda_package", "CUDA C: device functions, and kernels over many robots at once"),
    "java": Target(
        "java_package",
        "a Java package with classes of kinematics and odometry, for WPILib's users, too",
        what=("kinematics", "odometry"),
    ),
    "ros2": Target(
        "ros2_package",
        "a C++ header with classes of kinematics and odometry, for controllers of ros2_control, too",
        what=("kinematics", "odometry"),
    ),
    "microcontroller": Target(
        "microcontroller",
        "C in single precision with start-up code for a Cortex-M4F, measured where its compiler is",
        ("single",),
        ("dynamics",),
        ("kinematics", "odometry"),
    ),
}
