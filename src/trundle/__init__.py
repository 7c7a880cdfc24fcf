"""Trundle: from the description of a wheeled robot or a linkage to equations, programs, simulations and pictures.

    robot = trundle.load("robot.yaml")                   # YAML, URDF or OpenSim; or trundle.catalog.swerve(track=0.6)
    model = trundle.derive(robot)                        # its equations of motion, as programs
    run = trundle.simulate(model, duration=10, inputs={"left_motor.voltage": 12})
    run.final["x"], run.to_dataframe(), run.plot.path()  # numbers, tables, figures
    run.save("run.nc")                                   # .csv by the file's name

Whatever takes a robot takes its file's path, too: trundle.run("robot.yaml"). Numbers are in SI and radians, or text
with a unit ("6 in").

    what a robot is          load, derive, analyze, catalog, equations, explain
    how it moves             run, simulate, roll, rollout, sweep, ode; Run, Batch
    what keeps it on a path  controllers, lqr, kalman, trim, linearize, linearize_along, odometry, track
    where it is              sensors, measure, estimate, Estimator
    drives on wheels         kinematics, plan, plan_to_pose, follow, fastest, drive, pose_path, Limits
    loads in joints          read_recording, scale_person, joint_motion, inverse, joint_loads
    pictures                 run.plot, compare, animate, page, window, drive_figures
    elsewhere                export, to_numpy, to_jax, to_casadi, citation

`help(trundle.simulate)` tells about one of them, `trundle --help` about the command line.
"""

from __future__ import annotations

import ast
from importlib import import_module
from typing import TYPE_CHECKING

from trundle.errors import InputError as InputError
from trundle.errors import NumericsError as NumericsError
from trundle.errors import TrundleError as TrundleError
from trundle.errors import no_attribute
from trundle.version import __version__ as __version__

