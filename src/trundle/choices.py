"""Names that users choose among, and limits, each set once.

They stand by themselves, so that the command line can offer them before anything heavy is imported.
"""

from __future__ import annotations

from typing import Literal, get_args

Method = Literal["auto", "lsoda", "radau", "bdf", "dop853", "rk45", "rk23"]
METHODS: tuple[Method, ...] = get_args(Method)
InterpolationName = Literal["previous", "linear", "cubic"]
INTERPOLATIONS: tuple[InterpolationName, ...] = get_args(InterpolationName)
BATCHES = ("last", "first")
Mode = Literal["dynamic", "kinematic"]
MODES: tuple[Mode, ...] = get_args(Mode)
Precision = Literal["double", "single"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
Attitude = Literal["exponential", "euler_angles"]
ATTITUDES: tuple[Attitude, ...] = get_args(Attitude)
Base = Literal["fixed", "planar", "floating"]
BASES: tuple[Base, ...] = get_args(Base)
What = Literal["kinematics", "constraints", "dynamics", "state", "all"]
WHAT: tuple[What, ...] = get_args(What)
ProfileShape = Literal["linear", "trapezoidal", "scurve"]
PROFILES: tuple[ProfileShape, ...] = get_args(ProfileShape)
Level = Literal["module", "body", "limited", "coordinated"]
LEVELS: tuple[Level, ...] = get_args(Level)
Infeasible = Literal["hold", "stop", "nearest"]
INFEASIBLE: tuple[Infeasible, ...] = get_args(Infeasible)
# How files of runs end, and what writes tables that end otherwise.
RUN_FILES = (".nc", ".csv")
PANDAS = {
    ".xlsx": "{}.to_excel(…)",
    ".parquet": "{}.to_parquet(…)",
    ".npy": "numpy.save(…, {}.to_records())",
}
FIGURES = ("path", "states", "inputs", "contacts", "loads", "estimate", "checks")
LOAD_FIGURES = ("angles", "moments", "forces", "powers", "paths")
GAIT_FIGURES = ("gait_sagittal", "gait_angles", "gait_moments", "gait_powers")
EXPORTED = ("dynamics", "jacobian", "kinematics", "commands", "odometry", "outputs")
EQUATION_FORMATS = ("text", "latex", "tex", "markdown", "html", "mathml", "page")
FIGURE_FORMATS = ("png", "svg", "pdf")
# Stored samples of one run; 10 million of them with 20 states are already 1.6 GB.
MOST_SAMPLES = 10_000_000
