"""Trundle: from the description of a wheeled robot or a linkage to equations, programs, simulations and pictures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from trundle.errors import InputError as InputError
from trundle.errors import NumericsError as NumericsError
from trundle.errors import TrundleError as TrundleError
from trundle.moved import install
from trundle.version import __version__ as __version__

if TYPE_CHECKING:
    # For type checkers and editors; `as` says that a name is public.
    from trundle import catalog as catalog
    from trundle import documents as documents
    from trundle import formulas as formulas
    from trundle import program as program
    from trundle import robot as robot
    from trundle.analysis.analyze import Analysis as Analysis
    from trundle.analysis.analyze import analyze as analyze
    from trundle.catalog.anthropometry import BodySegment as BodySegment
    from trundle.catalog.anthropometry import body_segments as body_segments
    from trundle.control.linear_trajectory import linearize_along as linearize_along
    from trundle.control.linearization import linearize as linearize
    from trundle.control.trim import trim as trim
    from trundle.documents import load_robot
    from trundle.exports.export import export as export
    from trundle.exports.functions import to_casadi as to_casadi
    from trundle.exports.functions import to_jax as to_jax
    from trundle.exports.functions import to_numpy as to_numpy
    from trundle.formulas import equations as equations
    from trundle.formulas.typeset.formats import format_equations as format_equations
    from trundle.limbs.capture.cycles import Cycles as Cycles
    from trundle.limbs.capture.cycles import contacts as contacts
    from trundle.limbs.capture.cycles import cycles as cycles
    from trundle.limbs.capture.force_plates import ForcePlate as ForcePlate
    from trundle.limbs.capture.ground_reactions import GroundReaction as GroundReaction
    from trundle.limbs.capture.ground_reactions import ground_reactions as ground_reactions
    from trundle.limbs.capture.joint_motion import JointMotion as JointMotion
    from trundle.limbs.capture.joint_motion import joint_motion as joint_motion
    from trundle.limbs.capture.marker_file import read_markers as read_markers
    from trundle.limbs.capture.recording import Recording as Recording
    from trundle.limbs.capture.recording_files import read_recording as read_recording
    from trundle.limbs.capture.recording_files import write_recording as write_recording
    from trundle.limbs.capture.segments import SegmentPoses as SegmentPoses
    from trundle.limbs.capture.segments import segment_poses as segment_poses
    from trundle.limbs.capture.smoothing import smooth as smooth
    from trundle.limbs.capture.smoothing import smoothing as smoothing
    from trundle.limbs.loads import Loads as Loads
    from trundle.limbs.loads import joint_loads as joint_loads
    from trundle.limbs.loads.symbolic_loads import SymbolicLoads as SymbolicLoads
    from trundle.limbs.loads.symbolic_loads import symbolic_loads as symbolic_loads
    from trundle.model import Model as Model
    from trundle.model import derive as derive
    from trundle.model.archive import open_model
    from trundle.motion.commands.drive import drive as drive
    from trundle.motion.commands.record import to_run as to_run
    from trundle.motion.drive.kinematics import kinematics as kinematics
    from trundle.motion.drive.limits import Limits as Limits
    from trundle.motion.forces.motor_limits import motor_limits as motor_limits
    from trundle.motion.odometry.odometry import derive_odometry
    from trundle.motion.paths.following import follow as follow
    from trundle.motion.paths.path_files import read_path as read_path
    from trundle.motion.paths.pose_paths import pose_path as pose_path
    from trundle.motion.paths.pursuit import pursue as pursue
    from trundle.motion.paths.trajectories import write_trajectory as write_trajectory
    from trundle.motion.planning.planner import plan as plan
    from trundle.motion.planning.planner import plan_to_pose as plan_to_pose
    from trundle.motion.trackers.laws import holonomic_twist as holonomic_twist
    from trundle.motion.trackers.tracking import track as track
    from trundle.results import Batch as Batch
    from trundle.results import Run as Run
    from trundle.robot import Robot as Robot
    from trundle.robot import register as register
    from trundle.show import page as page
    from trundle.show import window as window
    from trundle.show.figures.breakdown_figure import breakdown_figure as breakdown_figure
    from trundle.show.figures.load_figures import load_figures as load_figures
    from trundle.show.figures.plots import plot as plot
    from trundle.show.figures.several_runs import Comparison as Comparison
    from trundle.show.figures.several_runs import compare as compare
    from trundle.show.page.animate import animate as animate
    from trundle.show.words import explain as explain
    from trundle.show.words import to_html as to_html
    from trundle.show.words import to_svg as to_svg
    from trundle.show.words import to_text as to_text
    from trundle.simulation import ode as ode
    from trundle.simulation import roll as roll
    from trundle.simulation import rollout as rollout
    from trundle.simulation import run as run
    from trundle.simulation import simulate as simulate
    from trundle.simulation import table as table
    from trundle.sympy_models.from_sympy import from_sympy as from_sympy
    from trundle.wrenches import Breakdown as Breakdown
    from trundle.wrenches import Frame as Frame
    from trundle.wrenches import Inertia as Inertia
    from trundle.wrenches import Point as Point
    from trundle.wrenches import Twist as Twist
    from trundle.wrenches import Wrench as Wrench

    load, odometry, open = load_robot, derive_odometry, open_model

install()

# The same names, loaded when first asked for: `trundle --help` must not wait for CasADi. Methods on nouns that lead to
# verbs of rooms above go through here, too, so that imports between rooms run one way.
_HOMES = {
    "analysis.analyze": ("Analysis", "analyze"),
    "limbs.capture.force_plates": ("ForcePlate",),
    "limbs.capture.cycles": ("Cycles", "contacts", "cycles"),
    "limbs.capture.ground_reactions": ("GroundReaction", "ground_reactions"),
    "limbs.capture.joint_motion": ("JointMotion", "joint_motion"),
    "limbs.capture.recording": ("Recording",),
    "limbs.capture.marker_file": ("read_markers",),
    "limbs.capture.recording_files": ("read_recording", "write_recording"),
    "limbs.capture.segments": ("SegmentPoses", "segment_poses"),
    "limbs.capture.smoothing": ("smooth", "smoothing"),
    "catalog.anthropometry": ("BodySegment", "body_segments"),
    "control.linear_trajectory": ("linearize_along",),
    "control.linearization": ("linearize",),
    "control.trim": ("trim",),
    "exports.export": ("export",),
    "exports.functions": ("to_casadi", "to_jax", "to_numpy"),
    "formulas": ("equations",),
    "limbs.loads": ("Loads", "joint_loads"),
    "limbs.loads.symbolic_loads": ("SymbolicLoads", "symbolic_loads"),
    "model": ("Model", "derive"),
    "motion.paths.following": ("follow",),
    "motion.drive.kinematics": ("kinematics",),
    "motion.commands.drive": ("drive",),
    "motion.drive.limits": ("Limits",),
    "motion.paths.path_files": ("read_path",),
    "motion.paths.pose_paths": ("pose_path",),
    "motion.paths.pursuit": ("pursue",),
    "motion.commands.record": ("to_run",),
    "motion.paths.trajectories": ("write_trajectory",),
    "motion.forces.motor_limits": ("motor_limits",),
    "motion.planning.planner": ("plan", "plan_to_pose"),
    "motion.trackers.laws": ("holonomic_twist",),
    "motion.trackers.tracking": ("track",),
    "results": ("Batch", "Run"),
    "robot": ("Robot", "register"),
    "show.page.animate": ("animate",),
    "show.figures.breakdown_figure": ("breakdown_figure",),
    "show.figures.several_runs": ("Comparison", "compare"),
    "show.figures.load_figures": ("load_figures",),
    "show.figures.plots": ("plot",),
    "show.words": ("explain", "to_html", "to_svg", "to_text"),
    "simulation": ("ode", "roll", "rollout", "run", "simulate", "table"),
    "sympy_models.from_sympy": ("from_sympy",),
    "formulas.typeset.formats": ("format_equations",),
    "wrenches": ("Breakdown", "Frame", "Inertia", "Point", "Twist", "Wrench"),
}
_LAZY = {name: (home, name) for home, names in _HOMES.items() for name in names} | {
    **{room: (room, "") for room in ("catalog", "documents", "formulas", "program", "robot")},
    "page": ("show.page", ""),
    "window": ("show.window", ""),
    "load": ("documents", "load_robot"),
    "odometry": ("motion.odometry.odometry", "derive_odometry"),
    "open": ("model.archive", "open_model"),
}

__all__ = ["InputError", "NumericsError", "TrundleError", "__version__", *_LAZY]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'trundle' has no attribute {name!r}")
    home, attribute = _LAZY[name]
    loaded = import_module(f"trundle.{home}")
    value = getattr(loaded, attribute) if attribute else loaded
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