if TYPE_CHECKING:
    # The package's names, said once: type checkers and editors read them here, and so does `_homes` below, since
    # nothing may be imported before somebody asks for it. `as` says that a name is public.
    from trundle import catalog as catalog
    from trundle import controllers as controllers
    from trundle import documents as documents
    from trundle import formulas as formulas
    from trundle import program as program
    from trundle import robot as robot
    from trundle import sensors as sensors
    from trundle.analysis.analyze import Analysis as Analysis
    from trundle.analysis.analyze import analyze as analyze
    from trundle.catalog.anthropometry import BodySegment as BodySegment
    from trundle.catalog.anthropometry import body_segments as body_segments
    from trundle.control.kalman import kalman as kalman
    from trundle.control.linear_trajectory import linearize_along as linearize_along
    from trundle.control.linearization import linearize as linearize
    from trundle.control.regulator import lqr as lqr
    from trundle.control.trim import trim as trim
    from trundle.documents import load_robot
    from trundle.estimation.estimating import estimate as estimate
    from trundle.estimation.estimator import Estimator as Estimator
    from trundle.estimation.measuring import measure as measure
    from trundle.estimation.readings import Fix as Fix
    from trundle.exports.export import export as export
    from trundle.exports.functions import to_casadi as to_casadi
    from trundle.exports.functions import to_jax as to_jax
    from trundle.exports.functions import to_numpy as to_numpy
    from trundle.formulas import equations as equations
    from trundle.formulas.typeset.formats import format_equations as format_equations
    from trundle.limbs.bands import Bands as Bands
    from trundle.limbs.capture.cycles import Cycles as Cycles
    from trundle.limbs.capture.cycles import contacts as contacts
    from trundle.limbs.capture.cycles import time_normalize as time_normalize
    from trundle.limbs.capture.force_plates import ForcePlate as ForcePlate
    from trundle.limbs.capture.ground_reactions import GroundReaction as GroundReaction
    from trundle.limbs.capture.ground_reactions import ground_reactions as ground_reactions
    from trundle.limbs.capture.joint_motion import JointMotion as JointMotion
    from trundle.limbs.capture.joint_motion import joint_motion as joint_motion
    from trundle.limbs.capture.marker_model import read_markers as read_markers
    from trundle.limbs.capture.recording import Recording as Recording
    from trundle.limbs.capture.recording_files import read_recording as read_recording
    from trundle.limbs.capture.recording_files import write_recording as write_recording
    from trundle.limbs.capture.scaling import ScaledPerson as ScaledPerson
    from trundle.limbs.capture.scaling import scale_person as scale_person
    from trundle.limbs.capture.segments import SegmentPoses as SegmentPoses
    from trundle.limbs.capture.segments import segment_poses as segment_poses
    from trundle.limbs.capture.smoothing import smooth as smooth
    from trundle.limbs.capture.smoothing import smoothing as smoothing
    from trundle.limbs.clinical import clinical as clinical
    from trundle.limbs.gait import Gait as Gait
    from trundle.limbs.inverse import inverse as inverse
    from trundle.limbs.inverse_result import InverseDynamicsResult as InverseDynamicsResult
    from trundle.limbs.loads import Loads as Loads
    from trundle.limbs.loads import joint_loads as joint_loads
    from trundle.limbs.loads.symbolic_loads import SymbolicLoads as SymbolicLoads
    from trundle.limbs.loads.symbolic_loads import symbolic_loads as symbolic_loads
    from trundle.model import Model as Model
    from trundle.model import derive as derive
    from trundle.model.citing import citation as citation
    from trundle.model.own_steps import from_steps as from_steps
    from trundle.motion.commands.drive import drive as drive
    from trundle.motion.commands.record import to_run as to_run
    from trundle.motion.drive.drive import Limits as Limits
    from trundle.motion.drive.kinematics import kinematics as kinematics
    from trundle.motion.fastest.fastest import fastest as fastest
    from trundle.motion.forces.motor_limits import motor_limits as motor_limits
    from trundle.motion.odometry.odometry import derive_odometry
    from trundle.motion.paths.following import follow as follow
    from trundle.motion.paths.path_files import read_path as read_path
    from trundle.motion.paths.pose_paths import pose_path as pose_path
    from trundle.motion.paths.references import reference as reference
    from trundle.motion.paths.trajectories import write_trajectory as write_trajectory
    from trundle.motion.planning.planner import plan as plan
    from trundle.motion.planning.planner import plan_to_pose as plan_to_pose
    from trundle.motion.trackers.tracker import holonomic_twist as holonomic_twist
    from trundle.motion.trackers.tracking import track as track
    from trundle.results import Batch as Batch
    from trundle.results import Run as Run
    from trundle.robot import Robot as Robot
    from trundle.robot import register as register
    from trundle.show import page as page
    from trundle.show import window as window
    from trundle.show.figures.band_figure import band_figure as band_figure
    from trundle.show.figures.breakdown_figure import breakdown_figure as breakdown_figure
    from trundle.show.figures.drive_figures import drive_figures as drive_figures
    from trundle.show.figures.estimate_figure import estimate_figure as estimate_figure
    from trundle.show.figures.gait_figures import gait_figures as gait_figures
    from trundle.show.figures.load_figures import load_figures as load_figures
    from trundle.show.figures.plots import plot as plot
    from trundle.show.figures.pole_figure import pole_figure as pole_figure
    from trundle.show.figures.several_runs import Comparison as Comparison
    from trundle.show.figures.several_runs import compare as compare
    from trundle.show.figures.sweep_figure import sweep_figure as sweep_figure
    from trundle.show.page.animate import animate as animate
    from trundle.show.summaries import explain as explain
    from trundle.show.summaries import to_html as to_html
    from trundle.show.summaries import to_svg as to_svg
    from trundle.show.summaries import to_text as to_text
    from trundle.simulation import ode as ode
    from trundle.simulation import roll as roll
    from trundle.simulation import rollout as rollout
    from trundle.simulation import run as run
    from trundle.simulation import simulate as simulate
    from trundle.simulation import table as table
    from trundle.simulation.battery_use import battery_use as battery_use
    from trundle.sweeps.outcome import Sweep as Sweep
    from trundle.sweeps.sweeping import sweep as sweep
    from trundle.sympy_models.from_sympy import from_sympy as from_sympy
    from trundle.wrenches import Breakdown as Breakdown
    from trundle.wrenches import Frame as Frame
    from trundle.wrenches import Inertia as Inertia
    from trundle.wrenches import Point as Point
    from trundle.wrenches import Twist as Twist
    from trundle.wrenches import Wrench as Wrench

    load = load_robot
    odometry = derive_odometry


def _homes() -> dict[str, tuple[str, str]]:
    """The module that a name comes from and its name there, read off this file's imports for type checkers.

    `trundle --help` must not wait for CasADi, so these imports run only when a name is first asked for. Methods of
    nouns that lead to verbs of rooms above take them from here, too: imports between rooms run one way.
    """
    homes: dict[str, tuple[str, str]] = {}
    source = __spec__.loader.get_source(__name__)  # also out of a zip file
    for block in ast.parse(source).body:
        for node in block.body if isinstance(block, ast.If) else ():
            match node:
                case ast.ImportFrom(module=str(module)):
                    homes |= {name.asname or name.name: (module, name.name) for name in node.names}
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=imported)):
                    homes[name] = homes.pop(imported)
    return homes


_HOMES = _homes()

__all__ = ["InputError", "NumericsError", "TrundleError", "__version__", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a name of the package when it is first asked for, and keep it."""
    if name not in _HOMES:
        raise no_attribute("trundle", name, __all__)
    module, attribute = _HOMES[name]
    if module == __name__:
        value: object = import_module(f"{module}.{attribute}")
    else:
        value = getattr(__import__(module, fromlist=[attribute]), attribute)  # a module of the room, too
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
